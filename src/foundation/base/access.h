#ifndef PARLANCE_SRC_BASE_ACCESS_H_
#define PARLANCE_SRC_BASE_ACCESS_H_

// Access from a public value to its implementation, for internal code.
//
//   const format::Description& description =
//       detail::Access::impl(format)->description;
//
// Public classes declare `friend struct detail::Access` and nothing else of
// this kind.  The functions are templates, so this header needs none of their
// headers, and only a room that has the definition of the implementation can
// do anything with it.

#include <utility>

#include "parlance/access.h"

namespace parlance::detail {

struct Access {
  // The pointer of `value` to its implementation, which all copies of `value`
  // share.  Valid as long as `value`.
  template <class Public>
  static const auto& impl(const Public& value) {
    return value.impl_;
  }

  // A public value made of its implementation.
  template <class Public, class Impl>
  static Public make(Impl&& impl) {
    return Public(std::forward<Impl>(impl));
  }
};

}  // namespace parlance::detail

#endif  // PARLANCE_SRC_BASE_ACCESS_H_
