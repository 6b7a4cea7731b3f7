"""The playground in a browser: what it shows of each example, by a server and as
one file; places, links, drafts, keys, names, contrast, both schemes and widths;
its policies, in the page and in its workers; hostile text; readings that do not
end; a text of a megabyte.  Pictures for people are kept in build/playground-pictures.

    scripts/test playground
"""

import base64
import functools
import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time
import zlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "pictures"))

from browser import Browser, find_browser  # noqa: E402

BUILT = ROOT / "build" / "playground"
PICTURES = ROOT / "build" / "playground-pictures"
AXE = ROOT / ".venv-playground" / "node_modules" / "axe-core" / "axe.min.js"
SINGLE = "parlance-playground.html"
EXAMPLES = ROOT / "playground" / "examples"
# In the order of the menu.
NAMES = [
    line.split("/")[-1].split(".")[0]
    for line in (ROOT / "playground" / "examples.js").read_text().splitlines()
    if line.startswith("import ")
]

STATES = {
    name: json.loads((EXAMPLES / f"{name}.json").read_text()) for name in NAMES
}
OF = {
    part: [name for name in NAMES if STATES[name]["part"] == part]
    for part in ("read", "write", "constrain")
}

IS_READ = (
    "document.querySelector('.part:not([hidden]) .worst') !== null &&"
    " !document.querySelector('.stale') && document.body.dataset.state === 'done'"
)
# The editor of a text, which is in a shadow root.
VIEW = (
    "(document.getElementById('%s').shadowRoot.querySelector('.cm-content')"
    ".cmTile.view)"
)


@pytest.fixture(scope="module")
def browser():
    if find_browser() is None:
        pytest.skip("no browser: scripts/install browser")
    with Browser() as found:
        yield found


class Handler(http.server.SimpleHTTPRequestHandler):
    asked = []

    def do_GET(self):
        self.asked.append(self.path)
        super().do_GET()

    def end_headers(self):
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *_):
        pass


def serve(folder):
    handler = type("Served", (Handler,), {"asked": []})
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(handler, directory=str(folder))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, handler


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Its address under a path of two folders."""
    root = tmp_path_factory.mktemp("site")
    shutil.copytree(BUILT, root / "a" / "b")
    server, handler = serve(root)
    yield f"http://127.0.0.1:{server.server_port}/a/b/", handler
    server.shutdown()


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """A server that nothing may ask."""
    server, handler = serve(tmp_path_factory.mktemp("other"))
    yield f"http://127.0.0.1:{server.server_port}/", handler
    assert handler.asked == []
    server.shutdown()


@pytest.fixture(scope="module")
def single(tmp_path_factory):
    folder = tmp_path_factory.mktemp("one file") / "with a space and ü"
    folder.mkdir()
    return shutil.copy(BUILT / SINGLE, folder)


def wait(page, condition=IS_READ, seconds=20):
    until = time.monotonic() + seconds
    while not page.run(condition):
        if time.monotonic() > until:
            text = page.run("document.querySelector('.part:not([hidden])').innerText")
            raise AssertionError(f"not {condition}, but: {text[:1500]}")
        time.sleep(0.02)


def show_example(page, name):
    page.run(
        "(() => { document.body.dataset.state = '';"
        f" const e = document.getElementById('examples'); e.value = {NAMES.index(name)};"
        " e.dispatchEvent(new Event('change')); })()"
    )
    wait(page)


def show_tab(page, name):
    page.run(f"document.getElementById('tab-{name}').click()")
    page.frames()


def put(page, text, part="response"):
    """Types a text over what is there."""
    view = VIEW % part
    page.run(f"{view}.focus()")
    page.run(
        f"{view}.dispatch({{changes: {{from: 0, to: {view}.state.doc.length,"
        f" insert: {json.dumps(text)}}}, userEvent: 'input.type'}})"
    )


def complaints(page):
    return [one for one in page.complaints() if "blob:" not in one]


def foreign(page, address):
    return [one for one in complaints(page) if not one.startswith(f"requested {address}")]


def response_of(state):
    text = state.get("response", "")
    return base64.b64decode(text["base64"]) if isinstance(text, dict) else text.encode()


def native(name, response, state, *more):
    command = os.environ.get("PARLANCE_CLI") or shutil.which("parlance")
    if command is None:
        pytest.skip("no command: set PARLANCE_CLI, or PATH")
    tools = state.get("tools")
    arguments = []
    if tools:
        path = PICTURES / "tools.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(tools)
        arguments += ["--tools", path]
    done = subprocess.run(
        [command, "explain", "--format", name, "--json", *arguments, *more],
        input=response, capture_output=True,
    )  # fmt: skip
    return json.loads(done.stdout)


SHOWN = """(() => {
  const tab = document.querySelector('#results [aria-selected=true]');
  document.getElementById('tab-message').click();
  tab.click();
  const rows = [...document.querySelectorAll('#regions .row')];
  return {
    rows: rows.map((row) => row.querySelector('.where').textContent),
    text: rows.map((row) => row.querySelector('.text').textContent),
    remarks: [...document.querySelectorAll('#regions .remark')]
      .map((one) => one.lastElementChild.textContent),
    message: ((pre) => {
      for (const sign of pre.querySelectorAll('.sign')) {
        const [, code] = /^U[+](.*)$/.exec(sign.dataset.sign) ?? [];
        sign.replaceWith(code ? String.fromCodePoint(parseInt(code, 16)) : '');
      }
      return pre.textContent;
    })(document.querySelector('#message pre').cloneNode(true)),
    family: document.querySelector('#verdict .summary b').textContent,
  };
})()"""


def plain(text):
    """Without what the page shows by signs."""
    return re.sub(r"\s+", "", text)


@pytest.mark.parametrize("build", ["site", "single"])
def test_examples(browser, site, single, build):
    page = browser.open(site[0] if build == "site" else single)
    wait(page)
    for name in OF["read"]:
        state = STATES[name]
        show_example(page, name)
        found = page.run(SHOWN)
        if "pasted" in state:
            assert "Taken as" in page.run("document.getElementById('taken').innerText")
            response = page.run(f"{VIEW % 'response'}.state.doc.toString()").encode()
            assert b"get_weather" in response and b"data:" not in response
        else:
            response = response_of(state)
            if response.decode("utf-8", "replace").encode() == response:
                kept = page.run(f"{VIEW % 'response'}.state.doc.toString()")
                assert kept.encode() == response, name
        facts = native(found["family"], response, state)
        owning = [row for row in facts["rows"] if "text" in row and row["kind"] != "held"]
        rows = [row for row in found["rows"] if not row.startswith("from")]
        assert rows == [f"{r['start']}–{r['end']}" for r in owning], name
        assert json.loads(found["message"]) == facts["message"], name
        said = {row.get("message", row["what"]) for row in facts["rows"]}
        said |= {row["what"] for row in facts["rows"]}
        said |= {one["message"] for one in facts["diagnostics"]}
        said |= {f"{one['name']}: {one['why']}" for one in facts["attempts"]}
        missing = [one for one in found["remarks"] if plain(one) not in map(plain, said)]
        assert missing == [], name
        wanted = [row for row in facts["rows"] if row["kind"] in ("hint", "malformed")]
        assert len(found["remarks"]) >= len(wanted), name
    address = site[0] if build == "site" else "file:"
    assert foreign(page, address) == []
    page.close()


def test_requests(browser, site):
    """Only what is beside the page is asked for, once."""
    address, handler = site
    handler.asked.clear()
    page = browser.open(address)
    wait(page)
    show_example(page, "events")
    names = sorted(path.removeprefix("/a/b/") for path in handler.asked)
    names = [name for name in names if name != "/favicon.ico"]
    assert names == ["", "app.js", "parser.wasm.gz", "style.css", "worker.js"]
    page.close()


def test_places(browser, single):
    """A row marks its own text in the editor, and the reverse."""
    page = browser.open(single)
    wait(page)
    view = VIEW % "response"
    text = "<think>\r\ne\u0301\U0001f600 \u20acx\0</think>\r\nYes \U0001f31e.<tool_call>"
    put(page, text)
    wait(page, f"{IS_READ} && document.querySelector('#regions').innerText.includes('Yes')")
    assert page.run(f"{view}.state.doc.toString()") == text
    data = text.encode()
    for index in range(page.run("document.querySelectorAll('#regions .row').length")):
        page.run(f"document.querySelectorAll('#regions .row')[{index}].querySelector('.label').click()")
        begin, end = (
            int(n) for n in page.run(
                f"document.querySelectorAll('#regions .row')[{index}]"
                ".querySelector('.where').textContent"
            ).split("–")
        )  # fmt: skip
        marked = page.run(
            f"(v => v.state.sliceDoc(v.state.selection.main.from, v.state.selection.main.to))({view})"
        )
        assert marked.encode() == data[begin:end]
        # And back: the row of the first character of the selection.
        page.run(
            f"(v => v.dispatch({{selection: {{anchor: v.state.selection.main.from}},"
            f" userEvent: 'select'}}))({view})"
        )
        if end > begin:
            assert page.run(
                "[...document.querySelectorAll('#regions .row')]"
                ".findIndex((row) => row.classList.contains('current'))"
            ) == index  # fmt: skip
    page.close()


def paste(page, text):
    """Pastes over what is there, as a person does."""
    page.run("document.body.dataset.state = ''")
    page.run(
        f"(v => {{ v.dispatch({{selection: {{anchor: 0, head: v.state.doc.length}}}});"
        f" const d = new DataTransfer(); d.setData('text/plain', {json.dumps(text)});"
        " v.contentDOM.dispatchEvent(new ClipboardEvent('paste',"
        " {clipboardData: d, bubbles: true, cancelable: true})); })"
        f"({VIEW % 'response'})"
    )
    wait(page, "document.body.dataset.state === 'done'")


def test_pastes(browser, single):
    """A paste is looked at, as it is; an example's family is not that of a paste."""
    page = browser.open(single)
    wait(page)
    show_example(page, "opener-in-a-line")
    view = f"{VIEW % 'response'}.state.doc.toString()"
    text = "<think>\r\nHm\r\n</think>\r\nYes"
    paste(page, text)
    assert page.run(view) == text
    assert "CR LF" in said(page, "remarks")
    assert page.run("document.getElementById('family').value") == ""
    page.run(
        "document.body.dataset.state = '';"
        " document.querySelector('#remarks button').click()"
    )
    wait(page)
    assert page.run(view) == text.replace("\r\n", "\n")
    call = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    answer = json.dumps({"choices": [{"message": {"content": call}}]})
    paste(page, answer)
    assert page.run(view) == call
    assert "1 call" in said(page, "ranking")
    page.run(
        "document.body.dataset.state = '';"
        " document.querySelector('#taken button').click()"
    )
    wait(page)
    assert page.run(view) == answer
    # The family that a person has chosen stays.
    page.run(
        "(e => { e.value = 'hermes_qwen2_5'; e.dispatchEvent(new Event('change')); })"
        "(document.getElementById('family'))"
    )
    paste(page, call)
    assert "hermes_qwen2_5" in said(page, "verdict")
    paste(page, "")
    page.close()


