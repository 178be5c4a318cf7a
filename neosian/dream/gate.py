"""The gate: which of a dream's edits may be made. No model is asked.

Each rule is a function of the edit, the notes as the edits before it left them, and what was heard in the session. It
says "" or why the edit may not be made: one sentence from which a model learns what would do, and a person what was
wrong. What only a person may decide waits for review.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from neosian import documents, editing, matter
from neosian.documents import Document
from neosian.dream import claims, clauses, edits, ending, hearsay, outline
from neosian.dream.claims import Fact, Sentence
from neosian.dream.edits import Edit
from neosian.dream.heard import Heard, Session, flat, is_memory_file
from neosian.dream.notes import Notes
from neosian.errors import NeosianError
from neosian.redact import UNSEEN, redact_document

NOTE_MOST = 4_000
"""Characters of a note: what is longer is split."""
EDITS_MOST = 20
DELETIONS_MOST = 5
DESCRIPTION_MOST = 300
JUDGED_MOST = 10 * NOTE_MOST
"""Characters of a note that is changed at all: to judge a longer one takes too long."""
REASON_MOST = 500
_REASON_LEAST = 3  # letters and digits of a reason, which in some scripts are a sentence

_ALIKE = 0.75  # of the shorter note's words in another: the two say the same
_SAME_THOUGHT = 0.5  # of a sentence's words in another one: the later replaces the earlier
_SAID = 0.5  # of a rule's words said by persons
_SHOWN = 0.6  # of a sentence's words shown by a tool, close to each other
_CODE_LEAST = 3  # words of a line of code that must have been run or said
_COPIED = 120  # characters word for word
_STEP = _COPIED // 2
_PLACES_MOST = 20  # places of one piece that are looked at
_LOST_MOST = 100  # lost facts that are looked at one by one
_LEFT = 0.2  # of a note's words: with fewer it is as good as deleted
_WORDS_LEAST = 5  # words of a note of which that can be told
_RULE = "rule"
_STANDING = (
    "expires",
    "flagged",
    "holder",
    "pinned",
    "status",
)  # keys that hide a note, praise it or hold it
_NAMED_MOST = 6  # facts named in a sentence
_FLAG = re.compile(r"^flagged:.*\n", re.MULTILINE | re.IGNORECASE)  # said of a text, no part of what it knows
_UNUSUAL = re.compile(r"[^\x20-\x7e\n\t]")
_UNSHOWN = re.compile(
    r"<!--.*?(?:-->|\Z)|^[ ]{0,3}\[[^\]\n]*\]:[ \t]*(?:#|<>)[^\n]*|<[a-z][^<>]*\b(?:hidden|style[ ]*=)[^<>]*>",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_LIKE_LATIN = (  # Cyrillic, Greek, Armenian, Coptic, Cherokee, Lisu, and Latin letters of phoneticians
    "\u0400-\u052fΑΒΕΖΗΙΚΜΝΟΡΤΥΧ\u0531-\u0587\u2c80-\u2cff\u13a0-\u13fd\uab70-\uabbf\ua4d0-\ua4f7ɑɡɩɪ\u1d00-\u1d22"
)
_SMALL_GREEK = "αβγεηικνορτυχω"  # which stand beside Latin letters in formulas, too
_DISGUISED = re.compile(
    f"[A-Za-z][{_LIKE_LATIN}]|[{_LIKE_LATIN}][A-Za-z]|[A-Za-z]{{3}}[{_SMALL_GREEK}]|[{_SMALL_GREEK}][A-Za-z]{{3}}"
)
_STRIKING = re.compile("[\u0334-\u0338\u20d0-\u20dc\u20e5-\u20ef]")
_LIKE_SIGNS = re.compile(r"[A-Za-z0-9./\\:]")
_CODE = re.compile(
    r"^[ ]{0,3}(```+|~~~+).*?(?:^[ ]{0,3}\1|\Z)|(?<![\\`])(`+)(?!`)[^\n]+?(?<!`)\2(?!`)",
    re.DOTALL | re.MULTILINE,
)
_PICTURE = r"!\[[^\]\n]*\](?:\(\s*<?(?:https?:)?//|\[)"
_BESIDE = re.compile(
    rf"{_PICTURE}|<(?:img|picture|video|audio|source|template|script|style|noscript|iframe|object|embed|svg"
    rf"|link|meta)\b[^>\n]*"
    r"|^[ ]{0,3}\[[^\]\n]+\]:[ \t]*\S+[ \t]+[\"'(][^\n]*|\]\([^()\s]+\s+[\"'(][^\n]*",
    re.MULTILINE | re.IGNORECASE,
)
"""What is not shown as text: pictures from elsewhere, tags of the like, titles of links."""
_BLANKS = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")

Rule = Callable[[Edit, Notes, "Case"], str]


class Refusal(NamedTuple):
    """An edit that may not be made: the rule that says so, and why."""

    edit: Edit
    rule: str
    why: str

    def __str__(self) -> str:
        return f"{self.edit.action} {self.edit.path}: {self.why}"


class Case:
    """What the rules look at beside the notes: the session's evidence, the notes before it, the edits around.

    ``made`` are the edits accepted so far. Of the edits ``asked`` for the one ``at`` is judged; those whose numbers are
    in ``hoped`` may yet be made.
    """

    def __init__(self, heard: Heard, before: Notes, asked: Sequence[Edit]) -> None:
        self.heard = heard
        self.before = before
        self.asked = asked
        self.at = 0
        self.made: list[Edit] = []
        self.hoped = set(range(len(asked)))

    @property
    def around(self) -> list[Edit]:
        """The edits of this answer that may be made."""
        return [each for number, each in enumerate(self.asked) if number in self.hoped]

    @property
    def later(self) -> list[Edit]:
        """Those of them that come after the one that is judged."""
        return [each for number, each in enumerate(self.asked) if number in self.hoped and number > self.at]

    @cached_property
    def held(self) -> str:
        """All that the notes said before, as facts are looked for in it."""
        return claims.folded("\n".join((*self.before.texts, *self.before.texts.values())))

    @cached_property
    def held_flat(self) -> str:
        """The same on one line, for finding what is copied from it."""
        return flat("\n".join(self.before.texts.values()))

    @cached_property
    def held_sentences(self) -> set[str]:
        """Its sentences, each on one line."""
        return {flat(each.text) for text in self.before.texts.values() for each in claims.sentences(text)}


def judge(
    asked: Sequence[Edit],
    notes: Notes,
    session: Session,
    known: Container[str] = (),
    *,
    made: Sequence[Edit] = (),
) -> tuple[list[Edit], list[Edit], list[Refusal]]:
    """The edits that may be made, those that a person is to look at, and the others, each list in their order.

    ``notes`` are those that the session sees and are not changed. ``known`` are sources of other sessions
    (`conversation#turn`); ``made`` the edits of this session that an earlier round accepted (``notes`` have them).
    Edits come back with their paths and sources spelled out; one that changes nothing, or was made, does not come back.
    """
    heard = Heard(session, known)
    room = max(0, EDITS_MOST - len(made))
    done = set(map(_bare, made))
    new = [each for edit in asked if _bare(each := _spelled_out(edit, notes, heard)) not in done]
    case = Case(heard, notes, new[:room])
    while True:  # what one edit moves out of a note another must bring: without it the first may not be made
        case.made = list(made)
        accepted, review, refused = _judged(case)
        if case.hoped <= accepted.keys():
            break
        case.hoped &= accepted.keys()
    if len(new) > room:
        refused.append(Refusal(new[room], "too many", _too_many(len(new) - room)))
    return list(accepted.values()), review, refused


def _judged(case: Case) -> tuple[dict[int, Edit], list[Edit], list[Refusal]]:
    """Each edit in its turn; those that are accepted by their numbers."""
    notes = case.before.copy()
    accepted: dict[int, Edit] = {}
    review: list[Edit] = []
    refused: list[Refusal] = []
    for number, asked in enumerate(case.asked):
        case.at, edit = number, _named_rightly(asked, notes)
        refusal = _refusal(edit, notes, case)
        if refusal is not None:
            refused.append(refusal)
        elif _changes_nothing(edit, notes):
            continue
        elif is_for_review(edit, notes):
            review.append(edit)
        else:
            notes.apply(edit)
            accepted[number] = edit
            case.made.append(edit)
    return accepted, review, refused


def _named_rightly(edit: Edit, notes: Notes) -> Edit:
    """A rewriting of what is not there creates it."""
    is_new = edit.action == edits.REWRITE and edit.path not in notes.texts
    return edit._replace(action=edits.CREATE) if is_new else edit


def _refusal(edit: Edit, notes: Notes, case: Case) -> Refusal | None:
    """Why an edit may not be made: the first thing about its form, else all about its content."""
    for name, rule in FORM.items():
        if why := rule(edit, notes, case):
            return Refusal(edit, name, why)
    found = {name: why for name, rule in CONTENT.items() if (why := rule(edit, notes, case))}
    return Refusal(edit, next(iter(found)), " ".join(found.values())) if found else None


def _bare(edit: Edit) -> Edit:
    """An edit without what may be said another way each time: the same one is not made twice."""
    return edit._replace(reason="", sources=())


def _too_many(count: int) -> str:
    return f"A session makes at most {EDITS_MOST} edits; {count} more were asked for: keep what matters most."


def _spelled_out(edit: Edit, notes: Notes, heard: Heard) -> Edit:
    """An edit with its paths as they are spelled in the store, and its sources in full."""
    edit = edit._replace(sources=tuple(dict.fromkeys(_source(each, heard) for each in edit.sources)))
    try:
        edit = edit._replace(path=notes.place(edit.path))
        return edit._replace(new_path=notes.place(edit.new_path)) if edit.action == edits.RENAME else edit
    except NeosianError:
        return edit  # the first rule says what is wrong


def _source(said: str, heard: Heard) -> str:
    """A source in full: a conversation may be named by its beginning, or left out where it is this one."""
    name, mark, turn = said.rpartition("#")
    turn = turn.strip().removeprefix("turn").strip()
    is_this = heard.conversation.startswith(name) and (not name or len(name) >= 4)
    return f"{heard.conversation}#{turn}" if is_this and turn.isdecimal() and (mark or not name) else said


# -- whose note it is


def is_for_review(edit: Edit, notes: Notes) -> bool:
    """Whether a person has to agree: to anything but an insertion into what a person wrote, or changed last; and to the
    loss of any line that a person brought into a note of the dream's."""
    if not notes.is_persons(edit.path):
        mine = notes.lines_of_persons(edit.path)
        return bool(mine) and edit.action != edits.RENAME and not mine <= set(_new(edit, notes).split("\n"))
    data = notes.after(edit)
    return (
        edit.action == edits.RENAME or data is None or not _only_inserts(_old(edit, notes), _new(edit, notes))
    )


