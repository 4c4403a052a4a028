"""Write the case study to a folder: its page, tables, figures, and the numbers of every term."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from halfmax._core.extras import require_installed
from halfmax._core.files import refuse_input
from halfmax._core.progress import ProgressLike
from halfmax.mesh.model.settings import Settings
from halfmax.mesh.records.reading import find_files
from halfmax.mesh.stages import Stages
from halfmax.paper.figures.pictures import rendered
from halfmax.paper.folder import as_json, prepare_folder, write_files
from halfmax.paper.mesh.pictures import pictures
from halfmax.paper.mesh.sheets import sheets
from halfmax.paper.mesh.study import Study, run_study
from halfmax.report.templating import fill_template

PAGE = "mesh.html"
_PREFIX, _ENDINGS = "mesh", (".csv", ".html", ".json", ".md", ".png", ".svg")  # of output files


def reproduce_mesh(
    out: str | Path,
    data: Sequence[str] | None = None,
    scale: str = "small",
    settings: Settings | None = None,
    stages: Stages | None = None,
    progress: ProgressLike = None,
) -> tuple[Path, Study]:
    """Run the paper's case study and write it to a folder.

    Parameters
    ----------
    out : path
        The folder, which is created if necessary. Files of the same names are replaced; others
        stay.
    data : sequence of str or None
        Files, folders and globs of MEDLINE records; None for synthetic ones.
    scale : {"small", "paper"}
        The size of the synthetic data; ``"paper"`` has 26,853 terms and 188,923 words.
    settings : Settings or None
        How the tagger is fitted. Its penalty is ignored: both kinds are compared.
    stages : Stages or None
        Where stages are cached, to continue after an interruption; by default in the folder.
    progress : bool, callable or None
        True for lines on stderr, or a function of (done, total).

    Returns
    -------
    tuple of Path and Study
        The page, and the results on it.
    """
    require_installed("jinja2", "matplotlib")
    folder = prepare_folder(out)
    for file in find_files(data) if data else ():
        if file.name.startswith(_PREFIX) and file.suffix in _ENDINGS:
            refuse_input("out", folder / file.name, [file])
    stages = stages or Stages(folder / "mesh.work")
    study = run_study(data, scale, settings or Settings(), stages, progress)
    _write(study, folder)
    return folder / PAGE, study


def _write(study: Study, folder: Path) -> None:
    contents: dict[str, str | bytes] = {}
    drawn, tables = pictures(study), sheets(study)
    for picture in drawn:
        contents |= rendered(picture)
    contents["mesh-terms.csv"] = _terms_csv(study)
    head = f"# {study.title}: the paper's case study\n\nFrom {study.source}.\n"
    contents["mesh.md"] = "\n".join([head, *(sheet.markdown() for sheet in tables)])
    contents["mesh.json"] = as_json(_summary(study))
    contents[PAGE] = fill_template(
        "halfmax.paper", "mesh.html", study=study, pictures=drawn, sheets=tables
    )
    write_files(folder, contents)


def _terms_csv(study: Study) -> str:
    """Every term: its training count, and the results of the macro rule under each penalty."""
    columns: dict[str, Any] = {"term": study.terms, "positives": study.counts.tolist()}
    for penalty, outcome in study.by_penalty.items():
        judged = outcome.judged["plug-in macro"]
        columns |= {
            f"penalty, {penalty}": outcome.penalties.tolist(),
            f"spread, {penalty}": outcome.spread.tolist(),
            f"max F1, {penalty}": outcome.best.of_labels.tolist(),
            f"predicted, {penalty}": judged.predicted.tolist(),
            f"F1, {penalty}": judged.of_labels.tolist(),
            f"predicted with guard, {penalty}": outcome.judged["auto macro"].predicted.tolist(),
        }
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def _summary(study: Study) -> dict[str, Any]:
    return {
        "source": study.source,
        "synthetic": study.synthetic,
        "training documents": study.n_train,
        "held-out documents": study.n_test,
        "terms": len(study.terms),
        "rare terms": int(study.rare.sum()),
        "words": study.n_words,
        "rank": study.rank,
        "documents tuned on": study.n_tuned,
        "rules": {
            penalty: {name: judged.summary(study.rare) for name, judged in outcome.judged.items()}
            for penalty, outcome in study.by_penalty.items()
        },
        "sweep": {
            "documents": study.sweep.n_documents,
            "penalty": study.sweep.penalties.tolist(),
            "median spread of rare terms": study.sweep.spread.tolist(),
            "rare terms for over a third": study.sweep.flooding.tolist(),
        },
        "stages": [stage._asdict() for stage in study.stages],
    }
