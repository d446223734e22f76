"""`python -m streamtable`."""

from streamtable.cli.main import main

if __name__ == "__main__":
    main()
