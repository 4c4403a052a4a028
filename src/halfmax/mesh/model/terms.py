"""The headings of records as a sparse matrix of documents x terms."""

from typing import Any

import numpy as np
from scipy import sparse

from halfmax._core.errors import ArgumentError, in_python
from halfmax._core.types import Array
from halfmax.mesh.records.corpus import Headings


def frequent_terms(headings: Headings, rows: Array, min_count: int) -> Array:
    """The codes of the terms that at least `min_count` of these documents have."""
    columns = _columns_of(headings, rows)[1]
    counts = np.bincount(columns, minlength=len(headings.names))
    found = np.flatnonzero(counts >= min_count)
    if not len(found):
        most = (
            f"the most frequent one occurs in {counts.max()}" if len(counts) else "there are none"
        )
        raise ArgumentError(
            f"{in_python('min_count')} must leave some terms; no term occurs in at least "
            f"{min_count:,} of the {len(rows):,} documents: {most}"
        )
    return found


def truth_of(headings: Headings, rows: Array, terms: Array) -> Any:
    """The 0/1 matrix (CSR, int8) of these documents and terms; other terms are ignored.

    The terms are codes of the headings; -1 is a term that no document has.
    """
    documents, codes = _columns_of(headings, rows)
    place = np.full(len(headings.names), -1, np.int32)
    (there,) = np.nonzero(terms >= 0)
    place[terms[there]] = there
    columns = place[codes]
    known = columns >= 0
    indptr = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(np.bincount(documents[known], minlength=len(rows)), out=indptr[1:])
    ones = np.ones(int(known.sum()), np.int8)
    truth = sparse.csr_array((ones, columns[known], indptr), shape=(len(rows), len(terms)))
    truth.sort_indices()
    return truth


def _columns_of(headings: Headings, rows: Array) -> tuple[Array, Array]:
    """The document (from 0) and the term of each heading of these rows."""
    lengths = np.diff(headings.offsets)[rows]
    documents = np.repeat(np.arange(len(rows)), lengths)
    within = np.arange(len(documents)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return documents, headings.codes[headings.offsets[rows][documents] + within]
