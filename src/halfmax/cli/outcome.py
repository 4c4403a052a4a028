"""The last output of a command: a summary for people, or a JSON document for programs."""

import json
import sys
from collections.abc import Sequence
from typing import Any

from halfmax.cli.run import Run
from halfmax.cli.streams import STANDARD

_WRITING = ("tune", "apply", "decide", "report", "mesh fit", "mesh tag", "mesh generate")


def refuse_two_outputs(out: str | None, as_json: bool) -> None:
    """Refuse two outputs on standard output."""
    if out == STANDARD and as_json:
        raise ValueError("--json and the output both go to standard output: name a file with --out")


def report(
    name: str,
    found: Any,
    run: Run,
    as_json: bool,
    out: str | None = None,
    others: Sequence[str] = (),
) -> None:
    """Print what a command found; with --quiet, nothing if a file was written."""
    if as_json:
        from halfmax.cli.documents import DOCUMENTS

        document = {"command": name, **DOCUMENTS[name](found)}
        if name in _WRITING:
            document["out"] = out
        document["warnings"] = run.warnings
        print(json.dumps(document, allow_nan=False))
    elif not run.quiet or (out is None and not others):
        from halfmax.cli.layout import show
        from halfmax.cli.screens import SUMMARIES

        written = [f"Wrote {file}" for file in (out, *others) if file not in (None, STANDARD)]
        show([*SUMMARIES[name](found), *written], sys.stderr if out == STANDARD else sys.stdout)
