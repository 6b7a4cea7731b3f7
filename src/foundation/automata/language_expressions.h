#ifndef PARLANCE_SRC_AUTOMATA_LANGUAGE_EXPRESSIONS_H_
#define PARLANCE_SRC_AUTOMATA_LANGUAGE_EXPRESSIONS_H_

// Extended regular expressions and their derivatives, for language.h.
//
// Three interned tables; each entry refers to earlier entries only:
//
//   Trie   the remaining bytes of one character, as ranges
//   Item   a piece of a pattern without its continuation: [a-z]+, (?=x), ^
//   Expr   a set of texts: an item followed by another Expr (its
//          continuation), or a boolean combination
//
//   (a|b{2,3})c    Or{ Char a . X,  Repeat b 2..3 . X }    X = Char c . Empty
//   (?!a).*        And{ Not{ Char a . True },  Repeat . 0..inf . Empty }
//
// An Expr describes the rest of the text, so a look-ahead is the And of its
// condition and the continuation.  Assertions on the previous character (^, \b)
// stay in an Expr only until that character is known: resolve() replaces them.
//
// Negations are pushed inward: Not applies only to Char, Repeat, Empty and
// Assert.

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "automata/language.h"
#include "base/byte_set.h"
#include "base/fingerprint.h"
#include "base/id.h"
#include "parlance/error.h"
#include "regex/char_class.h"
#include "regex/hir.h"

namespace parlance::automata {

using TrieId = base::Id<struct TrieTag>;
using ItemId = base::Id<struct Item>;
using ExprId = LanguageId;  // a language is its expression

inline constexpr TrieId kTrieEnd{0};  // the character is complete
inline constexpr ItemId kNoItem{0};   // matches nothing
inline constexpr ItemId kEmptyItem{1};
inline constexpr ExprId kNoText{0};
inline constexpr ExprId kEmptyText{1};
inline constexpr ExprId kAnyText{2};
inline constexpr std::uint32_t kNoPlain = 0xFFFFFFFF;
inline constexpr std::uint64_t kInfinite = 0xFFFFFFFFFFFFFFFF;

// Arithmetic on lengths, which saturates at kInfinite.
inline std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  return a > kInfinite - b ? kInfinite : a + b;
}
inline std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) {
  if (a == 0 || b == 0) return 0;
  return a > kInfinite / b ? kInfinite : a * b;
}

// The characters that nearly every `.` and every negated class contains: all
// but the control characters below U+0020 and the line ends U+0085, U+2028 and
// U+2029.  Inside a JSON string, few tokens have another one unescaped.
const regex::CharClass& plain_chars();

// The character before the text that an expression describes.
enum class PreviousChar : std::uint8_t { kStart, kWord, kNewline, kOther };

struct TrieEdge {
  std::uint8_t low = 0;
  std::uint8_t high = 0;
  TrieId next = kTrieEnd;
};

// What is known of the ASCII characters in the members of a set of texts.
struct AsciiChars {
  using Set = std::bitset<128>;
  Set in_all = {};           // in every member
  Set in_one = Set{}.set();  // at least those of a shortest member
};

enum class ItemKind : std::uint8_t {
  kNothing,
  kEmpty,
  kChar,
  kConcat,
  kAlternation,
  kRepeat,
  kLook,
  kAssert,
};

struct Item {
  ItemKind kind = ItemKind::kNothing;
  bool negative = false;
  bool nullable = false;
  bool conditional = false;  // has a look or an assertion anywhere
  bool alike = true;         // as Expr::alike
  bool context = false;      // may begin with an assertion on PreviousChar
  regex::Assertion assertion = regex::Assertion::kTextStart;
  TrieId trie = kTrieEnd;
  std::uint32_t min = 0, max = 0;  // kRepeat
  std::uint32_t depth = 0;         // of nesting
  std::uint32_t front = 0;         // depth of recursion of its derivative
  std::uint64_t unrolled = 1;      // items that one build() may visit
  std::uint64_t min_chars = 0, max_chars = 0;
  std::uint64_t most_needed = 0;  // as Expr::most_needed, unless conditional
  AsciiChars ascii = {};          // unless conditional
  base::Fingerprint fingerprint = {};
  std::vector<ItemId> children = {};
};

