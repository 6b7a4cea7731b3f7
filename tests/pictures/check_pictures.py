"""The page of `parlance explain --html` in a browser: what it shows, whether
anything overlaps or is cut off, contrast, keys and focus, dark mode, paper,
hostile text, and how fast responses of 1 and of 20 megabytes open.  Pictures for
people are kept in build/pictures.

    scripts/test pictures
"""

import itertools
import json
import os
import pathlib
import re
import shutil
import sys
import time

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parent))

import samples  # noqa: E402
from browser import Browser, find_browser  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURES = ROOT / "build" / "pictures"
WIDTHS = (390, 768, 1280)


@pytest.fixture(scope="module")
def browser():
    if find_browser() is None:
        pytest.skip("no browser: scripts/install browser")
    with Browser() as found:
        yield found


@pytest.fixture(scope="module")
def made():
    command = os.environ.get("PARLANCE_CLI") or shutil.which("parlance")
    if command is None:
        pytest.skip("no command: set PARLANCE_CLI, or PATH")
    shutil.rmtree(PICTURES / "pages", ignore_errors=True)
    return samples.Samples(command, PICTURES / "pages")


@pytest.fixture(scope="module")
def pages(made):
    """The path of each page, by name."""
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
        "hint": made.page("hint", samples.HINTED, "-f", "qwen3"),
        "cut": made.page("cut", samples.CALL[:-20], "-f", "qwen3"),
        "strict": made.page(
            "strict", samples.DAMAGED, "-f", "qwen3", "--strict", status=1
        ),
        "long": made.page("long", long, "-f", "qwen3"),
        "long-tokens": made.page(
            "long-tokens", made.ids(long), "-f", "qwen3", "--constraint", made.tag
        ),
        "long-line": made.page("long-line", "x" * (1 << 20), "-f", "qwen3"),
        "many-rows": made.page(
            "many-rows", "<think>a</think>b" * 60_000, "-f", "qwen3"
        ),
        "many-problems": made.page(
            "many-problems", samples.DAMAGED * 3_500, "-f", "qwen3"
        ),
    }


@pytest.fixture(scope="module")
def large(made):
    """Pages of 20 megabytes of response."""
    return {
        "large": made.page("large", samples.long_response(20 << 20), "-f", "qwen3"),
        "large-rows": made.page(
            "large-rows",
            "<think>Let me think about it.</think>Then I answer.\n" * 400_000,
            "-f", "qwen3",
        ),
    }


SMALL = (
    "call", "damaged", "held", "prefix", "hostile", "tokens", "refused", "tag",
    "grammar", "empty", "cut", "strict", "hint",
)
LONG = ("long", "long-tokens", "long-line", "many-rows", "many-problems")

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


# Every control is reached by the Tab key, in the order of the page, shows that it
# has the focus, and lies in view.
FOCUS = r"""
(() => {
  const e = document.activeElement;
  if (e === document.body) return null;
  const style = getComputedStyle(e);
  const box = e.getBoundingClientRect();
  const seen = style.outlineStyle === "solid" && parseFloat(style.outlineWidth) >= 2;
  const inView = box.bottom > 0 && box.top < innerHeight;
  const all = [...document.querySelectorAll("button, input, pre, [tabindex='0']")]
    .filter((x) => x.checkVisibility() && !x.disabled);
  return [all.indexOf(e), all.length, seen, inView,
          `${e.tagName}.${e.className} ${style.outlineStyle}`];
})()
"""


def check_focus(page):
    page.run("document.activeElement.blur(); scrollTo(0, 0)")
    reached = []
    while True:
        page.press("Tab")
        found = page.run(FOCUS)
        if found is None or (reached and found[0] == reached[0]):
            break
        index, count, seen, in_view, name = found
        assert seen and in_view, name
        reached.append(index)
    if reached:
        assert reached == list(range(count))
    return len(reached)


def facts_of(page):
    return page.run("JSON.parse(document.getElementById('facts').textContent)")


def text_of(page, selector):
    return page.run(f"document.querySelector({selector!r}).innerText")


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
        if width != 768:
            check_focus(page)
            page.run("document.activeElement.blur(); scrollTo(0, 0)")
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
    assert page.run("document.title") == "Response read by qwen3"
    assert rows_text(page) == samples.CALL.replace("</think>\n\n", "</think>").replace(
        "tool.\n</think>", "tool.</think>"
    ).replace("up.\n<tool_call>", "up.<tool_call>")
    labels = page.run("[...document.querySelectorAll('.label')].map(e => e.innerText)")
    assert labels[0].split() == ["thinking", "opens", "0–7"]
    message = page.run("document.querySelector('.message pre').textContent")
    assert json.loads(message) == json.loads(facts_of(page)["message_text"])
    assert text_of(page, ".verdict") == "✓\nComplete"
    assert "qwen3" in text_of(page, ".summary")
    assert page.run("document.querySelectorAll('.dropped, .remark').length") == 0
    page.close()

    page = browser.open(pages["prefix"])
    assert "8 bytes of the prompt" in text_of(page, ".summary")
    page.close()


