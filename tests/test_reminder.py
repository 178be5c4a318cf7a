"""What a prompt brings to mind: what memory surely knows of it, and nothing for small talk, in small scopes and big."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from neosian.context import Block, Mount, utf16
from neosian.index import Index
from neosian.reminder import asked, reminder
from neosian.window import Window
from tests.scopes import ADA, BOB, NOW, Scope, turn_lines

OWN = "99999999-0000-4000-8000-000000000009"

SMALL_TALK = (
    "hi", "hello there", "continue", "go on", "ok go on", "yes do it", "yes, please do it", "thanks", "thank you!",
    "run the tests", "now run the tests again", "looks good", "looks good, thanks", "fix it", "try again", "do both",
    "no, the other one", "what do you think?", "why?", "ok, next", "continue please", "that did not work",
    "are you sure?", "stop", "and now?", "perfect", "show me the diff", "just do what you think is best", "1", "2.",
    "ja, mach weiter", "danke", "weiter", "sí, hazlo", "gracias", "sigue", "oui, vas-y", "merci", "да, продолжай",
    "спасибо", "继续", "好的", "好的，继续", "谢谢", "运行测试", "是的，做吧", "はい、お願いします", "続けてください",
    "can you explain that in more detail?", "try again with the other approach", "ok, continue with the next step",
    "looks good, commit it", "undo the last change", "please continue where you left off", "what's next?", "great work!",
    "let's do option 2", "yes, go ahead", "do the second one", "ship it", "never mind", "wait", "make it shorter",
    "fix the failing test", "add tests for it", "write it to a file", "now do the same for the rest", "is that all?",
    "summarize what you did", "good morning", "keep going until it is done", "clean up the code", "refactor this",
    "ありがとう", "テストを実行して", "계속해줘", "고마워", "네, 해주세요", "👍", "...", "?", "y",
)  # fmt: skip
"""Prompts that are about nothing that a memory could know."""

NOTES = {
    "project/money.md": "# Money\n\nCart totals are rounded once, at the very end, to two decimals with `round()`.\n",
    "project/deploy.md": "---\ndescription: how the shop is deployed\n---\n# Deploy\n\nStaging first, then production;"
    " from the branch `release` only. Run `make ship`. Roll back with `make unship`.\n",
    "tools/parser.md": "# The header parser\n\n`parseHeaderLines` in src/mail_parser.py must keep folded lines whole.\n",
    "tools/git.md": "# Git\n\nCommit small, in the imperative. Push to a branch, never to main without a review.\n",
    "tools/tests.md": "---\ndescription: how to run the tests\n---\n# Tests\n\nRun the unit tests with `make test`. Never"
    " change a snapshot without a look at the diff.\n",
    "project/outage.md": "# Outage of October\n\nThe payment webhook timed out because the connection pool was exhausted;"
    " its size is 40 now.\n",
    "profile/style.md": "# Style\n\nAnswer in short sentences. Explain decisions in detail only when asked.\n",
    "profile/role.md": "# Role\n\nAda is the maintainer of the shop, prefers small commits and short answers.\n",
    "project/登录.md": "# 登录页面\n\n登录页面的按钮统一用蓝色，错误信息显示在输入框下面。\n",
    "project/release.ru.md": "# Выпуск\n\nПеред выпуском обновить зависимости и проверить журнал изменений.\n",
}
TURNS = (
    ("Why does the tokenizer fail on empty input?", "It read one character too far; the guard is in tokenizer.c now."),
    ("Please fix the rounding bug in cart.py, tests first", "Decision: cart totals are rounded to 2 decimals."),
    ("ok, go on and run the tests", "All 41 tests pass; the tests ran in two seconds. Should I go on?"),
    ("yes do it, please", "Done."),
    ("add a webhook for the payment provider, retry with exponential backoff", "The webhook retries five times."),
    ("can you explain that in more detail?", "The token rotates on each use, so that a stolen one is noticed."),
    ("try it again with the other approach", "Done, it uses a queue now."),
    ("continue with the next step", "The next step was the invoice; it is rendered by weasyprint now."),
    ("да, продолжай", "Продолжаю."),
    ("好的，继续", "继续。"),
    ("テストを実行して", "テストを実行しました。"),
)  # fmt: skip

KNOWN = (
    ("How are cart totals rounded?", "/project/project/money.md"),
    ("the totals in the cart look wrong, are they rounded twice?", "/project/project/money.md"),
    ("deploy this to staging", "/project/project/deploy.md"),
    ("How do we deploy?", "/project/project/deploy.md"),
    ("Which branch do we release production from?", "/project/project/deploy.md"),
    ("can you look at src/mail_parser.py", "/project/tools/parser.md"),
    ("parseHeaderLines breaks long lines", "/project/tools/parser.md"),
    ("there is a problem with folded lines in the header parser", "/project/tools/parser.md"),
    ("why did the payment webhook time out again?", "/project/project/outage.md"),
    ("we need to look at the connection pool, it is exhausted", "/project/project/outage.md"),
    ("may I change the snapshot tests?", "/project/tools/tests.md"),
    ("登录页面的按钮应该是什么颜色？", "/project/project/登录.md"),
    ("обновить зависимости перед выпуском", "/project/project/release.ru.md"),
    ("the tokenizer fails again when the input is empty", f"{ADA}#1"),
    ("weasyprint crashes while it renders the invoice", f"{ADA}#8"),
    ("what did we do about webhook retries for the payment provider?", f"{ADA}#5"),
)
"""Prompts that are about something, and what of it memory knows."""

Remind = Callable[..., Block]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scope]:
    """A few notes and turns."""
    yield from _made(tmp_path_factory.mktemp("small"), 0)


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scope]:
    """The same among three thousand turns of other work, with its own small talk."""
    yield from _made(tmp_path_factory.mktemp("big"), 3_000)


def _made(folder: Path, others: int) -> Iterator[Scope]:
    scope = Scope(folder)
    for path, text in NOTES.items():
        scope.write(path, text)
    lines = [line for n, said in enumerate(TURNS, 1) for line in turn_lines(ADA, n, *said, at=NOW + n)]
    scope.append(scope.log(ADA), lines)
    scope.append(scope.log(BOB), [line for n in range(1, others + 1) for line in _other(n)])
    scope.commit("all")
    yield scope
    scope.store.repo.close()


def _other(n: int) -> list[dict[str, object]]:
    """A turn among many: the words of one trade in ever other company, every third one small talk."""
    nouns = (
        "queue",
        "schema",
        "button",
        "cache",
        "layout",
        "worker",
        "invoice",
        "locale",
        "socket",
        "session",
    )
    verbs = ("rename", "split", "check", "test", "document", "move", "cover", "review", "fix", "extend")
    first, second, verb = nouns[n % 10], nouns[n // 10 % 10], verbs[n // 100 % 10]
    if n % 3 == 0:
        return turn_lines(
            BOB, n, SMALL_TALK[n % len(SMALL_TALK)], f"Done with the {first}; the tests pass.", at=NOW
        )
    return turn_lines(
        BOB, n, f"{verb} the {first} of the {second} and run the tests", f"The {first} is fine.", at=NOW
    )


def told(scope: Scope, prompt: str, *, window: Window | None = None, **more: object) -> Block:
    with ExitStack() as stack:
        index = stack.enter_context(Index.open(str(scope.cache)))
        assert index.catch_up(scope.store.repo, None)
        mounts = [Mount("/project", scope.store, index)]
        given = {
            "window": window or Window(),
            "conversation": OWN,
            "client": "claude-code",
            "now": NOW,
            "cost": utf16,
        }
        words = asked(prompt)
        return reminder(mounts, words, **{**given, **more}) if words else Block("", [], 0, [])  # type: ignore[arg-type]


@pytest.mark.parametrize("prompt", SMALL_TALK)
def test_small_talk_brings_nothing_to_mind(prompt: str, small: Scope, big: Scope) -> None:
    assert (told(small, prompt).shown, told(big, prompt).shown) == ([], [])


@pytest.mark.parametrize(("prompt", "known"), KNOWN)
def test_what_memory_knows_of_a_prompt_is_told(prompt: str, known: str, small: Scope, big: Scope) -> None:
    assert known in told(small, prompt).shown
    assert known in told(big, prompt).shown


@pytest.mark.parametrize(
    "prompt",
    [
        "Thanks, that works. Now for something else: how are cart totals rounded? Please be brief, I am in a hurry today.",
        "How are cart totals rounded?\n\n"
        + "\n".join(f"  File lib{n}/mod{n}.py, line {n}, in func{n}" for n in range(300)),
        "\n".join(f"  File lib{n}/mod{n}.py, line {n}, in func{n}" for n in range(300))
        + "\nHow are cart totals rounded?",
    ],
    ids=["among other sentences", "before a paste", "behind a paste"],
)
def test_one_sentence_of_many_is_enough(prompt: str, small: Scope, big: Scope) -> None:
    assert "/project/project/money.md" in told(small, prompt).shown
    assert "/project/project/money.md" in told(big, prompt).shown


def test_text_that_happens_to_share_words_brings_nothing(small: Scope, big: Scope) -> None:
    prompt = "Write a poem about the sea in October, with the sound of waves and the cry of one white gull at the end."
    assert (told(small, prompt).shown, told(big, prompt).shown) == ([], [])


def test_what_is_in_the_window_is_not_told(small: Scope) -> None:
    window = Window()
    window.shown.add("/project/project/money.md")
    assert "/project/project/money.md" not in told(small, "How are cart totals rounded?", window=window).shown


@pytest.mark.parametrize("budget", [0, 200, 500, 2_000])
def test_the_budget_is_kept_and_nothing_is_told_rather_than_a_frame(budget: int, small: Scope) -> None:
    block = told(small, "the payment webhook timed out: look at the connection pool", budget=budget)
    assert block.cost == utf16(block.text) <= budget
    assert (block.text == "") == (block.shown == [])


def test_a_number_that_stands_in_a_note_is_no_fence(small: Scope) -> None:
    block = told(small, "How are cart totals rounded?", nonce="cart")
    assert "=== cart ===" not in block.text
