// A response becomes a message while it is being written: docs/guide/go.md.
package main

import (
	"fmt"
	"log"

	"parlance"
)

func main() {
	format, err := parlance.BuiltIn("qwen3") // once, for all responses and goroutines
	if err != nil {
		log.Fatal(err)
	}
	parser, err := format.NewParser(nil) // for each response
	if err != nil {
		log.Fatal(err)
	}
	defer parser.Close()
	for _, chunk := range []string{"<thi", "nk>Bern, th", "en.</thin", "k>It is ", "sunny.<|im_e", "nd|>"} {
		events, err := parser.Feed(chunk)
		if err != nil {
			log.Fatal(err)
		}
		for _, event := range events {
			if event.Kind == parlance.RegionChunk {
				fmt.Printf("%s %q\n", event.Field, event.Text)
			}
		}
	}
	if _, err := parser.Finalize(); err != nil {
		log.Fatal(err)
	}
	message, err := parser.ChatMessage()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(message))
}
