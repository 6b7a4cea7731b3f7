// Implements parlance/arrow.h.
//
//   responses --ColumnReader--> rows --ResponseParser--> Message
//             --MessageColumns--> blocks --merge(), export_columns()--> column

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "arrow/column_reader.h"
#include "arrow/message_columns.h"
#include "base/threads.h"
#include "parlance/arrow.h"

namespace parlance {
namespace arrow {
namespace {

// The columns of a request.
struct Columns {
  ColumnReader responses;
  std::optional<ColumnReader> formats = {}, prefixes = {}, tools = {};
};

// What rows give by text (formats, tools), loaded once for each text.
template <class Loaded>
class ByText {
 public:
  // The most texts that are stored; beyond it all are dropped.
  static constexpr std::size_t kMaxTexts = 1024;

  template <class Load>
  const Result<Loaded>& find(std::string_view text, Load load) {
    if (last_ != nullptr && text == last_->first) return last_->second;
    auto known = loaded_.find(std::string(text));
    if (known == loaded_.end()) {
      if (loaded_.size() == kMaxTexts) loaded_.clear();
      known = loaded_.emplace(std::string(text), load(text)).first;
    }
    last_ = &*known;
    return last_->second;
  }

 private:
  std::unordered_map<std::string, Result<Loaded>> loaded_;
  const std::pair<const std::string, Result<Loaded>>* last_ = nullptr;
};

Result<Format> load_format(std::string_view text) {
  return text.starts_with('{') ? Format::from_json(text)
                               : Format::built_in(text);
}

// Parses rows, one after the other.  Each thread has one.
class RowParser {
 public:
  RowParser(const Columns& columns, const ArrowParseOptions& options)
      : columns_(columns), options_(options) {}

  void parse(std::size_t row, MessageColumns& out) {
    if (columns_.responses.is_null(row)) {
      out.push_null();
      return;
    }
    // The response: a text, or ids.
    const bool of_ids = columns_.responses.of_ids();
    std::string_view text;
    if (std::optional<Error> error = read(row, text)) {
      out.push_unread("", *error);
      return;
    }
    StreamOptions options{.prefix = options_.prefix,
                          .tools = options_.tools,
                          .markers = options_.markers,
                          .stream_calls = true,
                          .attempts = true};
    const Format* format = options_.format;
    if (std::optional<Error> error = read_options(row, format, options)) {
      return push_unread(text, *error, out);
    }
    if (of_ids) options.vocabulary = options_.vocabulary;
    ResponseParser parser(*format, options);
    if (of_ids) {
      parser.feed_tokens(ids_);
    } else {
      parser.feed(text);
    }
    finish(std::move(parser), out);
  }

 private:
  // Reads a response into `text`, or into ids_.
  std::optional<Error> read(std::size_t row, std::string_view& text) {
    if (columns_.responses.of_ids()) {
      ids_.clear();
      return columns_.responses.ids(row, ids_);
    }
    const Result<std::string_view> found = columns_.responses.text(row);
    if (!found) return found.error();
    text = *found;
    return std::nullopt;
  }

  // Replaces what is given for all responses by what the row says.
  std::optional<Error> read_options(std::size_t row, const Format*& format,
                                    StreamOptions& options) {
    const auto say = [&](const std::optional<ColumnReader>& column,
                         const auto& use) -> std::optional<Error> {
      if (!column || column->is_null(row)) return std::nullopt;
      const Result<std::string_view> text = column->text(row);
      if (!text) return text.error();
      return use(*text);
    };
    // Points `out` to what was loaded.
    const auto point = [](const auto& loaded,
                          const auto*& out) -> std::optional<Error> {
      if (!loaded) return loaded.error();
      out = &*loaded;
      return std::nullopt;
    };
    if (auto error = say(columns_.formats, [&](std::string_view text) {
          return point(formats_.find(text, load_format), format);
        })) {
      return error;
    }
    if (format == nullptr) {
      return Error{ErrorCode::kUnknownFormat, "the row has no format"};
    }
    if (auto error = say(columns_.tools, [&](std::string_view text) {
          return point(tools_.find(text,
                                   [](std::string_view json) {
                                     return ToolSet::from_json(json);
                                   }),
                       options.tools);
        })) {
      return error;
    }
    return say(columns_.prefixes,
               [&](std::string_view text) -> std::optional<Error> {
                 options.prefix = text;
                 return std::nullopt;
               });
  }

  static void finish(ResponseParser parser, MessageColumns& out) {
    parser.finalize();
    out.push(std::move(parser).take_message());
  }

  // The text of a row that is not parsed is its content.
  void push_unread(std::string_view text, const Error& error,
                   MessageColumns& out) {
    if (!columns_.responses.of_ids()) {
      out.push_unread(text, error);
      return;
    }
    std::string bytes;
    for (const TokenId id : ids_) bytes += options_.vocabulary->bytes(id);
    out.push_unread(bytes, error);
  }

