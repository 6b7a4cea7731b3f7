#ifndef PARLANCE_ACCESS_H_
#define PARLANCE_ACCESS_H_

// The library's own way into its public classes.
//
// Public values hide what they are made of after one pointer, `impl_`, and name
// Access as their friend.  Access is defined inside the library alone, so
// programs that use the library have no way in.

namespace parlance::detail {

struct Access;  // src/foundation/base/access.h

}  // namespace parlance::detail

#endif  // PARLANCE_ACCESS_H_
