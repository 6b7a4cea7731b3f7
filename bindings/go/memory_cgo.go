//go:build cgo && !parlance_wasm

package parlance

// #include "parlance_c.h"
// static const uint64_t no_handle[8];
// static void *closed_handle(void) { return (void *)no_handle; }
import "C"

import (
	"runtime"
	"unsafe"
)

type pointer = unsafe.Pointer

var nullPointer pointer

// closedPointer is no handle of any kind: what gets it refuses it.
var closedPointer = pointer(C.closed_handle())

// --- What a function is given: Go's memory, for the call.

func chars(text string) *C.char {
	if text == "" {
		return nil
	}
	return (*C.char)(unsafe.Pointer(unsafe.StringData(text)))
}

func opaque(text string) unsafe.Pointer { return unsafe.Pointer(chars(text)) }

func numbers(ids []uint32) *C.uint32_t {
	if len(ids) == 0 {
		return nil
	}
	return (*C.uint32_t)(unsafe.Pointer(unsafe.SliceData(ids)))
}

// pinned is a list for a member of a struct: Go's memory inside of Go's memory
// must not move.
func pinned[C, T any](pin *runtime.Pinner, list []T) *C {
	if len(list) == 0 {
		return nil
	}
	first := unsafe.SliceData(list)
	pin.Pin(first)
	return (*C)(unsafe.Pointer(first))
}

func pinnedText(pin *runtime.Pinner, text string) *C.char {
	if text == "" {
		return nil
	}
	first := unsafe.StringData(text)
	pin.Pin(first)
	return (*C.char)(unsafe.Pointer(first))
}

func bit(value bool) C.uint32_t {
	if value {
		return 1
	}
	return 0
}

// --- What it gives.

// taken copies bytes and frees them.
func taken(bytes C.parlance_bytes) []byte {
	if bytes.data == nil {
		return nil
	}
	out := make([]byte, int(bytes.size))
	copy(out, unsafe.Slice((*byte)(unsafe.Pointer(bytes.data)), int(bytes.size)))
	C.parlance_free(unsafe.Pointer(bytes.data))
	return out
}

func copied(ids *C.uint32_t, count C.size_t) []uint32 {
	return append([]uint32{}, unsafe.Slice((*uint32)(ids), int(count))...)
}

// textOf copies a text, which may have NUL in it.
func textOf(text *C.char, size C.size_t) string {
	return string(unsafe.Slice((*byte)(unsafe.Pointer(text)), int(size)))
}

// failed turns what a function said into an error.
func failed(status C.parlance_status, failure *C.parlance_error) error {
	if status == C.PARLANCE_WRONG_HANDLE {
		// Types keep handles of other kinds away: it is closedPointer.
		C.parlance_error_free(failure)
		return &Error{Code: CodeNull, Message: "a closed object is used"}
	}
	out := &Error{Code: Code(status)}
	if failure == nil {
		out.Message = statusName(int32(status))
		return out
	}
	var size C.size_t
	message := C.parlance_error_message(failure, &size)
	out.Message = textOf(message, size)
	path := C.parlance_error_path(failure, &size)
	out.Path = textOf(path, size)
	var span C.parlance_span
	if C.parlance_error_span(failure, &span) != 0 {
		out.Span = &Span{uint64(span.begin), uint64(span.end)}
	}
	C.parlance_error_free(failure)
	return out
}

func statusName(status int32) string {
	return C.GoString(C.parlance_status_name(C.parlance_status(status)))
}

func formatsName(index int) string {
	return C.GoString(C.parlance_formats_name(C.size_t(index), nil))
}
