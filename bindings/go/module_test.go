//go:build !cgo || parlance_wasm

package parlance

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// A matcher of "abab" whose vocabulary asks encode.
func encodedMatcher(t *testing.T, encode func(string) []uint32) *Matcher {
	vocabulary, err := NewVocabulary(Tokens{Tokens: []string{"a", "b", "ab", "<end>"},
		ControlIDs: []uint32{3}, StopIDs: []uint32{3}})
	if err == nil {
		vocabulary, err = vocabulary.WithEncoder(encode)
	}
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := NewCompiler(vocabulary, nil)
	if err != nil {
		t.Fatal(err)
	}
	constraint, err := compiler.Compile(Regex, "abab", nil)
	if err != nil {
		t.Fatal(err)
	}
	matcher, err := constraint.NewMatcher(nil)
	if err != nil {
		t.Fatal(err)
	}
	return matcher
}

// Calls that wait for encoders are inside of each other, and no more of them than have
// room on the module's stack.
func TestDeepestCall(t *testing.T) {
	var inside, all sync.WaitGroup
	release := make(chan bool)
	matcher := encodedMatcher(t, func(string) []uint32 {
		inside.Done()
		<-release
		return []uint32{2, 2}
	})
	for range deepest {
		copied, err := matcher.Copy()
		if err != nil {
			t.Fatal(err)
		}
		inside.Add(1)
		all.Add(1)
		go func() {
			defer all.Done()
			if forced, err := copied.ForcedTokens(); len(forced) != 2 || err != nil {
				t.Error(forced, err)
			}
		}()
	}
	inside.Wait()
	_, err := matcher.ForcedTokens()
	if !errors.Is(err, CodeNoMemory) || !strings.Contains(err.Error(), "256 calls wait") {
		t.Error(err)
	}
	if _, err := NewGrammar(Regex, "a", nil, nil); !errors.Is(err, CodeNoMemory) {
		t.Error(err)
	}
	close(release)
	all.Wait()
	inside.Add(1)
	if forced, err := matcher.ForcedTokens(); len(forced) != 2 || err != nil {
		t.Error(forced, err)
	}
}

// In a process of its own, whose module is not of use after it.
func alone(t *testing.T, environment string, body func()) {
	if os.Getenv("PARLANCE_TEST_ALONE") == "1" {
		body()
		return
	}
	command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	command.Env = append(os.Environ(), "PARLANCE_TEST_ALONE=1", environment)
	if said, err := command.CombinedOutput(); err != nil {
		t.Error(string(said), err)
	}
}

func stopped(t *testing.T, err error, words string) {
	t.Helper()
	if !errors.Is(err, CodeInternal) || !strings.Contains(err.Error(), words) {
		t.Error(err)
	}
}

// A call that waits while the module stops is not continued.
func TestStopInACall(t *testing.T) {
	alone(t, "", func() {
		matcher := encodedMatcher(t, func(string) []uint32 {
			instance.turn.Lock()
			defer instance.turn.Unlock()
			instance.stop(errors.New("first"))
			instance.stop(errors.New("second"))
			return []uint32{2, 2}
		})
		_, err := matcher.ForcedTokens()
		stopped(t, err, "any more: first")
		_, err = matcher.ForcedTokens()
		stopped(t, err, "any more: first")
	})
}

// What never began is an error of each call, also of one that needs more of wazero.
func TestNoCache(t *testing.T) {
	alone(t, "PARLANCE_WASM_CACHE="+os.DevNull, func() {
		_, err := (*Vocabulary)(nil).WithEncoder(func(string) []uint32 { return nil })
		stopped(t, err, "PARLANCE_WASM_CACHE")
	})
}
