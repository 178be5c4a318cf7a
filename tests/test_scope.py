"""Which project a directory belongs to, and under which name a scope lies on disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neosian import scope
from neosian.errors import UsageError
from tests.factories import git, repository

ODD = (
    "../../x", "a/b", "C:\\x", "CON", "con", "con.txt", "", "x" * 300, "日" * 150, "a\nb", ".git", "..", ".", "%",
    "%43on", "Nul", "lpt1", "COM9.log", "a b", "~", "*?", "a\0b", "\udc88", "é", "e\u0301", "É", "ß", "K", "trailing.",
)  # fmt: skip
DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))}


# where a home is


def test_a_home_is_named_by_flag_then_environment_then_person(
    private_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert scope.home() == str(private_home / ".neosian")
    monkeypatch.setenv("NEOSIAN_HOME", "/srv/memory")
    assert scope.home() == "/srv/memory"
    assert scope.home("~/other") == str(private_home / "other")


def test_a_home_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert scope.home("here") == str(tmp_path / "here")


@pytest.mark.parametrize("name", ["memory", "./memory", "~/memory"])
def test_a_home_of_the_environment_that_is_no_absolute_path_is_refused(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEOSIAN_HOME", name)
    with pytest.raises(UsageError, match="NEOSIAN_HOME must be an absolute path"):
        scope.home()
    assert scope.home("/srv/memory") == "/srv/memory"


def test_without_home_the_user_record_tells_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    import pwd

    monkeypatch.delenv("HOME")
    assert scope.home() == os.path.join(pwd.getpwuid(os.getuid()).pw_dir, ".neosian")


# names


@pytest.mark.parametrize("text", ["user:alice", "user:alice/proj:shop", "team:a/any:b/more:c", "user:アリス"])
def test_a_scope_is_segments_of_type_and_id(text: str) -> None:
    assert scope.check(text) == text


@pytest.mark.parametrize(
    "text", ["", "alice", "user:", ":alice", "user:alice/", "/user:a", "user:a//b:c", "user:a\nb"]
)
def test_what_is_no_scope_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no scope"):
        scope.check(text)


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Shop", "shop"),
        ("My Shop (old)", "my-shop-old"),
        ("café", "café"),
        ("cafe\u0301", "café"),
        ("日本語", "日本語"),
        ("a_b-c.d", "a_b-c-d"),
        ("../../x", "x"),
        ("--- ", ""),
    ],
)
def test_a_slug_keeps_letters_and_digits_of_any_script(name: str, slug: str) -> None:
    assert scope.slug(name) == slug


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("user:alice", "user.alice"),
        ("user:alice/proj:shop", "user.alice+proj.shop"),
        ("0670e8b9-b1ce-4218-af38-aac7413a9d25", "0670e8b9-b1ce-4218-af38-aac7413a9d25"),
        ("user:日本", "user.日本"),
        ("../../x", "%2e%2e+%2e%2e+x"),
        ("CON", "%43%4f%4e"),
        ("con", "%63on"),
        ("con:x", "%63on.x"),
        ("", "%"),
        (".git", "%2egit"),
        ("a\nb", "a%0ab"),
    ],
)
def test_the_name_on_disk(text: str, name: str) -> None:
    assert scope.disk_name(text) == name


@pytest.mark.parametrize("text", ODD)
def test_a_name_on_disk_is_safe_everywhere(text: str) -> None:
    name = scope.disk_name(text)
    assert name == name.lower()
    assert not set(name) & set('/\\:*?"<>|\0\n ')
    assert name.split(".")[0] not in DEVICES
    assert name
    assert name.strip(".") == name
    assert len(name.encode()) <= 200


def test_different_texts_have_different_names_even_without_case() -> None:
    texts = [*ODD, "x" * 301, "日" * 151, "C:/x", "c:\\x", "%2e", "a+b", "a.b", "a:b"]
    names = {scope.disk_name(text).casefold() for text in texts}
    assert len(names) == len(set(texts))


@given(st.text(max_size=20), st.text(max_size=20))
def test_no_two_texts_share_a_name(one: str, other: str) -> None:
    assert (scope.disk_name(one).casefold() == scope.disk_name(other).casefold()) is (one == other)


@given(st.text(max_size=20))
def test_a_text_is_read_from_its_name_on_disk(text: str) -> None:
    assert scope.text_of(scope.disk_name(text)) == text


@pytest.mark.parametrize("name", ["%ff", "\udcff", "100%", "Foo Bar", "a.B", "%41bc%", "x%~y", "%4"])
def test_a_name_that_no_text_has_gives_none(name: str) -> None:
    assert scope.text_of(name) is None


@given(st.text(max_size=90))
def test_any_text_makes_a_folder(text: str) -> None:
    name = scope.disk_name(text)
    assert os.path.basename(name) == name not in ("", ".", "..")
    assert len(name.encode()) <= 200


# projects


def test_a_subfolder_belongs_to_its_repository(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    (shop / "lib" / "deep").mkdir(parents=True)
    assert scope.project_root(str(shop / "lib" / "deep")) == str(shop)


def test_a_linked_worktree_shares_the_project_of_its_main_one(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop", commit=True)
    git(shop, "worktree", "add", "-q", "-b", "topic", str(tmp_path / "elsewhere" / "topic"))
    (tmp_path / "elsewhere" / "topic" / "lib").mkdir()
    assert scope.project_root(str(tmp_path / "elsewhere" / "topic" / "lib")) == str(shop)
    assert scope.branch(str(tmp_path / "elsewhere" / "topic" / "lib")) == "topic"


def test_a_worktree_of_a_bare_repository_belongs_to_it(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop", commit=True)
    bare = tmp_path / "shop.git"
    git(tmp_path, "clone", "-q", "--bare", str(shop), str(bare))
    git(bare, "worktree", "add", "-q", str(tmp_path / "one"), "main")
    assert scope.project_root(str(tmp_path / "one")) == str(bare)


def test_a_submodule_is_a_project_of_its_own(tmp_path: Path) -> None:
    part = repository(tmp_path / "part", commit=True)
    shop = repository(tmp_path / "shop", commit=True)
    git(shop, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(part), "vendor/part")
    assert scope.project_root(str(shop / "vendor" / "part")) == str(shop / "vendor" / "part")


def test_a_link_to_a_project_is_the_project(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    (tmp_path / "link").symlink_to(shop)
    assert scope.project_root(str(tmp_path / "link")) == str(shop)


def test_a_folder_without_git_is_a_project_itself(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    assert scope.project_root(str(tmp_path / "notes")) == str(tmp_path / "notes")


@pytest.mark.parametrize("path", ["/", "~", "/tmp", "/var/tmp", "/home"])
def test_places_that_hold_everything_are_no_project(path: str) -> None:
    assert scope.project_root(os.path.expanduser(path)) is None


@pytest.mark.parametrize("name", ["TMPDIR", "TEMP", "TMP"])
def test_the_temp_root_of_this_process_is_no_project(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, str(tmp_path))
    assert scope.project_root(str(tmp_path)) is None
    assert scope.project_root(str(tmp_path / "below")) == str(tmp_path / "below")


def test_a_home_under_version_control_is_still_no_project(private_home: Path) -> None:
    git(private_home, "init", "-q")
    assert scope.project_root(str(private_home)) is None


def test_a_folder_that_merely_holds_repositories_is_no_project(tmp_path: Path) -> None:
    for name in ("one", "two"):
        repository(tmp_path / "src" / name)
    assert scope.project_root(str(tmp_path / "src")) is None
    assert scope.project_root(str(tmp_path / "src" / "one")) == str(tmp_path / "src" / "one")


def test_a_repository_that_holds_others_is_a_project(tmp_path: Path) -> None:
    for name in (".", "one", "two"):
        repository(tmp_path / "src" / name)
    assert scope.project_root(str(tmp_path / "src")) == str(tmp_path / "src")


def test_a_directory_that_is_gone_still_has_its_project(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    assert scope.project_root(str(shop / "gone" / "deeper")) == str(shop)


# remotes


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/acme/shop.git",
        "https://github.com/acme/shop",
        "https://ada:token@GitHub.com/acme/shop.git/",
        "ssh://git@github.com:22/acme/shop.git",
        "git@github.com:acme/shop.git",
        "git://github.com/acme/shop",
    ],
)
def test_one_remote_has_one_name_however_it_is_reached(url: str) -> None:
    assert scope.normal_url(url) == "github.com/acme/shop"


@pytest.mark.parametrize("url", ["/srv/git/shop.git", "../shop", "file:///srv/shop.git", "", "./a:b"])
def test_a_local_path_is_no_remote(url: str) -> None:
    assert scope.normal_url(url) == ""


def test_no_password_of_a_url_becomes_part_of_an_identity() -> None:
    assert "secret" not in scope.normal_url("https://ada:secret@host.example/a/b@c.git")


def test_remotes_are_told_with_origin_first(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    for name in ("backup", "origin", "up.stream"):
        git(shop, "remote", "add", name, f"https://host.example/{name}/shop.git")
    assert scope.remote_identities(str(shop)) == [
        "host.example/origin/shop", "host.example/backup/shop", "host.example/up.stream/shop",
    ]  # fmt: skip


@pytest.mark.parametrize("branch", ["main", "feature/login", "日本"])
def test_the_branch_is_told(branch: str, tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop", commit=True)
    git(shop, "checkout", "-q", "-B", branch)
    assert scope.branch(str(shop)) == branch


def test_a_detached_head_has_no_branch(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop", commit=True)
    git(shop, "checkout", "-q", "--detach")
    assert scope.branch(str(shop)) == ""
    assert scope.branch(str(tmp_path)) == ""


@pytest.mark.parametrize(
    "url",
    [
        "https://host.example/acme/shop?access_token=s3cret",
        "https://host.example/acme/shop.git#s3cret",
        "https://ada:s3cret@host.example/acme/shop",
        "ada:s3cret@host.example:acme/shop.git",
        "https://ada:s3/cret@host.example/acme/shop",
        "https://host.example/ada:s3cret@shop",
        "https:/ada:s3cret@host.example/acme/shop",
        "ssh://git:s3cret@host.example:22/acme/shop?x#y",
        "\\\\host\\s3cret",
    ],
)
def test_what_a_url_holds_beside_host_and_path_is_no_part_of_an_identity(url: str) -> None:
    assert "cret" not in scope.normal_url(url)


# what a stranger may have put into a folder


def hostile(folder: Path, what: str) -> None:
    """Put something in the place of a file of git's."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    match what:
        case "pipe":
            os.mkfifo(folder)
        case "folder":
            folder.mkdir()
        case "device":
            folder.symlink_to("/dev/zero")
        case "huge":
            with folder.open("wb") as file:
                file.truncate(1 << 32)
        case "NUL":
            folder.write_bytes(b"gitdir: a\0b\n")
        case "long":
            folder.write_text("gitdir: " + "a/" * 40_000 + "\n")
        case "loop":
            folder.symlink_to(folder.name)
        case "bytes":
            folder.write_bytes(bytes(range(256)) * 20)


