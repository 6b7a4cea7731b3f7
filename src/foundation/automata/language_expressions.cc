// The constructors.  Each brings its result into a normal form by identities of
// sets that are cheap to check (commutativity, absorption, x{a,b}x{c,d}, ...),
// so that equal sets mostly are one entry.  Owens, Reppy and Turon (2009) call
// this similarity; it keeps the number of derivatives small.

#include "automata/language_expressions.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/mix.h"
#include "base/utf8.h"
#include "base/work.h"

namespace parlance::automata {
namespace {

using base::kUnbounded;
using regex::CharClass;

constexpr ExprId kNoEntry{0xFFFFFFFF};
// The depth of recursion that derive() and the like may reach.
constexpr std::uint32_t kMaxDepth = 1500;

// Expr::effort, saturated.
constexpr std::uint32_t kFarthest = 0xFFFFFFFF;
std::uint32_t effort(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(saturating_add(a, b), kFarthest));
}

bool has(const std::vector<ExprId>& sorted, ExprId id) {
  return std::binary_search(sorted.begin(), sorted.end(), id);
}

}  // namespace

// Copies the initial tables: building them again is ten times as expensive.
Expressions::Expressions() : Expressions(first()) {}

const Expressions& Expressions::first() {
  static const Expressions made{First{}};
  return made;
}

Expressions::Expressions(First) {
  tries_.emplace_back();
  trie_fingerprints_.emplace_back();
  plain_.push_back(Plain::kNone);
  alike_.push_back(false);
  table_.assign(1024, kNoEntry);
  intern_item({.kind = ItemKind::kNothing});
  intern_item({.kind = ItemKind::kEmpty});
  any_item_ =
      intern_item({.kind = ItemKind::kChar, .trie = trie(CharClass::any())});
  word_trie_ =
      trie(CharClass({{'0', '9'}, {'A', 'Z'}, {'a', 'z'}, {'_', '_'}}));
  newline_trie_ = trie(CharClass({{'\n', '\n'}}));
  intern({.kind = ExprKind::kFalse});
  intern({.kind = ExprKind::kEmpty});
  intern({.kind = ExprKind::kTrue});
}

// Computes the properties of an expression from those of its operands.  Each is
// a sound approximation, see Expr.
void Expressions::compute_properties(
    Expr& e, const std::vector<ExprId>& operands) const {
  switch (e.kind) {
    case ExprKind::kFalse:
      e.min_chars = kInfinite;
      e.effort = kFarthest;
      e.min_plain = kNoPlain;
      e.positive = e.prefix_closed = true;
      break;
    case ExprKind::kEmpty:
      e.nullable = e.positive = e.live = e.prefix_closed = true;
      e.most_needed = 0;
      e.ascii.in_one.reset();
      break;
    case ExprKind::kTrue:
      e.nullable = e.positive = e.live = e.infinite = e.cofinite = true;
      e.extends = e.prefix_closed = true;
      e.max_chars = kInfinite;
      e.most_needed = 1;
      e.ascii.in_one.reset();
      break;
    case ExprKind::kChar: {
      const Expr& rest = exprs_[e.b];
      e.positive = rest.positive;
      e.extends = rest.extends;
      e.alike = alike_[e.a];
      e.live = rest.live;
      e.infinite = rest.infinite;
      e.min_chars = saturating_add(1, rest.min_chars);
      e.most_needed = std::max(e.min_chars, rest.most_needed);
      e.effort = effort(1, rest.effort);
      e.min_plain =
          plain_[e.a] == Plain::kNone ? kNoPlain : effort(1, rest.min_plain);
      e.max_chars = saturating_add(1, rest.max_chars);
      e.ascii = ascii_of(TrieId(e.a));
      e.ascii.in_all |= rest.ascii.in_all;
      e.ascii.in_one |= rest.ascii.in_one;
      break;
    }
    case ExprKind::kRepeat:
      compute_repeat(e);
      break;
    case ExprKind::kAssert: {
      const Expr& rest = exprs_[e.b];
      e.context = true;
      e.alike = false;
      e.min_chars = rest.min_chars;
      e.max_chars = rest.max_chars;
      e.effort = rest.effort;
      e.min_plain = kNoPlain;
      e.depth = rest.depth + 3;
      break;
    }
    case ExprKind::kNot: {
      const Expr& inner = exprs_[e.b];
      e.context = inner.context;
      e.nullable = !inner.nullable;
      e.prefix_closed = inner.extends && !inner.context;
      if (e.prefix_closed) e.most_needed = 1;
      e.alike = inner.alike;
      e.live = e.infinite = e.cofinite = inner.max_chars != kInfinite;
      e.min_chars = inner.nullable && !inner.context ? 1 : 0;
      e.effort = static_cast<std::uint32_t>(e.min_chars);
      e.min_plain = inner.nullable || inner.context ? kNoPlain : 0;
      e.max_chars = kInfinite;
      // The empty text, or any.
      if (e.nullable && !e.context) e.ascii.in_one.reset();
      e.depth = inner.depth + 1;
      break;
    }
    case ExprKind::kOr:
      compute_union(e, operands);
      break;
    case ExprKind::kAnd:
      compute_intersection(e, operands);
      break;
  }
}

