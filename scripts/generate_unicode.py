#!/usr/bin/env python3
"""Writes src/foundation/regex/unicode_tables.cc from the `regex` module.

The module whose patterns we reproduce is asked about every code point, so the
tables agree with it by construction, whatever Unicode version it carries.

    python scripts/generate_unicode.py > src/foundation/regex/unicode_tables.cc

Needs the packages `regex`, and a Python whose unicodedata is not newer than
what the oldest supported PCRE2 knows (10.40: Unicode 14): the table of newer
characters is the difference between the two.
"""

import sys
import unicodedata

import regex
from regex import _regex, _regex_core

LAST = 0x10FFFF
EVERY = "".join(map(chr, range(LAST + 1)))
PCRE2_UNICODE = "14.0.0"

CATEGORIES = (
    "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po "
    "Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn"
).split()

# Binary properties worth their bytes.  The others are refused by name.
BINARY = (
    "ALPHABETIC ALPHANUMERIC ANY ASCIIHEXDIGIT BLANK CASED CASEIGNORABLE DASH "
    "DEFAULTIGNORABLECODEPOINT DIACRITIC EMOJI EMOJICOMPONENT EMOJIMODIFIER "
    "EMOJIMODIFIERBASE EMOJIPRESENTATION EXTENDEDPICTOGRAPHIC EXTENDER GRAPH "
    "HEXDIGIT HORIZSPACE IDCONTINUE IDSTART IDEOGRAPHIC JOINCONTROL LOWERCASE "
    "MATH NONCHARACTERCODEPOINT PATTERNSYNTAX PATTERNWHITESPACE POSIXALNUM "
    "POSIXDIGIT POSIXPUNCT POSIXXDIGIT PRINT QUOTATIONMARK RADICAL "
    "REGIONALINDICATOR SENTENCETERMINAL SOFTDOTTED TERMINALPUNCTUATION "
    "UNIFIEDIDEOGRAPH UPPERCASE VARIATIONSELECTOR VERTSPACE WHITESPACE WORD "
    "XDIGIT XIDCONTINUE XIDSTART"
).split()


def ranges_of(prop):
    """The ranges of \\p{prop}, inclusive."""
    found = regex.compile(r"\p{%s}+" % prop, regex.V0).finditer(EVERY)
    return [(m.start(), m.end() - 1) for m in found]


def by_code_point(ranges_by_value):
    """Runs (first code point, value) that cover every code point."""
    starts = []
    for value, ranges in ranges_by_value.items():
        starts += [(first, last, value) for first, last in ranges]
    starts.sort()
    expected, runs = 0, []
    for first, last, value in starts:
        assert first == expected, (first, expected)
        runs.append((first, value))
        expected = last + 1
    assert expected == LAST + 1
    return runs


def value_names(prop):
    """Groups the names of a property's values: value id -> names."""
    groups = {}
    for name, value in _regex_core.PROPERTIES[prop][1].items():
        groups.setdefault(value, []).append(name)
    return groups


def emit(kind, name, items):
    print(f"const {kind} {name}[] = {{")
    line = "   "
    for item in items:
        if len(line) + len(item) + 2 > 80:
            print(line)
            line = "   "
        line += " " + item + ","
    print(line)
    print("};")
    print(f"const std::size_t {name}Size = {len(items)};")
    print()


