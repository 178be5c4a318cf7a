"""What a shell's line ran: its commands one by one, each with its name, its flags, and how it ended where that shows.

A shell's grammar is larger than this. What is not understood (loops, substitutions, scripts given on standard input)
gives no command rather than a wrong one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

TEMPORARY = re.compile(r"(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm|run/user)(?:/|$)")
HIDDEN = "…"
"""Stands in a form for a word that is long, quoted, secret or of one day only."""
_LINE_MOST = 4_000  # characters of a line that are looked at
_WORD_MOST = 60
_FLAG_MOST = 30

_HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)(\w+)\1")
_TOKEN = re.compile(
    r"(?P<comment>(?:(?<=\s)|^)#[^\n]*)"
    r"|(?P<redirect>(?:\d|&)?(?:>>|>\||>|<<<|<)(?:&\d?-?|[ \t]*(?:'[^']*'|\"[^\"]*\"|[^\s;|&<>()'\"]+)?))"
    r"|(?P<end>&&|\|\|?&?|;+|&|\n|[()])"
    r"|(?P<word>(?:'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.|[^\s;|&<>()'\"\\]+|[^\s;|&<>()])+)",
    re.DOTALL,
)
_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")
_SCRIPT_WORDS = frozenset("for while until case if select function [[".split())

# Commands before a command; those with a value of their own before it.
_WRAPPERS = frozenset(
    "sudo time nohup nice exec command builtin env stdbuf xvfb-run doas ! { then do else".split()
)
_RUNNERS = (
    ("uv", "run"), ("poetry", "run"), ("pdm", "run"), ("pipenv", "run"), ("rye", "run"), ("hatch", "run"),
    ("bundle", "exec"), ("pnpm", "exec"), ("pnpm", "dlx"), ("yarn", "exec"), ("yarn", "dlx"), ("npm", "exec"),
    ("npx",), ("bunx",), ("uvx",), ("pipx", "run"), ("direnv", "exec"),
)  # fmt: skip
_INTERPRETERS = re.compile(
    r"(?:python|pypy)[\d.]*|node|nodejs|ruby|perl|php|bash|sh|zsh|dash|tsx|ts-node|bun|deno|Rscript|lua|java"
)
_TOLD_TWICE = frozenset(
    "run compose exec x script pr issue repo release workflow tool mod app dev image".split()
)
_MULTIPLE = frozenset(
    """
    git npm pnpm yarn bun deno cargo go make just task docker docker-compose podman kubectl helm
    terraform tofu gh glab pip pip3 uv poetry pdm hatch rye conda mamba brew apt apt-get dnf
    systemctl gradle gradlew mvn mvnw dotnet flutter dart mix rails rake bundle composer artisan nx
    turbo lerna ng next vite aws gcloud az fly flyctl heroku vercel netlify supabase prisma alembic
    manage.py django-admin ruff swift zig nix stack cabal sbt bazel pre-commit ninja nox tox neosian
    ansible pulumi serverless wrangler expo xcodebuild invoke inv doit meson rustup nvm pyenv asdf
    mise sam cdk hugo
    """.split()
)
# Flags between a command and its subcommand that take a value.
_VALUED = frozenset(
    """
    -C -c -f -n --prefix --directory --file --namespace --context --git-dir --work-tree --project
    --manifest-path --cwd --filter -F -w --workspace --project-directory --profile --region --with
    --python -p --group --extra --package
    """.split()
)

# What only looks around or moves files: nobody wants to be told of it.
_ROUTINE = frozenset(
    """
    cd pushd popd ls ll dir pwd cat bat head tail echo printf grep egrep fgrep rg ag fd find sed awk
    gawk wc sort uniq cut tr which whereis type file stat diff cmp comm true false test [ export
    unset set shopt source . eval sleep wait mkdir rmdir rm cp mv ln touch chmod chown xargs tee
    less more clear history date whoami id hostname uname env printenv kill pkill killall ps pgrep
    top htop du df free lsof tree jq yq basename dirname realpath readlink read exit return break
    continue man help alias trap umask ulimit jobs fg bg disown nl od xxd hexdump strings tac rev
    seq yes shuf fold column paste join split md5sum sha1sum sha256sum base64 open xdg-open code vim
    vi nano emacs : } fi done esac local declare tmux screen mktemp getent locale iconv cksum sync
    tput reset logout
    """.split()
)
_HARMLESS = frozenset("cd echo printf export source . true set sleep date pwd mkdir clear".split())
_ROUTINE_GIT = frozenset(
    """
    status diff log show add branch rev-parse rev-list ls-files ls-tree blame remote config fetch
    reflog describe cat-file grep shortlog tag stash checkout switch restore mv rm init --no-pager
    """.split()
)
_ROUTINE_SUBS = frozenset("ls list ps info version help status show view config which why outdated".split())
_ASKS_ONLY = frozenset("--version --help -h -V -v -help version help".split())


class Ran(NamedTuple):
    """One command of a line.

    ``name`` is what it is told under (`git commit`, `npm run build`), ``form`` the whole of it in one spelling,
    ``folder`` where it ran below the working directory ("": there). ``ok`` is None where the line's end does not tell
    how the command ended.
    """

    name: str
    form: str
    flags: tuple[str, ...]
    folder: str
    ok: bool | None


class _Simple(NamedTuple):
    """Words of one command as they stand after quotes are gone, and what stands between it and the next one."""

    words: list[str]
    end: str


class Where:
    """A project's top folder and where in it a line runs; both may be "" where they are not known."""

    __slots__ = ("here", "root")

    def __init__(self, root: str = "", here: str = "") -> None:
        self.root = root.rstrip("/")
        self.here = here.rstrip("/") or self.root

    def moved(self, path: str) -> Where:
        """Where `cd path` leads."""
        return Where(self.root, os.path.normpath(os.path.join(self.here, path)))

    def folder(self) -> str | None:
        """This place as seen from the top folder, "" for that itself; None outside of it."""
        return inside(self.here, self.root)

    def seen(self, path: str) -> str | None:
        """An absolute path as seen from here; None for one outside of the project."""
        if not self.root or inside(path, self.root) is None:
            return None
        return os.path.relpath(path, self.here)


