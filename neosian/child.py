"""Git children: a clean environment, pipes, and a deadline on everything read."""

from __future__ import annotations

import os
import select
import time

from neosian.errors import GitError, NoGitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# What git exports to its hooks beats the repository we mean, and what a person configures would reach our
# commits (signing, foreign hooks, line ends): a child of ours sees neither.
_OURS = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_COMMITTER_NAME": "neosian",  # of reflogs; commits name theirs themselves
    "GIT_COMMITTER_EMAIL": "neosian@neosian.invalid",
    "LC_ALL": "C",
}
_KEPT = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR")


def git_program() -> str:
    """The git to run: what the launcher wrote down, else the one on PATH."""
    return os.environ.get("NEOSIAN_GIT") or "git"


def clean_environment(nowhere: str) -> dict[str, str]:
    """The environment of our git children; ``nowhere`` is a home without settings (git before 2.32)."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    kept.setdefault("PATH", os.defpath)
    return {**kept, **_OURS, "HOME": nowhere, "XDG_CONFIG_HOME": nowhere}


_forgotten: list[int] = []


def _reap_forgotten() -> None:
    for pid in _forgotten[:]:
        try:
            has_ended = os.waitpid(pid, os.WNOHANG)[0] == pid
        except ChildProcessError:  # whoever runs us reaps every child
            has_ended = True
        if has_ended:
            _forgotten.remove(pid)


def spawn(argv: list[str], environment: Mapping[str, str], timeout: float) -> Child:
    """Start a git child that may take ``timeout`` seconds for each answer."""
    if not hasattr(os, "posix_spawnp"):  # pragma: no cover - Windows
        from neosian.child_windows import Child as WindowsChild

        return WindowsChild(argv, environment, timeout)  # type: ignore[return-value]  # the same face
    return Child(argv, environment, timeout)


class Child:
    """A running git with pipes on stdin and stdout; its stderr is kept for the error.

    Everything read carries a deadline, so that no child outlives the hook that asked for it.
    """

    def __init__(self, argv: list[str], environment: Mapping[str, str], timeout: float) -> None:
        self._argv = argv
        self._timeout = timeout
        self._until = time.monotonic() + timeout
        self._buffer = bytearray()
        self._status: int | None = None
        self._said = b""
        self._in = self._out = self._err = -1
        _reap_forgotten()
        their_in, self._in = os.pipe()
        self._out, their_out = os.pipe()
        self._err, their_err = os.pipe()
        try:
            self.pid = os.posix_spawnp(
                argv[0],
                argv,
                environment,
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, their_in, 0),
                    (os.POSIX_SPAWN_DUP2, their_out, 1),
                    (os.POSIX_SPAWN_DUP2, their_err, 2),
                ],
            )
        except OSError as error:
            self._close_ours()
            raise NoGitError(argv[0], error.strerror) from None
        finally:
            for end in (their_in, their_out, their_err):
                os.close(end)

    def __del__(self) -> None:
        """Whoever forgets a child leaves no process behind: it ends with its pipes, and the next start reaps it."""
        if self._status is None and self._out >= 0:
            self._close_ours()
            _forgotten.append(self.pid)

    def _close_ours(self) -> None:
        for end in (self._in, self._out, self._err):
            if end >= 0:
                os.close(end)
        self._in = self._out = self._err = -1

    def _wait(self, end: int, event: int) -> None:
        if end < 0:  # it was closed, for good or because it failed
            raise self.failed()
        poller = select.poll()
        poller.register(end, event)
        if not poller.poll(max(0.0, self._until - time.monotonic()) * 1000):
            self.kill()
            raise GitError(tuple(self._argv[1:]), -1, "it took too long and was ended")

    def write(self, data: bytes) -> None:
        """Send a request far smaller than a pipe's buffer; its answers get the whole time limit anew."""
        self._until = time.monotonic() + self._timeout
        rest = memoryview(data)
        while rest:
            self._wait(self._in, select.POLLOUT)
            try:
                rest = rest[os.write(self._in, rest) :]
            except BrokenPipeError:
                raise self.failed() from None

    def _more(self) -> bool:
        self._wait(self._out, select.POLLIN)
        piece = os.read(self._out, 1 << 16)
        self._buffer += piece
        return bool(piece)

    def line(self) -> bytes:
        """One line of output without its end."""
        while (end := self._buffer.find(b"\n")) < 0:
            if not self._more():
                raise self.failed()
        found = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return found

    def exactly(self, size: int) -> bytes:
        """The next ``size`` bytes of output."""
        while len(self._buffer) < size:
            if not self._more():
                raise self.failed()
        found = bytes(self._buffer[:size])
        del self._buffer[:size]
        return found

    def communicate(self, data: bytes) -> tuple[int, bytes, bytes]:
        """Send ``data``, close stdin, and give back status, stdout, stderr."""
        if self._in < 0:
            raise self.failed()
        rest, errors = memoryview(data), bytearray()
        poller = select.poll()
        poller.register(self._out, select.POLLIN)
        poller.register(self._err, select.POLLIN)
        if rest:
            poller.register(self._in, select.POLLOUT)
        else:
            os.close(self._in)
            self._in = -1
        open_ends = 2
        while open_ends:
            ready = poller.poll(max(0.0, self._until - time.monotonic()) * 1000)
            if not ready:
                self.kill()
                raise GitError(tuple(self._argv[1:]), -1, "it took too long and was ended")
            for end, _ in ready:
                if end == self._in:
                    try:
                        rest = rest[os.write(end, rest[: 1 << 15]) :]
                    except BrokenPipeError:
                        rest = rest[:0]
                    if not rest:
                        poller.unregister(end)
                        os.close(end)
                        self._in = -1
                    continue
                piece = os.read(end, 1 << 16)
                (self._buffer if end == self._out else errors).extend(piece)
                if not piece:
                    poller.unregister(end)
                    open_ends -= 1
        return self._reap(), bytes(self._buffer), bytes(errors)

    def _reap(self) -> int:
        if self._status is None:
            _, status = os.waitpid(self.pid, 0)
            self._status = os.waitstatus_to_exitcode(status)
            self._close_ours()
        return self._status

    def failed(self) -> GitError:
        """The error of a child that stopped answering; the same one however often it is asked."""
        self._close_in()
        while self._err >= 0 and (piece := os.read(self._err, 1 << 16)):
            self._said += piece
        return GitError(tuple(self._argv[1:]), self._reap(), self._said.decode("utf-8", "replace"))

    def close(self) -> int:
        """Close its stdin and wait for its end (it has nothing more to say)."""
        self._close_in()
        return self._reap()

    def _close_in(self) -> None:
        if self._in >= 0:
            os.close(self._in)
            self._in = -1

    def kill(self) -> None:
        """End it now; only ever our own child."""
        if self._status is None:
            os.kill(self.pid, 9)
            self._reap()
