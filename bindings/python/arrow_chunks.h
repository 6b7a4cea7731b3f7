#ifndef PARLANCE_BINDINGS_PYTHON_ARROW_CHUNKS_H_
#define PARLANCE_BINDINGS_PYTHON_ARROW_CHUNKS_H_

// Columns of several chunks, for parse_arrow(), which takes arrays.  No Python.

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/arrow.h"
#include "parlance/error.h"

namespace parlance::python {

// An ArrowSchema, ArrowArray or ArrowArrayStream that is released here.
template <class T>
class Owned {
 public:
  Owned() = default;
  // Moves it out of `from`, as the specification says.
  explicit Owned(T& from) : value_(std::exchange(from, T{})) {}
  // A copy that is released elsewhere: releasing it frees nothing.
  static Owned borrowed(const T& of) {
    Owned out;
    out.value_ = of;
    if (of.release != nullptr) out.value_.release = &release_nothing;
    return out;
  }
  static void release_nothing(T* self) { self->release = nullptr; }
  Owned(Owned&& other) noexcept : value_(std::exchange(other.value_, T{})) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Owned() {
    if (value_.release != nullptr) value_.release(&value_);
  }
  // Gives it away.
  T take() { return std::exchange(value_, T{}); }
  T* operator->() { return &value_; }
  const T* operator->() const { return &value_; }
  T& operator*() { return value_; }
  const T& operator*() const { return value_; }

 private:
  T value_ = {};
};

// A column of any producer, in one or several chunks.
struct Chunks {
  Owned<ArrowSchema> schema;
  std::vector<Owned<ArrowArray>> arrays;

  // The rows of all chunks.  `what` names the column in messages.
  // Errors: kUsage if a part was released or consumed before, or has no length
  // that an array can have.
  Result<std::int64_t> rows(std::string_view what) const;
};

// Columns with a row for each response; see ArrowParseOptions.
struct ChunksByRow {
  std::optional<Chunks> formats = {}, prefixes = {}, tools = {};
};

// Parses the responses into a column of messages.  The columns may be cut into
// chunks at different rows: each stretch between two cuts is parsed by itself
// and becomes a chunk of the result.  A column without chunks has no rows, and
// the result is then without chunks.  `options` may not have columns by row.
//
// Errors: those of parse_arrow().
Result<std::vector<Owned<ArrowArray>>> parse_chunks(const Chunks& responses,
                                                    const ChunksByRow& by_row,
                                                    ArrowParseOptions options);

}  // namespace parlance::python

#endif  // PARLANCE_BINDINGS_PYTHON_ARROW_CHUNKS_H_