def inside(path: str, root: str) -> str | None:
    """A path as seen from a folder that holds it, "" for that folder; None for one that lies elsewhere."""
    path = os.path.normpath(path or ".")
    if not path.startswith("/"):
        return None if path.split("/")[0] == ".." else "" if path == "." else path
    if not root.strip("/") or not f"{path}/".startswith(f"{root}/"):
        return None
    return path[len(root) + 1 :]


def commands(line: str, where: Where, ok: bool | None = None) -> list[Ran]:
    """The commands of a shell's line that ended with ``ok``; without those that look around or ran elsewhere."""
    simple = list(_simple(line))
    if any(each.words[0] in _SCRIPT_WORDS for each in simple):
        return []
    found: list[Ran] = []
    for each, verdict in zip(simple, _verdicts(simple, ok), strict=True):
        words = _unwrapped(each.words)
        if words[:1] in (["cd"], ["pushd"]):
            target = words[1] if len(words) > 1 else "~"
            if target[:1] in ("~", "$", "-") or HIDDEN in target:
                return found
            where = where.moved(target)
        folder = where.folder()
        if words and folder is not None and (named := _named(words, where)):
            name, form, flags = named
            found.append(Ran(name, form, flags, folder, verdict))
    return found


def _verdicts(simple: Sequence[_Simple], ok: bool | None) -> list[bool | None]:
    """How each command ended, as far as the end of the whole line tells."""
    verdicts: list[bool | None] = [None] * len(simple)
    chain: list[int] = []  # the commands whose success the line's end depends on
    for at in range(len(simple) - 1, -1, -1):
        end = simple[at].end if at < len(simple) - 1 else ""
        if end not in ("", "&&", "|", "|&"):
            break
        if not end.startswith("|"):
            chain.append(at)
    if ok:
        for at in chain:
            verdicts[at] = True
    elif ok is False:
        suspects = [at for at in chain if simple[at].words[0] not in _HARMLESS]
        if len(suspects) == 1:
            verdicts[suspects[0]] = False
    return verdicts


# -- reading a line


def _simple(line: str) -> Iterator[_Simple]:
    """The commands of a line, redirections and comments gone; what stands for another command's output is hidden."""
    text = _without_heredocs(line[:_LINE_MOST])
    text = re.sub(r"`[^`]*`", HIDDEN, text)
    for _ in range(8):  # from the innermost outwards
        text, changed = re.subn(r"[$<>]\([^()]*\)", HIDDEN, text)
        if not changed:
            break
    words: list[str] = []
    for token in _TOKEN.finditer(text):
        if token["word"]:
            words.append(_unquoted(token["word"]))
        elif token["end"]:
            if words:
                yield _Simple(words, ";" if token["end"] in ("\n", "(", ")") else token["end"])
            words = []
    if words:
        yield _Simple(words, "")


def _without_heredocs(text: str) -> str:
    """A line without the texts that it gives on standard input; one that never ends reaches to the end."""
    kept, at = list[str](), 0
    for found in _HEREDOC.finditer(text):
        if found.start() < at or text[found.start() - 1 : found.start()] == "<":
            continue
        first = text.find("\n", found.end())
        end = re.compile(rf"^[ \t]*{re.escape(found[2])}[ \t]*$", re.MULTILINE).search(text, max(first, 0))
        kept.append(text[at : found.start()] + " - " + text[found.end() : first if first >= 0 else len(text)])
        at = end.end() if first >= 0 and end else len(text)
    return "".join([*kept, text[at:]])


def _unquoted(word: str) -> str:
    """A word without its quotes; hidden where it is long, of several lines, or a value to be filled in."""
    plain = re.sub(
        r"'([^']*)'|\"((?:[^\"\\]|\\.)*)\"|\\(.)", lambda part: part[1] or part[2] or part[3] or "", word
    )
    if len(plain) > _WORD_MOST or "[redacted:" in plain or any(char.isspace() for char in plain):
        head = re.match(r"--?[\w-]+=", plain)
        return (head[0] if head else "") + HIDDEN
    return plain


