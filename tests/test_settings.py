"""JSON settings edited as text: only what an edit names moves."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neosian import settings
from neosian.clients.hook_files import lines_in
from neosian.errors import NeosianError

KEYS = st.sampled_from(["a", "b", "hooks", "ключ", 'q"uote', ""])
SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=6)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """One object in any of the styles that people and programs write."""
    value = draw(st.dictionaries(KEYS, VALUES, max_size=4))
    indent = draw(st.sampled_from([None, 0, 1, 2, 4, "\t"]))
    comma, colon = draw(st.sampled_from([(",", ":"), (", ", ": "), (",", " : ")]))
    comma = "," if indent is not None else comma
    text = json.dumps(value, indent=indent, separators=(comma, colon), ensure_ascii=draw(st.booleans()))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    bom, end = draw(st.sampled_from(["", settings.BOM])), draw(st.sampled_from(["", "\n", "\r\n", "\n\n"]))
    return bom + text + end


@given(texts(), VALUES)
def test_what_was_inserted_is_there_and_the_rest_is_as_it_was(text: str, value: Any) -> None:
    before = settings.parse(text)

    after = settings.insert(text, ("neosian",), value)

    assert settings.parse(after) == {**before, "neosian": value}
    assert list(settings.parse(after)) == [*before, "neosian"]


@given(texts(), VALUES)
def test_removing_what_was_inserted_gives_the_same_text(text: str, value: Any) -> None:
    after = settings.remove(settings.insert(text, ("neosian",), value), ("neosian",))

    assert after == text or settings.parse(text) == {}


@given(texts(), VALUES, st.data())
def test_a_member_can_be_replaced_or_removed_anywhere(text: str, value: Any, data: st.DataObject) -> None:
    before = settings.parse(text)
    if not before:
        return
    key = data.draw(st.sampled_from(sorted(before)))

    assert settings.parse(settings.replace(text, (key,), value)) == {**before, key: value}
    assert settings.parse(settings.remove(text, (key,))) == {k: v for k, v in before.items() if k != key}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", '{\n  "k": [\n    1\n  ]\n}'),
        ('{"a": 1}', '{"a": 1, "k": [1]}'),
        ('{"a":1}\n', '{"a":1,"k":[1]}\n'),
        ('{"a": 1, "b": 2 }', '{"a": 1, "b": 2, "k": [1] }'),
        ('{\n    "a": 1\n}\n', '{\n    "a": 1,\n    "k": [\n        1\n    ]\n}\n'),
        ('{\r\n\t"a": 1\r\n}', '{\r\n\t"a": 1,\r\n\t"k": [\r\n\t\t1\r\n\t]\r\n}'),
        ('{\n  "a": 1,\n\n  "b": 2\n}', '{\n  "a": 1,\n\n  "b": 2,\n  "k": [\n    1\n  ]\n}'),
    ],
)
def test_an_insertion_is_written_in_the_style_of_the_file(text: str, expected: str) -> None:
    assert settings.insert(text, ("k",), [1]) == expected


def test_a_list_grows_at_its_end_and_shrinks_in_the_middle() -> None:
    text = '{"a": [1, [2], {"x": 3}]}'

    assert settings.insert(text, ("a", 3), 4) == '{"a": [1, [2], {"x": 3}, 4]}'
    assert settings.remove(text, ("a", 1)) == '{"a": [1, {"x": 3}]}'
    assert settings.remove(text, ("a", 0)) == '{"a": [[2], {"x": 3}]}'


def test_of_a_key_that_stands_twice_the_last_is_meant() -> None:
    assert settings.replace('{"a": 1, "a": [2]}', ("a", 0), 3) == '{"a": 1, "a": [3]}'


def test_brackets_and_commas_inside_strings_are_text() -> None:
    text = '{"a": "]},{[\\"", "b": ["}", "\\\\"]}'

    assert settings.remove(text, ("b", 0)) == '{"a": "]},{[\\"", "b": ["\\\\"]}'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is empty"),
        (" \n", "it is empty"),
        ('{\n  // mine\n  "a": 1}', "line 2, column 3: a comment"),
        ('{"a": 1, /* x */ "b": 2}', "a comment"),
        ('{"a": 1,}', "a comma with nothing after it"),
        ('{"a": [1,]}', "a comma with nothing after it"),
        ('{"a": NaN}', "NaN is no JSON"),
        ('{"a": -Infinity}', "-Infinity is no JSON"),
        ("{'a': 1}", "not plain JSON"),
        ('{"a": 1} x', "extra data"),
        ('{"a": "\t"}', "not plain JSON"),
        ("[" * 200_000, "nested too deeply"),
        ("[]", "no JSON object"),
        ("null", "no JSON object"),
        (settings.BOM * 2 + "{}", "not plain JSON"),
    ],
)
def test_a_file_that_is_not_plain_json_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(settings.NotPlain) as caught:
        settings.decode("settings.json", text.encode())

    assert reason in str(caught.value)
    assert "settings.json was left as it is" in str(caught.value)


@pytest.mark.parametrize("raw", [b'{"a": "\xff"}', '{"a": 1}'.encode("utf-16")])
def test_other_encodings_are_refused(raw: bytes) -> None:
    with pytest.raises(settings.NotPlain, match="is not UTF-8"):
        settings.decode("settings.json", raw)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, // b\n}', {"a": 1}),
        ('{/* "a": 2, */ "b": [1, /* x */ // y\n ],}', {"b": [1]}),
        ('{"url": "http://x/*y*/", "s": "\\",}"}', {"url": "http://x/*y*/", "s": '",}'}),
        (settings.BOM + '{"a": 1}', {"a": 1}),
    ],
)
def test_comments_and_last_commas_can_be_read(text: str, value: Any) -> None:
    assert settings.parse_with_comments(text) == value


@pytest.mark.parametrize("text", ["{,}", '{"a": 1,,}', '{"a": "open', "{/* open", "[" * 100_000])
def test_what_is_no_json_beside_its_comments_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        settings.parse_with_comments(text)


def test_keys_that_stand_twice_are_named_with_their_path() -> None:
    value = settings.parse('{"a": [{"b": 1, "b": 2}], "c": 1, "c": 2, "c": 3}')

    assert settings.twice(value) == ["c", "a[0].b"]


def test_a_saved_file_keeps_its_mode_and_leaves_nothing_beside(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_bytes(b"{}")
    file.chmod(0o640)

    settings.save(str(file), b'{"a": 1}', b"{}")

    assert file.read_bytes() == b'{"a": 1}'
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["s.json"]


def test_a_new_file_can_be_read_by_its_owner_under_any_umask(tmp_path: Path) -> None:
    old = os.umask(0o777)
    try:
        settings.save(str(tmp_path / "s.json"), b"{}", None)
    finally:
        os.umask(old)

    assert stat.S_IMODE((tmp_path / "s.json").stat().st_mode) == 0o600


@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_followed_not_replaced(tmp_path: Path, there: bool) -> None:
    (tmp_path / "dotfiles").mkdir()
    target, link = tmp_path / "dotfiles" / "real.json", tmp_path / "s.json"
    if there:
        target.write_bytes(b"{}")
    link.symlink_to(target)

    settings.save(str(link), b'{"a": 1}', b"{}" if there else None)

    assert link.is_symlink()
    assert target.read_bytes() == b'{"a": 1}'


def test_a_read_only_file_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_bytes(b"{}")
    file.chmod(0o444)

    with pytest.raises(NeosianError, match="is read-only"):
        settings.save(str(file), b"[]", b"{}")

    assert file.read_bytes() == b"{}"


def test_a_file_of_two_names_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_bytes(b"{}")
    os.link(file, tmp_path / "other.json")

    with pytest.raises(NeosianError, match="a hard link"):
        settings.save(str(file), b"[]", b"{}")

    assert file.read_bytes() == b"{}"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_a_file_stays_its_owners(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_bytes(b"{}")
    os.chown(file, 1234, 1235)
    file.chmod(0o640)

    settings.save(str(file), b"[]", b"{}")

    found = file.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 1235, 0o640)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be two users")
def test_a_file_of_another_user_is_left_alone() -> None:
    with tempfile.TemporaryDirectory() as folder:  # the tests' own folder is closed to others
        os.chmod(folder, 0o777)
        file = os.path.join(folder, "s.json")
        Path(file).write_bytes(b"{}")
        os.chmod(file, 0o666)
        os.seteuid(1236)
        try:
            assert "belongs to another user" in settings.why_not_writable(file)
        finally:
            os.seteuid(0)


def test_a_file_that_moved_on_since_it_was_read_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_bytes(b'{"theirs": 1}')

    with pytest.raises(NeosianError, match="changed by another program"):
        settings.save(str(file), b'{"ours": 1}', b"{}")

    assert file.read_bytes() == b'{"theirs": 1}'


def test_settings_too_large_to_be_settings_are_not_read(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    with file.open("wb") as stream:
        stream.truncate(settings.MOST + 1)

    with pytest.raises(NeosianError, match="is larger than"):
        settings.read(str(file))


@pytest.mark.parametrize("again", ['\\"\\"', '"\\', "/*", '{"a":1,', '"x",  ', "x "])
def test_a_text_made_to_be_slow_is_read_once(again: str) -> None:
    """A quadratic reader would not come back from this within the hour."""
    with pytest.raises(ValueError):
        settings.parse_with_comments(again * (1 << 20))
    assert list(lines_in(again * (1 << 20))) == []


def test_keys_told_as_twice_are_counted_once() -> None:
    text = "{" + ",".join(f'"{n}":1' for n in [*range(100_000), 7]) + "}"
    assert settings.twice(settings.parse(text)) == ["7"]


@given(texts(), st.data())
def test_members_taken_away_together_are_as_one_by_one(text: str, data: st.DataObject) -> None:
    keys = data.draw(st.lists(st.sampled_from([*settings.parse(text), "none"]), unique=True))
    paths = [(key,) for key in keys if key != "none"]
    one_by_one = text
    for path in sorted(paths, key=lambda path: list(settings.parse(text)).index(path[0]), reverse=True):
        one_by_one = settings.remove(one_by_one, path)
    assert settings.remove_all(text, paths) == one_by_one


def test_a_folder_in_the_place_of_the_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NeosianError, match="is no file"):
        settings.read(str(tmp_path))
