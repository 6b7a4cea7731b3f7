#ifndef PARLANCE_SRC_VERIFICATION_WALKER_H_
#define PARLANCE_SRC_VERIFICATION_WALKER_H_

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

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "parlance/constraint.h"
#include "parlance/structural_tag.h"
#include "parlance/vocabulary.h"
#include "vocab/marker_pieces.h"

namespace parlance::verification {

// How a vocabulary writes text: its marks as their tokens, the text between
// them with the longest ordinary tokens first.
class PhraseWriter {
 public:
  explicit PhraseWriter(const Vocabulary& vocabulary);

  // Empty if the vocabulary cannot write some byte of it.
  std::vector<TokenId> write(std::string_view phrase) const;
  // Adds the ids of text in which marks are text, too.  False if the vocabulary
  // cannot write some byte of it.
  bool write_plain(std::string_view text, std::vector<TokenId>& out) const;

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

// The texts of the tag, delimiters and constants, and what closes JSON values.
WalkPhrases phrases_of(const StructuralTag& tag, const PhraseWriter& writer);

class Walker {
 public:
  Walker(const Vocabulary& vocabulary, WalkPhrases phrases,
         std::span<const TokenId> stops)
      : vocabulary_(vocabulary),
        phrases_(std::move(phrases)),
        stops_(stops.begin(), stops.end()) {}

  // `steps`: how many tokens before the walk tries to end.
  Walk walk(Matcher& matcher, std::uint32_t seed, std::size_t steps);

 private:
  bool bit(TokenId id) const;
  std::size_t below(std::size_t n) { return random_() % n; }
  bool chance(std::size_t percent) { return below(100) < percent; }

  // The law of masks on a few tokens.  False after a failure, as below.
  bool check_row(Matcher& matcher, Walk& out);
  // Takes one token or several.
  bool step(Matcher& matcher, Walk& out, bool ending);
  // A step of a walk that is long enough.
  bool step_to_end(Matcher& matcher, Walk& out);
  // Takes a phrase of a list that fits as a whole.
  bool take_phrase(Matcher& matcher, Walk& out, const Phrases& list);
  TokenId choose();
  bool take(Matcher& matcher, Walk& out, TokenId id);

  const Vocabulary vocabulary_;
  const WalkPhrases phrases_;
  const std::vector<TokenId> stops_;
  std::mt19937 random_;
  std::vector<std::int32_t> row_;
};

}  // namespace parlance::verification

#endif  // PARLANCE_SRC_VERIFICATION_WALKER_H_
