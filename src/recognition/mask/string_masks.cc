// Masks inside a string that accepts every character: see string_masks.h.

#include "mask/string_masks.h"

#include <span>
#include <string_view>

namespace parlance::mask {

using vocab::BodyTable;

namespace {

// The tokens that leave a string, but for those that were decided as
// exceptions.
template <class Out>
struct PastQuote {
  static constexpr bool kPartial = Out::kPartial;

  Out& out;
  const TokenSet& exceptions;
  const MaskSource& source;
  const Vocabulary& vocabulary;
  // If what follows depends on the text of the string: the configuration in it;
  // else dead.  And how many bytes of each token precede that.
  Configuration text_start = {};
  std::size_t depth = 0;

  void set(Id id) {
    if (!exceptions.has(id)) out.set(id);
  }
  void exit(const ExitPoint& point) { out.exit(point); }
  // Where the text makes a difference, a token with a further quote or a
  // closing bracket is read from the beginning of the string.
  bool decides(std::uint8_t byte, const Remainders& of, std::uint32_t node) {
    if (text_start.dead() || (byte != '"' && byte != '}' && byte != ']')) {
      return false;
    }
    for (const vocab::ExitToken& exit : of.exits->subtree_exits(node)) {
      Configuration at = text_start;
      for (const char c : vocabulary.bytes(exit.id).substr(depth)) {
        at = source.step(at, static_cast<std::uint8_t>(c));
        if (at.dead()) break;
      }
      if (!at.dead()) set(exit.id);
    }
    return true;
  }
};

// The same, from a value state that stands for the configuration `actual`.
template <class Out>
struct Resuming {
  Out& out;
  Configuration actual;

  void set(Id id) { out.set(id); }
  void exit(const ExitPoint&) { assert(!"a value state has not left a value"); }
  bool decides(std::uint8_t byte, const Remainders& of, std::uint32_t node) {
    return out.decides(byte, of, node);
  }
  Configuration past(LeftValue left) {
    return out.source.recogniser().resume(actual, left);
  }
};

}  // namespace

StringMasks::StringMasks(const MaskResources& resources, TokenWalk& walk)
    : vocabulary_(resources.vocabulary),
      tables_(resources.tables),
      values_(resources.values),
      walk_(walk),
      key_exceptions_(resources.tables.trie(), resources.string_classes),
      exceptions_(resources.tables.mask_words()) {}

void StringMasks::make(const Where& inside, const FreeString& view,
                       MaskBuilder& mask) {
  start(tables_.body(view.state), view.max_chars, mask);
  ToMask out{mask};
  leave(inside, view, 0, out);
}

// Where no mask is stored for the bound, starts from the side that needs fewer
// changes: few tokens are longer than the largest stored bound.
void StringMasks::start(const BodyTable& table, std::uint32_t max_chars,
                        MaskBuilder& mask) {
  if (table.has_at_most(max_chars)) {
    mask.start({.words = table.inner_at_most(max_chars).data()});
    return;
  }
  const std::span<const Id> ids = table.by_chars();
  const std::size_t fit = table.count_at_most(max_chars);
  if (fit < ids.size() - fit) {
    mask.start({});
    for (const Id id : ids.first(fit)) mask.set(id);
  } else {
    mask.start({.words = table.inner().data()});
    for (const Id id : ids.subspan(fit)) mask.clear(id);
  }
}

// Exceptions are decided first and noted, so that what follows skips them.
// Then the remainders after the quote are read once for each accepting range,
// as if no token were an exception.
template <class Out>
void StringMasks::leave(const Where& inside, const FreeString& view,
                        std::uint32_t root, Out& out) {
  const MaskSource& source = inside.source;
  const vocab::TokenTrie& trie = tables_.trie();
  exceptions_.clear();
  if (view.has_exceptions) {
    for (const ClosingQuote& quote : key_exceptions_.find(inside, view, root)) {
      const std::uint32_t end = trie.subtree_end(quote.node);
      for (std::uint32_t i = quote.node; i < end; ++i) {
        trie.each_token(trie.node(i), [&](Id id) { exceptions_.add(id); });
      }
      walk_.enter(source, {.node = root, .at = inside.at}, quote.node, quote.at,
                  out);
    }
  }
  // `kind` identifies the table.
  const bool opens = root != 0;
  const BodyTable& table =
      opens ? tables_.string_start() : tables_.body(view.state);
  const std::uint32_t kind = opens ? json::kLiveBodyStateCount
                                   : static_cast<std::uint32_t>(view.state);
  PastQuote<Out> past{
      .out = out,
      .exceptions = exceptions_,
      .source = source,
      .vocabulary = vocabulary_,
      .text_start = view.depends_on_text ? inside.at : Configuration{},
      .depth = trie.depth(root)};
  if (view.accepting_ranges.empty()) {
    leave_range(source, table, kind,
                {.min_chars = view.min_chars,
                 .max_chars = view.max_chars,
                 .after = view.after},
                past);
  }
  for (const FreeString::AcceptingRange& end : view.accepting_ranges) {
    leave_range(source, table, kind, end, past);
  }
}

template void StringMasks::leave(const Where&, const FreeString&, std::uint32_t,
                                 ToMask&);
template void StringMasks::leave(const Where&, const FreeString&, std::uint32_t,
                                 ToPartial&);

// Sets the tokens of `table` that leave the string within the range `end`.
//
// After a key comes a value, and many keys have values of the same kind.  So
// the remainders are read from the value state if there is one, and the result
// is stored as a partial mask for the three ranges that occur most: any length,
// none, and at least one character.
template <class Out>
void StringMasks::leave_range(const MaskSource& source, const BodyTable& table,
                              std::uint32_t kind,
                              const FreeString::AcceptingRange& end, Out& out) {
  const Where after(source, end.after);
  const Configuration value = after.hint.value;
  const Remainders of{.exits = &table.exits(),
                      .min_count = end.min_chars,
                      .max_count = end.max_chars};
  const bool from_first = end.min_chars == 0;
  const bool to_last = end.max_chars == base::kUnbounded;
  const bool at_once = from_first && end.max_chars == 0;
  const bool later = end.min_chars == 1 && to_last;
  const bool stored = (from_first && to_last) || at_once || later;
  if (value.dead()) {
    walk_.remainders(source, of, end.after, out);
  } else if (stored && out.text_start.dead()) {
    Configuration key = value;
    key.extra = ~kind;  // no configuration has such large numbers
    key.count = at_once ? 1 : later ? 2 : 0;
    const FoundMask mask = find_or_make(values_, after, key, [&] {
      PartialMask made;
      ToLists lists{made};
      walk_.remainders(source, of, value, lists);
      return made;
    });
    for (const Id id : mask->set) out.set(id);
    walk_.past_value(source, mask->exit_points, end.after, out);
  } else if constexpr (Out::kPartial) {
    walk_.remainders(source, of, end.after, out);
  } else {
    Resuming<Out> resuming{out, end.after};
    walk_.remainders(source, of, value, resuming);
  }
}

}  // namespace parlance::mask