def _only_inserts(old: str, new: str) -> bool:
    """Whether lines are put into the body alone, which leave those that stand there what they were.

    A line more of front matter may take the rest of a note out of sight.
    """
    bodies = [documents.read(text.encode("utf-8", "replace")).body for text in (old, new)]
    is_same = old.removesuffix(bodies[0]) == new.removesuffix(bodies[1])
    return is_same and outline.only_inserts(*bodies)


def _changes_nothing(edit: Edit, notes: Notes) -> bool:
    if edit.action == edits.RENAME:
        return edit.path == edit.new_path
    return notes.after(edit) == notes.data(edit.path)


# -- rules about the form: the first that says no ends it


def is_at_a_place(edit: Edit, notes: Notes, case: Case) -> str:
    """Paths below a writable mount, `.md`, and not what is kept for others."""
    for path in _paths(edit):
        try:
            place = notes.place(path)
        except NeosianError as error:
            return f"{error}{f' Try: {error.hint}.' if error.hint else ''}"
        if why := _kept(place, notes) or _misnamed(place, notes):
            return why
    return ""


def _paths(edit: Edit) -> list[str]:
    return [edit.path, edit.new_path] if edit.action == edits.RENAME else [edit.path]


def _kept(place: str, notes: Notes) -> str:
    """Why the dream does not write at a place, "" where it does."""
    mount = notes.mount(place)
    folder = place[len(mount) + 1 :].partition("/")[0].casefold()
    name = place.rpartition("/")[2]
    if not notes.mounts.get(mount, False):
        return f"{mount} is mounted read-only: write below another mount."
    if place in notes.withheld:
        return f"{place} waits for a person, because it holds a secret or is no plain file: leave it."
    if folder == "board":
        return "The board belongs to people and agents at work: write what lasts below project/, tools/ or profile/."
    if name.casefold() == "readme.md" or is_memory_file(place):
        return f"{name} is a name that programs look for: choose one that says what the note is about."
    return ""


