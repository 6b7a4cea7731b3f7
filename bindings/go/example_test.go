package parlance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"parlance"
)

// must ends an example at an error.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// A complete response.
func Example() {
	response := "<think>Bern, then.</think>Let me look.<tool_call>{\"name\": \"get_weather\", " +
		"\"arguments\": {\"city\": \"Bern\"}}</tool_call><|im_end|>"
	format := must(parlance.BuiltIn("qwen3"))
	result := must(format.Parse(response, nil))

	var out struct {
		Message struct {
			Thinking, Content string
			ToolCalls         []struct{ Function json.RawMessage } `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(result, &out); err != nil {
		panic(err)
	}
	fmt.Println(out.Message.Thinking)
	fmt.Println(out.Message.Content)
	fmt.Println(string(out.Message.ToolCalls[0].Function))
	// Output:
	// Bern, then.
	// Let me look.
	// {"name":"get_weather","arguments":{"city":"Bern"}}
}

// A response while it is being written.
func ExampleParser() {
	format := must(parlance.BuiltIn("qwen3")) // once, for all responses and goroutines
	parser := must(format.NewParser(nil))     // for each response
	defer parser.Close()
	for _, chunk := range []string{"<thi", "nk>Bern, th", "en.</thin", "k>It is ", "sunny.<|im_e", "nd|>"} {
		for _, event := range must(parser.Feed(chunk)) {
			if event.Kind == parlance.RegionChunk {
				fmt.Printf("%s %q\n", event.Field, event.Text)
			}
		}
	}
	must(parser.Finalize())
	fmt.Println(string(must(parser.ChatMessage())))
	// Output:
	// thinking "Bern, th"
	// thinking "en."
	// content "It is "
	// content "sunny."
	// {"role":"assistant","content":"It is sunny.","reasoning":"Bern, then."}
}

// The body of an HTTP response, until its end or until a context is done.
func ExampleParser_Read() {
	format := must(parlance.BuiltIn("qwen3"))
	parser := must(format.NewParser(nil))
	defer parser.Close()
	body := strings.NewReader("<think>Bern, then.</think>It is sunny.")
	for event, err := range parser.Read(context.Background(), body) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if event.Kind == parlance.RegionChunk {
			fmt.Println(event.Field, event.Text)
		}
	}
	// Output:
	// thinking Bern, then.
	// content It is sunny.
}

// Which texts a model may write, and its next tokens.
func ExampleMatcher() {
	schema := `{"type": "object", "properties": {"days": {"type": "integer", "maximum": 14}},
		"required": ["days"], "additionalProperties": false}`
	grammar := must(parlance.NewGrammar(parlance.JSONSchema, schema, nil, nil))
	fmt.Println(must(grammar.Accepts(`{"days": 3}`)).Accepted, must(grammar.Accepts(`{"days": true}`)))

	// A toy; a model's comes from parlance.LoadVocabulary(folder).
	tokens := []string{`{"`, "days", `":`, " ", "1", "3", "5", "}", "true", "<end>"}
	end := []uint32{9}
	vocabulary := must(parlance.NewVocabulary(
		parlance.Tokens{Tokens: tokens, ControlIDs: end, StopIDs: end}))
	compiler := must(parlance.NewCompiler(vocabulary, nil))
	matcher := must(must(compiler.CompileGrammar(grammar, nil)).NewMatcher(nil))
	defer matcher.Close()
	must(matcher.AcceptText(`{"days": 1`))

	mask := make([]int32, compiler.MaskWords())
	next := func() (out []string) {
		must(matcher.Fill(mask))
		for id, token := range tokens {
			if parlance.Allowed(mask, uint32(id)) {
				out = append(out, token)
			}
		}
		return out
	}
	fmt.Printf("%q\n", next())
	must(matcher.Accept(7))
	fmt.Printf("%q\n", next())
	// Output:
	// true {false 9 a number}
	// [" " "1" "3" "}"]
	// ["<end>"]
}

// Both from one file: a request's tools decide what the model may write, and what
// it wrote is rendered and sent.
func ExampleFormat() {
	type object = map[string]any
	weather := object{
		"name": "get_weather",
		"parameters": object{
			"type":       "object",
			"properties": object{"city": object{"type": "string"}, "days": object{"type": "integer"}},
			"required":   []string{"city"},
		},
	}
	tools := []object{{"type": "function", "function": weather}}
	family := must(parlance.BuiltIn("qwen3_coder"))

	request := object{"tools": tools, "tool_choice": "required", "reasoning": "off"}
	tag := must(family.Tag(request, nil))
	grammar := must(tag.Grammar(nil, nil)) // compiler.CompileTag(tag, nil) gives masks
	call := json.RawMessage(`{"tool_calls": [{"function": {"name": "get_weather",
		"arguments": {"city": "Bern", "days": 3}}}]}`)
	text := must(family.Render(call, object{"tools": tools}))
	fmt.Println(text)
	fmt.Println(must(grammar.Accepts(text)).Accepted,
		must(grammar.Accepts(strings.Replace(text, "days", "hours", 1))).Accepted)

	parser := must(family.NewParser(&parlance.ParserOptions{
		Tools: must(parlance.NewTools(tools)), StreamCalls: true}))
	chat := must(family.NewChat(object{"id": "x", "model": "m", "call_id_prefix": "call_"}))
	must(parser.Feed(text))
	must(chat.Feed(parser)) // server-sent events to send on
	must(parser.Finalize())
	must(chat.Feed(parser))
	must(chat.End(parlance.EndStop, parser, nil))
	fmt.Println(strings.Contains(string(must(chat.Response())), `"finish_reason":"tool_calls"`))
	// Output:
	// <tool_call>
	// <function=get_weather>
	// <parameter=city>
	// Bern
	// </parameter>
	// <parameter=days>
	// 3
	// </parameter>
	// </function>
	// </tool_call>
	// true false
	// true
}

// What a person wrote wrong has a code, a place and the bytes it is about.
func ExampleError() {
	_, err := parlance.LoadFormat(json.RawMessage(`{"fields": 3}`), "")
	wrong := err.(*parlance.Error)
	fmt.Println(wrong.Code, wrong.Path, *wrong.Span)
	// Output: wrong_type /fields {11 12}
}

// A parser is fed by what writes to it.
func ExampleParser_Writer() {
	format := must(parlance.BuiltIn("qwen3"))
	parser := must(format.NewParser(nil))
	defer parser.Close()
	writer := parser.Writer(func(event parlance.Event) error {
		_, err := os.Stdout.WriteString(event.Text)
		return err
	})
	fmt.Fprint(writer, "<think>Hm.</think>", "So.")
	writer.Close()
	// Output: Hm.So.
}
