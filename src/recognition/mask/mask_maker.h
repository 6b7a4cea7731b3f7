#ifndef PARLANCE_SRC_MASK_MASK_MAKER_H_
#define PARLANCE_SRC_MASK_MASK_MAKER_H_

// The mask of a configuration: the tokens that a recogniser can read from it.
//
// The reference is a walk over the trie of all tokens with step().  It is
// always correct and slow.  MaskMaker gives the same mask sooner; how, depends
// on the kind of configuration:
//
//   inside a string that accepts every character
//       tokens that stay inside    a stored mask, by the characters left
//       tokens that leave          the trie of what follows the quote
//   before a value
//       tokens that end in it      a mask stored for the value
//       tokens that continue       the subtrees at the value's exit points
//   between two lexemes
//       white space only           a stored mask, by the bytes left
//       white space, then more     the trie of what follows the white space
//       no white space             the trie of all tokens, below the few bytes
//                                  that are possible; below a quote that opens
//                                  a string, as inside a string
//   inside another lexeme
//       tokens that stay inside    a mask stored for the lexeme
//       tokens that leave          the paths to them (lexeme_mask.h)
//       keys, where patterns and   keys of the patterns as above; keys of the
//       fixed keys compete         schema by the trie of all tokens
//   in any other text
//       few bytes are possible     the trie of all tokens
//       else                       the trie of token classes
//                                  (token_class_walk.h)
//
// Files: mask_maker.cc chooses, and handles configurations without an open
// lexeme; mask_strings.cc strings that accept every character; mask_lexemes.cc
// other lexemes; mask_walks.cc reads tokens byte by byte.
//
// Configurations are many and masks are few.  Each of these relations between
// configurations saves work, from the finest to the coarsest (recogniser.h and
// hint.h define them):
//
//   relation             two related configurations have
//   -------------------  ---------------------------------------------------
//   mask_key             the same mask: they differ in counts that no token
//                        can exhaust
//   mask_equivalent      the same mask: whatever was read to make the mask of
//                        one is equal in the other
//   part_at              the same mask, in different grammars: both are at the
//                        same configuration of a shared part, and the mask
//                        depends on nothing after the part, or on the same
//                        text
//   Hint::value          the same tokens up to the end of the value that
//                        comes next
//   value_fingerprint    as Hint::value, in different recognisers
//   fingerprint of a     the same tokens that stay within the lexeme, in
//     lexeme             different recognisers
//   like_another         the same tokens except those whose bytes lead them to
//                        different configurations: inside a marker, after it
//
// The caches.  "With the recogniser" means RecogniserMasks, which live as long
// as the recogniser; the others belong to the compiler.
//
// What is made for one request may serve another one, of another client.  So a
// key holds all that the value reads: by content, or by a fingerprint that
// nobody can forge (base/fingerprint.h).  All of them read the vocabulary of
// the compiler; what else is said where each is declared.
//
//   cache                key                  stores        bound, eviction
//   -------------------  -------------------  ------------  ------------------
//   MaskStore            content of a mask    mask          cache_bytes for
//                                                           all masks;
//                                                           second chance
//   LexemeMaskCache      fingerprint,         LexemeMask    cache_bytes / 4;
//                        end, bound                         least recently
//                                                           used
//   SharedValueMasks     value_fingerprint;   PartialMask   4 MiB; all at once
//                        after a key, with
//                        how the key is left
//   WhitespaceBases      bytes of white       base of a     64 entries; never,
//                        space, characters    mask          later ones are not
//                        of a string                        stored
//   CompilerImpl::       text that follows a  whether a     256 entries; never,
//     no_token_extends   part                 token         later ones are not
//                                             extends it    stored
//   with the recogniser:
//   memo                 mask_equivalent of   MaskHandle    two halves of
//                        mask_key                           16,384 keys; the
//                                                           older half
//   independent          mask_key within      MaskHandle    as memo
//                        this part
//   by_following_text    text after this      MaskHandle    8 texts, each as
//                        part, then mask_key                memo; later texts
//                                                           are not stored
//   partial              Hint::value, or the  PartialMask   4 MiB; all at once
//                        same after a key
//   lately               most recent first    configuration 4 entries;
//                                                           overwritten
//   next                 configuration        forced byte   256 entries, by
//                                             or mark       hash; overwritten
//
// A recogniser keeps the RecogniserMasks of the last few compilers, and a
// GrammarCache the recognisers (part_cache.h).  A MaskHandle does not keep its
// mask alive: a handle whose mask was evicted is a miss.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/byte_set.h"
#include "base/fingerprint.h"
#include "base/work.h"
#include "mask/ablation.h"
#include "mask/lexeme_mask.h"
#include "mask/lexeme_walk.h"
#include "mask/mask_builder.h"
#include "mask/mask_store.h"
#include "mask/partial_mask.h"
#include "mask/recogniser_masks.h"
#include "mask/token_bytes.h"
#include "mask/token_class_walk.h"
#include "parlance/vocabulary.h"
#include "recogniser/recogniser.h"
#include "vocab/token_tables.h"

