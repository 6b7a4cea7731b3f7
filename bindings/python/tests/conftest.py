import pathlib
import sys

# The tests' own modules, whatever way pytest imports them.
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "tests" / "support")]
