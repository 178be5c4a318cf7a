"""The MCP server `neosian-memory`: the memory verbs, recall, skills and the board as tools, resources and prompts.

What reaches a model through here is text, and text only: some clients show nothing but `structuredContent`, some
nothing but text. The schemas keep to what every model provider takes: one type a property, no unions; an argument
that may be left out may also be null.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Annotated, Any, NamedTuple, TypeVar
from urllib.parse import quote

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolResult,
    GetPromptResult,
    InputRequiredResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    Resource,
    TextContent,
    ToolAnnotations,
)
from pydantic import BeforeValidator, Field, ValidationError

from neosian import (
    __version__,
    board,
    config,
    conversations,
    documents,
    editing,
    history,
    projects,
    recall,
    skills,
    transcript,
    turns,
)
from neosian.clients import MODULES, adapter
from neosian.clients.installers import calling_itself
from neosian.clients.mcp_clients import SERVER
from neosian.context import ago, board_line, date_of, fenced, index_lines, one_line
from neosian.errors import NeosianError, UsageError
from neosian.memory import Conflict, Done, Memory, Writer
from neosian.mounts import Layout, Mount, layout
from neosian.redact import redact
from neosian.scope import user_scope
from neosian.store import Store
from neosian.wiki import OTHERS, Missing, Wiki

INSTRUCTIONS_MOST = 1_950
"""Characters of the instructions: clients cut them, the strictest at 2,048, and Codex at about 250."""

_MOUNTS_MOST = 300  # characters of the mounts' names in the instructions
_MOST_ANSWERS = 1_000
_ANSWER_MOST = 40_000  # characters of one answer; clients cut what is much longer, and say less about it
_HEAD = (
    "Memory of this project and its user: notes and every earlier turn. Before you work, look with memory_search. "
    "Save what will matter in later sessions with memory_create or memory_str_replace. "
    "recall_turn shows an earlier turn whole."
)
_REST = (
    "Paths begin with a mount: {mounts}. Notes are short markdown files with a one-line `description` in front; "
    "change the one there is rather than adding a second. Skills: list_skills, load_skill. "
    "What is being done: board."
)

T = TypeVar("T")
Method = TypeVar("Method", bound=Callable[..., str])
_MARK = "tool"


def _or(default: T) -> BeforeValidator:
    """Take null for an argument that was left out."""
    return BeforeValidator(lambda given: default if given is None else given)


Text = Annotated[str, _or("")]
Number = Annotated[int, _or(0)]
Numbers = Annotated[list[int], _or([])]
ToolContext = Context[Any, Any]


class Server(MCPServer[Any]):
    """The server of one home. Each call sees mounts, documents and skills as they are then."""

    def __init__(self, home: str, look: Callable[[], Layout], confined: bool = False) -> None:
        """``confined``: nothing is told of scopes that are not mounted."""
        self.home = home
        self._look = look
        self.confined = confined
        super().__init__(
            SERVER, title="neosian memory", version=__version__, instructions=_instructions(Wiki(home, look())),
            log_level="ERROR",
        )  # fmt: skip
        Tools(self)
        self.resource(
            "memory://{+path}", name="document", title="A document of the memory", mime_type="text/markdown",
            description="memory://project/tools/deploy.md is the document /project/tools/deploy.md.",
        )(self._document)  # fmt: skip

    def wiki(self) -> Wiki:
        """The documents as they are now."""
        return Wiki(self.home, self._look(), others=not self.confined)

    def memory(self, context: ToolContext) -> Memory:
        """The same, for the agent that asks."""
        return Memory(self.wiki(), _writer(context))

    def stores(self, project: str = "") -> list[tuple[str, Store]]:
        """(mount, store) of the scopes to be searched: those mounted, or one project's."""
        if not project:
            return [(mount.mount, mount.store) for mount in self.wiki().mounts if mount.store.exists]
        if self.confined:
            raise UsageError("This server was started for its own scopes alone.")
        store = projects.open_store(self.home, projects.scope_of(self.home, project))
        return [(f"/{OTHERS}/{project}", store)] if store.exists else []

    def everywhere(self) -> list[Store]:
        """The stores mounted, then (unless confined) every other: a conversation's id finds it anywhere."""
        first = [store for _, store in self.stores()]
        seen = {store.scope for store in first}
        return (
            first
            if self.confined
            else first + [each for each in projects.stores(self.home) if each.scope not in seen]
        )

    # -- resources: every document

    async def list_resources(self) -> list[Resource]:
        """Each document of the mounts."""
        wiki = self.wiki()
        return [
            Resource(
                uri=f"memory:/{quote(f'{mount.mount}/{entry.path}')}", name=f"{mount.mount}/{entry.path}",
                title=one_line(entry.title) or None, description=one_line(entry.description, 140) or None,
                mime_type="text/markdown",
            )
            for mount in wiki.mounts
            for entry in wiki.entries(mount)
        ]  # fmt: skip

    def _document(self, path: str) -> str:
        try:
            return editing.shown(self.wiki().read(f"/{path}"))
        except Missing as error:
            raise ResourceNotFoundError(_said(error)) from None
        except NeosianError as error:
            raise ResourceError(_said(error)) from None

    # -- prompts: every skill

    async def list_prompts(self) -> list[Prompt]:
        """Each skill of the mounts, with its arguments."""
        return [
            Prompt(
                name=skill.name, description=skill.description or None,
                arguments=[PromptArgument(name=name, required=False) for name in skill.arguments],
            )
            for skill in skills.skills(self.wiki())
        ]  # fmt: skip

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: ToolContext | None = None
    ) -> GetPromptResult:
        """A skill with its arguments filled in, as what the person says."""
        given = {key: str(value) for key, value in (arguments or {}).items() if value is not None}
        try:
            skill, text = skills.run(self.wiki(), name, given)
        except NeosianError as error:
            raise MCPError(code=INVALID_PARAMS, message=_said(error)) from None
        said = PromptMessage(role="user", content=TextContent(type="text", text=text))
        return GetPromptResult(description=skill.description, messages=[said])

    # -- calls

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: ToolContext | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool; what is wrong with its arguments is said in a sentence."""
        known = next(
            (list(tool.input_schema["properties"]) for tool in await self.list_tools() if tool.name == name),
            [],
        )
        unknown = sorted(set(arguments) - set(known)) if known else []
        if unknown:
            raise ToolError(f"{name} has no argument {', '.join(unknown)}; it has: {', '.join(known)}.")
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                wrong = [
                    f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.__cause__.errors()
                ]
                raise ToolError(f"{name} was called wrongly: {'; '.join(wrong)}.") from None
            raise


def serve(home: str, flags: Sequence[str] = (), project: str | None = None) -> None:
    """Serve stdin and stdout until the client goes. ``flags`` as a hook line has them; an explicit ``project`` wins."""
    if project is not None:
        projects.scope_of(home, project)  # an unknown one is refused before anything is served
    directory = os.environ.get("CLAUDE_PROJECT_DIR") or _directory(home)

    def look() -> Layout:
        if project is not None:
            return Layout(
                [Mount("/user", user_scope()), Mount("/project", projects.scope_of(home, project))],
                "--project",
            )
        settings, _ = config.load(home)
        return layout(home, directory, settings, flags, os.environ.get("NEOSIAN_SCOPE", ""))

    if sys.stdin is None or sys.stdout is None:
        raise NeosianError(
            "An MCP server needs stdin and stdout, and one of them is closed.", "neosian mcp install --help"
        )
    signal.signal(
        signal.SIGINT, signal.SIG_DFL
    )  # every write is whole or nothing, so nothing is to be tidied up
    _mend_stdin()
    try:
        Server(home, look, confined=bool(flags)).run("stdio")
    except* (BrokenPipeError, ConnectionResetError):
        pass  # the client went without a word


def _mend_stdin() -> None:
    """Have what the client sends pass through our hands first: the SDK leaves a message without an answer that holds
    half a character (a cut emoji, in JavaScript), or begins with a byte order mark."""
    source = os.fdopen(os.dup(0), "rb")
    read, write = os.pipe()
    os.dup2(read, 0)
    os.close(read)

    def copy() -> None:
        with os.fdopen(write, "wb") as sink:
            for line in source:
                sink.write(_mended(line))
                sink.flush()

    threading.Thread(target=copy, daemon=True).start()


def _mended(line: bytes) -> bytes:
    line = line.removeprefix(b"\xef\xbb\xbf")
    if b"\\ud" not in line.lower():
        return line
    try:
        said = json.dumps(json.loads(line), ensure_ascii=False)
    except (ValueError, RecursionError):
        return line
    return said.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode() + b"\n"


def _directory(home: str) -> str:
    try:
        return os.getcwd()
    except OSError:
        return home  # it is gone: the user's scope will do


def _instructions(wiki: Wiki) -> str:
    """What the client is told at once: how to use this, then the index of notes as far as there is room."""
    names = ", ".join(mount.mount + ("" if mount.writable else " (read-only)") for mount in wiki.mounts)
    said = f"{_HEAD}\n{_REST.format(mounts=one_line(names, _MOUNTS_MOST))}\n"
    now = time.time()
    listed = [
        (mount.mount, entry)
        for mount in wiki.mounts
        for entry in wiki.entries(mount)
        if not entry.path.startswith("board/") and not documents.is_past(entry.expires, date_of(now))
    ]
    index = index_lines(listed, now, INSTRUCTIONS_MOST - len(said) - len(fenced("")))
    return said + fenced(index) if index else said


def _writer(context: ToolContext) -> Writer:
    """Who calls: the session that the client's own marks name, else the client."""
    params = context.request_context.session.client_params
    client = calling_itself(params.client_info.name) if params else "agent"
    # Of the marks only its own count: an agent that was started from another one's shell has that one's, too.
    session = adapter(client).session_of(os.environ) if client in MODULES else ""
    return Writer.of_session(client, session) if session else Writer.of_client(client)


