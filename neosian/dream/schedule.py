"""The dream by itself: a systemd timer of the user, or a line of their crontab; planned, put in place and taken back.

Whoever starts jobs on this machine is a `Keeper`. systemd is asked where it answers this user, else cron. What stands
there is read from files and from `crontab -l` alone, so that it can be told where neither of them answers.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from neosian import files, turns
from neosian.dream import jobs
from neosian.dream.jobs import Job
from neosian.errors import NeosianError

CRONTAB = "crontab"
"""Where a line of cron stands: the user's crontab has no path that concerns anybody."""

_DEADLINE = 20.0  # seconds for an answer of systemctl or crontab
_UNIT_MODE = 0o644
_NO_CRONTAB = re.compile(rb"no crontab|No such file", re.I)
_LOOK = {"crontab": "crontab -l", "systemctl": "systemctl --user status"}

Environ = Mapping[str, str]
Texts = dict[str, str]
"""What is written where: a file's text by its path, a line by `CRONTAB`."""
Command = tuple[str, ...]


class Keeper(Protocol):
    """Who starts a job when its time has come."""

    by: str

    def why_not(self) -> str:
        """Why this one cannot be asked for this user, "" where it can."""

    def texts(self, job: Job, seconds: int) -> Texts:
        """What has to stand where. Raises NeosianError where it cannot."""

    def standing(self, job: Job) -> Texts:
        """What of the job stands there now, as far as it is ours."""

    def is_on(self, job: Job) -> bool:
        """Whether what stands there is started, too."""

    def commands(self, job: Job, *, puts: bool) -> tuple[Command, ...]:
        """What is run once the texts are in place, or before they are taken away."""

    def put(self, job: Job, texts: Texts) -> None:
        """Have it started from now on: all of it, or an error and everything as it was."""

    def take(self, job: Job) -> list[str]:
        """Have it started no more, and leave nothing of ours; what a person should know of it."""


@dataclass(frozen=True)
class Plan:
    """What is to be done. ``seconds`` is None where a schedule is taken back.

    ``texts`` are to be in place then (with a plan to take back: are now); ``before`` is what stands there, ``others``
    are further keepers that have an earlier schedule.
    """

    keeper: Keeper
    job: Job
    seconds: int | None
    texts: Texts
    before: Texts
    changed: bool
    others: tuple[Keeper, ...] = ()

    @property
    def commands(self) -> tuple[Command, ...]:
        return self.keeper.commands(self.job, puts=self.seconds is not None)

    @property
    def replaces(self) -> bool:
        """Whether an earlier schedule goes for this one."""
        return self.seconds is not None and self.changed and bool(self.before or self.others)

    def json(self) -> dict[str, Any]:
        return {
            "by": self.keeper.by, "every": None if self.seconds is None else jobs.short(self.seconds),
            "home": self.job.home, "texts": self.texts, "commands": [list(each) for each in self.commands],
            "changed": self.changed, "replaces": self.replaces,
        }  # fmt: skip


@dataclass(frozen=True)
class Installed:
    """A schedule that stands: by whom, how often (in words), where, when next (seconds since 1970, None where nobody
    can tell without asking), and the Python that it starts ("" where it cannot be told)."""

    by: str
    every: str
    where: str
    next: float | None
    program: str

    def json(self) -> dict[str, Any]:
        return {
            "by": self.by, "every": self.every, "where": self.where,
            "next": None if self.next is None else turns.stamp(self.next),
        }  # fmt: skip


def plan_schedule(home: str, seconds: int, environ: Environ) -> Plan:
    """What would have the dream run every so many seconds.

    Raises NeosianError where nothing on this machine can start it, or the command does not run in a job's environment.
    """
    job = jobs.job(home, environ)
    _try_out(job)
    keepers = _keepers(environ)
    keeper = next((each for each in keepers if not each.why_not()), None)
    if keeper is None:
        raise NeosianError(
            f"Nothing was written: {'; '.join(each.why_not() for each in keepers)}.",
            f"have something else run this: {jobs.command(job)}",
        )
    texts, before = keeper.texts(job, seconds), keeper.standing(job)
    others = tuple(each for each in keepers if each is not keeper and _stands(each, job))
    changed = texts != before or not keeper.is_on(job) or bool(others)
    return Plan(keeper, job, seconds, texts, before, changed, others)


