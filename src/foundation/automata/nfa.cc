// Hir -> Nfa: Thompson's construction (1968), back to front.  The instruction
// after a construct is compiled before the construct, so its address is known
// and only loops are patched.
//
// Recursion is bounded by the depth of the pattern, which its reader limits
// (Limits::pattern_depth).

#include "automata/nfa.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/mix.h"
#include "base/mutex.h"
#include "base/utf8.h"

namespace parlance::automata {
namespace {

using regex::CharClass;
using regex::CharRange;
using regex::Hir;
using regex::HirId;
using regex::HirKind;
using regex::HirNode;

constexpr Pc kNoPc = 0xFFFFFFFF;

// One way of encoding some of the characters of a class: up to four byte
// ranges.
struct Utf8Sequence {
  std::array<std::pair<std::uint8_t, std::uint8_t>, 4> bytes;
  std::size_t size = 0;
};

std::size_t encoded_size(char32_t c) {
  return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
}

// The UTF-8 of `c`, surrogates included.
std::array<std::uint8_t, 4> encode(char32_t c) {
  const auto tail = [c](unsigned shift) {
    return static_cast<std::uint8_t>(0x80 | ((c >> shift) & 0x3F));
  };
  const auto lead = [c](unsigned shift, unsigned bits) {
    return static_cast<std::uint8_t>(bits | (c >> shift));
  };
  if (c < 0x80) return {lead(0, 0)};
  if (c < 0x800) return {lead(6, 0xC0), tail(0)};
  if (c < 0x10000) return {lead(12, 0xE0), tail(6), tail(0)};
  return {lead(18, 0xF0), tail(12), tail(6), tail(0)};
}

// Splits a range of code points into ranges whose encodings are products of
// byte ranges: first at changes of length, then so that where two ends differ
// in a byte all bytes after it have the full range 80..BF.  `todo` is scratch.
void split_range(CharRange range, std::vector<CharRange>& todo,
                 std::vector<Utf8Sequence>& out) {
  todo.assign(1, range);
  while (!todo.empty()) {
    CharRange r = todo.back();
    todo.pop_back();
    bool split = false;
    for (char32_t limit : {char32_t{0x7F}, char32_t{0x7FF}, char32_t{0xFFFF}}) {
      if (r.first <= limit && limit < r.last) {
        todo.push_back({limit + 1, r.last});
        todo.push_back({r.first, limit});
        split = true;
        break;
      }
    }
    if (split) continue;
    std::size_t size = encoded_size(r.first);
    for (std::size_t i = 1; i < size && !split; ++i) {
      char32_t mask = (char32_t{1} << (6 * i)) - 1;
      if ((r.first & ~mask) == (r.last & ~mask)) continue;
      if ((r.first & mask) != 0) {
        todo.push_back({(r.first | mask) + 1, r.last});
        todo.push_back({r.first, r.first | mask});
        split = true;
      } else if ((r.last & mask) != mask) {
        todo.push_back({r.last & ~mask, r.last});
        todo.push_back({r.first, (r.last & ~mask) - 1});
        split = true;
      }
    }
    if (split) continue;
    const auto low = encode(r.first);
    const auto high = encode(r.last);
    Utf8Sequence sequence;
    sequence.size = size;
    for (std::size_t i = 0; i < size; ++i) {
      sequence.bytes[i] = {low[i], high[i]};
    }
    out.push_back(sequence);
  }
}

// Instructions by their edges, to find an equal one: open addressing, at most
// half full.
class EdgeTable {
 public:
  void clear() {
    slots_.clear();
    count_ = 0;
  }

  // The instruction for which `equal(pc)` is true, or kNoPc.  `hash` is that of
  // its edges.
  template <class Equal>
  Pc find(std::uint64_t hash, const Equal& equal) const {
    if (slots_.empty()) return kNoPc;
    for (std::size_t at = hash & mask();; at = (at + 1) & mask()) {
      if (slots_[at] == kNoPc || equal(slots_[at])) return slots_[at];
    }
  }

