"""What was heard in a session, by who said it: persons, the agent, tools. The evidence that edits are held against.

What is only memory talking to itself is no evidence: our own tools, and what a client writes into its own memory.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import cached_property
from math import ceil
from typing import Any, NamedTuple, Protocol

from neosian import calls, speech, turns
from neosian.dream import claims, clauses, means

_RULE_BEFORE, _RULE_AFTER = 200, 400  # characters around a word that makes a rule
_READERS = frozenset(
    "cat less more head tail ls find grep rg ag bat file stat wc tree echo printf sed awk cd".split()
)
_MEMORY_FILE = re.compile(
    r"(?:^|[/\\])(?:(?:CLAUDE(?:\.local)?|AGENTS(?:\.override)?|GEMINI|QWEN|MEMORY|copilot-instructions)\.md"
    r"|\.cursorrules|\.windsurfrules)$|[/\\]\.(?:claude|codex|gemini|cursor|copilot|qwen)[/\\](?:.*[/\\])?(?:memor|rules)",
    re.IGNORECASE,
)
_WRITTEN = re.compile(r"(?:>>?|\btee(?: -a)?|\bsed -i\S*(?: '[^']*'| \"[^\"]*\")?)\s*[\"']?([^\s\"';|&<>]+)")
_OURS = re.compile(
    r"(?:^|[;&|(]\s*|\s|/)neosian\s+(?:memory|board|skills|search|recall|context|why|log|diff)\b"
)
_END = re.compile(r"[.!?;:]\s+|\s*\n\s*|[。！？；]")
_JOINED = re.compile(r"(?<=[^\W\d_])[-_](?=[^\W\d_])")
_DAYS_NEAR = 45  # days from a session's to one that it may name by words: yesterday, next week, in a month
_HOST = re.compile(r"https?://(?:www\.)?([^\s/:\"'?#@]+)")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_NUMBERED = re.compile(r"^[ \t]*\d+(?:→|\t|: ?)", re.MULTILINE)


class Session(Protocol):
    """The turns of one conversation that are dreamt of."""

    @property
    def conversation(self) -> str: ...
    @property
    def turns(self) -> Sequence[turns.Turn]: ...


class _Part(NamedTuple):
    """Some turns of a conversation."""

    conversation: str
    turns: Sequence[turns.Turn]


class Words:
    """The words of a text by their places, to find those that stand near each other."""

    def __init__(self, text: str) -> None:
        self._places: dict[str, list[int]] = {}
        for place, word in enumerate(claims.content(text)):
            self._places.setdefault(word, []).append(place)

    def share(self, wanted: Collection[str]) -> float:
        """Which share of some words the text has, wherever."""
        return claims.overlap(wanted, self._places)

    def among(self, wanted: Collection[str]) -> set[str]:
        """Those of some words that the text has."""
        return {word for word in wanted if word in self._places}

    def near(self, wanted: Collection[str], share: float, least: int = 1) -> bool:
        """Whether some stretch of the text, about four times as long, has this share of the words."""
        needed = max(least, ceil(share * len(wanted)))
        if sum(word in self._places for word in wanted) < needed:
            return False
        hits = sorted((place, word) for word in wanted for place in self._places.get(word, ()))
        within: dict[str, int] = {}
        first = 0
        for place, word in hits:
            within[word] = within.get(word, 0) + 1
            while hits[first][0] < place - 4 * len(wanted) - 12:
                old = hits[first][1]
                within[old] -= 1
                if not within[old]:
                    del within[old]
                first += 1
            if len(within) >= needed:
                return True
        return False


class _Said:
    """A clause with the words that it tells, and what it names."""

    def __init__(self, clause: clauses.Clause) -> None:
        self.is_no = clause.is_no
        self.words = claims.told(clause.text)
        self._before = claims.told(clause.before)
        self._named = list(claims.identifiers(clause.text).values())
        self._text = claims.folded(f"{clause.before} {clause.text}")

    @cached_property
    def _plain(self) -> set[str]:
        """Its words without those of what it names, unless there are no others."""
        return self.words - {word for each in self._named for word in claims.content(each.said)} or self.words

    def says(self, part: _Said, share: float) -> bool:
        """Whether it says that part of a sentence: yes or no as it does, this share of its words and all it names."""
        is_meant = not self._before or part.words & (self.words - self._before)
        return (
            self.is_no == part.is_no
            and bool(is_meant)
            and claims.overlap(part._plain, self.words | self._before) >= share
            and all(claims.stands(each, self._text) for each in part._named)
        )


def _parts(sentence: str) -> list[_Said]:
    """The clauses of a sentence that tell something."""
    return [part for part in map(_Said, clauses.of(sentence)) if part.words]


def _by_yes_and_no(text: str) -> tuple[Words, Words]:
    """The words of the clauses that say yes, and of those that say no, of what somebody says themselves."""
    own = clauses.own(text)
    yes, no = (
        [f"{each.before} {each.text}" for each in own if each.is_no == is_no] for is_no in (False, True)
    )
    return Words("\n".join(yes)), Words("\n".join(no))


class File:
    """What a call showed of files: their paths as they were named, and the text."""

    def __init__(self, paths: Sequence[str], text: str) -> None:
        self.paths = paths
        self.text = text

    @cached_property
    def folded(self) -> str:
        """The text as facts are looked for in it."""
        return claims.folded(self.text)

    @cached_property
    def words(self) -> Words:
        """Its words."""
        return Words(self.text)


class Heard:
    """One session's evidence: ``persons`` said it, the ``agent`` said it, ``commands`` ran, ``shown`` came from tools.

    ``known``: `conversation#turn` of other sessions that may be named as a source, too.
    """

    def __init__(self, session: Session, known: Container[str] = ()) -> None:
        self.conversation = session.conversation
        self.known = known
        self._turns = session.turns
        self.at = {f"{session.conversation}#{turn.number}": _last(turn) for turn in session.turns}
        stamps = (str(line.get("at") or "")[:10] for turn in session.turns for line in turn.lines)
        self.days = sorted(day for day in set(stamps) if _DAY.fullmatch(day))
        """The days on which it was, as its machine counted them."""
        persons: list[str] = []
        agent: list[str] = []
        commands: list[str] = []
        shown: list[str] = []
        given: list[str] = []
        used: list[str] = []
        ran: list[str] = []
        brought: list[str] = []
        printed: list[str] = []
        worked: list[str] = []
        looked: list[str] = []
        self.reads: list[File] = []
        self.pages: set[str] = set()
        """Addresses that were looked at."""
        for turn in session.turns:
            persons += map(speech.spoken, turn.prompts)
            answers = [str(line.get("text") or "") for line in turn.lines if line["kind"] == "answer"]
            agent += answers
            has_done = False
            told = [
                *turn.machine_prompts,
                *(_said(line) for line in turn.lines if line["kind"] == "subagent"),
            ]
            shown += told
            brought += told
            given += [str(turn.header.get(key) or "") for key in ("cwd", "branch", "host", "model", "at")]
            for call in turn.calls:
                if is_memory(call):
                    continue
                persons += [_said(line) for line in call.results if line.get("from") == turns.PERSON]
                results = [_said(line) for line in call.results if line.get("from") != turns.PERSON]
                shown += results
                given += [call.tool, *_texts(call.input)]
                commands += _commands(call)
                kind = means.kind(call)
                if kind == means.READS:
                    self.reads += [File(*means.read(call, text)) for text in results]
                elif kind == means.LOOKS:
                    looked += results
                    self.pages.update(_hosts(call.input))
                else:
                    has_done = True
                    ran += results
                    brought += () if _is_work(call) else results
                    printed += results if _is_work(call) else ()
                    used += _texts(call.input) if call.ok is not False else ()
            worked += answers if has_done else ()
        self.persons = "\n".join(persons)
        self.persons_own = "\n\n".join(map(clauses.without_pastes, persons))
        """What persons said themselves: without what they quoted or pasted as code."""
        self.agent = "\n".join(agent)
        self.commands = "\n".join(commands)
        self.shown = "\n".join(shown)
        self._given = "\n".join(given)
        self._used = "\n".join(used)
        self._ran = "\n".join(ran)
        self._worked = "\n".join(worked)
        self._looked = "\n".join(looked)
        self._brought = "\n".join(brought)
        self._printed = "\n".join(printed)

    def of(self, sources: Collection[str]) -> Heard:
        """The evidence of some turns alone."""
        mine = [turn for turn in self._turns if f"{self.conversation}#{turn.number}" in sources]
        return Heard(_Part(self.conversation, mine), self.known)

    @cached_property
    def all(self) -> str:
        """All of it as facts are looked for in it."""
        return claims.folded("\n".join((self.persons, self.agent, self.shown, self._given)))

    @cached_property
    def _dates(self) -> set[str]:
        return claims.dates(self.all)

    def may_mean(self, day: str) -> bool:
        """Whether a day (`2026-11-29`) may be what the session spoke of; no for one that it cannot have come to.

        Words such as "next week" are in any language, so a day that lies as far from the session's as they reach counts
        as said: some weeks, whole weeks, months or years, as many days as the session names, the edges of a month.
        """
        if day in self._dates or day.replace("-", "") in self.all:
            return True
        try:
            meant = date.fromisoformat(day)
            near = [(meant - held).days for held in map(date.fromisoformat, self.days)]
        except ValueError:
            return False
        is_edge = meant.day == 1 or (meant + timedelta(1)).day == 1
        is_reached = any(
            abs(days) <= _DAYS_NEAR or days % 7 == 0 or _has_number(self.all, abs(days)) for days in near
        )
        is_same_day = any(held.endswith(day[-3:]) for held in self.days)
        return is_edge or is_reached or is_same_day or claims.names_day(self.all, meant.month, meant.day)

    @cached_property
    def persons_words(self) -> Words:
        """The words that persons said."""
        return Words(self.persons_own)

    @cached_property
    def _persons_clauses(self) -> list[_Said]:
        return [_Said(clause) for clause in clauses.own(self.persons_own)]

    def is_said(self, sentence: str, share: float) -> bool:
        """Whether a person said a sentence: each clause of it in one of theirs, with that share of its words."""
        parts = _parts(sentence)
        return bool(parts) and all(
            any(each.says(part, share) for each in self._persons_clauses) for part in parts
        )

    def is_mostly_said(self, sentence: str, old: str, share: float) -> bool:
        """Whether persons said that share of each clause, in whatever clauses of theirs that are as much a yes or a no.

        Of a clause that the note had much of in its ``old`` text, what is new in it counts.
        """
        held = [each for known in claims.sentences(old) for each in _parts(known.text)]
        parts = _parts(sentence)
        return bool(parts) and all(
            any(each.says(part, share) for each in self._persons_clauses)
            or self._said_by_persons[part.is_no].share(part.words) >= share
            or any(self._is_said_change(part, each, share) for each in held)
            for part in parts
        )

    def _is_said_change(self, part: _Said, old: _Said, share: float) -> bool:
        """Whether a clause is an old one but for what persons said."""
        new = part.words - old.words
        is_old = old.is_no == part.is_no and claims.overlap(part.words, old.words) >= share
        return is_old and (not new or max(each.share(new) for each in self._said_by_persons) >= share)

    def is_told(self, sentence: str, share: float) -> bool:
        """Whether a person or the agent said as much: that share of each clause near each other, as its yes or no."""
        parts = _parts(sentence)
        return bool(parts) and all(
            any(
                said[part.is_no].near(part.words, share)
                for said in (self._said_by_persons, self._said_by_agent)
            )
            for part in parts
        )

    def knows(self, words: Collection[str]) -> float:
        """Which share of some words stands anywhere in the session."""
        heard = (self.persons_words, self.agents_words, self.used_words, self.shown_words)
        return claims.overlap(words, set().union(*(each.among(words) for each in heard)))

    @cached_property
    def _said_by_persons(self) -> tuple[Words, Words]:
        return _by_yes_and_no(self.persons_own)

    @cached_property
    def _said_by_agent(self) -> tuple[Words, Words]:
        return _by_yes_and_no(self.agent)

    @cached_property
    def brought_words(self) -> Words:
        """The words of what others wrote: files, pages, what another agent or a service answers."""
        return Words("\n".join((*(each.text for each in self.reads), self._looked, self._brought)))

    @cached_property
    def ran_lines(self) -> frozenset[str]:
        """The commands that ran, folded."""
        return frozenset(line for each in self.commands.split("\n") if (line := claims.folded(each.strip())))

    @cached_property
    def printed_words(self) -> Words:
        """The words of what commands printed that did something."""
        return Words(self._printed)

    @cached_property
    def agents_words(self) -> Words:
        """What the agent said and ran."""
        return Words(f"{self.agent}\n{self.commands}")

    @cached_property
    def commands_words(self) -> Words:
        """What ran, without what only reads."""
        return Words(self.commands)

    @cached_property
    def used(self) -> str:
        """What persons said, and what was given to calls that did something and did not fail; folded."""
        return claims.folded(f"{self.persons}\n{self._used}")

    @cached_property
    def own(self) -> str:
        """That, and what came of such calls; folded."""
        return f"{self.used}\n{claims.folded(self._ran)}"

    @cached_property
    def used_words(self) -> Words:
        """The words of what was given to calls that did something and did not fail."""
        return Words(self._used)

    @cached_property
    def own_words(self) -> Words:
        """The words of what calls did and what came of it."""
        return Words(f"{self._used}\n{self._ran}")

    @cached_property
    def worked_answers(self) -> str:
        """The answers of turns in which something was done; folded."""
        return claims.folded(self._worked)

    @cached_property
    def looked(self) -> str:
        """What the web showed; folded."""
        return claims.folded(self._looked)

    @cached_property
    def read_folded(self) -> str:
        """What files showed; folded."""
        return "\n".join(each.folded for each in self.reads)

    @cached_property
    def read_words(self) -> Words:
        """The words of what files and the web showed."""
        return Words("\n".join((*(each.text for each in self.reads), self._looked)))

    @cached_property
    def read_paths(self) -> frozenset[str]:
        """The paths of the files that were read."""
        return frozenset(path.casefold() for each in self.reads for path in each.paths)

    @cached_property
    def ordered(self) -> str:
        """What stands near a place where a tool's text says what is to be done; folded.

        What ran speaks of much that must be so: of that only what tells to bring something in or out counts.
        """
        read = "\n".join((*(each.text for each in self.reads), self._looked))
        found = [near for near in _ordering(read) if claims.is_doing(near)]
        found += [near for near in _ordering(self.shown) if claims.is_doing(near, only_carrying=True)]
        return claims.folded("\n".join(found))

    @cached_property
    def shown_words(self) -> Words:
        """What tools showed, names of files among it."""
        return Words(f"{self.shown}\n{self._given}")

    @cached_property
    def shown_rules(self) -> list[frozenset[str]]:
        """The words around each place where a tool's text says what always or never is to be done."""
        text = f"{self.shown}\n{self._given}"
        found = dict.fromkeys(
            frozenset(claims.content(text[max(0, at - _RULE_BEFORE) : at + _RULE_AFTER]))
            for at in _spread(claims.rules_in(text))
        )
        return list(found)

    @cached_property
    def shown_orders(self) -> list[frozenset[str]]:
        """The words of each sentence by itself in which a tool's text says so, names of files among them."""
        text = _JOINED.sub(" ", f"{self.shown}\n{self._given}")
        return list(
            dict.fromkeys(frozenset(claims.told(_sentence(text, at))) for at in claims.rules_in(text))
        )

    @cached_property
    def shown_flat(self) -> str:
        """What tools showed, as one line, for finding what is copied from it."""
        return flat(_NUMBERED.sub("", self.shown))

    @cached_property
    def said_flat(self) -> str:
        """What persons said, as one line."""
        return flat(self.persons)


