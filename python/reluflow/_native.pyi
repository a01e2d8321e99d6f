from collections.abc import Callable
from typing import Any

version: str

class Block:
    """Memory of the library; numpy.asarray looks into it without a copy."""

Samples = tuple[Any, Any, list[str]]
Net = tuple[Any, Any, float]
Progress = Callable[[str, float, str], None]

def run(
    command: str, words: list[str], data: Samples | None, test: Samples | None, net: Net | None, progress: Progress | None, /
) -> tuple[int, int, str, list[Block] | None, str | None, str]: ...
def load(words: list[str], /) -> tuple[int, str, tuple[Block, Block, list[str], str] | None]: ...
def options(command: str, /) -> list[tuple[str, int, str | None, str | None, str]]: ...
def generators() -> list[tuple[str, str | None, str, str, list[tuple[str, str, str]]]]: ...
def status_text(status: int, /) -> str: ...
