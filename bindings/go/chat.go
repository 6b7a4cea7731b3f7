package parlance

import "encoding/json"

// NewChat gives the events of a parser by this format in the shape of a chat API:
// server-sent events that can be sent as they are, or JSON.  Request: "api" and
// others.
func (f *Format) NewChat(request any) (*Chat, error) {
	text, err := given(request)
	if err != nil {
		return nil, err
	}
	return chatNew(f, nil, text)
}

// NewChat is the same for a parser by this tag.
func (t *CompiledTag) NewChat(request any) (*Chat, error) {
	text, err := given(request)
	if err != nil {
		return nil, err
	}
	return chatNew(nil, t, text)
}

// Begin is what comes before all events; the first Feed gives it otherwise.
func (c *Chat) Begin() ([]byte, error) { return chatBegin(c) }

// Feed has the events of the parser's last call.
func (c *Chat) Feed(parser *Parser) ([]byte, error) { return chatFeed(c, parser) }

// End is what comes after all events.  parser, which is finalized, may be nil.
// Request: "prompt_tokens", "completion_tokens".
func (c *Chat) End(why End, parser *Parser, request any) ([]byte, error) {
	text, err := given(request)
	if err != nil {
		return nil, err
	}
	return chatEnd(c, int32(why), parser, text)
}

// Response is the whole response, in the shape for requests without streaming.
func (c *Chat) Response() (json.RawMessage, error) { return chatResponse(c) }

// NewSSE reads the server-sent events of a server that streams without parsing.
func NewSSE() (*SSE, error) { return sseNew() }

// Feed is the text of the events that bytes completes.
func (s *SSE) Feed(bytes string) (string, error) {
	out, err := sseFeed(s, bytes)
	return string(out), err
}

// Finalize is the text of an event that nothing ended.
func (s *SSE) Finalize() (string, error) {
	out, err := sseFinalize(s)
	return string(out), err
}

// Faults are what the last of these calls could not read: [{"line", "message"}].
func (s *SSE) Faults() (json.RawMessage, error) { return sseFaults(s) }
