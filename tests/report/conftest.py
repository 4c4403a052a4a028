import functools

import browser as browsers
import pytest
from browser import reading
from report_cases import CASES, QUICK


@pytest.fixture(scope="module")
def browser():
    with browsers.started() as found:
        yield found


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Each case and its report, which is written on first use."""
    folder = tmp_path_factory.mktemp("reports")

    @functools.cache
    def write(name):
        case = CASES[name]()
        path = folder / f"{name}.html"
        return case, case.tuned.report(path, **QUICK, **case.options)

    return write


@pytest.fixture
def read(browser, reports):
    """Open the report of a case: the case, and its reader."""

    @functools.wraps(reading)
    def start(name, **settings):
        case, path = reports(name)
        return case, reading(browser, path, **settings)

    return start
