// Frames: opening them, what their members and items do to them, and closing
// them.

#include <algorithm>
#include <iterator>

#include "base/mix.h"
#include "json_recogniser/json_recogniser.h"

namespace parlance::json_recogniser {

using schema_solver::ConjunctionId;
using schema_solver::DisjunctId;
using schema_solver::JsonType;
using schema_solver::kAlways;
using schema_solver::KeyId;
using schema_solver::kNoBound;
using schema_solver::kNoKey;
using schema_solver::kNoNames;
using schema_solver::kNothing;
using schema_solver::MemberWay;
using schema_solver::NameClass;
using schema_solver::NameSet;
using schema_solver::NameSets;
using schema_solver::SchemaSolver;

using recogniser::Configuration;
namespace {

using base::mix;

template <class T>
std::string bytes_of(const std::vector<T>& list) {
  return std::string(reinterpret_cast<const char*>(list.data()),
                     list.size() * sizeof(T));
}

// `list`, interned in `table`.
template <class T>
std::uint32_t intern_list(std::vector<std::vector<T>>& table,
                          std::unordered_map<std::string, std::uint32_t>& ids,
                          std::vector<T> list) {
  const auto [it, is_new] =
      ids.try_emplace(bytes_of(list), static_cast<std::uint32_t>(table.size()));
  if (is_new) table.push_back(std::move(list));
  return it->second;
}

}  // namespace

std::uint32_t JsonRecogniser::levels_in(FrameId frame) const {
  const std::uint64_t left = options_.limits.depth - frames_[frame].depth;
  return left > kNear ? SchemaSolver::kAnyLevels
                      : static_cast<std::uint32_t>(left);
}

JsonRecogniser::FrameId JsonRecogniser::intern(
    Frame frame, std::vector<Alternative> alternatives) {
  std::uint64_t hash = static_cast<std::uint64_t>(frame.kind);
  mix(hash, std::uint64_t{frame.parent} << 32 | frame.count);
  mix(hash, std::uint64_t{frame.used} << 1 | (frame.pending ? 1 : 0));
  mix(hash, frame.came);
  for (const Alternative& one : alternatives) {
    mix(hash, std::uint64_t{one.up} << 32 | one.disjunct);
    mix(hash, one.state);
    mix(hash, one.pending);
  }
  const auto [begin, end] = frame_of_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const Frame& known = frames_[it->second];
    if (known.kind == frame.kind && known.parent == frame.parent &&
        known.count == frame.count && known.used == frame.used &&
        known.came == frame.came && known.pending == frame.pending &&
        known.size == alternatives.size() &&
        std::equal(alternatives.begin(), alternatives.end(),
                   alternatives_.begin() + known.first)) {
      return it->second;
    }
  }
  const auto id = static_cast<FrameId>(frames_.size());
  frame.first = static_cast<std::uint32_t>(alternatives_.size());
  frame.size = static_cast<std::uint32_t>(alternatives.size());
  if (frame.kind == FrameKind::kArray) {
    for (const Alternative& one : alternatives) {
      frame.unique = frame.unique || solver_.array(one.disjunct).unique;
    }
  }
  alternatives_.insert(alternatives_.end(), alternatives.begin(),
                       alternatives.end());
  frames_.push_back(std::move(frame));
  frame_of_.emplace(hash, id);
  return id;
}

std::vector<ConjunctionId> JsonRecogniser::conjunctions_in(
    const Frame& frame) const {
  std::vector<ConjunctionId> conjunctions;
  for (std::uint32_t i = 0; i < frame.size; ++i) {
    const ConjunctionId conjunction = alternatives(frame)[i].pending;
    if (std::find(conjunctions.begin(), conjunctions.end(), conjunction) ==
        conjunctions.end()) {
      conjunctions.push_back(conjunction);
    }
  }
  return conjunctions;
}

bool JsonRecogniser::unique_in(const Frame& frame,
                               ConjunctionId conjunction) const {
  if (!frame.unique) return false;
  for (std::uint32_t i = 0; i < frame.size; ++i) {
    const Alternative& one = alternatives(frame)[i];
    if ((conjunction == kNothing || one.pending == conjunction) &&
        !solver_.array(one.disjunct).unique) {
      return false;
    }
  }
  return true;
}

// A new object or array for the value that comes in `id`; 0 if none may come.
JsonRecogniser::FrameId JsonRecogniser::open(FrameId id, JsonType type) {
  const SchemaSolver::ScopedDepthLimit levels(solver_, levels_in(id));
  const Frame& outer = frames_[id];
  if (outer.depth >= options_.limits.depth) return 0;
  Frame frame;
  frame.kind =
      type == JsonType::kObject ? FrameKind::kObject : FrameKind::kArray;
  frame.parent = id;
  frame.depth = outer.depth + 1;
  std::vector<Alternative> made;
  for (const ConjunctionId conjunction : conjunctions_in(frames_[id])) {
    for (const DisjunctId disjunct : solver_.disjuncts(conjunction, type)) {
      Alternative alternative{conjunction, disjunct, 0, kNothing};
      if (type == JsonType::kArray) {
        std::vector<std::uint64_t> counts(
            solver_.array(disjunct).counts.size() + 1, 0);
        alternative.state = intern_list(counts_, counts_of_, std::move(counts));
      } else {
        alternative.state = solver_.object(disjunct).condition;
      }
      made.push_back(alternative);
    }
  }
  return made.empty() ? 0 : intern(std::move(frame), std::move(made));
}