  // REQUIRES: find(hash, ...) is kNoPc.  `rehash(pc)` is the hash of an
  // instruction in the table.
  template <class Rehash>
  void insert(std::uint64_t hash, Pc pc, const Rehash& rehash) {
    if (2 * (count_ + 1) > slots_.size()) {
      const std::vector<Pc> old = std::move(slots_);
      slots_.assign(std::max<std::size_t>(64, 4 * old.size()), kNoPc);
      for (const Pc known : old) {
        if (known != kNoPc) place(rehash(known), known);
      }
    }
    place(hash, pc);
    ++count_;
  }

 private:
  std::size_t mask() const { return slots_.size() - 1; }
  void place(std::uint64_t hash, Pc pc) {
    std::size_t at = hash & mask();
    while (slots_[at] != kNoPc) at = (at + 1) & mask();
    slots_[at] = pc;
  }

  std::vector<Pc> slots_;  // a power of two
  std::size_t count_ = 0;
};

std::uint64_t hash_of(std::span<const Edge> edges) {
  std::uint64_t hash = edges.size();
  for (const Edge& edge : edges) {
    base::mix(hash, std::uint64_t{edge.low} << 48 |
                        std::uint64_t{edge.high} << 32 | edge.next);
  }
  return hash ^ (hash >> 32);
}

// The trie of a class's encodings: nodes in the order in which they are
// compiled, children before their parents, equal ones once.  The target of an
// edge is a node, or kNoPc: the character is complete.
struct ClassTrie {
  struct Node {
    std::uint32_t first = 0;  // in `edges`
    std::uint32_t count = 0;
  };
  std::vector<Node> nodes;  // the last one is the root
  std::vector<Edge> edges;

  std::span<const Edge> edges_of(const Node& node) const {
    return std::span(edges).subspan(node.first, node.count);
  }
};

class TrieBuilder {
 public:
  explicit TrieBuilder(const CharClass& cls) {
    std::vector<CharRange> todo;
    sequences_.reserve(2 * cls.ranges().size());
    for (CharRange range : cls.ranges()) split_range(range, todo, sequences_);
  }

  ClassTrie run() {
    add_node(0, sequences_.size(), 0);
    return std::move(trie_);
  }

 private:
  // The node for sequences [begin, end), from byte `depth` on.  The root is
  // always a node of its own.
  Pc add_node(std::size_t begin, std::size_t end, std::size_t depth) {
    const std::size_t own = open_.size();  // where the node's edges begin
    for (std::size_t i = begin; i < end;) {
      std::size_t j = i + 1;
      while (j < end &&
             sequences_[j].bytes[depth] == sequences_[i].bytes[depth] &&
             sequences_[i].size > depth + 1) {
        ++j;
      }
      const Pc target =
          sequences_[i].size == depth + 1 ? kNoPc : add_node(i, j, depth + 1);
      const auto [low, high] = sequences_[i].bytes[depth];
      if (open_.size() > own && open_.back().next == target &&
          open_.back().high + 1 == low) {
        open_.back().high = high;
      } else {
        open_.push_back({low, high, target});
      }
      i = j;
    }
    const std::span<const Edge> edges = std::span(open_).subspan(own);
    const std::uint64_t hash = hash_of(edges);
    Pc node = depth == 0 ? kNoPc : known_.find(hash, [&](Pc pc) {
      return std::ranges::equal(trie_.edges_of(trie_.nodes[pc]), edges);
    });
    if (node == kNoPc) {
      node = static_cast<Pc>(trie_.nodes.size());
      trie_.nodes.push_back({static_cast<std::uint32_t>(trie_.edges.size()),
                             static_cast<std::uint32_t>(edges.size())});
      trie_.edges.insert(trie_.edges.end(), edges.begin(), edges.end());
      known_.insert(hash, node, [&](Pc pc) {
        return hash_of(trie_.edges_of(trie_.nodes[pc]));
      });
    }
    open_.resize(own);
    return node;
  }

