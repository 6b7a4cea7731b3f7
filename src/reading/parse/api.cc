// Implements parlance/response_parser.h.
//
//   bytes --Utf8Sanitizer--> text --Segmenter--> regions --Assembler--> events
//
// The segmenter's positions are in the sanitized text.  The assembler converts
// them to the caller's bytes, and publish() adds the tokens that hold these.

#include <algorithm>
#include <utility>

#include "base/access.h"
#include "base/ascii.h"
#include "base/utf8.h"
#include "events/stage.h"
#include "format/description.h"
#include "parlance/response_parser.h"
#include "parse/assembler.h"
#include "parse/delimiter_program.h"
#include "parse/prefix.h"
#include "parse/reading_filter.h"
#include "parse/segmenter.h"
#include "parse/utf8_sanitizer.h"
#include "vocab/token_log.h"

namespace parlance::parse {

// One response on its way through the stages.
struct ResponseReader {
  // `fields_only`: as of Assembler::Options.
  ResponseReader(const Format& f, const StreamOptions& options,
                 bool fields_only = false)
      : format(f),
        vocabulary(options.vocabulary == nullptr
                       ? std::nullopt
                       : std::optional<Vocabulary>(*options.vocabulary)),
        stop_ids(stops_of(options)),
        program(options.vocabulary == nullptr
                    ? not_owned(programs().plain())
                    : programs().with(*options.vocabulary, options.markers)),
        sanitizer(options.allow_surrogates),
        assembler(*detail::Access::impl(format), *program, sanitizer,
                  assembler_options(f, options, fields_only)),
        segmenter(*program, detail::Access::impl(format)->limits,
                  segment_sink()) {}

  static std::vector<TokenId> stops_of(const StreamOptions& options) {
    if (options.vocabulary == nullptr) return {};
    const std::span<const TokenId> ids =
        options.stop_ids ? *options.stop_ids : options.vocabulary->stop_ids();
    return {ids.begin(), ids.end()};
  }

  // What the segmenter writes to.
  SegmentSink& segment_sink() {
    const format::FormatImpl& impl = *detail::Access::impl(format);
    if (!program->filtered) return assembler;
    return filter.emplace(impl, assembler,
                          [this](const CandidateRegion& region) {
                            return assembler.is_call(region);
                          });
  }

  // All text before this position is in events.
  std::uint64_t passed() const {
    return std::min({segmenter.passed(), assembler.held_begin(),
                     filter ? filter->held_begin() : ~std::uint64_t{0}});
  }

  const DelimiterPrograms& programs() const {
    return DelimiterPrograms::of(*detail::Access::impl(format));
  }

  // Of a program that `format` keeps.
  static std::shared_ptr<const DelimiterProgram> not_owned(
      const DelimiterProgram& plain) {
    return {std::shared_ptr<void>(), &plain};
  }

  static Assembler::Options assembler_options(const Format& format,
                                              const StreamOptions& options,
                                              bool fields_only) {
    Assembler::Options out;
    out.recover = options.recover == Recover::kDefault
                      ? format.recovers()
                      : options.recover == Recover::kYes;
    out.keep_message = options.keep_message;
    out.stream_calls = options.stream_calls;
    out.fields_only = fields_only;
    if (options.tools != nullptr) out.tools = *options.tools;
    return out;
  }

  // A long input goes through all stages slice by slice, so that a slice is
  // still in the cache when the next stage reads it.  Slices end between
  // characters.
  void feed_bytes(std::string_view bytes) {
    constexpr std::size_t kSlice = std::size_t{1} << 16;
    const auto feed_slice = [&](std::string_view slice) {
      sanitizer.feed(slice,
                     [&](std::string_view text) { segmenter.feed(text); });
    };
    if (bytes.size() >= 2 * kSlice) assembler.expect(bytes.size());
    while (bytes.size() >= 2 * kSlice) {
      const std::string_view slice = bytes.substr(0, kSlice);
      const std::size_t size = kSlice - base::begun_character(slice);
      feed_slice(bytes.substr(0, size));
      bytes.remove_prefix(size);
    }
    feed_slice(bytes);
  }

  // Reads what the prompt wrote of the response.
  void feed_prefix(const StreamOptions& options) {
    if (vocabulary && !options.prefix_ids.empty()) {
      feed_prompt(read_prompt(*program, *vocabulary, options.prefix_ids));
    } else if (!options.prefix.empty()) {
      feed_prompt(read_prompt(*program, options.vocabulary, options.prefix));
    } else {
      return;
    }
    publish();
  }

  // Ends the response with `rest`.
  // REQUIRES: `rest` is empty or needs no check.
  void end(std::string_view rest = {}) {
    flush_sanitizer();
    segmenter.finish(rest);
    if (filter) filter->finish();
    assembler.finish(segmenter.total());
  }

  void flush_sanitizer() {
    sanitizer.flush([&](std::string_view text) { segmenter.feed(text); });
  }

