"""The page of `parlance explain --html` in a browser: what it shows, whether
anything overlaps or is cut off, keys, dark mode, hostile text, and how fast a
response of a megabyte opens.  Pictures for people are kept in build/pictures.

    scripts/test pictures
"""

import itertools
import json
import os
import pathlib
import shutil
import sys
import time

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parent))

import samples  # noqa: E402
from browser import Browser, find_browser  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURES = ROOT / "build" / "pictures"
WIDTHS = (360, 768, 1280)
OPENING_SECONDS = 2


@pytest.fixture(scope="module")
def browser():
    if find_browser() is None:
        pytest.skip("no browser: scripts/install browser")
    with Browser() as found:
        yield found


@pytest.fixture(scope="module")
def pages():
    """The path of each page, by name."""
    command = os.environ.get("PARLANCE_CLI") or shutil.which("parlance")
    if command is None:
        pytest.skip("no command: set PARLANCE_CLI, or PATH")
    made = samples.Samples(command, PICTURES / "pages")
    call = made.ids(samples.CALL)
    long = samples.long_response(1 << 20)
    return {
        "call": made.page("call", samples.CALL, "-f", "qwen3"),
        "damaged": made.page("damaged", samples.DAMAGED, "-f", "qwen3"),
        "held": made.page("held", samples.CALL, "-f", "qwen3", "--chunk", "12"),
        "prefix": made.page(
            "prefix", "Hm.</think>Yes.", "-f", "qwen3", "-p", "<think>\n"
        ),
        "hostile": made.page("hostile", samples.HOSTILE, "-f", "qwen3"),
        "tokens": made.page(
            "tokens", call, "-f", "qwen3", "--constraint", made.tag
        ),
        "refused": made.page(
            "refused", [*call[:-9], *made.ids("no")], "--tag", made.tag
        ),
        "tag": made.page("tag", samples.CALL + " and <tool_call>", "--tag", made.tag),
        "grammar": made.page("grammar", "1+2-3", "--regex", r"\d(\+\d)*", status=1),
        "empty": made.page("empty", "", "-f", "qwen3"),
        "long": made.page("long", long, "-f", "qwen3"),
        "long-tokens": made.page(
            "long-tokens", made.ids(long), "-f", "qwen3", "--constraint", made.tag
        ),
        "long-line": made.page("long-line", "x" * (1 << 20), "-f", "qwen3"),
        "many-rows": made.page(
            "many-rows", "<think>a</think>b" * 60_000, "-f", "qwen3"
        ),
    }


SMALL = (
    "call", "damaged", "held", "prefix", "hostile", "tokens", "refused", "tag",
    "grammar", "empty",
)
LONG = ("long", "long-tokens", "long-line", "many-rows")

# What is wrong with the layout, as a list of texts: elements that reach out of
# the window or of their parent, and neighbours that overlap.
LAYOUT = r"""
(() => {
  const found = [];
  const width = document.documentElement.clientWidth;
  const name = (e) => `${e.tagName}.${e.className} "${e.textContent.slice(0, 30)}"`;
  if (document.documentElement.scrollWidth > width) {
    found.push(`the page is ${document.documentElement.scrollWidth} wide`);
  }
  const seen = [...document.querySelectorAll("body *")].filter((e) =>
    e.checkVisibility() && !["SCRIPT", "STYLE", "BR"].includes(e.tagName));
  const boxes = new Map(seen.map((e) => [e, e.getBoundingClientRect()]));
  for (const [e, box] of boxes) {
    if (box.width === 0 || box.height === 0) continue;
    if (box.left < -0.5 || box.right > width + 0.5) {
      found.push(`${name(e)} reaches from ${box.left} to ${box.right}`);
    }
    const style = getComputedStyle(e);
    const scrolls = style.overflowX === "auto" || style.overflowX === "scroll";
    if (!scrolls && style.display !== "inline" && e.scrollWidth > e.clientWidth + 1 &&
        e.clientWidth > 0) {
      found.push(`${name(e)} is ${e.scrollWidth} in ${e.clientWidth}`);
    }
    // Neighbours.  Pieces of one line of text have more than one box.
    const next = e.nextElementSibling;
    const other = next && boxes.get(next);
    if (!other || e.getClientRects().length > 1 || next.getClientRects().length > 1) {
      continue;
    }
    const wide = Math.min(box.right, other.right) - Math.max(box.left, other.left);
    const high = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
    if (wide > 0.5 && high > 0.5 && other.width > 0 && style.display !== "inline") {
      found.push(`${name(e)} is under ${name(next)} by ${wide} x ${high}`);
    }
  }
  return found.slice(0, 10);
})()
"""

