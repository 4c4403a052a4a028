"""Documents as tf-idf vectors, and these as a few factors: scikit-learn's TruncatedSVD."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from halfmax._core.types import Array

_TFIDF = {"sublinear_tf": True, "dtype": np.float32}  # a repeated word adds little


@dataclass(frozen=True, eq=False)
class Words:
    """A vocabulary, and the inverse document frequency of each word."""

    vocabulary: list[str]
    idf: npt.NDArray[np.float32]

    def matrix(self, texts: Iterable[str]) -> Any:
        """The tf-idf of texts: CSR, documents x words, rows of unit length."""
        return self._vectorizer.transform(texts)

    @cached_property
    def _vectorizer(self) -> Any:
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(vocabulary=self.vocabulary, **_TFIDF)
        vectorizer.idf_ = self.idf
        return vectorizer


def learn_words(texts: Iterable[str], max_words: int) -> tuple[Words, Any]:
    """Learn the most frequent words of texts, and return them with the tf-idf of the texts."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(max_features=max_words, **_TFIDF)
    try:
        matrix = vectorizer.fit_transform(texts)
    except ValueError as error:
        if "empty vocabulary" not in str(error):
            raise
        raise ValueError("the titles and abstracts must have words; they have none") from None
    return Words(vectorizer.get_feature_names_out().tolist(), vectorizer.idf_), matrix


def find_factors(matrix: Any, rank: int, seed: int) -> tuple[Array, Array]:
    """Return the documents x rank factors of a tf-idf matrix, and the words x rank loadings."""
    from sklearn.decomposition import TruncatedSVD

    svd = TruncatedSVD(rank, random_state=seed)
    with np.errstate(divide="ignore", invalid="ignore"):  # equal texts have no variance
        factors = svd.fit_transform(matrix)
    return factors, svd.components_.T
