"""`neosian dream review`, `accept`, `reject`, `rejected`, `undo`: a person has the last word on what a dream made."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, closing
from shlex import quote

from neosian import output, turns
from neosian.adopting import Adopter
from neosian.commands._commits import brief
from neosian.commands._scopes import mount_flags
from neosian.commands._writing import in_editor, writer
from neosian.dream import past, review
from neosian.dream.review import Answered, Origin, Review
from neosian.errors import NeosianError, UsageError
from neosian.revert import Conflict
from neosian.wiki import Place, Wiki

_SOURCES_SHOWN = 6
_LINES_SHOWN = 40  # of each text that collides

Waiting = tuple[Place, Review]
"""The mount of a scope, and a change that waits in it."""


def run(args: argparse.Namespace, wiki: Wiki) -> int:
    """Do what `args.action` names."""
    with ExitStack() as stack:
        for mount in wiki.mounts:
            stack.enter_context(closing(mount.store.repo))
        if args.action == "undo":
            return _undo(args, wiki)
        if args.action == "rejected":
            return _rejected(args, wiki)
        found = review.in_sight(wiki)
        if args.action == "review":
            return _review(args, wiki, found)
        return _answer(args, wiki, found)


def _undo(args: argparse.Namespace, wiki: Wiki) -> int:
    stores = [mount.store for mount in wiki.mounts if mount.store.exists]
    ordered = [each for each in stores if each.scope != wiki.turns.store.scope] + [wiki.turns.store]
    undone = past.undo(ordered, writer().signature(), Adopter(wiki.home).named_by, args.run)
    if args.json:
        output.as_json(undone.json())
        return 0
    mounts = {mount.store.scope: mount for mount in wiki.mounts}
    for scope, done in undone.scopes:
        for path in done.paths:
            output.text(f"{mounts[scope].at(path)}: as before that dream")
    for scope, path in undone.dropped:
        output.text(f"{mounts[scope].at(path)}: waits for review no more")
    output.note(
        f"The dream {undone.run} is taken back. Its turns count as read: no later dream comes back to them."
    )
    return 0


def _rejected(args: argparse.Namespace, wiki: Wiki) -> int:
    """What persons and the gate turned down, newest first, of every scope in sight."""
    stores = [(mount, mount.store) for mount in wiki.mounts if mount.store.exists]
    found = [(mount, each) for mount, store in stores for each in review.rejections(store)]
    found.sort(key=lambda pair: -pair[1].at)
    # the gate keeps the place that the model named, which may be no place at all
    rows = [
        (each.path if each.by == review.GATE else str(mount.at(each.path)), mount, each)
        for mount, each in found
    ]
    if args.json:
        output.as_json(
            [{"scope": mount.store.scope, "place": place, **each.json()} for place, mount, each in rows]
        )
    elif not rows:
        output.note("Nothing was rejected.")
    for place, _, each in rows if not args.json else ():
        who = "you" if each.by == review.PERSON else "the gate"
        output.text(f"{output.when(each.at)[:16]}  {place}  by {who}")
        output.text(f"    {' '.join(each.reason.split()) or 'no reason was given'}")
    return 0


# accept and reject


def _answer(args: argparse.Namespace, wiki: Wiki, found: Sequence[Waiting]) -> int:
    """Accept or reject what is named, or all of it."""
    asks = output.can_ask() and not args.json
    if not args.names and args.action == "reject" and not asks:
        raise UsageError("Name what is rejected.", "neosian dream review")
    chosen = found
    if args.names:
        named = [each for name in args.names for each in review.named(wiki, found, name)]
        chosen = [each for each in found if each in named]
    elif found and asks and not _agreed(args.action, found):
        output.note("Nothing was done.")
        return 0
    groups: dict[Place, list[Review]] = {}
    for mount, each in chosen:
        groups.setdefault(mount, []).append(each)
    act = _accept_all if args.action == "accept" else _reject_all
    return act(args, wiki, groups)


def _agreed(action: str, found: Sequence[Waiting]) -> bool:
    """Whether a person wants this done to all that waits."""
    for mount, each in found:
        output.text(f"  {mount.at(each.here)}  ({_what(mount, each)})")
    which = "this note" if len(found) == 1 else f"all {len(found)} notes"
    said = output.ask(f"{action.capitalize()} {which}? (y/N)")
    return (said or "").lower() in ("y", "yes")


def _accept_all(args: argparse.Namespace, wiki: Wiki, groups: dict[Place, list[Review]]) -> int:
    done, waits = [], 0
    for mount, chosen in groups.items():
        answered = _accepted(wiki, mount, chosen)
        done.append({"scope": mount.store.scope, **answered.json()})
        waits += len(answered.wait)
        if not args.json:
            _tell_answered(mount, answered)
    _end(args, done)
    return 1 if waits else 0


def _reject_all(args: argparse.Namespace, wiki: Wiki, groups: dict[Place, list[Review]]) -> int:
    done = []
    for mount, chosen in groups.items():
        for each in review.reject_these(mount.store, chosen, args.reason):
            done.append({"scope": mount.store.scope, "place": str(mount.at(each.path)), **each.json()})
            if not args.json:
                output.text(f"{mount.at(each.path)}: rejected")
    _end(args, done)
    return 0


def _end(args: argparse.Namespace, done: Sequence[dict[str, object]]) -> None:
    if args.json:
        output.as_json(done)
    elif not done:
        output.note("Nothing waits for review.")


def _accepted(wiki: Wiki, mount: Place, chosen: Iterable[Review]) -> Answered:
    return review.accept_these(mount.store, chosen, writer().signature(), Adopter(wiki.home).named_by)


def _tell_answered(mount: Place, answered: Answered) -> None:
    for each, commit in answered.done:
        said = f"landed as {commit[:10]}" if commit else "it says so already"
        output.text(f"{mount.at(each.here)}: {said}")
    for each, conflict in answered.wait:
        output.text(f"{mount.at(each.here)}: waits on, for {conflict.why}")
        output.text(_both(conflict))


# shown


def _review(args: argparse.Namespace, wiki: Wiki, found: Sequence[Waiting]) -> int:
    if args.json:
        output.as_json([_as_object(wiki, mount, each) for mount, each in found])
    elif not found:
        output.note("Nothing waits for review.")
    elif output.can_ask():
        _Sitting(wiki, found).hold()
    else:
        for number, (mount, each) in enumerate(found, 1):
            _show(wiki, mount, each, f"{number} of {len(found)}")
        _tell_commands(args, found)
    return 0


def _tell_commands(args: argparse.Namespace, found: Sequence[Waiting]) -> None:
    """How these are answered."""
    mount, each = found[0]
    flags = " ".join(["", *map(quote, mount_flags(args))])
    place = quote(str(mount.at(each.here)))
    output.note(f"To land one, or all of them without a name: neosian dream accept{flags} {place}")
    output.note(
        f"To let one go, and have later dreams told: neosian dream reject{flags} {place} --reason TEXT"
    )


def _as_object(wiki: Wiki, mount: Place, each: Review) -> dict[str, object]:
    """What `--json` says of a change that waits."""
    origin = _origin(wiki, each)
    return {
        "place": str(mount.at(each.here)),
        "scope": mount.store.scope,
        **each.json(),
        "sources": [
            {"conversation": source.conversation, "turn": source.turn, "prompt": source.prompt or None}
            for source in origin.sources
        ],
        "sessions": [
            {
                "conversation": session.conversation,
                "client": session.client,
                "started": turns.stamp(session.started),
                "prompt": session.first or None,
            }
            for session in origin.sessions
        ],
    }


def _origin(wiki: Wiki, each: Review) -> Origin:
    mounts = sorted(wiki.mounts, key=lambda mount: mount is not wiki.turns)
    return review.origin(each, [mount.store for mount in mounts if mount.store.exists])


def _show(wiki: Wiki, mount: Place, each: Review, number: str) -> None:
    """One change: what it is, where it came from, why it waits, and its diff."""
    output.text(f"{number}  {mount.at(each.here)}  ({_what(mount, each)})", output.BOLD)
    output.text(output.fields(_about(each, _origin(wiki, each))))
    if each.conflict:
        output.text(_both(each.conflict))
        output.text("  the dream's change, in the note as it read it:")
    if each.text:
        output.diff(each.text)
    output.text("")


def _what(mount: Place, each: Review) -> str:
    """What a change does to its note."""
    if each.status in "AD":
        return "new" if each.status == "A" else "deletion"
    was = mount.at(each.was or "")
    if each.here not in (each.path, each.was):
        return f"edit; the dream knew it as {was}"
    return "edit" if each.status == "M" else f"rename from {was} to {mount.at(each.path)}"


def _about(each: Review, origin: Origin) -> list[tuple[str, str]]:
    """What is known of a change, by name."""
    rows = [("id", each.id)]
    sessions = origin.sessions[:_SOURCES_SHOWN]
    for session in sessions:
        begun = f"{brief(session.conversation)}, {session.client}, {output.when(session.started)}"
        rows.append(("session", f"{begun}: {session.first}" if session.first else begun))
    rows += [("reason", reason) for reason in _reasons(each)]
    above = {session.first for session in sessions}
    for source in origin.sources[:_SOURCES_SHOWN]:
        name = brief(source.conversation) + ("" if source.turn is None else f"#{source.turn}")
        prompt = "the prompt above" if source.prompt in above else source.prompt
        rows.append(("from", f"{name}: {prompt}" if source.prompt else name))
    if len(origin.sources) > _SOURCES_SHOWN:
        rows.append(("from", f"and {len(origin.sources) - _SOURCES_SHOWN} turns more"))
    rows += [("waits", why) for why in _why(each)]
    return [(name if not n or rows[n - 1][0] != name else "", said) for n, (name, said) in enumerate(rows)]


def _reasons(each: Review) -> list[str]:
    """The dream's reasons, without the path that its commit puts in front of them."""
    rows = [row for row in each.reason.split("\n") if row]
    for path in (each.path, each.was or each.path):
        rows = [row.removeprefix(f"- {path}: ") for row in rows]
    return list(dict.fromkeys(rows))


