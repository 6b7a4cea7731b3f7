"""The conformance vectors of response templates, cut in many ways."""

import pytest

import conformance
import parlance
import vectors

TEMPLATES = vectors.load("templates.json")
NOT_CASES = {
    "batches",
    "divergences",
    "lifecycle-scripts",
    "regex-rows",
    "templates",
    "unit-rows",
}


def cases():
    return list(each_case())


def each_case():
    for name in conformance.files("response_template"):
        if name not in NOT_CASES:
            for case in vectors.load(f"{name}.json"):
                yield pytest.param(case, id=f"{name}-{case['id']}")


def spans(event):
    """The keys of the extended profile; chunks have spans only here."""
    out = vectors.plain(event)
    if event["type"] != "region_chunk":
        for key in ("start", "end", "captures"):
            if key in event:
                out[key] = event[key]
    return out


def in_code_points(events, case):
    """The expected offsets count code points, ours bytes."""
    spec = parlance.ResponseTemplate(vectors.template(case, TEMPLATES))
    kept = spec.parser(case["prefix"], recover=True).prefix_bytes
    prefix = case["prefix"].encode("utf-8", "surrogatepass")
    stream = prefix[len(prefix) - kept :] + "".join(
        vectors.chunks_of(case)
    ).encode("utf-8", "surrogatepass")
    out = []
    for event in events:
        event = dict(event)
        for key in ("start", "end"):
            if key in event:
                event[key] = len(
                    stream[: event[key]].decode("utf-8", "surrogatepass")
                )
        out.append(event)
    return out


@pytest.mark.parametrize("case", cases())
def test_case(case):
    spec = vectors.template(case, TEMPLATES)
    tools = case.get("tools")
    extended = case.get("profile") == "extended-events"
    expected = case.get("expected_error")
    stream = vectors.expected_stream(case)
    if case.get("profile") == "chunk-invariant":
        stream = None
    seen = None
    for name, chunks in vectors.cuts(case):
        if name != "given" and case.get("chunk_invariant") is False:
            continue
        message, events, error = vectors.run(
            spec, case["prefix"], chunks, tools, recover=extended
        )
        if expected is not None:
            assert error is not None, f"cut {name}: no error, {message}"
            assert vectors.error_fits(error, expected), (name, repr(error))
            continue
        assert error is None, f"cut {name}: {error!r}"
        assert vectors.same(message, case["expected"]), (name, message)
        assert list(message) == list(case["expected"]), name
        got = vectors.joined(events)
        if extended:
            got = vectors.joined(events, spans)
            got = in_code_points(got, case)
            want = stream and vectors.joined(
                stream,
                lambda event: {
                    key: value
                    for key, value in event.items()
                    if key != "error_category"
                },
            )
            # Characters that the prefix held back come with the response.
            if "prefix-held" in case["id"]:
                got = [e for e in got if e["type"] != "region_chunk"]
                want = [e for e in want if e["type"] != "region_chunk"]
        else:
            want = stream and vectors.joined(stream)
        if want is not None:
            assert vectors.same(got, want), f"cut {name}"
        if seen is None:
            seen = got
        assert vectors.same(got, seen), f"cut {name}: other events"


@pytest.mark.parametrize("case", cases())
def test_one_shot(case):
    """parse_response says what the stream says, for str and for bytes."""
    spec = vectors.template(case, TEMPLATES)
    text = "".join(vectors.chunks_of(case))
    kind = {
        "prefix": case["prefix"],
        "tools": case.get("tools"),
        "recover": case.get("profile") == "extended-events",
    }
    texts = [text]
    if not any(0xD800 <= ord(c) < 0xE000 for c in text):
        texts.append(text.encode())
    for response in texts:
        try:
            message = parlance.parse_response(response, spec, **kind)
        except parlance.Error as error:
            assert "expected_error" in case, repr(error)
            assert vectors.error_fits(error, case["expected_error"]), repr(error)
        else:
            assert "expected_error" not in case, message
            assert vectors.same(message, case["expected"]), message


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(script, id=script["id"])
        for script in vectors.load("lifecycle-scripts.json")
    ],
)
def test_lifecycle(script):
    spec = vectors.template(script, TEMPLATES)
    if "construct_error" in script:
        with pytest.raises(parlance.Error) as caught:
            parlance.ResponseParser(spec, script["prefix"])
        assert vectors.error_fits(caught.value, script["construct_error"])
        return
    spec = parlance.ResponseTemplate(spec)
    for _ in range(script.get("repeat", 1)):
        parser = parlance.ResponseParser(spec, script["prefix"])
        for action in script["actions"]:
            try:
                if "feed" in action:
                    parser.feed(action["feed"])
                    continue
                message, _ = parser.finalize()
            except parlance.Error as error:
                assert vectors.error_fits(error, action["expected_error"])
            else:
                assert vectors.same(message, action["expected"])


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case["id"]) for case in vectors.load("batches.json")],
)
def test_batch(case):
    spec = vectors.template(case, TEMPLATES)
    if "expected_error" in case:
        with pytest.raises(parlance.UsageError):
            parlance.parse_response(
                case["responses"], spec, prefix=case["prefix"]
            )
        return
    messages = parlance.parse_response(
        case["responses"], spec, prefix=case["prefix"]
    )
    assert vectors.same(messages, case["expected"])


def test_all_in_one_batch():
    """A batch of many says what they say one by one."""
    by_template = {}
    for param in cases():
        (case,) = param.values
        if "expected" in case and "profile" not in case and "tools" not in case:
            key = str(case["template"])
            by_template.setdefault(key, []).append(case)
    for group in by_template.values():
        got = parlance.parse_response(
            ["".join(vectors.chunks_of(case)) for case in group],
            vectors.template(group[0], TEMPLATES),
            prefix=[case["prefix"] for case in group],
        )
        assert vectors.same(got, [case["expected"] for case in group])
