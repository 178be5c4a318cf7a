"""The engine that needs no model: notes counted from a scope's turns. Same turns, same bytes, whatever their order.

What it writes is one block between two markers (`dream.block`), a list of lines each with the turns that it is from.
Commands, files and errors come from what tools did; what a person asked for only from the person's own words, never
from what an agent read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from neosian import speech, turns
from neosian.dream import block, lines, prose, wishes, work
from neosian.dream.lines import Sources, code, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from neosian.turns import Turn

COMMANDS, FILES, ERRORS = "project/commands.md", "project/files.md", "project/errors.md"
PREFERENCES = "profile/preferences.md"
NOTES = {
    COMMANDS: block.New(
        "Commands that were run here: how often, with what, and whether they worked",
        "before running tests, checks, builds or releases",
        "Commands",
    ),
    FILES: block.New(
        "The files most worked on, and what was last said about each",
        "when looking for where to change something",
        "Files",
    ),
    ERRORS: block.New(
        "Errors that were met, and what came next that made them pass", "when a command fails", "Errors"
    ),
    PREFERENCES: block.New(
        "What was asked to be remembered, always or never done, or preferred",
        "before starting any work",
        "Preferences",
    ),
}
"""Path inside a mount -> how the note begins where it is new."""

_BODY_MOST = 3_500  # characters of a block: the whole note stays within 4,000
_PREFERENCES_MOST = 2_000  # the person's own note takes a block of each project
_FEWEST_RUNS = 2  # a command that ran once is no habit
_FORM_MOST, _FORMS, _FLAGS = 90, 3, 5
_FILES_MOST, _LOOKED_BACK, _SAYING_MOST = 20, 5, 180
_SHORT = 24  # characters: a sentence of fewer says that it is done, and little else
_CAUSES = 3  # files, or commands, that are named between a failure and a pass

# In which section a command is told: that of the first row with one of its words.
_SECTIONS = (
    (
        "Tests",
        "test tests pytest nox jest vitest mocha rspec phpunit unittest ctest spec e2e playwright cypress",
    ),
    (
        "Checks",
        """lint types typecheck check ruff mypy pyright eslint tsc fmt format prettier black isort flake8 clippy vet
        pre-commit shellcheck biome stylelint rubocop""",
    ),
    (
        "Dependencies",
        "install add sync ci update upgrade lock uninstall remove pip pip3 apt apt-get brew get tidy",
    ),
    (
        "Services",
        """docker docker-compose podman compose kubectl helm terraform ssh psql mysql redis-cli sqlite3 systemctl
        up deploy serve migrate ansible aws gcloud az fly heroku""",
    ),
    (
        "Builds",
        "build make compile dist bundle cmake ninja meson webpack vite rollup esbuild gradle mvn gradlew docs",
    ),
    ("Versions", "git gh glab svn hg release tag"),
)
_ELSE = "Others"
_DECIDED = re.compile(
    r"\b(?:decision|decided|decide|agreed|chose|chosen|rule|convention|instead of|rather than|because|must|never|always"
    r"|entschieden|entscheidung|statt|weil|décidé|décision|parce que|decidido|decisión|decisão|porque|deciso|decisione"
    r"|perché|besloten|omdat|решили|решение|потому что)\b|决定|決定|決め|因为|因為|결정|때문",
    re.IGNORECASE,
)


_WORD = re.compile(r"[^\W\d][\w.-]{3,}\w")


class _Told(NamedTuple):
    """One turn with what was done in it; ``place`` counts the scope's turns from the oldest one."""

    place: int
    conversation: str
    turn: Turn
    steps: list[work.Run | work.Edit]

    @property
    def name(self) -> tuple[str, int]:
        return self.conversation, self.turn.number


def notes_of(
    turns_by_conversation: Mapping[str, Sequence[Turn]],
    *,
    mount: str = "/project",
    personal: str = "/user",
    origin: str = "",
    forgotten: Mapping[str, Collection[str]] | None = None,
) -> dict[str, str]:
    """Place -> body of the block that belongs there, "" where the turns have nothing to say; always all four places.

    ``mount`` is where the scope of these turns is seen, ``personal`` where the person's own notes are; ``origin`` is
    what the scope is called there (a project's slug). ``forgotten`` names for a place the sources
    (`conversation#turn`) that count no more for it: those that stood in the record when a person took the note, or its
    block, away.
    """
    told = _in_order(turns_by_conversation)
    sources = Sources(turns_by_conversation)
    notes: dict[str, str] = {}
    for path, lines_of in _MAKERS.items():
        place = f"{personal if path == PREFERENCES else mount}/{path}"
        gone = frozenset((forgotten or {}).get(place, ()))
        counted = [each for each in told if f"{each.conversation}#{each.turn.number}" not in gone]
        notes[place] = lines_of(counted, sources)
        if path == PREFERENCES and notes[place] and origin:
            notes[place] = f"Said in {code(origin)}, in the person's own words.\n\n{notes[place]}"
    return notes