def _misnamed(place: str, notes: Notes) -> str:
    """Why no new note has such a name."""
    if notes.data(place) is not None:
        return ""
    *folders, name = place.split("/")
    if not name.endswith(".md"):
        return f"The name of a note ends in .md, in small letters: {name[:-3]}.md."
    if folder := next((each for each in folders if each.lower().endswith(".md")), ""):
        return f"{folder} would be a folder that is named like a note: choose another name."
    if _DISGUISED.search(place) or any(map(_looks_like_a_sign, place)):
        return "The path has letters or signs that only look like others: write each word in one alphabet."
    return ""


def _looks_like_a_sign(char: str) -> bool:
    """Whether a character is another way to write a Latin letter, a digit, a dot or a slash."""
    return not char.isascii() and _LIKE_SIGNS.search(unicodedata.normalize("NFKC", char)) is not None


def is_not_pinned(edit: Edit, notes: Notes, case: Case) -> str:
    """A pinned document is never touched, and none is pinned."""
    for path in _paths(edit):
        if notes.pinned(path):
            return f"{path} is pinned by a person and never changed here: put what is new into another note."
    return ""


def fits(edit: Edit, notes: Notes, case: Case) -> str:
    """The edit can be made as it is said."""
    target = _paths(edit)[-1]
    makes = edit.action == edits.CREATE or (edit.action == edits.RENAME and target != edit.path)
    if makes and (why := _taken(target, notes)):
        return why
    try:
        notes.after(edit)
    except NeosianError as error:
        said = str(error).replace("old_str", "`old`")
        return said if edit.path in said else f"In {edit.path}: {said} Take `old` from the note as it is now."
    return ""


def _taken(place: str, notes: Notes) -> str:
    """Why there can be no new note at a place."""
    if notes.data(place) is not None:
        return f"{place} exists already: change it with str_replace, or rewrite it."
    if notes.is_folder(place):
        return f"{place} is a folder: choose another name."
    if there := notes.in_the_way(place):
        return f"{there} is a file, so nothing can lie below it: choose another path."
    return ""


def says_why_it_deletes(edit: Edit, notes: Notes, case: Case) -> str:
    """A deletion has a reason, and a session has only a few."""
    if edit.action != edits.DELETE:
        return ""
    if len(edit.reason) < 8:
        return "A note is deleted only with a reason that says what became of what it knew."
    if sum(each.action == edits.DELETE for each in case.made) >= DELETIONS_MOST:
        return f"A session deletes at most {DELETIONS_MOST} notes: leave the others."
    return ""


# -- rules about the content: all that say no are told


def says_why(edit: Edit, notes: Notes, case: Case) -> str:
    """An edit has a reason: `neosian why` and a person at review have nothing else to go by."""
    if len(edit.reason) > REASON_MOST:
        return f"Its reason has {len(edit.reason):,} characters: say it in one sentence of at most {REASON_MOST}."
    if sum(map(str.isalnum, edit.reason)) >= _REASON_LEAST:
        return ""
    return "It has no reason: say in `reason`, in one sentence, what of the session makes this edit."


def has_sources(edit: Edit, notes: Notes, case: Case) -> str:
    """Sources are turns that exist, one of them of this session."""
    heard = case.heard
    unknown = [
        each for each in edit.sources if each not in heard.at and not _is_known(each, edit, notes, heard)
    ]
    if unknown:
        turns = [int(source.rpartition("#")[2]) for source in heard.at]
        span = f"{heard.conversation}#{min(turns)} to #{max(turns)}" if turns else "none"
        return f"There is no turn {_listed(unknown)}; those of this session are {span}."
    if not any(each in heard.at for each in edit.sources):
        return (
            f"Name the turns of this session that say so, such as {next(iter(heard.at), 'CONVERSATION#1')}."
        )
    return ""


