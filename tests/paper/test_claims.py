"""The paper's claims, recomputed, agree with the committed ones, and differences are explained."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from halfmax.honesty.winners_curse import simulate_winners_curse
from halfmax.paper.claims import errata_section_7, section_7, sections_1_2, sections_5_6
from halfmax.paper.claims.check import Claim, check_claims
from halfmax.paper.claims.claim import (
    ASSUMES,
    FAILS,
    SLIP,
    Statement,
    agrees_to_printed_digits,
    judged,
    printed,
)
from halfmax.paper.curse.law import chance_below, turning_base_rate
from halfmax.paper.curse.simulation import simulate_curse
from tests.strategies import compiled

pytestmark = pytest.mark.kernels

COMMITTED = json.loads(Path(__file__).with_name("claims_expected.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def claims() -> list[Claim]:
    return check_claims(simulate_curse(1024))


def differences(claim: Claim, committed: dict[str, Any]) -> list[str]:
    """Describe how a claim differs from the committed one."""
    tolerance = committed["tolerance"]
    of_seen = committed.get("seen_tolerance", {})
    values = {"ours": (claim.ours, committed["ours"], tolerance)}
    for name, value in committed.get("seen", {}).items():
        values[name] = claim.seen.get(name, np.nan), value, of_seen.get(name, tolerance)
    wrong = [
        f"{claim.key}: {name} is {found}, committed {value} +- {within}"
        for name, (found, value, within) in values.items()
        if not abs(found - value) <= within
    ]
    if claim.verdict != committed["verdict"]:
        wrong.append(f"{claim.key}: {claim.verdict}, committed {committed['verdict']}")
    wrong.extend(f"{claim.key}: {name!r} is new" for name in claim.seen if name not in values)
    return wrong


@compiled
def test_computed_is_what_is_committed(claims: list[Claim]) -> None:
    assert [claim.key for claim in claims] == list(COMMITTED)
    assert [line for claim in claims for line in differences(claim, COMMITTED[claim.key])] == []


@compiled
def test_every_difference_is_explained(claims: list[Claim]) -> None:
    assert len({claim.key for claim in claims}) == len(claims)
    for claim in claims:
        assert claim.where.startswith("Section ")
        assert claim.statement.endswith(".")
        assert claim.verdict in ("pass", "differs")
        assert claim.verdict == "pass" or (claim.why.endswith(".") and claim.paper is not None)
        assert claim.grade in (("",) if claim.verdict == "pass" else (SLIP, ASSUMES, FAILS))


@compiled
def test_claims_come_in_the_order_of_the_paper(claims: list[Claim]) -> None:
    sections = [float(re.findall(r"[\d.]+", claim.where)[0]) for claim in claims]
    assert sections == sorted(sections)


@compiled
def test_claims_are_plain_json(claims: list[Claim]) -> None:
    for claim in claims:
        assert json.loads(json.dumps(vars(claim), allow_nan=False)) == vars(claim)


def test_a_changed_number_is_noticed() -> None:
    for claim in sections_5_6._two_labels():
        committed = COMMITTED[claim.key]
        assert differences(claim, committed) == []
        assert isinstance(claim.ours, float)
        assert differences(replace(claim, ours=claim.ours + 1e-6), committed)
        assert differences(replace(claim, verdict="maybe"), committed)
        assert differences(replace(claim, seen={**claim.seen, "more": 1.0}), committed)
        without = replace(claim, seen={})
        assert bool(differences(without, committed)) == bool(claim.seen)


@pytest.mark.parametrize(
    ("value", "paper", "agrees"),
    [
        (2 / 3, "0.67", True),
        (2 / 3, "0.66", False),
        (0.8333, "0.84", False),
        (0.8333, "0.83", True),
        (0.835, "0.84", True),
        (0.835, "0.83", True),
        (0.4, "0.40", True),
        (0.41, "0.40", False),
        (0.41, "0.4", True),
        (7.72e-5, "7.71e-5", False),
        (7.7149e-5, "7.71e-5", True),
        (-0.67, "0.67", False),
        (12.4, "12", True),
    ],
)
def test_digits_printed_decide(value: float, paper: str, agrees: bool) -> None:
    assert agrees_to_printed_digits(value, paper) == agrees
    claim = printed(Statement("key", "Section 1", "A sentence.", paper), value)
    assert claim.verdict == ("pass" if agrees else "differs")


def test_what_is_no_number_cannot_be_printed() -> None:
    with pytest.raises(ValueError, match="printed must be a finite number"):
        agrees_to_printed_digits(1.0, "Infinity")


def test_the_verdict_follows_from_the_rule() -> None:
    statement, ours = Statement("key", "Section 1", "A sentence.", None), np.float64(1.0)
    assert judged(statement, ours, agrees=True).verdict == "pass"
    assert judged(statement, ours, agrees=False).verdict == "differs"
    seen = judged(statement, ours, agrees=True, seen={"x": np.float32(2)}).seen
    assert type(seen["x"]) is float


@pytest.mark.parametrize(
    ("threshold", "best", "could"),
    [
        ("0.403", "0.8055", True),
        ("0.402", "0.8055", False),
        ("7.72e-5", "1.544e-4", True),
        ("7.71e-5", "1.544e-4", False),
        ("0.5", "0.9", True),
        ("0.3", "0.9", False),
    ],
)
def test_half_of_a_rounded_number(threshold: str, best: str, could: bool) -> None:
    assert sections_5_6.could_be_half(threshold, best) == could


def test_topics_without_kernels_pass() -> None:
    for topic in sections_1_2.TOPICS:
        for claim in topic():
            assert differences(claim, COMMITTED[claim.key]) == []


@pytest.mark.parametrize(("n", "base_rate"), [(5, 0.3), (9, 0.2), (16, 0.25), (17, 0.25)])
def test_chance_that_the_top_item_wins_by_enumeration(n: int, base_rate: float) -> None:
    chance = 0.0
    for others in range(n):
        a = others + 1
        if 2 / (1 + a) > 2 * a / (a + n):
            chance += base_rate * stats.binom.pmf(others, n - 1, base_rate)
    assert section_7.chance_that_top_wins(n, base_rate) == pytest.approx(chance, abs=1e-15)


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.9])
@pytest.mark.parametrize(("n", "base_rate"), [(10**5, 0.01), (10**5, 0.03), (10**6, 0.1)])
def test_limit_law_is_that_of_simulations(n: int, base_rate: float, fraction: float) -> None:
    measured = np.mean(simulate_winners_curse(n, base_rate, runs=2000, seed=1) < fraction)
    assert measured == pytest.approx(chance_below(fraction, n, base_rate), abs=0.05)


def test_the_turn_goes_like_a_cube_root() -> None:
    for n in (10**6, 10**9, 10**12):
        assert chance_below(0.5, n, turning_base_rate(n)) == pytest.approx(0.5)
    assert turning_base_rate(10**12) * 10**4 == pytest.approx(0.5475, abs=1e-3)
    assert 0 <= chance_below(1e-9, 10**6, 0.5) <= chance_below(0.999, 10**6, 1e-6) <= 1


@compiled
@pytest.mark.parametrize("seed", [1, 2])
def test_verdicts_do_not_depend_on_chance(seed: int) -> None:
    curse = simulate_curse(300, seed)
    for topic in section_7.TOPICS:
        for claim in topic(curse):
            assert claim.verdict == COMMITTED[claim.key]["verdict"], claim
    for errata_topic in errata_section_7.TOPICS:
        for claim in errata_topic(curse):
            assert claim.verdict == COMMITTED[claim.key]["verdict"], claim


def test_too_few_items_for_the_turn() -> None:
    with pytest.raises(ValueError, match="more items; got n = 2"):
        errata_section_7._simulated_turn(2)


@compiled
def test_progress_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    from halfmax.paper.claims import check as module

    for part in ("section_4", "section_7", "errata", "errata_section_7"):
        monkeypatch.setattr(getattr(module, part), "TOPICS", ())
    reported: list[tuple[int, int]] = []
    check_claims(simulate_curse(1), progress=lambda *done: reported.append(done))
    total = len(sections_1_2.TOPICS) + len(sections_5_6.TOPICS)
    assert reported == [(i + 1, total) for i in range(total)]