def test_what_is_lost_is_said(browser, pages):
    page = browser.open(pages["damaged"])
    verdict = text_of(page, ".verdict")
    assert "2 of 3 calls were lost" in verdict
    assert "Unfinished: the response ends inside a call" in verdict
    assert page.run("document.querySelectorAll('.verdict.good').length") == 0
    place = samples.DAMAGED.index("Bern}}")
    assert f"found 'B', expected a value (byte {place})" in verdict
    # The reason is with the message.
    dropped = text_of(page, ".message .dropped")
    assert "Not in the message: 2 calls" in dropped
    assert f"get_weather cannot be read: not JSON: found 'B', expected a value (byte {place})" in dropped
    assert "is cut off" in dropped
    # And the place is marked in the text, just before its remark.
    assert page.run("[...document.querySelectorAll('mark')].map(e => e.textContent)")[0] == "B"
    marked = "document.querySelector('mark').closest('.row').nextElementSibling"
    assert "expected a value" in page.run(f"{marked}.textContent")
    assert "Text:" not in page.run("document.body.innerText")
    page.click(".verdict button")
    assert page.run(f"document.activeElement === {marked}")
    page.click(".dropped button")
    assert "row" in page.run("document.activeElement.className")
    page.close()

    page = browser.open(pages["cut"])
    assert "The call was lost" in text_of(page, ".verdict")
    assert "Unfinished" in text_of(page, ".verdict")
    page.close()

    page = browser.open(pages["strict"])
    assert "A strict reading fails" in text_of(page, ".verdict")
    page.close()

    page = browser.open(pages["grammar"])
    assert "Not accepted: only the first 3 bytes fit" in text_of(page, ".verdict")
    page.close()


def test_facts_of_other_sources(browser, pages):
    """The viewer draws `parlance explain --json` as well."""
    page = browser.open(pages["damaged"])
    before = page.run("document.querySelector('.viewer').innerText")
    facts = facts_of(page)
    rows, at, data = [], 0, facts["text"].encode()
    for shape, size in zip(facts["rows"][::2], facts["rows"][1::2], strict=True):
        row = dict(facts["shapes"][shape])
        if "start" not in row:
            row.update(start=at, end=at + size, text=data[at : at + size].decode())
        rows.append(row)
        at += size
    plain = {**facts, "rows": rows, "message": json.loads(facts["message_text"])}
    for member in ("shapes", "text", "message_text", "calls"):
        del plain[member]
    other = pages["damaged"].with_name("plain.html")

    def write(facts):
        text = pages["damaged"].read_text()
        begin = text.index('id="facts">') + len('id="facts">')
        end = text.index("</script>", begin)
        data = json.dumps(facts).replace("<", "\\u003c")
        other.write_text(text[:begin] + data + text[end:])

    # The attempts of a page are those that something is wrong with.
    write({**plain, "calls": facts["calls"]})
    page.go(other)
    assert page.run("document.querySelector('.viewer').innerText") == before
    page.close()


def test_a_hint(browser, pages):
    page = browser.open(pages["hint"])
    assert "✓" not in text_of(page, ".verdict")
    assert "probably not read as it was meant" in text_of(page, ".verdict")
    assert text_of(page, "mark.hint").startswith('{"name"')
    assert text_of(page, ".remark.hint").startswith("→ Hint content contains JSON")
    page.click(".verdict button")
    assert "remark hint" in page.run("document.activeElement.className")
    page.close()


def test_on_paper(browser, pages):
    page = browser.open(pages["damaged"])
    page.call("Emulation.setEmulatedMedia", {"media": "print"})
    page.frames()
    assert page.run("document.querySelector('.verdict button').checkVisibility()") is False
    assert page.run(CONTRAST) == []
    page.picture(PICTURES / "paper.png", whole=True)
    page.close()


