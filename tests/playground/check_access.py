"""The playground without a mouse, and to eyes that see little: what people come for, by
keys alone, with the names that a screen reader says; and the contrast of edges.

    scripts/test playground
"""

import json
import pathlib
import subprocess
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).parent))

from check_playground import (  # noqa: E402, F401
    STATES,
    VIEW,
    browser,
    said,
    selected,
    show_example,
    show_tab,
    site,
    single,
    wait,
)


def text_of(page, part):
    return page.run(f"{VIEW % part}.state.doc.toString()")


def opened(browser, address, width=1280):
    """A page that has the keyboard, and may use the clipboard."""
    page = browser.open(address, width=width)
    page.call("Page.bringToFront")
    page.call("Emulation.setFocusEmulationEnabled", {"enabled": True})
    browser.call(
        "Browser.grantPermissions",
        {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]},
    )
    wait(page)
    return page


def write(page, text):
    for character in text:
        page.press("Enter" if character == "\n" else character)


def paste(page, text):
    page.run(f"navigator.clipboard.writeText({json.dumps(text)})")
    page.press("v", ctrl=True)


def clipboard(page):
    return page.run("navigator.clipboard.readText()")


def reach(page, role, name, shift=False, most=40):
    """Tabs to a control; what has the keyboard on the way always has a name."""
    passed = []
    for _ in range(most):
        page.press("Tab", shift=shift)
        found = page.focused()
        passed.append(found[:2])
        if found[0] == role and (found[1] or "").startswith(name):
            return
        assert found[1] or found[0] in ("RootWebArea", "listitem"), passed
    raise AssertionError(f"no {role} {name}: {passed}")


def settled(page, part, words):
    wait(page, f"document.body.dataset.state === 'done' && document.getElementById("
               f"'{part}').innerText.includes({json.dumps(words)})")  # fmt: skip


@pytest.mark.parametrize("width", [390, 1280])
def test_why_was_a_call_lost(browser, site, width):  # noqa: F811
    page = opened(browser, site[0], width)
    if width == 390:
        page.press("F6")  # to the parts
        page.press("F6")
    assert page.focused()[:2] == ["textbox", "Response"]
    text = STATES["another-family"]["response"]
    paste(page, text)
    settled(page, "regions", "get_weather")
    assert text_of(page, "response") == text
    reach(page, "combobox", "Family", shift=True)
    write(page, "qwen3")
    settled(page, "verdict", "probably not read")
    page.press("F8")
    role, name, _ = page.focused()
    assert role == "listitem" and page.run("document.activeElement.innerText").count("Hint")
    after = "(v => v.state.sliceDoc(v.state.selection.main.head))"
    assert page.run(f"{after}({VIEW % 'response'})").startswith("[TOOL_CALLS]")
    # Read again, it has the keyboard still.
    page.run("document.body.dataset.state = ''")
    page.press("Enter", ctrl=True)
    settled(page, "verdict", "probably not read")
    assert page.focused()[0] == "listitem"
    assert page.run("document.activeElement.innerText").count("Hint")
    page.press("F6", shift=True)
    assert page.focused()[:2] == ["slider", "Stream"]
    reach(page, "button", "mistral", shift=True)
    page.press("Enter")
    settled(page, "verdict", "Complete")
    # The keyboard is where it was, and the call is in the message.
    assert page.focused()[1].startswith("mistral")
    page.press("F6")
    page.press("F6")
    assert page.focused()[:2] == ["tab", "Regions"]
    page.press("ArrowRight")
    wait(page, "document.getElementById('message').innerText.includes('\"Bern\"')")
    assert "get_weather" in said(page, "message")
    page.close()


