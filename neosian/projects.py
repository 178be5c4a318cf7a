"""Which project is which, on every machine: `projects.toml` in the user scope's repository."""

from __future__ import annotations

import os

from neosian import config, files, publish, scope
from neosian.draft import Draft
from neosian.errors import BusyError, NeosianError, UsageError
from neosian.plumbing import object_id
from neosian.store import ElsewhereError, Store, committer, message, scope_page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FILE = "projects.toml"
_IDENTITIES = "identities"
HELD = "another program, such as a git that was left open, holds what this needs."
"""Why an act stopped half-way, in the place of a sentence that says that nothing was done."""
_HEAD = """\
# Which project is which: a directory belongs to the project that names its remote or its path.
# To rename a project edit its slug, to move one its identities. New ones are added at the end.
"""


class Project:
    """A registered project: its slug, its root on this machine, the identities it goes by."""

    __slots__ = ("identities", "root", "slug")

    def __init__(self, slug: str, root: str, identities: list[str]) -> None:
        self.slug = slug
        self.root = root
        self.identities = identities

    @property
    def scope(self) -> str:
        """The scope of the project under this machine's user."""
        return f"{scope.user_scope()}/proj:{self.slug}"


def open_store(home: str, text: str) -> Store:
    """The store of a scope; nothing is made yet."""
    name = scope.disk_name(text)
    folder = os.path.realpath(os.path.join(home, "scopes", name))
    return Store(home, text, folder, os.path.join(home, "cache", name + ".sqlite"))


def stores(home: str) -> list[Store]:
    """Every scope there is, by name on disk. What lies beside them is passed over: `strays`."""
    found = (_store_in(home, name) for name in files.names(os.path.join(home, "scopes")))
    return [store for store in found if store is not None and store.exists]


def _store_in(home: str, name: str) -> Store | None:
    """The store that a folder of this name is; None where no scope has it."""
    text = scope.text_of(name) or noted_scope(os.path.join(home, "scopes", name, ".git", "neosian"))
    return open_store(home, text) if text and scope.disk_name(text) == name else None


def strays(home: str) -> list[NeosianError]:
    """What looks like a scope among the scopes and is none, each as the sentence and the hint to tell."""
    from shlex import quote  # a hook has no time for it, and nothing to tell here

    found: list[NeosianError] = []
    for name in files.names(os.path.join(home, "scopes")):
        path, store = os.path.join(home, "scopes", name), _store_in(home, name)
        if store is not None and store.is_elsewhere:
            found.append(ElsewhereError(store.path))
        elif store is None and os.path.lexists(os.path.join(path, ".git")):
            shown = scope.identity(path)
            found.append(
                NeosianError(
                    f"{shown} is passed over: no scope has a folder of this name.",
                    f"mv {quote(shown)} SOMEWHERE-ELSE",
                )
            )
    return found


def slugs(home: str) -> list[str]:
    """The names of the user's projects: those registered, and those whose scope is there."""
    begin = f"{scope.user_scope()}/proj:"
    there = {store.scope.removeprefix(begin) for store in stores(home) if store.scope.startswith(begin)}
    return sorted(there | set(known(home)))


def scope_of(home: str, name: str) -> str:
    """The scope of the project that is called so; an unknown or blank name is refused with those there are."""
    there = slugs(home)
    if name not in there:
        said = f"No project is called {name!r}" if name.strip() else "The project's name is blank"
        raise UsageError(f"{said}; there are: {', '.join(there) or 'none yet'}.", "neosian project list")
    return f"{scope.user_scope()}/proj:{name}"


def find(home: str, root: str) -> Project:
    """The project whose root this is: as registered, else as it would be registered. Writes nothing."""
    identities = _identities(root)
    registered = known(home)
    for name, theirs in registered.items():
        if theirs & set(identities):
            return Project(name, root, identities)
    shown = root if identities[-1] == scope.identity(root) else identities[-1]
    name = scope.slug(os.path.basename(shown))[:80].strip("-") or "project"
    if name in registered:
        name = f"{name}-{object_id('blob', identities[0].encode('utf-8', 'surrogateescape'))[:4]}"
    return Project(name, root, identities)