// Of x{m,n} rest.  `plain` means that x has no condition: only then is every
// text of x followed by a text of the rest a member.
void Expressions::compute_repeat(Expr& e) const {
  const Expr& rest = exprs_[e.b];
  const Item& item = items_[e.a];
  bool plain = !item.conditional;
  e.alike = item.alike && rest.alike;
  e.nullable = e.min == 0 && rest.nullable;
  e.context = item.context || (e.min == 0 && rest.context);
  e.positive = plain && rest.positive;
  e.extends =
      plain && (rest.extends ||
                (e.a == any_item_ && e.max == kUnbounded && e.b == kEmptyText));
  e.prefix_closed =
      e.min == 0 && e.b == kEmptyText && item.kind == ItemKind::kChar;
  // With m = 0 the members of the rest are members, whatever x requires.
  e.live = rest.live && (plain || e.min == 0);
  bool grows = plain && (e.max == kUnbounded ? item.max_chars > 0
                                             : item.max_chars == kInfinite);
  e.infinite = (grows && rest.live) || (rest.infinite && (plain || e.min == 0));
  e.cofinite = e.a == any_item_ && e.max == kUnbounded &&
               (e.b == kEmptyText || rest.cofinite);
  e.min_chars = saturating_add(saturating_multiply(item.min_chars, e.min),
                               rest.min_chars);
  e.effort = effort(saturating_multiply(item.min_chars, e.min), rest.effort);
  e.min_plain = rest.min_plain;
  if (e.min != 0) {
    e.min_plain =
        item.kind == ItemKind::kChar && plain_[item.trie] != Plain::kNone
            ? effort(e.min, rest.min_plain)
            : kNoPlain;
  }
  e.max_chars = saturating_add(
      saturating_multiply(item.max_chars,
                          e.max == kUnbounded ? kInfinite : e.max),
      rest.max_chars);
  if (plain) {
    // Somewhere inside a round, with all other required rounds and the rest
    // still to come; or inside the rest.
    const std::uint64_t inside = saturating_add(
        item.most_needed,
        saturating_multiply(item.min_chars, std::max(e.min, 1U) - 1));
    e.most_needed =
        std::max(saturating_add(inside, rest.min_chars), rest.most_needed);
  }
  e.ascii = rest.ascii;
  if (!plain) {
    e.ascii.in_one.set();
  } else if (e.min > 0) {
    e.ascii.in_all |= item.ascii.in_all;
    e.ascii.in_one |= item.ascii.in_one;
  }
  e.depth = item.front + 1 + rest.depth;
}

// What unions and intersections have in common.
void Expressions::compute_list(Expr& e,
                               const std::vector<ExprId>& operands) const {
  e.extends = e.prefix_closed = true;
  e.min_plain = kNoPlain;
  for (const ExprId id : operands) {
    const Expr& part = exprs_[id];
    e.context = e.context || part.context;
    e.extends = e.extends && part.extends;
    e.prefix_closed = e.prefix_closed && part.prefix_closed;
    e.alike = e.alike && part.alike;
    e.depth = std::max(e.depth, part.depth + 1);
  }
}

