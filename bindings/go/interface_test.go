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
	"parlance_abi_minor": "called by nothing yet: all functions are of the first version",
	"parlance_alloc":     "the library reads Go's memory",
}

// Every function of the header is called, except those above and the references:
// Go has a handle once, and what an object depends on the library keeps.
func TestEveryFunctionIsCalled(t *testing.T) {
	record, err := os.ReadFile("../c/interface.txt")
	if os.IsNotExist(err) {
		t.Skip("the record is in the repository")
	}
	files, _ := filepath.Glob("*_cgo.go")
	source := ""
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source += string(text)
	}
	count := 0
	for _, match := range regexp.MustCompile(`(?m)^function .*?\b(parlance_\w+)\(`).FindAllStringSubmatch(string(record), -1) {
		name := match[1]
		called := strings.Contains(source, "C."+name+"(")
		_, excused := notCalled[name]
		if called == (excused || strings.HasSuffix(name, "_ref")) {
			t.Errorf("%s: called %v, on the list %v", name, called, excused)
		}
		count++
	}
	if count < 100 {
		t.Errorf("%d functions", count)
	}
}