JsonRecogniser::FrameId JsonRecogniser::after(
    FrameId id, const std::vector<ConjunctionId>& survivors,
    const std::string* unique_value) {
  const Frame& frame = frames_[id];
  const bool remember = frame.unique && unique_value != nullptr;
  const bool again =
      remember &&
      std::binary_search(value_sets_[frame.used].begin(),
                         value_sets_[frame.used].end(), *unique_value);
  if (frame.size == 1 && !remember && frame.after_all != kUnknown) {
    return frame.after_all;
  }
  std::vector<Alternative> left;
  bool all = true;
  for (std::uint32_t i = 0; i < frame.size; ++i) {
    Alternative one = alternatives(frame)[i];
    if (std::find(survivors.begin(), survivors.end(), one.pending) ==
            survivors.end() ||
        (again && solver_.array(one.disjunct).unique)) {
      all = false;
      continue;
    }
    one.pending = kNothing;
    if (std::find(left.begin(), left.end(), one) == left.end()) {
      left.push_back(one);
    }
  }
  if (all && !remember && frame.after_all != kUnknown) return frame.after_all;
  Frame next;
  next.kind = frame.kind;
  next.depth = frame.depth;
  next.parent = frame.parent;
  next.count = frame.count;
  next.used = frame.used;
  next.came = frame.came;
  if (remember) {
    std::vector<std::string> values = value_sets_[frame.used];
    if (!again) {
      values.insert(
          std::lower_bound(values.begin(), values.end(), *unique_value),
          *unique_value);
    }
    std::string key;
    for (const std::string& value : values) {
      key += value;
      key.push_back('\0');
    }
    const auto [it, is_new] = value_set_of_.try_emplace(
        std::move(key), static_cast<std::uint32_t>(value_sets_.size()));
    if (is_new) {
      list_bytes_ += 2 * it->first.size() + 160;
      for (const std::string& value : values) {
        // A short one stands in the string itself.
        list_bytes_ += sizeof(std::string) + (value.size() > 15 ? 32 : 0);
      }
      value_sets_.push_back(std::move(values));
    }
    next.used = it->second;
  }
  const FrameId made = intern(std::move(next), std::move(left));
  if (all && !remember) frames_[id].after_all = made;
  return made;
}

Configuration JsonRecogniser::behind_value(
    FrameId frame, const std::vector<ConjunctionId>& survivors,
    const std::string* unique_value) {
  if (frames_[frame].kind == FrameKind::kDetached) {
    std::vector<ConjunctionId> sorted = survivors;
    std::sort(sorted.begin(), sorted.end());
    return {static_cast<LexId>(Kind::kEscaped), frame, 0,
            intern_list(survivors_, survivors_of_, std::move(sorted))};
  }
  if (frames_[frame].kind == FrameKind::kCoarse) return leave_outline(frame);
  const Kind kind =
      frames_[frame].kind == FrameKind::kRoot ? Kind::kEnd : Kind::kAfter;
  return {static_cast<LexId>(kind), after(frame, survivors, unique_value), 0,
          0};
}

// --- Arrays. ----------------------------------------------------------------