def test_mend_a_format_file(browser, site):  # noqa: F811
    page = opened(browser, site[0])
    page.press("F6", shift=True)
    assert page.focused()[:2] == ["tab", "Read"]
    page.press("ArrowRight")
    assert page.focused()[:2] == ["tab", "Write"]
    settled(page, "format-state", "lint")
    reach(page, "combobox", "Start from")
    write(page, "qwen3")
    settled(page, "format-state", "without lints")
    reach(page, "textbox", "Format file")
    # A line too few: the walks find what is misread.
    page.press("Home", ctrl=True)
    line = (
        "(v => v.state.doc.lineAt(v.state.selection.main.head).text)"
        f"({VIEW % 'format-file'})"
    )
    while not page.run(line).endswith('"after": ['):
        page.press("ArrowDown")
    page.press("ArrowDown")
    page.press("Home")
    page.press("ArrowDown", shift=True)
    page.press("Delete")
    settled(page, "format-state", "without lints")
    page.press("F6")
    assert page.focused()[:2] == ["tab", "Lints"]
    page.press("ArrowRight")
    wait(page, "document.getElementById('walked').innerText.includes('read otherwise')", 60)
    reach(page, "button", "Take its text as the sample")
    page.press("Enter")
    assert page.focused()[:2] == ["textbox", "A sample"]
    sample = text_of(page, "sample")
    assert sample.startswith("<think>")
    wait(page, "!document.getElementById('keep-sample').disabled")
    # It is to be read without a line feed before the content.
    reach(page, "button", "Add it to the samples", shift=True)
    page.press("Enter")
    assert "1 of 1 samples" in said(page, "samples")
    page.press("F6", shift=True)
    assert page.focused()[:2] == ["textbox", "Format file"]
    reach(page, "textbox", "should read as")
    wanted = page.focused()[2].replace('"content":"\\n', '"content":"')
    page.press("a", ctrl=True)
    write(page, wanted)
    page.press("Tab")
    assert page.focused()[:2] == ["tab", "Sample"]
    assert "0 of 1 samples" in said(page, "samples")
    reach(page, "textbox", "Format file", shift=True)
    page.press("z", ctrl=True)
    settled(page, "samples", "1 of 1 samples read as they should")
    page.press("F6")
    if page.focused()[0] != "tab":
        reach(page, "tab", "Sample", shift=True)
    page.press("ArrowLeft")
    assert page.focused()[:2] == ["tab", "Walks"]
    wait(page, "document.getElementById('walked').innerText.includes('1,000 walks held')", 120)
    # What does not load says where, and F8 goes there.
    page.press("F6", shift=True)
    write(page, "#")
    settled(page, "format-state", "cannot be loaded")
    page.press("F8")
    assert page.focused()[:2] == ["textbox", "Format file"]
    page.close()


def test_why_is_a_schema_refused(browser, site):  # noqa: F811
    page = opened(browser, site[0])
    page.press("F6", shift=True)
    page.press("ArrowRight")
    page.press("ArrowRight")
    assert page.focused()[:2] == ["tab", "Constrain"]
    settled(page, "judgement", "")
    page.press("F6")
    assert page.focused()[:2] == ["textbox", "Tools, schema or grammar"]
    source = STATES["thirty-tools"]["source"]
    paste(page, source)
    # The tool is named before anything is opened.
    settled(page, "judgement", "Refused: create_event")
    assert text_of(page, "source") == source
    page.press("F8")
    assert page.focused()[:2] == ["textbox", "Tools, schema or grammar"]
    assert selected(page, "source") == '"pattern"'
    page.press("ArrowRight")
    line = (
        "(v => v.state.sliceDoc(v.state.selection.main.head, v.state.selection.main.head"
        f" + 8))({VIEW % 'source'})"
    )
    while page.run(line) != "(?<hour>":
        page.press("ArrowRight")
    for _ in range(8):
        page.press("Delete")
    settled(page, "judgement", "Compiled")
    page.press("F6")
    assert page.focused()[:2] == ["tab", "Verdict"]
    page.press("ArrowRight")
    reach(page, "textbox", "A text to try")
    write(page, '<tool_call>{')
    wait(page, "document.getElementById('acceptance').innerText.includes('Refused at byte 11')")
    assert "What may stand there" in said(page, "acceptance")
    page.close()


