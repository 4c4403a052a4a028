"""A numerical statement of the paper, our own value of it, and the verdict."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

PASS, DIFFERS = "pass", "differs"

#: Grades: how much a difference matters.
SLIP = "a slip: the result stands"
ASSUMES = "holds under an assumption"
FAILS = "does not hold"


@dataclass(frozen=True)
class Claim:
    """What the paper says, what we compute, and whether the two agree.

    Attributes
    ----------
    key : str
        A short name, such as ``"two-labels-rare-perfect"``.
    where : str
        The place in the paper.
    statement : str
        The claim in one sentence.
    paper : float, str or None
        The value that the paper prints or implies; None if it names no number.
    ours : float or str
        The value that we compute.
    verdict : {"pass", "differs"}
        The verdict, by a rule that looks at the numbers.
    grade : str
        How much a difference matters: `SLIP`, `ASSUMES` or `FAILS`; empty if the two agree.
    why : str
        The reason for a difference; otherwise a remark, or empty.
    seen : dict
        Further numbers that were measured.
    """

    key: str
    where: str
    statement: str
    paper: float | str | None
    ours: float | str
    verdict: str
    grade: str = ""
    why: str = ""
    seen: dict[str, float] = field(default_factory=dict)


class Statement(NamedTuple):
    """What the paper says: the first four attributes of a `Claim`."""

    key: str
    where: str
    text: str
    paper: float | str | None


def judged(
    statement: Statement,
    ours: float | str,
    agrees: bool,
    why: str = "",
    seen: Mapping[str, float] | None = None,
    grade: str = FAILS,
) -> Claim:
    """Return the claim with its verdict; `grade` counts only if the two do not agree."""
    return Claim(
        key=statement.key,
        where=statement.where,
        statement=statement.text,
        paper=statement.paper,
        ours=ours if isinstance(ours, str) else float(ours),
        verdict=PASS if agrees else DIFFERS,
        grade="" if agrees else grade,
        why=why,
        seen={name: float(value) for name, value in (seen or {}).items()},
    )


def printed(
    statement: Statement, ours: float, why: str = "", seen: Mapping[str, float] | None = None
) -> Claim:
    """Judge whether our value, rounded to the digits of the paper, is what the paper prints."""
    agrees = agrees_to_printed_digits(ours, str(statement.paper))
    return judged(statement, ours, agrees, why, seen, SLIP)


def agrees_to_printed_digits(value: float, printed: str) -> bool:
    """Whether the value, rounded to the digits of the printed number, equals it.

    >>> agrees_to_printed_digits(0.1818, "0.18"), agrees_to_printed_digits(0.8333, "0.84")
    (True, False)
    >>> agrees_to_printed_digits(7.72e-5, "7.71e-5")
    False
    """
    number = Decimal(printed)
    # A value half-way between two printed numbers may be rounded either way.
    return abs(Decimal(value) - number) <= half_a_digit(printed) * Decimal("1.000001")


def half_a_digit(printed: str) -> Decimal:
    """Half of one unit of the last printed digit."""
    exponent = Decimal(printed).as_tuple().exponent
    if not isinstance(exponent, int):
        raise ValueError(f"printed must be a finite number; got {printed!r}")
    return Decimal(5).scaleb(exponent - 1)