def _why(each: Review) -> list[str]:
    """Why a change waits, in words."""
    said = []
    if each.conflict:
        said.append(f"it does not fit: {each.conflict.why}")
    elif not each.text:
        said.append("the note says so already: accepted, it changes nothing")
    if each.edited_by:
        said.append(f"edited by {each.edited_by}, and not accepted yet")
    elif each.waits == review.OF_A_PERSON:
        said.append(
            "a person wrote this note, or changed it since, and the dream would do more than add to it"
        )
    elif each.waits == review.COLLIDED and not each.conflict:
        said.append("it did not fit what was written while the dream ran; it does now")
    elif each.waits == review.ASKED:
        said.append("this dream was to land nothing by itself")
    return said


def _both(conflict: Conflict) -> str:
    """The two texts that collide, without the lines that both begin or end with."""
    now, then = conflict.now.splitlines(), conflict.then.splitlines()
    first = _alike(now, then)
    last = _alike(now[first:][::-1], then[first:][::-1])
    told = [_quoted(lines[first : len(lines) - last], first, last) for lines in (now, then)]
    return f"  it says now:{told[0]}\n  the dream wants:{told[1]}"


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many of their first lines two texts share."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (line, its) in enumerate(pairs) if line != its), min(len(one), len(other)))


def _quoted(lines: Sequence[str], before: int, behind: int) -> str:
    """Lines below what is said of them; `...` stands for what is before and behind them."""
    shown = [*["..."] * bool(before), *lines[:_LINES_SHOWN]]
    if len(lines) > _LINES_SHOWN:
        shown.append(f"... and {len(lines) - _LINES_SHOWN} lines more")
    shown += ["..."] * bool(behind)
    return "".join(f"\n    | {line}".rstrip() for line in shown) or " nothing"