def _is_known(source: str, edit: Edit, notes: Notes, heard: Heard) -> bool:
    return source in heard.known or source in notes.sources(edit.path)


def leaves_something(edit: Edit, notes: Notes, case: Case) -> str:
    """No note is emptied in place of deleting it."""
    if edit.action == edits.DELETE or documents.read(_new(edit, notes).encode()).body.strip():
        return ""
    return "Nothing would be left of the note: delete it with a reason, or leave it."


def is_short(edit: Edit, notes: Notes, case: Case) -> str:
    """A note stays short; one that is longer may shrink."""
    old, new = len(_old(edit, notes)), len(_new(edit, notes))
    if old > JUDGED_MOST and edit.action != edits.RENAME:
        return f"The note has {old:,} characters, more than are judged: leave it, and write new things elsewhere."
    if new <= max(NOTE_MOST, old):
        return ""
    return (
        f"The note would have {new:,} characters and may have {NOTE_MOST:,}: merge what says the same, or split it"
        " by topic into notes of their own (nothing is cut)."
    )


def has_front_matter(edit: Edit, notes: Notes, case: Case) -> str:
    """Front matter is valid YAML with a description; a skill has a name, too."""
    if edit.action in (edits.DELETE, edits.RENAME):
        return ""
    document = documents.read(_new(edit, notes).encode())
    old = documents.read(_old(edit, notes).encode())
    if edit.action == edits.STR_REPLACE and document.header == old.header:
        return ""
    values, problem = matter.read(document.header)
    description = values.get("description")
    if problem:
        return f"The front matter cannot be read: {problem}. Quote the value."
    if why := _sets_what_is_persons(edit, old, document, notes, case.heard):
        return why
    if not isinstance(description, str) or not description.strip() or "\n" in description.strip():
        return 'A note begins with front matter that has a one-line description: ---\\ndescription: "…"\\n---'
    if len(description) > DESCRIPTION_MOST:
        return f"The description has {len(description)} characters: one line of at most {DESCRIPTION_MOST} will do."
    if _is_skill(edit.path) and not document.name:
        return "A skill has a `name` beside its description."
    return ""


def _sets_what_is_persons(edit: Edit, old: Document, new: Document, notes: Notes, heard: Heard) -> str:
    """Why front matter that says how far a note is told, trusted or held may not be as an edit has it."""
    before, after = _standing_keys(old), _standing_keys(new)
    for key in sorted(before.keys() | after.keys()):
        had, has = before.get(key, ""), after.get(key, "")
        if had == has or (key == "flagged" and not has and _flag_lapses(old, new)):
            continue
        if had:
            return f"Only a person changes `{key}`: leave it as it is, `{key}: {had}`."
        if key != "expires":
            return f"Only a person sets `{key}`: leave it out."
        if notes.is_persons(edit.path) or not _is_end(has, heard):
            return (
                "`expires` takes a note out of sight: leave it out, unless the session's person or agent named that"
                " very day, and it is still to come."
            )
    return ""


def _standing_keys(document: Document) -> dict[str, str]:
    """What front matter says of a note's standing, however it is written; without what says no."""
    written = {str(key).strip().lower(): str(value) for key, value in matter.read(document.header)[0].items()}
    said = {**written, **documents.scalars(document.header)}
    return {key: said[key] for key in _STANDING if documents.truth(said.get(key, "")) is not False}


def _flag_lapses(old: Document, new: Document) -> bool:
    """Whether a flag stands no longer once the text is the new one: it was said of the old one alone."""
    is_of_this_text = _standing_keys(old).get("flagged", "") != old.flagged != "yes"
    return not old.flagged or (is_of_this_text and old.fingerprint != new.fingerprint)


def _is_end(day: str, heard: Heard) -> bool:
    """Whether somebody named a day that the session has not passed."""
    said = claims.folded(f"{heard.persons}\n{heard.agent}")
    is_named = claims.stands(Fact(claims.DATE, day[:10], day), said)
    return is_named and not documents.is_past(day, max(heard.days, default=""))


def hides_nothing(edit: Edit, notes: Notes, case: Case) -> str:
    """No text that people do not see: characters without width or against the direction, comments."""
    old, new = _old(edit, notes), _new(edit, notes)
    if _hidden(new) > _hidden(old) or _hidden(edit.reason):
        return (
            "It holds characters that cannot be seen (of no width, or that turn the direction) or strike others"
            " through: leave them out."
        )
    if set(_DISGUISED.findall(new)) - set(_DISGUISED.findall(old)):
        return "It holds words in which letters of two alphabets look alike: write each word in one."
    if set(_UNSHOWN.findall(new)) - set(_UNSHOWN.findall(old)):
        return (
            "It holds text that is not shown (an HTML comment and the like): say it openly, or leave it out."
        )
    if set(_BESIDE.findall(_CODE.sub("", new))) - set(_BESIDE.findall(_CODE.sub("", old))):
        return (
            "It holds what is not shown as text (a picture from elsewhere, a tag, a link's title): write it as text, as"
            " code, or as a plain link."
        )
    if set(_yaml_comments(new)) - set(_yaml_comments(old)):
        return "Its front matter holds a comment: say it in the text, or leave it out."
    return ""


def _hidden(text: str) -> int:
    """How many characters of a text cannot be seen."""
    return sum(_is_hidden(text, match.start()) for match in _UNUSUAL.finditer(text))


