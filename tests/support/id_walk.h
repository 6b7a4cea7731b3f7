#ifndef PARLANCE_TESTS_SUPPORT_ID_WALK_H_
#define PARLANCE_TESTS_SUPPORT_ID_WALK_H_

// A response made of tokens that masks let through.
//
// A walk asks a matcher for a mask, takes one of the tokens that it allows, and
// goes on until the matcher is terminated.  Which token it takes is random, but
// weighted: most random texts never end, and hardly one of them calls a tool.
// So a walk now and then writes a phrase, such as the begin of a call, as its
// vocabulary writes it; takes what is forced; and past `steps` tokens prefers
// whatever ends something.
//
// On the way it checks what holds of every mask: some bit is set, tokens are
// accepted if and only if their bits are, forced tokens are allowed.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "parlance/constraint.h"
#include "parlance/vocabulary.h"
#include "vocab/marker_pieces.h"

namespace parlance::testing {

// How a vocabulary writes a phrase: its marks as their tokens, text between
// them with the longest ordinary tokens first.
class PhraseWriter {
 public:
  explicit PhraseWriter(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), splitter_(vocabulary) {
    for (TokenId id = 0; id < vocabulary_.size(); ++id) {
      const std::string_view bytes = vocabulary_.bytes(id);
      if (vocabulary_.kind(id) != TokenKind::kOrdinary || bytes.empty() ||
          bytes.size() > kLongest) {
        continue;
      }
      by_bytes_.emplace(bytes, id);
    }
  }

  // Empty if the vocabulary cannot write some byte of it.
  std::vector<TokenId> write(std::string_view phrase) const {
    std::vector<TokenId> out;
    for (const vocab::MarkerPiece& piece : splitter_.split(phrase)) {
      if (piece.is_mark()) {
        out.push_back(piece.ids.front());
        continue;
      }
      std::string_view rest = piece.text;
      while (!rest.empty()) {
        std::size_t size = std::min(rest.size(), kLongest);
        auto token = by_bytes_.find(rest.substr(0, size));
        while (token == by_bytes_.end() && size > 1) {
          token = by_bytes_.find(rest.substr(0, --size));
        }
        if (token == by_bytes_.end()) return {};
        out.push_back(token->second);
        rest.remove_prefix(size);
      }
    }
    return out;
  }

 private:
  static constexpr std::size_t kLongest = 24;
  const Vocabulary vocabulary_;
  const vocab::MarkerSplitter splitter_;
  std::unordered_map<std::string_view, TokenId> by_bytes_;
};

using Phrases = std::vector<std::vector<TokenId>>;

struct WalkPhrases {
  Phrases begins;      // of calls and sections
  Phrases ends;        // of calls and sections
  Phrases value_ends;  // of arguments in elements
  Phrases closers;     // of JSON values
  Phrases brackets;    // those of `closers` that close a string or a container
  Phrases names;       // of members, which a schema may require
};

struct Walk {
  // Without the token that ends the response, which may be a marker as well.
  std::vector<TokenId> ids;
  TokenId stop = 0;
  bool stopped = false;  // by `stop`; else the matcher ended by itself
  bool unfinished = false;
  std::string failure;  // empty if every check held
};

class Walker {
 public:
  Walker(const Vocabulary& vocabulary, WalkPhrases phrases,
         std::span<const TokenId> stops)
      : vocabulary_(vocabulary),
        phrases_(std::move(phrases)),
        stops_(stops.begin(), stops.end()) {}

  // `steps`: how many tokens before the walk tries to end.
  Walk walk(Matcher& matcher, std::uint32_t seed, std::size_t steps) {
    random_.seed(seed);
    row_.assign((vocabulary_.size() + 31) / 32, 0);
    Walk out;
    const std::size_t most = steps + 8000;
    while (!matcher.is_terminated()) {
      if (out.ids.size() > most) {
        out.unfinished = true;
        return out;
      }
      const bool constrained =
          matcher.fill_bitmask(row_) == MaskFill::kConstrains;
      if (!constrained) {
        out.failure = "a mask that constrains nothing before the end";
        return out;
      }
      if (!check_row(matcher, out)) return out;
      if (!step(matcher, out, out.ids.size() >= steps)) return out;
    }
    return out;
  }

 private:
  bool bit(TokenId id) const {
    return (static_cast<std::uint32_t>(row_[id / 32]) >> (id % 32) & 1U) != 0;
  }
  std::size_t below(std::size_t n) { return random_() % n; }
  bool chance(std::size_t percent) { return below(100) < percent; }

  bool check_row(Matcher& matcher, Walk& out) {
    if (std::all_of(row_.begin(), row_.end(),
                    [](std::int32_t word) { return word == 0; })) {
      out.failure = "an empty row";
      return false;
    }
    // The mask law on a few tokens: marks and random ones.
    const std::span<const TokenId> special = vocabulary_.special_ids();
    for (int i = 0; i < 4; ++i) {
      const TokenId id = i % 2 == 0 && !special.empty()
                             ? special[below(special.size())]
                             : static_cast<TokenId>(below(vocabulary_.size()));
      const bool accepted = matcher.accept_token(id);
      if (accepted) matcher.rollback(1);
      if (accepted != bit(id)) {
        out.failure = "token " + std::to_string(id) +
                      (accepted ? " is accepted, its bit is not set"
                                : " is not accepted, its bit is set");
        return false;
      }
    }
    return true;
  }