# Texts whose colour is too near to the colour behind them (WCAG 2, 4.5 to 1).
CONTRAST = r"""
(() => {
  const parse = (text) => (text.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const light = (c) => {
    const [r, g, b] = c.slice(0, 3).map((v) => v / 255)
      .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] === 1) return c;
    }
    return [255, 255, 255];
  };
  const found = new Set();
  for (const e of document.querySelectorAll("body *")) {
    const text = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!(text || e.dataset.sign) || !e.checkVisibility()) continue;
    if (["SCRIPT", "NOSCRIPT", "STYLE"].includes(e.tagName)) continue;
    const a = light(parse(getComputedStyle(e).color));
    const b = light(behind(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.add(`${e.tagName}.${e.className} ${ratio.toFixed(2)}`);
  }
  return [...found];
})()
"""


def facts_of(page):
    return page.run("JSON.parse(document.getElementById('facts').textContent)")


def rows_text(page):
    """The text of all rows that own bytes, without signs, which are no text."""
    return page.run(
        "[...document.querySelectorAll('.row:not(.is-held) > .text')]"
        ".map(e => e.textContent).join('')"
    )


@pytest.mark.parametrize("name", SMALL)
def test_layout(browser, pages, name):
    page = browser.open(pages[name])
    for width, dark in itertools.product(WIDTHS, (False, True)):
        page.resize(width, 900)
        page.prefer("dark" if dark else "light")
        page.frames()
        assert page.run(LAYOUT) == [], (width, dark)
        assert page.run(CONTRAST) == [], (width, dark)
        scheme = "-dark" if dark else ""
        page.picture(PICTURES / f"{name}-{width}{scheme}.png", whole=True)
    assert page.complaints() == []
    page.close()


def test_the_checks_find_what_they_look_for(browser, pages):
    page = browser.open(pages["call"])
    change = "document.querySelector('.label').style.cssText = %r"
    for style in ("margin-right: -60px", "width: 2000px", "position: relative; left: 40px"):
        page.run(change % style)
        assert page.run(LAYOUT) != [], style
    page.run(change % "color: #cccccc")
    assert page.run(LAYOUT) == [] and page.run(CONTRAST) != []
    page.run("setTimeout(() => { throw 1; })")
    page.run("fetch('http://127.0.0.1:9').catch(() => 0)")  # the policy forbids it
    complaints = str(page.complaints())
    assert "Uncaught" in complaints and "Content Security Policy" in complaints
    page.close()


def test_dark_mode_is_dark(browser, pages):
    page = browser.open(pages["call"], dark=True)
    back = "getComputedStyle(document.body).backgroundColor"
    dark = page.run(back)
    page.prefer("light")
    page.frames()
    assert dark != page.run(back)
    page.close()


def test_contents(browser, pages):
    page = browser.open(pages["call"])
    assert rows_text(page) == samples.CALL.replace("</think>\n\n", "</think>").replace(
        "tool.\n</think>", "tool.</think>"
    ).replace("up.\n<tool_call>", "up.<tool_call>")
    labels = page.run("[...document.querySelectorAll('.label')].map(e => e.innerText)")
    assert labels[0].split() == ["thinking", "opens", "0–7"]
    message = page.run("document.querySelector('#message pre').textContent")
    assert json.loads(message) == json.loads(facts_of(page)["message_text"])
    summary = page.run("document.getElementById('summary').innerText")
    assert "qwen3" in summary and "complete" in summary
    page.close()

    page = browser.open(pages["damaged"])
    problems = page.run("document.querySelectorAll('#problems li').length")
    remarks = page.run("document.querySelectorAll('.remark').length")
    assert problems == remarks >= 2
    page.click("#problems li:last-child button")
    assert "remark" in page.run("document.activeElement.className")
    page.close()

    page = browser.open(pages["prefix"])
    assert "8 bytes of the prompt" in page.run(
        "document.getElementById('summary').innerText"
    )
    page.close()


