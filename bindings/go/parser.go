package parlance

import (
	"context"
	"encoding/json"
	"io"
	"iter"
)

// ParserOptions are what a parser needs to know beside its format.
type ParserOptions struct {
	// What the prompt has written of the response: text, or ids with a vocabulary.
	Prefix    string
	PrefixIDs []uint32
	// Gives tool arguments the types of their schemas.
	Tools *Tools
	// The parser reads ids; without it, text.
	Vocabulary *Vocabulary
	// In place of the vocabulary's, if not nil.
	StopIDs []uint32
	Markers Markers
	Recover Recover
	// Events of calls while they are being written.
	StreamCalls bool
	// Every call that was attempted.
	Attempts bool
	// No message.
	EventsOnly bool
}

// Event is a step of the reading.  parlance/message.h says what its members mean.
type Event struct {
	Kind       EventKind
	Flags      EventFlags
	FieldIndex uint32
	Call       uint32
	Bytes      Span
	Tokens     Span
	Field      string
	Text       string
	CallID     string
	Code       Code // of the diagnostic, or 0
}

// NewParser reads one response.  options may be nil.
func (f *Format) NewParser(options *ParserOptions) (*Parser, error) {
	return parserNew(f, options)
}

// NewParser reads one response by its structural tag.  options may be nil.
func (t *CompiledTag) NewParser(options *ParserOptions) (*Parser, error) {
	return parserNewByTag(t, options)
}

// Initial has the events of the prefix.
func (p *Parser) Initial() ([]Event, error) { return parserInitial(p) }

// Feed reads a chunk, which may end anywhere, also inside a marker or a character.
func (p *Parser) Feed(text string) ([]Event, error) { return parserFeed(p, text) }

// FeedTokens reads ids, where the parser has a vocabulary.
func (p *Parser) FeedTokens(ids []uint32) ([]Event, error) { return parserFeedTokens(p, ids) }

// Finalize ends the response and has the last events.
func (p *Parser) Finalize() ([]Event, error) { return parserFinalize(p) }

// EventJSON is event index of the last of these calls, with what Event has no
// member for (EventDetail).
func (p *Parser) EventJSON(index int) (json.RawMessage, error) { return parserEventJSON(p, index) }

// Result is the message, and what did not fit: {"message", "complete",
// "diagnostics", "error", "turn_ended", "attempted_calls", "prefix_bytes",
// "tokens"}.
func (p *Parser) Result() (json.RawMessage, error) { return parserResult(p) }

// ChatMessage is the message in the shape of the chat completions API.
func (p *Parser) ChatMessage() (json.RawMessage, error) { return parserChatMessage(p) }

// Tree is the parse tree of a parser by tag.
func (p *Parser) Tree() (json.RawMessage, error) { return parserTree(p) }

// Held are the bytes at the end of the input that may still become a marker.
func (p *Parser) Held() (string, error) { return parserHeld(p) }

// PrefixBytes are the bytes of the prefix that are part of the response.
func (p *Parser) PrefixBytes() (int, error) {
	bytes, _, err := parserState(p)
	return bytes, err
}

// Finalized says whether Finalize was called.
func (p *Parser) Finalized() bool {
	_, finalized, err := parserState(p)
	return err == nil && finalized != 0
}

// Writer feeds what is written to it, and gives each event to the function.  Its
// Close finalizes the parser, and does not close it.
func (p *Parser) Writer(each func(Event) error) io.WriteCloser {
	return &writer{p, each}
}

type writer struct {
	parser *Parser
	each   func(Event) error
}

func (w *writer) give(events []Event, err error) error {
	for i := 0; err == nil && i < len(events); i++ {
		err = w.each(events[i])
	}
	return err
}

func (w *writer) Write(bytes []byte) (int, error) {
	if err := w.give(w.parser.Feed(viewed(bytes))); err != nil {
		return 0, err
	}
	return len(bytes), nil
}

func (w *writer) Close() error { return w.give(w.parser.Finalize()) }

// Read feeds what comes from r until its end, finalizes the parser, and yields the
// events.  It asks between two feeds whether ctx is done.  An error is the last
// that is yielded.
func (p *Parser) Read(ctx context.Context, r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var stopped bool
		give := func(events []Event, err error) bool {
			for _, event := range events {
				if !yield(event, nil) {
					stopped = true
					return false
				}
			}
			if err != nil {
				yield(Event{}, err)
				stopped = true
			}
			return !stopped
		}
		buffer := make([]byte, 32<<10)
		for {
			if err := ctx.Err(); err != nil {
				give(nil, err)
				return
			}
			n, err := r.Read(buffer)
			if n > 0 && !give(p.Feed(viewed(buffer[:n]))) {
				return
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				give(nil, err)
				return
			}
		}
		give(p.Finalize())
	}
}
