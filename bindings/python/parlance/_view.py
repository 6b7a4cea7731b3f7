"""What became of a response, for people; and what notebooks show."""

from __future__ import annotations

from . import _parlance
from ._arguments import check_vocabulary, is_a, kind, text
from ._constraining import Grammar
from ._errors import Error, UsageError
from ._structural_tags import StructuralTag

_MAX_CHUNK = 2**31

# ---- view


def view_of(
    response,
    spec,
    format_of,
    prefix,
    tools,
    vocabulary,
    markers,
    recover,
    chunk,
    constraint,
    title,
):
    """The content of ``parlance.view``.  ``format_of``: a spec to its format."""
    check_vocabulary(vocabulary)
    if chunk is None:
        chunk = 0
    elif isinstance(chunk, bool) or not isinstance(chunk, int):
        raise TypeError(f"chunk must be an int or None, not {kind(chunk)}")
    elif not 0 < chunk <= _MAX_CHUNK:
        raise UsageError(f"chunk must be a number from 1 to {_MAX_CHUNK}, or None")
    title = "" if title is None else text("title", title)
    has_ids = not is_a(response, str, bytes, bytearray)
    name = ""
    if isinstance(spec, _parlance.Constraint):
        by = spec
    elif isinstance(spec, Grammar):
        by = spec
        if has_ids:
            by = _constraint_of("vocabulary", spec, vocabulary, markers)
    elif isinstance(spec, StructuralTag):
        by = spec._compiled(vocabulary if has_ids else None, markers)
        if constraint is None and has_ids and vocabulary is not None:
            constraint = _constraint_of_tag(spec, vocabulary, markers)
    else:
        by = format_of(spec)
        name = by.name or ""
    if constraint is not None:
        if not has_ids:
            raise UsageError(
                "constraint= needs a response of token ids: a mask allows tokens"
            )
        constraint = _constraint_of("constraint", constraint, vocabulary, markers)
    return _parlance.view(
        by,
        response,
        prefix,
        tools,
        vocabulary,
        markers,
        recover,
        chunk,
        constraint,
        name,
        title,
    )


def _constraint_of(argument, given, vocabulary, markers):
    """A Constraint, a Grammar or a StructuralTag, as a Constraint."""
    if isinstance(given, _parlance.Constraint):
        return given
    if isinstance(given, StructuralTag):
        given = given.grammar(vocabulary)
    if not isinstance(given, Grammar):
        raise TypeError(
            f"{argument} must be a Constraint, a Grammar or a StructuralTag, not "
            + kind(given)
        )
    if vocabulary is None:
        raise UsageError("token ids need vocabulary=, which says what text they are")
    return given.compile(vocabulary, markers=markers)


def _constraint_of_tag(tag, vocabulary, markers):
    """The masks of the tag that a response is read by, if there are any."""
    try:
        return _constraint_of("spec", tag, vocabulary, markers)
    except Error as why:
        if why.code == "missing_stop_ids":
            return None
        raise


# ---- Notebooks

_MAX_SHOWN = 2000
_VIEW_BYTES = 65536  # of a response: a notebook keeps what it has shown


def _escaped(shown):
    """Text or bytes as HTML, with a number for what cannot be seen."""
    import html  # here, so that importing the package stays fast

    if isinstance(shown, bytes):
        shown = shown.decode(errors="backslashreplace")
    cut = "\u2026" if len(shown) > _MAX_SHOWN else ""
    seen = "".join(
        c if c.isprintable() or c == "\n" else f"U+{ord(c):04X}"
        for c in shown[:_MAX_SHOWN]
    )
    return html.escape(seen) + cut


def _table(title, rows):
    """A small table: pairs of a name and a value, or of a name and code."""
    lines = [
        '<table style="border-collapse:collapse;font-size:13px">',
        f'<caption style="caption-side:top;text-align:left"><b>{_escaped(title)}</b>'
        "</caption>",
    ]
    cell = "text-align:left;vertical-align:top;padding:2px 10px"
    for name, value in rows:
        if value in (None, "", b"", []):
            continue
        if isinstance(value, list):
            value = ", ".join(map(str, value))
        lines.append(
            f'<tr><th style="{cell};font-weight:600">{_escaped(name)}</th>'
            f'<td style="{cell};white-space:pre-wrap;overflow-wrap:anywhere">'
            f"{_escaped(value)}</td></tr>"
        )
    return "\n".join([*lines, "</table>"])


def view_html(view):
    """What notebooks show of a View: its page, in a frame of its own."""
    page = view._beginning(_VIEW_BYTES).replace("&", "&amp;").replace("'", "&#39;")
    return (
        '<iframe title="What became of a response" sandbox="allow-scripts" '
        'style="width:100%;height:460px;border:0;resize:vertical" '
        f"srcdoc='{page}'></iframe>"
    )


def format_html(format):
    """What notebooks show of a Format."""
    return _table(
        f"Format {format.name}" if format.name else "Format",
        [
            ("fields", format.fields),
            ("aliases", format.aliases),
            ("variants", format.variants),
            ("models", format.models),
        ],
    )


def tag_html(tag):
    """What notebooks show of a StructuralTag."""
    return _table("Structural tag", [("tag", tag.to_json())])


def grammar_html(grammar):
    """What notebooks show of a Grammar."""
    return _table("Grammar", [("EBNF", grammar.to_ebnf())])


def constraint_html(constraint):
    """What notebooks show of a Constraint."""
    return _table(
        "Constraint",
        [
            ("a mask", f"{constraint.mask_words:,} words of 32 bits"),
            ("automata", f"{constraint.memory_bytes:,} bytes"),
        ],
    )


def matcher_html(matcher):
    """What notebooks show of a Matcher."""
    state = "ended" if matcher.is_terminated() else None
    if state is None and matcher.can_end():
        state = "the text may end here"
    allowed = None
    if not matcher.is_terminated():
        row = memoryview(bytearray(4 * matcher.mask_words)).cast("i")
        matcher.copy().fill_bitmask(row)  # which may leave an error
        count = sum((word & 0xFFFFFFFF).bit_count() for word in row)
        allowed = f"{count:,} token{'' if count == 1 else 's'}"
    return _table(
        "Matcher",
        [
            ("steps", f"{matcher.steps():,}"),
            ("state", state),
            ("allowed next", allowed),
            ("forced", matcher.forced_bytes(200)),
        ],
    )


_parlance.View._repr_html_ = view_html
_parlance.Constraint._repr_html_ = constraint_html
_parlance.Matcher._repr_html_ = matcher_html
Grammar._repr_html_ = grammar_html
StructuralTag._repr_html_ = tag_html
