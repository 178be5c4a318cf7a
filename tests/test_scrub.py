"""What of a span reaches git."""

from __future__ import annotations

import json
from typing import Any

import pytest

from neosian.payload import Cut, left_out
from neosian.scrub import Policy, render
from tests.recorded import landed, session

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
PERSON: dict[str, Any] = {"from": "person"}
TURN = {"v": 1, "turn": 1, "n": 0, "kind": "turn", "at": "t", "state": "done", "cwd": "/home/dev/shop"}


def rendered(kind: str, policy: Policy | None = None, **fields: Any) -> dict[str, Any]:
    """One line of a turn, as it lands."""
    line = {"v": 1, "turn": 1, "n": 1, "kind": kind, "at": "t"} | fields
    return render([TURN, line], policy or Policy(), {})[1]


def test_the_turn_line_is_completed_and_the_others_left_alone() -> None:
    (span,) = landed(session("v197_queued_in_tool.jsonl")).spans
    lines = render(span.lines, Policy(), {"actor": "claude-code:s", "branch": "main"})
    assert (lines[0]["actor"], lines[0]["branch"], "actor" in lines[1]) == ("claude-code:s", "main", False)
    assert not [name for line in lines for name in line if name.startswith("_")]


def test_what_a_turn_line_says_already_is_not_said_anew() -> None:
    assert render([TURN | {"branch": "old"}], Policy(), {"branch": "new"})[0]["branch"] == "old"


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("prompt", {"text": f"use {SECRET}"}),
        ("answer", {"text": f"I used {SECRET}"}),
        ("tool_result", {"text": f"token {SECRET}", "ok": True}),
        ("tool_call", {"input": {"command": f"curl {SECRET}", "list": [SECRET], SECRET: 1}}),
        ("event", {"payload": {"deep": {"er": SECRET}}}),
        ("permission", {"reason": SECRET, "input": {"x": SECRET}}),
        ("subagent", {"text": SECRET}),
        ("compact", {"text": SECRET}),
        ("context", {"text": SECRET}),
        ("answer", {"text": "", "error": SECRET}),
    ],
)
def test_no_kind_of_line_keeps_a_secret(kind: str, fields: dict[str, Any]) -> None:
    assert SECRET not in str(rendered(kind, **fields))


def test_private_parts_of_a_prompt_are_not_stored() -> None:
    assert "hidden" not in rendered("prompt", text="a <private>hidden</private> b")["text"]
    assert "hidden" not in rendered("prompt", text="a <private>hidden")["text"]
    assert (
        "hidden" not in rendered("tool_result", text="<private>hidden</private>", ok=True, **PERSON)["text"]
    )


def test_a_long_output_keeps_its_head() -> None:
    for size in (5000, 50_000):
        line = rendered("tool_result", text="x" * size, ok=True)
        assert (line["text"], line["chars"]) == ("x" * 4096, size)


def test_a_failed_call_keeps_both_ends() -> None:
    line = rendered("tool_result", text="head" + "x" * 50_000 + "tail", ok=False)
    assert line["chars"] == 50_008
    assert (line["text"][:4], line["text"][-4:]) == ("head", "tail")
    assert "45,912 characters left out" in line["text"]


@pytest.mark.parametrize("size", [0, 1, 4095, 4096])
@pytest.mark.parametrize("ok", [True, False, None])
def test_an_output_that_fits_stays_whole(size: int, ok: bool | None) -> None:
    line = rendered("tool_result", text="x" * size, ok=ok)
    assert (line["text"], "chars" in line) == ("x" * size, False)


def test_a_persons_words_are_never_cut() -> None:
    assert rendered("tool_result", text="x" * 9000, ok=True, **PERSON)["text"] == "x" * 9000
    assert rendered("prompt", text="x" * 90_000)["text"] == "x" * 90_000


def test_what_was_cut_before_tells_its_true_length() -> None:
    assert rendered("prompt", text=Cut("head tail", 10**7))["chars"] == 10**7
    assert rendered("tool_result", text=Cut("x" * 60_000, 10**7), ok=True)["chars"] == 10**7


