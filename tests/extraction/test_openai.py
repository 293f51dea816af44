"""Extraction by a chat endpoint: every answer and failure ends in facts, a transient or a permanent error."""

from __future__ import annotations

import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from afterturn.errors import ExtractorRejected, ExtractorUnavailable, SettingsError
from afterturn.extraction.openai import NONSENSE_WAIT, ChatExtractor
from afterturn.extraction.prompt import PROMPT_VERSION
from afterturn.model import MemoryKind, Scope, Turn
from tests.support.http_stub import Answer, HttpStub, Request, closed_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from afterturn.model import ExtractedFact

SCOPE = Scope("thread")
TURN = Turn(user="I live in Lisbon, my secret is 4711", assistant="Nice!")
FACTS = '{"facts": [{"text": "The user lives in Lisbon.", "kind": "fact", "importance": 0.7}]}'
KEY = "sk-very-secret"


def completion(content: Any = FACTS, **message: Any) -> Answer:
    finish_reason = message.pop("finish_reason", "stop")
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content, **message},
        "finish_reason": finish_reason,
    }
    return Answer(body={"object": "chat.completion", "choices": [choice], "usage": {"total_tokens": 9}})


def refused(status: int, *, headers: dict[str, str] | None = None, **error: Any) -> Answer:
    return Answer(status, {"error": {"message": TURN.user, **error}}, headers or {})


class Asked:
    """A stub, and an extractor that asks it."""

    def __init__(self, stub: HttpStub, timeout: float) -> None:
        self.stub = stub
        self.extractor = ChatExtractor(f"{stub.url}/v1/", "small-model", api_key=KEY, timeout=timeout)

    def facts(self) -> list[ExtractedFact]:
        return list(self.extractor(TURN, SCOPE))

    def bodies(self) -> list[Any]:
        return [request.json for request in self.stub.requests]


@pytest.fixture
def ask() -> Iterator[Callable[..., Asked]]:
    opened: list[Asked] = []

    def start(*script: Answer, by: Callable[[Request], Answer] | None = None, timeout: float = 20.0) -> Asked:
        stub = HttpStub(by or list(script))
        stub.__enter__()
        opened.append(Asked(stub, timeout))
        return opened[-1]

    yield start
    for asked in opened:
        asked.extractor.close()
        asked.stub.__exit__()


def test_a_good_answer_gives_facts_with_the_model_and_the_prompts_version(ask: Callable[..., Asked]) -> None:
    asked = ask(completion())
    [fact] = asked.facts()
    assert (fact.text, fact.kind, fact.importance) == ("The user lives in Lisbon.", MemoryKind.FACT, 0.7)
    assert fact.metadata == {"extractor": "small-model", "prompt_version": PROMPT_VERSION}


def test_the_request_is_what_the_protocol_asks_for(ask: Callable[..., Asked]) -> None:
    asked = ask(completion())
    asked.facts()
    [request] = asked.stub.requests
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    body = request.json
    assert (body["model"], body["temperature"], body["stream"]) == ("small-model", 0, False)
    assert body["response_format"]["type"] == "json_schema"
    assert json.loads(body["messages"][1]["content"])["conversation"][0]["text"] == TURN.user


def test_no_facts_is_an_empty_list_only_where_the_model_says_so(ask: Callable[..., Asked]) -> None:
    asked = ask(completion('{"facts": []}'))
    assert asked.facts() == []
    assert len(asked.stub.requests) == 1


def test_content_in_parts_is_joined(ask: Callable[..., Asked]) -> None:
    asked = ask(completion([{"type": "text", "text": FACTS[:20]}, {"type": "text", "text": FACTS[20:]}]))
    assert len(asked.facts()) == 1


REPAIRABLE = {
    "prose": completion("There is nothing I could say."),
    "wrong shape": completion('{"memories": ["x"]}'),
    "empty": completion(""),
    "white space": completion(" \n"),
    "null content": completion(None),
    "a tool call": completion(None, tool_calls=[{"function": {"name": "f"}}], finish_reason="tool_calls"),
    "cut": completion(FACTS[:30], finish_reason="length"),
    "refusal": completion(None, refusal="I can't help with that."),
    "no choices": Answer(body={"choices": []}),
    "not a completion": Answer(body=[1, 2]),
    "choices of another type": Answer(body={"choices": ["x"]}),
}