def test_tokens(browser, pages):
    page = browser.open(pages["tokens"], height=1000)
    assert page.run("document.querySelectorAll('.chip.token').length") == 4
    assert page.run("document.querySelectorAll('.tok').length") == 0
    page.click(".by-token input")
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
    page.run("document.querySelector('.rows').firstChild.focus()")
    page.press("ArrowDown")
    for _ in range(3):
        page.press("ArrowRight")
    assert page.run("document.querySelectorAll('.tok.here').length") == 1
    first = 1  # after <think>
    detail = page.run("document.querySelector('.detail').innerText")
    assert f"{first + 2} · id {facts['tokens']['ids'][first + 2]}" in detail
    page.press("ArrowLeft")
    assert page.run("document.querySelector('.tok.here').dataset.token") == str(
        first + 1
    )
    page.picture(PICTURES / "token-details-1280-dark.png")
    # Back to text.
    page.click(".by-token input")
    page.frames()
    assert page.run("document.querySelectorAll('.tok').length") == 0
    page.close()

    page = browser.open(pages["refused"])
    # What is said of tokens is said where they are shown.
    assert "one not allowed" in text_of(page, ".by-token")
    assert "token" not in text_of(page, ".verdict").lower()
    page.click(".by-token input")
    page.frames()
    assert page.run("document.querySelectorAll('.tok.refused').length") == 1
    counts = page.run("[...document.querySelectorAll('.tok small')].map(e =>"
                      " e.textContent)")
    assert counts[-2:] == ["not allowed", ""]
    page.picture(PICTURES / "refused-token-1280.png", whole=True)
    page.close()


