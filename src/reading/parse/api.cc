// Implements parlance/response_parser.h.
//
//   bytes --Utf8Sanitizer--> text --Segmenter--> regions --Assembler--> events
//
// The segmenter's positions are in the sanitized text.  The assembler converts
// them to the caller's bytes.  The host has the rounds (events/stream_host.h).

#include <algorithm>
#include <utility>

#include "base/access.h"
#include "base/utf8.h"
#include "base/white_space.h"
#include "events/stream_host.h"
#include "format/description.h"
#include "parlance/response_parser.h"
#include "parse/assembler.h"
#include "parse/delimiter_program.h"
#include "parse/prefix.h"
#include "parse/reading_filter.h"
#include "parse/segmenter.h"
#include "parse/utf8_sanitizer.h"

namespace parlance::parse {

// One response on its way through the stages.
struct ResponseReader : events::StreamHost<ResponseReader> {
  // `fields_only`: as of Assembler::Options.
  ResponseReader(const Format& f, const StreamOptions& options,
                 bool fields_only = false)
      : StreamHost(options, detail::Access::impl(f)->limits.diagnostics),
        format(f),
        program(options.vocabulary == nullptr
                    ? not_owned(programs().plain())
                    : programs().with(*options.vocabulary, options.markers)),
        sanitizer(surrogates_of(f, options)),
        assembler(*detail::Access::impl(format), *program, sanitizer, out,
                  assembler_options(f, options, fields_only)),
        segmenter(*program, detail::Access::impl(format)->limits,
                  segment_sink()) {}

