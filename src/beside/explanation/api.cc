// Implements explain() of parlance/explain.h.
//
//   response --parser--> events --EventRows--> rows
//                        tree   --TreeRows---> rows   (structural tags)
//   token ids --matcher--> how many tokens were allowed at each

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "base/utf8.h"
#include "explanation/event_rows.h"
#include "explanation/tree_rows.h"
#include "parlance/explain.h"
#include "parlance/grammar.h"
#include "parlance/hints.h"

namespace parlance {
namespace {

using explanation::EventRows;
using explanation::tokens_of;

// Bytes or tokens that are read before an interrupt is asked for.
constexpr std::size_t kPiece = 4096;
// The same for a grammar: some read a thousand times slower than others.
constexpr std::size_t kGrammarPiece = 128;
constexpr std::size_t kMasks = 256;

bool is_cancelled(const Interrupt& interrupt) {
  return interrupt.cancelled != nullptr &&
         interrupt.cancelled(interrupt.argument);
}

// A response as its parser takes it: text, or token ids.  These are two types,
// so that a program that only explains text is linked without matchers.
using Text = std::string_view;
using Ids = std::span<const TokenId>;
template <class Response>
constexpr bool kReadsIds = std::is_same_v<Response, Ids>;

// The bytes, ends and kinds of the tokens, after what `out.text` has already.
void add_tokens(std::span<const TokenId> ids, const Vocabulary& vocabulary,
                Explanation& out) {
  out.ids.assign(ids.begin(), ids.end());
  out.token_ends.reserve(ids.size());
  out.token_kinds.reserve(ids.size());
  for (const TokenId id : ids) {
    const TokenKind kind = vocabulary.kind(id);
    out.text +=
        kind == TokenKind::kUnused ? base::kReplacement : vocabulary.bytes(id);
    out.token_ends.push_back(out.text.size());
    out.token_kinds.push_back(kind);
  }
}

// Walks the constraint over the tokens of `out`, up to the first that it does
// not allow.  Returns whether the text may end after the last of them.
bool add_masks(const Constraint& constraint, const Interrupt& interrupt,
               Explanation& out) {
  Matcher matcher = constraint.matcher();
  std::vector<std::int32_t> row(matcher.mask_words());
  const auto count = [&] {
    std::uint32_t bits = 0;
    for (const std::int32_t word : row) {
      bits += static_cast<std::uint32_t>(
          std::popcount(static_cast<std::uint32_t>(word)));
    }
    return bits;
  };
  out.allowed.reserve(out.ids.size());
  for (std::size_t i = 0; i < out.ids.size(); ++i) {
    if (i % kMasks == kMasks - 1 && is_cancelled(interrupt)) return false;
    // A terminated matcher allows nothing; its row of ones is for batches.
    if (matcher.is_terminated()) {
      out.allowed.push_back(0);
    } else {
      matcher.fill_bitmask(row);
      // After an error a stop token may come, but the text does not fit.
      out.allowed.push_back(matcher.error() ? 0 : count());
    }
    if (matcher.error() || !matcher.accept_token(out.ids[i])) {
      out.rejected = i;
      return false;
    }
  }
  return matcher.is_terminated() || matcher.can_end();
}

const Error* failure_of(const ResponseParser& parser) {
  return parser.failure();
}
const Error* failure_of(const TagParser&) { return nullptr; }

// Runs the parser over the response and moves the message out of it.
template <StreamParser Parser, class Response>
void read(Parser parser, Response response, std::string_view between,
          const ExplainOptions& options, Explanation& out) {
  // Offsets count from the last start anchor of the prefix.
  out.prefix_bytes = parser.prefix_bytes();
  out.text = options.prefix.substr(options.prefix.size() - out.prefix_bytes);
  if constexpr (kReadsIds<Response>) {
    add_tokens(response, *options.vocabulary, out);
    if (options.constraint != nullptr) {
      add_masks(*options.constraint, options.interrupt, out);
    }
  } else {
    out.text += response;
  }

  EventRows rows(out, between, options.chunk == 0);
  for (const Event& event : parser.initial_events()) rows.add(event);
  const std::size_t step = options.chunk == 0 ? kPiece : options.chunk;
  for (std::size_t at = 0; at < response.size();) {
    if (at > 0 && is_cancelled(options.interrupt)) break;
    const std::size_t end = at + std::min(step, response.size() - at);
    std::size_t fed_bytes = out.prefix_bytes + end;
    std::span<const Event> events;
    if constexpr (kReadsIds<Response>) {
      events = parser.feed_tokens(response.subspan(at, end - at));
      fed_bytes = out.token_ends[end - 1];
    } else {
      events = parser.feed(response.substr(at, end - at));
    }
    for (const Event& event : events) rows.add(event);
    if (options.chunk > 0) rows.held(end, fed_bytes, parser.held().size());
    at = end;
  }
  for (const Event& event : parser.finalize()) rows.add(event);
  rows.end(parser.message().turn_ended);

  if (const Error* failure = failure_of(parser)) out.failure = *failure;
  json::Value tree;
  const bool by_tree = std::is_same_v<Parser, TagParser> && options.chunk == 0;
  if constexpr (std::is_same_v<Parser, TagParser>) {
    if (by_tree) tree = parser.tree();
  }
  out.message = std::move(parser).take_message();
  if (by_tree) {
    out.rows.clear();
    explanation::add_tree_rows(tree, out);
  }
}

// Adds a row for each hint, after the rows that it is about.
void add_hints(const Format& format, const ExplainOptions& options,
               Explanation& out) {
  const std::vector<Hint> found = hints_of(
      format, out.text, *out.message,
      {.tools = options.tools, .by_tokens = options.vocabulary != nullptr});
  for (const Hint& hint : found) {
    auto after = out.rows.begin();
    for (auto row = after; row != out.rows.end(); ++row) {
      if (owns_bytes(row->kind)) {
        if (row->bytes.begin >= hint.bytes.end) break;
      } else if (row->bytes.begin > hint.bytes.end) {
        break;
      }
      after = row + 1;
    }
    ExplanationRow row;
    row.kind = ExplanationKind::kHint;
    row.bytes = hint.bytes;
    row.tokens = tokens_of(out, hint.bytes);
    row.what = "hint: " + hint.message;
    row.message = hint.message;
    row.hint = hint.kind;
    row.field = hint.field;
    row.format = hint.format;
    out.rows.insert(after, std::move(row));
  }
}

template <class Response>
Explanation explain_with(const Format& format, Response response,
                         const ExplainOptions& options) {
  Explanation out;
  out.by = ExplainedBy::kFormat;
  out.name = options.name;
  if (kReadsIds<Response> != (options.vocabulary != nullptr)) return out;
  for (std::size_t i = 0; i < format.field_count(); ++i) {
    out.fields.emplace_back(format.field_name(i));
  }
  read(
      ResponseParser(format, {.prefix = options.prefix,
                              .tools = options.tools,
                              .vocabulary = options.vocabulary,
                              .markers = options.markers,
                              .recover = options.recover,
                              .attempts = true}),
      response,
      // In chunks, text may get its row before the event that reports it.
      format.recovers() && options.chunk == 0 ? "delimiter" : "between regions",
      options, out);
  if (options.hints) add_hints(format, options, out);
  return out;
}

template <class Response>
Explanation explain_with(const CompiledTag& tag, Response response,
                         const ExplainOptions& options) {
  Explanation out;
  out.by = ExplainedBy::kStructuralTag;
  out.name = options.name;
  if (kReadsIds<Response> != (options.vocabulary != nullptr)) return out;
  out.fields.assign(tag.fields().begin(), tag.fields().end());
  read(TagParser(tag, {.prefix = options.prefix,
                       .vocabulary = options.vocabulary,
                       .recover = options.recover,
                       .attempts = true}),
       response, "between formats", options, out);
  return out;
}

// The two parts of a text that a grammar accepts up to `end`, and what it
// expected there.
void add_fit(Explanation& out, std::size_t end, const std::string& expected) {
  const auto add = [&](ExplanationKind kind, Span bytes, std::string what) {
    ExplanationRow& row = out.rows.emplace_back();
    row.kind = kind;
    row.bytes = bytes;
    row.tokens = tokens_of(out, bytes);
    row.what = std::move(what);
  };
  add(ExplanationKind::kFits, {0, end}, "fits");
  if (out.accepted) return;
  const bool early = end == out.text.size();
  if (!early) {
    add(ExplanationKind::kRest, {end, out.text.size()}, "does not fit");
  }
  add(ExplanationKind::kExpected, {end, out.text.size()},
      (early ? "ends too early: " : "") + expected);
  out.rows.back().message = out.rows.back().what;
}

}  // namespace

Explanation explain(const Format& format, std::string_view response,
                    const ExplainOptions& options) {
  return explain_with(format, response, options);
}

Explanation explain(const Format& format, std::span<const TokenId> response,
                    const ExplainOptions& options) {
  return explain_with(format, response, options);
}

Explanation explain(const CompiledTag& tag, std::string_view response,
                    const ExplainOptions& options) {
  return explain_with(tag, response, options);
}

Explanation explain(const CompiledTag& tag, std::span<const TokenId> response,
                    const ExplainOptions& options) {
  return explain_with(tag, response, options);
}

Explanation explain(const Grammar& grammar, std::string_view text,
                    const ExplainOptions& options) {
  Explanation out;
  out.by = ExplainedBy::kGrammar;
  out.name = options.name;
  out.text = text;
  GrammarReader reader(grammar);
  bool cancelled = false;
  while (reader.offset() < text.size() && !cancelled) {
    const std::string_view piece = text.substr(reader.offset(), kGrammarPiece);
    if (reader.feed(piece) < piece.size()) break;
    cancelled = is_cancelled(options.interrupt);
  }
  out.accepted = reader.offset() == text.size() && reader.can_end();
  add_fit(out, reader.offset(),
          out.accepted || cancelled ? "" : "expected " + reader.expected());
  return out;
}

Explanation explain(const Constraint& constraint,
                    std::span<const TokenId> response,
                    const ExplainOptions& options) {
  Explanation out;
  out.by = ExplainedBy::kGrammar;
  out.name = options.name;
  add_tokens(response, constraint.vocabulary(), out);
  out.accepted = add_masks(constraint, options.interrupt, out);
  if (!out.rejected) {
    add_fit(out, out.text.size(), "more text was expected");
    return out;
  }
  const std::size_t at = *out.rejected;
  const std::uint32_t allowed = out.allowed[at];
  add_fit(out, at == 0 ? 0 : out.token_ends[at - 1],
          "token " + std::to_string(response[at]) + " is not allowed here; " +
              (allowed == 1 ? "1 token is"
                            : std::to_string(allowed) + " tokens are"));
  return out;
}

}  // namespace parlance
