// Masks in the caller's memory.

#include "constraint.h"

namespace parlance::python {

namespace {

constexpr std::string_view kWanted =
    "a writable C-contiguous array of 32-bit integers with 1 or 2 dimensions, "
    "such as numpy.zeros((rows, constraint.mask_words), numpy.int32)";

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
  if (PyObject_CheckBuffer(buffer.ptr()) == 0) {
    if (nb::hasattr(buffer, "numpy")) {
      raise_type("buffer",
                 std::string(kWanted) +
                     "; of a tensor in main memory "
                     "tensor.numpy() shares the memory",
                 buffer);
    }
    raise_type("buffer", kWanted, buffer);
  }
  if (PyObject_GetBuffer(buffer.ptr(), &view_,
                         PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) !=
      0) {
    view_.obj = nullptr;
    PyErr_Clear();
    raise_type("buffer", kWanted, buffer);
  }
  // The destructor does not run for an object whose constructor throws.
  const auto refuse = [&](std::string message) {
    PyBuffer_Release(&view_);
    raise_usage(std::move(message));
  };
  if (!is_word(view_)) {
    refuse("buffer holds items of format '" +
           std::string(view_.format == nullptr ? "B" : view_.format) +
           "' and not 32-bit integers; make it with dtype int32");
  }
  if (view_.ndim != 1 && view_.ndim != 2) {
    refuse("buffer has " + std::to_string(view_.ndim) +
           " dimensions; a mask is one row, a batch of masks has two");
  }
  count_ = view_.ndim == 1 ? 1 : static_cast<std::size_t>(view_.shape[0]);
  stride_ = static_cast<std::size_t>(view_.shape[view_.ndim - 1]);
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