enum class ExprKind : std::uint8_t {
  kFalse,
  kEmpty,
  kTrue,
  kChar,    // trie `a`, then `b`
  kRepeat,  // item `a` `min`..`max` times, then `b`
  kAssert,  // assertion `a` here, and `b`
  kOr,
  kAnd,
  kNot,  // `b`
};

// The operand that changes nothing in an Or or And, and the one that decides
// it.
constexpr ExprId neutral_in(ExprKind list) {
  return list == ExprKind::kOr ? kNoText : kAnyText;
}
constexpr ExprId absorbing_in(ExprKind list) {
  return list == ExprKind::kOr ? kAnyText : kNoText;
}

struct Expr {
  ExprKind kind = ExprKind::kFalse;
  // Contains the empty text; meaningless with `context`.
  bool nullable = false;
  // Depends on the previous character, so resolve() changes it.
  bool context = false;
  // Contains no And, no Not and no conditional item.  So the expression and
  // all its derivatives are False or not empty, and min_chars is attained.
  bool positive = false;
  // Known to be not empty; infinite; the complement of a finite set.
  bool live = false;
  bool infinite = false;
  bool cofinite = false;
  // Whatever follows a member, the whole is a member: L = L . any text.
  bool extends = false;
  // Every prefix of a member is a member.  So an expression that is not empty
  // contains the empty text, and a conjunction of such expressions contains
  // a text if each of them does.  Derivatives have the property, too.
  bool prefix_closed = false;
  // All characters of plain_chars() beyond ASCII have the same derivative.
  bool alike = true;
  std::uint32_t a = 0;
  ExprId b = {};
  std::uint32_t min = 0, max = 0;
  std::uint32_t depth = 0;             // of recursion of derive()
  std::uint32_t first = 0, count = 0;  // kOr, kAnd: operands
  // kRepeat: the expansion; kOr, kAnd: the negation.  kNoText: not made yet.
  ExprId other_form = kNoText;
  std::uint64_t min_chars = 0, max_chars = 0;  // bounds on every member
  // An upper bound on the characters of the shortest member, of the expression
  // and of each of its derivatives that has one.  A character that has begun
  // counts as one.
  std::uint64_t most_needed = kInfinite;
  // An upper bound on the characters of the shortest member that is plain text,
  // of plain_chars() alone; kNoPlain if there is none, or if the expression
  // does not show it.
  std::uint32_t min_plain = 0;
  // A guess at the distance to the nearest member.  Like min_chars, but the
  // operands of an And add up.
  std::uint32_t effort = 0;
  // in_one: of a member of min_chars characters if `positive`, else of any.
  AsciiChars ascii = {};
  // Of everything that defines the expression, by content: the same in all
  // tables.
  base::Fingerprint fingerprint = {};
};

class Expressions {
 public:
  Expressions();

  // Classes and items (language_items.cc).
  TrieId trie(const regex::CharClass& set);
  TrieId trie_of(char32_t c);
  Result<ItemId> from_hir(const regex::Hir& hir, std::size_t max_size);
  // The item as it matches after the start of the text: \A fails.
  ItemId not_at_start(ItemId item);
  ItemId any_char() const { return any_item_; }
  // Whether the item is a class that contains all of plain_chars().
  bool contains_plain(ItemId item) const {
    return items_[item].kind == ItemKind::kChar &&
           plain_[items_[item].trie] == Plain::kAll;
  }

