"""The responses that the pictures show, each made into a page by the command."""

import json
import pathlib
import random
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from model_folder import write_model  # noqa: E402

WORDS = """ the of to and a in is it you that for on with as are this be I at
have from or one had by not but what all were we when your can said there use
an each which she do how their if will up other about out many then them these
so some her would make like him into time has look two more write go see no
way could people my than first water been call who its now find long down day
did get come made may part city weather Bern Zurich degrees sunny tomorrow
temperature need should tool user asks answer""".split()

SPECIALS = ["<think>", "</think>", "<tool_call>", "</tool_call>"]


class Vocabulary:
    """All bytes, words with and without a space, and the markers of qwen3."""

    def __init__(self, path):
        self.path = path
        tokens = [bytes([byte]) for byte in range(256)]
        for word in WORDS:
            tokens += [word.encode(), b" " + word.encode()]
        tokens += [b'{"', b'": "', b'": {"', b'", "', b'"}}', b'":', b"\n\n"]
        self.ids = {}
        for index, token in enumerate(tokens):
            self.ids.setdefault(token, index)
        for index, special in enumerate(SPECIALS, len(tokens)):
            self.ids[special.encode()] = index
        self.end = len(tokens) + len(SPECIALS)
        write_model(path, tokens, [*SPECIALS, "<|im_end|>"], self.end)
        self.longest = max(map(len, self.ids))

    def encode(self, text):
        ids = []
        while text:
            size = next(
                n for n in range(min(self.longest, len(text)), 0, -1)
                if text[:n] in self.ids
            )
            ids.append(self.ids[text[:size]])
            text = text[size:]
        return ids


CALL = """<think>The user asks for the weather in Bern. I need to call the tool.
</think>

Let me look that up.
<tool_call>
{"name": "get_weather", "arguments": {"city": "Bern", "days": 2}}
</tool_call>"""

DAMAGED = """<think>Two calls, then I answer.</think>One moment.
<tool_call>
{"name": "get_weather", "arguments": {"city": Bern}}
</tool_call>
<tool_call>
{"name": "get_weather", "arguments": {"city": "Zurich"}}
</tool_call>
And <tool_call>
{"name": "get_wea"""

HINTED = 'Sure.\n{"name": "now", "arguments": {}}\n'

HOSTILE = (
    b"Hi </script><script>document.title = 'owned'</script> <!-- x -->"
    b"<img src=x onerror=\"document.title = 'owned'\"> \x00\x01\x1b[31m \xff\xfe "
    b"\xed\xa0\x80 \xe2\x80\xaeevil\xe2\x80\xac \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d "
    b"\xe2\x80\x8b\xe2\x80\xa8 &lt; ]]> caf\xc3\xa9 \xf0\x9f\x91\xa9\xe2\x80\x8d"
    b"\xf0\x9f\x92\xbb \r\n<tool_call>\n"
    b'{"name": "</script><svg/onload=alert(1)>", "arguments": {"a": NaN, '
    b'"b": 12345678901234567890}}\n</tool_call>' + b"x" * 400
)

TAG = {
    "format": {
        "type": "sequence",
        "elements": [
            {
                "type": "tag", "begin": "<think>", "content": {"type": "any_text"},
                "end": "</think>", "field": "reasoning",
            },
            {
                "type": "triggered_tags",
                "triggers": ["<tool_call>"],
                "tags": [
                    {
                        "type": "tag",
                        "begin": '<tool_call>\n{"name": "get_weather", "arguments": ',
                        "content": {
                            "type": "json_schema",
                            "json_schema": {
                                "type": "object",
                                "properties": {
                                    "city": {"type": "string"},
                                    "days": {"type": "integer"},
                                },
                                "required": ["city", "days"],
                                "additionalProperties": False,
                            },
                        },
                        "end": "}\n</tool_call>",
                        "tool": "get_weather",
                    }
                ],
            },
        ],
    }
}


def long_response(size):
    """A response of about `size` bytes: prose, and a call now and then."""
    draw = random.Random(1)
    parts = ["<think>"]
    left = size // 3
    thinking = True
    total = 0
    while total < size:
        line = " ".join(draw.choice(WORDS) for _ in range(draw.randrange(4, 60)))
        line += draw.choice([". ", ".\n", "\n\n"])
        if thinking and total > left:
            line += "</think>\n\n"
            thinking = False
        elif not thinking and draw.randrange(30) == 0:
            arguments = {"city": draw.choice(WORDS), "days": draw.randrange(9)}
            call = {"name": "get_weather", "arguments": arguments}
            line += f"<tool_call>\n{json.dumps(call)}\n</tool_call>\n"
        parts.append(line)
        total += len(line)
    return "".join(parts)


class Samples:
    def __init__(self, command, folder):
        self.command = command
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.vocabulary = Vocabulary(self.folder / "small")
        self.tag = self.folder / "weather.tag.json"
        self.tag.write_text(json.dumps(TAG))

    def page(self, name, text, *arguments, status=0):
        """Makes the page `name` of a text, or of token ids."""
        path = self.folder / f"{name}.html"
        if isinstance(text, str):
            text = text.encode()
        if isinstance(text, list):
            arguments = ["--vocabulary", self.vocabulary.path, "--ids", *arguments]
            text = json.dumps(text).encode()
        done = subprocess.run(
            [self.command, "explain", "--html", "-o", path, *map(str, arguments)],
            input=text, capture_output=True, cwd=self.folder,
        )
        assert done.returncode == status, done.stderr.decode()
        return path

    def ids(self, text):
        return [*self.vocabulary.encode(text.encode()), self.vocabulary.end]