// The frame in which the next item comes; 0 if there can be none.
JsonRecogniser::FrameId JsonRecogniser::next_item(FrameId id) {
  if (frames_[id].next_item != kUnknown) return frames_[id].next_item;
  if (frames_[id].kind == FrameKind::kCoarse) return frames_[id].used;
  const SchemaSolver::ScopedDepthLimit levels(solver_, levels_in(id));
  const Frame& frame = frames_[id];
  Frame next;
  next.kind = FrameKind::kArray;
  next.pending = true;
  next.depth = frame.depth;
  next.parent = frame.parent;
  next.used = frame.used;
  std::uint64_t cap = 0;
  std::vector<Alternative> made;
  const std::vector<Alternative> now(alternatives(frame),
                                     alternatives(frame) + frame.size);
  for (const Alternative& one : now) {
    const schema_solver::ArrayConstraints& disjunct =
        solver_.array(one.disjunct);
    cap = std::max({cap, disjunct.prefix, disjunct.min});
    if (disjunct.max != kNoBound) cap = std::max(cap, disjunct.max);
    if (frame.count >= disjunct.max) continue;
    // Each count and each witness may take this item or not.
    struct Way {
      ConjunctionId conjunction;
      std::vector<std::uint64_t> counts;
    };
    std::vector<Way> ways = {
        {solver_.item_conjunction(one.disjunct, frame.count),
         counts_[one.state]}};
    for (std::size_t i = 0; i < disjunct.counts.size(); ++i) {
      const schema_solver::ItemCount& count = disjunct.counts[i];
      std::vector<Way> more;
      for (const Way& way : ways) {
        Way with{solver_.with(way.conjunction, count.literal), way.counts};
        // More than enough need not be counted where there is no bound.
        if (count.max != kNoBound || with.counts[i] < count.min) {
          ++with.counts[i];
        }
        const bool bounded = count.max != kNoBound;
        if (with.counts != way.counts) more.push_back(std::move(with));
        more.push_back(
            {bounded ? solver_.with(way.conjunction,
                                    schema_solver::opposite(count.literal))
                     : way.conjunction,
             way.counts});
      }
      ways = std::move(more);
    }
    for (std::size_t i = 0; i < disjunct.witnesses.size(); ++i) {
      if ((one.state != 0 && (counts_[one.state].back() >> i & 1) != 0) ||
          frame.count < disjunct.witnesses[i].first) {
        continue;
      }
      std::vector<Way> more;
      for (const Way& way : ways) {
        if ((way.counts.back() >> i & 1) != 0) {
          more.push_back(way);
          continue;
        }
        Way with{solver_.with(way.conjunction, disjunct.witnesses[i].second),
                 way.counts};
        with.counts.back() |= std::uint64_t{1} << i;
        more.push_back(std::move(with));
        more.push_back(way);
      }
      ways = std::move(more);
    }
    for (Way& way : ways) {
      if (!solver_.satisfiable(way.conjunction)) continue;
      std::vector<std::uint64_t> counted(way.counts.begin(),
                                         way.counts.end() - 1);
      if (!solver_.completable_array(
              one.disjunct, std::uint64_t{frame.count} + 1, counted,
              static_cast<std::uint32_t>(way.counts.back()))) {
        continue;
      }
      made.push_back({one.up, one.disjunct,
                      intern_list(counts_, counts_of_, std::move(way.counts)),
                      way.conjunction});
    }
  }
  next.count = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(std::uint64_t{frame.count} + 1, cap));
  FrameId result = 0;
  if (!made.empty()) {
    const bool unique = frame.unique;
    result = intern(std::move(next), std::move(made));
    // Every value may have been used already.
    if (unique && enter_string(result) == 0 && enter_number(result) == 0 &&
        enter_word(result, JsonType::kNull) == 0 &&
        enter_word(result, JsonType::kBoolean) == 0 &&
        open(result, JsonType::kObject) == 0 &&
        open(result, JsonType::kArray) == 0) {
      result = 0;
    }
  }
  frames_[id].next_item = result;
  return result;
}

// --- Closing. ---------------------------------------------------------------

Configuration JsonRecogniser::close(FrameId id) {
  if (frames_[id].closed_known) return frames_[id].closed;
  if (frames_[id].kind == FrameKind::kCoarse) return leave_outline(id);
  const Frame& frame = frames_[id];
  std::vector<ConjunctionId> survivors;
  for (std::uint32_t i = 0; i < frame.size; ++i) {
    const Alternative one = alternatives(frame)[i];
    bool complete = false;
    if (frame.kind == FrameKind::kObject) {
      complete = solver_.complete(
          one.disjunct,
          members_of(one.disjunct, so_far(id), condition_of(one)));
    } else {
      const std::vector<std::uint64_t>& counts = counts_[one.state];
      complete = solver_.complete_array(
          one.disjunct, frame.count,
          std::vector<std::uint64_t>(counts.begin(), counts.end() - 1),
          static_cast<std::uint32_t>(counts.back()));
    }
    if (complete) survivors.push_back(one.up);
  }
  std::sort(survivors.begin(), survivors.end());
  survivors.erase(std::unique(survivors.begin(), survivors.end()),
                  survivors.end());
  Configuration closed;
  if (!survivors.empty()) {
    closed = behind_value(frame.parent, survivors, nullptr);
  }
  frames_[id].closed = closed;
  frames_[id].closed_known = true;
  return closed;
}

// --- Objects. ---------------------------------------------------------------

// The names in play for the alternatives of a frame.
std::uint32_t JsonRecogniser::key_trie(const Frame& frame) {
  if (frame.size == 1 && !solver_.tracks_names(alternatives(frame)->disjunct)) {
    const auto [it, is_new] =
        key_trie_of_disjunct_.try_emplace(alternatives(frame)->disjunct, 0);
    if (is_new) it->second = make_key_set(frame);
    return it->second;
  }
  return make_key_set(frame);
}

