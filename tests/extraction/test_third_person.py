"""English verbs and pronouns put into the third person."""

from __future__ import annotations

import pytest

from afterturn.extraction.third_person import singular_verb, third_person


@pytest.mark.parametrize(
    ("first", "third"),
    [
        ("live", "lives"),
        ("go", "goes"),
        ("study", "studies"),
        ("play", "plays"),
        ("teach", "teaches"),
        ("have", "has"),
        ("am", "is"),
        ("do", "does"),
        ("don't", "doesn't"),
        ("was", "was"),
        ("moved", "moved"),
        ("went", "went"),
        ("can", "can"),
    ],
)
def test_a_present_verb_takes_its_ending_and_others_stay(first: str, third: str) -> None:
    assert singular_verb(first) == third


@pytest.mark.parametrize(
    ("clause", "statement"),
    [
        ("I live and work in Berlin", "The user lives and works in Berlin."),
        ("I moved to Lisbon when I was 20", "The user moved to Lisbon when they were 20."),
        ("I'm sure that I'm right", "The user is sure that they're right."),
        ("my brother taught me what I know", "The user's brother taught them what they know."),
        ("that house is mine", "That house is the user's."),
        ("I work in a mine in the US", "The user works in a mine in the US."),
        ("I like music and travel", "The user likes music and travel."),
        ("I like to swim and play tennis", "The user likes to swim and play tennis."),
        ("I can cook and sing in tune", "The user can cook and sing in tune."),
        ("I've lived in Rome and love it", "The user has lived in Rome and loves it."),
        ("I really never eat meat", "The user really never eats meat."),
        ("I fly our kites myself", "The user flies their kites themselves."),
    ],
)
def test_the_first_mention_is_the_user_and_later_ones_are_they(clause: str, statement: str) -> None:
    assert third_person(clause).replace("they are", "they're") == statement
