#ifndef PARLANCE_BINDINGS_PYTHON_CONSTRAINT_H_
#define PARLANCE_BINDINGS_PYTHON_CONSTRAINT_H_

// What the files about grammars and masks share.

#include "binding.h"

namespace parlance::python {

// ---- grammar.cc

// str, bytes or bytearray, valid as long as `in` and `value`.
std::string_view read_bytes(nb::handle value, std::string_view what, Input& in);

// ---- rows.cc

// Rows of 32-bit words in memory that somebody else owns, held while this
// lives.
class Rows {
 public:
  // 1-D (one row) or 2-D, C-contiguous, writable, of 32-bit integers, each row
  // `words` long or longer; else TypeError or UsageError.
  Rows(nb::handle buffer, std::size_t words);
  ~Rows() { PyBuffer_Release(&view_); }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  std::size_t count() const { return count_; }
  std::size_t stride() const { return stride_; }
  std::span<std::int32_t> all() const {
    return {static_cast<std::int32_t*>(view_.buf), count_ * stride_};
  }
  // UsageError when there is no such row.
  std::span<std::int32_t> row(Py_ssize_t index) const;

 private:
  Py_buffer view_{};
  std::size_t count_ = 0;
  std::size_t stride_ = 0;
};

}  // namespace parlance::python

#endif  // PARLANCE_BINDINGS_PYTHON_CONSTRAINT_H_
