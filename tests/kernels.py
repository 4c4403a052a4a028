"""Compiled kernels of test processes: each writes its own, and reads those of the others too."""

import os
from pathlib import Path

FOLDER = Path(__file__).parents[1] / ".pytest_cache" / "kernels"


def keep_apart(worker):
    """Processes that compile the same kernel at the same time overwrite each other in numba's
    cache: all but the first have one of their own. numba reads this when it is imported.
    """
    if worker != "gw0":
        os.environ.setdefault("NUMBA_CACHE_DIR", str(FOLDER / worker))


def share(worker, n_workers):
    """What another process has compiled is copied instead of compiled again."""
    from numba.core import caching

    others = [f"gw{k}" for k in range(n_workers) if f"gw{k}" != worker]
    load_own = caching.Cache._load_overload

    def load(cache, signature, context):
        found = load_own(cache, signature, context)
        if found is not None:
            return found
        key = cache._index_key(signature, context.codegen())
        for other in others:
            data = _files_of(cache, other).load(key)
            if data is not None:
                cache._impl.locator.ensure_cache_path()
                cache._cache_file.save(key, data)
                return load_own(cache, signature, context)
        return None

    caching.Cache._load_overload = load


def _files_of(cache, worker):
    """The files in which that process keeps the same kernel."""
    from numba.core.caching import IndexDataCacheFile, _CacheLocator

    source = cache._py_func.__code__.co_filename
    folder = Path(source).parent / "__pycache__"
    if worker != "gw0":
        folder = FOLDER / worker / _CacheLocator.get_suitable_cache_subpath(source)
    stamp = cache._impl.locator.get_source_stamp()
    return IndexDataCacheFile(str(folder), cache._impl.filename_base, stamp)