def test_stream_and_cut(browser, single):
    page = browser.open(single)
    wait(page)
    show_example(page, "two-calls")
    show_tab(page, "events")
    wait(page, "document.querySelectorAll('.line-of').length > 5")
    slider = "document.getElementById('slider')"
    page.run(f"{slider}.focus()")
    page.run(f"{slider}.value = 3; {slider}.dispatchEvent(new Event('input'))")
    assert page.run("document.getElementById('place').textContent") == "byte 3 of 224"
    assert "held: <th" in page.run("document.getElementById('held').textContent")
    page.press("ArrowRight", shift=True)
    assert page.run(f"{slider}.value") == "7"
    page.press("PageUp")
    assert page.run(f"{slider}.value") == "71"
    page.run("document.body.dataset.state = ''; document.getElementById('cut').click()")
    wait(page)
    assert "Cut at byte 71" in page.run("document.getElementById('verdict').innerText")
    state = STATES["two-calls"]
    facts = native("qwen3", response_of(state)[:71], state)
    assert json.loads(page.run(SHOWN)["message"]) == facts["message"]
    page.run("document.body.dataset.state = ''; document.getElementById('cut').click()")
    wait(page)
    assert "Cut at" not in page.run("document.getElementById('verdict').innerText")
    for kind in ("chat_completions", "responses", "messages"):
        show_tab(page, "shapes")
        page.run(
            f"(e => {{ e.value = '{kind}'; e.dispatchEvent(new Event('change')); }})"
            "(document.getElementById('kind'))"
        )
        wait(page, "document.getElementById('shape').textContent.includes('get_weather')")
    page.close()


def said(page, identifier):
    return page.run(f"document.getElementById('{identifier}').innerText")


def selected(page, part):
    return page.run(
        "(v => v.state.sliceDoc(v.state.selection.main.from,"
        f" v.state.selection.main.to))({VIEW % part})"
    )


def test_constraints(browser, site):
    """The tool that is refused, its place, and what a text may go on with."""
    address, handler = site
    handler.asked.clear()
    page = browser.open(address)
    wait(page)
    assert "/a/b/parlance.wasm.gz" not in handler.asked
    show_example(page, "thirty-tools")
    assert handler.asked.count("/a/b/parlance.wasm.gz") == 1
    assert "Refused: create_event" in said(page, "judgement")
    assert said(page, "refusal").count("compiles alone") == 29
    page.run("document.querySelector('#judgement .own').click()")
    assert "pattern" in selected(page, "source")
    page.press("F8")
    page.press("F8", shift=True)
    assert "pattern" in selected(page, "source")
    # Mended where it is refused.
    text = page.run(f"{VIEW % 'source'}.state.doc.toString()")
    put(page, text.replace("(?<hour>", ""), "source")
    wait(page, "document.getElementById('judgement').innerText.includes('Compiled')")
    show_example(page, "dead-end")
    assert "No JSON text is valid" in said(page, "judgement")
    show_example(page, "call-by-grammar")
    show_tab(page, "try")
    wait(page, "document.getElementById('acceptance').innerText.includes('byte 75')")
    assert "a number" in said(page, "acceptance")
    text = page.run(f"{VIEW % 'text'}.state.doc.toString()")
    put(page, text[:75], "text")
    wait(page, "document.getElementById('acceptance').innerText.includes('not finished')")
    for notation, source, good, bad, at in (
        ("regex", "a+é|[0-9]{3}", "aaé", "aab", 2),
        ("gbnf", 'root ::= "x" | "y" root', "yyx", "yz", 1),
        ("lark", 'start: "a" "😀"', "a😀", "a😁", 4),
        ("ebnf", 'root ::= "ab"', "ab", "b", 0),
        ("json_schema", '{"type": "array", "items": {"type": "null"}}', "[null]", "[1]", 1),
        ("structural_tag", json.dumps({"type": "structural_tag", "format": {
            "type": "const_string", "value": "ok"}}), "ok", "oh", 1),
    ):  # fmt: skip
        page.run(
            f"(e => {{ e.value = '{notation}'; }})(document.getElementById('notation'))"
        )
        put(page, source, "source")
        wait(page, "document.getElementById('judgement').innerText.includes('Compiled')")
        page.run("document.body.dataset.state = ''")
        put(page, source + " ", "source")
        put(page, source, "source")
        wait(page, f"{IS_READ} && document.getElementById('judgement').innerText.includes('Compiled')")
        put(page, good, "text")
        wait(page, "document.getElementById('acceptance').innerText.includes('Accepted')")
        put(page, bad, "text")
        wait(page, f"document.getElementById('acceptance').innerText.includes('byte {at}')")
        page.run(f"{VIEW % 'text'}.dispatch({{changes: {{from: 0, to: {VIEW % 'text'}.state.doc.length}}}})")
        page.run("document.getElementById('walk').click()")
        wait(page, f"{VIEW % 'text'}.state.doc.length > 0")
        put(page, page.run(f"{VIEW % 'text'}.state.doc.toString()"), "text")
        wait(page, "document.getElementById('acceptance').innerText.includes('Accepted')")
    # Another tab, or another text, does not keep what was written from being compiled.
    page.run("(e => { e.value = 'regex'; })(document.getElementById('notation'))")
    put(page, "b", "source")
    wait(page, "document.getElementById('judgement').innerText.includes('Compiled')")
    for then in (
        "document.getElementById('tab-try').click()",
        f"{VIEW % 'text'}.dispatch({{changes: {{from: 0, insert: 'b'}}, userEvent: 'input.type'}})",
    ):
        for source, words in (("(", "Refused"), ("b", "Compiled")):
            page.run(
                f"{VIEW % 'source'}.dispatch({{changes: {{from: 0, insert: '{source}',"
                f" to: {VIEW % 'source'}.state.doc.length}}, userEvent: 'input.type'}});"
                f" {then}"
            )
            wait(page, f"document.getElementById('judgement').innerText.includes('{words}')")
    put(page, '{"type": 3}', "source")
    page.run("(e => { e.value = 'json_schema'; e.dispatchEvent(new Event('change')); })"
             "(document.getElementById('notation'))")  # fmt: skip
    wait(page, "document.getElementById('judgement').innerText.includes('Refused')")
    assert complaints(page) == [
        one for one in complaints(page) if one.startswith(f"requested {address}")
    ]
    page.close()


