"""Requests are retried by the rules, end in time, stop when told, and show no secret."""

from __future__ import annotations

import asyncio
import datetime
import importlib.util
import shutil
import ssl
import subprocess
import time
from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.engine.loopback import Received, Server, answers, reply, serve
from workbench.engine.http import (
    HttpClient,
    HttpError,
    is_loopback,
    join_endpoint,
    redact_url,
    retry_after,
    server_message,
)
from workbench.engine.json_text import dumps
from workbench.engine.secrets import Secret, origin_of

URL = "https://models.example/v1/decisions"


class Time:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


class Script:
    """A transport that plays answers in order and the last one ever after."""

    def __init__(self, *steps: httpx.Response | Exception | Callable[[], httpx.Response]) -> None:
        self.steps = steps
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        step = self.steps[min(len(self.requests), len(self.steps)) - 1]
        if isinstance(step, Exception):
            raise step
        if isinstance(step, httpx.Response):
            return httpx.Response(step.status_code, headers=step.headers, content=step.content)
        return step()


def client(script: Script, passing: Time | None = None, **options: Any) -> HttpClient:
    passing = passing or Time()
    return HttpClient(
        transport=httpx.MockTransport(script),
        clock=passing.clock,
        sleep=passing.sleep,
        jitter=lambda: 0.0,
        **options,
    )


def post(
    script: Script, passing: Time | None = None, url: str = URL, secret: Secret | None = None, **options: Any
) -> Any:
    async def run() -> Any:
        http = client(script, passing, **options)
        try:
            return await http.post_json(url, {"input": "hello"}, secret=secret)
        finally:
            await http.aclose()

    return asyncio.run(run())


def failure(script: Script, passing: Time | None = None, **options: Any) -> HttpError:
    with pytest.raises(HttpError) as caught:
        post(script, passing, **options)
    return caught.value


OK = httpx.Response(200, json={"ok": True})


# ---- what is retried ----


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 520, 529, 599])
def test_a_transient_status_is_tried_again(status: int) -> None:
    script = Script(httpx.Response(status), OK)
    answer = post(script)
    assert answer.json.value == {"ok": True}
    assert answer.attempts == len(script.requests) == 2


@pytest.mark.parametrize("status", [301, 307, 400, 401, 402, 403, 404, 409, 413, 422, 446])
def test_a_final_status_is_asked_for_once(status: int) -> None:
    script = Script(
        httpx.Response(status, headers={"location": "https://elsewhere.example/", "x-should-retry": "true"})
    )
    error = failure(script)
    assert len(script.requests) == 1
    assert (error.kind, error.status) == ("status", status)


@pytest.mark.parametrize(
    "problem",
    [httpx.ConnectError("refused"), httpx.ReadTimeout("slow"), httpx.ReadError("gone")],
    ids=lambda e: type(e).__name__,
)
def test_a_failed_connection_is_tried_again(problem: Exception) -> None:
    script = Script(problem, problem, OK)
    assert post(script).attempts == 3


@pytest.mark.parametrize(("retries", "requests"), [(0, 1), (1, 2), (3, 4)])
def test_max_retries_counts_the_requests_after_the_first(retries: int, requests: int) -> None:
    script = Script(httpx.Response(429, json={"error": {"message": "slow down"}}))
    error = failure(script, max_retries=retries)
    assert len(script.requests) == error.attempts == requests
    assert error.server_message == "slow down"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json",
        b"<html><title>Sign in</title></html>",
        b'{"p": NaN}',
        b'{"p": 1e999}',
        b'{"a": "\xff"}',
        b'{"a": 1',
    ],
    ids=["empty", "prose", "html", "nan", "overflow", "latin-1", "cut"],
)
def test_a_success_without_json_is_one_request_and_one_clear_error(body: bytes) -> None:
    script = Script(httpx.Response(200, content=body))
    error = failure(script)
    assert len(script.requests) == 1
    assert (error.kind, error.status) == ("body", 200)
    assert URL in error.message


def test_a_server_that_says_do_not_retry_is_obeyed() -> None:
    script = Script(httpx.Response(503, headers={"x-should-retry": "false"}))
    failure(script)
    assert len(script.requests) == 1


