"""`neosian watch`: settled saves become commits by themselves; what is ours or unfinished does not. Real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from neosian import adopt, output, projects, scope
from neosian.draft import Draft
from neosian.store import agent, committer, message
from tests.editors import EDITORS
from tests.factories import OTHER, SESSION, Home, fsck, git, status, subjects

SECRET = "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n"
# Between nudges it looks around so rarely here that what the tests see is the nudges' doing.
PROGRAM = "import sys; from neosian import cli, watch; watch._TICK = 1e6; sys.exit(cli.main())"
PATIENCE = 60.0  # seconds until a test gives up; none asserts how long something took


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home in which one turn has landed, and a document that its person committed."""
    found = Home(tmp_path)
    found.talk(OTHER).land("Begin")
    found.committed("project/old.md", "old\n")
    return found


class Watch:
    """A watching process."""

    def __init__(self, home: Home, *args: str, before: Sequence[str] = ()) -> None:
        command = [*before, sys.executable, "-c", PROGRAM, "watch", "--json", "--root", str(home.path), *args]
        self._home = str(home.path)
        self._said = home.folder / f"said-{time.monotonic_ns()}"
        self._told = self._said.with_suffix(".err")
        with self._said.open("w") as out, self._told.open("w") as err:
            self.process = subprocess.Popen(command, stdout=out, stderr=err)
        self.until(lambda: "Watching" in self.told)

    @property
    def said(self) -> list[dict[str, Any]]:
        """What it has adopted so far."""
        return [json.loads(line) for line in self._said.read_text().splitlines()]

    @property
    def told(self) -> str:
        """What it has said beside it."""
        return self._told.read_text()

    @property
    def paths(self) -> list[str]:
        return [path for row in self.said for path in row["paths"]]

    def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until something is so."""
        end = time.monotonic() + PATIENCE
        while not is_so():
            assert self.process.poll() is None, f"it ended: {self.told}"
            assert time.monotonic() < end, f"waited in vain: {self.said} {self.told}"
            time.sleep(0.05)

    def adopts(self, *paths: str) -> None:
        """Wait until it has adopted these paths (and perhaps others)."""
        self.until(lambda: set(paths) <= set(self.paths))

    def rests(self) -> None:
        """Wait until it plans to look nowhere: from here on it adopts only what nudges tell of."""
        stores = projects.stores(self._home)
        self.until(lambda: not any(adopt.looks_changed(store.repo) for store in stores))

    def end(self, number: int = signal.SIGTERM) -> int:
        """Its status after a signal."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@pytest.fixture
def watch(home: Home) -> Iterator[Callable[..., Watch]]:
    """Starts watching processes, and ends them."""
    started: list[Watch] = []

    def start(*args: str, **more: Any) -> Watch:
        started.append(Watch(home, *args, **more))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
            each.process.wait()


Start = Callable[..., Watch]


# what is adopted


def test_a_save_of_any_editor_becomes_a_commit_of_its_person(home: Home, watch: Start) -> None:
    for name in EDITORS:
        home.committed(f"notes/{name}.md", "before\n")
    watching = watch()
    for name, save in EDITORS.items():
        save(
            home.shop / f"notes/{name}.md",
            "before, and after\n" if name != "appending" else "before\nafter\n",
        )
    changed = [f"notes/{name}.md" for name in EDITORS]
    watching.adopts(*changed)
    assert sorted(watching.paths) == sorted(changed)
    assert {row["actor"] for row in watching.said} == {"Ada Person"}
    assert [git(home.shop, "show", f"main:{path}") for path in changed].count("before") == 0
    assert (status(home.shop), fsck(home.shop)) == ("?? notes/emacs.md~", "")


def test_new_folders_renames_and_deletions_are_seen(home: Home, watch: Start) -> None:
    watching = watch()
    home.write("new/deep/er.md", "text\n", age=0)
    watching.adopts("new/deep/er.md")
    (home.shop / "new").rename(home.shop / "renamed")
    watching.adopts("renamed/deep/er.md")
    (home.shop / "project/old.md").unlink()
    home.write("renamed/more.md", "text\n", age=0)
    watching.adopts("project/old.md", "renamed/more.md")
    assert status(home.shop) == ""


def test_a_folder_that_is_made_anew_is_followed_still(home: Home, watch: Start) -> None:
    watching = watch()
    watching.process.send_signal(signal.SIGSTOP)
    (home.shop / "project/old.md").unlink()
    (home.shop / "project").rmdir()
    (home.shop / "project").mkdir()  # mostly under the same inode
    watching.process.send_signal(signal.SIGCONT)
    watching.adopts("project/old.md")
    watching.rests()
    home.write("project/new.md", "text\n", age=0)
    watching.adopts("project/new.md")