  static Utf8Sanitizer::Surrogates surrogates_of(const Format& format,
                                                 const StreamOptions& options) {
    using Surrogates = Utf8Sanitizer::Surrogates;
    if (!options.allow_surrogates) return Surrogates::kIllFormed;
    return format.recovers() ? Surrogates::kReplaced : Surrogates::kKept;
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
    return std::min({segmenter.passed(), assembler.held().begin(),
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
    Assembler::Options chosen;
    chosen.recover = options.recover == Recover::kDefault
                         ? format.recovers()
                         : options.recover == Recover::kYes;
    chosen.stream_calls = options.stream_calls;
    chosen.attempts = options.attempts && !fields_only;
    chosen.fields_only = fields_only;
    if (options.tools != nullptr) chosen.tools = *options.tools;
    return chosen;
  }

  // --- The host's functions --------------------------------------------------

  // Later events begin where delivery stopped, or where text begins that is not
  // reported yet, or the region of a call that is open.
  void begin_round() {
    const std::uint64_t kept = std::min(passed(), assembler.attempt_begin());
    sanitizer.forget(kept);
    assembler.forget(kept);
    if (!vocabulary) return;
    tokens.forget(
        std::min(sanitizer.original(kept), assembler.unreported_begin()));
  }

  void read(std::string_view chunk) {
    feed_bytes(chunk);
    assembler.end_round();
  }

  void read(std::span<const TokenId> ids) {
    for (const TokenId id : ids) feed_token(id);
    assembler.end_round();
  }

  void read_end() {
    end_with_stop();
    end();
    assembler.end_round();
  }

  json::Value fields() const { return assembler.fields(); }
  std::uint64_t bytes_in() const { return sanitizer.bytes_in(); }
  bool turn_ended() const {
    return stopped || stopped_by || assembler.at_turn_end();
  }

  // ---------------------------------------------------------------------------

  // A long input goes through all stages slice by slice, so that a slice is
  // still in the cache when the next stage reads it.  Slices end between
  // characters.
  void feed_bytes(std::string_view bytes) {
    constexpr std::size_t kSlice = std::size_t{1} << 16;
    const auto feed_slice = [&](std::string_view slice) {
      sanitizer.feed(slice, [&](std::string_view text) { feed_text(text); });
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
    }
    assembler.end_round();
    out.end_attempts();
  }

  // Ends the response with `rest`.
  // REQUIRES: `rest` is empty or needs no check.
  void end(std::string_view rest = {}) {
    flush_sanitizer();
    segmenter.finish(rest, stopped);
    if (filter) filter->finish();
    if (const auto begun = segmenter.begun(); begun && !stopped) {
      assembler.report_begun(*begun, segmenter.begun_goes_on());
    }
    assembler.finish(segmenter.total());
  }

  void feed_text(std::string_view text) {
    assembler.write_down(text);
    segmenter.feed(text);
  }

  void flush_sanitizer() {
    sanitizer.flush([&](std::string_view text) { feed_text(text); });
  }

  void feed_prompt(const Prompt& prompt) {
    if (!prompt.has_anchor && !prompt.text.empty() && !format.name().empty() &&
        !begins_with_opener(*program, detail::Access::impl(format)->limits,
                            prompt)) {
      out.diagnose(
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
    assembler.write_down(spelling);
    segmenter.feed_mark(symbol, spelling);
  }

  // An ordinary token that is a stop token is text if another follows.
  void feed_token(TokenId id) {
    if (stopped_by) read_token(*std::exchange(stopped_by, std::nullopt));
    if (stops_on_text && is_stop(id) && !format.name().empty() &&
        vocabulary->kind(id) == TokenKind::kOrdinary) {
      stopped_by = id;
    } else {
      read_token(id);
    }
  }

  // Reads the ordinary stop token that ends the response, if one does, or
  // leaves it out.
  void end_with_stop() {
    if (!stopped_by) return;
    const TokenId id = *std::exchange(stopped_by, std::nullopt);
    const std::string_view bytes = vocabulary->bytes(id);
    if (mentions(bytes)) return read_token(id);
    flush_sanitizer();
    sanitizer.skip(bytes.size());
    tokens.add(id, sanitizer.bytes_in());
    stopped = true;
  }

  // Whether the format ends a region or the response with `text`.
  bool mentions(std::string_view text) const {
    const format::FormatImpl& impl = *detail::Access::impl(format);
    const auto has = [&](const std::vector<std::string>& texts) {
      return std::ranges::find(texts, text) != texts.end();
    };
    return has(impl.family.reading.turn_end) ||
           std::ranges::any_of(impl.description.fields,
                               [&](const format::Field& field) {
                                 return has(field.close.literals);
                               });
  }

  void read_token(TokenId id) {
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
    stopped = is_stop(id) ||
              (stopped &&
               (is_dropped(id, kind) || base::is_blank(vocabulary->bytes(id))));
  }

  void feed_after_special(std::string_view bytes) {
    if (!base::is_blank(bytes)) report_end();
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
    out.diagnose(*std::exchange(ended_by, std::nullopt));
  }

  void feed_special(TokenId id, TokenKind kind) {
    if (kind == TokenKind::kUnused) {
      out.diagnose(
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
        program->ends_turn(segmenter.held())) {
      return;
    }
    // A stop token is expected at the end of the response: report it only if
    // something follows.
    if (is_stop(id)) {
      ended_by = std::move(diagnostic);
    } else {
      out.diagnose(std::move(diagnostic));
    }
  }

  // The text that is held, by all stages.
  std::string_view held() {
    const std::string_view tail = sanitizer.tail();
    all_held = assembler.held().text();
    if (tail.empty() && !filter && all_held.empty() && !stopped_by) {
      return segmenter.held();
    }
    if (filter) all_held += filter->held();
    all_held.append(segmenter.held()).append(tail);
    return stopped_by ? all_held.append(vocabulary->bytes(*stopped_by))
                      : all_held;
  }

  Format format;
  std::shared_ptr<const DelimiterProgram> program;
  Utf8Sanitizer sanitizer;
  Assembler assembler;
  std::optional<ReadingFilter> filter;
  Segmenter segmenter;
  // The diagnostic of a stop token that was left out, in case something
  // follows.
  std::optional<Diagnostic> ended_by;
  // A stop token has come, and after it nothing but white space and padding.
  bool stopped = false;
  // An ordinary stop token, the last of the input.
  std::optional<TokenId> stopped_by;
  // Whether the last token was an added or control token.
  bool after_special = false;
  std::string all_held;  // what held() returns
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
  return state_->initial_events();
}
std::size_t ResponseParser::prefix_bytes() const {
  return static_cast<std::size_t>(state_->prefix_bytes);
}
std::span<const Event> ResponseParser::feed(std::string_view chunk) {
  return state_->feed(chunk);
}
std::span<const Event> ResponseParser::feed_tokens(
    std::span<const TokenId> ids) {
  return state_->feed_tokens(ids);
}
std::span<const Event> ResponseParser::finalize() { return state_->finalize(); }
bool ResponseParser::finalized() const { return state_->stage.finalized(); }
bool ResponseParser::reads_tokens() const { return state_->reads_tokens(); }
const Error* ResponseParser::misuse() const { return state_->stage.misuse(); }
const Message& ResponseParser::message() const { return state_->message(); }
Message ResponseParser::take_message() && {
  return std::move(state_->message());
}
TokenCounts ResponseParser::tokens() const { return state_->counts(); }
std::size_t ResponseParser::held_bytes() const { return held().size(); }
std::string_view ResponseParser::held() const { return state_->held(); }

const Error* ResponseParser::failure() const {
  const auto& failure = state_->assembler.failure();
  return failure ? &*failure : nullptr;
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
  reader.assembler.visit_fields(
      [this](std::string_view name, const auto& view, bool fixed) {
        fields_.push_back({name, view.value, view.nodes, view.text, fixed});
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