def plan_unschedule(home: str, environ: Environ) -> Plan | None:
    """What would take the schedule of a home back, None where there is none."""
    job = Job(jobs.name(home), home, (), {})
    keepers = _keepers(environ)
    found = [each for each in keepers if _stands(each, job)]
    if not found:
        for each in keepers:
            each.standing(job)  # who could not be read says so now: there may be one
        return None
    texts = found[0].standing(job)
    return Plan(found[0], job, None, texts, texts, True, tuple(found[1:]))


def carry_out(plan: Plan) -> list[str]:
    """Do it; what a person should know beside that."""
    if not plan.changed:
        return []
    said: list[str] = []
    if plan.seconds is None:
        said += plan.keeper.take(plan.job)
    else:
        plan.keeper.put(plan.job, plan.texts)
    for other in plan.others:
        said += other.take(plan.job)
    return said


def installed(home: str, environ: Environ, now: float) -> Installed | None:
    """The schedule of a home that stands, None where none does, or nobody may read it. Starts at most `crontab -l`."""
    try:
        return _systemd_has(home, environ, now) or _cron_has(home, environ, now)
    except (NeosianError, OSError, ValueError, OverflowError):
        return None


def _systemd_has(home: str, environ: Environ, now: float) -> Installed | None:
    keeper, job = Systemd(environ), Job(jobs.name(home), home, (), {})
    texts = keeper.standing(job)
    if not texts or not keeper.is_on(job):
        return None
    told, when = jobs.timer_told(texts.get(keeper.timer(job), ""))
    following = jobs.next_start(when, now) if when else None
    program = jobs.unit_program(texts.get(keeper.service(job), ""))
    return Installed(keeper.by, told, keeper.timer(job), following, program)


def _cron_has(home: str, environ: Environ, now: float) -> Installed | None:
    keeper, name = Cron(environ), jobs.name(home)
    for text in keeper.standing(Job(name, home, (), {})).get(CRONTAB, "").splitlines():
        if found := jobs.marked(text, name):
            *fields, command, told = found.groups()
            when = jobs.cron_times(fields)
            following = jobs.next_start(when, now) if when else None
            return Installed(keeper.by, told, CRONTAB, following, jobs.cron_program(command))
    return None


def _keepers(environ: Environ) -> tuple[Keeper, ...]:
    return (Systemd(environ), Cron(environ))


def _stands(keeper: Keeper, job: Job) -> bool:
    """Whether something of ours stands there; what cannot be read counts as nothing."""
    try:
        return bool(keeper.standing(job))
    except NeosianError:
        return False


def _try_out(job: Job) -> None:
    """Start the program as the job will: a Python that finds neosian by this shell's variables alone fails there."""
    asked = [*job.words[: job.words.index("dream")], "--version"]
    try:
        done = subprocess.run(
            asked, env=dict(job.environment), cwd="/", capture_output=True, timeout=_DEADLINE, check=False
        )
        said = "" if done.returncode == 0 else _last(done.stderr) or f"it ended with {done.returncode}"
    except (OSError, subprocess.TimeoutExpired) as error:
        said = str(error)
    if said:
        raise NeosianError(
            f"{shlex.join(asked)} does not run without this shell's variables: {said}. Nothing was written.",
            "install neosian with pipx, or into a virtual environment",
        )


