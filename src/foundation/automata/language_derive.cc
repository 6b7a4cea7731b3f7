// Items to expressions (build), and derivatives by one byte (derive).
//
// The derivative of a language L by a byte b is {t : b t in L}.  Brzozowski
// (1964) gives it for every operator, complement and intersection included:
//
//   d(c . rest)   = rest if c is the byte b, else nothing
//   d(A or B)     = d(A) or d(B); likewise for and, not
//   d(x{m,n} r)   = d(x x{m-1,n-1} r), or d(r) as well if m is 0
//
// Recursion is no deeper than Expr::depth and Item::depth, which the
// constructors bound.

#include <algorithm>
#include <utility>

#include "automata/language_expressions.h"
#include "base/work.h"

namespace parlance::automata {
namespace {

using base::kUnbounded;
using regex::Assertion;

std::uint32_t less_one(std::uint32_t count) {
  return count == 0 || count == kUnbounded ? count : count - 1;
}

}  // namespace

// `rest`, if the text ends here; for `$` also if a line feed comes next, and
// after it nothing (without MULTILINE) or anything (with it).  The line feed is
// not consumed: it is the first character of `rest`.
ExprId Expressions::end_here(Assertion assertion, ExprId rest) {
  ExprId at_end = all_of({kEmptyText, rest});
  if (assertion == Assertion::kTextEnd) return at_end;
  ExprId last = character(
      newline_trie_, assertion == Assertion::kLineEnd ? kAnyText : kEmptyText);
  return any_of({at_end, all_of({last, rest})});
}

ExprId Expressions::assert_here(Assertion assertion, ExprId rest) {
  switch (assertion) {
    case Assertion::kTextEnd:
    case Assertion::kTextEndNewline:
    case Assertion::kLineEnd:
      return end_here(assertion, rest);
    case Assertion::kTextStart:
    case Assertion::kLineStart:
    case Assertion::kWordBoundary:
    case Assertion::kNotWordBoundary:
      break;
  }
  if (rest == kNoText) return kNoText;
  return intern({.kind = ExprKind::kAssert,
                 .a = static_cast<std::uint32_t>(assertion),
                 .b = rest});
}

// The texts of the item, each followed by a text of `rest`.  A condition is no
// text of its own but an operand of a conjunction, because an expression
// describes all that follows: (?=ab)\w+ is `ab` with any text after it, And
// \w+.
ExprId Expressions::build(ItemId id, ExprId rest) {
  if (rest == kNoText || !base::spend_work()) return kNoText;
  const Item& item = items_[id];
  switch (item.kind) {
    case ItemKind::kNothing:
      return kNoText;
    case ItemKind::kEmpty:
      return rest;
    case ItemKind::kChar:
      return character(item.trie, rest);
    case ItemKind::kConcat:
      // Invariant: `rest` continues children[i].
      for (std::size_t i = item.children.size(); i-- > 0;) {
        rest = build(item.children[i], rest);
      }
      return rest;
    case ItemKind::kAlternation: {
      std::vector<ExprId> branches;
      for (ItemId child : item.children) branches.push_back(build(child, rest));
      return any_of(std::move(branches));
    }
    case ItemKind::kRepeat:
      return repeat(item.children[0], item.min, item.max, rest);
    case ItemKind::kLook: {
      ExprId ahead = build(item.children[0], kAnyText);
      return all_of({item.negative ? negate(ahead) : ahead, rest});
    }
    case ItemKind::kAssert:
      return assert_here(item.assertion, rest);
  }
  return kNoText;
}

// build() with a continuation of its own for the match that has read nothing.
// A round of a repeat needs it: of (a|(?=b))* the empty round leads back to the
// same repeat, and the derivative of that one would ask for itself.  Such a
// round adds nothing, so its continuation is kNoText; the empty match of a
// round that is required stays, because its condition has to hold.
//
// Invariant of the recursion: the result has the texts of item . rest for which
// the item reads a character, and those of item . rest_empty for which it reads
// none.
ExprId Expressions::build_fresh(ItemId id, ExprId rest, ExprId rest_empty) {
  const Item& item = items_[id];
  if (!item.nullable) return build(id, rest);
  if (!base::spend_work()) return kNoText;
  switch (item.kind) {
    case ItemKind::kConcat:
      for (std::size_t i = item.children.size(); i-- > 0;) {
        rest_empty = build_fresh(item.children[i], rest, rest_empty);
        // Invariant: `rest` continues item i - 1 after a character was
        // consumed, `rest_empty` while none was.
        if (i > 0) rest = build(item.children[i], rest);
      }
      return rest_empty;
    case ItemKind::kAlternation: {
      std::vector<ExprId> branches;
      for (ItemId child : item.children) {
        branches.push_back(build_fresh(child, rest, rest_empty));
      }
      return any_of(std::move(branches));
    }
    case ItemKind::kRepeat: {
      ItemId child = item.children[0];
      std::uint32_t min = item.min;
      std::uint32_t max = item.max;
      // If min > 0, the child is nullable and conditional (repeat_item() sets
      // min to 0 for other nullable children), so every required round is
      // built: its condition has to hold.
      ExprId optional = kNoText;
      std::uint32_t more = max == kUnbounded ? max : max - min;
      if (more > 0) {
        // An optional round that consumes nothing adds nothing.
        optional =
            build_fresh(child, repeat(child, 0, less_one(more), rest), kNoText);
      }
      // Invariant of the loop: `fresh` is the last i required rounds and all
      // that follows them where nothing was read before them, `stale` the same
      // where something was.
      ExprId fresh = any_of({rest_empty, optional});
      ExprId stale = repeat(child, 0, more, rest);
      for (std::uint32_t i = 0; i < min && base::work_left(); ++i) {
        fresh = build_fresh(child, stale, fresh);
        stale = build(child, stale);
      }
      return fresh;
    }
    case ItemKind::kNothing:
    case ItemKind::kEmpty:
    case ItemKind::kChar:
    case ItemKind::kLook:
    case ItemKind::kAssert:
      break;
  }
  return build(id, rest_empty);
}

// A repeat with its first round unrolled.  An empty first round is dropped
// (kNoText): it would lead back to the same repeat.  A required round is never
// empty, because repeat() leaves no minimum to an item that may match nothing.
ExprId Expressions::expand(ExprId id) {
  if (exprs_[id].other_form != kNoText) return exprs_[id].other_form;
  const Expr e = exprs_[id];
  const ItemId item{e.a};
  ExprId after = repeat(item, less_one(e.min), less_one(e.max), e.b);
  ExprId expansion = e.min > 0
                         ? build(item, after)
                         : any_of({e.b, build_fresh(item, after, kNoText)});
  exprs_[id].other_form = expansion;
  return expansion;
}

// The expression once the character before it is known.  No other assertion on
// that character is left in it, so derive() may read the next byte.
ExprId Expressions::resolve(ExprId id, PreviousChar before) {
  if (!exprs_[id].context) return id;
  const Expr e = exprs_[id];
  if (!base::spend_work(1 + e.count / 4)) return kNoText;
  switch (e.kind) {
    case ExprKind::kAssert: {
      auto assertion = static_cast<Assertion>(e.a);
      ExprId rest = resolve(e.b, before);
      if (assertion == Assertion::kTextStart) {
        return before == PreviousChar::kStart ? rest : kNoText;
      }
      if (assertion == Assertion::kLineStart) {
        bool holds =
            before == PreviousChar::kStart || before == PreviousChar::kNewline;
        return holds ? rest : kNoText;
      }
      // \b holds if exactly one of the characters before and after is a word
      // character.  The texts that begin with none include the empty text.
      ExprId word = character(word_trie_, kAnyText);
      bool same = assertion == Assertion::kNotWordBoundary;
      if ((before == PreviousChar::kWord) != same) word = negate(word);
      return all_of({word, rest});
    }
    case ExprKind::kRepeat:
      return resolve(expand(id), before);
    case ExprKind::kNot:
      return negate(resolve(e.b, before));
    case ExprKind::kOr:
    case ExprKind::kAnd: {
      std::vector<ExprId> operands(operands_.begin() + e.first,
                                   operands_.begin() + e.first + e.count);
      for (ExprId& operand : operands) operand = resolve(operand, before);
      return e.kind == ExprKind::kOr ? any_of(std::move(operands))
                                     : all_of(std::move(operands));
    }
    case ExprKind::kFalse:
    case ExprKind::kEmpty:
    case ExprKind::kTrue:
    case ExprKind::kChar:
      break;
  }
  return id;
}

Expressions::Memo& Expressions::memo(ExprId id) {
  if (memo_.size() < exprs_.size()) memo_.resize(exprs_.size());
  return memo_[id];
}

// Each call has an epoch, in which memo_ holds the derivatives by this byte.
// Expressions share operands, so without it the walk would be as long as the
// tree and not as the graph.
ExprId Expressions::derive(ExprId id, std::uint8_t byte) {
  ++epoch_;
  return derive_inside(id, byte);
}

// `expr` is a kChar; it need not outlive the call.
ExprId Expressions::derive_char(const Expr& expr, std::uint8_t byte) {
  for (const TrieEdge& edge : tries_[expr.a]) {
    if (byte < edge.low) break;
    if (byte > edge.high) continue;
    return edge.next == kTrieEnd ? expr.b : character(edge.next, expr.b);
  }
  return kNoText;
}

// The derivative of an expression that needs no cache: a constant, a character
// or its complement.  Nothing for others.
std::optional<ExprId> Expressions::derive_at_once(ExprId id,
                                                  std::uint8_t byte) {
  switch (exprs_[id].kind) {
    case ExprKind::kFalse:
    case ExprKind::kEmpty:
    case ExprKind::kAssert:
      return kNoText;
    case ExprKind::kTrue:
      return kAnyText;
    case ExprKind::kChar:
      return derive_char(exprs_[id], byte);
    case ExprKind::kNot:
      if (const Expr& inner = exprs_[exprs_[id].b];
          inner.kind == ExprKind::kChar) {
        return negate(derive_char(inner, byte));
      }
      break;
    case ExprKind::kRepeat:
    case ExprKind::kOr:
    case ExprKind::kAnd:
      break;
  }
  return std::nullopt;
}

ExprId Expressions::derive_inside(ExprId id, std::uint8_t byte) {
  if (const auto at_once = derive_at_once(id, byte)) return *at_once;
  if (Memo& known = memo(id); known.epoch == epoch_) return known.value;
  if (!base::spend_work(1 + exprs_[id].count / 4)) return kNoText;
  const ExprKind kind = exprs_[id].kind;
  ExprId result = kNoText;
  if (kind == ExprKind::kRepeat) {
    result = derive_inside(expand(id), byte);
  } else if (kind == ExprKind::kNot) {
    result = negate(derive_inside(exprs_[id].b, byte));
  } else {
    const std::uint32_t first = exprs_[id].first;
    const std::uint32_t count = exprs_[id].count;
    // What is on scratch_ from `begin` on belongs to this call: derivatives of
    // the operands before i, without neutral ones.
    const std::size_t begin = scratch_.size();
    // The absorbing element decides, whatever the others derive to, and the
    // neutral one changes nothing.
    const ExprId zero = absorbing_in(kind);
    const ExprId unit = neutral_in(kind);
    for (std::uint32_t i = 0; i < count; ++i) {
      const ExprId operand = operands_[first + i];
      const ExprId derived = kind == ExprKind::kAnd
                                 ? derive_operand(operand, byte)
                                 : derive_inside(operand, byte);
      if (derived != unit) scratch_.push_back(derived);
      if (derived == zero) break;
    }
    result = combine(kind, begin);
    scratch_.resize(begin);
  }
  memo(id) = {epoch_, result};
  return result;
}

// The Or or And of the operands scratch_[begin], ...
//
// Most bytes that distinguish some operand of the whole leave the operands of
// one node alone, so the same lists come again and again: they are looked up
// before they are brought into a normal form.  The cache is direct-mapped, as
// that of derive_operand() is.
ExprId Expressions::combine(ExprKind kind, std::size_t begin) {
  constexpr std::size_t kCombined = 256;
  constexpr std::size_t kLongest = 64;
  const auto first = scratch_.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto make = [&] {
    std::vector<ExprId> operands(first, scratch_.end());
    return kind == ExprKind::kOr ? any_of(std::move(operands))
                                 : all_of(std::move(operands));
  };
  if (scratch_.size() - begin > kLongest) return make();
  std::uint64_t hash = static_cast<std::uint64_t>(kind);
  for (auto it = first; it != scratch_.end(); ++it) {
    hash = (hash ^ *it) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 32;
  }
  if (combined_.empty()) combined_.resize(kCombined);
  Combined& known = combined_[hash % kCombined];
  if (known.kind == kind &&
      std::equal(first, scratch_.end(), known.operands.begin(),
                 known.operands.end())) {
    return known.value;
  }
  const ExprId value = make();
  // What overflowed is unusable.
  if (overflowed_) return value;
  known.operands.assign(first, scratch_.end());
  known.kind = kind;
  known.value = value;
  return value;
}

// derive_inside() for an operand of an And, from a cache of bounded size.
//
// Many states of a conjunction are made of few operands: ten patterns with ten
// derivatives each have 10^10 conjunctions and 100 operands.  So the lazily
// built product reads most of its transitions from those of its components.
//
// The cache is direct-mapped.  An entry stays right forever, because
// expressions are never changed, so one may replace another at any time; a
// larger cache begins empty.
ExprId Expressions::derive_operand(ExprId id, std::uint8_t byte) {
  constexpr std::size_t kFirstEntries = std::size_t{1} << 8;
  constexpr std::size_t kMostEntries = std::size_t{1} << 15;
  if (const auto at_once = derive_at_once(id, byte)) return *at_once;
  const std::uint64_t key = (std::uint64_t{id} << 8 | byte) + 1;
  const auto slot = [&]() -> Derived& {
    const std::uint64_t hash = key * 0x9E3779B97F4A7C15;
    return derived_[(hash >> 40) & (derived_.size() - 1)];
  };
  if (!derived_.empty()) {
    if (const Derived& known = slot(); known.key == key) return known.value;
  }
  const ExprId value = derive_inside(id, byte);
  // What overflowed is unusable.
  if (overflowed_) return value;
  if (derived_count_++ >= derived_.size() && derived_.size() < kMostEntries) {
    const std::size_t size =
        derived_.empty() ? kFirstEntries : derived_.size() * 2;
    derived_.assign(size, {});
    derived_count_ = 1;
  }
  slot() = {key, value};
  return value;
}

// Follows the parts that decide Expr::effort: the nearest operand of an Or, the
// farthest of an And, the rest of an optional repeat.
std::optional<std::uint8_t> Expressions::nearest_byte(ExprId id) {
  for (;;) {
    const Expr& e = exprs_[id];
    const ExprId* const parts = operands_.data() + e.first;
    const auto effort = [this](ExprId part) { return exprs_[part].effort; };
    switch (e.kind) {
      case ExprKind::kChar:
        return tries_[e.a].front().low;
      case ExprKind::kRepeat:
        id = e.min > 0 ? expand(id) : e.b;
        break;
      case ExprKind::kOr:
        id = *std::ranges::min_element(parts, parts + e.count, {}, effort);
        break;
      case ExprKind::kAnd:
        id = *std::ranges::max_element(parts, parts + e.count, {}, effort);
        break;
      case ExprKind::kFalse:
      case ExprKind::kEmpty:
      case ExprKind::kTrue:
      case ExprKind::kAssert:
      case ExprKind::kNot:
        return std::nullopt;
    }
  }
}

// A derivative depends on the byte only through the tries of the characters
// that may come first, so bytes between two of their edges have the same one.
void Expressions::boundaries(ExprId id, base::ByteSet& out) {
  ++epoch_;
  boundaries_inside(id, out);
  if (!uses_context_) return;
  // The boundaries of PreviousChar: newline, digits, letters, '_'.
  for (const std::uint8_t edge :
       {0x0A, 0x0B, 0x30, 0x3A, 0x41, 0x5B, 0x5F, 0x60, 0x61, 0x7B}) {
    base::add_byte(out, edge);
  }
}

void Expressions::boundaries_inside(ExprId id, base::ByteSet& out) {
  const Expr e = exprs_[id];
  if (e.kind == ExprKind::kChar) {
    for (const TrieEdge& edge : tries_[e.a]) {
      base::add_byte(out, edge.low);
      if (edge.high != 0xFF) {
        base::add_byte(out, static_cast<std::uint8_t>(edge.high + 1));
      }
    }
    return;
  }
  if (Memo& known = memo(id); known.epoch == epoch_) return;
  if (!base::spend_work(1 + e.count / 8)) return;
  memo(id) = {epoch_, kNoText};
  if (e.kind == ExprKind::kRepeat) {
    boundaries_inside(expand(id), out);
  } else if (e.kind == ExprKind::kNot) {
    boundaries_inside(e.b, out);
  } else {
    for (std::uint32_t i = 0; i < e.count; ++i) {
      boundaries_inside(operands_[e.first + i], out);
    }
  }
}

}  // namespace parlance::automata
