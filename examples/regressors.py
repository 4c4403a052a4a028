"""Linear regression as a scorer for many labels, with thresholds for each average of F1.

A regressor has no natural cut at 0.5: its predictions are scores, and thresholds turn them into
labels. Which thresholds are best depends on the average. No word says anything about the label
"archived", so the lasso gives it the same score in all documents. Macro F1, where every label
counts equally, is highest if that label is predicted for every document, and `fit` warns about
this; micro F1, which pools all predictions, is highest if it is never predicted.
"""

import numpy as np
from sklearn.linear_model import Lasso

import halfmax as hm

BASE_RATES = {"health": 0.4, "children": 0.2, "heart": 0.1, "rats": 0.05, "archived": 0.01}
AVERAGES = ("macro", "micro", "samples")
WEIGHTS = np.random.default_rng(0).exponential(size=(30, len(BASE_RATES)))
WEIGHTS *= np.random.default_rng(1).random(WEIGHTS.shape) < 0.3  # most words mean nothing
WEIGHTS[:, -1] = 0


def write_documents(n_documents, seed):
    """Return how often each word occurs, and the labels."""
    rng = np.random.default_rng(seed)
    words = rng.poisson(0.5, (n_documents, len(WEIGHTS)))
    evidence = words @ WEIGHTS + rng.logistic(scale=0.5, size=(n_documents, len(BASE_RATES)))
    limits = [np.quantile(evidence[:, j], 1 - rate) for j, rate in enumerate(BASE_RATES.values())]
    return words, (evidence > limits).astype(int)


def main():
    """Tune thresholds for each average, and show what they predict for new documents."""
    words, labels = write_documents(2_000, seed=2)
    new_words, new_labels = write_documents(2_000, seed=3)
    models = {
        average: hm.ThresholdClassifier(Lasso(alpha=0.01), average=average).fit(words, labels)
        for average in AVERAGES
    }
    predictions = {average: model.predict(new_words) for average, model in models.items()}
    numbers = {"share": {}, "f1": {}}

    print("                    predicted at the threshold for")
    print("label     positive" + "".join(f"{average:>19}" for average in AVERAGES))
    for j, label in enumerate(BASE_RATES):
        line = f"{label:8}  {new_labels[:, j].mean():8.1%}"
        for average, model in models.items():
            numbers["share"][average, label] = share = predictions[average][:, j].mean()
            line += f"{share:10.1%} at {model.thresholds_[j]:5.3f}"
        print(line)

    print("\nF1 on new documents   " + "  ".join(f"{average:>7}" for average in AVERAGES))
    for tuned_for, predicted in predictions.items():
        row = [hm.score(new_labels, predicted, average=average) for average in AVERAGES]
        numbers["f1"][tuned_for] = dict(zip(AVERAGES, row, strict=True))
        print(f"tuned for {tuned_for:10}  " + "  ".join(f"{value:7.3f}" for value in row))
    return numbers


if __name__ == "__main__":
    main()