  // Constructors (language_expressions.cc).
  ExprId character(TrieId trie, ExprId rest);
  ExprId repeat(ItemId item, std::uint32_t min, std::uint32_t max, ExprId rest);
  ExprId any_of(std::vector<ExprId> operands);
  ExprId all_of(std::vector<ExprId> operands);
  ExprId negate(ExprId expr);
  ExprId text(std::string_view string, ExprId rest);
  ExprId strings(std::vector<std::string_view> sorted);
  // strings() without one of them; nothing if `expr` is no trie of strings.
  std::optional<ExprId> without(ExprId expr, std::string_view string);

  // See Languages::counted().
  struct Counted {
    ExprId expr = kNoText;
    std::uint64_t min_chars = 0;
    std::uint64_t max_chars = kInfinite;
  };
  Counted counted(ExprId expr);
  Counted without_bounds(ExprId expr);

  // Meaning (language_derive.cc).
  ExprId build(ItemId item, ExprId rest);
  ExprId resolve(ExprId expr, PreviousChar before);
  // The derivative by `byte`: all t with byte t in `expr`.
  // REQUIRES: !context of `expr`.  The result may have context.
  ExprId derive(ExprId expr, std::uint8_t byte);
  // A byte whose derivative seems to be nearer to a member, as Expr::effort has
  // it.  Nothing if the expression does not show one.
  // Complexity: O(depth of the expression * operands at each).
  std::optional<std::uint8_t> nearest_byte(ExprId expr);
  // Byte classes: adds b if the derivatives by b - 1 and b may differ.
  void boundaries(ExprId expr, base::ByteSet& out);

  // The expression here that is `expr` of `from`; what was copied is known.
  struct Copies {
    std::unordered_map<TrieId, TrieId> tries;
    std::unordered_map<ItemId, ItemId> items;
    std::unordered_map<ExprId, ExprId> exprs;
  };
  ExprId copy(const Expressions& from, ExprId expr, Copies& known);

  const Expr& operator[](ExprId id) const { return exprs_[id]; }
  // The `count` operands of a kOr or kAnd.  Valid until an expression is added.
  const ExprId* operands(ExprId id) const {
    return operands_.data() + exprs_[id].first;
  }
  std::size_t memory_bytes() const;

  // Set when an expression was nested too deeply for derive().  Expressions
  // made since the last clear_overflow() are unusable.
  bool overflowed() const { return overflowed_; }
  void clear_overflow() { overflowed_ = false; }

 private:
  struct Memo {
    std::uint32_t epoch = 0;
    ExprId value = {};
  };

  // How many of plain_chars() a trie contains.  Of tries that begin inside a
  // character: kNone.
  enum class Plain : std::uint8_t { kNone, kSome, kAll };

  // An entry of the cache of derive_operand().
  struct Derived {
    std::uint64_t key = 0;  // of the expression and the byte; 0: none
    ExprId value = {};
  };

  // An entry of the cache of combine().
  struct Combined {
    std::vector<ExprId> operands;
    ExprKind kind = ExprKind::kFalse;
    ExprId value = {};
  };

  // Makes the entries that every table begins with.
  struct First {};
  explicit Expressions(First);
  Expressions(const Expressions&) = default;
  static const Expressions& first();

  TrieId copy_trie(const Expressions& from, TrieId trie, Copies& known);
  ItemId copy_item(const Expressions& from, ItemId item, Copies& known);
  TrieId intern_trie(std::vector<TrieEdge> edges);
  // Numbers, and the trie of the bytes after them.
  struct TriePart {
    std::uint32_t low = 0, high = 0;
    TrieId next;
  };
  std::vector<TriePart> level_up(const std::vector<TriePart>& parts);
  ItemId intern_item(Item item);
  void compute_properties(Item& item) const;
  void compute_lengths(Item& item) const;
  AsciiChars ascii_of(const Item& item) const;
  AsciiChars ascii_of(TrieId trie) const;
  ItemId char_item(TrieId trie);
  ItemId text_item(std::string_view text);
  Result<ItemId> item_of(const regex::HirNode& node,
                         std::vector<ItemId> children);
  ItemId concat(std::vector<ItemId> children);
  ItemId alternation(std::vector<ItemId> children);
  void share_prefixes(std::vector<ItemId>& children);
  std::vector<ItemId> prefix_trie(
      const std::vector<std::vector<ItemId>>& words);
  ItemId repeat_item(ItemId child, std::uint32_t min, std::uint32_t max);
  ItemId look(ItemId child, bool negative);
  ItemId assertion(regex::Assertion assertion);

