//go:build cgo && !parlance_wasm

package parlance

// #include <stdlib.h>
// #include "parlance_c.h"
// static const uint64_t no_handle[8];
// static void *closed_handle(void) { return (void *)no_handle; }
// size_t parlanceGoEncode(void *user, char *text, size_t size, uint32_t *ids, size_t capacity);
// void parlanceGoDrop(void *user);
import "C"

import (
	"fmt"
	"runtime"
	"runtime/cgo"
	"unsafe"
)

// The library by cgo: its memory is that of the process.  memory_wazero.go is the same
// for the module.

type pointer = unsafe.Pointer

// Types of C in structs and results.
type (
	cSize   = C.size_t
	cInt    = C.int32_t
	cUint   = C.uint32_t
	cLong   = C.uint64_t
	cSigned = C.int64_t
	cDouble = C.double
	cText   = *C.char
	cIDs    = *C.uint32_t
	cRows   = *C.int32_t
	cEvents = *C.parlance_event
)

var nullPointer pointer

// closedPointer is no handle of any kind: what gets it refuses it.
var closedPointer = pointer(C.closed_handle())

func init() {
	if found := abi(); found != headerABI {
		panic(fmt.Sprintf("parlance: the library has version %d of the C interface, and "+
			"this package needs version %d", found, headerABI))
	}
}

// call is one call of the library: what it is given stays where it is until its end.
type call struct{ pin runtime.Pinner }

func (c *call) begin() *call   { return c }
func (c *call) end()           { c.pin.Unpin() }
func (c *call) stopped() error { return nil }

// place is a path as the library takes it.
func place(path string) string { return path }

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

// kept is a list for a member of a struct: Go's memory inside of Go's memory must not
// move.
func kept[C, T any](c *call, list []T) *C {
	if len(list) == 0 {
		return nil
	}
	first := unsafe.SliceData(list)
	c.pin.Pin(first)
	return (*C)(unsafe.Pointer(first))
}

func (c *call) keepIDs(ids []uint32) *C.uint32_t     { return kept[C.uint32_t](c, ids) }
func (c *call) keepLinks(links []int64) *C.int64_t   { return kept[C.int64_t](c, links) }
func (c *call) keepEnds(places []uint64) *C.uint64_t { return kept[C.uint64_t](c, places) }

func (c *call) keep(text string) *C.char {
	if text == "" {
		return nil
	}
	first := unsafe.StringData(text)
	c.pin.Pin(first)
	return (*C.char)(unsafe.Pointer(first))
}

func bit(value bool) C.uint32_t {
	if value {
		return 1
	}
	return 0
}

func sizeOf(size int) C.size_t { return C.size_t(size) }

func cFormatOf(at pointer) *C.parlance_format            { return (*C.parlance_format)(at) }
func cCompiledTagOf(at pointer) *C.parlance_compiled_tag { return (*C.parlance_compiled_tag)(at) }
func cGrammarOf(at pointer) *C.parlance_grammar          { return (*C.parlance_grammar)(at) }
func cConstraintOf(at pointer) *C.parlance_constraint    { return (*C.parlance_constraint)(at) }
func cToolsOf(at pointer) *C.parlance_tools              { return (*C.parlance_tools)(at) }
func cVocabularyOf(at pointer) *C.parlance_vocabulary    { return (*C.parlance_vocabulary)(at) }

// --- What it gives: the library's memory.

func pointerOf(text *C.char) pointer { return pointer(text) }

func literal(c *call, text *C.char) string { return C.GoString(text) }

func bytesAt(c *call, text *C.char, size C.size_t) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(text)), int(size))
}

func copied(c *call, ids *C.uint32_t, count C.size_t) []uint32 {
	return append([]uint32{}, unsafe.Slice((*uint32)(ids), int(count))...)
}

func eventsAt(c *call, events *C.parlance_event, count C.size_t) []cEvent {
	return unsafe.Slice(events, int(count))
}

// rowsAt copies rows of masks; nil for none.
func rowsAt(c *call, rows *C.int32_t, count int, words C.size_t) []int32 {
	if rows == nil {
		return nil
	}
	return append([]int32{}, unsafe.Slice((*int32)(rows), count*int(words))...)
}

// --- Functions whose parameters are arrays or functions

