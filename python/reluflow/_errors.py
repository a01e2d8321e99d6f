"""What can go wrong, with the status and the message of the C library."""
from __future__ import annotations

import enum

from . import _native


class Status(enum.IntEnum):
    """Statuses of the library: 0 done, above an outcome to look at, below a failure."""

    OK = 0
    NOT_SEPARABLE = 1
    BRANCHED = 2
    UNDECIDED = 3
    LIMIT = 4
    INTERRUPTED = 5
    INFEASIBLE = 6
    MEMORY = -1
    USAGE = -2
    INPUT = -3
    IO = -4
    NUMERIC = -5
    INTERNAL = -6

    @property
    def text(self) -> str:
        """The library's phrase for it."""
        return _native.status_text(int(self))


class ReluflowError(Exception):
    """A failure of the library. `status` is its code, `message` its line."""

    status: Status
    message: str

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = Status(status)
        self.message = message

    def __reduce__(self) -> tuple[type[ReluflowError], tuple[int, str]]:
        return type(self), (int(self.status), self.message)


class UsageError(ReluflowError, ValueError):
    """An argument makes no sense."""


class InputError(ReluflowError, ValueError):
    """A file does not follow its format: the message is "file:line:column: ..."."""


class FileError(ReluflowError, OSError):
    """The operating system refused."""

    def __str__(self) -> str:
        return self.message


class OutOfMemoryError(ReluflowError, MemoryError):
    """Memory is exhausted."""


class NumericError(ReluflowError, ArithmeticError):
    """An iteration failed; the message says what is known."""


class InternalError(ReluflowError, RuntimeError):
    """A broken invariant: a bug of the library."""


class ReluflowWarning(UserWarning):
    """The library noticed something that deserves a look."""


_CLASSES: dict[int, type[ReluflowError]] = {
    Status.MEMORY: OutOfMemoryError,
    Status.USAGE: UsageError,
    Status.INPUT: InputError,
    Status.IO: FileError,
    Status.NUMERIC: NumericError,
    Status.INTERNAL: InternalError,
}


def error_from(status: int, message: str) -> ReluflowError:
    """The exception for a failure of the library."""
    return _CLASSES.get(status, ReluflowError)(status, message)