def test_what_was_edited_before_is_adopted_at_the_beginning(home: Home, watch: Start) -> None:
    home.write("project/a.md", "text\n")
    watch().adopts("project/a.md")


def test_every_scope_is_watched_also_one_that_is_new(home: Home, watch: Start) -> None:
    watching = watch()
    home.talk("other", flags=("--scope", "team:new")).land("Hello")
    home.write("profile/role.md", "text\n", age=0, below=home.user)
    home.write("notes/a.md", "text\n", age=0, below=Path(home.store("team:new").path))
    watching.adopts("profile/role.md", "notes/a.md")
    assert {row["scope"] for row in watching.said} == {scope.user_scope(), "team:new"}


def test_only_the_named_scope_is_watched_and_waited_for(home: Home, watch: Start) -> None:
    watching = watch("--scope", "team:new")
    assert "waiting for team:new" in watching.told
    home.write("project/a.md", "text\n")
    home.talk("other", flags=("--scope", "team:new")).turn("Hello")
    git(home.shop, "checkout", "-q", "--detach")  # so that the landing does not adopt it
    home.land()
    git(home.shop, "checkout", "-q", "main")
    home.write("notes/a.md", "text\n", age=0, below=Path(home.store("team:new").path))
    watching.adopts("notes/a.md")
    assert watching.paths == ["notes/a.md"]
    assert status(home.shop) == "?? project/a.md"


def test_a_scope_that_goes_is_let_go_and_the_others_are_watched_on(home: Home, watch: Start) -> None:
    watching = watch()
    home.shop.rename(home.folder / "elsewhere")
    home.write("profile/role.md", "text\n", age=0, below=home.user)
    watching.adopts("profile/role.md")
    assert not home.shop.exists()


def test_two_watchers_adopt_each_edit_once(home: Home, watch: Start) -> None:
    watch(), watch()
    for name in "abc":
        home.write(f"project/{name}.md", "text\n", age=0)
    one = watch()
    one.until(lambda: status(home.shop) == "")
    said = git(home.shop, "log", "--format=", "--name-only", "main", "--", "project/[abc].md").split()
    assert sorted(said) == ["project/a.md", "project/b.md", "project/c.md"]
    assert fsck(home.shop) == ""


# whose it is


def test_what_an_agents_call_wrote_is_the_agents(home: Home, watch: Start) -> None:
    watching = watch()
    talk = home.talk()
    talk.ask("Write it down")
    path = home.write("project/a.md", "text\n", age=0)
    talk.call("Write", file_path=str(path))
    watching.adopts("project/a.md")
    assert [row["actor"] for row in watching.said] == [f"claude-code:{SESSION}"]


def test_our_own_writes_and_a_persons_commits_are_not_adopted_again(home: Home, watch: Start) -> None:
    watching = watch()

    def change(draft: Draft) -> None:
        draft.put("project/ours.md", b"text\n")
        trailers = {"Neosian-Act": "memory", "Neosian-Actor": "mcp:x"}
        draft.commit(message("Create project/ours.md", trailers), agent("mcp:x", 1_795_982_400), committer())

    home.store().write(change)
    home.talk().land("Hello")
    home.write("project/theirs.md", "text\n", age=0)
    git(home.shop, "add", "project/theirs.md")
    git(home.shop, "commit", "-qm", "Theirs", "--", "project/theirs.md")
    home.write("project/last.md", "text\n", age=0)
    watching.adopts("project/last.md")
    assert watching.paths == ["project/last.md"]
    assert subjects(home.shop)[:4] == [
        "Edit project/last.md", "Theirs", "Turn 1: Hello", "Create project/ours.md"
    ]  # fmt: skip


# what goes wrong


def test_a_secret_is_named_once_and_adopted_without(home: Home, watch: Start) -> None:
    watching = watch()
    home.write("project/keys.md", SECRET, age=0)
    home.write("project/a.md", "text\n", age=0)
    watching.adopts("project/a.md")
    home.write("project/b.md", "text\n", age=0)
    watching.adopts("project/b.md")
    assert watching.told.count("is not committed: line 1 holds a secret") == 1
    assert "wJalrXUtnFEMI" not in git(home.shop, "log", "-p", "--all")
    home.write("project/keys.md", "In the vault.\n", age=0)
    watching.adopts("project/keys.md")


def test_a_held_index_is_told_once_and_tried_again(home: Home, watch: Start) -> None:
    lock = home.shop / ".git/index.lock"
    lock.write_text("")
    watching = watch()
    home.write("project/a.md", "text\n", age=0)
    home.write("profile/role.md", "text\n", age=0, below=home.user)
    watching.adopts("profile/role.md")
    watching.until(lambda: "index.lock" in watching.told)
    home.write("profile/other.md", "text\n", age=0, below=home.user)
    watching.adopts("profile/other.md")
    lock.unlink()
    watching.adopts("project/a.md")
    assert watching.told.count("It is tried again") == 1


