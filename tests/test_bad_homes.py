"""Homes, stores, disks and git settings as they should not be: a hook says one line, and nothing landed before is harmed."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from neosian import gitlocks, hook
from neosian.errors import NeosianError
from neosian.index import Index
from neosian.launcher import hook_line
from neosian.projects import open_store
from neosian.spool import Spool
from neosian.store import Store
from tests.factories import bytes_below, fsck, git, status, subjects
from tests.hooking import CLIENT, SESSION, Hooks, environment, eventually, one_line, quiet, run
from tests.test_publish import put

ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
NOBODY = 65534


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    return Hooks(tmp_path)


@pytest.fixture
def landed(hooks: Hooks) -> Hooks:
    """A home in which a turn has landed."""
    assert all(map(quiet, hooks.turn("before")))
    return hooks


def git_dir(hooks: Hooks) -> Path:
    """The repository of the project's scope."""
    return next(scope for scope in hooks.scopes() if "+proj" in scope.name) / ".git"


def mounted(folder: Path, *options: str) -> bool:
    """Whether a small file system could be mounted at a folder (only root can)."""
    command = ["mount", "-t", "tmpfs", *options, "tmpfs", str(folder)]
    return (
        ROOT
        and shutil.which("mount") is not None
        and subprocess.run(command, capture_output=True).returncode == 0
    )


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if not mounted(folder, "-o", "size=2m"):
        pytest.skip("SKIPPED: only root may mount the small tmpfs that stands for a full disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


# Homes that cannot be written


@pytest.mark.parametrize("verb", ["note", "start", "prompt", "stop", "end"])
def test_on_a_full_disk_the_event_is_lost_aloud_and_nothing_else(
    tmp_path: Path, disk: Path, verb: str
) -> None:
    hooks = Hooks(tmp_path, home=disk / "home")
    assert all(map(quiet, hooks.turn("before")))
    fill(disk)
    done = hooks.fire(hooks.said("stop", "two"), verb)
    assert one_line(done)
    assert "not recorded" in done.err
    assert hooks.record(hooks.said("stop", "two")).status == 1
    assert hooks.spooled() == []
    (disk / "filler").unlink()
    assert list((hooks.home / "spool" / "tmp").iterdir()) == []
    assert all(map(quiet, hooks.turn("after", number=2)))
    hooks.check(["before", "after"])


def test_a_disk_that_fills_up_within_a_payload_keeps_no_part_of_it(tmp_path: Path, disk: Path) -> None:
    hooks = Hooks(tmp_path, home=disk / "home")
    done = hooks.fire(b'{"x": "' + b"x" * 4_000_000 + b'"}', "note")
    assert one_line(done)
    assert hooks.spooled() == list((hooks.home / "spool" / "tmp").iterdir()) == []


def test_a_disk_that_fills_up_while_main_is_locked_is_said_to_be_full(
    disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(str(disk), "user:ada", str(disk / "scope"), str(disk / "cache.sqlite"))
    put(store, "a.md")
    real = gitlocks.lock_index

    def lock(*given: Any) -> None:
        real(*given)
        fill(disk)

    monkeypatch.setattr(gitlocks, "lock_index", lock)
    with pytest.raises(NeosianError, match=r"The disk is full.*git update-ref could not write"):
        put(store, "b.md")
    monkeypatch.undo()
    (disk / "filler").unlink()
    put(store, "c.md")
    assert subjects(disk / "scope")[:3] == ["Put c.md", "Put b.md", "Put a.md"]
    assert (status(disk / "scope"), fsck(disk / "scope")) == ("", "")


def test_without_git_a_hook_says_that_it_is_missing_and_the_turn_lands_later(landed: Hooks) -> None:
    launcher = landed.home / "bin" / "neosian-hook"
    text = launcher.read_text()
    launcher.write_text(re.sub("(?m)^NEOSIAN_GIT=.*", "NEOSIAN_GIT=/nowhere/git", text))
    said = [done for done in landed.turn("meanwhile", number=2) if not quiet(done)]
    assert said
    assert all(one_line(done) and "git is missing: /nowhere/git" in done.err for done in said)
    launcher.write_text(text)
    assert all(map(quiet, landed.turn("after", number=3)))
    landed.check(["before", "meanwhile", "after"])


@pytest.mark.parametrize("room", [0, 4, 16, 40, 100])
def test_a_disk_that_fills_up_within_a_landing_loses_no_turn(tmp_path: Path, disk: Path, room: int) -> None:
    """Room is what is left, in KiB: landing fails somewhere, the events wait, and land once there is room again."""
    hooks = Hooks(tmp_path, home=disk / "home")
    assert all(map(quiet, hooks.turn("before")))
    for name in ("user_prompt_submit", "stop"):
        assert quiet(
            hooks.fire(
                hooks.said(name, number=2, **({"prompt": "meanwhile"} if name != "stop" else {})), "note"
            )
        )
    fill(disk, room * 1024)
    for _ in range(2):
        done = run([sys.executable, "-I", "-S", hook.__file__, "stop", str(hooks.home), CLIENT, "-"])
        assert quiet(done) or one_line(done)
    (disk / "filler").unlink()
    assert all(map(quiet, hooks.turn("after", number=3)))
    hooks.check(["before", "meanwhile", "after"])


def fill(disk: Path, keep: int = 0) -> None:
    """Leave ``keep`` bytes of a disk free."""
    with (disk / "filler").open("wb", buffering=0) as stream:
        try:
            while True:
                stream.write(b"x" * 4096)
        except OSError:
            pass
        stream.truncate(max(0, stream.tell() - keep))


@pytest.mark.parametrize("verb", ["note", "start", "prompt", "stop", "end"])
def test_a_home_on_a_read_only_disk_is_one_line(tmp_path: Path, disk: Path, verb: str) -> None:
    hooks = Hooks(tmp_path, home=disk / "home")
    assert all(map(quiet, hooks.turn("before")))
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    before = bytes_below(hooks.home)
    done = hooks.fire(hooks.said("stop", number=2), verb)
    assert one_line(done)
    assert "not recorded" in done.err
    assert hooks.record(hooks.said("stop", number=2)).status == 1
    assert bytes_below(hooks.home) == before
    subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
    assert all(map(quiet, hooks.turn("after", number=3)))
    hooks.check(["before", "after"])


@pytest.mark.parametrize("part", ["", "spool", "spool/new", "spool/tmp", "scopes"])
def test_a_folder_that_may_not_be_written_is_one_line(landed: Hooks, part: str) -> None:
    folder = landed.home / part
    folder.chmod(0o500)
    if os.access(folder, os.W_OK):
        pytest.skip("SKIPPED: root may write anywhere; the read-only disk stands for this")
    try:
        for done in landed.turn("meanwhile", number=2):
            assert quiet(done) or one_line(done)
    finally:
        folder.chmod(0o700)
    assert all(map(quiet, landed.turn("after", number=3)))
    assert {"before", "after"} <= set(landed.texts())


@pytest.mark.parametrize("part", ["spool", "spool/new", "spool/tmp"])
@pytest.mark.parametrize("verb", ["note", "start", "prompt", "stop"])
def test_a_spool_that_is_a_file_is_one_line(hooks: Hooks, part: str, verb: str) -> None:
    path = hooks.home / part
    path.parent.mkdir(exist_ok=True)
    path.write_text("a file")
    assert one_line(hooks.fire(hooks.said("stop"), verb))
    assert hooks.record(hooks.said("stop")).status == 1
    assert path.read_text() == "a file"


@pytest.mark.parametrize(
    "part", ["scopes", "cache", "log", "spool/landing", "spool/landed", "machine/x", "spool/lock/x"]
)
def test_any_other_part_of_a_home_that_is_a_file_loses_nothing(hooks: Hooks, part: str) -> None:
    path = hooks.home / part
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("a file")
    for done in (*hooks.turn("meanwhile"), hooks.fire(hooks.said("session_end.other"))):
        assert quiet(done) or one_line(done)
    assert hooks.start().status in (0, 1)
    path.unlink()
    if part.endswith("/x"):
        path.parent.rmdir()
    assert all(map(quiet, hooks.turn("after", number=2)))
    hooks.check(["meanwhile", "after"])


def test_a_home_that_is_a_file_is_a_clear_error(tmp_path: Path) -> None:
    home = tmp_path / "file"
    home.write_text("mine")
    command = [sys.executable, "-m", "neosian", "record", "--root", str(home)]
    done = run(command, b'{"session_id": "s"}')
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("neosian: The event is lost")
    assert home.read_text() == "mine"


def test_a_hook_line_of_a_home_that_is_gone_is_silent(landed: Hooks) -> None:
    shutil.rmtree(landed.home)
    assert quiet(run(["sh", "-c", hook_line(CLIENT, "stop", root=landed.home)], landed.said("stop")))


@pytest.mark.skipif(not ROOT, reason="only root can give a home to another user")
@pytest.mark.parametrize("verb", ["note", "start", "prompt", "stop"])
def test_a_home_of_another_user_is_refused_and_left_alone(landed: Hooks, verb: str) -> None:
    try:
        os.chown(landed.home, NOBODY, NOBODY)
    except PermissionError:
        pytest.skip("SKIPPED: this root may not give files away")
    before = bytes_below(landed.home)
    done = landed.fire(landed.said("stop", number=2), verb)
    assert one_line(done)
    assert "another user" in done.err
    assert "another user" in landed.record(landed.said("stop", number=2)).err
    assert bytes_below(landed.home) == before


@pytest.mark.parametrize("home", [None, "", "/nowhere"])
def test_a_hook_line_without_a_home_folder_is_silent(landed: Hooks, home: str | None) -> None:
    env = {"HOME": home, "NEOSIAN_HOME": None}
    assert quiet(run(["sh", "-c", hook_line(CLIENT, "stop")], landed.said("stop"), env=env))


@pytest.mark.parametrize("changes", [{"HOME": None}, {"HOME": ""}, {"HOME": "/nowhere"}, {"HOME": "relative"},
                                     {"HOME": None, "PATH": None, "USER": None, "LANG": None}], ids=str)  # fmt: skip
def test_a_home_folder_that_is_unset_or_gone_changes_nothing(
    hooks: Hooks, changes: dict[str, str | None]
) -> None:
    assert all(map(quiet, hooks.turn(env=changes)))
    done = hooks.start("two", env=changes)
    assert (done.status, done.err) == (0, "")
    hooks.check(["fix it"])


def test_record_finds_a_home_without_the_variable_or_says_what_to_do(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "neosian", "path"]
    done = run(command, env={"HOME": None})
    assert done.status in (0, 2)
    assert done.out.strip().startswith("/") or "HOME" in done.err


# Repositories that a crash left


def _truncate(*names: str, to: int = 0) -> Callable[[Path], None]:
    def spoil(repository: Path) -> None:
        for name in names:
            data = (repository / name).read_bytes()
            (repository / name).chmod(0o600)
            (repository / name).write_bytes(data[:to])

    return spoil


def _junk(name: str, data: bytes) -> Callable[[Path], None]:
    def spoil(repository: Path) -> None:
        (repository / name).parent.mkdir(exist_ok=True)
        (repository / name).write_bytes(data)

    return spoil


def _spoil_tip(data: bytes | None) -> Callable[[Path], None]:
    """Empty, garble or take away the newest objects, whose bytes had not reached the disk."""

    def spoil(repository: Path) -> None:
        tip = git(repository.parent, "rev-parse", "main")
        tree = git(repository.parent, "rev-parse", "main^{tree}")
        for name in (tip, tree):
            path = repository / "objects" / name[:2] / name[2:]
            path.chmod(0o600)
            if data is None:
                path.unlink()
            else:
                path.write_bytes(data)

    return spoil


def _gone(name: str) -> Callable[[Path], None]:
    def spoil(repository: Path) -> None:
        path = repository / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    return spoil


CRASHES: dict[str, Callable[[Path], None]] = {
    "HEAD empty": _truncate("HEAD"),
    "HEAD torn": _truncate("HEAD", to=7),
    "HEAD padded": _junk("HEAD", b"\0" * 24),
    "HEAD gone": _gone("HEAD"),
    "main empty": _truncate("refs/heads/main"),
    "main torn": _truncate("refs/heads/main", to=20),
    "main padded": _junk("refs/heads/main", b"\0" * 41),
    "main names nothing": _junk("refs/heads/main", b"1" * 40 + b"\n"),
    "main gone": _gone("refs/heads/main"),
    "tip empty": _spoil_tip(b""),
    "tip garbled": _spoil_tip(b"\0" * 200),
    "tip gone": _spoil_tip(None),
    "index empty": _truncate("index"),
    "index torn": _truncate("index", to=40),
    "index gone": _gone("index"),
    "config empty": _truncate("config"),
    "config torn": _truncate("config", to=30),
    "our folder gone": _gone("neosian"),
    "what landed lately torn": _truncate("neosian/recent", to=30),
    "next padded": _junk("refs/neosian/next", b"\0" * 41),
}


@pytest.mark.parametrize("spoil", CRASHES.values(), ids=CRASHES)
def test_a_store_that_a_crash_damaged_mends_at_the_next_landing(
    landed: Hooks, spoil: Callable[[Path], None]
) -> None:
    assert all(map(quiet, landed.turn("just before", number=2)))
    spoil(git_dir(landed))
    start = landed.start("another")
    assert start.status in (0, 1)
    assert start.err.count("\n") <= 1
    for done in landed.turn("after", number=3):
        assert quiet(done) or one_line(done)
    assert all(map(quiet, landed.turn("at last", number=4)))
    landed.check(["before", "just before", "after", "at last"])


def test_a_turn_log_with_torn_and_padded_lines_stops_nothing(landed: Hooks) -> None:
    (log,) = git_dir(landed).parent.glob("record/*/*/*.jsonl")
    held = log.read_bytes()
    log.write_bytes(
        held + b'{"v":1,"turn":9,"kind":"pro' + b"\n" + b"\0" * 64 + b"\n{]\n\xff\n" + b'{"v":1,"turn"'
    )
    git(log.parent, "commit", "-qam", "A crash left this")
    assert all(map(quiet, landed.turn("after", number=2)))
    assert landed.start("another").out.count("after")
    landed.check(["before", "after"])
    _reads_back(landed, "before")


def test_a_last_line_that_is_torn_in_the_folder_is_the_persons_change(landed: Hooks) -> None:
    (log,) = git_dir(landed).parent.glob("record/*/*/*.jsonl")
    log.write_bytes(log.read_bytes()[:-20] + b"\0" * 20)
    assert all(map(quiet, landed.turn("after", number=2)))
    assert sorted(landed.texts()) == ["after", "before"]
    assert status(log.parent) == f" M {log.relative_to(git_dir(landed).parent)}"
    assert fsck(log.parent) == ""
    _reads_back(landed, "before")


MARKERS = b"<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> topic\n"


@pytest.mark.parametrize("committed", [False, True])
def test_a_merge_marker_typed_into_a_log_stops_nothing(landed: Hooks, committed: bool) -> None:
    (log,) = git_dir(landed).parent.glob("record/*/*/*.jsonl")
    log.write_bytes(MARKERS + log.read_bytes() + MARKERS)
    if committed:
        git(log.parent, "commit", "-qam", "I typed this")
    assert all(map(quiet, landed.turn("after", number=2)))
    assert sorted(landed.texts()) == ["after", "before"]
    shown = "" if committed else f" M {log.relative_to(git_dir(landed).parent)}"
    assert (status(log.parent), fsck(log.parent)) == (shown, "")
    assert MARKERS in log.read_bytes()
    assert "after" in landed.start("another").out
    _reads_back(landed, "before")


def _reads_back(hooks: Hooks, prompt: str) -> None:
    """Search and recall still find a turn."""
    command = [sys.executable, "-m", "neosian"]
    found = run([*command, "search", "--root", str(hooks.home), prompt], cwd=hooks.project)
    assert (found.status, SESSION[:8] in found.out) == (0, True), found
    recalled = run([*command, "recall", "--root", str(hooks.home), f"{SESSION}#1"], cwd=hooks.project)
    assert (recalled.status, prompt in recalled.out) == (0, True), recalled


# Locks


def test_a_live_index_lock_is_waited_for_and_left_alone(landed: Hooks) -> None:
    lock = git_dir(landed) / "index.lock"
    lock.write_bytes(b"")
    done = landed.turn("meanwhile", number=2)[-1]
    assert one_line(done)
    assert "index.lock" in done.err
    assert lock.exists()
    assert landed.texts() == ["before"]
    lock.unlink()
    assert all(map(quiet, landed.turn("after", number=3)))
    landed.check(["before", "meanwhile", "after"])


def test_an_index_lock_older_than_the_machines_start_is_taken_away(landed: Hooks) -> None:
    lock = git_dir(landed) / "index.lock"
    lock.write_bytes(b"")
    os.utime(lock, (1_000_000_000, 1_000_000_000))
    assert all(map(quiet, landed.turn("after", number=2)))
    assert not lock.exists()
    landed.check(["before", "after"])


@pytest.mark.parametrize("name", ["refs/heads/main.lock", "HEAD.lock", "packed-refs.lock"])
def test_a_stale_ref_lock_is_moved_aside(landed: Hooks, name: str) -> None:
    lock = git_dir(landed) / name
    lock.write_bytes(b"")
    os.utime(lock, (time.time() - 60,) * 2)
    assert all(map(quiet, landed.turn("after", number=2)))
    landed.check(["before", "after"])


# Git settings, and repositories of others


FAILING = "#!/bin/sh\necho hook ran >> {0}\nexit 1\n"
NAMES = ("pre-commit", "commit-msg", "prepare-commit-msg", "post-commit", "reference-transaction", "post-checkout",
         "pre-auto-gc", "post-index-change", "fsmonitor-watchman")  # fmt: skip


@pytest.mark.parametrize("settings", [
    "[commit]\n\tgpgsign = true\n[user]\n\tsigningkey = nobody\n[gpg]\n\tprogram = /bin/false\n",
    "[core]\n\thooksPath = {hooks}\n\tfsmonitor = {hooks}/fsmonitor-watchman\n",
    "[core]\n\tautocrlf = true\n\tsafecrlf = true\n\teol = crlf\n",
    "[init]\n\tdefaultBranch = trunk\n\ttemplateDir = {hooks}\n\tdefaultObjectFormat = sha256\n",
    "[user]\n\tuseConfigOnly = true\n",
    "[core]\n\tbare = true\n\tworktree = /nowhere\n\tattributesFile = /nowhere\n[index]\n\tversion = 2\n",
    "[log]\n\tshowSignature = true\n\tdate = iso\n[color]\n\tui = always\n[diff]\n\tnoprefix = true\n\texternal = /bin/false\n",
    "[core]\n\tpager = /bin/false\n\teditor = /bin/false\n[transfer]\n\tfsckObjects = true\n[feature]\n\tmanyFiles = true\n",
    "this is no settings file [",
], ids=lambda text: " ".join(text.split())[:24])  # fmt: skip
def test_no_git_setting_of_a_person_reaches_a_landing(
    tmp_path: Path, private_home: Path, settings: str
) -> None:
    hooks = Hooks(tmp_path)
    folder = tmp_path / "foreign"
    folder.mkdir()
    for name in NAMES:
        (folder / name).write_text(FAILING.format(tmp_path / "ran"))
        (folder / name).chmod(0o755)
    config = private_home / ".gitconfig"
    before = config.read_text()
    config.write_text(settings.format(hooks=folder))
    for number in (1, 2):
        assert all(map(quiet, hooks.turn(f"turn {number}", answer="two\r\nlines\n", number=number)))
    assert hooks.start("another").status == 0
    config.write_text(before)
    assert not (tmp_path / "ran").exists()
    hooks.check(["turn 1", "turn 2"])
    assert git(git_dir(hooks).parent, "symbolic-ref", "HEAD") == "refs/heads/main"
    assert "gpgsig" not in git(git_dir(hooks).parent, "cat-file", "commit", "main")
    (log,) = git_dir(hooks).parent.glob("record/*/*/*.jsonl")
    assert b"\r" not in log.read_bytes()
    path = log.relative_to(git_dir(hooks).parent)
    assert git(git_dir(hooks).parent, "show", f"main:{path}") + "\n" == log.read_text("utf-8")


def test_a_person_without_an_identity_still_has_their_edit_adopted(
    tmp_path: Path, private_home: Path
) -> None:
    (private_home / ".gitconfig").unlink()
    hooks = Hooks(tmp_path)
    assert all(map(quiet, hooks.turn("before")))
    note = git_dir(hooks).parent / "note.md"
    note.write_text("# By hand\n")
    os.utime(note, (time.time() - 60,) * 2)
    assert all(map(quiet, hooks.turn("after", number=2)))
    author = git(note.parent, "log", "-1", "--format=%an <%ae>", "--", "note.md")
    assert "neosian.invalid" not in author
    assert len(author) > 5
    hooks.check(["before", "after"])


def test_variables_of_git_never_lead_to_the_persons_repository(hooks: Hooks) -> None:
    theirs = hooks.folder / "theirs"
    theirs.mkdir()
    git(theirs, "init", "-q", "-b", "main")
    (theirs / "a.txt").write_text("mine\n")
    git(theirs, "add", "-A")
    git(theirs, "commit", "-qm", "Mine")
    (theirs / "a.txt").write_text("mine, changed\n")
    before = bytes_below(theirs)
    env = {
        "GIT_DIR": str(theirs / ".git"), "GIT_INDEX_FILE": str(theirs / ".git" / "index"), "GIT_WORK_TREE": str(theirs),
        "GIT_OBJECT_DIRECTORY": str(theirs / ".git" / "objects"), "GIT_COMMON_DIR": str(theirs / ".git"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(theirs / ".git" / "objects"), "GIT_NAMESPACE": "x", "GIT_PREFIX": "a/",
        "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.hooksPath", "GIT_CONFIG_VALUE_0": str(theirs),
        "GIT_AUTHOR_NAME": "Somebody", "GIT_AUTHOR_EMAIL": "s@example.org", "GIT_COMMITTER_DATE": "1",
        "GIT_CONFIG_PARAMETERS": "'commit.gpgsign'='true'", "GIT_LITERAL_PATHSPECS": "1", "GIT_TRACE": "1",
        "GIT_QUARANTINE_PATH": str(theirs / ".git"), "GIT_CEILING_DIRECTORIES": "/", "GIT_EXEC_PATH": "/nowhere",
    }  # fmt: skip
    assert all(map(quiet, hooks.turn("one", env=env, cwd=theirs)))
    assert hooks.record(hooks.said("stop"), env=env, cwd=theirs).status == 0
    assert hooks.start("another", env=env).status == 0
    assert bytes_below(theirs) == before
    hooks.check(["one"])


@pytest.mark.parametrize("umask", [0o000, 0o777])
def test_folders_are_0700_and_files_0600_under_any_umask(hooks: Hooks, umask: int) -> None:
    assert all(map(quiet, hooks.turn(umask=umask)))
    assert hooks.start("another", umask=umask).status == 0
    assert hooks.record(hooks.said("pre_tool_use.bash"), umask=umask).status == 0
    wrong = {
        str(path.relative_to(hooks.home)): oct(path.stat().st_mode)
        for path in hooks.home.rglob("*")
        if stat.S_IMODE(path.stat().st_mode) & 0o077 or not path.stat().st_mode & 0o400
    }
    assert wrong == {}
    hooks.check(["fix it"])


# Many at once


def test_two_clients_at_once_in_one_conversation_and_in_two(hooks: Hooks) -> None:
    """Both levels of hook lines fire for each event of two sessions; each turn is there once."""
    sessions = ("one", "two")
    for name in ("user_prompt_submit", "stop"):
        at_once = [
            subprocess.Popen(
                [hooks.launcher, CLIENT, "stop" if name == "stop" else "prompt", *flags], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), cwd=hooks.project,
            )
            for _ in sessions for flags in ([], ["--agent", "claude-code"])
        ]  # fmt: skip
        for process, session in zip(at_once, [each for each in sessions for _ in "12"], strict=True):
            fields: dict[str, Any] = {"prompt": f"in {session}"} if name != "stop" else {}
            _write(process, hooks.said(name, session, **fields))
        for process in at_once:
            process.communicate()
            assert process.returncode in (0, 1)
    hooks.fire(hooks.said("session_end.other", "three"))
    hooks.check(["in one", "in two"])


def _write(process: subprocess.Popen[bytes], said: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(said).encode())
    process.stdin.close()
    process.stdin = None


def test_an_index_that_is_gone_is_made_by_a_child_of_ours(landed: Hooks) -> None:
    scope = (git_dir(landed) / "neosian" / "scope").read_text().strip()
    store = open_store(str(landed.home), scope)
    os.unlink(store.cache)
    assert hook.main(["index", str(landed.home), scope]) == 0
    with Index.open(store.cache) as index:
        assert index.commit == git(git_dir(landed).parent, "rev-parse", "main")


def test_what_waits_long_is_landed_by_the_next_start(landed: Hooks) -> None:
    for name in ("user_prompt_submit", "stop"):
        landed.fire(
            landed.said(name, number=2, **({"prompt": "of a killed client"} if name != "stop" else {})),
            "note",
        )
    for path in landed.spooled():
        os.utime(path, (time.time() - 3600,) * 2)
    assert Spool(str(landed.home)).neglected()
    assert landed.start("another").status == 0
    eventually(lambda: "of a killed client" in landed.texts(), "a child lands it")
    eventually(lambda: not Spool(str(landed.home)).neglected(), "the spool is empty")
    landed.check(["before", "of a killed client"])


@pytest.mark.parametrize(
    "text", ["[record\n", "[record]\noutput_chars = -1\n", "record = 1\n", "[context]\nbudget = 'x'\n", "\0"]
)
def test_a_wrong_setting_is_no_fault_of_the_hook_that_meets_it(hooks: Hooks, text: str) -> None:
    hooks.home.mkdir(exist_ok=True)
    (hooks.home / "config.toml").write_text(text)
    assert all(map(quiet, hooks.turn("one")))
    assert hooks.record(hooks.said("stop", number=2)).status == 0
    assert hooks.start("next").status == 0
    assert "config.toml" in hooks.log()
    hooks.check(["one"])


def test_beside_a_wrong_setting_the_others_count(hooks: Hooks) -> None:
    hooks.home.mkdir(exist_ok=True)
    (hooks.home / "config.toml").write_text("[context]\nbudget = 'x'\n[record]\ninput_chars = 3\n")
    assert all(map(quiet, hooks.turn("one")))
    (call,) = [line for line in hooks.lines() if line["kind"] == "tool_call"]
    assert {len(value) for value in call["input"].values() if isinstance(value, str)} == {3}
