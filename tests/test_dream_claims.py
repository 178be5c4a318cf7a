"""What a text claims: sentences, words, facts and rules, in the languages that people write in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neosian.dream import claims
from neosian.dream.claims import Sentence

NOTE = """---
description: "How we deploy: never on Fridays"
---
# Deploy
Sam runs it on
Tuesdays. It takes a while!

1. First this
- [ ] then that

```sh
make deploy
```
之后就好了。都好。
"""


def test_a_note_is_read_sentence_by_sentence() -> None:
    assert claims.sentences(NOTE) == [
        Sentence("How we deploy: never on Fridays"),
        Sentence("Deploy"),
        Sentence("Sam runs it on Tuesdays."),
        Sentence("It takes a while!"),
        Sentence("First this"),
        Sentence("then that"),
        Sentence("make deploy", True),
        Sentence("之后就好了。"),
        Sentence("都好。"),
    ]


DATES = [
    "2026-03-04",
    "2026/3/4",
    "4.3.2026",
    "4. March 2026",
    "March 4, 2026",
    "4 mars 2026",
    "4 de marzo de 2026",
    "2026年3月4日",
]


@pytest.mark.parametrize("said", DATES)
def test_a_date_is_known_in_many_forms(said: str) -> None:
    assert [fact.key for fact in claims.facts(f"it was {said} then").values()] == ["2026-03-04"]


CODE = [
    "src/a.py", "./run", "~/x/y", "/etc/hosts", "https://a.example/b?c=1", "git@host.example:a/b", "a@b.example", "--no-verify", "-j4",
    "--port=80", "1.2.3", "v2.0", "10.0.0.1:5432", "SHOP-12", "#123", ":8080", "3f9c2ab", "a_b", "SHOP_URL", "getUser", "a::b", "run()", "setup.cfg",
]  # fmt: skip


@pytest.mark.parametrize("said", CODE)
def test_what_is_written_as_code_is_an_identifier(said: str) -> None:
    assert claims.folded(said) in claims.identifiers(f"there is {said}, too")


@pytest.mark.parametrize(
    "said",
    [
        "read-only",
        "and/or",
        "e.g.",
        "GitHub",
        "UTF-8",
        "12",
        "word",
        "Word",
        "it's",
        "<name>",
        "$HOME",
        "…",
        "日本語",
        "4,000",
    ],
)
def test_what_people_write_is_none(said: str) -> None:
    assert list(claims.identifiers(f"there is {said} too")) == []


def test_code_in_a_script_without_blanks_is_found() -> None:
    assert list(claims.identifiers("运行src/a.py即可，端口为:8080。")) == ["src/a.py", ":8080"]


def test_a_name_in_a_code_span_is_an_identifier() -> None:
    assert list(claims.identifiers("there is `frob`, and `run it now`")) == ["frob", "run", "it", "now"]


STANDS = [
    ("port 8080", "on 8080.", True), ("port 8080", "on 18080", False), ("4,000", "about 4000 of them", True), ("4000", "about 4,000", True),
    ("src/a.py", "in /home/ada/src/a.py:3", True), ("src/a.py", "src/a.pyc", False), ("https://a.example/b", "see a.example/b", True),
    ("~/x/y", "/home/ada/x/y", True), ("client/server", "a server and a client", True), ("--fast", "--faster", False), ("`pnpm`", "用pnpm吧", True),
]  # fmt: skip


@pytest.mark.parametrize(("said", "text", "stands"), STANDS)
def test_a_fact_stands_in_a_text_as_a_whole(said: str, text: str, stands: bool) -> None:
    (fact,) = claims.facts(said).values()
    assert claims.stands(fact, claims.folded(text)) is stands


RULES = [
    "Always use tabs.",
    "From now on push to x.",
    "Nie ohne Test.",
    "Il faut tester.",
    "Nunca sin pruebas.",
    "必须使用 pnpm。",
    "必ずテストする。",
    "반드시 테스트",
    "Всегда так.",
    "Ａｌｗａｙｓ so.",
]


@pytest.mark.parametrize("said", RULES)
def test_rules_are_known(said: str) -> None:
    assert claims.is_rule(Sentence(said))


@pytest.mark.parametrize(
    "said",
    [
        "It is green.",
        "The mustard is out.",
        "Tests pass.",
        "Sie liegt immerhin dort.",
        "服务在端口 8080 上。",
    ],
)
def test_what_is_so_is_no_rule(said: str) -> None:
    assert not claims.is_rule(Sentence(said))
    assert claims.orders(Sentence(said)) == []


ORDERS = [
    ("Push to x.", ["Push to x."]),
    ("First wait, then push it.", ["First wait, then push it."]),
    ("It is `make x`.", ["make x"]),
    ("It is `make`.", []),
]


@pytest.mark.parametrize(("said", "orders"), ORDERS)
def test_orders_are_known(said: str, orders: list[str]) -> None:
    assert claims.orders(Sentence(said)) == orders


@pytest.mark.parametrize(("one", "other", "same"), [
    ("We deploy on Tuesdays from main", "Deploys go out Tuesdays, from main, by script", False),
    ("Deploys go out on Tuesdays from main", "Deploy on Tuesday, from the main branch", True),
    ("商店每周二部署到生产", "商店每周二部署到生产环境", True),
    ("", "", False),
])  # fmt: skip
def test_texts_are_alike_by_their_words(one: str, other: str, same: bool) -> None:
    assert (claims.alike(one, other) >= 0.65) is same


@given(st.text())
def test_any_text_has_claims(text: str) -> None:
    for fact in claims.facts(text).values():
        assert fact.key
    assert claims.alike(text, text) in (0.0, 1.0)
    for sentence in claims.sentences(text):
        claims.orders(sentence)


@pytest.mark.parametrize(
    "text",
    [
        "a_" * 20_000,
        "A1" * 20_000,
        "a/" * 20_000,
        "a.b" * 20_000,
        "[" * 40_000,
        "`" * 40_001,
        "1." * 20_000,
        "a@" * 20_000,
        "--" * 20_000,
    ],
)
def test_hostile_text_is_read_in_bounded_time(text: str) -> None:
    assert len(claims.facts(text)) < 30_000