  ExprId intern(Expr expr, const std::vector<ExprId>& operands = {});
  std::uint64_t slot_hash(const Expr& expr,
                          std::span<const ExprId> operands) const;
  base::Fingerprint fingerprint_of(const Expr& expr,
                                   std::span<const ExprId> operands) const;
  base::Fingerprint fingerprint_of(const Item& item) const;
  void compute_properties(Expr& expr,
                          const std::vector<ExprId>& operands) const;
  void compute_repeat(Expr& expr) const;
  void compute_list(Expr& expr, const std::vector<ExprId>& operands) const;
  void compute_union(Expr& expr, const std::vector<ExprId>& operands) const;
  void compute_intersection(Expr& expr,
                            const std::vector<ExprId>& operands) const;
  void find_member(Expr& expr, const std::vector<ExprId>& operands) const;
  bool flatten(ExprKind kind, std::vector<ExprId>& operands) const;
  void absorb(ExprKind kind, std::vector<ExprId>& operands) const;
  // True when something changed.
  bool merge_repeats(std::vector<ExprId>& operands);
  bool intersect_lengths(std::vector<ExprId>& operands);
  bool is_length(ExprId id) const;
  Counted counted_chain(ExprId expr);
  ExprId assert_here(regex::Assertion assertion, ExprId rest);
  ExprId end_here(regex::Assertion assertion, ExprId rest);

  // The item with two continuations: `rest` after a match that consumed a
  // character, `rest_empty` after an empty match.
  ExprId build_fresh(ItemId item, ExprId rest, ExprId rest_empty);
  ExprId expand(ExprId repeat);
  ExprId derive_char(const Expr& expr, std::uint8_t byte);
  std::optional<ExprId> derive_at_once(ExprId expr, std::uint8_t byte);
  ExprId derive_inside(ExprId expr, std::uint8_t byte);
  ExprId derive_operand(ExprId expr, std::uint8_t byte);
  void boundaries_inside(ExprId expr, base::ByteSet& out);
  bool in_trie(TrieId id, std::string_view bytes) const;
  std::optional<ExprId> branch(ExprId id, std::string_view character) const;
  ExprId combine(ExprKind kind, std::size_t begin);
  Memo& memo(ExprId expr);

  std::vector<std::vector<TrieEdge>> tries_;
  std::vector<base::Fingerprint> trie_fingerprints_;
  std::vector<Plain> plain_;  // by trie
  // By trie: it contains all of plain_chars() beyond ASCII or none of them.
  std::vector<bool> alike_;
  std::map<std::string, TrieId> trie_ids_;
  std::array<TrieId, 128> trie_of_ascii_ = {};  // kTrieEnd: not made yet
  std::vector<Item> items_;
  std::map<std::string, ItemId> item_ids_;
  std::vector<Expr> exprs_;
  std::vector<ExprId> operands_;
  std::vector<ExprId> table_;  // open hashing; kNoEntry where free
  std::vector<Memo> memo_;
  std::uint32_t epoch_ = 0;
  std::vector<Derived> derived_;  // a power of two, or none
  std::size_t derived_count_ = 0;
  std::vector<Combined> combined_;  // kCombined entries, or none
  std::vector<ExprId> scratch_;     // operands of open calls: a stack
  std::size_t small_bytes_ = 0;     // of tries and items
  ItemId any_item_;
  TrieId word_trie_;
  TrieId newline_trie_;
  bool uses_context_ = false;
  bool overflowed_ = false;
};

}  // namespace parlance::automata

#endif  // PARLANCE_SRC_AUTOMATA_LANGUAGE_EXPRESSIONS_H_
