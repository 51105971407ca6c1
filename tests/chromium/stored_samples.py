"""A Translate view that stores the output for each of its examples but the last.

python stored_samples.py STATE.json
"""

import sys
from pathlib import Path

from live_samples import EXAMPLES, translator, write

if __name__ == "__main__":
    write(Path(sys.argv[1]), translator(stored=len(EXAMPLES) - 1))
