// Implements parlance/tag_parser.h.
//
//   bytes, tokens --PikeVm--> certain steps, text --TreeWalker--> tree, events
//
// The VM follows all parses that are still possible.  The steps that all of
// them have in common are certain, and so is the text up to the next step of
// any parse.  Both are emitted to the walker at the end of every round, and
// earlier if the history grows.  Text that has been emitted leaves the buffer
// at the beginning of the next round.  Where the steps of few parses differ,
// the events that these parses agree on are emitted ahead (agreement.h).
//
// Where no parse fits, the preferred parse is emitted up to the mismatch.  Then
// the parser searches for a resume point, or emits all that follows as the rest
// (State::Mode).

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/access.h"
#include "base/unwinding.h"
#include "base/utf8.h"
#include "base/white_space.h"
#include "events/stream_host.h"
#include "parlance/message_json.h"
#include "parlance/tag_parser.h"
#include "tag_parser/agreement.h"
#include "tag_parser/pike_vm.h"
#include "tag_parser/program.h"
#include "tag_parser/resume_point.h"
#include "tag_parser/tree_walker.h"
#include "vocab/special_spellings.h"

namespace parlance {
namespace {

// Bytes that the VM reads before the parser checks whether to emit.
constexpr std::size_t kSlice = 4096;
// Bytes of capacity that the buffer may retain after a round.
constexpr std::size_t kMaxRetained = std::size_t{64} << 10;
// The last bytes of the text in which an end of turn is searched, with the
// white space after it.
constexpr std::size_t kTail = 256;
// Tokens that parse_by_tag() feeds at a time.
constexpr std::size_t kBatchTokens = std::size_t{16} << 10;

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
  Error error = structural_tag::in_request(*detail::Access::impl(tag),
                                           std::move(impl).error());
  error.span = std::nullopt;  // which counts bytes of a source text
  return error;
}

std::span<const std::string_view> CompiledTag::fields() const {
  return impl_->regions.fields();
}
std::string_view CompiledTag::field_join(std::size_t index) const {
  return impl_->regions.join(static_cast<std::uint32_t>(index));
}

struct TagParser::State : events::StreamHost<TagParser::State> {
  State(const CompiledTag& p, const StreamOptions& options)
      : StreamHost(options, detail::Access::impl(p)->diagnostics),
        compiled(p),
        recover(options.recover != Recover::kNo),
        program(detail::Access::impl(p)->program(vocabulary.has_value())),
        reads_plainly(!program.names_ordinary && !program.has_tokens &&
                      !program.has_budgets),
        ends(detail::Access::impl(p)->tag->turn_end
                 ? *detail::Access::impl(p)->tag->turn_end
                 : std::vector<std::string>()),
        vm(program, {detail::Access::impl(p)->max_parses,
                     detail::Access::impl(p)->parse_bytes}),
        walker(*detail::Access::impl(compiled), tokens, out,
               {.stream_calls = options.stream_calls,
                .attempts = options.attempts}) {}

  std::uint64_t total() const { return buffer_begin + buffer.size(); }
  std::string_view text(std::uint64_t begin, std::uint64_t end) const {
    return std::string_view(buffer).substr(
        static_cast<std::size_t>(begin - buffer_begin),
        static_cast<std::size_t>(end - begin));
  }
  bool parsing() const { return mode == Mode::kParsing; }

  // --- The host's functions --------------------------------------------------

  void begin_round() {
    const auto gone =
        static_cast<std::size_t>(walker.position() - buffer_begin);
    keep_tail(std::string_view(buffer).substr(0, gone));
    if (gone == buffer.size()) {
      buffer.clear();
    } else {
      buffer.erase(0, gone);
    }
    buffer_begin += gone;
    // The memory of a long chunk is not retained for the next one.
    if (buffer.capacity() > kMaxRetained + 2 * buffer.size()) {
      buffer.shrink_to_fit();
    }
    if (!out.keeps_message) tokens.forget(walker.attempt_begin());
  }

