"""MEDLINE records: read from files, stored, generated and written."""
