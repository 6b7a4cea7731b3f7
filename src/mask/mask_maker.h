#ifndef PARLANCE_SRC_MASK_MASK_MAKER_H_
#define PARLANCE_SRC_MASK_MASK_MAKER_H_

// The mask of a configuration: which tokens a recogniser can read from there.
//
// Always right, and slow, is to walk the trie of all tokens with step().  How
// a mask is made instead depends on the place:
//
//   inside a string where every character is welcome
//       tokens that stay inside    a ready mask, by the characters left
//       tokens that leave          the trie of what follows the quote
//   where a value comes
//       tokens that end in it      a mask made once for all places of the value
//       tokens that go on          what is below where the value ends
//   between two lexemes
//       white space only           a ready mask, by the bytes left
//       white space, then more     the trie of what follows the space
//       no white space             the trie of all tokens, below the few bytes
//                                  that are possible; below a quote that opens
//                                  a string, as in a string
//   inside another lexeme
//       tokens that stay inside    a mask made once for all grammars
//       tokens that leave          the paths to them (lexeme_mask.h)
//       names that patterns and    those of the patterns as above, those of the
//       the schema itself know     schema by the trie of all tokens
//   in any other text
//       where few bytes may come   the trie of all tokens
//       else                       the shapes of all tokens
//       (token_class_walk.h)
//
// Every way gives the same mask as the slow walk.
//
// Files: mask_maker.cc decides, and makes the masks where no lexeme is open;
// mask_strings.cc those inside a string where every character is welcome,
// mask_lexemes.cc those inside another lexeme; mask_coarse.cc shares them
// between places that are nearly alike; mask_walks.cc reads tokens.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/byte_set.h"
#include "mask/lexeme_mask.h"
#include "mask/lexeme_walk.h"
#include "mask/mask_builder.h"
#include "mask/mask_store.h"
#include "mask/partial_mask.h"
#include "mask/token_class_walk.h"
#include "parlance/vocabulary.h"
#include "recogniser/recogniser.h"
#include "vocab/token_tables.h"

namespace parlance::mask {

using recogniser::Configuration;
using recogniser::Recogniser;

// Masks of places between lexemes: white space of at most some bytes, and
// tokens that open a string of at most some characters.  Made when first
// needed, kept for good; there are few.  Safe to use from many threads.
class WhitespaceBases {
 public:
  static constexpr std::uint32_t kNoString = 0xFFFFFFFF;
  // More combinations than this are not kept ready.
  static constexpr std::size_t kMost = 64;

  WhitespaceBases(const vocab::TokenTables& tables,
                  std::shared_ptr<std::atomic<std::size_t>> bytes);

  // The mask of white space tokens of at most `max_bytes`, with
  // string_start().inner_at_most(max_chars) unless it is kNoString.
  // No base if the mask is not ready and may not be kept.
  Base find(std::uint32_t max_bytes, std::uint32_t max_chars);
  // Bytes of the longest token of white space only.
  std::uint32_t longest() const { return longest_; }

 private:
  const vocab::TokenTables tables_;
  const std::shared_ptr<std::atomic<std::size_t>> bytes_;
  std::uint32_t longest_ = 0;

  std::mutex mutex_;
  std::map<std::pair<std::uint32_t, std::uint32_t>,
           std::shared_ptr<const MaskWords>>
      made_;
};

// What makers share, and whoever made this keeps alive.
struct MaskResources {
  const Vocabulary& vocabulary;
  const vocab::TokenTables& tables;
  const vocab::StringClassTrie& string_classes;
  const vocab::TokenClassTrie& token_classes;
  WhitespaceBases& whitespace_bases;
  LexemeMaskCache& lexemes;
  SharedValueMasks& values;
  MaskStore& store;
  std::shared_ptr<std::atomic<std::size_t>> bytes;
};

// Makes one mask at a time, in memory that is used again.  Not thread-safe.
class MaskMaker {
 public:
  explicit MaskMaker(const MaskResources& resources);

  // The mask of `config`.  Valid until the next call.
  // REQUIRES: the caller holds `recogniser.mutex`.
  const MaskBuilder& make(Recogniser& recogniser, Configuration config,
                          PartialMaskCache& partial_masks);

 private:
  // mask_maker.cc
  void make_by_kind(Configuration config);
  void set_marks(Configuration config);
  bool before_value(Configuration config);
  void continue_past_value(const ExitPoint& exit_point, Configuration end,
                           Configuration config);
  PartialMask make_value_mask(Configuration place);
  void store_built(PartialMask& made);
  void between_lexemes(const recogniser::WhitespaceHint& view,
                       Configuration config);
  void start_between_lexemes(std::uint32_t max_bytes,
                             const recogniser::StringHint* string);
  // Where a walk has as few nodes as this, shapes do not help.
  static constexpr std::size_t kManyNodes = 1000;
  void in_text(Configuration config);
  std::size_t nodes_below(const base::ByteSet& bytes) const;