namespace parlance::mask {

using recogniser::Between;
using recogniser::Configuration;
using recogniser::FreeString;
using recogniser::Hint;
using recogniser::LeftValue;
using recogniser::LexemeHint;
using recogniser::LexemeStates;
using recogniser::Recogniser;
using recogniser::SplitKeys;

// Bases of masks between lexemes: tokens of white space up to a number of
// bytes, and tokens that open a string and stay within a number of characters.
// Built on first use and never evicted; there are few combinations.  A base
// reads the two bounds, its key, and the tables.  Safe to use from many
// threads.
class WhitespaceBases {
 public:
  static constexpr std::uint32_t kNoString = 0xFFFFFFFF;
  // Most combinations that are stored.
  static constexpr std::size_t kMaxEntries = 64;

  WhitespaceBases(const vocab::TokenTables& tables,
                  std::shared_ptr<std::atomic<std::size_t>> bytes);

  // The mask of the white space tokens of at most `max_bytes`, and of
  // string_start().inner_at_most(max_chars) unless `max_chars` is kNoString.
  // Base::words is null if the mask is not stored and the cache is full.
  Base find(std::uint32_t max_bytes, std::uint32_t max_chars);
  // Bytes of the longest token that consists of white space.
  std::uint32_t longest() const { return longest_; }

 private:
  const vocab::TokenTables tables_;
  const std::shared_ptr<std::atomic<std::size_t>> bytes_;
  std::uint32_t longest_ = 0;

  std::mutex mutex_;
  std::map<std::pair<std::uint32_t, std::uint32_t>,
           std::shared_ptr<const MaskWords>>
      entries_;
};

// What all MaskMakers of a compiler share.  The compiler owns it and outlives
// them.
struct MaskResources {
  const Vocabulary& vocabulary;
  const vocab::TokenTables& tables;
  const vocab::StringClassTrie& string_classes;
  const vocab::TokenClassTrie& token_classes;
  const TokenBytes& token_bytes;
  WhitespaceBases& whitespace_bases;
  LexemeMaskCache& lexemes;
  SharedValueMasks& values;
  MaskStore& store;
  std::shared_ptr<std::atomic<std::size_t>> bytes;
};

// Makes one mask at a time and reuses its memory.  Not thread-safe.
class MaskMaker {
 public:
  explicit MaskMaker(const MaskResources& resources);

  // The mask of `config`.  Valid until the next call.
  // REQUIRES: the caller holds `recogniser.mutex`; `masks` are those of
  // `recogniser`.
  const MaskBuilder& make(Recogniser& recogniser, Configuration config,
                          RecogniserMasks& masks);
  // Whether the last make() read most tokens (RecogniserMasks::lately).
  bool read_most() const { return read_most_; }

 private:
  // Whether what was found so far may be kept in a cache that others use: no
  // limit has cut it short.  Besides, its fingerprint must still be the one
  // that it was made under (LexemeHint::fingerprint).
  bool sound() const { return base::work_left() && !recogniser_->overflowed(); }

