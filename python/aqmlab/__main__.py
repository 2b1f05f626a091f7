"""``python -m aqmlab`` is the command ``aqmlab``."""

from aqmlab.command import main

if __name__ == "__main__":
    main()
