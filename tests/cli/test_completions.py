"""The completions and the manual page say what --help says, and shells
understand them."""

import re
import shutil
import subprocess

import pytest

OPTION = re.compile(r"^  (-[^ ]+)", re.M)
SHELLS = ("bash", "fish", "zsh")


def helps(parlance):
    """{command: its --help}; "" is the program."""
    program = parlance("--help")[0]
    listed = program.split("Subcommands:\n")[1].split("\n\n")[0]
    names = re.findall(r"^  (\w+)", listed, re.M)
    assert len(names) > 10
    return {"": program} | {n: parlance(n, "--help")[0] for n in names}


def options(text):
    """The names of each option in a --help."""
    return [group.split(",") for group in OPTION.findall(text)]


def part(text, begin, end):
    """What stands between a line `begin` and the next line that is `end`."""
    found = re.search(
        rf"^{begin}$(.*?)(?:^(?:{end})|\Z)", text, re.M | re.S
    )
    assert found, begin
    return found.group(1)


def test_the_manual_has_every_option_and_no_other(parlance):
    manual = parlance("manual")[0].replace(r"\-", "-")
    for command, text in helps(parlance).items():
        heading = rf"\.SS {command}" if command else r"\.SH OPTIONS"
        section = part(manual, heading, r"\.S[SH] ")
        entries = re.findall(r"^\.TP\n(.*)$", section, re.M)
        written = [re.findall(r"\\fB(-.*?)\\fR", line) for line in entries]
        assert [names for names in written if names] == options(text), command


def test_bash_has_every_option_and_no_other(parlance):
    script = parlance("completions", "bash")[0]
    for command, text in helps(parlance).items():
        branch = part(script, f" +'{command}'\\)", "    '|  esac")
        words = re.search(r"-\*\) words='(.*)' ;;", branch).group(1)
        assert words.split() == sum(options(text), []), command


def test_zsh_has_every_option_and_no_other(parlance):
    script = parlance("completions", "zsh")[0]
    for command, text in helps(parlance).items():
        begin = f" +{command}\\)" if command else "_parlance\\(\\) {"
        branch = re.search(
            rf"^{begin}$(.*?)(?: ;;$|^  case)", script, re.M | re.S
        ).group(1)
        written = []
        for line in branch.splitlines():
            # '(-f --format)'{-f+,--format=}'[…]:…' or '(--tag)--tag=[…]:…'
            several = re.match(r" +'[^']*'{(-[^}]*)}", line)
            one = re.match(r" +'(?:\*|\([^)]*\))(-[^\[]+)\[", line)
            if several or one:
                names = (several or one).group(1).split(",")
                written.append([name.rstrip("=+") for name in names])
        assert written == options(text), command


def test_fish_has_every_option_and_no_other(parlance):
    lines = parlance("completions", "fish")[0].splitlines()
    for command, text in helps(parlance).items():
        condition = (
            f"'__fish_seen_subcommand_from {command}'"
            if command
            else "'__fish_use_subcommand'"
        )
        written = []
        for line in lines:
            before, found, rest = line.partition(f"-n {condition} ")
            if found and rest.startswith(("-s ", "-l ")):
                rest = re.split(r" -[rxfad] ", rest + " -d ")[0]
                names = re.findall(r"-([sl]) (\S+)", rest)
                written.append(
                    ["-" * (1 + (kind == "l")) + name for kind, name in names]
                )
        assert written == options(text), command


def test_formats_and_words_are_offered(parlance):
    listed = parlance("formats")[0]
    for shell in SHELLS:
        script = parlance("completions", shell)[0]
        for name in ("qwen3_coder", "mistral_v11", "always", "2020-12"):
            assert re.search(rf"[ '(]{name}[ ')]", script), (shell, name)
    assert "qwen3_coder" in listed


def complete_in_bash(script, *words):
    program = script + (
        'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _parlance\n'
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    result = subprocess.run(
        ["bash", "--norc", "-c", program, "bash", "parlance", *words],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert result.stderr == ""
    return result.stdout.split()


def test_bash_completes(parlance):
    script = parlance("completions", "bash")[0]
    assert complete_in_bash(script, "par") == ["parse"]
    assert complete_in_bash(script, "--v") == ["--version"]
    assert "--format" in complete_in_bash(script, "parse", "--f")
    assert complete_in_bash(script, "parse", "--color", "n") == ["never"]
    assert complete_in_bash(script, "parse", "--color", "=", "n") == ["never"]
    assert complete_in_bash(script, "parse", "--color", "=") == [
        "always", "auto", "never",
    ]
    assert "qwen3_coder" in complete_in_bash(script, "parse", "-f", "qwen3_")
    assert "qwen3_coder" in complete_in_bash(script, "formats", "qwen3_")
    # A file is left to Bash.
    assert complete_in_bash(script, "parse", "--tools", "x") == []
    assert complete_in_bash(script, "parse", "answ") == []


def test_fish_completes(parlance, tmp_path):
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    script = parlance("completions", "fish")[0]

    def complete(line):
        result = subprocess.run(
            ["fish", "--no-config", "-c", f"{script}\ncomplete -C '{line}'"],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
            cwd=tmp_path,
            env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        )
        return [row.split("\t")[0] for row in result.stdout.splitlines()]

    assert complete("parlance par") == ["parse"]
    assert complete("parlance parse --color n") == ["never"]
    assert "qwen3_coder" in complete("parlance parse -f qwen3_")
    assert "qwen3_coder" in complete("parlance formats qwen3_")
    assert "--tools" in complete("parlance tag --to")


ZSH = r"""
zmodload zsh/zpty
zpty -b shell zsh -f -i
zpty -w shell "PS1= PROMPT= RPS1= LISTMAX=0; stty cols 200; cd $1"
zpty -w shell "fpath=($1 \$fpath); autoload -Uz compinit; compinit -D -u"
zpty -w shell "zstyle ':completion:*' insert-tab false; print -r ready''ready"
zpty -r shell text '*readyready*'
zpty -n -w shell "$2"$'\t'
zpty -n -w shell $'\C-e\C-q\C-aprint -r -- begin\\;\C-e \\;end\n'
zpty -r shell text '*;end*' && zpty -r shell text '*;end*'
print -r -- "$text"
"""


def test_zsh_completes(parlance, tmp_path):
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed")
    (tmp_path / "_parlance").write_text(parlance("completions", "zsh")[0])

    def complete(line):
        result = subprocess.run(
            ["zsh", "-f", "-c", ZSH, "zsh", str(tmp_path), line],
            capture_output=True,
            text=True,
            timeout=60,
        )
        return result.stdout

    assert "parlance parse" in complete("parlance pars")
    assert "--color=never" in complete("parlance parse --color=n")
    assert "--tokenizer-config" in complete("parlance parse --toke")


def test_groff_reads_the_manual_without_a_warning(parlance):
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    result = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-Wbreak"],
        input=parlance("manual", binary=True)[0],
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert result.stderr == b""
    assert b"parlance parse --format qwen3 response.txt" in result.stdout


def test_an_unknown_shell(parlance):
    error = parlance("completions", "tcsh", status=2)[1]
    assert "tcsh" in error and "zsh" in error