def test_share_it(browser, site):  # noqa: F811
    page = opened(browser, site[0])
    paste(page, "<think>\nMine.\n</think>\n\nYes, and more.")
    settled(page, "regions", "Mine")
    page.press("Home", ctrl=True)
    for _ in range(5):
        page.press("ArrowRight", shift=True)
    page.press("F6")
    assert page.focused()[:2] == ["slider", "Stream"]
    for _ in range(6):
        page.press("ArrowLeft")
    reach(page, "button", "Cut here")
    page.press("Enter")
    settled(page, "verdict", "Cut at byte 32")
    assert page.focused()[:2] == ["button", "Whole again"]
    page.press("F6")
    page.press("ArrowRight")
    assert page.focused()[:2] == ["tab", "Message"]
    page.press("s", ctrl=True)
    wait(page, "document.getElementById('share').innerText.includes('fits a chat message')")
    assert page.focused()[:2] == ["combobox", "What to take away"]
    assert "the response, 38 bytes" in said(page, "share")
    reach(page, "button", "Copy")
    page.press(" ")
    wait(page, "document.getElementById('share').innerText.includes('Copied.')")
    page.press("Escape")
    assert page.focused()[:2] == ["button", "Take away"]
    link = clipboard(page)
    shown = said(page, "message")
    page.close()
    page = opened(browser, link)
    settled(page, "verdict", "Cut at byte 32")
    assert said(page, "notice").startswith("From a link")
    assert said(page, "message") == shown and "Mine." in shown
    assert selected(page, "response") == "<thin"
    page.close()


