"""What the first page says of JupyterLab and Colab, with an address of the repository and without.

A reader is told only what the copy of the book in front of them can do. `tools/repository.py`
writes these texts into the cells of `chapters/intro.ipynb` that are named here.
"""

JUPYTERLAB = (
    "**In JupyterLab, on your machine.** You need Linux or macOS (on Windows, use WSL), git, make "
    "and Python 3.10 to 3.13. You need neither a GPU nor npm, because `make book` installs Node.js "
    "through pip.{address} The first `make book` takes three to five minutes on a fast "
    "connection, mostly to install PyTorch. On Linux without an NVIDIA GPU, "
    "`make book TORCH_BACKEND=cpu` installs the CPU-only build, which is several gigabytes "
    "smaller.\n\n"
    "```sh\n"
    "git clone {url} gates2heads && cd gates2heads\n"
    "make book\n"
    ".venv/bin/jupyter lab chapters\n"
    "```"
)
NO_ADDRESS = (
    " Replace `ADDRESS` with the address of the repository, or with the path of a local copy. "
    "If you have neither, ask the person who gave you this book."
)
WHEEL = '<a href="../gates2heads-{version}-py3-none-any.whl" download>the library</a>'
INSTALLS = "installs the library and keeps Colab's version of PyTorch."
ON_COLAB = (
    "**In Colab.** Click the rocket button at the top of a chapter and choose Colab. The first "
    f"cell of the notebook {INSTALLS}"
)
BY_UPLOAD = (
    "**In Colab.** Download {wheel} (one file of 24 MB; see [Data and licences](appendix/data.md)) "
    "and a chapter's notebook, with the download button at the top of its page. In Colab, choose "
    "**File → Upload notebook**, upload the library in the file panel on the left, and run the "
    f"first cell, which {INSTALLS}"
)


def ways(url: str, version: str) -> dict[str, str]:
    """Give the text of each cell by its id.

    Args:
        url: the address of the repository; empty if it has none.
        version: of the library.
    """
    jupyterlab = JUPYTERLAB.format(url=url or "ADDRESS", address="" if url else NO_ADDRESS)
    upload = BY_UPLOAD.format(wheel=WHEEL.format(version=version))
    colab = ON_COLAB if "//github.com/" in url else upload
    return {"i006jupyterlab": jupyterlab, "i006colab": colab}
