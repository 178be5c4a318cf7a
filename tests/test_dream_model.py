from __future__ import annotations

import datetime
import ipaddress
import json
import logging
import re
import socket
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from neosian.dream import edits, engine, engines
from neosian.dream.engine import Answer, Asked, EngineError
from neosian.dream.model import DEFAULT_MODEL, Messages
from neosian.errors import UsageError
from tests.model_server import (
    ModelServer,
    Reply,
    calls,
    cuts,
    fails_midway,
    hangs,
    never_ends,
    raw,
    says,
    status,
)

KEY = "a-key-that-nobody-may-see"
EDIT = {
    "action": "create",
    "path": "/project/project/money.md",
    "text": "# 金\n\nMoney is rounded once 💰.\n" * 40,
    "reason": "decided",
    "sources": ["0670e8b9#1"],
}
EDITS = {"edits": [EDIT]}
ASKED = Asked("Keep the notes.", "What the person said in the long session about the money: 金 💰.", 4000)
FORCED_REFUSED = status(
    400, "invalid_request_error", 'tool_choice: type "tool" and "any" are not supported for this model.'
)


OPEN: list[Messages] = []


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """No engine of a test keeps its connection."""
    yield
    while OPEN:
        OPEN.pop().close()


def engine_of(server: ModelServer | str, **more: Any) -> Messages:
    url = server if isinstance(server, str) else server.url
    variables = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url} | more.pop("variables", {})
    quick = {"timeout": 5.0, "patience": 0.0, "pause": 0.01} | more
    OPEN.append(Messages(engines.REMEMBER, variables, **quick))
    return OPEN[-1]


def ask(*replies: Reply, **more: Any) -> Answer:
    with ModelServer(*replies) as server:
        return engine_of(server, **more).ask(ASKED)


def trouble(*replies: Reply, **more: Any) -> EngineError:
    with ModelServer(*replies) as server:
        return refused(server, **more)


def refused(server: ModelServer | str, **more: Any) -> EngineError:
    """Why a question to this server has no answer."""
    with pytest.raises(EngineError) as raised:
        engine_of(server, **more).ask(ASKED)
    return raised.value


def test_the_answer_is_the_input_of_a_forced_call() -> None:
    with ModelServer(calls(EDITS)) as server:
        answer = engine_of(server).ask(ASKED)
    body = server.bodies[0]
    assert edits.parse(answer.said)[0][0].text == EDIT["text"]
    assert body["tool_choice"] == {"type": "tool", "name": edits.TOOL}
    assert body["tools"][0]["input_schema"] == edits.SCHEMA
    assert (body["model"], body["max_tokens"], body["system"]) == (DEFAULT_MODEL, 4000, ASKED.system)
    assert (answer.output_tokens, answer.stop, answer.model) == (20, "tool_use", DEFAULT_MODEL)
    assert answer.input_tokens > 100


def test_a_model_that_refuses_a_forced_call_is_asked_for_one_in_words() -> None:
    with ModelServer(FORCED_REFUSED, calls(EDITS)) as server:
        model = engine_of(server)
        assert model.ask(ASKED).said == EDITS
        assert model.ask(ASKED).said == EDITS
    assert [body["tool_choice"]["type"] for body in server.bodies] == ["tool", "auto", "auto"]
    assert edits.TOOL in server.bodies[1]["system"]


@pytest.mark.parametrize(
    "text", [json.dumps(EDITS), f"Here they are:\n\n```json\n{json.dumps(EDITS)}\n```\nDone."]
)
def test_an_answer_in_words_is_given_out_as_text(text: str) -> None:
    assert edits.parse(ask(says(text)).said) == edits.parse(EDITS)


def test_a_call_counts_and_the_chat_around_it_does_not() -> None:
    assert ask(calls(EDITS, text="I shall now remember.", thinking="Hm.")).said == EDITS


def test_several_calls_count_as_one() -> None:
    assert edits.parse(ask(calls(EDITS, {"edits": []}, EDITS)).said) == edits.parse({"edits": [EDIT, EDIT]})


