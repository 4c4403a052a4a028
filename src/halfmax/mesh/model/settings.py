"""The settings of a tagger, chosen before it is fitted."""

from dataclasses import dataclass
from typing import Any

from halfmax._core.errors import ArgumentError, ArgumentTypeError, in_python
from halfmax._core.gate import options

WORDS = 188_923  # the size of the paper's vocabulary
RANK = 200
PENALTIES = ("shared", "per-label")
_LIMITS: dict[str, tuple[int, int | None]] = {
    "rank": (1, None),
    "min_count": (1, None),
    "max_words": (2, None),
    "seed": (0, (1 << 32) - 1),  # scikit-learn's
}


@dataclass(frozen=True)
class Settings:
    """How documents become words, factors and outputs.

    Attributes
    ----------
    rank : int or None
        The rank of the truncated SVD of the words; None is 200, or less if there are fewer
        documents or words.
    penalty : {"shared", "per-label"} or float
        The penalty of the ridge: one for all labels, or one for each label, with the least
        leave-one-out error; or a number above 0.
    min_count : int
        Terms of fewer documents are not learned.
    max_words : int
        The size of the vocabulary: the most frequent words.
    seed : int
        The seed of the truncated SVD, and of the choice of documents that thresholds are tuned on.
    """

    rank: int | None = None
    penalty: str | float = "shared"
    min_count: int = 1
    max_words: int = WORDS
    seed: int = 0

    def __post_init__(self) -> None:
        _check_penalty(self.penalty)
        for name, (least, most) in _LIMITS.items():
            value = getattr(self, name)
            if name == "rank" and value is None:
                continue
            # Stored as an int, even if 2.0 or a NumPy number was passed.
            object.__setattr__(self, name, options.check_whole(name, value, least, most))

    def rank_for(self, n_documents: int, n_words: int) -> int:
        """The rank for these numbers of documents and words."""
        if n_words < 2:
            raise ValueError(
                "the titles and abstracts must have at least two different words; they have "
                f"{n_words}"
            )
        most = min(n_documents, n_words) - 1
        if self.rank is None:
            return min(RANK, most)
        if self.rank > most:
            raise ArgumentError(
                f"{in_python('rank')} must be below the number of documents ({n_documents:,}) and "
                "of words "
                f"({n_words:,}); got {self.rank}"
            )
        return self.rank


def _check_penalty(penalty: Any) -> None:
    rule = f"{in_python('penalty')} must be 'shared', 'per-label' or a number above 0"
    if isinstance(penalty, str):
        if penalty not in PENALTIES:
            raise ArgumentError(f"{rule}; got {penalty!r}")
    elif isinstance(penalty, bool) or not isinstance(penalty, (int, float)):
        raise ArgumentTypeError(f"{rule}; got {penalty!r}")
    elif not 0.0 < penalty < float("inf"):
        raise ArgumentError(f"{rule}; got {penalty!r}")
