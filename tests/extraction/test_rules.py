"""What the extraction rules find in plain English, and what they leave alone."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.extraction.rules import FACT_LIMIT, extract_by_rules
from afterturn.model import ExtractedFact, MemoryKind, Scope, Turn

SCOPE = Scope("thread")


def facts(text: str, *, assistant: str = "", at: datetime | None = None) -> list[ExtractedFact]:
    return extract_by_rules(Turn(user=text, assistant=assistant, at=at), SCOPE)


def found(text: str) -> list[tuple[str, str]]:
    return [((fact.metadata or {})["slot"], fact.text) for fact in facts(text)]


STATED = [
    # name
    ("My name is Ana.", "name", "The user's name is Ana."),
    ("hello, my name's ana maria", "name", "The user's name is ana maria."),
    ("I\u2019m called Rui", "name", "The user is called Rui."),
    ("Please call me Bo.", "name", "The user wants to be called Bo."),
    ("Hi, I'm Maria!", "name", "The user is Maria."),
    # home and origin
    ("I live in Lisbon", "home", "The user lives in Lisbon."),
    ("i live in a small town near porto", "home", "The user lives in a small town near porto."),
    ("I moved to Lisbon in May.", "home", "The user moved to Lisbon in May."),
    ("I've just moved back to Rome", "home", "The user has just moved back to Rome."),
    ("I don't live in Berlin anymore.", "home", "The user doesn't live in Berlin anymore."),
    ("I'm based in St. Ives.", "home", "The user is based in St. Ives."),
    ("I live with my wife and my two kids.", "household", "The user lives with their wife and their two kids."),
    ("I'm from Brazil", "origin", "The user is from Brazil."),
    ("I grew up in the US.", "origin", "The user grew up in the US."),
    ("I'm Portuguese.", "origin", "The user is Portuguese."),
    ("I used to live in Rome.", "past", "The user used to live in Rome."),
    # work and study
    ("I work as a nurse.", "occupation", "The user works as a nurse."),
    ("I'm a nurse", "occupation", "The user is a nurse."),
    ("I am a senior software engineer at Acme.", "occupation", "The user is a senior software engineer at Acme."),
    ("I work at Acme", "employer", "The user works at Acme."),
    ("I started a new job at Initech in March.", "employer", "The user started a new job at Initech in March."),
    ("I no longer work for Acme.", "employer", "The user no longer works for Acme."),
    ("I study law in Coimbra.", "education", "The user studies law in Coimbra."),
    ("I teach maths.", "education", "The user teaches maths."),
    ("I run a small bakery.", "occupation", "The user runs a small bakery."),
    # likes and dislikes
    ("I like olives.", "preference", "The user likes olives."),
    ("I don't like olives", "preference", "The user doesn't like olives."),
    ("dont like is one thing, but i really love sushi \U0001f363", "preference", "The user really loves sushi."),
    ("I hate flying.", "preference", "The user hates flying."),
    ("I can't stand coriander", "preference", "The user can't stand coriander."),
    ("I prefer trains to planes.", "preference", "The user prefers trains to planes."),
    ("I like tea but hate coffee.", "preference", "The user likes tea but hates coffee."),
    ("I'm a big fan of jazz.", "preference", "The user is a big fan of jazz."),
    ("My favourite colour is green.", "preference", "The user's favourite colour is green."),
    ('My favorite film is "Alien".', "preference", 'The user\'s favorite film is "Alien".'),
    # family and pets
    ("My sister Ana lives in Oslo.", "family", "The user's sister Ana lives in Oslo."),
    ("I have two kids.", "family", "The user has two kids."),
    ("I don't have any siblings", "family", "The user doesn't have any siblings."),
    ("My daughter's name is Mia.", "family", "The user's daughter's name is Mia."),
    ("I'm a mother of three.", "family", "The user is a mother of three."),
    ("I'm married.", "relationship", "The user is married."),
    ("I got divorced last year.", "relationship", "The user got divorced last year."),
    ("My dog is called Rex!", "pet", "The user's dog is called Rex."),
    ("We adopted her; I have a very old cat.", "pet", "The user has a very old cat."),
    # allergies, health, diet
    ("I'm allergic to peanuts.", "allergy", "The user is allergic to peanuts."),
    ("im severely allergic to shellfish", "allergy", "The user is severely allergic to shellfish."),
    ("I have a nut allergy", "allergy", "The user has a nut allergy."),
    ("I'm not allergic to anything.", "allergy", "The user is not allergic to anything."),
    ("I have type 2 diabetes.", "health", "The user has type 2 diabetes."),
    ("I'm vegetarian", "diet", "The user is vegetarian."),
    ("I'm not vegetarian", "diet", "The user is not vegetarian."),
    ("I've been vegan for ten years.", "diet", "The user has been vegan for ten years."),
    ("I don't eat meat.", "diet", "The user doesn't eat meat."),
    ("I eat fish again.", "diet", "The user eats fish again."),
    ("I'm vegan, what should I cook tonight?", "diet", "The user is vegan."),
    ("I quit smoking.", "diet", "The user quit smoking."),
    ("I'm on a gluten-free diet", "diet", "The user is on a gluten-free diet."),
    ("I was a teacher for 20 years", "past", "The user was a teacher for 20 years."),
    ("ok so i have 3 cats lol", "pet", "The user has 3 cats."),
    ("I prefer to be addressed as Dr. Smith", "preference", "The user prefers to be addressed as Dr. Smith."),
    ("Actually, I'm vegetarian now, not vegan.", "diet", "The user is vegetarian now, not vegan."),
    # birthday and age
    ("My birthday is on 3 May.", "birthday", "The user's birthday is on 3 May."),
    ("I was born in 1990.", "birthday", "The user was born in 1990."),
    ("I'm 34 years old.", "age", "The user is 34 years old."),
    # plans and goals
    ("I'm flying to Oslo on Friday.", "plan", "The user is flying to Oslo on Friday."),
    ("Next week I'm visiting my parents", "plan", "Next week the user is visiting their parents."),
    ("I have a dentist appointment on Tuesday.", "plan", "The user has a dentist appointment on Tuesday."),
    ("My flight is tomorrow.", "plan", "The user's flight is tomorrow."),
    ("I want to learn the cello.", "goal", "The user wants to learn the cello."),
    # asked to be remembered
    ("Remember that I park on level 3.", "reminder", "The user parks on level 3."),
    ("Remember my name is Ana", "name", "The user's name is Ana."),
    ("remember to always answer in Spanish", "reminder", "The user asked to remember to always answer in Spanish."),
    ("please remember that the door code is 4711", "reminder", "The user asked to remember that the door code is 4711."),
    ("Don't forget that my mother arrives on Monday.", "reminder", "The user's mother arrives on Monday."),
    # skills, possessions, habits
    ("I'm learning Portuguese.", "learning", "The user is learning Portuguese."),
    ("I speak Dutch and a little German", "language", "The user speaks Dutch and a little German."),
    ("I play the violin.", "skill", "The user plays the violin."),
    ("I can't swim.", "skill", "The user can't swim."),
    ("I have an old red car.", "possession", "The user has an old red car."),
    ("I go to the gym every day.", "habit", "The user goes to the gym every day."),
    ("Every morning I run by the river.", "habit", "Every morning the user runs by the river."),
    ("I usually get up at six.", "habit", "The user usually gets up at six."),
]  # fmt: skip

NOT_FACTS = [
    "I like jazz if it's quiet.",
    "I live in Oslo, maybe",
    "I love the pizza you recommended.",
    'My favourite line is "I am your father".',
    "I love the song 'I want to break free'",
    "I have a family plan with Netflix.",
    "I have a child process that hangs.",
    "I have a dog park near me, which is best?",
    "I run the script every morning.",
    "I moved to Python from Java.",
    "I'm expecting a call from the bank.",
    "I'm studying for my exam.",
    "My birthday is coming up",
    "I'm from the marketing team.",
    "Hi I'm new here",
    "I was born ready.",
    "Do I like olives?",
    "I like olives, don't I?",
    "I live in Lisbon, right?",
    "Am I allergic to peanuts?",
    "If I lived in Rome, I would eat pasta every day.",
    "Suppose I live in Oslo.",
    "I would like a coffee.",
    "I might move to Berlin next year.",
    "I don't know if I like jazz.",
    "I wish I lived in Porto.",
    "I'm tired.",
    "I'm fine",
    "I'm a bit late.",
    "I'm in a hurry",
    "I'm sorry about that.",
    "I'm a little confused.",
    "I'm looking for a restaurant.",
    "I'm going to bed now",
    "I'm working on it.",
    "I'm happy with that answer.",
    "I'm an idiot",
    "I like it.",
    "I like that idea",
    "I love how you explained this.",
    "I prefer the second option.",
    "I hate to say it.",
    'She said "I live in Paris. I love it there."',
    "\u201cI'm vegan\u201d, he told the waiter.",
    "My boss wrote 'I hate meetings' on the wall",
    "Translate this into French:\nI live in Rome.",
    "> I work at Acme.",
    "My friend says I work too much.",
    "I have a question.",
    "I have a problem with my code.",
    "I live in fear",
    "I moved to the next step.",
    "I need help with my homework.",
    "Call me later",
    "Call me back tomorrow.",
    "My name is on the list.",
    "You live in Oslo.",
    "Remember when we met?",
    "Remember this.",
    "I'll tell you tomorrow.",
    "I will try that tomorrow",
    "I think therefore I am.",
    "Thanks, that works for me!",
    "I drink it.",
    "```\nI live in a code block.\n```",
    "Ich wohne in Berlin.",
]


@pytest.mark.parametrize(("said", "slot", "expected"), STATED, ids=[case[0] for case in STATED])
def test_a_plain_statement_becomes_one_sentence_about_the_user(said: str, slot: str, expected: str) -> None:
    assert found(said) == [(slot, expected)]


@pytest.mark.parametrize("said", NOT_FACTS)
def test_what_states_nothing_lasting_about_the_user_is_no_fact(said: str) -> None:
    assert found(said) == []


def test_several_statements_in_one_text_become_several_facts() -> None:
    said = "Hi there! My name is Ana and I live in Porto, but I work in Lisbon. My dog's name is Rex.\n- I'm vegan"
    assert [text for _, text in found(said)] == [
        "The user's name is Ana.",
        "The user lives in Porto.",
        "The user works in Lisbon.",
        "The user's dog's name is Rex.",
        "The user is vegan.",
    ]


def test_a_line_that_announces_facts_does_not_hide_them() -> None:
    assert found("About me:\n1. I live in Faro\n2. I have a cat") == [
        ("home", "The user lives in Faro."),
        ("pet", "The user has a cat."),
    ]


def test_the_same_fact_said_twice_is_found_once() -> None:
    assert len(facts("I live in Faro. By the way, I live in Faro!")) == 1


def test_what_the_assistant_says_is_not_read() -> None:
    assert facts("Thanks!", assistant="I live in Lisbon. My name is Ana.") == []


def test_a_turn_without_the_users_side_has_no_facts() -> None:
    assert facts("", assistant="I'm a language model.") == []


def test_facts_say_where_they_come_from_and_how_much_they_matter() -> None:
    allergy, name, taste = facts("I'm allergic to nuts. My name is Ana. I like tea.")
    assert (allergy.importance, name.importance) == (0.9, 0.8)
    assert allergy.metadata == {"extractor": "rules", "slot": "allergy"}
    assert (name.kind, taste.kind) == (MemoryKind.FACT, MemoryKind.PREFERENCE)


@pytest.mark.parametrize(
    "said", ["I'm flying to Oslo on Friday", "I moved to Rome last week.", "My flight is tomorrow"]
)
def test_a_relative_date_is_followed_by_the_day_it_was_said_on(said: str) -> None:
    [fact] = facts(said, at=datetime(2026, 12, 1, 23, 30, tzinfo=UTC))
    assert fact.text.endswith(" (said on Tuesday 2026-12-01).")


def test_an_absolute_date_stands_alone() -> None:
    [fact] = facts("I moved to Rome in May 2024.", at=datetime(2026, 12, 1, tzinfo=UTC))
    assert fact.text == "The user moved to Rome in May 2024."


@pytest.mark.parametrize("said", ["I run every Sunday along the canal.", "I play chess on Sundays."])
def test_a_habit_is_no_date(said: str) -> None:
    [fact] = facts(said, at=datetime(2026, 12, 1, tzinfo=UTC))
    assert "said on" not in fact.text


@given(
    st.lists(
        st.sampled_from([*(case[0] for case in STATED), *NOT_FACTS, "'", '"', "\n", "?", ":", "I ", "my "]),
        max_size=12,
    )
)
def test_any_mixture_of_sentences_gives_valid_facts_in_the_third_person(parts: list[str]) -> None:
    text = " ".join(parts)
    for fact in facts(text) if text else []:
        assert fact.text[0].isupper()
        assert not {"I", "I'm", "my", "me"} & set(fact.text.split())


@pytest.mark.parametrize(
    "piece",
    [
        "I live in ",
        "'a ",
        '"',
        "I am very ",
        "`",
        "my ",
        ", and I",
        "( ",
        "I have a ",
        "?!",
        "I'm ",
        "every day ",
        "a.",
        "\n",
        " - ",
    ],
)
def test_a_hostile_text_takes_no_longer_than_its_length_deserves(piece: str) -> None:
    text = (piece * 100_000)[:100_000]
    began = time.process_time()
    assert len(facts(text)) <= FACT_LIMIT
    assert time.process_time() - began < 2


def test_no_more_facts_than_the_limit_come_from_one_turn() -> None:
    text = ". ".join(f"I like number {number}" for number in range(200))
    assert len(facts(text)) == FACT_LIMIT
