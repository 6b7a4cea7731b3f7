"""The words by which XGrammar's users recognise an error.

Programs look for such words in the text of an exception.  An exception of this
module has the text of the ``parlance.Error`` and, where XGrammar has its own
words for the same error, these in brackets after it.
"""

from __future__ import annotations

import re

# The names of the parts of structural tags.
_PARTS = {
    "const_string": "ConstString",
    "json_schema": "JSON schema",
    "or": "Or",
    "repeat": "Repeat",
    "sequence": "Sequence",
    "tag": "Tag",
    "tags_with_separator": "Tags with separator",
    "triggered_tags": "Triggered tags",
}

# What a field of a part must be, where the part "must have" it.
_FIELDS = {
    ("const_string", "value"): "a value field with a string",
    ("json_schema", "json_schema"): (
        "a json_schema field with a object or boolean value"
    ),
    ("or", "elements"): "an elements field with an array",
    ("sequence", "elements"): "an elements field with an array",
    ("tag", "content"): "a content field",
    ("tags_with_separator", "tags"): "a tags field with an array",
    ("triggered_tags", "tags"): "a tags field with an array",
    ("triggered_tags", "triggers"): "a triggers field with an array",
}

_STYLES = (
    'style must be "json", "qwen_xml", "minimax_xml", "minimax_m3_xml", '
    '"deepseek_xml", "glm_xml", "cohere_xml", "kimi_k3_xml", or '
    '"deepseek_v4_1_xml"'
)

# From patterns of Parlance's messages, which begin the message, to XGrammar's
# words; the first that matches counts.
_TAGS = [
    (r"(\w+): '(\w+)' must be true or false", r"\2 must be a boolean"),
    (r"json_schema: 'style' ", _STYLES),
    (r"format: 'type' is missing", "Invalid format"),
    (r"format: 'type' must be a string", "Format's type must be a string"),
    (r"format: unknown type '(.*?)'", r"Format type not recognized: \1"),
    (r"format: must be an object", "Format must be an object"),
    (r"structural tag: 'type'", 'Structural tag\'s type must be a string "structural_tag"'),
    (r"structural tag: 'format' is missing", "Structural tag must have a format field"),
    (r"structural tag: must be an object", "Structural tag must be an object"),
    (r"tag: 'begin' ", "Tag format's begin field must be a string"),
    (r"tag: 'end' is missing", "Tag format must have an end field"),
    (r"tag: 'end' must have at least one", "Tag format's end array must not be empty"),
    (r"tag: 'end' ", "Tag format's end field must be a string or array of strings"),
    (
        r"tags_with_separator: 'separator' ",
        "Tags with separator format's separator field must be a string",
    ),
    (
        r"triggered_tags: 'triggers' must hold",
        "Triggered tags format's triggers must be non-empty strings",
    ),
    (r"repeat: 'min' must be at least 0", "Repeat min must be >= 0"),
    (r"repeat: 'max' must not be less", "Repeat min must be <= max"),
    (r"repeat: 'max' must be at least", "Repeat max must be -1 (unbounded) or >= 0"),
]

_SCHEMAS = [
    (r'"multipleOf" must be a number', "Value must be a number"),
    (r'"multipleOf" must be greater than zero', "multipleOf must be greater than 0"),
    (r'"(prefixItems|required)" must be a list', r"\1 must be an array"),
    (
        r'"prefixItems" must be a schema',
        "prefixItems must be an array of objects or booleans",
    ),
    (r'"(items|unevaluatedItems)" must be a schema', r"\1 must be a boolean or an object"),
    (r'"(\w+)" must be a whole number', r"\1 must be an integer"),
    (r'"(\w+)" must not be negative', r"\1 must be a non-negative integer"),
    (r'"(\w+)" must be an object', r"\1 must be an object"),
]