# ---- how long it waits ----


def test_pauses_double_up_to_five_seconds_less_a_quarter_by_chance() -> None:
    passing = Time()
    failure(Script(httpx.Response(500)), passing, max_retries=5, total_budget=1000)
    assert passing.pauses == [0.5, 1, 2, 4, 5]

    async def shaken() -> list[float]:
        passing = Time()
        http = HttpClient(
            transport=httpx.MockTransport(Script(httpx.Response(500))),
            clock=passing.clock,
            sleep=passing.sleep,
            jitter=lambda: 1.0,
            max_retries=2,
        )
        with pytest.raises(HttpError):
            await http.post_json(URL, {})
        await http.aclose()
        return passing.pauses

    assert asyncio.run(shaken()) == [0.375, 0.75]


NOW = datetime.datetime(2026, 5, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "Fri, 01 May 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Fri, 01 May 2026 11:00:00 GMT"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "120abc"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Fri, 99 May 2026 12:00:30 GMT"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
    ids=str,
)
def test_the_wish_to_wait_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(httpx.Headers(headers), NOW) == seconds


def test_t94_a_wait_that_the_server_asks_for_is_kept() -> None:
    passing = Time()
    assert post(Script(httpx.Response(503, headers={"Retry-After": "2"}), OK), passing).attempts == 2
    assert passing.pauses == [2.0]


def test_a_wait_over_a_minute_falls_back_to_the_usual_pause() -> None:
    passing = Time()
    post(Script(httpx.Response(429, headers={"Retry-After": "3600"}), OK), passing)
    assert passing.pauses == [0.5]


def test_when_the_budget_stops_a_retry_the_last_real_error_is_raised() -> None:
    passing = Time()
    script = Script(httpx.Response(429, headers={"Retry-After": "20"}, json={"message": "full"}))
    error = failure(script, passing, max_retries=9, total_budget=30)
    assert (error.kind, error.status, error.server_message) == ("status", 429, "full")
    assert len(script.requests) == 2
    assert passing.now == 20


def test_a_retry_tells_its_number_in_the_header_that_was_asked_for() -> None:
    script = Script(httpx.Response(500), httpx.Response(500), OK)
    post(script, retry_header="X-TypeSafe-Retry-Count")
    assert [r.headers.get("x-typesafe-retry-count") for r in script.requests] == [None, "1", "2"]


# ---- what servers say ----


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('"plain"', "plain"),
        ('{"error": "no such model"}', "no such model"),
        ('{"error": {"message": "bad key", "code": "x"}}', "bad key"),
        ('{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}', "Overloaded"),
        ('{"message": "nope"}', "nope"),
        ('{"detail": "gone"}', "gone"),
        ('{"detail": {"error_type": "authentication_error", "message": "no key"}}', "no key"),
        (
            '{"detail": [{"loc": ["body", "questions", 0], "msg": "field required"}, {"loc": [], "msg": "also"}]}',
            "questions.0: field required; also",
        ),
        ('[{"error": {"message": "google"}}]', "google"),
        ("oops " * 200, ("oops " * 200)[:199] + "…"),
        ('{"unknown": 1}', '{"unknown": 1}'),
        ("", "status 503 (no body)"),
        (
            "<!DOCTYPE html><html><head><title>502\n Bad Gateway</title></head>" + "x" * 90000,
            "an HTML page titled “502 Bad Gateway”",
        ),
        ("<html>" + "y" * 90000, "an HTML page that says “" + "y" * 119 + "…”"),
        ("[" * 100000, ("[" * 199) + "…"),
    ],
    ids=lambda value: value[:30],
)
def test_the_message_of_a_server_is_found(body: str, said: str) -> None:
    assert server_message(503, body) == said


def test_an_error_names_address_status_and_what_the_server_said() -> None:
    error = failure(Script(httpx.Response(400, json={"error": {"message": "jev-1 is a decisions model"}})))
    assert error.message == f"{URL} answered with status 400: jev-1 is a decisions model"


# ---- secrets ----

