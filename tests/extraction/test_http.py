"""The HTTP helper that extraction and embedding share."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime

import pytest

from afterturn._http import BODY_LIMIT, RETRY_AFTER_LIMIT, ErrorClasses, JsonEndpoint, parse_retry_after
from afterturn.errors import ExtractorRejected, ExtractorUnavailable
from tests.support.http_stub import Answer, HttpStub

ERRORS = ErrorClasses(ExtractorUnavailable, ExtractorRejected)
NOW = datetime(2026, 12, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("120", 120),
        ("0.5", 0.5),
        ("-3", 0),
        ("Tue, 01 Dec 2026 12:00:30 GMT", 30),
        ("Tue, 01 Dec 2026 11:00:00 GMT", 0),
        ("Tue, 01 Dec 2026 12:00:30 -0000", 30),
        ("999999999", RETRY_AFTER_LIMIT),
        ("soon", None),
        ("", None),
        ("nan", None),
        ("inf", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(header: str | None, seconds: float | None) -> None:
    assert parse_retry_after(header, NOW) == seconds


def test_connections_are_kept_and_shared() -> None:
    with HttpStub([Answer(body={})]) as stub:
        endpoint = JsonEndpoint(stub.url, api_key=None, errors=ERRORS)
        for _ in range(3):
            endpoint.post("/x", {}, timeout=10)
        endpoint.close()
        assert (len(stub.requests), stub.connections) == (3, 1)


def test_without_a_key_no_authorization_is_sent() -> None:
    with HttpStub([Answer(body={})]) as stub:
        endpoint = JsonEndpoint(stub.url, api_key=" \n", errors=ERRORS)
        endpoint.post("/x", {}, timeout=10)
        endpoint.close()
        assert "authorization" not in stub.requests[0].headers


def test_a_compressed_answer_is_read() -> None:
    content = gzip.compress(b'{"a": 1}')
    with HttpStub([Answer(body=content, headers={"content-encoding": "gzip"})]) as stub:
        endpoint = JsonEndpoint(stub.url, api_key=None, errors=ERRORS)
        assert endpoint.post("/x", {}, timeout=10).body == {"a": 1}
        endpoint.close()


def test_a_tolerated_status_is_an_answer() -> None:
    with HttpStub([Answer(400, {"error": {"code": "bad_format", "param": "response_format"}})]) as stub:
        endpoint = JsonEndpoint(stub.url, api_key=None, errors=ERRORS)
        reply = endpoint.post("/x", {}, timeout=10, tolerated={400})
        endpoint.close()
    assert (reply.status, reply.code, reply.parameter) == (400, "bad_format", "response_format")


def test_an_endless_answer_is_refused_before_it_fills_the_memory() -> None:
    # compressed, so that the stub need not send it all
    bomb = gzip.compress(b" " * (BODY_LIMIT + 1))
    with HttpStub([Answer(body=bomb, headers={"content-encoding": "gzip"})]) as stub:
        endpoint = JsonEndpoint(stub.url, api_key=None, errors=ERRORS)
        with pytest.raises(ExtractorRejected, match="more than"):
            endpoint.post("/x", {}, timeout=60)
        endpoint.close()


def test_a_call_with_no_time_left_sends_nothing() -> None:
    with HttpStub([Answer(body={})]) as stub:
        endpoint = JsonEndpoint(stub.url, api_key=None, errors=ERRORS)
        with pytest.raises(ExtractorUnavailable):
            endpoint.post("/x", {}, timeout=-1)
        endpoint.close()
        assert stub.requests == []
