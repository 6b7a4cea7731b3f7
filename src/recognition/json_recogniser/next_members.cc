// The next member of an object: which keys may come, and the conjunction of
// each one's value.
//
// The keys that the schema spells are looked up in a KeyTrie; other keys are
// members of a regular language.  A key is allowed in a frame if some
// alternative can be completed after it.

#include "json_recogniser/next_members.h"

#include <algorithm>
#include <utility>

#include "base/work.h"
#include "json_recogniser/list_key.h"
#include "json_recogniser/unique_items.h"

namespace parlance::json_recogniser {

using schema_solver::DisjunctId;
using schema_solver::kAlways;
using schema_solver::KeyClass;
using schema_solver::KeyId;
using schema_solver::KeySet;
using schema_solver::KeySets;
using schema_solver::KeyTables;
using schema_solver::kNoKey;
using schema_solver::kNoKeys;
using schema_solver::MemberAlternative;
using schema_solver::SchemaSolver;

// The trie of the keys that rules of the frame's alternatives spell, and of the
// keys that were used and are remembered although no such rule spells them: an
// alternative that was dropped, or one that counts members, may have read them.
//
// What the memo reads is its key: the disjuncts, and the keys remembered.
std::uint32_t NextMembers::key_trie(const Frame& frame) {
  std::vector<DisjunctId> disjuncts;
  for (const Alternative& one : frame.alternatives) {
    disjuncts.push_back(one.disjunct);
  }
  std::ranges::sort(disjuncts);
  disjuncts.erase(std::unique(disjuncts.begin(), disjuncts.end()),
                  disjuncts.end());
  KeySet remembered = frame.used;
  for (const DisjunctId disjunct : disjuncts) {
    remembered = solver_.key_sets().subtract(remembered,
                                             solver_.keys().spelled(disjunct));
  }
  std::vector<std::uint32_t> key = {remembered};
  key.insert(key.end(), disjuncts.begin(), disjuncts.end());
  const auto [it, is_new] = key_trie_of_.try_emplace(bytes_of(key), 0);
  if (is_new) it->second = make_key_trie(disjuncts, remembered);
  return it->second;
}

std::uint32_t NextMembers::make_key_trie(std::span<const DisjunctId> disjuncts,
                                         KeySet also) {
  std::vector<KeyId> keys;
  std::vector<automata::LanguageId> languages;
  for (const DisjunctId disjunct : disjuncts) {
    const auto& some = solver_.keys().spelled_list(disjunct);
    keys.insert(keys.end(), some.begin(), some.end());
    const auto& patterns = solver_.keys().languages(disjunct);
    languages.insert(languages.end(), patterns.begin(), patterns.end());
  }
  solver_.key_sets().each(also, [&](KeyId key) {
    keys.push_back(key);
    return true;
  });
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  std::sort(languages.begin(), languages.end());
  languages.erase(std::unique(languages.begin(), languages.end()),
                  languages.end());
  return keys_.add_trie(std::move(keys), std::move(languages));
}

// --- The order of members. ---------------------------------------------------
//
// Under KeyOrder::kSchema a member skips every declared key that precedes its
// own: a skipped key counts as used from then on.  So the used keys are, apart
// from undeclared ones, a prefix of the order, however many of them are
// present, and frames with different members coincide.  Which of the used keys
// are present is remembered only for presence_keys(), about which some rule
// asks again.  A required key is never skipped.

Progress NextMembers::progress_of(FrameId id) const {
  const Frame& frame = frames_[id];
  return {.used = frame.used, .present = frame.present, .count = frame.count};
}

// The keys whose rank is below `rank` in some alternative.
KeySet NextMembers::ranked_below(FrameId id, std::uint32_t rank) {
  const Frame& frame = frames_[id];
  KeySet keys = kNoKeys;
  for (const Alternative& one : frame.alternatives) {
    keys = solver_.key_sets().unite(
        keys, solver_.keys().ranked_below(one.disjunct, rank));
  }
  return keys;
}

// The lowest rank that one of the keys has in some alternative.
std::uint32_t NextMembers::min_rank(FrameId id, KeySet keys) {
  const Frame& frame = frames_[id];
  std::uint32_t least = KeyTables::kNoRank;
  for (const Alternative& one : frame.alternatives) {
    least = std::min(least, solver_.keys().min_rank(one.disjunct, keys));
  }
  return least;
}

// Alternatives may order keys differently.  The key's lowest rank in any of
// them counts: a key that comes first in one alternative skips nothing, so an
// alternative with another order keeps its members.
Progress NextMembers::after_member(FrameId id, KeyId key, bool spelled) {
  KeySets& sets = solver_.key_sets();
  const Frame& frame = frames_[id];
  Progress progress = progress_of(id);
  ++progress.count;
  const KeySet self = spelled ? sets.one(key) : kNoKeys;
  if (language_.in_order()) {
    std::uint32_t rank = KeyTables::kNoRank;
    KeySet presence = kNoKeys;
    for (const Alternative& one : frame.alternatives) {
      const DisjunctId disjunct = one.disjunct;
      if (spelled) rank = std::min(rank, solver_.keys().rank(disjunct, key));
      presence = sets.unite(presence, solver_.keys().presence_keys(disjunct));
    }
    progress.skipped = sets.subtract(ranked_below(id, rank), self);
    progress.present =
        sets.unite(progress.present, sets.intersect(self, presence));
    progress.used = sets.unite(progress.used, progress.skipped);
  }
  progress.used = sets.unite(progress.used, self);
  return progress;
}

// The progress as the solver sees it.  REQUIRES: no key that the disjunct
// requires was skipped, so that a required key that is used is present.
schema_solver::MembersSoFar NextMembers::members_of(
    DisjunctId disjunct, const Progress& progress,
    schema_solver::ConditionId condition) {
  schema_solver::MembersSoFar members{
      .seen = progress.used, .count = progress.count, .condition = condition};
  if (language_.in_order()) {
    KeySets& sets = solver_.key_sets();
    members.seen = sets.unite(
        progress.present,
        sets.intersect(progress.used, solver_.keys().required(disjunct)));
    members.excluded = sets.subtract(progress.used, members.seen);
  }
  return members;
}

// Whether the last member skipped a key that the disjunct always requires.
// `before`: the progress without that member.
bool NextMembers::skips_required(DisjunctId disjunct, const Progress& before,
                                 const Progress& progress) {
  KeySets& sets = solver_.key_sets();
  return sets.intersect(
             sets.subtract(solver_.keys().required(disjunct), before.used),
             progress.skipped) != kNoKeys;
}

// --- Which keys may come. ----------------------------------------------------

// The keys of a trie whose values are satisfiable.  `near`: the answer holds
// for the depth of the frame alone, since the depth limit is near.
KeySet NextMembers::possible_keys(DisjunctId disjunct, std::uint32_t trie,
                                  bool near) {
  const std::uint64_t memo = std::uint64_t{trie} << 32 | disjunct;
  if (!near) {
    const auto known = possible_keys_.find(memo);
    if (known != possible_keys_.end()) return known->second;
  }
  std::vector<KeyId> keys;
  for (const KeyId key : keys_.trie(trie).keys()) {
    if (solver_.satisfiable(
            solver_.member_conjunction(disjunct, {.key = key}))) {
      keys.push_back(key);
    }
  }
  const KeySet possible = solver_.key_sets().of(std::move(keys));
  if (!near) possible_keys_.emplace(memo, possible);
  return possible;
}

// Those of the possible keys that are not used and that the order of members
// lets come next: in schema order, no key after the first key that is still
// needed, because it would skip the needed one.
KeySet NextMembers::next_in_order(FrameId id, DisjunctId disjunct,
                                  KeySet possible) {
  KeySets& sets = solver_.key_sets();
  KeySet left = possible;
  if (language_.in_order()) {
    const KeySet needed = solver_.keys().needed(
        disjunct, members_of(disjunct, progress_of(id), kAlways).seen);
    const std::uint32_t own = solver_.keys().min_rank(disjunct, needed);
    if (own != KeyTables::kNoRank) {
      left =
          sets.intersect(solver_.keys().ranked_below(disjunct, own + 1), left);
    }
    const std::uint32_t any = min_rank(id, needed);
    if (any != KeyTables::kNoRank && frames_[id].alternatives.size() > 1) {
      left = sets.intersect(ranked_below(id, any + 1), left);
    }
  }
  return sets.subtract(left, frames_[id].used);
}

std::uint32_t NextMembers::needed_key(FrameId id) {
  if (language_.in_order()) return KeyTrie::kNone;
  KeySets& sets = solver_.key_sets();
  const KeyInfo& info = raw_key_info(id);
  KeySet needed = info.possible;
  for (const Alternative& one : frames_[id].alternatives) {
    needed = sets.intersect(
        needed, solver_.keys().needed(one.disjunct, frames_[id].used));
  }
  if (needed == kNoKeys) return KeyTrie::kNone;
  // The keys of a trie are in the order of their texts, which is not that of
  // the ids of keys that the schema does not spell.
  const auto text = [&](KeyId key) -> const std::string& {
    return solver_.names().text(key);
  };
  const std::vector<KeyId>& keys = keys_.trie(info.trie).keys();
  const auto found =
      std::ranges::lower_bound(keys, text(sets.min(needed)), {}, text);
  return static_cast<std::uint32_t>(found - keys.begin());
}

// The possible keys after which the alternative can be completed.  With
// `any_only`, some of these keys, and at least one if there is one.
//
// can_continue_with() answers that for one key, at the cost of a question to
// the solver.  Objects may have thousands of keys, so keys about which the
// solver gives the same answer are asked about together.  Invariant: `allowed`
// holds the keys found allowed, `interchangeable` keys that are not asked about
// yet.
KeySet NextMembers::allowed_keys(FrameId id, const Alternative& alternative,
                                 KeySet possible, bool any_only) {
  KeySets& sets = solver_.key_sets();
  const DisjunctId disjunct = alternative.disjunct;
  const KeySet left = next_in_order(id, disjunct, possible);
  if (left == kNoKeys) return left;
  // Step 1: separate the keys whose presence matters to rules or to the
  // condition, and ask about each of them.  The others differ only in
  // being required, and in which presence_keys() they skip.
  const KeySet presence = solver_.keys().presence_keys(disjunct);
  const KeySet individual = sets.intersect(
      left, sets.unite(presence, solver_.keys().condition_keys(disjunct)));
  KeySet interchangeable = sets.subtract(left, individual);
  KeySet allowed = kNoKeys;
  const auto enough = [&] { return any_only && allowed != kNoKeys; };
  const auto one_by_one = [&](KeySet keys) {
    sets.each(keys, [&](KeyId key) {
      if (can_continue_with(id, alternative, key)) {
        allowed = sets.with(allowed, key);
      }
      return !enough();
    });
  };
  one_by_one(individual);
  if (enough()) return allowed;
  // Step 2: where members are counted, or a condition is open, each skipped key
  // may be missed later, so every interchangeable key is a question of its own.
  if (language_.in_order() && solver_.keys().tracks_extra_keys(disjunct) &&
      (solver_.object(disjunct).min > frames_[id].count + 1U ||
       alternative.condition() != kAlways)) {
    one_by_one(interchangeable);
    return allowed;
  }
  // Step 3: in schema order, the keys up to the next of the presence keys ahead
  // skip the same presence keys: they are one group, and so on from there.
  if (language_.in_order()) {
    KeySet ahead = sets.subtract(presence, frames_[id].used);
    while (ahead != kNoKeys && interchangeable != kNoKeys && !enough()) {
      const std::uint32_t rank = min_rank(id, ahead);
      if (rank == KeyTables::kNoRank) break;
      const KeySet near =
          sets.intersect(interchangeable, ranked_below(id, rank + 1));
      allowed = sets.unite(allowed, allowed_together(id, alternative, near));
      interchangeable = sets.subtract(interchangeable, near);
      ahead = sets.subtract(ahead, ranked_below(id, rank + 1));
    }
  }
  return sets.unite(allowed,
                    allowed_together(id, alternative, interchangeable));
}

// The allowed ones of keys that differ in nothing but being required: of the
// required keys, all or none are allowed, and of the others likewise.
KeySet NextMembers::allowed_together(FrameId id, const Alternative& alternative,
                                     KeySet keys) {
  KeySets& sets = solver_.key_sets();
  const KeySet required =
      sets.intersect(keys, solver_.keys().required(alternative.disjunct));
  KeySet allowed = kNoKeys;
  for (const KeySet part : {required, sets.subtract(keys, required)}) {
    if (part != kNoKeys && can_continue_with(id, alternative, sets.min(part))) {
      allowed = sets.unite(allowed, part);
    }
  }
  return allowed;
}

// The union of the languages `extras`, without the keys of the trie.
automata::LanguageId NextMembers::other_keys(
    std::uint32_t trie_id, std::vector<automata::LanguageId> extras) {
  std::sort(extras.begin(), extras.end());
  extras.erase(std::unique(extras.begin(), extras.end()), extras.end());
  std::vector<std::uint32_t> arguments = {trie_id};
  arguments.insert(arguments.end(), extras.begin(), extras.end());
  std::string question = bytes_of(arguments);
  const auto known = other_keys_.find(question);
  if (known != other_keys_.end()) return known->second;
  automata::Languages& languages = solver_.languages();
  automata::LanguageId language = languages.any_of(std::move(extras));
  std::vector<std::string> spelled;
  for (const KeyId key : keys_.trie(trie_id).keys()) {
    spelled.push_back(solver_.names().text(key));
  }
  if (!spelled.empty()) {
    language = languages.all_of(
        {language, languages.complement(languages.literals(spelled))});
  }
  other_keys_.emplace(std::move(question), language);
  return language;
}

// Whether any key may come that the schema does not spell: KeyInfo::open.
bool NextMembers::any_other_key(FrameId id) {
  if (frames_.memo(id).keys != nullptr) return frames_.memo(id).keys->open;
  const schema_solver::ScopedDepthLimit levels(solver_.satisfiability(),
                                               frames_.levels_in(id));
  if (!keys_.trie(key_trie(frames_[id])).languages().empty()) return false;
  const std::span<const Alternative> now = frames_[id].alternatives;
  return std::any_of(now.begin(), now.end(), [&](const Alternative& one) {
    return solver_.languages().universal(
        solver_.languages().start(extras_of(id, one)));
  });
}

// Whether another member may come.  Masks ask only this of many frames, for
// tokens with a comma, so the first key that is found will do.  Keys that the
// schema does not spell are asked about first: mostly they leave the rest of
// the object as it is, so that the solver knows the answer.
bool NextMembers::any_member(FrameId id) {
  if (frames_.memo(id).any_member) return true;
  if (frames_.memo(id).keys == nullptr && frames_[id].partial == 0 &&
      (any_other_key(id) || some_key_allowed(id))) {
    return frames_.memo(id).any_member = true;
  }
  return key_info(id).any;
}

// Whether some key may come that the schema spells.
bool NextMembers::some_key_allowed(FrameId id) {
  const schema_solver::ScopedDepthLimit levels(solver_.satisfiability(),
                                               frames_.levels_in(id));
  const std::uint32_t trie = key_trie(frames_[id]);
  const bool near = frames_.levels_in(id) != schema_solver::kAnyLevels;
  const std::span<const Alternative> now = frames_[id].alternatives;
  return std::any_of(now.begin(), now.end(), [&](const Alternative& one) {
    const KeySet possible = possible_keys(one.disjunct, trie, near);
    return allowed_keys(id, one, possible, /*any_only=*/true) != kNoKeys;
  });
}

// The keys that may come next in a frame.
//
// A key is handled in one of three ways, cheapest first:
//   allowed  the schema spells it: it is in the trie
//   open     every other key may come, and no pattern distinguishes them: no
//            state is needed
//   extras   the other keys are a regular language: a state of its automaton,
//            and one of each pattern, since patterns decide the value
KeyInfo& NextMembers::raw_key_info(FrameId id) {
  if (frames_.memo(id).keys != nullptr) return *frames_.memo(id).keys;
  const schema_solver::ScopedDepthLimit levels(solver_.satisfiability(),
                                               frames_.levels_in(id));
  const std::uint32_t trie_id = key_trie(frames_[id]);
  const KeyTrie& trie = keys_.trie(trie_id);
  auto info = std::make_unique<KeyInfo>(KeyInfo{.trie = trie_id});
  bytes_ += sizeof(KeyInfo);
  const std::span<const Alternative> now = frames_[id].alternatives;
  automata::Languages& languages = solver_.languages();
  KeySets& sets = solver_.key_sets();
  std::vector<automata::LanguageId> extras;
  bool track = false;
  bool any_open = false;
  const bool near = frames_.levels_in(id) != schema_solver::kAnyLevels;
  // Step 1: the union over the alternatives.  Invariant: `info->possible` and
  // `extras` are the keys with which one of the alternatives so far continues.
  for (const Alternative& alternative : now) {
    track = track || solver_.keys().tracks_extra_keys(alternative.disjunct);
    // Keys that another alternative allows need no second question.
    const KeySet possible = sets.subtract(
        possible_keys(alternative.disjunct, trie_id, near), info->possible);
    info->possible =
        sets.unite(info->possible,
                   allowed_keys(id, alternative, possible, /*any_only=*/false));
    const automata::LanguageId others = extras_of(id, alternative);
    if (languages.empty(others)) continue;
    any_open = any_open || languages.universal(languages.start(others));
    extras.push_back(others);
  }
  // Step 2: the lexeme after the opening quote.
  Lexeme start;
  start.kind = Kind::kKey;
  info->track = track;
  // Inside an item of an array with uniqueItems, each key counts.
  const bool inside = frames_[id].partial != 0;
  start.track = track || inside;
  start.trie = trie_id;
  start.node = trie.keys().empty() ? KeyTrie::kNone : 0;
  info->open = any_open && trie.languages().empty() && !inside;
  start.open = info->open;
  if (!info->open) {
    for (const automata::LanguageId language : trie.languages()) {
      start.entries.push_back({.state = languages.start(language)});
    }
    // Keys that the schema spells, or that were remembered, are in the trie.
    if (!extras.empty()) {
      info->others = other_keys(trie_id, std::move(extras));
      start.extras = languages.start(*info->others);
    }
  }
  info->extras = start.extras;
  info->allowed = info->possible;
  info->checked = !inside;
  info->any = info->allowed != kNoKeys || info->open ||
              info->extras != automata::kDeadState;
  info->start = lexemes_.intern(std::move(start));
  frames_.memo(id).keys = std::move(info);
  return *frames_.memo(id).keys;
}

const KeyInfo& NextMembers::key_info(FrameId id) {
  KeyInfo& info = raw_key_info(id);
  if (!info.checked) unique_.check_keys(id, info);
  return info;
}

FrameId NextMembers::with_member(FrameId id, std::uint32_t index,
                                 std::vector<bool> matched,
                                 const std::string* text) {
  const KeyInfo& info = key_info(id);
  if (index != KeyTrie::kNone &&
      !solver_.key_sets().contains(info.allowed,
                                   keys_.trie(info.trie).keys()[index])) {
    return kNoFrame;
  }
  const FrameId made = member_of(id, index, std::move(matched), text);
  return frames_[made].partial == 0 || unique_.finishes(made) ? made : kNoFrame;
}

FrameId NextMembers::member_of(FrameId id, std::uint32_t index,
                               std::vector<bool> matched,
                               const std::string* text) {
  KeyInfo& info = raw_key_info(id);
  const KeyTrie& trie = keys_.trie(info.trie);
  if (index != KeyTrie::kNone) {
    const KeyId key = trie.keys()[index];
    const std::uint64_t member = std::uint64_t{id} << 32 | index;
    const auto known = next_members_.find(member);
    if (known != next_members_.end()) return known->second;
    const FrameId made =
        make_member(id, {.key = key}, after_member(id, key, true),
                    solver_.names().text(key));
    next_members_.emplace(member, made);
    return made;
  }
  if (text != nullptr && info.track) {
    const KeyId key = solver_.names().id(*text);
    return make_member(id, {.key = key}, after_member(id, key, true), *text);
  }
  matched.resize(trie.languages().size());
  if (text != nullptr) {
    return make_member(id, {kNoKey, &trie.languages(), &matched},
                       after_member(id, kNoKey, false), *text);
  }
  if (const auto known = info.next_extra.find(matched);
      known != info.next_extra.end()) {
    return known->second;
  }
  const FrameId made = make_member(id, {kNoKey, &trie.languages(), &matched},
                                   after_member(id, kNoKey, false), {});
  info.next_extra.emplace(std::move(matched), made);
  return made;
}

// The language of the keys that the schema does not spell and after which the
// alternative can be completed.
automata::LanguageId NextMembers::extras_of(FrameId id,
                                            const Alternative& alternative) {
  const automata::LanguageId possible =
      solver_.keys().possible_extra_keys(alternative.disjunct);
  if (solver_.languages().empty(possible)) return possible;
  const Progress progress = after_member(id, kNoKey, false);
  if (skips_required(alternative.disjunct, progress_of(id), progress)) {
    return solver_.languages().nothing();
  }
  const auto completable = [&](schema_solver::ConditionId condition) {
    return solver_.satisfiability().completable(
        alternative.disjunct,
        members_of(alternative.disjunct, progress, condition));
  };
  if (alternative.condition() == kAlways) {
    return completable(kAlways) ? possible : solver_.languages().nothing();
  }
  const auto& patterns = solver_.keys().languages(alternative.disjunct);
  std::vector<automata::LanguageId> parts;
  for (const schema_solver::ExtraKeys& extra :
       solver_.keys().extra_keys(alternative.disjunct)) {
    const KeyClass key_class{kNoKey, &patterns, &extra.matched};
    const std::vector<MemberAlternative> members =
        member_alternatives(alternative, key_class, progress);
    if (std::any_of(members.begin(), members.end(),
                    [&](const MemberAlternative& member) {
                      return completable(member.condition);
                    })) {
      parts.push_back(patterns.empty() ? solver_.languages().everything()
                                       : extra.language);
    }
  }
  return parts.empty() ? solver_.languages().nothing()
                       : solver_.languages().any_of(std::move(parts));
}

// The alternatives for the value of a member with such a key, each with what
// remains of the alternative's condition.
std::vector<MemberAlternative> NextMembers::member_alternatives(
    const Alternative& alternative, const KeyClass& key_class,
    const Progress& progress) {
  return solver_.member_alternatives(
      alternative.disjunct,
      solver_.without_keys(alternative.condition(), progress.skipped),
      key_class, progress.count);
}

// Whether the alternative can be completed after a member with that key.
bool NextMembers::can_continue_with(FrameId id, const Alternative& alternative,
                                    KeyId key) {
  if (!base::spend_work()) return false;
  const Progress progress = after_member(id, key, true);
  if (skips_required(alternative.disjunct, progress_of(id), progress)) {
    return false;
  }
  const std::vector<MemberAlternative> members =
      member_alternatives(alternative, {.key = key}, progress);
  return std::any_of(
      members.begin(), members.end(), [&](const MemberAlternative& member) {
        return solver_.satisfiability().completable(
            alternative.disjunct,
            members_of(alternative.disjunct, progress, member.condition));
      });
}

// The frame in which the value of a member comes; 0 if no alternative allows
// the member.
FrameId NextMembers::make_member(FrameId id, const KeyClass& key_class,
                                 const Progress& progress,
                                 const std::string& text) {
  const schema_solver::ScopedDepthLimit levels(solver_.satisfiability(),
                                               frames_.levels_in(id));
  Frame next;
  next.kind = FrameKind::kObject;
  next.pending = true;
  next.depth = frames_[id].depth;
  next.parent = frames_[id].parent;
  std::uint64_t cap = 0;
  std::vector<Alternative> made;
  for (const Alternative& alternative : frames_[id].alternatives) {
    cap = std::max(cap, solver_.keys().count_cap(alternative.disjunct));
    if (skips_required(alternative.disjunct, progress_of(id), progress)) {
      continue;
    }
    for (const MemberAlternative& member :
         member_alternatives(alternative, key_class, progress)) {
      if (solver_.satisfiability().completable(
              alternative.disjunct,
              members_of(alternative.disjunct, progress, member.condition))) {
        made.push_back({alternative.outer, alternative.disjunct,
                        member.condition, member.conjunction});
      }
    }
  }
  if (made.empty()) return kNoFrame;
  next.count =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(progress.count, cap));
  next.used = progress.used;
  next.present = progress.present;
  if (const std::uint32_t partial = frames_[id].partial; partial != 0) {
    next.partial = partials_.with_key(partial, text, key_class.key == kNoKey);
  }
  return frames_.intern(next, made);
}

}  // namespace parlance::json_recogniser