def _identities(root: str) -> list[str]:
    """What the project of ``root`` goes by: its remotes and, as the last, its path. They are written under git.

    A remote that holds a secret (a token among its folders) is left out, in the path it is replaced.
    """
    found = [scope.identity(each) for each in (*scope.remote_identities(root), root)]
    if not any(_may_be_secret(part) for each in found for part in each.split("/")):
        return found
    from neosian.redact import redact  # a start would pay for it

    clean = [redact(each) for each in found]
    return [each for each in found[:-1] if each in clean] + clean[-1:]


def _may_be_secret(part: str) -> bool:
    """Whether the dear look is worth while. No secret is made of words and numbers alone: `customer-portal-v2`."""
    if "=" in part or ":" in part or len(part) < 16:
        return "=" in part or ":" in part
    pieces = part.replace("_", "-").replace(".", "-").split("-")
    return any(
        len(piece) >= 16 or (len(piece) > 4 and not piece.isalpha())
        for piece in pieces
        if any(char.isdigit() for char in piece) and not (piece.isdigit() and len(piece) < 16)
    )


def register(home: str, root: str) -> Project:
    """The project of ``root``, its identities written down in the user scope when they are new."""
    project = find(home, root)
    new = [each for each in project.identities if each not in known(home).get(project.slug, ())]
    if not new:
        return project
    user = open_store(home, scope.user_scope())

    def change(draft: Draft) -> None:
        held = scope.identity((draft.read(FILE) or _HEAD.encode()).decode("utf-8", "surrogateescape"))
        block = f"[[project]]\nslug = {quoted(project.slug)}\nidentities = [{', '.join(map(quoted, new))}]\n"
        text = f"{held.rstrip()}\n\n{block}"
        _check(text, os.path.join(user.path, FILE))
        draft.put(FILE, text.encode())
        trailers = {"Neosian-Act": "edit", "Neosian-Actor": "neosian"}
        draft.commit(message(f"Register project {project.slug}", trailers), committer(), committer())

    user.write(change)
    return project


def follow_rename(home: str, project: Project) -> None:
    """Bring a project's scope along when its slug was changed in `projects.toml`: its folder gets the new name.

    The folder knows the identities it was made for; one whose slug no entry has any more is the one that was renamed.
    """
    store = open_store(home, project.scope)
    if store.exists:
        old = noted_scope(store.repo.private)
        if old and old != store.scope and is_half_renamed(open_store(home, old), store):
            try:
                rename_scope(home, open_store(home, old), store)
            except NeosianError:
                pass  # the page can wait: whoever lands in the scope tells what is wrong there
        return
    registered = known(home)
    for other in stores(home):
        slug = other.scope.rpartition("/proj:")[2]
        noted = files.read(os.path.join(other.repo.private, _IDENTITIES)) or b""
        is_free = other.scope.startswith(scope.user_scope() + "/proj:") and slug not in registered
        if is_free and set(noted.decode("utf-8", "replace").splitlines()) & set(project.identities):
            rename_scope(home, other, store)
            return


def rename_scope(home: str, old: Store, new: Store) -> None:
    """Give a scope's folder, and what the home keeps for it elsewhere, the name of another scope, which has none.

    One that was cut off goes on from where it was.
    """
    if old.exists:
        with old.lock():
            was, becomes = (os.path.join(home, "scopes", scope.disk_name(each.scope)) for each in (old, new))
            os.rename(was, becomes)  # a link is renamed itself: what it leads to may lie on another disk
    _finish_rename(home, old, open_store(home, new.scope))


def is_half_renamed(old: Store, new: Store) -> bool:
    """Whether a scope's folder has its new name, and a renaming was cut off before all else had it."""
    return not old.exists and noted_scope(new.repo.private) == old.scope


