import os
from pathlib import Path

from hypothesis import settings

# Processes that compile the same kernel at the same time overwrite each other in numba's cache: all
# but the first have one of their own. numba reads this when it is imported.
worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
if worker != "gw0":
    own = Path(__file__).parents[1] / ".pytest_cache" / "kernels" / worker
    os.environ.setdefault("NUMBA_CACHE_DIR", str(own))

settings.register_profile(
    "default", max_examples=60, deadline=None, derandomize=True, database=None
)
settings.register_profile("quick", max_examples=10, deadline=None, derandomize=True, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
