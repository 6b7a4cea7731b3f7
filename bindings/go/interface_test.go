package parlance_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Functions of the C interface that this package does not call, each with its
// reason.
var notCalled = map[string]string{
	"parlance_abi_minor":    "called by nothing yet: all functions are of the first version",
	"parlance_alloc by cgo": "the library reads Go's memory",
}

// Every function of the header is called, with cgo and without it, except those above
// and the references: Go has a handle once, and what an object depends on the library
// keeps.
func TestEveryFunctionIsCalled(t *testing.T) {
	record, err := os.ReadFile("../c/interface.txt")
	if os.IsNotExist(err) {
		t.Skip("the record is in the repository")
	}
	source := func(pattern string) string {
		files, _ := filepath.Glob(pattern)
		out := ""
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			out += string(text)
		}
		return out
	}
	linked, module := source("*_cgo.go"), source("*_wazero.go")
	count := 0
	for _, match := range regexp.MustCompile(`(?m)^function .*?\b(parlance_\w+)\(`).FindAllStringSubmatch(string(record), -1) {
		name := match[1]
		for way, called := range map[string]bool{
			"cgo":    strings.Contains(linked, "C."+name+"("),
			"module": strings.Contains(module, `"`+name+`"`),
		} {
			_, excused := notCalled[name]
			_, here := notCalled[name+" by "+way]
			if called == (excused || here || strings.HasSuffix(name, "_ref")) {
				t.Errorf("%s by %s: called %v", name, way, called)
			}
		}
		count++
	}
	if count < 100 {
		t.Errorf("%d functions", count)
	}
}