  std::vector<Utf8Sequence> sequences_;
  ClassTrie trie_;
  std::vector<Edge> open_;  // edges of the nodes being built, outermost first
  EdgeTable known_;
};

// A cache of tries: of the last kKeptTries classes that have at least
// kKeptRanges and at most kMostKeptRanges ranges.
constexpr std::size_t kKeptRanges = 8;
constexpr std::size_t kMostKeptRanges = 4096;
constexpr std::size_t kKeptTries = 16;

// The trie of `cls`.  Patterns repeat few large classes (\w, \s, \d and unions
// of them), whose tries take longer to build than to copy, so the last few are
// kept for the whole process.
std::shared_ptr<const ClassTrie> trie_of(const CharClass& cls) {
  if (cls.ranges().size() < kKeptRanges ||
      cls.ranges().size() > kMostKeptRanges) {
    return std::make_shared<const ClassTrie>(TrieBuilder(cls).run());
  }
  struct Kept {
    CharClass cls;
    std::shared_ptr<const ClassTrie> trie;
  };
  struct Cache {
    base::Mutex mutex;
    std::vector<Kept> kept;
    std::size_t oldest = 0;
  };
  // Never destroyed: threads may outlive static destructors.
  static Cache& cache = *new Cache;
  {
    std::lock_guard lock(cache.mutex);
    for (const Kept& kept : cache.kept) {
      if (kept.cls == cls) return kept.trie;
    }
  }
  auto trie = std::make_shared<const ClassTrie>(TrieBuilder(cls).run());
  std::lock_guard lock(cache.mutex);
  if (cache.kept.size() < kKeptTries) {
    cache.kept.push_back({cls, trie});
  } else {
    cache.kept[cache.oldest] = {cls, trie};
    cache.oldest = (cache.oldest + 1) % kKeptTries;
  }
  return trie;
}

// Whether a character class takes a mark as if it were one character.
bool class_takes(const CharClass& cls, const Mark& mark) {
  for (std::size_t i = 0; i < mark.spelling.size();) {
    if (!cls.contains(base::next_code_point(mark.spelling, i))) return false;
  }
  return true;
}

// By node: whether it may match nothing.
std::vector<bool> nullable_nodes(const Hir& hir) {
  std::vector<bool> nullable(hir.nodes.size(), false);
  for (std::size_t i = 0; i < hir.nodes.size(); ++i) {
    const HirNode& node = hir.nodes[i];
    auto child = [&](std::size_t c) { return nullable[node.children[c]]; };
    switch (node.kind) {
      case HirKind::kEmpty:
      case HirKind::kAssert:
      case HirKind::kLook:
        nullable[i] = true;
        break;
      case HirKind::kLiteral:
        nullable[i] = node.text.empty();
        break;
      case HirKind::kConcat:
        nullable[i] = true;
        for (HirId c : node.children) {
          nullable[i] = nullable[i] && nullable[c];
        }
        break;
      case HirKind::kAlternation:
        for (HirId c : node.children) {
          nullable[i] = nullable[i] || nullable[c];
        }
        break;
      case HirKind::kRepeat:
        nullable[i] = node.min == 0 || child(0);
        break;
      case HirKind::kCapture:
        nullable[i] = child(0);
        break;
      default:
        break;
    }
  }
  return nullable;
}

class Compiler {
 public:
  Compiler(const std::vector<Mark>& marks, std::size_t max_states)
      : marks_(marks), max_states_(max_states) {
    nfa_.mark_count = marks.size();
  }

