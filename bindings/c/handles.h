#ifndef PARLANCE_BINDINGS_C_HANDLES_H_
#define PARLANCE_BINDINGS_C_HANDLES_H_

// What the handles of parlance_c.h are: a kind, a count, and a value of the C++
// library.
//
// A handle begins with its kind, so that a function can tell a handle of
// another kind from its own.  Every handle is counted.  One that changes also
// has a flag: a call takes it (Use) and leaves it at its end, and a second call
// at the same time finds it taken.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "parlance/batch.h"
#include "parlance/chat.h"
#include "parlance/constraint.h"
#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/response_parser.h"
#include "parlance/sse.h"
#include "parlance/stream.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "parlance/tools.h"
#include "parlance/vocabulary.h"
#include "parlance_c.h"

namespace parlance::c {

// Not small numbers, which other memory often has.
enum class Kind : std::uint32_t {
  kFreed = 0,
  kError = 0x70a71a01,
  kFormat,
  kTools,
  kVocabulary,
  kTag,
  kCompiledTag,
  kGrammar,
  kCompiler,
  kConstraint,
  kMatcher,
  kParser,
  kChat,
  kSse,
  kBatch,
  kTable,
};

template <Kind K>
struct Handle {
  static constexpr Kind kKind = K;

  std::atomic<Kind> kind{K};
  mutable std::atomic<std::uint32_t> references{1};
  mutable std::atomic<bool> in_use{false};

 protected:
  Handle() = default;
  ~Handle() { kind.store(Kind::kFreed, std::memory_order_relaxed); }
};

template <class T>
bool is_of_its_kind(const T* handle) {
  return handle->kind.load(std::memory_order_relaxed) == T::kKind;
}

// Null for a handle of another kind.
template <class T>
T* add_reference(const T* handle) {
  if (handle == nullptr || !is_of_its_kind(handle)) return nullptr;
  handle->references.fetch_add(1, std::memory_order_relaxed);
  return const_cast<T*>(handle);
}

// Does nothing with a handle of another kind.
template <class T>
void drop_reference(const T* handle) {
  if (handle == nullptr || !is_of_its_kind(handle)) return;
  if (handle->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    delete handle;
  }
}

// A reference to a handle.
template <class T>
class Kept {
 public:
  Kept() = default;
  explicit Kept(const T* handle) : handle_(add_reference(handle)) {}
  Kept(Kept&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)) {}
  Kept& operator=(Kept&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Kept() { drop_reference(handle_); }
  T* get() const { return handle_; }
  T* operator->() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  T* handle_ = nullptr;
};

}  // namespace parlance::c

struct parlance_error : parlance::c::Handle<parlance::c::Kind::kError> {
  parlance_error(parlance_status code, parlance::Error of)
      : status(code), error(std::move(of)) {}
  const parlance_status status;
  const parlance::Error error;
};

// A handle of a value that never changes.
#define PARLANCE_C_VALUE_(name, id, Type)                      \
  struct name : parlance::c::Handle<parlance::c::Kind::id> {   \
    explicit name(parlance::Type of) : value(std::move(of)) {} \
    const parlance::Type value;                                \
  }
PARLANCE_C_VALUE_(parlance_format, kFormat, Format);
PARLANCE_C_VALUE_(parlance_tools, kTools, ToolSet);
PARLANCE_C_VALUE_(parlance_vocabulary, kVocabulary, Vocabulary);
PARLANCE_C_VALUE_(parlance_tag, kTag, StructuralTag);
PARLANCE_C_VALUE_(parlance_compiled_tag, kCompiledTag, CompiledTag);
PARLANCE_C_VALUE_(parlance_grammar, kGrammar, Grammar);
PARLANCE_C_VALUE_(parlance_compiler, kCompiler, Compiler);
PARLANCE_C_VALUE_(parlance_constraint, kConstraint, Constraint);
#undef PARLANCE_C_VALUE_

struct parlance_table : parlance::c::Handle<parlance::c::Kind::kTable> {
  parlance_table(const parlance::Compiler& compiler, std::size_t max_rows)
      : value(compiler, max_rows) {}
  parlance::MaskTable value;
};

struct parlance_matcher : parlance::c::Handle<parlance::c::Kind::kMatcher> {
  explicit parlance_matcher(parlance::Matcher of) : value(std::move(of)) {}
  parlance::Matcher value;
  std::atomic<bool> in_batch{false};
};

