"""The host as one script for a page, and the saved widgets that it can display."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gates2heads.browser.modules import join_modules

_HERE = Path(__file__).parent


def host_script() -> str:
    """Join the host's modules into one classic script.

    A browser does not load modules from `file://`, but it does load a classic script.

    Returns:
        The text of the script, which defines no global name.
    """
    joined = join_modules(_HERE / "page.js", late=True).rstrip()
    return f'(() => {{\n"use strict";\n{joined}\n}})();\n'


def foreign_widgets(state: Mapping[str, Any], shown: list[str]) -> list[str]:
    """List the displayed widgets that the host cannot display, because they are not anywidgets.

    Args:
        state: a widget manager's state, as a notebook saves it.
        shown: the model ids in the outputs.

    Returns:
        The names of their models, sorted, each once.
    """
    models = [state.get("state", {}).get(model, {}) for model in shown]
    foreign = [model for model in models if model.get("model_module") != "anywidget"]
    return sorted({str(model.get("model_name", "a model that was not saved")) for model in foreign})
