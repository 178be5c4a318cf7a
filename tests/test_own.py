from __future__ import annotations

import os
import stat
from pathlib import Path

from neosian import own
from tests.factories import OTHER, Home, prompts_of
from tests.hooking import Hooks, quiet


def test_the_secret_of_a_home_is_made_once_and_private(tmp_path: Path) -> None:
    made = own.make_secret(str(tmp_path / "home"))
    assert own.make_secret(str(tmp_path / "home")) == own.secret(str(tmp_path / "home")) == made
    assert stat.S_IMODE(os.stat(tmp_path / "home" / own.SECRET).st_mode) == 0o600
    assert made != own.make_secret(str(tmp_path / "other"))
    assert made[:8] not in own.folder_prefix(made)


def test_a_session_whose_prompt_has_the_secret_leaves_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    secret = own.make_secret(str(home.path))
    ours, theirs = home.talk(), home.talk(OTHER)
    ours.start()
    assert home.land() == []
    ours.ask(f"neosian {secret}\n\nKeep the notes.")
    ours.call("Bash", command="true")
    theirs.turn("fix it")
    ours.answer('{"edits": []}')
    assert [each.span.session for each in home.land()] == [OTHER]
    assert prompts_of(home.shop) == ["fix it"]
    assert home.spool.names() == []


def test_what_comes_later_of_such_a_session_leaves_nothing_either(tmp_path: Path) -> None:
    home = Home(tmp_path)
    ours = home.talk()
    ours.turn(f"neosian {own.make_secret(str(home.path))}")
    home.land()
    ours.turn("and now without it")
    ours.put("session_end.other")
    assert home.land() == []
    assert home.spool.names() == []


def test_a_session_in_one_of_our_folders_leaves_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    folder = tmp_path / f"{own.folder_prefix(own.make_secret(str(home.path)))}x1"
    home.talk(cwd=folder).turn("what is this?")
    home.talk(OTHER, cwd=tmp_path / "neosian-dream-00000000-x1").turn("fix it")
    assert [each.span.session for each in home.land()] == [OTHER]


def test_the_secret_of_another_home_means_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    own.make_secret(str(home.path))
    home.talk().turn(f"neosian {own.make_secret(str(tmp_path / 'other'))}")
    assert len(home.land()) == 1


def test_the_secret_in_a_tool_s_output_means_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    talk = home.talk()
    talk.ask("look into the home")
    talk.call("Bash", command=f"echo {own.make_secret(str(home.path))}")
    talk.answer()
    assert len(home.land()) == 1


def test_our_own_session_is_told_nothing(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path)
    hooks.turn("money is rounded once, at the end, by decree of the treasurer")
    secret = own.make_secret(str(hooks.home))
    folder = tmp_path / f"{own.folder_prefix(secret)}x1"
    folder.mkdir()
    asked = "which decree of the treasurer says that money is rounded once at the end?"
    with_secret = f"neosian {secret}\n{asked}"
    assert "treasurer" in hooks.start("a-person-s").out
    assert "treasurer" in hooks.fire(hooks.said("user_prompt_submit", "another", prompt=asked)).out
    assert quiet(hooks.fire(hooks.said("session_start.startup", OTHER, cwd=str(folder)), cwd=folder))
    assert quiet(hooks.fire(hooks.said("user_prompt_submit", OTHER, prompt=with_secret)))
