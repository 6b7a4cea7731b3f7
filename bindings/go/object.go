package parlance

import "runtime"

// object holds a handle of the library.  The types of handles are made of it, so
// that a nil one converts to a nil object.
type object struct {
	at      pointer
	cleanup runtime.Cleanup
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

func (o *object) close(free func(pointer)) {
	if o == nil || o.at == nullPointer {
		return
	}
	o.cleanup.Stop()
	at := o.at
	o.at = nullPointer
	free(at)
}
