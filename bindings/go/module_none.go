//go:build !cgo || parlance_wasm

package parlance

// The package that scripts/package go makes has the module; a checkout has none, and
// this does not compile, so that the reason is read.
var moduleBytes []byte = Parlance_has_no_WebAssembly_module_here__scripts_package_go_puts_it_in__or_set_CGO_ENABLED_1