  void feed_prompt(const Prompt& prompt) {
    if (!prompt.has_anchor && !prompt.text.empty() && !format.name().empty() &&
        !begins_with_opener(*program, detail::Access::impl(format)->limits,
                            prompt)) {
      assembler.add_diagnostic(
          {ErrorCode::kInvalidContent,
           "the prefix contains no start anchor of the format; the response "
           "begins at the end of the prefix",
           "",
           {0, 0}});
      return;
    }
    const MarkedText all(prompt.text, prompt.marks);
    const MarkedText kept =
        all.substr(prompt.begin, prompt.text.size() - prompt.begin);
    std::size_t done = 0;
    for (const MarkAt& mark : kept.marks) {
      const std::size_t at = kept.begin_of(mark);
      feed_bytes(kept.text.substr(done, at - done));
      flush_sanitizer();
      feed_mark(mark.symbol, kept.text.substr(at, mark.length));
      done = at + mark.length;
    }
    feed_bytes(kept.text.substr(done));
    prefix_bytes = sanitizer.bytes_in();
  }

  void feed_mark(automata::Symbol symbol, std::string_view spelling) {
    sanitizer.pass(spelling.size());
    segmenter.feed_mark(symbol, spelling);
  }

  void feed_token(TokenId id) {
    const TokenKind kind = vocabulary->kind(id);
    if (kind == TokenKind::kOrdinary && !after_special && !ended_by) {
      feed_bytes(vocabulary->bytes(id));
    } else if (kind == TokenKind::kOrdinary) {
      feed_after_special(vocabulary->bytes(id));
    } else {
      if (!is_dropped(id, kind)) report_end();
      flush_sanitizer();
      feed_special(id, kind);
    }
    tokens.add(id, sanitizer.bytes_in());
  }

  void feed_after_special(std::string_view bytes) {
    if (!std::ranges::all_of(bytes, base::is_space)) report_end();
    if (std::exchange(after_special, false) &&
        vocabulary->space_after_marks() && bytes.starts_with(' ')) {
      sanitizer.skip(1);
      bytes.remove_prefix(1);
    }
    feed_bytes(bytes);
  }

  // Whether the format does not mention the token, which is not text.
  bool is_dropped(TokenId id, TokenKind kind) const {
    return kind == TokenKind::kControl && !format.name().empty() &&
           !program->mark_symbols.contains(id);
  }

  // Reports a stop token that did not end the response, because something
  // follows it.
  void report_end() {
    if (!ended_by) return;
    assembler.add_diagnostic(*std::exchange(ended_by, std::nullopt));
  }

  void feed_special(TokenId id, TokenKind kind) {
    if (kind == TokenKind::kUnused) {
      assembler.add_diagnostic(
          vocab::unknown_token(tokens.size(), id, sanitizer.bytes_in()));
      feed_bytes(base::kReplacement);
      after_special = false;
      return;
    }
    const std::string_view spelling = vocabulary->spelling(id);
    const auto mark = program->mark_symbols.find(id);
    if (mark != program->mark_symbols.end()) {
      if (mark->second != kNoSymbol) {
        feed_mark(mark->second, spelling);
      } else {
        feed_bytes(spelling);
      }
    } else if (kind == TokenKind::kAdded) {
      feed_bytes(vocabulary->bytes(id));
    } else if (is_dropped(id, kind)) {
      drop(id, spelling);
    } else {
      feed_bytes(spelling);
    }
    after_special = true;
  }

  // Leaves out a control token that the format does not mention.  After the end
  // of the response it is one more end of turn, or the padding of a batch.
  void drop(TokenId id, std::string_view spelling) {
    Diagnostic diagnostic = vocab::unexpected_special(
        tokens.size(), id, spelling, sanitizer.bytes_in());
    sanitizer.skip(spelling.size());
    if (ended_by || assembler.at_turn_end() ||
        assembler.ends_turn(segmenter.held())) {
      return;
    }
    // A stop token is expected at the end of the response: report it only if
    // something follows.
    if (std::ranges::find(stop_ids, id) != stop_ids.end()) {
      ended_by = std::move(diagnostic);
    } else {
      assembler.add_diagnostic(std::move(diagnostic));
    }
  }

  void publish() {
    assembler.end_round();
    if (vocabulary) {
      for (Event& event : assembler.events()) {
        event.tokens = tokens.holding(event.bytes, prefix_bytes);
      }
    }
    sanitizer.forget(passed());
    // Later events begin where delivery stopped, or where text begins that is
    // not reported yet.
    if (vocabulary) {
      tokens.forget(
          std::min(sanitizer.original(passed()), assembler.unreported_begin()));
    }
  }

  Format format;
  std::optional<Vocabulary> vocabulary;
  std::vector<TokenId> stop_ids;
  std::shared_ptr<const DelimiterProgram> program;
  Utf8Sanitizer sanitizer;
  Assembler assembler;
  std::optional<ReadingFilter> filter;
  Segmenter segmenter;
  std::uint64_t prefix_bytes = 0;
  events::Stage stage;
  vocab::TokenLog tokens;
  // The diagnostic of a stop token that was left out, in case something
  // follows.
  std::optional<Diagnostic> ended_by;
  // Whether the last token was an added or control token.
  bool after_special = false;
  std::string held;
};

}  // namespace parlance::parse

