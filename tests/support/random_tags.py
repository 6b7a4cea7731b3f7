"""Random definitions of grammars, in what XGrammar and Parlance both read.

All are made of a few characters, so that triggers, ends and excluded texts
collide, and so that VOCABULARY, the same for all, gets through them.
"""

import base64
import json
import os

PIECES = ["<a>", "</a>", "<b>", "</b>", "<", "<a", "a", "ab", "x", "|", "\n", "é"]

WORDS = [
    *PIECES, *"bcdek><=/{}[]:,\"\\ \t.-+0123456789eEtfnu", "</", "</a", "aa", "><", "a>",
    '{"', '":', '": ', '",', '"}', '","', '{"a":', '"a"', '"b":', ', "', "}]", "[1",
    "null", "true", "false", "12", "0.", "\\u00", "\\n", '\\"', "<parameter=",
    "</parameter>", "<parameter=a>", "<arg_key>", "</arg_key>", "<arg_value>",
    "</arg_value>", '<parameter name="', '">', "  ", "\n\n",
]  # fmt: skip


def vocabulary():
    """PARLANCE_VOCAB names a .vocab file: the ordinary tokens of a model."""
    path = os.environ.get("PARLANCE_VOCAB")
    if not path:
        words = list(dict.fromkeys(word.encode() for word in WORDS))
        return [*words, b"\xc3", b"\xa9", b"\xff", b"x\xc3", b"<end>"]
    with open(path, encoding="ascii", errors="replace") as file:
        lines = file.read().partition("\ntokens\n")[2].splitlines()
    kinds = [line.partition(" ") for line in lines]
    return [base64.b64decode(data) for kind, _, data in kinds if kind == "T"] + [b"<end>"]


VOCABULARY = vocabulary()
STOP = len(VOCABULARY) - 1


def piece(r):
    return r.choice(PIECES)


def some(r, make, most=3):
    return [make(r) for _ in range(r.randint(1, most))]


# JSON Schemas.

NAMES = ["a", "b", "ab", "x"]
CONSTANTS = ["a", "ab", "", 1, 12, -1, True, None, [], ["a"], {"a": 1}, "é"]


def schema(r, depth=2):
    kinds = ["string", "integer", "number", "boolean", "null", "enum", "const"]
    if depth > 0:
        kinds += ["object"] * 4 + ["array"] * 3 + ["anyOf", "types"]
    kind = r.choice(kinds)
    if kind == "enum":
        return {"enum": r.sample(CONSTANTS, r.randint(1, 3))}
    if kind == "const":
        return {"const": r.choice(CONSTANTS)}
    if kind == "anyOf":
        return {"anyOf": [schema(r, depth - 1) for _ in range(r.randint(1, 3))]}
    if kind == "types":
        return {"type": r.sample(["string", "integer", "null", "boolean"], 2)}
    out = {"type": kind}
    if kind == "string":
        which = r.random()
        if which < 0.2:
            out["minLength"] = r.randint(0, 2)
            out["maxLength"] = out["minLength"] + r.randint(0, 2)
        elif which < 0.35:
            out["pattern"] = "^" + regex(r, 1, "abx1") + "$"
    elif kind in ("integer", "number") and r.random() < 0.4:
        low = r.randint(-12, 12)
        if r.random() < 0.7:
            out[r.choice(["minimum", "exclusiveMinimum"])] = low
        if r.random() < 0.7:
            out["maximum"] = low + r.randint(2, 120)
    elif kind == "object":
        _object(r, out, depth)
    elif kind == "array":
        if r.random() < 0.8:
            out["items"] = schema(r, depth - 1)
        if r.random() < 0.2:
            out["prefixItems"] = [schema(r, depth - 1)]
            out["minItems"] = 1
        if "items" in out and r.random() < 0.3:
            out["minItems"] = r.randint(out.get("minItems", 0), 2)
            out["maxItems"] = out["minItems"] + r.randint(0, 2)
    return out


def _object(r, out, depth):
    names = r.sample(NAMES, r.choice([0, 1, 1, 2, 2, 3]))
    if names:
        out["properties"] = {name: schema(r, depth - 1) for name in names}
        out["required"] = [name for name in names if r.random() < 0.5]
    which = r.random()
    if which < 0.15:
        out["additionalProperties"] = True
    elif which < 0.3:
        out["additionalProperties"] = schema(r, depth - 1)
    elif which < 0.45:
        out["additionalProperties"] = False