std::uint32_t JsonRecogniser::make_key_set(const Frame& frame) {
  std::vector<std::uint32_t> disjuncts;
  for (std::uint32_t i = 0; i < frame.size; ++i) {
    disjuncts.push_back(alternatives(frame)[i].disjunct);
  }
  std::sort(disjuncts.begin(), disjuncts.end());
  disjuncts.erase(std::unique(disjuncts.begin(), disjuncts.end()),
                  disjuncts.end());
  // Names remembered though no rule spells them.
  NameSets& sets = solver_.name_sets();
  NameSet also = frame.used;
  for (const DisjunctId disjunct : disjuncts) {
    also = sets.subtract(also, solver_.spelled(disjunct));
  }
  std::string key = bytes_of(disjuncts);
  key += '/';
  key += std::to_string(also);
  const auto [it, is_new] = key_set_of_.try_emplace(
      std::move(key), static_cast<std::uint32_t>(key_tries_.size()));
  if (!is_new) return it->second;
  std::vector<KeyId> names;
  std::vector<automata::LanguageId> languages;
  for (const DisjunctId disjunct : disjuncts) {
    const auto& some = solver_.names(disjunct);
    names.insert(names.end(), some.begin(), some.end());
    const auto& patterns = solver_.name_languages(disjunct);
    languages.insert(languages.end(), patterns.begin(), patterns.end());
  }
  sets.each(also, [&](KeyId name) {
    names.push_back(name);
    return true;
  });
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::sort(languages.begin(), languages.end());
  languages.erase(std::unique(languages.begin(), languages.end()),
                  languages.end());
  add_key_set(std::move(names), std::move(languages));
  return it->second;
}

// --- The order of members. ---------------------------------------------------
//
// In the order of the schema a member leaves out all that should have come
// before it: these are used from then on, and so the names used are, but for
// those that no rule declares, the first ones of the order, however many of
// them came.  Which of them came matters only where rules solve again; a
// required one is never left out.

JsonRecogniser::Then JsonRecogniser::so_far(FrameId id) const {
  const Frame& frame = frames_[id];
  return {.used = frame.used, .came = frame.came, .count = frame.count};
}

// The names whose rank is below this one in some alternative.
NameSet JsonRecogniser::ranked_below(FrameId id, std::uint32_t rank) {
  const Frame& frame = frames_[id];
  NameSet names = kNoNames;
  for (std::uint32_t i = 0; i < frame.size; ++i) {
    names = solver_.name_sets().unite(
        names, solver_.ranked_below(alternatives(frame)[i].disjunct, rank));
  }
  return names;
}

// The least rank that one of the names has in some alternative.
std::uint32_t JsonRecogniser::least_rank(FrameId id, NameSet names) {
  const Frame& frame = frames_[id];
  std::uint32_t least = SchemaSolver::kNoRank;
  for (std::uint32_t i = 0; i < frame.size; ++i) {
    least = std::min(
        least, solver_.least_rank(alternatives(frame)[i].disjunct, names));
  }
  return least;
}

// `spelled`: the name is `key`; otherwise it is one that nothing spells, nor
// remembers.  What comes first in any alternative passes nothing, so that an
// alternative with another order keeps its members.
JsonRecogniser::Then JsonRecogniser::behind_member(FrameId id, KeyId key,
                                                   bool spelled) {
  NameSets& sets = solver_.name_sets();
  const Frame& frame = frames_[id];
  Then then = so_far(id);
  ++then.count;
  const NameSet self = spelled ? sets.one(key) : kNoNames;
  if (in_order()) {
    std::uint32_t rank = SchemaSolver::kNoRank;
    NameSet asked = kNoNames;
    for (std::uint32_t i = 0; i < frame.size; ++i) {
      const DisjunctId disjunct = alternatives(frame)[i].disjunct;
      if (spelled) rank = std::min(rank, solver_.rank(disjunct, key));
      asked = sets.unite(asked, solver_.asked_again(disjunct));
    }
    then.passed = sets.subtract(ranked_below(id, rank), self);
    then.came = sets.unite(then.came, sets.intersect(self, asked));
    then.used = sets.unite(then.used, then.passed);
  }
  then.used = sets.unite(then.used, self);
  return then;
}

// REQUIRES: what the disjunct requires was not left out.
SchemaSolver::Members JsonRecogniser::members_of(
    DisjunctId disjunct, const Then& then,
    schema_solver::ConditionId condition) {
  SchemaSolver::Members members{
      .seen = then.used, .count = then.count, .condition = condition};
  if (in_order()) {
    NameSets& sets = solver_.name_sets();
    members.seen = sets.unite(
        then.came, sets.intersect(then.used, solver_.required(disjunct)));
    members.gone = sets.subtract(then.used, members.seen);
  }
  return members;
}

// Whether the member leaves out what an object of that disjunct always
// requires.
bool JsonRecogniser::passes_needed(DisjunctId disjunct, const Then& before,
                                   const Then& then) {
  NameSets& sets = solver_.name_sets();
  return sets.intersect(sets.subtract(solver_.required(disjunct), before.used),
                        then.passed) != kNoNames;
}

