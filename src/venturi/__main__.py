"""`venturi` and `python -m venturi`: imports little, so that an early interrupt finds it."""

import gc
import sys

_INTERRUPTED = 130
_GARBAGE_THRESHOLD = 50_000
"""New objects after which garbage is looked for. Modules and models are never garbage; with
Python's 700, looking through them takes a tenth of the time of a short command.
"""


def start() -> None:
    """Run the command line; an interrupt while it is being loaded is one like any other."""
    gc.set_threshold(_GARBAGE_THRESHOLD)
    try:
        from venturi.cli.main import main

        main()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)


if __name__ == "__main__":
    start()
