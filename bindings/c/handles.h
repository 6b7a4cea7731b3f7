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
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "parlance/batch.h"
#include "parlance/chat.h"
#include "parlance/constraint.h"
#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/response_parser.h"
#include "parlance/sse.h"
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

struct parlance_parser : parlance::c::Handle<parlance::c::Kind::kParser> {
  parlance_parser(const parlance::Format& of,
                  const parlance::StreamOptions& options)
      : source(of),
        value(std::in_place_type<parlance::ResponseParser>, of, options) {}
  parlance_parser(const parlance::CompiledTag& of,
                  const parlance::StreamOptions& options)
      : source(of),
        value(std::in_place_type<parlance::TagParser>, of, options) {}

  // Calls `call` with the parser, of either class.
  template <class Call>
  decltype(auto) with(const Call& call) {
    return std::visit(call, value);
  }
  template <class Call>
  decltype(auto) with(const Call& call) const {
    return std::visit(call, value);
  }

  std::variant<parlance::Format, parlance::CompiledTag> source;
  std::variant<parlance::ResponseParser, parlance::TagParser> value;
  std::span<const parlance::Event> events;  // of the last call
  std::vector<std::uint64_t> flat;          // they, for the caller
  bool lost = false;  // there was no memory to give some of them
  std::atomic<bool> in_batch{false};
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
