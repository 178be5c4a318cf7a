"""The dream: what lasts of the turns becomes notes, checked before it lands."""
