#ifndef PARLANCE_ACCESS_H_
#define PARLANCE_ACCESS_H_

// The library's own way into its public classes.
//
// A public value holds one pointer, `impl_`, to an implementation that no
// public header defines, and names Access as its friend.  Access is defined
// inside the library alone, so programs that use the library have no way in.

namespace parlance::detail {

struct Access;  // src/foundation/base/access.h

}  // namespace parlance::detail

#endif  // PARLANCE_ACCESS_H_
