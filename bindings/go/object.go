package parlance

import (
	"runtime"
	"sync/atomic"
)

// object holds a handle of the library.  The types of handles are made of it, so
// that a nil one converts to a nil object.
type object struct {
	at      pointer
	cleanup runtime.Cleanup
	busy    atomic.Bool // a call is made whose result is copied after it
}

// adopt gives a new handle to the garbage collector.
func adopt(at pointer, free func(pointer)) *object {
	o := &object{at: at}
	o.cleanup = runtime.AddCleanup(o, free, at)
	return o
}

// pointer is the handle, or null.  Whoever calls a function with it keeps the
// object alive until that returns: the cleanup may run as soon as nothing refers
// to the object.
func (o *object) pointer() pointer {
	if o == nil {
		return nullPointer
	}
	return o.at
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

func (o *object) close(free func(pointer)) error {
	if o == nil {
		return nil
	}
	if err := o.enter(); err != nil {
		return err
	}
	defer o.leave()
	if o.at != nullPointer {
		o.cleanup.Stop()
		at := o.at
		o.at = nullPointer
		free(at)
	}
	return nil
}
