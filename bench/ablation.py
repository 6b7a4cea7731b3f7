"""What each shortcut of masks is worth: it off against all on.

    ablation.py --programs build/bench/bench --vocab V --tokens T
                --data ../shared/maskbench [--only NAME,...] [--rounds N] [--all]

The programs are those of a build with -DPARLANCE_ABLATION=ON
(src/recognition/mask/ablation.h). In each round every shortcut is turned off
once, beside a run with all on; a figure is the least of the rounds. Columns are
times as multiples of those with all on: of MaskBench's sample (--all: of all
schemas) the mask and accept of a token, and compile with first mask; of
bench/grammars and of tags the first masks, and the masks of a first text. Says
so if the masks of MaskBench are not the same.
"""

import argparse
import math
import os
import re
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAMES = re.compile(r"kShortcutNames = \{(.*?)\}", re.DOTALL)


def shortcuts():
    header = HERE.parent / "src/recognition/mask/ablation.h"
    return re.findall(r'"(\w+)"', NAMES.search(header.read_text()).group(1))


def run(command, off):
    environment = {**os.environ, "PARLANCE_OFF": off}
    return subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True
    ).stdout


def mask_figures(out):
    """Microseconds by column, and the hash of the masks."""
    figures = {}
    for name, row in [("TBM", "mask"), ("compile + first mask", "first")]:
        line = next(x for x in out.splitlines() if x.startswith(name + " "))
        values = [float(x) for x in line[len(name) :].split()]
        columns = ["mean", *"p25 p50 p75 p90 p95 p99 p99.9 max".split()]
        figures |= {f"{row} {c}": v for c, v in zip(columns, values)}
    return figures, re.search(r"hash of all masks: (\w+)", out).group(1)


def grammar_figures(out):
    """Milliseconds or microseconds, by what they measure and where."""
    figures, title = {}, ""
    for line in out.splitlines():
        words = line.split()
        if found := re.match(r"(.*): compile and first mask ([\d.]+) ms", line):
            title = found.group(1)
            figures["first", title] = float(found.group(2))
        elif found := re.match(r"(\w.* tools), tag of", line):
            title = found.group(1)
        elif line.startswith("  from nothing"):
            figures["first", title + ", first"] = float(words[2])
            figures["first", title + ", in call"] = float(words[3])
        elif " 1st " in line:
            kind = line[: line.index(" 1st ")].strip()
            mean, p99 = line.split(" 1st ")[1].split()[0:4:3]
            figures["mean", f"{title}, {kind}"] = float(mean)
            figures["p99", f"{title}, {kind}"] = float(p99)
    return figures


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def least(known, new):
    for key, value in new.items():
        known[key] = min(value, known.get(key, value))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", required=True, type=Path)
    parser.add_argument("--vocab", required=True)
    parser.add_argument("--tokens", required=True)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()

    masks = [options.programs / "maskbench", options.data, "--cpu-time"]
    masks += ["--vocab", options.vocab, "--tokens", options.tokens]
    if not options.all:
        masks += ["--sample", options.data / "sample300.txt"]
    grammars = [options.programs / "grammarbench", "--cpu-time", "--rounds", "3"]
    grammars += ["--vocab", options.vocab, "--data", HERE / "grammars"]
    grammars += ["--schemas", options.data]

    names = ["", *(options.only.split(",") if options.only else shortcuts())]
    figures = {name: {} for name in names}
    hashes = {}
    for _ in range(options.rounds):
        for name in names:
            found, hashes[name] = mask_figures(run(masks, name))
            least(figures[name], found)
            least(figures[name], grammar_figures(run(grammars, name)))

    base = figures[""]
    columns = ["mask mean", "mask p99", "mask p99.9", "mask max", "first mean"]
    print("| off | " + " | ".join(columns) + " | first masks of grammars")
    print("| all on, µs | " + " | ".join(f"{base[c]:.1f}" for c in columns))
    for name in names[1:]:
        ratios = {key: figures[name][key] / base[key] for key in base}
        cells = [f"{ratios[c]:.2f}" for c in columns]
        for what in ["first", "mean", "p99"]:
            there = {k[1]: r for k, r in ratios.items() if k[0] == what}
            worst = max(there, key=there.get)
            mean = geometric_mean(list(there.values()))
            cells.append(f"{mean:.2f}, {there[worst]:.2f} ({worst})")
        same = "" if hashes[name] == hashes[""] else "  MASKS DIFFER"
        print(f"| `{name}` | " + " | ".join(cells) + same, flush=True)


if __name__ == "__main__":
    main()
