"""Files written whole, private to their owner, whatever the umask."""

from __future__ import annotations

import errno
import os
import stat
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import FileIO

PRIVATE_FILE = 0o600
PRIVATE_DIR = 0o700
SPARE = ".neosian-"
"""How the names of files begin that are not in their place yet."""
_LOG_LIMIT = 256 * 1024


def read(path: str) -> bytes | None:
    """The whole file, or None where there is none, nor where a pipe or a device has its name."""
    try:
        with opened(path) as stream:
            return stream.read()
    except (FileNotFoundError, NotADirectoryError):
        return None


def readable(path: str) -> bytes | None:
    """What `read` gives, and None also where nobody may read: who only tells of a file passes it over."""
    try:
        return read(path)
    except OSError:
        return None


def opened(path: str) -> FileIO:
    """A file to read bytes from. What is no regular file counts as missing: a pipe would have us wait for ever."""
    stream = open(path, "rb", buffering=0, opener=_without_waiting)  # noqa: SIM115 - the caller closes it
    if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        stream.close()
        raise FileNotFoundError(errno.ENOENT, "is no regular file", path)
    return stream


def _without_waiting(path: str, flags: int) -> int:
    try:
        return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket
            raise FileNotFoundError(errno.ENOENT, "is no regular file", path) from None
        raise


def said(error: OSError, where: str = "") -> str:
    """What the system refused, as a sentence; ``where`` is what it was about if the error does not say."""
    where = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else where
    return f"{error.strerror or error} ({where})." if where else f"{error.strerror or error}."


def make_dir(path: str) -> None:
    """Make ``path`` and its missing parents, each 0700 under any umask."""
    if not path:
        return
    try:
        os.mkdir(path, PRIVATE_DIR)
    except FileExistsError:
        return
    except FileNotFoundError:
        make_dir(os.path.dirname(path))
        make_dir(path)
        return
    os.chmod(path, PRIVATE_DIR)


def write(
    path: str,
    data: bytes,
    *,
    sync: bool = False,
    scratch: str = "",
    mode: int = PRIVATE_FILE,
    owner: tuple[int, int] | None = None,
) -> None:
    """Put ``data`` at ``path`` whole: a temporary file, then a rename.

    ``owner`` is the user and group that it is to belong to (default: who runs this).
    ``scratch`` is the folder of the temporary file, on the same file system (default: beside the target).
    ``sync`` has the bytes on disk, the name included, before this returns.
    """
    folder = os.path.dirname(path)
    spare = os.path.join(scratch or folder, f"{SPARE}{os.getpid()}-{time.monotonic_ns():x}")
    handle = os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        try:
            if owner is not None and (made := os.fstat(handle)) and (made.st_uid, made.st_gid) != owner:
                os.fchown(handle, *owner)  # before the mode: it would take some of that away
            if hasattr(os, "fchmod"):
                os.fchmod(handle, mode)
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(handle, rest) :]
            if sync:
                os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(spare, path)
    except BaseException:
        remove(spare)
        raise
    if sync:
        sync_dir(folder)


def sync_dir(path: str) -> None:
    """Have a folder's names on disk, where the system can."""
    if os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove(path: str) -> bool:
    """Remove a file; False where there was none."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return False
    return True


def names(folder: str) -> list[str]:
    """Names in a folder, sorted; none where there is no folder."""
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []


def forget(folder: str, seconds: float, prefixes: tuple[str, ...] = ("",)) -> None:
    """Remove the files of a folder that are older than so many seconds and whose names begin so."""
    old = time.time() - seconds
    for name in names(folder):
        path = os.path.join(folder, name)
        try:
            if name.startswith(prefixes) and os.stat(path).st_mtime < old:
                remove(path)
        except OSError:
            continue


def lines(path: str) -> Iterator[str]:
    """Lines of a small text file, none where it is missing."""
    yield from (read(path) or b"").decode("utf-8", "replace").splitlines()


def strange(path: str, limit: int = 1 << 20) -> str:
    """At most ``limit`` bytes of a file that anybody may have put there; "" for whatever is no plain file.

    A repository comes from strangers: where git keeps a file there may be a pipe, a device or a gigabyte.
    """
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return ""
            return os.read(handle, limit).decode("utf-8", "surrogateescape")
        finally:
            os.close(handle)
    except (OSError, ValueError):
        return ""


def log(path: str, text: str) -> None:
    """Append one dated line; the log is turned over at 256 KiB, and one that cannot be written is let go."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    try:
        make_dir(os.path.dirname(path))
        if os.path.exists(path) and os.path.getsize(path) > _LOG_LIMIT:
            os.replace(path, path + ".old")
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)
        try:
            os.write(handle, f"{stamp} {' '.join(text.split())}\n".encode("utf-8", "replace"))
        finally:
            os.close(handle)
    except OSError:
        return
