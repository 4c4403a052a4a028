import os

from hypothesis import settings

settings.register_profile(
    "default", max_examples=60, deadline=None, derandomize=True, database=None
)
settings.register_profile("quick", max_examples=10, deadline=None, derandomize=True, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
