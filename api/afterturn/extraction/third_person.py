"""Rewriting a plain English first-person clause as a statement about the user. Pure.

"I live in Lisbon with my sister" becomes "The user lives in Lisbon with their sister.": the first mention is "the
user" (with the verb in the third person singular), later ones "they".
"""

from __future__ import annotations

import re
from typing import Final


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


FIRST: Final = {"i": "the user", "my": "the user's", "me": "the user", "mine": "the user's"}
LATER: Final = {"i": "they", "my": "their", "me": "them", "mine": "theirs"}
OTHERS: Final = {
    "myself": "themselves",
    "ourselves": "themselves",
    "we": "they",
    "us": "them",
    "our": "their",
    "ours": "theirs",
    "we're": "they're",
    "we've": "they've",
    "we'll": "they'll",
}
SINGULAR_CONTRACTIONS: Final = {"i'm": "is", "i've": "has", "i'll": "will"}
PLURAL_CONTRACTIONS: Final = {"i'm": "are", "i've": "have", "i'll": "will"}
IRREGULAR_SINGULAR: Final = {
    "am": "is",
    "have": "has",
    "haven't": "hasn't",
    "do": "does",
    "don't": "doesn't",
    "go": "goes",
}
AFTER_THEY: Final = {"am": "are", "was": "were", "wasn't": "weren't"}
UNCHANGED: Final = _words(
    "was wasn't were did didn't had hadn't will won't can can't cannot could couldn't must shall should would ",
    "ate became began bought broke brought built came caught chose cut did drank drew drove fell felt flew found ",
    "forgot gave got grew heard held hit hurt kept knew lost led left lent let made met paid put quit ran ",
    "rode said sang sat saw sent set shut slept sold spent spoke stood swam taught thought told took understood ",
    "went woke won wore wrote used not",
)
"""What a third person leaves as it is: past tenses and modal verbs."""
ADVERBS: Final = _words(
    "almost already also always both even ever just longer never no now often only quite seldom sometimes soon ",
    "still then very",
)
"""Words that may stand between a subject and its verb, as may those that end in -ly."""
COORDINATED: Final = _words(
    "am was have haven't don't can't can live like hate prefer enjoy eat own speak teach keep go want ",
    "work study love drink run drive need travel walk volunteer sleep cook play swim read write sing collect",
)
"""Verbs that may follow "and", "or" and "but"."""
NOUNS_TOO: Final = _words(
    "work study love drink run drive need travel walk volunteer sleep cook play swim read"
)
"""Those of them that are taken for a verb only before one of `AFTER_VERBS`."""
AFTER_VERBS: Final = _words(
    "a an the my our it them in at as for from on to with every most no two three less more"
)
OPENING_INFINITIVES: Final = _words("like love hate prefer want need plan have used hope try")
"""Verbs after whose "to" a conjunction goes on with the infinitive."""
AUXILIARIES: Final = _words("can can't cannot do don't did didn't will won't must could should would")
NOT_ADVERBS: Final = frozenset({"apply", "bully", "fly", "multiply", "rely", "reply", "supply"})
ARTICLES: Final = frozenset({"a", "an", "the"})

_TOKEN: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d[\w.,:]*|\s+|.", re.DOTALL)


def third_person(clause: str) -> str:
    """The clause as a sentence about the user, with a capital letter and a full stop.

    Expects straight apostrophes and single spaces; works on each word by itself, in linear time.
    """
    said = _Rewriter().rewrite(clause).strip()
    return f"{said[:1].upper()}{said[1:]}{'' if said.endswith(('.', '!')) else '.'}"


def singular_verb(verb: str) -> str:
    """A present-tense verb after "the user": live → lives, study → studies, don't → doesn't; a past one stays."""
    if verb in IRREGULAR_SINGULAR:
        return IRREGULAR_SINGULAR[verb]
    if verb in UNCHANGED or verb.endswith("ed"):
        return verb
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


class _Rewriter:
    """What is known while going through a clause's words."""

    def __init__(self) -> None:
        self._mentioned = False
        self._verb_of: str | None = None
        """Whose verb comes next: `user`, `they`, `again` (the user's, after a conjunction) or None."""
        self._goes_on = False
        """Whether a conjunction may lead to another verb of the user's."""

    def rewrite(self, clause: str) -> str:
        tokens = _TOKEN.findall(clause)
        words = [token for token in tokens if not token.isspace()]
        said = iter(
            self._word(word, before.lower(), after.lower())
            for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False)
        )
        return "".join(token if token.isspace() else next(said) for token in tokens)

    def _word(self, word: str, before: str, after: str) -> str:
        low = word.lower()
        if low in FIRST and not (low == "mine" and before in ARTICLES):
            return self._pronoun(low)
        if low in SINGULAR_CONTRACTIONS:
            return self._contraction(low)
        # "US" and "the us" are a country
        if low in OTHERS and not (low == "us" and (word.isupper() or before in ARTICLES)):
            return OTHERS[low]
        if self._verb_of and not _is_adverb(low):
            return self._verb(word, low, after)
        if low in {"and", "or", "but"} and self._goes_on:
            self._verb_of = "again"
        return word

    def _pronoun(self, low: str) -> str:
        said = LATER[low] if self._mentioned else FIRST[low]
        if low == "i":
            self._verb_of = "they" if self._mentioned else "user"
        self._mentioned = True
        return said

    def _contraction(self, low: str) -> str:
        subject, verbs = (
            ("they", PLURAL_CONTRACTIONS) if self._mentioned else ("the user", SINGULAR_CONTRACTIONS)
        )
        self._goes_on = not self._mentioned and low != "i'll"
        self._mentioned, self._verb_of = True, None
        return f"{subject} {verbs[low]}"

    def _verb(self, word: str, low: str, after: str) -> str:
        subject, self._verb_of = self._verb_of, None
        if subject == "they":
            return AFTER_THEY.get(low, word)
        if subject == "again" and not _is_coordinated(low, after):
            return word
        self._goes_on = low not in AUXILIARIES and not (low in OPENING_INFINITIVES and after == "to")
        return singular_verb(low)


def _is_adverb(low: str) -> bool:
    return low in ADVERBS or (low.endswith("ly") and low not in NOT_ADVERBS)


def _is_coordinated(low: str, after: str) -> bool:
    return low in COORDINATED and (low not in NOUNS_TOO or after in AFTER_VERBS)