namespace parlance::c {

// A parser of either class.  Its functions are virtual, so that a program that
// makes no parser by tag, such as the small WebAssembly module, is linked
// without that class and the grammars that it reads by.
class AnyParser {
 public:
  virtual ~AnyParser() = default;
  virtual std::span<const Event> initial_events() const = 0;
  virtual std::size_t prefix_bytes() const = 0;
  virtual std::span<const Event> feed(std::string_view chunk) = 0;
  virtual std::span<const Event> feed_tokens(std::span<const TokenId> ids) = 0;
  virtual std::span<const Event> finalize() = 0;
  virtual bool finalized() const = 0;
  virtual bool reads_tokens() const = 0;
  virtual const Error* misuse() const = 0;
  virtual const Message& message() const = 0;
  virtual TokenCounts tokens() const = 0;
  virtual std::string_view held() const = 0;
  // Why a strict reading failed, or null.
  virtual const Error* failure() const = 0;
  // Of the fields, by their index.
  virtual std::vector<std::string_view> field_names() const = 0;
  // Nothing by a format.
  virtual std::optional<json::Value> tree() const = 0;
};

template <class Source, StreamParser Parser>
class ParserOf final : public AnyParser {
 public:
  ParserOf(const Source& of, const StreamOptions& options)
      : parser(of, options), source_(of) {}

  Parser parser;

  std::span<const Event> initial_events() const override {
    return parser.initial_events();
  }
  std::size_t prefix_bytes() const override { return parser.prefix_bytes(); }
  std::span<const Event> feed(std::string_view chunk) override {
    return parser.feed(chunk);
  }
  std::span<const Event> feed_tokens(std::span<const TokenId> ids) override {
    return parser.feed_tokens(ids);
  }
  std::span<const Event> finalize() override { return parser.finalize(); }
  bool finalized() const override { return parser.finalized(); }
  bool reads_tokens() const override { return parser.reads_tokens(); }
  const Error* misuse() const override { return parser.misuse(); }
  const Message& message() const override { return parser.message(); }
  TokenCounts tokens() const override { return parser.tokens(); }
  std::string_view held() const override { return parser.held(); }
  const Error* failure() const override {
    if constexpr (std::is_same_v<Parser, ResponseParser>) {
      return parser.failure();
    } else {
      return nullptr;
    }
  }
  std::vector<std::string_view> field_names() const override {
    std::vector<std::string_view> out;
    if constexpr (std::is_same_v<Source, Format>) {
      for (std::size_t i = 0; i < source_.field_count(); ++i) {
        out.push_back(source_.field_name(i));
      }
    } else {
      out.assign(source_.fields().begin(), source_.fields().end());
    }
    return out;
  }
  std::optional<json::Value> tree() const override {
    if constexpr (std::is_same_v<Parser, TagParser>) {
      return parser.tree();
    } else {
      return std::nullopt;
    }
  }

 private:
  const Source source_;
};

}  // namespace parlance::c

struct parlance_parser : parlance::c::Handle<parlance::c::Kind::kParser> {
  parlance_parser(const parlance::Format& of,
                  const parlance::StreamOptions& options) {
    make(of, options, by_format);
  }
  parlance_parser(const parlance::CompiledTag& of,
                  const parlance::StreamOptions& options) {
    make(of, options, by_tag);
  }

  std::unique_ptr<parlance::c::AnyParser> value;
  parlance::ResponseParser* by_format = nullptr;  // in `value`, or null
  parlance::TagParser* by_tag = nullptr;          // in `value`, or null
  std::span<const parlance::Event> events;        // of the last call
  std::vector<std::uint64_t> flat;                // they, for the caller
  bool lost = false;  // there was no memory to give some of them
  std::atomic<bool> in_batch{false};

 private:
  template <class Source, class Parser>
  void make(const Source& of, const parlance::StreamOptions& options,
            Parser*& of_its_class) {
    auto made =
        std::make_unique<parlance::c::ParserOf<Source, Parser>>(of, options);
    of_its_class = &made->parser;
    value = std::move(made);
  }
};

struct parlance_chat : parlance::c::Handle<parlance::c::Kind::kChat> {
  parlance_chat(std::vector<parlance::ChatField> fields,
                parlance::ChatOptions options, bool sse)
      : field_count(fields.size()),
        api(options.api),
        server_sent(sse),
        value(std::move(fields), std::move(options)) {}
  const std::size_t field_count;
  const parlance::ChatApi api;
  const bool server_sent;
  bool ended = false;  // by end(), or because there was no memory
  parlance::ChatStream value;
};

struct parlance_sse : parlance::c::Handle<parlance::c::Kind::kSse> {
  bool ended = false;  // by finalize(), or because there was no memory
  parlance::SseReader value;
};

struct parlance_batch : parlance::c::Handle<parlance::c::Kind::kBatch> {
  struct Row {
    parlance::c::Kept<parlance_matcher> matcher;
    parlance::c::Kept<parlance_parser> parser;
    bool used = false;
  };

  explicit parlance_batch(unsigned threads) : value({.threads = threads}) {}
  ~parlance_batch() {
    for (Row& row : rows) leave(row);
  }
  // The objects may be in another row again.
  static void leave(Row& row) {
    if (row.matcher) row.matcher->in_batch = false;
    if (row.parser) row.parser->in_batch = false;
    row.used = false;
  }

  std::vector<Row> rows;  // by number; outlive the batch, which points to them
  parlance::Batch value;
};

#endif  // PARLANCE_BINDINGS_C_HANDLES_H_
