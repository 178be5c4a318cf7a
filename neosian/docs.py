"""The manual: pages of Markdown that travel with the program, each with a line saying what it is for."""

from __future__ import annotations

from typing import NamedTuple

from neosian import resources
from neosian.errors import NeosianError, did_you_mean

_FOLDER = "docs"
_SUFFIX = ".md"


class Topic(NamedTuple):
    """One page: the name it is asked for by, and its first line of text."""

    name: str
    purpose: str


def topics() -> list[Topic]:
    """Every page of the manual, by name."""
    return [Topic(name, _purpose(page(name))) for name in sorted(_files())]


def page(topic: str) -> str:
    """The whole page, as it was written; case and `.md` do not matter, and an unknown topic is an error."""
    name = topic.lower().removeprefix(f"{_FOLDER}/").removesuffix(_SUFFIX)
    pages = _files()
    file = pages.get(name)
    if file is None:
        raise NeosianError(f"There is no page named {topic}.{did_you_mean(name, pages)}", "neosian docs")
    return resources.text(_FOLDER, file)


def _files() -> dict[str, str]:
    """Topic -> file name: ``CHANGELOG.md`` is asked for as ``changelog``."""
    files = (name for name in resources.names(_FOLDER) if name.endswith(_SUFFIX))
    return {name.removesuffix(_SUFFIX).lower(): name for name in files}


def _purpose(text: str) -> str:
    """The first line of a page that is neither blank nor a heading."""
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if line and not line.startswith("#")), "")
