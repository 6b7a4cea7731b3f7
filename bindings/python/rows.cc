// Arrays in memory that the caller owns: masks and temperatures.

#include <cmath>
#include <cstdint>

#include "constraint.h"

namespace parlance::python {

namespace {

constexpr std::string_view kRowsWanted =
    "a writable C-contiguous array in main memory of 32-bit integers with 1 or "
    "2 dimensions, such as numpy.zeros((rows, constraint.mask_words), "
    "numpy.int32)";
constexpr std::string_view kTemperaturesWanted =
    "a writable C-contiguous array in main memory of 32-bit floating-point "
    "numbers with 1 dimension, such as numpy.zeros(rows, numpy.float32)";

// Whether the items of a buffer are of one of the types that the letters of
// `formats` stand for, in this machine's byte order, of 4 bytes.
bool has_format(const Py_buffer& view, std::string_view formats) {
  const char* format = view.format;
  if (view.itemsize != 4 || format == nullptr) return false;
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  return *format != '\0' && formats.find(*format) != formats.npos &&
         format[1] == '\0';
}

}  // namespace

SharedArray::SharedArray(nb::handle object, std::string_view what,
                         std::string_view wanted) {
  if (PyObject_CheckBuffer(object.ptr()) != 0) {
    if (PyObject_GetBuffer(
            object.ptr(), &view_,
            PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
      view_.obj = nullptr;
      raise_type(what, wanted, object);
    }
    data_ = view_.buf;
    is_word_ = has_format(view_, "iIlL");
    is_float_ = has_format(view_, "f");
    format_ = view_.format == nullptr ? "B" : view_.format;
    for (int i = 0; i < view_.ndim && view_.shape != nullptr; ++i) {
      shape_.push_back(static_cast<std::size_t>(view_.shape[i]));
    }
    shape_.resize(static_cast<std::size_t>(view_.ndim));
    return;
  }
  // A tensor of another package; its memory is shared by DLPack.
  if (!take_tensor(object, tensor_)) raise_type(what, wanted, object);
  data_ = tensor_.data();
  const nb::dlpack::dtype type = tensor_.dtype();
  is_word_ = (type == nb::dtype<std::int32_t>()) ||
             (type == nb::dtype<std::uint32_t>());
  is_float_ = type == nb::dtype<float>();
  format_ = std::to_string(type.bits) + "-bit DLPack code " +
            std::to_string(type.code);
  for (std::size_t i = 0; i < tensor_.ndim(); ++i) {
    shape_.push_back(tensor_.shape(i));
  }
}

Rows::Rows(nb::handle buffer, std::size_t words)
    : array_(buffer, "buffer", kRowsWanted),
      words_(static_cast<std::int32_t*>(array_.data())) {
  if (!array_.is_word()) {
    raise_usage("buffer holds items of format '" + array_.format() +
                "' and not 32-bit integers; make it with dtype int32");
  }
  if (reinterpret_cast<std::uintptr_t>(words_) % sizeof(std::int32_t) != 0) {
    raise_usage("buffer begins at an address that is no multiple of 4");
  }
  const std::vector<std::size_t>& shape = array_.shape();
  if (shape.size() != 1 && shape.size() != 2) {
    raise_usage("buffer has " + std::to_string(shape.size()) +
                " dimensions; a mask is one row, a batch of masks has two");
  }
  count_ = shape.size() == 1 ? 1 : shape.front();
  stride_ = shape.back();
  if (stride_ < words) {
    raise_usage("a row of the buffer has " + std::to_string(stride_) +
                " words, and a mask needs " + std::to_string(words) +
                " (mask_words)");
  }
}

std::span<std::int32_t> Rows::row(Py_ssize_t index) const {
  if (index < 0 || static_cast<std::size_t>(index) >= count_) {
    raise_usage("row " + std::to_string(index) + " of a buffer with " +
                std::to_string(count_) + " row" + (count_ == 1 ? "" : "s"));
  }
  return all().subspan(static_cast<std::size_t>(index) * stride_, stride_);
}

Temperatures::Temperatures(nb::handle array, std::size_t count) {
  if (array.is_none()) return;
  array_.emplace(array, "temperatures", kTemperaturesWanted);
  if (!array_->is_float() ||
      reinterpret_cast<std::uintptr_t>(array_->data()) % sizeof(float) != 0) {
    raise_usage("temperatures holds items of format '" + array_->format() +
                "' and not 32-bit floating-point numbers; make it with dtype "
                "float32");
  }
  if (array_->shape().size() != 1) {
    raise_usage("temperatures has " + std::to_string(array_->shape().size()) +
                " dimensions, and must have 1");
  }
  if (array_->shape()[0] < count) {
    raise_usage("temperatures has " + std::to_string(array_->shape()[0]) +
                " items, and there are " + std::to_string(count) + " rows");
  }
  numbers_ = {static_cast<float*>(array_->data()), count};
}

std::chrono::nanoseconds read_time_limit(nb::handle seconds) {
  if (seconds.is_none()) return {};
  const double number =
      read_number(seconds, "time_limit", "a number of seconds");
  if (!(number > 0)) {
    raise_usage("time_limit is a number of seconds greater than 0, or None");
  }
  using Seconds = std::chrono::duration<double>;
  constexpr std::chrono::hours kLongest{24 * 365};
  const Seconds limit(number);
  if (limit > kLongest) return kLongest;
  return std::max(std::chrono::nanoseconds(1),
                  std::chrono::duration_cast<std::chrono::nanoseconds>(limit));
}

}  // namespace parlance::python
