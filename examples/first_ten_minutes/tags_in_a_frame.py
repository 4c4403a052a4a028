"""Content tagger: 200 tags in a data frame, most of them rare."""

import numpy as np
import pandas as pd

import halfmax as hm

rng = np.random.default_rng(0)
tags = [f"tag {number}" for number in range(200)]
rate = np.geomspace(0.3, 0.003, 200)
skill = rng.uniform(0, 3, 200)
truth = pd.DataFrame(rng.random((4_000, 200)) < rate, columns=tags)
scores = pd.DataFrame(rng.normal(size=(4_000, 200)) + skill * truth.to_numpy(), columns=tags)
scores.insert(0, "article", range(4_000))  # a column that is not a tag
old, new = slice(0, 2_000), slice(2_000, 4_000)

t = hm.tune(truth[old], scores[tags][old], guard="auto")  # thresholds that hold on new articles
print(t)
predicted = t.predict(scores[new], unknown="ignore")
print(f"macro F1 {t.score:.3f} here, {hm.score(truth[new], predicted):.3f} on new articles")
print(f"{predicted.to_numpy().sum(axis=1).mean():.1f} tags an article")
print(hm.diagnose(truth[old], scores[tags][old]).explain("tag 199"))
mine = t.replace({"tag 0": 1.5})  # an editor knows better
print(f"tag 0: {t['tag 0']:.2f} -> {mine['tag 0']:.2f}, macro F1 {mine.score:.3f}")
