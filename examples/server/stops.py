"""Texts before which a response ends (``stop``, ``stop_sequences``)."""


class StoppingParser:
    """A parser whose content ends before the first of some texts.

    What may be the beginning of such a text is held back until it cannot be.  The
    texts are looked for in the content, and not in reasoning, calls or markup.
    ``found`` is the text that ended the content, or ``None``.
    """

    def __init__(self, parser, texts):
        self._parser = parser
        self._texts = texts
        self._held = ""  # of the content
        self._said = ""  # of the region of content that is open
        self.found = None

    def feed(self, ids):
        return self._until(self._parser.feed(ids))

    def finalize(self):
        message, events = self._parser.finalize()
        return message, self._until(events)

    def _until(self, events):
        if not self._texts:
            return events
        out = []
        for event in events:
            if self.found is not None:
                break
            kind = event["type"] if event["field"] == "content" else ""
            if kind == "region_chunk":
                out += self._chunk(event)
                continue
            if kind == "region_close" and self._held:
                # Where the text ends that was held back.
                out.append(self._part(event | {"type": "region_chunk"}, self._held))
            if kind:
                self._held = self._said = ""
            out.append(event)
        return out

    def _part(self, event, text):
        self._said += text
        made = {"text": text, "dirty": False}
        return {name: event[name] for name in event if name != "value"} | made

    def _chunk(self, event):
        text = self._held + event["text"]
        begins = [(text.find(one), one) for one in self._texts if one in text]
        if begins:
            begin, self.found = min(begins)
            close = {"type": "region_close", "value": self._said + text[:begin]}
            ends = {name: event[name] for name in ("field", "start", "end")} | close
            return [self._part(event, text[:begin]), ends] if begin else [ends]
        longest = max(map(len, self._texts)) - 1
        keep = next(
            n
            for n in range(min(longest, len(text)), -1, -1)
            if any(one.startswith(text[len(text) - n :]) for one in self._texts)
        )
        self._held = text[len(text) - keep :]
        free = text[: len(text) - keep]
        return [self._part(event, free)] if free else []
