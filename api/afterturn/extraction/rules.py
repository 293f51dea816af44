"""Facts from plain English first-person statements, by rules: for first runs without a language model.

Each rule recognises one way of saying something lasting about oneself at the start of a clause. The fact is the
clause itself, put into the third person: nothing is added to what was said, except, after a relative date, the day
it was said on. What no rule recognises is left to the raw turn.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from afterturn.extraction import lexicon as lex
from afterturn.extraction.patterns import RULES, Rule
from afterturn.extraction.prompt import WEEKDAYS
from afterturn.extraction.sentences import statements
from afterturn.extraction.third_person import third_person
from afterturn.model import ExtractedFact, MemoryKind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from afterturn.model import Scope, Turn

EXTRACTOR: Final = "rules"
"""What facts' metadata call this extractor."""
FACT_LIMIT: Final = 64
"""Most facts from one turn."""

_LEAD_IN: Final = re.compile(
    r"(?:(?:hi|hello|hey|hiya|well|so|also|oh|ok|okay|and|but|yes|yeah|yep|no|nope|thanks|thank you|please|btw|fyi|plus|"
    r"actually|anyway|by the way|just so you know|for context|for the record|good morning|good evening|hi there|"
    r"hello there|hey there|to be honest|tbh|honestly|personally|as for me|unfortunately|sadly|luckily|well then|ah|"
    r"if it helps|if it matters|in case it helps|in case it matters|a bit about me|about me|correction|update|"
    r"great|cool|nice|sure|right|sorry)[,.!:]? )",
    re.IGNORECASE,
)
_GREETED: Final = re.compile(
    r"(?:hi|hello|hey|good morning|good evening|hi there|hello there|hey there)[,.!]? ", re.IGNORECASE
)
_INTRODUCED: Final = re.compile(r"(?:I'm|I am|i'm|i am|this is) (?P<said>[A-Z][a-z]+(?: [A-Z][a-z]+)?)$")
_CALL_ME: Final = re.compile(r"(?:(?:you can|please|just|everyone can|feel free to) ){0,2}call me (?P<said>[A-Z][\w'-]*(?: [A-Z][\w'-]*)?)$", re.IGNORECASE)  # fmt: skip
_REMEMBER: Final = re.compile(
    r"(?:(?:please|can you|could you|always|also) ){0,2}(?P<asked>remember|don't forget|do not forget|keep in mind|bear in mind|"
    r"make a note|take note|note)(?: that |: |,? (?=(?:i|i'm|i've|i'll|my) ))(?P<said>.{3,})$",
    re.IGNORECASE,
)
_REMEMBER_TO: Final = re.compile(
    r"(?:please )?(?:remember|don't forget) to (?P<said>\w.{3,})$", re.IGNORECASE
)
_FIRST_PERSON: Final = re.compile(r"(?:i|i'm|i've|i'll|my) ", re.IGNORECASE)
_NOT_STATED: Final = re.compile(
    r"\b(?:if|unless|whether|would|wouldn't|could|couldn't|might|maybe|perhaps|wish|should|shouldn't|suppose|supposing|"
    r"imagine|pretend|pretending|hypothetically|kidding|joking|i'd|i may|ain't|as though|you|your|yours|you're|you've|you'll|"
    r"yourself|in my dreams?|in (?:the|this) (?:game|story|movie|code|example))\b"
)
_IRREALIS: Final = re.compile(
    r"(?:if|suppose|supposing|imagine|pretend|let's say|say|what if|when|once|as if|as soon as)\b"
)
_RELATIVE_TIME: Final = re.compile(rf"\b{lex.RELATIVE_TIME}\b")
_HABIT: Final = re.compile(rf"\b{lex.HABIT}\b")
_NOT_A_NAME: Final = re.compile(
    rf"(?:{lex.NATIONALITY}|{lex.DIET}|{lex.WEEKDAY}|{lex.MONTH}|{lex.TRAIT}|christian|muslim|jewish|buddhist|hindu|catholic|"
    r"sorry|fine|ok|okay|back|here|later|tomorrow|maybe|crazy|old|happy|sad|tired|good|great|done|ready|sure|new|not)\b"
)