  void read(std::string_view chunk) {
    const base::OnUnwinding failed([&] { fail(); });
    const std::size_t begun = base::begun_character(chunk);
    if (begun != 0 && begun < chunk.size()) {
      reserve(chunk.size());
      feed_bytes(chunk.substr(0, chunk.size() - begun));
      emit_known();
      chunk.remove_prefix(chunk.size() - begun);
    }
    feed_bytes(chunk);
    emit_round();
  }

  void read(std::span<const TokenId> ids) {
    const base::OnUnwinding failed([&] { fail(); });
    if (ids.size() == 1 && feed_certain(ids.front())) return vm.release();
    feed_ids(ids);
    emit_round();
  }

  void read_end() {
    const base::OnUnwinding failed([&] { fail(); });
    finish();
    mode = Mode::kRest;  // the VM reads no more input
    vm.release();
  }

  json::Value fields() const { return walker.events().fields(); }
  std::uint64_t bytes_in() const { return total(); }
  bool turn_ended() const {
    return stopped_last || ended_before_rest || ends_turn(total());
  }

  std::string_view held() {
    const std::string_view unemitted = text(walker.emitted_end(), total());
    all_held = walker.events().held().text();
    return all_held.empty() ? unemitted : all_held.append(unemitted);
  }

  // ---------------------------------------------------------------------------

  // Adds text that leaves the buffer to the tail.
  void keep_tail(std::string_view gone) {
    if (ends.empty()) return;
    tail.append(gone.substr(gone.size() - std::min(gone.size(), kTail)));
    if (tail.size() > 4 * kTail) tail.erase(0, tail.size() - kTail);
  }

  // Whether the last of the text before `position`, white space apart, is an
  // end of turn.
  bool ends_turn(std::uint64_t position) const {
    if (ends.empty()) return false;
    const std::string_view now = text(buffer_begin, position);
    std::string last = tail;
    last.append(now.substr(now.size() - std::min(now.size(), kTail)));
    std::string_view seen = last;
    seen.remove_prefix(seen.size() - std::min(seen.size(), kTail));
    seen = base::without_space_after(seen);
    return std::ranges::any_of(ends, [&](const std::string& end) {
      return seen.ends_with(base::without_space_after(end));
    });
  }

  // Emits what is known after the text so far.  Inside a character nothing is
  // emitted.  So that what is held does not depend on the cuts, this is called
  // where the last character begins that is not whole, and at the end of each
  // round.
  void emit_known() {
    if (!parsing()) return;
    emit_certain();
    if (vm.has_few_parses()) emit_agreement();
  }

  void emit_round() {
    emit_known();
    vm.release();
  }

  // There was no memory: the VM is not used again.
  void fail() {
    vm.release();
    mode = Mode::kRest;
    complete = false;
  }

  // --- Reading ---------------------------------------------------------------

  void feed_bytes(std::string_view bytes) {
    buffer.append(bytes);
    read_buffer();
  }

  // Reads, by its bytes, the part of the buffer that has not been read.  Each
  // iteration handles one slice in the current mode; a mismatch and a resume
  // point change the mode.
  void read_buffer() {
    for (;;) {
      if (mode == Mode::kRest) return emit_rest(false);
      if (mode == Mode::kRecovering && !find_resume_point()) {
        return emit_rest(false);
      }
      const std::string_view left = text(vm.position(), total());
      if (left.empty()) return;
      std::size_t size = std::min(left.size(), kSlice);
      if (size < left.size()) {
        size -= base::begun_character(left.substr(0, size));
      }
      const std::size_t read = vm.feed(left.substr(0, size));
      if (read < size && !vm.paused()) {
        on_mismatch();
      } else if (vm.wants_compaction()) {
        emit_certain();
      }
    }
  }

  // Reads a token by its id or its bytes.  A token that does not fit is in the
  // buffer, and read_buffer() reads what is left of it after the mismatch.
  void feed_token(const tag_parser::Token& token) {
    buffer.append(token.text);
    tokens.add(token.id, total());
    stopped_last = false;
    if (mode == Mode::kRest) return emit_rest(false);
    text_after_stop = stopped;
    const std::uint64_t begin = total() - token.text.size();
    if (parsing()) {
      std::size_t read = 0;
      if (!stopped && vm.feed_token(token, read)) {
        ended = ended || ends_turn(token);
        if (vm.wants_compaction()) emit_certain();
        return;
      }
      on_mismatch();
    } else if (stopped) {
      const auto at = static_cast<std::size_t>(begin);
      return give_up({ErrorCode::kInvalidContent,
                      std::string(kNothingMayFollow),
                      "",
                      {at, at}});
    }
    if (mode != Mode::kRecovering) return;
    // The token that does not fit may itself be where parsing resumes.
    if (recovery->search.position() == begin && resume_with(token)) return;
    read_buffer();
  }