def _said(error: NeosianError) -> str:
    """An error for a model: what a document says is fenced, and a way on that is a tool is named as one."""
    said = f"{error.what}\n{fenced(error.both).rstrip()}" if isinstance(error, Conflict) else str(error)
    if error.hint.startswith("neosian memory view"):
        return f"{said}\nTry: memory_view{error.hint.removeprefix('neosian memory view')}"
    return f"{said}\nIn a shell: {error.hint}" if error.hint.startswith("neosian ") else said


def _data(text: str) -> str:
    """Stored text for a model: fenced, since what somebody or a tool once said is never an instruction."""
    if len(text) > _ANSWER_MOST:
        text = (
            f"{text[:_ANSWER_MOST]}\n[… {len(text) - _ANSWER_MOST:,} more characters: ask for less at a time]"
        )
    return fenced(text)


def _done(done: Done) -> str:
    if done.commit is None:
        return f"{done.place} was so already; nothing had to be written."
    return f"{done.said} ({done.place}, commit {done.commit[:10]}). To take it back: {done.undo}."


def _most(limit: int, otherwise: int) -> int:
    """How many answers are wanted; models send 0, or less, where they do not care."""
    return min(limit, _MOST_ANSWERS) if limit > 0 else otherwise


def _moment(text: str) -> float | None:
    return recall.moment(text) if text else None


