import functools
import os

import pytest
import surroundings
from hypothesis import settings
from real_scores import FIGURES, load

settings.register_profile(
    "default", max_examples=30, deadline=None, derandomize=True, database=None
)
settings.register_profile(
    "thorough", max_examples=300, deadline=None, derandomize=True, database=None
)
settings.register_profile("quick", max_examples=10, deadline=None, derandomize=True, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_sessionstart():
    surroundings.make_plain()


@pytest.fixture
def usual_signals():
    """Signals end a process, also where the tests themselves run in the background."""
    with surroundings.usual_signals():
        yield


@pytest.fixture(params=FIGURES)
def real(request):
    """The name of a real data set, and its truth and scores in two splits."""
    return request.param, load(request.param)


@pytest.fixture
def close_figures():
    """Close all figures of pyplot after a test."""
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture(scope="module")
def browser():
    """The browser for tests of pages."""
    from browser import started

    with started() as found:
        yield found


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Each case of a report and its file, which is written on first use."""
    from report_cases import CASES, QUICK

    folder = tmp_path_factory.mktemp("reports")

    @functools.cache
    def write(name):
        case = CASES[name]()
        path = folder / f"{name}.html"
        return case, case.tuned.report(path, **QUICK, **case.options)

    return write


@pytest.fixture
def read(browser, reports):
    """Open the report of a case in the browser: the case, and its reader."""
    from browser import reading

    def start(name, **settings):
        case, path = reports(name)
        return case, reading(browser, path, **settings)

    return start