def test_the_second_round_has_the_first_answer_in_its_place() -> None:
    with ModelServer(calls(EDITS, thinking="Hm."), calls({"edits": []})) as server:
        model = engine_of(server)
        model.ask(ASKED)
        assert model.ask(ASKED, again="Edit 1: there is such a note.").said == {"edits": []}
    question, answered, objection = server.bodies[1]["messages"]
    assert question["content"] == ASKED.prompt
    assert answered["content"][0] == {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    call = answered["content"][1]
    assert (call["name"], call["input"]) == (edits.TOOL, EDITS)
    assert objection["content"][0]["tool_use_id"] == call["id"]
    assert objection["content"][0]["content"] == "Edit 1: there is such a note."


def test_the_second_round_after_words_is_in_words() -> None:
    with ModelServer(says("Nothing lasts."), calls({"edits": []})) as server:
        model = engine_of(server)
        model.ask(ASKED)
        model.ask(ASKED, again="The answer holds no edits.")
        model.ask(ASKED)
    said = [[message["content"] for message in body["messages"]] for body in server.bodies]
    assert said[1][2] == "The answer holds no edits."
    assert len(said[2]) == 1  # a question of its own begins anew


@pytest.mark.parametrize(
    "bad", [status(529, "overloaded_error"), status(429, "rate_limit_error"), status(503), fails_midway()]
)
def test_what_passes_is_waited_for(bad: Reply) -> None:
    assert ask(*[bad] * 3, calls(EDITS), patience=30.0).said == EDITS


@pytest.mark.parametrize("silently", [True, False])
@pytest.mark.parametrize("at", [0.02, 0.3, 0.6, 0.9, b"event: content_block_stop", b"event: message_delta"])
def test_an_answer_that_breaks_off_is_never_used_half(at: float | bytes, silently: bool) -> None:
    assert trouble(cuts(EDITS, at, silently=silently)).kind in (engine.BROKEN_OFF, engine.UNREADABLE)
    assert ask(cuts(EDITS, at), calls(EDITS), patience=30.0).said == EDITS


def with_half_the_input(stop: str) -> Reply:
    """A whole message whose call has half its input."""

    def reply(request: Any) -> None:
        sent: list[bytes] = []
        request.send = lambda code, data, kind: sent.append(data)
        calls({"edits": [{"path": "/project/a.md"}]}, stop=stop)(request)
        del request.send
        assert b'}]}"' in sent[0]
        request.send(200, sent[0].replace(b'}]}"', b'"'), "text/event-stream")

    return reply


@pytest.mark.parametrize("reply", [calls(EDITS, stop="max_tokens"), with_half_the_input("max_tokens")])
def test_an_answer_at_its_limit_is_never_used_half(reply: Reply) -> None:
    error = trouble(reply)
    assert (error.kind, error.is_of_the_question, error.output_tokens) == (engine.TRUNCATED, True, 20)


def test_an_answer_without_an_end_is_not_read_for_ever() -> None:
    error = trouble(never_ends)
    assert (error.kind, "has no end" in str(error)) == (engine.UNREADABLE, True)


def test_input_of_a_call_that_is_no_json_is_not_mended() -> None:
    error = trouble(with_half_the_input("tool_use"))
    assert (error.kind, error.output_tokens) == (engine.UNREADABLE, 20)


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (status(401, "authentication_error", "invalid x-api-key"), engine.KEY_REFUSED, "ANTHROPIC_API_KEY"),
        (status(403, "permission_error", "not yours"), engine.KEY_REFUSED, "403"),
        (status(400, "invalid_request_error", "Your credit balance is too low"), engine.QUOTA, "nothing left"),
        (status(402, "billing_error", "pay"), engine.QUOTA, "nothing left"),
        (status(404, "not_found_error", "model: m"), engine.REQUEST, f"no model {DEFAULT_MODEL}"),
        (status(400, "invalid_request_error", "max_tokens: must be more"), engine.REQUEST, "max_tokens: must be more"),
        (status(400, "invalid_request_error", "prompt is too long: 9 > 8"), engine.TOO_LONG, "longer than"),
        (status(413, "request_too_large", "big"), engine.TOO_LONG, "longer than"),
        (status(529, "overloaded_error", "busy"), engine.OVERLOADED, "(529)"),
        (status(429, "rate_limit_error", "slow", retry_after="45"), engine.OVERLOADED, "asks to wait 45 s"),
        (status(500, message="boom"), engine.OVERLOADED, "(500): boom"),
        (fails_midway("overloaded_error"), engine.OVERLOADED, "no more"),
        (fails_midway("invalid_request_error"), engine.REQUEST, "no more"),
        (says("", stop="refusal"), engine.REFUSED, "refused to answer"),
        (says("Half", stop="model_context_window_exceeded"), engine.TOO_LONG, "longer than"),
        (says(" \n"), engine.UNREADABLE, "is empty"),
        (raw(b""), engine.UNREADABLE, "no message"),
        (raw(b"<html>Sign in to this network</html>", "text/html"), engine.UNREADABLE, "no message"),
        (raw(b'{"edits": [', "application/json"), engine.UNREADABLE, "no message"),
        (raw(b"event: message_start\ndata: {no json\n\n"), engine.UNREADABLE, "cannot be read"),
        (raw(b'event: message_start\ndata: {"type":"message_start","message":7}\n\n'), engine.UNREADABLE, "cannot be read"),
        (raw(b"event: message_start\ndata: [1]\n\n"), engine.UNREADABLE, "cannot be read"),
        (raw(b'event: content_block_delta\ndata: {"type":"content_block_delta","index":4,"delta":{}}\n\n'), engine.UNREADABLE, "cannot be read"),
        (raw(b"\xff\xfe\x00 garbage"), engine.UNREADABLE, "cannot be read"),
    ],
)  # fmt: skip
def test_each_trouble_is_said_in_a_sentence(reply: Reply, kind: str, words: str) -> None:
    error = trouble(reply)
    assert error.kind == kind
    assert words in str(error)
    assert str(error).endswith(".") or ": " in str(error)
    assert KEY not in str(error) + error.hint


