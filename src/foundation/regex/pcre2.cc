// The adapter makes five decisions:
//
// Limits.  A match context carries Limits::match_steps and a bound on heap.
//   The JIT counts its steps more coarsely and ignores the heap bound, but it
//   has a stack of fixed size.  When the stack is exhausted, the interpreter,
//   which does not have that limit, repeats the match.
// Not the start.  `not_text_start` is PCRE2_NOTBOL: to_pcre2.cc writes every
//   start of text as "^", which that option stops at offset 0.
// Work.  PCRE2 restarts its step limit at every position where a match may
//   begin, so the limit does not bound a search: for a thousand openers without
//   a closer PCRE2 reads to the end of the text a thousand times.  Therefore a
//   search proceeds in windows.  In a window, PCRE2 finds the first position
//   from which a match depends on text after the window; only that position is
//   tried with larger and larger windows until it is decided.  The bytes of all
//   windows are charged to a budget.
// Optimisations.  Auto-possessification is off: 10.42 takes a loop for one that
//   may not give back what it read although an atomic group after it may match
//   nothing, so a*(?>(?:bc)?)a does not match "a".
// Groups.  PCRE2's numbers are mapped to ours (see to_pcre2.cc).  If
//   several of its groups have one of our numbers, the group that was set last
//   is reported.  That is the group whose match ends last; of two that end at
//   the same position, the group whose parenthesis closes later.

#define PCRE2_CODE_UNIT_WIDTH 8

#include "regex/pcre2.h"

#include <pcre2.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "regex/ast.h"
#include "regex/hir_properties.h"

namespace parlance::regex {
namespace {

constexpr std::uint32_t kHeapKibibytes = 64 * 1024;
constexpr std::size_t kJitStackStart = 32 * 1024;
constexpr std::size_t kJitStackMost = 1024 * 1024;
constexpr std::size_t kWindow = 4096;

struct Free {
  void operator()(pcre2_code* p) const { pcre2_code_free(p); }
  void operator()(pcre2_compile_context* p) const {
    pcre2_compile_context_free(p);
  }
  void operator()(pcre2_match_context* p) const { pcre2_match_context_free(p); }
  void operator()(pcre2_match_data* p) const { pcre2_match_data_free(p); }
  void operator()(pcre2_jit_stack* p) const { pcre2_jit_stack_free(p); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

// The group of the Hir that a group of PCRE2 was written from.
struct Group {
  std::uint32_t number = 0;
  HirId closes{};  // Hir nodes are in the order in which groups close
};

}  // namespace

struct Pcre2::Code {
  Owned<pcre2_code> code;
  bool jit = false;
  std::vector<Group> groups;  // by PCRE2's number
  std::uint32_t group_count = 0;
  std::uint32_t match_steps = 0;
  std::size_t lookbehind_bytes = 0;
};

struct Pcre2::Scratch::State {
  Owned<pcre2_match_data> data;
  Owned<pcre2_match_context> context;
  Owned<pcre2_jit_stack> jit_stack;
  std::vector<HirId> closes;  // by our number: the group it was taken from
};

Pcre2::Pcre2() = default;
Pcre2::~Pcre2() = default;
Pcre2::Pcre2(Pcre2&&) noexcept = default;
Pcre2& Pcre2::operator=(Pcre2&&) noexcept = default;

Result<Pcre2> Pcre2::compile(const Pattern& pattern, const Limits& limits) {
  Owned<pcre2_compile_context> context(pcre2_compile_context_create(nullptr));
  if (!context) {
    return Error{ErrorCode::kTooLarge, "There is no memory for this pattern.",
                 "", Span{0, pattern.source.size()}};
  }
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  pcre2_set_compile_extra_options(context.get(),
                                  PCRE2_EXTRA_ALLOW_SURROGATE_ESCAPES);
  // A repeated group is written with one more parenthesis than it has.
  std::size_t depth = std::min<std::size_t>(limits.pattern_depth, 1000);
  pcre2_set_parens_nest_limit(context.get(),
                              static_cast<std::uint32_t>(2 * depth + 16));
  const std::string text = to_pcre2(pattern.hir, pattern.flavor);
  int error = 0;
  PCRE2_SIZE offset = 0;
  Owned<pcre2_code> compiled(pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_DUPNAMES | PCRE2_NO_START_OPTIMIZE |
          PCRE2_USE_OFFSET_LIMIT | PCRE2_NO_AUTO_POSSESS,
      &error, &offset, context.get()));
  if (!compiled) {
    PCRE2_UCHAR message[256] = {};
    pcre2_get_error_message(error, message, sizeof message);
    return Error{ErrorCode::kUnsupportedPattern,
                 std::string("PCRE2 cannot run this pattern: ") +
                     reinterpret_cast<const char*>(message) + ".",
                 "", Span{0, pattern.source.size()}};
  }