void Expressions::compute_union(Expr& e,
                                const std::vector<ExprId>& operands) const {
  compute_list(e, operands);
  e.positive = true;
  e.min_chars = kInfinite;
  e.effort = kFarthest;
  e.most_needed = 0;
  e.ascii.in_all.set();
  for (const ExprId id : operands) {
    const Expr& part = exprs_[id];
    e.most_needed = std::max(e.most_needed, part.most_needed);
    e.ascii.in_all &= part.ascii.in_all;
    if (part.min_chars < e.min_chars) e.ascii.in_one = part.ascii.in_one;
    e.nullable = e.nullable || part.nullable;
    e.positive = e.positive && part.positive;
    e.live = e.live || part.live;
    e.infinite = e.infinite || part.infinite;
    e.cofinite = e.cofinite || part.cofinite;
    e.min_chars = std::min(e.min_chars, part.min_chars);
    e.effort = std::min(e.effort, part.effort);
    e.min_plain = std::min(e.min_plain, part.min_plain);
    e.max_chars = std::max(e.max_chars, part.max_chars);
  }
}

void Expressions::compute_intersection(
    Expr& e, const std::vector<ExprId>& operands) const {
  compute_list(e, operands);
  e.nullable = e.cofinite = true;
  e.max_chars = kInfinite;
  std::size_t not_cofinite = 0;
  bool rest_infinite = true;
  for (const ExprId id : operands) {
    const Expr& part = exprs_[id];
    e.ascii.in_all |= part.ascii.in_all;
    e.nullable = e.nullable && part.nullable;
    e.cofinite = e.cofinite && part.cofinite;
    e.min_chars = std::max(e.min_chars, part.min_chars);
    e.effort = effort(e.effort, part.effort);
    e.max_chars = std::min(e.max_chars, part.max_chars);
    if (!part.cofinite) {
      ++not_cofinite;
      rest_infinite = part.infinite;
    }
  }
  // Only the empty text is known to be a member.
  if (e.nullable && !e.context) e.min_plain = 0;
  // An infinite set minus finitely many strings is infinite.
  if (not_cofinite <= 1 && rest_infinite) e.live = e.infinite = true;
  if (e.prefix_closed) e.most_needed = 1;
  find_member(e, operands);
}

// Of an intersection of one set with complements: whether the known member of
// the set is in it, because it is shorter than all that a complement excludes
// or lacks a character that all of that has.
void Expressions::find_member(Expr& e,
                              const std::vector<ExprId>& operands) const {
  const auto is_complement = [this](ExprId id) {
    return exprs_[id].kind == ExprKind::kNot;
  };
  const auto set = std::ranges::find_if_not(operands, is_complement);
  if (set == operands.end()) return;
  const Expr& whole = exprs_[*set];
  const std::uint64_t chars = whole.positive ? whole.min_chars : kInfinite;
  const bool outside = std::ranges::all_of(operands, [&](ExprId id) {
    if (id == *set) return true;
    if (!is_complement(id)) return false;
    const Expr& excluded = exprs_[exprs_[id].b];
    if (excluded.context) return false;
    return chars < excluded.min_chars ||
           (excluded.ascii.in_all & ~whole.ascii.in_one).any();
  });
  if (!outside) return;
  e.live = true;
  e.ascii.in_one = whole.ascii.in_one;
}

// Where the table looks for an expression.  Ids are enough: the table is that
// of this object.
std::uint64_t Expressions::slot_hash(const Expr& e,
                                     std::span<const ExprId> operands) const {
  std::uint64_t hash = static_cast<std::uint64_t>(e.kind);
  base::mix(hash, std::uint64_t{e.a} << 32 | std::uint32_t{e.b});
  base::mix(hash, std::uint64_t{e.min} << 32 | e.max);
  for (const ExprId id : operands) base::mix(hash, std::uint32_t{id});
  return hash ^ hash >> 29;
}

// Equal sets of operands have equal fingerprints: their ids, and so their
// order, are of this table alone.
base::Fingerprint Expressions::fingerprint_of(
    const Expr& e, std::span<const ExprId> operands) const {
  base::Fingerprinter print(static_cast<std::uint64_t>(e.kind));
  switch (e.kind) {
    case ExprKind::kFalse:
    case ExprKind::kEmpty:
    case ExprKind::kTrue:
      break;
    case ExprKind::kChar:
      print.add(trie_fingerprints_[e.a]).add(exprs_[e.b].fingerprint);
      break;
    case ExprKind::kRepeat:
      print.add(items_[e.a].fingerprint).add(exprs_[e.b].fingerprint);
      print.add(std::uint64_t{e.min} << 32 | e.max);
      break;
    case ExprKind::kAssert:
      print.add(std::uint64_t{e.a}).add(exprs_[e.b].fingerprint);
      break;
    case ExprKind::kNot:
      print.add(exprs_[e.b].fingerprint);
      break;
    case ExprKind::kOr:
    case ExprKind::kAnd: {
      base::FingerprintSet set;
      for (const ExprId id : operands) set.add(exprs_[id].fingerprint);
      print.add(std::uint64_t{operands.size()}).add(set.sum());
      break;
    }
  }
  return print.take();
}

