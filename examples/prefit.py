"""A model that somebody else fitted: tune only its threshold, and use it elsewhere.

With cv="prefit" the model stays as it is, and all rows passed to `fit` are used for the threshold:
pass rows that were held out when the model was fitted. The threshold is saved as a JSON file, which
is all that is needed to predict from the model's scores: neither the model nor its features.
"""

import json
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

import halfmax as hm


def main():
    """Tune on loans that the model has not seen, save, and predict new ones from their scores."""
    X, y = make_classification(
        9_000, n_informative=6, weights=[0.93], class_sep=0.7, random_state=0
    )
    y = np.where(y == 1, "default", "repaid")
    X_theirs, X, y_theirs, y = train_test_split(X, y, train_size=3_000, random_state=0)
    X_kept, X_new, y_kept, y_new = train_test_split(X, y, train_size=3_000, random_state=0)

    forest = RandomForestClassifier(min_samples_leaf=5, random_state=0).fit(X_theirs, y_theirs)

    # By default the positive class is the second in sorted order.
    tuned = hm.ThresholdClassifier(forest, cv="prefit", pos_label="default").fit(X_kept, y_kept)
    at_half, at_best = (
        f1_score(y_new, model.predict(X_new), pos_label="default") for model in (forest, tuned)
    )
    print(f"{(y_new == 'default').sum()} of {len(y_new):,} new loans default\n")
    print("threshold  F1 on new loans  predicted to default")
    for threshold, f1, model in ((0.5, at_half, forest), (tuned.threshold_, at_best, tuned)):
        count = (model.predict(X_new) == "default").sum()
        print(f"{threshold:9.3f}  {f1:15.3f}  {count:20}")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "threshold.json")
        tuned.assessment_.thresholds.save(path)
        in_file = json.loads(path.read_text())["labels"][0]["threshold"]

        # Elsewhere: only the file and the scores are available.
        scores = forest.predict_proba(X_new)[:, forest.classes_.tolist().index("default")]
        loaded = hm.Thresholds.load(path)
        defaults = loaded.predict(scores)

        # Where the model is, too: it predicts at the threshold of the file, without fit.
        fixed = hm.ThresholdClassifier(forest, thresholds=loaded, pos_label="default")
        classes = fixed.predict(X_new)

    same = np.array_equal(classes, tuned.predict(X_new))
    same = same and np.array_equal(defaults == 1, classes == "default")
    print(f"\nThe file says {in_file}, and gives the same predictions: {same}")
    return {"at_half": at_half, "at_best": at_best, "threshold": tuned.threshold_, "same": same}


if __name__ == "__main__":
    main()
