"""The paper's case study, MEDLINE tagged with MeSH terms: the study, its tables and its page."""