@pytest.mark.parametrize("first", REPAIRABLE.values(), ids=REPAIRABLE)
def test_an_unusable_answer_is_asked_for_once_more(ask: Callable[..., Asked], first: Answer) -> None:
    asked = ask(first, completion())
    assert len(asked.facts()) == 1
    assert len(asked.stub.requests) == 2


def test_the_repair_quotes_the_models_answer(ask: Callable[..., Asked]) -> None:
    asked = ask(completion("oops"), completion())
    asked.facts()
    assert [message["role"] for message in asked.bodies()[1]["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    assert asked.bodies()[1]["messages"][2]["content"] == "oops"


@pytest.mark.parametrize("kind", [name for name in REPAIRABLE if name not in {"cut", "refusal"}])
def test_two_unusable_answers_are_transient_with_a_long_wait(ask: Callable[..., Asked], kind: str) -> None:
    asked = ask(REPAIRABLE[kind])
    with pytest.raises(ExtractorUnavailable) as caught:
        asked.facts()
    assert caught.value.retry_after == NONSENSE_WAIT
    assert len(asked.stub.requests) == 2


@pytest.mark.parametrize("kind", ["cut", "refusal"])
def test_what_the_model_would_do_again_is_permanent_after_the_repair(
    ask: Callable[..., Asked], kind: str
) -> None:
    asked = ask(REPAIRABLE[kind])
    with pytest.raises(ExtractorRejected):
        asked.facts()
    assert len(asked.stub.requests) == 2


def test_a_content_filter_is_permanent_at_once(ask: Callable[..., Asked]) -> None:
    asked = ask(completion("", finish_reason="content_filter"))
    with pytest.raises(ExtractorRejected, match="content filter"):
        asked.facts()
    assert len(asked.stub.requests) == 1


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_statuses_that_may_pass_are_transient(ask: Callable[..., Asked], status: int) -> None:
    asked = ask(refused(status))
    with pytest.raises(ExtractorUnavailable, match=str(status)):
        asked.facts()
    assert len(asked.stub.requests) == 1


@pytest.mark.parametrize("status", [301, 401, 402, 403, 404, 405, 413, 418])
def test_other_statuses_are_permanent(ask: Callable[..., Asked], status: int) -> None:
    asked = ask(refused(status))
    with pytest.raises(ExtractorRejected, match=str(status)):
        asked.facts()
    assert len(asked.stub.requests) == 1


def test_the_servers_retry_after_is_passed_on(ask: Callable[..., Asked]) -> None:
    asked = ask(refused(429, headers={"Retry-After": "17"}))
    with pytest.raises(ExtractorUnavailable) as caught:
        asked.facts()
    assert caught.value.retry_after == 17


def test_errors_name_the_providers_code_and_nothing_that_was_said(ask: Callable[..., Asked]) -> None:
    asked = ask(refused(401, code="invalid_api_key"))
    with pytest.raises(ExtractorRejected) as caught:
        asked.facts()
    told = str(caught.value)
    assert "401" in told
    assert "invalid_api_key" in told
    assert not [word for word in (KEY, "4711", "Lisbon") if word in told]


def test_a_code_that_is_prose_is_not_repeated(ask: Callable[..., Asked]) -> None:
    asked = ask(refused(401, code="bad key sk-very-secret", type="about 4711"))
    with pytest.raises(ExtractorRejected) as caught:
        asked.facts()
    assert KEY not in str(caught.value)
    assert "4711" not in str(caught.value)


@pytest.mark.parametrize(
    ("code", "error"), [(429, ExtractorUnavailable), (401, ExtractorRejected), ("x", ExtractorUnavailable)]
)
def test_an_error_inside_a_success_is_an_error(
    ask: Callable[..., Asked], code: object, error: type[Exception]
) -> None:
    asked = ask(refused(200, code=code))
    with pytest.raises(error):
        asked.facts()


def test_a_success_that_is_no_json_is_transient(ask: Callable[..., Asked]) -> None:
    asked = ask(Answer(body="<html>gateway</html>"))
    with pytest.raises(ExtractorUnavailable, match="without JSON"):
        asked.facts()


@pytest.mark.parametrize("cut", ["connection", "body"])
def test_a_cut_connection_is_transient(ask: Callable[..., Asked], cut: str) -> None:
    asked = ask(Answer(body=b"x" * 1000, cut=cut))
    with pytest.raises(ExtractorUnavailable):
        asked.facts()


def test_nobody_listening_is_transient() -> None:
    extractor = ChatExtractor(closed_url(), "m", timeout=5)
    with pytest.raises(ExtractorUnavailable, match="ConnectError"):
        extractor(TURN, SCOPE)
    extractor.close()


def test_silence_ends_at_the_deadline(ask: Callable[..., Asked]) -> None:
    gate = threading.Event()
    asked = ask(Answer(gate=gate), timeout=0.3)
    with pytest.raises(ExtractorUnavailable, match=r"within 0\.3 s"):
        asked.facts()
    gate.set()


def test_an_answer_that_trickles_ends_at_the_deadline(ask: Callable[..., Asked]) -> None:
    asked = ask(Answer(body=b" " * 10_000, chunks=1, pause=0.05), timeout=0.4)
    with pytest.raises(ExtractorUnavailable, match="within"):
        asked.facts()


def _only(*formats: str | None) -> Callable[[Request], Answer]:
    def by(request: Request) -> Answer:
        wanted = request.json.get("response_format", {}).get("type")
        return completion() if wanted in formats else refused(400, code="unsupported")

    return by


@pytest.mark.parametrize(("known", "tries"), [("json_object", 2), (None, 3)])
def test_a_format_that_is_not_understood_is_left_out_and_not_tried_again(
    ask: Callable[..., Asked], known: str | None, tries: int
) -> None:
    asked = ask(by=_only(known))
    asked.facts()
    asked.facts()
    wanted = [body.get("response_format", {}).get("type") for body in asked.bodies()]
    assert wanted == [*("json_schema", "json_object", None)[:tries], known]


def test_a_request_refused_in_every_form_is_permanent_and_forgotten(ask: Callable[..., Asked]) -> None:
    asked = ask(refused(400, code="context_length_exceeded"), *[refused(400)] * 2, completion())
    with pytest.raises(ExtractorRejected, match="400"):
        asked.facts()
    asked.facts()
    assert asked.bodies()[-1]["response_format"]["type"] == "json_schema"


def test_a_format_that_once_worked_is_not_doubted_by_a_later_refusal(ask: Callable[..., Asked]) -> None:
    asked = ask(completion(), refused(400, code="context_length_exceeded"))
    asked.facts()
    with pytest.raises(ExtractorRejected, match="context_length_exceeded"):
        asked.facts()
    assert len(asked.stub.requests) == 2


def test_a_model_without_a_temperature_is_asked_without_one(ask: Callable[..., Asked]) -> None:
    asked = ask(refused(400, code="unsupported_value", param="temperature"), completion())
    asked.facts()
    asked.facts()
    assert ["temperature" in body for body in asked.bodies()] == [True, False, False]
    assert asked.bodies()[-1]["response_format"]["type"] == "json_schema"


def test_threads_share_one_extractor(ask: Callable[..., Asked]) -> None:
    asked = ask(completion())
    with ThreadPoolExecutor(8) as pool:
        assert [len(facts) for facts in pool.map(lambda _: asked.facts(), range(40))] == [1] * 40


def test_a_forked_child_opens_connections_of_its_own(ask: Callable[..., Asked]) -> None:
    asked = ask(completion())
    asked.facts()
    opened = asked.stub.connections
    pid = os.fork()
    if pid == 0:
        os._exit(0 if len(asked.facts()) == 1 else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert asked.stub.connections == opened + 1
    asked.facts()
    assert asked.stub.connections == opened + 1


def test_a_closed_extractor_can_be_used_again(ask: Callable[..., Asked]) -> None:
    asked = ask(completion())
    asked.facts()
    asked.extractor.close()
    assert len(asked.facts()) == 1


@pytest.mark.parametrize("key", ["sk-\nsecret", "schlüssel"])
def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(SettingsError) as caught:
        ChatExtractor("http://model/v1", "m", api_key=key)
    assert key not in str(caught.value)


def test_credentials_in_the_address_are_not_repeated() -> None:
    extractor = ChatExtractor(closed_url().replace("//", "//me:hunter2@"), "m", timeout=5)
    with pytest.raises(ExtractorUnavailable) as caught:
        extractor(TURN, SCOPE)
    assert "hunter2" not in str(caught.value)
    extractor.close()