def main():
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    assert unicodedata.unidata_version == PCRE2_UNICODE, (
        "run with a Python whose unicodedata is " + PCRE2_UNICODE
    )
    version = unicode_version()

    # General categories.
    category = {
        i: ranges_of("GC=" + name) for i, name in enumerate(CATEGORIES)
    }
    category_runs = by_code_point(category)
    sample = {i: chr(r[0][0]) for i, r in category.items()}
    category_names = {}
    for name in _regex_core.PROPERTIES["GC"][1]:
        member = regex.compile(r"\p{GC=%s}" % name, regex.V0)
        category_names[name] = sum(
            1 << i for i, c in sample.items() if member.match(c)
        )
    # "Assigned" has no entry of its own in the module.
    category_names["ASSIGNED"] = category_names["UNASSIGNED"] ^ (
        (1 << len(CATEGORIES)) - 1
    )

    # Scripts and blocks.
    script_groups = list(value_names("SCRIPT").values())
    script = {
        i: ranges_of("SCRIPT=" + names[0])
        for i, names in enumerate(script_groups)
    }
    assert len(script_groups) < 256
    script_runs = by_code_point(script)
    block_groups = [  # what is in no block is not one range
        names for names in value_names("BLOCK").values()
        if "NOBLOCK" not in names
    ]
    block = {
        i: ranges_of("BLOCK=" + names[0]) for i, names in enumerate(block_groups)
    }
    assert all(len(b) == 1 for b in block.values())

    # Binary properties, one after the other in one array.
    binary_ranges, binary_index = [], []
    for name in BINARY:
        ranges = ranges_of(name)
        binary_index.append((len(binary_ranges), len(ranges)))
        binary_ranges += ranges
    aliases = {}
    for name, (number, values) in _regex_core.PROPERTIES.items():
        if "YES" in values:
            aliases.setdefault(number, []).append(name)
    binary_names = {}
    for i, name in enumerate(BINARY):
        for alias in aliases[_regex_core.PROPERTIES[name][0]]:
            binary_names[alias] = i
    known = set(binary_names) | {
        "GC", "GENERALCATEGORY", "SC", "SCRIPT", "BLK", "BLOCK"
    }
    refused = sorted(set(_regex_core.PROPERTIES) - known)

    # Characters that IGNORECASE makes equal, as pairs in both directions.
    flags = regex.IGNORECASE | regex.UNICODE
    pairs = []
    for c in range(LAST + 1):
        for other in _regex.get_all_cases(flags, c):
            if other != c:
                pairs.append((c, other))

    # Characters that PCRE2's own tables may not know.
    assigned = {
        c for i, ranges in category.items() if CATEGORIES[i] != "Cn"
        for first, last in ranges for c in range(first, last + 1)
    }
    newer = []
    for c in range(LAST + 1):
        if c in assigned and unicodedata.category(chr(c)) == "Cn":
            if newer and newer[-1][1] == c - 1:
                newer[-1][1] = c
            else:
                newer.append([c, c])

    print(
        "// Generated by scripts/generate_unicode.py from Unicode "
        f"{version} as in regex {regex.__version__}."
    )
    print("//")
    print("// Do not edit.  unicode_tables.h says what each table means.")
    print()
    print('#include "regex/unicode_tables.h"')
    print()
    print("namespace parlance::regex::tables {")
    print()
    print("// clang-format off")
    print()
    emit("Run", "kCategoryRuns", [f"{{{f:#x},{v}}}" for f, v in category_runs])
    emit("Run", "kScriptRuns", [f"{{{f:#x},{v}}}" for f, v in script_runs])
    emit("CharRange", "kBlocks",
         [f"{{{f:#x},{t:#x}}}" for [(f, t)] in block.values()])
    emit("CharRange", "kBinaryRanges",
         [f"{{{f:#x},{t:#x}}}" for f, t in binary_ranges])
    emit("Slice", "kBinaryProperties", [f"{{{o},{n}}}" for o, n in binary_index])
    emit("CasePair", "kCasePairs", [f"{{{c:#x},{o:#x}}}" for c, o in pairs])
    emit("CharRange", "kNewer", [f"{{{f:#x},{t:#x}}}" for f, t in newer])
    emit("NamedValue", "kCategoryNames",
         [f'{{"{n}",{v:#x}}}' for n, v in sorted(category_names.items())])
    emit("NamedValue", "kScriptNames",
         [f'{{"{n}",{i}}}' for n, i in sorted(
             (n, i) for i, g in enumerate(script_groups) for n in g)])
    emit("NamedValue", "kBlockNames",
         [f'{{"{n}",{i}}}' for n, i in sorted(
             (n, i) for i, g in enumerate(block_groups) for n in g)])
    emit("NamedValue", "kBinaryNames",
         [f'{{"{n}",{i}}}' for n, i in sorted(binary_names.items())])
    emit("char* const", "kRefusedProperties", [f'"{n}"' for n in refused])
    print("// clang-format on")
    print()
    print("}  // namespace parlance::regex::tables")


def unicode_version():
    """Told by a character that each version added."""
    added = [("17.0.0", 0x323B0), ("16.0.0", 0x105C0), ("15.1.0", 0x2EBF0),
             ("15.0.0", 0x31350), ("14.0.0", 0x2C5F)]
    assigned = regex.compile(r"\P{Cn}", regex.V0)
    for version, c in added:
        if assigned.match(chr(c)):
            return version
    return "older than 14"


if __name__ == "__main__":
    main()
