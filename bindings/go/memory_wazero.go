//go:build !cgo || parlance_wasm

package parlance

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/tetratelabs/wazero"
)

// The library as a WebAssembly module: its memory is its own, and one call runs at a
// time.  memory_cgo.go is the same for the linked library; module_wazero.go runs it.

// pointer is a place in the memory of the module.
type pointer = uint32

// Types of C in structs and results.
type (
	cSize   = uint32
	cInt    = int32
	cUint   = uint32
	cLong   = uint64
	cSigned = int64
	cDouble = float64
	cText   = uint32
	cIDs    = uint32
	cRows   = uint32
	cEvents = uint32
)

const nullPointer pointer = 0

// closedPointer is no handle of any kind: what gets it refuses it.
var closedPointer pointer

// instance is the only one of the module: what never changes is shared by all
// goroutines, and memories share nothing.
var instance struct {
	load sync.Once
	*module
	// Whoever has it may call the module.
	turn sync.Mutex
	// A call in which a function of the caller's runs lets others begin.  They are
	// inside of it: they use the memory above its stack, and it waits for their end.
	depth int
	ended sync.Cond
}

// deepest is how many calls may be inside of each other: their frames lie one above
// another on the one stack of the module, of a megabyte.  A call that waits for an
// encoder has 450 bytes there, and what follows a stack that is full is a trap.
const deepest = 256

// call is one call of the library: what it is given lies in the module's memory until
// its end.
type call struct {
	*module
	functions *functions
	mark      uint32   // of the scratch memory, where this call begins
	large     []uint32 // what did not fit there
	full      bool     // there was no memory for something
	deep      bool     // it is inside of too many
}

func (c *call) begin() *call {
	instance.load.Do(func() {
		instance.ended.L = &instance.turn
		instance.module = loaded()
	})
	instance.turn.Lock()
	c.module = instance.module
	c.functions = c.level(instance.depth)
	c.mark = c.top
	c.deep = instance.depth >= deepest
	instance.depth++
	return c
}

func (c *call) end() {
	for _, at := range c.large {
		c.value(fFree, uint64(at))
	}
	c.top = c.mark
	if instance.depth--; instance.depth > 0 {
		instance.ended.Broadcast()
	}
	instance.turn.Unlock()
}

// outside calls a function of the caller's, which may call the library.
func (m *module) outside(body func()) {
	depth := instance.depth
	instance.turn.Unlock()
	defer func() {
		instance.turn.Lock()
		for instance.depth != depth {
			instance.ended.Wait()
		}
	}()
	body()
}

// stopped is why the module cannot be called, or nil.
func (c *call) stopped() error {
	if c.why != "" {
		return &Error{Code: CodeInternal, Message: c.why}
	}
	if c.deep {
		return &Error{Code: CodeNoMemory,
			Message: fmt.Sprintf("%d calls wait for the encoders of their vocabularies", deepest)}
	}
	return nil
}