KEY = Secret("openai", "sk-secret-value-1", "https://models.example")


def test_a_secret_is_sent_as_a_bearer_token_and_shown_nowhere() -> None:
    echo = httpx.Response(
        401, json={"error": {"message": "wrong key sk-secret-value-1"}}, headers={"set-cookie": "c=1"}
    )
    script = Script(echo)
    error = failure(script, secret=KEY)
    assert script.requests[0].headers["authorization"] == "Bearer sk-secret-value-1"
    assert error.exchange is not None
    shown = f"{error} {error.server_message} {error.exchange.to_json()} {error.exchange!r} {KEY!r}"
    assert "sk-secret-value-1" not in shown
    assert "c=1" not in shown
    assert error.exchange.request_headers["Authorization"] == "***"


def test_a_key_whose_letters_a_server_escapes_is_not_in_what_it_said() -> None:
    page = b'{"error": {"message": "wrong key \\u0073k-secret-value-\\u0031"}}'
    error = failure(Script(httpx.Response(401, content=page)), secret=KEY)
    assert error.server_message == "wrong key [secret openai]"


def test_a_secret_inside_the_body_is_scrubbed_from_the_record() -> None:
    async def run() -> Any:
        http = client(Script(OK))
        return await http.post_json(URL, {"input": "my key is sk-secret-value-1"}, secret=KEY)

    assert asyncio.run(run()).request.request_body == {"input": "my key is [secret openai]"}


def test_a_secret_is_scrubbed_from_a_body_of_any_depth_and_the_body_itself_stays_what_it_is() -> None:
    def nested(text: str) -> Any:
        value: Any = [text, 1.5, None]
        for level in range(2000):
            value = {text: value} if level % 2 else [value]
        return value

    async def run(body: Any) -> Any:
        return (await client(Script(OK)).post_json(URL, body, secret=KEY)).request.request_body

    body = nested("key sk-secret-value-1")
    assert dumps(asyncio.run(run(body))) == dumps(nested("key [secret openai]"))
    assert dumps(body) == dumps(nested("key sk-secret-value-1"))


def test_a_secret_that_a_streaming_server_sends_back_in_a_header_is_scrubbed() -> None:
    async def run() -> Any:
        http = client(Script(httpx.Response(200, text="a", headers={"x-seen": "key sk-secret-value-1"})))
        async with http.stream_lines(URL, {}, secret=KEY) as stream:
            return stream.exchange

    exchange = asyncio.run(run())
    assert exchange.status == 200
    assert exchange.response_headers["x-seen"] == "key [secret openai]"


def test_a_secret_goes_to_no_other_origin() -> None:
    script = Script(OK)
    for url in ("https://evil.example/v1", "http://models.example/v1", "https://models.example:8443/v1"):
        assert failure(script, url=url, secret=KEY).kind == "secret"
    assert script.requests == []


def test_without_a_secret_there_is_no_authorization_header() -> None:
    script = Script(OK)
    post(script)
    assert "authorization" not in script.requests[0].headers


def test_the_repr_of_an_exchange_shows_no_text_of_people() -> None:
    assert "hello" not in repr(post(Script(OK)))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:pw@h.example/v1?api_key=abc&x=1#f", "https://h.example/v1?api_key=***&x=1"),
        ("https://h.example/a", "https://h.example/a"),
    ],
)
def test_a_shown_address_holds_no_secret(url: str, shown: str) -> None:
    assert redact_url(url) == shown


# ---- addresses ----