// --- Which members may come.
// --------------------------------------------------

// The names of a key set whose values can be something.  `near`: at this depth.
NameSet JsonRecogniser::possible_names(DisjunctId disjunct, std::uint32_t set,
                                       bool near) {
  const std::uint64_t memo = std::uint64_t{set} << 32 | disjunct;
  if (!near) {
    const auto known = possible_names_.find(memo);
    if (known != possible_names_.end()) return known->second;
  }
  std::vector<KeyId> names;
  for (const KeyId key : key_tries_[set].names()) {
    if (solver_.satisfiable(
            solver_.member_conjunction(disjunct, {.key = key}))) {
      names.push_back(key);
    }
  }
  const NameSet possible = solver_.name_sets().of(std::move(names));
  if (!near) possible_names_.emplace(memo, possible);
  return possible;
}

// Those of the possible names with which an alternative can go on.
NameSet JsonRecogniser::allowed_names(FrameId id, const Alternative& one,
                                      NameSet possible) {
  NameSets& sets = solver_.name_sets();
  const DisjunctId disjunct = one.disjunct;
  NameSet left = possible;
  if (in_order()) {
    // Nothing may come before what is needed and has a lower rank.
    const NameSet needed = solver_.needed(
        disjunct, members_of(disjunct, so_far(id), kAlways).seen);
    const std::uint32_t own = solver_.least_rank(disjunct, needed);
    if (own != SchemaSolver::kNoRank) {
      left = sets.intersect(solver_.ranked_below(disjunct, own + 1), left);
    }
    const std::uint32_t any = least_rank(id, needed);
    if (any != SchemaSolver::kNoRank && frames_[id].size > 1) {
      left = sets.intersect(ranked_below(id, any + 1), left);
    }
  }
  left = sets.subtract(left, frames_[id].used);
  if (left == kNoNames) return left;
  // Names of which no rule speaks beyond their values are alike, up to which
  // names that rules speak of they leave out.
  const NameSet asked = solver_.asked_again(disjunct);
  const NameSet spoken =
      sets.intersect(left, sets.unite(asked, solver_.deciding(disjunct)));
  NameSet quiet = sets.subtract(left, spoken);
  NameSet allowed = kNoNames;
  const auto one_by_one = [&](NameSet names) {
    sets.each(names, [&](KeyId key) {
      if (may_be_member(id, one, key)) allowed = sets.with(allowed, key);
      return true;
    });
  };
  one_by_one(spoken);
  // What is left out may be missed where members are counted.
  if (in_order() && solver_.tracks_names(disjunct) &&
      (solver_.object(disjunct).min > frames_[id].count + 1U ||
       condition_of(one) != kAlways)) {
    one_by_one(quiet);
    return allowed;
  }
  if (in_order()) {
    NameSet ahead = sets.subtract(asked, frames_[id].used);
    while (ahead != kNoNames && quiet != kNoNames) {
      const std::uint32_t rank = least_rank(id, ahead);
      if (rank == SchemaSolver::kNoRank) break;
      const NameSet near = sets.intersect(quiet, ranked_below(id, rank + 1));
      allowed = sets.unite(allowed, allowed_alike(id, one, near));
      quiet = sets.subtract(quiet, near);
      ahead = sets.subtract(ahead, ranked_below(id, rank + 1));
    }
  }
  return sets.unite(allowed, allowed_alike(id, one, quiet));
}

// Of names that are alike but for being required: all, or none.
NameSet JsonRecogniser::allowed_alike(FrameId id, const Alternative& one,
                                      NameSet names) {
  NameSets& sets = solver_.name_sets();
  const NameSet required =
      sets.intersect(names, solver_.required(one.disjunct));
  NameSet allowed = kNoNames;
  for (const NameSet part : {required, sets.subtract(names, required)}) {
    if (part != kNoNames && may_be_member(id, one, sets.least(part))) {
      allowed = sets.unite(allowed, part);
    }
  }
  return allowed;
}

// The names that are in no key set: those of one of the languages that the
// schema does not spell, and that are not remembered.
automata::LanguageId JsonRecogniser::other_names(
    std::uint32_t set_id, std::vector<automata::LanguageId> extras) {
  std::sort(extras.begin(), extras.end());
  extras.erase(std::unique(extras.begin(), extras.end()), extras.end());
  std::string question = bytes_of(extras);
  question += '/';
  question += std::to_string(set_id);
  const auto known = other_names_.find(question);
  if (known != other_names_.end()) return known->second;
  automata::Languages& languages = solver_.languages();
  automata::LanguageId language = languages.any_of(std::move(extras));
  std::vector<std::string> spelled;
  for (const KeyId key : key_tries_[set_id].names()) {
    spelled.push_back(solver_.key_text(key));
  }
  if (!spelled.empty()) {
    language = languages.all_of(
        {language, languages.complement(languages.literals(spelled))});
  }
  other_names_.emplace(std::move(question), language);
  return language;
}

