package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"

	"parlance"
)

// A proxy stands before a server of chat completions that sends what the model
// writes as text.
type proxy struct {
	format   *parlance.Format
	prefix   string // what the chat template has written of each response
	upstream *url.URL
	others   *httputil.ReverseProxy // for requests that are no chat completions
}

func newProxy(format *parlance.Format, prefix string, upstream *url.URL) *proxy {
	return &proxy{format, prefix, upstream, &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(upstream) },
	}}
}

// A chat response, or a chunk of one, as far as the proxy reads it.
type envelope struct {
	ID      string
	Model   string
	Created int64
	Choices []choice
}

type choice struct {
	Index        int
	Delta        text
	Message      text
	FinishReason *string `json:"finish_reason"`
}

type text struct {
	Content   *string
	Reasoning *string           `json:"reasoning_content"`
	ToolCalls []json.RawMessage `json:"tool_calls"`
}

// Whether the server has parsed the response itself.
func (t text) parsed() bool {
	return len(t.ToolCalls) > 0 || t.Reasoning != nil && *t.Reasoning != ""
}

func (t text) content() string {
	if t.Content == nil {
		return ""
	}
	return *t.Content
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		p.others.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var asked struct{ Tools json.RawMessage }
	if err := json.Unmarshal(body, &asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	options := parlance.ParserOptions{Prefix: p.prefix, StreamCalls: true}
	if len(asked.Tools) > 0 && string(asked.Tools) != "null" {
		options.Tools, err = parlance.NewTools(asked.Tools)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		defer options.Tools.Close()
	}

	// It ends when the client goes away.
	request := r.Clone(r.Context())
	request.RequestURI = ""
	to := *p.upstream
	to.Path = strings.TrimSuffix(to.Path, "/") + r.URL.Path
	to.RawQuery = r.URL.RawQuery
	request.URL = &to
	request.Host = p.upstream.Host
	request.Body = io.NopCloser(bytes.NewReader(body))
	request.ContentLength = int64(len(body))
	request.Header.Del("Accept-Encoding")
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer response.Body.Close()
	kind := response.Header.Get("Content-Type")
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(response.StatusCode)
	switch {
	case response.StatusCode != http.StatusOK:
		_, err = io.Copy(w, response.Body)
	case strings.HasPrefix(kind, "text/event-stream"):
		err = p.stream(w, response.Body, &options)
	default:
		err = p.whole(w, response.Body, &options)
	}
	if err != nil && r.Context().Err() == nil {
		log.Print(err)
	}
}

// One choice of a response while it is being written.
type reading struct {
	parser *parlance.Parser
	chat   *parlance.Chat
	ended  bool // its finish reason was sent
}

func (p *proxy) newReading(of envelope, index int, options *parlance.ParserOptions) (*reading, error) {
	parser, err := p.format.NewParser(options)
	if err != nil {
		return nil, err
	}
	chat, err := p.format.NewChat(map[string]any{
		"id": of.ID, "model": of.Model, "created": of.Created, "choice": index, "output": "json"})
	return &reading{parser: parser, chat: chat}, err
}

func (r *reading) close() {
	r.parser.Close()
	r.chat.Close()
}

// What the text of a piece becomes.
func (r *reading) feed(piece string) ([]byte, error) {
	if _, err := r.parser.Feed(piece); err != nil {
		return nil, err
	}
	return r.chat.Feed(r.parser)
}

// What was held at the end of the text.
func (r *reading) held() ([]byte, error) {
	r.ended = true
	if _, err := r.parser.Finalize(); err != nil {
		return nil, err
	}
	return r.chat.Feed(r.parser)
}

// What comes at the end, in two parts: of the text that was held, and of the end.
func (r *reading) finish(reason string) (held, end []byte, err error) {
	if held, err = r.held(); err != nil {
		return nil, nil, err
	}
	why := parlance.EndStop
	switch reason {
	case "length":
		why = parlance.EndLength
	case "content_filter":
		why = parlance.EndContentFilter
	}
	end, err = r.chat.End(why, r.parser, nil)
	return held, end, err
}

// Writes the events of a stream, each as soon as it is there.
func (p *proxy) stream(w http.ResponseWriter, body io.Reader, options *parlance.ParserOptions) error {
	readings := map[int]*reading{}
	defer func() {
		for _, one := range readings {
			one.close()
		}
	}()
	send := func(data []byte) {
		fmt.Fprintf(w, "data: %s\n\n", data)
		http.NewResponseController(w).Flush()
	}
	sendAll := func(chunks []byte, err error) error {
		if err != nil {
			return err
		}
		var list []struct{ Body json.RawMessage }
		if err := json.Unmarshal(chunks, &list); err != nil {
			return err
		}
		for _, chunk := range list {
			send(chunk.Body)
		}
		return nil
	}
	// The server has ended without the finish reason of some choices.
	rest := func() error {
		for _, index := range slices.Sorted(maps.Keys(readings)) {
			if reading := readings[index]; !reading.ended {
				if err := sendAll(reading.held()); err != nil {
					return err
				}
			}
		}
		return nil
	}
	one := func(data []byte) error {
		if string(data) == "[DONE]" {
			if err := rest(); err != nil {
				return err
			}
		}
		var event envelope
		if json.Unmarshal(data, &event) != nil || len(event.Choices) == 0 {
			send(data) // [DONE], the usage, or what the proxy does not know
			return nil
		}
		for _, choice := range event.Choices {
			if choice.Delta.parsed() {
				send(data)
				return nil
			}
			if readings[choice.Index] == nil {
				made, err := p.newReading(event, choice.Index, options)
				if err != nil {
					return err
				}
				readings[choice.Index] = made
			}
			reading := readings[choice.Index]
			if reading.ended {
				if choice.Delta.content() != "" {
					send(data)
				}
				continue
			}
			if err := sendAll(reading.feed(choice.Delta.content())); err != nil {
				return err
			}
			if choice.FinishReason == nil {
				continue
			}
			held, end, err := reading.finish(*choice.FinishReason)
			if err := sendAll(held, err); err != nil {
				return err
			}
			if err := sendAll(end, nil); err != nil {
				return err
			}
		}
		return nil
	}
	lines := bufio.NewReader(body)
	for {
		line, err := lines.ReadBytes('\n')
		if data, found := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:")); found {
			if err := one(bytes.TrimSpace(data)); err != nil {
				return err
			}
		}
		if err != nil {
			if last := rest(); last != nil || err == io.EOF {
				return last
			}
			return err
		}
	}
}

