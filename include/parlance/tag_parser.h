#ifndef PARLANCE_TAG_PARSER_H_
#define PARLANCE_TAG_PARSER_H_

// Reading a response by the structural tag that its model was held to.
//
//   Result<CompiledTag> compiled = CompiledTag::compile(tag);
//   if (!compiled) return compiled.error();
//   TagParser parser(*compiled);
//   for (std::string_view chunk : stream)
//     for (const Event& event : parser.feed(chunk)) show(event);
//   for (const Event& event : parser.finalize()) show(event);
//   return parser.message();   // or parser.tree(): format by format
//
// A text is read completely if and only if the tag's grammar accepts it
// (Grammar::from_structural_tag).  Where it can be read in several ways, the
// first is taken, decided from left to right:
//
//   an earlier alternative before a later one, also of tags with one trigger;
//   free text (any_text, text between triggered tags, any_tokens) as short as
//   it can be, and as many triggered tags as there can be;
//   all else (repetitions, patterns, grammars, JSON) as long as it can be.
//
// Markers are read as the grammar's masks let them through.  A tag compiled
// for a vocabulary with a token for a marker, such as Qwen3's <tool_call>,
// reads that marker as the token and nothing else: ordinary tokens that spell
// it never open or close anything.  docs/reference/structural-tags.md has the
// rules.
//
// A text that does not fit is read up to the last byte that could still be
// continued; the rest is kept as it is, and a diagnostic says where it begins
// and what was expected there.  Inside a tag of triggered_tags the rest ends
// behind the next end of one of these tags, or in front of the next trigger,
// and reading goes on there (TagParserOptions::recover).
//
// Laws, as for ResponseParser: how the response is cut into chunks changes only
// how chunk events are cut (Chunking); no event is taken back (Append); every
// byte is in a format of the tree or in the rest (Account).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "parlance/access.h"
#include "parlance/error.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/limits.h"
#include "parlance/message.h"
#include "parlance/structural_tag.h"
#include "parlance/vocabulary.h"

namespace parlance {

namespace tag_parser {
struct CompiledTagImpl;  // src/tag_parser/program.h
}

struct CompiledTagOptions {
  // Looks up tokens that the tag gives by their text, checks ids, and says
  // which markers are tokens.  May be null; then a token by its text is an
  // error (kUsage), and all markers are text.  Copied.
  const Vocabulary* vocabulary = nullptr;

  // How token ids write markers.  Texts (TagParser::feed) spell them.
  Markers markers = Markers::kToken;

  // Of the schemas, patterns and grammars inside.
  GrammarLimits limits = {};

  // Keeps the schemas inside for others, and has those that others made.  May
  // be null.
  const GrammarCache* cache = nullptr;
};

// A structural tag made ready to read.  Immutable, cheap to copy, safe to share
// between threads: what reads a JSON text or a pattern is shared by all
// parsers, and one at a time uses it, at most for the length of a feed().
class CompiledTag {
 public:
  // Errors: those of Grammar::from_structural_tag, kUnsatisfiable among them.
  static Result<CompiledTag> compile(const StructuralTag& tag,
                                     const CompiledTagOptions& options = {});

  // The names that events and the message use, by Event::field_index.
  std::span<const std::string_view> fields() const;

 private:
  friend struct detail::Access;
  explicit CompiledTag(std::shared_ptr<const tag_parser::CompiledTagImpl> impl);
  std::shared_ptr<const tag_parser::CompiledTagImpl> impl_;  // never null
};

struct TagParserOptions {
  // With a vocabulary the parser reads token ids (feed_tokens): formats of
  // tokens and marks match ids, all else the bytes of the tokens.  May be null.
  // Copied.  REQUIRES: the tag was compiled for the same vocabulary, or for
  // none; for none, every token is read by its bytes.
  const Vocabulary* vocabulary = nullptr;

  // What the prompt already wrote of this response.  It is read first, and
  // counts as its text; with a vocabulary an added or control token that is
  // spelled in it counts as that token where the token may come.
  std::string_view prefix = {};