  const Columns& columns_;
  const ArrowParseOptions& options_;
  ByText<Format> formats_;
  ByText<ToolSet> tools_;
  std::vector<TokenId> ids_;
};

Result<Columns> read_columns(const ArrowColumn& responses,
                             const ArrowParseOptions& options) {
  Result<ColumnReader> main = ColumnReader::make(responses, "the responses");
  if (!main) return std::move(main).error();
  Columns columns{.responses = *std::move(main)};
  if (columns.responses.of_ids() && options.vocabulary == nullptr) {
    return Error{ErrorCode::kUsage,
                 "responses of token ids need a vocabulary, which says what "
                 "text they are"};
  }
  if (options.format == nullptr && options.formats == nullptr) {
    return Error{ErrorCode::kUsage, "no format is given"};
  }
  const auto read =
      [&](const ArrowColumn* column, std::string_view what,
          std::optional<ColumnReader>& out) -> std::optional<Error> {
    if (column == nullptr) return std::nullopt;
    Result<ColumnReader> made = ColumnReader::make(*column, what);
    if (!made) return std::move(made).error();
    if (made->of_ids()) {
      return Error{ErrorCode::kWrongType,
                   std::string(what) + " must be a column of texts"};
    }
    if (made->size() != columns.responses.size()) {
      return Error{ErrorCode::kUsage,
                   std::string(what) + " are " + std::to_string(made->size()) +
                       " rows beside " +
                       std::to_string(columns.responses.size()) + " responses"};
    }
    out = *std::move(made);
    return std::nullopt;
  };
  if (auto error = read(options.formats, "the formats", columns.formats)) {
    return *std::move(error);
  }
  if (auto error = read(options.prefixes, "the prefixes", columns.prefixes)) {
    return *std::move(error);
  }
  if (auto error = read(options.tools_by_row, "the tools", columns.tools)) {
    return *std::move(error);
  }
  return columns;
}

// Parses blocks of consecutive rows on several threads.
class BlockParser {
 public:
  // Rows of a block: enough that taking one costs nothing, few enough that all
  // threads end at about the same time.
  static constexpr std::size_t kRows = 256;

  BlockParser(const Columns& columns, const ArrowParseOptions& options)
      : columns_(columns),
        options_(options),
        blocks_((columns.responses.size() + kRows - 1) / kRows) {}

  // Returns false if it was cancelled.
  bool run() {
    const std::size_t threads = std::min<std::size_t>(
        base::thread_count(options_.threads), blocks_.size());
    // The calling thread asks whether to go on.
    base::run_on_threads(threads, [this](std::size_t thread) {
      if (thread != 0) return work([] { return false; });
      work([this] { return options_.cancelled && options_.cancelled(); });
    });
    return !cancelled_.load(std::memory_order_relaxed);
  }

  std::vector<MessageColumns> take_blocks() { return std::move(blocks_); }

 private:
  // Leaves no block to take, when it is destroyed.
  struct LastBlock {
    explicit LastBlock(BlockParser& parser) : of(parser) {}
    ~LastBlock() {
      of.next_.store(of.blocks_.size(), std::memory_order_relaxed);
    }
    BlockParser& of;
  };

  // Takes one block after the other.
  template <class Stop>
  void work(Stop stop) {
    // When there is no memory for a block, no other is begun.
    const LastBlock last(*this);
    RowParser parser(columns_, options_);
    for (;;) {
      if (stop()) cancelled_.store(true, std::memory_order_relaxed);
      if (cancelled_.load(std::memory_order_relaxed)) return;
      const std::size_t i = next_.fetch_add(1, std::memory_order_relaxed);
      if (i >= blocks_.size()) return;
      const std::size_t end =
          std::min((i + 1) * kRows, columns_.responses.size());
      for (std::size_t row = i * kRows; row < end; ++row) {
        parser.parse(row, blocks_[i]);
      }
    }
  }

  const Columns& columns_;
  const ArrowParseOptions& options_;
  std::vector<MessageColumns> blocks_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace
}  // namespace arrow

Result<std::size_t> parse_arrow(const ArrowColumn& responses,
                                const ArrowParseOptions& options,
                                ArrowArray* out) {
  const Result<arrow::Columns> columns =
      arrow::read_columns(responses, options);
  if (!columns) return columns.error();
  arrow::BlockParser parser(*columns, options);
  if (!parser.run()) return Error{ErrorCode::kUsage, "parsing was cancelled"};
  if (std::optional<Error> error = arrow::export_columns(
          arrow::MessageColumns::merge(parser.take_blocks()), out)) {
    return *std::move(error);
  }
  return columns->responses.size();
}

}  // namespace parlance
