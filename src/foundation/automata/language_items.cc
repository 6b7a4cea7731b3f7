// Hir -> items.  A class of characters becomes a trie of its UTF-8 encodings;
// parts of a pattern that cannot match are removed on the way.

#include <algorithm>
#include <array>
#include <utility>

#include "automata/language_expressions.h"
#include "base/append_bytes.h"
#include "base/utf8.h"

namespace parlance::automata {
namespace {

using base::append_bytes;
using regex::Assertion;
using regex::CharClass;
using regex::CharRange;
using regex::Hir;
using regex::HirKind;
using regex::HirNode;

constexpr std::uint32_t kMaxItemDepth = 1000;
// Items, with repeated conditions counted as often as they are repeated.
constexpr std::uint64_t kMaxUnrolled = 200000;

// Ranges of code points whose encodings have the same length.
struct Length {
  char32_t first;
  char32_t last;
  unsigned size;
  std::uint8_t lead;  // the bits that mark its first byte
};
constexpr std::array<Length, 5> kLengths = {{{0, 0x7F, 1, 0},
                                             {0x80, 0x7FF, 2, 0xC0},
                                             {0x800, 0xD7FF, 3, 0xE0},
                                             {0xE000, 0xFFFF, 3, 0xE0},
                                             {0x10000, 0x10FFFF, 4, 0xF0}}};

}  // namespace

TrieId Expressions::intern_trie(std::vector<TrieEdge> edges) {
  std::vector<TrieEdge> merged;
  for (const TrieEdge& edge : edges) {
    if (!merged.empty() && merged.back().next == edge.next &&
        merged.back().high + 1 == edge.low) {
      merged.back().high = edge.high;
    } else {
      merged.push_back(edge);
    }
  }
  std::string key;
  for (const TrieEdge& edge : merged) {
    append_bytes(key, std::uint32_t{edge.low} << 8 | edge.high);
    append_bytes(key, edge.next);
  }
  auto [it, fresh] = trie_ids_.try_emplace(key, TrieId(tries_.size()));
  if (fresh) {
    small_bytes_ += key.size() * 2 + 100;
    base::Fingerprinter print(merged.size());
    for (const TrieEdge& edge : merged) {
      print.add(std::uint64_t{edge.low} << 8 | edge.high);
      print.add(trie_fingerprints_[edge.next]);
    }
    trie_fingerprints_.push_back(print.take());
    tries_.push_back(std::move(merged));
    plain_.push_back(Plain::kNone);
    alike_.push_back(false);
  }
  return it->second;
}

// One level of trie(): `parts` are ascending ranges of numbers, each with the
// trie of the bytes that follow.  Numbers that share all but their last six
// bits become one trie: its edges are the last six bits, and the shared bits
// are its number one level up.
//
// Invariant: `edges` has the edges for the numbers of `group` so far, and
// `upper` has all groups before it.
std::vector<Expressions::TriePart> Expressions::level_up(
    const std::vector<TriePart>& parts) {
  std::vector<TriePart> upper;
  std::vector<TrieEdge> edges;
  std::uint32_t group = 0;
  const auto flush = [&] {
    if (edges.empty()) return;
    const TrieId next = intern_trie(std::move(edges));
    edges.clear();
    if (!upper.empty() && upper.back().next == next &&
        upper.back().high + 1 == group) {
      upper.back().high = group;
    } else {
      upper.push_back({group, group, next});
    }
  };
  const auto push = [&](std::uint32_t low, std::uint32_t high, TrieId next) {
    if (low >> 6 != group) flush();
    group = low >> 6;
    edges.push_back({static_cast<std::uint8_t>(0x80 | (low & 63)),
                     static_cast<std::uint8_t>(0x80 | (high & 63)), next});
  };
  for (const TriePart& part : parts) {
    const std::uint32_t low = part.low;
    const std::uint32_t first_end = std::min(part.high, low | 63);
    push(low, first_end, part.next);
    if (first_end == part.high) continue;
    // Groups that the range covers completely all have the same trie.
    const std::uint32_t last_group = part.high >> 6;
    const bool last_full = (part.high & 63) == 63;
    const std::uint32_t full_begin = (first_end + 1) >> 6;
    const std::uint32_t full_end = last_full ? last_group + 1 : last_group;
    if (full_begin < full_end) {
      push(full_begin << 6, full_begin << 6 | 63, part.next);
      flush();
      upper.back().high = full_end - 1;
      group = full_end - 1;
    }
    if (!last_full) push(last_group << 6, part.high, part.next);
  }
  flush();
  return upper;
}

// Builds the trie of each encoding length bottom up, from the last byte to the
// first.  Invariant of the loop over `level`: `parts` are disjoint ascending
// ranges of numbers, made of the leading bits of the code points: all bits at
// first, six fewer per level.
TrieId Expressions::trie(const CharClass& set) {
  std::vector<TrieEdge> root;
  for (const Length& length : kLengths) {
    std::vector<TriePart> parts;
    for (CharRange range : set.ranges()) {
      char32_t low = std::max(range.first, length.first);
      char32_t high = std::min(range.last, length.last);
      if (low <= high) parts.push_back({low, high, kTrieEnd});
    }
    for (unsigned level = length.size; level > 1; --level) {
      parts = level_up(parts);
    }
    for (const TriePart& part : parts) {
      root.push_back({static_cast<std::uint8_t>(length.lead | part.low),
                      static_cast<std::uint8_t>(length.lead | part.high),
                      part.next});
    }
  }
  if (root.empty()) return kTrieEnd;
  const TrieId id = intern_trie(std::move(root));
  if (plain_[id] == Plain::kNone) {
    const CharClass common = set.intersect(plain_chars());
    plain_[id] = common.empty()            ? Plain::kNone
                 : common == plain_chars() ? Plain::kAll
                                           : Plain::kSome;
    static const CharClass beyond =
        plain_chars().intersect(CharClass({{0x80, regex::kMaxCodePoint}}));
    const CharClass high = common.intersect(beyond);
    alike_[id] = high.empty() || high == beyond;
  }
  return id;
}

TrieId Expressions::trie_of(char32_t c) {
  if (c >= trie_of_ascii_.size()) return trie(CharClass({{c, c}}));
  TrieId& known = trie_of_ascii_[c];
  if (known == kTrieEnd) known = trie(CharClass({{c, c}}));
  return known;
}

const CharClass& plain_chars() {
  static const CharClass plain({{0x20, 0x84},
                                {0x86, 0x2027},
                                {0x202A, 0xD7FF},
                                {0xE000, regex::kMaxCodePoint}});
  return plain;
}

// --- Items ------------------------------------------------------------------

// Computes the properties whose rule depends on the kind of the item;
// compute_properties() adds those that every kind takes from its children.
//
// `front` bounds the recursion of a derivative, which enters the parts that may
// come first; `most_needed` is the most that can be missing at any point inside
// a match: at a point inside one part, what that part still needs and all of
// the parts after it.
void Expressions::compute_lengths(Item& item) const {
  const auto& of = item.children;
  switch (item.kind) {
    case ItemKind::kNothing:
      item.min_chars = kInfinite;
      break;
    case ItemKind::kEmpty:
      item.nullable = true;
      break;
    case ItemKind::kChar:
      item.min_chars = item.max_chars = item.most_needed = 1;
      break;
    case ItemKind::kConcat:
      item.nullable = true;
      for (ItemId child : of) {
        const Item& part = items_[child];
        item.context = item.context || (item.nullable && part.context);
        item.nullable = item.nullable && part.nullable;
        // Inside this part, or inside one before it.
        item.most_needed = std::max(
            part.most_needed, saturating_add(item.most_needed, part.min_chars));
        item.min_chars = saturating_add(item.min_chars, part.min_chars);
        item.max_chars = saturating_add(item.max_chars, part.max_chars);
        item.front += part.front;
      }
      break;
    case ItemKind::kAlternation:
      item.min_chars = kInfinite;
      for (ItemId child : of) {
        const Item& part = items_[child];
        item.context = item.context || part.context;
        item.nullable = item.nullable || part.nullable;
        item.min_chars = std::min(item.min_chars, part.min_chars);
        item.max_chars = std::max(item.max_chars, part.max_chars);
        item.most_needed = std::max(item.most_needed, part.most_needed);
        item.front = std::max(item.front, part.front + 1);
      }
      break;
    case ItemKind::kRepeat: {
      const Item& part = items_[of[0]];
      item.context = part.context;
      item.nullable = item.min == 0 || part.nullable;
      item.min_chars = saturating_multiply(part.min_chars, item.min);
      item.most_needed = saturating_add(
          part.most_needed,
          saturating_multiply(part.min_chars, std::max(item.min, 1U) - 1));
      item.max_chars = saturating_multiply(
          part.max_chars, item.max == base::kUnbounded ? kInfinite : item.max);
      item.front = part.front + 1;
      break;
    }
    case ItemKind::kLook:
      item.nullable = item.conditional = true;
      item.context = items_[of[0]].context;
      item.front = items_[of[0]].front + 1;
      break;
    case ItemKind::kAssert:
      item.nullable = item.conditional = true;
      item.context = item.assertion != Assertion::kTextEnd &&
                     item.assertion != Assertion::kTextEndNewline &&
                     item.assertion != Assertion::kLineEnd;
      item.front = 2;
      break;
  }
}

// Of one character: the first that is in ASCII, if there is one.
AsciiChars Expressions::ascii_of(TrieId trie) const {
  AsciiChars chars{.in_all = {}, .in_one = {}};
  const std::vector<TrieEdge>& edges = tries_[trie];
  const TrieEdge& first = edges.front();
  if (first.low >= 0x80) return chars;
  chars.in_one.set(first.low);
  if (edges.size() == 1 && first.low == first.high) {
    chars.in_all = chars.in_one;
  }
  return chars;
}

AsciiChars Expressions::ascii_of(const Item& item) const {
  const auto& of = item.children;
  AsciiChars chars{.in_all = {}, .in_one = {}};
  switch (item.kind) {
    case ItemKind::kChar:
      return ascii_of(item.trie);
    case ItemKind::kConcat:
      for (ItemId child : of) {
        chars.in_all |= items_[child].ascii.in_all;
        chars.in_one |= items_[child].ascii.in_one;
      }
      return chars;
    case ItemKind::kAlternation:
      chars.in_all.set();
      for (ItemId child : of) chars.in_all &= items_[child].ascii.in_all;
      chars.in_one =
          items_[*std::ranges::min_element(of, {}, [&](ItemId child) {
            return items_[child].min_chars;
          })].ascii.in_one;
      return chars;
    case ItemKind::kRepeat:
      return item.min == 0 ? chars : items_[of[0]].ascii;
    case ItemKind::kNothing:
    case ItemKind::kEmpty:
    case ItemKind::kLook:
    case ItemKind::kAssert:
      break;
  }
  return chars;
}

// Computes the properties of an item from those of its children.
void Expressions::compute_properties(Item& item) const {
  const auto& of = item.children;
  compute_lengths(item);
  item.ascii = ascii_of(item);
  if (item.kind == ItemKind::kChar) item.alike = alike_[item.trie];
  if (item.kind == ItemKind::kAssert) item.alike = false;
  for (ItemId child : of) {
    item.alike = item.alike && items_[child].alike;
    item.depth = std::max(item.depth, items_[child].depth + 1);
    item.conditional = item.conditional || items_[child].conditional;
    item.unrolled = saturating_add(item.unrolled, items_[child].unrolled);
  }
  if (item.kind == ItemKind::kRepeat && items_[of[0]].nullable) {
    item.unrolled = saturating_multiply(item.unrolled, std::max(item.min, 1U));
  }
}

base::Fingerprint Expressions::fingerprint_of(const Item& item) const {
  base::Fingerprinter print(static_cast<std::uint64_t>(item.kind));
  print.add(std::uint64_t{item.negative} |
            static_cast<std::uint64_t>(item.assertion) << 1);
  print.add(std::uint64_t{item.min} << 32 | item.max);
  print.add(trie_fingerprints_[item.trie]);
  print.add(std::uint64_t{item.children.size()});
  for (const ItemId child : item.children) {
    print.add(items_[child].fingerprint);
  }
  return print.take();
}

ItemId Expressions::intern_item(Item item) {
  compute_properties(item);
  if (item.context) uses_context_ = true;
  std::string key;
  append_bytes(key, static_cast<std::uint32_t>(item.kind) << 16 |
                        static_cast<std::uint32_t>(item.assertion) << 1 |
                        static_cast<std::uint32_t>(item.negative));
  append_bytes(key, item.min);
  append_bytes(key, item.max);
  append_bytes(key, item.trie);
  for (ItemId child : item.children) append_bytes(key, child);
  auto [it, fresh] = item_ids_.try_emplace(key, ItemId(items_.size()));
  if (fresh) {
    small_bytes_ += key.size() * 2 + sizeof(Item) + 80;
    item.fingerprint = fingerprint_of(item);
    items_.push_back(std::move(item));
  }
  return it->second;
}

ItemId Expressions::concat(std::vector<ItemId> children) {
  std::vector<ItemId> nonempty;
  for (ItemId child : children) {
    if (child == kNoItem) return kNoItem;
    if (child != kEmptyItem) nonempty.push_back(child);
  }
  if (nonempty.empty()) return kEmptyItem;
  if (nonempty.size() == 1) return nonempty[0];
  return intern_item(
      {.kind = ItemKind::kConcat, .children = std::move(nonempty)});
}

ItemId Expressions::alternation(std::vector<ItemId> children) {
  std::sort(children.begin(), children.end());
  children.erase(std::unique(children.begin(), children.end()), children.end());
  std::erase(children, kNoItem);
  constexpr std::size_t kMany = 8;
  if (children.size() >= kMany) share_prefixes(children);
  if (children.empty()) return kNoItem;
  if (children.size() == 1) return children[0];
  return intern_item(
      {.kind = ItemKind::kAlternation, .children = std::move(children)});
}

// Replaces the alternatives that begin with characters by their trie: ab|ac is
// a(b|c).  The derivative of a list of words by a letter then is one branch,
// where that of their union looks at every word.
void Expressions::share_prefixes(std::vector<ItemId>& children) {
  std::vector<std::vector<ItemId>> words;
  std::vector<ItemId> others;
  for (const ItemId child : children) {
    const Item& item = items_[child];
    std::vector<ItemId> word = {child};
    if (item.kind == ItemKind::kConcat) word = item.children;
    if (items_[word.front()].kind == ItemKind::kChar) {
      words.push_back(std::move(word));
    } else {
      others.push_back(child);
    }
  }
  std::sort(words.begin(), words.end());
  const std::vector<ItemId> branches = prefix_trie(words);
  if (branches.empty()) return;
  others.insert(others.end(), branches.begin(), branches.end());
  std::sort(others.begin(), others.end());
  children = std::move(others);
}

// The branches of the root of the trie of the words, which are sorted.  None if
// the trie has many levels, because expressions may not be nested deeply.
//
// `pending` is a stack of ranges of words that have the same first `depth`
// characters, as in strings().
std::vector<ItemId> Expressions::prefix_trie(
    const std::vector<std::vector<ItemId>>& words) {
  constexpr std::size_t kMostLevels = 64;
  struct Range {
    std::size_t end, depth, at;
    ItemId open;  // that the branch being built begins with
    std::vector<ItemId> branches = {};
  };
  // Invariant: pending[k + 1] is a part of pending[k], one character deeper,
  // and begins with pending[k].open.  Words before `at` of a range are in its
  // branches.
  std::vector<Range> pending = {{words.size(), 0, 0, kNoItem}};
  while (pending.size() <= kMostLevels) {
    Range& top = pending.back();
    if (top.at == top.end) {
      std::vector<ItemId> branches = std::move(top.branches);
      pending.pop_back();
      if (pending.empty()) return branches;
      std::sort(branches.begin(), branches.end());
      const ItemId any = branches.size() == 1
                             ? branches[0]
                             : intern_item({.kind = ItemKind::kAlternation,
                                            .children = std::move(branches)});
      pending.back().branches.push_back(concat({pending.back().open, any}));
      continue;
    }
    const std::vector<ItemId>& first = words[top.at];
    const bool shared = first.size() > top.depth &&
                        items_[first[top.depth]].kind == ItemKind::kChar;
    std::size_t end = top.at + 1;
    while (shared && end < top.end && words[end].size() > top.depth &&
           words[end][top.depth] == first[top.depth]) {
      ++end;
    }
    const std::size_t begin = std::exchange(top.at, end);
    if (end - begin > 1) {
      top.open = first[top.depth];
      pending.push_back({end, top.depth + 1, begin, kNoItem});
    } else {
      top.branches.push_back(
          concat({first.begin() + static_cast<std::ptrdiff_t>(top.depth),
                  first.end()}));
    }
  }
  return {};
}

ItemId Expressions::repeat_item(ItemId child, std::uint32_t min,
                                std::uint32_t max) {
  if (child == kNoItem) return min == 0 ? kEmptyItem : kNoItem;
  if (child == kEmptyItem || max == 0) return kEmptyItem;
  if (min == 1 && max == 1) return child;
  const Item& inner = items_[child];
  if (inner.nullable && !inner.conditional) min = 0;
  // (x+)*, (x*)+ and the like are one repeat.
  if (inner.kind == ItemKind::kRepeat && max == base::kUnbounded &&
      inner.max == base::kUnbounded && inner.min <= 1 && min <= 1) {
    min = std::min(min, inner.min);
    child = inner.children[0];
  }
  return intern_item(
      {.kind = ItemKind::kRepeat, .min = min, .max = max, .children = {child}});
}

ItemId Expressions::look(ItemId child, bool negative) {
  if (child == kNoItem) return negative ? kEmptyItem : kNoItem;
  if (items_[child].nullable && !items_[child].conditional) {
    return negative ? kNoItem : kEmptyItem;
  }
  return intern_item(
      {.kind = ItemKind::kLook, .negative = negative, .children = {child}});
}

ItemId Expressions::assertion(Assertion assertion) {
  return intern_item({.kind = ItemKind::kAssert, .assertion = assertion});
}

ItemId Expressions::char_item(TrieId trie) {
  if (trie == kTrieEnd) return kNoItem;
  return intern_item({.kind = ItemKind::kChar, .trie = trie});
}

ItemId Expressions::text_item(std::string_view text) {
  std::vector<ItemId> children;
  for (std::size_t at = 0; at < text.size();) {
    children.push_back(char_item(trie_of(base::next_code_point(text, at))));
  }
  return concat(std::move(children));
}

// The item of a node with these children.
Result<ItemId> Expressions::item_of(const HirNode& node,
                                    std::vector<ItemId> children) {
  const auto unsupported = [](std::string what) {
    return Error{ErrorCode::kUnsupportedPattern,
                 "The pattern has " + std::move(what) +
                     ", which cannot be enforced while a text is written."};
  };
  switch (node.kind) {
    case HirKind::kEmpty:
      return kEmptyItem;
    case HirKind::kNothing:
      return kNoItem;
    case HirKind::kLiteral:
      return text_item(node.text);
    case HirKind::kClass:
      return char_item(trie(node.char_class));
    case HirKind::kConcat:
      return concat(std::move(children));
    case HirKind::kAlternation:
      return alternation(std::move(children));
    case HirKind::kRepeat:
      if (node.possessive) return unsupported("a possessive repeat");
      return repeat_item(children[0], node.min, node.max);
    case HirKind::kCapture:
      return children[0];
    case HirKind::kAssert:
      return assertion(node.assertion);
    case HirKind::kLook:
      if (node.behind) return unsupported("a look-behind");
      return look(children[0], node.negative);
    case HirKind::kAtomic:
      return unsupported("an atomic group");
    case HirKind::kBackref:
      return unsupported("a back-reference");
    case HirKind::kConditional:
      return unsupported("a conditional");
  }
  return kNoItem;
}

Result<ItemId> Expressions::from_hir(const Hir& hir, std::size_t max_size) {
  std::vector<ItemId> items(hir.nodes.size(), kNoItem);
  std::size_t size = hir.nodes.size();
  for (std::size_t i = 0; i < hir.nodes.size(); ++i) {
    const HirNode& node = hir.nodes[i];
    size += node.text.size();
    if (size > max_size) {
      return Error{ErrorCode::kTooLarge,
                   "The pattern has more than " + std::to_string(max_size) +
                       " parts (LanguageLimits::pattern_size)."};
    }
    std::vector<ItemId> children;
    for (regex::HirId child : node.children) children.push_back(items[child]);
    Result<ItemId> made = item_of(node, std::move(children));
    if (!made) return made;
    items[i] = *made;
    if (items_[items[i]].depth > kMaxItemDepth) {
      return Error{ErrorCode::kTooLarge, "The pattern is nested too deeply."};
    }
    if (items_[items[i]].unrolled > kMaxUnrolled) {
      return Error{ErrorCode::kTooLarge,
                   items_[items[i]].conditional
                       ? "The pattern repeats conditions (look-aheads, ^, $, "
                         "\\b) too often."
                       : "The pattern has more than " +
                             std::to_string(kMaxUnrolled) +
                             " parts when its repeats are written out."};
    }
  }
  return items.back();
}

ItemId Expressions::not_at_start(ItemId id) {
  // A copy, because the table grows during the recursion.  The recursion is no
  // deeper than kMaxItemDepth.
  const Item item = items_[id];
  if (!item.conditional) return id;
  std::vector<ItemId> children;
  for (ItemId child : item.children) children.push_back(not_at_start(child));
  switch (item.kind) {
    case ItemKind::kAssert:
      return item.assertion == Assertion::kTextStart ? kNoItem : id;
    case ItemKind::kConcat:
      return concat(std::move(children));
    case ItemKind::kAlternation:
      return alternation(std::move(children));
    case ItemKind::kRepeat:
      return repeat_item(children[0], item.min, item.max);
    case ItemKind::kLook:
      return look(children[0], item.negative);
    case ItemKind::kNothing:
    case ItemKind::kEmpty:
    case ItemKind::kChar:
      break;
  }
  return id;
}

}  // namespace parlance::automata