JsonRecogniser::KeyInfo& JsonRecogniser::key_info(FrameId id) {
  return *find_keys(id, false);
}

// Whether another member may come.
bool JsonRecogniser::any_member(FrameId id) {
  if (frames_[id].any_member) return true;
  if (frames_[id].kind == FrameKind::kCoarse) {
    return outline_goes_on(frames_[id]);
  }
  const KeyInfo* info = find_keys(id, true);
  if (info != nullptr) return info->any;
  return frames_[id].any_member = true;
}

// `any_only`: null as soon as there is one.  Many frames are only looked at
// for that, where a token goes on behind a comma and nobody takes it.
JsonRecogniser::KeyInfo* JsonRecogniser::find_keys(FrameId id, bool any_only) {
  if (frames_[id].keys != nullptr) return frames_[id].keys.get();
  const SchemaSolver::ScopedDepthLimit levels(solver_, levels_in(id));
  const std::uint32_t set_id = key_trie(frames_[id]);
  const KeyTrie& set = key_tries_[set_id];
  auto info = std::make_unique<KeyInfo>(KeyInfo{.set = set_id});
  list_bytes_ += sizeof(KeyInfo);
  const std::vector<Alternative> now(
      alternatives(frames_[id]), alternatives(frames_[id]) + frames_[id].size);
  automata::Languages& languages = solver_.languages();
  NameSets& sets = solver_.name_sets();
  std::vector<automata::LanguageId> extras;
  bool track = false;
  bool any_open = false;
  const bool near = levels_in(id) != SchemaSolver::kAnyLevels;
  for (const Alternative& one : now) {
    track = track || solver_.tracks_names(one.disjunct);
    // What another alternative allows need not be asked again.
    const NameSet possible = sets.subtract(
        possible_names(one.disjunct, set_id, near), info->allowed);
    info->allowed = sets.unite(info->allowed, allowed_names(id, one, possible));
    if (any_only && info->allowed != kNoNames) return nullptr;
    const automata::LanguageId others = extras_of(id, one);
    if (languages.empty(others)) continue;
    any_open = any_open || languages.universal(languages.start(others));
    if (any_only && any_open && set.languages().empty()) return nullptr;
    extras.push_back(others);
  }
  Lexeme start;
  start.kind = Kind::kKey;
  start.track = track;
  start.set = set_id;
  start.trie = set.names().empty() ? KeyTrie::kNone : 0;
  info->open = any_open && set.languages().empty();
  start.open = info->open;
  if (!info->open) {
    for (const automata::LanguageId language : set.languages()) {
      start.entries.push_back({.state = languages.start(language)});
    }
    if (set.languages().size() > 64) extras.clear();  // see with_member()
    // Those that the schema spells, or that were remembered, are in the trie.
    if (!extras.empty()) {
      start.extras = languages.start(other_names(set_id, std::move(extras)));
    }
  }
  info->extras = start.extras;
  info->any = info->allowed != kNoNames || info->open ||
              info->extras != automata::kDeadState;
  info->start = intern(std::move(start));
  frames_[id].keys = std::move(info);
  return frames_[id].keys.get();
}

JsonRecogniser::FrameId JsonRecogniser::with_member(FrameId id,
                                                    std::uint32_t name,
                                                    std::uint64_t matched,
                                                    const std::string* text) {
  KeyInfo& info = key_info(id);
  const KeyTrie& set = key_tries_[info.set];
  if (name != KeyTrie::kNone) {
    const KeyId key = set.names()[name];
    if (!solver_.name_sets().contains(info.allowed, key)) return 0;
    const std::uint64_t member = std::uint64_t{id} << 32 | name;
    const auto known = next_members_.find(member);
    if (known != next_members_.end()) return known->second;
    const FrameId made =
        make_member(id, {.key = key}, behind_member(id, key, true));
    next_members_.emplace(member, made);
    return made;
  }
  if (text != nullptr) {
    const KeyId key = solver_.key(*text);
    return make_member(id, {.key = key}, behind_member(id, key, true));
  }
  for (const auto& [bits, frame] : info.next_extra) {
    if (bits == matched) return frame;
  }
  std::vector<bool> bits(set.languages().size());
  for (std::size_t i = 0; i < bits.size(); ++i) {
    bits[i] = (matched >> i & 1) != 0;
  }
  const FrameId made = make_member(id, {kNoKey, &set.languages(), &bits},
                                   behind_member(id, kNoKey, false));
  info.next_extra.emplace_back(matched, made);
  return made;
}

