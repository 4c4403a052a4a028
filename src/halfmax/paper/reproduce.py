"""Reproduce the paper in a folder: its figures, claims and simulation, and a page that shows them.

Everything is computed before anything is written, each file is written whole, and the page last.
"""

import io
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from halfmax._core.extras import require_installed
from halfmax._core.gate.options import check_whole
from halfmax._core.progress import ProgressLike
from halfmax._core.text import spell_out
from halfmax.paper.claims.check import FEWEST_RUNS, Claim, check_claims
from halfmax.paper.claims.claim import ASSUMES, FAILS, PASS, SLIP
from halfmax.paper.curse.simulation import Curse, Plane, simulate_curse, simulate_plane
from halfmax.paper.figures.pictures import Picture, pictures, rendered
from halfmax.paper.folder import as_json, prepare_folder, write_files
from halfmax.paper.parts import PARTS, RUNS
from halfmax.report.templating import fill_template

_GRADES = (FAILS, ASSUMES, SLIP)


@dataclass(frozen=True, eq=False)
class Reproduction:
    """The results; a part that was not requested is empty."""

    runs: int
    seed: int
    drawn: list[Picture] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    curse: Curse | None = None
    plane: Plane | None = None

    @property
    def agreeing(self) -> int:
        """The number of claims that hold."""
        return sum(claim.verdict == PASS for claim in self.claims)

    @property
    def differing(self) -> dict[str, list[Claim]]:
        """The other claims, the most serious first."""
        grades = {grade: [c for c in self.claims if c.grade == grade] for grade in _GRADES}
        return {grade: claims for grade, claims in grades.items() if claims}


def reproduce(
    out: str | Path,
    parts: Iterable[str] = PARTS,
    runs: int = RUNS,
    seed: int = 0,
    progress: ProgressLike = None,
) -> tuple[Path, Reproduction]:
    """Compute some parts of the paper and write them to a folder.

    Parameters
    ----------
    out : path
        The folder, which is created if necessary. Files of the same names are replaced; others
        stay.
    parts : iterable of str
        Some of ``"figures"``, ``"claims"`` and ``"curse"``. All of them make ``index.html``; one of
        them makes a page of its name.
    runs : int
        Runs of the winner's curse for each base rate; the plane takes a tenth.
    seed : int
        The seed; equal seeds give equal files.
    progress : bool, callable or None
        True for lines on stderr, or a function of (done, total).

    Returns
    -------
    tuple of Path and Reproduction
        The page, and the results on it.
    """
    chosen = set(parts)
    if not chosen or not chosen <= set(PARTS):
        raise ValueError(f"parts must be some of {spell_out(PARTS)}; got {parts!r}")
    runs, seed = check_whole("runs", runs, 1), check_whole("seed", seed, 0)
    if "claims" in chosen and runs < FEWEST_RUNS:
        raise ValueError(f"runs must be {FEWEST_RUNS} or more to judge the claims; got {runs}")
    require_installed("jinja2", "matplotlib")
    folder = prepare_folder(out)
    found = _compute(chosen, runs, seed, progress)
    page = folder / ("index.html" if chosen == set(PARTS) else f"{'-'.join(sorted(chosen))}.html")
    _write(found, folder, page)
    return page, found


def _compute(parts: set[str], runs: int, seed: int, progress: ProgressLike) -> Reproduction:
    curse = simulate_curse(runs, seed, progress=progress)
    claims = check_claims(curse, progress) if "claims" in parts else []
    if parts == {"claims"}:
        return Reproduction(runs, seed, claims=claims)
    plane = simulate_plane(runs, seed, progress=progress)
    drawn = _chosen(pictures(curse, plane), parts)
    if "curse" not in parts:
        return Reproduction(runs, seed, drawn, claims)
    return Reproduction(runs, seed, drawn, claims, curse, plane)


def _chosen(drawn: list[Picture], parts: set[str]) -> list[Picture]:
    return [p for p in drawn if "figures" in parts or p.key.startswith("winners-curse")]


def _write(found: Reproduction, folder: Path, page: Path) -> None:
    contents: dict[str, str | bytes] = {}
    for picture in found.drawn:
        contents |= rendered(picture)
    if found.claims:
        contents["claims.json"] = _claims_json(found)
    if found.curse and found.plane:
        contents["curse.json"] = _curse_json(found.curse, found.plane)
        contents["curse.npz"] = _arrays(found.curse, found.plane)
    contents[page.name] = fill_template("halfmax.paper", "page.html", found=found)
    write_files(folder, contents)


def _claims_json(found: Reproduction) -> str:
    head = {"runs": found.runs, "seed": found.seed, "agree": found.agreeing}
    return as_json(head | {"claims": [asdict(claim) for claim in found.claims]})


def _curse_json(curse: Curse, plane: Plane) -> str:
    return as_json(
        {
            "n": curse.n,
            "runs": curse.runs,
            "seed": curse.seed,
            "fraction predicted positive": curse.summary(),
            "plane": {
                "runs": plane.runs,
                "n": plane.sizes.tolist(),
                "base rates": plane.base_rates.tolist(),
                "below half": plane.high.tolist(),
                "first few": plane.top.tolist(),
            },
        }
    )


def _arrays(curse: Curse, plane: Plane) -> bytes:
    """Every run, as a compressed file of arrays."""
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        base_rates=np.array(curse.base_rates),
        fractions=curse.fractions,
        plane_sizes=plane.sizes,
        plane_base_rates=plane.base_rates,
        plane_high=plane.high,
        plane_top=plane.top,
    )
    return buffer.getvalue()
