"""XGrammar's own structural tags of requests: JSON in, JSON out.

    python xgrammar_shapes.py

Reads a list of keyword arguments of get_model_structural_tag, and writes for
each the tag as a dict, or null where XGrammar raises an error.
"""

import json
import sys

import xgrammar_alone

xgrammar = xgrammar_alone.load()


def tag_of(arguments):
    try:
        tag = xgrammar.get_model_structural_tag(**arguments)
    # ValidationError is a ValueError; shapes assert that they have a tool.
    except (ValueError, AssertionError):
        return None
    return json.loads(tag.model_dump_json())


json.dump([tag_of(arguments) for arguments in json.load(sys.stdin)], sys.stdout)
