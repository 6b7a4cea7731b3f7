#ifndef PARLANCE_SRC_REGEX_PCRE2_H_
#define PARLANCE_SRC_REGEX_PCRE2_H_

// The adapter to PCRE2, which runs the patterns that are not regular.
//
// A search reads `subject` from `start`; the text before `start` is visible to
// look-behind and word boundaries.  With `more` set, the end of
// the subject is not the end of the text: if a match depends on text after the
// subject, the result is kPartial, so a kMatch is final (PCRE2_PARTIAL_HARD).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/error.h"
#include "parlance/limits.h"
#include "regex/pattern.h"

namespace parlance::regex {

// Immutable after compile; safe to share between threads.
class Pcre2 {
 public:
  static Result<Pcre2> compile(const Pattern& pattern,
                               const Limits& limits = {});
  ~Pcre2();
  Pcre2(Pcre2&&) noexcept;
  Pcre2& operator=(Pcre2&&) noexcept;

  enum class Status : std::uint8_t { kNone, kMatch, kPartial, kLimit };

  // Of a group.  A stream may be longer than the address space, so positions in
  // one, which callers turn these offsets into, have 64 bits everywhere.
  using GroupSpan = std::pair<std::uint64_t, std::uint64_t>;
  static constexpr std::uint64_t kUnset = ~std::uint64_t{0};

  // Scratch of one thread.
  class Scratch {
   public:
    explicit Scratch(const Pcre2& pattern);
    ~Scratch();
    Scratch(Scratch&&) noexcept;
    Scratch& operator=(Scratch&&) noexcept;

   private:
    friend class Pcre2;
    struct State;
    std::unique_ptr<State> state_;
  };

  struct Found {
    Status status = Status::kNone;
    std::size_t begin = 0;  // kMatch, kPartial
    std::size_t end = 0;    // kMatch
  };

  struct SearchOptions {
    bool more = false;                // the text continues after the subject
    bool not_empty_at_start = false;  // no empty match at `start`
    // The subject is not the beginning of the text: ^ and \A fail at offset 0.
    bool not_text_start = false;
    // The bytes that searches may still read; each search subtracts the bytes
    // that it has read.  Null: one search may read kFreeBytes and kPasses times
    // the rest of the subject.
    std::uint64_t* bytes_left = nullptr;
  };
  static constexpr std::uint64_t kFreeBytes = std::uint64_t{1} << 24;
  static constexpr std::uint64_t kPasses = 64;

  // Offsets are in bytes of `subject`.  After kMatch, `groups`, unless it is
  // null, contains the span of the match at index 0 and the span of each group,
  // or {kUnset, kUnset} for a group that took no part in the match.  If two
  // groups have the same name, the span is that of the group that is set.
  // kLimit: the step limit or the budget was exceeded; the search is undecided.
  Found search(std::string_view subject, std::size_t start,
               const SearchOptions& options, Scratch& scratch,
               std::vector<GroupSpan>* groups) const;

  // The number of characters that a match may read before its start, times 4
  // (the most bytes of a character).
  std::size_t lookbehind_bytes() const;

 private:
  Pcre2();
  struct Code;
  class Search;
  std::shared_ptr<const Code> code_;
};

}  // namespace parlance::regex

#endif  // PARLANCE_SRC_REGEX_PCRE2_H_
