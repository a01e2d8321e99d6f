"""Progress of long calls: tqdm where it is installed and somebody looks."""
from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, Union

Progress = Union[None, bool, Callable[[str, float, str], None]]


class TqdmProgress:
    """One bar per phase, from half a second on: quick work draws nothing."""

    def __init__(self, tqdm: Any):
        self.tqdm, self.phase, self.began = tqdm, "", time.monotonic()
        self.bar: Any = None

    def __call__(self, phase: str, fraction: float, detail: str) -> None:
        if time.monotonic() - self.began < 0.5:
            return
        if self.bar is None or phase != self.phase:
            self.close()
            total = None if fraction < 0 else 1.0
            form = "{desc} {elapsed} {postfix}" if total is None else "{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}"
            self.bar, self.phase = self.tqdm(total=total, desc=phase, leave=False, bar_format=form), phase
        if fraction >= 0 and self.bar.total:
            self.bar.n = min(fraction, 1.0)
        self.bar.set_postfix_str(detail, refresh=False)
        self.bar.refresh()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
        self.bar = None


def progress_from(wanted: Progress) -> Callable[[str, float, str], None] | None:
    """The callback for the argument `progress`: True shows, False hides, None shows where somebody looks."""
    if callable(wanted):
        return wanted
    watched = sys.stderr is not None and sys.stderr.isatty() or "ipykernel" in sys.modules
    if wanted is False or (wanted is None and not watched):
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return TqdmProgress(tqdm)
