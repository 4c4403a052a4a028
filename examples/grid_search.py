"""Model selection: compare each model at its own best threshold rather than at 0.5.

scoring="f1" asks which model predicts best at 0.5. Naive Bayes is so confident that 0.5 is as good
as any threshold; a hundred neighbours seldom give a rare class half of their votes, and so seem
useless. hm.make_threshold_scorer gives each model its own threshold, tuned on different rows than
those it is scored on, and chooses a different model, which is better on new rows.
"""

from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import halfmax as hm

MODEL = Pipeline([("scale", StandardScaler()), ("model", GaussianNB())])
CANDIDATES = [
    {"model": [GaussianNB()]},
    {"model": [KNeighborsClassifier()], "model__n_neighbors": [5, 25, 100]},
]
SCORINGS = {'"f1"': "f1", "make_threshold_scorer": hm.make_threshold_scorer("f1")}


def name_of(params):
    """Describe the model that was tried."""
    neighbours = params.get("model__n_neighbors")
    return f"{neighbours} neighbours" if neighbours else "naive Bayes"


def main():
    """Choose a model on 4,000 rows by each scoring, tune it there, and test it on new rows."""
    X, y = make_classification(
        12_000,
        n_informative=4,
        n_redundant=8,
        n_clusters_per_class=1,
        class_sep=0.5,
        weights=[0.95],
        random_state=2,
    )
    X, X_new, y, y_new = train_test_split(X, y, train_size=4_000, stratify=y, random_state=0)
    searches = {
        name: GridSearchCV(MODEL, CANDIDATES, scoring=scoring).fit(X, y)
        for name, scoring in SCORINGS.items()
    }
    print("F1 in cross-validation  " + "  ".join(f"{name:>21}" for name in searches))
    scores = [search.cv_results_["mean_test_score"] for search in searches.values()]
    for params, *row in zip(searches['"f1"'].cv_results_["params"], *scores, strict=True):
        print(f"{name_of(params):22}  " + "  ".join(f"{value:21.3f}" for value in row))

    numbers = {"choice": {}, "f1": {}}
    print("\nscoring                chooses         F1 on new rows, with a tuned threshold")
    for name, search in searches.items():
        tuned = hm.ThresholdClassifier(search.best_estimator_).fit(X, y)
        numbers["choice"][name] = name_of(search.best_params_)
        numbers["f1"][name] = tuned.score(X_new, y_new)
        print(f"{name:21}  {numbers['choice'][name]:14}  {numbers['f1'][name]:.3f}")
    return numbers


if __name__ == "__main__":
    main()
