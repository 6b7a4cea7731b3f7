//go:build !cgo || parlance_wasm

package parlance

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// module is the library in wazero.  All of it belongs to whoever has instance.turn.
type module struct {
	made   api.Module
	levels []*functions
	said   tail
	why    string // it cannot be called; "" if it can

	// Scratch memory, a stack: what calls are given begins to be free at top.
	top, limit uint32

	// Functions of the caller's, by the number that the library has for each.
	encoders map[uint32]func(string) []uint32
	users    uint32
	table    uint32 // where the two that call them are in the module's table, or 0
	runtime  wazero.Runtime
}

// functions are those of the module for calls at one depth: a call that is inside of
// another has a stack of its own.
type functions struct {
	list  [functionCount]api.Function
	stack [16]uint64
}

const scratch = 1 << 16

var background = context.Background()

// loaded compiles the module and makes its instance.  With the folder
// PARLANCE_WASM_CACHE the machine code is kept there and read by the next process.
func loaded() *module {
	m := &module{encoders: map[uint32]func(string) []uint32{}}
	if err := m.start(); err != nil {
		m.stop(err)
	}
	return m
}

func (m *module) start() error {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return fmt.Errorf("the processor is not little endian")
	}
	ctx := experimental.WithCompilationWorkers(background, runtime.GOMAXPROCS(0))
	config := wazero.NewRuntimeConfig().WithCoreFeatures(
		api.CoreFeaturesV2 | experimental.CoreFeaturesExtendedConst)
	folder := os.Getenv("PARLANCE_WASM_CACHE")
	if folder != "" {
		cache, err := wazero.NewCompilationCacheWithDir(folder)
		if err != nil {
			return fmt.Errorf("PARLANCE_WASM_CACHE: %w", err)
		}
		config = config.WithCompilationCache(cache)
	}
	m.runtime = wazero.NewRuntimeWithConfig(ctx, config)
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, m.runtime); err != nil {
		return err
	}
	compiled, err := m.runtime.CompileModule(ctx, moduleBytes)
	if err != nil && folder != "" {
		// It can be that a file there is damaged, or cannot be written.
		return fmt.Errorf("with PARLANCE_WASM_CACHE=%s: %w", folder, err)
	}
	if err != nil {
		return err
	}
	m.made, err = m.runtime.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().
		WithName("library").WithStartFunctions("_initialize").WithStderr(&m.said).
		WithFSConfig(folders()).
		WithRandSource(rand.Reader).WithSysNanotime().WithSysWalltime())
	if err != nil {
		return err
	}
	c := &call{module: m, functions: m.level(0)}
	if found := cAbi(c); found != headerABI {
		return fmt.Errorf("it has version %d of the C interface, and this package needs version %d",
			found, headerABI)
	}
	m.top = uint32(c.value(fAlloc, scratch))
	m.limit = m.top + scratch
	if m.top == 0 {
		return fmt.Errorf("there is no memory")
	}
	closedPointer = c.room(64)
	return nil
}

// stop ends all calls: a module that has trapped is in no state that can be used.  The
// first reason counts.
func (m *module) stop(err error) {
	if m.why != "" {
		return
	}
	text, _, _ := strings.Cut(err.Error(), "\nwasm stack trace")
	if m.said != "" {
		text += ": " + strings.TrimSpace(string(m.said))
	}
	m.why = "the WebAssembly module cannot be used any more: " + text
}

func (m *module) level(depth int) *functions {
	for len(m.levels) <= depth {
		m.levels = append(m.levels, &functions{})
	}
	return m.levels[depth]
}

// value calls a function; 0 if the module has stopped.
func (c *call) value(function int, given ...uint64) uint64 {
	if c.why != "" {
		return 0
	}
	f := c.functions.list[function]
	if f == nil {
		if f = c.made.ExportedFunction(functionNames[function]); f == nil {
			c.stop(fmt.Errorf("it has no %s", functionNames[function]))
			return 0
		}
		c.functions.list[function] = f
	}
	copy(c.functions.stack[:], given)
	if err := f.CallWithStack(background, c.functions.stack[:]); err != nil {
		c.stop(err)
		return 0
	}
	return c.functions.stack[0]
}