// The entry that is written like the expression, or a new one.  Parts and
// operands are entries already, so comparing their ids compares whole trees.
ExprId Expressions::intern(Expr e, const std::vector<ExprId>& operands) {
  compute_properties(e, operands);
  if (e.depth > kMaxDepth) {
    overflowed_ = true;
    return kNoText;
  }
  std::size_t mask = table_.size() - 1;
  std::size_t at = slot_hash(e, operands) & mask;
  for (; table_[at] != kNoEntry; at = (at + 1) & mask) {
    const Expr& other = exprs_[table_[at]];
    if (other.kind == e.kind && other.a == e.a && other.b == e.b &&
        other.min == e.min && other.max == e.max &&
        other.count == operands.size() &&
        std::equal(operands.begin(), operands.end(),
                   operands_.begin() + other.first)) {
      return table_[at];
    }
  }
  e.fingerprint = fingerprint_of(e, operands);
  e.first = static_cast<std::uint32_t>(operands_.size());
  e.count = static_cast<std::uint32_t>(operands.size());
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  auto id = static_cast<ExprId>(exprs_.size());
  exprs_.push_back(e);
  table_[at] = id;
  if (exprs_.size() * 2 > table_.size()) {
    table_.assign(table_.size() * 2, kNoEntry);
    mask = table_.size() - 1;
    for (ExprId i; i < exprs_.size(); ++i) {
      const Expr& one = exprs_[i];
      std::size_t slot =
          slot_hash(one, {operands_.data() + one.first, one.count}) & mask;
      while (table_[slot] != kNoEntry) slot = (slot + 1) & mask;
      table_[slot] = i;
    }
  }
  return id;
}

std::size_t Expressions::memory_bytes() const {
  return exprs_.size() * sizeof(Expr) + operands_.size() * sizeof(ExprId) +
         table_.size() * sizeof(ExprId) + memo_.size() * sizeof(Memo) +
         derived_.size() * sizeof(Derived) + small_bytes_;
}

ExprId Expressions::character(TrieId trie, ExprId rest) {
  if (rest == kNoText || trie == kTrieEnd) return kNoText;
  return intern({.kind = ExprKind::kChar, .a = trie, .b = rest});
}

ExprId Expressions::repeat(ItemId id, std::uint32_t min, std::uint32_t max,
                           ExprId rest) {
  const Item item = items_[id];
  if (rest == kNoText) return kNoText;
  if (max == 0 || id == kEmptyItem) return rest;
  if (id == kNoItem) return min == 0 ? rest : kNoText;
  if (item.nullable && !item.conditional) min = 0;
  if (min == 1 && max == 1) return build(id, rest);
  if (item.nullable && min > 0) {
    // The item is conditional: a round may be a condition that consumes
    // nothing and still has to hold, so the required rounds are unrolled.
    rest = repeat(id, 0, max == kUnbounded ? max : max - min, rest);
    for (; min > 0 && base::work_left(); --min) rest = build(id, rest);
    return rest;
  }
  const Expr next = exprs_[rest];
  if (next.kind == ExprKind::kRepeat && next.a == id) {
    // x{a,b}x{c,d}
    std::uint64_t low = std::uint64_t{min} + next.min;
    std::uint64_t high = std::uint64_t{max} + next.max;
    bool unbounded = max == kUnbounded || next.max == kUnbounded;
    if (low < kUnbounded && (unbounded || high < kUnbounded)) {
      return repeat(id, static_cast<std::uint32_t>(low),
                    unbounded ? kUnbounded : static_cast<std::uint32_t>(high),
                    next.b);
    }
  }
  if (id == any_item_) {
    // .{m,n} before any text is .{m,} whatever n is; and .{m,} before a set
    // with the empty text contains all that the set could add.
    if (rest == kAnyText) {
      if (min == 0) return kAnyText;
      max = kUnbounded;
      rest = kEmptyText;
    } else if (max == kUnbounded && next.nullable && !next.context) {
      if (min == 0) return kAnyText;
      rest = kEmptyText;
    }
  }
  return intern(
      {.kind = ExprKind::kRepeat, .a = id, .b = rest, .min = min, .max = max});
}

