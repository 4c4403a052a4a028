"""``halfmax demo``: what tuning changes, on data that come with scikit-learn."""

from halfmax.cli import options as o
from halfmax.cli.commands.report import check_page
from halfmax.cli.run import running


def demo(page: o.Report = None, force: o.Force = False, debug: o.Debug = False) -> None:
    """Tune a binary and a multilabel classifier on data that come with scikit-learn."""
    with running(debug=debug):
        if page is not None:
            check_page("--report", page, force)

        from halfmax.cli.demonstration import main

        main(page)
