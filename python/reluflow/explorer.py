"""The explorer: one page that runs the library in a browser, with a result's data and start inside."""
from __future__ import annotations

import html
import os
import pathlib
import sys
import tempfile
import webbrowser
from typing import Any

from ._call import Data, call
from .results import Result


class ExplorerPage(Result):
    """A page that was written; a notebook shows it in a frame."""

    @property
    def path(self) -> pathlib.Path:
        """Where the page is."""
        return pathlib.Path(self["file"])

    def _repr_html_(self) -> str:
        text = html.escape(self.path.read_text(encoding="utf-8"), quote=True)
        return f'<iframe srcdoc="{text}" style="width:100%;height:920px;border:0" title="reluflow explorer"></iframe>'


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return bool(shell and shell.get_ipython() is not None and hasattr(shell.get_ipython(), "kernel"))


def explore(X: Any = None, y: Any = None, *, path: str | os.PathLike[str] | None = None, show: bool = True, **options: Any) -> ExplorerPage:
    """Writes the explorer with these data (arrays, a file, "gen:NAME") and settings (width, scale, leak, loss, init, seed) inside.

    A notebook shows the page when it is the last value of a cell; elsewhere ``show=True`` opens it in the browser.
    """
    if path is None:
        handle, path = tempfile.mkstemp(prefix="reluflow-", suffix=".html")
        os.close(handle)
    data = Data(X, y) if X is not None else None
    made = call(ExplorerPage, "explore", [data.path] if data else [], options, data, output=os.fspath(path))
    if show and not _in_notebook():
        webbrowser.open(made.path.resolve().as_uri())
    return made