_PATTERNS = [
    (r"Look-ahead", "Lookahead assertion"),
    (r"Look-behind", "Lookbehind assertion"),
    (r"Word boundaries", "Word boundary assertion"),
    (r"Back-references", "Backreference"),
    (r"An empty class", "Empty character class"),
    (r"Unicode properties", "Unicode property escape"),
    (r"This escape needs 4", r"\\\\u must be followed by four hexadecimal digits"),
    (r"This escape needs 2", r"\\\\x must be followed by two hexadecimal digits"),
    (r'"\\u\{" must be followed', "the code point is beyond the Unicode range"),
    (r"There is nothing here to repeat", "nothing to repeat"),
    (
        r'This "[(\[]" is never closed; add a "[)\]]"',
        "failed to compile regular expression",
    ),
]

_LARK = [
    # Statements and names.
    (r"There is no rule \"start\" to begin with", "no start rule"),
    (r'"(\w+)" is defined twice', r"duplicate rule or terminal '\1'"),
    (r'"(\w+)" is not defined', r"unknown name '\1'"),
    (r'There is no grammar "@(\w+)"', r"unknown named grammar '@\1'"),
    (r'The grammar ends here; "@"', "empty grammar reference"),
    (r'The library "common" has no', "unknown common import"),
    (r'"(%\w+)" is not supported; statements', r"directive \1 is not supported"),
    (r"Priorities are not supported", "priorities are not supported"),
    (r"Templates are not supported", "Lark templates are not supported"),
    (r'Found "\{"; a name is followed by ":"', "Lark templates are not supported"),
    (r'Found .*; a name is followed by ":"', "expected ':' after rule name"),
    (r".*; an alias is a name", "expected alias name after '->'"),
    (r'There is no grammar option "(\w+)"', r"unknown %grammar_options option '\1'"),
    (
        r'"(\w+)" cannot be switched on here',
        r"%grammar_options option '\1' is not supported",
    ),
    (r'"(\w+)" must be true or false', r"\1 must be a boolean"),
    # Terminals.
    (r'Terminal "\w+" uses itself', "circular reference in terminal"),
    (r"A terminal cannot hold a rule", "terminal cannot reference rule"),
    (r"A terminal cannot hold a token", "special tokens cannot be used in terminals"),
    (r"A terminal cannot hold %json", "%json cannot be used in terminals"),
    (r"A terminal cannot hold %lark", "nested %lark cannot be used in terminals"),
    (r"A terminal takes no options", "attributes are only supported on rules"),
    # Texts, patterns and ranges.
    (r"This string is not closed on its line", "unterminated string literal"),
    (r"This is not a string as JSON", "invalid string literal"),
    (r"This pattern is not closed", "unterminated regular expression"),
    (r'The flag "([a-z])" is not sup', r"regular-expression flag '\1' is not supported"),
    (
        r'The flag "i" is for ASCII',
        "case-insensitive string literals currently support ASCII characters only",
    ),
    (
        r"The ends of a range are one",
        "range endpoints must be one character; "
        "flags are not allowed on character ranges",
    ),
    (r"This range runs backwards", "range start must not exceed end"),
    # Groups and counts.
    (
        r"This group is never closed",
        "expected ')' after group or expected ']' after optional group",
    ),
    (r"Expected a number from 0 to 2147483647", "invalid repetition count"),
    (r"The least count is greater", "repetition end must be greater than its start"),
    (r'Found "&"; expected "text"', "intersection '&' is not supported"),
    (r'Found ":"; expected "text"', "parametric grammar is not supported"),
    (r'Found "([-!])"; expected "text"', r"unexpected '\1' character"),
    (r'Found "(.)"; expected "text"', r"unexpected character '\1'"),
    # Tokens.
    (r"This token is not closed", "unterminated special token"),
    (r"A token by its name needs", "invalid special token: it requires tokenizer_info"),
    (r'No token of the vocabulary is spelled "(.*?)"', r"unknown special token \1"),
    (
        r"<\[\*\]> needs a vocabulary",
        "a wildcard special token requires tokenizer_info",
    ),
    (r'Found ","; <\[\*\]> is any token', "a wildcard cannot be mixed"),
    (r'Found ".*"; tokens are listed', "invalid numeric special-token range"),
    (r"This range of tokens runs", "invalid numeric special-token range"),
    (r"Expected a number from 0 to 4294967294", "empty numeric special-token range"),
    # Options of rules.
    (r'There is no option "(\w+)"', r"attribute '\1' is not supported"),
    (r'The option "(\w+)" is given twice', r"\1 attribute is specified more than once"),
    (
        r'"stop" and "suffix" exclude',
        "stop cannot be combined with suffix; suffix cannot be combined with stop",
    ),
    (
        r"A temperature is a finite number",
        "temperature must be a finite non-negative number; "
        "expected number after temperature=",
    ),
    (r'"stop_capture" captures a', "stop_capture requires stop or suffix"),
    (
        r"The name of a capture",
        "capture name must not be empty; "
        "capture name must only contain letters, digits and '_'",
    ),
    (
        r"What ends a rule may not be empty",
        "suffix must not be empty; stop must not be empty",
    ),
    (
        r'Found ".*"; "text", /pattern/ or a terminal',
        "suffix terminal name must be uppercase; "
        "stop terminal name must be uppercase",
    ),
    (
        r'Found ".*"; a name in quotes belongs',
        "expected string literal after stop_capture=",
    ),
    (r"Expected a number from 1 to", "max_tokens must be positive"),
    (r"Rule \"\w+\" cannot be lazy: it uses rule", "terminal cannot reference rule"),
    (r"The body of a rule with a suffix", "terminal cannot reference rule"),
    (r"A lazy rule cannot hold any other", "lazy special-token trigger cannot be negated"),
    (r"Triggers that are text and", "cannot mix string and token triggers"),
    (
        r"A rule that begins with a trigger",
        "max_tokens is not supported on rules consumed by dynamic dispatch; "
        "capture is not supported on rules consumed by dynamic dispatch",
    ),
    # Values after %json, %lark and %regex.
    (r'"%if" is no item', "parametric %if conditions are not supported"),
    (r"This JSON object is not closed", "failed to parse JSON value after %json"),
    (
        r"Found .*; a JSON object belongs here",
        "failed to compile inline JSON schema; %regex value must be an object; "
        "%grammar_options value must be an object",
    ),
    (
        r"Write %regex ",
        "no fields set on %regex, or only one field can be set on %regex; "
        "substring_chars must be a string; "
        "substring_chunks must be an array of strings",
    ),
    (r"%regex knows ", "unknown field in %regex"),
]