def test_writing(browser, single):
    page = browser.open(single)
    wait(page)
    show_example(page, "unescaped-bar")
    assert "with 1 lint" in said(page, "format-state")
    assert "unescaped_bar" in said(page, "lints")
    page.run("document.querySelector('#lints .own').click()")
    assert "open_pattern" in selected(page, "format-file")
    text = page.run(f"{VIEW % 'format-file'}.state.doc.toString()")
    page.run("document.body.dataset.state = ''")
    put(page, text.replace("<|call:", "<\\\\|call:").replace(")|>", ")\\\\|>"), "format-file")
    wait(page, f"{IS_READ} && document.getElementById('format-state').innerText.includes('without')")
    show_tab(page, "sampled")
    wait(page, "document.getElementById('sample-read').innerText.includes('get_weather')")
    # Its samples are read again.
    wait(page, "document.getElementById('samples').innerText.includes('2 of 2 samples')")
    page.run("document.body.dataset.state = ''")
    put(page, "It is warm.<|end|>", "sample")
    wait(page, "!document.getElementById('keep-sample').disabled"
               " && document.getElementById('sample-read').innerText.includes('warm')")  # fmt: skip
    # What is kept is what was read, also while another text is typed.
    page.run(
        f"{VIEW % 'sample'}.dispatch({{changes: {{from: 0, insert: 'No. '}},"
        " userEvent: 'input.type'}); document.getElementById('keep-sample').click()"
    )
    assert "3 of 3 samples" in said(page, "samples")
    page.run(
        "(e => { e.value = '{}'; e.dispatchEvent(new Event('change')); })"
        "(document.querySelectorAll('#samples input')[2])"
    )
    assert "2 of 3 samples" in said(page, "samples") and "It is warm." in said(page, "samples")
    page.run("[...document.querySelectorAll('#samples button')]"
             ".find((e) => e.textContent === 'It should').click()")  # fmt: skip
    assert "3 of 3 samples" in said(page, "samples")
    state = json.loads(page.run("sessionStorage.getItem('parlance-draft')"))
    assert [one["text"] for one in state["samples"]][2] == "It is warm.<|end|>"
    put(page, text, "format-file")
    wait(page, "document.getElementById('samples').innerText.includes('2 of 3 samples')")
    page.run("[...document.querySelectorAll('#samples button')]"
             ".filter((e) => e.textContent === 'Remove')[2].click()")  # fmt: skip
    assert "1 of 2 samples" in said(page, "samples")
    # A sample that is not UTF-8 is read as it is.
    page.run(
        "(() => { const file = new File([JSON.stringify({...JSON.parse("
        "sessionStorage.getItem('parlance-draft')), samples: [{text: {base64: '/w=='},"
        " message: '{}'}]})], 'parlance.json');"
        " const event = new Event('drop', {cancelable: true});"
        " event.dataTransfer = { files: [file] }; document.dispatchEvent(event); })()"
    )
    wait(page, "document.getElementById('samples').innerText.includes('of 1 samples')"
               " && document.body.dataset.state === 'done'")  # fmt: skip
    page.run("document.querySelector('#samples button').click()")
    wait(page, "document.querySelector('#sample-read .byte') !== null")
    sign = "document.querySelector('#sample-read .byte').dataset.sign"
    assert page.run(sign) == "\\xFF"
    page.run("document.body.dataset.state = ''")
    # A broken file says where.
    put(page, text.replace('"version": 1', '"version": 1,,'), "format-file")
    wait(page, "document.getElementById('format-state').innerText.includes('cannot be loaded')")
    # From a family, which holds its walks.
    page.run(
        "(e => { e.value = 'qwen3'; e.dispatchEvent(new Event('change')); })"
        "(document.getElementById('from'))"
    )
    wait(page, "document.getElementById('format-state').innerText.includes('without')")
    show_tab(page, "walks")
    wait(page, "document.getElementById('walked').innerText.includes('walks held')", 60)
    # A family that writes what it does not read.
    text = page.run(f"{VIEW % 'format-file'}.state.doc.toString()")
    broken = text.replace('"close": "</think>"', '"close": "</thinking>"', 1)
    assert broken != text
    page.close()


