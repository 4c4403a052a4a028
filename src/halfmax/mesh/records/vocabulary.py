"""Made-up words and terms for synthetic records."""

import numpy as np

from halfmax._core.types import Array

MOST_WORDS = 10_000_000
TAG_NAMES = ("Humans", "Animals", "Female", "Male", "Adult", "Middle Aged")  # check tags
PARTS = ("background", "methods", "results", "conclusions")
PARTS_AT = 40  # the rank of their words; a vocabulary of fewer than twice as many lacks them

_ONSETS = (*"bcdfghlmnprstvz", "br", "cl", "cr", "dr", "fl", "gr", "pl", "pr", "st", "tr", "th")
_SYLLABLES = [onset + vowel for onset in _ONSETS for vowel in "aeiouy"]
_SUFFIXES = ("ol", "ine", "in", "al", "ic", "osis", "ate", "ia", "a", "en", "ix", "um", "on")
_ENDINGS = [consonant + suffix for consonant in "bcdfglmnprstvz" for suffix in _SUFFIXES]
_SHORT_ENDINGS = ["", "n", "s", "l", "r", "t", "m"]
_RANKS = (500, 5_000, 500_000, MOST_WORDS)  # up to which words are short, longer, ... , long
_GREEK, _ACCENTS = "αβγδκλω", str.maketrans("aeou", "áéöü")
_FOREIGN = 0.02  # share of words with a Greek letter or accents
_FORMS = (
    *("{}", "{}", "{}", "{} Acid", "{} Syndrome", "{} Proteins", "{} Disease", "{} Antagonists"),
    *("Neoplasms, {}", "Receptors, {}", "Infections, {}", "{} Inhibitors", "Genes, {}"),
)


def make_words(size: int, rng: np.random.Generator) -> list[str]:
    """Make distinct pronounceable words, shorter ones first, including those of the parts."""
    taken = {*PARTS, *" ".join(TAG_NAMES).lower().split()}
    words: dict[str, None] = {}
    for length, upto in enumerate(_RANKS):
        kinds = [*[_SYLLABLES] * max(1, length), _ENDINGS if length else _SHORT_ENDINGS]
        while len(words) < min(size, upto):
            parts = [np.array(kind, object)[rng.integers(0, len(kind), 4096)] for kind in kinds]
            drawn = np.sum(parts, axis=0)
            foreign = rng.random(len(drawn)) < _FOREIGN
            drawn[foreign] = [_make_foreign(word) for word in drawn[foreign]]
            words.update(dict.fromkeys(word for word in drawn if word not in taken))
    made = list(words)
    made[PARTS_AT:PARTS_AT] = PARTS if size >= 2 * PARTS_AT else ()
    return made[:size]


def _make_foreign(word: str) -> str:
    return word.translate(_ACCENTS) if len(word) % 2 else _GREEK[ord(word[0]) % 7] + word


def make_terms(names: list[str], n_labels: int, n_tags: int, rng: np.random.Generator) -> Array:
    """Make the terms: check tags, then terms built from each label's own word."""
    forms = rng.integers(0, len(_FORMS), n_labels).tolist()
    made = [_FORMS[form].format(names[-1 - i].capitalize()) for i, form in enumerate(forms)]
    return np.array([*TAG_NAMES[:n_tags], *made[n_tags:]], object)
