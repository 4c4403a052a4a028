"""Progress of long work: reported to a callback, on a line of stderr, or not at all."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from halfmax._core.errors import ArgumentTypeError, in_python

Item = TypeVar("Item")

# The type of every `progress` argument: True for a line on stderr, a callback of (done, total), or
# None (or False) for no report. A total of 0 is not known.
ProgressLike = bool | Callable[[int, int], object] | None

_SECONDS_BETWEEN = 0.2
_SECONDS_BETWEEN_LINES_OF_A_FILE = 10.0


class Progress:
    """Count finished units of work and report them; a context manager that ends its line.

    `progress` is the argument of that name, `what` names the work, and `total` is the number of
    units, 0 if it is not known.

    >>> with Progress(print, "counting sheep", 3) as progress:
    ...     progress.advance(1)
    ...     progress.advance(2)
    1 3
    3 3
    """

    def __init__(self, progress: ProgressLike, what: str, total: int) -> None:
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise ArgumentTypeError(
                f"{in_python('progress')} must be True for a line on stderr, a function of (done, "
                f"total), or None; got {progress!r}"
            )
        self._report: Callable[[int, int], object] | None = None
        if callable(progress):
            self._report = progress
        elif progress and sys.stderr is not None:  # a process may have been started without it
            self._report = self._write
        self._what = what
        self._done, self._total = 0, total
        self._before = 0  # finished in earlier laps, which a bar does not count
        self._started = self._written = time.monotonic()
        self._width = 0

    def advance(self, n: int) -> None:
        """Report `n` more units as finished."""
        self._done += n
        if self._report is not None:
            self._report(self._done - self._before, self._total)

    def expect(self, more: int) -> None:
        """Add units to the total."""
        self._total += more

    def lap(self, what: str, total: int) -> None:
        """Start another pass: a bar counts from 0 again, a plain callback goes on counting."""
        begin = getattr(self._report, "begin", None)  # only bars have it
        if begin is not None:
            self._before, self._total = self._done, total
            begin(what, total)

    def __enter__(self) -> "Progress":
        self.lap(self._what, self._total)
        return self

    def __exit__(self, *interruption: object) -> None:
        end = getattr(self._report, "end", None)
        if end is not None:
            end()
        if self._width:
            print(file=sys.stderr, flush=True)

    def _write(self, done: int, total: int) -> None:
        now = time.monotonic()
        often = _SECONDS_BETWEEN if sys.stderr.isatty() else _SECONDS_BETWEEN_LINES_OF_A_FILE
        if now - self._written < often and (done < total or not total):
            return
        self._written = now
        took = now - self._started
        rest = f"{took:.1f} s"
        if done < total:
            rest = f"about {took / done * (total - done):.0f} s left"
        share = f"{100 * done // total} %" if total else f"{done:,}"  # a total of 0 is unknown
        line = f"{self._what}: {share}, {rest}"
        print(f"\r{line:<{self._width}}", end="", file=sys.stderr, flush=True)
        self._width = len(line)


def counted(items: Iterable[Item], progress: Progress) -> Iterator[Item]:
    """Yield the items, and report each as finished when it is taken."""
    for item in items:
        progress.advance(1)
        yield item