// Writes a whole response: the server's, with the message of each choice parsed.
func (p *proxy) whole(w io.Writer, body io.Reader, options *parlance.ParserOptions) error {
	data, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	var response envelope
	var all map[string]any
	if json.Unmarshal(data, &response) != nil || json.Unmarshal(data, &all) != nil {
		_, err := w.Write(data)
		return err
	}
	choices, _ := all["choices"].([]any)
	for i, choice := range response.Choices {
		if choice.Message.parsed() {
			continue
		}
		made, err := p.choice(choice, response, options)
		if err != nil {
			return err
		}
		for key, value := range made {
			choices[i].(map[string]any)[key] = value
		}
	}
	return json.NewEncoder(w).Encode(all)
}

// The message and the finish reason of a choice.
func (p *proxy) choice(choice choice, of envelope, options *parlance.ParserOptions) (map[string]any, error) {
	reading, err := p.newReading(of, choice.Index, options)
	if err != nil {
		return nil, err
	}
	defer reading.close()
	if _, err := reading.feed(choice.Message.content()); err != nil {
		return nil, err
	}
	reason := ""
	if choice.FinishReason != nil {
		reason = *choice.FinishReason
	}
	if _, _, err := reading.finish(reason); err != nil {
		return nil, err
	}
	response, err := reading.chat.Response()
	if err != nil {
		return nil, err
	}
	var out struct{ Choices []map[string]any }
	if err := json.Unmarshal(response, &out); err != nil {
		return nil, err
	}
	return map[string]any{"message": out.Choices[0]["message"],
		"finish_reason": out.Choices[0]["finish_reason"]}, nil
}