def test_tokens(browser, pages):
    page = browser.open(pages["tokens"], height=1000)
    assert page.run("document.querySelectorAll('.chip.token').length") == 4
    assert page.run("document.querySelectorAll('.tok').length") == 0
    page.click("#tokens")
    page.frames()
    facts = facts_of(page)
    count = len(facts["tokens"]["ids"])
    assert page.run("document.querySelectorAll('.tok').length") == count
    forced = facts["tokens"]["allowed"].count(1)
    assert page.run("document.querySelectorAll('.tok.forced').length") == forced > 5
    for width in WIDTHS:
        page.resize(width, 1000)
        page.frames()
        assert page.run(LAYOUT) == [], width
        assert page.run(CONTRAST) == [], width
        page.picture(PICTURES / f"by-token-{width}.png", whole=True)
    page.prefer("dark")
    page.frames()
    assert page.run(CONTRAST) == []
    page.picture(PICTURES / "by-token-1280-dark.png", whole=True)

    # The right arrow goes from token to token, and the details say which.
    page.run("document.querySelector('[data-index=\"1\"]').focus()")
    page.press("ArrowUp")
    page.press("ArrowDown")
    for _ in range(3):
        page.press("ArrowRight")
    assert page.run("document.querySelectorAll('.tok.here').length") == 1
    first = facts["rows"][1]["tokens"][0]
    detail = page.run("document.querySelector('.detail').innerText")
    assert f"{first + 2} · id {facts['tokens']['ids'][first + 2]}" in detail
    page.press("ArrowLeft")
    assert page.run("document.querySelector('.tok.here').dataset.token") == str(
        first + 1
    )
    page.picture(PICTURES / "token-details-1280-dark.png")
    # Back to text.
    page.click("#tokens")
    page.frames()
    assert page.run("document.querySelectorAll('.tok').length") == 0
    page.close()

    page = browser.open(pages["refused"])
    page.click("#tokens")
    page.frames()
    assert page.run("document.querySelectorAll('.tok.refused').length") == 1
    counts = page.run("[...document.querySelectorAll('.tok small')].map(e =>"
                      " e.textContent)")
    assert counts[-2:] == ["refused", ""]
    page.picture(PICTURES / "refused-token-1280.png", whole=True)
    page.close()


def test_keys(browser, pages):
    page = browser.open(pages["call"])
    index = "document.activeElement.dataset.index"
    for _ in range(10):  # past the buttons, to the rows
        page.press("Tab")
        if page.run(index) is not None:
            break
    assert page.run(index) == "0"
    outline = page.run("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    for key, where in (
        ("ArrowDown", "1"), ("ArrowDown", "2"), ("ArrowUp", "1"), ("ArrowUp", "0"),
        ("ArrowUp", "0"),
    ):
        page.press(key)
        assert page.run(index) == where
    page.press("End")
    last = str(len(facts_of(page)["rows"]) - 1)
    assert page.run(index) == last
    page.press("ArrowDown")
    assert page.run(index) == last
    page.press("Home")
    page.press("Enter")
    assert page.run("document.querySelector('.detail').parentNode.dataset.index") == "0"
    assert page.run(index) == "0"  # the focus stays
    page.picture(PICTURES / "details-1280.png")
    page.press("ArrowDown")
    page.press(" ")
    assert page.run("document.querySelectorAll('.detail').length") == 1
    page.press("Escape")
    assert page.run("document.querySelectorAll('.detail').length") == 0
    # One row is reached by Tab, not all of them; after it comes the message.
    page.press("Tab")
    assert page.run("document.activeElement.tagName") == "PRE"
    page.press("Tab", shift=True)
    assert page.run(index) == "1"
    page.close()