// Splices in operands of the same kind, sorts, and drops duplicates and
// neutral operands.  Returns true if the result is the absorbing element:
// kAnyText for an or, kNoText for an and.
bool Expressions::flatten(ExprKind kind, std::vector<ExprId>& operands) const {
  const ExprId unit = neutral_in(kind);
  const ExprId zero = absorbing_in(kind);
  std::size_t count = 0;  // of operands with those of the same kind spliced in
  for (const ExprId id : operands) {
    if (id == zero) return true;
    const Expr& e = exprs_[id];
    count += e.kind == kind ? e.count : 1;
  }
  if (count > operands.size()) {
    std::vector<ExprId> flat;
    flat.reserve(count);
    for (const ExprId id : operands) {
      const Expr& e = exprs_[id];
      if (e.kind == kind) {
        flat.insert(flat.end(), operands_.begin() + e.first,
                    operands_.begin() + e.first + e.count);
      } else {
        flat.push_back(id);
      }
    }
    operands = std::move(flat);
  }
  std::erase(operands, unit);
  base::spend_work(1 + operands.size() / 4);
  std::sort(operands.begin(), operands.end());
  operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
  // x and not x.  `maybe` has a bit of each operand: most searches are saved.
  const auto bit = [](ExprId id) { return std::uint64_t{1} << (id % 64); };
  std::uint64_t maybe = 0;
  for (const ExprId id : operands) {
    if (exprs_[id].kind != ExprKind::kNot) maybe |= bit(id);
  }
  return std::ranges::any_of(operands, [&](ExprId id) {
    const Expr& e = exprs_[id];
    return e.kind == ExprKind::kNot && (maybe & bit(e.b)) != 0 &&
           has(operands, e.b);
  });
}

// x or (x and y) is x; x and (x or y) is x.
void Expressions::absorb(ExprKind kind, std::vector<ExprId>& operands) const {
  ExprKind other = kind == ExprKind::kOr ? ExprKind::kAnd : ExprKind::kOr;
  constexpr std::uint32_t kWide = 64;
  if (std::ranges::none_of(
          operands, [&](ExprId id) { return exprs_[id].kind == other; })) {
    return;
  }
  const auto absorbed = [&](ExprId id) {
    const Expr& e = exprs_[id];
    if (e.kind != other || e.count > kWide) return false;
    return std::any_of(operands_.begin() + e.first,
                       operands_.begin() + e.first + e.count,
                       [&](ExprId operand) { return has(operands, operand); });
  };
  if (std::ranges::none_of(operands, absorbed)) return;
  std::vector<ExprId> remaining;
  std::ranges::remove_copy_if(operands, std::back_inserter(remaining),
                              absorbed);
  operands = std::move(remaining);
}

// x{a,b}y or x{c,d}y is one repeat if the intervals touch; y is x{0,0}y.
bool Expressions::merge_repeats(std::vector<ExprId>& operands) {
  std::vector<ExprId> repeats;
  for (ExprId id : operands) {
    if (exprs_[id].kind == ExprKind::kRepeat) repeats.push_back(id);
  }
  if (repeats.empty()) return false;
  std::sort(repeats.begin(), repeats.end(), [this](ExprId x, ExprId y) {
    const Expr& p = exprs_[x];
    const Expr& q = exprs_[y];
    return p.a != q.a ? p.a < q.a : p.b != q.b ? p.b < q.b : p.min < q.min;
  });
  // Repeats of one item with one rest are neighbours now, with ascending
  // minimum.  Invariant of the outer loop: those before i are in `dropped`,
  // with their union in `added`, or stay as they are.  Of the inner loop: {min,
  // max} is the union of the intervals of [i, j).
  bool changed = false;
  std::vector<ExprId> dropped;
  std::vector<ExprId> added;
  for (std::size_t i = 0; i < repeats.size();) {
    const Expr head = exprs_[repeats[i]];
    std::uint32_t min = head.min;
    std::uint32_t max = head.max;
    std::size_t j = i + 1;
    if (min <= 1 && has(operands, head.b)) {
      min = 0;
      dropped.push_back(head.b);
    }
    for (; j < repeats.size(); ++j) {
      const Expr& e = exprs_[repeats[j]];
      if (e.a != head.a || e.b != head.b) break;
      if (max != kUnbounded && e.min > max + 1) break;
      max = std::max(max, e.max);
    }
    if (min != head.min || j > i + 1) {
      for (std::size_t k = i; k < j; ++k) dropped.push_back(repeats[k]);
      added.push_back(repeat(ItemId(head.a), min, max, head.b));
    }
    i = j;
  }
  std::sort(dropped.begin(), dropped.end());
  for (ExprId id : added) changed = changed || !has(operands, id);
  changed = changed || !dropped.empty();
  std::erase_if(operands, [&](ExprId id) { return has(dropped, id); });
  operands.insert(operands.end(), added.begin(), added.end());
  return changed;
}