# -- tools

_READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
# Nothing is lost by a write: history keeps every version. Codex runs, unasked, only what says so.
_WRITES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
# Claude Code otherwise shows the model only the tools' names, and it has to ask for the rest.
_AT_HAND = {"anthropic/alwaysLoad": True}
_PATH = "Path of a note, such as /project/tools/deploy.md or /user/profile/role.md."


class _Kind(NamedTuple):
    """What a tool tells a client of itself beside its description."""

    annotations: ToolAnnotations
    meta: dict[str, Any] | None


def _tool(annotations: ToolAnnotations, *, at_hand: bool = False) -> Callable[[Method], Method]:
    """Make a tool of a method: its docstring is what the model reads."""

    def mark(method: Method) -> Method:
        setattr(method, _MARK, _Kind(annotations, _AT_HAND if at_hand else None))
        return method

    return mark


class Tools:
    """Each tool is a thin coat on one verb; its docstring is written for the model that is to use it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        for name, method in vars(Tools).items():
            kind: _Kind | None = getattr(method, _MARK, None)
            if kind is not None:
                server.add_tool(
                    _told(getattr(self, name)), name=name, description=" ".join((method.__doc__ or "").split()),
                    annotations=kind.annotations, meta=kind.meta, structured_output=False,
                )  # fmt: skip

    @_tool(_READS, at_hand=True)
    def memory_search(
        self,
        query: Annotated[str, Field(description="Any text.")],
        limit: Annotated[Number, Field(description="At most so many answers (10).")] = 0,
        project: Annotated[Text, Field(description="Search another project, by its name.")] = "",
    ) -> str:
        """Search the memory (notes, and what was said and done in earlier sessions) with any words: a question,
        an error message, a name. Use it before you start on something, and whenever the person refers to
        earlier work. Notes come with their path (memory_view shows them), turns as CONVERSATION#N (recall_turn
        shows them whole)."""
        hits = recall.search_mounts(self._server.stores(project), query, limit=_most(limit, 10), behind=None)
        return _data("\n".join(hit.text() for hit in hits)) if hits else "Nothing found."

    @_tool(_READS, at_hand=True)
    def memory_view(
        self,
        path: Annotated[Text, Field(description="Path of a note or folder (default /).")] = "",
        view_range: Annotated[
            Numbers, Field(description="First and last line to show, such as [1, 40]; -1 is the last line.")
        ] = [],  # noqa: B006 - never changed
    ) -> str:
        """Show a note with line numbers, or list what a folder holds; / is everything, /project and /user are
        mounts. Use it before you change a note."""
        if len(view_range) not in (0, 2):
            raise UsageError(f"view_range has two numbers, not {len(view_range)}: [1, -1] is all of it.")
        return _data(self._server.wiki().view(path or "/", view_range or None))

    @_tool(_WRITES, at_hand=True)
    def memory_create(
        self,
        path: Annotated[str, Field(description=_PATH + " It must be free.")],
        file_text: Annotated[str, Field(description="The whole text of the note, in markdown.")],
        context: ToolContext,
    ) -> str:
        """Write a new note: what was decided, learned or asked for and will matter in a later session. One
        topic a note. Begin it with front matter that has a one-line description (---, description: "…", ---),
        then the fact, why it is so, how to apply it. About the person: /user/profile/…; about this project:
        /project/…; steps that will be repeated: /project/skills/NAME/SKILL.md. Search first: if a note on the
        topic exists, change that one."""
        return _done(self._server.memory(context).create(path, file_text))

    @_tool(_WRITES, at_hand=True)
    def memory_str_replace(
        self,
        path: Annotated[str, Field(description=_PATH)],
        old_str: Annotated[
            str, Field(description="Text that stands in the note exactly once, word for word.")
        ],
        context: ToolContext,
        new_str: Annotated[Text, Field(description="What it becomes; empty takes it out.")] = "",
    ) -> str:
        """Change a note: replace one text, which must stand in it exactly once, by another. Use it to bring a
        note up to date instead of writing a second one."""
        return _done(self._server.memory(context).str_replace(path, old_str, new_str))

    @_tool(_WRITES)
    def memory_insert(
        self,
        path: Annotated[str, Field(description=_PATH)],
        insert_line: Annotated[int, Field(description="The line after which they go.")],
        insert_text: Annotated[str, Field(description="The lines.")],
        context: ToolContext,
    ) -> str:
        """Add lines to a note after a line, as memory_view numbers them; 0 is the beginning."""
        return _done(self._server.memory(context).insert(path, insert_line, insert_text))

    @_tool(_WRITES)
    def memory_delete(
        self, path: Annotated[str, Field(description="Path of the note or folder.")], context: ToolContext
    ) -> str:
        """Take away a note, or a folder of notes, that is of no use any more. History keeps it: `neosian
        revert` brings it back."""
        return _done(self._server.memory(context).delete(path))

    @_tool(_WRITES)
    def memory_rename(
        self,
        old_path: Annotated[str, Field(description="Where it is.")],
        new_path: Annotated[str, Field(description="Where it is to be.")],
        context: ToolContext,
    ) -> str:
        """Move a note, or a folder of notes, to a path that is free. `neosian revert` takes it back."""
        return _done(self._server.memory(context).rename(old_path, new_path))

    @_tool(_WRITES)
    def memory_flag(
        self,
        path: Annotated[str, Field(description=_PATH)],
        kind: Annotated[str, Field(description="stale (it was right once) or wrong (it never was).")],
        context: ToolContext,
        reason: Annotated[Text, Field(description="What is not so any more, in a sentence.")] = "",
    ) -> str:
        """Say that a note is stale or wrong when you notice it and cannot put it right yourself. It is shown
        beside the note until somebody changes it."""
        return _done(self._server.memory(context).flag(path, kind, reason))

    @_tool(_READS)
    def memory_history(
        self,
        path: Annotated[str, Field(description=_PATH)],
        diff: Annotated[bool, _or(False), Field(description="Show the change itself.")] = False,
        commit: Annotated[Text, Field(description="A commit of the list.")] = "",
        limit: Annotated[Number, Field(description="At most so many commits (20).")] = 0,
    ) -> str:
        """Tell how a note came to be: who changed it, when, in which commit; with diff=true what the last
        change was (or the one of a commit)."""
        place = self._server.wiki().place(path)
        with closing(place.store.repo):
            if diff or commit:
                said = redact(history.diff(place.store, place.path, None, commit or None))
                return _data(said or "Nothing changed.")
            found = history.log(place.store, place.path, _most(limit, 20))
        rows = [f"{each.id[:10]} {turns.stamp(each.at)[:16]} {each.actor}: {each.subject}" for each in found]
        return _data("\n".join(rows)) if rows else f"Nothing has touched {place} yet."

    @_tool(_READS, at_hand=True)
    def recall_turn(
        self,
        n: Annotated[int, Field(description="The turn's number.")],
        conversation: Annotated[
            str, Field(description="The conversation's id; a unique beginning is enough.")
        ],
    ) -> str:
        """Show an earlier turn whole: the prompt, every tool call with its result, the answer. Turns are named
        CONVERSATION#N by memory_search and at the start of a session."""
        wanted = conversations.split(conversation)[0]
        found = conversations.find_turns(self._server.everywhere(), wanted, n)
        return _data("\n\n".join(transcript.whole(turn) for turn in found))

    @_tool(_READS)
    def recall_search(
        self,
        query: Annotated[str, Field(description="Any text.")],
        conversation: Annotated[Text, Field(description="Only turns of this conversation.")] = "",
        since: Annotated[Text, Field(description="Only turns since 2026-11-29, 3d, 2h.")] = "",
        limit: Annotated[Number, Field(description="At most so many answers (10).")] = 0,
        project: Annotated[Text, Field(description="Search another project, by its name.")] = "",
    ) -> str:
        """Search only what was said and done in earlier turns, in one conversation or since a time.
        memory_search looks through the notes, too."""
        hits = recall.search_mounts(
            self._server.stores(project), query, kind="turn", conversation=conversation or None, since=_moment(since),
            limit=_most(limit, 10), behind=None,
        )  # fmt: skip
        return _data("\n".join(hit.text() for hit in hits)) if hits else "Nothing found."

    @_tool(_READS)
    def list_sessions(
        self,
        limit: Annotated[Number, Field(description="At most so many (20).")] = 0,
        project: Annotated[Text, Field(description="Those of another project, by its name.")] = "",
    ) -> str:
        """List the earlier sessions, the newest first: when, with which client, how many turns, what about."""
        most = _most(limit, 20)
        found = [
            session
            for _, store in self._server.stores(project)
            for session in recall.sessions(store, most, None)
        ]
        found.sort(key=lambda session: -session.last)
        now = time.time()
        rows = [
            f"- {session.conversation} ({session.client}, {session.turns} turns, {ago(session.last, now)}):"
            f" {session.first}"
            for session in found[:most]
        ]
        return _data("\n".join(rows)) if rows else "No session has been recorded yet."

    @_tool(_READS)
    def list_skills(self) -> str:
        """List the skills that were saved here: how something is done, step by step."""
        rows = [
            f"- {skill.name}: {skill.description} ({skill.place})"
            for skill in skills.skills(self._server.wiki())
        ]
        return _data("\n".join(rows)) if rows else "No skill yet."

    @_tool(_READS)
    def load_skill(
        self,
        name: Annotated[str, Field(description="The skill's name, as list_skills gives it.")],
        file: Annotated[Text, Field(description="Another file of the skill's folder.")] = "",
    ) -> str:
        """Load a skill before you do what it is about; or another file of its folder."""
        return skills.load(self._server.wiki(), name, file)

    @_tool(_WRITES)
    def board(
        self,
        context: ToolContext,
        action: Annotated[Text, Field(description="list (default), add or update.")] = "",
        title: Annotated[Text, Field(description="What is to be done, for add.")] = "",
        item: Annotated[Text, Field(description="Name of an item as the list gives it, for update.")] = "",
        status: Annotated[
            Text, Field(description="For update: doing (you take it), done, dropped or open.")
        ] = "",
    ) -> str:
        """The board: what is being done now, over sessions and agents. Use it when the person speaks of what is left
        to do, when you take up or finish a piece of work, and to leave work for a later session."""
        return _board(self._server.memory(context), action or "list", title, item, status)


_ACTIONS = {"open": "add", "doing": "start", "done": "done", "dropped": "drop"}  # of board.update, by status


def _board(memory: Memory, action: str, title: str, item: str, status: str) -> str:
    if action == "list":
        now = time.time()
        rows = [board_line(each.slug, each.entry, now) for each in board.items(memory.wiki) if each.is_open]
        return _data("\n".join(rows)) if rows else "Nothing is open."
    if action == "add":
        return _done(board.add(memory, title or item))
    verb = _ACTIONS.get(status, status) if action == "update" else action
    if verb not in board.STATUSES:
        raise UsageError(
            f"action is list, add or update (with status {', '.join(_ACTIONS)}), not {action!r} {status!r}."
        )
    return _done(board.update(memory, item or title, verb))


def _told(function: Callable[..., str]) -> Callable[..., str]:
    """The function, with what it expects to go wrong told to the model."""
    from functools import wraps

    @wraps(function)
    def told(*args: Any, **named: Any) -> str:
        try:
            return function(*args, **named)
        except NeosianError as error:
            raise ToolError(_said(error)) from None
        except OSError as error:
            raise ToolError(f"{error.strerror or error}: nothing was written.") from None

    return told