@pytest.mark.parametrize(
    ("base", "path", "joined"),
    [
        ("http://h/v1", ("chat/completions",), "http://h/v1/chat/completions"),
        ("http://h/v1/", ("chat", "completions"), "http://h/v1/chat/completions"),
        ("http://h/v1/chat/completions", ("chat/completions",), "http://h/v1/chat/completions"),
        ("http://h/v1/chat/completions/", ("v1/chat/completions",), "http://h/v1/chat/completions"),
        ("http://h/v1/chat", ("chat/completions",), "http://h/v1/chat/completions"),
        ("http://h", ("v1/systemone",), "http://h/v1/systemone"),
        ("http://h/v1", ("v1/systemone",), "http://h/v1/systemone"),
        ("http://h/v1/systemone", ("v1/systemone",), "http://h/v1/systemone"),
        ("https://h/inference/v1", ("decisions",), "https://h/inference/v1/decisions"),
        (
            "https://h/d/x?api-version=2",
            ("chat/completions",),
            "https://h/d/x/chat/completions?api-version=2",
        ),
        (" http://[::1]:8080/v1 ", ("models",), "http://[::1]:8080/v1/models"),
        ("http://h/v1", ("accounts/a b",), "http://h/v1/accounts/a%20b"),
    ],
)
def test_an_endpoint_is_never_joined_twice(base: str, path: tuple[str, ...], joined: str) -> None:
    assert join_endpoint(base, *path) == joined
    assert join_endpoint(joined, *path) == joined


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:11434",
        "ftp://h/x",
        "file:///etc/passwd",
        "http:///x",
        "https://u:p@h/",
        "http://h:99999/",
        "http://a\\b/",
    ],
)
def test_an_address_that_cannot_be_used_is_refused_before_anything_is_sent(url: str) -> None:
    script = Script(OK)
    assert failure(script, url=url).kind == "url"
    assert script.requests == []
    with pytest.raises(HttpError):
        join_endpoint(url, "v1")


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("localhost", True),
        ("a.localhost", True),
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("[::1]", True),
        ("::ffff:127.0.0.1", True),
        ("example.com", False),
        ("10.0.0.1", False),
        ("localhost.example.com", False),
    ],
)
def test_this_computer_is_recognised(host: str, local: bool) -> None:
    assert is_loopback(host) is local


# ---- sizes ----


@pytest.mark.parametrize("announced", [True, False], ids=["with-length", "without-length"])
def test_t98_an_answer_over_the_cap_is_refused_unread(announced: bool) -> None:
    sent = 0

    async def endless() -> Any:
        nonlocal sent
        for _ in range(10_000):
            sent += 1000
            yield b"x" * 1000

    headers = {"content-length": "10000000"} if announced else {}
    script = Script(lambda: httpx.Response(200, headers=headers, content=endless()))
    error = failure(script, body_cap=50_000)
    assert error.kind == "too_large"
    assert len(script.requests) == 1
    assert sent <= (0 if announced else 52_000)


# ---- real connections ----


def test_a_real_server_is_asked_and_its_answer_read() -> None:
    async def run() -> None:
        async with serve(answers(reply({"p": 0.5}, headers="x-request-id: r-7\r\n"))) as server:
            http = HttpClient()
            answer = await http.post_json(
                server.url + "/v1", {"text": "grüß \ud800", "n": 12345678901234567890}
            )
            await http.aclose()
        request = server.requests[0]
        assert request.json == {"text": "grüß \ud800", "n": 12345678901234567890}
        assert request.headers["content-type"] == "application/json"
        assert request.headers["user-agent"].startswith("prompt-workbench/")
        assert answer.json is not None
        assert answer.json.value == {"p": 0.5}
        assert answer.request_id == "r-7"

    asyncio.run(run())


def test_a_server_that_is_down_is_named() -> None:
    async def run() -> HttpError:
        http = HttpClient(max_retries=0)
        with pytest.raises(HttpError) as caught:
            await http.post_json("http://127.0.0.1:9/v1", {})
        await http.aclose()
        return caught.value

    error = asyncio.run(run())
    assert error.kind == "connect"
    assert "http://127.0.0.1:9/v1 cannot be reached" in error.message


def dribble(first: bytes) -> Any:
    async def answer(
        request: Received, writer: asyncio.StreamWriter, server: Server, reader: asyncio.StreamReader
    ) -> None:
        writer.write(first)
        await writer.drain()
        await reader.read()  # until the client hangs up
        server.closed.set()

    return answer


SLOW = [
    pytest.param(b"", id="no-head"),
    pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", id="half-a-body"),
]