ExprId Expressions::any_of(std::vector<ExprId> operands) {
  if (flatten(ExprKind::kOr, operands)) return kAnyText;
  if (operands.size() > 1) {
    // Each round has fewer operands or wider repeats.
    for (int round = 0; round < 4 && merge_repeats(operands); ++round) {
      if (flatten(ExprKind::kOr, operands)) return kAnyText;
    }
    if (flatten(ExprKind::kOr, operands)) return kAnyText;
    absorb(ExprKind::kOr, operands);
    // The empty text adds nothing to a set that has it.
    if (has(operands, kEmptyText)) {
      for (ExprId id : operands) {
        const Expr& e = exprs_[id];
        if (id == kEmptyText || !e.nullable || e.context) continue;
        std::erase(operands, kEmptyText);
        break;
      }
    }
  }
  if (operands.empty()) return kNoText;
  if (operands.size() == 1) return operands[0];
  return intern({.kind = ExprKind::kOr}, operands);
}

bool Expressions::is_length(ExprId id) const {
  const Expr& e = exprs_[id];
  return e.kind == ExprKind::kRepeat && e.a == any_item_ && e.b == kEmptyText;
}

// Intersects all conditions on the length (.{a,b}) into one.
bool Expressions::intersect_lengths(std::vector<ExprId>& operands) {
  std::uint32_t min = 0;
  std::uint32_t max = kUnbounded;
  std::size_t found = 0;
  for (ExprId id : operands) {
    if (!is_length(id)) continue;
    ++found;
    min = std::max(min, exprs_[id].min);
    max = std::min(max, exprs_[id].max);
  }
  if (found < 2) return false;
  std::erase_if(operands, [this](ExprId id) { return is_length(id); });
  operands.push_back(min > max ? kNoText
                               : repeat(any_item_, min, max, kEmptyText));
  return true;
}

// Each step keeps the set and makes more equal sets equal entries: one
// condition on the length, no operand that another contains, nothing if the
// lengths of the operands do not meet, and with the empty text as an operand
// nothing else, but for what depends on the character before.
ExprId Expressions::all_of(std::vector<ExprId> operands) {
  if (flatten(ExprKind::kAnd, operands)) return kNoText;
  if (operands.size() > 1) {
    if (intersect_lengths(operands) && flatten(ExprKind::kAnd, operands)) {
      return kNoText;
    }
    absorb(ExprKind::kAnd, operands);
    std::uint64_t low = 0;
    std::uint64_t high = kInfinite;
    bool context = false;
    for (ExprId id : operands) {
      const Expr& e = exprs_[id];
      low = std::max(low, e.min_chars);
      high = std::min(high, e.max_chars);
      context = context || e.context;
    }
    if (low > high) return kNoText;
    if (has(operands, kEmptyText)) {
      std::vector<ExprId> open = {kEmptyText};
      for (ExprId id : operands) {
        const Expr& e = exprs_[id];
        if (e.context) {
          open.push_back(id);
        } else if (!e.nullable) {
          return kNoText;
        }
      }
      operands = std::move(open);
      std::sort(operands.begin(), operands.end());
    }
  }
  if (operands.empty()) return kAnyText;
  if (operands.size() == 1) return operands[0];
  return intern({.kind = ExprKind::kAnd}, operands);
}

ExprId Expressions::negate(ExprId id) {
  if (id == kNoText) return kAnyText;
  if (id == kAnyText) return kNoText;
  const Expr e = exprs_[id];
  if (e.kind == ExprKind::kNot) return e.b;
  if (e.kind == ExprKind::kOr || e.kind == ExprKind::kAnd) {
    if (e.other_form != kNoText) return e.other_form;
    // De Morgan.  The recursion is no deeper than e.depth, which is bounded.
    std::vector<ExprId> operands(operands_.begin() + e.first,
                                 operands_.begin() + e.first + e.count);
    for (ExprId& operand : operands) operand = negate(operand);
    const ExprId negation = e.kind == ExprKind::kOr
                                ? all_of(std::move(operands))
                                : any_of(std::move(operands));
    // What overflowed is unusable.
    if (!overflowed_) exprs_[id].other_form = negation;
    return negation;
  }
  return intern({.kind = ExprKind::kNot, .b = id});
}

