#ifndef PARLANCE_TAG_PARSER_H_
#define PARLANCE_TAG_PARSER_H_

// Parsing a response by the structural tag that constrained its model.
//
//   Result<CompiledTag> compiled = CompiledTag::compile(tag);
//   if (!compiled) return compiled.error();
//   TagParser parser(*compiled);
//   for (std::string_view chunk : stream)
//     for (const Event& event : parser.feed(chunk)) show(event);
//   for (const Event& event : parser.finalize()) show(event);
//   return parser.message();   // or parser.tree(): format by format
//
// A text is read completely if and only if the grammar of the tag accepts it
// (Grammar::from_structural_tag).  If a text has several parses, the preferred
// one is taken, decided from left to right:
//
//   * an earlier alternative before a later one, also among tags with the same
//     trigger;
//   * free text (any_text, text between triggered tags, any_tokens) as short as
//     possible, and as many triggered tags as possible;
//   * everything else (repetitions, patterns, grammars, JSON) as long as
//     possible.
//
// Markers are read as the masks of the grammar allow them.  If a tag is
// compiled for a vocabulary with a token for a marker, such as Qwen3's
// <tool_call>, only that token is the marker: ordinary tokens that spell it do
// not open or close anything.  docs/reference/structural-tags.md has the rules.
//
// A text that the tag does not allow is read up to the last byte that could
// still be continued.  The rest is returned unread, and a diagnostic says where
// it begins and what was expected there.  Inside a tag of triggered_tags, the
// rest ends after the next end of one of these tags, or before the next
// trigger, and parsing continues there (StreamOptions::recover).  Inside a
// tag of tags_with_separator or of a repeated `or` of tags, the begin markers
// are the triggers.
//
// Laws, as for ResponseParser:
//   Chunking.  How the response is cut into chunks changes only how chunk
//              events are cut.
//   Append.    An event is never taken back.
//   Account.   Every byte is in a format of the tree or in the rest.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "parlance/access.h"
#include "parlance/error.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/limits.h"
#include "parlance/message.h"
#include "parlance/stream.h"
#include "parlance/structural_tag.h"
#include "parlance/vocabulary.h"

namespace parlance {

namespace tag_parser {
struct CompiledTagImpl;  // src/reading/tag_parser/program.h
}

struct CompiledTagOptions {
  // Resolves tokens that the tag gives by their text, bounds token ids, and
  // decides which markers are tokens.  May be null: then a token given by its
  // text is an error (kUsage), and all markers are text.  What is compiled
  // keeps a copy.
  const Vocabulary* vocabulary = nullptr;

  // How markers are written in token ids.  In text (TagParser::feed) they are
  // always spelled.
  Markers markers = Markers::kToken;

  // For the schemas, patterns and grammars inside.
  GrammarLimits limits = {};

  // Limits of each parser: parses of a text that may be open at the same time,
  // and memory in bytes for the differences between them.  Past either limit
  // the remaining text is the rest, with a diagnostic (kTooLarge).
  // Parses that differ only in what is left of a limit (the characters of a
  // text, the repetitions of a repeat) do not exceed it: of more than 64 such
  // parses, the preferred one and those with the most left remain.
  std::size_t max_parses = 4096;
  std::size_t parse_bytes = std::size_t{64} << 20;
  // Diagnostics of a message.
  std::size_t diagnostics = Limits().diagnostics;

  // A cache from which compiled schemas are taken and to which new ones are
  // added.  May be null.  REQUIRES: it exists as long as the call of compile().
  const GrammarCache* cache = nullptr;
};

// A structural tag compiled for parsing.  Immutable, cheap to copy, safe to
// share between threads.  All parsers share the recognisers of the JSON texts
// and patterns inside; a parser locks a recogniser at most for the duration of
// one feed().
class CompiledTag {
 public:
  // Errors: those of Grammar::from_structural_tag(), without byte spans.
  static Result<CompiledTag> compile(const StructuralTag& tag,
                                     const CompiledTagOptions& options = {});

  // The names that events and the message use, by Event::field_index.
  std::span<const std::string_view> fields() const;
  // What joins the texts of several regions of a field; "" for nothing.
  std::string_view field_join(std::size_t index) const;

 private:
  friend struct detail::Access;
  explicit CompiledTag(std::shared_ptr<const tag_parser::CompiledTagImpl> impl);
  std::shared_ptr<const tag_parser::CompiledTagImpl> impl_;  // never null
};

// A StreamParser (parlance/stream.h says what its functions do).
//
// The keys "field" and "tool" of the tag define the regions of the message and
// their fields; docs/reference/structural-tags.md has the rules for formats
// without these keys.  The value of a call is {"type": "function", "function":
// {"name", "arguments"}}.
class TagParser {
 public:
  explicit TagParser(const CompiledTag& compiled,
                     const StreamOptions& options = {});
  ~TagParser();
  TagParser(TagParser&&) noexcept;
  TagParser& operator=(TagParser&&) noexcept;

  std::span<const Event> initial_events() const;
  // The bytes of the whole prefix.
  std::size_t prefix_bytes() const;

  // Returns the events on which all open parses agree.
  //
  // Complexity: O(chunk.size() * r), where r is the number of open parses:
  // almost always one or two, never more than CompiledTagOptions::max_parses.
  // Memory: the text, and the differences between open parses.
  std::span<const Event> feed(std::string_view chunk);
  // Formats of tokens and marks match ids, everything else matches the bytes of
  // the tokens.
  std::span<const Event> feed_tokens(std::span<const TokenId> ids);

  std::span<const Event> finalize();
  bool finalized() const;
  bool reads_tokens() const;
  const Error* misuse() const;

  // Its fields are "role": "assistant", then "reasoning", "content" and
  // "tool_calls" if there are any, then others in the order in which their
  // first regions ended.  "rest" is the text that the tag does not allow.
  const Message& message() const;
  Message take_message() &&;
  TokenCounts tokens() const;

  // The parse tree: every format that was read, with its bytes;
  // docs/reference/structural-tags.md describes its members.  Before
  // finalize(): the part on which all open parses agree.
  // Complexity: O(text); values are parsed again.
  json::Value tree() const;

  // Whether the text so far is a complete text of the tag.
  bool complete() const;

  // Bytes that no event has reported yet; U+FFFD for an id without a token.
  std::size_t held_bytes() const;
  std::string_view held() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One-shot: the tree of a whole response.  The same code as the stream.
json::Value parse_by_tag(const CompiledTag& compiled, std::string_view response,
                         const StreamOptions& options = {});
// The same for token ids.  REQUIRES: options.vocabulary != nullptr.
json::Value parse_by_tag(const CompiledTag& compiled,
                         std::span<const TokenId> response,
                         const StreamOptions& options);

}  // namespace parlance

#endif  // PARLANCE_TAG_PARSER_H_
