"""The documentation site, which scripts/site builds with Sphinx.

The root of the sources is the root of the repository, so that a link in a page
means the same here as in the repository.  docs/index.md is the table of
contents: its lists become the navigation, and a page that is in no list is an
error, like a link that leads nowhere.
"""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]

project = "Parlance"
author = "The Parlance authors"
version = release = ".".join(
    re.findall(
        r"#define PARLANCE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)",
        (ROOT / "include" / "parlance" / "version.h").read_text(),
    )
)

extensions = ["myst_parser", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
root_doc = "docs/index"
include_patterns = [
    "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**.md",
    "formats/*.md",
]
exclude_patterns = [".*", "build*", "dist", "docs/demo", "docs/examples", "shared"]

# Links to headings have the anchors that code hosts give them.
myst_heading_anchors = 4
# A command with its output; a page of examples in several languages.
suppress_warnings = ["misc.highlighting_failure"]
copybutton_prompt_text = "$ "

html_theme = "furo"
html_title = f"Parlance {version}"
html_copy_source = False
html_show_sphinx = False
templates_path = []

# What has pages, beside the files of the root.
SOURCES = ("docs", "formats")
LINK = re.compile(r"(!?\[[^\]]*\])\(([^()\s]+)\)")


def contents():
    """docs/index.md as toctrees: a caption for each heading above a list."""
    text = (ROOT / "docs" / "index.md").read_text()
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        caption, _, body = section.partition("\n")
        lines = ["```{toctree}", ":hidden:", f":caption: {caption}", ""]
        items = "\n".join(re.findall(r"^\* .*", body, re.M))
        for title, target in re.findall(r"\[([^\]]+)\]\(([^()\s]+)\.md\)", items):
            place = (ROOT / "docs" / target).resolve().relative_to(ROOT)
            lines.append(f"{title[0].upper()}{title[1:]} </{place}>")
        yield "\n".join([*lines, "```"])


def formats():
    """The pages of the families, below the page that lists them."""
    names = sorted(path.stem for path in (ROOT / "formats").glob("*.md"))
    lines = [f"/formats/{name}" for name in names]
    return "\n".join(["```{toctree}", ":hidden:", "", *lines, "```"])


def without_folders(name, text):
    """A link to what a code host shows and the site has no page for, a folder or a
    page elsewhere, becomes its text."""
    folder = (ROOT / name).parent

    def is_elsewhere(path):
        parts = path.resolve().relative_to(ROOT).parts
        return path.suffix == ".md" and len(parts) > 1 and parts[0] not in SOURCES

    def replaced(link):
        target = link.group(2).partition("#")[0]
        if "://" in target or not target:
            return link.group(0)
        if (folder / target).is_dir() or is_elsewhere(folder / target):
            return link.group(1)[1:-1]
        return link.group(0)

    return LINK.sub(replaced, text)


def read(app, name, source):
    text = without_folders(name, source[0])
    if name == root_doc:
        text += "\n\n" + "\n\n".join(contents())
    elif name == "docs/reference/formats":
        text += "\n\n" + formats()
    source[0] = text


def setup(app):
    app.connect("source-read", read)
    return {"parallel_read_safe": True}
