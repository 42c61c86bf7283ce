"""`venturi` and `python -m venturi`: imports little, so that an early interrupt finds it."""

import sys

_INTERRUPTED = 130


def start() -> None:
    """Run the command line; an interrupt while it is being loaded is one like any other."""
    try:
        from venturi.cli.main import main

        main()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)


if __name__ == "__main__":
    start()