namespace parlance {

struct ResponseParser::State : parse::ResponseReader {
  using ResponseReader::ResponseReader;
};

ResponseParser::ResponseParser(const Format& format,
                               const StreamOptions& options)
    : state_(std::make_unique<State>(format, options)) {
  state_->feed_prefix(options);
}

ResponseParser::~ResponseParser() = default;
ResponseParser::ResponseParser(ResponseParser&&) noexcept = default;
ResponseParser& ResponseParser::operator=(ResponseParser&&) noexcept = default;

std::span<const Event> ResponseParser::initial_events() const {
  return state_->stage.initial()
             ? std::span<const Event>(state_->assembler.events())
             : std::span<const Event>();
}

std::size_t ResponseParser::prefix_bytes() const {
  return static_cast<std::size_t>(state_->prefix_bytes);
}

std::span<const Event> ResponseParser::feed(std::string_view chunk) {
  State& state = *state_;
  state.assembler.begin_round();
  if (!state.stage.begin_text(state.vocabulary.has_value())) return {};
  state.feed_bytes(chunk);
  state.publish();
  state.stage.end_input();
  return state.assembler.events();
}

std::span<const Event> ResponseParser::feed_tokens(
    std::span<const TokenId> ids) {
  State& state = *state_;
  state.assembler.begin_round();
  if (!state.stage.begin_tokens(state.vocabulary.has_value())) return {};
  for (TokenId id : ids) state.feed_token(id);
  state.publish();
  state.stage.end_input();
  return state.assembler.events();
}

std::span<const Event> ResponseParser::finalize() {
  State& state = *state_;
  state.assembler.begin_round();
  if (state.stage.failed()) {
    state.assembler.add_diagnostic(
        events::Stage::failure(state.sanitizer.bytes_in()));
    state.assembler.mutable_message().complete = false;
    state.stage.end();
  }
  if (!state.stage.begin_end()) return {};
  state.end();
  state.publish();
  state.stage.end();
  return state.assembler.events();
}

bool ResponseParser::finalized() const { return state_->stage.finalized(); }

bool ResponseParser::reads_tokens() const {
  return state_->vocabulary.has_value();
}

const Error* ResponseParser::misuse() const { return state_->stage.misuse(); }

const Message& ResponseParser::message() const {
  return state_->assembler.message();
}

Message ResponseParser::take_message() && {
  state_->assembler.message();
  return std::move(state_->assembler.mutable_message());
}

const Error* ResponseParser::failure() const {
  const auto& failure = state_->assembler.failure();
  return failure ? &*failure : nullptr;
}

std::size_t ResponseParser::held_bytes() const { return held().size(); }

std::string_view ResponseParser::held() const {
  std::string_view tail = state_->sanitizer.tail();
  state_->held = state_->assembler.held();
  if (tail.empty() && !state_->filter && state_->held.empty()) {
    return state_->segmenter.held();
  }
  if (state_->filter) state_->held += state_->filter->held();
  state_->held.append(state_->segmenter.held()).append(tail);
  return state_->held;
}

std::uint64_t ResponseParser::work() const { return state_->segmenter.work(); }

Message parse_response(const Format& format, std::string_view response,
                       const StreamOptions& options) {
  ResponseParser parser(format, options);
  parser.feed(response);
  parser.finalize();
  return std::move(parser).take_message();
}

struct ResponseFields::State {
  std::optional<parse::ResponseReader> reader;
};

ResponseFields::ResponseFields() : state_(std::make_unique<State>()) {}

ResponseFields::ResponseFields(const Format& format, std::string_view response,
                               const StreamOptions& options, bool well_formed)
    : ResponseFields() {
  read(format, response, options, well_formed);
}

void ResponseFields::read(const Format& format, std::string_view response,
                          const StreamOptions& options, bool well_formed) {
  clear();
  StreamOptions plain = options;
  plain.keep_message = true;
  plain.stream_calls = false;
  plain.vocabulary = nullptr;
  plain.prefix_ids = {};
  parse::ResponseReader& reader =
      state_->reader.emplace(format, plain, /*fields_only=*/true);
  reader.feed_prefix(plain);
  // A text that needs no check passes in one piece, so that each region is one
  // stretch of it.
  if (well_formed && reader.sanitizer.tail().empty()) {
    reader.assembler.borrow_from(response);
    reader.sanitizer.pass(response.size());
    reader.end(response);
  } else {
    reader.feed_bytes(response);
    reader.end();
  }
  reader.assembler.visit_fields([this](const auto& field) {
    fields_.push_back(
        {field.name, field.value, field.nodes, field.text, field.fixed});
  });
}

void ResponseFields::clear() {
  fields_.clear();
  state_->reader.reset();
}

ResponseFields::~ResponseFields() = default;
ResponseFields::ResponseFields(ResponseFields&&) noexcept = default;
ResponseFields& ResponseFields::operator=(ResponseFields&&) noexcept = default;

const Error* ResponseFields::failure() const {
  if (!state_->reader) return nullptr;
  const auto& failure = state_->reader->assembler.failure();
  return failure ? &*failure : nullptr;
}

}  // namespace parlance
