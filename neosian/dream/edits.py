"""The words of an edit: what a model may ask for, and how its answer is read, whatever shape it comes in."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from neosian import editing

CREATE, STR_REPLACE, REWRITE, RENAME, DELETE = ACTIONS = (
    "create", "str_replace", "rewrite", "rename", "delete"
)  # fmt: skip

TOOL = "remember"
DESCRIPTION = (
    "Change the notes, so that what lasts of this session is remembered. Call it once with all edits, in the order in"
    " which they are to be made; with an empty list where nothing lasts, which is so for most sessions."
)


def _text(description: str) -> dict[str, str]:
    return {"type": "string", "description": description}


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "edits": {
            "type": "array",
            "description": "The edits, in order. Empty where nothing of the session lasts.",
            "items": {
                "type": "object",
                "properties": {
                    "action": {
                        "type": "string",
                        "enum": list(ACTIONS),
                        "description": "create: a new note. str_replace: one text of a note by another."
                        " rewrite: the whole note anew. rename: another path. delete: take the note away.",
                    },
                    "path": _text("The note, from its mount on: /project/tools/deploy.md"),
                    "text": _text("create, rewrite: the whole note, with its front matter"),
                    "old": _text(
                        "str_replace: text that stands in the note exactly once, word for word;"
                        " empty to add `new` at the end"
                    ),
                    "new": _text("str_replace: what stands there then"),
                    "new_path": _text("rename: the path it gets"),
                    "reason": _text("Why, in one sentence; what is left out or taken away, and why"),
                    "sources": {
                        "type": "array",
                        "items": {"type": "string"},
                        "description": "The turns that say so, each as CONVERSATION#TURN, as the session shows them",
                    },
                },
                "required": ["action", "path", "reason", "sources"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["edits"],
    "additionalProperties": False,
}
"""The tool's input: one type a property and no unions, which every provider of models takes."""

_NAMES = {
    "action": "action command operation op verb type",
    "path": "path file_path filepath file old_path from document note place",
    "text": "text file_text content contents body markdown insert_text",
    "old": "old old_str old_string old_text find search",
    "new": "new new_str new_string new_text replacement replace_with",
    "new_path": "new_path to target destination new_name",
    "reason": "reason why rationale explanation",
    "sources": "sources source evidence turns",
}
"""By which names models call the fields; the first is ours."""
_WHOLE = "rewrite upsert write save put overwrite replace_all"
_CHANGE = "str_replace string_replace update edit modify change replace patch merge"
_ADD = "insert append add extend"
_VERBS = {
    **dict.fromkeys("create new create_file make".split(), CREATE),
    **dict.fromkeys("rename move mv".split(), RENAME),
    **dict.fromkeys("delete remove rm drop forget".split(), DELETE),
}
_WRAPPERS = ("edits", "input", "arguments", "parameters", TOOL, "changes", "operations", "structured_output")
_PROBLEMS_MOST = 20
_LONGEST = 1_000_000  # characters of an answer that are looked at
_STARTS_MOST = 500  # places at which JSON may begin
_DEEPEST_WRAPPER = 5
_START = re.compile(r"[{\[]")


class Edit(NamedTuple):
    """One edit as the model asked for it; paths with their mount, ``sources`` as `conversation#turn`.

    ``text`` is of `create` and `rewrite`, ``old`` (empty: the end of the note) and ``new`` of `str_replace`.
    """

    action: str
    path: str
    text: str = ""
    old: str = ""
    new: str = ""
    new_path: str = ""
    reason: str = ""
    sources: tuple[str, ...] = ()

    def json(self) -> dict[str, object]:
        """The fields that say something, as `parse` reads them."""
        return {
            key: list(value) if key == "sources" else value
            for key, value in self._asdict().items()
            if value or key in ("action", "path")
        }


def parse(said: object) -> tuple[list[Edit], list[str]]:
    """The edits of a tool's input, or of a text with JSON in it; and a sentence for each that is none.

    Chat and code fences around the JSON do no harm, nor do other names for verbs and fields. Never raises.
    """
    asked = _asked(said, _DEEPEST_WRAPPER)
    if asked is None:
        return [], [
            f'The answer holds no edits. Call {TOOL} with {{"edits": [...]}}, [] where nothing lasts.'
        ]
    found, problems = [], []
    for number, given in enumerate(asked, 1):
        try:
            found.append(_edit(given))
        except ValueError as error:
            problems.append(f"Edit {number}: {error}")
    if len(problems) > _PROBLEMS_MOST:
        problems[_PROBLEMS_MOST:] = [f"{len(problems) - _PROBLEMS_MOST} more edits cannot be read."]
    return found, problems


def _asked(said: object, depth: int) -> list[object] | None:
    """The list of edits, wherever in the answer it stands; None where there is none."""
    if isinstance(said, str):
        return _in_text(said, depth) if depth else None
    if isinstance(said, list):
        return said if not said or any(map(_is_edit, said)) else None
    if not isinstance(said, Mapping):
        return None
    if isinstance(said.get("edits"), list):
        return list(said["edits"])
    for key in _WRAPPERS:
        if key in said and depth:
            inner = _asked(said[key], depth - 1)
            if inner is not None:
                return inner
    return [said] if _is_edit(said) else None