// folders are the files that the module has: all, under the names that place gives.
func folders() wazero.FSConfig {
	files := wazero.NewFSConfig()
	if runtime.GOOS != "windows" {
		return files.WithDirMount("/", "/")
	}
	for letter := 'A'; letter <= 'Z'; letter++ {
		drive := string(letter) + `:\`
		if _, err := os.Stat(drive); err == nil {
			files = files.WithDirMount(drive, "/"+string(letter))
		}
	}
	return files
}

// place is a path as the module takes it, which has no working folder.  A drive of
// Windows is a folder there, and what is on none is not found.
func place(path string) string {
	if whole, err := filepath.Abs(path); err == nil && path != "" {
		path = whole
	}
	volume := filepath.VolumeName(path)
	rest := filepath.ToSlash(path[len(volume):])
	if letter, found := strings.CutSuffix(volume, ":"); found {
		return "/" + strings.ToUpper(letter) + rest
	}
	return filepath.ToSlash(volume) + rest
}

// --- What a function is given: a copy, for the call.

// space is memory of the module, aligned to 8, with anything in it; 0 if there is none.
func (c *call) space(size int) uint32 {
	if aligned := (uint64(size) + 7) &^ 7; uint64(c.top)+aligned <= uint64(c.limit) {
		at := c.top
		c.top += uint32(aligned)
		return at
	}
	var at uint32
	if uint64(size) <= math.MaxUint32 {
		at = uint32(c.value(fAlloc, uint64(size)))
	}
	if at == 0 {
		c.full = true
	} else {
		c.large = append(c.large, at)
	}
	return at
}

// room is the same with zeros in it.
func (c *call) room(size int) uint32 {
	at := c.space(size)
	clear(c.memory(at, uint32(size)))
	return at
}

// lent is a copy of a list; 0 for an empty one.
func lent[T any](c *call, list []T) uint32 {
	if len(list) == 0 {
		return 0
	}
	bytes := raw(list)
	at := c.space(len(bytes))
	copy(c.memory(at, uint32(len(bytes))), bytes)
	return at
}

// changed copies a list back, into which a function wrote.
func changed[T any](c *call, at uint32, list []T) {
	bytes := raw(list)
	copy(bytes, c.memory(at, uint32(len(bytes))))
}

// raw has the bytes of numbers or structs, in the order that both have: little endian.
func raw[T any](list []T) []byte {
	size := len(list) * int(unsafe.Sizeof(*new(T)))
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), size)
}

// put is a copy of a struct.
func put[T any](c *call, from *T) uint64 { return uint64(lent(c, unsafe.Slice(from, 1))) }

// load is what a function wrote into room; nothing if there was none, and so no call.
func load[T any](c *call, at uint32, to *T) {
	if !c.full {
		changed(c, at, unsafe.Slice(to, 1))
	}
}

func (c *call) keep(text string) uint32 {
	return lent(c, unsafe.Slice(unsafe.StringData(text), len(text)))
}

func (c *call) keepIDs(ids []uint32) uint32     { return lent(c, ids) }
func (c *call) keepLinks(links []int64) uint32  { return lent(c, links) }
func (c *call) keepEnds(places []uint64) uint32 { return lent(c, places) }

func bit(value bool) uint32 {
	if value {
		return 1
	}
	return 0
}

// sizeOf is a size with 32 bits: one that has more is beyond any limit as the largest is.
func sizeOf(size int) uint32 { return uint32(min(uint64(size), math.MaxUint32)) }

func wide(size int) uint64 { return uint64(sizeOf(size)) }

func cFormatOf(at pointer) uint32      { return at }
func cCompiledTagOf(at pointer) uint32 { return at }
func cGrammarOf(at pointer) uint32     { return at }
func cConstraintOf(at pointer) uint32  { return at }
func cToolsOf(at pointer) uint32       { return at }
func cVocabularyOf(at pointer) uint32  { return at }

// --- What it gives: the module's memory, until the next call.

func pointerOf(text uint32) pointer { return text }

// memory is a part of the module's; nil where the module has stopped or there was no
// room.
func (m *module) memory(at, size uint32) []byte {
	if m.why != "" || at == 0 {
		return nil
	}
	out, _ := m.made.Memory().Read(at, size)
	return out
}

func bytesAt(c *call, text uint32, size uint32) []byte { return c.memory(text, size) }

func literal(c *call, text uint32) string {
	if c.why != "" || text == 0 {
		return ""
	}
	all := c.memory(text, c.made.Memory().Size()-text)
	return string(all[:max(0, bytes.IndexByte(all, 0))])
}

func copied(c *call, ids uint32, count uint32) []uint32 {
	out := make([]uint32, count)
	changed(c, ids, out)
	return out
}

func eventsAt(c *call, events uint32, count uint32) []cEvent {
	out := make([]cEvent, count)
	changed(c, events, out)
	return out
}

// rowsAt copies rows of masks; nil for none.
func rowsAt(c *call, rows uint32, count int, words uint32) []int32 {
	if rows == 0 {
		return nil
	}
	out := make([]int32, count*int(words))
	changed(c, rows, out)
	return out
}

// --- Functions whose parameters are arrays or functions

func cMatcherFill(c *call, matcher pointer, row []int32, constrains *int32) int32 {
	results := c.room(8)
	at := c.space(len(row) * 4)
	status := c.status(fMatcherFill, uint64(matcher), uint64(at), wide(len(row)), uint64(results))
	load(c, results, constrains)
	if status == statusOK {
		changed(c, at, row)
	}
	return status
}

func cMatcherFillMany(c *call, matchers []pointer, rows []uint32, buffer []int32, stride int, threads uint32, failure *pointer) int32 {
	results, masks := c.room(8), lent(c, buffer)
	status := c.status(fMatcherFillMany, uint64(lent(c, matchers)), uint64(lent(c, rows)),
		wide(len(matchers)), uint64(masks), wide(len(buffer)), wide(stride), uint64(threads),
		uint64(results))
	load(c, results, failure)
	changed(c, masks, buffer)
	return status
}

func cMatcherFillTree(c *call, matcher pointer, tree DraftTree, rows []int32, stride int, nanoseconds int64, temperatures []float32, visited *uint32, failure *pointer) int32 {
	results, masks, heat := c.room(16), lent(c, rows), lent(c, temperatures)
	status := c.status(fMatcherFillTree, uint64(matcher), uint64(lent(c, tree.FirstChild)),
		uint64(lent(c, tree.NextSibling)), uint64(lent(c, tree.Tokens)), wide(len(tree.Tokens)),
		uint64(masks), wide(len(rows)), wide(stride), uint64(nanoseconds), uint64(heat),
		uint64(results), uint64(results+8))
	load(c, results, visited)
	load(c, results+8, failure)
	changed(c, masks, rows)
	changed(c, heat, temperatures)
	return status
}

func cMatcherForcedTokens(c *call, matcher pointer, ids []uint32, count *uint32) int32 {
	results, at := c.room(8), c.room(len(ids)*4)
	status := c.status(fMatcherForcedTokens, uint64(matcher), uint64(at), wide(len(ids)),
		uint64(results))
	load(c, results, count)
	changed(c, at, ids)
	return status
}

func cBatchStep(c *call, batch pointer, steps []cStep, masks []int32, stride int, table pointer, temperatures []float32, failure *pointer) int32 {
	results, list := c.room(8), lent(c, steps)
	rows, heat := lent(c, masks), lent(c, temperatures)
	status := c.status(fBatchStep, uint64(batch), uint64(list), wide(len(steps)),
		wide(int(unsafe.Sizeof(cStep{}))), uint64(rows), wide(len(masks)), wide(stride),
		uint64(table), uint64(heat), wide(len(temperatures)), wide(eventSize), uint64(results))
	load(c, results, failure)
	changed(c, list, steps)
	changed(c, rows, masks)
	changed(c, heat, temperatures)
	return status
}

func cGrammarCombine(c *call, inSequence int32, parts []pointer, out, failure *pointer) int32 {
	results := c.room(16)
	status := c.status(fGrammarCombine, uint64(uint32(inSequence)), uint64(lent(c, parts)),
		wide(len(parts)), uint64(results), uint64(results+8))
	load(c, results, out)
	load(c, results+8, failure)
	return status
}

func cVocabularyWithEncoder(c *call, vocabulary pointer, encode func(string) []uint32, out, failure *pointer) int32 {
	results := c.room(16)
	callbacks := c.callbacks()
	c.users++
	user := c.users
	c.encoders[user] = encode
	status := c.status(fVocabularyWithEncoder, uint64(vocabulary), uint64(callbacks), uint64(user),
		uint64(callbacks+1), uint64(results), uint64(results+8))
	load(c, results, out)
	load(c, results+8, failure)
	return status
}
