#ifndef PARLANCE_SRC_ARROW_MESSAGE_COLUMNS_H_
#define PARLANCE_SRC_ARROW_MESSAGE_COLUMNS_H_

// The columns of parsed messages while they are built, and their export.
//
// Threads build MessageColumns for consecutive rows each.  merge() joins them
// column by column and frees each column that it has copied, so that at most
// one column exists twice; columns of numbers, which are small, it frees at its
// end.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/arrow.h"
#include "parlance/message.h"

namespace parlance::arrow {

// Bits as Arrow has them, the first one lowest.
class BitColumn {
 public:
  void push(bool bit) {
    if ((size_ & 7) == 0) bytes_.push_back(0);
    if (bit) {
      bytes_.back() |= static_cast<std::uint8_t>(1U << (size_ & 7));
    } else {
      ++zeros_;
    }
    ++size_;
  }
  void take(BitColumn&& other);
  std::size_t size() const { return size_; }
  std::size_t zeros() const { return zeros_; }
  const std::uint8_t* data() const { return bytes_.data(); }

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t size_ = 0;
  std::size_t zeros_ = 0;
};

// Texts, some of them null.
class TextColumn {
 public:
  void push(std::string_view text) {
    bytes_ += text;
    end(true);
  }
  void push_null() { end(false); }
  // The text that ends here was appended piece by piece to bytes().
  void end(bool valid) {
    ends_.push_back(static_cast<std::int64_t>(bytes_.size()));
    valid_.push(valid);
  }
  std::string& bytes() { return bytes_; }
  void take(TextColumn&& other);
  std::size_t size() const { return ends_.size() - 1; }

  const BitColumn& valid() const { return valid_; }
  const std::int64_t* offsets() const { return ends_.data(); }
  const char* data() const { return bytes_.data(); }

 private:
  std::string bytes_;
  std::vector<std::int64_t> ends_ = {0};
  BitColumn valid_;
};

// The ends of lists: list i has the items [offsets[i], offsets[i + 1]).
class ListColumn {
 public:
  void end(std::size_t items) { ends_.push_back(items); }
  void take(ListColumn&& other);
  std::size_t items() const { return ends_.back(); }
  // The offsets in Arrow's 32 bits.
  // REQUIRES: items() fits.
  std::vector<std::int32_t> offsets() const;

 private:
  std::vector<std::size_t> ends_ = {0};
};

struct MessageColumns {
  struct Calls {
    TextColumn id, name, arguments;
    BitColumn complete;
  };
  struct Diagnostics {
    std::vector<std::int64_t> offset, end;
    TextColumn code, field, message;
  };

  struct Attempts {
    TextColumn status, id, name, arguments, text, why;
    std::vector<std::int64_t> offset, end, token_offset, token_end;
  };

  BitColumn valid;
  TextColumn reasoning, content, other;
  ListColumn call_lists, diagnostic_lists, attempt_lists;
  Calls calls;
  BitColumn complete;
  Diagnostics diagnostics;
  BitColumn turn_ended;
  Attempts attempts;
  std::vector<std::int64_t> prefix_bytes;

  void push_null();
  void push(const Message& message);
  // A response that could not be parsed: it is content.
  void push_unread(std::string_view text, const Error& error);

  static MessageColumns merge(std::vector<MessageColumns> blocks);
};

// Writes the columns as a struct array to `out`.  Fails if there are more items
// in a list column than Arrow's lists can have.
std::optional<Error> export_columns(MessageColumns columns, ArrowArray* out);

}  // namespace parlance::arrow

#endif  // PARLANCE_SRC_ARROW_MESSAGE_COLUMNS_H_