def merged(place: str, text: str, body: str, origin: str = "") -> str:
    """The document at a place with ``body`` as its block, see `block.merged`; "" where no document is to be there.

    ``origin`` as for `notes_of`, for a note that takes blocks of several scopes; "" for one of the scope's own notes.
    """
    return block.merged(text, body, NOTES["/".join(place.split("/")[-2:])], origin)


def sources_of(body: str, conversations: Iterable[str]) -> list[str]:
    """The sources (`conversation#turn`) that a body of `notes_of` names, for the trailers of its commit."""
    return lines.sources_in(body, conversations)


def _in_order(turns_by_conversation: Mapping[str, Sequence[Turn]]) -> list[_Told]:
    """All turns, oldest first. Those of one conversation stay in the order of their numbers, whatever a clock did."""
    roots = work.Roots(work.directory(turn) for each in turns_by_conversation.values() for turn in each)
    timed: list[tuple[float, str, int, Turn]] = []
    for name, given in turns_by_conversation.items():
        at = 0.0
        for turn in sorted(given, key=lambda turn: turn.number):
            at = max(at, turns.seconds(turn.at))
            timed.append((at, name, turn.number, turn))
    timed.sort(key=lambda each: each[:3])
    return [
        _Told(place, name, turn, list(work.steps(turn, roots)))
        for place, (_, name, _, turn) in enumerate(timed)
    ]


def _from(told: Sequence[_Told], sources: Sources) -> str:
    """Where a line is from: turns, oldest first."""
    return sources.of(told[-1].turn.at[:10], [each.name for each in told])


# -- commands


class _Command:
    """All runs of the commands of one name in one folder, oldest first."""

    def __init__(self) -> None:
        self.runs: list[work.Run] = []
        self.told: list[_Told] = []

    def line(self, sources: Sources) -> str:
        ran = self.runs[0].ran
        forms = Counter(run.ran.form for run in self.runs if len(run.ran.form) <= _FORM_MOST)
        is_one = len(self.runs) == max(forms.values(), default=0)
        name = code(ran.form if is_one else ran.name) + (f" in {code(ran.folder)}" if ran.folder else "")
        parts = [f"{name}: {self._verdict()}"]
        if not is_one:
            parts += [*self._spellings(forms), *self._flags()]
        return f"- {'; '.join(parts)} {_from(self.told, sources)}"

    def _verdict(self) -> str:
        passed = sum(run.ok is True for run in self.runs)
        failed = sum(run.ok is False for run in self.runs)
        count = len(self.runs)
        if not passed and not failed:
            return f"{count} runs"
        if count in (passed, failed):
            return f"{count} runs, {'all' if passed else 'none'} passed"
        untold = f", {count - passed - failed} untold" if passed + failed < count else ""
        return f"{count} runs, {passed} passed, {failed} failed{untold}"

    def _spellings(self, forms: Counter[str]) -> list[str]:
        """The spellings that were used more than once, else the last one that did not fail."""
        often = [(form, count) for form, count in lines.by_count(forms) if count >= _FEWEST_RUNS]
        if [form for form, _ in often] == [self.runs[0].ran.name]:
            return []
        if often:
            return ["as " + ", ".join(f"{code(form)} ({count})" for form, count in often[:_FORMS])]
        good = [run.ran.form for run in self.runs if run.ok is not False and run.ran.form in forms]
        return [f"last as {code(good[-1])}"] if good else []

    def _flags(self) -> list[str]:
        flags = Counter(flag for run in self.runs for flag in run.ran.flags)
        often = [(flag, count) for flag, count in lines.by_count(flags) if count >= _FEWEST_RUNS]
        return (
            ["flags " + ", ".join(f"{code(flag)} ({count})" for flag, count in often[:_FLAGS])]
            if often
            else []
        )


def _commands(told: Sequence[_Told], sources: Sources) -> str:
    found: dict[tuple[str, str], _Command] = {}
    for each in told:
        for step in each.steps:
            if isinstance(step, work.Run):
                command = found.setdefault((step.ran.name, step.ran.folder), _Command())
                command.runs.append(step)
                command.told.append(each)
    kept = [(key, command) for key, command in found.items() if len(command.runs) >= _FEWEST_RUNS]
    kept.sort(key=lambda item: (-len(item[1].runs), -item[1].told[-1].place, item[0]))
    return _sectioned([(_section(name), command.line(sources)) for (name, _), command in kept])


def _section(name: str) -> str:
    words = {part for word in name.split() for part in (word, *re.split(r"[:/._]", word))}
    return next((title for title, known in _SECTIONS if words & set(known.split())), _ELSE)


