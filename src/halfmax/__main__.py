"""``python -m halfmax`` is the command ``halfmax``."""

from halfmax.cli import app

app(prog_name="halfmax")
