// Proxy adds reasoning and tool calls to a server of chat completions that sends
// what its model writes as text.
//
//	go run ./examples/proxy -format qwen3 -upstream http://127.0.0.1:8000
//	go run ./examples/proxy -demo
//
// Requests of chat completions are sent on as they are.  In the responses, streamed
// or not, the text of each choice becomes content, reasoning_content and tool_calls;
// log probabilities of a stream are left out.  A response that the server has parsed
// itself, and every other request, passes through.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"time"

	"parlance"
)

func main() {
	name := flag.String("format", "qwen3", "the model's family, or an alias of it")
	upstream := flag.String("upstream", "http://127.0.0.1:8000", "the server")
	listen := flag.String("listen", "127.0.0.1:8080", "where to listen")
	prefix := flag.String("prefix", "", `what the chat template writes of each response, such as "<think>"`)
	demo := flag.Bool("demo", false, "show the responses of a server with a recorded model, and end")
	flag.Parse()

	format, err := parlance.BuiltIn(*name)
	if err != nil {
		log.Fatal(err)
	}
	if *demo {
		show(format)
		return
	}
	to, err := url.Parse(*upstream)
	if err != nil {
		log.Fatal(err)
	}
	server := http.Server{Handler: newProxy(format, *prefix, to), ReadHeaderTimeout: time.Minute}
	socket, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("http://%s, before %s", socket.Addr(), to)
	log.Fatal(server.Serve(socket))
}

const demoText = "<think>The user asks for the weather.</think>Let me look.<tool_call>\n" +
	`{"name": "get_weather", "arguments": {"city": "Zürich", "days": 3}}` + "\n</tool_call>"

func show(format *parlance.Format) {
	server := httptest.NewServer(rawServer(demoText, "stop"))
	defer server.Close()
	to, _ := url.Parse(server.URL)
	front := httptest.NewServer(newProxy(format, "", to))
	defer front.Close()
	for _, stream := range []bool{false, true} {
		request := fmt.Sprintf(`{"model": "m", "messages": [], "stream": %v}`, stream)
		for _, base := range []string{server.URL, front.URL} {
			response, err := http.Post(base+"/v1/chat/completions", "application/json", bytes.NewBufferString(request))
			if err != nil {
				log.Fatal(err)
			}
			body, err := io.ReadAll(response.Body)
			response.Body.Close()
			if err != nil {
				log.Fatal(err)
			}
			fmt.Printf("--- %s, stream %v\n%.3000s\n", map[bool]string{true: "the server", false: "the proxy"}[base == server.URL], stream, body)
		}
	}
}