  struct FoundMask {
    std::shared_ptr<const PartialMask> owner;  // null: this recogniser
    const PartialMask* mask = nullptr;
    const PartialMask* operator->() const { return mask; }
  };
  // The partial mask of hint.value, where `hint` is that of `config`; what
  // `make` returns if none is stored.  It is stored for all recognisers if the
  // value has a fingerprint, else for this one, under `key`: the value, but for
  // members that say which of its masks is meant.  Valid until the next one is
  // stored.
  //
  // The mask of a value reads the value and the layout, which the fingerprint
  // has, and the vocabulary of the compiler.
  template <class Make>
  FoundMask find_or_make(const Hint& hint, Configuration config,
                         Configuration key, const Make& make) {
    const base::Fingerprint& of = hint.value_fingerprint;
    if (!of) {
      const PartialMask* const known = partial_masks_->find(key);
      if (known != nullptr) return {nullptr, known};
      PartialMask made = make();
      return {nullptr, &partial_masks_->add(key, std::move(made))};
    }
    const base::Fingerprint shared =
        base::Fingerprinter(std::uint64_t{key.extra} << 32 | key.count)
            .add(of)
            .take();
    auto found = resources_.values.find(shared);
    if (found == nullptr) {
      auto made = std::make_shared<const PartialMask>(make());
      if (sound() && hint_of(config).value_fingerprint == of) {
        resources_.values.add(shared, made);
      }
      found = std::move(made);
    }
    return {found, found.get()};
  }

  // mask_maker.cc
  void make_by_kind(Configuration config);
  bool like_another(Configuration config);
  bool like(Configuration config, Configuration other);
  bool has_marks_of(Configuration config, Configuration like);
  std::optional<base::ByteSet> bytes_apart(Configuration config,
                                           Configuration like);
  void set_marks(Configuration config);
  bool before_value(const Hint& hint, Configuration config);
  void continue_past_value(const ExitPoint& exit_point, Configuration config);
  PartialMask make_value_mask(Configuration place);
  void store_built(PartialMask& made);
  void between_lexemes(const Between& view, Configuration config);
  void start_between_lexemes(std::uint32_t max_bytes, const FreeString* string);
  // A walk over fewer nodes is faster byte by byte than by token classes.
  static constexpr std::size_t kManyNodes = 1000;
  bool read_most_ = false;
  RecogniserMasks* masks_ = nullptr;  // of the recogniser
  void in_text(Configuration config);
  std::size_t nodes_below(const base::ByteSet& bytes) const;

  // mask_strings.cc
  void in_string(const FreeString& view, Configuration config);
  void start_inner(const vocab::BodyTable& table, std::uint32_t max_chars);
  void leave_string(const vocab::BodyTable& table, const FreeString& view,
                    std::uint32_t root, Configuration config);
  void leave_string(const vocab::BodyTable& table, std::uint32_t kind,
                    const FreeString::AcceptingRange& end);
  void leave_key(const vocab::ExitTrie& exits, Configuration key,
                 const Hint& hint, const FreeString::AcceptingRange& end);
  void find_exceptions(const FreeString& view, std::uint32_t root,
                       Configuration config);
  void find_exceptions(const FreeString& view, std::uint32_t root,
                       Configuration config, std::uint32_t begin,
                       std::uint32_t end);
  void find_quoted_exceptions(const FreeString& view, Configuration config);
  void add_exception(std::uint32_t root, Configuration at);
  void clear_exceptions();