_ALL = [
    (re.compile(pattern), words)
    for table in (_TAGS, _SCHEMAS, _PATTERNS, _LARK)
    for pattern, words in table
]

_MISSING = re.compile(r"(\w+): '(\w+)' (?:is missing|must be )")
_EMPTY = re.compile(r"(\w+): '(\w+)' must have at least one")


def text_of(error):
    """The text of the exception for a ``parlance.Error``, a ``str``."""
    text = str(error)
    words = _words(text)
    return text if words is None else f"{text} [{words}]"


def lark_text_of(error):
    """The text of the exception for an error in a Lark text: where it is, what it
    is, the line, and a caret below the place."""
    line, column = error.line, error.column
    if line is None:
        return f"Lark error: {text_of(error)}"
    words = _words(error.message)
    words = "" if words is None else f" [{words}]"
    shown = re.split(r"\r\n|[\r\n]", error.source)
    shown = shown[line - 1] if line <= len(shown) else ""
    return (
        f"Lark error at line {line}, column {column}: {error.message}{words}\n"
        f"{shown}\n{' ' * (column - 1)}^"
    )


def _words(text):
    for pattern, words in _ALL:
        found = pattern.match(text)
        if found:
            return found.expand(words)
    found = _EMPTY.match(text)
    if found and found[1] in _PARTS:
        if found[2] == "elements":
            return f"{_PARTS[found[1]]} format must have at least one element"
        return f"{_PARTS[found[1]]} format's {found[2]} must be non-empty"
    found = _MISSING.match(text)
    if found and found.groups() in _FIELDS:
        return f"{_PARTS[found[1]]} format must have {_FIELDS[found.groups()]}"
    return None