// Of characters, one after the other, and then a repeat of one: p x{a,b} is
// p x* with p + a to p + b characters.  What is left after some of them can be
// extended by x, which does not change what follows.
Expressions::Counted Expressions::counted_chain(ExprId id) {
  constexpr std::size_t kLongestChain = 32;
  // A repeat of few characters has few states, and their masks are exact
  // without a count.
  constexpr std::uint32_t kFew = 16;
  std::vector<TrieId> chain;
  ExprId end = id;
  while (exprs_[end].kind == ExprKind::kChar && chain.size() < kLongestChain) {
    chain.emplace_back(exprs_[end].a);
    end = exprs_[end].b;
  }
  const Expr last = exprs_[end];
  if (last.kind != ExprKind::kRepeat || last.b != kEmptyText ||
      items_[ItemId(last.a)].kind != ItemKind::kChar) {
    return {.expr = id};
  }
  const bool endless = last.max == kUnbounded;
  if ((endless ? last.min : last.max) <= kFew) return {.expr = id};
  Counted made{.expr = repeat(ItemId(last.a), 0, kUnbounded, kEmptyText),
               .min_chars = chain.size() + last.min};
  if (!endless) made.max_chars = chain.size() + last.max;
  for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
    made.expr = character(*it, made.expr);
  }
  return made;
}

// A conjunction with a least length, whose other operands contain what extends
// a member: they are completed, and then extended by as many characters as are
// wanted.
Expressions::Counted Expressions::counted(ExprId id) {
  const Expr e = exprs_[id];
  if (e.kind != ExprKind::kAnd) return counted_chain(id);
  std::vector<ExprId> others(operands_.begin() + e.first,
                             operands_.begin() + e.first + e.count);
  const auto length = std::ranges::find_if(
      others, [this](ExprId operand) { return is_length(operand); });
  if (length == others.end() || exprs_[*length].max != kUnbounded) {
    return {.expr = id};
  }
  const std::uint64_t min_chars = exprs_[*length].min;
  others.erase(length);
  if (!std::ranges::all_of(
          others, [this](ExprId operand) { return exprs_[operand].extends; })) {
    return {.expr = id};
  }
  return {.expr = all_of(std::move(others)), .min_chars = min_chars};
}

// Of a conjunction, the bounds of every operand that is one, or that is a
// counted chain: p x{a,b} is p x* and .{|p| + a, |p| + b}.
Expressions::Counted Expressions::without_bounds(ExprId id) {
  const Expr e = exprs_[id];
  if (e.kind != ExprKind::kAnd) return counted_chain(id);
  const std::vector<ExprId> operands(operands_.begin() + e.first,
                                     operands_.begin() + e.first + e.count);
  Counted out;
  std::vector<ExprId> others;
  for (const ExprId operand : operands) {
    Counted one = {.expr = operand};
    if (is_length(operand)) {
      const Expr& length = exprs_[operand];
      one = {.expr = kAnyText, .min_chars = length.min};
      if (length.max != kUnbounded) one.max_chars = length.max;
    } else {
      one = counted_chain(operand);
    }
    others.push_back(one.expr);
    out.min_chars = std::max(out.min_chars, one.min_chars);
    out.max_chars = std::min(out.max_chars, one.max_chars);
  }
  out.expr = all_of(std::move(others));
  return out;
}

ExprId Expressions::text(std::string_view string, ExprId rest) {
  std::vector<TrieId> chars;
  for (std::size_t at = 0; at < string.size();) {
    chars.push_back(trie_of(base::next_code_point(string, at)));
  }
  for (auto it = chars.rbegin(); it != chars.rend(); ++it) {
    rest = character(*it, rest);
  }
  return rest;
}

