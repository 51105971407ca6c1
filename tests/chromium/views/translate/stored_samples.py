"""A Translate view that stores the output for each of its examples but the last.

python -m tests.chromium.views.translate.stored_samples STATE.json
"""

import sys
from pathlib import Path

from tests.chromium.samples.live_state import write
from tests.chromium.views.translate.samples import EXAMPLES, translator

if __name__ == "__main__":
    write(Path(sys.argv[1]), translator(stored=len(EXAMPLES) - 1))