  Result<Nfa> run(const std::vector<PatternSpec>& patterns) {
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      pattern_ = static_cast<std::uint32_t>(i);
      spec_ = &patterns[i];
      hir_ = spec_->hir;
      nullable_ = nullable_nodes(*hir_);
      symbols_.clear();
      nfa_.slots = std::max(nfa_.slots, 2 + 2 * spec_->groups.size());
      Pc match = add({.op = Op::kMatch, .first = pattern_});
      HirId root = HirId(hir_->nodes.size() - 1);
      nfa_.entries.push_back(compile(root, match));
      nfa_.matches_empty = nfa_.matches_empty || nullable_[root];
      if (unsupported_) {
        return Error{ErrorCode::kUnsupportedPattern,
                     "an end of text (\\Z or $) inside a look-ahead has to be "
                     "the last thing in it"};
      }
      if (too_large_) {
        return Error{ErrorCode::kTooLarge,
                     "the pattern needs more than " +
                         std::to_string(max_states_) +
                         " states (Limits::pattern_states); use smaller "
                         "repeat counts"};
      }
    }
    classify();
    return std::move(nfa_);
  }

 private:
  Pc add(Inst inst) {
    if (nfa_.insts.size() >= max_states_) {
      too_large_ = true;
      return 0;
    }
    nfa_.insts.push_back(inst);
    nfa_.pattern_of.push_back(pattern_);
    return static_cast<Pc>(nfa_.insts.size() - 1);
  }

  Pc add_union(const std::vector<Pc>& targets) {
    auto first = static_cast<std::uint32_t>(nfa_.targets.size());
    nfa_.targets.insert(nfa_.targets.end(), targets.begin(), targets.end());
    return add({.op = Op::kUnion,
                .first = first,
                .count = static_cast<std::uint32_t>(targets.size())});
  }

  // A union of two whose targets are filled in later.
  Pc add_loop() { return add_union({kNoPc, kNoPc}); }
  void set_loop(Pc loop, bool greedy, Pc body, Pc exit) {
    if (too_large_) return;
    std::uint32_t first = nfa_.insts[loop].first;
    nfa_.targets[first] = greedy ? body : exit;
    nfa_.targets[first + 1] = greedy ? exit : body;
  }

  Pc add_symbols(std::initializer_list<Edge> edges) {
    return add_symbols(std::span<const Edge>(edges.begin(), edges.size()));
  }

  // An instruction of the pattern with these edges: tries of classes have many
  // equal tails.
  Pc add_symbols(std::span<const Edge> edges) {
    const std::uint64_t hash = hash_of(edges);
    const Pc known = symbols_.find(
        hash, [&](Pc pc) { return std::ranges::equal(edges, edges_of(pc)); });
    if (known != kNoPc) return known;
    auto first = static_cast<std::uint32_t>(nfa_.edges.size());
    nfa_.edges.insert(nfa_.edges.end(), edges.begin(), edges.end());
    const Pc made = add({.op = Op::kSymbols,
                         .first = first,
                         .count = static_cast<std::uint32_t>(edges.size())});
    if (!too_large_) {
      symbols_.insert(hash, made, [&](Pc pc) { return hash_of(edges_of(pc)); });
    }
    return made;
  }

  std::span<const Edge> edges_of(Pc pc) const {
    const Inst& inst = nfa_.insts[pc];
    return std::span(nfa_.edges).subspan(inst.first, inst.count);
  }

  // The longest mark spelled at `text[i]`.
  std::optional<std::size_t> mark_at(std::string_view text,
                                     std::size_t i) const {
    std::optional<std::size_t> best;
    for (std::size_t m = 0; m < marks_.size(); ++m) {
      const std::string& spelling = marks_[m].spelling;
      if (text.substr(i, spelling.size()) == spelling &&
          (!best || spelling.size() > marks_[*best].spelling.size())) {
        best = m;
      }
    }
    return best;
  }

  // A literal is cut into marks and the text between them.  `optional`: white
  // space at this end of the text, which a tokenizer may have dropped.
  struct Piece {
    std::string_view text;
    std::optional<std::size_t> mark;
    bool optional = false;
  };