def test_a_broken_scope_is_told_once_and_the_others_are_watched(home: Home, watch: Start) -> None:
    (home.shop / ".git/refs/heads/main").write_text("")
    watching = watch()
    home.write("project/a.md", "text\n", age=0)
    for name in ("one", "two"):
        home.write(f"profile/{name}.md", "text\n", age=0, below=home.user)
        watching.adopts(f"profile/{name}.md")
    assert watching.told.count("It is tried again") == 1
    assert "Traceback" not in watching.told


def limited(name: str, value: int) -> list[str]:
    """What runs a command with a limit of the system's own set, in a namespace of its own."""
    return ["unshare", "-Ur", "sh", "-c", f'echo {value} > /proc/sys/user/{name} && exec "$@"', "sh"]


def can_be_limited() -> bool:
    try:
        said = subprocess.run([*limited("max_inotify_watches", 9), "true"], capture_output=True)
    except FileNotFoundError:
        return False
    return said.returncode == 0


@pytest.mark.skipif(not can_be_limited(), reason="no user namespaces here")
@pytest.mark.parametrize(
    ("name", "value"), [("max_inotify_instances", 0), ("max_inotify_watches", 0), ("max_inotify_watches", 9)]
)
def test_where_the_system_gives_no_more_watches_folders_are_looked_at(
    name: str, value: int, home: Home, watch: Start
) -> None:
    for folder in range(9):
        home.committed(f"notes/{folder}/a.md", "text\n")
    watching = watch(before=limited(name, value))
    home.write("notes/8/a.md", "more\n", age=0)
    watching.adopts("notes/8/a.md")
    home.write("profile/role.md", "text\n", age=0, below=home.user)
    watching.adopts("profile/role.md")
    assert watching.told.count("looked at every second instead") == 1


def test_when_nudges_come_too_fast_to_be_kept_everything_is_looked_at(home: Home, watch: Start) -> None:
    watching = watch()
    watching.rests()
    watching.process.send_signal(signal.SIGSTOP)
    spare = [home.shop / "project" / f"{name}.tmp" for name in "ab"]
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    for _ in range(most):
        for path in spare:  # two by turns: nudges that are alike are kept as one
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
    home.write("profile/role.md", "text\n", age=0, below=home.user)
    watching.process.send_signal(signal.SIGCONT)
    watching.adopts("profile/role.md")
    assert "overflow" not in watching.told


# the end


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0), (signal.SIGHUP, 0)])
def test_a_signal_ends_it_cleanly(number: int, code: int, home: Home, watch: Start) -> None:
    watching = watch()
    assert watching.end(number) == code
    assert watching.told.count("\n") == 1


def test_it_ends_when_nobody_reads_it_any_more(home: Home) -> None:
    command = [sys.executable, "-m", "neosian", "watch", "--root", str(home.path)]
    read, write = os.pipe()
    process = subprocess.Popen(command, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert process.stderr is not None
    assert "Watching" in process.stderr.readline()
    os.close(read)
    home.write("project/a.md", "text\n", age=0)
    assert process.communicate(timeout=PATIENCE)[1] == ""
    assert process.returncode == 0


def test_whether_stdout_is_read_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    read, write = os.pipe()
    with os.fdopen(write, "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert output.is_read()
        os.close(read)
        assert not output.is_read()
        monkeypatch.undo()


def test_a_line_says_when_where_and_what(home: Home) -> None:
    home.write("project/a.md", "text\n")
    home.write("project/b.md", "text\n")
    command = [sys.executable, "-m", "neosian", "watch", "--root", str(home.path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    said = f"  {home.store().scope}  Edit 2 documents: project/a.md, project/b.md  (Ada Person)\n"
    assert line.endswith(said)
    assert time.strptime(line.removesuffix(said), "%Y-%m-%d %H:%M:%S")


def test_a_home_that_is_not_there_is_waited_for(tmp_path: Path, watch: Start) -> None:
    watching = watch("--root", str(tmp_path / "none"))
    assert "for a first scope" in watching.told
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("wrong", [("--scope", "nonsense"), ("--root", "a-file")])
def test_a_wrong_call_is_told(wrong: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "a-file").write_text("")
    command = [sys.executable, "-m", "neosian", "watch", *wrong]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(Path.cwd())}, capture_output=True
    )
    assert done.returncode == (2 if wrong[0] == "--scope" else 1)
    assert b"try: neosian" in done.stderr
