"""The command ``halfmax``: what it prints, its exit code, and the files that it writes."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

import halfmax as hm
from benchmarks.frozen.cases import Answer, Case, steady
from benchmarks.frozen.cases_tables import binary, content, long
from benchmarks.frozen.inputs import NAMES, many

# Times and sizes of memory: in words, in rows of a table of stages, and in documents.
_TIMES = re.compile(
    r"\b\d+(\.\d+)? ?(s|ms|min|MiB|GiB)\b"
    r"|^<tr>.*<td class=.number.>(<strong></strong>)?</td></tr>$|^\|.*\|  \|$",
    re.M,
)
_MEASURED = ("seconds", "peak_bytes", "warnings")


def shell(*words: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run a command in the working directory, with the package that this process has."""
    paths = [str(Path(hm.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    more = {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "COLUMNS": "100", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "halfmax", *words]
    return subprocess.run(command, input=stdin, capture_output=True, env=os.environ | more)


def ran(line: str, *outs: str, stdin: bytes | None = None) -> Answer:
    """The data that a command gives; beside them its words, which include pages."""
    done = shell(*line.split(), stdin=stdin)
    values: list[Any] = [done.returncode]
    texts = [_steady(done.stderr.decode("utf-8", "replace"))]
    if "--json" in line and done.returncode == 0:
        values.append(_computed(json.loads(done.stdout)))
    else:
        texts.append(_steady(done.stdout.decode("utf-8", "replace")))
    if "--out -" in line or (line.startswith("mesh tag") and not outs):
        values.append(done.stdout)
    for out in outs:
        if out.endswith(".html"):
            texts.append(Path(out).read_text("utf-8").replace(f"halfmax {hm.__version__}", ""))
        else:
            values.append(_content(out))
    return Answer(values, texts)


def _content(out: str) -> Any:
    if out.endswith(".model"):
        with np.load(out) as arrays:
            return {name: arrays[name] for name in sorted(arrays)}
    return content(out)


def _computed(value: Any) -> Any:
    """A document without what is measured or said."""
    if isinstance(value, dict):
        return {key: _computed(item) for key, item in value.items() if key not in _MEASURED}
    return [_computed(item) for item in value] if isinstance(value, list) else value


def _steady(text: str) -> str:
    """Without times, sizes of memory and places."""
    return _TIMES.sub("<some>", steady(text))


def make_files() -> None:
    """Long and wide tables, of many labels and of one classifier."""
    frame = long().to_pandas()
    frame.to_csv("scores.csv", index=False)
    pq.write_table(long(), "scores.parquet")
    binary().to_pandas().to_csv("binary.csv", index=False)
    y, s = many(80)
    ids = [f"{place:03}" for place in range(80)]
    pd.DataFrame(s, columns=NAMES).assign(doc=ids).to_csv("wide.csv", index=False)
    p = pd.DataFrame(1 / (1 + np.exp(-s)), columns=NAMES).assign(doc=ids)
    p.to_csv("wide_p.csv", index=False)
    mixed = pd.DataFrame(y, columns=NAMES).assign(doc=ids).iloc[::-1]
    mixed[mixed.columns[::-1]].to_csv("wide_truth.csv", index=False)
    hm.tune_table(long()).save("t.json")
    hm.tune_table(binary(), label=None).save("t1.json")


WIDE = "wide.csv --truth-file wide_truth.csv --id doc"

# A command, and the files that it writes; some read what one before them has written.
LINES = (
    "tune scores.csv",
    "tune scores.csv --json",
    "tune scores.parquet --guard auto --out s1.json -> s1.json",
    "tune scores.parquet --average micro --metric f2 --json --out s2.json -> s2.json",
    "tune scores.csv --average samples --shared --out -",
    "tune scores.csv --weight weight --min-precision 0.4 --zero-division nan --json",
    "tune scores.parquet --metric accuracy --n-instances 200 --trust-rows --json",
    "tune binary.csv --binary --out s3.json -> s3.json",
    f"tune {WIDE} --json --out s4.json -> s4.json",
    "tune scores.csv --out s5.json --report s5.html --title Mine -> s5.json s5.html",
    "tune scores.csv --out t.json",
    "tune none.csv",
    "tune scores.csv --metric g1",
    "tune scores.csv --label topic",
    "apply t.json scores.csv --out a1.csv -> a1.csv",
    "apply t.json scores.parquet --out a2.parquet --only-predicted --json -> a2.parquet",
    "apply t.json scores.csv --out - --prediction hit",
    "apply t1.json binary.csv --out a3.csv --quiet -> a3.csv",
    "apply t.json wide.csv --wide --id doc --out a4.csv -> a4.csv",
    "apply t.json scores.csv --out a1.csv --quiet",
    "assess scores.csv --resamples 40",
    "assess scores.parquet --guard auto --resamples 40 --json",
    "assess scores.parquet --average micro --shared --level 0.8 --seed 2 --resamples 40 --json",
    "assess binary.csv --binary --resamples 40 --json",
    f"assess {WIDE} --resamples 40 --json",
    "diagnose scores.csv --resamples 40",
    "diagnose scores.parquet --metric f2 --resamples 40 --json",
    "diagnose binary.csv --binary --resamples 40 --json",
    f"diagnose {WIDE} --resamples 40",
    "decide scores.csv --average samples --max-k 2 --out d1.csv -> d1.csv",
    "decide scores.parquet --average micro --metric jaccard --json --out d2.parquet -> d2.parquet",
    "decide wide_p.csv --wide --id doc --average samples --out -",
    "decide scores.csv --probability score --out d3.csv",
    "report t.json --data scores.csv --out r1.html --resamples 40 -> r1.html",
    "report t.json --data scores.parquet --out r2.html --quick-report --json -> r2.html",
    "report t1.json --data binary.csv --binary --out r3.html --resamples 40 -> r3.html",
    "--help",
    "tune --help",
    "mesh generate --help",
    "--version",
)

MESH = (
    "mesh generate --out m.jsonl --test-out mt.jsonl --records 120 --terms 40 --words 600"
    " -> m.jsonl mt.jsonl",
    "mesh generate --out m.xml --records 20 --terms 5 --words 80 --seed 3 --json -> m.xml",
    "mesh fit m.jsonl --out m.model --rank 10 -> m.model",
    "mesh fit m.jsonl --out l.model --rank 8 --penalty per-label --min-count 2 --json -> l.model",
    "mesh fit m.xml --out x.model --rank 5 --penalty 0.5 --seed 1 -> x.model",
    "mesh tag m.model mt.jsonl",
    "mesh tag m.model mt.jsonl --average macro --rule plug-in --out g1.csv -> g1.csv",
    "mesh tag l.model mt.jsonl --average samples --out g2.parquet --json -> g2.parquet",
    "mesh tag m.model mt.jsonl --average samples --rule plug-in --format csv",
    "mesh evaluate m.model mt.jsonl",
    "mesh evaluate m.model mt.jsonl --json",
    "mesh evaluate l.model m.jsonl --json",
    "mesh tag m.model none.jsonl",
)


def commands() -> Iterator[Case]:
    make_files()
    for entry in LINES + MESH:
        line, _, outs = entry.partition(" -> ")
        yield Case(f"shell/{line}", partial(ran, line, *outs.split()))
    piped = Path("scores.csv").read_bytes()
    yield Case("shell/pipe tune", partial(ran, "tune - --out -", stdin=piped))
    yield Case("shell/pipe apply", partial(ran, "apply t.json - --out -", stdin=piped))


def reproduced(line: str, folder: str) -> Answer:
    """The numbers of a study and its words; pictures are not compared."""
    found = ran(f"reproduce {line} --out {folder}")
    files = sorted(
        p for p in Path(folder).rglob("*") if p.suffix in (".json", ".csv", ".html", ".md")
    )
    data: dict[str, Any] = {
        str(path): path.read_bytes() if path.suffix == ".csv" else _computed(_document(path))
        for path in files
        if path.suffix in (".json", ".csv")
    }
    pages = {str(path): _steady(path.read_text("utf-8")) for path in files if str(path) not in data}
    return Answer([found.values, data], [found.words, pages])


def _document(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def studies() -> Iterator[Case]:
    yield Case("reproduce/curse", partial(reproduced, "curse --runs 50", "curse"))
    yield Case("reproduce/claims", partial(reproduced, "claims --runs 50", "claims"))
    line = "mesh --data m.jsonl --rank 10"
    yield Case("reproduce/mesh", partial(reproduced, line, "study"))


GROUPS = (commands, studies)
