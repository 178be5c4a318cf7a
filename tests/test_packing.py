"""Packing: loose objects become a pack, what was kept beside it is let go, and nothing is ever pruned."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from neosian import packing
from neosian.store import Lock
from tests.factories import Home, fsck, git, prompts_of, status


@pytest.fixture
def home(tmp_path: Path) -> Home:
    found = Home(tmp_path)
    talk = found.talk()
    talk.land("One")
    talk.land("Two")
    return found


def pack(home: Home) -> bool:
    return packing.pack(str(home.path), home.store().scope)


def packs(home: Home) -> list[Path]:
    return sorted((home.shop / ".git/objects/pack").glob("*.pack"))


def kept(home: Home) -> list[str]:
    return sorted(path.name for path in (home.path / "spool/landed").glob("*/*"))


def loose(home: Home) -> int:
    return int(git(home.shop, "count-objects").split(" ")[0])


def test_everything_that_main_holds_goes_into_a_pack(home: Home) -> None:
    assert loose(home) > 0
    assert pack(home)
    assert (len(packs(home)), loose(home)) == (1, 0)
    assert prompts_of(home.shop) == ["One", "Two"]
    assert (status(home.shop), fsck(home.shop)) == ("", "")


def test_the_copies_in_the_spool_go_once_the_pack_is_there(home: Home) -> None:
    assert len(kept(home)) == 2
    pack(home)
    assert kept(home) == []


def test_what_lands_after_a_pack_is_kept_again(home: Home) -> None:
    pack(home)
    commit = home.talk().land("Three")
    assert kept(home) == [commit]
    assert prompts_of(home.shop) == ["One", "Two", "Three"]
    assert fsck(home.shop) == ""


def test_paths_are_found_fast_after_packing(home: Home) -> None:
    pack(home)
    folder = home.shop / ".git/objects/info/commit-graphs"
    assert b"BIDX" in b"".join(path.read_bytes() for path in folder.glob("*.graph"))
    git(home.shop, "commit-graph", "verify")


def test_many_packs_become_one(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "JOIN_AFTER", 3)
    for number in range(3):
        pack(home)
        home.talk().land(f"More {number}")
    assert len(packs(home)) == 3
    pack(home)
    assert len(packs(home)) == 1
    assert (len(prompts_of(home.shop)), fsck(home.shop), status(home.shop)) == (5, "", "")


def test_what_nothing_names_any_more_is_not_pruned(home: Home) -> None:
    done = subprocess.run(
        ["git", "-C", str(home.shop), "hash-object", "-w", "--stdin"], input=b"mine", capture_output=True
    )
    pack(home)
    assert git(home.shop, "cat-file", "-p", done.stdout.decode().strip()) == "mine"


def test_two_do_not_pack_at_once(home: Home) -> None:
    with Lock(os.path.join(home.store().repo.private, "pack.lock"), 0.0):
        assert not pack(home)
    assert len(kept(home)) == 2


def test_a_scope_that_is_not_there_is_not_packed(home: Home) -> None:
    assert not packing.pack(str(home.path), "team:none")
    assert not Path(home.store("team:none").path).exists()


def test_what_a_failed_pack_did_not_save_is_kept(home: Home) -> None:
    for path in (home.shop / ".git/objects").glob("??"):
        next(path.iterdir()).chmod(0o600)
        next(path.iterdir()).write_bytes(b"damaged")
    with pytest.raises(Exception, match="git repack"):
        pack(home)
    assert len(kept(home)) == 2


def test_only_old_locks_of_killed_writers_are_cleared(home: Home) -> None:
    private = Path(home.store().repo.private)
    names = ("stale-old.lock", "stale-new.lock", "waiting")
    for name in names:
        (private / name).write_text("")
        age = 0 if "new" in name else 2 * 86_400
        os.utime(private / name, (time.time() - age, time.time() - age))
    packing.pack(str(home.path), home.store().scope)
    assert [name for name in names if (private / name).exists()] == ["stale-new.lock", "waiting"]
