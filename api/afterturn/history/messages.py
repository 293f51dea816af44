"""OpenAI-style message lists, paired into exchanges."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

SPOKEN: Final = ("user", "assistant")
SKIPPED: Final = ("system", "developer", "tool", "function")
TEXT_PARTS: Final = ("text", "input_text", "output_text")
"""Types of content parts that are text: of the chat completions API, and of the responses API."""


class MalformedMessage(ValueError):
    """A message list is not one; the message says which message is wrong, and never quotes it."""


@dataclass(slots=True)
class Exchange:
    """What one side said, and what the other answered; either may be missing.

    Attributes:
        at: the first `at` of its messages, as it stands there.
    """

    user: list[str] = field(default_factory=list)
    assistant: list[str] = field(default_factory=list)
    at: Any = None

    def add(self, role: str, text: str, at: Any) -> None:
        """Add a message's text."""
        (self.user if role == "user" else self.assistant).append(text)
        self.at = at if self.at is None else self.at


def pair_messages(messages: object) -> list[Exchange]:
    """Exchanges of a message list.

    Messages of one side that follow each other are one text, joined by newlines. System and tool messages, and
    messages without text, are skipped.

    Raises:
        MalformedMessage: it is not a list of objects with a known role and a content of text.
    """
    if not isinstance(messages, list):
        raise MalformedMessage(f"messages must be a list, not {_type(messages)}")
    exchanges: list[Exchange] = []
    for number, message in enumerate(messages, 1):
        role, text, at = _read(number, message)
        if not text:
            continue
        if not exchanges or (role == "user" and exchanges[-1].assistant):
            exchanges.append(Exchange())
        exchanges[-1].add(role, text, at)
    return exchanges


def _read(number: int, message: object) -> tuple[str, str, Any]:
    """Role, text (empty: to be skipped) and time of a message."""
    if not isinstance(message, dict):
        raise MalformedMessage(f"message {number} must be an object, not {_type(message)}")
    role = message.get("role")
    if role in SKIPPED:
        return role, "", None
    if role not in SPOKEN:
        raise MalformedMessage(f"message {number} needs a role: one of {', '.join((*SPOKEN, *SKIPPED))}")
    return role, content_text(number, message.get("content")), message.get("at")


def content_text(number: int, content: object) -> str:
    """The text of a message's content: a string, text parts joined by newlines, or nothing.

    Raises:
        MalformedMessage: it is something else.
    """
    if content is None:
        return ""  # an assistant that only calls tools
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise MalformedMessage(
            f"content of message {number} must be a string or a list, not {_type(content)}"
        )
    texts = [
        part.get("text") for part in content if isinstance(part, dict) and part.get("type") in TEXT_PARTS
    ]
    if not all(isinstance(text, str) for text in texts):
        raise MalformedMessage(f"content of message {number} has a text part whose text is not a string")
    return "\n".join(str(text) for text in texts if text)


def _type(value: object) -> str:
    return "null" if value is None else type(value).__name__
