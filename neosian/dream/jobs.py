"""The dream as a job that runs by itself: which command, in which environment, how often, and how that is written down.

A timer or cron gives a job next to no environment. So one line of `sh` carries all that it needs, the same for systemd,
cron and whatever else may start it.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha1
from typing import NamedTuple

from neosian import errors, scope
from neosian.errors import NeosianError, UsageError

NIGHTLY = 86_400
"""Seconds between two dreams where nothing else is said."""
UNIT = "neosian-dream"
KEYS = "dream.env"
"""A file of the home, made by the person: `NAME=value` lines for the job's environment, such as a key."""

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_UNITS = {"m": _MINUTE, "h": _HOUR, "d": _DAY}
_LEAST, _MOST = 5 * _MINUTE, 7 * _DAY
_EVEN = (
    *(n * _MINUTE for n in (5, 6, 10, 12, 15, 20, 30)), *(n * _HOUR for n in (1, 2, 3, 4, 6, 8, 12)), _DAY, 7 * _DAY,
)  # fmt: skip
"""The intervals that come out even in an hour, a day or a week: a calendar can say them."""
_NIGHT = 3  # the hour of a nightly dream: no clock is put forward or back over it
_WEEKDAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")
_FOLDERS = ("/usr/local/bin", "/usr/bin", "/bin")
_FOUND = ("claude", "node")
"""What an engine may need beside git; an older `claude` is a script of `node`."""
_UNSAID = re.compile("[\x00-\x1f\x7f\ud800-\udfff]|\\\\%")
_START = 600  # seconds until the first run of an interval that no calendar can say
_LONGEST_DELAY = 3_600
_CRON_MOST = 990
"""Characters of a command; cron refuses more than 998."""


@dataclass(frozen=True)
class Job:
    """What is to be run: the words of a command and what it needs of an environment. ``name`` tells homes apart."""

    name: str
    home: str
    words: tuple[str, ...]
    environment: Mapping[str, str]

    @property
    def keys(self) -> str:
        return os.path.join(self.home, KEYS)


