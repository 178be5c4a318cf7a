"""Sentences of what somebody wrote: Markdown taken apart, code and quotes of others left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from neosian import speech

_FENCE = re.compile(r"[ \t]*(?:[-*+>][ \t]+)?(`{3,}|~{3,})")
_TAG = re.compile(r"<([A-Za-z][\w-]{0,40})(?:\s[^<>]{0,200})?>")
_SENTENCE = re.compile(
    r"(?:[^.!?…。！？；]|[.!?…](?![\s\"')\]”’»]|\Z))+[.!?…。！？；\"')\]”’»]*|[.!?…。！？；]+"
)
_SHORTENED = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|no|z\.B|d\.h|bzw|ca|usw|p\.ex|p\.ej|ex|bijv)\.$", re.IGNORECASE
)
_MARKS = re.compile(r"[ \t]*(?:(?:[-*+•·]|\d{1,3}[.)]|#{1,6})[ \t]+|\[[ xX]\][ \t]+)*")
# A pasted line: quoted, a row of a table, a shell's, indented as code, a stack's, a log's, a patch's, or all code.
_PASTED = re.compile(
    r"\s*[>|]|\s*\$ |\t| {4,}(?![-*+•]|\d{1,3}[.)])|\s*(?:File \"|at \S+ ?\(|Traceback \(|E {2,}|@@ |\+\+\+ |--- )"
    r"|\s*\[?\d{4}-\d\d-\d\d[T ]\d\d:|\s*(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL)\b[\s:\]]|.*[{};]\s*$"
)
# A line that leads to what somebody else wrote.
_LEADS = re.compile(
    r"\b(?:says?|said|wrote|writes|reads?|outputs?|prints?|printed|logs?|errors?|messages?|e-?mail|paste[ds]?|quotes?"
    r"|here(?:'s| is| are)|following|below|from (?:the|our|their)|readme|docs?|page|file|template"
    r"|sagt|schreibt|steht|hier ist|ausgabe|fehler|folgende[snr]?|dit|écrit|voici|sortie|erreur|suivante?s?"
    r"|dice|escribió|aquí está|salida|siguiente|diz|escreveu|aqui está|saída|seguinte|scrive|ecco|uscita|errore"
    r"|zegt|schrijft|hier is|uitvoer|fout|volgende)\b"
    r"|如下|以下|输出|报错|日志|写道|次の|出力|エラー|다음|출력|오류|следующ|вывод|ошибк|пишет|вот\b",
    re.IGNORECASE,
)
_LONG = 3_000  # characters of a prompt from which on its middle is taken for a paste
_PARAGRAPH = 600  # of a long prompt, characters of a paragraph that a person may have typed
_ENDS = 2  # of a long prompt, paragraphs at each end that may be the person's


def sentences(text: str) -> list[str]:
    """The sentences of a Markdown text, each on one line, without code blocks, tables and the marks of lists."""
    return [sentence for line in _lines(text) for sentence in of_line(line)]


def of_line(line: str) -> list[str]:
    """The sentences of one line, the marks of a list or a heading in front of it left out."""
    found: list[str] = []
    for match in _SENTENCE.finditer(line[_MARKS.match(line).end() :].replace("**", "")):  # type: ignore[union-attr]
        piece = match[0].strip()
        if found and _SHORTENED.search(found[-1][-9:]):
            found[-1] = f"{found[-1]} {piece}"
        elif piece:
            found.append(piece)
    return found


def _lines(text: str) -> Iterator[str]:
    """The lines outside of code blocks and tables."""
    return (line for line in unfenced(text) if line.strip() and not line.lstrip().startswith("|"))


def unfenced(text: str) -> Iterator[str]:
    """The lines of a text, those of its code blocks left out; a block that is never closed reaches to the end."""
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
        elif not fence:
            yield line


def own_lines(prompt: str, is_own: Callable[[str], bool]) -> list[str]:
    """The lines of a prompt that its person typed, as far as can be told; a blank one between paragraphs.

    What a client wrote around them, code, quotes, logs, what stands between tags, and what a line such as
    `the log says:` leads to are left out (not behind a line that ``is_own``); so is the middle of a long text.
    """
    words = speech.spoken(prompt)
    if words[:1] == "!" or (words[:1] == "/" and words[1:2].isalpha()):
        return []
    is_long = len(words) > _LONG
    if is_long:
        words = f"{words[:_LONG]}\n\n{words[-_LONG:]}"
    paragraphs = _paragraphs(unfenced(_untagged(words)))
    if is_long:
        ends = [*paragraphs[:_ENDS], *paragraphs[_ENDS:][-_ENDS:]]
        paragraphs = [lines for lines in ends if sum(map(len, lines)) <= _PARAGRAPH]
    return [line for lines in _unled(paragraphs, is_own) for line in (*lines, "")]


def _untagged(text: str) -> str:
    """A text without what stands between tags; a tag that is never closed is the person's word."""
    kept, at = list[str](), 0
    for tag in _TAG.finditer(text):
        end = text.find(f"</{tag[1]}>", tag.end()) if tag.start() >= at else -1
        if end >= 0:
            kept.append(text[at : tag.start()])
            at = end + len(tag[1]) + 3
    return "\n".join([*kept, text[at:]])


def _paragraphs(lines: Iterable[str]) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return [lines for lines in found if lines]


def _unled(paragraphs: list[list[str]], is_own: Callable[[str], bool]) -> Iterator[list[str]]:
    """The paragraphs without pasted lines, and without what a line led to that names it as somebody else's."""
    led = False
    for lines in paragraphs:
        mine: list[str] = []
        if led:
            led = False
            continue
        for line in lines:
            if not _PASTED.match(line):
                mine.append(line)
            if _leads(line) and not is_own(line):
                led = line is lines[-1]
                break
        if mine:
            yield mine


def _leads(line: str) -> bool:
    return line.rstrip().endswith((":", "：")) and _LEADS.search(line) is not None