  // The same as token ids, in the place of `prefix`: marks are only where their
  // ids are.  Ignored without a vocabulary.
  std::span<const TokenId> prefix_ids = {};

  // Tokens that end the response.  One of them that the tag does not name where
  // it comes is no text; whatever follows it is the rest.  Default: the
  // vocabulary's stop_ids().
  std::optional<std::span<const TokenId>> stop_ids = std::nullopt;

  // Where a tag of triggered_tags does not fit, such as a call of a tool that
  // is not listed, go on with the next one.  False: all that follows is the
  // rest.
  bool recover = true;

  // Keep the message, and the text and a few bytes for each format in it, from
  // which tree() is made.  False: events alone; memory does not grow with what
  // is closed, message() has diagnostics only, tree() is null.
  bool keep_message = true;

  // Readings of a text that may be open at a time, and bytes that may be used
  // to tell them apart.  Past either the rest of the text is not read by the
  // tag, with a diagnostic (kTooLarge).
  std::size_t readings = 4096;
  std::size_t reading_bytes = std::size_t{64} << 20;

  // Limits::diagnostics.
  Limits limits = {};
};

// Reads one response.  Movable, not copyable.  Not thread-safe: one stream, one
// parser, one thread.
//
// Regions of the message, and their fields, are what the tag's keys "field" and
// "tool" say; docs/reference/structural-tags.md has the rules for formats
// without them.  The value of a call is {"type": "function", "function":
// {"name", "arguments"}}.
class TagParser {
 public:
  explicit TagParser(const CompiledTag& compiled,
                     const TagParserOptions& options = {});
  ~TagParser();
  TagParser(TagParser&&) noexcept;
  TagParser& operator=(TagParser&&) noexcept;

  // The events that the prefix caused.  Valid until feed() or finalize().
  std::span<const Event> initial_events() const;
  // Event::bytes counts from the beginning of the prefix.
  std::size_t prefix_bytes() const;

  // Consumes `chunk` and returns the events on which all readings that are
  // still possible agree, oldest first.  A chunk may be empty and may end
  // anywhere.  Events are valid until the next feed() or finalize().
  //
  // Complexity: O(chunk.size() * r), r the readings that are open: one or two
  // almost always, never more than TagParserOptions::readings.
  // Memory: the text, and what tells open readings apart.
  //
  // REQUIRES: !finalized() and no vocabulary was given.  Otherwise the call
  // does nothing and returns no events.
  std::span<const Event> feed(std::string_view chunk);

  // The same for token ids.  An id without a token reads as U+FFFD, with a
  // diagnostic.  REQUIRES: !finalized() and a vocabulary was given.
  std::span<const Event> feed_tokens(std::span<const TokenId> ids);

  // Ends the response and returns the last events.
  std::span<const Event> finalize();
  bool finalized() const;

  // The message as told by the events so far; final once finalized().
  // fields: "role": "assistant", then "reasoning", "content", "tool_calls"
  // where there are any, then others in the order of their first region; "rest"
  // holds text that did not fit.
  const Message& message() const;
  Message take_message() &&;

  // Every format that was read and its bytes; docs/reference/structural-tags.md
  // has its members.  Before finalize(): what is certain by now.
  // Complexity: O(text), its values are read again.
  json::Value tree() const;

  // Whether the text so far is read in full by the tag.
  bool complete() const;

  // Bytes at the end of the input that no event has told yet.
  std::size_t held_bytes() const;
  // Those bytes; U+FFFD of an id that is none.  Valid until the next feed() or
  // finalize().
  std::string_view held() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One-shot: the tree of a whole response.  The same code as the stream.
json::Value parse_by_tag(const CompiledTag& compiled, std::string_view response,
                         const TagParserOptions& options = {});
// The same for token ids.  REQUIRES: options.vocabulary != nullptr.
json::Value parse_by_tag(const CompiledTag& compiled,
                         std::span<const TokenId> response,
                         const TagParserOptions& options);

}  // namespace parlance

#endif  // PARLANCE_TAG_PARSER_H_