  // mask_lexemes.cc
  void in_lexeme(const LexemeHint& lexeme, Configuration config);
  void add_fixed_keys(Configuration keys);
  bool leave_by_whitespace(Configuration config);
  // The lexeme of in_lexeme(), with its hint.
  Configuration in_;
  LexemeHint lexeme_;
  std::shared_ptr<const LexemeMask> lexeme_mask(Configuration config,
                                                std::uint32_t room,
                                                bool bounded);
  std::shared_ptr<const LexemeMask> lexeme_mask_by_state(
      const LexemeStates::Parts::Part& of, std::uint32_t room, bool bounded);
  static void unite(std::span<const std::shared_ptr<const LexemeMask>> parts,
                    std::span<std::uint32_t> words, LexemeMask& made);
  void intersect(std::span<const std::shared_ptr<const LexemeMask>> parts,
                 std::uint32_t state, std::span<std::uint32_t> words,
                 LexemeMask& made);
  std::shared_ptr<const LexemeMask> store_lexeme(
      const base::Fingerprint& key, std::shared_ptr<LexemeMask> made);
  void walk_lexeme(Configuration config, int lexeme_end, LexemeMask& made);

  // What the recogniser knows of places that walks meet.
  Hint hint_of(Configuration config) const;
  // Whether it has hints there, of its own or of a part.
  bool has_hints(Configuration config) const {
    return own_hints_ || config.in_part();
  }
  Configuration step_or_value(Configuration config, std::uint8_t byte) const {
    return is_off(Shortcut::kValueStates)
               ? recogniser_->step(config, byte)
               : recogniser_->step_or_value(config, byte);
  }
  // A superset of the bytes that step() accepts, never more expensive than to
  // try a few bytes.
  base::ByteSet likely_bytes(Configuration config) const {
    return has_hints(config) && !is_off(Shortcut::kLikelyBytes)
               ? recogniser_->first_bytes(config)
               : base::kAllBytes;
  }
  bool any_digits(Configuration config) const {
    return has_hints(config) && !is_off(Shortcut::kAnyDigits) &&
           recogniser_->any_digits(config);
  }
  std::optional<base::ByteSet> exception_bytes(Configuration config) const;
  std::optional<LeftValue> left_value(Configuration config) const {
    if (config.lex != left_value_) return std::nullopt;
    return LeftValue{.fulfilled = config.extra, .lookahead = config.count};
  }

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
  void walk_digits(std::uint32_t root, std::uint32_t origin, Configuration at);
  void walk_all(Configuration at, const base::ByteSet& bytes);
  bool correct(std::uint32_t root, Configuration config, Configuration like);
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
  bool own_hints_ = false;            // Traits::has_hints of it
  std::uint32_t left_value_ = 0;      // the `lex` where a value was left
  PartialMaskCache* partial_masks_ = nullptr;
  // While the tokens that leave a string are read, if the configuration after
  // the string depends on the string's text: the configuration in the string,
  // and how many bytes of each token precede it.
  const Configuration* text_start_ = nullptr;
  std::size_t text_start_depth_ = 0;

  // While tokens are read whose bits may be set already.
  bool may_be_set_ = false;

  // While a partial mask is made: collects where tokens continue past the
  // value.
  std::vector<ExitPoint>* exit_points_ = nullptr;
  // While the partial mask of a value after a key is made: collects its tokens.
  std::vector<Id>* collected_exits_ = nullptr;
  // While exits are read from a value state without a partial mask: the
  // configuration that it stands for.  Else dead.
  Configuration actual_;

  // Of the current path of a walk, by depth in the trie.
  std::vector<Configuration> like_states_;  // of correct()
  std::vector<Configuration> states_ =
      std::vector<Configuration>(vocab::kMaxTokenBytes + 1);
  std::vector<json::BodyState> body_states_ =
      std::vector<json::BodyState>(vocab::kMaxTokenBytes + 1);
  std::vector<base::ByteSet> wanted_bytes_ =
      std::vector<base::ByteSet>(vocab::kMaxTokenBytes + 1);
  std::vector<std::uint32_t> path_ =
      std::vector<std::uint32_t>(vocab::kMaxTokenBytes + 1);

  Recogniser::TokenIds token_ids_;

  // Tokens that complete an exceptional key.  They are decided first; set()
  // skips them afterwards.
  std::vector<std::uint32_t> is_exception_;  // a bit per id; empty until used
  std::vector<Id> exceptions_;
  Configuration origin_;  // where find_exceptions() began, at origin_node_
  std::uint32_t origin_node_ = 0;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_MASK_MAKER_H_
