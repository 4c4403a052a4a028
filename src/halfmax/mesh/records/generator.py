"""Generate synthetic MEDLINE records, with any number of terms and words, distributed as in MeSH.

A record mixes up to three topics. Its terms are check tags, terms of its topics and a few others;
its words are words of its topics, words of its own terms, and a common background. So the texts
vary most along topics and common terms, and a rare term leaves hardly a trace in these directions,
although its own word is in the text.

Chance alone would not draw every term and word. So each term is planted once and each word twice,
evenly over the training records. Test records have as many planted ones, drawn at random. A record
with a planted term is about the topic of that term.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from halfmax._core.errors import ArgumentError, in_python
from halfmax._core.gate.options import check_whole
from halfmax._core.threads import spans
from halfmax._core.types import Array
from halfmax.mesh.records.record import Record
from halfmax.mesh.records.vocabulary import (
    MOST_WORDS,
    PARTS,
    PARTS_AT,
    TAG_NAMES,
    make_terms,
    make_words,
)

_BLOCK = 4096  # records; each block has its own random stream, so a seed's result depends on it
_FIRST_PMID = 90_000_001  # above all PMIDs in use
_LIMITS = {"n_train": (1, MOST_WORDS), "n_test": (0, MOST_WORDS), "n_labels": (1, MOST_WORDS)}
_LIMITS |= {"n_words": (1, MOST_WORDS), "words_per_record": (1, 10_000), "seed": (0, 1 << 64)}

# Shares of the check tags in all records; those after the first two come with "Humans" only.
_TAG_SHARES, _FREE_TAGS = (0.70, 0.24, 0.38, 0.37, 0.28, 0.26), 2
_TAG_SPREAD = 1.5  # of the beta law of a tag's share in a topic: below 2, most shares are extreme
_TAGS_MOST = 0.3  # largest share of a record's terms, if it has few terms

_TOPICS = 150  # fewer than the 200 dimensions of the paper's system, so that it can represent them
_TOPIC_LABELS = 4  # fewest labels per topic on average: with few labels there are fewer topics
_TOPIC_COUNTS = (0.4, 0.4, 0.2)  # shares of records with one, two and three topics
_TOPIC_WORDS, _TOPIC_FLAT = 600, 10.0  # words of a topic; ranks with nearly equal shares
_ZIPF_LABELS = 1.7  # steep enough that half of the paper's terms have three positives or fewer
_FLAT_LABELS = 50.0  # ranks with nearly equal shares, all of them smaller than those of check tags
_STRAY_LABELS = 0.15  # share of a record's terms that are drawn whatever its topics
_WITHOUT_TOPIC = 0.3  # share of terms that only their own word indicates ...
_WITH_TOPIC = 0.1  # ... except the commonest terms, which all have a topic
_LABEL_WORDS = (0.6, 0.2, 0.2)  # shares of a term's own word and of two that others may share

_FROM_TOPICS, _FROM_LABELS = 0.45, 0.15  # shares of words; a term has one or two in a record
_COMMON_WORDS = 200  # never typical of a topic, like the words that occur in every text
_TITLE, _SENTENCE = (7, 17), (10, 24)  # words, from and below
_ABSTRACT_SHAPE = 6.0  # of the gamma law of lengths: most are from half the mean to twice
_NO_ABSTRACT, _STRUCTURED, _COMMAS = 0.05, 0.3, 0.06  # shares of records, of records, of words
_STRUCTURED_WORDS = 20  # fewest in a structured abstract, so that no part is empty

_PART_ENDS = (0.15, 0.45, 0.85)
_GAPS = np.array([" ", ", ", ". ", *(f".\n{part.upper()}: " for part in PARTS[1:]), "."], object)
_SPACE, _COMMA, _STOP, _NEXT_PART, _END = 0, 1, 2, 3, 6


@dataclass(frozen=True)
class Recipe:
    """How many records to generate for training and testing, and with how many terms and words.

    The training records use all terms and words, and test records no others. A record has about
    `labels_per_record` terms and `words_per_record` words, title and abstract together. Equal
    recipes give equal records.
    """

    n_train: int
    n_test: int
    n_labels: int
    n_words: int
    seed: int = 0
    labels_per_record: float = 12
    words_per_record: int = 110

    def __post_init__(self) -> None:
        for name, (least, most) in _LIMITS.items():
            self._set(name, check_whole(name, getattr(self, name), least, most))
        self._set("labels_per_record", _check_labels_per_record(self.labels_per_record))
        for kind in ("labels", "words"):
            number, each = getattr(self, f"n_{kind}"), getattr(self, f"{kind}_per_record")
            if number > self.n_train * each:
                raise ArgumentError(
                    f"{in_python(f'n_{kind}')} must be at most {in_python('n_train')} times "
                    f"{in_python(f'{kind}_per_record')}, so that each has a place; got {number:,}, "
                    f"more than {self.n_train:,} times {each:g}"
                )

    def _set(self, name: str, value: float) -> None:
        object.__setattr__(self, name, value)


def _check_labels_per_record(value: Any) -> float:
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not is_number or not 1 <= value <= 1000:
        raise ArgumentError(
            f"{in_python('labels_per_record')} must be a number from 1 to 1,000; got {value!r:.60}"
        )
    return float(value)


SMALL = Recipe(6_000, 1_500, 3_000, 20_000)
PAPER = Recipe(100_000, 20_000, 26_853, 188_923)


def generate(recipe: Recipe) -> Iterator[Record]:
    """Yield synthetic records, those for training first.

    Examples
    --------
    >>> records = list(generate(Recipe(n_train=100, n_test=20, n_labels=50, n_words=1000)))
    >>> len(records), len({term for record in records[:100] for term in record.mesh})
    (120, 50)
    """
    tables = _build_tables(recipe)
    for first, size in ((0, recipe.n_train), (recipe.n_train, recipe.n_test)):
        for span in spans(size, _BLOCK):
            records = range(first + span.start, first + span.stop)
            yield from _Block(recipe, tables, records).make()


class _Tables(NamedTuple):
    """What all blocks share. Words and labels are numbers, common ones first, after check tags."""

    words: Array  # each in lower case, then each with a capital
    terms: Array
    planted_labels: Array  # in the order of the records that they are planted in
    planted_words: Array
    topic_words: Array  # topics x ranks
    label_words: Array  # labels x words
    label_topics: Array  # the number of topics stands for no topic: check tags, and some labels
    by_topic: Array  # all labels but check tags, topic by topic, those without one at the end
    weights: Array  # the cumulative sum of their weights
    topic_ends: Array  # the cumulative weight before the first topic, after each, and of all
    tag_shares: Array  # topics x tags, conditional on the tag that it requires


def _build_tables(recipe: Recipe) -> _Tables:
    rng = np.random.default_rng(np.random.SeedSequence(recipe.seed))
    n_words, n_labels = recipe.n_words, recipe.n_labels
    names = make_words(max(n_words, n_labels), rng)
    n_tags = min(len(TAG_NAMES), n_labels // 10)
    n_topics = max(1, min(_TOPICS, n_labels // _TOPIC_LABELS))
    topics = _draw_label_topics(n_labels, n_topics, rng)
    by_topic = n_tags + np.argsort(topics[n_tags:], kind="stable")
    weights = np.cumsum((by_topic + _FLAT_LABELS) ** -_ZIPF_LABELS)
    sizes = np.bincount(topics[n_tags:], minlength=n_topics + 1)
    own = np.resize(np.arange(n_words)[::-1], n_labels)  # the word that the term is built from
    common = min(_COMMON_WORDS, n_words // 2)
    return _Tables(
        words=np.array([*names[:n_words], *map(str.capitalize, names[:n_words])], object),
        terms=make_terms(names, n_labels, n_tags, rng),
        planted_labels=rng.permutation(n_labels),
        planted_words=rng.permutation(n_words),
        topic_words=rng.integers(common, n_words, (n_topics, min(_TOPIC_WORDS, n_words))),
        label_words=np.column_stack([own, rng.integers(common, n_words, (n_labels, 2))]),
        label_topics=np.where(np.arange(n_labels) < n_tags, n_topics, topics),
        by_topic=by_topic,
        weights=weights,
        topic_ends=np.append(0.0, weights)[np.append(0, np.cumsum(sizes))],
        tag_shares=_draw_tag_shares(recipe, n_topics, n_tags, rng),
    )


def _draw_label_topics(n_labels: int, n_topics: int, rng: np.random.Generator) -> Array:
    """The topic of each label, or the number of topics if it has none."""
    without = rng.random(n_labels) < _WITHOUT_TOPIC
    without &= np.arange(n_labels) > _WITH_TOPIC * n_labels
    return np.where(without, n_topics, rng.integers(0, n_topics, n_labels))


def _draw_tag_shares(recipe: Recipe, n_topics: int, n_tags: int, rng: np.random.Generator) -> Array:
    shares = np.array(_TAG_SHARES)
    shares *= min(1.0, _TAGS_MOST * recipe.labels_per_record / shares.sum())
    mean = np.append(shares[:_FREE_TAGS], shares[_FREE_TAGS:] / shares[0])[:n_tags]
    return rng.beta(mean * _TAG_SPREAD, (1 - mean) * _TAG_SPREAD, (n_topics, n_tags))


class _Lists(NamedTuple):
    """A list for each record, concatenated."""

    items: Array
    starts: Array  # where each list starts, and the end of the last

    @property
    def counts(self) -> Array:
        return np.diff(self.starts)

    @property
    def owners(self) -> Array:
        return np.repeat(np.arange(len(self.starts) - 1), self.counts)


class _Block:
    """Some records, either all for training or all for testing."""

    def __init__(self, recipe: Recipe, tables: _Tables, records: range) -> None:
        self.recipe, self.tables, self.records = recipe, tables, records
        stream = np.random.SeedSequence(recipe.seed, spawn_key=(records.start,))
        self.rng = np.random.default_rng(stream)

    def make(self) -> Iterator[Record]:
        planted = self._plant(self.recipe.n_labels, self.tables.planted_labels)
        topics = self._draw_topics(planted)
        labels = self._draw_labels(topics, planted)
        words, titles = self._draw_words(topics, labels)
        terms, starts = self.tables.terms[labels.items].tolist(), labels.starts.tolist()
        for i, (title, abstract) in enumerate(self._write(words, titles)):
            mesh = tuple(sorted(terms[starts[i] : starts[i + 1]]))
            yield Record(str(_FIRST_PMID + self.records[i]), title, abstract, mesh)

    def _plant(self, size: int, order: Array) -> _Lists:
        """Plant each of `size` places of the order once, cyclically; at random in test records."""
        bounds = np.arange(self.records.start, self.records.stop + 1)
        ends = bounds * size // self.recipe.n_train
        if self.records.start < self.recipe.n_train:
            places = np.arange(ends[0], ends[-1])
        else:
            places = self.rng.integers(0, size, ends[-1] - ends[0])
        return _Lists(order[places % len(order)], ends - ends[0])

    def _draw_topics(self, planted: _Lists) -> Array:
        """Draw three topics for each record, with repetitions if it has fewer."""
        ends = self.tables.topic_ends[1:-1]
        drawn = self.rng.random((len(self.records), 3)) * ends[-1]
        topics = np.searchsorted(ends[:-1], drawn, side="right")
        own = self.tables.label_topics[planted.items]
        has_topic = own < len(ends)
        topics[planted.owners[has_topic], 0] = own[has_topic]
        count = self.rng.choice((1, 2, 3), len(topics), p=_TOPIC_COUNTS)
        topics[count < 3, 1] = topics[count < 3, 0]
        topics[count < 2, 2] = topics[count < 2, 0]
        return np.asarray(topics)

    def _draw_labels(self, topics: Array, planted: _Lists) -> _Lists:
        """Draw the distinct labels of each record: planted ones, check tags and others."""
        n, recipe = len(topics), self.recipe
        tags = self._draw_tags(topics)
        sure = planted.counts + tags.sum(axis=1)
        mean = recipe.labels_per_record - tags.sum() / n - recipe.n_labels / recipe.n_train
        others_per_record = np.maximum(self.rng.poisson(max(0.0, mean), n), sure == 0)
        owners = np.repeat(np.arange(n), 4 * others_per_record)  # too many, since many repeat
        others = self._draw_by_topic(topics[owners, self.rng.integers(0, 3, len(owners))])
        tag_owners, tag = np.nonzero(tags)
        owners = np.concatenate([planted.owners, tag_owners, owners])
        labels = np.concatenate([planted.items, tag, others])
        return _first_distinct(owners, labels, sure + others_per_record)

    def _draw_tags(self, topics: Array) -> Array:
        shares = self.tables.tag_shares[topics].mean(axis=1)
        tags: Array = self.rng.random(shares.shape) < shares
        tags[:, _FREE_TAGS:] &= tags[:, :1]
        return tags

    def _draw_by_topic(self, topics: Array) -> Array:
        """Draw a label for each of these topics, most often one of that topic."""
        ends = self.tables.topic_ends
        drawn, again, chance = self.rng.random((3, len(topics)))
        drawn *= ends[-1]
        of_topic = (drawn < ends[-2]) & (chance >= _STRAY_LABELS)
        low, high = ends[topics], ends[topics + 1]
        drawn = np.where(of_topic, low + (high - low) * again, drawn)
        places = np.searchsorted(self.tables.weights[:-1], drawn, side="right")
        return np.asarray(self.tables.by_topic[places])

    def _draw_words(self, topics: Array, labels: _Lists) -> tuple[_Lists, Array]:
        """Draw the words of each record, and how many of them are in the title."""
        recipe, tables = self.recipe, self.tables
        room = recipe.n_train * recipe.words_per_record
        twice = recipe.n_train > 1 and 2 * recipe.n_words <= room
        planted = self._plant((1 + twice) * recipe.n_words, tables.planted_words)
        lengths, titles = self._draw_lengths(planted.counts)
        starts = np.append(0, np.cumsum(lengths))
        owners = np.repeat(np.arange(len(lengths)), lengths)
        chance = self.rng.random(len(owners))
        words = _zipf(self.rng.random(len(owners)), recipe.n_words, 1.0)
        of_topic, of_label = chance < _FROM_TOPICS, chance > 1 - _FROM_LABELS
        words[of_topic] = self._words_of_topics(topics, owners[of_topic])
        words[of_label] = self._words_of_labels(labels, owners[of_label])
        words[self._spread(planted, starts)] = planted.items
        return _Lists(words, starts), titles

    def _draw_lengths(self, fewest: Array) -> tuple[Array, Array]:
        """Draw the number of words of each record and of its title."""
        n, mean = len(fewest), self.recipe.words_per_record
        titles = np.minimum(self.rng.integers(*_TITLE, n), mean)
        scale = (mean - titles.mean()) / (1 - _NO_ABSTRACT) / _ABSTRACT_SHAPE
        abstracts = self.rng.gamma(_ABSTRACT_SHAPE, scale, n).astype(np.int64)
        abstracts[self.rng.random(n) < _NO_ABSTRACT] = 0
        lengths = np.maximum(titles + abstracts, fewest)
        return lengths, np.where(abstracts > 0, titles, lengths)

    def _words_of_topics(self, topics: Array, owners: Array) -> Array:
        words = self.tables.topic_words
        chosen = topics[owners, self.rng.integers(0, 3, len(owners))]
        ranks = _zipf(self.rng.random(len(owners)), words.shape[1], _TOPIC_FLAT)
        return np.asarray(words[chosen, ranks])

    def _words_of_labels(self, labels: _Lists, owners: Array) -> Array:
        place = (self.rng.random(len(owners)) * labels.counts[owners]).astype(np.int64)
        chosen = labels.items[labels.starts[owners] + place]
        kinds = np.searchsorted(np.cumsum(_LABEL_WORDS)[:-1], self.rng.random(len(owners)))
        return np.asarray(self.tables.label_words[chosen, kinds])

    def _spread(self, planted: _Lists, starts: Array) -> Array:
        """Choose distinct positions for the planted words, evenly spaced in each record."""
        owners, lengths = planted.owners, np.diff(starts)
        numbers = np.arange(len(owners)) - planted.starts[owners]
        shifts = self.rng.integers(0, lengths)
        places = (numbers * lengths[owners] + shifts[owners]) // planted.counts[owners]
        return np.asarray(starts[owners] + places)

    def _write(self, words: _Lists, titles: Array) -> Iterator[tuple[str, str]]:
        """Yield the title and abstract of each record, in sentences."""
        n_words, middles = self.recipe.n_words, words.starts[:-1] + titles
        abstracts = words.counts - titles
        structured = self.rng.random(len(titles)) < _STRUCTURED
        structured &= (abstracts >= _STRUCTURED_WORDS) & (n_words >= 2 * PARTS_AT)
        gaps = self._punctuate(words, titles)
        for part, share in enumerate(_PART_ENDS):
            ends = middles + (share * abstracts).astype(np.int64) - 1
            gaps[ends[structured]] = _NEXT_PART + part
        capital = np.append(True, gaps[:-1] >= _STOP)
        pieces = (self.tables.words[words.items + n_words * capital] + _GAPS[gaps]).tolist()
        bounds = np.column_stack([words.starts[:-1], middles, words.starts[1:], structured])
        for start, middle, end, in_parts in bounds.tolist():
            opening = f"{PARTS[0].upper()}: " if in_parts else ""
            yield "".join(pieces[start:middle]), opening + "".join(pieces[middle:end])

    def _punctuate(self, words: _Lists, titles: Array) -> Array:
        """Choose the punctuation after each word."""
        owners, starts = words.owners, words.starts
        place = np.arange(len(owners)) - starts[owners] - titles[owners]
        sentence = self.rng.integers(*_SENTENCE, len(titles))[owners]
        gaps = np.where(self.rng.random(len(owners)) < _COMMAS, _COMMA, _SPACE)
        gaps[(place >= 0) & (place % sentence == sentence - 1)] = _STOP
        gaps[np.concatenate([starts[1:], starts[:-1] + titles]) - 1] = _END
        return gaps


def _first_distinct(owners: Array, labels: Array, most: Array) -> _Lists:
    """Keep the first distinct labels of each record, up to `most`."""
    order = np.argsort(owners, kind="stable")
    owners, labels = owners[order], labels[order]
    first = np.unique(owners * (labels.max() + 1) + labels, return_index=True)[1]
    first.sort()
    owners, labels = owners[first], labels[first]
    starts = np.searchsorted(owners, np.arange(len(most)))
    kept = np.arange(len(owners)) - starts[owners] < most[owners]
    return _Lists(labels[kept], np.append(0, np.cumsum(np.bincount(owners[kept]))))


def _zipf(uniform: Array, size: int, flat: float) -> Array:
    """Turn uniform numbers into ranks below `size`; rank r has a share of nearly 1 / (r + flat)."""
    ranks = flat * ((size + flat) / flat) ** uniform - flat
    return np.minimum(ranks.astype(np.int64), size - 1)