@pytest.mark.parametrize("first", SLOW)
def test_an_attempt_has_a_limit_that_covers_the_body(first: bytes) -> None:
    async def run() -> None:
        async with serve(dribble(first)) as server:
            http = HttpClient(attempt_timeout=0.3, max_retries=0)
            began = time.monotonic()
            with pytest.raises(HttpError, match=r"within 0\.3 s") as caught:
                await http.post_json(server.url, {})
            assert caught.value.kind == "timeout"
            assert time.monotonic() - began < 20
            await http.aclose()

    asyncio.run(run())


@pytest.mark.parametrize("first", SLOW)
def test_cancelling_ends_the_request_at_once_here_and_at_the_server(first: bytes) -> None:
    async def run() -> None:
        async with serve(dribble(first)) as server:
            http = HttpClient(attempt_timeout=30)
            task = asyncio.ensure_future(http.post_json(server.url, {}))
            await asyncio.wait_for(server.arrived.wait(), 20)
            await asyncio.sleep(0.3)
            began = time.monotonic()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert time.monotonic() - began < 10  # of the 30 s and 25 s that were ahead
            await asyncio.wait_for(server.closed.wait(), 20)
            await http.aclose()

    asyncio.run(run())


def test_cancelling_ends_a_pause_at_once() -> None:
    async def run() -> None:
        async with serve(answers(reply({}, 503, "Retry-After: 25\r\n"))) as server:
            http = HttpClient()
            task = asyncio.ensure_future(http.post_json(server.url, {}))
            await asyncio.wait_for(server.arrived.wait(), 20)
            await asyncio.sleep(0.3)
            began = time.monotonic()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert time.monotonic() - began < 10  # of the 30 s and 25 s that were ahead
            assert len(server.requests) == 1
            await http.aclose()

    asyncio.run(run())


