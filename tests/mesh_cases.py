"""Outputs, truths, records and models for the tests of the tagger."""

import numpy as np
from hypothesis import settings as examples
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from strategies import probabilities

from halfmax._core.limits import changed
from halfmax.mesh.model.outputs import Outputs
from halfmax.mesh.model.ridge import Ridge
from halfmax.mesh.records.corpus import Corpus
from halfmax.mesh.records.record import Record
from halfmax.mesh.rules.half_max import find_half_max

AVERAGES = ("macro", "micro", "samples")
FEW = examples(max_examples=max(10, examples().max_examples // 2))  # where an example costs more


def outputs_of(p):
    """Outputs that are these probabilities, to the last bit."""
    p = np.asarray(p, np.float32)
    labels = p.shape[1]
    return Outputs(p, np.eye(labels, dtype=np.float32), np.zeros(labels, np.float32))


@st.composite
def batches(draw, most_documents=7, most_labels=4):
    shape = draw(st.integers(1, most_documents)), draw(st.integers(1, most_labels))
    return draw(probabilities(shape)).astype(np.float32)


@st.composite
def truths(draw, shape):
    """Draw a truth with labels that no, one or every document has."""
    y = draw(hnp.arrays(np.int8, shape, elements=st.integers(0, 1), fill=st.nothing()))
    kinds = st.sampled_from(["any", "none", "one", "all"])
    for j, kind in enumerate(draw(st.lists(kinds, max_size=shape[1]))):
        if kind != "any":
            y[:, j] = kind == "all"
        if kind == "one":
            y[draw(st.integers(0, shape[0] - 1)), j] = 1
    return y


def find(p, entries=1 << 22, enough=4096):
    with changed(output_block_entries=entries, half_max_without_guess=enough):
        return find_half_max(outputs_of(p))


def ridge_of(factors, y):
    return Ridge.of(factors, sparse.csr_array(y))


TOPICS = {
    "Aspirin": "aspirin pain fever tablet dose platelet",
    "Heart": "heart artery vessel pressure failure beat",
    "Liver": "liver bile hepatic enzyme cirrhosis jaundice",
    "Bone": "bone fracture calcium joint growth density",
}
RANK = 5  # not the number of terms


def made_records(seed, n, start=0):
    rng = np.random.default_rng(seed)
    names = list(TOPICS)
    for i in range(start, start + n):
        own = [name for name in names if rng.random() < 0.35]
        words = [word for name in own for word in rng.choice(TOPICS[name].split(), 3)]
        words += rng.choice(["we", "study", "results", "patients", "method"], 3).tolist()
        mesh = own + ["Humans"] * (rng.random() < 0.8) + ["Rare"] * (i in (3, 60))
        abstract = " ".join(words[2:]) if i % 4 else ""
        yield Record(str(i), " ".join(words[:2]), abstract, tuple(mesh) if i % 9 else ())


def learned(corpus):
    """Texts and terms of the records that have any."""
    records = [record for record in corpus.records() if record.mesh]
    return [record.text for record in records], [record.mesh for record in records]


def scores_of(model, texts):
    return model.outputs(model.factors(texts)).whole()


def terms_of(tags):
    return [[tag.term for tag in row] for row in tags]


def write_some(tmp_path, texts, mesh=("A",)):
    records = [Record(str(i), text, "", mesh) for i, text in enumerate(texts)]
    return Corpus.write(records, tmp_path / "some.arrow")


def as_bytes(model):
    parts = [model.counts, model.words.idf, model.loadings, model.offset, model.weights]
    parts += [model.intercept, model.penalties, *(model.thresholds[name] for name in AVERAGES)]
    arrays = [(part.dtype.str, part.shape, part.tobytes()) for part in parts]
    return model.terms, model.n_documents, model.words.vocabulary, arrays


def flipped(raw, mark, offset, bits):
    """Flip bits of the byte at an offset from the first mark."""
    place = raw.index(mark) + offset
    return raw[:place] + bytes([raw[place] ^ bits]) + raw[place + 1 :]


CENTRAL = b"PK\x01\x02"  # where zip says what is inside
DAMAGES = {
    "cut": lambda raw: raw[: 2 * len(raw) // 3],
    "empty": lambda _: b"",
    "text": lambda _: b"just some words",
    "flipped": lambda raw: flipped(raw, b"NUMPY", -1, 1),
    "locked": lambda raw: flipped(raw, CENTRAL, 8, 1),
    "later version": lambda raw: flipped(raw, CENTRAL, 6, 0x80),
    "misplaced": lambda raw: flipped(raw, b"PK\x05\x06", 18, 0x80),
}
