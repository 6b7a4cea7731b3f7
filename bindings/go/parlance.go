// Package parlance turns what a language model writes into messages while it
// streams, and holds a model to what it may write.
//
// It is a thin layer on the C interface of Parlance, include/parlance_c.h, whose
// comments say what each call does; the rules of this package are:
//
//   - Requests, messages, tools and reports are JSON.  Where a parameter is of type
//     any, it is a json.RawMessage, taken as it is, or a value that encoding/json
//     writes; nil is the empty request.
//   - What a person wrote wrong is an *Error with a code, a JSON Pointer and the
//     bytes it is about.  What a model writes is never an error.
//   - A Format, Tools, Vocabulary, Tag, Grammar, Compiler or Constraint never
//     changes and is shared freely.  A Parser, Matcher, Chat, SSE or Batch serves
//     one call at a time; a second one at the same time is CodeBusy.
//   - Close frees what an object holds at once; without it the garbage collector
//     does.  What an object depends on it keeps.
//   - What a call returns is Go's own memory.
//
// With cgo the library is linked.  Without it, or with the build tag parlance_wasm, it
// is a WebAssembly module that the first call compiles; then one call runs at a time,
// and one that would be CodeBusy may wait in its place (docs/guide/go.md).
package parlance

import (
	"encoding/json"
	"unsafe"
)

// Version is that of the library, such as "0.1.0".
func Version() string { return version() }

// Span is a range of bytes or tokens, half-open.
type Span struct{ Begin, End uint64 }

// Error says what is wrong, where, and what would be right.
type Error struct {
	Code    Code
	Message string
	// A JSON Pointer into the source; "" for its root, and without JSON.
	Path string
	// The bytes of the source that are wrong, or nil.
	Span *Span
}

func (e *Error) Error() string {
	if e.Path == "" {
		return e.Message
	}
	return e.Path + ": " + e.Message
}

// Is makes errors.Is(err, parlance.CodeUnknownKey) true.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == e.Code
}

// Error is the name of the code, such as "unknown_key".
func (c Code) Error() string { return statusName(int32(c)) }

// given turns a value into the text of a request.
func given(value any) (string, error) {
	switch value := value.(type) {
	case nil:
		return "", nil
	case json.RawMessage:
		return string(value), nil
	case []byte:
		return string(value), nil
	}
	text, err := json.Marshal(value)
	return string(text), err
}

// viewed is the text of bytes, for a call that reads it and keeps nothing.
func viewed(bytes []byte) string {
	return unsafe.String(unsafe.SliceData(bytes), len(bytes))
}

func misused(message string) error {
	return &Error{Code: CodeBadArgument, Message: message}
}
