"""Names of labels: checked, matched and looked up."""

from collections.abc import Hashable, Iterable

import numpy as np

from halfmax._core.text import spell_out

Labels = tuple[Hashable, ...]


def check_labels(labels: Iterable[Hashable], n_labels: int) -> Labels:
    """Label names: one for each column, none twice."""
    if isinstance(labels, (str, bytes)):
        raise TypeError(f"labels must be a sequence of names; got the single name {labels!r}")
    try:
        names = tuple(x.item() if isinstance(x, np.generic) else x for x in labels)
        set(names)
    except TypeError:
        raise TypeError(
            f"labels must be a sequence of names (hashable values); got {labels!r}"
        ) from None
    if len(names) != n_labels:
        raise ValueError(f"labels must name each of the {n_labels} labels; got {len(names)} names")
    if len(set(names)) != len(names):
        seen: set[Hashable] = set()
        twice = [name for name in names if name in seen or seen.add(name)]  # type: ignore[func-returns-value]
        raise ValueError(f"labels must not repeat; {spell_out(dict.fromkeys(twice))} came twice")
    return names


def match_labels(known: Labels, given: Labels, known_as: str, given_as: str) -> list[int]:
    """Where each given label stands among the known ones; both must be the same set."""
    where = {label: place for place, label in enumerate(known)}
    missing = [label for label in known if label not in set(given)]
    extra = [label for label in given if label not in where]
    if missing or extra:
        parts = [f"missing from {given_as}: {spell_out(missing)}"] if missing else []
        parts += [f"missing from {known_as}: {spell_out(extra)}"] if extra else []
        raise ValueError(f"label names of {known_as} and {given_as} differ: {'; '.join(parts)}")
    return [where[label] for label in given]


def names_or_places(labels: Labels | None, size: int) -> Labels:
    """Names of the labels, or their places where they have none."""
    return tuple(range(size)) if labels is None else labels


def place_of(label: Hashable | None, labels: Labels | None, size: int) -> int:
    """Where a label stands: found by its name, or by its place where labels have no names."""
    if label is None:
        if size == 1:
            return 0
        raise ValueError(
            f"label must say which of the {size:,} labels to draw, by its "
            f"{'place' if labels is None else 'name'}; got None"
        )
    names = names_or_places(labels, size)
    if label not in names:
        known = f"from 0 to {size - 1:,}" if labels is None else spell_out(names, "or", 5)
        raise ValueError(f"label must be {known}; got {label!r}")
    return names.index(label)
