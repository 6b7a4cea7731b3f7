package main

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// rawServer is a server of chat completions whose model writes the same text every
// time: for the demonstration and the tests.  A stream comes byte by byte, and each
// event has one character.
func rawServer(text, reason string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" {
			fmt.Fprint(w, "another page")
			return
		}
		var request struct {
			Stream bool
			N      int
		}
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			http.Error(w, `{"error": "no JSON"}`, http.StatusBadRequest)
			return
		}
		type object = map[string]any
		n := max(request.N, 1)
		response := func(choices []object) object {
			return object{"id": "x", "model": "m", "created": 7, "choices": choices}
		}
		if !request.Stream {
			w.Header().Set("Content-Type", "application/json")
			var choices []object
			for i := range n {
				choices = append(choices, object{"index": i, "finish_reason": reason,
					"message": object{"role": "assistant", "content": text}})
			}
			out := response(choices)
			out["usage"] = object{"total_tokens": 9}
			json.NewEncoder(w).Encode(out)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		send := func(data string) {
			for _, b := range []byte("data: " + data + "\n\n") {
				w.Write([]byte{b})
				http.NewResponseController(w).Flush()
			}
		}
		event := func(index int, delta object, reason any) {
			data, _ := json.Marshal(response([]object{{"index": index, "delta": delta, "finish_reason": reason}}))
			send(string(data))
		}
		for i := range n {
			event(i, object{"role": "assistant", "content": ""}, nil)
		}
		for _, character := range text {
			for i := range n {
				event(i, object{"content": string(character)}, nil)
			}
		}
		for i := range n {
			event(i, object{}, reason)
		}
		send(`{"choices": [], "usage": {"total_tokens": 9}}`)
		send("[DONE]")
	})
}
