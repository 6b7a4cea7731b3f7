#ifndef PARLANCE_SRC_BASE_UNWINDING_H_
#define PARLANCE_SRC_BASE_UNWINDING_H_

// What is to be undone when the standard library throws: there is no memory.
//
//   const base::OnUnwinding forget([&] { cache.clear(); });
//   cache.list.push_back(...);   // both or none
//   cache.by_key.emplace(...);

#include <exception>
#include <utility>

namespace parlance::base {

// Whether an exception has been thrown since this was made, and is on its way
// through the block in which this lives.
class Unwinding {
 public:
  bool begun() const { return std::uncaught_exceptions() > before_; }

 private:
  const int before_ = std::uncaught_exceptions();
};

// Calls undo() when the block in which it lives is left by an exception.
// REQUIRES: undo() does not throw.
template <class Undo>
class OnUnwinding {
 public:
  explicit OnUnwinding(Undo undo) : undo_(std::move(undo)) {}
  ~OnUnwinding() {
    if (unwinding_.begun()) undo_();
  }
  OnUnwinding(const OnUnwinding&) = delete;
  OnUnwinding& operator=(const OnUnwinding&) = delete;

 private:
  const Unwinding unwinding_;
  Undo undo_;
};

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_UNWINDING_H_
