"""The exceptions of the package, which ``parlance`` has as well.

    from parlance.errors import TemplateError

All are subclasses of ``Error``, which is a ``ValueError``.
"""

from ._errors import *  # noqa: F403
from ._errors import __all__ as __all__