def test_a_server_that_asks_for_a_long_wait_is_not_waited_for() -> None:
    with ModelServer(status(429, "rate_limit_error", "slow", retry_after="45")) as server:
        error = refused(server, patience=40.0)
    assert (error.wait, len(server.bodies)) == (45.0, 1)


def test_a_server_that_hangs_is_asked_once() -> None:
    with ModelServer(hangs) as server, pytest.raises(EngineError) as raised:
        engine_of(server, timeout=0.5, patience=60.0).ask(ASKED)
    assert (raised.value.kind, len(server.bodies)) == (engine.TIMEOUT, 1)


def test_a_server_that_is_not_there_is_told_by_its_name() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    error = refused(f"http://someone:{KEY}@localhost:{port}")
    assert f"localhost:{port} cannot be reached: Connection refused." in str(error)
    assert (error.kind, KEY in str(error)) == (engine.UNREACHABLE, False)


@pytest.mark.parametrize("url", ["localhost:8080", "file:///etc/passwd", "https://", "http://[::1"])
def test_what_is_no_address_is_refused_at_once(url: str) -> None:
    with pytest.raises(EngineError, match="ANTHROPIC_BASE_URL is no address") as raised:
        engine_of(url)
    assert raised.value.kind == engine.REQUEST


def test_without_a_key_nothing_is_asked() -> None:
    with pytest.raises(
        EngineError, match="neither ANTHROPIC_API_KEY nor ANTHROPIC_AUTH_TOKEN is set"
    ) as raised:
        Messages(engines.REMEMBER, {"ANTHROPIC_API_KEY": " "})
    assert raised.value.kind == engine.NO_KEY


@pytest.mark.parametrize("key", ["two\nlines", "schlüssel", "a\x00b"])
def test_a_key_that_can_be_none_is_not_shown(key: str) -> None:
    with pytest.raises(EngineError, match="ANTHROPIC_API_KEY holds no key") as raised:
        Messages(engines.REMEMBER, {"ANTHROPIC_API_KEY": key})
    assert key not in str(raised.value)


def test_a_token_is_sent_and_named() -> None:
    variables = {"ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": "a-token"}
    with ModelServer(status(401, "authentication_error", "no: a-token")) as server:
        error = refused(server, variables=variables)
    assert server.headers[0]["authorization"] == "Bearer a-token"
    assert "the key in ANTHROPIC_AUTH_TOKEN (401): no: …" in str(error)


def test_a_server_that_quotes_the_question_is_not_quoted() -> None:
    said = str(trouble(status(400, "invalid_request_error", f"bad template: {ASKED.prompt}")))
    assert ASKED.prompt[:40] not in said
    assert "takes no such request (400)." in said


