"""What tests of `neosian dream` are made of: sessions that were held, a model that says what it is told to, and what the
notes are then. The fixtures are taken over by name: `shop, model = asking.shop, asking.model`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from neosian.dream import past, review
from tests.dreaming import is_whole
from tests.factories import NUMBERS, Home, git
from tests.model_server import Json, ModelServer, Reply, Request, calls
from tests.recorded import payload
from tests.test_commands import Said, as_json

Model = Callable[..., ModelServer]

HEAD = '---\ndescription: "{}"\n---\n'


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home in which sessions are over at once, whose person stands in the project and has no key."""
    home = Home(tmp_path)
    home.path.mkdir()
    (home.path / "config.toml").write_text("[dream]\nidle = 0\n")
    monkeypatch.setenv("NEOSIAN_HOME", str(home.path))
    monkeypatch.chdir(home.project)
    return home


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Model]:
    """Begins a server that gives these replies, one a request, and has the dream ask it."""
    begun: list[ModelServer] = []

    def begin(*replies: Reply) -> ModelServer:
        server = ModelServer(*replies).__enter__()
        begun.append(server)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        return server

    yield begin
    for server in begun:
        server.__exit__(None, None, None)


# what was said


def name_of(number: int) -> str:
    """The id of a test's n-th session."""
    return f"{number:08x}-7a4e-4a55-9b0e-3c1d5e6f7a80"


def held(home: Home, *prompts: str, first: int = 1, answer: str = "Noted.") -> list[str]:
    """A session of one turn for each of these prompts; their ids."""
    names = [name_of(number) for number, _ in enumerate(prompts, first)]
    for name, prompt in zip(names, prompts, strict=True):
        home.talk(name).turn(prompt, answer)
    home.land()
    return names


def used(
    home: Home, name: str, prompt: str, tool: str, given: Json, shown: str, answer: str = "Done."
) -> str:
    """A session of one turn in which a tool showed something; its id."""
    talk, call = home.talk(name), f"toolu_{next(NUMBERS):08}"
    talk.ask(prompt)
    talk.put("pre_tool_use.bash", tool_name=tool, tool_input=given, tool_use_id=call)
    response = payload("post_tool_use.bash")["tool_response"] | {"stdout": shown}
    talk.put("post_tool_use.bash", tool_name=tool, tool_input=given, tool_use_id=call, tool_response=response)
    talk.answer(answer)
    home.land()
    return name


# what the model says


def edits(*given: Json) -> Reply:
    return calls({"edits": list(given)})


def note(body: str, description: str = "How the shop is run") -> str:
    """A note with its front matter."""
    return HEAD.format(description) + body + "\n"


def create(path: str, text: str, *sources: str, reason: str = "the person decided it") -> Json:
    return {"action": "create", "path": path, "text": text, "reason": reason, "sources": list(sources)}


def rewrite(path: str, text: str, *sources: str, reason: str = "the person decided it") -> Json:
    return create(path, text, *sources, reason=reason) | {"action": "rewrite"}


def replace(path: str, old: str, new: str, *sources: str, reason: str = "the person said so") -> Json:
    return {
        "action": "str_replace", "path": path, "old": old, "new": new, "reason": reason, "sources": list(sources),
    }  # fmt: skip


def delete(path: str, *sources: str, reason: str = "the person takes it back") -> Json:
    return {"action": "delete", "path": path, "reason": reason, "sources": list(sources)}


def meanwhile(act: Callable[[], object], then: Reply) -> Reply:
    """A reply that comes once something was done: what happens while the model thinks."""

    def reply(request: Request) -> None:
        act()
        then(request)

    return reply


def asked(body: Json) -> str:
    """What a request says, its first message or the newest."""
    return str(body["messages"][-1]["content"])


# what came of it


def dream(capsys: Said, *words: str) -> Any:
    """The report of a dream that ends well."""
    return as_json(capsys, "dream", *words)


def begun(*words: str) -> subprocess.Popen[str]:
    """`neosian dream` as a process of its own."""
    command = [sys.executable, "-m", "neosian", "dream", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def notes_of(folder: Path) -> dict[str, str]:
    """The notes of a scope, as main has them."""
    names = git(folder, "-c", "core.quotePath=false", "ls-tree", "-r", "-z", "--name-only", "main").split(
        "\0"
    )
    return {
        name: git(folder, "show", f"main:{name}") + "\n"
        for name in names
        if name.endswith(".md")
        and name.partition("/")[0] not in ("record", "sessions")
        and name != "README.md"
    }


def text_of(home: Home, path: str) -> str | None:
    """A note of the project as the folder has it."""
    file = home.shop / path
    return file.read_text("utf-8") if file.exists() else None


def refusals(home: Home) -> list[str]:
    """What the gate refused in the end: why, the oldest first."""
    return [each.reason for each in reversed(review.rejections(home.store(), by=review.GATE))]


def waiting(home: Home) -> list[str]:
    """The notes of the project of which something waits."""
    return review.waiting_paths(home.store())


def dreamt(home: Home) -> dict[str, int]:
    """How far each conversation was dreamt."""
    return past.checkpoint(home.store()).turns


def sound(home: Home) -> bool:
    """Whether both scopes are whole, and nothing lies about in them."""
    strays = [
        name
        for below in (home.shop, home.user)
        for name in os.listdir(below / ".git")
        if name.endswith(".lock")
    ]
    return is_whole(home) and strays == []
