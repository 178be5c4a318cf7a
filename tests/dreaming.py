"""What tests of the dream's landing are made of: runs whose sessions gave what a test says, and what is there then."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from neosian.adopting import Adopter
from neosian.draft import Signature
from neosian.dream import landing, review
from neosian.dream.landing import Landed
from neosian.dream.past import Undone, undo
from neosian.dream.run import Change, Made, Run, begin
from neosian.store import Store
from tests.factories import Home, fsck, git, status

ADA = Signature("Ada Person", "ada@example.org", 1_795_982_400)
RUN = "20261129-204107-ab12"
SESSION = "0670e8b9-b1ce-4218-af38-aac7413a9d25"
NOTE = "---\ndescription: How we deploy\n---\n# Deploy\n\nWe deploy on Fridays.\n\nNever alone.\n\nAda has the keys.\n"

Texts = Mapping[str, str | None]


def person(home: Home, path: str, new: str | None) -> None:
    """A person commits."""
    if new is None:
        git(home.shop, "rm", "-q", path)
    else:
        home.write(
            path, new, age=40
        )  # of another second than before: git looks no closer at one of the same size
        git(home.shop, "add", path)
    git(home.shop, "commit", "-qm", "Mine")


def stores(home: Home) -> list[Store]:
    """The scopes that a dream of the project writes to, the one of the turns last."""
    from neosian import scope

    return [home.store(scope.user_scope()), home.store()]


def start(home: Home, id: str = RUN) -> Run:
    return begin(stores(home), id)


def changes(texts: Texts, session: str, turn: int) -> dict[str, Change]:
    """Changes with a reason and a source."""
    return {
        path: Change(None if text is None else text.encode(), f"as said of {path}", [f"{session}#{turn}"])
        for path, text in texts.items()
    }


def session(
    run: Run,
    texts: Texts,
    *,
    user: Texts | None = None,
    waits: Texts | None = None,
    name: str = SESSION,
    turn: int = 1,
) -> None:
    """One session that gave these notes in the project, those in the user scope, and some that are to be looked at."""
    along, turns = run.stores[0], run.stores[-1]
    made = [Made(turns.scope, changes(texts, name, turn), changes(waits or {}, name, turn))]
    if user:
        made.append(Made(along.scope, changes(user, name, turn)))
    run.add(name, "claude-code", turn, made)


def land(home: Home, run: Run, *, apart: bool = False) -> Landed:
    return landing.land(run, Adopter(str(home.path)).named_by, apart=apart)


def dream(
    home: Home, texts: Texts, *, id: str = RUN, apart: bool = False, name: str = SESSION, turn: int = 1
) -> Landed:
    """A whole run of one session."""
    run = start(home, id)
    session(run, texts, name=name, turn=turn)
    return land(home, run, apart=apart)


def accept(home: Home, *names: str) -> review.Answered:
    return review.accept(home.store(), ADA, Adopter(str(home.path)).named_by, names)


def take_back(home: Home, run: str = "") -> Undone:
    return undo(stores(home), ADA, Adopter(str(home.path)).named_by, run)


def waiting(home: Home) -> dict[str, str]:
    """What waits in the project: what each document is proposed to say, by path."""
    store = home.store()
    found = {each.path: (each.proposed or b"").decode() for each in review.reviews(store)}
    store.repo.close()
    return found


def text(home: Home, path: str, below: Path | None = None) -> str | None:
    """What main and the folder both say; None for nothing."""
    folder = below or home.shop
    found = subprocess.run(["git", "-C", folder, "show", f"main:{path}"], capture_output=True)
    full = folder / path
    assert (found.stdout if found.returncode == 0 else None) == (full.read_bytes() if full.exists() else None)
    return found.stdout.decode() if found.returncode == 0 else None


def is_whole(home: Home) -> bool:
    """Whether both scopes are sound, show what main holds, and keep nothing of a run."""
    return [
        (fsck(folder), status(folder), refs(folder, "refs/neosian/dream"))
        for folder in (home.shop, home.user)
    ] == [("", "", [])] * 2


def refs(folder: Path, below: str) -> list[str]:
    return git(folder, "for-each-ref", "--format=%(refname)", below).splitlines()


def trailers_of(folder: Path, rev: str = "main") -> list[str]:
    """The trailer lines of a commit, as git reads them."""
    return git(folder, "log", "-1", "--format=%(trailers:only,unfold)", rev).splitlines()


def in_process(home: Home, code: str, before: str = "") -> int:
    """Run code on this home in a process of its own; its status (-9: killed). ``before`` runs first."""
    begun = f"""
        import os, pathlib, sys
        sys.path.insert(0, {str(Path(__file__).parent.parent)!r})
        from tests.factories import Home
        from tests import dreaming
        from tests.dreaming import *
        from neosian.dream.run import unfinished
        home = Home.__new__(Home)
        home.folder, home.path = pathlib.Path({str(home.folder)!r}), pathlib.Path({str(home.path)!r})
    """
    program = textwrap.dedent(begun) + textwrap.dedent(before) + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode in (0, -9), done.stderr
    return done.returncode


def kill_at(step: int, names: Sequence[str]) -> str:
    """Code that kills its process at the n-th call of any of these functions (`module:Class.method`), before it."""
    return f"""
        import importlib
        left = [{step}]
        def killing(function):
            def call(*args, **more):
                left[0] -= 1
                if left[0] < 0:
                    os.kill(os.getpid(), 9)
                return function(*args, **more)
            return call
        for name in {list(names)!r}:
            module, _, inner = name.partition(":")
            *path, last = inner.split(".")
            owner = importlib.import_module(module)
            for part in path:
                owner = getattr(owner, part)
            setattr(owner, last, killing(getattr(owner, last)))
    """
