package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"parlance"
)

type message struct {
	Content   *string
	Reasoning string `json:"reasoning_content"`
	Calls     []struct {
		Index    int
		ID       string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

func start(t *testing.T, name, prefix string, upstream http.Handler) string {
	format, err := parlance.BuiltIn(name)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(upstream)
	t.Cleanup(server.Close)
	to, _ := url.Parse(server.URL)
	front := httptest.NewServer(newProxy(format, prefix, to))
	t.Cleanup(front.Close)
	return front.URL
}

func post(t *testing.T, base, request string) (string, *http.Response) {
	response, err := http.Post(base+"/v1/chat/completions", "application/json", strings.NewReader(request))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body), response
}

// joined adds the chunks of a stream up, by choice.
func joined(t *testing.T, stream string) (messages map[int]*message, reasons map[int]string) {
	messages, reasons = map[int]*message{}, map[int]string{}
	for _, line := range strings.Split(stream, "\n") {
		data, found := strings.CutPrefix(line, "data: ")
		if !found || data == "[DONE]" {
			continue
		}
		var chunk struct {
			ID      string
			Choices []struct {
				Index  int
				Delta  message
				Reason *string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			t.Fatal(data, err)
		}
		for _, choice := range chunk.Choices {
			if chunk.ID != "x" {
				t.Errorf("another id: %s", data)
			}
			if messages[choice.Index] == nil {
				messages[choice.Index] = &message{}
			}
			out := messages[choice.Index]
			if choice.Delta.Content != nil {
				if out.Content == nil {
					out.Content = new(string)
				}
				*out.Content += *choice.Delta.Content
			}
			out.Reasoning += choice.Delta.Reasoning
			for _, call := range choice.Delta.Calls {
				if call.Index == len(out.Calls) {
					out.Calls = append(out.Calls, call)
				} else {
					out.Calls[call.Index].Function.Arguments += call.Function.Arguments
				}
			}
			if choice.Reason != nil {
				reasons[choice.Index] = *choice.Reason
			}
		}
	}
	return messages, reasons
}

func check(t *testing.T, found *message, arguments string) {
	t.Helper()
	if found == nil || found.Content == nil || *found.Content != "Let me look." ||
		found.Reasoning != "The user asks for the weather." || len(found.Calls) != 1 {
		t.Fatalf("%+v", found)
	}
	call := found.Calls[0]
	if call.ID == "" || call.Function.Name != "get_weather" || call.Function.Arguments != arguments {
		t.Errorf("%+v", call)
	}
}

const demoArguments = `{"city": "Zürich", "days": 3}`

func TestStream(t *testing.T) {
	base := start(t, "qwen3", "", rawServer(demoText, "stop"))
	stream, response := post(t, base, `{"stream": true, "n": 2}`)
	if kind := response.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Error(kind)
	}
	messages, reasons := joined(t, stream)
	for i := range 2 {
		check(t, messages[i], demoArguments)
		if reasons[i] != "tool_calls" {
			t.Error(reasons)
		}
	}
	if !strings.HasSuffix(stream, "data: {\"choices\": [], \"usage\": {\"total_tokens\": 9}}\n\ndata: [DONE]\n\n") {
		t.Error(stream[len(stream)-200:])
	}
}

func TestWhole(t *testing.T) {
	base := start(t, "qwen3", "", rawServer(demoText, "stop"))
	body, _ := post(t, base, `{"n": 2}`)
	var response struct {
		ID      string
		Usage   map[string]int
		Choices []struct {
			Message message
			Reason  string `json:"finish_reason"`
		}
	}
	if err := json.Unmarshal([]byte(body), &response); err != nil {
		t.Fatal(body, err)
	}
	if response.ID != "x" || response.Usage["total_tokens"] != 9 || len(response.Choices) != 2 {
		t.Error(body)
	}
	for _, choice := range response.Choices {
		check(t, &choice.Message, demoArguments)
		if choice.Reason != "tool_calls" {
			t.Error(choice.Reason)
		}
	}
}

// Arguments get the types of the request's tools, a prompt may have begun the
// reasoning, and a limit of tokens is told.
func TestToolsPrefixAndLength(t *testing.T) {
	text := "The user asks for the weather.</think>Let me look.<tool_call>\n<function=get_weather>\n" +
		"<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>"
	base := start(t, "qwen3_coder", "<think>", rawServer(text, "stop"))
	stream, _ := post(t, base, `{"stream": true, "tools": [{"type": "function", "function": {"name": "get_weather",
		"parameters": {"type": "object", "properties": {"days": {"type": "integer"}}}}}]}`)
	messages, _ := joined(t, stream)
	check(t, messages[0], `{"days": 3}`)

	base = start(t, "qwen3", "", rawServer("<think>Hm.</think>The answ", "length"))
	stream, _ = post(t, base, `{"stream": true}`)
	messages, reasons := joined(t, stream)
	if *messages[0].Content != "The answ" || reasons[0] != "length" {
		t.Error(stream)
	}
}

func TestWhatPassesThrough(t *testing.T) {
	base := start(t, "qwen3", "", rawServer("Hi", "stop"))
	response, err := http.Get(base + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(response.Body)
	if string(body) != "another page" {
		t.Error(string(body))
	}
	if body, response := post(t, base, `{"stream": true`); response.StatusCode != http.StatusBadRequest {
		t.Error(body)
	}
	if body, response := post(t, base, `{"tools": 3}`); response.StatusCode != http.StatusBadRequest || !strings.Contains(body, "tools") {
		t.Error(body)
	}
	if body, response := post(t, base, `{"stream": 3}`); response.StatusCode != http.StatusBadRequest || !strings.Contains(body, "no JSON") {
		t.Error(body)
	}
	parsed := `{"choices": [{"index": 0, "delta": {"reasoning_content": "Hm."}, "finish_reason": null}]}`
	base = start(t, "qwen3", "", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: "+parsed+"\n\n")
	}))
	if stream, _ := post(t, base, `{}`); stream != "data: "+parsed+"\n\n" {
		t.Error(stream)
	}
}