def test_no_log_shows_question_or_key(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_LOG", "debug")
    for name in ("anthropic", "httpx2", "httpcore2"):
        monkeypatch.setattr(logging.getLogger(name), "level", logging.DEBUG)
    caplog.set_level(logging.DEBUG)
    trouble(status(529))
    assert ASKED.prompt not in caplog.text
    assert KEY not in caplog.text


def test_another_server_has_no_known_price() -> None:
    assert ask(calls(EDITS)).cost is None


@pytest.mark.parametrize(
    ("model", "cost"),
    [("claude-sonnet-5-5", 2.0 + 10.0), ("claude-haiku-4-5-20251001", 1.0 + 5.0), ("qwen3-coder", None), ("", None)],
)  # fmt: skip
def test_money_is_told_where_the_price_is_known(model: str, cost: float | None) -> None:
    assert engine.cost(model, 1_000_000, 1_000_000) == cost


# A private certificate authority


@pytest.fixture
def authority(tmp_path: Path) -> tuple[Path, ssl.SSLContext]:
    """The file of an authority's certificate, and a server's context with a certificate of that authority."""
    now = datetime.datetime.now(datetime.UTC)

    def certificate(name: str, issuer: str, key: Any, signer: Any, *, is_ca: bool) -> bytes:
        names = [x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, each)]) for each in (name, issuer)]
        builder = x509.CertificateBuilder().subject_name(names[0]).issuer_name(names[1])
        builder = builder.public_key(key.public_key()).serial_number(x509.random_serial_number())
        builder = builder.not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(
            now + datetime.timedelta(days=1)
        )
        alternatives = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        builder = builder.add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
        return builder.sign(signer, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    root, leaf = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    trusted, served = tmp_path / "authority.pem", tmp_path / "server.pem"
    trusted.write_bytes(certificate("Our authority", "Our authority", root, root, is_ca=True))
    encoding, form, nobody = (
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    private = leaf.private_bytes(encoding, form, nobody)
    served.write_bytes(private + certificate("localhost", "Our authority", leaf, root, is_ca=False))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(served)
    return trusted, context


def test_a_private_authority_is_trusted_when_it_is_named(
    authority: tuple[Path, ssl.SSLContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    trusted, context = authority
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    with ModelServer(calls(EDITS), tls=context) as server:
        assert engine_of(server).ask(ASKED).said == EDITS


def test_an_unknown_authority_is_told_with_the_way_out(authority: tuple[Path, ssl.SSLContext]) -> None:
    with ModelServer(calls(EDITS), tls=authority[1]) as server:
        error = refused(server)
    assert re.search(r"certificate of localhost:\d+ cannot be trusted: .*SSL_CERT_FILE", str(error))
    assert (error.kind, server.bodies) == (engine.CERTIFICATE, [])


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.write_text("no certificate")])
def test_a_file_of_certificates_that_is_none_is_named(make: Callable[[Path], object], tmp_path: Path) -> None:
    make(tmp_path / "authority.pem")
    with pytest.raises(
        EngineError, match=r"SSL_CERT_FILE names .*authority\.pem, which cannot be read"
    ) as raised:
        engine_of("https://localhost:1", variables={"SSL_CERT_FILE": str(tmp_path / "authority.pem")})
    assert raised.value.kind == engine.CERTIFICATE


# The choice


@pytest.mark.parametrize(
    ("named", "environ", "chosen"),
    [
        ("", {}, "rules"),
        ("", {"ANTHROPIC_API_KEY": "  "}, "rules"),
        ("", {"ANTHROPIC_API_KEY": "k"}, "anthropic"),
        ("", {"ANTHROPIC_AUTH_TOKEN": "t"}, "anthropic"),
        ("rules", {"ANTHROPIC_API_KEY": "k"}, "rules"),
        ("claude-cli", {}, "claude-cli"),
    ],
)  # fmt: skip
def test_the_engine_is_the_named_one_else_what_there_is_a_key_for(
    named: str, environ: dict[str, str], chosen: str
) -> None:
    assert engines.choose(named, environ) == chosen


def test_no_engine_of_that_name_is_said_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="anthropic, claude-cli, rules"):
        engines.choose("gpt", {})


def test_rules_ask_no_model_and_load_no_sdk() -> None:
    assert engines.pick("", "/nowhere", {}) is None
    picked = engines.pick("anthropic", "/nowhere", {"ANTHROPIC_API_KEY": "k"}, model="m")
    assert picked is not None
    assert (picked.name, picked.model) == ("anthropic", "m")
    picked.close()
