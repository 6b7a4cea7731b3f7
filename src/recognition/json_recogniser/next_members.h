#ifndef PARLANCE_SRC_JSON_RECOGNISER_NEXT_MEMBERS_H_
#define PARLANCE_SRC_JSON_RECOGNISER_NEXT_MEMBERS_H_

// The next member of an object: which keys may come, and the frame of each
// one's value.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "automata/language.h"
#include "json_recogniser/frame.h"
#include "json_recogniser/json_language.h"
#include "json_recogniser/key_lexemes.h"
#include "json_recogniser/lexeme.h"
#include "json_recogniser/partial_values.h"
#include "schema_solver/key_sets.h"
#include "schema_solver/solver.h"

namespace parlance::json_recogniser {

class UniqueItems;

// The members of an object so far, or after one more member.
struct Progress {
  schema_solver::KeySet used = schema_solver::kNoKeys;
  schema_solver::KeySet present = schema_solver::kNoKeys;
  schema_solver::KeySet skipped =
      schema_solver::kNoKeys;  // left out by this member
  std::uint64_t count = 0;
};

// Owned by a recogniser.  Asks UniqueItems which of the possible keys lead to
// values that are not barred, and is asked by it for all of them.  An answer
// depends on the frame and the arguments alone.
class NextMembers {
 public:
  // All must outlive this.
  NextMembers(const JsonLanguage& language, schema_solver::SchemaSolver& solver,
              FrameTable& frames, LexemeTable& lexemes, KeyLexemes& keys,
              PartialValues& partials, UniqueItems& unique)
      : language_(language),
        solver_(solver),
        frames_(frames),
        lexemes_(lexemes),
        keys_(keys),
        partials_(partials),
        unique_(unique) {}

  // Valid as long as the frame.
  const KeyInfo& key_info(FrameId frame);
  // The same, whether values are barred or not.
  KeyInfo& raw_key_info(FrameId frame);
  bool any_member(FrameId frame);
  // The frame in which the value of a member comes; 0 if there is no such
  // member.  `index` is the index of the key in the frame's trie.  For a key
  // that is not in the trie it is kNone; then `matched` says of each pattern of
  // the trie whether it matches (those beyond its end do not), and `text` is
  // the key, or null if it is not tracked.
  FrameId with_member(FrameId frame, std::uint32_t index,
                      std::vector<bool> matched, const std::string* text);
  // The same for a key that is allowed but for what uniqueItems bars.
  FrameId member_of(FrameId frame, std::uint32_t index,
                    std::vector<bool> matched, const std::string* text);

  // The index in its trie of a key without which the object cannot end; kNone
  // if there is none, or if the members have an order.
  std::uint32_t needed_key(FrameId frame);

  Progress progress_of(FrameId frame) const;
  // The progress as the solver sees it.  REQUIRES: no key that the disjunct
  // requires was skipped, so that a required key that is used is present.
  schema_solver::MembersSoFar members_of(schema_solver::DisjunctId disjunct,
                                         const Progress& progress,
                                         schema_solver::ConditionId condition);

  std::size_t memory_bytes() const {
    return bytes_ + (next_members_.size() + possible_keys_.size()) * 48;
  }

 private:
  bool any_other_key(FrameId frame);
  bool some_key_allowed(FrameId frame);
  std::uint32_t key_trie(const Frame& frame);
  std::uint32_t make_key_trie(
      std::span<const schema_solver::DisjunctId> disjuncts,
      schema_solver::KeySet also);
  // The members after one more.  `spelled`: its key is `key`.  Otherwise no
  // rule spells its key, and the key is not remembered.
  Progress after_member(FrameId frame, schema_solver::KeyId key, bool spelled);
  bool skips_required(schema_solver::DisjunctId disjunct,
                      const Progress& before, const Progress& progress);
  schema_solver::KeySet ranked_below(FrameId frame, std::uint32_t rank);
  std::uint32_t min_rank(FrameId frame, schema_solver::KeySet keys);
  schema_solver::KeySet possible_keys(schema_solver::DisjunctId disjunct,
                                      std::uint32_t trie, bool near);
  schema_solver::KeySet next_in_order(FrameId frame,
                                      schema_solver::DisjunctId disjunct,
                                      schema_solver::KeySet possible);
  schema_solver::KeySet allowed_keys(FrameId frame,
                                     const Alternative& alternative,
                                     schema_solver::KeySet possible,
                                     bool any_only);
  schema_solver::KeySet allowed_together(FrameId frame,
                                         const Alternative& alternative,
                                         schema_solver::KeySet keys);
  automata::LanguageId extras_of(FrameId frame, const Alternative& alternative);
  automata::LanguageId other_keys(std::uint32_t trie,
                                  std::vector<automata::LanguageId> extras);
  std::vector<schema_solver::MemberAlternative> member_alternatives(
      const Alternative& alternative, const schema_solver::KeyClass& key_class,
      const Progress& progress);
  bool can_continue_with(FrameId frame, const Alternative& alternative,
                         schema_solver::KeyId key);
  FrameId make_member(FrameId frame, const schema_solver::KeyClass& key_class,
                      const Progress& progress, const std::string& text);

  const JsonLanguage& language_;
  schema_solver::SchemaSolver& solver_;
  FrameTable& frames_;
  LexemeTable& lexemes_;
  KeyLexemes& keys_;
  PartialValues& partials_;
  UniqueItems& unique_;
  // By the keys that are remembered, and the disjuncts: see key_trie().
  std::unordered_map<std::string, std::uint32_t> key_trie_of_;
  // By trie and disjunct: the keys whose values are satisfiable, for any number
  // of levels.
  std::unordered_map<std::uint64_t, schema_solver::KeySet> possible_keys_;
  // By frame and index of the key in its trie, which the frame decides: the
  // frame of the member.
  std::unordered_map<std::uint64_t, FrameId> next_members_;
  // other_keys() by its arguments.
  std::unordered_map<std::string, automata::LanguageId> other_keys_;
  std::size_t bytes_ = 0;  // of KeyInfos
};

}  // namespace parlance::json_recogniser

#endif  // PARLANCE_SRC_JSON_RECOGNISER_NEXT_MEMBERS_H_