// Builds a trie of the strings: one branch per first character, and so on.
// `pending` is a stack of ranges of strings that share their first `depth`
// bytes.  A range is finished when the ranges of all its branches are; `at` is
// the first string of the range that has no branch yet.
ExprId Expressions::strings(std::vector<std::string_view> sorted) {
  struct Range {
    std::size_t begin, end, depth, at;
    std::string_view open;  // the character of the branch being built
    std::vector<ExprId> branches;
  };
  std::vector<Range> pending;
  ExprId done = kNoText;
  pending.push_back({0, sorted.size(), 0, 0, {}, {}});
  while (!pending.empty()) {
    Range& top = pending.back();
    // A single string needs no branches.
    bool single = top.end - top.begin == 1;
    while (!single && top.at < top.end - top.begin &&
           sorted[top.begin + top.at].size() == top.depth) {
      if (top.branches.empty()) top.branches.push_back(kEmptyText);
      ++top.at;
    }
    if (single || top.begin + top.at == top.end) {
      done = single ? text(sorted[top.begin].substr(top.depth), kEmptyText)
                    : any_of(std::move(top.branches));
      pending.pop_back();
      if (pending.empty()) break;
      Range& above = pending.back();
      std::size_t at = 0;
      TrieId one = trie_of(base::next_code_point(above.open, at));
      above.branches.push_back(character(one, done));
      continue;
    }
    std::size_t begin = top.begin + top.at;
    std::size_t next = top.depth;
    base::next_code_point(sorted[begin], next);
    top.open = sorted[begin].substr(top.depth, next - top.depth);
    std::size_t end = begin;
    while (end < top.end &&
           sorted[end].substr(top.depth, top.open.size()) == top.open) {
      ++end;
    }
    top.at = end - top.begin;
    pending.push_back({begin, end, next, 0, {}, {}});
  }
  return done;
}

// The operand of a node of a trie of strings that begins with the character, or
// is the empty text if that is empty: kNoText if there is none; nothing if the
// node has other operands, or several for the character.
std::optional<ExprId> Expressions::branch(ExprId id,
                                          std::string_view character) const {
  const Expr& e = exprs_[id];
  const bool either = e.kind == ExprKind::kOr;
  ExprId found = kNoText;
  for (std::uint32_t i = 0; i < (either ? e.count : 1); ++i) {
    const ExprId operand = either ? operands_[e.first + i] : id;
    const Expr& one = exprs_[operand];
    if (one.kind == ExprKind::kFalse) continue;
    if (one.kind != ExprKind::kChar && one.kind != ExprKind::kEmpty) {
      return std::nullopt;
    }
    const bool follows =
        one.kind == ExprKind::kEmpty
            ? character.empty()
            : !character.empty() && in_trie(TrieId(one.a), character);
    if (!follows) continue;
    if (found != kNoText) return std::nullopt;
    found = operand;
  }
  return found;
}

// Follows the string along the branches, and then builds the nodes of the path
// again without it, from the last to the first.  A branch that has a class of
// characters is not divided.
std::optional<ExprId> Expressions::without(ExprId id, std::string_view string) {
  struct Step {
    ExprId node;
    ExprId branch;  // the operand of the node that the path follows
  };
  std::vector<Step> path;
  ExprId node = id;
  for (std::size_t at = 0;;) {
    const std::size_t begin = at;
    char32_t c = 0;
    if (at < string.size()) c = base::next_code_point(string, at);
    const auto next = branch(node, string.substr(begin, at - begin));
    if (!next) return std::nullopt;
    if (*next == kNoText) return id;
    path.push_back({.node = node, .branch = *next});
    if (at == begin) break;
    if (trie_of(c) != TrieId(exprs_[*next].a)) return std::nullopt;
    node = exprs_[*next].b;
  }
  ExprId rest = kNoText;
  for (std::size_t i = path.size(); i-- > 0;) {
    const auto [from, taken] = path[i];
    // The last branch is the empty text, which is dropped.
    if (i + 1 < path.size()) rest = character(TrieId(exprs_[taken].a), rest);
    if (from == taken) continue;
    const Expr& e = exprs_[from];
    std::vector<ExprId> operands(operands_.begin() + e.first,
                                 operands_.begin() + e.first + e.count);
    std::ranges::replace(operands, taken, rest);
    rest = any_of(std::move(operands));
  }
  return rest;
}

// Whether the trie contains the character with these bytes.
bool Expressions::in_trie(TrieId id, std::string_view bytes) const {
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    const auto edge = std::ranges::find_if(tries_[id], [&](const TrieEdge& e) {
      return e.low <= byte && byte <= e.high;
    });
    if (edge == tries_[id].end()) return false;
    id = edge->next;
  }
  return id == kTrieEnd;
}

}  // namespace parlance::automata