class Times(NamedTuple):
    """When a clock is to start it. ``weekday`` is 0 for Sunday, None for every day."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    weekday: int | None = None


# how often


def every(text: str) -> int:
    """The seconds of an interval such as `30m`, `3h`, `1d`; UsageError for any other text."""
    found = re.fullmatch(r"([0-9]{1,6})([mhd])", text.strip())
    if found is None:
        raise UsageError(
            f"{text!r} is no interval; those look like 30m, 3h or 1d.", "neosian dream schedule --every 3h"
        )
    seconds = int(found[1]) * _UNITS[found[2]]
    if not _LEAST <= seconds <= _MOST:
        raise UsageError(
            f"Every {text} is too {'often' if seconds < _LEAST else 'seldom'}; from 5m to 7d is possible.",
            f"neosian dream schedule --every {'5m' if seconds < _LEAST else '7d'}",
        )
    return seconds


def short(seconds: int) -> str:
    """An interval as `every` reads it, in the largest unit that says it."""
    unit = next(unit for unit in "dhm" if seconds % _UNITS[unit] == 0)
    return f"{seconds // _UNITS[unit]}{unit}"


def told(seconds: int) -> str:
    """An interval for a person: `nightly`, `every 3h`."""
    return "nightly" if seconds == NIGHTLY else f"every {short(seconds)}"


def nearest(seconds: int) -> tuple[int, ...]:
    """The next shorter and the next longer interval that a calendar can say."""
    return (*[each for each in _EVEN if each < seconds][-1:], *[each for each in _EVEN if each > seconds][:1])


def times(seconds: int, salt: int) -> Times | None:
    """When a clock starts a job of this interval, None where it does not come out even.

    ``salt`` moves it, so that not all machines ask a server at the same minute.
    """
    if seconds not in _EVEN:
        return None
    if seconds < _HOUR:
        step = seconds // _MINUTE
        return Times(tuple(range(salt % step, 60, step)), tuple(range(24)))
    minutes, rest = (salt % 60,), salt // 60
    if seconds < _DAY:
        step = seconds // _HOUR
        return Times(minutes, tuple(range(rest % step, 24, step)))
    return Times(minutes, (_NIGHT,), rest % 7 if seconds == 7 * _DAY else None)


def next_start(when: Times, now: float) -> float | None:
    """The next time a clock starts it, in seconds since 1970; None where it never does."""
    today = time.localtime(now)
    for ahead in range(9):
        for hour in sorted(when.hours):
            for minute in sorted(when.minutes):
                at = time.mktime(
                    (today.tm_year, today.tm_mon, today.tm_mday + ahead, hour, minute, 0, 0, 0, -1)
                )
                weekday = (time.localtime(at).tm_wday + 1) % 7
                if at > now and when.weekday in (None, weekday):
                    return at
    return None


# what is run


def job(home: str, environ: Mapping[str, str]) -> Job:
    """The job of a home, for this installation. Raises NeosianError where there is no git, or a path cannot be told."""
    git = shutil.which(environ.get("NEOSIAN_GIT") or "git", path=environ.get("PATH"))
    if not git:
        raise errors.NoGitError(environ.get("NEOSIAN_GIT") or "git", "it is not on the PATH")
    environment = {"PATH": _path(os.path.abspath(git), environ)}
    if environ.get("NEOSIAN_GIT"):
        environment["NEOSIAN_GIT"] = os.path.abspath(git)
    if home != _default_home():
        environment["NEOSIAN_HOME"] = home
    # -P: a file of the person's in the folder where the job starts must not stand in for a module.
    words = (
        os.path.abspath(sys.executable),
        "-P",
        "-X",
        "utf8",
        "-m",
        "neosian",
        "dream",
        "--all",
        "--quiet",
    )
    for said in (home, words[0], *environment.values()):
        if _UNSAID.search(said):
            raise NeosianError(
                f"{said!r} holds what cannot be written into a timer or a crontab; nothing was written.",
                "use a folder without line ends, control characters or broken letters in its name",
            )
    return Job(name(home), home, words, environment)


def name(home: str) -> str:
    """What the job of a home is called; only that of the default home has a name without digits."""
    if home == _default_home():
        return UNIT
    return f"{UNIT}-{sha1(home.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"


def salt(home: str) -> int:
    """A number of this machine and this home."""
    return int(sha1(f"{scope.host()}\0{home}".encode("utf-8", "surrogateescape")).hexdigest()[:8], 16)


def line(job: Job) -> str:
    """The job as one command of any shell: `sh` reads the person's file of keys, then runs it with low priority."""
    keys = shlex.quote(job.keys)
    settings = [f"{name}={shlex.quote(value)}" for name, value in job.environment.items()]
    parts = ["set -a", *settings, f"[ ! -r {keys} ] || . {keys}", f"exec nice -n 19 {shlex.join(job.words)}"]
    return "; ".join(parts)


def command(job: Job) -> str:
    """`line` with its shell in front, to be pasted wherever a command may stand."""
    return f"/bin/sh -c {shlex.quote(line(job))}"


def _path(git: str, environ: Mapping[str, str]) -> str:
    """The PATH of a job: where this shell finds git and what engines need, then what every system has."""
    search = os.pathsep.join(
        folder for folder in environ.get("PATH", "").split(os.pathsep) if os.path.isabs(folder)
    )
    found = [git, *(path for word in _FOUND if (path := shutil.which(word, path=search)))]
    return os.pathsep.join(dict.fromkeys((*map(os.path.dirname, found), *_FOLDERS)))


def _default_home() -> str:
    """The home of a job that is told of none: its HOME is the one of the user's record, whatever this shell says."""
    try:
        import pwd

        folder = pwd.getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError):
        folder = os.path.expanduser("~")
    return os.path.abspath(os.path.join(folder, ".neosian"))


# as cron has it


def cron_line(job: Job, seconds: int) -> str:
    """The job as a line of a crontab, without its end. It ends with a mark by which it is found again.

    UsageError for an interval that cron cannot say, NeosianError for a line that is too long for it.
    """
    when = times(seconds, salt(job.home))
    if when is None:
        near = nearest(seconds)
        raise UsageError(
            f"cron cannot start something {told(seconds)} evenly, only {' or '.join(map(short, near))};"
            " nothing was written.",
            f"neosian dream schedule --every {short(near[0])}",
        )
    said = f"{command(job)} # {mark(job.name, seconds)}".replace("%", "\\%")
    if len(said.encode()) > _CRON_MOST:
        raise NeosianError(
            f"The command is too long for cron ({len(said)} characters); nothing was written.",
            "use a home with a shorter path",
        )
    weekday = "*" if when.weekday is None else str(when.weekday)
    return f"{_listed(when.minutes, 60)} {_listed(when.hours, 24)} * * {weekday} {said}"


