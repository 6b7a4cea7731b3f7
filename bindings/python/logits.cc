// apply_bitmask: sets the logits of the tokens that a mask refuses to minus
// infinity, in the caller's memory.
//
// The logit of an allowed token is not touched, and the logit of a refused
// token is overwritten without being read.  So the kernel depends only on the
// size of an item and on the bits of minus infinity.  It reads a mask by words
// of 32 tokens.  Most words are all ones (skipped) or all zeros (filled).  In a
// mixed word the rarer kind of bit decides: either the refused items are
// written one by one, or the allowed items are saved, all 32 filled, and the
// allowed items restored.

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "constraint.h"

namespace parlance::python {

namespace {

constexpr std::size_t kWordTokens = 32;

constexpr std::string_view kLogitsWanted =
    "a writable array in main memory of float32, float16, bfloat16 or float64 "
    "with 1 or 2 dimensions";
constexpr std::string_view kMaskWanted =
    "an array in main memory of int32 or uint32 with 1 or 2 dimensions, as "
    "fill_bitmask writes it";

// A matrix in memory that another object owns.  The memory is held as long as
// this exists.  The object has the buffer protocol, or DLPack's.  Strides are
// in bytes.
class Matrix {
 public:
  Matrix(nb::handle object, std::string_view what, std::string_view wanted,
         bool writable);
  ~Matrix() { PyBuffer_Release(&view_); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  char* row(std::size_t index) const {
    return data_ + static_cast<Py_ssize_t>(index) * row_stride_;
  }
  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  Py_ssize_t stride() const { return stride_; }  // from item to item
  bool is_row() const { return dimensions_ == 1; }
  // The type of an item by its code in Python's module struct, such as 'f';
  // 'E' for bfloat16, '?' for other types.
  char item() const { return item_; }
  const std::string& item_name() const { return item_name_; }

 private:
  void read_buffer();
  void read_tensor();
  void set_shape(std::size_t dimensions, const auto* shape, const auto* strides,
                 Py_ssize_t scale);

  // One of these two holds the memory.
  Py_buffer view_{};
  nb::ndarray<nb::device::cpu> tensor_;
  char* data_ = nullptr;
  std::size_t dimensions_ = 0;
  std::size_t rows_ = 1;
  std::size_t columns_ = 0;
  Py_ssize_t row_stride_ = 0;
  Py_ssize_t stride_ = 0;
  char item_ = '?';
  std::string item_name_;
};

void Matrix::set_shape(std::size_t dimensions, const auto* shape,
                       const auto* strides, Py_ssize_t scale) {
  dimensions_ = dimensions;
  if (dimensions != 1 && dimensions != 2) return;
  columns_ = static_cast<std::size_t>(shape[dimensions - 1]);
  stride_ = static_cast<Py_ssize_t>(strides[dimensions - 1]) * scale;
  if (dimensions == 1) return;
  rows_ = static_cast<std::size_t>(shape[0]);
  row_stride_ = static_cast<Py_ssize_t>(strides[0]) * scale;
}

void Matrix::read_buffer() {
  data_ = static_cast<char*>(view_.buf);
  std::array<Py_ssize_t, 2> contiguous = {view_.itemsize, view_.itemsize};
  if (view_.ndim == 2) contiguous[0] *= view_.shape[1];
  // Arrays of ctypes have no strides although they were requested.
  set_shape(static_cast<std::size_t>(view_.ndim), view_.shape,
            view_.strides == nullptr ? contiguous.data() : view_.strides, 1);
  std::string_view format = view_.format == nullptr ? "B" : view_.format;
  item_name_ = "format '" + std::string(format) + "'";
  if (format.starts_with('@') || format.starts_with('=') ||
      format.starts_with('<')) {
    format.remove_prefix(1);
  }
  if (format.size() == 1) item_ = format[0];
  // Where a long has 4 bytes, it is the same as an int.
  if (view_.itemsize == 4 && item_ == 'l') item_ = 'i';
  if (view_.itemsize == 4 && item_ == 'L') item_ = 'I';
}

void Matrix::read_tensor() {
  data_ = static_cast<char*>(tensor_.data());
  const nb::dlpack::dtype type = tensor_.dtype();
  set_shape(tensor_.ndim(), tensor_.shape_ptr(), tensor_.stride_ptr(),
            type.bits / 8);
  item_name_ = std::to_string(type.bits) + "-bit DLPack code " +
               std::to_string(type.code);
  struct Known {
    nb::dlpack::dtype_code code;
    int bits;
    char item;
  };
  static constexpr std::array<Known, 6> kKnown = {{
      {nb::dlpack::dtype_code::Float, 32, 'f'},
      {nb::dlpack::dtype_code::Float, 16, 'e'},
      {nb::dlpack::dtype_code::Float, 64, 'd'},
      {nb::dlpack::dtype_code::Bfloat, 16, 'E'},
      {nb::dlpack::dtype_code::Int, 32, 'i'},
      {nb::dlpack::dtype_code::UInt, 32, 'I'},
  }};
  for (const Known& known : kKnown) {
    if (type.code == static_cast<std::uint8_t>(known.code) &&
        type.bits == known.bits && type.lanes == 1) {
      item_ = known.item;
    }
  }
}

Matrix::Matrix(nb::handle object, std::string_view what,
               std::string_view wanted, bool writable) {
  if (PyObject_CheckBuffer(object.ptr()) != 0 &&
      PyObject_GetBuffer(object.ptr(), &view_,
                         PyBUF_STRIDES | PyBUF_FORMAT |
                             (writable ? PyBUF_WRITABLE : 0)) == 0) {
    read_buffer();
  } else {
    view_.obj = nullptr;
    if (PyErr_Occurred() != nullptr) {
      check_blames_argument();
      PyErr_Clear();
    }
    if (!take_tensor(object, tensor_)) {
      raise_type(what, wanted, object);
    }
    read_tensor();
  }
  if (dimensions_ == 1 || dimensions_ == 2) return;
  // If a constructor throws, the destructor does not run.
  PyBuffer_Release(&view_);
  raise_usage(std::string(what) + " has " + std::to_string(dimensions_) +
              " dimensions; one row has 1, a batch has 2");
}

template <class Item>
void store(char* at, Item value) {
  std::memcpy(at, &value, sizeof value);
}

template <class Item>
Item load(const char* at) {
  Item value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// `Stride` is a Py_ssize_t, or an integral_constant if items are contiguous.
template <class Item, class Stride>
void fill(char* at, Stride stride, std::size_t count, Item value) {
  for (std::size_t i = 0; i < count; ++i) {
    store(at + static_cast<Py_ssize_t>(i) * stride, value);
  }
}

// Overwrites those of the `count` items (at most 32) of one word of the mask
// whose bit in `refused` is 1.  REQUIRES: refused != 0.
template <class Item, class Stride>
void apply_word(char* at, Stride stride, std::size_t count,
                std::uint32_t refused, Item value) {
  const auto item = [&](std::uint32_t bits) {
    return at + std::countr_zero(bits) * stride;
  };
  constexpr int kFew = 16;
  if (std::popcount(refused) <= kFew) {
    for (std::uint32_t bits = refused; bits != 0; bits &= bits - 1) {
      store(item(bits), value);
    }
    return;
  }
  const std::uint32_t all =
      count == kWordTokens ? ~0U : (std::uint32_t{1} << count) - 1;
  std::array<Item, kFew> allowed;
  std::size_t saved = 0;
  for (std::uint32_t bits = all & ~refused; bits != 0; bits &= bits - 1) {
    allowed[saved++] = load<Item>(item(bits));
  }
  fill(at, stride, count, value);
  saved = 0;
  for (std::uint32_t bits = all & ~refused; bits != 0; bits &= bits - 1) {
    store(item(bits), allowed[saved++]);
  }
}

template <class Item, class Stride>
void apply_words(char* logits, Stride stride, std::size_t columns,
                 const char* mask, Py_ssize_t mask_stride, std::size_t words,
                 Item value) {
  for (std::size_t w = 0; w < words; ++w, mask += mask_stride) {
    const std::size_t first = w * kWordTokens;
    const std::size_t count = std::min(kWordTokens, columns - first);
    std::uint32_t refused = ~load<std::uint32_t>(mask);
    if (count < kWordTokens) refused &= (std::uint32_t{1} << count) - 1;
    if (refused == 0) continue;
    apply_word(logits + static_cast<Py_ssize_t>(first) * stride, stride, count,
               refused, value);
  }
  const std::size_t known = std::min(columns, words * kWordTokens);
  fill(logits + static_cast<Py_ssize_t>(known) * stride, stride,
       columns - known, value);
}

template <class Item>
void apply_row(char* logits, Py_ssize_t stride, std::size_t columns,
               const char* mask, Py_ssize_t mask_stride, std::size_t words,
               Item value) {
  if (stride == sizeof(Item)) {
    using Dense = std::integral_constant<Py_ssize_t, sizeof(Item)>;
    apply_words(logits, Dense(), columns, mask, mask_stride, words, value);
  } else {
    apply_words(logits, stride, columns, mask, mask_stride, words, value);
  }
}

using Apply = void (*)(char*, Py_ssize_t, std::size_t, const char*, Py_ssize_t,
                       std::size_t);

// The kernel for a type of Matrix::item(), or null.
Apply kernel(char item) {
  switch (item) {
    case 'f':
      return [](auto... row) { apply_row<std::uint32_t>(row..., 0xFF800000U); };
    case 'e':
      return [](auto... row) { apply_row<std::uint16_t>(row..., 0xFC00U); };
    case 'E':
      return [](auto... row) { apply_row<std::uint16_t>(row..., 0xFF80U); };
    case 'd':
      return [](auto... row) {
        apply_row<std::uint64_t>(row..., 0xFFF0000000000000U);
      };
    default:
      return nullptr;
  }
}

std::string plural(std::size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) +
         (count == 1 ? "" : "s");
}

// The indices of the rows to apply a mask to.
std::vector<std::size_t> read_rows(nb::handle rows, const Matrix& logits,
                                   const Matrix& mask) {
  std::vector<std::size_t> out;
  if (rows.is_none()) {
    if (!mask.is_row() && mask.rows() != logits.rows()) {
      raise_usage("logits has " + plural(logits.rows(), "row") + " and mask " +
                  std::to_string(mask.rows()) +
                  "; pass rows=, or as many of one as of the other");
    }
    for (std::size_t i = 0; i < logits.rows(); ++i) out.push_back(i);
    return out;
  }
  const std::size_t least =
      mask.is_row() ? logits.rows() : std::min(logits.rows(), mask.rows());
  for (const std::int64_t number : read_numbers(rows, "rows")) {
    const auto row = static_cast<std::size_t>(number);  // < 0: beyond all rows
    if (row >= least) {
      raise_usage(
          "rows names row " + std::to_string(number) + ", and " +
          (row < logits.rows() ? "mask" : "logits") + " has " +
          plural(row < logits.rows() ? mask.rows() : logits.rows(), "row"));
    }
    out.push_back(row);
  }
  return out;
}

// With `bfloat16`, logits is an array of uint16 with the bits of bfloat16.
void apply_bitmask(nb::handle logits_object, nb::handle mask_object,
                   nb::handle rows_object, bool bfloat16) {
  const Matrix logits(logits_object, "logits", kLogitsWanted, true);
  const Matrix mask(mask_object, "mask", kMaskWanted, false);
  const Apply apply =
      kernel(bfloat16 && logits.item() == 'H' ? 'E' : logits.item());
  if (apply == nullptr) {
    raise_usage("logits holds items of " + logits.item_name() +
                "; it must hold float32, float16, bfloat16 or float64");
  }
  if (mask.item() != 'i' && mask.item() != 'I') {
    raise_usage("mask holds items of " + mask.item_name() +
                " and not 32-bit integers, as fill_bitmask writes them");
  }
  const std::vector<std::size_t> rows = read_rows(rows_object, logits, mask);
  const std::size_t columns = logits.columns();
  const std::size_t words = mask.columns();
  const auto mask_row = [&](std::size_t row) {
    return mask.row(mask.is_row() ? 0 : row);
  };
  // In the last word, bits beyond the vocabulary have no meaning.
  if (words > 0 && columns <= (words - 1) * kWordTokens) {
    raise_usage("logits has " + plural(columns, "column") +
                ", fewer than the tokens of the mask, whose " +
                plural(words, "word") + " are for up to " +
                std::to_string(words * kWordTokens) +
                " tokens; the model's vocabulary is not the constraint's, or "
                "mask is wider than mask_words");
  }
  const WithoutGil released;
  for (std::size_t row : rows) {
    apply(logits.row(row), logits.stride(), columns, mask_row(row),
          mask.stride(), words);
  }
}

}  // namespace

void define_logits(nb::module_& m) {
  m.def("apply_bitmask", &apply_bitmask, nb::arg("logits"), nb::arg("mask"),
        nb::arg("rows").none(), nb::arg("bfloat16"));
}

}  // namespace parlance::python