@pytest.mark.parametrize("ok", [True, False])
@pytest.mark.parametrize("place", range(4040, 4100, 5))
def test_no_secret_slips_through_at_a_cut(ok: bool, place: int) -> None:
    text = " " * (place // (1 if ok else 2)) + SECRET + " " * 9000
    both = text + text[::-1].replace(SECRET[::-1], SECRET)
    line = rendered("tool_result", text=text if ok else both, ok=ok)
    assert "a1B2c3" not in line["text"]


def test_a_half_secret_at_the_end_of_the_window_does_not_slide_into_what_is_kept() -> None:
    def shrink(text: str) -> str:
        return text.replace("S" * 1000, "*")

    policy = Policy(
        output_chars=4096,
        input_chars=4096,
        redact=shrink,
        redact_value=lambda value: {"command": shrink(value["command"])},  # type: ignore[index]
    )
    text = ("S" * 1000 + " ") * 8 + "S" * 1000 + "x" * 9000  # the ninth lies across the end of the window
    assert "SS" not in rendered("tool_result", policy, text=text, ok=True)["text"]
    assert "SS" not in rendered("tool_call", policy, input={"command": text})["input"]["command"]
    assert "SS" not in rendered("tool_result", policy, text=text[::-1], ok=False)["text"][-2048:]


def test_strings_of_an_input_are_cut_one_by_one() -> None:
    edits = [{"new_string": "y" * 20_000}, {"new_string": "z"}]
    line = rendered("tool_call", input={"a/b~c": "x" * 16_385, "edits": edits, "n": 1, "t": "x" * 16_384})
    assert [len(line["input"][name]) for name in ("a/b~c", "t")] == [16_384, 16_384]
    assert line["chars"] == {"/a~1b~0c": 16_385, "/edits/0/new_string": 20_000}
    assert line["input"]["n"] == 1


@pytest.mark.parametrize(
    "asked",
    [
        {"file_path": ".env"},
        {"command": "cat /home/dev/shop/.env"},
        {"file_path": "/home/dev/shop/sub/.env.local"},
    ],
)
def test_a_call_on_a_file_to_ignore_leaves_nothing_of_it(asked: dict[str, Any]) -> None:
    policy = Policy(ignore=["*.key", "**/.env*"])
    call = rendered("tool_call", policy, call="c", tool="Bash", input=asked)
    result = rendered(
        "tool_result", policy, call="c", ok=True, text="KEY=1", _input=asked, _cwd="/home/dev/shop"
    )
    for line in (call, result):
        assert (line["dropped"], "input" in line, "text" in line) == ("**/.env*", False, False)
    assert (call["tool"], result["ok"]) == ("Bash", True)


def test_a_relative_path_is_matched_from_where_the_call_ran() -> None:
    policy = Policy(ignore=["/home/dev/shop/private/*"])
    line = rendered("tool_call", policy, cwd="/home/dev/shop/private", input={"file_path": "diary.md"})
    assert line["dropped"] == "/home/dev/shop/private/*"


def test_other_functions_can_take_the_secrets_out() -> None:
    policy = Policy(redact=str.upper, redact_value=lambda value: value, hide_private=lambda text, whole: text)
    assert rendered("answer", policy, text="abc")["text"] == "ABC"


def test_fields_that_are_not_known_survive() -> None:
    assert rendered("answer", text="a", later={"x": 1})["later"] == {"x": 1}


# values of many members, and files that an output names


def test_a_value_of_too_many_members_is_kept_as_text() -> None:
    many = {f"password{n}": "hunter22" for n in range(20_000)}
    line = rendered("tool_call", input={"options": many})
    assert len(line["input"]) == 16_384
    assert "hunter22" not in line["input"]
    assert line["chars"] == {"": len(json.dumps({"options": many}, separators=(",", ":")))}


def test_a_value_of_many_members_stays_a_value() -> None:
    asked = {"paths": [f"/srv/{n}" for n in range(4000)]}
    assert rendered("tool_call", input=asked)["input"] == asked


@pytest.mark.parametrize("ok", [True, False])
@pytest.mark.parametrize("size", [0, 9000])
def test_lines_of_a_file_to_ignore_are_taken_out_of_an_output(ok: bool, size: int) -> None:
    text = f"a.py:1:x\n/srv/.env:KEY=hunter\nb.py:2:y\n{'z' * size}"
    shown = rendered("tool_result", Policy(ignore=["**/.env*"]), text=text, ok=ok)["text"]
    assert shown.startswith("a.py:1:x\n/srv/.env:[dropped: **/.env*]\nb.py:2:y\n")


# keys whose beginning is not there any more


KEY_LINE = "mQENBFq7Z1kBCAC8vHTnBxkq5Sx4Kp0YzLw2dDg3vRr9uYtEoP1iMn6bCf7aJh"


def private_key(name: str, lines: int) -> str:
    """A block of armour of so many lines, each with a number in it."""
    body = "".join(f"{KEY_LINE[:-4]}{number:04}\n" for number in range(lines))
    return f"-----BEGIN {name}-----\n\n{body}-----END {name}-----\n"


@pytest.mark.parametrize("name", ["PGP PRIVATE KEY " + "BLOCK", "RSA PRIVATE " + "KEY"])
@pytest.mark.parametrize("lines", [20, 40, 60, 110, 400])
def test_of_a_private_key_at_the_end_of_a_failed_call_nothing_is_kept(name: str, lines: int) -> None:
    text = "gpg: exporting\n" + "x" * 300 + "\n" + private_key(name, lines)
    assert KEY_LINE[:20] not in rendered("tool_result", text=text * 2, ok=False)["text"]


@pytest.mark.parametrize("head", [3000, 48 << 10])
def test_of_a_private_key_that_began_in_what_was_left_out_nothing_is_kept(head: int) -> None:
    tail = private_key("RSA PRIVATE " + "KEY", 110).partition("\n\n")[2]
    cut = Cut(left_out("x" * head, tail, 10**7), 10**7)
    assert KEY_LINE[:20] not in rendered("tool_result", text=cut, ok=False)["text"]


def test_a_text_of_which_little_is_left_is_not_told_twice() -> None:
    cut = Cut(left_out("the head", "the tail", 10**7), 10**7)
    assert rendered("tool_result", text=cut, ok=False)["text"].count("the tail") == 1


@pytest.mark.parametrize("kind", ["prompt", "answer"])
def test_nor_is_it_kept_in_a_text_that_is_stored_whole(kind: str) -> None:
    tail = private_key("RSA PRIVATE " + "KEY", 30).partition("\n\n")[2]
    assert KEY_LINE[:20] not in rendered(kind, text=Cut(left_out("head", tail, 10**7), 10**7))["text"]


# private parts, and names


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("answer", {"text": "a <private>hidden</private> b"}),
        ("tool_result", {"text": "a <private>hidden</private> b", "ok": True}),
        ("tool_result", {"text": "<private>hidden</private>" + "x" * 9000, "ok": False}),
        ("tool_result", {"text": "x" * 9000 + "<private>hidden</private>", "ok": False}),
        ("tool_call", {"input": {"command": "echo '<private>hidden</private>'", "l": ["<private>hidden</private>"]}}),
        ("subagent", {"text": "<private>hidden</private>"}),
        ("permission", {"reason": "<private>hidden</private>", "input": {"x": "<private>hidden</private>"}}),
        ("compact", {"text": "<private>hidden"}),
        ("event", {"payload": {"prompt": "<private>hidden", "deep": [{"er": "<private>hidden</private>"}]}}),
    ],
)  # fmt: skip
def test_private_parts_are_hidden_wherever_they_are_said(kind: str, fields: dict[str, Any]) -> None:
    assert "hidden" not in str(rendered(kind, **fields))


def test_a_tag_that_a_tool_printed_and_never_closed_hides_nothing() -> None:
    assert rendered("tool_result", text="<private> is a tag", ok=True)["text"] == "<private> is a tag"


@pytest.mark.parametrize(
    "name", ["cwd", "tool", "name", "old", "new", "agent", "agent_type", "trigger", "task", "status", "model"]
)
def test_a_secret_in_a_name_is_taken_out(name: str) -> None:
    fields: dict[str, Any] = {name: f"/srv/{SECRET}/x"}
    assert "a1B2c3" not in str(rendered("event", **fields))


@pytest.mark.parametrize("name", ["cwd", "model", "branch"])
def test_a_secret_in_a_turn_line_is_taken_out(name: str) -> None:
    about = {"actor": "claude-code:s", "host": "here"} | ({"branch": SECRET} if name == "branch" else {})
    line = TURN if name == "branch" else TURN | {name: f"/srv/{SECRET}/x"}
    assert "a1B2c3" not in str(render([line], Policy(), about)[0])


def test_what_pairs_lines_keeps_its_bytes() -> None:
    line = rendered("tool_call", call=SECRET, tool="Bash", input={})
    assert line["call"] == SECRET