  // A token of the input, and whether the vocabulary has its id.
  struct InputToken {
    tag_parser::Token token;
    bool known = true;
  };

  // The text of an id, and how it may be read.
  InputToken token_of(TokenId id) const {
    InputToken input;
    tag_parser::Token& token = input.token;
    token.id = id;
    const TokenKind kind = vocabulary->kind(id);
    // The common case: an ordinary token, and a tag that names none.
    if (kind == TokenKind::kOrdinary && !program.names_ordinary) {
      token.text = vocabulary->bytes(id);
      return input;
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
    input.known = kind != TokenKind::kUnused;
    if (!input.known) token.text = base::kReplacement;
    return input;
  }

  // A stop token is not text, except where the tag names it.  If the response
  // may end before the token, but not with it, then it ends there: masks let
  // the token through as a stop token.  Returns whether the token was read.
  bool feed_stop(const tag_parser::Token& input) {
    if (is_padding(input)) {
      tokens.add(input.id, total());
      return true;
    }
    if (stopped || !is_stop(input.id)) return false;
    tag_parser::Token token = input;
    token.is_text = false;
    token.is_any = false;
    ended = true;
    const auto reads = [&] {
      if (vm.can_end()) return vm.feed_last_token(token);
      std::size_t read = 0;
      return vm.feed_token(token, read);
    };
    if (!parsing() || !reads()) {
      stopped = true;
      token.text = {};
    }
    buffer.append(token.text);
    tokens.add(token.id, total());
    if (parsing() && vm.wants_compaction()) emit_certain();
    stopped_last = true;
    return true;
  }

  bool ends_turn(const tag_parser::Token& token) const {
    return token.mark != tag_parser::kNoMark &&
           std::ranges::any_of(ends, [&](const std::string& text) {
             return text.ends_with(token.text);
           });
  }

  // Whether the token stands after the end of the turn and is no text: white
  // space, one more end of turn, or the padding of a batch.
  bool is_padding(const tag_parser::Token& token) const {
    if (!ended || !parsing() ||
        !detail::Access::impl(compiled)->tag->turn_end) {
      return false;
    }
    if (vocabulary->kind(token.id) == TokenKind::kControl) {
      return stopped || token.mark == tag_parser::kNoMark;
    }
    return stopped && base::is_blank(token.text);
  }

  void feed_input(const InputToken& input) {
    const tag_parser::Token& token = input.token;
    if (feed_stop(token)) return;
    if (!input.known) {
      out.diagnose(vocab::unknown_token(tokens.size() - prefix_tokens, token.id,
                                        total()));
    }
    feed_token(token);
  }

  // Events point into the buffer, so it must not move during the round.
  void feed_ids(std::span<const TokenId> ids) {
    if (ids.size() == 1) {
      const InputToken input = token_of(ids.front());
      reserve(input.token.text.size());
      return feed_input(input);
    }
    std::size_t size = 0;
    for (const TokenId id : ids) size += token_of(id).token.text.size();
    reserve(size);
    const std::size_t whole = before_character(ids);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (i == whole) emit_known();
      feed_input(token_of(ids[i]));
    }
  }

  // How many of the ids come before the token with which a character begins
  // that the last ids leave unfinished.
  std::size_t before_character(std::span<const TokenId> ids) const {
    constexpr std::size_t kMostBegun = 3;  // bytes
    for (;;) {
      std::string last;
      std::size_t at = ids.size();
      while (at > 0 && last.size() < kMostBegun) {
        last.insert(0, token_of(ids[--at]).token.text);
      }
      std::size_t begun = base::begun_character(last);
      if (begun == 0) return ids.size();
      for (at = ids.size(); begun > 0; --at) {
        begun -= std::min(begun, token_of(ids[at - 1]).token.text.size());
      }
      ids = ids.first(at);
    }
  }