  // Appends text between two marks, or at an end of a literal.
  void add_text(std::string_view text, bool after_strip, bool before_strip,
                std::vector<Piece>& pieces) const {
    constexpr std::string_view kWhite = " \t\n\v\f\r";
    std::size_t begin = 0;
    if (after_strip) {
      begin = std::min(text.find_first_not_of(kWhite), text.size());
    }
    std::size_t end = text.size();
    if (before_strip) {
      end = std::max(text.find_last_not_of(kWhite) + 1, begin);
    }
    const auto add = [&](std::size_t from, std::size_t to, bool optional) {
      if (from < to) {
        pieces.push_back({text.substr(from, to - from), {}, optional});
      }
    };
    add(0, begin, true);
    add(begin, end, false);
    add(end, text.size(), true);
  }

  std::vector<Piece> pieces_of(std::string_view text) const {
    std::vector<Piece> pieces;
    std::size_t done = 0;
    bool after_strip = false;
    for (std::size_t i = 0; i < text.size();) {
      const std::optional<std::size_t> mark = mark_at(text, i);
      if (!mark) {
        ++i;
        continue;
      }
      add_text(text.substr(done, i - done), after_strip,
               marks_[*mark].strips_left, pieces);
      const std::size_t size = marks_[*mark].spelling.size();
      pieces.push_back({text.substr(i, size), mark});
      i += size;
      done = i;
      after_strip = marks_[*mark].strips_right;
    }
    add_text(text.substr(done), after_strip, false, pieces);
    return pieces;
  }

  Pc literal(std::string_view text, Pc next) {
    const std::vector<Piece> pieces = pieces_of(text);
    for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
      if (piece->mark && !marks_[*piece->mark].spelled) {
        const auto symbol = static_cast<Symbol>(kFirstMark + *piece->mark);
        next = add_symbols({{symbol, symbol, next}});
        continue;
      }
      // Invariant: `at` is where the rest of the characters begins.
      Pc at = next;
      for (std::size_t i = piece->text.size(); i > 0; --i) {
        const auto byte = static_cast<unsigned char>(piece->text[i - 1]);
        if (i == 1 && piece->mark) {
          const auto symbol = static_cast<Symbol>(kFirstMark + *piece->mark);
          at = add_symbols({{byte, byte, at}, {symbol, symbol, next}});
        } else {
          at = add_symbols({{byte, byte, at}});
        }
      }
      next = piece->optional ? add_union({at, next}) : at;
    }
    return next;
  }

  // Invariant: made_[i] is the instruction of node i of the trie.
  Pc char_class(const CharClass& cls, Pc next) {
    const std::shared_ptr<const ClassTrie> trie = trie_of(cls);
    made_.clear();
    for (const ClassTrie::Node& node : trie->nodes) {
      node_edges_.clear();
      for (const Edge& edge : trie->edges_of(node)) {
        node_edges_.push_back({edge.low, edge.high,
                               edge.next == kNoPc ? next : made_[edge.next]});
      }
      if (made_.size() + 1 == trie->nodes.size()) {
        for (std::size_t m = 0; m < marks_.size(); ++m) {
          const auto symbol = static_cast<Symbol>(kFirstMark + m);
          if (!class_takes(cls, marks_[m])) continue;
          node_edges_.push_back({symbol, symbol, next});
        }
      }
      made_.push_back(add_symbols(node_edges_));
    }
    return made_.back();
  }

  // A sub-program for \Z, $ and their relatives: [newline] end.
  Pc end_condition(bool newline, bool newline_alone, Pc next) {
    if (in_look_ && !too_large_ && nfa_.insts[next].op != Op::kLookMatch) {
      unsupported_ = true;
    }
    Pc found = add({.op = Op::kLookMatch});
    Pc end = add_symbols({{kEnd, kEnd, found}});
    if (newline) {
      Pc after = newline_alone ? found : end;
      end = add_symbols({{'\n', '\n', after}, {kEnd, kEnd, found}});
    }
    return add(
        {.op = Op::kLook, .negative = false, .first = end, .next = next});
  }

