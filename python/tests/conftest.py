import os
import pathlib

import pytest

SOURCE = pathlib.Path(os.environ.get("RF_SOURCE", pathlib.Path(__file__).resolve().parents[2]))


@pytest.fixture
def source():
    """The root of the repository."""
    return SOURCE
