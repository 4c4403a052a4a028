"""A progress bar on stderr for what takes longer than a second, if somebody is there to see it."""

import sys
from collections.abc import Callable
from threading import Lock, Timer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress

_SECONDS_BEFORE = 1.0


class Bar:
    """A function of (done, total) that draws; `begin` says what is being counted.

    It shows nothing where stderr is no terminal, and nothing of what is over within a second.
    Whenever it is called it calls `check` first, which may raise.
    """

    def __init__(self, what: str, check: Callable[[], None], shown: bool = True) -> None:
        self._check = check
        self._shown = shown and sys.stderr is not None
        self._drawn: Progress | None = None
        if self._shown and sys.stderr.isatty():
            self._drawn = _drawing()
            self._task = self._drawn.add_task(what, total=None)
        self._total: int | None = None
        self._resting = what.replace(": reading", ": computing")
        self._lock, self._over = Lock(), False
        self._timer = Timer(_SECONDS_BEFORE, self._start)

    def __enter__(self) -> "Bar":
        if self._drawn is not None:
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *interruption: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._drawn is not None:
                self._drawn.stop()

    def begin(self, what: str, total: int | None = None) -> None:
        """Another stretch of work; without a total the bar only shows that it goes on."""
        self._total = total
        if self._drawn is not None:  # another task: rich lets no task forget its total
            self._drawn.remove_task(self._task)
            self._task = self._drawn.add_task(what, total=total or None)

    def end(self) -> None:
        """A stretch is over; whatever comes next may never say what it counts."""
        self.begin(self._resting)

    def __call__(self, done: int, total: int) -> None:
        """So many of so many are done; a total of 0 is not known."""
        self._check()
        if self._drawn is None:
            return
        if total != self._total:  # what is done already must not count for the speed from now on
            self._total = total
            self._drawn.update(self._task, total=total or None)
        self._drawn.update(self._task, completed=done)

    def say(self, line: str) -> None:
        """A line on stderr that stays, above the bar where one is drawn."""
        if self._drawn is not None:
            self._drawn.console.print(line, markup=False, emoji=False, highlight=False)
        elif self._shown:
            print(line, file=sys.stderr, flush=True)

    def _start(self) -> None:
        with self._lock:
            if self._drawn is not None and not self._over:
                self._drawn.start()


def _drawing() -> "Progress":
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.table import Column
    from rich.text import Text

    class Counts(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(counts(task))

    return Progress(
        TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True)),
        BarColumn(bar_width=20),
        Counts(table_column=Column(no_wrap=True)),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )


def counts(task: Any) -> str:
    """How many of how many; then how many a second and how long it takes, or has taken."""
    done, total, elapsed = task.completed, task.total, task.elapsed or 0.0
    told = []
    if total:
        told.append(f"{_short(done)} of {_short(total)}")
    elif done:
        told.append(_short(done))
    going_on = not total or done < total
    if going_on and done and elapsed >= _SECONDS_BEFORE:  # before, a rate is any number
        told.append(f"{_short(done / elapsed)}/s")
    if total and going_on:
        if done and elapsed >= _SECONDS_BEFORE:
            told.append(f"{_clock(elapsed * (total - done) / done)} left")
    else:
        told.append(_clock(elapsed))
    return ", ".join(told)


def _short(number: float) -> str:
    for size, sign in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= max(size, 1e4):
            return f"{number / size:.4g}{sign}"
    return f"{number:,.0f}" if number >= 10 else f"{number:.3g}"


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
