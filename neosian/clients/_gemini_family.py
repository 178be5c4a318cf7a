"""What Gemini CLI and Qwen Code, which grew out of it, have in common: the shape in which a tool's output comes.

Of a tool's ``tool_response`` the member ``llmContent`` is read, which is what the model is told. What the person is
shown (``returnDisplay``) holds whole files before and after an edit, and colours.
"""

from __future__ import annotations

from neosian import payload as text_of
from neosian.clients._reading import readable, text_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Payload = dict[str, Any]

SHELL = "run_shell_command"
EDITORS = ("write_file", "replace", "edit")
ASKERS = ("ask_user", "ask_user_question")

_OPENED, _CLOSED = "<untrusted_context>\n", "\n</untrusted_context>"
# What the shell tool puts around an output, each a line of its own; the last ones of these only where they are not so.
_BEFORE, _FIRST = "\nDirectory: ", "Output: "
_BEHIND = ("Error: ", "Exit Code: ", "Signal: ", "Background PIDs: ", "Process Group PGID: ")
_GOOD = ("Error: (none)", "Exit Code: 0", "Signal: (none)", *_BEHIND[3:])
_EMPTY = "(empty)"
_ANSWERED = ('{"answers":', "User has provided the following answers:")
_STOPPED = ("Command was cancelled", "Command was automatically cancelled", "Command timed out")
# Where the text of an edit stops being about the edit: what follows is the file.
_FILE = (" Here is the updated code:", " Showing lines ", "\n")


def output(tool: str, content: Any) -> tuple[str, bool | None]:
    """What a tool gave back, as a person would read it, and whether it went well; None where nobody says."""
    text = _told(content)
    if tool == SHELL:
        return shell_output(text)
    if tool in EDITORS:
        text = text_of.part(text, 0, min((at for at in map(text.find, _FILE) if at >= 0), default=None))
    return text, True


def is_answer(tool: str, text: str) -> bool:
    """Whether an output is what a person answered to a tool's questions."""
    return tool in ASKERS and text.startswith(_ANSWERED)


def shell_output(text: str) -> tuple[str, bool | None]:
    """An output without what the shell tool writes around it, but for what went wrong."""
    start = 0 if text.startswith(_FIRST) else text.find(f"\n{_FIRST}", max(0, text.find(_BEFORE))) + 1
    if not text.startswith(_FIRST, start):
        return text, False if text.startswith(_STOPPED) else None
    end, wrong = len(text), list[str]()
    while (line := text.rfind("\n", start, end) + 1) and text.startswith(_BEHIND, line):
        if not text.startswith(_GOOD, line):
            wrong.insert(0, text[line:end])
        end = line - 1
    said = text_of.part(text, start + len(_FIRST), end)
    lines = ["" if said == _EMPTY else said, *wrong]
    return text_of.joined([line for line in lines if line] or [""]), not wrong


def _told(content: Any) -> str:
    """Text as it is, parts of a message as their texts, a picture as its kind."""
    parts = content if isinstance(content, list) else [content]
    if any(isinstance(part, dict) for part in parts):
        return text_of.joined([_part(part) for part in parts])
    return _unwrapped(readable(content))


def _part(part: Any) -> str:
    if not isinstance(part, dict):
        return _unwrapped(readable(part))
    for name in ("inlineData", "fileData"):
        if isinstance(part.get(name), dict):
            return f"({text_in(part[name], 'mimeType') or 'data'})"
    return _unwrapped(text_in(part, "text")) if "text" in part else text_of.compact(part)


def _unwrapped(text: str) -> str:
    """What stands in the element that marks a text as nobody's instructions."""
    if not (text.startswith(_OPENED) and text.endswith(_CLOSED)):
        return text
    return text_of.part(text, len(_OPENED), -len(_CLOSED))
