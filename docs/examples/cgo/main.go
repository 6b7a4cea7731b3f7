// A response becomes a message, from Go by the C interface: docs/guide/c.md.
package main

// #cgo pkg-config: parlance-c
// #include <stdlib.h>
// #include "parlance_c.h"
import "C"

import (
	"fmt"
	"os"
	"unsafe"
)

func main() {
	name, text := "qwen3", "<think>Bern.</think>Let me look.<tool_call>\n"+
		"{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Bern\"}}\n</tool_call>"
	cname, ctext := C.CString(name), C.CString(text)
	defer C.free(unsafe.Pointer(cname))
	defer C.free(unsafe.Pointer(ctext))
	var format *C.parlance_format
	var failure *C.parlance_error
	var result C.parlance_bytes
	if C.parlance_format_built_in(cname, C.size_t(len(name)), &format, &failure) != C.PARLANCE_OK ||
		C.parlance_parse(format, ctext, C.size_t(len(text)), nil, &result, &failure) != C.PARLANCE_OK {
		fmt.Fprintln(os.Stderr, C.GoString(C.parlance_error_message(failure, nil)))
		C.parlance_error_free(failure)
		os.Exit(1)
	}
	fmt.Println(C.GoStringN(result.data, C.int(result.size)))
	C.parlance_free(unsafe.Pointer(result.data))
	C.parlance_format_free(format)
}
