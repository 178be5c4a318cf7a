"""Which sentences ask for something to be kept in mind, and which only look so."""

from __future__ import annotations

import pytest

from neosian.dream import prose, wishes

ASKED = """
Always run the tests before you commit.
Please always use pnpm, not npm.
Make that our rule: money is Decimal, never float.
Remember: the staging server is called bertha.
From now on write commit messages in German.
use pnpm from now on
I prefer tabs over spaces.
We'd rather have small commits.
When you commit, always sign off.
Don't ever push to main.
I want you to always ask before deleting files.
You should never edit generated files.
Commit messages should always be in English.
We never deploy on Fridays.
I prefer that you ask first.
Stop adding comments to obvious code.
new rule: no emojis in commit messages
🙏 always answer briefly
Nutze immer pnpm statt npm.
Bitte nie direkt auf main pushen.
Merk dir: der Server heißt Bertha.
Ab jetzt bitte kurze Antworten.
Ich bevorzuge kleine Commits.
Wir nutzen immer Decimal für Geld.
Vergiss nicht, die Version zu erhöhen.
Utilise toujours pnpm.
N'utilise jamais float pour l'argent.
Ne jamais pousser sur main.
Il ne faut jamais utiliser eval
Souviens-toi que le serveur s'appelle Bertha.
Désormais, écris les messages en français.
Je préfère les petits commits.
Usa siempre pnpm.
Nunca uses float para dinero.
Recuerda que el servidor se llama Bertha.
A partir de ahora escribe en español.
Prefiero commits pequeños.
Use sempre pnpm.
Nunca use float para dinheiro.
Lembre-se de rodar os testes.
De agora em diante responda em português.
Usa sempre pnpm.
Non usare mai float per i soldi.
Ricorda che il server si chiama Bertha.
D'ora in poi scrivi in italiano.
Preferisco commit piccoli.
Gebruik altijd pnpm.
Nooit naar main pushen.
Onthoud dat de server Bertha heet.
Vanaf nu korte antwoorden.
Ik heb liever kleine commits.
记住：服务器叫 Bertha。
以后都用 pnpm。
请总是用中文回答。
永远不要直接推送到 main。
我更喜欢小的提交。
我们一律使用 UTC 时间
請記得先跑測試。
覚えておいて：サーバーは Bertha です。
今後は日本語で答えてください。
必ずテストを実行してください。
テストは必ず書くこと
絶対に main に push しないで。
短いコミットの方が好きです。
기억해 줘: 서버 이름은 Bertha야.
항상 pnpm을 사용해 주세요.
절대 main에 푸시하지 마세요.
앞으로는 한국어로 답해 주세요.
나는 작은 커밋을 선호해.
Запомни: сервер называется Bertha.
Всегда используй pnpm.
Никогда не используй float для денег.
Отныне пиши по-русски.
Я предпочитаю маленькие коммиты.
"""
NOT_ASKED = """
Fix the login page.
The build always fails on Windows.
Why does it never work?
why does the test always fail
can you check why the cache never invalidates
I can't remember the name.
Do you remember what I said?
Should we always use pnpm?
Never mind, it works now.
It hangs and never returns.
make sure it always returns a list
No need to remember this.
I remember when this was fast.
As always, run make test first
always the same error
I always get a 500 when I log in
you always forget the tests
I'd rather not touch the api today
I prefer the second option
The README says "always use tabs".
He wrote `never push to main` in the docs
This should never happen.
the function should never return None, fix that
Fix the always-on mode.
add a flag --always-overwrite
write a rule for eslint that always flags var
Der Test schlägt immer fehl.
immer wenn ich speichere, stürzt es ab
Es geht immer noch nicht.
Das ist nicht immer so.
nie działa
Le test échoue toujours.
Ça ne marche jamais.
On n'a jamais vu ça.
La prueba falla siempre.
Siempre falla el test.
¿Recuerdas el nombre?
No recuerdo el nombre.
O teste sempre falha.
Não lembro o nome.
Il test fallisce sempre.
Non funziona mai.
De test faalt altijd.
altijd als ik opsla crasht het
测试总是失败。
为什么总是报错？
你记得服务器的名字吗？
我不记得了。
我喜欢这个方案
テストはいつも失敗する。
必ず失敗する
覚えていますか？
必ずしもそうではない。
테스트가 항상 실패해.
항상 에러가 나요
기억이 안 나.
Тест всегда падает.
Никогда не видел такого.
Я не помню имя.
"""