def extract_by_rules(turn: Turn, _scope: Scope) -> list[ExtractedFact]:
    """The facts that the user plainly states in `turn`; the assistant's text is not read.

    Args:
        turn: its `at`, where set, dates facts with a relative time ("(said on Tuesday 2026-12-01)").

    Returns:
        At most 64 facts, in the order said, each with metadata `{"extractor": "rules", "slot": …}`.
    """
    found: dict[str, ExtractedFact] = {}
    for clause in statements(turn.user):
        for fact in _facts(clause, turn.at):
            found.setdefault(fact.text.casefold(), fact)
        if len(found) >= FACT_LIMIT:
            break
    return list(found.values())[:FACT_LIMIT]


def _facts(clause: str, at: datetime | None) -> Iterator[ExtractedFact]:
    plain = _without_lead_in(clause)
    asked = _remembered(plain, at)
    if asked is not None:
        yield asked
        return
    named = _introduced(clause, plain)
    if named is not None:
        yield named
    elif not _is_hypothetical(plain) and (rule := _rule_for(plain)) is not None:
        yield _fact(third_person(plain), rule.slot, rule.importance, at, rule.kind)


def _rule_for(clause: str) -> Rule | None:
    low = clause.lower()
    return next((rule for rule in RULES if rule.pattern.match(low)), None)


def _without_lead_in(clause: str) -> str:
    plain = clause
    for _ in range(4):
        lead_in = _LEAD_IN.match(plain)
        if lead_in is None:
            break
        plain = plain[lead_in.end() :].lstrip(" ,")
    return plain


def _is_hypothetical(clause: str) -> bool:
    low = clause.lower()
    return bool(_IRREALIS.match(low) or _NOT_STATED.search(low))


def _remembered(clause: str, at: datetime | None) -> ExtractedFact | None:
    """What the user asks to remember."""
    errand = _REMEMBER_TO.match(clause)
    if errand is not None and not _NOT_STATED.search(errand["said"].lower()):
        return _fact(third_person(f"I asked to remember to {errand['said']}"), "reminder", 0.9, at)
    asked = _REMEMBER.match(clause)
    if asked is None or _NOT_STATED.search(asked["said"].lower()):
        return None
    said = asked["said"]
    if _FIRST_PERSON.match(said):
        rule = _rule_for(said)
        slot, kind = (rule.slot, rule.kind) if rule else ("reminder", MemoryKind.FACT)
        return _fact(third_person(said), slot, 0.9, at, kind)
    if asked["asked"].lower() != "remember":
        return None  # "note that the server is down" may be meant for the answer only
    return _fact(third_person(f"I asked to remember that {said}"), "reminder", 0.9, at)


def _introduced(clause: str, plain: str) -> ExtractedFact | None:
    """A name that is given without saying that it is one, in a greeting or as a wish."""
    wished = _CALL_ME.match(plain)
    if wished is not None and wished["said"][:1].isupper() and not _NOT_A_NAME.match(wished["said"].lower()):
        return _fact(f"The user wants to be called {wished['said']}.", "name", 0.8, None)
    met = _INTRODUCED.match(plain) if _GREETED.match(clause) else None
    if met is not None and not _NOT_A_NAME.match(met["said"].lower()):
        return _fact(f"The user is {met['said']}.", "name", 0.8, None)
    return None


def _fact(
    text: str, slot: str, importance: float, at: datetime | None, kind: MemoryKind = MemoryKind.FACT
) -> ExtractedFact:
    # "every Sunday" needs no day that it counts from
    if at is not None and _RELATIVE_TIME.search(_HABIT.sub("", text.lower())):
        text = f"{text.removesuffix('.')} (said on {WEEKDAYS[at.weekday()]} {at.date().isoformat()})."
    return ExtractedFact(text, kind, importance, {"extractor": EXTRACTOR, "slot": slot})