def test_take_away(browser, single, tmp_path):
    """Code of three languages prints the message; a report has the text whole."""
    page = browser.open(single)
    wait(page)
    programs = {"shell": ["bash"], "python": [sys.executable], "javascript": ["node"],
                "cpp": ["g++", "-std=c++20", "-fsyntax-only", "-Wall", "-Werror",
                        f"-I{ROOT / 'include'}"]}  # fmt: skip
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "parlance").symlink_to(ROOT / "bindings" / "node")
    for name in ("opener-in-a-line", "bytes", "hidden-signs", "xml-argument", "cut-off"):
        show_example(page, name)
        if name == "cut-off":
            page.run("document.body.dataset.state = ''")
            put(page, "<|im_start|>assistant\n", "prefix")
            wait(page)
        wanted = json.loads(page.run(SHOWN)["message"])
        page.run("document.getElementById('link').click()")
        for kind, program in programs.items():
            if shutil.which(program[0]) is None:
                continue
            page.run(
                f"(e => {{ e.value = '{kind}'; e.dispatchEvent(new Event('change')); }})"
                "(document.querySelector('#share select'))"
            )
            marks = {"shell": "parlance parse", "python": "parse_response",
                     "javascript": "await init", "cpp": "int main"}  # fmt: skip
            text = "(e => { for (const s of e.querySelectorAll('.sign')) {" \
                " const code = /^U[+](.*)$/.exec(s.dataset.sign);" \
                " s.replaceWith(code ? String.fromCodePoint(parseInt(code[1], 16)) : ''); }" \
                " return e.textContent; })(document.querySelector('#share pre').cloneNode(true))"
            wait(page, f"{text}.includes('{marks[kind]}')")
            code = page.run(text)
            endings = {"javascript": "mjs", "cpp": "cc"}
            path = tmp_path / f"code.{endings.get(kind, kind)}"
            path.write_text(code)
            done = subprocess.run([*program, path], cwd=tmp_path, capture_output=True, text=True)
            if kind == "python" and "No module named 'parlance'" in done.stderr:
                continue
            if kind == "javascript" and not (ROOT / "bindings/node/package").exists():
                # The package finds its module beside it.
                code = code.replace("await init();", "await init((await import('node:fs'))"
                                    f".readFileSync('{ROOT}/build/wasm/parlance.wasm'));")  # fmt: skip
                path.write_text(code.replace('"parlance"', f'"{ROOT}/bindings/node/index.node.js"'))
                done = subprocess.run([*program, path], cwd=tmp_path, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            if kind == "cpp":  # that it compiles is what is asked
                shutil.copy(path, PICTURES / f"{name}.cc")
                continue
            assert json.loads(done.stdout) == wanted, (name, kind)
        page.run("document.getElementById('link').click()")
    page.close()


TAKEN = """(async kind => {
  const sheet = document.getElementById('share');
  if (!sheet.hidden) document.getElementById('link').click();
  document.getElementById('link').click();
  // Until it is made, there is nothing to copy.
  const turn = async () => {
    while (!sheet.querySelector('button') || sheet.querySelector('button').disabled) {
      await new Promise((done) => setTimeout(done, 20));
    }
  };
  await turn();
  const select = sheet.querySelector('select');
  if (![...select.options].some(({value}) => value === kind)) return null;
  select.value = kind;
  select.dispatchEvent(new Event('change'));
  await turn();
  for (const s of sheet.querySelectorAll('pre .sign')) {
    const code = /^U[+](.*)$/.exec(s.dataset.sign);
    s.replaceWith(code ? String.fromCodePoint(parseInt(code[1], 16)) : '');
  }
  return sheet.querySelector('pre').textContent;
})"""


def test_vectors(browser, single, tmp_path, monkeypatch):
    """What is taken away as a vector is read by the loader of the vectors."""
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "support"))
    import conformance

    page = browser.open(single)
    wait(page)
    members = {"id", "family", "source", "tags", "prefix", "raw", "tools", "expected",
               "hf_template_today"}  # fmt: skip
    files = {}
    for name in ("two-calls", "cut-off", "opener-in-a-line", "xml-argument", "bytes"):
        show_example(page, name)
        found = page.run(SHOWN)
        text = page.run(f"{TAKEN}('vector')")
        if name == "bytes":
            assert text is None
            continue
        (vector,) = json.loads(text)
        family = found["family"]
        folder = tmp_path / name
        (folder / "formats").mkdir(parents=True)
        (folder / "formats" / f"{family}.json").write_text(text)
        monkeypatch.setenv("PARLANCE_VECTORS", str(folder))
        rows = conformance.read(f"formats/{family}.json")
        assert rows[-1] == vector and set(vector) <= members
        assert vector["raw"].encode() == response_of(STATES[name])
        message = json.loads(found["message"])
        expected = vector["expected"]
        assert expected.get("reasoning", "") == message.get("thinking", "").strip()
        assert expected.get("content", "") == message.get("content", "").strip()
        calls = [call["function"] for call in message.get("tool_calls", [])]
        assert [
            {key: call[key] for key in ("name", "arguments")}
            for call in expected.get("tool_calls", [])
        ] == calls
        assert expected.get("malformed", False) == (name in ("cut-off", "opener-in-a-line"))
        files[family] = files.get(family, []) + [vector]
    page.close()
    # For whoever runs the suite of the library on them: PARLANCE_VECTORS.
    out = PICTURES.parent / "playground-vectors" / "formats"
    out.mkdir(parents=True, exist_ok=True)
    for family, vectors in files.items():
        (out / f"{family}.json").write_text(json.dumps(vectors))


def test_links_and_drafts(browser, site, single):
    address, _ = site
    page = browser.open(address)
    wait(page)
    show_example(page, "bytes")
    show_tab(page, "message")
    view = VIEW % "response"
    page.run(f"{view}.dispatch({{selection: {{anchor: 12, head: 17}}, userEvent: 'select'}})")
    chosen = selected(page, "response")
    page.run("document.getElementById('link').click()")
    wait(page, "document.getElementById('share').innerText.includes('characters')")
    page.run("document.querySelector('#share button').click()")
    wait(page, "location.hash.length > 10")
    link = page.run("location.href")
    before = page.run(SHOWN)
    page.close()
    for where in (link, f"{pathlib.Path(single).as_uri()}#{link.split('#')[1]}"):
        page = browser.open(where)
        wait(page)
        wait(page, "document.getElementById('notice').innerText.startsWith('From a link')")
        wait(page)
        assert page.run("document.getElementById('tab-message').ariaSelected") == "true"
        assert selected(page, "response") == chosen
        assert page.run(SHOWN) == before
        assert "then." not in said(page, "notice")
        page.close()
    # A format that is another now, and another family; other parts.
    opened = (
        ({"part": "read", "family": "qwen3", "response": "Hi", "digest": "qwen3 00"},
         "notice", "The format qwen3 is not as it was then"),
        ({"part": "read", "response": "Hi", "digest": "lfm2 00"}, "notice", "read as lfm2 then"),
        ({"part": "write", "source": "{ }", "tab": "sampled", "selection": [1, 2]},
         "tab-sampled", "Sample"),
        ({"part": "constrain", "kind": "regex", "source": "\u00e9[0-9]", "tab": "try",
          "selection": [2, 5]}, "tab-try", "Try"),
    )  # fmt: skip
    page = browser.open(address)
    wait(page)
    for state, place, words in opened:
        packed = zlib.compressobj(9, zlib.DEFLATED, -15)
        data = packed.compress(json.dumps({"v": "0.1.0", **state}).encode()) + packed.flush()
        fragment = base64.urlsafe_b64encode(data).decode().rstrip("=")
        page.run(f"document.body.dataset.state = ''; location.hash = '#1.{fragment}'")
        wait(page, "document.body.dataset.state === 'done'")
        assert words in said(page, place), state
        if place != "notice":
            assert page.run(f"document.getElementById('{place}').ariaSelected") == "true"
            assert selected(page, "source" if place == "tab-try" else "format-file") in (" ", "[0-")
    page.close()
    # A reload has the text; one that did not end is not read again.
    page = browser.open(address)
    wait(page)
    put(page, "<think>A draft.</think>Yes.")
    wait(page, f"{IS_READ} && document.getElementById('regions').textContent.includes('draft')")
    page.go(address)
    wait(page)
    assert "draft" in page.run(SHOWN)["message"]
    page.run(
        "sessionStorage.setItem('parlance-draft', JSON.stringify({...JSON.parse("
        "sessionStorage.getItem('parlance-draft')), isRunning: true}))"
    )
    page.go(address)
    wait(page, "document.getElementById('notice').innerText.includes('did not end')")
    assert "draft" in page.run(f"{VIEW % 'response'}.state.doc.toString()")
    page.run("document.querySelector('#notice button').click()")
    wait(page)
    for fragment, words in (("1.!!", "damaged"), ("9.AAAA", "newer")):
        page.run(f"location.hash = '#{fragment}'")
        wait(page, f"document.getElementById('notice').innerText.includes('{words}')")
    page.close()


SLOW_PACKING = """{
  const Packed = CompressionStream;
  let packed = 0;
  globalThis.CompressionStream = function(kind) {
    const stream = new Packed(kind);
    if (packed++ > 0) return stream;
    const { readable, writable } = new TransformStream({
      flush: () => new Promise((done) => setTimeout(done, 1000)) });
    stream.readable.pipeTo(writable);
    return { readable, writable: stream.writable };
  };
}"""


