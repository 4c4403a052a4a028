"""The paper's case study: MEDLINE tagged with MeSH terms."""