// status calls a function that gives one.
func (c *call) status(function int, given ...uint64) int32 {
	if c.full || c.deep {
		return int32(CodeNoMemory)
	}
	out := int32(c.value(function, given...))
	if c.why != "" {
		return int32(CodeInternal)
	}
	return out
}

// tail keeps the end of what the C++ library says before it ends the module.
type tail string

func (t *tail) Write(bytes []byte) (int, error) {
	text := string(*t) + string(bytes)
	*t = tail(text[max(0, len(text)-1000):])
	return len(bytes), nil
}

// --- Functions of Go that the library calls

// callbacks is where in the module's table the function is that calls an encoder; the
// next is the one that drops it.
func (m *module) callbacks() uint32 {
	if m.table != 0 || m.why != "" {
		return m.table
	}
	const word = api.ValueTypeI32
	_, err := m.runtime.NewHostModuleBuilder("go").
		NewFunctionBuilder().WithGoFunction(api.GoFunc(m.encode),
		[]api.ValueType{word, word, word, word, word}, []api.ValueType{word}).Export("encode").
		NewFunctionBuilder().WithGoFunction(api.GoFunc(m.drop),
		[]api.ValueType{word}, nil).Export("drop").
		Instantiate(background)
	if err != nil {
		m.stop(err)
		return 0
	}
	placing, err := m.runtime.InstantiateWithConfig(background, []byte(placing),
		wazero.NewModuleConfig().WithName("placing"))
	if err != nil {
		m.stop(err)
		return 0
	}
	at, err := placing.ExportedFunction("place").Call(background)
	if err != nil {
		m.stop(err)
		return 0
	}
	m.table = uint32(at[0])
	return m.table
}

func (m *module) encode(_ context.Context, stack []uint64) {
	encode := m.encoders[uint32(stack[0])]
	text := string(m.memory(uint32(stack[1]), uint32(stack[2])))
	ids, capacity := uint32(stack[3]), int(uint32(stack[4]))
	var found []uint32
	m.outside(func() { found = encoded(encode, text) })
	if m.why != "" {
		// The call that waited is not continued in a module that has trapped meanwhile.
		panic(m.why)
	}
	copy(m.memory(ids, uint32(4*capacity)), raw(found[:min(len(found), capacity)]))
	stack[0] = uint64(len(found))
}

func (m *module) drop(_ context.Context, stack []uint64) {
	delete(m.encoders, uint32(stack[0]))
}

// placing is a module that puts them there, which wazero cannot from outside:
//
//	(module
//	 (import "library" "__indirect_function_table" (table $table 1 funcref))
//	 (import "go" "encode" (func $encode (param i32 i32 i32 i32 i32) (result i32)))
//	 (import "go" "drop" (func $drop (param i32)))
//	 (elem declare func $encode $drop)
//	 (func (export "place") (result i32) (local $at i32)
//	  (local.set $at (table.grow $table (ref.func $encode) (i32.const 2)))
//	  (table.set $table (i32.add (local.get $at) (i32.const 1)) (ref.func $drop))
//	  (local.get $at)))
const placing = "" +
	"\x00asm\x01\x00\x00\x00\x01\x12\x03\x60\x05\x7f\x7f\x7f\x7f\x7f\x01\x7f\x60\x01\x7f\x00" +
	"\x60\x00\x01\x7f\x02\x3d\x03\x07library\x19__indirect_function_table\x01\x70\x00\x01" +
	"\x02go\x06encode\x00\x00\x02go\x04drop\x00\x01\x03\x02\x01\x02\x07\x09\x01\x05place\x00\x02" +
	"\x09\x06\x01\x03\x00\x02\x01\x00\x0a\x1a\x01\x18\x01\x01\x7f\xd2\x00\x41\x02\xfc\x0f\x00" +
	"\x21\x00\x20\x00\x41\x01\x6a\xd2\x01\x26\x00\x20\x00\x0b"
