"""`neosian record`: one hook event from stdin, as the launcher's slow path does it; and install, uninstall."""

from __future__ import annotations

import argparse
import mmap
import os
import select
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from neosian import clients, config, errands, output, payload, scope, switch
from neosian.clients import CLIENTS
from neosian.commands import record_install
from neosian.commands._scopes import add_mounts, mount_flags
from neosian.errors import NeosianError, UsageError
from neosian.events import FLAG_SEPARATOR, Spooled
from neosian.landing import Landed
from neosian.mounts import layout
from neosian.spool import Spool, header

_SILENCE = 10.0  # seconds without a byte after which nobody is thought to write any more
_PIECE = 1 << 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of recording; the sub-commands bring their own."""
    parser.add_argument("--client", choices=CLIENTS, default=CLIENTS[0], help="whose payload this is")
    parser.add_argument("--spool", metavar="DIR", help="another spool folder (absolute)")
    parser.add_argument("--agent", metavar="NAME", help="who acts, when it is not the client itself")
    add_mounts(parser)
    parser.add_argument("--json", action="store_true", help="print one object: what became of the event")
    parser.add_argument(
        "--explain", metavar="FILE|DIR", nargs="?", const="-",
        help="record nothing; tell where a payload (or a session in a directory) would go, and what would be dropped",
    )  # fmt: skip
    actions = parser.add_subparsers(dest="action", metavar="install | uninstall")
    record_install.configure_install(
        actions.add_parser("install", help="put the hooks into a client's settings")
    )
    record_install.configure_uninstall(actions.add_parser("uninstall", help="take the hooks out again"))


def run(args: argparse.Namespace) -> int:
    """Record what stands on stdin, or do what was named."""
    if args.action == "install":
        return record_install.run_install(args)
    if args.action == "uninstall":
        return record_install.run_uninstall(args)
    home = scope.home(args.root)
    if args.explain:
        from neosian.explain import explain

        return explain(home, args.client, args.explain, flags(args), as_json=args.json)
    if args.spool and not os.path.isabs(args.spool):
        raise UsageError(f"--spool must be absolute, not {args.spool}.", "neosian record --help")
    return record(home, args)


def record(home: str, args: argparse.Namespace) -> int:
    """Spool one payload, then answer or land as its event asks."""
    os.umask(0o077)
    if switched_off(home):
        return 0
    if args.scope or args.mount:
        layout(
            home, _directory(), config.load(home)[0], mount_flags(args)
        )  # refuses what is no scope or mount
    spool = Spool(home, args.spool or "")
    with _lost(spool):
        _check_owner(home)
        spool.make()
    with received(spool.tmp) as raw:
        said = payload.loads(raw)
        spooled_as = Spooled(name="", client=args.client, at=0.0)
        event = clients.read(said, spooled_as)
        verb = clients.adapter(event.client).VERB.get(event.name, "note")
        head = header(args.client, verb, FLAG_SEPARATOR.join(flags(args)), _directory(), dict(os.environ))
        with _lost(spool):
            spooled = spool.put(head, raw)
    told, landed = _told(home, verb, spooled, spool), []
    failed: NeosianError | None = None
    if verb in ("stop", "end"):
        try:
            if not args.spool and spool.backlog() > errands.BIG:
                errands.detach("land", home)  # as the launcher's stop does
            else:
                landed = errands.land(home, spool=spool)
        except NeosianError as error:
            failed = error
    if args.json:
        output.as_json(_report(event.name, event.session, spooled, landed, told))
    elif told:
        sys.stdout.write(told)
    if failed is not None:
        raise failed
    return 0


def _told(home: str, verb: str, spooled: str, spool: Spool) -> str:
    """What the session is told, where the event asks for that."""
    if verb == "start":
        from neosian.beginning import begin

        return begin(home, spooled, spool=spool)
    if verb == "prompt":
        from neosian.reminding import remind

        return remind(home, spooled, spool=spool)
    return ""


@contextmanager
def _lost(spool: Spool) -> Iterator[None]:
    """Have an error of the system say that the event is lost."""
    try:
        yield
    except OSError as error:
        raise NeosianError(
            f"The event is lost: {error.strerror} ({spool.folder}).", "neosian status"
        ) from None


def _check_owner(home: str) -> None:
    """Refuse another user's home: files of ours there could be neither read nor landed by that user."""
    if hasattr(os, "getuid") and os.path.isdir(home) and os.stat(home).st_uid != os.getuid():
        raise NeosianError(f"The event is lost: {home} belongs to another user.", "neosian status")


def _report(
    event: str, conversation: str, spooled: str, landed: list[Landed], told: str
) -> dict[str, object]:
    mine = [each for each in landed if each.span.session == conversation]
    last = mine[-1] if mine else None
    report: dict[str, object] = {
        "event": event,
        "conversation": conversation,
        "turn": last.span.turn if last else None,
        "spooled": spooled,
        "landed": last.commit if last else None,
    }
    return {**report, "context": told} if told else report


def flags(args: argparse.Namespace) -> list[str]:
    """The words that a hook line would say after its verb."""
    return [*(["--agent", args.agent] if args.agent else []), *mount_flags(args)]


def switched_off(home: str) -> bool:
    """Whether a person switched recording off here, or this is a process that neosian itself started."""
    folder = os.environ.get("CLAUDE_PROJECT_DIR") or _directory()
    if os.environ.get("NEOSIAN_OFF") or switch.is_off(home) or switch.is_project_off(home, folder):
        return True
    return config.load(home)[0].record_capture == "marked" and not _marked(folder)


def _marked(folder: str) -> bool:
    """Whether a project's folder, or one above it, holds the file that has it recorded."""
    while folder and not os.path.exists(os.path.join(folder, ".neosian-record")):
        folder = "" if folder == os.path.dirname(folder) else os.path.dirname(folder)
    return bool(folder)


@contextmanager
def received(folder: str, stream: int = 0, silence: float = _SILENCE) -> Iterator[bytes | mmap.mmap]:
    """Everything on a stream, by way of a nameless file in ``folder``: memory does not follow its size.

    An error when nobody writes for ``silence`` seconds and nobody closes it.
    """
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        _copy(stream, file.fileno(), silence)
        size = os.fstat(file.fileno()).st_size
        if not size:
            yield b""
            return
        with mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) as held:
            yield held


def _copy(stream: int, target: int, silence: float) -> None:
    came = 0
    while True:
        try:
            waits = stat.S_ISREG(os.fstat(stream).st_mode) or select.select([stream], [], [], silence)[0]
            piece = os.read(stream, _PIECE) if waits else None
        except OSError as error:
            raise NeosianError(f"stdin cannot be read: {error.strerror}.", "neosian record --help") from None
        if piece is None:
            said = f"stdin was not closed after {came} bytes" if came else "Nothing came on stdin"
            raise NeosianError(f"{said}; one hook payload is expected there.", "neosian record --help")
        if not piece:
            return
        came += len(piece)
        try:
            while piece:
                piece = piece[os.write(target, piece) :]
        except OSError as error:
            raise NeosianError(f"The event is lost: {error.strerror}.", "neosian status") from None


def _directory() -> str:
    """The working directory, also one that is gone by now."""
    try:
        return os.getcwd()
    except OSError:
        return os.environ.get("PWD", "")
