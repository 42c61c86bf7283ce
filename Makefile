# The menu: every target does its own set-up.

VENV    := .venv
PYTHON  := $(VENV)/bin/python
# Libraries that the engine has modules for: it is built again once there are more of them.
FOUND   := $(wildcard /usr/bin/mpicxx* /usr/include/*netcdf.h /usr/include/zlib.h \
             /usr/include/*/curl/curl.h /usr/include/rados/librados.h \
             /usr/lib/*/pkgconfig/hdf5*.pc)
STAMP   := $(VENV)/.installed-$(shell echo '$(FOUND)' | cksum | cut -d' ' -f1)
SOURCES := $(shell find engine tracer src schema -type f \( -name '*.[ch]pp' -o -name '*.[ch]' -o -name '*.in' -o -name '*.txt' \)) \
           $(wildcard packaging/man/*.1) CMakeLists.txt pyproject.toml

.PHONY: help setup build test whole fast check tidy sanitized coverage nightly gen fmt bench demo docs wheel clean

help:            ## what can be made
	@grep -E '^[a-z]+: .*##|^[a-z]+:  +##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

setup: $(STAMP)  ## a virtual environment in .venv with venturi and its engine in it

$(STAMP): $(SOURCES)
	@packaging/prepare base
	@test -x $(PYTHON) || packaging/make-venv $(VENV)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

build: setup     ## the engine, built again where its sources changed

demo: setup      ## a program captured, predicted elsewhere, tuned, mended, measured -> one page
	@packaging/demo

test:            ## every test and every check; without root the fast tier
	@if [ "$$(id -u)" -eq 0 ]; then $(MAKE) --no-print-directory whole; \
	    else $(MAKE) --no-print-directory fast; fi

whole:
	@packaging/prepare test
	@$(MAKE) --no-print-directory setup
	@packaging/build-tests
	@$(MAKE) --no-print-directory check
	@packaging/test whole

fast: setup      ## the tests that need neither root, MPI, Slurm, GlusterFS nor a browser
	@$(MAKE) --no-print-directory check
	@packaging/test fast

check: setup     ## formatters, linters, types, orders, generated files
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy src schema
	$(VENV)/bin/lint-imports --no-cache
	$(VENV)/bin/clang-format --dry-run --Werror $$(git ls-files 'engine/*.[ch]pp' 'tests/*.[ch]pp' '*.[ch]' ':!examples')
	$(PYTHON) schema/generate --check

tidy: setup      ## clang-tidy over the engine and the tracer
	@cmake --preset dev >/dev/null
	git ls-files 'engine/*.cpp' 'tracer/*.c' | grep -v 'mpi.cpp$$' | \
	    xargs -P $$(nproc) -n 1 $(VENV)/bin/clang-tidy -p build/dev --quiet

sanitized: setup ## the engine's tests and the cases with sanitized engines
	@packaging/prepare test
	@cmake --preset asan >/dev/null
	cmake --build --preset asan
	VENTURI_ENGINE_DIR=$(CURDIR)/build/asan $(PYTHON) -m pytest --numprocesses $$((2 * $$(nproc))) \
	    --dist worksteal --ignore tests/engine/test_unit.py tests/engine tests/case

coverage: setup  ## lines that no test of the fast tier comes to
	@packaging/coverage

nightly: test tidy sanitized coverage  ## what takes too long for every change: damaged captures and blocks, shapes
	VENTURI_FUZZ=1000000 $(PYTHON) -m pytest tests/sources/test_fuzz.py \
	    tests/capture/test_process_file.py
	cmake --build --preset threads
	$(PYTHON) -m pytest -m nightly tests/engine/test_unit.py
	VENTURI_INJECTIONS=2000 $(PYTHON) -m pytest -rA tests/attack/test_signals_at_calls.py
	@packaging/prepare nightly
	$(PYTHON) -m pytest -m nightly tests/cli/test_io500_ceph.py tests/cli/test_rados.py \
	    tests/packaging/test_wheel.py
	mkdir -p build/verdicts && $(PYTHON) bench/verdicts.py spoilt build/verdicts 200
	$(PYTHON) bench/verdicts.py shipped build/verdicts
	VENTURI_SHAPES=30 $(PYTHON) -m pytest tests/capture/test_closure_of_shapes.py
	VENTURI_CORRUPTIONS=10000 VENTURI_CLEAN_BLOCKS=1000000 \
	    $(PYTHON) -m pytest tests/engine/test_verify.py

gen: setup       ## schemas, structs and reference pages from the models
	$(PYTHON) schema/generate

fmt: setup       ## format everything
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/clang-format -i $$(git ls-files 'engine/*.[ch]pp' 'tests/*.[ch]pp' '*.[ch]' ':!examples')

bench: setup     ## Venturi against the limit, as ratios measured side by side
	@bench/run

docs: setup      ## the documentation as a site in build/docs
	NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --strict

wheel:           ## dist/*.whl: installs without a compiler on any Linux with glibc 2.28
	@packaging/wheel/build

clean:           ## remove what was built
	rm -rf build dist $(VENV) demo
