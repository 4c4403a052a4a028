"""Helpers for those who work on halfmax; nothing here is installed."""