  Pc assertion(regex::Assertion assertion, Pc next) {
    switch (assertion) {
      case regex::Assertion::kTextStart:
        nfa_.needs_text_start = true;
        break;
      case regex::Assertion::kLineStart:
        nfa_.needs_text_start = true;
        nfa_.needs_line_start = true;
        break;
      case regex::Assertion::kTextEnd:
        return end_condition(false, false, next);
      case regex::Assertion::kTextEndNewline:
        return end_condition(true, false, next);
      case regex::Assertion::kLineEnd:
        return end_condition(true, true, next);
      case regex::Assertion::kWordBoundary:
      case regex::Assertion::kNotWordBoundary:
        break;  // not regular
    }
    return add({.op = Op::kAssert, .assertion = assertion, .next = next});
  }

  // A repetition.  Invariant of both loops: `at` matches the copies compiled so
  // far and continues at `next`.  An unbounded one ends in a loop x*; a bounded
  // one in nested options (x(x(x)?)?)?.  The required copies come before it.
  Pc repeat(const HirNode& node, Pc next) {
    HirId child = node.children[0];
    Pc at = next;
    std::uint32_t copies = node.min;
    if (node.max == base::kUnbounded) {
      Pc loop = add_loop();
      // An empty round leaves the loop, as it does in a backtracking engine:
      // (|a)* prefers to match nothing.
      Pc body = nullable_[child] ? compile_fresh(child, next, loop)
                                 : compile(child, loop);
      set_loop(loop, node.greedy, body, next);
      if (copies > 0) {
        // x{n,} is n - 1 times x, then x+.
        at = body;
        --copies;
      } else {
        at = loop;
      }
    } else {
      for (std::uint32_t i = node.min; i < node.max && !too_large_; ++i) {
        // An empty round is the last one here, too.
        Pc body = nullable_[child] && at != next
                      ? compile_fresh(child, next, at)
                      : compile(child, at);
        at = node.greedy ? add_union({body, next}) : add_union({next, body});
      }
    }
    for (std::uint32_t i = 0; i < copies && !too_large_; ++i) {
      at = compile(child, at);
    }
    return at;
  }

  // The entry of a program that matches `id` and continues at `next`.
  Pc compile(HirId id, Pc next) {
    if (too_large_) return 0;
    const HirNode& node = hir_->nodes[id];
    switch (node.kind) {
      case HirKind::kEmpty:
        return next;
      case HirKind::kNothing:
        return add_symbols({});
      case HirKind::kLiteral:
        return literal(node.text, next);
      case HirKind::kClass:
        return char_class(node.char_class, next);
      case HirKind::kConcat:
        for (auto it = node.children.rbegin(); it != node.children.rend();
             ++it) {
          next = compile(*it, next);
        }
        return next;
      case HirKind::kAlternation: {
        std::vector<Pc> targets;
        for (HirId child : node.children) {
          targets.push_back(compile(child, next));
        }
        return add_union(targets);
      }
      case HirKind::kRepeat:
        return repeat(node, next);
      case HirKind::kCapture: {
        auto slot = slot_of(node.group);
        if (!slot) return compile(node.children[0], next);
        Pc close = add({.op = Op::kSave, .first = *slot + 1, .next = next});
        Pc body = compile(node.children[0], close);
        return add({.op = Op::kSave, .first = *slot, .next = body});
      }
      case HirKind::kAssert:
        return assertion(node.assertion, next);
      case HirKind::kLook: {
        Pc found = add({.op = Op::kLookMatch});
        in_look_ = true;
        Pc entry = compile(node.children[0], found);
        in_look_ = false;
        return add({.op = Op::kLook,
                    .negative = node.negative,
                    .first = entry,
                    .next = next});
      }
      case HirKind::kAtomic:
      case HirKind::kBackref:
      case HirKind::kConditional:
        break;  // not regular
    }
    assert(false && "compile_nfa needs regular patterns");
    return add_symbols({});
  }

