import json
import string

import pytest

from envgen.publish.scan import Finding, Machine, Text, scan, strings

NOBODY = Machine({}, ())
LETTERS = (string.ascii_letters + string.digits) * 3


def found(text: str, machine: Machine = NOBODY) -> list[Finding]:
    return scan([Text("design d", "source", text)], machine)


@pytest.mark.parametrize(
    "secret",
    [
        "-----BEGIN RSA " + "PRIVATE KEY-----",
        "hf_" + LETTERS[:34],
        "sk-" + LETTERS[:40],
        "sk-ant-api03-" + LETTERS[:40],
        "ghp_" + LETTERS[:36],
        "github_pat_" + LETTERS[:60],
        "AKIA" + "QWERTYUIOP123456",
        "AIza" + LETTERS[:35],
        "xoxb-" + LETTERS[:20],
        "rk_live_" + LETTERS[:24],
        "eyJ" + LETTERS[:20] + ".eyJ" + LETTERS[:20] + "." + LETTERS[:20],
        "postgres://bob:hunter2@db.internal",
        'api_key = "' + LETTERS[5:45] + '"',
        'OPENAI_API_KEY = "' + LETTERS[5:45] + '"',
        'db_password: str = "' + LETTERS[5:45] + '"',
        'client_secret = "' + "0f1e2d3c4b5a69788796a5b4c3d2e1f0" + '"',
    ],
)
def test_a_secret_blocks_and_is_not_shown(secret: str) -> None:
    (one, *_) = found(f"x = 1\ny = '{secret}'\n")
    assert (one.kind, one.blocks, one.place) == ("secret", True, "source line 2")
    assert secret not in one.shown + one.excerpt or secret.startswith("-----")


@pytest.mark.parametrize(
    "harmless",
    [
        "token = 'moon'",
        'password = "correct-horse-battery-staple-aaaaaaa"',
        "AKIA" + "IOSFODNN7EXAMPLE",
        "the key is under the mat",
        "https://example.org/a:b",
        "ask@example.com, box@shop.test, root@localhost",
        "scores 555, 1234 and 2026-11-30; 3.14159265",
        "a/home/of/its/own",
    ],
)
def test_what_programs_are_full_of_is_no_finding(harmless: str) -> None:
    assert found(harmless) == []


def test_values_of_secret_variables_and_paths_of_this_machine_are_known() -> None:
    environment = {
        "MY_API_KEY": "tiger-lily-sunday-77",
        "PATH": "/usr/bin",
        "KEY_FILE": "/etc/key-of-mine",
    }
    machine = Machine.of(environment, ("/srv/people/ann", "/", "/root"))
    assert machine.paths == ["/root", "/srv/people/ann"]
    secret, path = found("say('tiger-lily-sunday-77') # /srv/people/ann/x.py", machine)
    assert (secret.kind, "MY_API_KEY" in secret.shown, "tiger" in secret.shown) == (
        "secret",
        True,
        False,
    )
    assert (path.kind, path.blocks) == ("path", False)


def test_a_home_folder_of_one_part_is_found_where_it_stands_for_itself() -> None:
    machine = Machine.of({}, ("/data", "/"))
    for text in ("open('/data/x')", "cd /data", "A = '/data'", "'a:\\n/data/x'"):
        assert [one.kind for one in found(text, machine)] == ["path"], text
    for text in ("/dataed", "/a/data", "./data", "at/data", "/data-2/x"):
        assert found(text, machine) == [], text


SOURCES = {
    "line break": r'k = "key:\n{}"',
    "tab": r'k = "key:\t{}"',
    "in pieces": 'k = ("key: {:.6}" "{:.0}{}")',
    "letters by number": r'k = "key:\x0a{}"',
    "bytes": r'k = b"key:\x0b{}"',
    "a formatted text": r'k = f"{{x}}\n{}"',
    "JSON in a program": r"""k = '{{"a": "b\\n{}"}}'""",
    "no program": r'k = = "key:\n{}"',
}