class Systemd:
    """The user's own systemd: a service, and a timer that starts it."""

    by = "systemd"

    def __init__(self, environ: Environ) -> None:
        self._environ = environ
        self.folder = os.path.join(_base(environ, "XDG_CONFIG_HOME", ".config"), "systemd", "user")

    def service(self, job: Job) -> str:
        return os.path.join(self.folder, f"{job.name}.service")

    def timer(self, job: Job) -> str:
        return os.path.join(self.folder, f"{job.name}.timer")

    def why_not(self) -> str:
        if not shutil.which("systemctl", path=self._environ.get("PATH")):
            return "there is no systemctl on the PATH"
        try:
            _run(self._environ, "systemctl", "--user", "show-environment")
        except NeosianError as error:
            return f"systemd does not answer this user ({str(error).rstrip('.')})"
        return ""

    def texts(self, job: Job, seconds: int) -> Texts:
        for path in (self.service(job), self.timer(job)):
            if self._read(path) is not None and path not in self.standing(job):
                raise NeosianError(
                    f"{path} was not written by neosian, so it is left alone; nothing was written.",
                    f"mv {shlex.quote(path)} {shlex.quote(path + '.mine')}",
                )
        return {self.service(job): jobs.service(job), self.timer(job): jobs.timer(job, seconds)}

    def standing(self, job: Job) -> Texts:
        found = {path: self._read(path) for path in (self.service(job), self.timer(job))}
        return {path: text for path, text in found.items() if text and text.startswith(jobs.OURS)}

    def is_on(self, job: Job) -> bool:
        return os.path.lexists(self._link(job))

    def commands(self, job: Job, *, puts: bool) -> tuple[Command, ...]:
        timer, ask = f"{job.name}.timer", ("systemctl", "--user")
        if puts:
            return (*ask, "daemon-reload"), (*ask, "enable", timer), (*ask, "restart", timer)
        return (*ask, "disable", "--now", timer), (*ask, "daemon-reload")

    def put(self, job: Job, texts: Texts) -> None:
        before = {path: self._read(path) for path in texts}
        was_on = self.is_on(job)
        try:
            for path, text in texts.items():
                _write(path, text)
            for command in self.commands(job, puts=True):
                _run(self._environ, *command)
        except NeosianError as error:
            self._put_back(job, before, was_on)
            raise NeosianError(f"{error} All is as it was.", error.hint) from None

    def take(self, job: Job) -> list[str]:
        said = []
        disable, reload = self.commands(job, puts=False)
        try:
            _run(self._environ, *disable)
        except NeosianError as error:
            said.append(
                f"systemd could not be told: {error} A timer that it has loaded runs until your next login."
            )
        for path in (*self.standing(job), self._link(job), self._stamp(job)):
            _remove(path)
        self._quietly(reload)
        return said

    def lingers(self) -> bool:
        """Whether the user's systemd goes on when they are not logged in; True where nobody knows."""
        try:
            said = _run(self._environ, "loginctl", "show-user", str(os.getuid()), "--property=Linger")
        except NeosianError:
            return True
        return said.strip() != b"Linger=no"

    def _put_back(self, job: Job, before: Mapping[str, str | None], was_on: bool) -> None:
        """Have all as it was, as far as that is possible now."""
        if not was_on:
            self._quietly(self.commands(job, puts=False)[0])
        for path, text in before.items():
            try:
                _remove(path) if text is None else _write(path, text)
            except NeosianError:
                continue  # what could not be written is as it was
        for command in self.commands(job, puts=True) if was_on else self.commands(job, puts=False)[1:]:
            self._quietly(command)

    def _quietly(self, command: Command) -> None:
        try:
            _run(self._environ, *command)
        except NeosianError:
            pass

    def _link(self, job: Job) -> str:
        """What `systemctl enable` makes."""
        return os.path.join(self.folder, "timers.target.wants", f"{job.name}.timer")

    def _stamp(self, job: Job) -> str:
        """Where systemd keeps when a timer ran last."""
        data = _base(self._environ, "XDG_DATA_HOME", ".local/share")
        return os.path.join(data, "systemd", "timers", f"stamp-{job.name}.timer")

    def _read(self, path: str) -> str | None:
        try:
            found = files.read(path)
        except OSError as error:
            raise NeosianError(f"{path} cannot be read: {error.strerror}.") from None
        return None if found is None else found.decode("utf-8", "replace")