  // Takes one token or several.  False after a failure.
  bool step(Matcher& matcher, Walk& out, bool ending) {
    const std::size_t first = stops_.empty() ? 0 : below(stops_.size());
    for (std::size_t i = 0; i < stops_.size(); ++i) {
      const TokenId stop = stops_[(first + i) % stops_.size()];
      if (stop >= vocabulary_.size() || !bit(stop)) continue;
      if (!ending && !chance(15)) continue;
      // A stop token of the matcher ends it; a marker among them does so only
      // where the text may end after it.
      if (!take(matcher, out, stop)) return false;
      if (!matcher.is_terminated()) {
        out.failure = "token " + std::to_string(stop) + " stops no text";
        return false;
      }
      return true;
    }
    if (ending || chance(20)) {
      const std::vector<TokenId> forced = matcher.forced_tokens();
      if (!forced.empty()) {
        for (const TokenId id : forced) {
          if (!take(matcher, out, id)) {
            out.failure += " (forced)";
            return false;
          }
        }
        return true;
      }
    }
    if (ending) return step_to_end(matcher, out);
    // Most phrases fit in free text and in strings as well, so no list goes
    // first, and no phrase of a list.
    const std::size_t list = below(60);
    if (list < 3) {
      if (take_phrase(matcher, out, phrases_.ends)) return true;
    } else if (list < 5) {
      if (take_phrase(matcher, out, phrases_.begins)) return true;
    } else if (list < 8) {
      if (take_phrase(matcher, out, phrases_.value_ends)) return true;
    }
    return take(matcher, out, choose());
  }

  // A step of a walk that is long enough.  What closes something is preferred,
  // but what closes a value may need a token that no list has (the Z of a
  // time), or a name that is required, so each way on has its share.
  bool step_to_end(Matcher& matcher, Walk& out) {
    const std::size_t list = below(100);
    const Phrases& preferred = list < 15   ? phrases_.ends
                               : list < 35 ? phrases_.begins
                               : list < 45 ? phrases_.value_ends
                               : list < 55 ? phrases_.names
                                           : phrases_.brackets;
    if (list < 78 && take_phrase(matcher, out, preferred)) return true;
    if (list < 90 && take_phrase(matcher, out, phrases_.closers)) return true;
    return take(matcher, out, choose());
  }

  // A phrase of a list that fits as a whole.
  bool take_phrase(Matcher& matcher, Walk& out, const Phrases& list) {
    const std::size_t first = below(list.size() + 1);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::vector<TokenId>& phrase = list[(first + i) % list.size()];
      if (phrase.empty() || !bit(phrase.front())) continue;
      const std::size_t fitted = matcher.accept_tokens(phrase);
      if (fitted == phrase.size()) {
        out.ids.insert(out.ids.end(), phrase.begin(), phrase.end());
        if (matcher.is_terminated()) {
          out.ids.pop_back();
          out.stop = phrase.back();
          out.stopped = true;
        }
        return true;
      }
      matcher.rollback(fitted);
    }
    return false;
  }

  TokenId choose() {
    const std::span<const TokenId> special = vocabulary_.special_ids();
    if (chance(10)) {
      std::vector<TokenId> marks;
      for (const TokenId id : special) {
        if (bit(id)) marks.push_back(id);
      }
      if (!marks.empty()) return marks[below(marks.size())];
    }
    // Low ids are bytes and short pieces of words.
    const std::size_t first =
        below(chance(50) ? std::min<std::size_t>(512, vocabulary_.size())
                         : vocabulary_.size());
    const std::size_t words = row_.size();
    for (std::size_t i = 0; i < words; ++i) {
      const std::size_t word = (first / 32 + i) % words;
      auto bits = static_cast<std::uint32_t>(row_[word]);
      if (bits == 0) continue;
      // Any of the word, or else the lowest would hide its neighbours.
      for (std::size_t skip =
               below(static_cast<std::size_t>(std::popcount(bits)));
           skip > 0; --skip) {
        bits &= bits - 1;
      }
      return static_cast<TokenId>(
          word * 32 + static_cast<std::size_t>(std::countr_zero(bits)));
    }
    return 0;  // No row is empty here.
  }

  bool take(Matcher& matcher, Walk& out, TokenId id) {
    if (!matcher.accept_token(id)) {
      out.failure = "token " + std::to_string(id) + " is not accepted";
      return false;
    }
    if (matcher.is_terminated()) {
      out.stop = id;
      out.stopped = true;
    } else {
      out.ids.push_back(id);
    }
    return true;
  }

  const Vocabulary vocabulary_;
  const WalkPhrases phrases_;
  const std::vector<TokenId> stops_;
  std::mt19937 random_;
  std::vector<std::int32_t> row_;
};

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_ID_WALK_H_