# one after the other, at a terminal

_QUESTION = "Accept, reject, edit, skip or quit? (a/r/e/s/q, ? explains)"
_HELP = [
    ("a, accept", "it lands as shown, merged with what the note says by then"),
    ("r, reject", "it goes; you are asked why, and later dreams are told"),
    ("e, edit", "your editor opens what the dream wants; what you make of it lands under your name"),
    ("s, skip", "it waits on, and the next one comes"),
    ("q, quit", "all that is left waits on; so does Ctrl-D"),
]
_ACCEPTED, _REJECTED, _GONE, _SKIPPED, _QUIT = "accepted", "rejected", "answered elsewhere", "skipped", "quit"


class _Sitting:
    """A person at a terminal, asked about one change after the other. Each answer counts at once."""

    def __init__(self, wiki: Wiki, found: Sequence[Waiting]) -> None:
        self._wiki = wiki
        self._found = found
        self._ends: list[str] = []

    def hold(self) -> None:
        """Ask about each, until there are no more or the person has had enough."""
        try:
            for number, (mount, each) in enumerate(self._found, 1):
                end = self._decide(mount, each, f"{number} of {len(self._found)}")
                if end == _QUIT:
                    break
                self._ends.append(end)
        except KeyboardInterrupt:
            output.note("")
            raise
        finally:
            self._sum_up()

    def _sum_up(self) -> None:
        """Say what was answered, and what is left."""
        counts = {end: self._ends.count(end) for end in (_ACCEPTED, _REJECTED, _GONE)}
        left = len(self._found) - sum(counts.values())
        said = [f"{count} {end}" for end, count in counts.items() if count]
        rest = (
            f"{left} still wait{'s' * (left == 1)} (neosian dream review)"
            if left
            else "nothing waits any more"
        )
        output.note(f"{', '.join([*said, rest])}.")

    def _decide(self, mount: Place, each: Review, number: str) -> str:
        """Ask about one change until it is answered; what became of it."""
        shown = ""
        while True:
            now = review.again(mount.store, each.id)
            if now is None:
                output.note(f"{number}  {mount.at(each.here)} was answered elsewhere meanwhile.")
                return _GONE
            if now.commit.id != shown:
                if shown:
                    output.note(f"{mount.at(now.here)} was edited meanwhile; it waits like this now:")
                output.text("")
                _show(self._wiki, mount, now, number)
                shown = now.commit.id
            mount.store.repo.close()
            try:
                end = self._ask(mount, now)
            except NeosianError as error:
                output.note(f"{error}\n  try: {error.hint}" if error.hint else str(error))
                continue
            if end:
                return end

    def _ask(self, mount: Place, each: Review) -> str:
        """One question, and what it leads to; "" where there is to be another one."""
        said = output.ask(_QUESTION)
        if said is None:
            return _QUIT
        act = next((word for word in ("accept", "reject", "edit", "skip", "quit") if _means(said, word)), "")
        if act == "accept":
            return self._accept(mount, each)
        if act == "reject":
            return self._reject(mount, each)
        if act == "edit":
            return self._edit(mount, each)
        if act:
            return _QUIT if act == "quit" else _SKIPPED
        output.text(output.fields(_HELP))
        return ""

    def _accept(self, mount: Place, each: Review) -> str:
        answered = _accepted(self._wiki, mount, [each])
        _tell_answered(mount, answered)
        return _ACCEPTED if answered.done else ""

    def _reject(self, mount: Place, each: Review) -> str:
        reason = output.ask("Why? Later dreams are told; Enter for no reason:")
        if reason is None:
            return _QUIT
        if not review.reject_these(mount.store, [each], output.printable(reason)):
            return ""
        output.text(f"{mount.at(each.here)}: rejected")
        return _REJECTED

    def _edit(self, mount: Place, each: Review) -> str:
        begun = review.opened(mount.store, each.id)
        if begun.waiting.commit.id != each.commit.id:
            return ""
        if begun.has_marks:
            output.note(
                "Where both changed the same lines, both stand in it between marks: leave what is to be said."
            )
        with in_editor(each.here, begun.text) as after:
            if after == begun.text:
                raise NeosianError("You left it as it was, so nothing was done.")
            if not after.strip():
                raise NeosianError(
                    "You left nothing in it, so nothing was done; to let the change go, reject it."
                )
            edited = review.edit(mount.store, begun, after, writer().signature())
        return self._accept(mount, edited)


def _means(said: str, word: str) -> bool:
    return bool(said) and word.startswith(said.lower())