// The names that the schema does not spell with which an alternative can be
// completed.
automata::LanguageId JsonRecogniser::extras_of(FrameId id,
                                               const Alternative& one) {
  const automata::LanguageId possible = solver_.possible_extras(one.disjunct);
  if (solver_.languages().empty(possible)) return possible;
  const Then then = behind_member(id, kNoKey, false);
  if (passes_needed(one.disjunct, so_far(id), then)) {
    return solver_.languages().nothing();
  }
  const auto completable = [&](schema_solver::ConditionId condition) {
    return solver_.completable(one.disjunct,
                               members_of(one.disjunct, then, condition));
  };
  if (condition_of(one) == kAlways) {
    return completable(kAlways) ? possible : solver_.languages().nothing();
  }
  const auto& patterns = solver_.name_languages(one.disjunct);
  std::vector<automata::LanguageId> parts;
  for (const schema_solver::ExtraNames& extra :
       solver_.extra_names(one.disjunct)) {
    const NameClass name{kNoKey, &patterns, &extra.matched};
    const std::vector<MemberWay> ways = ways_of(one, name, then);
    if (std::any_of(ways.begin(), ways.end(), [&](const MemberWay& way) {
          return completable(way.condition);
        })) {
      parts.push_back(patterns.empty() ? solver_.languages().everything()
                                       : extra.language);
    }
  }
  return parts.empty() ? solver_.languages().nothing()
                       : solver_.languages().any_of(std::move(parts));
}

// What the value of a member of that name may be, and what is then left of the
// condition of an alternative.
std::vector<MemberWay> JsonRecogniser::ways_of(const Alternative& one,
                                               const NameClass& name,
                                               const Then& then) {
  return solver_.member_ways(one.disjunct,
                             solver_.lack(condition_of(one), then.passed), name,
                             then.count);
}

// Whether an alternative can go on with a member of that name.
bool JsonRecogniser::may_be_member(FrameId id, const Alternative& one,
                                   KeyId key) {
  const Then then = behind_member(id, key, true);
  if (passes_needed(one.disjunct, so_far(id), then)) return false;
  const std::vector<MemberWay> ways = ways_of(one, {.key = key}, then);
  return std::any_of(ways.begin(), ways.end(), [&](const MemberWay& way) {
    return solver_.completable(one.disjunct,
                               members_of(one.disjunct, then, way.condition));
  });
}

// The frame in which the value of a member called `name` comes.
JsonRecogniser::FrameId JsonRecogniser::make_member(FrameId id,
                                                    const NameClass& name,
                                                    const Then& then) {
  const SchemaSolver::ScopedDepthLimit levels(solver_, levels_in(id));
  Frame next;
  next.kind = FrameKind::kObject;
  next.pending = true;
  next.depth = frames_[id].depth;
  next.parent = frames_[id].parent;
  std::uint64_t cap = 0;
  std::vector<Alternative> made;
  const std::vector<Alternative> now(
      alternatives(frames_[id]), alternatives(frames_[id]) + frames_[id].size);
  for (const Alternative& one : now) {
    cap = std::max(cap, solver_.count_cap(one.disjunct));
    if (passes_needed(one.disjunct, so_far(id), then)) continue;
    for (const MemberWay& way : ways_of(one, name, then)) {
      if (solver_.completable(one.disjunct,
                              members_of(one.disjunct, then, way.condition))) {
        made.push_back({one.up, one.disjunct, way.condition, way.conjunction});
      }
    }
  }
  if (made.empty()) return 0;
  next.count =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(then.count, cap));
  next.used = then.used;
  next.came = then.came;
  return intern(std::move(next), std::move(made));
}

// --- Detached frames. --------------------------------------------------------

JsonRecogniser::FrameId JsonRecogniser::detached(
    std::vector<ConjunctionId> conjunctions) {
  std::sort(conjunctions.begin(), conjunctions.end());
  Frame frame;
  frame.kind = FrameKind::kDetached;
  frame.pending = true;
  std::vector<Alternative> made;
  made.reserve(conjunctions.size());
  for (const ConjunctionId conjunction : conjunctions)
    made.push_back({0, 0, 0, conjunction});
  return intern(std::move(frame), std::move(made));
}

Configuration JsonRecogniser::value_state(Configuration config) {
  const Frame& frame = frames_[config.frame];
  // Near the greatest depth, and where layout depends on it, depth matters.
  if (!frame.pending || frame.unique || options_.layout.indent ||
      frame.depth + kNearAndFar > options_.limits.depth ||
      frame.kind == FrameKind::kDetached) {
    return {};
  }
  if (frame.detached == kUnknown) {
    const FrameId made = detached(conjunctions_in(frame));
    frames_[config.frame].detached = made;
  }
  config.frame = frames_[config.frame].detached;
  return config;
}

Configuration JsonRecogniser::resume(Configuration config,
                                     Configuration escaped) {
  const Configuration real =
      behind_value(config.frame, survivors_[escaped.extra], nullptr);
  if (!ended_by_lookahead(escaped)) return real;
  return step(real, static_cast<std::uint8_t>(escaped.count - 1));
}

