"""The dream by itself: what is written where, that the very command works as a job, and that it goes again.

systemctl, loginctl and crontab are small programs here that keep what the real ones keep.
"""

from __future__ import annotations

import itertools
import json
import os
import pwd
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from neosian import cli, health, scope
from neosian.dream import jobs, schedule
from neosian.errors import NeosianError, UsageError
from tests.factories import Home, without_rights

CRONTAB = """\
#!/bin/sh
tab={folder}/tab
[ ! -e {folder}/refuses ] || {{ /bin/cat {folder}/refuses >&2; exit 1; }}
case "$1" in
-l) [ -f "$tab" ] || {{ echo "no crontab for ada" >&2; exit 1; }}; exec /bin/cat "$tab" ;;
-r) exec /bin/rm "$tab" ;;
-) /bin/cat > "$tab.new"
   [ -z "$(/usr/bin/tail -c 1 "$tab.new")" ] || {{ echo "missing newline before EOF, can't install." >&2; exit 1; }}
   exec /bin/mv "$tab.new" "$tab" ;;
esac
"""
SYSTEMCTL = """\
#!/bin/sh
units="$XDG_CONFIG_HOME/systemd/user"
[ -e {folder}/bus ] || {{ echo "Failed to connect to bus: No medium found" >&2; exit 1; }}
echo "$*" >> {folder}/asked
[ ! -e {folder}/"$2-fails" ] || {{ echo "Failed to $2 unit: Access denied" >&2; exit 1; }}
case "$2" in
enable) /bin/mkdir -p "$units/timers.target.wants" && /bin/ln -sf "$units/$3" "$units/timers.target.wants/$3" ;;
disable) /bin/rm -f "$units/timers.target.wants/$4" ;;
esac
"""
LOGINCTL = "#!/bin/sh\n[ ! -e {folder}/leaves ] || echo Linger=no\n"
PROGRAMS = {"crontab": CRONTAB, "systemctl": SYSTEMCTL, "loginctl": LOGINCTL}
ODD = """odd home's "50%" $HOME `x` [é] \\ 家"""
NOW = 1_795_982_400.0  # 2026-11-30
Said = pytest.CaptureFixture[str]


class Machine:
    """A machine with git, and with those programs that a test gives it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir(parents=True)
        found = shutil.which("git")
        assert found
        (self.bin / "git").symlink_to(found)
        monkeypatch.setenv("PATH", str(self.bin))

    def has(self, *names: str) -> None:
        for name in names:
            self.program(name, PROGRAMS[name].format(folder=shlex.quote(str(self.folder))))
        if "systemctl" in names:
            (self.folder / "bus").touch()

    def program(self, name: str, text: str) -> None:
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def fails(self, verb: str) -> None:
        (self.folder / f"{verb}-fails").touch()

    @property
    def tab(self) -> bytes:
        path = self.folder / "tab"
        return path.read_bytes() if path.exists() else b""

    @tab.setter
    def tab(self, data: bytes) -> None:
        (self.folder / "tab").write_bytes(data)

    @property
    def asked(self) -> list[str]:
        path = self.folder / "asked"
        rows = path.read_text().splitlines() if path.exists() else []
        return [row.removeprefix("--user ") for row in rows if "show-environment" not in row]

    @property
    def units(self) -> dict[str, str]:
        """What is in the folder of units, by name."""
        folder = Path(os.environ["XDG_CONFIG_HOME"], "systemd/user")
        return {path.name: path.read_text() for path in folder.glob("*") if path.is_file()}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path / "machine", monkeypatch)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The home."""
    found = tmp_path / "home"
    monkeypatch.setenv("NEOSIAN_HOME", str(found))
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "SUDO_USER"):
        monkeypatch.delenv(name, raising=False)
    return str(found)


def say(capsys: Said, *words: str, status: int = 0) -> tuple[str, str]:
    """stdout and stderr of `neosian dream ...`."""
    capsys.readouterr()
    ended = cli.main(["dream", *words])
    out, err = capsys.readouterr()
    assert ended == status, err
    assert "Traceback" not in err
    return out, err