def test_what_is_left_out(browser, single):
    """A link has no text that is left out, also if to pack the text takes long."""
    page = browser.open(single, before=SLOW_PACKING)
    wait(page)
    put(page, "[]", "tools")
    page.run(
        "document.getElementById('link').click();"
        " document.querySelector('#share input').click();"
        " document.querySelector('#share button').click()"
    )
    assert "the response" in page.run("document.querySelector('#share label').innerText")
    time.sleep(1.5)
    assert page.run("location.hash") == ""  # there was no link to copy yet
    page.run("document.querySelector('#share button').click()")
    wait(page, "location.hash.length > 10")
    packed = page.run("location.hash").removeprefix("#1.")
    data = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
    state = json.loads(zlib.decompress(data, -15))
    assert state["tools"] == "[]" and "response" not in state
    page.close()


def test_a_later_link_counts(browser, site):
    """Also if it is unpacked sooner than an earlier one."""
    address, _ = site
    page = browser.open(address)
    wait(page)
    page.run(
        "const Unpacked = DecompressionStream; let count = 0;"
        " globalThis.DecompressionStream = function(kind) {"
        " const stream = new Unpacked(kind); if (count++ > 0) return stream;"
        " const { readable, writable } = new TransformStream({"
        " flush: () => new Promise((done) => setTimeout(done, 800)) });"
        " stream.readable.pipeTo(writable);"
        " return { readable, writable: stream.writable }; }; 0"
    )
    for text in ("Earlier.", "Later."):
        packed = zlib.compressobj(9, zlib.DEFLATED, -15)
        data = packed.compress(json.dumps({"part": "read", "response": text}).encode())
        fragment = base64.urlsafe_b64encode(data + packed.flush()).decode().rstrip("=")
        page.run(f"location.hash = '#1.{fragment}'")
        time.sleep(0.1)
    wait(page, "document.getElementById('regions').textContent.includes('Later')")
    time.sleep(1.2)
    assert page.run(f"{VIEW % 'response'}.state.doc.toString()") == "Later."
    page.close()


def drop(page, name, text):
    page.run(
        f"(() => {{ const file = new File([{json.dumps(text)}], {json.dumps(name)});"
        " const event = new Event('drop', {cancelable: true});"
        " event.dataTransfer = { files: [file] }; document.dispatchEvent(event); })()"
    )


def test_configurations(browser, single):
    """A tokenizer's configuration, or a chat template, is what each part begins with."""
    page = browser.open(single)
    wait(page)
    marks = "<tool_call> </tool_call> <think>"
    for part, name, text in (
        ("read", "tokenizer_config.json", json.dumps({"chat_template": marks})),
        ("constrain", "chat_template.jinja", marks),
        ("write", "tokenizer_config.json", json.dumps({"chat_template": marks})),
    ):
        show_tab(page, part)
        wait(page, "document.body.dataset.state === 'done'")
        drop(page, name, text)
        wait(page, "document.getElementById('notice').innerText.includes('is that of qwen3')")
        assert "also be of" in said(page, "notice")
        if part == "write":
            wait(page, f"{VIEW % 'format-file'}.state.doc.toString().includes('\"qwen3\"')")
            continue
        field = "family" if part == "read" else "writer"
        assert page.run(f"document.getElementById('{field}').value") == "qwen3"
        other = "document.querySelector('#notice button')"
        page.run(f"document.body.dataset.state = ''; {other}.click()")
        wait(page, "document.body.dataset.state === 'done'")
        value = page.run(f"document.getElementById('{field}').value")
        assert value == page.run(f"{other}.textContent") != "qwen3"
        drop(page, "README.md", "Yes.")  # the next part's notice is its own
    # One that has a template of its own opens it, with what was being read as its sample.
    template = {"version": 1, "start_anchor": "<|a|>", "fields": {
        "thinking": {"open": "[", "close": "]"}, "content": {}}}  # fmt: skip
    config = json.dumps({"tokenizer_class": "X", "response_template": template})
    show_tab(page, "read")
    put(page, "[Hm.]Yes.")
    wait(page, f"{IS_READ} && document.getElementById('regions').textContent.includes('Hm')")
    drop(page, "tokenizer_config.json", config)
    wait(page, "document.getElementById('format-state').innerText.includes('It loads')")
    show_tab(page, "sampled")
    wait(page, "document.getElementById('sample-read').innerText.includes('\"Hm.\"')")
    source = page.run(f"{VIEW % 'format-file'}.state.doc.toString()")
    assert json.loads(source)["response_template"] == template
    # Pasted, too.
    put(page, "", "format-file")
    wait(page, "document.getElementById('format-state').innerText.includes('No format yet')")
    page.run(
        f"(v => {{ const d = new DataTransfer(); d.setData('text/plain', {json.dumps(config)});"
        " v.contentDOM.dispatchEvent(new ClipboardEvent('paste',"
        " {clipboardData: d, bubbles: true, cancelable: true})); })"
        f"({VIEW % 'format-file'})"
    )
    wait(page, "document.getElementById('format-state').innerText.includes('It loads')")
    for text, words in (
        (json.dumps({"response_schema": {}, "chat_template": marks}), "response_schema, which"),
        (json.dumps({"response_schema": {}}), "No family is known"),
        (json.dumps({"response_template": {}}), "is the response_template"),
        (json.dumps({"chat_template": 3}), "No family is known"),
    ):
        drop(page, "tokenizer_config.json", text)
        wait(page, f"document.getElementById('notice').innerText.includes('{words}')")
    assert foreign(page, "file:") == []
    page.close()


def test_what_cannot_be_loaded_is_asked_for_again(browser, site):
    address, _ = site
    page = browser.open(
        address,
        before="const asked = fetch; let lost = 0; globalThis.fetch = (name) =>"
        " name === 'worker.js' && lost++ < 4 ? Promise.reject(new Error('lost'))"
        " : asked(name);",
    )
    wait(page, "document.getElementById('verdict').innerText.includes('lost')")
    again = "document.querySelector('#verdict button')"
    for _ in range(3):
        page.run(f"{again} && {again}.textContent === 'Read again' && {again}.click(); 0")
        time.sleep(0.5)
    wait(page, "document.querySelectorAll('#regions .row').length > 0")
    wait(page, "document.getElementById('family').options.length > 50")
    show_tab(page, "constrain")
    wait(page, "document.getElementById('judgement').innerText.includes('ompiled')"
               " || document.getElementById('judgement').innerText.includes('Refused')")  # fmt: skip
    page.close()


def test_a_folder_cannot_be_read(browser, single):
    page = browser.open(single)
    wait(page)
    page.run(
        "(() => { const file = new File([], 'a<b>'); file.slice = () => ({ arrayBuffer:"
        " () => Promise.reject(new Error('it is a folder')) });"
        " const event = new Event('drop', {cancelable: true});"
        " event.dataTransfer = { files: [file] }; document.dispatchEvent(event); })()"
    )
    wait(page, "!document.getElementById('notice').hidden")
    assert said(page, "notice") == "a<b> cannot be read: it is a folder"
    page.close()


def test_lists_are_drawn_without_what_they_list(browser, single, tmp_path):
    """An event list is empty until its stream is there; tokens that were forgotten
    have no text."""
    page = browser.open(single)
    wait(page)
    show_example(page, "two-calls")
    show_tab(page, "events")
    wait(page, "document.querySelectorAll('#events .line-of').length > 5")
    show_tab(page, "regions")
    put(page, "Yes.")
    wait(page, f"{IS_READ} && document.getElementById('regions').innerText.includes('Yes')")
    page.run(
        "document.getElementById('tab-events').click();"
        " document.querySelector('#events .lines').dispatchEvent(new Event('scroll'))"
    )
    wait(page, "document.querySelectorAll('#events .line-of').length > 0")
    show_example(page, "call-by-grammar")
    show_tab(page, "allowed")
    path = tmp_path / "tokenizer.json"
    tokenizer_file(path)
    open_file(page, path, "tokenizer-file")
    wait(page, "document.getElementById('allowed-said').innerText.includes('may come')"
               " || document.getElementById('allowed-said').innerText.includes('is refused')")  # fmt: skip
    put(page, "", "text")
    wait(page, "document.querySelectorAll('#allowed .line-of').length > 0")
    show_tab(page, "try")
    page.run("document.querySelector('#tokenizer button').click()")
    page.run("document.querySelector('#allowed .lines').dispatchEvent(new Event('scroll'))")
    show_tab(page, "allowed")
    wait(page, "document.getElementById('allowed-said').innerText.includes('needs the')")
    assert foreign(page, "file:") == []
    page.close()