def _sectioned(told: Sequence[tuple[str, str]]) -> str:
    """Lines, the most used first, below the headings of their sections, as many as there is room for."""
    titles = [*(title for title, _ in _SECTIONS), _ELSE]
    room = _BODY_MOST - sum(len(title) + 6 for title in titles)
    kept = lines.fitting([line for _, line in told], room)
    sections = {line: title for title, line in told}
    parts = []
    for title in titles:
        if mine := [line for line in kept if sections.get(line) == title]:
            parts.append("\n".join([f"## {title}", "", *mine]))
    return "\n\n".join([*parts, *(line for line in kept if line not in sections)])


# -- files


class _File:
    """The turns that changed one file, oldest first, and how often they did."""

    def __init__(self) -> None:
        self.told: list[_Told] = []
        self.edits = 0


class _Saying(NamedTuple):
    """A sentence of a turn, and how likely it is what was decided about a file."""

    weight: int
    who: str
    text: str


def _files(told: Sequence[_Told], sources: Sources) -> str:
    found: dict[str, _File] = {}
    for each in told:
        for step in each.steps:
            if isinstance(step, work.Edit):
                file = found.setdefault(step.path, _File())
                file.edits += 1
                if file.told[-1:] != [each]:
                    file.told.append(each)
    ranked = sorted(
        found.items(),
        key=lambda item: (-len(item[1].told), -item[1].edits, -item[1].told[-1].place, item[0]),
    )
    used: set[str] = set()
    shown = [_file_line(path, file, used, sources) for path, file in ranked[:_FILES_MOST]]
    return "\n".join(lines.fitting(shown, _BODY_MOST, more=len(ranked) - len(shown)))


def _file_line(path: str, file: _File, used: set[str], sources: Sources) -> str:
    edits = f"{file.edits} edit{'s' if file.edits > 1 else ''}"
    count = f"{edits} in {len(file.told)} turns" if len(file.told) > 1 else edits
    saying, said_in = _last_decision(path, file.told, used)
    others = [each for each in file.told if each is not said_in]
    said = ""
    if saying:
        used.add(saying.text)
        day = "" if said_in is file.told[-1] else f" on {block.neutral(said_in.turn.at[:10])}"
        said = f"; {saying.who}{day}: {quoted(saying.text)}"
    origin = sources.of(file.told[-1].turn.at[:10], [each.name for each in (*others, said_in)])
    return f"- {code(path)}: {count}{said} {origin}"


def _last_decision(path: str, told: Sequence[_Told], used: Collection[str]) -> tuple[_Saying | None, _Told]:
    """What was last decided about a file: the best sentence of the newest turn that has a good one, else any."""
    first: _Saying | None = None
    for each in list(reversed(told))[:_LOOKED_BACK]:
        sayings = [saying for saying in _sayings(path, each.turn) if saying.text not in used]
        best = max(sayings, key=lambda saying: saying.weight, default=None)
        if best and best.weight > 1:
            return best, each
        if each is told[-1]:
            first = best
    return first, told[-1]


def _sayings(path: str, turn: Turn) -> Iterator[_Saying]:
    """The sentences of a turn that may be about a file, the agent's first."""
    name = re.compile(rf"(?<![\w.-]){re.escape(path.rpartition('/')[2])}(?![\w-])")
    for number, sentence in enumerate(prose.sentences(turn.answer)):
        is_decided = _DECIDED.search(sentence) is not None
        yield from _saying(
            3 * bool(name.search(sentence)) + 2 * is_decided + (number == 0 and len(sentence) > _SHORT),
            "the agent",
            sentence,
        )
    for prompt in turn.prompts:
        for line in prose.own_lines(prompt, wishes.is_wish):
            for sentence in prose.of_line(line):
                weight = 2 * bool(name.search(sentence)) + 8 * wishes.is_wish(sentence)
                yield from _saying(weight, "the person", sentence)


def _saying(weight: int, who: str, sentence: str) -> Iterator[_Saying]:
    text = speech.snippet(sentence, _SAYING_MOST)
    if weight and len(text) > 12 and not lines.has_secret(text) and not text.endswith((":", "：")):
        yield _Saying(weight, who, text)


# -- errors


class _Lesson(NamedTuple):
    """A failure that came to pass: the run that failed, what was done until one passed, and in which turn it did."""

    failed: work.Run
    between: Sequence[work.Run | work.Edit]
    passed: work.Run
    told: _Told

    @property
    def key(self) -> tuple[str, str]:
        """What two failures share that are the same."""
        return self.failed.ran.form, re.sub(r"0x[0-9a-f]+|\d+", "0", self.failed.message)


