"""Extraction by any OpenAI-compatible `/chat/completions` endpoint."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from afterturn._http import ErrorClasses, JsonEndpoint, Reply
from afterturn.errors import ExtractorRejected, ExtractorUnavailable
from afterturn.extraction.parse import UnusableAnswer, parse_facts
from afterturn.extraction.prompt import FACTS_SCHEMA, PROMPT_VERSION, chat_messages, repair_messages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from afterturn.extraction.prompt import Message
    from afterturn.model import ExtractedFact, Scope, Turn

PATH: Final = "/chat/completions"
NONSENSE_WAIT: Final = 1_800.0
"""Seconds until a turn that a model answered unusably twice is tried again: each try is paid for."""
NOT_UNDERSTOOD: Final = frozenset({400, 422})
"""Statuses that servers give to a field they don't know."""

RESPONSE_FORMATS: Final[tuple[dict[str, Any] | None, ...]] = (
    {"type": "json_schema", "json_schema": {"name": "facts", "strict": True, "schema": FACTS_SCHEMA}},
    {"type": "json_object"},
    None,
)
"""From the strictest to what every server takes."""


CUT: Final = "the answer was cut at the model's token limit"
REFUSED: Final = "the model refused"
FILTERED: Final = "the provider's content filter held the answer back"
EMPTY: Final = "an empty answer"
LASTING_FAULTS: Final = frozenset({CUT, REFUSED, FILTERED})
"""Faults that a model has again, asked the same."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a model said, and why it can't be used, if so; `final`: asking again would change nothing."""

    text: str
    fault: str | None = None
    final: bool = False


class ChatExtractor:
    """Asks a chat model for the facts of a turn (protocol: OpenAI API reference, "Create chat completion").

    Safe to share between threads and over a fork. What the endpoint does not understand (a JSON schema, JSON mode,
    a temperature) is left out after its first refusal, and not tried again by this object.

    Args:
        base_url: such as `http://host/v1`.
        model: name that the endpoint knows the model by.
        timeout: seconds for one turn, a repair included.
    """

    def __init__(
        self, base_url: str, model: str, *, api_key: str | None = None, timeout: float = 60.0
    ) -> None:
        self.model_name = model
        self._timeout = timeout
        self._endpoint = JsonEndpoint(
            base_url, api_key=api_key, errors=ErrorClasses(ExtractorUnavailable, ExtractorRejected)
        )
        self._format = 0
        self._format_proved = False
        self._temperature = True

    def __call__(self, turn: Turn, _scope: Scope) -> list[ExtractedFact]:
        """The facts of `turn`; an empty list only where the model says that there are none.

        Raises:
            ExtractorUnavailable: no connection, no answer in time, 429 or 5xx, or two unusable answers.
            ExtractorRejected: any other refusal of the endpoint, a content filter, or the model's refusal or cut
                answer twice.
        """
        deadline = time.monotonic() + self._timeout
        messages = chat_messages([turn])
        answer = self._ask(messages, deadline)
        try:
            return self._facts(answer)
        except UnusableAnswer as fault:
            if answer.final:
                raise self._given_up(answer, fault) from None
        answer = self._ask(repair_messages(messages, answer.text), deadline)
        try:
            return self._facts(answer)
        except UnusableAnswer as fault:
            raise self._given_up(answer, fault) from None

    def close(self) -> None:
        """Close this process's connections."""
        self._endpoint.close()

    def _facts(self, answer: _Answer) -> list[ExtractedFact]:
        if answer.fault:
            raise UnusableAnswer(answer.fault)
        return parse_facts(answer.text, {"extractor": self.model_name, "prompt_version": PROMPT_VERSION})

    def _given_up(self, answer: _Answer, fault: UnusableAnswer) -> ExtractorUnavailable | ExtractorRejected:
        if answer.final or answer.fault in LASTING_FAULTS:
            return ExtractorRejected(f"{self.model_name}: {fault}")
        return ExtractorUnavailable(f"{self.model_name}: {fault}, twice", retry_after=NONSENSE_WAIT)

    def _ask(self, messages: Sequence[Message], deadline: float) -> _Answer:
        return _read(self._completion(messages, deadline))

    def _completion(self, messages: Sequence[Message], deadline: float) -> Any:
        """The body of a success; tries weaker requests until one is understood."""
        wanted = self._format
        while True:
            body = self._body(messages, wanted)
            left = deadline - time.monotonic()
            reply = self._endpoint.post(PATH, body, timeout=left, tolerated=NOT_UNDERSTOOD)
            if reply.status not in NOT_UNDERSTOOD:
                # kept only now: a request that is refused in every form was refused for another reason
                self._format, self._format_proved = wanted, True
                return self._checked(reply)
            if reply.parameter == "temperature" and "temperature" in body:
                self._temperature = False
            elif not self._format_proved and wanted + 1 < len(RESPONSE_FORMATS):
                wanted += 1
            else:
                raise self._endpoint.refusal(PATH, reply)

    def _body(self, messages: Sequence[Message], wanted: int) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self.model_name, "messages": list(messages), "stream": False}
        if self._temperature:
            body["temperature"] = 0
        if (response_format := RESPONSE_FORMATS[wanted]) is not None:
            body["response_format"] = response_format
        return body

    def _checked(self, reply: Reply) -> Any:
        """The body, unless it is an error in a success's clothes, as gateways send them."""
        error = reply.body.get("error") if isinstance(reply.body, dict) else None
        if not error:
            return reply.body
        number = error.get("code") if isinstance(error, dict) else None
        status = number if isinstance(number, int) and 400 <= number < 600 else 502
        raise self._endpoint.refusal(PATH, reply, status=status)


def _read(body: Any) -> _Answer:
    """The first choice of a completion."""
    try:
        choice = body["choices"][0]
        message = choice["message"]
        reason, refusal, text = choice.get("finish_reason"), message.get("refusal"), _content(message)
    except (KeyError, IndexError, TypeError, AttributeError):
        return _Answer("", "an answer that is no chat completion")
    if reason == "content_filter":
        return _Answer("", FILTERED, final=True)
    if refusal:
        return _Answer(text, REFUSED)
    if reason == "length":
        return _Answer("", CUT)
    return _Answer(text, None if text.strip() else EMPTY)


def _content(message: Any) -> str:
    """A message's text; some servers give it in parts."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""
