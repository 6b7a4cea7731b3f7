// The door parlance/tag_parser.h.
//
//   bytes, tokens --PikeVm--> what is certain --TreeWalker--> tree, events

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/access.h"
#include "base/utf8.h"
#include "parlance/tag_parser.h"
#include "tag_parser/pike_vm.h"
#include "tag_parser/program.h"
#include "tag_parser/tree_walker.h"
#include "vocab/special_spellings.h"
#include "vocab/token_log.h"

namespace parlance {
namespace {

// Between two looks at what is certain.
constexpr std::size_t kSlice = 4096;
// Bytes that a round leaves behind for the next one.
constexpr std::size_t kKeptBuffer = std::size_t{64} << 10;
// Tokens of about as many bytes.
constexpr std::size_t kPartTokens = std::size_t{16} << 10;

constexpr std::string_view kNothingMayFollow =
    "nothing may follow the token that ended the response";

}  // namespace

CompiledTag::CompiledTag(
    std::shared_ptr<const tag_parser::CompiledTagImpl> impl)
    : impl_(std::move(impl)) {}

Result<CompiledTag> CompiledTag::compile(const StructuralTag& tag,
                                         const CompiledTagOptions& options) {
  Result<std::shared_ptr<const tag_parser::CompiledTagImpl>> impl =
      tag_parser::compile(detail::Access::impl(tag), options);
  if (impl) return CompiledTag(std::move(*impl));
  Error error = std::move(impl).error();
  error.span = std::nullopt;  // there is no text to count in
  return error;
}

std::span<const std::string_view> CompiledTag::fields() const {
  return impl_->regions.fields();
}

struct TagParser::State {
  State(const CompiledTag& p, const TagParserOptions& options)
      : compiled(p),
        vocabulary(options.vocabulary == nullptr
                       ? std::nullopt
                       : std::optional<Vocabulary>(*options.vocabulary)),
        keep(options.keep_message),
        recover(options.recover),
        stop_ids(stops_of(options)),
        program(detail::Access::impl(p)->program(vocabulary.has_value())),
        vm(program, {options.readings, options.reading_bytes}),
        walker(*detail::Access::impl(compiled), tokens, keep,
               options.limits.diagnostics) {}

  static std::vector<TokenId> stops_of(const TagParserOptions& options) {
    if (options.vocabulary == nullptr) return {};
    const std::span<const TokenId> ids =
        options.stop_ids ? *options.stop_ids : options.vocabulary->stop_ids();
    std::vector<TokenId> out(ids.begin(), ids.end());
    std::sort(out.begin(), out.end());
    return out;
  }

  std::uint64_t total() const { return buffer_begin + buffer.size(); }
  std::string_view text(std::uint64_t begin, std::uint64_t end) const {
    return std::string_view(buffer).substr(
        static_cast<std::size_t>(begin - buffer_begin),
        static_cast<std::size_t>(end - begin));
  }

  void begin_round() {
    walker.events().begin_round();
    const auto gone =
        static_cast<std::size_t>(walker.position() - buffer_begin);
    buffer.erase(0, gone);
    buffer_begin += gone;
    // That of a long chunk is not kept for the next one.
    if (buffer.capacity() > kKeptBuffer + 2 * buffer.size()) {
      buffer.shrink_to_fit();
    }
    if (!keep) tokens.forget(walker.position());
  }

  void end_round() {
    if (!failed && !lost) emit_certain();
    vm.release();
    if (!vocabulary) return;
    for (Event& event : walker.events().events()) {
      event.tokens = tokens_of(event.bytes);
    }
  }

  Span tokens_of(Span bytes) const {
    Span held = tokens.holding(bytes, prefix_bytes);
    held.begin -= std::min(held.begin, prefix_tokens);
    held.end -= std::min(held.end, prefix_tokens);
    return held;
  }

  // --- Reading ---------------------------------------------------------------

  void feed_bytes(std::string_view bytes) {
    buffer.append(bytes);
    read_on();
  }

  // Reads what is in the buffer and not read yet, by its bytes.
  void read_on() {
    for (;;) {
      if (failed) return emit_rest(false);
      if (lost && !find_resume()) return emit_rest(false);
      const std::string_view left = text(vm.position(), total());
      if (left.empty()) return;
      std::size_t size = std::min(left.size(), kSlice);
      if (size < left.size()) {
        size -= base::begun_character(left.substr(0, size));
      }
      const std::size_t read = vm.feed(left.substr(0, size));
      if (read < size && !vm.paused()) {
        fail();
      } else if (vm.wants_compaction()) {
        emit_certain();
      }
    }
  }

