"""How far long work has come: told to nobody, to a function, or on a line of stderr."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")
ProgressLike = bool | Callable[[int, int], object] | None

_SECONDS_BETWEEN = 0.2
_SECONDS_BETWEEN_LINES_OF_A_FILE = 10.0


class Progress:
    """Counts what is done; as a context it ends its line, also when the work is interrupted.

    >>> with Progress(print, "counting sheep", 3) as told:
    ...     told.advance(1)
    ...     told.advance(2)
    1 3
    3 3
    """

    def __init__(self, wanted: ProgressLike, what: str, total: int) -> None:
        if not (wanted is None or isinstance(wanted, bool) or callable(wanted)):
            raise TypeError(
                "progress must be True for a line on stderr, a function of (done, total), or None; "
                f"got {wanted!r}"
            )
        seen = sys.stderr is not None  # a process may have been started without
        self._tell = wanted if callable(wanted) else self._write if wanted and seen else None
        self._what = what
        self._done, self._total = 0, total
        self._before = 0  # done in earlier laps, of which a bar knows nothing
        self._started = self._written = time.monotonic()
        self._width = 0

    def advance(self, by: int) -> None:
        """So many more are done."""
        self._done += by
        if self._tell is not None:
            self._tell(self._done - self._before, self._total)

    def expect(self, more: int) -> None:
        """There is more to do than was known."""
        self._total += more

    def lap(self, what: str, total: int) -> None:
        """Go over the same things again: a bar counts them anew, a function goes on counting."""
        begin = getattr(self._tell, "begin", None)  # of a bar that says what is counted
        if begin is not None:
            self._before, self._total = self._done, total
            begin(what, total)

    def __enter__(self) -> "Progress":
        self.lap(self._what, self._total)
        return self

    def __exit__(self, *interruption: object) -> None:
        end = getattr(self._tell, "end", None)
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
        share = f"{100 * done // total} %" if total else f"{done:,}"  # 0: nobody knows of how many
        line = f"{self._what}: {share}, {rest}"
        print(f"\r{line:<{self._width}}", end="", file=sys.stderr, flush=True)
        self._width = len(line)


def counted(items: Iterable[Item], told: Progress) -> Iterator[Item]:
    """The same items, each told when it is taken."""
    for item in items:
        told.advance(1)
        yield item
