"""Text with many labels: the exceptions that functions of Python's standard library mention.

The task is to predict them from source code with their names removed. Few functions mention a rare
exception, so at 0.5 it is hardly ever predicted. Tuning a threshold for each label helps, but its
score is optimistic and it may predict a rare label for hundreds of functions. `fit` warns about
this; guard="auto" prevents it.
"""

import ast
import builtins
import re
import sysconfig
import tempfile
from collections import Counter
from pathlib import Path

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer

import halfmax as hm

CLASSES = [(name, value) for name, value in vars(builtins).items() if isinstance(value, type)]
EXCEPTIONS = "|".join(name for name, value in CLASSES if issubclass(value, BaseException))


def read_functions():
    """Yield functions and methods of top-level modules, with the exceptions that each mentions."""
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        source = path.read_text(encoding="utf-8")
        lines = source.splitlines()
        for outer in ast.parse(source).body:
            for node in outer.body if isinstance(outer, ast.ClassDef) else [outer]:
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    text = "\n".join(lines[node.lineno - 1 : node.end_lineno])
                    if mentioned := re.findall(rf"\b({EXCEPTIONS})\b", text):
                        yield re.sub(rf"\b({EXCEPTIONS})\b", "", text), sorted(set(mentioned))


def main():
    """Learn from half of the functions that mention exceptions; compare on the other half."""
    texts, mentions = zip(*read_functions(), strict=True)
    count = dict(Counter(name for names in mentions for name in names).most_common())
    labels = [name for name in count if count[name] >= 10]
    truth = MultiLabelBinarizer(classes=[*count]).fit_transform(mentions)[:, : len(labels)]
    X, X_new, y, y_new = train_test_split(texts, truth, test_size=0.5, random_state=0)
    logistic = LogisticRegression(C=10, solver="liblinear")
    model = make_pipeline(TfidfVectorizer(sublinear_tf=True), OneVsRestClassifier(logistic))
    tuned, guarded = hm.ThresholdClassifier(model), hm.ThresholdClassifier(model, guard="auto")
    models = {"at 0.5": model, "guard=None": tuned, "guard='auto'": guarded}
    predicted = {name: one.fit(X, y).predict(X_new) for name, one in models.items()}
    f1 = {name: hm.score(y_new, guess, average="macro") for name, guess in predicted.items()}
    print(f"{len(y)} functions to learn from, {len(y_new)} new ones, {len(labels)} exceptions\n")
    print("macro F1      when tuned  expected  on new functions")
    print(f"at 0.5{f1['at 0.5']:46.3f}")
    for name, one in [*models.items()][1:]:
        print(f"{name:12}{one.score_:12.3f}{one.expected_score_:10.3f}{f1[name]:18.3f}")

    counts = {"mentioned": y_new.sum(axis=0)} | {k: v.sum(axis=0) for k, v in predicted.items()}
    print("\nthe rarest           mentioned  predicted at 0.5  guard=None  guard='auto'")
    for name, *row in [*zip(labels, *counts.values(), strict=True)][-8:]:
        print("{:20}{:10}{:18}{:12}{:14}".format(name, *row))

    with tempfile.TemporaryDirectory() as folder:
        guarded.assessment_.thresholds.save(f"{folder}/thresholds.json")
        kept = hm.Thresholds.load(f"{folder}/thresholds.json")
    same = bool((kept.predict(guarded.predict_proba(X_new)) == predicted["guard='auto'"]).all())
    print(f"\nThresholds from a file predict the same: {same}")
    scores = {"score": tuned.score_, "expected_score": tuned.expected_score_}
    return {"macro_f1": f1, "counts": counts, "same": same} | scores


if __name__ == "__main__":
    main()
