"""What a shell's line ran, and how each of its commands ended."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neosian.dream import shell

WHERE = shell.Where("/home/ada/shop", "/home/ada/shop")


def ran(line: str, ok: bool | None = True, where: shell.Where = WHERE) -> list[tuple[str, str, bool | None]]:
    return [(each.name, each.form, each.ok) for each in shell.commands(line, where, ok)]


@pytest.mark.parametrize(
    ("line", "name", "form"),
    [
        ("python3 -B test_cart.py", "python3 test_cart.py", "python3 -B test_cart.py"),
        ("python -m pytest -q tests/x.py", "python -m pytest", "python -m pytest -q tests/x.py"),
        ("/home/ada/shop/.venv/bin/pytest -x", ".venv/bin/pytest", ".venv/bin/pytest -x"),
        ("/usr/bin/git push origin main", "git push", "git push origin main"),
        ("git -C /home/ada/shop commit -q -m 'Sum money'", "git commit", "git -C . commit -q -m …"),
        ("git commit -m \"$(cat <<'EOF'\nmsg (x)\nEOF\n)\"", "git commit", "git commit -m …"),
        ("FOO=1 sudo -E timeout 60 make test WORKERS=2 # all", "make test", "make test WORKERS=2"),
        ("npm run build -- --prod", "npm run build", "npm run build -- --prod"),
        ("uv run --with x pytest -x", "uv run pytest", "uv run --with x pytest -x"),
        ("npx jest --ci", "npx jest", "npx jest --ci"),
        ("docker compose -f a.yml up -d", "docker compose up", "docker compose -f a.yml up -d"),
        ("go test ./...", "go test", "go test ./..."),
        ("pytest -k 'a or b' --tb=short", "pytest", "pytest -k … --tb=short"),
        ("mysql --password=[redacted:password] shop", "mysql", "mysql --password=… shop"),
        ("./scripts/run.sh /tmp/x.1234", "./scripts/run.sh", "./scripts/run.sh …"),
        ("pytest --basetemp=/tmp/x", "pytest", "pytest --basetemp=…"),
        ("cargo test > /tmp/out 2>&1", "cargo test", "cargo test"),
        ("cat > x <<EOF\nrm -rf *; pytest\nEOF\nmake test", "make test", "make test"),
    ],
)
def test_a_command_is_named_by_what_it_does(line: str, name: str, form: str) -> None:
    assert ran(line) == [(name, form, True)]


@pytest.mark.parametrize(
    "line",
    [
        "ls -la && cat x | head; cd ..",
        "git status --short && git diff",
        "for f in *; do pytest $f; done",
        "if true; then make; fi",
        "python - <<'E'\nimport x\nE",
        "python3 -c 'print(1)'",
        "bash -c 'make test'",
        "python /tmp/try.py",
        "/tmp/build/tool --x",
        "node --version",
        "pip list",
        "cd /tmp/x && make",
        "cd ../other && make",
        "cd $HOME && make",
        "$TOOL run",
        "",
        "''",
        "&& || ; | ( )",
    ],
)
def test_what_looks_around_or_ran_elsewhere_is_not_told(line: str) -> None:
    assert ran(line) == []


@pytest.mark.parametrize(
    ("line", "passed", "failed"),
    [
        ("cd web && pytest", True, False),
        ("pytest | tail -5", None, None),
        ("pytest; echo done", None, None),
        ("pytest && echo done", True, False),
        ("pytest || true", None, None),
        ("grep -q x y && pytest", True, None),
        ("echo x | pytest", True, False),
        ("sleep 1 & pytest", True, False),
    ],
)
def test_a_command_ended_as_its_line_did_where_that_follows(
    line: str, passed: bool | None, failed: bool | None
) -> None:
    ends = [
        [each.ok for each in shell.commands(line, WHERE, ok) if each.name == "pytest"] for ok in (True, False)
    ]
    assert ends == [[passed], [failed]]


def test_the_folder_is_seen_from_the_projects_top() -> None:
    web = shell.Where("/home/ada/shop", "/home/ada/shop/web")
    lines = ("npm test", "cd .. && make", "cd ../api && make", "cd /home/ada/shop/db && make")
    assert [shell.commands(line, web)[0].folder for line in lines] == ["web", "", "api", "db"]
    assert ran("pytest /home/ada/shop/web/t.py", None, web) == [("pytest", "pytest t.py", None)]


def test_flags_are_told_with_short_values() -> None:
    (pytest_run,) = shell.commands(
        "pytest -q --tb=short --deselect=tests/a_very_long_name_of_a_test.py -x -x", WHERE
    )
    assert pytest_run.flags == ("-q", "--tb=short", "--deselect", "-x")


@given(st.text(alphabet="ab '\"\\$()`<>|&;#\n-=/…E", max_size=60))
def test_any_line_is_read(line: str) -> None:
    for each in shell.commands(line, WHERE, True):
        assert each.name
        assert "\n" not in each.form