@pytest.mark.parametrize("name", SOURCES)
def test_what_stands_behind_an_escape_of_a_source_is_found_once(name: str) -> None:
    secret = "hf_" + LETTERS[:34]
    told = [secret[:6], "", secret[6:]] if name == "in pieces" else [secret]
    source = "import os\n" + SOURCES[name].format(*told) + "\n"
    (one,) = scan([Text("e", "source", source, program=True)], NOBODY)
    assert (one.kind, one.place, one.shown) == (
        "secret",
        "source line 2",
        "Hugging Face token hf_a...",
    )
    assert LETTERS[:8] not in one.excerpt


def test_a_home_folder_and_an_address_behind_an_escape_are_found_as_they_are_said() -> None:
    path, mail = found(r'a = "see:\n/home/ann/x"; b = "of\nann.bee@widgets.co"')
    assert (path.kind, path.shown) == ("path", "somebody's home folder")
    assert mail.shown == "a...@widgets.co"


def test_two_secrets_that_begin_alike_are_two_findings() -> None:
    one, two = found(f"'sk-{LETTERS[:40]}'\n'sk-{LETTERS[1:41]}'")
    assert one.id != two.id


@pytest.mark.parametrize("before", ["\n", "\t", '"', "é"])
def test_a_secret_behind_what_json_escapes_is_found(before: str) -> None:
    text = json.dumps([{"content": f"it is{before}hf_{LETTERS[:34]}"}, {"api_key": LETTERS[5:45]}])
    told = scan([Text("play p", "transcript", strings(text))], NOBODY)
    assert [one.kind for one in told] == ["secret", "secret"]


def test_an_excerpt_shows_where_a_secret_stands_and_no_secret() -> None:
    first, second = f"hf_{LETTERS[:34]}", f"sk-{LETTERS[5:45]}"
    text = f"x = 1\ntokens = ['{first}', '{second}']  # of ann.bee@widgets.co\n"
    one, two, three = found(text)
    assert one.excerpt == f"tokens = ['{first[:4]}..."
    assert two.excerpt.endswith(f"{first[:4]}...', '{second[:4]}...")
    for each in (one, two, three):
        assert LETTERS[:8] not in each.excerpt
        assert LETTERS[30:38] not in each.excerpt
        assert LETTERS[5:13] not in each.excerpt
        assert "ann.bee" not in each.excerpt
    (told,) = found('k = "' + "-----BEGIN RSA " + "PRIVATE KEY-----\\nMIIEpQIBAAKCAQEA0\\n" + '"')
    assert "MIIE" not in told.excerpt


def test_a_secret_is_found_wherever_it_stands() -> None:
    machine = Machine({"MY_TOKEN": "tiger-lily-sunday"}, ())
    twice = found("a = 'tiger-lily-sunday'\nb = 'tiger-lily-sunday'\n", machine)
    assert [one.place for one in twice] == ["source line 1", "source line 2"]
    assert "tiger" not in "".join(one.excerpt for one in twice)


def test_nothing_that_was_found_is_told_in_full() -> None:
    for text in ("mail ann.bee@widgets.co", "call (212) 736-5000", "open('/home/ann/x')"):
        (one,) = found(text)
        assert not {"ann.bee", "736-5000", "/home/ann"} & set(one.shown.split())
        assert "ann" not in one.shown + one.excerpt


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("mail ann.bee@widgets.co", "e-mail address"),
        ("call +44 20 7946 0018 now", "phone number"),
        ("call (212) 736-5000", "phone number"),
        ("open('/home/ann/x')", "path"),
        (r"C:\Users\ann\x", "path"),
    ],
)
def test_personal_data_is_told_and_does_not_block(text: str, kind: str) -> None:
    (one,) = found(text)
    assert (one.kind, one.blocks) == (kind, False)
