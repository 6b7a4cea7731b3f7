//go:build !cgo || parlance_wasm

package parlance

// Without a C compiler there is no library to call: this does not compile, so that
// the reason is read.
var _ = Parlance_needs_cgo__set_CGO_ENABLED_1_and_install_a_C_compiler

// For object.go, so that the line above is the first error.
type pointer = uintptr

var nullPointer pointer