// The conjunctions of scalars alone are described by their lexemes.
std::uint64_t JsonRecogniser::value_fingerprint(Configuration config) {
  const Frame& frame = frames_[config.frame];
  if (frame.kind != FrameKind::kDetached || frame.size != 1 ||
      (config.lex != static_cast<LexId>(Kind::kColon) &&
       config.lex != static_cast<LexId>(Kind::kValue))) {
    return 0;
  }
  const ConjunctionId conjunction = alternatives(frame)[0].pending;
  const std::uint64_t print = scalar_print(conjunction);
  if (print == 0) return 0;
  std::uint64_t hash = print;
  mix(hash, config.lex);
  mix(hash, config.count);
  const JsonLayout& layout = options_.layout;
  mix(hash, layout.exact ? 1 : 0);
  if (layout.exact) {
    for (const char c : layout.key_separator) {
      mix(hash, static_cast<std::uint8_t>(c));
    }
  } else {
    mix(hash, layout.max_white_space);
  }
  return hash | 1;
}

Configuration JsonRecogniser::translate_left_value(Configuration config,
                                                   Configuration escaped) {
  Frame& frame = frames_[config.frame];
  if (frame.after_all == kUnknown) {
    const Configuration all =
        behind_value(config.frame, conjunctions_in(frame), nullptr);
    frame.after_all = all.extra;
  }
  return {static_cast<LexId>(Kind::kEscaped), config.frame, escaped.count,
          frame.after_all};
}

// The byte that ends the name of a member whose value has one conjunction,
// whatever else the object has, leads to where that conjunction alone is known.
Configuration JsonRecogniser::step_or_value_state(Configuration config,
                                                  std::uint8_t byte) {
  const Lexeme& lexeme = lexemes_[config.lex];
  if (byte != '"' || lexeme.kind != Kind::kKey ||
      lexeme.body != json::BodyState::kText) {
    return step(config, byte);
  }
  const Frame& frame = frames_[config.frame];
  const std::uint32_t name =
      lexeme.trie == KeyTrie::kNone
          ? KeyTrie::kNone
          : key_tries_[lexeme.set].node(lexeme.trie).name;
  if (name == KeyTrie::kNone || lexeme.loose || frame.size != 1 ||
      options_.layout.indent ||
      frame.depth + kNearAndFar > options_.limits.depth) {
    return step(config, byte);
  }
  const KeyId key = key_tries_[lexeme.set].names()[name];
  if (!solver_.name_sets().contains(key_info(config.frame).allowed, key)) {
    return {};
  }
  const Alternative one = alternatives(frame)[0];
  const auto [it, is_new] = member_frames_.try_emplace(
      std::uint64_t{one.disjunct} << 32 | key, FrameId{0});
  if (is_new && solver_.object(one.disjunct).condition == kAlways) {
    const ConjunctionId conjunction =
        solver_.member_conjunction(one.disjunct, {.key = key});
    it->second = detached({conjunction});
  }
  if (it->second == 0) return step(config, byte);
  return {static_cast<LexId>(Kind::kColon), it->second, 0, 0};
}

// --- What a mask can tell apart. --------------------------------------------

// The frame with counts that no token can tell from this one's.
JsonRecogniser::FrameId JsonRecogniser::canonical(FrameId id) {
  if (frames_[id].canonical != kUnknown) return frames_[id].canonical;
  // Parents first, without recursion.
  std::vector<FrameId> path;
  for (FrameId at = id; frames_[at].canonical == kUnknown;
       at = frames_[at].parent) {
    path.push_back(at);
    if (frames_[at].kind == FrameKind::kRoot ||
        frames_[at].kind == FrameKind::kDetached) {
      break;
    }
  }
  for (auto it = path.rbegin(); it != path.rend(); ++it) {
    const Frame& frame = frames_[*it];
    Frame same;
    same.kind = frame.kind;
    same.pending = frame.pending;
    same.depth = frame.depth;
    same.parent =
        frame.kind == FrameKind::kRoot || frame.kind == FrameKind::kDetached
            ? 0
            : frames_[frame.parent].canonical;
    same.count = frame.count;
    same.used = frame.used;
    same.came = frame.came;
    const std::vector<Alternative> now(alternatives(frame),
                                       alternatives(frame) + frame.size);
    if (frame.kind == FrameKind::kArray && now.size() == 1) {
      const schema_solver::ArrayConstraints& disjunct =
          solver_.array(now[0].disjunct);
      const std::uint64_t least = std::max(disjunct.min, disjunct.prefix);
      if (disjunct.max != kNoBound && frame.count > least &&
          disjunct.max - frame.count > kFar) {
        same.count =
            static_cast<std::uint32_t>(std::max(least, disjunct.max - kFar));
      }
    }
    const FrameId made = intern(std::move(same), now);
    frames_[*it].canonical = made;
    frames_[made].canonical = made;
  }
  return frames_[id].canonical;
}

}  // namespace parlance::json_recogniser