def schema_format(r):
    out = {"type": "json_schema", "json_schema": schema(r)}
    which = r.random()
    if which < 0.25:
        out["style"] = r.choice(
            ["qwen_xml", "minimax_xml", "deepseek_xml", "glm_xml", "kimi_k3_xml",
             "cohere_xml"]
        )  # fmt: skip
        inner = {"type": "object"}
        _object(r, inner, 2)
        out["json_schema"] = inner
    if r.random() < 0.15:
        out["any_order"] = True
    if r.random() < 0.2:
        out["max_whitespace_cnt"] = r.randint(1, 2)
    return out


# Regular expressions.


def regex(r, depth=2, letters="abx<|é"):
    kind = r.randrange(12 if depth else 5)
    if kind < 3:
        return r.choice(letters).replace("|", "\\|")
    if kind == 3:
        return r.choice(["[ab]", "[^ab]", "[a-c]", "[^<]", "\\d", "\\w", "[\\dx-]", "."])
    if kind == 4:
        return r.choice(["\\s", "\\W", "[^\\d\\s]", "\\x61", "\\u0062", "\\n", "\\."])
    if kind < 8:
        return "".join(regex(r, depth - 1, letters) for _ in range(r.randint(1, 3)))
    inner = regex(r, depth - 1, letters)
    other = regex(r, depth - 1, letters)
    if kind == 8:
        return f"({inner}|{other})"
    if kind == 9:
        return f"(?:{inner})" + r.choice(["{2}", "{1,2}", "{0,3}", "{2,}", "{0}"])
    return f"({inner})" + r.choice("*+?") + r.choice(["", "", "?"])


# EBNF.


def literal(r):
    return json.dumps(piece(r), ensure_ascii=r.random() < 0.3)


def term(r, rules, depth):
    kind = r.randrange(10 if depth else 6)
    if kind < 3:
        return literal(r)
    if kind == 3:
        return r.choice(["[ab]", "[^ab]", "[a-cx]", "[^<]", "[^]", "[\\u0061-é]", "[0-9]"])
    if kind < 6:
        return r.choice(rules)
    if kind == 6:
        return f"({alternatives(r, rules, depth - 1)})"
    if kind == 7:
        return f'Regex({json.dumps(regex(r, 1), ensure_ascii=False)})'
    inner = term(r, rules, 0)
    return inner + r.choice(["?", "*", "+", "{2}", "{1,2}", "{0,2}", "{2,}"])


def alternatives(r, rules, depth=2):
    ways = []
    for _ in range(r.choice([1, 1, 2, 3])):
        terms = [term(r, rules, depth) for _ in range(r.choice([1, 1, 2, 3]))]
        ways.append(" ".join(terms))
    if r.random() < 0.1:
        ways.append('""')
    return " | ".join(ways)


def ebnf(r):
    rules = ["root", *r.sample(["r", "s"], r.randint(0, 2))]
    lines = []
    for name in rules:
        body = alternatives(r, rules)
        if r.random() < 0.1:
            pairs = ", ".join(f"({literal(r)}, {r.choice(rules)})" for _ in range(2))
            body = f"TagDispatch({pairs}" + r.choice(
                [")", ", loop_after_dispatch=false)", ', excludes=("|", "</b>"))']
            )
        elif r.random() < 0.1:
            body = "Substring(" + ", ".join(literal(r) for _ in range(3)) + ")"
        # So that most rules can end.
        if r.random() < 0.7:
            body += f" | {literal(r)}" if "Dispatch" not in body and "Sub" not in body else ""
        lines.append(f"{name} ::= {body}")
    return "\n".join(lines) + "\n"


# Structural tags.


def token(r):
    return r.randrange(STOP)


def tag(r, depth, begin=None):
    if begin is None:
        begin = r.choice([piece(r), piece(r), "", token(r)])
    if isinstance(begin, int):
        begin = {"type": "token", "token": begin}
    which = r.random()
    if which < 0.75:
        end = piece(r)
    elif which < 0.9:
        end = some(r, piece)
    else:
        end = {"type": "token", "token": token(r)}
    return {"type": "tag", "begin": begin, "content": tag_format(r, depth - 1), "end": end}


def flags(r):
    return {
        key: True for key in ("at_least_one", "stop_after_first") if r.random() < 0.25
    }


