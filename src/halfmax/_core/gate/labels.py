"""Names of labels: checked, matched and looked up."""

from collections.abc import Hashable, Iterable

import numpy as np

from halfmax._core.errors import ArgumentError, ArgumentTypeError, in_python
from halfmax._core.text import spell_out

Labels = tuple[Hashable, ...]


def check_labels(labels: Iterable[Hashable], n_labels: int) -> Labels:
    """Check the names of labels: one for each column, without duplicates."""
    name = in_python("labels")
    if isinstance(labels, (str, bytes)):
        raise ArgumentTypeError(
            f"{name} must be a sequence of names; got the single name {labels!r}"
        )
    try:
        names = tuple(x.item() if isinstance(x, np.generic) else x for x in labels)
        set(names)
    except TypeError:
        raise ArgumentTypeError(
            f"{name} must be a sequence of names (hashable values); got {labels!r}"
        ) from None
    if len(names) != n_labels:
        raise ArgumentError(
            f"{name} must name each of the {n_labels} labels; got {len(names)} names"
        )
    if len(set(names)) != len(names):
        seen: set[Hashable] = set()
        twice = [one for one in names if one in seen or seen.add(one)]  # type: ignore[func-returns-value]
        raise ArgumentError(f"{name} must not repeat; {spell_out(dict.fromkeys(twice))} came twice")
    return names


def match_labels(
    known: Labels, found: Labels, known_as: str, found_as: str, if_extra: str = ""
) -> list[int]:
    """Return the place of each found label among the known ones; both must be the same set.

    `known_as` and `found_as` are the names of the two arguments, for the error. `if_extra` is
    added to it if only found labels are too many.
    """
    where = {label: place for place, label in enumerate(known)}
    missing = [label for label in known if label not in set(found)]
    extra = [label for label in found if label not in where]
    if missing or extra:
        one, other = in_python(known_as), in_python(found_as)
        parts = [f"missing from {other}: {spell_out(missing)}"] if missing else []
        parts += [f"missing from {one}: {spell_out(extra)}"] if extra else []
        hint = "" if missing else if_extra
        raise ArgumentError(f"label names of {one} and {other} differ: {'; '.join(parts)}{hint}")
    return [where[label] for label in found]


def names_or_places(labels: Labels | None, size: int) -> Labels:
    """Return the names of the labels, or their places 0, 1, ... if they have no names."""
    return tuple(range(size)) if labels is None else labels


def place_of(label: Hashable | None, labels: Labels | None, size: int) -> int:
    """Find the place of a label by its name, or by its place if labels have no names."""
    if label is None:
        if size == 1:
            return 0
        raise ArgumentError(
            f"{in_python('label')} must say which of the {size:,} labels to draw, by its "
            f"{'place' if labels is None else 'name'}; got None"
        )
    names = names_or_places(labels, size)
    if label not in names:
        known = f"from 0 to {size - 1:,}" if labels is None else spell_out(names, "or", 5)
        raise ArgumentError(f"{in_python('label')} must be {known}; got {label!r}")
    return names.index(label)
