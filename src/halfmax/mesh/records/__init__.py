"""MEDLINE records: read, kept, made up and written."""