def _has_number(text: str, number: int) -> bool:
    return re.search(rf"(?<!\d){number}(?!\d)", text) is not None


def _spread(places: Iterable[int]) -> Iterator[int]:
    """The places of words that tell what is to be done, each stretch of text once."""
    last = -_RULE_BEFORE
    for at in places:
        if at - last >= _RULE_BEFORE // 2:
            yield at
            last = at


def _ordering(text: str) -> Iterator[str]:
    """What stands around each place of a text that says what is to be done."""
    places = {*claims.rules_in(text), *claims.orders_in(text)}
    return (_near(text, at) for at in _spread(sorted(places)))


def _near(text: str, at: int) -> str:
    """What stands around a place of a text, in whole words."""
    start, end = max(0, at - _RULE_BEFORE), at + _RULE_AFTER
    start = text.find(" ", start, at) + 1 if start else 0
    cut = text.rfind(" ", at, end) if end < len(text) else -1
    return text[start : cut if cut > 0 else end]


def _sentence(text: str, at: int) -> str:
    """The sentence around a place of a text, and the next where it says nothing by itself ("From now on:")."""
    before = text[max(0, at - _RULE_BEFORE) : at]
    start = at - len(before) + max((match.end() for match in _END.finditer(before)), default=0)
    ends = [match.start() for match in _END.finditer(text, at, at + _RULE_AFTER)] + [at + _RULE_AFTER] * 2
    said = text[start : ends[0]]
    return said if len(claims.told(said)) > 1 else text[start : ends[1]]


