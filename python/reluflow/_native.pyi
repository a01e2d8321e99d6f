from collections.abc import Callable
from typing import Any, final

version: str

@final
class Block:
    """Memory of the library; numpy.asarray looks into it without a copy."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...

def run(
    command: str, words: list[str], data: tuple[Any, Any, list[str]] | None, test: tuple[Any, Any, list[str]] | None,
    net: tuple[Any, Any, float] | None, progress: Callable[[str, float, str], None] | None, /
) -> tuple[int, int, str, list[Block] | None, str | None, str]: ...
def load(words: list[str], /) -> tuple[int, str, tuple[Block, Block, list[str], str] | None]: ...
def options(command: str, /) -> list[tuple[str, int, str | None, str | None, str]]: ...
def generators() -> list[tuple[str, str | None, str, str, list[tuple[str, str, str]]]]: ...
def status_text(status: int, /) -> str: ...