  void feed_token(const tag_parser::Token& token) {
    buffer.append(token.text);
    tokens.add(token.id, total());
    if (failed) return emit_rest(false);
    followed = ended;
    const std::uint64_t begin = total() - token.text.size();
    if (!lost) {
      std::size_t read = 0;
      if (!ended && vm.feed_token(token, read)) {
        if (vm.wants_compaction()) emit_certain();
        return;
      }
      fail();
    } else if (ended) {
      const auto at = static_cast<std::size_t>(begin);
      return give_up({ErrorCode::kInvalidContent,
                      std::string(kNothingMayFollow),
                      "",
                      {at, at}});
    }
    // A token that fits nothing may be where reading goes on.
    if (!lost || (lost->at == begin && resume_with(token))) return;
    read_on();
  }

  // A token, and whether there is one with that id.
  struct Coming {
    tag_parser::Token token;
    bool known = true;
  };

  // What the text of an id is, and how it may be read.
  Coming token_of(TokenId id) const {
    Coming out;
    tag_parser::Token& token = out.token;
    token.id = id;
    const TokenKind kind = vocabulary->kind(id);
    // Most tokens are these, and most tags name none of them.
    if (kind == TokenKind::kOrdinary && !program.names_ordinary) {
      token.text = vocabulary->bytes(id);
      return out;
    }
    const auto role = program.roles.find(id);
    if (role != program.roles.end()) {
      token.is_named = true;
      token.mark = role->second;
    }
    token.is_text = kind != TokenKind::kControl ||
                    !detail::Access::impl(compiled)->for_vocabulary;
    const bool spelled = !token.is_text || token.mark != tag_parser::kNoMark;
    token.text = spelled ? vocabulary->spelling(id) : vocabulary->bytes(id);
    out.known = kind != TokenKind::kUnused;
    if (!out.known) token.text = base::kReplacement;
    return out;
  }

  // The end of a turn is no text, except where the tag names its token.
  bool feed_stop(tag_parser::Token token) {
    if (stop_ids.empty()) return false;
    if (!std::binary_search(stop_ids.begin(), stop_ids.end(), token.id)) {
      return false;
    }
    if (ended) return false;
    token.is_text = false;
    token.is_any = false;
    std::size_t read = 0;
    if (failed || lost || !vm.feed_token(token, read)) {
      ended = true;
      token.text = {};
    }
    buffer.append(token.text);
    tokens.add(token.id, total());
    if (!failed && !lost && vm.wants_compaction()) emit_certain();
    return true;
  }

  void feed_ids(std::span<const TokenId> ids) {
    coming.clear();
    std::size_t size = 0;
    for (const TokenId id : ids) {
      coming.push_back(token_of(id));
      size += coming.back().token.text.size();
    }
    // Events point into the buffer, which must not move any more.
    buffer.reserve(buffer.size() + size);
    for (const auto& [token, known] : coming) {
      if (feed_stop(token)) continue;
      if (!known) {
        walker.events().diagnose(vocab::unknown_token(
            tokens.size() - prefix_tokens, token.id, total()));
      }
      feed_token(token);
    }
  }

  // A special token that is spelled in the prefix is meant as one where it may
  // come; else it is text.
  void feed_spelled(TokenId id) {
    tag_parser::Token token = token_of(id).token;
    token.text = vocabulary->spelling(id);
    if (!failed && !lost) {
      token.is_text = false;
      std::size_t read = 0;
      if (vm.feed_token(token, read)) {
        buffer.append(token.text);
        tokens.add(id, total());
        return;
      }
    }
    feed_bytes(token.text);
  }

  void feed_prefix(std::string_view prefix, std::span<const TokenId> ids) {
    std::size_t done = 0;
    if (!vocabulary) ids = {};
    if (!ids.empty()) prefix = {};
    // Events point into the buffer, which must not move any more.
    std::size_t size = prefix.size();
    for (const TokenId id : ids) size += token_of(id).token.text.size();
    buffer.reserve(size);
    if (vocabulary && !prefix.empty()) {
      const vocab::SpecialSpellings spelled(*vocabulary,
                                            vocabulary->special_ids());
      while (const auto found = spelled.find(prefix, done)) {
        feed_bytes(prefix.substr(done, found->at - done));
        feed_spelled(found->id);
        done = found->at + vocabulary->spelling(found->id).size();
      }
    }
    feed_bytes(prefix.substr(done));
    for (const TokenId id : ids) feed_token(token_of(id).token);
    prefix_bytes = static_cast<std::size_t>(total());
    prefix_tokens = tokens.size();
  }

