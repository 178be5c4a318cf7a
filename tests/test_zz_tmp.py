from pathlib import Path
from tests.test_healing import *
def test_x(tmp_path, monkeypatch):
    home=Home(tmp_path); talk=home.talk()
    for p in ("One","Two","Three"): talk.land(p)
    loose(home,"main^{tree}").unlink()
    print(heal(home)); print("STATUS",status(home.shop)); print("FSCK",fsck(home.shop))
    print(git(home.shop,"log","--oneline")); print((home.shop/".git/logs/HEAD").read_text())
    monkeypatch.setenv("NEOSIAN_GIT", "/nonexistent/git")
    talk.turn("Four")
    l=home.lander(); print(l.land(), [str(f)+repr(f.hint) for f in l.failures]); print((home.path/"log/neosian.log").read_text() if (home.path/"log/neosian.log").exists() else "")
