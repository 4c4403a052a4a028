"""Arguments and options of ``halfmax mesh``: their names, help and completion."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

TAG_FORMATS = {"jsonl": ".jsonl", "csv": ".csv"}  # formats of standard output

_LEARNING, _OUTPUT = "What is learned", "Output"
_TAG_FILES = (
    ".jsonl, a line for each record; .csv or .parquet, a row for each term of a record; .jsonl.gz "
    "or .csv.gz"
)
_PENALTY = "Of the ridge: shared by all terms, per-label, or a number above 0."
_SEED = "The same seed gives the same answer."
_WORK = "Keep finished stages here; by default beside MODEL, until all is done."
_RULE = "auto: thresholds learned by fit; plug-in: the paper's rule, half the expected F1."
_FORMAT = "Of standard output: jsonl (the default) or csv."
_TEST_OUT = "A second file of records with the same terms: fit on the first, evaluate on this."
_TEST_RECORDS = "Number of records in --test-out; a fifth of --records by default."


def _option(name: str, words: str, panel: str | None, metavar: str = "N", **more: Any) -> Any:
    return typer.Option(name, help=words, rich_help_panel=panel, metavar=metavar, **more)


def _name(name: str, words: str, panel: str, among: Sequence[str]) -> Any:
    def complete(incomplete: str) -> list[str]:
        return [one for one in among if one.startswith(incomplete)]

    return _option(name, words, panel, "NAME", autocompletion=complete)


def _files(metavar: str, more: str = "") -> Any:
    words = f"Files, folders or globs of PubMed XML or JSON lines, gzipped or not{more}."
    return typer.Argument(metavar=metavar, help=words, show_default=False)


def _out(words: str, metavar: str = "FILE", name: str = "--out") -> Any:
    return _option(name, words, _OUTPUT, metavar, show_default=False)


# fit
Data = Annotated[list[str], _files("DATA")]
ModelOut = Annotated[str, _out("The file to write the tagger to.", "MODEL")]
Rank = Annotated[
    int | None, _option("--rank", "Dimensions of the words; 200 by default.", _LEARNING)
]
Penalty = Annotated[str, _name("--penalty", _PENALTY, _LEARNING, ("shared", "per-label"))]
MinCount = Annotated[
    int, _option("--min-count", "Leave out terms with fewer records than this.", _LEARNING)
]
MaxWords = Annotated[int, _option("--max-words", "Use at most this many words.", _LEARNING)]
Seed = Annotated[int, _option("--seed", _SEED, _LEARNING)]
Work = Annotated[str | None, _option("--work", _WORK, _OUTPUT, "FOLDER")]

# tag and evaluate
Files = Annotated[list[str], _files("FILES", "; - is standard input")]
Model = Annotated[
    str, typer.Argument(metavar="MODEL", help="The file that fit wrote.", show_default=False)
]
TagsOut = Annotated[str, _out(f"The file to write: {_TAG_FILES}. By default, standard output.")]
Rule = Annotated[str, _name("--rule", _RULE, "What is maximised", ("auto", "plug-in"))]
Format = Annotated[str | None, _name("--format", _FORMAT, _OUTPUT, tuple(TAG_FORMATS))]

# generate
RecordsOut = Annotated[str, _out("The file to write: .xml, .xml.gz, .jsonl or .jsonl.gz.")]
RecordsSeed = Annotated[int, _option("--seed", _SEED, None)]
Records = Annotated[int, _option("--records", "Number of records to generate.", None)]
TestOut = Annotated[str | None, _out(_TEST_OUT, name="--test-out")]
TestRecords = Annotated[int | None, _option("--test-records", _TEST_RECORDS, None)]
Terms = Annotated[
    int | None, _option("--terms", "Number of terms; half of --records by default.", None)
]
Words = Annotated[
    int | None, _option("--words", "Number of words; five times --records by default.", None)
]