def excludes(r, key="excludes", make=piece):
    return {key: some(r, make, 2)} if r.random() < 0.3 else {}


def triggered(r, depth):
    triggers = list(dict.fromkeys(some(r, piece)))
    tags = []
    for trigger in triggers:
        for _ in range(r.choice([1, 1, 2])):
            begin = trigger + r.choice(["", "", piece(r)])
            # Two triggers of one tag are refused.
            if sum(begin.startswith(t) for t in triggers) == 1 or r.random() < 0.05:
                tags.append(tag(r, depth, begin))
    return {
        "type": "triggered_tags", "triggers": triggers, "tags": tags, **flags(r),
        **excludes(r),
    }  # fmt: skip


def token_triggered(r, depth):
    triggers = list(dict.fromkeys(some(r, token)))
    return {
        "type": "token_triggered_tags", "trigger_tokens": triggers,
        "tags": [tag(r, depth, t) for t in triggers], **flags(r),
        **excludes(r, "exclude_tokens", token),
    }  # fmt: skip


def tag_format(r, depth=3):
    leaves = ["const_string", "any_text", "any_text", "regex", "grammar"]
    leaves += ["json_schema"] * 4
    if depth < 3:
        leaves += ["token", "exclude_token", "any_tokens"]
    inner = [
        "sequence", "sequence", "or", "optional", "plus", "star", "repeat", "tag",
        "tag", "tag", "triggered_tags", "triggered_tags", "tags_with_separator",
        "dispatch", "token_triggered_tags", "token_dispatch",
    ]  # fmt: skip
    kind = r.choice(inner if depth == 3 else leaves if depth <= 0 else leaves + inner)
    if kind == "json_schema":
        return schema_format(r)
    if kind == "tag":
        return tag(r, depth)
    if kind == "triggered_tags":
        return triggered(r, depth)
    if kind == "token_triggered_tags":
        return token_triggered(r, depth)

    def content():
        return tag_format(r, depth - 1)

    out = {"type": kind}
    if kind == "const_string":
        out["value"] = r.choice([piece(r), piece(r) + piece(r), ""])
    elif kind == "any_text":
        out |= excludes(r)
        if r.random() < 0.15:
            out["max_chars"] = r.randint(0, 4)
        if r.random() < 0.1:
            out["max_tokens"] = r.randint(0, 3)
    elif kind == "regex":
        out["pattern"] = regex(r)
    elif kind == "grammar":
        out["grammar"] = ebnf(r)
    elif kind == "token":
        out["token"] = token(r)
    elif kind in ("exclude_token", "any_tokens"):
        out |= excludes(r, "exclude_tokens", token)
        if kind == "any_tokens" and r.random() < 0.3:
            out["max_tokens"] = r.randint(0, 3)
    elif kind in ("sequence", "or"):
        out["elements"] = [content() for _ in range(r.randint(1, 3))]
    elif kind in ("optional", "plus", "star", "repeat"):
        out["content"] = content()
        if kind == "repeat":
            out["min"] = r.randint(0, 2)
            out["max"] = r.choice([-1, out["min"], out["min"] + 1, out["min"] + 2])
    elif kind == "tags_with_separator":
        out["tags"] = [tag(r, depth) for _ in range(r.randint(1, 2))]
        out["separator"] = r.choice(["", piece(r)])
        out |= flags(r)
    elif kind in ("dispatch", "token_dispatch"):
        make, key = (piece, "excludes") if kind == "dispatch" else (token, "exclude_tokens")
        out["rules"] = [[make(r), content()] for _ in range(r.randint(1, 2))]
        out |= excludes(r, key, make)
        if r.random() < 0.3:
            out["loop"] = False
    return out


def structural_tag(r):
    return {"type": "structural_tag", "format": tag_format(r)}


def word(r):
    return VOCABULARY[token(r)]


def mutated(r, text):
    """`text` with one small change."""
    i = r.randint(0, len(text))
    j = min(len(text), i + r.randint(0, 3))
    kind = r.randrange(5)
    if kind == 0:
        return text[:i] + text[j:]
    if kind == 1:
        return text[:i] + word(r) + text[i:]
    if kind == 2:
        return text[:i] + word(r) + text[j:]
    if kind == 3:
        return text[:j] + text[i:]
    return text[:i]
