// The parser: tokens to messages.
//
// In the default mode a stream is read by three states:
//
//             marker, text                  <|message|>
//   between ───────────────▶ header ─────────────────────▶ content
//      ▲                       │ stop token, limit             │
//      └───────────────────────┴────────────◀──────────────────┘  stop token
//
// Text between messages is collected as a header, because a marker after it
// makes it one.  A header that does not end with <|message|> becomes a message
// all the same ("stranded").
//
// Content is appended to its message token by token.  The event for it is made
// when feed() returns or the message ends, so a token of content costs a lookup
// of its bytes and a copy.

#include "parlance/harmony.h"

#include <array>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/unwinding.h"
#include "base/utf8.h"
#include "base/white_space.h"
#include "harmony/diagnostics.h"
#include "harmony/header.h"
#include "harmony/marks.h"
#include "harmony/strict_header.h"
#include "harmony/text_decoder.h"
#include "harmony/words.h"

namespace parlance {

using harmony::Diagnostics;
using harmony::Fields;
using harmony::Header;
using harmony::HeaderReader;
using harmony::Mark;
using harmony::Marks;
using harmony::Origin;
using harmony::SectionKind;
using harmony::Stranded;
using harmony::StrandedBy;
using harmony::TextDecoder;

struct HarmonyParser::State {
  State(const Vocabulary& v, Marks m, const HarmonyOptions& o)
      : vocabulary(v),
        marks(std::move(m)),
        options(o),
        default_role(o.role.value_or(HarmonyRole::kAssistant)),
        space_after_marks(v.space_after_marks()),
        diagnostics(o.limits.diagnostics) {
    if (options.role) begin_header(Origin::kPrompt, default_role, {});
  }

  // Where the text of an event is while texts grow: in the content of its
  // message, or in `channels`.
  struct TextAt {
    std::size_t begin = 0;
    std::size_t size = 0;
  };

  // Reads one token, which has the number `token`.
  void read(TokenId id);
  void read_text(std::string_view bytes);
  void read_mark(Mark mark, TokenId id);
  void start();
  void stop(HarmonyEnd end);
  void channel_or_constrain(Mark mark);
  void message_marker();
  void other(HarmonyProblem problem);

  void read_strict(Mark mark, TokenId id);
  void end_strict_header();
  void fail(HarmonyProblem problem, Span tokens, std::string_view found);

  void begin_header(Origin origin, HarmonyRole role,
                    std::optional<std::string> name);
  void check_header();
  bool end_blank_text();
  void strand(StrandedBy by, HarmonyEnd end);
  void open(Fields fields, Span tokens, std::size_t content_token);
  void add_content(std::string_view bytes);
  void close(HarmonyEnd end, std::size_t tokens_end);
  void add_chunk();
  void add_event(HarmonyEventKind kind, std::size_t index, TextAt text,
                 Span tokens);
  std::span<const HarmonyEvent> take_events();
  void clear_events();

  HarmonyMessage& message() { return messages.back(); }
  Span this_token() const { return {token, token + 1}; }

  Vocabulary vocabulary;
  Marks marks;
  HarmonyOptions options;
  HarmonyRole default_role;
  bool space_after_marks;

  HarmonyState phase = HarmonyState::kBetween;  // kHeader for text between
  bool after_mark = false;  // the next text may begin with the mark's space
  bool finalized = false;
  std::size_t token = 0;  // tokens before the current one
  TextDecoder decoder;    // of the header or the content
  Header header;
  std::vector<HarmonyMessage> messages;
  Diagnostics diagnostics;

  // Strict mode: the bytes of the header, and what went wrong.
  std::string strict_header;
  std::size_t strict_first = 0;
  bool strict_unknown = false;
  bool strict_prompt = false;  // the header is in the prompt
  std::optional<HarmonyDiagnostic> error;

