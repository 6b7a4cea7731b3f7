#ifndef PARLANCE_BINDINGS_PYTHON_CONSTRAINT_H_
#define PARLANCE_BINDINGS_PYTHON_CONSTRAINT_H_

// What the sources for grammars and masks share.

#include <nanobind/ndarray.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "binding.h"
#include "parlance/grammar.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"

namespace parlance::python {

// ---- grammar.cc

// The limits of one compile, as parlance/_constraining.py passes them: a dict
// of numbers, and either None or a function that is called from time to time
// and returns whether to cancel.  While a Budget exists, Ctrl-C cancels the
// compile, too.
class Budget {
 public:
  Budget(nb::dict limits, nb::object cancelled);
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  GrammarLimits limits();
  Interrupt interrupt();
  // Throws the exception of the function, or KeyboardInterrupt.  To be called
  // when the compile has ended.
  void check() const;

 private:
  static bool ask(void* self);  // called without the GIL

  GrammarLimits limits_;
  nb::object cancelled_;
  std::chrono::steady_clock::time_point next_ = {};
};

// The entries of report() as Python has them.
nb::object note_list(const std::vector<GrammarNote>& notes);

// Captures as Python has them; raises their error.
nb::object capture_list(const Result<std::vector<RuleCapture>>& found);

// str, bytes or bytearray, valid as long as `in` and `value`.
std::string_view read_bytes(nb::handle value, std::string_view what, Input& in);

// ---- structural_tag.cc

// What Python's StructuralTag objects hold.
struct TagObject {
  StructuralTag tag;
  std::string source;  // the text that spans of errors refer to
};

// ---- tag_parser.cc

// What a Python CompiledTag holds, valid as long as `object`; null for any
// other object.
const CompiledTag* compiled_tag_of(nb::handle object);

// ---- rows.cc

// Whether the sizes of a tensor are those of memory: what comes over DLPack is
// not checked before.
template <class Tensor>
bool has_memory(const Tensor& tensor) {
  std::int64_t items = 1;
  for (std::size_t i = 0; i < tensor.ndim(); ++i) {
    const std::int64_t size = tensor.shape_ptr()[i];
    constexpr std::int64_t kMost = std::int64_t{1} << 56;
    if (size < 0 || (items > 0 && size > kMost / items)) return false;
    items *= size;
  }
  return items == 0 || tensor.data() != nullptr;
}

// Takes the memory of an object that has DLPack's protocol.  Returns false if
// it has none or no such memory; what __dlpack__() raised is then pending.
template <class Tensor>
bool take_tensor(nb::handle object, Tensor& out) {
  const nb::object give = attribute(object, "__dlpack__");
  if (!give.is_valid()) return false;
  if (nb::try_cast(object, out, false)) return has_memory(out);
  // nanobind has cleared the exception, if there was one.
  PyErr_Clear();
  Py_XDECREF(PyObject_CallNoArgs(give.ptr()));
  return false;
}

// Writable memory that another object owns, held as long as this exists.  The
// object has the buffer protocol, or DLPack's (torch, jax).
class SharedArray {
 public:
  // REQUIRES: `object` is C-contiguous, writable, in main memory.  Otherwise
  // raises TypeError, with `what` as the name of the argument and `wanted` as
  // what it should be.
  SharedArray(nb::handle object, std::string_view what,
              std::string_view wanted);
  ~SharedArray() { PyBuffer_Release(&view_); }
  SharedArray(const SharedArray&) = delete;
  SharedArray& operator=(const SharedArray&) = delete;

  void* data() const { return data_; }
  // The sizes of the dimensions.
  const std::vector<std::size_t>& shape() const { return shape_; }
  bool is_word() const { return is_word_; }    // 32-bit integers
  bool is_float() const { return is_float_; }  // 32-bit
  // For messages.
  const std::string& format() const { return format_; }

 private:
  // One of these two holds the memory.
  Py_buffer view_{};
  nb::ndarray<nb::device::cpu, nb::c_contig> tensor_;
  void* data_ = nullptr;
  std::vector<std::size_t> shape_;
  bool is_word_ = false;
  bool is_float_ = false;
  std::string format_;
};

// Rows of 32-bit words in memory that another object owns.
class Rows {
 public:
  // REQUIRES: `buffer` is 1-D (one row) or 2-D, C-contiguous, writable, of
  // 32-bit integers, with rows of `words` words or more.  Otherwise raises
  // TypeError or UsageError.
  Rows(nb::handle buffer, std::size_t words);

  std::size_t count() const { return count_; }
  std::size_t stride() const { return stride_; }
  std::span<std::int32_t> all() const { return {words_, count_ * stride_}; }
  // Raises UsageError if there is no such row.
  std::span<std::int32_t> row(Py_ssize_t index) const;

 private:
  const SharedArray array_;
  std::int32_t* words_ = nullptr;
  std::size_t count_ = 0;
  std::size_t stride_ = 0;
};

// Temperatures in memory that another object owns; none for None.
class Temperatures {
 public:
  // REQUIRES: `array` is None, or 1-D, C-contiguous, writable, of 32-bit
  // floating-point numbers, with `count` items or more.  Otherwise raises
  // TypeError or UsageError.
  Temperatures(nb::handle array, std::size_t count);

  // The first `count`.
  std::span<float> get() const { return numbers_; }

 private:
  std::optional<SharedArray> array_;
  std::span<float> numbers_;
};

// A limit of time in seconds; none for None.  Raises UsageError for a number
// that is not positive, and TypeError for what is no number.
std::chrono::nanoseconds read_time_limit(nb::handle seconds);

}  // namespace parlance::python

#endif  // PARLANCE_BINDINGS_PYTHON_CONSTRAINT_H_