def as_json(capsys: Said, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(say(capsys, *words, "--json")[0])
    return found


# how often


@pytest.mark.parametrize(
    ("text", "seconds", "told"),
    [("30m", 1800, "every 30m"), ("60m", 3600, "every 1h"), ("3h", 10800, "every 3h"), ("24h", 86400, "nightly"),
     ("1d", 86400, "nightly"), ("90m", 5400, "every 90m"), ("7d", 604800, "every 7d")],
)  # fmt: skip
def test_an_interval_is_read_and_told(text: str, seconds: int, told: str) -> None:
    assert (jobs.every(text), jobs.told(seconds)) == (seconds, told)


@pytest.mark.parametrize(
    "text",
    ["", "3", "h", "3 h", "1.5h", "-3h", "3H", "3w", "٣h", "0h", "4m", "8d", "999999d", "3h; rm -rf /"],
)
def test_what_is_no_interval_is_refused(text: str, machine: Machine, path: str, capsys: Said) -> None:
    machine.has("crontab", "systemctl")
    _, err = say(capsys, "schedule", f"--every={text}", "--write", status=2)
    assert "try: neosian dream schedule --every" in err
    assert (machine.tab, machine.units) == (b"", {})


@pytest.mark.parametrize("seconds", [*jobs._EVEN])
@pytest.mark.parametrize("salt", [0, 1, 59, 3601, 2**32 - 1])
def test_an_even_interval_starts_evenly_whatever_the_salt(seconds: int, salt: int) -> None:
    when = jobs.times(seconds, salt)
    assert when
    starts = [jobs.next_start(when, NOW)]
    for _ in range(5):
        assert starts[-1]
        starts.append(jobs.next_start(when, starts[-1]))
    gaps = {b - a for a, b in itertools.pairwise(starts) if a and b}
    assert gaps == {seconds}


@pytest.mark.parametrize(("text", "ways"), [("5m", 5), ("30m", 30), ("3h", 180), ("1d", 60), ("7d", 420)])
def test_machines_do_not_all_start_at_one_minute(text: str, ways: int) -> None:
    assert len({jobs.times(jobs.every(text), salt) for salt in range(420 * 60)}) == ways


@pytest.mark.parametrize(("text", "near"), [("5h", "4h or 6h"), ("90m", "1h or 2h"), ("2d", "1d or 7d")])
def test_what_cron_cannot_say_evenly_is_refused_with_the_nearest(
    text: str, near: str, machine: Machine, path: str, capsys: Said
) -> None:
    machine.has("crontab")
    _, err = say(capsys, "schedule", "--every", text, "--write", status=2)
    assert near in err
    assert machine.tab == b""


def test_systemd_takes_what_cron_cannot_say(machine: Machine, path: str, capsys: Said) -> None:
    machine.has("systemctl", "crontab")
    say(capsys, "schedule", "--every", "5h", "--write")
    timer = machine.units[f"{jobs.name(path)}.timer"]
    assert "OnUnitActiveSec=18000\n" in timer
    assert "OnCalendar" not in timer
    found = schedule.installed(path, os.environ, NOW)
    assert found
    assert (found.by, found.every, found.next) == ("systemd", "every 5h", None)


# the job


@pytest.fixture
def odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home at a path that every quoting has to get right, with turns that ask for something to be kept."""
    home = Home(tmp_path / ODD)
    home.talk().land("Please always run the tests with -n 2 before you commit.", "I will.")
    (home.path / "config.toml").write_text('[dream]\nidle = 0\nengine = "rules"\n')
    monkeypatch.setenv("NEOSIAN_HOME", str(home.path))
    # Where the job starts there may be files of the person's that are called like modules.
    (tmp_path / "argparse.py").write_text("raise SystemExit('not this one')\n")
    return home


def as_cron_runs(row: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """What cron makes of a line: behind five fields a command up to the first bare `%`, in next to no environment."""
    command = row.split(maxsplit=5)[5]
    command = re.split(r"(?<!\\)%", command)[0].replace("\\%", "%")
    bare = {"HOME": str(folder), "LOGNAME": "ada", "SHELL": "/bin/sh", "PATH": "/usr/bin:/bin"}
    return subprocess.run(["/bin/sh", "-c", command], env=bare, cwd=folder, capture_output=True, text=True)


def as_systemd_runs(unit: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The same for a service: words in double quotes with C's escapes, `%%` and `$$` for one of them."""
    (row,) = re.findall(r"^ExecStart=(.*)$", unit, re.M)
    words = [
        re.sub(r"\\(.)", r"\1", quoted) if quoted else bare
        for quoted, bare in re.findall(r'"((?:[^"\\]|\\.)*)"|(\S+)', row)
    ]
    assert not any(re.search(r"(?<!%)%(%%)*(?!%)|(?<!\$)\$(\$\$)*(?!\$)", word) for word in words)
    words = [word.replace("%%", "%").replace("$$", "$") for word in words]
    bare = {"HOME": str(folder), "LOGNAME": "ada", "PATH": "/usr/bin:/bin"}
    return subprocess.run(words, env=bare, cwd=folder, capture_output=True, text=True)


def dreamt(home: Home) -> str:
    """What a dream without a model notes of what the person asked for."""
    return (home.user / "profile/preferences.md").read_text("utf-8")


def test_the_line_of_cron_dreams_in_cron_s_environment(
    odd: Home, machine: Machine, capsys: Said, tmp_path: Path
) -> None:
    machine.has("crontab")
    say(capsys, "schedule", "--write")
    (row,) = machine.tab.decode().splitlines()
    done = as_cron_runs(row, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "always run the tests with -n 2" in dreamt(odd)


def test_the_unit_of_systemd_dreams_in_systemd_s_environment(
    odd: Home, machine: Machine, capsys: Said, tmp_path: Path
) -> None:
    machine.has("systemctl")
    say(capsys, "schedule", "--write")
    done = as_systemd_runs(machine.units[f"{jobs.name(str(odd.path))}.service"], tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "always run the tests with -n 2" in dreamt(odd)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd's own reader of units")
def test_systemd_itself_reads_the_units(odd: Home, tmp_path: Path) -> None:
    job = jobs.job(str(odd.path), os.environ)
    for seconds in (*jobs._EVEN, 5400):
        (tmp_path / "n.timer").write_text(jobs.timer(job, seconds))
        (tmp_path / "n.service").write_text(jobs.service(job))
        verified = subprocess.run(
            ["systemd-analyze", "verify", "--user", tmp_path / "n.timer", tmp_path / "n.service"],
            env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}, capture_output=True, text=True,
        )  # fmt: skip
        assert (verified.returncode, verified.stderr) == (0, "")


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd's own reader of units")
def test_systemd_reads_a_quoted_word_as_it_was(tmp_path: Path) -> None:
    word = ODD.replace("$", "")  # `$` counts behind the first word only, of which systemd says nothing
    unit = tmp_path / "n.service"
    unit.write_text(f"[Service]\nType=oneshot\nExecStart={jobs.unit_word(f'/{word}')}\n")
    command, environ = ["systemd-analyze", "verify", "--user", str(unit)], {"XDG_RUNTIME_DIR": str(tmp_path)}
    said = subprocess.run(command, env=os.environ | environ, capture_output=True, text=True).stderr
    assert f"special characters: /{word}\n" in said


def test_a_job_finds_git_and_the_client_where_this_shell_does(
    machine: Machine, path: str, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "else where"
    elsewhere.mkdir()
    for name in ("claude", "node"):
        (elsewhere / name).write_text("#!/bin/sh\n")
        (elsewhere / name).chmod(0o755)
    search = f"relative:{machine.bin}:{elsewhere}"
    job = jobs.job(path, {"PATH": search, "ANTHROPIC_API_KEY": "sk-secret"})
    assert job.environment["PATH"] == f"{machine.bin}:{elsewhere}:/usr/local/bin:/usr/bin:/bin"
    assert "secret" not in jobs.command(job) + jobs.service(job) + jobs.cron_line(job, 3600)


def test_a_job_has_the_git_that_this_shell_names(machine: Machine, path: str) -> None:
    (machine.bin / "git").rename(machine.bin / "git-2")
    job = jobs.job(path, {**os.environ, "NEOSIAN_GIT": str(machine.bin / "git-2")})
    assert job.environment["NEOSIAN_GIT"] == f"{machine.bin}/git-2"


def test_only_another_home_than_the_usual_one_is_named(machine: Machine) -> None:
    usual = os.path.join(pwd.getpwuid(os.getuid()).pw_dir, ".neosian")
    assert "NEOSIAN_HOME" not in jobs.command(jobs.job(usual, os.environ))
    assert jobs.name(usual) == "neosian-dream"
    assert "NEOSIAN_HOME=/srv/memory;" in jobs.command(jobs.job("/srv/memory", os.environ))


def test_a_job_gets_keys_from_the_person_s_file(odd: Home, machine: Machine, tmp_path: Path) -> None:
    job = jobs.job(str(odd.path), os.environ)
    Path(job.keys).write_text("# mine\nANTHROPIC_API_KEY='a key'\n")
    shown = jobs.line(job).partition("exec ")[0] + "exec env"
    said = subprocess.run(["/bin/sh", "-c", shown], env={}, capture_output=True, text=True)
    assert "ANTHROPIC_API_KEY=a key\n" in said.stdout
    assert f"NEOSIAN_HOME={odd.path}\n" in said.stdout


@pytest.mark.parametrize("name", ["line\nend", "tab\t", "bell\a", "broken\udcff", "odd\\%"])
def test_a_path_that_cannot_be_written_down_is_refused(
    name: str, machine: Machine, capsys: Said, tmp_path: Path
) -> None:
    machine.has("crontab", "systemctl")
    _, err = say(capsys, "schedule", "--write", "--root", str(tmp_path / name), status=1)
    assert "cannot be written into a timer or a crontab" in err
    assert (machine.tab, machine.units) == (b"", {})


def test_a_line_that_is_too_long_for_cron_is_refused(machine: Machine, capsys: Said) -> None:
    machine.has("crontab")
    _, err = say(capsys, "schedule", "--write", "--root", "/" + "x" * 200 + "/" + "y" * 200, status=1)
    assert "too long for cron" in err
    assert machine.tab == b""


def test_without_git_nothing_is_scheduled(machine: Machine, path: str, capsys: Said) -> None:
    machine.has("crontab")
    (machine.bin / "git").unlink()
    _, err = say(capsys, "schedule", "--write", status=1)
    assert "git is missing" in err
    assert machine.tab == b""


def test_a_program_that_only_this_shell_finds_is_not_scheduled(
    machine: Machine, path: str, capsys: Said, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    machine.has("crontab")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "venv/bin/python"))
    _, err = say(capsys, "schedule", "--write", status=1)
    assert "No module named neosian" in err
    assert machine.tab == b""


# who starts it


def test_it_is_shown_before_it_is_written(machine: Machine, path: str, capsys: Said) -> None:
    machine.has("systemctl", "crontab")
    out, err = say(capsys, "schedule", "--every", "3h")
    assert "next: neosian dream schedule --every 3h --write" in err
    assert (machine.units, machine.asked, machine.tab) == ({}, [], b"")
    say(capsys, "schedule", "--every", "3h", "--write")
    assert machine.asked == [
        "daemon-reload", f"enable {jobs.name(path)}.timer", f"restart {jobs.name(path)}.timer"
    ]  # fmt: skip
    for text in (*machine.units.values(), *(f"systemctl --user {row}" for row in machine.asked)):
        assert text.rstrip() in out


def test_cron_takes_it_where_systemd_does_not_answer(machine: Machine, path: str, capsys: Said) -> None:
    machine.has("systemctl", "crontab")
    (machine.folder / "bus").unlink()
    assert as_json(capsys, "schedule", "--write")["by"] == "cron"
    assert machine.tab.count(b"\n") == 1


def test_where_nobody_starts_jobs_the_command_is_told(machine: Machine, path: str, capsys: Said) -> None:
    _, err = say(capsys, "schedule", "--write", status=1)
    assert "there is no systemctl on the PATH; there is no crontab on the PATH" in err
    assert jobs.command(jobs.job(path, os.environ)) in err


def test_that_it_needs_a_login_is_told(machine: Machine, path: str, capsys: Said) -> None:
    machine.has("systemctl", "loginctl")
    assert "enable-linger" not in say(capsys, "schedule")[1]
    (machine.folder / "leaves").touch()
    assert "loginctl enable-linger" in say(capsys, "schedule")[1]


def test_root_by_sudo_is_told_whose_memory_it_is(
    machine: Machine, path: str, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.has("crontab")
    assert "sudo" not in say(capsys, "schedule")[1]
    monkeypatch.setenv("SUDO_USER", "ada")
    said = say(capsys, "schedule")[1]
    assert ("for ada's say it without sudo" in said) == (scope.login() == "root")


def test_where_a_key_belongs_is_told_to_who_needs_one(
    machine: Machine, path: str, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.has("crontab")
    assert "dream.env" not in say(capsys, "schedule")[1]
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    out, err = say(capsys, "schedule")
    assert f"put it into {path}/dream.env" in err
    assert "sk-secret" not in out + err
    Path(path).mkdir()
    Path(path, "dream.env").touch(0o644)
    Path(path, "dream.env").chmod(0o644)
    assert "chmod 600" in say(capsys, "schedule")[1]
    Path(path, "dream.env").chmod(0o600)
    assert "dream.env" not in say(capsys, "schedule")[1]


@pytest.mark.parametrize("programs", [["crontab"], ["systemctl"]])
def test_the_same_again_changes_nothing_and_another_replaces_it(
    programs: list[str], machine: Machine, path: str, capsys: Said
) -> None:
    machine.has(*programs)
    assert as_json(capsys, "schedule", "--write")["written"]
    before = (machine.tab, machine.units, machine.asked)
    assert "Nothing was changed" in say(capsys, "schedule", "--write")[1]
    assert not as_json(capsys, "schedule", "--write")["written"]
    assert (machine.tab, machine.units, machine.asked) == before
    assert "would be replaced" in say(capsys, "schedule", "--every", "6h")[1]
    assert "is replaced" in say(capsys, "schedule", "--every", "6h", "--write")[1]
    found = schedule.installed(path, os.environ, NOW)
    assert found
    assert found.every == "every 6h"
    assert machine.tab.count(b"\n") == ("crontab" in programs)


def test_what_another_keeper_has_goes(machine: Machine, path: str, capsys: Said) -> None:
    machine.has("crontab")
    say(capsys, "schedule", "--write")
    machine.has("systemctl")
    assert "is replaced" in say(capsys, "schedule", "--write")[1]
    assert machine.tab == b""
    assert len(machine.units) == 2
    machine.tab = jobs.cron_line(jobs.job(path, os.environ), jobs.NIGHTLY).encode() + b"\n"
    assert as_json(capsys, "schedule", "--write")["replaces"]
    assert machine.tab == b""


def test_two_homes_have_two_schedules(machine: Machine, path: str, capsys: Said) -> None:
    machine.has("crontab")
    say(capsys, "schedule", "--write")
    say(capsys, "schedule", "--write", "--root", "/srv/other")
    assert machine.tab.count(b"\n") == 2
    say(capsys, "unschedule", "--write", "--root", "/srv/other")
    assert schedule.installed(path, os.environ, NOW)
    assert machine.tab.count(b"\n") == 1


# the crontab

FOREIGN = (
    b"MAILTO=ada\n\n# neosian-dream: nightly\n"
    b"0 1 * * * neosian dream --all # my own, by neosian-dream\n"
    b"#0 1 * * * /bin/sh -c x # NAME: nightly\n"
    b"5 4 * * * caf\xe9 \xff 10\\%\r\n"
)


@pytest.mark.parametrize(
    "tab",
    [b"", b"\n", FOREIGN, FOREIGN.replace(b"\n", b"\r\n"), b"0 1 * * * a\r\n\r\n"],
    ids=["none", "empty line", "foreign", "CRLF", "CRLF end"],
)
def test_the_rest_of_a_crontab_stays_to_the_byte(
    tab: bytes, machine: Machine, path: str, capsys: Said
) -> None:
    machine.has("crontab")
    tab = tab.replace(b"NAME", jobs.name(path).encode())
    if tab:
        machine.tab = tab
    say(capsys, "schedule", "--write")
    assert machine.tab.startswith(tab)
    assert len(machine.tab) > len(tab)
    say(capsys, "schedule", "--every", "3h", "--write")
    assert machine.tab.startswith(tab)
    say(capsys, "unschedule", "--write")
    assert machine.tab == tab
    assert (machine.folder / "tab").exists() == bool(tab)


def test_a_crontab_without_a_last_line_end_gets_one(machine: Machine, path: str, capsys: Said) -> None:
    machine.has("crontab")
    machine.tab = b"0 1 * * * a"
    say(capsys, "schedule", "--write")
    assert machine.tab.startswith(b"0 1 * * * a\n")
    say(capsys, "unschedule", "--write")
    assert machine.tab == b"0 1 * * * a\n"


def test_the_line_is_replaced_where_it_stands_and_a_copy_of_it_goes(
    machine: Machine, path: str, capsys: Said
) -> None:
    machine.has("crontab")
    say(capsys, "schedule", "--write")
    row = machine.tab
    machine.tab = b"A=1\n" + row.replace(b"\n", b"\r\n") + b"B=2\n" + row
    say(capsys, "schedule", "--every", "3h", "--write")
    first, second, third = machine.tab.splitlines()
    assert (first, third) == (b"A=1", b"B=2")
    assert second.endswith(b": every 3h")


@pytest.mark.parametrize("words", [["schedule", "--write"], ["unschedule", "--write"], ["unschedule"]])
def test_a_crontab_that_cannot_be_read_is_left_alone(
    words: list[str], machine: Machine, path: str, capsys: Said
) -> None:
    machine.has("crontab")
    machine.tab = b"0 1 * * * a\n"
    (machine.folder / "refuses").write_text("You (ada) are not allowed to use this program (crontab)\n")
    _, err = say(capsys, *words, status=1)
    assert "not allowed to use this program" in err
    assert "Nothing was changed" in err
    assert machine.tab == b"0 1 * * * a\n"


def test_a_crontab_that_is_not_taken_is_told(machine: Machine, path: str, capsys: Said) -> None:
    machine.program("crontab", '#!/bin/sh\n[ "$1" = -l ] || { echo "disk full" >&2; exit 1; }\n')
    assert "disk full. Your crontab is as it was" in say(capsys, "schedule", "--write", status=1)[1]
    machine.program("crontab", "#!/bin/sh\nexit 0\n")
    assert "does not show it" in say(capsys, "schedule", "--write", status=1)[1]


# systemd


def test_unscheduling_leaves_nothing(machine: Machine, path: str, capsys: Said) -> None:
    machine.has("systemctl", "crontab")
    stamp = Path(os.environ["XDG_DATA_HOME"], "systemd/timers", f"stamp-{jobs.name(path)}.timer")
    stamp.parent.mkdir(parents=True)
    say(capsys, "schedule", "--write")
    stamp.touch()
    out, err = say(capsys, "unschedule")
    assert "OnCalendar" in out
    assert "with --write" in err
    assert len(machine.units) == 2
    say(capsys, "unschedule", "--write")
    assert (machine.units, stamp.exists(), schedule.installed(path, os.environ, NOW)) == ({}, False, None)
    assert machine.asked[-2:] == [f"disable --now {jobs.name(path)}.timer", "daemon-reload"]
    assert "No dream of" in say(capsys, "unschedule", "--write")[1]
    assert not as_json(capsys, "unschedule")["changed"]


def test_unscheduling_works_where_systemd_does_not_answer(machine: Machine, path: str, capsys: Said) -> None:
    machine.has("systemctl")
    say(capsys, "schedule", "--write")
    (machine.folder / "bus").unlink()
    assert "until your next login" in say(capsys, "unschedule", "--write")[1]
    assert (machine.units, schedule.installed(path, os.environ, NOW)) == ({}, None)


@pytest.mark.parametrize("verb", ["daemon-reload", "enable", "restart"])
def test_what_systemd_refuses_is_as_it_was(verb: str, machine: Machine, path: str, capsys: Said) -> None:
    machine.has("systemctl")
    machine.fails(verb)
    assert "Access denied" in say(capsys, "schedule", "--write", status=1)[1]
    assert (machine.units, schedule.installed(path, os.environ, NOW)) == ({}, None)
    (machine.folder / f"{verb}-fails").unlink()
    say(capsys, "schedule", "--write")
    before = machine.units
    machine.fails(verb)
    say(capsys, "schedule", "--every", "3h", "--write", status=1)
    found = schedule.installed(path, os.environ, NOW)
    assert found
    assert (machine.units, found.every) == (before, "nightly")


def test_a_folder_that_cannot_be_written_is_told(
    machine: Machine, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.has("systemctl")
    folder = Path(os.environ["XDG_CONFIG_HOME"], "systemd/user")
    folder.mkdir(parents=True)
    folder.chmod(0o500)
    monkeypatch.setenv("PATH", f"{machine.bin}:{os.defpath}")
    command = [*without_rights(), sys.executable, "-m", "neosian", "dream", "schedule", "--write"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "cannot be written: Permission denied. All is as it was" in done.stderr
    assert machine.units == {}


def test_a_unit_of_the_person_s_own_is_left_alone(machine: Machine, path: str, capsys: Said) -> None:
    machine.has("systemctl")
    mine = Path(os.environ["XDG_CONFIG_HOME"], "systemd/user", f"{jobs.name(path)}.timer")
    mine.parent.mkdir(parents=True)
    mine.write_text("[Timer]\nOnCalendar=daily\n")
    assert "was not written by neosian" in say(capsys, "schedule", "--write", status=1)[1]
    assert "No dream of" in say(capsys, "unschedule", "--write")[1]
    assert mine.read_text() == "[Timer]\nOnCalendar=daily\n"


# what status says


@pytest.mark.parametrize("programs", [["crontab"], ["systemctl"]])
def test_status_tells_when_the_next_one_is(
    programs: list[str], machine: Machine, path: str, capsys: Said
) -> None:
    machine.has(*programs)
    assert health.report(path)["schedule"] is None
    say(capsys, "schedule", "--every", "6h", "--write")
    found = health.report(path)["schedule"]
    assert (found["by"], found["every"]) == ({"crontab": "cron"}.get(programs[0], "systemd"), "every 6h")
    standing = schedule.installed(path, os.environ, NOW)
    assert standing
    assert standing.next
    assert NOW < standing.next <= NOW + 6 * 3600
    capsys.readouterr()
    cli.main(["status"])
    assert re.search(r"^schedule +every 6h by \w+, next at \d", capsys.readouterr().out, re.M)


@pytest.mark.parametrize("programs", [["crontab"], ["systemctl"]])
def test_status_tells_of_a_python_that_is_gone(
    programs: list[str], machine: Machine, path: str, capsys: Said, tmp_path: Path
) -> None:
    machine.has(*programs)
    python = tmp_path / ODD / "python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    job = jobs.job(path, os.environ)
    moved = jobs.Job(job.name, path, (str(python), *job.words[1:]), job.environment)
    keeper = schedule.Systemd(os.environ) if "systemctl" in programs else schedule.Cron(os.environ)
    keeper.put(moved, keeper.texts(moved, jobs.NIGHTLY))
    said = f"The schedule of the dream starts {python}, which is gone."
    assert said not in [row["what"] for row in health.report(path)["problems"]]
    python.unlink()
    assert said in [row["what"] for row in health.report(path)["problems"]]


def test_a_schedule_that_was_edited_by_hand_is_told_as_far_as_it_can_be(
    machine: Machine, path: str, capsys: Said
) -> None:
    machine.has("crontab")
    say(capsys, "schedule", "--write")
    machine.tab = re.sub(rb"^\S+ \S+", b"*/7 1-5", machine.tab)
    found = schedule.installed(path, os.environ, NOW)
    assert found
    assert (found.by, found.next) == ("cron", None)
    machine.tab = machine.tab.replace(b"*/7 1-5", b"30 5")
    found = schedule.installed(path, os.environ, NOW)
    assert found
    assert found.next
    assert time.strftime("%H:%M", time.localtime(found.next)) == "05:30"


def test_nothing_that_is_wrong_with_a_keeper_stops_status(machine: Machine, path: str) -> None:
    machine.has("crontab")
    (machine.folder / "refuses").write_text("no idea\n")
    assert schedule.installed(path, os.environ, NOW) is None
    folder = Path(os.environ["XDG_CONFIG_HOME"], "systemd/user")
    folder.mkdir(parents=True)
    (folder / f"{jobs.name(path)}.timer").mkdir()
    assert schedule.installed(path, os.environ, NOW) is None


def test_errors_are_of_the_kinds_that_are_expected(machine: Machine, path: str) -> None:
    with pytest.raises(NeosianError):
        schedule.plan_schedule(path, jobs.NIGHTLY, os.environ)
    with pytest.raises(UsageError):
        jobs.every("often")
