"""The prompt block."""

from __future__ import annotations

import json
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from afterturn import Hit, MemoryKind, Record, Scope
from afterturn.model import ScoreParts
from afterturn.render import HEADING, quote_text, render_hits


def hit(text: str, kind: MemoryKind = MemoryKind.MESSAGE) -> Hit:
    record = Record(id="1", scope=Scope("t"), text=text, kind=kind, created_at=0)
    return Hit(record, 0.5, ScoreParts(0, 0, 0, 0))


def test_no_hits_give_the_empty_string() -> None:
    assert render_hits([]) == ""


def test_each_hit_is_a_numbered_line_with_its_kind_and_its_text_as_json() -> None:
    block = render_hits([hit("I moved to Lisbon"), hit('Likes "tea"', MemoryKind.FACT)])
    assert block.startswith(HEADING)
    assert block.endswith('\n1. [message] "I moved to Lisbon"\n2. [fact] "Likes \\"tea\\""')


def test_the_heading_says_when_to_use_an_entry_and_what_wins() -> None:
    assert "only where it helps" in HEADING
    assert "do not bring one up unasked" in HEADING
    assert "believe the conversation" in HEADING


@settings(deadline=None)
@given(st.text())
def test_no_text_breaks_out_of_its_line(text: str) -> None:
    (line,) = render_hits([hit(text)]).removeprefix(HEADING).strip("\n").splitlines()
    assert re.fullmatch(r'1\. \[message\] ".*"', line)
    assert json.loads(line.partition("] ")[2]) == text


def test_unicode_stays_readable() -> None:
    assert quote_text("猫 🧠 é") == '"猫 🧠 é"'


def test_line_separators_that_json_allows_are_escaped() -> None:
    assert quote_text("a\u2028b\u2029c\u0085d") == '"a\\u2028b\\u2029c\\u0085d"'
