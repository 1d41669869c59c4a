"""The command, as `python -m iogate.cli`."""

import sys

from iogate.cli import main

sys.exit(main())
