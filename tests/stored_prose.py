"""What a notebook says, as it is stored: the Markdown of its text cells and of its outputs."""

import json
from pathlib import Path


def read(notebook: Path) -> dict:
    """Read a notebook as JSON."""
    return json.loads(notebook.read_text(encoding="utf-8"))


def prose_of(notebook: dict) -> str:
    """Return the Markdown of a page, one cell below the other."""
    cells = notebook["cells"]
    return "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


def prose_of_outputs(notebook: dict) -> str:
    """Return the Markdown that the cells of a page print."""
    outputs = (output for cell in notebook["cells"] for output in cell.get("outputs", []))
    shown = (output.get("data", {}).get("text/markdown", "") for output in outputs)
    return "\n\n".join("".join(text) for text in shown)