func words(masks []int32) *C.int32_t {
	return (*C.int32_t)(unsafe.Pointer(unsafe.SliceData(masks)))
}

func links(list []int64) *C.int64_t {
	return (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(list)))
}

func failureOf(failure *pointer) **C.parlance_error {
	return (**C.parlance_error)(unsafe.Pointer(failure))
}

func cMatcherFill(c *call, matcher pointer, row []int32, constrains *int32) int32 {
	return int32(C.parlance_matcher_fill((*C.parlance_matcher)(matcher), words(row),
		C.size_t(len(row)), (*C.int32_t)(constrains)))
}

func cMatcherFillMany(c *call, matchers []pointer, rows []C.size_t, buffer []int32, stride int, threads uint32, failure *pointer) int32 {
	return int32(C.parlance_matcher_fill_many(
		(**C.parlance_matcher)(unsafe.Pointer(unsafe.SliceData(matchers))), unsafe.SliceData(rows),
		C.size_t(len(matchers)), words(buffer), C.size_t(len(buffer)), C.size_t(stride),
		C.uint32_t(threads), failureOf(failure)))
}

func cMatcherFillTree(c *call, matcher pointer, tree DraftTree, rows []int32, stride int, nanoseconds int64, temperatures []float32, visited *C.size_t, failure *pointer) int32 {
	return int32(C.parlance_matcher_fill_tree((*C.parlance_matcher)(matcher), links(tree.FirstChild),
		links(tree.NextSibling), links(tree.Tokens), C.size_t(len(tree.Tokens)),
		words(rows), C.size_t(len(rows)), C.size_t(stride), C.int64_t(nanoseconds),
		(*C.float)(unsafe.Pointer(unsafe.SliceData(temperatures))), visited, failureOf(failure)))
}

func cMatcherForcedTokens(c *call, matcher pointer, ids []uint32, count *C.size_t) int32 {
	return int32(C.parlance_matcher_forced_tokens((*C.parlance_matcher)(matcher), numbers(ids),
		C.size_t(len(ids)), count))
}

func cBatchStep(c *call, batch pointer, steps []cStep, masks []int32, stride int, table pointer, temperatures []float32, failure *pointer) int32 {
	return int32(C.parlance_batch_step((*C.parlance_batch)(batch),
		unsafe.SliceData(steps), C.size_t(len(steps)), C.sizeof_parlance_step,
		words(masks), C.size_t(len(masks)), C.size_t(stride), (*C.parlance_table)(table),
		(*C.float)(unsafe.Pointer(unsafe.SliceData(temperatures))), C.size_t(len(temperatures)),
		C.sizeof_parlance_event, failureOf(failure)))
}

func cGrammarCombine(c *call, inSequence int32, parts []pointer, out, failure *pointer) int32 {
	return int32(C.parlance_grammar_combine(C.int32_t(inSequence),
		(**C.parlance_grammar)(unsafe.Pointer(unsafe.SliceData(parts))), C.size_t(len(parts)),
		(**C.parlance_grammar)(unsafe.Pointer(out)), failureOf(failure)))
}

//export parlanceGoEncode
func parlanceGoEncode(user unsafe.Pointer, text *C.char, size C.size_t, ids *C.uint32_t, capacity C.size_t) C.size_t {
	encode := (*(*cgo.Handle)(user)).Value().(func(string) []uint32)
	found := encoded(encode, textOf(nil, text, size))
	copy(unsafe.Slice((*uint32)(ids), int(capacity)), found)
	return C.size_t(len(found))
}

//export parlanceGoDrop
func parlanceGoDrop(user unsafe.Pointer) {
	(*(*cgo.Handle)(user)).Delete()
	C.free(user)
}

func cVocabularyWithEncoder(c *call, vocabulary pointer, encode func(string) []uint32, out, failure *pointer) int32 {
	user := C.malloc(C.size_t(unsafe.Sizeof(cgo.Handle(0))))
	*(*cgo.Handle)(user) = cgo.NewHandle(encode)
	return int32(C.parlance_vocabulary_with_encoder((*C.parlance_vocabulary)(vocabulary),
		(C.parlance_encode_fn)(C.parlanceGoEncode), user, (*[0]byte)(C.parlanceGoDrop),
		(**C.parlance_vocabulary)(unsafe.Pointer(out)), failureOf(failure)))
}
