package parlance_test

// Events, messages and masks are those that the C++ library gave:
// bindings/testdata/README.md says what the cases mean.

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"reflect"
	"slices"
	"testing"

	"parlance"
)

type recorded struct {
	Kind string
	// setup
	Tools    string
	Requests []string
	Pieces   []string
	Stop     string
	// the others
	Language             parlance.Language
	Format, Prefix, Text string
	Message              string
	Request              int
	IDs                  []uint32
	Masks                []string
	Cuts                 []int
	Calls                [][][]any
}

func cases(t testing.TB) (setup recorded, rest []recorded) {
	file, err := os.Open("testdata/cases.jsonl") // in a package
	if err != nil {
		file, err = os.Open("../testdata/cases.jsonl")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var one recorded
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		rest = append(rest, one)
	}
	return rest[0], rest[1:]
}

func vocabularyOf(t testing.TB, setup recorded) *parlance.Vocabulary {
	tokens := parlance.Tokens{}
	for i := range 256 {
		tokens.Tokens = append(tokens.Tokens, string([]byte{byte(i)}))
	}
	tokens.Tokens = append(append(tokens.Tokens, setup.Pieces...), setup.Stop)
	tokens.StopIDs = []uint32{uint32(len(tokens.Tokens) - 1)}
	tokens.ControlIDs = tokens.StopIDs
	return ok(parlance.NewVocabulary(tokens))(t)
}

// ok ends a test at an error.
func ok[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// flat is an event as the cases have it.
func flat(events []parlance.Event) [][]any {
	out := [][]any{}
	for _, event := range events {
		line := []any{}
		for _, number := range []uint64{uint64(event.Kind), uint64(event.Flags),
			uint64(event.FieldIndex), uint64(event.Call), event.Bytes.Begin, event.Bytes.End,
			event.Tokens.Begin, event.Tokens.End} {
			line = append(line, float64(number))
		}
		out = append(out, append(line, event.Field, event.Text, event.CallID, float64(event.Code)))
	}
	return out
}

func sum(mask []int32) string {
	hash := fnv.New32a()
	for _, word := range mask {
		hash.Write([]byte{byte(word), byte(word >> 8), byte(word >> 16), byte(word >> 24)})
	}
	return fmt.Sprintf("%08x", hash.Sum32())
}

func compareMasks(t *testing.T, one recorded, compiler *parlance.Compiler, constraint *parlance.Constraint) {
	matcher := ok(constraint.NewMatcher(nil))(t)
	defer matcher.Close()
	mask := make([]int32, compiler.MaskWords())
	for i, id := range one.IDs {
		ok(matcher.Fill(mask))(t)
		if got := sum(mask); got != one.Masks[i] {
			t.Fatalf("mask %d is %s, not %s", i, got, one.Masks[i])
		}
		if !parlance.Allowed(mask, id) || !ok(matcher.Accept(id))(t) {
			t.Fatalf("token %d is not accepted", i)
		}
	}
}

func compareEvents(t *testing.T, one recorded, parser *parlance.Parser, feeds []func() ([]parlance.Event, error)) {
	calls := [][][]any{flat(ok(parser.Initial())(t))}
	for _, feed := range feeds {
		calls = append(calls, flat(ok(feed())(t)))
	}
	calls = append(calls, flat(ok(parser.Finalize())(t)))
	if !reflect.DeepEqual(calls, one.Calls) {
		t.Fatalf("events are\n%v, not\n%v", calls, one.Calls)
	}
	if message := string(ok(parser.ChatMessage())(t)); message != one.Message {
		t.Fatalf("the message is %s, not %s", message, one.Message)
	}
}

func TestRecorded(t *testing.T) {
	setup, rest := cases(t)
	vocabulary := vocabularyOf(t, setup)
	compiler := ok(parlance.NewCompiler(vocabulary, nil))(t)
	tools := ok(parlance.NewTools(json.RawMessage(setup.Tools)))(t)
	byText := map[string]string{"markers": "text"}
	families := map[string]bool{}
	for i, one := range rest {
		t.Run(fmt.Sprintf("%d-%s-%s", i+2, one.Kind, one.Format), func(t *testing.T) {
			options := parlance.ParserOptions{Tools: tools, StreamCalls: true, Attempts: true}
			var feeds []func() ([]parlance.Event, error)
			var parser *parlance.Parser
			switch one.Kind {
			case "grammar":
				grammar := ok(parlance.NewGrammar(one.Language, one.Text, nil, nil))(t)
				compareMasks(t, one, compiler, ok(compiler.CompileGrammar(grammar, byText))(t))
				return
			case "text":
				families[one.Format] = true
				options.Prefix = one.Prefix
				parser = ok(ok(parlance.BuiltIn(one.Format))(t).NewParser(&options))(t)
				at := 0
				for _, cut := range append(one.Cuts, len(one.Text)) {
					piece := one.Text[at:cut]
					at = cut
					feeds = append(feeds, func() ([]parlance.Event, error) { return parser.Feed(piece) })
				}
			case "ids":
				format := ok(parlance.BuiltIn(one.Format))(t)
				tag := ok(format.Tag(json.RawMessage(setup.Requests[one.Request]), vocabulary))(t)
				compareMasks(t, one, compiler, ok(compiler.CompileTag(tag, byText))(t))
				options.Vocabulary = vocabulary
				options.Markers = parlance.MarkersText
				parser = ok(format.NewParser(&options))(t)
				for ids := range slices.Chunk(one.IDs, 12) {
					feeds = append(feeds, func() ([]parlance.Event, error) { return parser.FeedTokens(ids) })
				}
			default:
				t.Fatalf("no such kind: %s", one.Kind)
			}
			defer parser.Close()
			compareEvents(t, one, parser, feeds)
		})
	}
	for _, name := range parlance.Formats() {
		if !families[name] {
			t.Errorf("the family %s has no case", name)
		}
	}
}