def _errors(told: Sequence[_Told], sources: Sources) -> str:
    lessons = sorted(_lessons(told), key=lambda lesson: lesson.told.place)
    in_turn = Counter(lesson.told.place for lesson in lessons)
    found: dict[tuple[str, str], list[_Lesson]] = {}
    for lesson in lessons:
        found.setdefault(lesson.key, []).append(lesson)
    ranked = sorted(found.items(), key=lambda item: (-len(item[1]), -item[1][-1].told.place, item[0]))
    shown = []
    for _, same in ranked:
        line = _lesson_line(same[-1], in_turn[same[-1].told.place] == 1)
        times = f" {len(same)} times so." if len(same) > 1 else ""
        shown.append(f"- {line}{times} {_from([lesson.told for lesson in same], sources)}")
    return "\n".join(lines.fitting(shown, _BODY_MOST))


def _lessons(told: Sequence[_Told]) -> Iterator[_Lesson]:
    """The failures of each conversation that came to pass in it."""
    by_conversation: dict[str, list[tuple[work.Run | work.Edit, _Told]]] = {}
    for each in told:
        by_conversation.setdefault(each.conversation, []).extend((step, each) for step in each.steps)
    for steps in by_conversation.values():
        done = [step for step, _ in steps]
        for at, end in work.sequences(done):
            failed, passed = done[at], done[end]
            if (
                isinstance(failed, work.Run)
                and isinstance(passed, work.Run)
                and len(failed.ran.form) <= _FORM_MOST
            ):
                yield _Lesson(failed, done[at + 1 : end], passed, steps[end][1])


def _lesson_line(lesson: _Lesson, is_only: bool) -> str:
    """How a failure came to pass; ``is_only`` in its turn, so that what the agent said of the turn is about it."""
    message = lesson.failed.message
    # What a tool printed may be told as what it printed, and never as something to be done.
    is_told = message and not wishes.is_wish(message) and not lines.has_secret(message)
    met = f": {code(message)}" if is_told else ""
    reason = _reason(lesson, is_only)
    said = f" The agent: {quoted(reason)}" if reason else ""
    return f"{code(lesson.failed.ran.form)} failed{met}. {_made_it_pass(lesson)}{said}"


def _made_it_pass(lesson: _Lesson) -> str:
    failed, passed = lesson.failed, lesson.passed
    if passed.key != failed.key:
        return f"Passed as {code(speech.snippet(passed.ran.form, _FORM_MOST))}."
    edits = dict.fromkeys(step.path for step in lesson.between if isinstance(step, work.Edit))
    if edits:
        return f"Passed after a change of {lines.codes(list(edits), _CAUSES)}."
    runs = [step for step in lesson.between if isinstance(step, work.Run) and step.ok is not False]
    forms = dict.fromkeys(
        run.ran.form for run in runs if run.key != failed.key and len(run.ran.form) <= _FORM_MOST
    )
    return f"Passed after {lines.codes(list(forms), _CAUSES)}." if forms else "Passed when it ran again."


def _reason(lesson: _Lesson, is_only: bool) -> str:
    """The sentence of the turn's answer that tells why; "" where none is sure to be about this failure."""
    edits = (step.path for step in lesson.between if isinstance(step, work.Edit))
    about = set(_WORD.findall(" ".join([lesson.failed.ran.form, lesson.failed.message, *edits])))
    said = [
        each
        for each in prose.sentences(lesson.told.turn.answer)
        if (len(each) > _SHORT or (not each.isascii() and len(each) > 8)) and not lines.has_secret(each)
    ]
    near = [each for each in said if is_only or about & set(_WORD.findall(each))]
    reason = speech.snippet(next(iter(near), ""), _SAYING_MOST)
    return "" if reason.endswith((":", "：")) else reason


# -- preferences


def _preferences(told: Sequence[_Told], sources: Sources) -> str:
    """What the person asked for, newest first: of two that disagree the later one counts."""
    found: dict[str, tuple[str, list[_Told]]] = {}
    for each in told:
        for wish in (wish for prompt in each.turn.prompts for wish in wishes.of_prompt(prompt)):
            before = found.pop(_folded(wish), ("", []))[1]
            found[_folded(wish)] = (wish, [*before, each])
    shown = []
    for wish, said in reversed(found.values()):
        times = f", said {len(said)} times" if len(said) > 1 else ""
        shown.append(f"- {quoted(wish)}{times} {_from(said, sources)}")
    if not shown:
        return ""
    intro = ["Newest first: of two that disagree the upper one counts.", ""]
    return "\n".join([*intro, *lines.fitting(shown, _PREFERENCES_MOST)])


def _folded(text: str) -> str:
    """A sentence by which it is known again, whatever its case and its points."""
    return " ".join("".join(char if char.isalnum() else " " for char in text.casefold()).split())


_MAKERS = {COMMANDS: _commands, FILES: _files, ERRORS: _errors, PREFERENCES: _preferences}
