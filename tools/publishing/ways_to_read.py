"""What the first page says of JupyterLab, Colab and itself, with a repository's address or without.

A reader is told only what the copy of the book in front of them can do.
`tools/publishing/repository.py` writes these texts into the cells of `chapters/intro.ipynb` that
are named here.
"""

JUPYTERLAB = (
    '<span id="in-jupyterlab">**In JupyterLab, on your machine.**</span> You need Linux, a Mac '
    "with Apple silicon, or WSL on Windows; git, make and Python 3.10 to 3.13. You do "
    "not need a GPU.{address}\n\n"
    "```sh\n"
    "git clone {url} gates2heads && cd gates2heads\n"
    "make book\n"
    ".venv/bin/jupyter lab chapters\n"
    "```\n\n"
    "The first `make book` takes three to five minutes on a fast connection. On Linux without an "
    "NVIDIA GPU, `make book TORCH_BACKEND=cpu` downloads several gigabytes less. In JupyterLab, "
    "open a chapter and choose **Run → Run All Cells**, which takes up to a minute. Then write "
    "your answer in the cell of an exercise, and run that cell with Shift+Enter. To train a "
    "translator, run `.venv/bin/python -m gates2heads train translator-quick`: on two threads of a "
    "CPU, this took 19 minutes and reached 41.3 BLEU (measured once)."
)
NO_ADDRESS = (
    " Replace `ADDRESS` with the address of the repository, or with the path of a local "
    "clone; if you already have its folder, begin with `make book`. The zip file of the web pages "
    "does not contain the repository, and this copy does not include its address: if you have only "
    "the web pages, use Colab, or ask whoever gave you this copy."
)
WHEEL = '<a href="../gates2heads-{version}-py3-none-any.whl" download>the library</a>'
INSTALLS = "installs the library and keeps Colab's version of PyTorch."
ON_COLAB = (
    "**In Colab.** Click the rocket button at the top of a chapter and choose Colab. The first "
    f"cell of the notebook {INSTALLS} Choose **Runtime → Run all**."
)
BY_UPLOAD = (
    "**In Colab**, without an installation on your machine:\n\n"
    "1. Download {wheel} (one compressed file of 34 MB; see "
    "[Data and licences](appendix/data.md)).\n"
    "2. On the page of a chapter, click the download button at the top and choose **.ipynb**.\n"
    "3. In Colab, choose **File → Upload notebook** and upload that file.\n"
    "4. Open the file panel on the left, upload the library, and wait until the upload is "
    "complete.\n"
    f"5. Run the first cell, which {INSTALLS} Then choose **Runtime → Run all**.\n\n"
    "Colab deletes the library when the runtime ends; after that, repeat steps 4 and 5. For "
    "another chapter, repeat steps 2 to 5."
)
VERSION = (
    "## Version, sources, citation, errors\n\n"
    "**Sources.** The choice of topics follows five [sets of Chinese lecture notes and blog "
    "posts](appendix/source_map.md); the text, the code and the experiments are original.\n\n"
    "**To cite the book** (this copy is version {version}): {citation} For a method, cite the "
    "original paper, which each chapter names.\n\n"
    "**To report an error**, quote the version, the section, and the sentence or output in "
    "question. {place}"
)
CITATION = (
    "The authors of Gates to Heads. Gates to Heads: an interactive book on sequence models. "
    "Version {version}, 2026."
)
ISSUES = "Open an [issue in the repository]({url}/issues); each page has a button for it."
NO_ISSUES = (
    "This copy does not include the address of the repository: write to whoever provided it."
)


def ways(url: str, version: str) -> dict[str, str]:
    """Return the text of each cell by its id.

    Args:
        url: the address of the repository; empty if it has none.
        version: of the library.
    """
    jupyterlab = JUPYTERLAB.format(url=url or "ADDRESS", address="" if url else NO_ADDRESS)
    upload = BY_UPLOAD.format(wheel=WHEEL.format(version=version))
    colab = ON_COLAB if "//github.com/" in url else upload
    place = ISSUES.format(url=url) if url else NO_ISSUES
    version_note = VERSION.format(
        version=version, citation=CITATION.format(version=version), place=place
    )
    return {"i006jupyterlab": jupyterlab, "i006colab": colab, "i010version": version_note}
