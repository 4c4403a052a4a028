"""How the shell spells the arguments, settings and functions that messages of the library name."""

TWO_CLASSES = "give it two classes, the positive one and one for all other rows"

# A Python spelling and its spelling here. A setting that is not listed, such as metric='f2', is
# that of its argument with the value after it: --metric f2.
SPELLINGS = {
    # what is maximised
    "average": "--average",
    "guard": "--guard",
    "metric": "--metric",
    "min_precision": "--min-precision",
    "min_recall": "--min-recall",
    "min_specificity": "--min-specificity",
    "max_predicted": "--max-predicted",
    "cost": "--cost",
    "min_k": "--min-k",
    "max_k": "--max-k",
    "zero_division": "--zero-division",
    "level": "--level",
    "n_resamples": "--resamples",
    "seed": "--seed",
    "per_label=False": "--shared",
    "per_label=True": "one threshold for each label",
    "guard=None": "no --guard",
    "None, ": "",  # options that are left out are None
    ", or a Metric object such as cost(fp=1, fn=10)": "; --cost is for costs",
    # columns and files
    "instance": "--instance",
    "label": "--label",
    "prediction": "--prediction",
    "probability": "--probability",
    "score": "--score",
    "truth": "--truth",
    "weight": "--weight",
    "pos_label": "--positive",
    "n_instances": "--n-instances",
    "check_duplicates": "--check-duplicates",
    "unknown": "--unknown",
    "instance=None": "--trust-rows",
    "label=None": "--binary",
    "label=None for one classifier": "--binary for one classifier; --help explains files with a "
    "column for each label",
    "out": "--out",
    "overwrite=True": "--force",
    # arrays, which the shell reads from wide files
    "y_true": "the truth",
    "y_score": "the scores",
    "y_prob": "the probabilities",
    "sample_weight": "the weights",
    # mesh and reproduce
    "max_words": "--max-words",
    "min_count": "--min-count",
    "penalty": "--penalty",
    "rank": "--rank",
    "rule": "--rule",
    "runs": "--runs",
    "n_labels": "--terms",
    "n_test": "--test-records",
    "n_train": "--records",
    "n_words": "--words",
    "labels_per_record": "the terms of a record",
    "words_per_record": "the words of a record",
    # the truth
    # functions
    "tune(..., per_label=False)": "--shared",
    "assess()": "halfmax assess",
    "diagnose()": "halfmax diagnose",
}
_COMPARE = "Compare with the positive class first"


def in_shell(spelling: str) -> str:
    """Return the shell's spelling of a Python spelling; one that it does not know stays.

    >>> in_shell("per_label=False"), in_shell("average='micro'"), in_shell("instance=...")
    ('--shared', '--average micro', '--instance')
    """
    if spelling in SPELLINGS:
        return SPELLINGS[spelling]
    if spelling.startswith(_COMPARE):  # with a class that the table cannot know
        return TWO_CLASSES.capitalize()
    argument, _, value = spelling.partition("=")
    if not value or argument not in SPELLINGS:
        return spelling
    option = SPELLINGS[argument]
    return option if value == "..." else f"{option} {value.strip(chr(39))}"
