"""Settings: every key has a default, a wrong one is told and does not stop anything."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from neosian import config
from neosian.calls import Globs
from neosian.scope import matches


def written(home: Path, text: str) -> str:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(text, encoding="utf-8")
    return str(home)


def test_without_a_file_every_setting_has_its_default(tmp_path: Path) -> None:
    settings, wrong = config.load(str(tmp_path / "none"))
    assert wrong == ""
    assert (settings.record_output_chars, settings.record_input_chars) == (4096, 16_384)
    assert (settings.record_capture, settings.context_start, settings.context_budget) == ("all", True, 9500)
    assert settings.record_silence == 6 * 3600
    assert Globs(settings.record_ignore).match(["/src/shop/.env"])


def test_a_file_says_what_differs(tmp_path: Path) -> None:
    home = written(
        tmp_path,
        '[record]\noutput_chars = 100\nignore = ["**/x"]\ncapture = "marked"\n[context]\nstart = false\n',
    )
    settings, wrong = config.load(home)
    assert (settings.record_output_chars, settings.record_ignore) == (100, ("**/x",))
    assert (settings.record_capture, settings.context_start, wrong) == ("marked", False, "")
    assert settings.record_input_chars == 16_384


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("record = 1", "record must be a table, not 1"),
        ("[record]\noutput_chars = -1", "record.output_chars must be a whole number of at least 0, not -1"),
        ("[record]\noutput_chars = true", "record.output_chars must be a whole number"),
        ('[record]\nignore = "**"', "record.ignore must be a list of texts, not '**'"),
        ("[context]\nstart = 1", "context.start must be true or false, not 1"),
    ],
)
def test_a_wrong_setting_is_named_and_its_default_counts(text: str, told: str, tmp_path: Path) -> None:
    settings, wrong = config.load(written(tmp_path, text))
    assert told in wrong
    assert wrong.startswith(str(tmp_path / "config.toml"))
    assert wrong.endswith("; the default counts instead.")
    assert (settings.record_output_chars, settings.context_start) == (4096, True)


def test_one_wrong_setting_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    settings, wrong = config.load(written(tmp_path, "[record]\noutput_chars = -1\ninput_chars = 10\n"))
    assert (settings.record_output_chars, settings.record_input_chars) == (4096, 10)
    assert "input_chars" not in wrong


@pytest.mark.parametrize("text", ["[record", "a = ", "\0"])
def test_what_is_not_toml_is_told(text: str, tmp_path: Path) -> None:
    settings, wrong = config.load(written(tmp_path, text))
    assert "is not TOML" in wrong
    assert settings.record_output_chars == 4096


def test_a_file_that_is_not_utf_8_is_told(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(b"\xff\xfe[record]")
    assert "is not TOML" in config.load(str(tmp_path))[1]


def test_a_changed_file_is_read_anew(tmp_path: Path) -> None:
    home = written(tmp_path, "[record]\noutput_chars = 100\n")
    assert config.load(home)[0].record_output_chars == 100
    written(tmp_path, "[record]\noutput_chars = 2000\n")
    assert config.load(home)[0].record_output_chars == 2000


def test_what_a_file_said_is_taken_from_the_cache_while_it_stands(tmp_path: Path) -> None:
    home = written(tmp_path, "[record]\noutput_chars = 100\n")
    config.load(home)
    cache = tmp_path / "cache" / "config.json"
    kept = json.loads(cache.read_text())
    cache.write_text(json.dumps(kept | {"said": {"record": {"output_chars": 7}}}))
    assert config.load(home)[0].record_output_chars == 7


@pytest.mark.parametrize("cached", [b"", b"{", b"[]", b"null", b'{"of": 1}', b"\xff"])
def test_a_broken_cache_is_written_anew(cached: bytes, tmp_path: Path) -> None:
    home = written(tmp_path, "[record]\noutput_chars = 100\n")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "config.json").write_bytes(cached)
    settings, wrong = config.load(home)
    assert (settings.record_output_chars, wrong) == (100, "")


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    home = written(tmp_path, "[record]\noutput_chars = 100\n")
    (tmp_path / "cache").write_text("a file")
    assert config.load(home)[0].record_output_chars == 100
    assert os.path.isfile(tmp_path / "cache")


@pytest.mark.parametrize(
    ("path", "throwaway"),
    [
        ("/tmp/claude-0/work", True),
        ("/tmp/claude-0", True),
        ("/tmp/claude-0/a/b/c", True),
        ("/private/tmp/claude-501/x", True),
        ("/tmp/shop", False),
        ("/home/dev/tmp/claude-0/x", False),
    ],
)
def test_folders_that_a_client_makes_for_a_moment_are_known(path: str, throwaway: bool) -> None:
    assert matches(path, config.THROWAWAY) is throwaway


@pytest.mark.parametrize("value", ['"Marked"', '"some"', "true", "[]"])
def test_a_capture_that_is_no_choice_counts_as_the_narrower_one(value: str, tmp_path: Path) -> None:
    settings, wrong = config.load(written(tmp_path, f"[record]\ncapture = {value}"))
    assert settings.record_capture == "marked"
    assert "record.capture must be one of all, marked" in wrong
    assert wrong.endswith("; marked counts instead.")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[record]\nignor = []", "There is no setting record.ignor. Did you mean ignore?"),
        ("[contxt]\nstart = false", "There is no table contxt. Did you mean context?"),
        ("[record]\nxyzzy = 1", "There is no setting record.xyzzy."),
        ("ignore = []", "There is no setting ignore."),
    ],
)
def test_a_name_that_no_setting_has_is_told_with_the_nearest_one(
    text: str, told: str, tmp_path: Path
) -> None:
    assert config.load(written(tmp_path, text))[1] == f"{tmp_path}/config.toml: {told}"


@pytest.mark.parametrize(
    "text",
    [
        '[record]\ncaptrue = "marked"',
        'capture = "marked"',
        '[recrod]\ncapture = "marked"',
        '[record]\ncapture = "marked"\n[broken',
    ],
)
def test_a_slip_in_the_name_of_capture_records_no_more_than_was_meant(text: str, tmp_path: Path) -> None:
    settings, wrong = config.load(written(tmp_path, text))
    assert settings.record_capture == "marked"
    assert wrong


def test_a_slip_that_says_all_changes_nothing(tmp_path: Path) -> None:
    settings, wrong = config.load(written(tmp_path, '[record]\ncaptrue = "all"'))
    assert (settings.record_capture, "Did you mean capture?" in wrong) == ("all", True)
