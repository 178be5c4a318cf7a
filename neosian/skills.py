"""Skills: documents that say how something is done, in a folder of their own or as one file.

`skills/<name>/SKILL.md` may have other files beside it; `skills/<name>.md` is one alone. Both are listed alike.
A skill may take arguments: the front matter's `arguments` names them, and the body says where each goes.
"""

from __future__ import annotations

import os
import re
import time

from neosian import documents, editing, matter, paths, scope
from neosian.context import date_of, doubt_of, one_line
from neosian.errors import NeosianError
from neosian.wiki import Place, Wiki, files_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FOLDER = "skills"
_FILE_MOST = 200_000  # bytes of a skill's other file that are shown
_DESCRIPTION_MOST = 300
_ANY = "arguments"
_PLAIN_NAME = r"\w[\w.-]{0,63}"  # what a client can make a command of


class Skill:
    """A skill as it is listed: where it lies, what it is for, the names of its arguments and its other files."""

    __slots__ = ("arguments", "description", "files", "name", "place")

    def __init__(
        self, place: Place, name: str, description: str, arguments: list[str], files: list[str]
    ) -> None:
        self.place = place
        self.name = name
        self.description = description
        self.arguments = arguments
        self.files = files

    def json(self) -> dict[str, object]:
        """The fields that `--json` prints."""
        return {
            "name": self.name, "path": str(self.place), "description": self.description,
            "arguments": self.arguments, "files": self.files,
        }  # fmt: skip


class UnknownSkill(NeosianError):
    """No skill goes by this name."""

    def __init__(self, name: str, known: Sequence[Skill]) -> None:
        names = ", ".join(skill.name for skill in known) or "none yet"
        super().__init__(f"No skill is called {name!r}; there are: {names}.", "neosian skills")


def skills(wiki: Wiki) -> list[Skill]:
    """The skills of all mounts by name; none that is expired or flagged as wrong.

    A skill is called as its front matter says, unless another one's path has that name: nobody takes a skill's place by
    claiming its name. Of two with one name that of the mount which takes the turns counts.
    """
    today = date_of(time.time())
    listed = [
        (mount, entry)
        for mount in sorted(wiki.mounts, key=lambda mount: mount is not wiki.turns)
        for entry in wiki.entries(mount)
        if _name(entry.path)
        and not documents.is_past(entry.expires, today)
        and not entry.flagged.startswith("wrong")
    ]
    by_path = {_name(entry.path) for _, entry in listed}
    found: dict[str, Skill] = {}
    for mount, entry in listed:
        own = _name(entry.path)
        claimed = entry.name if re.fullmatch(_PLAIN_NAME, entry.name) and entry.name not in by_path else own
        place = mount.at(entry.path)
        page = documents.read(wiki.data(place) or b"")
        doubt = doubt_of(entry, today)
        said = one_line(entry.description or entry.title, _DESCRIPTION_MOST) + (
            f" ({doubt})" if doubt else ""
        )
        found.setdefault(claimed, Skill(place, claimed, said.strip(), arguments(page), _beside(place)))
    return sorted(found.values(), key=lambda skill: skill.name)


def find(wiki: Wiki, name: str) -> Skill:
    """The skill that is called so."""
    known = skills(wiki)
    skill = next((skill for skill in known if skill.name == name), None)
    if skill is None:
        raise UnknownSkill(name, known)
    return skill


def load(wiki: Wiki, name: str, file: str = "") -> str:
    """A skill's text, or that of another ``file`` of its folder."""
    skill = find(wiki, name)
    if not file:
        return _with_files(skill, editing.shown(wiki.read(str(skill.place))))
    wanted = paths.clean(file)
    if wanted not in skill.files:
        listed = ", ".join(skill.files) or "none"
        raise NeosianError(
            f"The skill {name} has no file {file!r}; it has: {listed}.", f"neosian skills {name}"
        )
    data = wiki.read(f"{os.path.dirname(str(skill.place))}/{wanted}")
    if b"\0" in data or len(data) > _FILE_MOST:
        raise NeosianError(
            f"{wanted} of the skill {name} is no text that can be shown.", f"neosian skills {name}"
        )
    return data.decode("utf-8", "replace")


def run(wiki: Wiki, name: str, given: Mapping[str, str]) -> tuple[Skill, str]:
    """A skill, and its body with the arguments in place."""
    skill = find(wiki, name)
    page = documents.read(wiki.read(str(skill.place)))
    return skill, _with_files(skill, filled(page, given))


def _with_files(skill: Skill, text: str) -> str:
    beside = "".join(f"\n- {each}" for each in skill.files)
    return f"{text.rstrip()}\n\nOther files of this skill:{beside}\n" if beside else text


def arguments(page: documents.Document) -> list[str]:
    """The names of a skill's arguments: those its front matter gives, else ``arguments`` where the body takes any."""
    said = matter.read(page.header)[0].get("arguments")
    if isinstance(said, str):
        said = said.replace(",", " ").split()
    named = (
        [item.get("name") if isinstance(item, dict) else item for item in said]
        if isinstance(said, list)
        else []
    )
    found = [re.sub(r"\W", "_", str(name)) for name in named if name]
    return list(dict.fromkeys(found)) or ([_ANY] if re.search(r"\$(?:ARGUMENTS|\d)", page.body) else [])


def filled(page: documents.Document, given: Mapping[str, str]) -> str:
    """The body of a skill with its arguments in place: `$ARGUMENTS` all of them, `$1` the first, `$name` by name.

    What the body has no place for is added at its end, so that nothing that was said gets lost.
    """
    names = arguments(page)
    values = [given.get(name, "") for name in names]
    every = " ".join(value for value in values if value)
    words = every.split() if names == [_ANY] else values
    used = False

    def put(found: re.Match[str]) -> str:
        nonlocal used
        name = found[1]
        if name == "ARGUMENTS":
            used = True
            return every
        if name.isdigit():
            used = True
            return words[int(name) - 1] if 0 < int(name) <= len(words) else ""
        if name in names:
            used = True
            return given.get(name, "")
        return found[0]

    body = re.sub(r"\$(ARGUMENTS\b|\d{1,2}(?!\d)|[A-Za-z_]\w*)", put, page.body).strip("\n")
    return body if used or not every else f"{body}\n\nArguments: {every}"


def _name(path: str) -> str:
    """The name that a skill's path gives it, "" for a document that is none."""
    folder, _, rest = path.partition("/")
    name, _, file = rest.partition("/")
    if folder != FOLDER or not rest or (file and file.lower() != "skill.md"):
        return ""
    name = name if file else name[: -len(".md")]
    return name if re.fullmatch(_PLAIN_NAME, name) else scope.slug(name)


def _beside(place: Place) -> list[str]:
    """The other files of a skill's folder, documents too, by their path in it."""
    folder = os.path.dirname(place.path)
    if folder == FOLDER:
        return []
    root = os.path.join(place.store.path, folder)
    others = files_below(place.at(folder))
    notes = [f"{folder}/{path}" for path, _ in documents.walk(root)]
    return sorted(path[len(folder) + 1 :] for path in {*others, *notes} - {place.path})