def noted_scope(private: str) -> str:
    """The scope that a repository was made for, or last renamed to; "" where that cannot be read."""
    try:
        return (files.readable(os.path.join(private, "scope")) or b"").decode().strip()
    except UnicodeDecodeError:
        return ""


def _finish_rename(home: str, old: Store, new: Store) -> None:
    """What follows when the folder has its new name; that the folder notes it comes last."""
    _rename_landed(home, scope.disk_name(old.scope), scope.disk_name(new.scope))
    for ending in ("", "-journal", "-wal", "-shm"):
        files.remove(old.cache + ending)
    try:
        new.write(lambda draft: _rename_page(draft, old.scope, new.scope))
    except NeosianError as error:
        why = HELD if isinstance(error, BusyError) else error
        raise NeosianError(
            f"{old.scope} is called {new.scope} now, but its README.md has the old name still: {why} Then ask for it"
            " once more.",
            error.hint,
        ) from error
    new.note_scope()


def _rename_landed(home: str, old: str, new: str) -> None:
    """Keep the copies of what landed and is not packed yet with their scope: a crash may still need them."""
    was, becomes = (os.path.join(home, "spool", "landed", name) for name in (old, new))
    for name in files.names(was):
        files.make_dir(becomes)
        os.replace(os.path.join(was, name), os.path.join(becomes, name))
    if os.path.isdir(was):
        os.rmdir(was)


def _rename_page(draft: Draft, old: str, new: str) -> None:
    """Have the scope's README name its new scope, where it still is the one that we wrote."""
    if draft.read("README.md") == scope_page(old):
        draft.put("README.md", scope_page(new))
        trailers = {"Neosian-Act": "edit", "Neosian-Actor": "neosian"}
        draft.commit(message(f"Rename {old} to {new}", trailers), committer(), committer())


def note_identities(store: Store, project: Project) -> None:
    """Have a scope's folder know which project it is."""
    path = os.path.join(store.repo.private, _IDENTITIES)
    said = "".join(f"{each}\n" for each in project.identities).encode()
    if files.read(path) != said:
        files.write(path, said)


def _check(text: str, path: str) -> None:
    """Refuse to write what could not be read again, as a person's own layout of the file may make it."""
    import tomllib

    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise config.ConfigError(path, str(error)) from None


def known(home: str) -> dict[str, set[str]]:
    """The identities of every registered project, by slug. A file that cannot be read as TOML is an error: guessing
    would mix two projects up."""
    return identities_in(_read(home, open_store(home, scope.user_scope())))


def identities_in(said: dict[str, Any]) -> dict[str, set[str]]:
    """Identities by slug, in what a register says."""
    found: dict[str, set[str]] = {}
    entries = said.get("project", [])
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("identities"), list):
            slug = scope.slug(str(entry.get("slug", "")))  # a person may have written anything
            found.setdefault(slug, set()).update(map(str, entry["identities"]))
    found.pop("", None)
    return found


def _read(home: str, user: Store) -> dict[str, Any]:
    """The register as it lies in the folder; as main has it where the folder shows another branch."""
    if not user.exists or publish.checked_out(user.repo):
        return config.parsed_toml(os.path.join(user.path, FILE), os.path.join(home, "cache", "projects.json"))
    import tomllib

    try:
        tip = user.repo.tip()
        return tomllib.loads(((user.repo.read(tip, FILE) if tip else b"") or b"").decode("utf-8", "replace"))
    except tomllib.TOMLDecodeError as error:
        raise config.ConfigError(f"{FILE} of {user.path}", str(error)) from None
    finally:
        user.repo.close()


def quoted(text: str) -> str:
    """A TOML basic string."""
    escaped = "".join(
        f"\\u{ord(char):04x}" if ord(char) < 32 or char == "\x7f" else "\\" + char if char in '"\\' else char
        for char in text
    )
    return f'"{escaped}"'
