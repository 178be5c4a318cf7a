"""``neosian docs``: the manual, page by page."""

from __future__ import annotations

import argparse

from neosian import docs, output


def configure(parser: argparse.ArgumentParser) -> None:
    """The page asked for, or none for the list of pages."""
    parser.description = "Print a page of the manual, as Markdown; without a topic, list the pages."
    parser.add_argument("topic", nargs="?", metavar="TOPIC", help="the page to print")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace) -> int:
    """Print one page, or every page's name and what it is for."""
    if args.topic is None:
        _print_topics(as_json=args.json)
    else:
        _print_page(args.topic, as_json=args.json)
    return 0


def _print_topics(*, as_json: bool) -> None:
    topics = docs.topics()
    if as_json:
        output.as_json([{"topic": topic.name, "purpose": topic.purpose} for topic in topics])
    else:
        output.text(output.table(topics, free=True))


def _print_page(topic: str, *, as_json: bool) -> None:
    text = docs.page(topic)
    if as_json:
        output.as_json({"topic": topic.lower(), "text": text})
    else:
        output.text(text.rstrip("\n"))