  // compile() for one iteration of a loop, where it matters whether anything
  // has been read: continues at `next_empty` if nothing was, else at `next`.
  // The part before the first character is a copy of its own, and continues in
  // the program that compile() builds.
  //
  //   (a|b?)    alt 'a' -> next
  //                 'b' -> next
  //                 next_empty
  Pc compile_fresh(HirId id, Pc next_empty, Pc next) {
    if (too_large_) return 0;
    const HirNode& node = hir_->nodes[id];
    switch (node.kind) {
      case HirKind::kConcat:
        for (auto it = node.children.rbegin(); it != node.children.rend();
             ++it) {
          next_empty = compile_fresh(*it, next_empty, next);
          // A child to the left that has read something continues in
          // compile()'s program of this one.
          if (it + 1 != node.children.rend()) next = compile(*it, next);
        }
        return next_empty;
      case HirKind::kAlternation: {
        std::vector<Pc> targets;
        for (HirId child : node.children) {
          targets.push_back(compile_fresh(child, next_empty, next));
        }
        return add_union(targets);
      }
      case HirKind::kRepeat:
        return repeat_fresh(node, next_empty, next);
      case HirKind::kCapture: {
        auto slot = slot_of(node.group);
        HirId child = node.children[0];
        if (!slot) return compile_fresh(child, next_empty, next);
        Inst close = {.op = Op::kSave, .first = *slot + 1, .next = next};
        Pc after = add(close);
        close.next = next_empty;
        Pc body = compile_fresh(child, add(close), after);
        return add({.op = Op::kSave, .first = *slot, .next = body});
      }
      case HirKind::kEmpty:
      case HirKind::kAssert:
      case HirKind::kLook:
        return compile(id, next_empty);
      default:
        return compile(id, next);
    }
  }

  // repeat() for compile_fresh().  Invariant of both loops: `at_empty` and `at`
  // match the copies compiled so far, `at_empty` while nothing has been read
  // and `at` once something has.
  Pc repeat_fresh(const HirNode& node, Pc next_empty, Pc next) {
    HirId child = node.children[0];
    Pc at_empty = next_empty;
    Pc at = next;
    std::uint32_t copies = node.min;
    auto choice = [&](Pc body, Pc exit) {
      return node.greedy ? add_union({body, exit}) : add_union({exit, body});
    };
    if (node.max == base::kUnbounded) {
      Pc loop = add_loop();
      Pc body = nullable_[child] ? compile_fresh(child, next, loop)
                                 : compile(child, loop);
      set_loop(loop, node.greedy, body, next);
      Pc first = compile_fresh(child, next_empty, loop);
      if (copies > 0) {
        at_empty = first;
        at = body;
        --copies;
      } else {
        at_empty = choice(first, next_empty);
        at = loop;
      }
    } else {
      for (std::uint32_t i = node.min; i < node.max && !too_large_; ++i) {
        at_empty = choice(compile_fresh(child, next_empty, at), next_empty);
        at = choice(nullable_[child] && at != next
                        ? compile_fresh(child, next, at)
                        : compile(child, at),
                    next);
      }
    }
    for (std::uint32_t i = 0; i < copies && !too_large_; ++i) {
      at_empty = compile_fresh(child, at_empty, at);
      at = compile(child, at);
    }
    return at_empty;
  }

  // The first slot of a group, if its span is wanted.
  std::optional<std::uint32_t> slot_of(std::uint32_t group) const {
    auto it = std::find(spec_->groups.begin(), spec_->groups.end(), group);
    if (it == spec_->groups.end()) return std::nullopt;
    return static_cast<std::uint32_t>(2 + 2 * (it - spec_->groups.begin()));
  }