// Servers that say more after a finish reason, and servers that say none.
func TestUnusualEnds(t *testing.T) {
	serve := func(lines ...string) string {
		base := start(t, "qwen3", "", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for _, line := range lines {
				io.WriteString(w, "data: "+line+"\n\n")
			}
		}))
		stream, _ := post(t, base, `{"stream": true}`)
		messages, _ := joined(t, stream)
		return *messages[0].Content
	}
	piece := func(text, reason string) string {
		return `{"id": "x", "choices": [{"index": 0, "delta": {"content": "` + text + `"}, "finish_reason": ` + reason + `}]}`
	}
	// "<tool" may still become a marker, so it is held.
	for _, lines := range [][]string{
		{piece("Hi <tool", "null")},
		{piece("Hi <tool", "null"), "[DONE]"},
		{piece("Hi <tool", `"stop"`), piece("", `"stop"`), "[DONE]"},
		{piece("Hi <tool", `"stop"`), piece("", "null")},
	} {
		if content := serve(lines...); content != "Hi <tool" {
			t.Error(lines, content)
		}
	}
}

// A client that goes away ends the request to the server.
func TestCancelled(t *testing.T) {
	gone := make(chan struct{})
	base := start(t, "qwen3", "", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"choices\": [{\"index\": 0, \"delta\": {\"content\": \"Hi\"}}]}\n\n")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(gone)
	}))
	ctx, cancel := context.WithCancel(context.Background())
	request, _ := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/chat/completions", strings.NewReader(`{"stream": true}`))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Read(make([]byte, 1))
	cancel()
	select {
	case <-gone:
	case <-time.After(time.Minute):
		t.Error("the server still writes")
	}
}