  // Reads one token, the whole input of a round, if it is an ordinary one whose
  // bytes are certain as soon as they are read.  Then one event, or none, has
  // all of its text, which is that of the vocabulary.  Returns false, and does
  // nothing, otherwise.
  bool feed_certain(TokenId id) {
    if (!reads_plainly || !buffer.empty() || !parsing() || stopped ||
        vocabulary->kind(id) != TokenKind::kOrdinary ||
        (stops_on_text && is_stop(id))) {
      return false;
    }
    const std::string_view bytes = vocabulary->bytes(id);
    if (!vm.feed_certain(bytes, emitted)) return false;
    keep_tail(bytes);
    stopped_last = false;
    buffer_begin += bytes.size();
    tokens.add(id, buffer_begin);
    walker.text(bytes);
    return true;
  }

  // Makes room for `size` more bytes in the buffer.
  void reserve(std::size_t size) {
    if (buffer.capacity() - buffer.size() < size) {
      buffer.reserve(buffer.size() + size);
    }
  }

  // The spelling of a special token in the prefix means the token where the
  // token may come, the longest first; elsewhere it is text.  Returns whether
  // it was the token.
  bool feed_spelled(TokenId id) {
    if (!parsing()) return false;
    tag_parser::Token token = token_of(id).token;
    token.text = vocabulary->spelling(id);
    token.is_text = false;
    std::size_t read = 0;
    if (!vm.feed_token(token, read)) return false;
    buffer.append(token.text);
    tokens.add(id, total());
    return true;
  }

  void feed_text_prefix(std::string_view prefix) {
    const vocab::SpecialSpellings spelled(*vocabulary,
                                          vocabulary->special_ids());
    while (const auto found = spelled.find(prefix, 0)) {
      feed_bytes(prefix.substr(0, found->at));
      prefix.remove_prefix(found->at);
      std::optional<TokenId> id = found->id;
      std::size_t length = 0;
      do {
        length = vocabulary->spelling(*id).size();
        if (feed_spelled(*id)) break;
        id = spelled.at(prefix, length - 1);
      } while (id);
      if (!id) feed_bytes(prefix.substr(0, length = 1));
      prefix.remove_prefix(length);
    }
    feed_bytes(prefix);
  }

  // What the tag says is written comes first.
  void feed_prefix(std::string_view prefix, std::span<const TokenId> ids) {
    if (!vocabulary) ids = {};
    if (!ids.empty()) prefix = {};
    std::string text = detail::Access::impl(compiled)->tag->prefix;
    text += prefix;
    // Events point into the buffer, so it must not move during the round.
    std::size_t size = text.size();
    for (const TokenId id : ids) size += token_of(id).token.text.size();
    buffer.reserve(size);
    if (vocabulary && !text.empty()) {
      feed_text_prefix(text);
    } else {
      feed_bytes(text);
    }
    for (const TokenId id : ids) feed_token(token_of(id).token);
    prefix_bytes = total();
    prefix_tokens = tokens.size();
  }

  // --- Emitting --------------------------------------------------------------

  // Whether `text` ends inside a character.
  static bool in_character(std::string_view text) {
    return !text.empty() && static_cast<std::uint8_t>(text.back()) >= 0x80 &&
           base::begun_character(text) != 0;
  }

  // The end of the last character that ends in the text from `begin` to `end`.
  // A format of tokens may end inside a character; what is certain does not.
  std::uint64_t whole_characters(std::uint64_t begin, std::uint64_t end) const {
    if (end <= begin) return begin;
    const std::string_view part = text(begin, end);
    return in_character(part) ? end - base::begun_character(part) : end;
  }

  void emit_text(std::uint64_t end) {
    walker.text(text(walker.position(), end));
  }