  // Computes the classes of symbols: intervals cut at both ends of every edge.
  void classify() {
    std::size_t symbols = kFirstMark + marks_.size();
    std::vector<bool> cut(symbols + 1, false);
    cut[0] = cut[kEnd] = true;
    for (std::size_t m = 0; m <= marks_.size(); ++m) cut[kFirstMark + m] = true;
    for (const Edge& edge : nfa_.edges) {
      cut[edge.low] = true;
      cut[edge.high + 1] = true;
    }
    if (nfa_.needs_line_start) cut['\n'] = cut['\n' + 1] = true;
    if (nfa_.matches_empty) {
      // The search knows the size of a character by its first byte.
      for (Symbol byte : {0x80, 0xC0, 0xE0, 0xF0}) cut[byte] = true;
    }
    nfa_.class_of.resize(symbols);
    std::uint16_t current = 0;
    for (std::size_t s = 0; s < symbols; ++s) {
      if (s > 0 && cut[s]) ++current;
      nfa_.class_of[s] = current;
    }
    nfa_.class_count = current + 1U;
  }

  const std::vector<Mark>& marks_;
  std::size_t max_states_;
  bool too_large_ = false;
  bool unsupported_ = false;
  bool in_look_ = false;
  Nfa nfa_;
  std::uint32_t pattern_ = 0;
  const PatternSpec* spec_ = nullptr;
  const Hir* hir_ = nullptr;
  std::vector<bool> nullable_;    // by node
  EdgeTable symbols_;             // the kSymbols of the pattern
  std::vector<Pc> made_;          // scratch of char_class()
  std::vector<Edge> node_edges_;  // scratch of char_class()
};

}  // namespace

Result<Nfa> compile_nfa(const std::vector<PatternSpec>& patterns,
                        const std::vector<Mark>& marks,
                        std::size_t max_states) {
  if (marks.size() > kMaxMarks) {
    return Error{ErrorCode::kTooLarge, "the delimiters spell more than " +
                                           std::to_string(kMaxMarks) +
                                           " special tokens"};
  }
  return Compiler(marks, max_states).run(patterns);
}

// Sums of at most `max_states` instructions, child before parent.  A class has
// at most eight trie nodes for each range: three for each end, and two shared
// ones.  What is not bounded so simply is left to compile_nfa(): loops whose
// body may match nothing are compiled twice, and an end of text in a look-ahead
// may be refused.
bool surely_compiles(const regex::Hir& hir, std::size_t max_states) {
  const std::vector<bool> nullable = nullable_nodes(hir);
  std::vector<std::size_t> sizes(hir.nodes.size());
  std::vector<bool> has_end(hir.nodes.size());
  const auto times = [&](std::size_t size, std::size_t count) {
    return count > max_states / (size + 1) ? max_states : size * count;
  };
  for (std::size_t i = 0; i < hir.nodes.size(); ++i) {
    const HirNode& node = hir.nodes[i];
    std::size_t size = 0;
    for (HirId child : node.children) {
      size = std::min(max_states, size + sizes[child]);
      if (has_end[child]) has_end[i] = true;
    }
    switch (node.kind) {
      case HirKind::kLiteral:
        size = node.text.size();
        break;
      case HirKind::kClass:
        size = times(8, node.char_class.ranges().size() + 1);
        break;
      case HirKind::kRepeat: {
        const bool endless = node.max == base::kUnbounded;
        if (nullable[node.children[0]] && node.max - node.min > 1) return false;
        const std::size_t copies = endless ? node.min : node.max;
        size = times(size + 1, std::max<std::size_t>(copies, 1));
        break;
      }
      case HirKind::kAssert:
        has_end[i] = node.assertion == regex::Assertion::kTextEnd ||
                     node.assertion == regex::Assertion::kTextEndNewline ||
                     node.assertion == regex::Assertion::kLineEnd;
        break;
      case HirKind::kLook:
        if (has_end[i]) return false;
        break;
      default:
        break;
    }
    sizes[i] = size + 4;  // the node's own: a union, two saves, an end of text
    if (sizes[i] >= max_states) return false;
  }
  return true;
}

}  // namespace parlance::automata
