import os

import kernels
import pytest
import surroundings
from hypothesis import settings

worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
kernels.keep_apart(worker)
kernels.share(worker, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))

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
