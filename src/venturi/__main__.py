"""`python -m venturi`."""

from venturi.cli.main import main

if __name__ == "__main__":
    main()
