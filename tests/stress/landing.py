"""Landings against a person's git: commits, partial commits, checkouts and merges, with landers killed at random.

    python tests/stress/landing.py [--landings 2000] [--seed 1] [--keep]
    python tests/stress/landing.py --measure        CPU of a landing at 100, 6,700 and 20,000 files

Passes when every span stands exactly once at the tip of main, `git status` shows only what the person did, no
commit holds lines of the other side, and `git fsck --strict` has nothing to say.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from neosian.adopt import adopt, same_as_main
from neosian.draft import Draft
from neosian.errors import NeosianError
from neosian.store import Store, agent, committer, message

TURNS_A_SESSION = 30
PERSON = {"GIT_AUTHOR_NAME": "Ada Person", "GIT_AUTHOR_EMAIL": "ada@example.org",
          "GIT_COMMITTER_NAME": "Ada Person", "GIT_COMMITTER_EMAIL": "ada@example.org"}  # fmt: skip


def open_store(home: Path) -> Store:
    return Store(str(home), "user:stress", str(home / "scopes" / "user.stress"), str(home / "cache.sqlite"))


def segment(number: int) -> str:
    session = number // TURNS_A_SESSION
    day = session // 8
    first = number - number % 10
    folder = f"record/{2020 + day // 336}-{day // 28 % 12 + 1:02}/{day % 28 + 1:02}"
    return f"{folder}/{first:05}-ab12-stress-{session:06x}.jsonl"


def land(store: Store, number: int) -> None:
    """One span into its segment; a second landing of it changes nothing."""
    line = b'{"v":1,"turn":%d,"kind":"turn","id":"span-%d","text":"%s"}\n' % (number, number, b"x" * 600)

    def change(draft: Draft) -> None:
        adopt(draft, lambda path, changed: None)
        path = segment(number)
        folder = path.rpartition("/")[0]
        for name in draft.folder(folder):
            if b'"id":"span-%d"' % number in (draft.read(f"{folder}/{name}") or b""):
                return
        while not same_as_main(draft, path):
            path = path.replace(".jsonl", "+.jsonl")  # a person's version of a log stays theirs
        draft.put(path, (draft.read(path) or b"") + line)
        trailers = {"Neosian-Act": "record", "Turn": str(number)}
        draft.commit(message(f"Turn {number}", trailers), agent("stress", time.time()), committer())

    store.write(change)


def lander(home: Path) -> None:
    """Land what is pending, in order, until there is no more; another process kills us at any moment."""
    store = open_store(home)
    for path in sorted((home / "pending").iterdir(), key=lambda path: int(path.name)):
        while True:
            try:
                land(store, int(path.name))
                break
            except NeosianError as error:
                print(f"{path.name}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
                time.sleep(0.05)
        path.unlink()


class Person:
    """Somebody who works in the scope's folder with git; every line they write is unique."""

    def __init__(self, folder: Path, dice: random.Random) -> None:
        self.folder = folder
        self.dice = dice
        self.lines = 0
        self.acts: Counter[str] = Counter()

    def git(self, *args: str, input: str = "") -> bool:
        command = ["git", "-C", str(self.folder), *args]
        done = subprocess.run(
            command, input=input, text=True, env={**os.environ, **PERSON}, capture_output=True
        )
        if done.returncode and any(word in done.stderr for word in ("fatal", "error")):
            self.acts[f"refused {args[0]}"] += 1
        return done.returncode == 0

    def line(self) -> str:
        self.lines += 1
        return f"person line {self.lines}\n"

    def edit(self) -> Path:
        note = self.folder / "notes" / f"{self.dice.randrange(6)}.md"
        if not note.exists():
            return note
        rows = note.read_text().splitlines(keepends=True)
        rows.insert(self.dice.choice((0, len(rows) // 2, len(rows))), self.line())
        note.write_text("".join(rows))
        return note

    def commit_all(self) -> None:
        self.edit()
        self.git("commit", "-qam", "Person: all")

    def commit_part(self) -> None:
        note = self.edit()
        self.edit()
        self.git("add", "-p", "--", str(note), input="y\nn\ny\nn\n")
        time.sleep(self.dice.random() * 0.05)
        self.git("commit", "-qm", "Person: part")

    def look_back(self) -> None:
        self.git("commit", "-qam", "Person: before looking back")
        if self.git("checkout", "-q", f"main~{self.dice.randrange(1, 4)}"):
            time.sleep(self.dice.random() * 0.1)
        while not self.git("checkout", "-q", "main"):
            self.git("checkout", "-q", "-f", "main")
            time.sleep(0.02)

    def merge(self) -> None:
        """Merge a branch made in a linked worktree, as one that came from another machine.

        Not with `git checkout -b`: that reads HEAD before it takes any lock, and what lands in those
        milliseconds goes along to the branch as any uncommitted change does.
        """
        self.git("commit", "-qam", "Person: before a merge")
        name = f"topic-{self.lines}"
        elsewhere = self.folder.parent / name
        if (
            not self.git("worktree", "add", "-q", "-b", name, str(elsewhere), "main~1")
            or not elsewhere.exists()
        ):
            return
        (elsewhere / "notes").mkdir(exist_ok=True)
        (elsewhere / "notes" / f"{name}.md").write_text(self.line())
        self.git("-C", str(elsewhere), "add", f"notes/{name}.md")
        self.git("-C", str(elsewhere), "commit", "-qm", "Person: topic")
        self.git("worktree", "remove", "--force", str(elsewhere))
        self.git("merge", "-q", "--no-ff", "--no-edit", name)
        while (self.folder / ".git" / "MERGE_HEAD").exists() and not self.git("merge", "--abort"):
            self.git("commit", "-qam", "Person: what kept the merge from being aborted")
            time.sleep(0.02)

    def leave_open(self) -> None:
        self.edit()

    def act(self) -> None:
        deed = self.dice.choice(
            (self.commit_all, self.commit_part, self.look_back, self.merge, self.leave_open)
        )
        self.acts[deed.__name__] += 1
        deed()


def run(home: Path, landings: int, seed: int) -> int:
    """The whole trial; the number of checks that failed."""
    dice = random.Random(seed)
    (home / "pending").mkdir(parents=True)
    store = open_store(home)
    land(store, 0)
    person = Person(Path(store.path), dice)
    (person.folder / "notes").mkdir()
    for number in range(6):
        (person.folder / "notes" / f"{number}.md").write_text(
            "".join(f"fixed {number} {row}\n" for row in range(20))
        )
    person.git("add", "notes")
    person.git("commit", "-qm", "Person: notes")
    for number in range(1, landings):
        (home / "pending" / str(number)).touch()
    kills, began, shown = 0, time.monotonic(), 0
    while any((home / "pending").iterdir()):
        child = subprocess.Popen([sys.executable, __file__, "--lander", str(home)], start_new_session=True)
        until = time.monotonic() + dice.uniform(0.1, 0.8)
        while child.poll() is None and time.monotonic() < until:
            person.act()
        if child.poll() is None:
            if dice.random() < 0.5:
                os.killpg(child.pid, signal.SIGKILL)
            else:
                child.kill()
            kills += 1
        child.wait()
        left = sum(1 for _ in (home / "pending").iterdir())
        if landings - left - shown >= 200:
            shown = landings - left
            print(f"{shown} landed, {kills} kills, {time.monotonic() - began:.0f} s", flush=True)
    person.git("checkout", "-q", "main")
    time.sleep(2.5)
    land(store, landings)
    print(f"{landings + 1} landings, {kills} kills, person: {dict(person.acts)}")
    return report(store, landings + 1)


def report(store: Store, landings: int) -> int:
    """Print each check; how many failed."""
    checks = {
        "every span exactly once at the tip": spans_at_tip(store) == Counter(range(landings)),
        "git status shows nothing of ours": not ours_in_status(store),
        "no commit mixes the two": not mixed_commits(store),
        "no commit of ours takes a person's line away": not lost_lines(store),
        "git fsck --strict is clean": fsck_is_clean(store),
    }
    for name, holds in checks.items():
        print(f"{'ok' if holds else 'FAILED':7} {name}")
    for failure in (*ours_in_status(store)[:5], *mixed_commits(store)[:5], *lost_lines(store)[:5]):
        print("       ", failure)
    passed = sum(checks.values())
    print(f"stress: {passed} passed, {len(checks) - passed} failed")
    return len(checks) - passed


def git(store: Store, *args: str) -> str:
    done = subprocess.run(["git", "-C", store.path, *args], capture_output=True, text=True, check=True)
    return done.stdout


def fsck_is_clean(store: Store) -> bool:
    """Unreachable objects are what a killed writer leaves; anything else is damage."""
    command = ["git", "-C", store.path, "fsck", "--strict", "--no-dangling"]
    done = subprocess.run(command, capture_output=True, text=True)
    said = [row for row in (done.stdout + done.stderr).splitlines() if not row.startswith("Checking ")]
    print("\n".join(said[:5]), end="\n" if said else "")
    return done.returncode == 0 and not said


def spans_at_tip(store: Store) -> Counter[int]:
    said = git(store, "grep", "-hoE", '"id":"span-[0-9]+"', "main", "--", "record")
    return Counter(int(line.split("-")[1].rstrip('"')) for line in said.splitlines())


def ours_in_status(store: Store) -> list[str]:
    rows = git(store, "status", "--porcelain").splitlines()
    return [row for row in rows if not row[3:].startswith("notes/")]


def changed_lines(store: Store, rev: str) -> list[tuple[str, str, str, list[str], list[str]]]:
    """(commit, author's and committer's e-mail, lines added, lines removed) of a revision's commits, children first."""
    said = git(store, "log", rev, "--topo-order", "--cc", "-p", "-U0", "--format=%x01%H %ae %ce")
    rows = []
    for part in said.split("\x01")[1:]:
        head, _, diff = part.partition("\n")
        commit, author, committer = head.split(" ")
        width = 2 if "\ndiff --cc" in "\n" + diff else 1
        lines = [row for row in diff.splitlines() if not row.startswith(("+++", "---"))]
        added = [row[width:] for row in lines if row.startswith("+" * width)]
        removed = [row[width:] for row in lines if row.startswith("-" * width)]
        rows.append((commit, author, committer, added, removed))
    return rows


def mixed_commits(store: Store) -> list[str]:
    """Commits that hold lines of the other side for the first time.

    A span that had landed under our name, was dropped by a commit from a stale index and came back with a
    person's next one is git's own doing: `git merge` and `git checkout` read HEAD or index before they lock.
    """
    landed: set[str] = set()
    bad = []
    for commit, email, _, added, _ in reversed(changed_lines(store, "--all")):
        ours = email.endswith("neosian.invalid")
        spans = {row for row in added if '"span-' in row}
        if ours:
            landed |= spans
        wrong = [row for row in added if row.startswith("person line")] if ours else sorted(spans - landed)
        if wrong:
            bad.append(f"{commit[:10]} by {email} holds {wrong[0][:60]}")
    return bad


def lost_lines(store: Store) -> list[str]:
    """Lines of a person that a commit made by neosian (a turn, an adoption) took away."""
    made = [row for row in changed_lines(store, "main") if row[2].endswith("neosian.invalid")]
    return sorted(line for *_, removed in made for line in removed if line.startswith("person line"))


def measure() -> None:
    """CPU of one landing, its git children included, beside a bare interpreter start."""
    floor = statistics.median(cpu_of([sys.executable, "-I", "-S", "-c", "pass"]) for _ in range(15))
    for count in (100, 6_700, 20_000):
        home = Path(tempfile.mkdtemp(prefix="neosian-measure-"))
        store = open_store(home)
        land(store, 0)
        fill(store, count)
        numbers = iter(range(count * 10 + 1, count * 10 + 1000))
        land(store, next(numbers))
        costs = []
        for _ in range(40):
            before = cpu()
            land(store, next(numbers))
            costs.append(cpu() - before)
        print(
            f"{count:6} files: {statistics.median(costs) / floor:.2f} floors a landing (floor {floor * 1000:.1f} ms)"
        )
        shutil.rmtree(home)


def fill(store: Store, count: int) -> None:
    def change(draft: Draft) -> None:
        for number in range(count):
            draft.put(segment(number * 10), b'{"v":1,"turn":1}\n' * 20)
        draft.commit(message("Fill", {}), agent("stress", time.time()), committer())

    store.write(change, patience=60)
    (Path(store.path) / ".git" / "neosian" / "recent").unlink()  # as after a minute: it all landed at once


def cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def cpu_of(argv: list[str]) -> float:
    before = cpu()
    subprocess.run(argv, check=True)
    return cpu() - before


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--landings", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="leave the store behind")
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--lander", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.lander:
        lander(args.lander)
        return 0
    if args.measure:
        measure()
        return 0
    home = Path(tempfile.mkdtemp(prefix="neosian-stress-"))
    failed = run(home, args.landings, args.seed)
    if args.keep or failed:
        print(f"left in {home}")
    else:
        shutil.rmtree(home)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