  // --- Emitting --------------------------------------------------------------

  void emit_text(std::uint64_t end) {
    walker.text(text(walker.position(), end));
  }

  // Steps behind the last one told, up to `step`.
  void emit_steps(tag_parser::HistoryId step) {
    const tag_parser::History& history = vm.history();
    std::vector<tag_parser::HistoryId> steps;
    for (tag_parser::HistoryId at = step; at != emitted;
         at = history.parent(at)) {
      steps.push_back(at);
    }
    for (std::size_t i = steps.size(); i-- > 0;) {
      const tag_parser::ParseStep& one = history[steps[i]];
      if (one.position > walker.position()) emit_text(one.position);
      walker.step(one);
    }
    emitted = step;
  }

  // What all readings agree on.  Never inside a character, so that going back
  // to its beginning takes nothing back.
  void emit_certain() {
    const std::uint64_t position = vm.position();
    if (base::begun_character(text(walker.position(), position)) != 0) return;
    const tag_parser::History& history = vm.history();
    const auto waiting = vm.waiting();
    tag_parser::HistoryId common = waiting.front().history;
    for (const tag_parser::Thread& thread : waiting) {
      common = history.common_ancestor(common, thread.history);
    }
    emit_steps(common);
    std::uint64_t certain = position;
    for (const tag_parser::Thread& thread : waiting) {
      certain = std::min(
          certain, thread.history == common
                       ? position - vm.pending(thread)
                       : history[history.child_towards(common, thread.history)]
                             .position);
    }
    if (certain > walker.position()) emit_text(certain);
    if (vm.wants_compaction()) emitted = vm.compact_history(common);
  }

  // The reading that is taken, up to the place where readings stand.
  void emit_preferred() {
    emit_steps(vm.preferred().history);
    const std::uint64_t position = vm.position();
    if (position > walker.position()) emit_text(position);
  }

  void fail() {
    const std::string_view unsure = text(walker.position(), vm.position());
    const std::size_t begun = base::begun_character(unsure);
    if (begun != 0) vm.rewind_character(vm.position() - begun);
    const auto at = static_cast<std::size_t>(vm.position());
    Diagnostic why;
    why.bytes = {at, at};
    if (vm.overflowed()) {
      why.code = ErrorCode::kTooLarge;
      why.message =
          "the text can be read in more ways than "
          "TagParserOptions::readings or reading_bytes allow";
    } else if (vm.out_of_memory()) {
      why.code = ErrorCode::kTooLarge;
      why.message = "reading the text needs more than GrammarLimits::bytes";
    } else if (followed) {
      why.message = kNothingMayFollow;
    } else {
      why.message = "the text does not fit; expected " + vm.expected();
      const std::string marker = spelled_marker();
      if (!marker.empty()) {
        why.message += ", and here the marker " + marker +
                       " is written as its token, not spelled";
      }
    }
    emit_preferred();
    damaged = true;
    if (recover && why.code == ErrorCode::kInvalidContent && !followed) {
      lose_the_way(why);
    }
    if (!lost) return give_up(why);
    walker.events().diagnose(why);
  }

  // All that is left is the rest.
  void give_up(const Diagnostic& why) {
    lost.reset();
    failed = true;
    walker.events().diagnose(why);
    walker.cut_off(why);
    emit_rest(false);
  }

  // --- Going on behind what does not fit -------------------------------------

  // Where a tag of triggered_tags or token_triggered_tags does not fit, and
  // where its text is looked at for the next place to go on.
  struct Lost {
    const tag_parser::Resume* resume = nullptr;
    Diagnostic why;
    std::uint32_t counts = 0;
    std::uint32_t node = 0;  // of the automaton
    std::uint64_t at = 0;    // of the next byte
    // Bytes in front of it that may become a trigger.
    std::uint32_t pending() const { return resume->bytes[node]; }
  };

  // REQUIRES: the chosen reading has been told.
  void lose_the_way(const Diagnostic& why) {
    for (std::size_t depth = walker.depth(); depth > 0; --depth) {
      const tag_parser::Resume* resume =
          program.resume_of(walker.format(depth - 1));
      if (resume == nullptr) continue;
      const std::uint32_t counts =
          vm.outer_counts(vm.preferred(), resume->count_depth);
      lost = Lost{resume, why, counts, 0, vm.position()};
      walker.cut_off(why, depth);
      return;
    }
  }