def mark(name: str, seconds: int) -> str:
    """What ends a line of a crontab that is ours."""
    return f"{name}: {told(seconds)}"


def marked(text: str, name: str) -> re.Match[str] | None:
    """A line of a crontab that is the job of that name, and live; its groups: the five fields, command, interval."""
    fields = r"(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)"
    return re.fullmatch(rf"\s*(?!#){fields}\s+(.*) # {re.escape(name)}: (nightly|every \w+)\s*", text)


def cron_times(fields: Iterable[str]) -> Times | None:
    """When cron starts a line with these five fields; None where they are not as we write them."""
    minutes, hours, day, month, weekday = fields
    try:
        found = Times(
            tuple(map(int, minutes.split(","))),
            tuple(range(24)) if hours == "*" else tuple(map(int, hours.split(","))),
            None if weekday == "*" else int(weekday) % 7,
        )
    except ValueError:
        return None
    in_bounds = all(0 <= each < 60 for each in found.minutes) and all(0 <= each < 24 for each in found.hours)
    return found if in_bounds and day == month == "*" else None


def _listed(numbers: tuple[int, ...], most: int) -> str:
    return "*" if len(numbers) == most else ",".join(map(str, numbers))


# as systemd has it

OURS = "# Written by neosian dream schedule"
"""How a unit of ours begins, of this release or another."""
_WRITTEN = f"{OURS}. To take it back: neosian dream unschedule --write\n"


def service(job: Job) -> str:
    """The unit that runs the job once."""
    return (
        f"{_WRITTEN}[Unit]\nDescription=Turn what happened into notes ({_unit_text(job.home)})\n\n"
        f"[Service]\nType=oneshot\nExecStart=/bin/sh -c {unit_word(line(job))}\n"
    )


def timer(job: Job, seconds: int) -> str:
    """The unit that starts it. What a calendar cannot say is counted from the last run; both make up for a time off."""
    when = times(seconds, salt(job.home))
    delay = f"RandomizedDelaySec={min(seconds // 4, _LONGEST_DELAY)}\n"
    if when is None:
        starts = f"OnActiveSec={_START}\nOnUnitActiveSec={seconds}\n{delay}"
    else:
        starts = f"OnCalendar={_calendar(when)}\n{delay}Persistent=true\n"
    return (
        f"{_WRITTEN}[Unit]\nDescription=neosian dream: {told(seconds)}\n\n[Timer]\n{starts}\n"
        "[Install]\nWantedBy=timers.target\n"
    )


def timer_told(text: str) -> tuple[str, Times | None]:
    """The interval that a timer of ours names, and when it starts; None where its calendar is not as we write it."""
    named = re.search(r"^Description=neosian dream: (.+)$", text, re.M)
    found = re.search(r"^OnCalendar=(?:(\w{3}) )?\*-\*-\* (\S+):(\S+):00$", text, re.M)
    when = None
    if found and found[1] in (None, *_WEEKDAYS):
        weekday = "*" if found[1] is None else str(_WEEKDAYS.index(found[1]))
        when = cron_times((found[3], found[2], "*", "*", weekday))
    return named[1] if named else "", when


def unit_word(text: str) -> str:
    """A text as one word of a unit's command."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{_unit_text(quoted).replace("$", "$$")}"'


def _unit_text(text: str) -> str:
    return text.replace("%", "%%")


def _calendar(when: Times) -> str:
    day = "" if when.weekday is None else f"{_WEEKDAYS[when.weekday]} "
    return f"{day}*-*-* {_listed(when.hours, 24)}:{_listed(when.minutes, 60)}:00"


# what was written, read again


def cron_program(command: str) -> str:
    """The Python that the command of a line of ours starts, "" where it cannot be told."""
    return _program(command.replace("\\%", "%"))


def unit_program(text: str) -> str:
    """The same for a service of ours."""
    found = re.search(r"^ExecStart=(.*)$", text, re.M)
    return _program(found[1].replace("%%", "%").replace("$$", "$")) if found else ""


def _program(command: str) -> str:
    """The word before `-P` in what the shell is told, which is the third word of its command."""
    try:
        words = shlex.split(shlex.split(command)[2])
        return words[words.index("-P") - 1]
    except (ValueError, IndexError):
        return ""
