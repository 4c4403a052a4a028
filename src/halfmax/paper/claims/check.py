"""Every numerical statement of the paper, computed again, in the order of the paper."""

import re
from collections.abc import Callable, Iterator
from functools import partial

from halfmax._core.progress import Progress, ProgressLike
from halfmax.paper.claims import (
    errata,
    errata_section_7,
    section_4,
    section_7,
    sections_1_2,
    sections_5_6,
)
from halfmax.paper.claims.claim import Claim
from halfmax.paper.curse.simulation import Curse

__all__ = ["Claim", "check_claims"]

FEWEST_RUNS = 300  # of the curse, for verdicts that do not hang on chance

Topic = Callable[[], Iterator[Claim]]


def check_claims(curse: Curse, progress: ProgressLike = None) -> list[Claim]:
    """All claims, by the sections of the paper.

    Parameters
    ----------
    curse
        The simulated winner's curse that Section 7 is held against; 300 runs or more.
    progress
        True for a line on stderr, or a function of (topics done, topics in all).
    """
    topics: list[Topic] = [
        *sections_1_2.TOPICS,
        *section_4.TOPICS,
        *sections_5_6.TOPICS,
        *(partial(topic, curse) for topic in section_7.TOPICS),
        *errata.TOPICS,
        *(partial(topic, curse) for topic in errata_section_7.TOPICS),
    ]
    claims: list[Claim] = []
    with Progress(progress, "checking the paper's claims", len(topics)) as told:
        for topic in topics:
            claims.extend(topic())
            told.advance(1)
    return sorted(claims, key=_section)


def _section(claim: Claim) -> list[int]:
    """The numbers of its section: [4, 2] for "Section 4.2, Theorem 3"."""
    return [int(number) for number in re.findall(r"\d+", claim.where.split(",")[0])]
