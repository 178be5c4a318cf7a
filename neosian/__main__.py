"""`python -m neosian` is the command `neosian`."""

from neosian.cli import main

raise SystemExit(main())
