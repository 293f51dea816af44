"""The ways of saying something lasting about oneself that the extraction rules know, one pattern each.

The order counts: the first pattern that matches a clause decides its slot.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from afterturn.extraction import lexicon as lex
from afterturn.model import MemoryKind

SINGLE_VALUED: Final = frozenset(
    {"age", "birthday", "employer", "home", "name", "occupation", "relationship"}
)
"""Slots that hold one value at a time, so that a new one replaces the old."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A way to say something.

    Attributes:
        pattern: matched at the start of a lower-cased clause, whose lead-in ("Hi,", "by the way") is off.
    """

    slot: str
    importance: float
    pattern: re.Pattern[str]
    kind: MemoryKind = MemoryKind.FACT


_ADVERBS: Final = rf"(?:{lex.ADVERBS}){{0,3}}"
_BE: Final = rf"(?:i'm|i am) {_ADVERBS}"
_BEEN: Final = rf"(?:i've|i have) {_ADVERBS}been {_ADVERBS}"
_DO: Final = rf"i {_ADVERBS}"
_DONT: Final = rf"i (?:don't|do not) {_ADVERBS}"
_DID: Final = rf"(?:i|i've|i have) {_ADVERBS}"
_HAVE: Final = rf"(?:i {_ADVERBS}(?:have|own|got|adopted)|i've {_ADVERBS}got|i (?:don't|do not) have)"
_NAME: Final = r"[^\W\d_]+(?:[ '\-][^\W\d_]+){0,3}"
# what is liked must be named: "it", "that idea" and "how you put it" mean nothing later
_NAMED: Final = (
    r"(?!(?:it|this|that|these|those|them|him|her|you|how|what|where|when|why|who|if|one|some|more|both|either|all|"
    r"neither|everything|nothing|something|anything|another|option)\b"
    r"|(?:the|your|an?|my) (?:idea|first|second|third|last|latter|former|other|one|option|way|answer|plan|sound|look|"
    r"tone|suggestion|version|bit|lot|thought)\b"
    r"|to (?:say|see|hear|bother|ask|be(?! (?:called|addressed))|admit|know|think|tell|interrupt|complain|have|get|make|point|use|just)\b|to$"
    r"|[^,]*\b(?:it|them|him|her|his|they|he|she|these|those|this|that one)\b)"
)
# "a family plan", "a child process": what follows must not be another noun
_NO_NOUN: Final = r"(?=$|,| (?:called|named|and|or|who|with|without|from|in|at|whose|too|but|together|now|since|for|of my own)\b)"
_MACHINERY: Final = r"(?!.*\b(?:script|code|tests?|query|queries|server|job|command|error|bug|build|pipeline|program|file|function)\b)"
_NO_PLACE: Final = (
    r"(?!(?:here|there|this|that|it|fear|denial|hope|hell|constant|my head|peace|pain|another|step|tab|page|point|"
    r"a new (?:job|role|team|version|question|topic)|python|java|javascript|typescript|rust|go|linux|windows|postgres|mysql|the (?:next|second|third|first|same|moment|past|present|wrong|"
    r"other|new version|middle|process|kitchen|bathroom|toilet|room|way))\b)"
)
_PLANNED: Final = (
    rf"(?:{_BE}(?=(?:[a-z]+ing|gonna|off to|away|out of town|at|in|on)\b)|(?:i'll|i will) {_ADVERBS})"
    r"(?!(?:going to |gonna )?(?:it|that|this|you|ask|let|try|do (?:so|it|that)|see how|see if|see|be back|be here|need|check|just|think|get back|bed|sleep|"
    r"talk|miss|remember|message|write back|tell)\b"
    r"|(?:thinking|feeling|wondering|looking|waiting|trying|asking|kidding|talking|hoping|doing|saying|having (?:trouble|problems|issues|a (?:bad|hard|rough)))\b)"
)


def _rule(slot: str, importance: float, pattern: str, kind: MemoryKind = MemoryKind.FACT) -> Rule:
    return Rule(slot, importance, re.compile(pattern), kind)


def _preference(importance: float, pattern: str) -> Rule:
    return _rule("preference", importance, pattern, MemoryKind.PREFERENCE)


RULES: Final[tuple[Rule, ...]] = (
    # name
    _rule(
        "name",
        0.8,
        r"my (?:(?:first|full|last|middle|real) )?name(?:'s| is) (?!(?:on|in|not|at|already|the|an?|also|hard|spelt|"
        rf"spelled|pronounced|taken|missing|wrong|there|misspelled|too)\b){_NAME}$",
    ),
    _rule("name", 0.8, rf"{_BE}(?:called|named) {_NAME}$"),
    _rule("name", 0.8, rf"i {_ADVERBS}go by {_NAME}$"),
    _rule("name", 0.8, r"my friends call me [^\W\d_]+$"),
    # allergies, health, diet
    _rule("allergy", 0.9, rf"(?:{_BE}|{_BEEN})(?:[a-z]+ly )?(?:allergic to|intolerant (?:to|of)|(?:lactose|gluten)[ -]intolerant|c(?:o)?eliac)\b"),
    _rule("allergy", 0.9, rf"{_HAVE} (?:an?|any|no|{lex.ADVERBS})? ?(?:[\w-]+ ){{0,4}}(?:allergy|allergies|intolerance)\b"),
    _rule("health", 0.8, rf"(?:{_HAVE}|{_BEEN}diagnosed with|i was {_ADVERBS}diagnosed with) (?:[a-z]+ )?{lex.CONDITION}(?: |$)"),
    _rule("diet", 0.8, rf"(?:{_BE}|{_BEEN}|{_DID}(?:went|became|turned|gone|turned into|become) )(?:an? )?(?:[a-z]+ )?{lex.DIET}\b"),
    _rule("diet", 0.8, rf"(?:{_DONT}|i (?:can't|cannot) {_ADVERBS}|i {_ADVERBS})(?:eat|drink|smoke|consume) (?!(?:it|that|this|them|now|up)\b)\w"),
    _rule("diet", 0.7, rf"(?:{_DONT}|i {_ADVERBS})(?:smoke|drink)(?: anymore| any more| at all)?$"),
    _rule("diet", 0.8, rf"{_DID}(?:stopped|quit|given up|gave up|started|cut out) (?:eating|drinking|smoking|vaping|meat|dairy|sugar|alcohol|gluten|coffee|caffeine)\b"),
    _rule("diet", 0.8, r"(?:i haven't|i have not|i've not|i've never|i have never) (?:eaten|drunk|smoked|touched) \w"),
    _rule("diet", 0.8, rf"{_BE}on (?:an? )?(?:[\w-]+ )?diet\b"),
    _rule("diet", 0.8, rf"(?:{_DO}|{_BE})(?:follow|following|keep|keeping) (?:an? )?(?:[\w-]+ )?(?:diet|kosher|halal)\b"),
    # birthday and age
    _rule("birthday", 0.7, r"my birthday(?:'s| is)? (?:is )?(?:on |in )?(?!(?:is|was|soon|coming|over|party|present)\b)\w"),
    _rule("birthday", 0.7, rf"i was born (?:on |in )?(?:{lex.DATE}|{lex.MONTH}\b|\d{{4}}\b|the \d)"),
    _rule("age", 0.5, rf"{_BE}\d{{1,3}}(?: years old)?$"),
    _rule("age", 0.5, rf"(?:i|{_BE.rstrip()})(?: {_ADVERBS}|)(?:turn|turned|turning) \d{{1,3}}\b(?! (?:it|off|on))"),
    # home and origin
    _rule("past", 0.4, rf"i {_ADVERBS}used to (?:live|work|smoke|eat|play|drink|study|own|have|love|like|teach|run)\b"),
    _rule("past", 0.4, rf"i was {_ADVERBS}an? (?:[\w&'/-]+ ){{0,3}}{lex.OCCUPATION}\b"),
    _rule("home", 0.7, rf"(?:{_DO}|{_DONT})(?:live|reside) {lex.PLACE_BEFORE} {_NO_PLACE}\w"),
    _rule("household", 0.6, rf"(?:{_DO}|{_DONT}|{_BE})(?:live|living) (?:with (?!(?:it|that|this|the)\b)\w|alone$|alone\b|on my own)"),
    _rule("home", 0.7, rf"{_BE}(?:living|based|staying) {lex.PLACE_BEFORE} {_NO_PLACE}\w"),
    _rule("home", 0.7, rf"(?:i've|i have) {_ADVERBS}(?:lived|been living) {lex.PLACE_BEFORE} {_NO_PLACE}\w"),
    _rule("home", 0.7, rf"{_DID}(?:moved|relocated) (?:back |house |away |over |out )?(?:to|from|in with|into) {_NO_PLACE}\w"),
    _rule("home", 0.7, r"my (?:home town|hometown|home address|address)(?:'s| is) (?!(?:wrong|not|missing)\b)\w"),
    _rule("origin", 0.6, rf"(?:{_BE}from|i {_ADVERBS}come from|i was born in|i was {_ADVERBS}raised in|i {_ADVERBS}grew up (?:in|on|near)) (?!(?:the (?:support|sales|future|[a-z]+ (?:team|department))|it|there|here|hr)\b)\w"),
    _rule("origin", 0.6, rf"{_BE}{lex.NATIONALITY}$"),
    # work and study
    _rule("employer", 0.7, rf"(?:{_DO}|{_DONT}|{_BE}|{_BEEN})(?:work|working|employed) (?:[\w-]+ )?(?:for|at|by) (?!(?:it|that|this|me|you|free|hours?|home|night|the (?:moment|time|best|first)|an? (?:few|while|bit)|now|\d)\b)\w"),
    _rule("occupation", 0.7, rf"(?:{_DO}|{_DONT}|{_BE}|{_BEEN})(?:work|working) (?:[\w-]+ )?(?:as|in (?!(?:progress|vain|theory|it|this|that|the same|a (?:few|minute|way))\b)|from home|nights|shifts|remotely|part[ -]time|full[ -]time)"),
    _rule("occupation", 0.7, rf"(?:{_BE}|{_BEEN})an? (?:[\w&'/-]+ ){{0,3}}{lex.OCCUPATION}(?!-)\b(?! of (?:habit|my word)| at heart)"),
    _rule("employer", 0.7, rf"{_DID}(?:started|began|got|landed|accepted|took|found) (?:working|work|(?:an? )?(?:new )?job) (?:at|for|as|with|in) (?!(?:it|this|that)\b)\w"),
    _rule("employer", 0.7, rf"{_DID}(?:quit|left|lost) my (?:[\w-]+ )?job\b"),
    _rule("employer", 0.7, rf"{_DID}(?:joined|left) (?:[\w&'-]+ ){{1,4}}(?:as an?|last|this|in)\b"),
    _rule("occupation", 0.7, rf"(?:{_DID}(?:retired|been promoted|become an?|became an?|trained as)|i was {_ADVERBS}promoted)\b"),
    _rule("work", 0.6, r"my (?:job|boss|company|employer|manager|commute|profession|team)(?:'s name)? is (?:called |named |an? |in |at |based |as |\d)"),
    _rule("occupation", 0.7, rf"i {_ADVERBS}(?:run|own|manage|founded) (?:an? |my own )(?:[\w-]+ ){{0,3}}(?:business|company|startup|start-up|shop|store|bakery|restaurant|caf[eé]|farm|studio|agency|school|hotel|gym|practice|salon)\b"),
    _rule("education", 0.6, rf"(?:(?:{_DO}|{_BE})(?:study|studying|majoring in|teach|teaching) (?!(?:it|this|that|for|the (?:code|file|problem|issue)|hard)\b)\w|{_DID}(?:studied|graduated|majored|dropped out)\b|{_HAVE} (?:an? |my )?(?:[\w' -]{{0,20}})?(?:degree|phd|master's|bachelor's|diploma|mba)\b)"),
    # family and pets
    _rule("relationship", 0.7, rf"(?:{_BE}{lex.STATUS}(?: (?:to (?!my\b|the\b)|with |for |since |and )|$)|{_DID}(?:just )?(?:got|been|become) {lex.STATUS}\b)"),
    _rule("family", 0.7, rf"{_BE}(?:an? {lex.PARENT}|an only child|the (?:oldest|eldest|youngest|middle)(?: child| of)|expecting (?:an? (?:baby|child|boy|girl)|twins)|having (?:a baby|twins|a (?:boy|girl)))\b"),
    _rule("pet", 0.6, rf"(?:{_HAVE}|i {_ADVERBS}(?:rescued|keep)) (?:{lex.DETERMINER} )?(?:[\w-]+ ){{0,3}}?{lex.PET}{_NO_NOUN}"),
    _rule("family", 0.7, rf"{_HAVE} (?:{lex.DETERMINER} )?(?:[\w-]+ ){{0,3}}?{lex.RELATIVE}{_NO_NOUN}"),
    _rule("pet", 0.6, rf"my (?:[\w-]+ )?{lex.PET}(?:'s name is|'s called| is (?:called|named|an?|\d)| are (?:called|named)| (?:died|passed away)) ?"),
    _rule(
        "family",
        0.7,
        rf"my (?:[\w-]+ ){{0,2}}?{lex.RELATIVE}(?:'s name is|'s birthday is| is (?:called|named|an?|from|allergic|{lex.DIET}|\d+|"
        rf"getting married|pregnant|expecting|turning|married|based|living|studying|working (?:as|at|for|in)|moving|in|at (?:university|college|school))\b"
        r"|(?: [^\W\d_]+)? (?:lives?|works? (?:as|at|for|in)|studies|study|was born|has (?:an?|two|three|\d+)|have (?:an?|two|three|\d+)|loves?|"
        r"likes?|hates?|plays|teaches|turned|turns|got (?:married|engaged)|passed away|died|moved|is (?:an?|from|called|allergic|\d+|married|turning|getting married|pregnant))\b"
        r"| [^\W\d_]+$)",
    ),
    # likes and dislikes
    _preference(0.6, rf"(?:{_DO}|{_DONT}|i do )(?:like|love|enjoy|adore|hate|dislike|prefer|loathe|detest) {_NAMED}\w"),
    _preference(0.6, rf"i (?:can't|cannot) stand {_NAMED}\w"),
    _preference(0.6, rf"{_BE}(?:into|fond of|keen on|passionate about|obsessed with|crazy about|interested in (?!buying|hearing|knowing|learning more|getting)|(?:an? )?(?:[\w-]+ )?(?:fan|lover) of) {_NAMED}\w"),
    _preference(0.6, r"my (?:all[ -]time )?(?:least )?favou?rite (?:[\w'-]+ ){1,5}(?:is|are|was) (?!(?:that|this|it|when|how|not)\b)\S"),
    _preference(0.6, r"my (?:hobby|hobbies|passion|interests?)(?:'s| is| are| include) \w"),
    # skills, languages
    _rule("language", 0.5, rf"(?:{_DO}|{_DONT}|i can {_ADVERBS}|{_BE})(?:speak|fluent in|bilingual in|speaking) (?!(?:to|with|up|about|for|from|of|as|on|in)\b)\w"),
    _rule("language", 0.6, r"my (?:native|first|second|mother) (?:language|tongue)(?:'s| is) \w"),
    _rule("learning", 0.5, rf"(?:{_BE}|{_BEEN}|{_DID})(?:learning|studying|started learning|teaching myself) (?:(?:how )?to (?:play|speak|code|cook|swim|drive|dance|sing|paint|draw|sail|fly|knit|ski|surf|ride|bake|program|read|write|juggle)\b|(?!(?:it|this|that|about|for|from|to|how|the|an? (?:lot|bit|ton)|so|much|more|new|lots|as)\b)\w)"),
    _rule("learning", 0.5, rf"(?:{_BE}|{_BEEN})taking (?:an? |my )?(?:[\w-]+ ){{1,4}}(?:class|classes|lessons?|course|courses)\b"),
    _rule("skill", 0.5, rf"i (?:can|can't|cannot|know how to) {_ADVERBS}(?:play|code|cook|swim|drive|dance|sing|ski|surf|sail|ride|knit|paint|juggle|read music|type) ?(?!(?:it|this|that|with it)\b)"),
    _rule("skill", 0.5, rf"{_DO}(?:play|collect|coach|volunteer|teach) (?!(?:it|this|that|with (?:it|the)|around|along|the (?:video|file|sound|audio|data|error|logs?))\b)\w"),
    _rule("trait", 0.6, rf"{_BE}{lex.TRAIT}(?: |$)"),
    # possessions
    _rule("possession", 0.4, rf"(?:{_HAVE}|i {_ADVERBS}(?:bought|drive|ride)|i've {_ADVERBS}bought) (?:{lex.DETERMINER} )(?:[\w-]+ ){{0,3}}?{lex.POSSESSION}{_NO_NOUN}"),
    _rule("possession", 0.4, rf"(?:i {_ADVERBS}(?:own|drive|ride)) (?:an? |the |two )(?!(?:lot|bit)\b)\w"),
    _rule("possession", 0.4, rf"my (?:[\w-]+ )?{lex.POSSESSION} is (?:an? |called |named )\w"),
    _rule("contact", 0.7, r"my (?:[a-z]+ )?(?:e-?mail|phone number|number)(?: address)? is \S*[\d@]"),
    # plans and goals
    _rule("plan", 0.6, rf"{lex.TIME},? {_PLANNED}"),
    _rule("plan", 0.6, rf"{lex.TIME},? i (?:have|fly|leave|start|move|travel|return|turn|run|perform|graduate|defend|marry|retire) (?!it\b|that\b|no\b|to (?:go|leave)\b)\w"),
    _rule("plan", 0.6, rf"{_PLANNED}(?:[^,]* )?{lex.TIME}(?: |$|,)"),
    _rule("plan", 0.6, rf"i {_ADVERBS}(?:fly|leave|start|move|travel|return|graduate|retire|arrive|depart) (?:[^,]* )?{lex.TIME}(?: |$|,)"),
    _rule("plan", 0.6, rf"{_HAVE} (?:an? |my |the )(?:[\w'-]+ ){{0,3}}?(?:appointment|meeting|interview|exam|flight|wedding|concert|trip|holiday|operation|surgery|test|deadline|date|conference|marathon|race|recital|party|check-?up)\b.*\b{lex.TIME}(?: |$|,)"),
    _rule("plan", 0.6, rf"my (?:[\w'-]+ ){{0,3}}?(?:appointment|interview|exams?|flight|wedding|holiday|vacation|trip|operation|surgery|anniversary|graduation|marathon|concert|deadline|visa|lease|contract|due date|party)(?:'s| is| are| starts?| ends?| expires?| runs out) (?:[^,]* )?{lex.TIME}(?: |$|,)"),
    _rule("goal", 0.5, rf"(?:i {_ADVERBS}(?:want|hope|plan|intend|dream)|{_BE}(?:planning|hoping|saving|training)) (?:to|for|on|of) (?:an? |the |my )?(?:learn|become|becoming|visit|visiting|travel|travelling|traveling|move to|moving to|retire|buy an? (?:house|flat|car|boat|home)|start (?:my own|an? (?:business|company|family))|run an?|marathon|half[ -]marathon|house|wedding|get married|study|write a (?:book|novel)|new (?:car|house|home))\b"),
    # habits
    _rule("habit", 0.5, rf"{_MACHINERY}{_DO}{lex.HABITUAL_VERB}\b(?: [^,]*)? {lex.HABIT}(?: |$|,)"),
    _rule("habit", 0.5, rf"{_MACHINERY}{lex.HABIT},? i {_ADVERBS}{lex.HABITUAL_VERB}\b(?! (?:it|this|that)\b)"),
    _rule("habit", 0.5, rf"{_MACHINERY}i (?:always|usually|never|often|rarely|normally) {lex.HABITUAL_VERB} (?!(?:it|this|that|wrong)\b)\w"),
)  # fmt: skip