def test_keyboard(browser, single):
    """What has lost a call is found and shown without a mouse."""
    page = browser.open(single)
    wait(page)
    show_example(page, "cut-off")
    page.run("document.getElementById('examples').focus()")
    stops = []
    for _ in range(3):
        page.press("F6")
        stops.append(page.run("document.activeElement.id"))
    assert stops == ["response", "slider", "tab-regions"]
    page.press("F6", shift=True)
    assert page.run("document.activeElement.id") == "slider"
    page.press("F8")
    remark = "document.activeElement.textContent"
    assert "remark" in page.run("document.activeElement.className")
    count = page.run("document.querySelectorAll('#regions .remark:not(.held)').length")
    there = [page.run(remark)]
    for _ in range(count - 1):
        page.press("F8")
        there.append(page.run(remark))
    back = [there[-1]]
    for _ in range(count - 1):
        page.press("F8", shift=True)
        assert "remark" in page.run("document.activeElement.className")
        back.append(page.run(remark))
    assert len(set(there)) == count and back == there[::-1]
    page.press("ArrowUp")
    assert "row" in page.run("document.activeElement.className")
    page.press("Enter")
    assert page.run("document.querySelector('#regions .detail') !== null")
    # Escape closes a sheet, and its button says so.
    for button in ("link", "help"):
        page.run(f"document.getElementById('{button}').click()")
        expanded = f"document.getElementById('{button}').ariaExpanded"
        assert page.run(expanded) == "true"
        page.press("Escape")
        assert page.run(expanded) == "false"
    # Tab leaves an editor.
    page.run(f"{VIEW % 'response'}.focus()")
    page.press("Tab")
    assert page.run("document.activeElement.id") != "response"
    page.run("document.getElementById('tab-regions').focus()")
    page.press("ArrowRight")
    assert page.run("document.activeElement.id") == "tab-message"
    assert page.run("!document.getElementById('message').hidden")
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    named = {
        (node.get("role", {}).get("value"), node.get("name", {}).get("value"))
        for node in nodes
        if not node.get("ignored")
    }
    for role, name in (
        ("textbox", "Response"), ("combobox", "Family"), ("slider", "Stream"),
        ("button", "Cut here"), ("tab", "Message"), ("combobox", "Examples"),
        ("tabpanel", "Message"), ("button", "Take away"),
    ):  # fmt: skip
        assert (role, name) in named, (role, name, sorted(map(str, named)))
    page.close()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 1280])
def test_looks(browser, single, width, dark):
    page = browser.open(single, width=width, height=844, dark=dark)
    wait(page)
    read = ("input", "result", ("regions", "message", "events", "shapes"))
    write = ("written", "judged", ("lints", "walks", "sampled"))
    constrain = ("described", "answer", ("refusal", "try", "allowed"))
    for name, (first, second, tabs) in (
        ("cut-off", read), ("hidden-signs", read), ("bytes", read),
        ("unescaped-bar", write), ("thirty-tools", constrain),
        ("call-by-grammar", constrain),
    ):  # fmt: skip
        show_example(page, name)
        for tab in (first, *tabs):
            if tab == first:
                show_tab(page, first)
            else:
                show_tab(page, second)
                show_tab(page, tab)
            page.frames()
            over = page.run("document.documentElement.scrollWidth - innerWidth")
            assert over <= 0, (name, tab)
            page.run(AXE.read_text() + ";0")
            found = page.run(
                "axe.run().then(({violations}) => violations.map((one) => [one.id,"
                " one.nodes.map((node) => node.html.slice(0, 200))]))"
            )
            assert found == [], (name, tab)
            scheme = "dark" if dark else "light"
            page.picture(PICTURES / f"{name}-{tab}-{width}-{scheme}.png")
        if width == 390:
            small = page.run(
                "[...document.querySelectorAll('button, select')].filter((e) =>"
                " e.checkVisibility() && e.getBoundingClientRect().height < 44)"
                ".map((e) => e.outerHTML)"
            )
            assert small == []
    page.close()


def refused(page, expression):
    answer = page.call(
        "Runtime.evaluate",
        {"expression": f"(async () => {{ try {{ {expression}; return false; }}"
         " catch (error) { return true; } })()",
         "awaitPromise": True, "returnByValue": True,
         "allowUnsafeEvalBlockedByCSP": False},
    )  # fmt: skip
    return answer["result"].get("value")


@pytest.mark.parametrize("build", ["site", "single"])
def test_policies(browser, site, single, other, build):
    page = browser.open(site[0] if build == "site" else single)
    wait(page)
    address, handler = other
    workers = list(page.workers())
    assert workers
    for place in (page, workers[-1]):
        assert refused(place, f"await fetch('{address}fetch')")
        assert refused(place, "eval('1')")
        assert refused(place, "new Function('1')")
    assert refused(page, "document.body.innerHTML = '<b>x</b>'")
    assert refused(page, "new Worker('data:text/javascript,')")
    assert refused(page, "trustedTypes.createPolicy('another', {})")
    page.run(
        f"(() => {{ const e = new Image(); e.src = '{address}image';"
        " document.body.append(e);"
        " const s = document.createElement('div'); s.setAttribute('style', 'color: red');"
        " s.id = 'styled'; document.body.append(s); })()"
    )
    time.sleep(0.3)
    colour = "getComputedStyle(document.getElementById('styled')).color"
    assert page.run(colour) != "rgb(255, 0, 0)"
    assert handler.asked == []
    page.close()


def test_hostile_text(browser, single, other):
    address, handler = other
    page = browser.open(single)
    wait(page)
    markup = f'<img src={address}x onerror="fetch(\'{address}y\')"><script>alert(1)</script>'
    for part in ("response", "tools", "prefix"):
        put(page, markup, part)
    tools = [{"type": "function", "function": {"name": "__proto__", "parameters": {
        "properties": {markup: {}}}}}]  # fmt: skip
    put(page, f"<think>{markup}\u202e</think>{markup}", "response")
    wait(page, f"{IS_READ} && document.getElementById('regions').textContent.includes('think')")
    put(page, json.dumps(tools), "tools")
    page.run("document.body.dataset.state = ''")
    wait(page)
    for tab in ("regions", "message", "events", "shapes"):
        show_tab(page, tab)
        page.frames()
        assert page.run("document.querySelectorAll('main img, main script').length") == 0
    assert handler.asked == []
    assert not any("alert" in one for one in complaints(page))
    page.close()


def test_a_reading_that_does_not_end(browser, single):
    page = browser.open(single)
    wait(page)
    worker = list(page.workers())[-1]
    worker.run("self.onmessage = () => { for (;;); }; 0")
    put(page, "<think>Kept.</think>Yes.")
    wait(page, "document.getElementById('verdict').innerText.includes('Still reading')")
    page.run("document.querySelector('#verdict button').click()")
    wait(page, "document.getElementById('verdict').innerText.includes('It was stopped')")
    assert "Kept." in page.run(f"{VIEW % 'response'}.state.doc.toString()")
    page.run("document.querySelector('#verdict button').click()")
    wait(page, f"{IS_READ} && document.getElementById('regions').textContent.includes('Kept.')")
    page.close()


def test_older_browsers(browser, single, tmp_path):
    """Without Trusted Types, and without the newest function that is used."""
    text = pathlib.Path(single).read_text()
    policy = "; require-trusted-types-for 'script'; trusted-types parlance"
    assert policy in text
    older = tmp_path / "older.html"
    older.write_text(text.replace(policy, ""))
    page = browser.open(
        older, before="delete globalThis.trustedTypes; delete Uint8Array.fromBase64;"
    )
    wait(page)
    show_example(page, "two-calls")
    assert "Bern" in page.run(SHOWN)["message"]
    page.close()