  auto code = std::make_shared<Code>();
  code->jit =
      pcre2_jit_compile(compiled.get(),
                        PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD) == 0;
  code->code = std::move(compiled);
  for (HirId id : pcre2_groups(pattern.hir)) {
    const HirNode& node = pattern.hir.nodes[id];
    code->groups.push_back({code->groups.empty() ? 0 : node.group, id});
  }
  code->group_count = pattern.hir.group_count;
  code->match_steps = limits.match_steps;
  code->lookbehind_bytes = regex::lookbehind_bytes(pattern.hir);
  Pcre2 result;
  result.code_ = std::move(code);
  return result;
}

std::size_t Pcre2::lookbehind_bytes() const { return code_->lookbehind_bytes; }

Pcre2::Scratch::Scratch(const Pcre2& pattern)
    : state_(std::make_unique<State>()) {
  const Code& code = *pattern.code_;
  state_->data.reset(
      pcre2_match_data_create_from_pattern(code.code.get(), nullptr));
  state_->context.reset(pcre2_match_context_create(nullptr));
  if (!state_->data || !state_->context) return;  // no memory: nothing matches
  pcre2_set_match_limit(state_->context.get(), code.match_steps);
  pcre2_set_heap_limit(state_->context.get(), kHeapKibibytes);
  if (!code.jit) return;
  state_->jit_stack.reset(
      pcre2_jit_stack_create(kJitStackStart, kJitStackMost, nullptr));
  pcre2_jit_stack_assign(state_->context.get(), nullptr,
                         state_->jit_stack.get());
}
Pcre2::Scratch::~Scratch() = default;
Pcre2::Scratch::Scratch(Scratch&&) noexcept = default;
Pcre2::Scratch& Pcre2::Scratch::operator=(Scratch&&) noexcept = default;

// One search: the windows in which the text is read, and the budget that they
// are charged to.
class Pcre2::Search {
 public:
  Search(const Code& code, std::string_view subject, std::size_t start,
         const SearchOptions& options, Scratch::State& state)
      : code_(code),
        subject_(subject),
        // PCRE2 takes no null pointer before 10.41.
        text_(
            reinterpret_cast<PCRE2_SPTR>(subject.data() ? subject.data() : "")),
        start_(start),
        options_(options),
        state_(state),
        own_budget_(kFreeBytes + kPasses * (subject.size() - start)),
        budget_(options.bytes_left != nullptr ? *options.bytes_left
                                              : own_budget_) {}

  Found run() {
    if (!state_.data || !state_.context) return {Status::kLimit};
    const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(state_.data.get());
    // Invariant: no match begins in [start, at).
    for (std::size_t at = start_;;) {
      std::size_t end = window_end(at, kWindow);
      int answer = match(at, end, false);
      if (answer == PCRE2_ERROR_NOMATCH) {
        // A match that began in the window and continued after it would have
        // been partial, so no match begins before `end`.
        if (end == subject_.size()) return {};
        at = end;
        continue;
      }
      if (answer == PCRE2_ERROR_PARTIAL && end < subject_.size()) {
        // A match from `offsets[0]` depends on text after the window, and no
        // match begins earlier.
        at = offsets[0];
        answer = decide(at, end);
        if (answer == PCRE2_ERROR_NOMATCH) {
          if (at == subject_.size()) return {};
          do {
            ++at;
          } while (at < subject_.size() && continues_character(at));
          continue;
        }
      }
      if (answer == PCRE2_ERROR_PARTIAL) {
        return {Status::kPartial, offsets[0], 0};
      }
      if (answer < 0) return {Status::kLimit};
      return {Status::kMatch, offsets[0], offsets[1]};
    }
  }