  // mask_coarse.cc
  void from_coarse_state(Configuration coarse, Configuration config);
  void recheck_tokens(std::span<const Id> ids, Configuration config);
  std::vector<Id> tokens_past(const std::vector<ExitPoint>& exit_points) const;

  // mask_strings.cc
  void in_string(const recogniser::StringHint& view, Configuration config);
  void start_inner(const vocab::BodyTable& table, std::uint32_t max_chars);
  void leave_string(const vocab::BodyTable& table,
                    const recogniser::StringHint& view, std::uint32_t root,
                    Configuration config);
  void leave_string(const vocab::BodyTable& table, std::uint32_t kind,
                    const recogniser::StringHint::AcceptingRange& end);
  void leave_key(const vocab::ExitTrie& exits, Configuration key,
                 Configuration value,
                 const recogniser::StringHint::AcceptingRange& end);
  void find_exceptions(const recogniser::StringHint& view, std::uint32_t root,
                       Configuration config);
  void find_exceptions(const recogniser::StringHint& view, std::uint32_t root,
                       Configuration config, std::uint32_t begin,
                       std::uint32_t end);
  void find_quoted_exceptions(const recogniser::StringHint& view,
                              Configuration config);
  void add_exception(std::uint32_t root, Configuration at);
  void clear_exceptions();

  // mask_lexemes.cc
  void in_lexeme(Configuration config, std::uint64_t fingerprint);
  void add_fixed_keys(Configuration words);
  bool leave_by_whitespace(Configuration config);
  std::shared_ptr<const LexemeMask> lexeme_mask(Configuration config,
                                                std::uint64_t fingerprint,
                                                std::uint32_t room,
                                                bool bounded);
  void walk_lexeme(Configuration config, int lexeme_end, LexemeMask& made);

  // mask_walks.cc
  void set(Id id) {
    if (collected_exits_ != nullptr) {
      collected_exits_->push_back(id);
      return;
    }
    if (exceptions_.empty() || (is_exception_[id >> 5] >> (id & 31) & 1) == 0) {
      builder_.set(id);
    }
  }
  void set_node(const vocab::TrieNode& node);
  void walk(std::uint32_t root, Configuration at);
  void walk_all(Configuration at, const base::ByteSet& bytes);
  Configuration step_path(Configuration at, std::uint32_t root,
                          std::uint32_t node);
  void set_exits(const vocab::ExitTrie& exits, std::uint32_t i,
                 std::uint32_t min_count, std::uint32_t max_count);
  void walk_exits(const vocab::ExitTrie& exits, Configuration after,
                  std::uint32_t min_count, std::uint32_t max_count);
  void walk_exits(const vocab::ExitTrie& exits, std::uint32_t root,
                  Configuration at, std::uint32_t min_count,
                  std::uint32_t max_count);
  void try_token(Id id);

  MaskResources resources_;
  const vocab::TokenTrie& trie_;
  MaskBuilder builder_;
  LexemeWalk lexeme_walk_;
  TokenClassWalk token_class_walk_;
  Recogniser* recogniser_ = nullptr;  // while one mask is made
  PartialMaskCache* partial_masks_ = nullptr;
  // In a string whose text is remembered: its place, and the bytes of every
  // token that come before it.
  const Configuration* text_start_ = nullptr;
  std::size_t text_start_depth_ = 0;

  // While tokens are read that may be set already.
  bool may_be_set_ = false;

  // While a relative mask is made: where its tokens go on behind the value.
  std::vector<ExitPoint>* exit_points_ = nullptr;
  // While that is made of what follows a name: its tokens.
  std::vector<Id>* collected_exits_ = nullptr;
  // While exits are read from a relative place: the place it stands for.
  Configuration actual_;

  // By depth of a node below where a walk began.
  std::vector<Configuration> states_ =
      std::vector<Configuration>(vocab::kMaxTokenBytes + 1);
  std::vector<json::BodyState> body_states_ =
      std::vector<json::BodyState>(vocab::kMaxTokenBytes + 1);
  std::vector<base::ByteSet> wanted_bytes_ =
      std::vector<base::ByteSet>(vocab::kMaxTokenBytes + 1);
  std::vector<std::uint32_t> path_ =
      std::vector<std::uint32_t>(vocab::kMaxTokenBytes + 1);

  std::vector<std::uint32_t> marks_;

  // Tokens whose quote is an exception: decided before the others, which leave
  // them alone.
  std::vector<std::uint32_t> is_exception_;  // a bit per id, made when needed
  std::vector<Id> exceptions_;
  // Where they are only collected: those but at the very beginning.
  std::vector<Id>* collected_exceptions_ = nullptr;
  Configuration origin_;  // and where they are read from
  std::uint32_t origin_node_ = 0;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_MASK_MAKER_H_
