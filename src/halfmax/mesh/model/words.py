"""Documents as words, and words as a few factors: scikit-learn's tf-idf and truncated SVD."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from halfmax._core.types import Array

_HOW = {"sublinear_tf": True, "dtype": np.float32}  # a word said twice tells little more


@dataclass(frozen=True, eq=False)
class Words:
    """A vocabulary, and how much each of its words weighs."""

    vocabulary: list[str]
    idf: npt.NDArray[np.float32]

    def matrix(self, texts: Iterable[str]) -> Any:
        """The tf-idf of texts: CSR, documents x words, rows of length 1."""
        return self._vectorizer.transform(texts)

    @cached_property
    def _vectorizer(self) -> Any:
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(vocabulary=self.vocabulary, **_HOW)
        vectorizer.idf_ = self.idf
        return vectorizer


def learn_words(texts: Iterable[str], max_words: int) -> tuple[Words, Any]:
    """The words of most occurrences, and the tf-idf of the texts they were learned from."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(max_features=max_words, **_HOW)
    try:
        matrix = vectorizer.fit_transform(texts)
    except ValueError as error:
        if "empty vocabulary" not in str(error):
            raise
        raise ValueError("the titles and abstracts must have words; they have none") from None
    return Words(vectorizer.get_feature_names_out().tolist(), vectorizer.idf_), matrix


def find_factors(matrix: Any, rank: int, seed: int) -> tuple[Array, Array]:
    """The documents x rank factors of a tf-idf, and the words x rank loadings they come from."""
    from sklearn.decomposition import TruncatedSVD

    svd = TruncatedSVD(rank, random_state=seed)
    with np.errstate(divide="ignore", invalid="ignore"):  # it asks how texts vary: perhaps not
        factors = svd.fit_transform(matrix)
    return factors, svd.components_.T
