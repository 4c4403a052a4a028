"""Run independent blocks of work on all cores available to this process."""

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, TypeVar, cast

Block = TypeVar("Block")
Result = TypeVar("Result")


def map_blocks(
    work: Callable[[Block], Result], blocks: Iterable[Block]
) -> Generator[Result, None, None]:
    """Yield ``work(block)`` in the order of the blocks, whichever thread finishes first.

    The blocks must not depend on the number of threads: then sums of floats in block order are the
    same on every machine. Only a few results wait at a time, so memory stays bounded.
    """
    blocks = list(blocks)
    threads = min(available_cores(), len(blocks))
    if threads <= 1:
        yield from map(work, blocks)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting = [pool.submit(work, block) for block in blocks[: 2 * threads]]
        rest = iter(blocks[2 * threads :])
        try:
            while waiting:
                yield waiting.pop(0).result()
                waiting.extend(pool.submit(work, block) for block in _first(rest))
        finally:
            for future in waiting:
                future.cancel()


def one_blas_thread() -> AbstractContextManager[object]:
    """Limit matrix products to one thread, so that they give the same numbers on every machine.

    Blocks that run on all cores already need no more threads than that either.
    """
    return cast(AbstractContextManager[object], _controller().limit(limits=1, user_api="blas"))


@cache  # finding the libraries takes milliseconds
def _controller() -> Any:
    import scipy.linalg  # noqa: F401  it loads a second BLAS, which must be found below
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def spans(size: int, step: int) -> list[slice]:
    """Split ``range(size)`` into slices of at most ``step``."""
    return [slice(start, min(start + step, size)) for start in range(0, size, step)]


def available_cores() -> int:
    """Count the cores that this process may use, which can be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _first(iterator: Iterator[Block]) -> Iterator[Block]:
    for item in iterator:
        yield item
        return
