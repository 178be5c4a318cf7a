from __future__ import annotations
from pathlib import Path
from tests.factories import *
def test_x(tmp_path: Path) -> None:
    home = Home(tmp_path)
    talk = home.talk()
    talk.start(); talk.ask("Add tests"); talk.call("Bash", command="ls")
    talk.answer("ok")
    print(home.land())
    print(git(home.shop, "log","--stat", "--format=fuller"), git(home.user,"log","--stat"))
    print(log_of(home.shop), page_fields(home.shop))
    print(status(home.shop), fsck(home.shop), trailers(home.shop), prompts_of(home.shop))
    talk.land("next")
    assert 0
