"""Events that have not landed: one file an event, written by the launcher's shell or by `neosian record`.

A spooled file is a header of NUL-ended fields, a line end, and the payload exactly as the client gave it:

    neosian1 NUL client NUL verb NUL flags NUL tick NUL boot NUL cwd NUL MARK=value NUL ... NUL LF payload

``flags`` are the words of the hook line after the verb, joined by U+001F. ``tick`` is the uptime in seconds (it
never steps back, as the wall clock may), ``boot`` the id of that uptime.
"""

from __future__ import annotations

import os
import time
import zlib

from neosian import files
from neosian.errors import NeosianError
from neosian.events import FLAG_SEPARATOR, Spooled
from neosian.payload import PayloadError, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    import mmap
    from collections.abc import Iterable, Iterator
    from typing import Any

MAGIC = b"neosian1"
CONTEXT = "context"
"""The verb of a spooled event that we made: the words a session was told."""

MARKS = ("CLAUDE_PROJECT_DIR", "CURSOR_VERSION", "NEOSIAN_SCOPE")
"""The only variables of a hook's environment that are ever kept: it also holds API keys."""

_MAPPED = 1 << 20
_WAITED = 600.0  # seconds after which an event is thought to wait for nobody
_ABANDONED = 3600.0  # and a file being written to be left by a launcher that was killed
_HEADER = 1 << 13
_TOLD = "-told-"


class Entry:
    """One spooled event: its file name, what its header says, its payload as read."""

    __slots__ = ("payload", "size", "spooled")

    def __init__(self, spooled: Spooled, payload: dict[str, Any], size: int) -> None:
        self.spooled = spooled
        self.payload = payload
        self.size = size


