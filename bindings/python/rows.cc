// Rows: masks in memory that the caller owns.

#include <cstdint>

#include "constraint.h"

namespace parlance::python {

namespace {

constexpr std::string_view kWanted =
    "a writable C-contiguous array in main memory of 32-bit integers with 1 or "
    "2 dimensions, such as numpy.zeros((rows, constraint.mask_words), "
    "numpy.int32)";

bool is_word(const Py_buffer& view) {
  const char* format = view.format;
  if (view.itemsize != 4 || format == nullptr) return false;
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  return (*format == 'i' || *format == 'I' || *format == 'l' ||
          *format == 'L') &&
         format[1] == '\0';
}

}  // namespace

Rows::Rows(nb::handle buffer, std::size_t words) {
  bool is_words = false;
  std::string format;
  std::size_t dimensions = 0;
  std::size_t last = 0;  // words per row
  if (PyObject_CheckBuffer(buffer.ptr()) != 0) {
    if (PyObject_GetBuffer(
            buffer.ptr(), &view_,
            PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
      view_.obj = nullptr;
      PyErr_Clear();
      raise_type("buffer", kWanted, buffer);
    }
    words_ = static_cast<std::int32_t*>(view_.buf);
    is_words = is_word(view_);
    format = view_.format == nullptr ? "B" : view_.format;
    dimensions = static_cast<std::size_t>(view_.ndim);
    if (dimensions > 0 && view_.shape != nullptr) {
      count_ = static_cast<std::size_t>(view_.shape[0]);
      last = static_cast<std::size_t>(view_.shape[dimensions - 1]);
    }
  } else {
    // A tensor of another package; its memory is shared by DLPack.
    if (!nb::hasattr(buffer, "__dlpack__") ||
        !nb::try_cast(buffer, tensor_, false)) {
      PyErr_Clear();
      raise_type("buffer", kWanted, buffer);
    }
    words_ = static_cast<std::int32_t*>(tensor_.data());
    const nb::dlpack::dtype type = tensor_.dtype();
    is_words = (type == nb::dtype<std::int32_t>()) ||
               (type == nb::dtype<std::uint32_t>());
    format = std::to_string(type.bits) + "-bit DLPack code " +
             std::to_string(type.code);
    dimensions = tensor_.ndim();
    if (dimensions > 0) {
      count_ = tensor_.shape(0);
      last = tensor_.shape(dimensions - 1);
    }
  }
  // If a constructor throws, the destructor does not run.
  const auto refuse = [&](std::string message) {
    PyBuffer_Release(&view_);
    raise_usage(std::move(message));
  };
  if (!is_words) {
    refuse("buffer holds items of format '" + format +
           "' and not 32-bit integers; make it with dtype int32");
  }
  if (reinterpret_cast<std::uintptr_t>(words_) % sizeof(std::int32_t) != 0) {
    refuse("buffer begins at an address that is no multiple of 4");
  }
  if (dimensions != 1 && dimensions != 2) {
    refuse("buffer has " + std::to_string(dimensions) +
           " dimensions; a mask is one row, a batch of masks has two");
  }
  if (dimensions == 1) count_ = 1;
  stride_ = last;
  if (stride_ < words) {
    refuse("a row of the buffer has " + std::to_string(stride_) +
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

}  // namespace parlance::python