def _is_edit(said: object) -> bool:
    fields = _fields(said) if isinstance(said, Mapping) else {}
    return isinstance(fields.get("path"), str) and bool({"action", "text", "new"} & set(fields))


def _in_text(text: str, depth: int) -> list[object] | None:
    """The edits of the last list in a text that has any: what comes before is mostly a draft of it.

    An edit that stands alone does not count: it may be all that can be read of a list that was cut off.
    """
    found: list[list[object]] = []
    for value in _values(text[:_LONGEST]):
        edits = (
            None if _is_edit(value) or (value == [] and text.strip() != "[]") else _asked(value, depth - 1)
        )
        if edits is not None:
            found.append(edits)
    return next((edits for edits in reversed(found) if edits), found[-1] if found else None)


def _values(text: str) -> Iterator[object]:
    """Each JSON object or list in a text, from left to right, those inside another left out."""
    decoder = json.JSONDecoder(strict=False)  # models write line ends into strings as they are
    at = 0
    for _ in range(_STARTS_MOST):
        start = _START.search(text, at)
        if start is None:
            return
        try:
            value, at = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            at = start.start() + 1
        else:
            yield value


def _edit(given: object) -> Edit:
    """One edit. ``ValueError`` says what is wrong with it."""
    if not isinstance(given, Mapping):
        raise ValueError("it must be an object with action, path, reason and sources.")
    fields = _fields(given)
    texts = {name: _string(name, fields.get(name)) for name in _NAMES if name != "sources"}
    action = _action(texts)
    if not texts["path"]:
        raise ValueError(f"{action} needs the path of a note.")
    if action == RENAME and not texts["new_path"]:
        raise ValueError(f"rename of {texts['path']} needs new_path.")
    if action in (CREATE, REWRITE) and not (texts["text"] or texts["new"]):
        raise ValueError(f"{action} of {texts['path']} needs the whole note as text.")
    return _only_its_own(action, texts, tuple(_sources(fields.get("sources"))))


def _only_its_own(action: str, texts: Mapping[str, str], sources: tuple[str, ...]) -> Edit:
    """The edit without the fields that its action has no use for."""
    whole = action in (CREATE, REWRITE)
    replaces = action == STR_REPLACE
    return Edit(
        action=action,
        path=texts["path"],
        text=(texts["text"] or texts["new"]) if whole else "",
        old=texts["old"] if replaces else "",
        new=(texts["new"] or ("" if texts["old"] else texts["text"])) if replaces else "",
        new_path=texts["new_path"] if action == RENAME else "",
        reason=" ".join(texts["reason"].split()),
        sources=sources,
    )


def _fields(given: Mapping[Any, object]) -> dict[str, object]:
    """What an edit says under our names for its fields."""
    said = {str(key).strip().lower().replace("-", "_"): value for key, value in given.items()}
    named = ((ours, name) for ours, names in _NAMES.items() for name in reversed(names.split()))
    return {ours: said[name] for ours, name in named if said.get(name) is not None}


def _string(name: str, value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a text.")
    return editing.clean(value) if name in ("text", "old", "new") else editing.clean(value).strip()


def _action(texts: Mapping[str, str]) -> str:
    """Which of our actions is meant. A word that stands for several is told by the fields beside it."""
    said = texts["action"].lower().replace("-", "_").replace(" ", "_")
    if said in _VERBS:
        return _VERBS[said]
    if said in _ADD.split():
        is_whole = not texts["old"] and texts["text"].startswith("---\n")
        return CREATE if is_whole else STR_REPLACE
    if said in _WHOLE.split():
        return STR_REPLACE if texts["old"] and not texts["text"] else REWRITE
    if said in _CHANGE.split():
        return REWRITE if texts["text"] and not texts["old"] and not texts["new"] else STR_REPLACE
    if not said:
        return _guessed(texts)
    raise ValueError(f"{texts['action'][:40]!r} is no action; there are {', '.join(ACTIONS)}.")


def _guessed(texts: Mapping[str, str]) -> str:
    """The action of an edit that names none, told by its fields."""
    if texts["old"]:
        return STR_REPLACE
    if texts["new_path"]:
        return RENAME
    if texts["text"]:
        return REWRITE
    raise ValueError(f"it names no action; there are {', '.join(ACTIONS)}.")


def _sources(value: object) -> Iterable[str]:
    """`conversation#turn` of each source, however they are listed; each once, what is none as it was said."""
    if isinstance(value, str):
        value = re.split(r"[,;\s]+", value)
    elif isinstance(value, Mapping):
        value = [value]
    elif not isinstance(value, (list, tuple)):
        value = []
    said = (_source(each) for each in value)
    return dict.fromkeys(source for source in said if source)


def _source(value: object) -> str:
    if isinstance(value, Mapping):
        turn = value.get("turn")
        number = str(turn) if isinstance(turn, str) or (type(turn) is int and 0 < turn < 10**9) else ""
        return _source(f"{value.get('conversation') or value.get('session') or ''}#{number}")
    return editing.clean(value).strip(" \n\t`'\"[]()") if isinstance(value, str) else ""
