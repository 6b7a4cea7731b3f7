#ifndef PARLANCE_SRC_CFG_RECOGNISER_SYMBOL_READER_H_
#define PARLANCE_SRC_CFG_RECOGNISER_SYMBOL_READER_H_

// What an item becomes when a byte or a token is read: the rule of both
// recognisers of networks, CfgRecogniser and EarleyRecogniser.
//
// An item of either is a state of the network, how much of what that state
// reads has been read (`inner`, `count`), and a stack, which reading leaves as
// it is.  After a symbol the state is the same, with more read; or the next
// one, once all is read.
//
//   "ab", inner 0   - a ->  "ab", inner 1   - b ->  the next state
//
// What a schema or the activation of a rule reads is left to the recogniser.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "automata/aho_corasick.h"
#include "automata/char_step.h"
#include "cfg_recogniser/transition_network.h"
#include "rules/marks.h"
#include "rules/rules.h"

namespace parlance::cfg_recogniser {

struct ByteRead {
  std::uint8_t byte = 0;
  bool begins_mark = false;  // the first of a mark; free text refuses it
};

// A token that is read by its id.
struct TokenRead {
  TokenRead(rules::Token token, const rules::Marks* marks,
            bool named_only = false)
      : id(token), only_named(named_only) {
    if (marks != nullptr) mark = marks->mark_of(token);
  }

  rules::Token id = 0;
  std::optional<std::uint32_t> mark;  // the number of the mark that it is
  bool only_named = false;  // by what names it, not by "any token but"
};

// Adds the items after a symbol to a list.  `Item` has the members `state`,
// `inner` and `count`; all others are its stack.
template <class Item>
class SymbolReader {
 public:
  SymbolReader(const TransitionNetwork& network, std::vector<Item>& out)
      : network_(network), out_(out) {}

  void read(const Item& item, ByteRead read) {
    const NetworkState& state = network_.states[item.state];
    switch (state.action) {
      case Action::kBytes: {
        const std::string& text = network_.texts[state.index];
        if (!is(text[item.inner], read.byte)) break;
        if (item.inner + 1 == text.size()) {
          add(item, state.next);
        } else {
          add(item, item.inner + 1, item.count);
        }
        break;
      }
      case Action::kClass:
      case Action::kCountClass:
        read_character(item, state, read.byte);
        break;
      case Action::kSubstring:
        read_substring(item, network_.substrings[state.index].chunks,
                       read.byte);
        break;
      case Action::kFreeText:
        if (!read.begins_mark ||
            network_.free_texts[state.index].marks_are_bytes) {
          read_free_text(item, network_.free_texts[state.index], read.byte);
        }
        break;
      default:
        break;
    }
  }

  // By its id, or as a mark in free text.  An item that reads the bytes of the
  // token reads them one by one, so a token may be read in both ways.
  void read(const Item& item, TokenRead read) {
    const NetworkState& state = network_.states[item.state];
    switch (state.action) {
      case Action::kFreeText: {
        const automata::AhoCorasick& text = network_.free_texts[state.index];
        if (!read.mark || item.count != 0 || text.marks_are_bytes) break;
        continue_text(item, text,
                      text.step(item.inner, automata::mark_symbol(*read.mark)),
                      0);
        break;
      }
      case Action::kTokens: {
        const rules::TokenSetExpr& set = network_.token_sets[state.index];
        if (set.contains(read.id) && !(read.only_named && set.negated)) {
          add(item, state.next);
        }
        break;
      }
      case Action::kTokenText: {
        const TokenTriggers& text = network_.token_texts[state.index];
        if (std::ranges::binary_search(text.excludes, read.id)) break;
        const auto [first, last] = text.calls.equal_range(read.id);
        if (first == last && !read.only_named) {
          add(item, item.inner, item.count);
        }
        for (auto at = first; at != last; ++at) add(item, at->second);
        break;
      }
      default:
        break;
    }
  }

 private:
  static bool is(char c, std::uint8_t byte) {
    return static_cast<std::uint8_t>(c) == byte;
  }

  // Items only enter live states.
  void add(Item item, StateId state) {
    if (!network_.states[state].live) return;
    item.state = state;
    item.inner = item.count = 0;
    out_.push_back(item);
  }
  void add(Item item, std::uint32_t inner, std::uint32_t count) {
    item.inner = inner;
    item.count = count;
    out_.push_back(item);
  }

  // `inner` is the state inside the character, canonicalised, so that equal
  // remainders give equal items; `count` the number of characters.
  void read_character(const Item& item, const NetworkState& state,
                      std::uint8_t byte) {
    const bool counts = state.action == Action::kCountClass;
    if (counts && item.count >= state.max) return;
    const regex::CharClass& set = network_.classes[state.index];
    std::uint32_t inner = item.inner;
    switch (automata::read_char(set, byte, inner)) {
      case automata::CharStep::kNo:
        break;
      case automata::CharStep::kInside:
        add(item, automata::canonicalize(set, inner), item.count);
        break;
      case automata::CharStep::kDone:
        if (!counts) return add(item, state.next);
        // Without a maximum, counts above the minimum mean the same.
        add(item, 0,
            state.max == rules::kUnbounded ? std::min(item.count + 1, state.min)
                                           : item.count + 1);
        break;
    }
  }

  // `inner` is 0 before the first chunk; else it is one more than the index of
  // the next chunk, or of the chunk being read if `count` is not 0.  `count` is
  // the number of bytes read of that chunk.
  void read_substring(const Item& item, const std::vector<std::string>& chunks,
                      std::uint8_t byte) {
    const auto read = [&](std::size_t chunk, std::size_t offset) {
      while (chunk < chunks.size() && chunks[chunk].empty()) ++chunk;
      if (chunk == chunks.size() || !is(chunks[chunk][offset], byte)) return;
      const bool last = offset + 1 == chunks[chunk].size();
      add(item, static_cast<std::uint32_t>(last ? chunk + 2 : chunk + 1),
          static_cast<std::uint32_t>(last ? 0 : offset + 1));
    };
    if (item.inner != 0) return read(item.inner - 1, item.count);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      if (!chunks[i].empty()) read(i, 0);
    }
  }

  // `inner` is the state of the Aho-Corasick automaton (1975) of the triggers,
  // `count` the state inside a UTF-8 sequence.
  void read_free_text(const Item& item, const automata::AhoCorasick& text,
                      std::uint8_t byte) {
    const regex::CharClass& any = automata::any_character();
    std::uint32_t count = item.count;
    if (automata::read_char(any, byte, count) == automata::CharStep::kNo) {
      return;
    }
    continue_text(item, text, text.step(item.inner, byte),
                  automata::canonicalize(any, count));
  }

  // The text continues; or, if a trigger is complete there, the calls of its
  // rules take the place of the text.
  void continue_text(const Item& item, const automata::AhoCorasick& text,
                     std::uint32_t inner, std::uint32_t count) {
    if (inner == automata::AhoCorasick::kRefused) return;
    const automata::AhoCorasick::Node& node = text.at(inner);
    if (node.excluded) return;
    if (node.calls.empty()) return add(item, inner, count);
    for (const std::uint32_t call : node.calls) add(item, StateId{call});
  }

  const TransitionNetwork& network_;
  std::vector<Item>& out_;
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_SYMBOL_READER_H_