def flat(text: str) -> str:
    """A text on one line, in lower case."""
    return " ".join(text.casefold().split())


def is_memory_file(path: str) -> bool:
    """Whether a file is what a client keeps its own memory in, or takes its instructions from."""
    return _MEMORY_FILE.search(path) is not None


def is_memory(call: turns.Call) -> bool:
    """Whether a call reads our own memory, or writes into a client's: then it tells nothing new."""
    if "neosian" in call.tool.lower():
        return True
    lines = means.lines_of(call.input)
    if any(_OURS.search(line) for line in lines):
        return True
    written = [found for line in lines for found in _WRITTEN.findall(line)]
    written += calls.edited_paths(call.tool, call.input)
    return any(map(is_memory_file, written))


def _is_work(call: turns.Call) -> bool:
    """Whether a call is the agent's own work here: a command, or an edit of a file."""
    return bool(means.lines_of(call.input)) or calls.EDITORS.search(call.tool) is not None


def _commands(call: turns.Call) -> Iterator[str]:
    """The commands that a call ran, but those that only read or say something."""
    for line in means.lines_of(call.input):
        for part in re.split(r"[;&|\n]+", line):
            words = part.split()
            if words and words[0].rpartition("/")[2] not in _READERS:
                yield part


def _hosts(given: Mapping[str, Any]) -> Iterator[str]:
    """The hosts of the addresses in a call's input."""
    return (host.casefold() for text in _texts(given) for host in _HOST.findall(text))


def _texts(value: Any) -> Iterator[str]:
    """All texts in a call's input."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _said(line: turns.Line) -> str:
    return str(line.get("text") or "")


def _last(turn: turns.Turn) -> float:
    """When the last of a turn happened, in seconds since 1970."""
    return max((turns.seconds(str(line.get("at") or "")) for line in turn.lines), default=0.0)