def test_keys(browser, pages):
    page = browser.open(pages["call"])
    index = (
        "[...document.querySelector('.rows').children].indexOf(document.activeElement)"
    )
    for _ in range(10):  # past the buttons, to the rows
        page.press("Tab")
        if page.run(index) >= 0:
            break
    assert page.run(index) == 0
    outline = page.run("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    for key, where in (
        ("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1), ("ArrowUp", 0),
        ("ArrowUp", 0),
    ):
        page.press(key)
        assert page.run(index) == where
    page.press("End")
    last = page.run("document.querySelector('.rows').children.length") - 1
    assert page.run(index) == last == len(facts_of(page)["rows"]) // 2 - 1
    page.press("ArrowDown")
    assert page.run(index) == last
    page.press("Home")
    page.press("Enter")
    assert page.run("document.querySelector('.rows').firstChild.lastChild.className") == "detail"
    assert page.run(index) == 0  # the focus stays
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
    assert page.run(index) == 1
    page.close()


def test_hostile_text_is_text(browser, pages):
    page = browser.open(pages["hostile"])
    assert page.run("document.title") == "Response read by qwen3"
    assert page.run("document.querySelectorAll('img, svg, iframe').length") == 0
    assert page.run("document.scripts.length") == 2
    text = page.run("document.querySelector('.rows').textContent")
    assert "</script><script>document.title = 'owned'</script>" in text
    assert not {"\x00", "\x1b", "\u202e", "\u202c", "\u2028", "\u200b"} & set(text)
    signs = page.run("[...document.querySelectorAll('.rows .sign')].map(e =>"
                     " e.dataset.sign)")
    for sign in ("\\x00", "\\x1B", "\\xFF", "\\xED", "U+202E", "U+2028", "\\r"):
        assert sign in signs, sign
    message = page.run("document.querySelector('.message pre').textContent")
    assert "12345678901234567890" in message and "NaN" in message
    # What a diagnostic and the name of a field bring is text, too.
    assert page.run("document.querySelectorAll('main b b, main script, main a').length") == 0
    # A script that the response brings would not run if it got into the page.
    page.run(
        "(() => { const s = document.createElement('script');"
        " s.textContent = 'document.title = \"owned\"';"
        " document.body.append(s); })()"
    )
    assert page.run("document.title") == "Response read by qwen3"
    page.close()


ELEMENTS = "document.getElementsByTagName('*').length"


def check_opening(browser, name, path):
    """Opens a page; the time is told, and not a test."""
    page = browser.open(path)
    busy = page.busy()
    size = path.stat().st_size
    elements = page.run(ELEMENTS)
    high = page.run("document.documentElement.scrollHeight")
    print(
        f"\nMEASURED {name}: {size / 1e6:.1f} MB of page open in {page.opening:.2f} s, "
        f"busy for {busy:.2f} s, {elements} elements, {high} pixels high"
    )
    assert elements < 10_000
    assert high < 60_000
    page.picture(PICTURES / f"{name}-1280.png")

    # The last row is there at once.
    page.run("document.querySelector('.rows').firstChild.focus()")
    began = time.monotonic()
    page.press("End")
    page.frames(4)
    print(f"MEASURED {name}: at its end in {time.monotonic() - began:.2f} s")
    top, bottom, height = page.run(
        "(() => { const b = document.activeElement.getBoundingClientRect();"
        " return [b.top, b.bottom, innerHeight]; })()"
    )
    assert bottom > 0 and top < height
    assert page.run("document.activeElement.nextElementSibling") is None
    page.press("Home")
    page.frames(4)
    return page


@pytest.mark.parametrize("name", LONG)
def test_a_megabyte(browser, pages, name):
    page = check_opening(browser, name, pages[name])
    # Each window begins where the last one ends, both ways.
    pager = "document.querySelector('.pager span').textContent"
    later = "document.querySelector('.pager button:last-child')"
    seen = []
    for _ in range(3):
        begin, end, all_bytes = map(
            int, re.findall(r"\d+", page.run(pager).replace(",", ""))
        )
        seen.append((begin, end))
        page.run(f"{later}.click()")
    assert all_bytes == len(facts_of(page)["text"].encode())
    assert seen[0][0] == 0
    assert all(a[1] == b[0] < b[1] for a, b in itertools.pairwise(seen))
    text = page.run("document.querySelector('.rows .text').textContent")
    assert text in facts_of(page)["text"]
    for _ in range(20):
        page.press("Home")
    assert page.run(pager).startswith("bytes 0–")
    # The keys go on in the next window.
    page.run("document.querySelector('.rows').lastChild.focus()")
    page.run("document.querySelector('.rows').lastChild.click()")
    page.press("ArrowDown")
    assert not page.run(pager).startswith("bytes 0–")
    page.press("ArrowUp")
    begin, end, _ = map(int, re.findall(r"\d+", page.run(pager).replace(",", "")))
    assert begin < seen[0][1] <= end
    # A click on the strip.
    page.run("scrollTo(0, 0)")
    page.click(".strip")
    assert page.run("document.activeElement.classList.contains('row')")

    if name == "long-tokens":
        began = time.monotonic()
        page.click(".by-token input")
        page.frames(4)
        print(f"MEASURED {name}: by token in {time.monotonic() - began:.2f} s")
        assert page.run("document.querySelectorAll('.tok').length") > 100
        assert page.run(ELEMENTS) < 10_000
    if name == "many-problems":
        page.click(".bar button")
        assert "remark" in page.run("document.activeElement.className")
    page.resize(390, 800)
    page.frames(4)
    assert page.run("document.documentElement.scrollWidth") <= 390
    page.picture(PICTURES / f"{name}-390.png", whole=True)
    assert page.complaints() == []
    page.close()


def test_many_remarks_at_one_place(browser, made):
    text = "\n" * 1500 + "Hm.\n" * 200 + samples.DAMAGED
    path = made.page("many-held", text, "-f", "qwen3", "--chunk", "1")
    page = browser.open(path, width=1280, height=900)
    # The windows end, both ways, and are not large.
    press = "document.querySelector('.pager button:%s-child')"
    for way in ("last", "first"):
        for _ in range(50):
            page.run(f"{press % way}.click()")
            assert page.run(ELEMENTS) < 50_000
            if page.run(f"{press % way}.disabled"):
                break
        assert page.run(f"{press % way}.disabled"), way
    # What is shown is where the buttons lead.
    for place in ("start", "end"):
        page.press("Home" if place == "start" else "End")
        page.run("document.querySelector('.verdict button').click()")
        assert "bad" in page.run("document.activeElement.className")
    assert page.complaints() == []
    page.close()


@pytest.mark.parametrize("name", ("large", "large-rows"))
def test_twenty_megabytes(browser, large, name):
    page = check_opening(browser, name, large[name])
    assert page.complaints() == []
    page.close()


def test_a_notebook(browser, made):
    parlance = pytest.importorskip("parlance")
    if not hasattr(parlance, "view"):
        pytest.skip("the installed package is older than this tree")
    shown = [
        parlance.view(samples.DAMAGED, "qwen3"),
        parlance.view(samples.HOSTILE, "qwen3"),
        parlance.Format("qwen3"),
        parlance.Grammar.from_regex("a+b"),
    ]
    body = "<hr>".join(value._repr_html_() for value in shown)
    path = made.folder / "notebook.html"
    path.write_text(
        '<!doctype html><meta charset="utf-8">'
        '<meta name="color-scheme" content="light dark">'
        f'<body style="font-family:sans-serif">{body}'
    )
    for dark in (False, True):
        page = browser.open(path, width=900, dark=dark)
        # The frames are processes of their own.
        inside = list(page.frames_inside())
        verdicts = []
        for frame in inside:
            frame.run(
                "new Promise(done => { const look = () => document.querySelector"
                "('.verdict') ? done() : setTimeout(look, 50); look(); })"
            )
            frame.frames()
            verdicts.append(text_of(frame, ".verdict"))
            assert frame.run(CONTRAST) == []
        assert len(verdicts) == 2
        assert any("2 of 3 calls were lost" in verdict for verdict in verdicts)
        page.frames()
        scheme = "-dark" if dark else ""
        page.picture(PICTURES / f"notebook-900{scheme}.png", whole=True)
        assert page.run("document.scripts.length") == 0
        assert page.complaints() == []
        page.close()