@pytest.mark.parametrize("sentence", ASKED.strip().split("\n"))
def test_a_wish_is_known(sentence: str) -> None:
    assert wishes.of_prompt(f"{sentence}\nThen fix the login page.")[:1] == [sentence]


@pytest.mark.parametrize("sentence", NOT_ASKED.strip().split("\n"))
def test_what_only_tells_or_asks_back_is_no_wish(sentence: str) -> None:
    assert wishes.of_prompt(sentence) == []


@pytest.mark.parametrize(
    "prompt",
    [
        "```\nalways use tabs\n```",
        "> always use tabs",
        "look:\n\n    Always use tabs.",
        "<pasted>\nAlways use tabs.\n</pasted>\nok?",
        "The README says:\n\nAlways use tabs. Never use spaces.",
        "2026-11-29T20:00:00 always use tabs",
        "<task-notification>always use tabs</task-notification>",
        "<system-reminder>Always use tabs.</system-reminder>",
        "/review always use tabs",
        "!echo always use tabs",
        "remember the password is [redacted:password], always",
        'print("x")\n// always use tabs;',
        "word " * 700 + "\n\n" + "Always use tabs. " * 50 + "\n\n" + "word " * 700,
    ],
)
def test_what_a_person_did_not_say_is_no_wish(prompt: str) -> None:
    assert wishes.of_prompt(prompt) == []


def test_a_wish_beside_pasted_text_is_known() -> None:
    assert wishes.of_prompt("CLAUDE.md says:\n\nAlways use tabs.\n\nRemember: no tabs.") == [
        "Remember: no tabs."
    ]
    assert wishes.of_prompt("fix <Button>. Always use pnpm.") == ["Always use pnpm."]
    assert wishes.of_prompt("x\n\n" + "log line\n" * 900 + "\nNever use tabs.") == ["Never use tabs."]


def test_a_wish_with_a_colon_brings_its_list() -> None:
    assert wishes.of_prompt("From now on:\n- use pnpm\n- answer briefly\n\nNow fix the bug.") == [
        "From now on: use pnpm; answer briefly"
    ]


def test_a_wish_that_only_points_brings_what_it_points_at() -> None:
    assert wishes.of_prompt("We use pnpm here. Remember that!") == ["We use pnpm here. Remember that!"]
    assert wishes.of_prompt("服务器叫 Bertha。请记住这一点。") == ["服务器叫 Bertha。 请记住这一点。"]
    assert wishes.of_prompt("Remember that!") == []


def test_a_wish_is_one_line_and_not_long() -> None:
    (wish,) = wishes.of_prompt("Always\t" + "check it 🧪 " * 60)
    assert wish.startswith("Always check it 🧪 check")
    assert len(wish) <= wishes.LONGEST


def test_a_text_of_marks_costs_no_time() -> None:
    for text in (
        "<a>" * 50_000,
        "`" * 50_000,
        '"' * 50_000,
        "e.g. " * 20_000,
        "always " * 20_000,
        "。" * 50_000,
    ):
        wishes.of_prompt(text)
        prose.sentences(text[:50_000])


def test_sentences_are_without_code_blocks_tables_and_list_marks() -> None:
    text = (
        "## Done\n\n- **Fixed** in v1.2, e.g. here. 好。再见\n```sh\nmake. it.\n```\n| a. | b. |\n3. Last one"
    )
    assert prose.sentences(text) == ["Done", "Fixed in v1.2, e.g. here.", "好。", "再见", "Last one"]