WHAT = ["pipe", "folder", "device", "huge", "NUL", "long", "loop", "bytes"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.parametrize("what", WHAT)
@pytest.mark.parametrize("place", [".git", ".git/config", ".git/HEAD"])
def test_whatever_lies_where_git_keeps_its_files_is_no_error(what: str, place: str, tmp_path: Path) -> None:
    hostile(tmp_path / "shop" / place, what)
    assert scope.project_root(str(tmp_path / "shop")) in (str(tmp_path / "shop"), None)
    assert scope.remote_identities(str(tmp_path / "shop")) == []
    assert scope.branch(str(tmp_path / "shop")) == ""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.parametrize("what", WHAT)
@pytest.mark.parametrize("place", ["commondir", "gitdir"])
def test_whatever_lies_behind_the_file_of_a_worktree_is_no_error(
    what: str, place: str, tmp_path: Path
) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    (shop / ".git").write_text("gitdir: private\n")
    hostile(shop / "private" / place, what)
    assert scope.project_root(str(shop)) == str(shop)


@pytest.mark.parametrize("back", ["", "{hostile}/.git\n", "elsewhere\n"])
def test_a_folder_that_claims_to_be_a_worktree_of_another_project_is_its_own(
    back: str, tmp_path: Path
) -> None:
    victim = repository(tmp_path / "victim", commit=True)
    folder = tmp_path / "hostile"
    private = folder / "private"
    private.mkdir(parents=True)
    (folder / ".git").write_text("gitdir: private\n")
    (private / "commondir").write_text(f"{victim}/.git\n")
    if back:
        (private / "gitdir").write_text(back.format(hostile=folder))
    assert scope.project_root(str(folder)) == str(folder)


def test_a_folder_that_names_the_worktree_of_another_is_its_own(tmp_path: Path) -> None:
    victim = repository(tmp_path / "victim", commit=True)
    git(victim, "worktree", "add", "-q", "-b", "topic", str(tmp_path / "topic"))
    folder = tmp_path / "hostile"
    folder.mkdir()
    (folder / ".git").write_text((tmp_path / "topic" / ".git").read_text())
    assert scope.project_root(str(folder)) == str(folder)
    assert scope.project_root(str(tmp_path / "topic")) == str(victim)


@pytest.mark.parametrize("path", ["/" + "a/" * 3000, "/" + "a" * 5000, "/a\0b"])
def test_what_no_system_takes_for_a_path_is_no_error(path: str) -> None:
    assert scope.project_root(path) in (None, path.rstrip("/"))
    assert scope.branch(path) == ""


def test_a_path_that_is_no_text_is_spelled_out() -> None:
    assert scope.identity(os.fsdecode(b"/src/caf\xe9")) == r"/src/caf\xe9"
    assert scope.identity("/src/日本") == "/src/日本"
