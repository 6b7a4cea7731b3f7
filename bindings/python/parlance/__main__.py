"""``python -m parlance``: what the command ``parlance`` leaves to Python."""

import sys

from ._parquet import main

sys.exit(main())