def test_get_code(browser, site, tmp_path):  # noqa: F811
    page = opened(browser, site[0])
    show_example(page, "xml-argument")
    message = json.loads(page.run("document.getElementById('tab-message').click(),"
                                  " document.querySelector('#message pre').textContent"))  # fmt: skip
    reach(page, "button", "Take away", shift=True)
    page.press("Enter")
    wait(page, "!document.getElementById('share').hidden")
    assert page.focused()[:2] == ["combobox", "What to take away"]
    write(page, "a c")
    wait(page, "document.querySelector('#share pre').innerText.includes('parlance parse')")
    reach(page, "button", "Copy")
    page.press("Enter")
    wait(page, "document.getElementById('share').innerText.includes('Copied.')")
    (tmp_path / "code.sh").write_text(clipboard(page))
    done = subprocess.run(
        ["bash", "code.sh"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == message
    page.close()


# Edges whose contrast with what they stand on, on both sides, is less than 3 to 1
# (WCAG 1.4.11): borders, shadows, underlines, outlines, and boxes without a text.  Lines
# of the colour --line only separate what is also told apart by its words; no control
# and no editor may have one for its edge.
EDGES = """globalThis.edges = () => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
  const parsed = new Map();
  const rgba = (text) => {
    if (!parsed.has(text)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = text;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      parsed.set(text, [r, g, b, a / 255]);
    }
    return parsed.get(text);
  };
  const over = ([r, g, b, a], [x, y, z]) =>
    [r * a + x * (1 - a), g * a + y * (1 - a), b * a + z * (1 - a), 1];
  const up = (e) => e.assignedSlot ?? e.parentElement ?? e.getRootNode().host;
  const ground = (e) => {
    if (!e) return [255, 255, 255, 1];
    const own = rgba(getComputedStyle(e).backgroundColor);
    return own[3] === 1 ? own : over(own, ground(up(e)));
  };
  const light = (c) => {
    const [r, g, b] = c.map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92
      : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => {
    const [x, y] = [light(a), light(b)].sort((m, n) => n - m);
    return (x + 0.05) / (y + 0.05);
  };
  const line = rgba(getComputedStyle(document.body).getPropertyValue('--line').trim());
  const isLine = (c) => c.every((v, i) => Math.abs(v - line[i]) < 0.5);
  const found = new Map();
  const tell = (e, what, text, grounds) => {
    const colour = rgba(text);
    if (colour[3] === 0) return;
    const isControl = e.matches('button:not(:disabled), input, select, .editor, [role=listbox]');
    if (e.matches(':disabled') || (isLine(colour) && !isControl)) return;
    const least = Math.min(...grounds.map((g) => ratio(over(colour, g), g)));
    if (least >= 3) return;
    found.set(`${e.tagName}.${e.className}#${e.id} ${what} ${text}`, least.toFixed(2));
  };
  const look = (e) => {
    if (!e.checkVisibility() || e.closest('[aria-hidden=true]')?.tagName === 'CANVAS') return;
    const s = getComputedStyle(e);
    const inside = ground(e);
    const outside = ground(up(e));
    for (const side of ['Top', 'Right', 'Bottom', 'Left']) {
      const style = s[`border${side}Style`];
      if (style === 'none' || style === 'hidden' || s[`border${side}Width`] === '0px') continue;
      tell(e, `border ${side}`, s[`border${side}Color`], [inside, outside]);
    }
    for (const [, colour] of s.boxShadow.matchAll(/((?:rgba?|color)\\([^)]*\\))/g)) {
      tell(e, 'shadow', colour, [inside]);
    }
    if (s.outlineStyle !== 'none' && s.outlineStyle !== 'auto' && s.outlineWidth !== '0px') {
      tell(e, 'outline', s.outlineColor, [s.outlineOffset.startsWith('-') ? inside : outside]);
    }
    if (s.textDecorationLine !== 'none') tell(e, 'underline', s.textDecorationColor, [inside]);
    const isBox = (e.tagName === 'MARK' && s.borderBottomWidth === '0px') || (e.tagName === 'I' && e.textContent === '');
    if (isBox) tell(e, 'box', s.backgroundColor, [outside]);
    if (e.matches('input[type=range], input[type=checkbox]')) {
      tell(e, 'accent', s.accentColor, [outside]);
    }
  };
  const every = (root) => {
    for (const e of root.querySelectorAll('*')) {
      look(e);
      if (e.shadowRoot) every(e.shadowRoot);
    }
  };
  every(document);
  const strip = document.querySelector('canvas.strip');
  if (strip?.checkVisibility() && strip.width > 0) {
    const data = strip.getContext('2d').getImageData(0, strip.height >> 1, strip.width, 1).data;
    const neutral = ['--mark', '--card'].map((name) =>
      rgba(getComputedStyle(strip).getPropertyValue(name).trim()));
    for (let i = 0; i < data.length; i += 4) {
      const colour = [data[i], data[i + 1], data[i + 2], data[i + 3] / 255];
      if (neutral.some((one) => ratio(over(colour, ground(up(strip))), one) < 1.05)) continue;
      tell(strip, 'strip', `rgba(${colour.join(' ').replace(/ ([^ ]*)$/, ' / $1')})`
        .replace('rgba', 'rgb'), [ground(up(strip))]);
    }
  }
  // What has the keyboard, after a key, has a ring.
  const stops = 'button, select, input, pre, .row, .remark, .lines';
  for (const e of [...document.querySelectorAll(stops)].slice(0, 150)) {
    if (!e.checkVisibility() || e.disabled || e.tabIndex < 0) continue;
    e.focus({preventScroll: true});
    const s = getComputedStyle(e);
    if (s.outlineStyle === 'none' || parseFloat(s.outlineWidth) < 2) {
      found.set(`${e.tagName}.${e.className}#${e.id} has no ring`, s.outlineWidth);
    }
    look(e);
  }
  document.activeElement.blur();
  return [...found];
}; 0"""

@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 1280])
def test_edges(browser, single, width, dark):  # noqa: F811
    page = browser.open(single, width=width, height=844, dark=dark)
    page.call("Page.bringToFront")
    page.call("Emulation.setFocusEmulationEnabled", {"enabled": True})
    wait(page)
    read = ("input", "result", ("regions", "message", "events", "shapes"))
    write_ = ("written", "judged", ("lints", "walks", "sampled"))
    constrain = ("described", "answer", ("refusal", "try", "allowed"))
    features = {"prefers-color-scheme": "dark" if dark else "light",
                "prefers-reduced-motion": "reduce"}  # fmt: skip
    page.call("Emulation.setEmulatedMedia", {"features": [
        {"name": name, "value": value} for name, value in features.items()]})  # fmt: skip
    page.run(EDGES)
    page.press("Tab")
    found = set()
    for name, (first, second, tabs) in (
        ("opener-in-a-line", read), ("cut-off", read), ("bytes", read), ("two-calls", read),
        ("unescaped-bar", write_), ("thirty-tools", constrain), ("dead-end", constrain),
        ("call-by-grammar", constrain),
    ):  # fmt: skip
        show_example(page, name)
        for tab in (first, *tabs):
            show_tab(page, first if tab == first else second)
            if tab != first:
                show_tab(page, tab)
            page.frames()
            found |= {(tab, *one) for one in map(tuple, page.run("edges()"))}
    for sheet in ("help", "link"):
        page.run(f"document.getElementById('{sheet}').click()")
        page.frames()
        found |= {(sheet, *one) for one in map(tuple, page.run("edges()"))}
    low = sorted({one[1:] for one in found})
    assert low == [], "\n".join(" ".join(one) for one in low)
    page.close()