  std::size_t reported = 0;          // bytes of the open content in events
  std::size_t chunk_token = 0;       // the first token of the next chunk
  std::size_t begun_token = 0;       // where the bytes in `decoder` begin
  std::vector<HarmonyEvent> events;  // take_events() sets texts and messages
  std::vector<TextAt> texts;         // of `events`
  std::deque<std::string> channels;  // of kMessageChannel in `events`
};

// Events

// Makes an event of the content that no event has yet.
void HarmonyParser::State::add_chunk() {
  const std::size_t size = message().content.size();
  if (size > reported) {
    add_event(HarmonyEventKind::kMessageChunk, messages.size() - 1,
              {reported, size - reported}, {chunk_token, token});
    reported = size;
    chunk_token = decoder.pending() > 0 ? begun_token : token;
  }
}

void HarmonyParser::State::add_event(HarmonyEventKind kind, std::size_t index,
                                     TextAt text, Span tokens) {
  HarmonyEvent& event = events.emplace_back();
  event.kind = kind;
  event.index = index;
  event.tokens = tokens;
  texts.push_back(text);
}

// The events of this call.  Only now the texts do not move any more.
std::span<const HarmonyEvent> HarmonyParser::State::take_events() {
  for (std::size_t i = 0; i < events.size(); ++i) {
    HarmonyEvent& event = events[i];
    if (event.kind == HarmonyEventKind::kMessageChannel) {
      event.text = channels[texts[i].begin];
    } else {
      event.message = &messages[event.index];
      event.text = std::string_view(event.message->content)
                       .substr(texts[i].begin, texts[i].size);
    }
  }
  return events;
}

void HarmonyParser::State::clear_events() {
  events.clear();
  texts.clear();
  channels.clear();
}

// Messages

void HarmonyParser::State::begin_header(Origin origin, HarmonyRole role,
                                        std::optional<std::string> name) {
  header.begin(origin, role, std::move(name), token);
  phase = HarmonyState::kHeader;
  strict_header.clear();
  strict_first = token;
  strict_unknown = false;
  strict_prompt = origin == Origin::kPrompt;
}

// Opens a message.  `tokens` are those of its header; its content begins with
// the token `content_token`.
void HarmonyParser::State::open(Fields fields, Span tokens,
                                std::size_t content_token) {
  messages.push_back({.role = fields.role,
                      .name = std::move(fields.name),
                      .channel = std::move(fields.channel),
                      .recipient = std::move(fields.recipient),
                      .content_type = std::move(fields.content_type),
                      .content = {},
                      .end = HarmonyEnd::kOpen,
                      .tokens = tokens,
                      .content_tokens = {content_token, tokens.end}});
  add_event(HarmonyEventKind::kMessageOpen, messages.size() - 1, {}, tokens);
  reported = 0;
  chunk_token = content_token;
  phase = HarmonyState::kContent;
}

void HarmonyParser::State::add_content(std::string_view bytes) {
  decoder.feed(bytes, message().content);
  if (decoder.pending() <= bytes.size()) begun_token = token;
}

// Closes the open message before the current token.  `tokens_end` is the end of
// its tokens: with or without the current token.
void HarmonyParser::State::close(HarmonyEnd end, std::size_t tokens_end) {
  decoder.flush(message().content);
  add_chunk();
  message().end = end;
  message().tokens.end = tokens_end;
  message().content_tokens.end = token;
  add_event(HarmonyEventKind::kMessageClose, messages.size() - 1, {},
            {token, tokens_end});
  phase = HarmonyState::kBetween;
}

// Ends a header that has no <|message|>.
void HarmonyParser::State::strand(StrandedBy by, HarmonyEnd end) {
  if (by != StrandedBy::kLimit) header.end_text(decoder);
  const bool outside = header.origin() == Origin::kOutside;
  HeaderReader reader(header, options.role.has_value(), token, diagnostics);
  Stranded stranded = reader.stranded(by);
  phase = HarmonyState::kBetween;
  const std::size_t past = by == StrandedBy::kLimit ? token + 1 : token;
  const Span tokens = {header.first_token(), past};
  if (stranded.kind == Stranded::Kind::kOpenPrompt) return;
  if (stranded.kind == Stranded::Kind::kTruncated) {
    diagnostics.add(HarmonyProblem::kTruncatedHeader, tokens, token,
                    header.text());
    return;
  }
  diagnostics.add(outside ? HarmonyProblem::kTextOutsideMessage
                          : HarmonyProblem::kMissingMessageMarker,
                  tokens, token, header.text());
  open(std::move(stranded.fields), tokens, header.first_token());
  message().content = std::move(stranded.content);
  if (by == StrandedBy::kLimit) return;  // the content continues
  close(end, end == HarmonyEnd::kEos || end == HarmonyEnd::kImplicit
                 ? token
                 : token + 1);
}

// Between messages, drops text that is only white space; returns whether there
// is no other text.
bool HarmonyParser::State::end_blank_text() {
  if (phase == HarmonyState::kBetween) return true;
  if (phase != HarmonyState::kHeader || header.origin() != Origin::kOutside) {
    return false;
  }
  header.end_text(decoder);
  if (!header.blank()) return false;
  phase = HarmonyState::kBetween;
  return true;
}

// After an addition to the header: an early channel, the limit.
void HarmonyParser::State::check_header() {
  if (header.origin() != Origin::kOutside) {
    if (const auto channel = header.new_channel()) {
      add_event(HarmonyEventKind::kMessageChannel, messages.size(),
                {channels.size(), 0}, this_token());
      channels.emplace_back(*channel);
    }
  }
  if (header.bytes() > options.header_bytes) {
    if (header.origin() == Origin::kOutside && header.blank()) {
      // White space, whose last character may be unfinished.
      if (decoder.pending() == 0) phase = HarmonyState::kBetween;
      return;
    }
    strand(StrandedBy::kLimit, HarmonyEnd::kOpen);
  }
}

// Tokens, default mode

void HarmonyParser::State::read(TokenId id) {
  const Mark mark = marks.of(vocabulary, id);
  if (options.strict) {
    read_strict(mark, id);
  } else if (mark == Mark::kText) {
    std::string_view bytes = vocabulary.bytes(id);
    if (after_mark && !bytes.empty()) {
      after_mark = false;
      if (bytes.front() == ' ') bytes.remove_prefix(1);
    }
    read_text(bytes);
  } else {
    after_mark = space_after_marks && mark != Mark::kUnknown;
    read_mark(mark, id);
  }
}

void HarmonyParser::State::read_text(std::string_view bytes) {
  if (phase == HarmonyState::kContent) {
    return add_content(bytes);
  }
  if (phase == HarmonyState::kBetween) {
    bool white = true;
    for (std::size_t i = 0; white && i < bytes.size();) {
      white = base::is_white_space(base::next_code_point(bytes, i));
    }
    if (white) return;
    begin_header(Origin::kOutside, default_role, {});
  }
  header.add_text(bytes, token, decoder);
  check_header();
}

void HarmonyParser::State::read_mark(Mark mark, TokenId id) {
  switch (mark) {
    case Mark::kStart:
      return start();
    case Mark::kEnd:
      return stop(HarmonyEnd::kEnd);
    case Mark::kCall:
      return stop(HarmonyEnd::kCall);
    case Mark::kReturn:
      return stop(HarmonyEnd::kReturn);
    case Mark::kEosToken:
      return stop(HarmonyEnd::kEosToken);
    case Mark::kMessage:
      return message_marker();
    case Mark::kChannel:
    case Mark::kConstrain:
      return channel_or_constrain(mark);
    case Mark::kUnknown:
      return other(HarmonyProblem::kUnknownToken);
    case Mark::kOther:
    case Mark::kText:
      break;
  }
  diagnostics.add(HarmonyProblem::kUnexpectedSpecial, this_token(), token,
                  vocabulary.spelling(id));
  other(HarmonyProblem::kUnexpectedSpecial);
}

void HarmonyParser::State::start() {
  if (phase == HarmonyState::kContent) {
    diagnostics.add(HarmonyProblem::kMissingEnd, this_token(), token);
    close(HarmonyEnd::kImplicit, token);
  } else if (!end_blank_text()) {
    header.end_text(decoder);
    if (header.blank()) {
      diagnostics.add(HarmonyProblem::kRedundantStart, this_token(), token);
    } else {
      strand(StrandedBy::kToken, HarmonyEnd::kImplicit);
    }
  }
  begin_header(Origin::kStart, default_role, {});
}

void HarmonyParser::State::stop(HarmonyEnd end) {
  if (phase == HarmonyState::kContent) {
    close(end, token + 1);
  } else if (end_blank_text()) {
    diagnostics.add(HarmonyProblem::kStrayStop, this_token(), token);
  } else {
    strand(StrandedBy::kToken, end);
  }
}

void HarmonyParser::State::channel_or_constrain(Mark mark) {
  const bool channel = mark == Mark::kChannel;
  if (phase == HarmonyState::kContent) {
    if (!channel) {
      diagnostics.add(HarmonyProblem::kUnexpectedSpecial, this_token(), token,
                      harmony::kConstrainMarker);
      return other(HarmonyProblem::kUnexpectedSpecial);
    }
    diagnostics.add(HarmonyProblem::kMissingEnd, this_token(), token);
    close(HarmonyEnd::kImplicit, token);
    begin_header(Origin::kContent, message().role, message().name);
  } else if (end_blank_text()) {
    diagnostics.add(HarmonyProblem::kMissingStart, this_token(), token);
    begin_header(Origin::kImplied, default_role, {});
  } else if (header.origin() == Origin::kOutside) {
    diagnostics.add(HarmonyProblem::kMissingStart, this_token(), token);
    header.imply();
  }
  header.add_section(channel ? SectionKind::kChannel : SectionKind::kConstrain,
                     channel ? harmony::kChannelMarker.size()
                             : harmony::kConstrainMarker.size(),
                     token, decoder);
  check_header();
}

void HarmonyParser::State::message_marker() {
  if (phase == HarmonyState::kContent) {
    diagnostics.add(HarmonyProblem::kUnexpectedSpecial, this_token(), token,
                    harmony::kMessageMarker);
    return other(HarmonyProblem::kUnexpectedSpecial);
  }
  if (end_blank_text()) {
    diagnostics.add(HarmonyProblem::kMissingStart, this_token(), token);
    begin_header(Origin::kImplied, default_role, {});
  } else if (header.origin() == Origin::kOutside) {
    diagnostics.add(HarmonyProblem::kMissingStart, this_token(), token);
    header.imply();
  }
  header.end_text(decoder);
  HeaderReader reader(header, options.role.has_value(), token, diagnostics);
  open(reader.complete(), {header.first_token(), token + 1}, token + 1);
}

// A token that is neither text nor a marker here.  It cuts a character or a
// word, because tokens are atomic.
void HarmonyParser::State::other(HarmonyProblem problem) {
  const bool unknown = problem == HarmonyProblem::kUnknownToken;
  if (unknown) diagnostics.add(problem, this_token(), token);
  if (phase == HarmonyState::kContent) {
    decoder.flush(message().content);
    if (unknown) message().content += base::kReplacement;
  } else if (phase == HarmonyState::kHeader) {
    header.add_section(SectionKind::kBreak, 0, token, decoder);
    check_header();
  }
}

// Tokens, strict mode

void HarmonyParser::State::read_strict(Mark mark, TokenId id) {
  if (error) return;
  // Of control tokens that are no marker here, the spelling is text.
  std::string_view bytes =
      mark == Mark::kText ? vocabulary.bytes(id) : vocabulary.spelling(id);
  if (mark != Mark::kText) {
    after_mark = space_after_marks;
  } else if (after_mark && !bytes.empty()) {
    after_mark = false;
    if (bytes.front() == ' ') bytes.remove_prefix(1);
  }
  switch (phase) {
    case HarmonyState::kBetween:
      if (mark != Mark::kStart) {
        return fail(HarmonyProblem::kExpectedStart, this_token(), bytes);
      }
      return begin_header(Origin::kStart, default_role, {});
    case HarmonyState::kHeader:
      if (mark == Mark::kMessage) return end_strict_header();
      strict_unknown = strict_unknown || mark == Mark::kUnknown;
      strict_header += bytes;
      if (strict_header.size() > options.limits.held_bytes) {
        fail(HarmonyProblem::kHeaderTooLong, {strict_first, token + 1},
             strict_header);
      }
      return;
    case HarmonyState::kContent:
      if (mark == Mark::kEnd) return close(HarmonyEnd::kEnd, token + 1);
      if (mark == Mark::kCall) return close(HarmonyEnd::kCall, token + 1);
      if (mark == Mark::kReturn) return close(HarmonyEnd::kReturn, token + 1);
      if (mark == Mark::kUnknown) return other(HarmonyProblem::kUnknownToken);
      add_content(bytes);
  }
}

void HarmonyParser::State::end_strict_header() {
  const Span tokens = {strict_first, token + 1};
  if (strict_unknown || !base::is_utf8(strict_header)) {
    return fail(HarmonyProblem::kHeaderNotDecodable, tokens, strict_header);
  }
  std::variant<Fields, HarmonyProblem> read = harmony::read_strict_header(
      strict_header, strict_prompt ? options.role : std::nullopt);
  if (const auto* problem = std::get_if<HarmonyProblem>(&read)) {
    return fail(*problem, tokens, strict_header);
  }
  open(std::get<Fields>(std::move(read)), tokens, token + 1);
}

void HarmonyParser::State::fail(HarmonyProblem problem, Span tokens,
                                std::string_view found) {
  error = {problem, harmony::describe(problem, found), tokens, token};
  diagnostics.add(problem, tokens, token, found);
  phase = HarmonyState::kBetween;
}

// The public functions

std::string_view to_string(HarmonyEventKind kind) {
  static constexpr std::array<std::string_view, 4> kNames = {
      "message_channel", "message_open", "message_chunk", "message_close"};
  return kNames[static_cast<std::size_t>(kind)];
}

Result<HarmonyParser> HarmonyParser::create(const Vocabulary& vocabulary,
                                            const HarmonyOptions& options) {
  Result<Marks> marks = Marks::find(vocabulary);
  if (!marks) return marks.error();
  return HarmonyParser(
      std::make_unique<State>(vocabulary, std::move(*marks), options));
}

HarmonyParser::HarmonyParser(std::unique_ptr<State> state)
    : state_(std::move(state)) {}
HarmonyParser::~HarmonyParser() = default;
HarmonyParser::HarmonyParser(HarmonyParser&&) noexcept = default;
HarmonyParser& HarmonyParser::operator=(HarmonyParser&&) noexcept = default;

std::span<const HarmonyEvent> HarmonyParser::feed(
    std::span<const TokenId> ids) {
  State& s = *state_;
  const base::OnUnwinding end([&] { s.finalized = true; });
  s.clear_events();
  if (s.finalized) return {};
  for (const TokenId id : ids) {
    if (s.error) break;
    s.read(id);
    ++s.token;
  }
  if (s.phase == HarmonyState::kContent) {
    s.add_chunk();
    s.message().tokens.end = s.token;
    s.message().content_tokens.end = s.token;
  }
  return s.take_events();
}

std::span<const HarmonyEvent> HarmonyParser::finalize() {
  State& s = *state_;
  s.clear_events();
  if (s.finalized) return {};
  s.finalized = true;
  if (s.phase == HarmonyState::kContent) {
    s.close(HarmonyEnd::kEos, s.token);
  } else if (s.options.strict && s.phase == HarmonyState::kHeader) {
    s.fail(HarmonyProblem::kEosInHeader, {s.strict_first, s.token},
           s.strict_header);
  } else if (!s.end_blank_text()) {
    s.strand(StrandedBy::kEndOfStream, HarmonyEnd::kEos);
  }
  return s.take_events();
}

bool HarmonyParser::finalized() const { return state_->finalized; }

const std::vector<HarmonyMessage>& HarmonyParser::messages() const {
  return state_->messages;
}

std::vector<HarmonyMessage> HarmonyParser::take_messages() && {
  return std::move(state_->messages);
}

std::span<const HarmonyDiagnostic> HarmonyParser::diagnostics() const {
  return state_->diagnostics.list();
}

const HarmonyDiagnostic* HarmonyParser::error() const {
  return state_->error ? &*state_->error : nullptr;
}

bool HarmonyParser::turn_ended() const {
  if (state() != HarmonyState::kBetween || messages().empty()) return false;
  const HarmonyEnd end = messages().back().end;
  return end == HarmonyEnd::kCall || end == HarmonyEnd::kReturn ||
         end == HarmonyEnd::kEosToken;
}

HarmonyState HarmonyParser::state() const {
  const State& s = *state_;
  return s.phase == HarmonyState::kHeader && !s.options.strict &&
                 s.header.origin() == Origin::kOutside
             ? HarmonyState::kBetween
             : s.phase;
}

}  // namespace parlance
