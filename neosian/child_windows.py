"""Git children where there is neither `posix_spawn` nor `poll`: Windows. Written for, not verified.

The same face as `neosian.child.Child`, over `subprocess` and two reading threads.
"""

from __future__ import annotations

import queue
import subprocess
import threading
import time

from neosian.errors import GitError, NoGitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import IO


class Child:
    """A running git with pipes on stdin and stdout; its stderr is kept for the error."""

    def __init__(self, argv: list[str], environment: Mapping[str, str], timeout: float) -> None:
        self._argv = argv
        self._timeout = timeout
        self._until = time.monotonic() + timeout
        self._buffer = bytearray()
        self._errors = bytearray()
        self._pieces: queue.Queue[bytes] = queue.Queue()
        self._is_through = False  # all of its output was taken
        try:
            self._process = subprocess.Popen(
                argv,
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            raise NoGitError(argv[0], error.strerror) from None
        self.pid = self._process.pid
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._threads = [
            self._start(self._process.stdout, self._pieces.put),
            self._start(self._process.stderr, self._errors.extend),
        ]

    def _start(self, stream: IO[bytes], take: object) -> threading.Thread:
        thread = threading.Thread(target=_pump, args=(stream, take), daemon=True)
        thread.start()
        return thread

    def write(self, data: bytes) -> None:
        """Send a request; its answers get the whole time limit anew."""
        self._until = time.monotonic() + self._timeout
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except (OSError, ValueError):  # ValueError: its stdin is closed
            raise self.failed() from None

    def _more(self) -> bool:
        if self._is_through:
            return False
        try:
            piece = self._pieces.get(timeout=max(0.0, self._until - time.monotonic()))
        except queue.Empty:
            self.kill()
            raise GitError(tuple(self._argv[1:]), -1, "it took too long and was ended") from None
        self._buffer += piece
        self._is_through = not piece
        return bool(piece)

    def line(self) -> bytes:
        """One line of output without its end."""
        while (end := self._buffer.find(b"\n")) < 0:
            if not self._more():
                raise self.failed()
        return self.exactly(end + 1)[:-1]

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
        assert self._process.stdin is not None
        if self._process.stdin.closed:
            raise self.failed()
        sender = threading.Thread(target=self._send, args=(data,), daemon=True)
        self._threads.append(sender)
        sender.start()
        while self._more():
            pass
        return self.close(), bytes(self._buffer), bytes(self._errors)

    def _send(self, data: bytes) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(data)
            self._process.stdin.close()
        except OSError:
            return

    def failed(self) -> GitError:
        """The error of a child that stopped answering."""
        status = self.close()
        return GitError(tuple(self._argv[1:]), status, self._errors.decode("utf-8", "replace"))

    def close(self) -> int:
        """Close its stdin and wait for its end."""
        self._close_input()
        status = self._process.wait()
        for thread in self._threads:
            thread.join()
        self._close_input()
        return status

    def _close_input(self) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
        except OSError:
            return  # it went away with something unread; the pipe is closed all the same

    def kill(self) -> None:
        """End it now; only ever our own child."""
        self._process.kill()
        self.close()


def _pump(stream: IO[bytes], take: object) -> None:
    """Hand on what a stream gives, and an empty piece at its end."""
    assert callable(take)
    while piece := stream.read1(1 << 16):  # type: ignore[attr-defined]
        take(piece)
    stream.close()
    take(b"")