  // Goes on at `places`; what is told up to `end` is the rest.
  void resume_at(std::span<const tag_parser::Pc> places, std::uint64_t end,
                 std::size_t token_bytes) {
    if (end > walker.position()) {
      const std::string_view left = text(walker.position(), end);
      if (keep) rest.append(left);
      walker.rest(left);
    }
    walker.end_rest();
    vm.resume(places, lost->counts, emitted, lost->at, token_bytes);
    lost.reset();
  }

  // One symbol of `bytes`.  Whether reading goes on behind it.
  bool look_at(automata::WordSymbol symbol, std::size_t bytes) {
    const tag_parser::Resume& resume = *lost->resume;
    const automata::AhoCorasick& words = resume.automaton;
    lost->at += bytes;
    std::uint32_t node = words.step(lost->node, symbol);
    // A mark that no word has; or one that has begun a word with a mark.
    if (node == automata::AhoCorasick::kRefused) {
      node = words.step(0, symbol);
    }
    if (node == automata::AhoCorasick::kRefused) node = 0;
    lost->node = node;
    if (words.nodes[node].calls.empty()) return false;
    const std::uint32_t call = words.nodes[node].calls.front();
    if (call >= resume.ends) {
      resume_at({&resume.place, 1}, lost->at, 0);
    } else {
      resume_at(resume.targets[call], lost->at - resume.trigger_bytes[call], 0);
    }
    return true;
  }

  // Looks at the text by its bytes.
  bool find_resume() {
    const std::string_view left = text(lost->at, total());
    for (const char c : left) {
      if (look_at(static_cast<std::uint8_t>(c), 1)) return true;
    }
    return false;
  }

  // Looks at a token by its id.  Whether it was more than its text.
  bool resume_with(const tag_parser::Token& token) {
    const tag_parser::Resume& resume = *lost->resume;
    const std::size_t size = token.text.size();
    const auto target = resume.token_targets.find(token.id);
    if (target != resume.token_targets.end()) {
      const std::uint64_t begin = lost->at;
      lost->at += size;
      resume_at(target->second, begin, size);
      return true;
    }
    if (std::ranges::binary_search(resume.token_ends, token.id)) {
      lost->at += size;
      resume_at({&resume.place, 1}, lost->at, size);
      return true;
    }
    if (token.mark != tag_parser::kNoMark) {
      if (!look_at(automata::mark_symbol(token.mark), size)) emit_rest(false);
      return true;
    }
    if (token.is_text) return false;
    lost->at += size;
    lost->node = 0;
    emit_rest(false);
    return true;
  }

  // The marker that the bytes that do not fit would spell, as JSON; or "".
  std::string spelled_marker() {
    const std::string_view left = text(vm.position(), total());
    if (left.empty()) return "";
    const std::string marker =
        vm.spelled_marker(static_cast<std::uint8_t>(left.front()));
    if (marker.empty()) return "";
    return json::dump(json::Value(marker), {.ascii = false});
  }

  void emit_rest(bool all) {
    std::string_view left = text(walker.position(), total());
    if (!all && lost) left.remove_suffix(lost->pending());
    if (!all) left.remove_suffix(base::begun_character(left));
    if (keep) rest.append(left);
    walker.rest(left);
  }

  void finish() {
    finalized = true;
    if (!failed && !lost &&
        base::begun_character(text(walker.position(), total())) != 0) {
      fail();
    }
    if (failed || lost) {
      emit_rest(true);
      if (lost) walker.cut_off(lost->why);
      walker.end_rest();
      return;
    }
    const bool ends = vm.can_end();
    complete = ends && !damaged;
    emit_preferred();
    if (!ends) {
      const auto at = static_cast<std::size_t>(total());
      const Diagnostic why{
          ErrorCode::kInvalidContent,
          "the response ends too early; expected " + vm.expected(),
          "",
          {at, at}};
      walker.events().diagnose(why);
      walker.cut_off(why);
    }
    walker.events().message().complete = complete;
  }

