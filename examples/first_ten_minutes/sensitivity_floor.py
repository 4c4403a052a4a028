"""Doctor: find at least 98 % of the malignant tumours, with as few false alarms as possible."""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import halfmax as hm

data = load_breast_cancer()
diagnosis = data.target_names[data.target]  # "malignant" or "benign"
X, X_tune, y, y_tune = train_test_split(data.data, diagnosis, test_size=0.6, random_state=0)
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
score = model.predict_proba(X_tune)[:, list(model.classes_).index("malignant")]

t = hm.tune(y_tune, score, metric="specificity", min_recall=0.98, pos_label="malignant")
print(t)
a = hm.assess(y_tune, score, "specificity", min_recall=0.98, pos_label="malignant")
print(f"specificity {a.score:.3f} here, {a.expected_score:.3f} expected for new patients")
low, high = a.threshold_interval
print(f"threshold {t.threshold:.3f}, 95 % interval {low:.3f} to {high:.3f}")
few = hm.tune(y_tune, score, metric="recall", max_predicted=100, pos_label="malignant")
print(f"with 100 biopsies: {few.recall[0]:.1%} of the tumours are found")
