import os

import kernels
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
