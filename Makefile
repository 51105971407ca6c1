# Gates to Heads. `make book` and `make test` are the two commands; `make help` lists all.

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed
TESTED := $(VENV)/.tested
COLAB := .venv-colab/.installed
COLAB_SCRIPTS := .venv-colab-scripts/manifest.json
ASSETS := _assets/vendor/manifest.json
WHEEL := _assets/.wheel
LIVE := _assets/live/.exported
OTTER := .venv-otter/.installed
BUILT := _build/.built
HOST := $(wildcard src/gates2heads/browser/host/*)
UV ?= $(VENV)/bin/uv
# TORCH_BACKEND=cpu takes the build of torch without the libraries for graphics cards, which pip
# cannot choose by itself: uv knows where it is.
INSTALL := $(if $(TORCH_BACKEND),$(PY) -m uv pip install -q --python $(PY) --torch-backend $(TORCH_BACKEND),$(PY) -m pip install -q --no-compile)
FAST := -m "not slow and not browser and not book"

export PIP_DISABLE_PIP_VERSION_CHECK := 1

SOURCES := $(shell find chapters _ext _static -type f -not -path '*/.*' -not -path 'chapters/slides/*' -not -name '*.pyc' 2>/dev/null)
LIBRARY := $(shell find src -type f -not -path '*/.*' -not -path '*.egg-info*' -not -name '*.pyc' 2>/dev/null)
LINTED := src tests tools _ext $(wildcard benchmarks) $(wildcard studies) $(wildcard shipping) $(wildcard chapters)
SCRIPTS := "src/**/*.js" "_static/**/*.js" "_ext/**/*.js" "tools/**/*.js" "tests/**/*.mjs"

.PHONY: help install repository release versions book rebuild zip pdf slides class autograde serve test check lint bench execute heights pictures picture clean distclean
.DELETE_ON_ERROR:

help:
	@echo "make book     install, build the book, and print where to open it"
	@echo "make serve    serve the built book on this machine and print the address"
	@echo "make zip      pack the built book as one file that opens from disk, without a server"
	@echo "make pdf      print the whole built book as one PDF, with an outline and links"
	@echo "make slides   write slides for lectures from the built chapters, with their views"
	@echo "make class    write the book without its solutions, for students, and the solutions apart"
	@echo "make autograde  write a test of each exercise for otter-grader, and install otter-grader"
	@echo "make install  only create the environment and install the library"
	@echo "make rebuild  rebuild the whole book"
	@echo "make test     all checks, without network access where the system allows it (STEPS=… for some;"
	@echo "              STEPS=rounding runs the notebooks as other processors would)"
	@echo "make check    lint, format and the fast tests, in a few minutes"
	@echo "make lint     only the linters, the formatters and the list of terms"
	@echo "make bench    benchmark the library against reference libraries, in a few minutes (ONLY=beam for some)"
	@echo "make execute  run the notebooks again and store their outputs (NOTEBOOKS=… for some)"
	@echo "make versions the fast tests under the oldest and the newest supported versions"
	@echo "make repository  copy the addresses in _config.yml to the chapters and the README"
	@echo "              (URL=https://github.com/owner/name sets them first)"
	@echo "make release  check that the tagged release matches the published pages"
	@echo "make heights  measure the height of each view, which pages reserve"
	@echo "make pictures photograph the views for the notebooks (NOTEBOOKS=… for some)"
	@echo "make picture  retake the README's pictures of live views"
	@echo "make clean    remove build outputs; make distclean also the environments and assets"

# ---- installation -----------------------------------------------------------------------------

install: $(INSTALLED)

$(INSTALLED): requirements-read.txt requirements.txt pyproject.toml
	@command -v $(PYTHON) >/dev/null 2>&1 || { echo "$(PYTHON) was not found: install Python 3.10 or later, or say make PYTHON=/path/to/python3."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "Python 3.10 or later is needed, $(PYTHON) is $$($(PYTHON) -V 2>&1); say make PYTHON=/path/to/python3.12."; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "Python's venv module is missing; on Debian and Ubuntu: apt-get install python3-venv."; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(if $(TORCH_BACKEND),$(PY) -m pip install -q $$(grep '^uv==' requirements-test.txt))
	$(INSTALL) -r requirements.txt
	$(PY) -m pip install -q --no-deps --no-build-isolation -e .
	@touch $@

# What only tests and tools need.
$(TESTED): $(INSTALLED) requirements-test.txt
	$(INSTALL) -r requirements-test.txt
	@touch $@

$(ASSETS): $(INSTALLED) tools/fetch_assets.py
	@$(PY) tools/fetch_assets.py
	@touch $@

# The widget manager that draws what Colab's versions made. Only the tests use it.
$(COLAB_SCRIPTS): $(INSTALLED) tools/fetch_assets.py
	@$(PY) tools/fetch_assets.py --colab
	@touch $@

# The library as one file, which the built book offers to readers on Colab.
$(WHEEL): $(INSTALLED) $(LIBRARY) pyproject.toml
	@mkdir -p _assets && rm -rf build _assets/*.whl
	@$(PY) -m pip wheel -q --no-deps --no-build-isolation -w _assets .
	@rm -rf build && touch $@

# The models that run in the page, from the weights that come with the library.
$(LIVE): $(INSTALLED) $(LIBRARY) tools/book/export_live.py
	@$(PY) tools/book/export_live.py
	@touch $@

$(COLAB): $(TESTED) tools/checks/colab_environment.py
	@$(PY) tools/checks/colab_environment.py
	@touch $@

# ---- the book ---------------------------------------------------------------------------------

$(BUILT): $(ASSETS) $(WHEEL) $(LIVE) $(HOST) $(SOURCES) _config.yml _toc.yml references.bib DATA.md
	@$(MAKE) --no-print-directory rebuild

# Sphinx forgets a page's warnings once it has read it, so each build reads every page.
rebuild:
	@rm -rf _build/html _build/.doctrees $(BUILT)
	$(VENV)/bin/jupyter-book build -q -W -n --keep-going .
	@touch $(BUILT)

book: $(BUILT)
	@echo "The book is built. Open file://$(CURDIR)/_build/html/index.html, or run make serve."

zip: book
	@$(PY) tools/book/pack_book.py

pdf: book $(TESTED)
	@CHROMIUM="$$($(PY) tools/book/find_browser.py --install)" && export CHROMIUM && $(PY) tools/book/print_book.py

slides: book
	@$(PY) tools/slides/slides.py

# The wheel is no part of it: the library contains the solutions that the checks compare with.
class: $(ASSETS) $(LIVE)
	@$(PY) tools/teaching/class_edition.py

$(OTTER): $(INSTALLED) tools/teaching/autograde.py
	@$(PY) tools/teaching/autograde.py environment
	@touch $@

autograde: $(OTTER)
	@$(PY) tools/teaching/autograde.py write
	@echo "To grade: $(PY) tools/teaching/autograde.py grade FOLDER --to marks.csv"

serve: book
	@$(PY) tools/serve.py

# ---- checks -----------------------------------------------------------------------------------

lint: $(TESTED)
	$(VENV)/bin/ruff check $(LINTED)
	$(VENV)/bin/ruff format --check $(LINTED)
	$(VENV)/bin/oxlint --deny-warnings src _static _ext tools tests
	$(VENV)/bin/oxfmt --check $(SCRIPTS)
	$(PY) -m tools.terms

check: $(TESTED) lint
	OMP_NUM_THREADS=1 $(PY) -m pytest -q -n 2 $(FAST) tests

# One thread, here and in `execute`: the models are so small that a second one gains a tenth, and
# on a busy machine the two wait for each other and lose far more.
test: $(TESTED) $(ASSETS) $(WHEEL) $(LIVE) $(COLAB) $(COLAB_SCRIPTS)
	@CHROMIUM="$$($(PY) tools/book/find_browser.py --install)" && export CHROMIUM OMP_NUM_THREADS=1 && \
	  echo "Browser: $$CHROMIUM" && \
	  $(PY) tools/checks/offline.py $(PY) tools/checks/test_all.py $(STEPS)

# One thread, so that processor time means the same for both sides. A missed aim stops no other.
bench: $(TESTED)
	OMP_NUM_THREADS=1 $(PY) -m pytest -q --benchmark-quiet --tb=line --store benchmarks/results/ratios.json \
	  $(if $(ONLY),-k "$(ONLY)") benchmarks

# Each set is an environment of some GB, made from nothing and thrown away. uv looks for a Python of
# that version. Old releases warn about what came after them: there, warnings fail nothing.
versions: versions-oldest-3.10 versions-newest-3.13

versions-oldest-%: RESOLUTION := lowest-direct
versions-oldest-%: LENIENT := -W default::DeprecationWarning -W default::FutureWarning
versions-newest-%: RESOLUTION := highest
versions-oldest-% versions-newest-%: $(TESTED)
	@rm -rf _versions/$@
	$(UV) venv -q --python $* _versions/$@
	$(UV) pip install -q --python _versions/$@ --resolution $(RESOLUTION) '.[book,test]'
	OMP_NUM_THREADS=1 _versions/$@/bin/python -m pytest -q -n 2 $(LENIENT) $(PYTEST) $(FAST) tests
	@rm -rf _versions/$@

repository: $(INSTALLED)
	@$(PY) tools/publishing/repository.py --write $(if $(URL),--url "$(URL)" $(if $(SITE),--site "$(SITE)"))

# Whether the release that the pages name holds what they show: run before they are published.
release:
	@$(PYTHON) tools/publishing/release.py

heights: book
	@$(PY) tools/book/view_heights.py

pictures: book $(TESTED)
	@CHROMIUM="$$($(PY) tools/book/find_browser.py --install)" && export CHROMIUM && \
	  $(PY) tools/notebooks/view_pictures.py $(NOTEBOOKS)

picture: book
	@$(PY) tools/book/picture.py

execute: $(INSTALLED)
	OMP_NUM_THREADS=1 $(PY) tools/execute_notebooks.py $(NOTEBOOKS)

clean:
	rm -rf _build _versions .pytest_cache .ruff_cache .hypothesis .coverage
	find src tests tools _ext -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV) .venv-otter .venv-colab .venv-colab-scripts _assets