def test_a_connection_that_ends_in_the_middle_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async with serve(answers(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")) as server:
            http = HttpClient(max_retries=0)
            with pytest.raises(HttpError) as caught:
                await http.post_json(server.url, {})
            assert caught.value.kind == "broken_off"
            await http.aclose()

    asyncio.run(run())


def test_a_proxy_of_the_environment_is_not_used_for_this_computer(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)

    async def run() -> None:
        async with serve(answers(reply({"direct": True}))) as server:
            http = HttpClient(max_retries=0)
            assert (await http.post_json(server.url, {})).text == '{"direct": true}'
            with pytest.raises(HttpError):  # any other host goes through the proxy, which is not there
                await http.post_json("http://models.example/v1", {})
            await http.aclose()

    asyncio.run(run())


def test_one_client_serves_successive_event_loops() -> None:
    http = HttpClient(max_retries=0)

    async def run() -> None:
        async with serve(answers(reply({"ok": 1}))) as server:
            assert (await http.post_json(server.url, {})).status == 200
            await http.aclose()

    asyncio.run(run())
    asyncio.run(run())


def own_certificate(tmp_path: Path) -> ssl.SSLContext:
    """Make `cert.pem` for 127.0.0.1, signed by itself, and return what a server of it needs."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make a certificate with")
    made = subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=127.0.0.1",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
            "-keyout",
            "key.pem",
            "-out",
            "cert.pem",
        ],
        cwd=tmp_path,
        capture_output=True,
    )
    assert made.returncode == 0
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    return context


def test_a_certificate_that_the_environment_names_counts_on_this_computer_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = own_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))

    async def run() -> None:
        async with serve(answers(reply({"safe": True})), tls=context) as server:
            http = HttpClient(max_retries=0)
            url = server.url.replace("http:", "https:")
            assert (await http.post_json(url, {})).text == '{"safe": true}'
            await http.aclose()

    asyncio.run(run())


def test_a_certificate_that_nobody_signed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = own_certificate(tmp_path)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)

    async def run() -> HttpError:
        async with serve(answers(reply({})), tls=context) as server:
            http = HttpClient()
            with pytest.raises(HttpError) as caught:
                await http.post_json(server.url, {})
            assert server.requests == []
            await http.aclose()
            return caught.value

    error = asyncio.run(run())
    assert (error.kind, error.attempts) == ("tls", 1)


# ---- streams ----


def chunked(*pieces: bytes) -> bytes:
    body = b"".join(f"{len(piece):x}\r\n".encode() + piece + b"\r\n" for piece in pieces)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + body + b"0\r\n\r\n"


@pytest.mark.parametrize(
    ("pieces", "lines"),
    [
        ((b"a\nb\n",), ["a", "b"]),
        ((b"a\r", b"\nb\r\n"), ["a", "b"]),
        ((b"a\rb\r", b"c"), ["a", "b", "c"]),
        ((b"data: \xe2\x80", b"\xa8x\x0by\xc2\x85\n\n"), ["data: \u2028x\x0by\x85", ""]),
        ((b"no end",), ["no end"]),
        ((b"a\n\n\nb",), ["a", "", "", "b"]),
        ((b"last\r",), ["last"]),
    ],
    ids=["lf", "split-crlf", "cr", "unicode-is-no-line-end", "open", "empty-lines", "cr-at-end"],
)
def test_lines_end_at_line_ends_only(pieces: tuple[bytes, ...], lines: list[str]) -> None:
    async def run() -> list[str]:
        async with serve(answers(chunked(*pieces))) as server:
            http = HttpClient()
            async with http.stream_lines(server.url, {}) as stream:
                got = [line async for line in stream]
            await http.aclose()
            return got

    assert asyncio.run(run()) == lines


def test_opening_a_stream_is_retried_and_an_error_status_says_why() -> None:
    async def run() -> None:
        whole = (reply({"error": "busy"}, 503, "retry-after-ms: 1\r\n"), chunked(b"hello\n"))
        async with serve(answers(*whole)) as server:
            http = HttpClient()
            async with http.stream_lines(server.url, {}) as stream:
                assert [line async for line in stream] == ["hello"]
                assert stream.attempts == 2
            await http.aclose()
        async with serve(answers(reply({"error": "no such model"}, 404))) as server:
            with pytest.raises(HttpError, match="no such model"):
                async with http.stream_lines(server.url, {}):
                    pass
            await http.aclose()

    asyncio.run(run())


def test_a_stream_that_stops_talking_is_a_timeout_and_leaving_it_closes_the_connection() -> None:
    first = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhi\n\r\n"

    async def run() -> None:
        async with serve(dribble(first)) as server:
            http = HttpClient(attempt_timeout=0.3)
            got: list[str] = []

            async def listen() -> None:
                async with http.stream_lines(server.url, {}) as stream:
                    async for line in stream:
                        got.append(line)

            with pytest.raises(HttpError) as caught:
                await listen()
            assert (got, caught.value.kind) == (["hi"], "timeout")
            await asyncio.wait_for(server.closed.wait(), 20)
            await http.aclose()

    asyncio.run(run())


def secret_of(url: str, value: str) -> Secret:
    return Secret("own", value, origin_of(url))


@pytest.mark.parametrize("value", ["sk-abcdef", "k"])
def test_a_key_in_a_header_of_its_own_name_is_not_in_the_record(value: str) -> None:
    async def run() -> None:
        async with serve(answers(reply({}))) as server:
            http = HttpClient(max_retries=0)
            secret = secret_of(server.url, value)
            done = await http.post_json(server.url, {}, secret=secret, secret_header="X-My-Token")
            await http.aclose()
            assert server.requests[0].headers["x-my-token"] == value
            assert done.request.request_headers["X-My-Token"] == "***"

    asyncio.run(run())


@pytest.mark.parametrize("value", ["1234", "0", "true", "null", "user", "a"])
def test_a_key_that_also_stands_in_the_request_does_not_break_its_record(value: str) -> None:
    body = {"role": "user", "n": 1234, "t": 0.0, "yes": True, "no": None}

    async def run() -> None:
        async with serve(answers(reply({}))) as server:
            http = HttpClient(max_retries=0)
            done = await http.post_json(server.url, body, secret=secret_of(server.url, value))
            await http.aclose()
            record = done.request.request_body
            assert (record["n"], record["t"], record["yes"], record["no"]) == (1234, 0.0, True, None)

    asyncio.run(run())


@pytest.mark.parametrize("written", ["ab\\/cd+ef", "ab/cd\\u002Bef", "ab%2fcd+ef"])
@pytest.mark.parametrize("kind", ["json", "html"])
def test_a_key_that_a_server_repeats_in_escapes_is_nowhere_in_the_error(written: str, kind: str) -> None:
    text = f'{{"error": "bad key {written}"}}' if kind == "json" else f"<html>bad key {written}</html>"

    async def run(status: int) -> HttpError:
        async with serve(answers(reply(text.encode(), status))) as server:
            http = HttpClient(max_retries=0)
            with pytest.raises(HttpError) as caught:
                await http.post_json(server.url, {}, secret=secret_of(server.url, "ab/cd+ef"))
            await http.aclose()
            return caught.value

    for status in (401, 200) if kind == "html" else (401,):
        error = asyncio.run(run(status))
        shown = f"{error} {error.server_message} {error.exchange and error.exchange.response_text}"
        assert "bad key [secret own]" in shown
        assert "ab/cd" not in shown
        assert written not in shown


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"ALL_PROXY": "socks5://u:pa55@127.0.0.1:9"}, "ALL_PROXY"),
        ({"HTTPS_PROXY": "ftp://u:pa55@127.0.0.1:9"}, "HTTPS_PROXY"),
        ({"NO_PROXY": "[::1]"}, "NO_PROXY"),
        ({"SSL_CERT_FILE": "/no/such/file"}, "SSL_CERT_FILE"),
        ({"SSL_CERT_FILE": __file__}, "SSL_CERT_FILE"),
    ],
)
def test_an_environment_that_cannot_be_used_is_named(
    variables: dict[str, str], named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    async def run() -> HttpError:
        http = HttpClient(max_retries=2)
        with pytest.raises(HttpError) as caught:
            await http.post_json("https://models.example/v1", {})
        return caught.value

    if variables.get("ALL_PROXY", "").startswith("socks") and importlib.util.find_spec("socksio"):
        pytest.skip("SOCKS proxies can be used here")
    error = asyncio.run(run())
    assert named in error.message
    assert "pa55" not in error.message
    assert error.attempts == 1  # trying again changes no environment


@pytest.mark.parametrize("name", ["user-agent", "USER-AGENT"])
def test_headers_of_a_caller_take_the_place_of_the_same_headers_in_other_case(name: str) -> None:
    async def run() -> None:
        async with serve(answers(reply({}))) as server:
            http = HttpClient(max_retries=0)
            done = await http.post_json(server.url, {}, headers={name: "me"})
            await http.aclose()
            sent = [each.lower() for each in done.request.request_headers]
            assert sent.count("user-agent") == 1
            assert server.requests[0].headers["user-agent"] == "me"

    asyncio.run(run())


def test_a_redirect_names_its_target_whatever_page_comes_with_it() -> None:
    async def run() -> HttpError:
        page = b"<html><title>301 Moved Permanently</title></html>"
        async with serve(answers(reply(page, 301, "Location: https://other.example/v1\r\n"))) as server:
            with pytest.raises(HttpError) as caught:
                await HttpClient(max_retries=0).post_json(server.url, {})
            return caught.value

    assert "https://other.example/v1" in asyncio.run(run()).message


def test_a_stream_that_is_not_utf8_names_the_byte_with_the_mark_at_its_beginning_counted() -> None:
    async def run() -> None:
        http = client(Script(httpx.Response(200, content=b"\xef\xbb\xbfone\ncaf\xe9\n")))
        async with http.stream_lines(URL, {}) as stream:
            async for _ in stream:
                pass

    with pytest.raises(HttpError, match=r"byte 10 \(0xE9\)"):
        asyncio.run(run())


def test_the_mark_at_the_beginning_of_a_stream_is_no_part_of_its_first_line() -> None:
    async def body() -> Any:
        for piece in (b"\xef", b"\xbb\xbfone", b"\ntwo"):
            yield piece

    async def run() -> list[str]:
        http = client(Script(lambda: httpx.Response(200, content=body())))
        async with http.stream_lines(URL, {}) as stream:
            return [line async for line in stream]

    assert asyncio.run(run()) == ["one", "two"]
