import os

import pytest
import surroundings
from hypothesis import settings
from real_scores import FIGURES, load

surroundings.keep_kernels_apart()

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