def open_file(page, path, field="file"):
    document = page.call("DOM.getDocument")["root"]["nodeId"]
    node = page.call("DOM.querySelector", {"nodeId": document, "selector": f"#{field}"})
    files = {"nodeId": node["nodeId"], "files": [str(path)]}
    page.call("DOM.setFileInputFiles", files)


def tokenizer_file(path):
    """A tokenizer.json of every byte, some words and the marks of qwen3."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {byte: chr(byte) for byte in plain}
    for i, byte in enumerate(byte for byte in range(256) if byte not in letters):
        letters[byte] = chr(256 + i)
    words = [bytes([byte]) for byte in range(256)]
    words += [b"get", b"get_weather", b" is", b"arguments"]
    spelled = ["".join(letters[byte] for byte in word) for word in words]
    marks = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<|im_end|>"]
    added = [
        {"id": len(words) + i, "content": mark, "special": mark == "<|im_end|>"}
        for i, mark in enumerate(marks)
    ]
    vocabulary = {word: i for i, word in enumerate(spelled)}
    path.write_text(json.dumps({
        "version": "1.0", "truncation": None, "added_tokens": added,
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": vocabulary, "merges": []},
    }))  # fmt: skip
    return {
        word: i for i, word in enumerate([*words, *(mark.encode() for mark in marks)])
    }


@pytest.mark.parametrize("build", ["site", "single"])
def test_tokenizer(browser, site, single, tmp_path, build):
    """Which tokens are allowed; a file that is none costs a worker at most."""
    page = browser.open(site[0] if build == "site" else single)
    wait(page)
    show_example(page, "call-by-grammar")
    page.run(
        "(e => { e.value = 'regex'; e.dispatchEvent(new Event('change')); })"
        "(document.getElementById('notation'))"
    )
    put(page, "(get_weather|gét|<)é*", "source")
    put(page, "", "text")
    wait(page, "document.getElementById('judgement').innerText.includes('Compiled')")
    show_tab(page, "allowed")
    wait(page, "document.getElementById('allowed-said').innerText.includes('needs the tokenizer')")
    path = tmp_path / "tokenizer<b>.json"
    ids = tokenizer_file(path)
    open_file(page, path, "tokenizer-file")
    wait(page, "document.getElementById('allowed-said').innerText.includes('may come')")
    told = said(page, "tokenizer")
    assert "tokenizer<b>.json" in told and f"{len(ids)} tokens" in told
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert digest[:16] in told
    lines = "[...document.querySelectorAll('#allowed .line-of')].map((e) => e.textContent)"
    wanted = [ids[b"<"], ids[b"g"], ids[b"get"], ids[b"get_weather"]]
    assert [int(line.split()[0]) for line in page.run(lines)] == wanted
    assert "4 tokens of 265" in said(page, "allowed-said")
    page.run(
        "(e => { e.value = 'get'; e.dispatchEvent(new Event('input')); })"
        "(document.getElementById('filter'))"
    )
    wait(page, f"{lines}.length === 2")
    put(page, "get_we", "text")
    wait(page, "document.getElementById('allowed-said').innerText.includes('What must follow: ather')")
    assert str(ids[b"a"]) in said(page, "allowed-said")
    put(page, "x", "text")
    wait(page, "document.getElementById('allowed-said').innerText.includes('is refused')")
    put(page, "g\u00e9", "text")
    put(page, "<", "text")
    wait(page, "document.getElementById('allowed-said').innerText.includes('It may end here')")
    page.run(
        "(e => { e.value = ''; e.dispatchEvent(new Event('input')); })"
        "(document.getElementById('filter'))"
    )
    # The worker is lost, and reads the file again.
    worker = list(page.workers())[-1]
    worker.run("setTimeout(() => { throw new Error('lost'); }); 0")
    time.sleep(0.2)
    put(page, "", "text")
    wait(page, "document.getElementById('allowed-said').innerText.includes('4 tokens')")
    # A link has its name and digest alone.
    state = json.loads(page.run("sessionStorage.getItem('parlance-draft')"))
    assert state["tokenizer"] == f"tokenizer<b>.json {digest}"
    for name, data in (
        ("tokenizer.json", b"{}"), ("tokenizer.model", b"\0\1\2"), ("x.gguf", b"GGUF\3"),
        ("tokenizer.json", path.read_bytes()[:900]), ("tokenizer.json", b"[" * 1000000),
        ("tokenizer.json", b'{"version": "1.0", "truncation": null, "model": {"vocab": {"a": 4294967295}}}'),
    ):  # fmt: skip
        bad = tmp_path / "bad" / name
        bad.parent.mkdir(exist_ok=True)
        bad.write_bytes(data)
        open_file(page, bad)
        # The notice of the file before is there until this file is opened.
        wait(page, "(e => e.innerText.includes('Wanted is') && e.innerText.includes("
                   f"{json.dumps(name)}))(document.getElementById('tokenizer'))")  # fmt: skip
        assert name in said(page, "tokenizer")
        wait(page, "document.getElementById('allowed-said').innerText.includes('needs the')")
    put(page, "get_weather", "text")
    show_tab(page, "try")
    wait(page, "document.getElementById('acceptance').innerText.includes('Accepted')")
    open_file(page, path)
    wait(page, "document.getElementById('tokenizer').innerText.includes('265 tokens')")
    show_tab(page, "allowed")
    wait(page, "document.getElementById('allowed-said').innerText.includes('may come')")
    page.run("document.querySelector('#tokenizer button').click()")
    wait(page, "document.getElementById('allowed-said').innerText.includes('needs the')")
    assert page.run("document.querySelectorAll('main b img, #tokenizer b b').length") == 0
    page.close()


# Those that scripts/fetch has downloaded for other tests: a model's header; and tens of
# megabytes of text, with pieces of SentencePiece.
REAL = {"tokenizer-gemma3-*/tokenizer.json": "262,145 tokens",
        "llama-cpp-python-*/ggml-vocab-llama-spm.gguf": "32,000 tokens"}  # fmt: skip


def test_real_tokenizers(browser, single):
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    found = {next(iter((cache / "parlance").glob(name)), None): told
             for name, told in REAL.items()}  # fmt: skip
    if not any(found):
        pytest.skip("no tokenizer has been fetched")
    page = browser.open(single)
    wait(page)
    show_example(page, "call-by-grammar")
    put(page, "", "text")
    show_tab(page, "allowed")
    for path, told in found.items():
        if path is None:
            continue
        open_file(page, path)
        wait(page, f"document.getElementById('tokenizer').innerText.includes('{told}')", 60)
        wait(page, "document.getElementById('allowed-said').innerText.includes("
                   f"'of {told.split()[0]} may come')", 60)  # fmt: skip
    page.close()


def test_ids(browser, single, tmp_path):
    """A list of ids waits for its tokenizer, and is read by its tokens."""
    page = browser.open(single)
    wait(page)
    path = tmp_path / "tokenizer.json"
    ids = tokenizer_file(path)
    words = [b"<think>", b"\n", b"A", b"\n", b"</think>", b"\n", b"\n", b"<", b"t", b"\xc3",
             b"\xa9", b"<tool_call>", b"\n", *(bytes([b]) for b in b'{"name":"f","arguments":{}}'),
             b"\n", b"</tool_call>", b"<|im_end|>"]  # fmt: skip
    given = [ids[word] for word in words]
    listed = json.dumps(given)
    view = f"{VIEW % 'response'}.state.doc.toString()"
    paste(page, listed)
    assert page.run(view) == listed
    assert "need the tokenizer" in said(page, "taken")
    page.run("document.body.dataset.state = ''")
    open_file(page, path)
    wait(page, "document.getElementById('regions').textContent.includes('A')"
               " && document.body.dataset.state === 'done'")  # fmt: skip
    text = b"".join(words)
    assert page.run(view).encode() == text
    assert f"a list of {len(given)} ids" in said(page, "taken")
    assert f"{len(given)} tokens" in said(page, "verdict")
    page.run(
        "(e => { e.value = 'qwen3'; document.body.dataset.state = '';"
        " e.dispatchEvent(new Event('change')); })(document.getElementById('family'))"
    )
    wait(page, "document.body.dataset.state === 'done'")
    message = json.loads(page.run(SHOWN)["message"])
    assert message["tool_calls"][0]["function"]["name"] == "f"
    show_tab(page, "events")
    wait(page, "document.querySelectorAll('.line-of').length > 3")
    slider = "document.getElementById('slider')"
    assert page.run(f"{slider}.max") == str(len(given))
    page.run(f"{slider}.focus()")
    page.run(f"{slider}.value = 8; {slider}.dispatchEvent(new Event('input'))")
    at = len(b"".join(words[:8]))
    assert said(page, "place") == f"token 8 of {len(given)}, byte {at} of {len(text)}"
    page.press("ArrowRight", shift=True)
    assert int(page.run(f"{slider}.value")) > 8
    page.run(f"{slider}.value = 8; {slider}.dispatchEvent(new Event('input'))")
    page.run("document.body.dataset.state = ''; document.getElementById('cut').click()")
    wait(page, "document.body.dataset.state === 'done'")
    assert f"Cut at byte {at}" in said(page, "verdict")
    assert json.loads(page.run(SHOWN)["message"])["thinking"] == "A"
    show_tab(page, "shapes")
    wait(page, "document.getElementById('shape').textContent.includes('choices')")
    # A reading of ids that does not end is stopped.
    for worker in page.workers():
        worker.run("self.onmessage = () => { for (;;); }; 0")
    page.run("document.getElementById('cut').click()")
    wait(page, "document.getElementById('verdict').innerText.includes('Still reading')")
    page.press("Escape")
    wait(page, "document.getElementById('verdict').innerText.includes('It was stopped')")
    page.run("document.body.dataset.state = '';"
             " document.querySelector('#verdict button').click()")  # fmt: skip
    wait(page, "document.body.dataset.state === 'done'")
    # What is kept has the ids, and not their tokenizer.
    state = json.loads(page.run("sessionStorage.getItem('parlance-draft')"))
    assert state["pasted"] == listed and state["tokenizer"].startswith("tokenizer.json ")
    assert "response" not in state
    # An id that the tokenizer has not; a text that is edited is no list.
    paste(page, "[1, 2, 99999]")
    assert "99999 is not one of its 265" in said(page, "taken")
    paste(page, listed)
    assert page.run(view).encode() == text
    put(page, "Sunny.")
    wait(page, f"{IS_READ} && document.getElementById('regions').textContent.includes('Sunny')")
    assert page.run("document.getElementById('taken').hidden")
    page.close()


def test_slider_of_a_long_response(browser, single):
    """Each byte is reached, and what is said of it is of that byte."""
    page = browser.open(single)
    wait(page)
    size = 5 * 32768
    text = "<think>\n" + "It is sunny. " * (size // 13) + "</think>\nYes <tool_call>"
    put(page, text)
    wait(page, f"{IS_READ} && document.getElementById('verdict').innerText.includes("
               f"'{len(text):,}')")  # fmt: skip
    show_tab(page, "events")
    wait(page, "document.getElementById('events').innerText.includes('in pieces of 6 bytes')")
    slider = "document.getElementById('slider')"
    page.run(f"{slider}.focus()")
    opened = text.index("</think>")
    held = "document.getElementById('held').textContent"
    for at, words in ((opened + 3, "held: </t"), (opened + 4, "held: </th"),
                      (opened - 1, ""), (len(text) - 4, "held: <tool_c")):  # fmt: skip
        page.run(f"{slider}.value = {at}; {slider}.dispatchEvent(new Event('input'))")
        wait(page, f"{held} === '{words}'" if words else f"!{held}.includes('held')")
        said_at = page.run(f"{slider}.ariaValueText")
        assert said_at.startswith(f"byte {at:,} of {len(text):,}")
    page.run(f"{slider}.value = {opened}; {slider}.dispatchEvent(new Event('input'))")
    page.press("ArrowRight")
    assert page.run(f"{slider}.value") == str(opened + 1)
    # The reasoning ends with its close delimiter, to the byte.
    page.press("ArrowRight", shift=True)
    wait(page, f"{slider}.value === '{opened + len('</think>')}'")
    page.press("ArrowLeft", shift=True)
    wait(page, f"Number({slider}.value) < {opened + 1}")
    page.close()


def test_sizes(browser, single, tmp_path):
    """What is too large to be edited is read; what is too large to be read is said."""
    page = browser.open(single)
    wait(page)
    for size, told in ((4 << 20, "4,194,304 bytes"), ((64 << 20) + 1, "64 MB")):
        path = tmp_path / "response.txt"
        path.write_bytes(b"<think>\n" + b"It is sunny. " * (size // 13 + 1))
        with open(path, "r+b") as file:
            file.truncate(size + (1 if size == 4 << 20 else 0))
        open_file(page, path)
        if size == 4 << 20:
            wait(page, f"{IS_READ} && document.getElementById('verdict').innerText.includes('4,194,305')")
            assert page.run(f"{VIEW % 'response'}.state.readOnly")
        else:
            wait(page, f"document.getElementById('notice').innerText.includes('{told}')")
    # So much may also be pasted: then what is shown is an earlier result.
    page.run(
        "globalThis.large = 'It is sunny. '.repeat((64 << 20) / 13 + 1);"
        " const d = new DataTransfer(); d.setData('text/plain', large);"
        f" {VIEW % 'response'}.contentDOM.dispatchEvent(new ClipboardEvent('paste',"
        " {clipboardData: d, bubbles: true, cancelable: true})); 0"
    )
    wait(page, "document.getElementById('verdict').innerText.includes('Too large')")
    assert "an earlier result" in said(page, "verdict")
    assert page.run("document.querySelector('#result.stale') !== null")
    page.close()


CALL = (
    '<tool_call>\n{"name": "f", "arguments": {"a": "b\\u00e9"}}\n</tool_call>\n'
)
LARGE = {
    "lines": "<think>\n" + "It is sunny in Z\u00fcrich, \U0001f31e.\n" * 33000 + "</think>\n",
    "one line": "<think>\n" + "It is sunny. " * 80000 + "</think>\n",
    "regions": CALL * 15000,
}


@pytest.mark.parametrize("kind", LARGE)
def test_large(browser, single, kind):
    """Times are said, and not judged: the machine may be busy."""
    page = browser.open(single)
    wait(page)
    text = LARGE[kind]
    page.run(
        "globalThis.long = []; new PerformanceObserver((list) => {"
        " for (const one of list.getEntries()) long.push(Math.round(one.duration)); })"
        ".observe({entryTypes: ['longtask']}); 0"
    )
    began = time.monotonic()
    put(page, text)
    size = f"{len(text.encode()):,}"
    wait(page, f"{IS_READ} && document.getElementById('verdict').innerText.includes('{size}')")
    opened = time.monotonic() - began
    opening = page.run("long.splice(0)")
    page.run(f"{VIEW % 'response'}.focus()")
    for _ in range(30):
        page.type("x")
        time.sleep(0.03)
    wait(page)
    assert page.run(f"{VIEW % 'response'}.state.doc.toString().includes('x'.repeat(30))")
    typing = page.run("long.splice(0)")
    print(
        f"\nMEASURED 1 MB, {kind}: read {opened:.2f} s after it was put in (longest "
        f"task {max(opening, default=0)} ms); 30 keys, longest task "
        f"{max(typing, default=0)} ms"
    )
    page.close()
