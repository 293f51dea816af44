"""The English words that the extraction rules know, as alternations for regular expressions. Lower case."""

from __future__ import annotations

from typing import Final


def _any(*groups: str) -> str:
    return "(?:" + "|".join(word.replace("_", " ") for group in groups for word in group.split()) + ")"


ADVERBS: Final = (
    _any(
        "absolutely actually also always basically currently definitely finally generally genuinely hardly honestly",
        "just longer lately mainly mostly never no normally not now occasionally often only originally personally",
        "primarily rarely really recently regularly seldom severely so sometimes still strictly strongly totally",
        "truly usually very mildly slightly fully",
    )
    + " "
)

NUMBER: Final = r"(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|twelve)"
DETERMINER: Final = rf"(?:a|an|the|my|our|some|no|any|another|twin|several|{NUMBER})"

RELATIVE: Final = _any(
    "mother mom mum mama father dad papa parents sister brother siblings? sisters brothers wife husband spouse partner",
    "girlfriend boyfriend fiancée fiancee fiancé fiance son sons daughter daughters kid kids child children baby twins",
    "grandmother grandma grandfather grandpa grandparents granddaughter grandson grandchildren aunt uncle cousin",
    "cousins niece nephew nieces nephews stepson stepdaughter stepmother stepfather stepmom stepdad mother-in-law",
    "father-in-law sister-in-law brother-in-law in-laws flatmate roommate housemate family best_friend toddler",
)
PET: Final = _any(
    "dogs? puppy puppies cats? kittens? rabbits? bunny bunnies hamsters? parrots? budgies? horses? pony tortoises?",
    "turtles? goldfish fish snakes? lizards? geckos? ferrets? guinea_pigs? chickens hens goats? pets?",
)
PLACE_BEFORE: Final = r"(?:in|at|near|outside|close to|by|on)"

OCCUPATION: Final = (
    "(?:"
    + _any(
        "accountant actor actress actuary analyst animator apprentice architect artist assistant astronaut attorney",
        "baker banker barber barista bartender bookkeeper broker builder butcher carer caretaker carpenter cashier",
        "caterer ceo chef cleaner clerk coach cobbler composer consultant contractor cook coordinator copywriter cto",
        "counsellor counselor courier curator dancer dealer dentist designer detective developer director dj doctor",
        "driver economist editor electrician employee engineer entrepreneur estate_agent executive farmer",
        "filmmaker firefighter fisherman florist founder freelancer gardener geologist guide hairdresser handyman",
        "illustrator influencer instructor intern interpreter investor janitor jeweller journalist judge lawyer",
        "lecturer librarian lifeguard linguist magician manager marketer masseur mathematician mechanic midwife miner",
        "minister model musician nanny novelist nurse nutritionist officer optician optometrist painter paralegal",
        "paramedic pastor pensioner performer pharmacist philosopher photographer physician physicist",
        "physiotherapist pianist pilot planner plumber poet policeman policewoman politician postman priest principal",
        "producer professor programmer publisher realtor receptionist recruiter referee reporter researcher sailor",
        "salesman saleswoman scientist sculptor secretary server shepherd singer social_worker soldier solicitor",
        "stylist student supervisor surgeon surveyor tailor teacher technician tester therapist trader trainer",
        "translator tutor undertaker veteran veterinarian vet vicar videographer violinist waiter waitress warden",
        "welder worker writer phd_student postdoc",
    )
    + r"|[a-z]{3,}ologist|[a-z]{3,}ographer|[a-z]{3,}smith)"
)

