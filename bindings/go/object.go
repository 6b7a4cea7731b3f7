package parlance

import (
	"runtime"
	"sync/atomic"
)

// object holds a handle of the library.  The types of handles are made of it, so
// that a nil one converts to a nil object.
type object struct {
	at      pointer
	kind    handle
	cleanup runtime.Cleanup
	busy    atomic.Bool        // a call is made whose result is copied after it
	uses    atomic.Int64       // calls that are made with the handle, and what follows
	rows    map[uint32]*object // of a batch: the parsers of its rows
}

// Bits of object.uses.
const (
	closed = 1 << 62 // no other call gets the handle
	freed  = 1 << 61
)

// adopt gives a new handle to the garbage collector.
func adopt(at pointer, kind handle) *object {
	o := &object{at: at, kind: kind}
	o.cleanup = runtime.AddCleanup(o, func(at pointer) {
		var c call
		defer c.begin().end()
		kind.free(&c, at)
	}, at)
	return o
}

// pointer is the handle for one call; null for no object, and what no function takes
// for a closed one, so that where null is allowed, a closed object is not like none.
// Until done the handle stays, also if another goroutine, or a function that the call
// calls, closes the object.
func (o *object) pointer() pointer {
	if o == nil {
		return nullPointer
	}
	if o.uses.Add(1)&closed != 0 || o.at == nullPointer {
		return closedPointer
	}
	return o.at
}

// done ends a call with what pointer gave.
func (o *object) done(c *call) {
	if o != nil && o.uses.Add(-1) == closed {
		o.drop(c)
	}
}

// drop frees a closed object, which no call uses.
func (o *object) drop(c *call) {
	if !o.uses.CompareAndSwap(closed, closed|freed) {
		return
	}
	o.cleanup.Stop()
	at := o.at
	o.at = nullPointer
	o.kind.free(c, at)
}

// enter begins a call whose result lives until the next call of the same object: it
// is copied before that may begin.  The library itself knows only when its call ends.
func (o *object) enter() error {
	if o != nil && !o.busy.CompareAndSwap(false, true) {
		return &Error{Code: CodeBusy, Message: "another call uses the object"}
	}
	return nil
}

func (o *object) leave() {
	if o != nil {
		o.busy.Store(false)
	}
}

func (o *object) close() error {
	if o == nil {
		return nil
	}
	if err := o.enter(); err != nil {
		return err
	}
	defer o.leave()
	if o.uses.Or(closed) == 0 {
		var c call
		defer c.begin().end()
		o.drop(&c)
	}
	return nil
}