class Cron:
    """The user's crontab, read and written by its own program; all lines but ours stay as they are, to the byte."""

    by = "cron"

    def __init__(self, environ: Environ) -> None:
        self._environ = environ

    def why_not(self) -> str:
        found = shutil.which("crontab", path=self._environ.get("PATH"))
        return "" if found else "there is no crontab on the PATH"

    def texts(self, job: Job, seconds: int) -> Texts:
        return {CRONTAB: jobs.cron_line(job, seconds)}

    def standing(self, job: Job) -> Texts:
        if self.why_not():
            return {}
        ours = [
            line.decode("utf-8", "replace").rstrip("\r\n") for line in self._read() if _is_ours(line, job)
        ]
        return {CRONTAB: "\n".join(ours)} if ours else {}

    def is_on(self, job: Job) -> bool:
        return bool(self.standing(job))

    def commands(self, job: Job, *, puts: bool) -> tuple[Command, ...]:
        return (("crontab", "-"),)

    def put(self, job: Job, texts: Texts) -> None:
        """The line stands where an earlier one stood (a variable counts for the lines below it), else at the end."""
        line = f"{texts[CRONTAB]}\n".encode()
        rows = self._read()
        at = next((n for n, row in enumerate(rows) if _is_ours(row, job)), len(rows))
        rest = [row for row in rows if not _is_ours(row, job)]
        self._write([*rest[:at], line, *rest[at:]])
        if _stands(self, job):
            return
        raise NeosianError(
            "crontab took the new line, and does not show it now; nothing will be started.", "crontab -l"
        )

    def take(self, job: Job) -> list[str]:
        self._write([row for row in self._read() if not _is_ours(row, job)])
        return []

    def _read(self) -> list[bytes]:
        """The lines with their ends. Raises NeosianError where it is not sure what stands there."""
        done = _ended(self._environ, "crontab", "-l")
        if done.returncode == 0:
            return re.findall(rb"[^\n]*\n|[^\n]+", done.stdout)
        if _NO_CRONTAB.search(done.stderr):
            return []
        said = _last(done.stderr) or f"it ended with {done.returncode}"
        raise NeosianError(f"crontab -l failed: {said}. Nothing was changed.", "crontab -l")

    def _write(self, rows: list[bytes]) -> None:
        # cron refuses a crontab without a last line end.
        ended = [row if row.endswith(b"\n") else row + b"\n" for row in rows]
        try:
            _run(self._environ, "crontab", "-" if ended else "-r", given=b"".join(ended))
        except NeosianError as error:
            raise NeosianError(f"{error} Your crontab is as it was.", error.hint) from None


def _is_ours(row: bytes, job: Job) -> bool:
    return jobs.marked(row.decode("utf-8", "replace").rstrip("\r\n"), job.name) is not None


def _base(environ: Environ, name: str, otherwise: str) -> str:
    """A folder of the XDG rules: a relative one does not count."""
    said = environ.get(name, "")
    return said if os.path.isabs(said) else os.path.join(os.path.expanduser("~"), otherwise)


def _run(environ: Environ, *command: str, given: bytes = b"") -> bytes:
    """What a program prints that must succeed."""
    done = _ended(environ, *command, given=given)
    if done.returncode:
        said = _last(done.stderr) or _last(done.stdout) or f"it ended with {done.returncode}"
        raise NeosianError(f"{shlex.join(command)} failed: {said.rstrip('.')}.", _LOOK.get(command[0], ""))
    return done.stdout


def _ended(environ: Environ, *command: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """A program that has ended, however; its words are read, so they are asked for in English."""
    path = shutil.which(command[0], path=environ.get("PATH")) or command[0]
    try:
        return subprocess.run(
            [path, *command[1:]], env={**environ, "LC_ALL": "C"}, input=given, capture_output=True,
            timeout=_DEADLINE, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise NeosianError(
            f"{shlex.join(command)} took too long and was ended.", _LOOK.get(command[0], "")
        ) from None
    except OSError as error:
        raise NeosianError(f"{path} cannot be run: {error.strerror}.") from None


def _last(said: bytes) -> str:
    """The last line of what a program said."""
    return next(reversed(said.decode("utf-8", "replace").strip().splitlines()), "").strip()


def _write(path: str, text: str) -> None:
    try:
        files.make_dir(os.path.dirname(path))
        files.write(path, text.encode(), mode=_UNIT_MODE)
    except OSError as error:
        raise NeosianError(
            f"{path} cannot be written: {error.strerror}.", f"ls -ld {shlex.quote(os.path.dirname(path))}"
        ) from None


def _remove(path: str) -> None:
    try:
        files.remove(path)
    except OSError as error:
        raise NeosianError(
            f"{path} cannot be removed: {error.strerror}.", f"rm {shlex.quote(path)}"
        ) from None
