"""Names of labels: checked, matched and looked up."""

from collections.abc import Hashable, Iterable
from difflib import get_close_matches

import numpy as np

from halfmax._core.errors import ArgumentError, ArgumentTypeError, in_python
from halfmax._core.text import spell_out

Labels = tuple[Hashable, ...]
_MOST_COMPARED = 20_000  # labels; the search for a similar name among more takes too long


def check_labels(labels: Iterable[Hashable], n_labels: int, what: str | None = None) -> Labels:
    """Check the names of labels: one for each column, without duplicates.

    `what` holds them, for errors; by default the argument labels.
    """
    name = in_python("labels") if what is None else what
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
    known: Labels,
    found: Labels,
    known_as: str,
    found_as: str,
    if_extra: str = "",
    if_differ: str = "",
) -> list[int]:
    """Return the place of each found label among the known ones; both must be the same set.

    `known_as` and `found_as` are the names of the two arguments, for the error. `if_extra` is
    added to it if only found labels are too many, `if_differ` in any other case.
    """
    where = {label: place for place, label in enumerate(known)}
    there = set(found)
    missing = [label for label in known if label not in there]
    extra = [label for label in found if label not in where]
    if missing or extra:
        one, other = in_python(known_as), in_python(found_as)
        parts = [f"missing from {other}: {spell_out(missing)}"] if missing else []
        parts += [f"missing from {one}: {spell_out(extra)}"] if extra else []
        hint = if_differ if missing else if_extra
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
        raise ArgumentError(f"{in_python('label')} must be {not_known(label, labels, size)}")
    return names.index(label)


def not_known(label: Hashable, labels: Labels | None, size: int) -> str:
    """Return the end of a message about an unknown label: the known ones, and a similar one.

    >>> not_known("dog", ("cats", "dogs"), 2)
    "'cats' or 'dogs'; got 'dog': did you mean 'dogs'?"
    """
    if labels is None:
        known = f"from 0 to {size - 1:,}" if size > 1 else "0, because the only label has no name"
    else:
        known = spell_out(labels, "or", 5)
    near = _most_similar(label, labels) if labels and size <= _MOST_COMPARED else None
    hint = "" if near is None else f": did you mean {near!r}?"
    return f"{known}; got {label!r:.60}{hint}"


def _most_similar(label: Hashable, labels: Labels) -> Hashable | None:
    by_text = {str(name).casefold(): name for name in labels}
    found = get_close_matches(str(label).casefold(), by_text, 1)
    return by_text[found[0]] if found else None
