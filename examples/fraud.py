"""Fraud: one payment in a hundred, and a threshold that is not 0.5.

A classifier of rare events seldom says "more likely than not", so at 0.5 it misses most of them.
Here is one logistic regression at 0.5, with scikit-learn's search over 100 thresholds, and with the
exact search of halfmax, which also shows how certain threshold and score are; then for a bank that
minds a missed fraud more than a false alarm. The two searches differ only by chance.
"""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, fbeta_score, recall_score
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import halfmax as hm


def simulate_payments(n_payments, seed):
    """Simulate payments; large, night-time, distant and repeated ones are more often fraud."""
    rng = np.random.default_rng(seed)
    log_times_usual_amount = rng.normal(0, 0.7, n_payments)
    at_night = rng.random(n_payments) < 0.1
    km_from_home = rng.exponential(30, n_payments)
    others_this_hour = rng.poisson(0.3, n_payments)
    payments = np.column_stack([log_times_usual_amount, at_night, km_from_home, others_this_hour])
    log_odds = payments @ [2.5, 2.0, 0.03, 1.2] - 8.4
    is_fraud = rng.random(n_payments) < 1 / (1 + np.exp(-log_odds))
    return payments, is_fraud.astype(int)


def main():
    """Learn from 20,000 payments; compare on enough new ones that chance hardly matters."""
    X, y = simulate_payments(20_000, seed=2)
    X_new, y_new = simulate_payments(200_000, seed=1)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    models = {
        "at 0.5": model,
        "TunedThresholdClassifierCV": TunedThresholdClassifierCV(model, scoring="f1"),
        "ThresholdClassifier": hm.ThresholdClassifier(model),
        'ThresholdClassifier("f2")': hm.ThresholdClassifier(model, metric="f2"),
    }
    print(f"{len(y):,} payments to learn from, {y.sum()} of them fraud; {len(y_new):,} new ones\n")
    print("on new payments                F1     F2  recall  alarms")
    numbers = {"f1": {}, "f2": {}, "recall": {}, "alarms": {}}
    for name, one in models.items():
        alarms = one.fit(X, y).predict(X_new)
        numbers["f1"][name] = f1 = f1_score(y_new, alarms)
        numbers["f2"][name] = f2 = fbeta_score(y_new, alarms, beta=2)
        numbers["recall"][name] = recall = recall_score(y_new, alarms)
        numbers["alarms"][name] = count = int(alarms.sum())
        print(f"{name:27}  {f1:.3f}  {f2:.3f}  {recall:6.3f}  {count:6}")

    tuned, for_f2 = models["ThresholdClassifier"], models['ThresholdClassifier("f2")']
    low, high = tuned.assessment_.threshold_interval
    worst, best = tuned.assessment_.score_interval
    print(f"\nthreshold for F1  {tuned.threshold_:.3f}, 95 % interval {low:.3f} to {high:.3f}")
    print(f"threshold for F2  {for_f2.threshold_:.3f}, lower, as a miss counts more")
    print(f"F1 when tuned     {tuned.score_:.3f}")
    print(f"F1 expected       {tuned.expected_score_:.3f}, 95 % interval {worst:.3f} to {best:.3f}")
    print(f"F1 on new ones    {numbers['f1']['ThresholdClassifier']:.3f}")
    return numbers | {
        "threshold": tuned.threshold_,
        "threshold_interval": (low, high),
        "f2_threshold": for_f2.threshold_,
        "score": tuned.score_,
        "expected_score": tuned.expected_score_,
        "score_interval": (worst, best),
    }


if __name__ == "__main__":
    main()
