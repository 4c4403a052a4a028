"""Labels that exclude each other: the best set of labels is not the set of the best labels.

A machine raises one of four alarms alone, or its power fails and six others go off at once. The
probabilities of single alarms do not show that one rules out others. ExpectedFClassifier learns
each alarm together with the total number, and predicts the set with the highest expected F1.
"""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain

import halfmax as hm

ALONE, TOGETHER, SENSORS = 4, 6, 4
CAUSES = np.zeros((ALONE + 1, ALONE + TOGETHER), int)
CAUSES[:ALONE, :ALONE] = np.eye(ALONE)
CAUSES[ALONE, ALONE:] = 1
EFFECTS = np.random.default_rng(0).normal(scale=1.5, size=(SENSORS, len(CAUSES)))


def observe_failures(n_failures, seed):
    """Return sensor readings, and the alarms that went off."""
    rng = np.random.default_rng(seed)
    sensors = rng.normal(size=(n_failures, SENSORS))
    luck = rng.gumbel(size=(n_failures, len(CAUSES)))  # makes the choice a multinomial logit
    return sensors, CAUSES[np.argmax(sensors @ EFFECTS + luck, axis=1)]


def main():
    """Learn from 1,000 failures; compare the mean F1 per failure on 4,000 new ones."""
    X, y = observe_failures(1_000, seed=1)
    X_new, y_new = observe_failures(4_000, seed=2)
    logistic = LogisticRegression()
    apart = OneVsRestClassifier(logistic)
    models = {
        "each label at 0.5": apart,
        "ThresholdClassifier": hm.ThresholdClassifier(apart, average="samples"),
        "with rule='expected'": hm.ThresholdClassifier(apart, average="samples", rule="expected"),
        "ClassifierChain": ClassifierChain(logistic),
        "ExpectedFClassifier": hm.ExpectedFClassifier(logistic),
    }
    numbers = {"f1": {}, "exact": {}}
    print("on new failures       samples F1  alarms each  all right")
    for name, model in models.items():
        alarms = model.fit(X, y).predict(X_new)
        f1 = f1_score(y_new, alarms, average="samples", zero_division=0)
        exact = (alarms == y_new).all(axis=1).mean()
        numbers["f1"][name], numbers["exact"][name] = f1, exact
        print(f"{name:20}  {f1:10.3f}  {alarms.sum(axis=1).mean():11.2f}  {exact:9.1%}")
    print(f"{'the truth':20}  {1:10.3f}  {y_new.sum(axis=1).mean():11.2f}  {1:9.1%}")
    return numbers


if __name__ == "__main__":
    main()
