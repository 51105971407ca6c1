"""What some tests need and not every machine has."""

import os
from pathlib import Path

import pytest

from gates2heads.data.corpora.download import FOLDER, REGISTRY, cache_folder

PLACES = [Path(os.environ.get(FOLDER, "nowhere")), cache_folder()]
HERE = all(any((place / name).is_file() for place in PLACES) for name in REGISTRY)
needs_data = pytest.mark.skipif(not HERE, reason=f"needs the files of {FOLDER} or of the cache")
