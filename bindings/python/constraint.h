#ifndef PARLANCE_BINDINGS_PYTHON_CONSTRAINT_H_
#define PARLANCE_BINDINGS_PYTHON_CONSTRAINT_H_

// What the files about grammars and masks share.

#include <nanobind/ndarray.h>

#include <chrono>

#include "binding.h"
#include "parlance/captures.h"
#include "parlance/grammar.h"
#include "parlance/structural_tag.h"

namespace parlance::python {

// ---- grammar.cc

// The budget of one compile, as parlance/_constraining.py passes it: a dict of
// numbers, and None or a function that says now and then whether to give up.
// While it lives, Ctrl-C ends the compile, too.
class Budget {
 public:
  Budget(nb::dict limits, nb::object cancelled);
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  GrammarLimits limits();
  Interrupt interrupt();
  // Raises what the function raised, or KeyboardInterrupt.  Called when the
  // compile has ended.
  void check() const;

 private:
  static bool ask(void* self);  // without the GIL

  GrammarLimits limits_;
  nb::object cancelled_;
  std::chrono::steady_clock::time_point next_ = {};
};

// str, bytes or bytearray, valid as long as `in` and `value`.
std::string_view read_bytes(nb::handle value, std::string_view what, Input& in);

// ---- structural_tag.cc

// What Python's StructuralTag objects hold.
struct TagObject {
  StructuralTag tag;
  std::string source;  // the text that errors refer to
};

// ---- rows.cc

// Rows of 32-bit words in memory that somebody else owns, held while this
// lives: of anything with the buffer protocol, or with DLPack's (torch, jax).
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
  std::span<std::int32_t> all() const { return {words_, count_ * stride_}; }
  // UsageError when there is no such row.
  std::span<std::int32_t> row(Py_ssize_t index) const;

 private:
  // One of the two holds the memory.
  Py_buffer view_{};
  nb::ndarray<nb::device::cpu, nb::c_contig> tensor_;
  std::int32_t* words_ = nullptr;
  std::size_t count_ = 0;
  std::size_t stride_ = 0;
};

}  // namespace parlance::python

#endif  // PARLANCE_BINDINGS_PYTHON_CONSTRAINT_H_