DIET: Final = _any(
    "vegetarian vegan pescatarian pescetarian flexitarian keto kosher halal gluten-free gluten_free dairy-free",
    "dairy_free lactose-free sugar-free plant-based paleo teetotal carnivore",
)
CONDITION: Final = (
    r"(?:(?:type (?:1|2|one|two) )?diabetes|asthma|celiac disease|coeliac disease|epilepsy|adhd|autism|arthritis|"
    r"hypertension|high blood pressure|migraines|insomnia|eczema|psoriasis|crohn's(?: disease)?|endometriosis|"
    r"anxiety|depression|dyslexia|tinnitus|hay fever|ibs|a heart condition|a pacemaker|a bad (?:back|knee|hip))"
)
TRAIT: Final = _any(
    "left-handed left_handed right-handed deaf blind colou?r-?blind short-sighted near-sighted dyslexic autistic",
    "bilingual trilingual an_introvert an_extrovert introverted extroverted diabetic asthmatic epileptic retired",
    "unemployed self-employed pregnant",
)
STATUS: Final = r"(?:married|divorced|engaged|widowed|single|separated)"
PARENT: Final = r"(?:(?:single |new |proud |stay-at-home |working )?(?:mother|mom|mum|father|dad|parent|grandmother|grandfather|grandma|grandpa))"
NATIONALITY: Final = _any(
    "american argentinian australian austrian belgian brazilian british bulgarian canadian chilean chinese colombian",
    "croatian cuban czech danish dutch egyptian english ethiopian filipino finnish french german ghanaian greek",
    "hungarian icelandic indian indonesian iranian iraqi irish israeli italian jamaican japanese kenyan korean",
    "lebanese malaysian mexican moroccan nepali nigerian norwegian pakistani peruvian polish portuguese romanian",
    "russian scottish serbian singaporean slovak slovenian spanish swedish swiss syrian taiwanese thai turkish",
    "ukrainian vietnamese welsh half-[a-z]+",
)

MONTH: Final = _any(
    "january february march april may june july august september october november december",
    "jan feb mar apr jun jul aug sept sep oct nov dec",
)
WEEKDAY: Final = _any("monday tuesday wednesday thursday friday saturday sunday")
SEASON: Final = _any("spring summer autumn fall winter christmas easter")
ORDINAL: Final = r"\d{1,2}(?:st|nd|rd|th)?"
DATE: Final = (
    rf"(?:\d{{4}}-\d\d-\d\d|(?:the )?{ORDINAL} (?:of )?{MONTH}|{MONTH} (?:the )?{ORDINAL}"
    rf"|(?:in|on|by|until|since|from|early|late|mid|end of|next|this|last) (?:early |late |mid-?)?(?:{MONTH}|\d{{4}})"
    rf"|on the {ORDINAL})"
)
FUTURE_TIME: Final = (
    rf"(?:tomorrow|tonight|today|(?:on |this |next )?{WEEKDAY}s?"
    rf"|(?:next|this|coming) (?:week|weekend|month|year|{SEASON}|semester|term|quarter|{MONTH})"
    rf"|in (?:a|an|a few|a couple of|{NUMBER}) (?:days?|weeks?|months?|years?|hours?)"
    r"|this (?:morning|afternoon|evening))"
)
PAST_TIME: Final = (
    rf"(?:yesterday|last (?:night|week|weekend|month|year|{SEASON}|{MONTH}|{WEEKDAY})"
    rf"|(?:a|an|a few|a couple of|{NUMBER}) (?:days?|weeks?|months?|years?) ago)"
)
RELATIVE_TIME: Final = rf"(?:{FUTURE_TIME}|{PAST_TIME})"
"""Times that mean nothing without knowing when they were said."""
TIME: Final = rf"(?:{DATE}|{FUTURE_TIME}|(?:in|over|at|for) (?:the )?(?:{SEASON}|weekend|holidays|new year))"
"""When something planned will be."""
HABIT: Final = (
    rf"(?:every (?:single )?(?:day|morning|evening|night|week|weekend|month|year|other day|{WEEKDAY}|{SEASON})"
    rf"|each (?:day|morning|evening|night|week|weekend)|daily|weekly|(?:once|twice|{NUMBER} times|a few times) (?:a|per) "
    rf"(?:day|week|month|year)|on (?:week|work)days|(?:on|at) weekends|on {WEEKDAY}s|in the (?:mornings?|evenings?)"
    r"|before (?:bed|work|breakfast)|after (?:work|school|lunch|dinner))"
)
HABITUAL_VERB: Final = _any(
    "run jog swim walk cycle bike hike climb surf ski read write paint draw cook bake meditate pray garden knit sing",
    "dance train exercise work_out lift practi[cs]e study volunteer travel drive commute get_up wake_up go_to go",
    "go_for do play watch listen_to take visit call eat drink sleep have_breakfast have_dinner skip fast stretch",
)
POSSESSION: Final = _any(
    "car bike bicycle motorbike motorcycle house flat apartment boat guitar piano violin camera laptop macbook",
    "iphone van truck scooter telescope garden farm allotment tattoos? caravan campervan tesla cottage cabin",
    "bakery restaurant caf[eé] shop bookshop business company startup studio gym salon e-bike",
)
