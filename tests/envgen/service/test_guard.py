"""Who may call: the rules as tables."""

import pytest

from envgen.service.guard import Rules

OPEN = Rules.of("127.0.0.1", ("spade.example",), "")
LOCKED = Rules.of("0.0.0.0", (), "0123456789abcdef")
MARKED = {"host": "localhost:8080", "x-spadework": "1"}


def status(rules: Rules, method: str, headers: dict[str, str]) -> int:
    refusal = rules.judge(method, headers)
    return refusal.status if refusal else 200


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", 200),
        ("LOCALHOST:8080", 200),
        ("127.0.0.1:8080", 200),
        ("192.168.1.7", 200),
        ("[::1]:8080", 200),
        ("[::1]", 200),
        ("spade.example", 200),
        ("spade.example:443", 200),
        ("evil.example:8080", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost.evil.example:8080", 421),
        ("", 421),
        ("[::1", 200),
        ("a:b:c", 421),
    ],
)
def test_a_host_is_an_address_localhost_or_configured_so_that_rebinding_fails(
    host: str, expected: int
) -> None:
    assert status(OPEN, "GET", {"host": host}) == expected


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, 200),
        ({"origin": "http://localhost:8080"}, 200),
        ({"origin": "https://localhost:8080"}, 200),
        ({"origin": "http://localhost:9090"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "none"}, 200),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"x-spadework": "0"}, 403),
        ({"x-spadework": ""}, 403),
    ],
)
def test_a_page_of_another_site_changes_nothing(more: dict[str, str], expected: int) -> None:
    assert status(OPEN, "POST", MARKED | more) == expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("Bearer 0123456789abcdef", 200),
        ("bearer  0123456789abcdef", 200),
        ("Bearer 0123456789abcdeg", 401),
        ("Bearer 0123456789abcdef0", 401),
        ("Bearer", 401),
        ("Basic 0123456789abcdef", 401),
        ("Bearer \xe9\xe9\xe9", 401),
        ("", 401),
    ],
)
def test_what_changes_needs_the_token_where_there_is_one(header: str, expected: int) -> None:
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert status(LOCKED, method, MARKED | {"authorization": header}) == expected
    assert status(LOCKED, "GET", {"host": "10.0.0.1"}) == 200
