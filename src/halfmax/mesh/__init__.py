"""The case study: MEDLINE records tagged with MeSH terms."""