  // Emits the steps after the last one that was emitted, up to `step`.
  void emit_steps(tag_parser::HistoryId step) {
    const tag_parser::History& history = vm.history();
    steps.clear();
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

  // Emits the steps that all parses have in common, and then the text up to the
  // first position at which some parse has another step.  Emits nothing inside
  // a character, so that the parser can go back to the beginning of a character
  // that does not fit.
  void emit_certain() {
    const std::uint64_t position = vm.position();
    if (in_character(text(walker.position(), position))) return;
    const tag_parser::PikeVm::Certain certain = vm.certain();
    emit_steps(certain.step);
    emit_text(whole_characters(walker.position(), certain.end));
    if (!vm.wants_compaction()) return;
    emitted = vm.compact_history(certain.step);
    followed.clear();
  }

  // Emits the events that all parses agree on although their steps differ.
  void emit_agreement() {
    const std::uint64_t position = vm.position();
    if (walker.emitted_end() == position ||
        in_character(text(walker.emitted_end(), position))) {
      return;
    }
    vm.open_parses(parses);
    if (follow_text()) return;
    const tag_parser::Agreement agreement = find_agreement(
        *detail::Access::impl(compiled), vm.history(), walker, emitted, parses);
    if (agreement.opening && !walker.opened_ahead()) {
      walker.open_ahead(agreement.opening->format,
                        agreement.opening->delimiter);
    }
    if (agreement.texts.empty()) return;
    // The bytes of a character may be in several texts.
    const std::uint64_t whole =
        whole_characters(walker.emitted_end(), agreement.texts.back().end);
    for (const auto& [is_value, begin, end] : agreement.texts) {
      emit_ahead(std::max(begin, walker.emitted_end()), std::min(end, whole),
                 is_value);
    }
    if (!agreement.goes_on) return;
    followed_from = emitted;
    followed_value = agreement.texts.back().is_value;
    for (const tag_parser::OpenParse& parse : parses) {
      followed.push_back(parse.step);
    }
  }

  void emit_ahead(std::uint64_t begin, std::uint64_t end, bool is_value) {
    if (begin < end) walker.text_ahead(text(begin, end), begin, is_value);
  }

  // The common case: no parse has had a step since the last agreement, in which
  // they all ended with the same text.  Returns false, and emits nothing,
  // otherwise.
  bool follow_text() {
    const bool same =
        emitted == followed_from &&
        std::equal(
            parses.begin(), parses.end(), followed.begin(), followed.end(),
            [](const auto& parse, auto step) { return parse.step == step; });
    if (!same) {
      followed.clear();
      return false;
    }
    std::uint64_t end = vm.position();
    for (const auto& parse : parses) end = std::min(end, parse.end);
    const std::uint64_t begin = walker.emitted_end();
    emit_ahead(begin, whole_characters(begin, end), followed_value);
    return true;
  }

  // Emits the preferred parse up to the current position.
  void emit_preferred() { emit_parse(vm.preferred()); }

  void emit_parse(const tag_parser::Thread& parse) {
    emit_steps(parse.history);
    const std::uint64_t position = vm.position();
    if (position > walker.position()) emit_text(position);
  }

  // Emits text as the rest.  Unless `all`, the end of the text is held back if
  // it may become a trigger or a complete character.
  void emit_rest(bool all) {
    std::string_view left = text(walker.position(), total());
    if (!all && mode == Mode::kRecovering) {
      left.remove_suffix(recovery->search.pending());
    }
    if (!all) left.remove_suffix(base::begun_character(left));
    if (out.keeps_message) rest.append(left);
    walker.rest(left);
  }

  // --- After a mismatch ------------------------------------------------------

  // The text does not fit the tag at the position of the VM: goes back to the
  // beginning of a character that is not complete, makes the diagnostic, emits
  // the preferred parse, and then starts a recovery or gives up.
  void on_mismatch() {
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
          "CompiledTagOptions::max_parses or parse_bytes allow";
    } else if (vm.out_of_memory()) {
      why.code = ErrorCode::kTooLarge;
      why.message = "reading the text needs more than GrammarLimits::bytes";
    } else if (text_after_stop) {
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
    had_mismatch = true;
    ended_before_rest = vm.can_end() && ends_turn(vm.position());
    if (recover && why.code == ErrorCode::kInvalidContent && !text_after_stop) {
      start_recovery(why);
    }
    if (mode != Mode::kRecovering) return give_up(why);
    out.diagnose(why);
  }

  // Leaves all formats.  All text from here on is the rest.
  void give_up(const Diagnostic& why) {
    recovery.reset();
    mode = Mode::kRest;
    out.diagnose(why);
    walker.cut_off(why, CallStatus::kMalformed);
    emit_rest(false);
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

  struct Recovery {
    tag_parser::ResumeSearch search;
    tag_parser::CountsId counts;  // that enclose the free text
    Diagnostic mismatch;
  };

  // Searches for a resume point of the innermost open format that has one.
  // REQUIRES: the preferred parse has been emitted.
  void start_recovery(const Diagnostic& why) {
    for (std::size_t depth = walker.depth(); depth > 0; --depth) {
      const tag_parser::ResumePoint* point =
          program.resume_point(walker.format(depth - 1));
      if (point == nullptr) continue;
      const tag_parser::CountsId counts =
          vm.outer_counts(vm.preferred(), point->count_depth);
      recovery = Recovery{{*point, vm.position()}, counts, why};
      mode = Mode::kRecovering;
      walker.cut_off(why, CallStatus::kMalformed, depth);
      return;
    }
  }

  // Parsing resumes; the text before it that was not emitted is the rest.
  void resume_at(const tag_parser::ResumeSearch::Match& match) {
    if (match.rest_end > walker.position()) {
      const std::string_view left = text(walker.position(), match.rest_end);
      if (out.keeps_message) rest.append(left);
      walker.rest(left);
    }
    walker.end_rest();
    followed.clear();
    vm.resume(match.starts, recovery->counts, emitted,
              recovery->search.position(), match.token_bytes);
    recovery.reset();
    mode = Mode::kParsing;
    ended_before_rest = false;
  }

  // Searches the text by its bytes.  Returns whether parsing resumes.
  bool find_resume_point() {
    const auto match =
        recovery->search.scan_bytes(text(recovery->search.position(), total()));
    if (match) resume_at(*match);
    return match.has_value();
  }

  // Searches a token by its id.  Returns whether the token was consumed.
  bool resume_with(const tag_parser::Token& token) {
    const auto [consumed, match] = recovery->search.scan_token(token);
    if (match) {
      resume_at(*match);
    } else if (consumed) {
      emit_rest(false);
    }
    return consumed;
  }

  // --- The end ---------------------------------------------------------------

  void finish() {
    // Only formats of tokens can end inside a character.
    if (parsing() && !vm.can_end() &&
        base::begun_character(text(walker.position(), total())) != 0) {
      on_mismatch();
    }
    if (!parsing()) {
      emit_rest(true);
      if (recovery) {
        walker.cut_off(recovery->mismatch, CallStatus::kMalformed);
      }
      walker.end_rest();
      return;
    }
    const bool can_end = vm.can_end();
    complete = can_end && !had_mismatch;
    emit_parse(vm.preferred_of_cut());
    if (!can_end) {
      const auto at = static_cast<std::size_t>(total());
      const Diagnostic why{
          ErrorCode::kInvalidContent,
          "the response ends too early; expected " + vm.expected(),
          "",
          {at, at}};
      out.diagnose(why);
      walker.cut_off(why, CallStatus::kCutOff);
    }
    out.message.complete = complete;
  }

  json::Value tree() {
    if (!out.keeps_message) return {};
    json::Array diagnostics;
    for (const Diagnostic& one : message().diagnostics) {
      diagnostics.push_back(to_json(one));
    }
    return json::Object{{"type", "structural_tag"},
                        {"complete", complete},
                        {"format", walker.tree().root(walker.position())},
                        {"rest", base::to_utf8(rest)},
                        {"diagnostics", std::move(diagnostics)},
                        {"message", message().fields}};
  }

  // kParsing: the VM reads the input.  kRecovering: after a mismatch, the
  // search of `recovery` reads it.  kRest: nothing reads it; all of it is the
  // rest.
  enum class Mode : std::uint8_t { kParsing, kRecovering, kRest };

  CompiledTag compiled;
  const bool recover;
  const tag_parser::TagProgram& program;
  // Ordinary tokens are read by their bytes, and no text counts them.
  const bool reads_plainly;
  const std::vector<std::string> ends;  // of the turn
  tag_parser::PikeVm vm;
  tag_parser::TreeWalker walker;
  tag_parser::HistoryId emitted;              // the last step that was emitted
  std::vector<tag_parser::HistoryId> steps;   // of emit_steps()
  std::vector<tag_parser::OpenParse> parses;  // of emit_agreement()
  // The last steps of the parses that agreed on a text that goes on, the last
  // step that was emitted then, and whether the text is that of a value.
  std::vector<tag_parser::HistoryId> followed;
  tag_parser::HistoryId followed_from;
  bool followed_value = false;

  // The text that has not been emitted, and the text of this round.
  std::string buffer;
  std::uint64_t buffer_begin = 0;
  std::string rest;
  std::string tail;              // text before the buffer, at least kTail of it
  std::string all_held;          // what held() returns
  bool stopped = false;          // by a stop token
  bool ended = false;            // a stop token or an end of turn has come
  bool text_after_stop = false;  // a token came after the stop token
  bool stopped_last = false;     // none that is text came after a stop token
  bool ended_before_rest = false;  // the turn had ended where text did not fit
  Mode mode = Mode::kParsing;
  std::optional<Recovery> recovery;  // kRecovering
  bool had_mismatch = false;
  bool complete = false;
};

TagParser::TagParser(const CompiledTag& compiled, const StreamOptions& options)
    : state_(std::make_unique<State>(compiled, options)) {
  state_->feed_prefix(options.prefix, options.prefix_ids);
  state_->emit_round();
  state_->out.end_attempts();
}

TagParser::~TagParser() = default;
TagParser::TagParser(TagParser&&) noexcept = default;
TagParser& TagParser::operator=(TagParser&&) noexcept = default;

std::span<const Event> TagParser::initial_events() const {
  return state_->initial_events();
}
std::size_t TagParser::prefix_bytes() const {
  return static_cast<std::size_t>(state_->prefix_bytes);
}
std::span<const Event> TagParser::feed(std::string_view chunk) {
  return state_->feed(chunk);
}
std::span<const Event> TagParser::feed_tokens(std::span<const TokenId> ids) {
  return state_->feed_tokens(ids);
}
std::span<const Event> TagParser::finalize() { return state_->finalize(); }
bool TagParser::finalized() const { return state_->stage.finalized(); }
bool TagParser::reads_tokens() const { return state_->reads_tokens(); }
const Error* TagParser::misuse() const { return state_->stage.misuse(); }
const Message& TagParser::message() const { return state_->message(); }
Message TagParser::take_message() && { return std::move(state_->message()); }
TokenCounts TagParser::tokens() const { return state_->counts(); }
std::size_t TagParser::held_bytes() const { return held().size(); }
std::string_view TagParser::held() const { return state_->held(); }

json::Value TagParser::tree() const { return state_->tree(); }

bool TagParser::complete() const {
  State& state = *state_;
  if (state.mode == State::Mode::kRest) return state.complete;
  if (state.had_mismatch) return false;
  const base::OnUnwinding unlock([&] { state.vm.release(); });
  const bool can_end = state.vm.can_end();
  state.vm.release();
  return can_end;
}

// Feeds parts, so that the events of a part are freed before the next one.
json::Value parse_by_tag(const CompiledTag& compiled, std::string_view response,
                         const StreamOptions& options) {
  TagParser parser(compiled, options);
  for (std::size_t at = 0; at < response.size(); at += kMaxRetained) {
    parser.feed(response.substr(at, kMaxRetained));
  }
  parser.finalize();
  return parser.tree();
}

json::Value parse_by_tag(const CompiledTag& compiled,
                         std::span<const TokenId> response,
                         const StreamOptions& options) {
  TagParser parser(compiled, options);
  for (std::size_t at = 0; at < response.size(); at += kBatchTokens) {
    parser.feed_tokens(
        response.subspan(at, std::min(kBatchTokens, response.size() - at)));
  }
  parser.finalize();
  return parser.tree();
}

}  // namespace parlance