  json::Value tree() {
    if (!keep) return {};
    const Message& message = walker.events().message();
    json::Array diagnostics;
    for (const Diagnostic& one : message.diagnostics) {
      diagnostics.emplace_back(json::Object{
          {"code", std::string(to_string(one.code))},
          {"message", one.message},
          {"field", one.field.empty() ? json::Value() : json::Value(one.field)},
          {"span", json::Array{static_cast<std::int64_t>(one.bytes.begin),
                               static_cast<std::int64_t>(one.bytes.end)}}});
    }
    return json::Object{{"type", "structural_tag"},
                        {"complete", complete},
                        {"format", walker.tree().root(walker.position())},
                        {"rest", base::to_utf8(rest)},
                        {"diagnostics", std::move(diagnostics)},
                        {"message", message.fields}};
  }

  CompiledTag compiled;
  std::optional<Vocabulary> vocabulary;
  const bool keep;
  const bool recover;
  const std::vector<TokenId> stop_ids;  // sorted
  const tag_parser::TagProgram& program;
  vocab::TokenLog tokens;
  std::vector<Coming> coming;  // in this round
  tag_parser::PikeVm vm;
  tag_parser::TreeWalker walker;
  tag_parser::HistoryId emitted = 0;

  std::string buffer;  // the text behind what has been told, and this round's
  std::uint64_t buffer_begin = 0;
  std::string rest;
  std::size_t prefix_bytes = 0;
  std::size_t prefix_tokens = 0;
  bool initial = true;    // the events are still those of the prefix
  bool ended = false;     // by a stop token
  bool followed = false;  // and something came behind it
  std::optional<Lost> lost;
  bool damaged = false;  // something did not fit
  bool failed = false;   // and all behind it is the rest
  bool finalized = false;
  bool complete = false;
};

TagParser::TagParser(const CompiledTag& compiled,
                     const TagParserOptions& options)
    : state_(std::make_unique<State>(compiled, options)) {
  state_->feed_prefix(options.prefix, options.prefix_ids);
  state_->end_round();
}

TagParser::~TagParser() = default;
TagParser::TagParser(TagParser&&) noexcept = default;
TagParser& TagParser::operator=(TagParser&&) noexcept = default;

std::span<const Event> TagParser::initial_events() const {
  return state_->initial
             ? std::span<const Event>(state_->walker.events().events())
             : std::span<const Event>();
}

std::size_t TagParser::prefix_bytes() const { return state_->prefix_bytes; }

std::span<const Event> TagParser::feed(std::string_view chunk) {
  State& state = *state_;
  state.initial = false;
  state.begin_round();
  if (state.finalized || state.vocabulary) return {};
  state.feed_bytes(chunk);
  state.end_round();
  return state.walker.events().events();
}

std::span<const Event> TagParser::feed_tokens(std::span<const TokenId> ids) {
  State& state = *state_;
  state.initial = false;
  state.begin_round();
  if (state.finalized || !state.vocabulary) return {};
  state.feed_ids(ids);
  state.end_round();
  return state.walker.events().events();
}

std::span<const Event> TagParser::finalize() {
  State& state = *state_;
  state.initial = false;
  state.begin_round();
  if (state.finalized) return {};
  state.finish();
  state.failed = true;  // nothing more is read
  state.end_round();
  return state.walker.events().events();
}

bool TagParser::finalized() const { return state_->finalized; }

const Message& TagParser::message() const {
  return state_->walker.events().message();
}

Message TagParser::take_message() && {
  return std::move(state_->walker.events().message());
}

json::Value TagParser::tree() const { return state_->tree(); }

bool TagParser::complete() const {
  State& state = *state_;
  if (state.failed) return state.complete;
  if (state.damaged) return false;
  const bool can_end = state.vm.can_end();
  state.vm.release();
  return can_end;
}

std::size_t TagParser::held_bytes() const { return held().size(); }

std::string_view TagParser::held() const {
  return state_->text(state_->walker.position(), state_->total());
}

// The events of a part are gone when the next one is read.
json::Value parse_by_tag(const CompiledTag& compiled, std::string_view response,
                         const TagParserOptions& options) {
  TagParser parser(compiled, options);
  for (std::size_t at = 0; at < response.size(); at += kKeptBuffer) {
    parser.feed(response.substr(at, kKeptBuffer));
  }
  parser.finalize();
  return parser.tree();
}

json::Value parse_by_tag(const CompiledTag& compiled,
                         std::span<const TokenId> response,
                         const TagParserOptions& options) {
  TagParser parser(compiled, options);
  for (std::size_t at = 0; at < response.size(); at += kPartTokens) {
    parser.feed_tokens(
        response.subspan(at, std::min(kPartTokens, response.size() - at)));
  }
  parser.finalize();
  return parser.tree();
}

}  // namespace parlance
