"""Fraud analyst: a check costs 5, a missed fraud costs the amount of the payment."""

import numpy as np
from sklearn.linear_model import LogisticRegression

import halfmax as hm

rng = np.random.default_rng(0)
amount = rng.lognormal(4, 1, 20_000)
features = np.column_stack([np.log(amount), rng.normal(size=(20_000, 3))])
is_fraud = rng.random(20_000) < 1 / (1 + np.exp(8 - features @ [0.8, 1, 1, 1]))
train, tune, new = np.split(rng.permutation(20_000), [8_000, 14_000])
score = LogisticRegression().fit(features[train], is_fraud[train]).predict_proba(features)[:, 1]

costs = hm.cost(fp=5, tp=5, fn=amount[tune])  # every check costs 5, also one that finds a fraud
t = hm.tune(is_fraud[tune], score[tune], metric=costs)
expected = hm.assess(is_fraud[tune], score[tune], metric=costs)
print(t)
print(f"expect a cost of {-expected.expected_score:.2f} for each payment")
for name, alarms in (("at 0.5", score[new] >= 0.5), ("tuned", t.predict(score[new]))):
    cost = -hm.score(is_fraud[new], alarms, hm.cost(fp=5, tp=5, fn=amount[new]))
    print(f"{name:7} {cost:.2f} for each new payment")