class Spool:
    """The spool of a home: `new/` holds what waits, `bad/` what could not be read."""

    def __init__(self, home: str, folder: str = "") -> None:
        self.folder = folder or os.path.join(home, "spool")
        self._log = os.path.join(home, "log", "neosian.log")
        self.new = os.path.join(self.folder, "new")
        self.tmp = os.path.join(self.folder, "tmp")
        self.bad = os.path.join(self.folder, "bad")

    def make(self) -> None:
        """Make the folders, private."""
        for path in (self.new, self.tmp):
            files.make_dir(path)

    def names(self) -> list[str]:
        """File names of what waits."""
        return files.names(self.new)

    def backlog(self) -> int:
        """Bytes that wait."""
        total = 0
        for name in self.names():
            try:
                total += os.stat(os.path.join(self.new, name)).st_size
            except OSError:
                continue
        return total

    def put(self, header: bytes, payload: bytes | mmap.mmap, mark: str = "") -> str:
        """Spool one event; its file name, which ends in ``mark``. The bytes are whole when the name appears."""
        self.make()
        name = f"{tick()[0]}-{os.getpid()}-{time.monotonic_ns():x}{mark}"
        spare = os.path.join(self.tmp, name)
        handle = os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL, files.PRIVATE_FILE)
        try:
            with os.fdopen(handle, "wb", buffering=0) as stream:
                for piece in (header, payload):
                    with memoryview(piece) as rest:
                        done = 0
                        while done < len(rest):
                            done += stream.write(rest[done : done + _MAPPED]) or 0
            os.replace(spare, os.path.join(self.new, name))
        except BaseException:
            files.remove(spare)
            raise
        return name

    def neglected(self) -> bool:
        """Whether something waits here that no hook of its own session is going to see to."""
        now = time.time()
        waits = (os.path.join(self.new, name) for name in self.names()[:50])
        begun = (os.path.join(self.tmp, name) for name in files.names(self.tmp)[:50])
        if any(_age(path, now) > _WAITED for path in waits) or any(
            _age(path, now) > _ABANDONED for path in begun
        ):
            return True
        # A turn that ended and did not land: its stop failed, and the hook that would try again is this one.
        return any(each.event in ("stop", "end") for each, _ in zip(self.peek(), range(50), strict=False))

    def recover(self) -> int:
        """Take in what a launcher had whole when it was killed, and remove what it had not; how many came in.

        A client ends a hook that takes too long, and the shell that was to move the file with it.
        """
        now, found = time.time(), 0
        for name in files.names(self.tmp):
            path = os.path.join(self.tmp, name)
            if _age(path, now) <= _ABANDONED:
                continue
            try:
                self._read(path, name)
            except (PayloadError, OSError):
                files.remove(path)
                continue
            if not os.path.exists(os.path.join(self.new, name)):
                os.replace(path, os.path.join(self.new, name))
                found += 1
        return found

    def take(self, names: Iterable[str] | None = None) -> Iterator[Entry]:
        """Read what waits, oldest name first. What cannot be read is set aside in `bad/` with the reason."""
        for name in self.names() if names is None else names:
            try:
                entry = self._read(os.path.join(self.new, name), name)
            except FileNotFoundError as error:
                if os.path.lexists(os.path.join(self.new, name)):  # a pipe or a device
                    self.set_aside(name, f"it {error.strerror}")
                continue
            except (PayloadError, NeosianError, IsADirectoryError, PermissionError) as error:
                self.set_aside(name, str(error))
                continue
            yield entry

    def look(self) -> Iterator[Entry]:
        """Read what waits and change nothing; what cannot be read is passed over."""
        for name in self.names():
            try:
                yield self._read(os.path.join(self.new, name), name)
            except (NeosianError, OSError):
                continue

    def told(self, client: str, session: str) -> list[dict[str, Any]]:
        """What was told to a session, oldest first, as far as it has not landed."""
        mine = self.all_told(told_mark(client, session))
        return [
            entry.payload
            for entry in mine
            if entry.spooled.client == client and entry.payload.get("session_id") == session
        ]

    def all_told(self, mark: str = "") -> list[Entry]:
        """What was told to any session (or those whose files end so) and has not landed, oldest first."""
        found = list(self.take([name for name in self.names() if _TOLD in name and name.endswith(mark)]))
        return sorted(found, key=lambda entry: (entry.spooled.at, entry.spooled.name))

    def peek(self) -> Iterator[Spooled]:
        """Headers of what waits; files without one are passed over."""
        for name in self.names():
            try:
                with files.opened(os.path.join(self.new, name)) as stream:
                    yield self._header(name, stream.read(_HEADER), os.fstat(stream.fileno()))[0]
            except (FileNotFoundError, PayloadError):
                continue

    def _read(self, path: str, name: str) -> Entry:
        with files.opened(path) as stream:
            found = os.fstat(stream.fileno())
            if found.st_size > _MAPPED:
                import mmap

                with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as raw:
                    return self._parse(name, raw, found)
            return self._parse(name, stream.read(), found)

    def _parse(self, name: str, raw: bytes | mmap.mmap, found: os.stat_result) -> Entry:
        spooled, start = self._header(name, raw, found)
        return Entry(spooled, loads(raw, start), found.st_size)

    def _header(self, name: str, raw: bytes | mmap.mmap, found: os.stat_result) -> tuple[Spooled, int]:
        """What the header says, and where the payload begins."""
        end = raw.find(b"\0\n")
        if raw[: len(MAGIC)] != MAGIC or end < 0:
            raise PayloadError("the spooled file has no header of ours")
        cells = raw[:end].split(b"\0")
        if len(cells) < 7:
            raise PayloadError("the spooled file's header is cut")
        client, verb, flags, ticks, boot, cwd = (
            cell.decode("utf-8", "surrogateescape") for cell in cells[1:7]
        )
        marks = dict(_mark(cell) for cell in cells[7:] if b"=" in cell)
        if marks.get("NEOSIAN_SCOPE") and "--scope" not in flags and "--mount" not in flags:
            flags = FLAG_SEPARATOR.join(filter(None, (flags, "--scope", marks["NEOSIAN_SCOPE"])))
        spooled = Spooled(
            name=name, client=client, event=verb, level=flags, cwd=cwd, marks=marks,
            at=found.st_mtime, tick=_seconds(ticks), boot=boot,
        )  # fmt: skip
        return spooled, end + 2

    def set_aside(self, name: str, reason: str) -> None:
        """Keep a file that cannot be read where `neosian status` shows it."""
        files.make_dir(self.bad)
        try:
            os.replace(os.path.join(self.new, name), os.path.join(self.bad, name))
        except FileNotFoundError:
            return
        files.write(os.path.join(self.bad, name + ".why"), reason.encode("utf-8", "replace"))
        files.log(self._log, f"spool: {name} is set aside: {reason}")

    def try_again(self) -> int:
        """Put what was set aside back among what waits: another release may be able to read it; how many files."""
        aside = [name for name in files.names(self.bad) if not name.endswith(".why")]
        self.make()
        for name in aside:
            if not os.path.exists(os.path.join(self.new, name)):
                os.replace(os.path.join(self.bad, name), os.path.join(self.new, name))
                files.remove(os.path.join(self.bad, name + ".why"))
        return len(aside)

    def reason(self, name: str) -> str:
        """Why a file was set aside, "" when it was not."""
        return (files.read(os.path.join(self.bad, name + ".why")) or b"").decode("utf-8", "replace")

    def drop(self, names: Iterable[str]) -> None:
        """Remove events that have landed, or that leave nothing."""
        for name in names:
            files.remove(os.path.join(self.new, name))


def _age(path: str, now: float) -> float:
    """Seconds since a file was last written; 0 for one that is gone."""
    try:
        return now - os.stat(path).st_mtime
    except OSError:
        return 0.0


def _mark(cell: bytes) -> tuple[str, str]:
    name, _, value = cell.decode("utf-8", "surrogateescape").partition("=")
    return name, value


def header(client: str, verb: str, flags: str, cwd: str, environment: dict[str, str]) -> bytes:
    """The header of an event that this process received itself."""
    seconds, boot = tick()
    marks = [f"{name}={environment[name]}" for name in MARKS if environment.get(name)]
    cells = [client, verb, flags, seconds, boot, cwd, *marks]
    return b"\0".join([MAGIC, *(os.fsencode(cell.replace("\0", "")) for cell in cells), b"\n"])


def told_mark(client: str, session: str) -> str:
    """How the name of a file ends that holds what a session was told: by it they are found without a look inside."""
    return f"{_TOLD}{zlib.crc32(f'{client}:{session}'.encode('utf-8', 'replace')):08x}"


def tick() -> tuple[str, str]:
    """Uptime in seconds and the id of this boot; both "" where the system does not say."""
    uptime = files.read("/proc/uptime")
    boot = files.read("/proc/sys/kernel/random/boot_id")
    return (uptime or b"").decode().partition(" ")[0], (boot or b"").decode().strip()


def _seconds(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