def _is_hidden(text: str, at: int) -> bool:
    """Whether a character hides; what joins emoji, or the letters of scripts that join, does not."""
    char, before = text[at], text[at - 1 : at]
    if char in "\u200c\u200d":
        is_joined = "\u0600" <= before <= "\u0fff" or unicodedata.category(before or " ") in ("So", "Sk")
        return not (is_joined or before == "\ufe0f")
    if _STRIKING.match(char):
        return True
    selects = "\ufe00" <= char <= "\ufe0d" or "\U000e0100" <= char <= "\U000e01ef"
    return selects or char in UNSEEN or char in _BLANKS or unicodedata.category(char) in ("Cc", "Cf", "Co")


def _yaml_comments(text: str) -> Iterable[str]:
    header = documents.read(text.encode("utf-8", "replace")).header
    return (line.strip() for line in header.split("\n") if re.search(r"(?:^|\s)#", _unquoted(line)))


def _unquoted(line: str) -> str:
    return re.sub(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'", "", line)


def tells_no_secret(edit: Edit, notes: Notes, case: Case) -> str:
    """No secret, and nothing private."""
    for text in (_new(edit, notes), edit.reason, edit.path, edit.new_path):
        if redact_document(text) != text:
            return "It holds what looks like a secret, or a <private> part: say where it is kept, not what it is."
    return ""


def is_no_second(edit: Edit, notes: Notes, case: Case) -> str:
    """No note that says what another one says."""
    if edit.action not in (edits.CREATE, edits.REWRITE):
        return ""
    old, new = _told(_old(edit, notes)), _told(edit.text)
    changed = {each.path for each in case.later if each.action in (edits.REWRITE, edits.DELETE)}
    for place, text in notes.texts.items():
        if place == edit.path or place in changed:
            continue
        if claims.alike(new, _told(text)) >= _ALIKE > (claims.alike(old, _told(text)) if old else 0):
            return f"It says what {place} says already: change that note, and only by what is new."
    return ""


def is_not_forgotten(edit: Edit, notes: Notes, case: Case) -> str:
    """What somebody deleted comes back only when something newer says it."""
    target = _paths(edit)[-1]
    if edit.action not in (edits.CREATE, edits.RENAME):
        return ""
    newest = max((case.heard.at[each] for each in edit.sources if each in case.heard.at), default=0.0)
    for place, gone in notes.gone.items():
        if newest <= gone.at and (
            place == target or claims.alike(_told(edit.text), _told(gone.text)) >= _ALIKE
        ):
            return (
                f"{place} was deleted after those turns, so what they say is not to be remembered: leave it."
            )
    return ""


def keeps_facts(edit: Edit, notes: Notes, case: Case) -> str:
    """No date, number, path, name or rule goes but by what the session says; a fact also by a reason that names it."""
    if edit.action == edits.RENAME:
        return ""
    if edit.action == edits.DELETE or _is_emptied(edit, notes):
        return _goes_unasked(edit, notes, case)
    old, new = _FLAG.sub("", _replaced(edit, notes, case), count=1), _new(edit, notes)
    has_sources = bool(notes.sources(edit.path))
    reason = edit.reason if has_sources else ""
    lost = [*_lost_facts(old, new, reason, case.heard), *_lost_rules(old, new, case.heard)]
    lost = _not_elsewhere(lost, edit, notes, case)
    if not lost:
        return ""
    is_named_enough = has_sources and any(fact.kind != _RULE for fact in lost)
    why = " or name it in the reason if it no longer holds" if is_named_enough else ""
    return f"It drops {_named(lost)}, which nothing in the session contradicts: keep it{why}."


def _not_elsewhere(lost: Sequence[Fact], edit: Edit, notes: Notes, case: Case) -> list[Fact]:
    """Those of the lost facts and rules that no other note has."""
    others = "\n".join(_other_texts(edit, notes, case)) if lost else ""
    moved = claims.folded(others)
    rules = [set(claims.content(each.text)) for each in claims.sentences(others) if claims.is_rule(each)]
    return [
        fact
        for fact in lost
        if not (_is_kept(fact.key, rules, _ALIKE) if fact.kind == _RULE else claims.stands(fact, moved))
    ]


def _is_kept(rule: str, rules: Iterable[set[str]], share: float) -> bool:
    """Whether one of some rules, given by their words, says what a rule says."""
    words = set(claims.content(rule))
    return any(claims.overlap(words, each) >= share for each in rules)


def _is_emptied(edit: Edit, notes: Notes) -> bool:
    """Whether hardly a word of a note is left."""
    words = set(claims.content(_told(_old(edit, notes))))
    left = claims.overlap(words, claims.content(_told(_new(edit, notes))))
    return len(words) >= _WORDS_LEAST and left < _LEFT


def _goes_unasked(edit: Edit, notes: Notes, case: Case) -> str:
    """Why a note may not go: no person takes it back, no agent found it over, no other note has what it says."""
    old = _FLAG.sub("", _old(edit, notes), count=1)
    told, heard = _told(old), case.heard.of(edit.sources)
    kept = claims.folded(_new(edit, notes))
    facts = [fact for fact in claims.facts(old).values() if not claims.stands(fact, kept)]
    lost = _not_elsewhere([*facts, *_rules(old)], edit, notes, case)
    rules = [fact.key for fact in lost if fact.kind == _RULE]
    if ending.is_taken_back(_topic(edit.path), told, len(lost) - len(rules), rules, heard):
        return ""
    if not rules and ending.is_found_over(told, heard):
        return ""
    if lost:
        return (
            f"With it would go {_named(lost)}, which stands in no other note, and nothing in its sources says that this"
            " is over: bring it into another note in the same answer, or change only what no longer holds."
        )
    if _is_told_elsewhere(told, edit, notes, case):
        return ""
    return (
        "Nothing in its sources says that what the note tells is over, and no other note tells it: leave it, or name"
        " the turn in which a person takes it back."
    )


def _is_told_elsewhere(told: str, edit: Edit, notes: Notes, case: Case) -> bool:
    """Whether another note has most of the words, or those that this answer writes have them together."""
    words = set(claims.content(told))
    written = [text for each in case.around if each.path != edit.path for text in (each.text, each.new)]
    texts = [*(text for place, text in notes.texts.items() if place != edit.path), "\n".join(written)]
    return not words or any(claims.overlap(words, claims.content(text)) >= _SAME_THOUGHT for text in texts)


def _topic(place: str) -> str:
    """What a note is about as its path says it: its name, of a skill and the like the folder's."""
    folder, _, name = place.removesuffix(".md").rpartition("/")
    return folder.rpartition("/")[2] if name.lower() in ("skill", "index") else name


def _lost_facts(old: str, new: str, reason: str, heard: Heard) -> list[Fact]:
    """The facts of the old text that neither the new one nor the reason has, and no other one replaces."""
    texts = (claims.folded(new), claims.folded(reason))
    lost = [fact for fact in claims.facts(old).values() if not _stands_in(texts, fact)]
    if not lost or len(lost) > _LOST_MOST:
        return lost
    thoughts = [(set(claims.content(each.text)), each.text) for each in claims.sentences(new)]
    return [fact for fact in lost if not _is_overtaken(fact, old, thoughts, heard)]


def _lost_rules(old: str, new: str, heard: Heard) -> list[Fact]:
    """The rules of the old text that are no rules in the new one, and that no person ended."""
    kept = [set(claims.content(each.text)) for each in claims.sentences(new) if claims.is_rule(each)]
    return [
        rule
        for rule in _rules(old)
        if not (_is_kept(rule.key, kept, _SAME_THOUGHT) or ending.is_rule_over(rule.key, heard))
    ]


def _rules(text: str) -> list[Fact]:
    """The rules that a text holds, each as a fact."""
    found = filter(claims.is_rule, claims.sentences(text))
    return [Fact(_RULE, flat(each.text), _quoted(each.text)) for each in found if claims.content(each.text)]


def _stands_in(texts: Iterable[str], fact: Fact) -> bool:
    return any(claims.stands(fact, text) for text in texts)


def _replaced(edit: Edit, notes: Notes, case: Case) -> str:
    """The text whose facts are to be kept: the note's, or that of a deleted note which this one takes the place of.

    What stood at the same place is replaced, unless hardly a word of it is left; elsewhere the texts say so.
    """
    if edit.action != edits.CREATE:
        return _old(edit, notes)
    told = _told(edit.text)
    deleted = [each.path for each in case.made if each.action == edits.DELETE]
    texts = {path: case.before.texts.get(path, "") for path in deleted}
    here = texts.pop(edit.path, "")
    if claims.overlap(claims.content(_told(here)), claims.content(told)) >= _LEFT:
        return here
    return next((text for text in texts.values() if claims.alike(told, _told(text)) >= _SAME_THOUGHT), "")


def _other_texts(edit: Edit, notes: Notes, case: Case) -> list[str]:
    """What the other notes say, and will say when the later edits are made."""
    held = [text for place, text in notes.texts.items() if place != edit.path]
    return [
        *held,
        *(text for each in case.later for text in (each.text, each.new) if each.path != edit.path),
    ]


def _is_overtaken(fact: Fact, old: str, thoughts: Sequence[tuple[set[str], str]], heard: Heard) -> bool:
    """Whether a thought of the new text is the same with another fact of this kind, which the session has."""
    before = claims.folded(old)
    had = [
        _without(claims.content(each.text), fact)
        for each in claims.sentences(old)
        if claims.stands(fact, claims.folded(each.text))
    ]
    return any(
        each.kind == fact.kind and not claims.stands(each, before) and _is_heard(each, heard)
        for words, sentence in thoughts
        if any(claims.overlap(thought, words) >= _SAME_THOUGHT for thought in had)
        for each in claims.facts(sentence).values()
    )


def _without(words: Iterable[str], fact: Fact) -> set[str]:
    return set(words) - set(claims.content(fact.said))


def _is_heard(fact: Fact, heard: Heard) -> bool:
    return heard.may_mean(fact.key) if fact.kind == claims.DATE else claims.stands(fact, heard.all)


def invents_nothing(edit: Edit, notes: Notes, case: Case) -> str:
    """Every path, flag, version, port, address, ticket, name in code and date is of the session or of a note."""
    if edit.action in (edits.DELETE, edits.RENAME):
        return ""
    texts = (case.held, claims.folded(_old(edit, notes)), case.heard.all)
    paths = {claims.folded(path) for other in case.around for path in _paths(other)}
    precise = (fact for fact in _precise(_new(edit, notes)) if fact.key not in paths)
    invented = [fact for fact in precise if not _stands_in(texts, fact)]
    held_days = claims.dates(case.held) | claims.dates(_old(edit, notes))
    days = [fact for fact in claims.facts(_new(edit, notes)).values() if fact.kind == claims.DATE]
    invented += [fact for fact in days if fact.key not in held_days and not case.heard.may_mean(fact.key)]
    if not invented:
        return ""
    return f"{_named(invented)} stands in no turn of the session and in no note: write only what was said or done."


def _precise(text: str) -> list[Fact]:
    """What nobody may make up: identifiers, and numbers long enough to mean one thing."""
    found = claims.facts(text)
    named = claims.identifiers(text)
    return [
        fact
        for fact in found.values()
        if fact.key in named
        or (fact.kind == claims.NUMBER and len(fact.key) > 2 and not claims.is_year(fact.key))
    ]


def obeys_only_persons(edit: Edit, notes: Notes, case: Case) -> str:
    """A rule, a preference or an order comes of persons' words; never of what a tool showed."""
    if edit.action == edits.DELETE:
        return ""
    why = (
        _not_a_rule(each, edit, notes, case.heard)
        or _not_an_order(each, case.heard)
        or _not_told_as_a_fact(each, case.heard)
        for each in _new_sentences(edit, notes, case)
    )
    return next(filter(None, why), "")


def _new_sentences(edit: Edit, notes: Notes, case: Case) -> list[Sentence]:
    """The sentences that an edit brings in, the name of the note among them."""
    old = _old(edit, notes)
    held = {flat(each.text) for each in claims.sentences(old)} | {*_keys(old)} | case.held_sentences
    new = _new(edit, notes)
    titles = [*_keys(new), *(_titles(edit) if edit.action != edits.STR_REPLACE else ())]
    told = [*claims.sentences(new), *map(Sentence, titles)]
    return [each for each in told if flat(each.text) not in held]


def _titles(edit: Edit) -> list[str]:
    """What a note is called: the words of its name, and those of its folders and its name."""
    target = _paths(edit)[-1]
    parts = [_spaced(part) for part in target.removesuffix(".md").split("/")[2:]]
    return list(dict.fromkeys((*parts[-1:], " ".join(parts))))


def _keys(text: str) -> list[str]:
    """The words of the keys of a note's front matter."""
    header = documents.read(text.encode("utf-8", "replace")).header
    return [flat(_spaced(str(key))) for key in matter.read(header)[0]]


def _spaced(name: str) -> str:
    return re.sub(r"[-_]", " ", name)


def _topics(edit: Edit, notes: Notes) -> set[str]:
    """What only says what a note is about, each on one line: its headings, its description, its names."""
    text = _new(edit, notes)
    headings = (line.lstrip("# ") for line in text.split("\n") if line.startswith("#"))
    description = documents.read(text.encode("utf-8", "replace")).description
    return {flat(each) for each in (*headings, description, *_keys(text), *_titles(edit))}


def _not_a_rule(sentence: Sentence, edit: Edit, notes: Notes, heard: Heard) -> str:
    """Why a sentence that says what holds from now on is not taken over."""
    words = set(claims.content(sentence.text))
    if not claims.is_rule(sentence) or not words or heard.is_said(sentence.text, _SHOWN):
        return ""
    if _is_shown_as_rule(words, heard):
        return _only_shown(sentence.text)
    if _seen_twice(edit, notes) and heard.agents_words.share(words) >= _SAID:
        return ""
    if heard.brought_words.near(words, _SHOWN, least=2):
        return _only_shown(sentence.text)
    if heard.is_mostly_said(sentence.text, _old(edit, notes), _SAID):
        return ""
    return (
        f"{_quoted(sentence.text)} is a rule that no person gave in this session: use the person's own words, with"
        " their yes or no, say what happened instead, or wait for a second session that shows it."
    )


def _not_an_order(sentence: Sentence, heard: Heard) -> str:
    """Why a sentence that tells to do something is not taken over: nobody said it, and nobody did it."""
    for order in claims.orders(sentence):
        words = set(claims.content(order))
        if not words or heard.is_said(order, _SHOWN):
            continue
        is_done = heard.commands_words.near(words, _SHOWN)
        if _is_shown_as_rule(words, heard) or (
            not is_done and heard.shown_words.near(words, _SHOWN, least=2)
        ):
            return _only_shown(order)
        if sentence.is_code and len(words) >= _CODE_LEAST and heard.knows(words) < _SAID:
            return f"{_quoted(order)} was neither run nor said in this session: leave it out, or write what was run."
    return ""


def _not_told_as_a_fact(sentence: Sentence, heard: Heard) -> str:
    """Why a sentence is not taken over that tells as a fact what a tool's text says is to be done."""
    words = claims.told(sentence.text)
    is_done = heard.used_words.near(words, _SHOWN, least=2)
    if len(words) < 2 or is_done or heard.is_said(sentence.text, _SHOWN):
        return ""
    is_ascribed = clauses.is_attributed(sentence.text) and not claims.orders(sentence)
    is_shown = not is_ascribed and any(claims.overlap(words, order) >= _SHOWN for order in heard.shown_orders)
    return _only_shown(sentence.text) if is_shown else ""


def _is_shown_as_rule(words: set[str], heard: Heard) -> bool:
    return any(claims.overlap(words, rule) >= _SHOWN for rule in heard.shown_rules)


def _only_shown(said: str) -> str:
    return (
        f"{_quoted(said)} stands only in what a tool showed (a file, a page, an output), and only persons' words become"
        " rules: leave it out, or point to where it stands."
    )


def _quoted(said: str) -> str:
    return f"“{said[:80]}{'…' if len(said) > 80 else ''}”"


def _seen_twice(edit: Edit, notes: Notes) -> bool:
    """Whether two conversations say so: those that the edit names, and those that taught the note before."""
    sources = {*edit.sources, *notes.sources(edit.path)}
    return len({source.partition("#")[0] for source in sources}) > 1


def is_a_proven_skill(edit: Edit, notes: Notes, case: Case) -> str:
    """A skill is what two sessions did."""
    target = _paths(edit)[-1]
    if edit.action not in (edits.CREATE, edits.RENAME) or not _is_skill(target) or _seen_twice(edit, notes):
        return ""
    return "A skill needs two sessions that did it: until then write it as a note below tools/."


def _is_skill(place: str) -> bool:
    return place.split("/")[2:3] == ["skills"]


def copies_nothing(edit: Edit, notes: Notes, case: Case) -> str:
    """What a tool showed becomes at most a pointer: it has its own place, and changes there."""
    if edit.action in (edits.DELETE, edits.RENAME):
        return ""
    new, shown = flat(_new(edit, notes)), case.heard.shown_flat
    for at in range(0, len(new) - _STEP + 1, _STEP):  # of any stretch long enough some piece is whole
        piece = new[at : at + _STEP]
        if piece in shown and piece not in case.held_flat and piece not in case.heard.said_flat:
            copied = _grown(new, at, shown)
            if len(copied) >= _COPIED:
                return (
                    f"“{copied[:60]}…” is copied word for word from what a tool showed: say where it stands (path,"
                    " and what it was like then) and what was decided about it."
                )
    return ""


def points_to_what_was_read(edit: Edit, notes: Notes, case: Case) -> str:
    """What was merely read in a file is told by a pointer to it: its path, and a sentence on what it was like then."""
    if edit.action in (edits.DELETE, edits.RENAME):
        return ""
    found = list(hearsay.restated(_new_sentences(edit, notes, case), case.heard, case.held))
    for each in found:
        if not hearsay.names_one(_new(edit, notes), each.paths or case.heard.read_paths):
            where = f"in {_listed(sorted(each.paths))}" if each.paths else "in a file"
            return (
                f"{_quoted(each.text)} was merely read {where}: say where it stands (the path, and in one sentence what"
                " it was like then), or leave it out."
            )
    if len(found) > 1 and sum(len(each.facts) for each in found) >= hearsay.POINTED_MOST:
        return (
            f"{_quoted(found[0].text)} and {len(found) - 1} more restate what was merely read in a file: a path and one"
            " sentence on what it was like then will do."
        )
    return ""


def says_who_says_so(edit: Edit, notes: Notes, case: Case) -> str:
    """What only a page or a file tells of how things are done here is not told as if it were so."""
    if edit.action == edits.DELETE:
        return ""
    new = _new_sentences(edit, notes, case)
    topics = _topics(edit, notes)
    told = next(
        (
            each
            for each in new
            if hearsay.is_of_others(each, case.heard, case.held)
            or hearsay.is_merely_shown(each, case.heard, is_topic=flat(each.text) in topics)
        ),
        None,
    )
    if told is None:
        return ""
    return (
        f"{_quoted(told.text)} rests only on what a page, a file or an output says, and nobody here said or did it: say"
        " who says so (“the page … says”), or leave it out."
    )


def _grown(new: str, at: int, shown: str) -> str:
    """The longest stretch around a piece of the new text that stands so in what was shown."""
    best, place, tries = "", shown.find(new[at : at + _STEP]), 0
    while place >= 0 and tries < _PLACES_MOST:
        start, end = 0, _STEP
        while start < min(at, place) and new[at - start - 1] == shown[place - start - 1]:
            start += 1
        while at + end < len(new) and place + end < len(shown) and new[at + end] == shown[place + end]:
            end += 1
        best = max(best, new[at - start : at + end], key=len)
        place, tries = shown.find(new[at : at + _STEP], place + 1), tries + 1
    return best


# -- texts, and words of a refusal


def _old(edit: Edit, notes: Notes) -> str:
    return notes.texts.get(edit.path, "")


def _new(edit: Edit, notes: Notes) -> str:
    data = notes.after(edit)
    return "" if data is None else editing.shown(data)


def _told(text: str) -> str:
    """What a note says: its description and its body."""
    document = documents.read(text.encode("utf-8", "replace"))
    return f"{document.description}\n{document.body}"


def _listed(said: Sequence[str]) -> str:
    more = f" and {len(said) - _NAMED_MOST} more" if len(said) > _NAMED_MOST else ""
    return ", ".join(said[:_NAMED_MOST]) + more


def _named(found: Sequence[Fact]) -> str:
    return _listed([f"{fact.kind} {fact.said[:60]}" for fact in found])


FORM: dict[str, Rule] = {
    "place": is_at_a_place,
    "pinned": is_not_pinned,
    "fits": fits,
    "deletion": says_why_it_deletes,
    "size": is_short,
}
CONTENT: dict[str, Rule] = {
    "reason": says_why,
    "sources": has_sources,
    "emptied": leaves_something,
    "front matter": has_front_matter,
    "hidden": hides_nothing,
    "secret": tells_no_secret,
    "duplicate": is_no_second,
    "deleted": is_not_forgotten,
    "lost": keeps_facts,
    "invented": invents_nothing,
    "rule": obeys_only_persons,
    "skill": is_a_proven_skill,
    "copy": copies_nothing,
    "pointer": points_to_what_was_read,
    "hearsay": says_who_says_so,
}
RULES = {**FORM, **CONTENT}
"""Every rule by the name that a refusal has."""
