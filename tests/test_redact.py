"""Secrets go, look-alikes stay. All secrets here are made up, and put together so that no scanner takes them for real."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from neosian import redact as module
from neosian.redact import (
    RULES,
    found_in_document,
    hide_private,
    marker,
    path_is_clean,
    redact,
    redact_document,
    redact_path,
    redact_value,
    secret_name,
)

ALNUM = "a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuVwXyZ"
HEX = "0123456789abcdef"


def made(alphabet: str, length: int) -> str:
    """Return ``length`` characters of ``alphabet`` in no obvious order, the same on every run."""
    return "".join(random.Random(length).choices(alphabet, k=length))


WORD36, HEX32, HEX40, HEX64 = made(ALNUM, 36), made(HEX, 32), made(HEX, 40), made(HEX, 64)
BASE64_40 = made(ALNUM + "/+", 40)
PEM_BODY = "\n".join(made(ALNUM + "/+", 64) for _ in range(3))
PEM = "-----BEGIN " + "RSA PRIVATE KEY-----\n" + PEM_BODY + "\n-----END " + "RSA PRIVATE KEY-----"
JWT = ".".join(
    base64.urlsafe_b64encode(part).decode().rstrip("=")
    for part in (b'{"alg":"HS256"}', b'{"sub":"1234567890","name":"A"}', b"0123456789abcdef0123456789abcdef")
)

TOKENS = [
    ("aws-access-key", "AK" + "IAIOSFODNN7EXAMPLE"),
    ("aws-access-key", "AS" + "IA" + "Q3EGR6WZ2XLDPN4T"),
    ("aws-bedrock-key", "ABS" + "K" + made(ALNUM, 120) + "=="),
    ("google-api-key", "AI" + "za" + made(ALNUM + "-_", 35)),
    ("google-oauth-secret", "GOC" + "SPX-" + made(ALNUM, 28)),
    ("google-oauth-token", "ya" + "29." + made(ALNUM, 60)),
    ("google-oauth-token", "1/" + "/0" + made(ALNUM, 40)),
    ("azure-client-secret", "abc" + "8Q~" + made(ALNUM, 33)),
    ("azure-key", made(ALNUM, 52) + "JQ" + "QJ99" + made(ALNUM, 26)),
    ("digitalocean-token", "do" + "p_v1_" + HEX64),
    ("alibaba-access-key", "LT" + "AI" + made(ALNUM, 20)),
    ("tencent-secret-id", "AK" + "ID" + made(ALNUM, 32)),
    ("heroku-key", "HR" + "KU-" + made(ALNUM, 60)),
    ("fly-token", "fm" + "2_" + made(ALNUM, 90)),
    ("vault-token", "hv" + "s." + made(ALNUM, 24)),
    ("terraform-token", made(ALNUM, 14) + ".atl" + "asv1." + made(ALNUM, 67)),
    ("databricks-token", "da" + "pi" + HEX32),
    ("pulumi-token", "pu" + "l-" + HEX40),
    ("doppler-token", "dp" + ".pt." + made(ALNUM, 43)),
    ("planetscale-token", "psc" + "ale_tkn_" + made(ALNUM, 43)),
    ("supabase-key", "sb" + "p_" + HEX40),
    ("netlify-token", "nf" + "p_" + made(ALNUM, 36)),
    ("anthropic-key", "sk-" + "ant-api03-" + made(ALNUM + "-_", 93) + "AA"),
    ("anthropic-key", "sk-" + "ant-oat01-" + made(ALNUM + "-_", 93) + "AA"),
    ("openrouter-key", "sk-" + "or-v1-" + HEX64),
    ("langfuse-key", "sk-" + "lf-" + "1b4e28ba-2fa1-11d2-883f-0016d3cca427"),
    ("openai-key", "sk-" + made(ALNUM, 48)),
    ("openai-key", "sk-" + "proj-" + made(ALNUM + "-_", 120)),
    ("openai-key", "sk-" + "svcacct-" + made(ALNUM, 60)),
    ("openai-key", "sk-" + HEX32),
    ("huggingface-token", "hf" + "_" + made(ALNUM, 34)),
    ("groq-key", "gs" + "k_" + made(ALNUM, 52)),
    ("xai-key", "xa" + "i-" + made(ALNUM, 80)),
    ("replicate-token", "r8" + "_" + made(ALNUM, 37)),
    ("perplexity-key", "pp" + "lx-" + made(ALNUM, 48)),
    ("nvidia-key", "nv" + "api-" + made(ALNUM, 64)),
    ("together-key", "tg" + "p_v1_" + made(ALNUM, 43)),
    ("cerebras-key", "cs" + "k-" + made("abcdefgh23456789", 48)),
    ("langsmith-key", "ls" + "v2_pt_" + HEX32 + "_" + HEX32[:10]),
    ("pinecone-key", "pc" + "sk_" + made(ALNUM, 60)),
    ("elevenlabs-key", "sk" + "_" + made(HEX, 48)),
    ("tavily-key", "tv" + "ly-" + made(ALNUM, 32)),
    *(
        ("github-token", prefix + "_" + WORD36)
        for prefix in ("gh" + "p", "gh" + "o", "gh" + "u", "gh" + "s", "gh" + "r")
    ),
    ("github-token", "github" + "_pat_" + made(ALNUM, 22) + "_" + made(ALNUM, 59)),
    ("gitlab-token", "gl" + "pat-" + made(ALNUM, 20)),
    ("gitlab-token", "gl" + "pat-" + made(ALNUM, 27) + ".01." + made(ALNUM, 9)),
    ("gitlab-token", "GR" + "1348941" + made(ALNUM, 20)),
    ("atlassian-token", "AT" + "ATT3" + made(ALNUM, 180) + "=" + HEX32[:8]),
    ("atlassian-token", "AT" + "BB" + made(ALNUM, 32)),
    ("npm-token", "np" + "m_" + WORD36),
    ("pypi-token", "py" + "pi-AgEIcHlwaS5vcmc" + made(ALNUM + "-_", 80)),
    ("rubygems-key", "ruby" + "gems_" + made(HEX, 48)),
    ("crates-token", "ci" + "o" + made(ALNUM, 32)),
    ("docker-token", "dc" + "kr_pat_" + made(ALNUM, 27)),
    ("nuget-key", "oy" + "2" + made("abcdefgh23456789", 43)),
    ("clojars-token", "CLO" + "JARS_" + made(HEX, 60)),
    ("jfrog-token", "AK" + "Cp" + made(ALNUM, 69)),
    ("slack-token", "xo" + "xb-123456789012-" + made(ALNUM, 24)),
    ("slack-token", "xo" + "xe.xoxp-1-" + made(ALNUM, 40)),
    ("slack-token", "xa" + "pp-1-A012-345-" + made(ALNUM, 40)),
    ("stripe-key", "sk" + "_live_" + made(ALNUM, 24)),
    ("stripe-key", "rk" + "_test_" + made(ALNUM, 24)),
    ("stripe-webhook-secret", "wh" + "sec_" + made(ALNUM, 32)),
    ("twilio-key", "S" + "K" + HEX32),
    ("sendgrid-key", "S" + "G." + made(ALNUM, 22) + "." + made(ALNUM, 43)),
    ("shopify-token", "sh" + "pat_" + HEX32),
    ("square-token", "sq" + "0csp-" + made(ALNUM, 43)),
    ("notion-token", "nt" + "n_" + made(ALNUM, 46)),
    ("linear-key", "li" + "n_api_" + made(ALNUM, 40)),
    ("figma-token", "fi" + "gd_" + made(ALNUM, 40)),
    ("postman-key", "PM" + "AK-" + made(HEX, 24) + "-" + made(HEX, 34)),
    ("newrelic-key", "NR" + "AK-" + made("ABCDEFGH23456789", 27)),
    ("grafana-token", "gl" + "sa_" + made(ALNUM, 32) + "_" + HEX32[:8]),
    ("sentry-token", "sn" + "trys_" + made(ALNUM, 60)),
    ("onepassword-token", "op" + "s_eyJ" + made(ALNUM, 250)),
    ("age-key", "AGE-SECRET" + "-KEY-1" + made("QPZRY9X8GF2TVDW0", 58)),
    ("jwt", JWT),
]


@pytest.mark.parametrize(("kind", "secret"), TOKENS, ids=lambda value: str(value)[:24])
@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "use {} please",
        'x = "{}"',
        "log:\\n{}\\nend",
        "\x1b[32m{}\x1b[0m",
        "[{}]",
        "密钥{}。",
        "a%3D{}&b=1",
        "({})",
    ],
)
def test_a_vendors_token_is_replaced_by_its_kind(kind: str, secret: str, around: str) -> None:
    assert redact(around.format(secret)) == around.format(marker(kind))


HIDDEN = [  # text, what must be gone, what must be there
    # private keys
    (f"before\n{PEM}\nafter", PEM_BODY[:20], "before\n[redacted:private-key]\nafter"),
    (PEM[:120], PEM_BODY[:20], "[redacted:private-key]"),
    (f"{PEM[:150]}\nand all that follows", "follows", "[redacted:private-key]"),
    (
        json.dumps({"type": "service_account", "private_key": PEM + "\n", "client_email": "a@b"}),
        PEM_BODY[:20],
        "client_email",
    ),
    (json.dumps(json.dumps({"private_key": PEM})), PEM_BODY[:20], "private_key"),
    ("-----BEGIN " + "PGP PRIVATE KEY BLOCK-----\n\n" + PEM_BODY, PEM_BODY[:9], "[redacted:private-key]"),
    (
        f"PuTTY-User-Key-File-3: x\nPrivate-Lines: 3\n{PEM_BODY}\nPrivate-MAC: 1",
        PEM_BODY[:20],
        "Private-MAC: 1",
    ),
    # clouds
    ("aws_secret_access_key = " + BASE64_40, BASE64_40, "aws_secret_access_key = [redacted:aws-secret-key]"),
    (
        "export AWS_SECRET_ACCESS_KEY=" + BASE64_40,
        BASE64_40,
        "AWS_SECRET_ACCESS_KEY=[redacted:aws-secret-key]",
    ),
    ('"SecretAccessKey": "' + BASE64_40 + '"', BASE64_40, '"[redacted:aws-secret-key]"'),
    (
        "AK" + "IAQ3EGR6WZ2XLDPN4T," + BASE64_40,
        BASE64_40,
        "[redacted:aws-access-key],[redacted:aws-secret-key]",
    ),
    (
        "AccountName=a;Account" + "Key=" + made(ALNUM, 86) + "==;EndpointSuffix=x",
        made(ALNUM, 86),
        ";EndpointSuffix=x",
    ),
    ("https://a.blob/x?sv=2022&sig=" + made(ALNUM, 43) + "%3D&se=1", made(ALNUM, 43), "&se=1"),
    (
        "https://hooks.slack.com/services/" + "T0/B0/" + made(ALNUM, 24),
        made(ALNUM, 24),
        "hooks.slack.com/services/",
    ),
    (
        "https://discord.com/api/webhooks/123456789012345678/" + made(ALNUM, 68),
        made(ALNUM, 68),
        "/123456789012345678/",
    ),
    ("bot123456789:" + "AA" + made(ALNUM, 33), made(ALNUM, 33), "bot123456789:[redacted:telegram-token]"),
    (
        '{"auths":{"r.io":{"auth": "' + "dXNlcjpodW50ZXIyMg==" + '"}}}',
        "dXNlcjpo",
        '"auth": "[redacted:docker-login]"',
    ),
    # headers
    ("Authorization: Bearer abc.def-123", "abc.def", "Authorization: Bearer [redacted:authorization]"),
    ("authorization: basic dXNlcjpwYXNz", "dXNl", "authorization: basic [redacted:authorization]"),
    ("curl -H 'Authorization: token 12345abcde' https://x.y", "12345abcde", "' https://x.y"),
    ('curl -H "Proxy-Authorization: Bearer t0psecret"', "t0psecret", 'Bearer [redacted:authorization]"'),
    (
        '{"Authorization": "Bearer t0psecret"}',
        "t0psecret",
        '{"Authorization": "Bearer [redacted:authorization]"}',
    ),
    (json.dumps('{"Authorization": "Bearer t0psecret"}'), "t0psecret", "authorization"),
    ('headers.set("Authorization", "Bearer t0psecret")', "t0psecret", '")'),
    ('headers["Authorization"] = "Bearer t0psecret"', "t0psecret", "[redacted:authorization]"),
    (
        'Authorization: Digest username="a", response="6629fae49393a05397450978507c4ef1"',
        "6629fae",
        "Authorization: Digest [redacted:authorization]",
    ),
    (
        json.dumps({"Authorization": 'Digest username="a", response="6629fae49393a053"', "Accept": "*/*"}),
        "6629fae",
        '"Accept": "*/*"',
    ),
    (
        "curl -H 'Authorization: AWS4-HMAC-SHA256 Credential=a/b, Signature=6629fae49393a053' https://x.y",
        "6629fae",
        "AWS4-HMAC-SHA256 [redacted:authorization]' https://x.y",
    ),
    ("Authorization: 8f14e45fceea167a5a36dedd4bea2543", "8f14e45f", "[redacted:authorization]"),
    ("Cookie: sid=abc123; theme=dark\nHost: x", "abc123", "Cookie: [redacted:cookie]\nHost: x"),
    ("Set-Cookie: sid=abc123; Path=/; HttpOnly", "abc123", "Set-Cookie: [redacted:cookie]"),
    ("curl -H 'Cookie: sid=abc123' https://x.y", "abc123", "' https://x.y"),
    ("curl --cookie 'sid=abc123' https://x.y", "abc123", "' https://x.y"),
    ('{"Cookie": "sid=abc123; b=2", "Accept": "*/*"}', "abc123", '"Accept": "*/*"'),
    ("X-Api-Key: 9f8e7d6c5b4a", "9f8e7d", "X-Api-Key: [redacted:api-key]"),
    # addresses
    (
        "postgres://alice:hunter2@db.example/shop",
        "hunter2",
        "postgres://alice:[redacted:url-password]@db.example/shop",
    ),
    ("redis://:p%40ss@localhost:6379", "p%40ss", "redis://:[redacted:url-password]@localhost:6379"),
    ("https://x-access-token:" + "gh" + "p_" + WORD36 + "@github.com/a/b", WORD36, "@github.com/a/b"),
    ("mongodb+srv://root:a@b@c.example", "a@b", "@c.example"),
    # commands
    ("curl -s -u bob:hunter2 https://x.y", "hunter2", "curl -s -u bob:[redacted:password] https://x.y"),
    ("sshpass -p hunter2 ssh host", "hunter2", "sshpass -p [redacted:password] ssh host"),
    ("docker login -u bob -p hunter2 r.io", "hunter2", "-p [redacted:password] r.io"),
    ("mysql -u root -phunter2 shop", "hunter2", "-p[redacted:password] shop"),
    ("machine h login bob password hunter2", "hunter2", "login bob password [redacted:password]"),
    # assignments
    ("DB_PASSWORD=swordfish", "swordfish", "DB_PASSWORD=[redacted:password]"),
    ("export PGPASSWORD=swordfish; psql", "swordfish", "psql"),
    ("PASSWORD=p@ss,w;rd&x y", "rd&x", "PASSWORD=[redacted:password] y"),
    ("db.password=swordfish\n", "swordfish", "db.password=[redacted:password]\n"),
    ("password=hunter2", "hunter2", "password=[redacted:password]"),
    ("password: hunter2", "hunter2", "password: [redacted:password]"),
    ("  password: swordfish\n  user: bob", "swordfish", "  password: [redacted:password]\n  user: bob"),
    ("DB_PASS=12345678", "12345678", "DB_PASS=[redacted:password]"),
    ("password = 'correct horse battery staple'", "battery", "password = '[redacted:password]'"),
    (
        '{"password": "hunter2", "user": "bob"}',
        "hunter2",
        '{"password": "[redacted:password]", "user": "bob"}',
    ),
    ('{"password":"hun\\"ter2"}', "ter2", '{"password":"[redacted:password]"}'),
    (json.dumps(json.dumps({"password": "hunter2", "u": 1})), "hunter2", '\\"u\\": 1'),
    (json.dumps({"command": "export A=1\nPASSWORD=hunter2\nls"}), "hunter2", "\\nls"),
    ('password = "unclosed-hunter2', "hunter2", "[redacted:password]"),
    ('PASSWORD: str = "hunter2"', "hunter2", 'PASSWORD: str = "[redacted:password]"'),
    ('password: str | None = "hunter2"', "hunter2", "[redacted:password]"),
    ("mysql --password=swordfish -u x", "swordfish", "--password=[redacted:password] -u x"),
    ("tool --password swordfish --user x", "swordfish", "--password [redacted:password] --user x"),
    ("tool --api-key 'a b c 1 2 3'", "a b c", "--api-key '[redacted:api-key]'"),
    ("client_secret: 'Zm9vYmFyYmF6'", "Zm9v", "client_secret: '[redacted:secret]'"),
    ("clientSecret=abcDEF123456", "abcDEF", "clientSecret=[redacted:secret]"),
    ('api_key = "1234567890abcdef"', "1234567890", 'api_key = "[redacted:api-key]"'),
    ("MISTRAL_API_KEY=" + made(ALNUM, 32), made(ALNUM, 32), "MISTRAL_API_KEY=[redacted:api-key]"),
    ("SECRET_KEY_BASE=" + HEX64, HEX64, "SECRET_KEY_BASE=[redacted:secret]"),
    (
        "//registry.example.org/:_authToken=" + "1b4e28ba-2fa1-11d2-883f-0016d3cca427",
        "1b4e28ba",
        "_authToken=[redacted:token]",
    ),
    ("https://x.y/cb?access_token=abc123def456&state=1", "abc123", "?access_token=[redacted:token]&state=1"),
    ('os.environ["API_TOKEN"] = "abc123def456"', "abc123", '"[redacted:token]"'),
    (
        "aws configure set aws_secret_access_key " + BASE64_40,
        BASE64_40,
        "set aws_secret_access_key [redacted:aws-secret-key]",
    ),
    ("npm config set //r.io/:_authToken abc123def456", "abc123", ":_authToken [redacted:token]"),
    ("ACCESS_TOKEN=abcdefghijklmn", "abcdef", "ACCESS_TOKEN=[redacted:token]"),
    ("<password>swordfish</password>", "swordfish", "<password>[redacted:password]</password>"),
    ("CREATE USER x WITH PASSWORD 'swordfish'", "swordfish", "PASSWORD '[redacted:password]'"),
    ("Server=x;Uid=sa;Pwd=swordfish;", "swordfish", "Server=x;Uid=sa;Pwd=[redacted:password];"),
    ("password := `hunter22`", "hunter22", "password := `[redacted:password]`"),
    (':password => "hunter2"', "hunter2", ':password => "[redacted:password]"'),
    ("İstanbul İİİ password=hunter2 İ", "hunter2", "password=[redacted:password] İ"),
    ("password = swordfish99", "swordfish99", "password = [redacted:password]"),
    # encoded, escaped, coloured
    ("next=%2Fin%3Fpassword%3Dhunter2%26u%3D1", "hunter2", "password%3D[redacted:password]%26u%3D1"),
    ("q=a%253Ftoken%253Dabc123def456%2526b", "abc123", "token%253D[redacted:token]%2526b"),
    ("%7B%22password%22%3A%20%22hunter2%22%7D", "hunter2", "%22[redacted:password]%22%7D"),
    (json.dumps(json.dumps(json.dumps({"password": "hunter2", "u": 1}))), "hunter2", "[redacted:password]"),
    (
        json.dumps(json.dumps(json.dumps(json.dumps({"apiKey": "hunter22"})))),
        "hunter22",
        "[redacted:api-key]",
    ),
    (json.dumps(json.dumps(json.dumps({"c": "A=1\nPASSWORD=hunter2\nls"}))), "hunter2", "nls"),
    (
        json.dumps(json.dumps(json.dumps({"Authorization": "Bearer t0psecret"}))),
        "t0psecret",
        "Bearer [redacted:",
    ),
    ("\x1b[31mpassword\x1b[0m=hunter2", "hunter2", "\x1b[0m=[redacted:password]"),
    ("\x1b[1;31mDB_TOKEN\x1b[m=\x1b[32mabc123def456\x1b[0m x", "abc123", "[redacted:token]\x1b[0m x"),
    ("DB_\x1b[01;31m\x1b[KPASSWORD\x1b[m\x1b[K=swordfish", "swordfish", "\x1b[K=[redacted:password]"),
    (json.dumps("\x1b[31mpassword\x1b[0m=hunter2"), "hunter2", '[redacted:password]"'),
    ("&quot;password&quot;: &quot;hunter2&quot;,", "hunter2", "&quot;[redacted:password]&quot;,"),
    # lists, pairs, tables
    ('{"set-cookie": ["sid=abc123; Path=/", "b=hunter2"], "a": 1}', "abc123", '], "a": 1}'),
    ('{"set-cookie": ["sid=abc123; Path=/", "b=hunter2"]}', "hunter2", "[redacted:cookie]"),
    (json.dumps({"Set-Cookie": ["sid=abc123"]}, indent=2), "abc123", "[redacted:cookie]"),
    (
        '{"name":"Authorization","value":"Bearer t0psecret"}',
        "t0psecret",
        '"value":"Bearer [redacted:authorization]"',
    ),
    ('{"name": "DB_PASSWORD", "value": "hunter2"}', "hunter2", '"value": "[redacted:password]"'),
    (
        json.dumps(json.dumps([{"name": "API_KEY", "value": "hunter22"}], indent=1)),
        "hunter22",
        "[redacted:api-key]",
    ),
    (
        "- name: DB_PASSWORD\n  value: swordfish\n- name: A",
        "swordfish",
        "value: [redacted:password]\n- name: A",
    ),
    ('<add key="Password" value="hunter2"/>', "hunter2", 'value="[redacted:password]"/>'),
    (
        '{"cookies": [{"name": "sid", "value": "abcdef123456"}], "u": 1}',
        "abcdef",
        '"[redacted:cookie]"}], "u": 1',
    ),
    ("| user | bob |\n| password | hunter22 |\n", "hunter22", "| password | [redacted:password] |"),
    ("| `API_KEY` | `hunter22a` |", "hunter22a", "`[redacted:api-key]` |"),
    # calls and commands
    ("define('DB_PASSWORD', 'hunter2');", "hunter2", "define('DB_PASSWORD', '[redacted:password]');"),
    ('os.environ.setdefault("API_KEY", "hunter22")', "hunter22", '"API_KEY", "[redacted:api-key]")'),
    ('ds.setPassword("hunter2");', "hunter2", 'setPassword("[redacted:password]");'),
    ("user.set_password('hunter2')", "hunter2", "set_password('[redacted:password]')"),
    ("CREATE USER x IDENTIFIED BY 'swordfish'", "swordfish", "IDENTIFIED BY '[redacted:password]'"),
    ("alter user x identified with sha2 by 'hunter2';", "hunter2", "by '[redacted:password]';"),
    ("tool --pass swordfish --user x", "swordfish", "--pass [redacted:password] --user x"),
    ("openssl genrsa -aes256 -passout pass:hunter2 4096", "hunter2", "pass:[redacted:password] 4096"),
    ("echo hunter2 | sudo -S ls", "hunter2", "echo [redacted:password] | sudo -S ls"),
    ("echo 'hunter2' | sudo -u x -kS ls", "hunter2", "' | sudo -u x -kS ls"),
    ("echo hunter22 | docker login -u b --password-stdin", "hunter22", "| docker login"),
    ("db.example:5432:shop:bob:hunter2\n", "hunter2", "db.example:5432:shop:bob:[redacted:password]\n"),
    ("*:*:*:postgres:hunter2", "hunter2", "*:*:*:postgres:[redacted:password]"),
    (
        "postgres://bob:ab/cd1234@db.example/shop",
        "cd1234",
        "postgres://bob:[redacted:url-password]@db.example/shop",
    ),
]


@pytest.mark.parametrize(("text", "gone", "kept"), HIDDEN, ids=lambda value: value[:40].replace("\n", " "))
def test_a_value_is_hidden_and_what_stands_around_it_stays(text: str, gone: str, kept: str) -> None:
    shown = redact(text)
    assert gone not in shown
    assert kept in shown


PICTURE = base64.b64encode(random.Random(5).randbytes(6000)).decode()

WHOLE = [
    # ids and hashes
    HEX40,
    "commit " + HEX40 + "\nAuthor: A <a@b.c>\nDate:   Mon Jan 1",
    "sha256:" + HEX64,
    HEX64 + "  dist/app.tar.gz",
    "id 550e8400-e29b-41d4-a716-446655440000",
    '"integrity": "sha512-' + base64.b64encode(hashlib.sha512(b"x").digest()).decode() + '"',
    "toolu_01A09q90qw90lq917835lq9",
    "h1:" + base64.b64encode(hashlib.sha256(b"x").digest()).decode(),
    f"![x](data:image/png;base64,{PICTURE})",
    "AAAAB3NzaC1yc2EAAAADAQABAAABgQ" + made(ALNUM, 300),
    "-----BEGIN CERTIFICATE-----\n" + PEM_BODY + "\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\n" + PEM_BODY + "\n-----END PUBLIC KEY-----",
    'if "-----BEGIN PRIVATE KEY-----" in text: fail()',
    "look for `-----BEGIN RSA PRIVATE KEY-----` in the tree and delete it",
    # words
    "risk-based task-management disk-utilization desk-reservation-system-2024",
    "a task-" + HEX32 + " in the queue",
    "sk-learn sk-circle-fade-dot sk-proj-ect",
    "scikit-learn's SKLearnClassifierWithCalibration",
    "ASIA and AKIA are prefixes",
    "eyJ is how a token begins; eyJhbGciOiJIUzI1NiJ9 is only a header",
    "https://hf.co/docs and hf_hub_download(repo_id='a/b')",
    "npm_config_registry=https://r.example npm_lifecycle_event=test",
    "the xoxb- prefix", "glpat-", "pypi-publish-action-v1", "ghp_short",
    # names that hold no secret
    "token_count=123", "max_tokens: 4096", "tokens=500", "token = 17", "next_page_token: CAUQAA12345",
    "password_hash = bcrypt", "password_file=/run/secrets/db1", "secret_name: db-login-1", "secretRef: shop2",
    "api_key_id = 12345678", "public_key = 'ssh-ed25519 AAAA'", "primary_key=user_id_1", "key: value1234",
    "PWD=/home/bob/shop1", "cache-key: v1-linux-8f14e45f", "tests_pass=1200", "pass: 512", "Monkey=banana123",
    # placeholders
    "password=<password>", "PASSWORD=$PASSWORD", "password: ${DB_PASSWORD}", "password: {{ db_password }}", "PASSWORD=xxx",
    "password=xxxxxxxx", "password: None", "password = null", 'password = os.environ["DB_PASSWORD"]', "password = getpass()",
    "password = getpass.getpass('Password: ')", 'password: ""', "PASSWORD=", "password=********", "password: changeme",
    'api_key="your-api-key"', "API_KEY=your_api_key_here", 'password = "${PASSWORD}"', 'f"password={password}"',
    "GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}", "apiKey: process.env.OPENAI_API_KEY", "password=%s", "TOKEN=$(cat token.txt)",
    "password: !vault |", "postgres://user:$PASSWORD@host/db", "postgres://user:${PW}@host", "https://user:<password>@host",
    "Authorization: Bearer $TOKEN", "Authorization: Bearer <token>", 'f"Authorization: Bearer {token}"', "Cookie: sid=$SID",
    'headers = {"Authorization": "Bearer " + token}', "Authorization: Bearer ${{ secrets.T }}", "--password $PASSWORD",
    # code
    "password: str", "password: SecretStr", "def login(user: str, password: str) -> Token:", "password?: string;",
    "password = prompt", "login(password=password)", "connect(password=settings.db_password, token=ctx.token1)",
    "password = hashlib.sha256(b'x1').hexdigest()", "if password == other: pass", "const {password, token} = req.body",
    "this.password=e.password,this.token=t.token,n.secret=r", "{password:n,secret:r,apiKey:i}", "secret=!0,password:!1",
    "token=e?t1:n2", "token => token.value1", "token = tokens[i1]", "Option<Token> x1234567", "password !== confirmPassword",
    'token = "IDENT"', "API_KEY=load_key()", "type='password' name='password'", "private_key: /etc/ssl/key1.pem",
    "private_key: ed448.Ed448PrivateKey", 'private_key: "EllipticCurvePrivateKey"', "token = r'(?:[^\\\\s]|x1{2})*'",
    'OID.CHALLENGE_PASSWORD: "challengePassword"', "password = ':****'", 'h = [("Authorization", make_header(x1, y2))]',
    'headers["Authorization"] = self._auth_header', '{"authorization", "proxy-authorization"}',
    "input[type=password]{color:#ff0000}", ".token.comment{color:#708090}", ".token:before{content:'x1y2z3a4'}",
    ".password:focus{border:1px}", "a:hover{color:red}", "secrets: inherit", 'secret: "db-credentials"',
    # prose
    "the password is wrong", "Password: incorrect", "passwd: all authentication tokens updated", "password: required",
    "I forgot the secret: it was long ago", "use --password to set it", "a token: the smallest unit of text",
    '"password": "Enter your password"', "password: 'must have 8 characters'", "The Authorization: header must be set",
    "Authorization: Bearer tokens are checked first", "Authorization: Basic authentication", "Cookie: how to bake 12=dozen",
    "a secret, a key, a token, and a password walk into a bar", "http://localhost:8080/@scope/pkg", "git@github.com:a/b.git",
    "http://a.b:80/x/y@z", "https://a:b,https://c@d.e", "redis://h:6379/0/@x", "sftp://h:/srv/@x",
    # pairs, calls, tables, commands that give no secret
    '{"name": "password", "value": ""}', '{"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "shop2"}}}',
    "- name: DB_PASSWORD\n  value: $(PW)", "- name: DB_PASSWORD\n  valueFrom:\n    key: x1y2z3", "password value: 12345678",
    "| password | string | the user's |", "| password | varchar64 |", "| token | description |", "| password | required |",
    "| secret | sha256 |", "| api_key | see docs/keys2.md for more |", "|---|---|\n| token | int64 |",
    'getpass("Password: ")', 'setPassword(password)', 'setPassword("")', 'validate_password("x1y2z3w4")', '["password", "secret1x"]',
    'rename("password", "pass_word1")', "set_token(tokens[1])", 'set("password", "Enter your password")', "withSecret(secret)",
    "identified by 'name'", "IDENTIFIED BY '<password>'", "identified by its id", "ffmpeg -i a -pass 1 b", "--pass 1", "use --pass to set it",
    "openssl -passin env:PW -passout file:/run/pw1", "openssl -passout pass:$PW", "echo $PW | sudo -S ls", "echo done | sudo -s x",
    "echo hello | sudo tee /etc/x1", "echo $T | docker login --password-stdin", "docker run -p 127.0.0.1:5432:5432 pg", "x:5432:a:b",
    "arn:aws:logs:*:*:*", "arn:aws:iam:*:*:*:role:shop1", "password%3D%24PASSWORD", "token%3D12345678", "p%C3%A4ssword%20x1y2z3",
    '{"cookies": [], "value": "abcdef123456"}', '"set-cookie": ["<name>=<value>"]', "cookies: [{ name, value }]",
    "\x1b[31mpassword\x1b[0m is wrong", "password\x1b[0m: required",
    "http://a.b:80/x?y=z@w", "mailto:a@b.c", "docker run -u 1000:1000 x", "curl https://x.y/a:b", "12:30@noon ://",
]  # fmt: skip


@pytest.mark.parametrize("text", WHOLE, ids=lambda value: value[:40].replace("\n", " "))
def test_a_look_alike_stays_whole(text: str) -> None:
    assert redact(text) == text


ALL_SECRETS = [text for text, _, _ in HIDDEN] + [secret for _, secret in TOKENS]


@pytest.mark.parametrize("seed", range(60))
def test_a_second_time_changes_nothing(seed: int) -> None:
    chance = random.Random(seed)
    glue = [
        "\n",
        " ",
        "=",
        ": ",
        '"',
        "'",
        "\\n",
        "password=",
        "Bearer ",
        "://u:",
        "@",
        ";",
        "Cookie: a=",
        "{",
        "\ud800",
        "é",
    ]
    text = "".join(piece for _ in range(12) for piece in (chance.choice(ALL_SECRETS), chance.choice(glue)))
    once = redact(text)
    assert redact(once) == once


def test_a_text_without_secrets_is_the_same_object() -> None:
    text = "the build ran, \ud800 and all the \U0001f600 tests passed"
    assert redact(text) is text
    assert redact("") == ""


HOSTILE = [
    'Authorization: Digest a="' * 4_000,
    'Authorization: Digest a=b, c="' + '\\"' * 40_000,
    "password=" * 12_000, 'password="' * 10_000, "password: '\\\"" * 8_000, "key" * 33_000, "token_" * 17_000, "secret: " * 12_000,
    "://" * 33_000, "://a:" * 20_000, "://a:b@" * 14_000, "curl " * 20_000, "curl -u a" * 11_000, "mysql -p" * 12_000,
    "Authorization: Bearer " * 5_000, "Authorization=" * 7_000, "Cookie: a=" * 10_000, "cookie " * 14_000, "--cookie a" * 10_000,
    "-----BEGIN PRIVATE KEY----- a" * 4_000, "-----BEGIN " * 9_000, "-----BEGIN RSA PRIVATE KEY-----\n-----END " * 2_500,
    "Private-Lines: 1\n" + "A " * 50_000, "Private-Lines: 1\nAAAAAAAAAAAAAAAAAAAA" * 2_700, "eyJ" * 33_000, "eyJaaaaaaaa." * 8_000,
    "sk-proj-" + "-" * 100_000, "sk-proj-" * 12_000, "sig=" * 25_000, "sig=%3" * 16_000, "machine a login " * 6_000,
    "machine " + " " * 100_000, "Q~" * 50_000, "xoxb-" * 20_000, "a" * 100_000, " " * 100_000, "\\" * 100_000, "password" + "\\" * 100_000,
    "password:" + "a " * 50_000, "<password>" * 10_000, "gl" * 50_000 + "glpat-" * 5_000, "AKIA" * 25_000, ":AA" * 33_000, "x" * 9 + "İ" * 90_000,
    "password%3D" * 9_000, "password%" * 11_000, "name: password\n" * 7_000, '"name":"password",' * 6_000, "\x1b[31mpassword\x1b[0m" * 6_000,
    '{"cookies": [{"value": "abcdefgh1",' * 3_000, 'set-cookie: ["a=1", ' * 5_000, '"authorization",' + "\\n" * 50_000, "://a:b/" * 14_000,
    "echo " * 20_000 + "sudo -", "echo aaaa | sudo -x " * 5_000, "-pass pass:" * 9_000, "identified by '" * 7_000, 'setPassword("' * 8_000,
    'define("password",' * 5_000, "| password | hunter22a " * 4_500, "*:*:*:" * 17_000, ":5432:a:b" * 11_000, "password" + "\\n" * 50_000,
    "<private>" + "\u200b" * 100_000,
    '"auth":' * 14_000, "password[" * 11_000, "sk-ant-" * 14_000, "hooks.slack.com/services/" * 4_000, "[0;" * 33_000 + "mghp_", "<private>" * 11_000,
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=lambda value: value[:20].replace("\n", " "))
def test_hostile_text_is_done_with(text: str) -> None:
    redact(text)
    hide_private(text, whole=True)


# --- values --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"password": "hunter22"}, {"password": "[redacted:password]"}),
        ({"password": "swordfish"}, {"password": "[redacted:password]"}),
        ({"a": [{"clientSecret": "abcdefgh"}]}, {"a": [{"clientSecret": "[redacted:secret]"}]}),
        ({"password": 12345678}, {"password": "[redacted:password]"}),
        (
            {"passwords": 3, "password": None, "token_count": 12},
            {"passwords": 3, "password": None, "token_count": 12},
        ),
        (
            {"password": True, "secret": "", "token": "<token>"},
            {"password": True, "secret": "", "token": "<token>"},
        ),
        ({"password": ["hunter22", "hunter33"]}, {"password": ["[redacted:password]"] * 2}),
        (
            {"name": "DB_PASSWORD", "value": "hunter22"},
            {"name": "DB_PASSWORD", "value": "[redacted:password]"},
        ),
        ({"Authorization": "Bearer abc12345"}, {"Authorization": "Bearer [redacted:authorization]"}),
        ({"set-cookie": ["sid=abc12345; Path=/"]}, {"set-cookie": ["[redacted:cookie]"]}),
        ({"cmd": "PASSWORD=hunter22 ls"}, {"cmd": "PASSWORD=[redacted:password] ls"}),
        ({"gh" + "p_" + WORD36: 1}, {"[redacted:github-token]": 1}),
        ([1, 2.5, None, "x"], [1, 2.5, None, "x"]),
        ({"password": {"value": "x", "min": 8}}, {"password": {"value": "x", "min": 8}}),
        ({"token": "gh" + "p_" + WORD36}, {"token": "[redacted:github-token]"}),
        ({"smtpPass": "hunter22"}, {"smtpPass": "[redacted:password]"}),
        (
            {"cookies": [{"name": "sid", "value": "abcdef123456"}, "x"]},
            {"cookies": [{"name": "sid", "value": "[redacted:cookie]"}, "x"]},
        ),
    ],
)
def test_values_are_walked_and_keys_tell_secrets(value: object, shown: object) -> None:
    assert redact_value(value) == shown
    assert redact_value(shown) == shown


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("DB_PASSWORD", "password"), ("PGPASSWORD", "password"), ("password2", "password"), ("dbPassword", "password"),
        ("smtp_pass", "password"), ("pass", None), ("clientSecret", "secret"), ("SECRET_KEY_BASE", "secret"),
        ("AWS_SECRET_ACCESS_KEY", "aws-secret-key"), ("x-api-key", "api-key"), ("apikey", "api-key"), ("accessToken", "token"),
        ("accesstoken", "token"), ("token_count", None), ("nextPageToken", None), ("key", None), ("", None), ("tokenizer", None),
        ("password_hash", None), ("public_key", None), ("compass", None), ("GITHUB_TOKEN_PROD", "token"), ("detoken", None),
    ],
)  # fmt: skip
def test_a_name_tells_what_it_holds(name: str, kind: str | None) -> None:
    assert secret_name(name) == kind


# --- private -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "whole", "shown"),
    [
        ("a <private>b</private> c", True, "a [private] c"),
        ("a <PRIVATE>b\nc</Private> d <private>e</private>", False, "a [private] d [private]"),
        ("a <private>b <private>c</private> d</private> e", True, "a [private] e"),
        ("a <private>b", True, "a [private]"),
        ("a <private>b", False, "a <private>b"),
        ("a <private>b <private>c</private> d", True, "a [private]"),
        ("a <private>b <private>c</private> d", False, "a <private>b [private] d"),
        ("<private>x</private> y <private>z", True, "[private] y [private]"),
        ("a </private> b", True, "a </private> b"),
        ('a <private why="x">b</private>', True, "a [private]"),
        ("private: List<Private> <privateer>", True, "private: List[private]"),
        ("nothing private here", True, "nothing private here"),
        ('a <private>"</private>" b </private> c', True, "a [private] c"),
        ("a <private>b </private> c </private> d", True, "a [private] d"),
        ("a <private>b </private> c </private> d", False, "a [private] c </private> d"),
        ("a <private>b `</private>` c", True, "a [private]"),
        ("a <priv\u200bate>b</private\ufeff> c\u200b", False, "a [private] c\u200b"),
        ("a\u200b <private> \u200b", True, "a\u200b [private]"),
        ("<privateer> <b>private</b>", True, "<privateer> <b>private</b>"),
    ],
)
def test_private_parts_are_hidden(text: str, whole: bool, shown: str) -> None:
    assert hide_private(text, whole=whole) == shown


@pytest.mark.parametrize(
    "tag",
    [
        "<private/>", "< private>", "<private >", "<Private\n>", '<private a="<b">', f"<private why='{'x' * 300}'>",
        "<private />",
    ],
)  # fmt: skip
@pytest.mark.parametrize("closing", ["</private>", "</ private >", "< /PRIVATE>"])
def test_a_tag_that_is_spelled_loosely_still_hides(tag: str, closing: str) -> None:
    assert hide_private(f"a {tag}secret{closing} b", whole=False) == "a [private] b"


PRIVATE = "<private>mine</private>"


@pytest.mark.parametrize(
    "text",
    [
        f"Use ` here.\n\n{PRIVATE}\n\nand ` there.",
        f"Use ` here.\r\n\r\n{PRIVATE}\r\n\r\nand ` there.",
        f"Use ` here.\n \t\n{PRIVATE}\n \t\nand ` there.",
        f"- ` one\n- {PRIVATE}\n- ` three",
        f"# A ` mark\n{PRIVATE}\n# ` again",
        f"> `\n>\n> {PRIVATE} `",
        f"a \\` {PRIVATE} ` b",
        f"two `` {PRIVATE} ` one",
        f"```sh `x`\n{PRIVATE}\n```",
        f"```\nnever closed\n{PRIVATE}",
        f"```\none\n```\n{PRIVATE}\n```\ntwo\n```",
        f"````\n```\n````\n{PRIVATE}\n````\n````",
        f"```\ncode\n~~~\n``` x\n\n{PRIVATE}\n",
    ],
)
def test_what_only_looks_like_code_is_private(text: str) -> None:
    assert "mine" not in redact_document(text)


@pytest.mark.parametrize(
    "text",
    [
        f"the `{PRIVATE}` tag",
        f"the `` {PRIVATE} ` `` tag",
        f"the `a\nlong {PRIVATE}` tag",
        f"a \\\\`{PRIVATE}` b",
        f"a \\``{PRIVATE}` b",
        f"```html\n{PRIVATE}\n```",
        f"   ~~~ `a`\n{PRIVATE}\n   ~~~~\n",
        f"````\n```\n{PRIVATE}\n````",
    ],
)
def test_in_code_the_tag_is_only_spoken_of(text: str) -> None:
    assert redact_document(text) == text


@pytest.mark.parametrize("piece", ["` a\n", "\\`", "``` `\n", "`a``b", "\n>", "\n   ", "~~~\n"])
def test_hostile_marks_of_code_take_no_more_than_their_time(piece: str) -> None:
    redact_document("private " + piece * 100_000)  # what is square in this length would take hours


def test_a_path_is_shown_without_what_is_secret_in_it() -> None:
    assert (
        redact_path("tools/ghp_MTX6T5bC6O3hDpHJanr4VjXiMha2mn82r7HQ.md") == "tools/[redacted:github-token].md"
    )
    assert redact_path("a/<private>mine.md") == "a/[private]"


@pytest.mark.parametrize(
    "path", ["docs/password-rules.md", "notes/api_key.md", "risk-based.md", "a/token bucket.md"]
)
def test_a_path_that_only_speaks_of_secrets_is_clean(path: str) -> None:
    assert path_is_clean(path)


# --- cost and table ------------------------------------------------------------------------------------------------


def test_import_compiles_nothing_and_pulls_in_little() -> None:
    program = (
        "import sys, re; sys.path.insert(0, sys.argv[1]); compiled = []; real = re.compile\n"
        "re.compile = lambda *a, **k: compiled.append(a) or real(*a, **k)\n"
        "before = set(sys.modules); import neosian.redact as r\n"
        "assert not compiled, compiled\n"
        "r.redact('the build ran and 12 files changed in src/app/main.py ' * 100)\n"
        "assert not compiled, compiled\n"
        "print(*sorted(set(sys.modules) - before - {'__future__'}))"
    )
    root = str(Path(module.__file__).parent.parent)
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, root], capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == ["neosian", "neosian.redact", "neosian.redact_rules"]


def test_every_rule_has_a_source_a_test_and_a_line_in_the_docs() -> None:
    page = (Path(module.__file__).parent.parent / "docs" / "redaction.md").read_text()
    shown = " ".join(redact(text) for text in ALL_SECRETS)
    for rule in RULES:
        assert rule.source
        assert marker(rule.kind) in shown, rule.kind
        assert re.search(rf"`{rule.kind}`", page), rule.kind


def test_what_a_document_hides_is_found_by_line_and_kind() -> None:
    text = "Keys\npassword = hunter2hunter2\n\n<private>\nx\n</private>\nghp_" + "a1B2" * 9 + "\n"
    assert found_in_document(text) == [(2, "password"), (4, "private"), (7, "github-token")]
    assert found_in_document("We say `<private>` here.\n") == []