 private:
  // Searches [from, end), with the text before `from` visible to look-behind.
  // With `only`, the match must begin at `from`.  Charges the budget.
  int match(std::size_t from, std::size_t end, bool only) {
    const std::uint64_t cost = end - from + 1;
    if (cost > budget_) {
      budget_ = 0;
      return PCRE2_ERROR_MATCHLIMIT;
    }
    budget_ -= cost;
    // The caller's text is well formed, but may contain surrogates.
    std::uint32_t flags = PCRE2_NO_UTF_CHECK;
    if (options_.more || end < subject_.size()) flags |= PCRE2_PARTIAL_HARD;
    if (options_.not_empty_at_start && from == start_) {
      flags |= PCRE2_NOTEMPTY_ATSTART;
    }
    if (options_.not_text_start) flags |= PCRE2_NOTBOL;
    pcre2_set_offset_limit(state_.context.get(), only ? from : PCRE2_UNSET);
    const auto run = [&](std::uint32_t more_flags) {
      return pcre2_match(code_.code.get(), text_, end, from, flags | more_flags,
                         state_.data.get(), state_.context.get());
    };
    int answer = run(0);
    if (answer == PCRE2_ERROR_JIT_STACKLIMIT) answer = run(PCRE2_NO_JIT);
    if (answer > 0) {
      // PCRE2 read little after the match, so those bytes are refunded.
      const std::size_t seen = pcre2_get_ovector_pointer(state_.data.get())[1];
      budget_ += end - std::min(std::max(seen, from), end);
    }
    return answer;
  }

  // Whether a match begins at `at`, which [at, end) does not decide: windows
  // grow until it is known or the text ends.
  int decide(std::size_t at, std::size_t end) {
    int answer = PCRE2_ERROR_PARTIAL;
    for (std::size_t size = 4 * kWindow;
         answer == PCRE2_ERROR_PARTIAL && end < subject_.size(); size *= 4) {
      end = window_end(at, size);
      answer = match(at, end, true);
    }
    return answer;
  }

  std::size_t window_end(std::size_t from, std::size_t size) const {
    if (subject_.size() - from <= size) return subject_.size();
    std::size_t end = from + size;
    while (continues_character(end)) --end;
    return end;
  }

  bool continues_character(std::size_t at) const {
    return (static_cast<unsigned char>(subject_[at]) & 0xC0) == 0x80;
  }

  const Code& code_;
  std::string_view subject_;
  PCRE2_SPTR text_;
  std::size_t start_;
  const SearchOptions& options_;
  Scratch::State& state_;
  std::uint64_t own_budget_;
  std::uint64_t& budget_;
};

Pcre2::Found Pcre2::search(std::string_view subject, std::size_t start,
                           const SearchOptions& options, Scratch& scratch,
                           std::vector<GroupSpan>* groups) const {
  if (start > subject.size()) return {};
  Scratch::State& state = *scratch.state_;
  const Found found = Search(*code_, subject, start, options, state).run();
  if (groups == nullptr || found.status != Status::kMatch) return found;

  const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(state.data.get());
  groups->assign(code_->group_count + 1, {kUnset, kUnset});
  state.closes.assign(code_->group_count + 1, HirId{});
  for (std::size_t i = 0; i < code_->groups.size(); ++i) {
    const PCRE2_SIZE begin = offsets[2 * i];
    const PCRE2_SIZE end = offsets[2 * i + 1];
    if (begin == PCRE2_UNSET) continue;
    const Group& group = code_->groups[i];
    auto& known = (*groups)[group.number];
    HirId& closes = state.closes[group.number];
    const bool later = known.second == kUnset || end > known.second ||
                       (end == known.second && group.closes > closes);
    if (!later) continue;
    known = {begin, end};
    closes = group.closes;
  }
  return found;
}

}  // namespace parlance::regex
