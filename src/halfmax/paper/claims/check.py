"""Check every numerical statement of the paper, in the order of the paper."""

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

FEWEST_RUNS = 300  # simulations of the curse, so that verdicts do not depend on chance

Topic = Callable[[], Iterator[Claim]]


def check_claims(curse: Curse, progress: ProgressLike = None) -> list[Claim]:
    """Check all claims, and return them sorted by the sections of the paper.

    Parameters
    ----------
    curse : Curse
        The simulated winner's curse that Section 7 is compared with; 300 runs or more.
    progress : bool, callable or None
        True for a line on stderr, or a function of (done, total) in topics.

    Returns
    -------
    list of Claim
        The claims with their verdicts.
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
    with Progress(progress, "checking the paper's claims", len(topics)) as bar:
        for topic in topics:
            claims.extend(topic())
            bar.advance(1)
    return sorted(claims, key=_section)


def _section(claim: Claim) -> list[int]:
    """The numbers of a claim's section: [4, 2] for "Section 4.2, Theorem 3"."""
    return [int(number) for number in re.findall(r"\d+", claim.where.split(",")[0])]
