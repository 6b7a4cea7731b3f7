//go:build cgo && !parlance_wasm

package parlance

// #cgo pkg-config: parlance-c
import "C"
