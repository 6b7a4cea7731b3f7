import pathlib
import sys

# The tests' own modules, whatever way pytest imports them.
sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))
