"""`neosian record`: one hook event from stdin, as the launcher's slow path does it; and install, uninstall."""

from __future__ import annotations

import argparse
import os
import select
import sys
import time

from neosian import hook, output, payload, scope
from neosian.clients import CLIENTS, adapter
from neosian.commands import record_install
from neosian.errors import NeosianError, UsageError
from neosian.landing import Landed
from neosian.spool import FLAG_SEPARATOR, Spool, header

_SILENCE = 10.0


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of recording; the sub-commands bring their own."""
    parser.add_argument("--client", choices=CLIENTS, default=CLIENTS[0], help="whose payload this is")
    parser.add_argument("--spool", metavar="DIR", help="another spool folder (absolute)")
    parser.add_argument("--agent", metavar="NAME", help="who acts, when it is not the client itself")
    parser.add_argument(
        "--scope", metavar="SCOPE", help="the scope of the turns, such as user:alice/proj:shop"
    )
    parser.add_argument(
        "--mount", metavar="/PATH=SCOPE[:ro]", action="append", help="a scope and where it is shown"
    )
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
    raw = read_all(sys.stdin.buffer.fileno())
    said = payload.loads(raw)
    program = adapter(args.client)
    name = str(said.get("hook_event_name", ""))
    verb = program.VERB.get(name, "note")
    spool = Spool(home, args.spool or "")
    head = header(args.client, verb, FLAG_SEPARATOR.join(flags(args)), _directory(), dict(os.environ))
    try:
        spooled = spool.put(head, raw)
    except OSError as error:
        raise NeosianError(
            f"The event is lost: {error.strerror} ({spool.folder}).", "neosian status"
        ) from None
    told, landed = "", []
    if verb == "start":
        from neosian.beginning import begin

        told = begin(home, args.client, spooled)
    elif verb in ("stop", "end"):
        landed = hook.land(home, spool=spool)
    if args.json:
        output.as_json(_report(name, str(said.get("session_id", "")), spooled, landed, told))
    elif told:
        sys.stdout.write(told)
    return 0


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
    words: list[str] = []
    for name in ("agent", "scope"):
        if getattr(args, name):
            words += [f"--{name}", getattr(args, name)]
    for mount in args.mount or ():
        words += ["--mount", mount]
    return words


def switched_off(home: str) -> bool:
    """Whether a person switched recording off, or this is a process that neosian itself started."""
    return bool(os.environ.get("NEOSIAN_OFF")) or os.path.exists(os.path.join(home, "off"))


def read_all(stream: int) -> bytes:
    """Everything on a stream; an error when nobody writes and nobody closes it."""
    pieces: list[bytes] = []
    until = time.monotonic() + _SILENCE
    while True:
        ready, _, _ = select.select([stream], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            raise NeosianError(
                "Nothing came on stdin; a hook's payload is expected there.", "neosian record --help"
            )
        piece = os.read(stream, 1 << 20)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
        until = time.monotonic() + _SILENCE


def _directory() -> str:
    """The working directory, also one that is gone by now."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return os.environ.get("PWD", "")
