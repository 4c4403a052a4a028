"""Store hashes of all public answers, or compare them with those stored before."""

import argparse
import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from fnmatch import fnmatch
from importlib import import_module
from itertools import groupby
from pathlib import Path

import halfmax as hm
from benchmarks.frozen.cases import Case, run

MODULES = (
    "tune",
    "honest",
    "expected",
    "regions",
    "models",
    "tables",
    "pictures",
    "errors",
    "shell",
)


def all_cases() -> Iterator[Case]:
    """Every case; the files that some of them need are written into the working directory."""
    for name in MODULES:
        for group in import_module(f"benchmarks.frozen.cases_{name}").GROUPS:
            yield from group()


def compute(only: str) -> dict[str, str]:
    """The hashes of the cases whose names match, in a working directory of their own."""
    hashes: dict[str, str] = {}
    home, seconds = os.getcwd(), dict[str, float]()
    os.environ["MPLBACKEND"] = "agg"
    warnings.simplefilter("ignore")  # while cases are made ready; in them all are kept
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for case in all_cases():
                if not fnmatch(case.name, only):
                    continue
                start = time.perf_counter()
                found = run(case)
                seconds[case.name] = time.perf_counter() - start
                if twice := hashes.keys() & found.keys():
                    raise ValueError(f"two cases of one name: {twice}")
                hashes |= found
        finally:
            os.chdir(home)
    _tell_time(seconds)
    return hashes


def _tell_time(seconds: dict[str, float]) -> None:
    groups = groupby(sorted(seconds), lambda name: name.partition("/")[0])
    parts = {head: sum(seconds[name] for name in names) for head, names in groups}
    shown = ", ".join(f"{head} {parts[head]:.1f}" for head in sorted(parts, key=parts.get)[::-1])
    print(f"{len(seconds)} cases, {sum(seconds.values()):.1f} s: {shown}", file=sys.stderr)


def compare(stored: dict[str, str], found: dict[str, str]) -> list[str]:
    """A line for each hash that is not the one stored."""
    lines = []
    for name in sorted(stored.keys() | found.keys()):
        if name not in found:
            lines.append(f"missing  {name}")
        elif name not in stored:
            lines.append(f"new      {name}")
        elif found[name] != stored[name]:
            lines.append(f"differs  {name}")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.frozen", description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", type=Path, metavar="FILE", help="store the hashes here")
    what.add_argument("--check", type=Path, metavar="FILE", help="compare with those stored here")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="cases of these names alone")
    told = parser.parse_args()
    print(f"halfmax from {Path(hm.__file__).parent}", file=sys.stderr)
    found = compute(told.only)
    if told.write:
        told.write.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
        print(f"{len(found)} hashes in {told.write}")
        return 0
    stored = json.loads(told.check.read_text())
    wanted = {name: value for name, value in stored.items() if _is_of(name, told.only)}
    lines = compare(wanted, found)
    changed = sum(" values:" in line for line in lines)
    print(*lines, sep="\n", end="\n" if lines else "")
    print(f"{len(found)} hashes, {changed} values and {len(lines) - changed} words changed")
    return 1 if lines else 0


def _is_of(name: str, only: str) -> bool:
    """Whether a stored name belongs to a case that matches: without its kind and its suffix."""
    case = name.partition(":")[2]
    return fnmatch(case.removesuffix(":warnings").removesuffix(":error"), only)


if __name__ == "__main__":
    sys.exit(main())