def _unwrapped(words: Sequence[str]) -> list[str]:
    """A command without the assignments and the commands that stand in front of it."""
    rest = list(words)
    while rest:
        if _ASSIGNED.match(rest[0]) or (rest[0] in _WRAPPERS and len(rest) > 1):
            wrapper = rest.pop(0)
            while wrapper in _WRAPPERS and rest and rest[0].startswith("-"):
                rest.pop(0)
        elif rest[0] in ("timeout", "gtimeout") and len(rest) > 2:
            rest.pop(0)
            while rest and (rest[0].startswith("-") or re.fullmatch(r"[\d.]+[smhd]?", rest[0])):
                rest.pop(0)
        else:
            break
    return rest


# -- naming a command


def _named(words: Sequence[str], where: Where) -> tuple[str, str, tuple[str, ...]] | None:
    """Name, form and flags of a command; None for one that nobody wants to be told of."""
    program = _program(words[0], where)
    if program is None or program in _ROUTINE or not re.search(r"\w", program) or HIDDEN in program:
        return None
    arguments = [_argument(word, where) for word in words[1:]]
    plain = [program, *arguments]
    name = _name(plain)
    if name is None or _is_routine(name, plain):
        return None
    flags = tuple(dict.fromkeys(_flag(word) for word in _flags(arguments)))
    return " ".join(name), " ".join(map(_spelled, plain)), flags


def _program(word: str, where: Where) -> str | None:
    """A program as it is told: by its name, or by its path inside of the project."""
    if not word.startswith(("/", "~", "$")):
        return word
    if seen := where.seen(word) if word.startswith("/") else None:
        return seen
    return None if word.startswith("$") or TEMPORARY.match(word) else os.path.basename(word)


def _argument(word: str, where: Where) -> str:
    """An argument with paths as seen from where it runs; temporary ones are hidden."""
    head, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
    if value.startswith("/"):
        seen = where.seen(value)
        value = seen if seen is not None else HIDDEN if TEMPORARY.match(value) else value
    elif "$" in value:
        value = HIDDEN
    return f"{head}{equals}{value}"


def _name(words: Sequence[str]) -> list[str] | None:
    """The words under which a command is told: the program, and what of it was asked for."""
    base = os.path.basename(words[0])
    for runner in _RUNNERS:
        if (base, *words[1 : len(runner)]) == runner:
            rest = _behind_flags(words[len(runner) :])
            inner = _name(rest) if rest else None
            return [*runner, *inner] if inner else None
    if _INTERPRETERS.fullmatch(base):
        return _script(words)
    if base not in _MULTIPLE:
        return [words[0]]
    name, rest = [words[0]], list(words[1:])
    while len(name) < 3:
        rest = _behind_flags(rest)
        if not rest or not re.fullmatch(r"[A-Za-z][\w:.@/-]*", rest[0]):
            break
        name.append(rest.pop(0))
        if name[-1] not in _TOLD_TWICE:
            break
    return name


def _script(words: Sequence[str]) -> list[str] | None:
    """The name of an interpreter's command: its script, or its module; None for text given in the line."""
    rest = list(words[1:])
    if rest[:1] in (["run"], ["test"], ["task"], ["install"]):  # deno, bun
        return [words[0], *rest[:2]]
    while rest and rest[0].startswith("-"):
        flag = rest.pop(0)
        if flag == "-m" and rest:
            return [words[0], "-m", *(_name(rest) or rest[:1])]
        if flag == "--test":
            return [words[0], flag]
        if flag in ("-", "-c", "-e", "-p", "--eval", "-lc", "-ic", "-r"):
            return None
        if flag in ("-W", "-X", "--require", "--import", "--loader") and rest:
            rest.pop(0)
    return [words[0], rest[0]] if rest and HIDDEN not in rest[0] and not TEMPORARY.match(rest[0]) else None


def _behind_flags(words: Sequence[str]) -> list[str]:
    rest = list(words)
    while rest and rest[0].startswith(("-", "+")):
        flag = rest.pop(0)
        if flag in _VALUED and rest:
            rest.pop(0)
    return rest


def _is_routine(name: Sequence[str], words: Sequence[str]) -> bool:
    if os.path.basename(name[0]) == "git":
        return len(name) < 2 or name[1] in _ROUTINE_GIT
    return any(word in _ROUTINE_SUBS for word in name[1:]) or (len(words) == 2 and words[1] in _ASKS_ONLY)


def _flags(arguments: Sequence[str]) -> Iterator[str]:
    for word in arguments:
        if word == "--":
            return
        if re.match(r"--?[A-Za-z]", word) and word not in ("-m", "-c"):  # a text, a module: in the name
            yield word


def _flag(word: str) -> str:
    """A flag as it is counted: with its value where that is short and tells something."""
    name, equals, value = word.partition("=")
    return name if not equals or HIDDEN in value or len(word) > _FLAG_MOST else word


def _spelled(word: str) -> str:
    """A word as a shell takes it; one that is hidden stays so."""
    return word if re.fullmatch(r"[\w@%+=:,./~^*?…-]+", word) else "'" + word.replace("'", "'\\''") + "'"
