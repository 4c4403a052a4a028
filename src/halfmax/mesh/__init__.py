"""The paper's case study as a tagger: MEDLINE records tagged with MeSH terms."""