def test_hostile_text_is_text(browser, pages):
    page = browser.open(pages["hostile"])
    assert page.run("document.title") == "Response read by qwen3"
    assert page.run("document.querySelectorAll('img, svg, iframe').length") == 0
    assert page.run("document.scripts.length") == 2
    text = page.run("document.getElementById('rows').textContent")
    assert "</script><script>document.title = 'owned'</script>" in text
    assert not {"\x00", "\x1b", "\u202e", "\u202c", "\u2028", "\u200b"} & set(text)
    signs = page.run("[...document.querySelectorAll('#rows .sign')].map(e =>"
                     " e.dataset.sign)")
    for sign in ("\\x00", "\\x1B", "\\xFF", "\\xED", "U+202E", "U+2028", "\\r"):
        assert sign in signs, sign
    message = page.run("document.querySelector('#message pre').textContent")
    assert "12345678901234567890" in message and "NaN" in message
    # What a diagnostic and the name of a field bring is text, too.
    assert page.run("document.querySelectorAll('main b b, main script').length") == 0
    # A script that the response brings would not run if it got into the page.
    page.run(
        "(() => { const s = document.createElement('script');"
        " s.textContent = 'document.title = \"owned\"';"
        " document.body.append(s); })()"
    )
    assert page.run("document.title") == "Response read by qwen3"
    page.close()


@pytest.mark.parametrize("name", LONG)
def test_a_megabyte(browser, pages, name):
    page = browser.open(pages[name])
    opening = page.opening
    size = pages[name].stat().st_size
    print(f"\nMEASURED {name}: {size / 1e6:.1f} MB of page open in {opening:.2f} s")
    assert opening < OPENING_SECONDS
    page.picture(PICTURES / f"{name}-1280.png")

    # The last row is there at once.
    page.run("document.querySelector('[data-index]').focus()")
    began = time.monotonic()
    page.press("End")
    page.frames(4)
    assert time.monotonic() - began < OPENING_SECONDS
    bottom = page.run(
        "(() => { const b = document.activeElement.getBoundingClientRect();"
        " return [b.top, b.bottom, innerHeight]; })()"
    )
    assert bottom[1] > 0 and bottom[0] < bottom[2], bottom
    page.press("Home")
    page.frames(4)

    if name == "long":
        # All text can be found by the browser's search after a while.
        for _ in range(100):
            pending = page.run(
                "[...document.querySelectorAll('.page')]"
                ".filter(e => !e.firstChild).length"
            )
            if pending == 0:
                break
            time.sleep(0.1)
        assert pending == 0
        assert page.run("document.querySelector('#rows').textContent.length") > 1e6
    if name == "long-tokens":
        began = time.monotonic()
        page.click("#tokens")
        page.frames(4)
        print(f"\nMEASURED {name}: by token in {time.monotonic() - began:.2f} s")
        assert time.monotonic() - began < OPENING_SECONDS
        for _ in range(12):
            page.run("scrollBy(0, 20000)")
            page.frames(3)
        elements = page.run("document.getElementsByTagName('*').length")
        print(f"\nMEASURED {name}: {elements} elements after 240,000 pixels")
        assert elements < 100_000
        page.picture(PICTURES / f"{name}-scrolled-1280.png")
    page.resize(360, 800)
    page.frames(4)
    assert page.run("document.documentElement.scrollWidth") <= 360
    assert page.complaints() == []
    page.close()


def test_the_table_of_a_notebook(browser):
    parlance = pytest.importorskip("parlance")
    if not hasattr(parlance, "view"):
        pytest.skip("the installed package is older than this tree")
    grammar = parlance.Grammar.from_regex("a+b")
    shown = [
        parlance.view(samples.DAMAGED, "qwen3"),
        parlance.view(samples.HOSTILE, "qwen3"),
        parlance.Format("qwen3"),
        grammar,
    ]
    body = "<hr>".join(value._repr_html_() for value in shown)
    path = PICTURES / "pages" / "notebook.html"
    path.write_text(
        '<!doctype html><meta charset="utf-8">'
        '<meta name="color-scheme" content="light dark">'
        f'<body style="font-family:sans-serif">{body}'
    )
    for dark in (False, True):
        page = browser.open(path, dark=dark)
        scheme = "-dark" if dark else ""
        page.picture(PICTURES / f"notebook-1280{scheme}.png", whole=True)
        assert page.run("document.scripts.length") == 0
        assert page.complaints() == []
        page.close()
