// uniqueItems of arrays and objects: what a frame inside an item remembers of
// its value, and whether the item can still become one that is not barred.
//
//   [{"a": 1, "b": 2}, {"b": 2, "a": _      not 1
//
// A frame inside an item has the sum of the prints of its members
// (value_prints.h), so the print of the item is known when it ends, and whether
// an earlier item has it.  That must be known before: the last place at which
// the item can still differ may be a scalar far inside, as here.  So the set of
// used values has, for each scalar inside an item, the scalar under the print
// of the item with a hole in its place:
//
//   the print of {"a": _, "b": 2}   ->  1
//   the print of {"a": 1, "b": _}   ->  2
//
// Where a scalar is expected and the rest of the item can be completed in one
// way only, the scalars under the print of that completion are barred.  Where
// there are several ways, each of those scalars is tried.  Where something can
// still be any of infinitely many values, nothing is barred, because the values
// used are finite.

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <vector>

#include "base/mix.h"
#include "base/work.h"
#include "json_recogniser/json_recogniser.h"

namespace parlance::json_recogniser {

using schema_solver::ConjunctionId;
using schema_solver::FewValues;
using schema_solver::Fingerprint;
using schema_solver::JsonType;
using schema_solver::kMostListed;
using schema_solver::ValueText;

namespace {

// What the texts of the scalars under prints begin with, in a set of values.
constexpr char kUnderPrint = 'c';
// What strings inside of items begin with, whatever the item.
constexpr char kNoted = 's';

std::string under(const Fingerprint& print) {
  std::string text(1 + sizeof print.low, kUnderPrint);
  std::memcpy(text.data() + 1, &print.low, sizeof print.low);
  return text;
}

}  // namespace

// --- What frames remember. ---------------------------------------------------

std::uint32_t JsonRecogniser::intern(const Partial& partial) {
  std::uint64_t hash = partial.sum.low ^ partial.at.high;
  base::mix(hash, std::uint64_t{partial.size} << 32 | partial.parts);
  base::mix(hash, std::uint64_t{partial.key} << 32 | partial.extras);
  const auto is_same = [&](std::uint32_t id) {
    return partials_[id] == partial;
  };
  if (const auto known = partial_of_.find(hash, is_same)) return *known;
  const auto id = static_cast<std::uint32_t>(partials_.size());
  partials_.push_back(partial);
  partial_of_.add(hash, id);
  list_bytes_ += sizeof(Partial) + 16;
  return id;
}

std::uint32_t JsonRecogniser::intern(const Part& part) {
  std::uint64_t hash = part.at.low;
  base::mix(hash, std::uint64_t{part.nested} << 32 | part.scalar);
  base::mix(hash, part.next);
  const auto is_same = [&](std::uint32_t id) { return parts_[id] == part; };
  if (const auto known = part_of_.find(hash, is_same)) return *known;
  const auto id = static_cast<std::uint32_t>(parts_.size());
  parts_.push_back(part);
  part_of_.add(hash, id);
  list_bytes_ += sizeof(Part) + 16;
  return id;
}

// The partial value before a member with that key.  `foreign`: the schema does
// not spell the key, so it may come again.
std::uint32_t JsonRecogniser::with_key(std::uint32_t partial,
                                       const std::string& key, bool foreign) {
  Partial next = partials_[partial];
  next.at = schema_solver::print_of_key(key);
  next.key = foreign ? extend_text(0, key) + 1 : 0;
  return intern(next);
}

std::uint32_t JsonRecogniser::with_index(std::uint32_t partial) {
  Partial next = partials_[partial];
  next.at = schema_solver::print_of_index(next.size++);
  return intern(next);
}

// The partial value with the value that was expected.  Of members with equal
// keys the last one counts, as readers of JSON have it.
std::uint32_t JsonRecogniser::with_part(std::uint32_t partial,
                                        const ValueText& value,
                                        std::uint32_t nested) {
  Partial next = partials_[partial];
  const Fingerprint member = schema_solver::print_of_member(
      next.at, schema_solver::print_of_value(value));
  if (next.key != 0) {
    std::string entry = text(next.key - 1) + '\xFF';
    UsedValues::Set before = next.extras;
    for (const char c : entry) {
      before = used_values_.after(before, static_cast<std::uint8_t>(c));
    }
    if (before != UsedValues::kNone) {
      UsedValues::Set others = UsedValues::kNone;
      for (const std::string& one : used_values_.texts(next.extras)) {
        if (!one.starts_with(entry)) others = with_text(others, one);
      }
      next.extras = others;
      next.sum = schema_solver::minus(
          next.sum,
          schema_solver::print_of_value(used_values_.texts(before).front()));
    }
    next.extras =
        with_text(next.extras, entry + schema_solver::nested_text(member));
  }
  next.sum = schema_solver::plus(next.sum, member);
  next.parts = intern(Part{.at = next.at,
                           .nested = nested,
                           .scalar = nested == 0 ? extend_text(0, value) : 0,
                           .next = next.parts});
  next.at = {};
  next.key = 0;
  return intern(next);
}

Fingerprint JsonRecogniser::print_of(const Partial& value,
                                     const Fingerprint& sum) {
  return value.array ? schema_solver::print_of_array(sum, value.size)
                     : schema_solver::print_of_object(sum);
}

UsedValues::Set JsonRecogniser::with_text(UsedValues::Set values,
                                          std::string_view text) {
  const std::size_t before = used_values_.memory_bytes();
  const UsedValues::Set made = used_values_.with(values, text);
  list_bytes_ += used_values_.memory_bytes() - before;
  return made;
}

// The list with one more array or object.
std::uint32_t JsonRecogniser::with_item(std::uint32_t items,
                                        std::uint32_t value) {
  const auto [it, is_new] =
      item_of_.try_emplace(std::uint64_t{items} << 32 | value,
                           static_cast<std::uint32_t>(items_.size()));
  if (is_new) {
    items_.push_back({.value = value, .before = items});
    list_bytes_ += sizeof(Item) + 48;
  }
  return it->second;
}

// The scalars inside of the items of a list: each under the print of its item
// with a hole there, and the strings once more, whatever the item.
//
// Made when it is needed, which is when the next item gets there: a mask that
// tries to end an item does not pay for its length.
UsedValues::Set JsonRecogniser::scalars_in(std::uint32_t items) {
  std::vector<std::uint32_t> later;
  UsedValues::Set set = UsedValues::kNone;
  for (std::uint32_t at = items; at != 0; at = items_[at].before) {
    if (items_[at].scalars != kUnknown) {
      set = items_[at].scalars;
      break;
    }
    later.push_back(at);
  }
  for (auto at = later.rbegin(); at != later.rend(); ++at) {
    set = with_scalars(set, items_[*at].value);
    items_[*at].scalars = set;
  }
  return set;
}

// A depth-first walk over the parts of a value.  Invariant: each part of `path`
// but the last is the array or object in which the next one is.
UsedValues::Set JsonRecogniser::with_scalars(UsedValues::Set set,
                                             std::uint32_t value) {
  struct Step {
    std::uint32_t of = 0;    // partials_
    std::uint32_t part = 0;  // parts_
  };
  std::vector<Step> path = {{value, partials_[value].parts}};
  while (!path.empty()) {
    const Step at = path.back();
    if (at.part == 0) {
      path.pop_back();
      if (!path.empty()) path.back().part = parts_[path.back().part].next;
      continue;
    }
    const Part part = parts_[at.part];
    if (part.nested != 0) {
      path.push_back({part.nested, partials_[part.nested].parts});
      continue;
    }
    // The print of what is around, as it is and with the hole, outwards.
    const ValueText scalar = text(part.scalar);
    Fingerprint is = schema_solver::print_of_value(scalar);
    Fingerprint hole = schema_solver::print_of_value(kHole);
    for (auto step = path.rbegin(); step != path.rend(); ++step) {
      base::spend_work();
      const Partial& outer = partials_[step->of];
      const Fingerprint& where = parts_[step->part].at;
      const Fingerprint sum = schema_solver::plus(
          schema_solver::minus(outer.sum,
                               schema_solver::print_of_member(where, is)),
          schema_solver::print_of_member(where, hole));
      is = print_of(outer, outer.sum);
      hole = print_of(outer, sum);
    }
    const std::string prefix = under(hole);
    for (const std::string& one : spellings(scalar)) {
      set = with_text(set, prefix + one);
    }
    if (scalar[0] == '"') set = with_text(set, kNoted + scalar);
    path.back().part = part.next;
  }
  return set;
}

// The strings inside of the items so far: any other string in this place makes
// an item that differs from all of them.  Nothing where it may also depend on
// another array whose items differ, or on values that are barred before they
// come.
std::optional<UsedValues::Set> JsonRecogniser::noted_strings(FrameId id) {
  while (frames_[id].partial != 0) {
    if (frames_[id].distinct) return std::nullopt;
    id = frames_[id].parent;
  }
  const Frame& frame = frames_[id];
  for (std::uint32_t i = 0; i < frame.size; ++i) {
    const UsedValues::Set barred = alternatives(frame)[i].barred;
    if (barred != frame.used && barred != UsedValues::kNone) {
      return std::nullopt;
    }
  }
  const UsedValues::Set scalars = scalars_in(frame.items);
  return used_values_.after(used_values_.after(scalars, kNoted), '"');
}

// --- Whether an item can be completed. ---------------------------------------

// Whether a value in the frame is in an array, or in an item of one, that bars
// values.
bool JsonRecogniser::barred_around(FrameId id) const {
  for (;;) {
    const Frame& frame = frames_[id];
    if (frame.distinct) {
      for (std::uint32_t i = 0; i < frame.size; ++i) {
        if (alternatives(frame)[i].barred != UsedValues::kNone) return true;
      }
    }
    if (frame.partial == 0) return false;
    id = frame.parent;
  }
}

// What the bracket that closes a frame leads to: the conjunctions of the value
// that it fulfils and that do not bar it; none if it may not come.
JsonRecogniser::Closing JsonRecogniser::closing(FrameId id) {
  const Frame& frame = frames_[id];
  Closing closing;
  for (std::uint32_t i = 0; i < frame.size; ++i) {
    const Alternative alternative = alternatives(frame)[i];
    bool complete = false;
    if (frame.kind == FrameKind::kObject) {
      complete =
          solver_.complete(alternative.disjunct,
                           members_of(alternative.disjunct, progress_of(id),
                                      condition_of(alternative)));
    } else {
      const std::vector<std::uint64_t>& counts = counts_[alternative.state];
      complete = solver_.complete_array(
          alternative.disjunct, frame.count,
          std::vector<std::uint64_t>(counts.begin(), counts.end() - 1),
          static_cast<std::uint32_t>(counts.back()));
    }
    if (complete) closing.survivors.push_back(alternative.outer);
  }
  std::ranges::sort(closing.survivors);
  closing.survivors.erase(
      std::unique(closing.survivors.begin(), closing.survivors.end()),
      closing.survivors.end());
  if (frame.partial == 0) return closing;
  const Partial& value = partials_[frame.partial];
  closing.value = schema_solver::nested_text(print_of(value, value.sum));
  const Frame& outer = frames_[frame.parent];
  std::erase_if(closing.survivors, [&](ConjunctionId conjunction) {
    return std::none_of(alternatives(outer), alternatives(outer) + outer.size,
                        [&](const Alternative& one) {
                          return one.pending == conjunction &&
                                 !used_values_.contains(one.barred,
                                                        closing.value);
                        });
  });
  return closing;
}

// The frame after the value of a frame inside an item.
JsonRecogniser::FrameId JsonRecogniser::after_nested(FrameId id,
                                                     const Closing& closing) {
  return frame_after_value(frames_[id].parent, closing.survivors,
                           &closing.value, frames_[id].partial);
}

// A depth-first search over the frames that complete the outermost item, one
// value or bracket at a time.  Each node of the path gives its successors one
// by one.
class JsonRecogniser::ItemSearch {
 public:
  enum class Found : std::uint8_t {
    kNothing,
    kItem,     // the frame on top of the path ends the outermost item
    kEndless,  // something can be any of infinitely many values
  };

  ItemSearch(JsonRecogniser& reader, FrameId from) : reader_(reader) {
    enter(from);
  }

  // Goes on to the next way to complete the item.  `known`: whether frames
  // whose answer is known are not searched again.
  Found next(bool known) {
    while (!path_.empty()) {
      if (seen_.size() > kMostListed || !base::spend_work()) return stop();
      const Edge edge = next_edge(path_.back());
      switch (edge.kind) {
        case Edge::Kind::kNone:
          path_.pop_back();
          break;
        case Edge::Kind::kItem:
          return Found::kItem;
        case Edge::Kind::kEndless:
          return Found::kEndless;
        case Edge::Kind::kFrame: {
          if (known) {
            const Finishes finishes = reader_.frames_[edge.frame].finishes;
            if (finishes == Finishes::kYes) return Found::kItem;
            if (finishes == Finishes::kNo) break;
          }
          enter(edge.frame);
        }
      }
    }
    return Found::kNothing;
  }

  // After kItem: the frames that ended by a bracket, the outermost item last.
  std::vector<FrameId> ended() const {
    std::vector<FrameId> out;
    for (const Node& node : path_) {
      if (node.closed) out.push_back(node.frame);
    }
    return out;
  }
  void remember(Found found) {
    if (found != Found::kNothing) {
      for (const Node& node : path_) {
        reader_.frames_[node.frame].finishes = Finishes::kYes;
      }
    } else if (!stopped_) {
      for (const FrameId id : seen_) {
        reader_.frames_[id].finishes = Finishes::kNo;
      }
    }
  }

 private:
  struct Node {
    FrameId frame = 0;
    std::size_t part = 0;
    bool closed = false;  // the edge that was taken is the closing bracket
    std::vector<ConjunctionId> conjunctions = {};
    const FewValues* few = nullptr;  // of the conjunction of this part
    std::set<ValueText>::const_iterator value = {};
    std::vector<std::string> others = {};  // keys not spelled, to be tried
  };
  struct Edge {
    enum class Kind : std::uint8_t { kNone, kFrame, kItem, kEndless };
    Kind kind = Kind::kNone;
    FrameId frame = 0;
  };

  void enter(FrameId id) {
    if (!seen_.insert(id).second) return;
    Node node{.frame = id};
    if (reader_.frames_[id].pending) {
      node.conjunctions = reader_.conjunctions_in(reader_.frames_[id]);
    }
    path_.push_back(std::move(node));
  }

  Found stop() {
    stopped_ = true;
    path_.clear();
    return Found::kNothing;
  }

  Edge next_edge(Node& node) {
    const Frame& frame = reader_.frames_[node.frame];
    if (frame.pending) return next_value(node);
    return frame.kind == FrameKind::kArray ? next_of_array(node)
                                           : next_of_object(node);
  }

  // The scalars of each conjunction, then an object, then an array.
  Edge next_value(Node& node) {
    while (node.part < node.conjunctions.size()) {
      const ConjunctionId conjunction = node.conjunctions[node.part];
      if (node.few == nullptr) {
        node.few =
            &reader_.solver_.values().few_values(conjunction, kMostListed);
        if (node.few->many) return {Edge::Kind::kEndless};
        node.value = node.few->values.begin();
      }
      while (node.value != node.few->values.end()) {
        const ValueText& value = *node.value++;
        if (value[0] == schema_solver::kNestedText) continue;
        const FrameId next =
            reader_.frame_after_value(node.frame, {conjunction}, &value, 0);
        if (next != 0) return {Edge::Kind::kFrame, next};
      }
      node.few = nullptr;
      ++node.part;
    }
    while (node.part < node.conjunctions.size() + 2) {
      const FrameId next =
          reader_.open_frame(node.frame, node.part++ == node.conjunctions.size()
                                             ? JsonType::kObject
                                             : JsonType::kArray);
      if (next != 0) return {Edge::Kind::kFrame, next};
    }
    return {};
  }

  Edge close(Node& node) {
    node.closed = false;
    if (node.part != 0) return {};
    node.part = 1;
    const Closing closing = reader_.closing(node.frame);
    if (closing.survivors.empty()) return {};
    node.closed = true;
    const FrameId outer = reader_.frames_[node.frame].parent;
    if (reader_.frames_[outer].partial == 0) return {Edge::Kind::kItem};
    const FrameId next = reader_.after_nested(node.frame, closing);
    if (next == 0) return {};
    return {Edge::Kind::kFrame, next};
  }

  Edge next_of_array(Node& node) {
    if (const Edge edge = close(node); edge.kind != Edge::Kind::kNone) {
      return edge;
    }
    if (node.part != 1) return {};
    node.part = 2;
    const FrameId next = reader_.make_next_item(node.frame);
    if (next == 0) return {};
    return {Edge::Kind::kFrame, next};
  }

  Edge next_of_object(Node& node) {
    if (const Edge edge = close(node); edge.kind != Edge::Kind::kNone) {
      return edge;
    }
    if (node.part == 1) {
      node.part = 2;
      if (reader_.endless_keys(node.frame, node.others)) {
        return {Edge::Kind::kEndless};
      }
    }
    const KeyInfo& info = reader_.raw_key_info(node.frame);
    const KeyTrie& trie = reader_.key_tries_[info.trie];
    while (node.part < trie.keys().size() + 2) {
      const auto index = static_cast<std::uint32_t>(node.part++ - 2);
      if (!reader_.solver_.key_sets().contains(info.possible,
                                               trie.keys()[index])) {
        continue;
      }
      const FrameId next = reader_.member_of(node.frame, index, {}, nullptr);
      if (next != 0) return {Edge::Kind::kFrame, next};
    }
    while (!node.others.empty()) {
      const std::string key = std::move(node.others.back());
      node.others.pop_back();
      const FrameId next = reader_.other_member(node.frame, key);
      if (next != 0) return {Edge::Kind::kFrame, next};
    }
    return {};
  }

  JsonRecogniser& reader_;
  std::vector<Node> path_;
  std::unordered_set<FrameId> seen_;
  bool stopped_ = false;
};

// Whether infinitely many keys may come next that the schema does not spell.
// If not, they are added to `keys`.
bool JsonRecogniser::endless_keys(FrameId id, std::vector<std::string>& keys) {
  const std::optional<automata::LanguageId> others = raw_key_info(id).others;
  if (!others) return false;
  if (solver_.languages().infinite(*others)) return true;
  FewValues few;
  solver_.values().list_strings(*others, kMostListed, few);
  for (const std::string& key : few.values) keys.push_back(key.substr(1));
  return few.partial;
}

// The frame of a member whose key the schema does not spell.
JsonRecogniser::FrameId JsonRecogniser::other_member(FrameId id,
                                                     const std::string& key) {
  automata::Languages& languages = solver_.languages();
  std::vector<bool> matched;
  for (const automata::LanguageId language :
       key_tries_[raw_key_info(id).trie].languages()) {
    automata::StateId state = languages.start(language);
    for (const char c : key) {
      if (state == automata::kDeadState) break;
      state = languages.step(state, static_cast<std::uint8_t>(c));
    }
    matched.push_back(state != automata::kDeadState &&
                      languages.accepting(state));
  }
  return member_of(id, KeyTrie::kNone, std::move(matched), &key);
}

// Drops the keys after which every value is barred.  Of infinitely many keys
// none is dropped: with_member() refuses them where they end.
void JsonRecogniser::check_keys(FrameId id, KeyInfo& info) {
  info.checked = true;
  if (!barred_around(id)) return;
  const std::vector<schema_solver::KeyId>& keys = key_tries_[info.trie].keys();
  schema_solver::KeySets& sets = solver_.key_sets();
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    if (!sets.contains(info.possible, keys[i])) continue;
    const FrameId member = member_of(id, i, {}, nullptr);
    if (member == 0 || !finishes(member)) {
      info.allowed = sets.subtract(info.allowed, sets.one(keys[i]));
    }
  }
  std::vector<std::string> others;
  if (info.extras != automata::kDeadState && !endless_keys(id, others)) {
    std::erase_if(others, [&](const std::string& key) {
      const FrameId member = other_member(id, key);
      return member == 0 || !finishes(member);
    });
    automata::Languages& languages = solver_.languages();
    Lexeme start = lexemes_[info.start].without_entries();
    start.entries = lexemes_[info.start].entries;
    info.extras = start.extras = languages.start(languages.literals(others));
    info.start = intern(std::move(start));
  }
  info.any = info.allowed != schema_solver::kNoKeys ||
             info.extras != automata::kDeadState;
}

// Whether the items that the frame is in can be completed without becoming
// values that are barred.  The memo reads the frame and its parents.
bool JsonRecogniser::finishes(FrameId id) {
  if (frames_[id].finishes != Finishes::kUnknown) {
    return frames_[id].finishes == Finishes::kYes;
  }
  if (!barred_around(id)) {
    frames_[id].finishes = Finishes::kYes;
    return true;
  }
  const schema_solver::SchemaSolver::ScopedDepthLimit levels(solver_,
                                                             levels_in(id));
  ItemSearch search(*this, id);
  const ItemSearch::Found found = search.next(/*known=*/true);
  search.remember(found);
  return found != ItemSearch::Found::kNothing;
}

// The scalars that the value of the conjunction must not be, so that the items
// around it can be completed.  The memo reads the frame and its parents.
UsedValues::Set JsonRecogniser::barred_inside(FrameId id,
                                              ConjunctionId conjunction) {
  constexpr std::size_t kMostWays = 16;
  if (!barred_around(id)) return UsedValues::kNone;
  const std::uint64_t key = std::uint64_t{id} << 32 | conjunction.value();
  if (const auto known = barred_inside_.find(key);
      known != barred_inside_.end()) {
    return known->second;
  }
  const auto answer = [&](UsedValues::Set set) {
    barred_inside_.emplace(key, set);
    list_bytes_ += 48;
    return set;
  };
  // Step 1: ways to complete the items with a hole in place of the value.
  // `sets`: of each way, the scalars that are barred by the outermost item.
  // `simple`: no array inside of it bars anything, and it bars what it has.
  const FrameId hole = frame_after_value(id, {conjunction}, &kHole, 0);
  if (hole == 0) return answer(UsedValues::kNone);
  std::vector<UsedValues::Set> sets;
  bool simple = true;
  bool listed = false;  // values that are in no set may be barred as well
  ItemSearch search(*this, hole);
  std::size_t ways = 0;
  for (; ways < kMostWays; ++ways) {
    const ItemSearch::Found found = search.next(/*known=*/false);
    if (found == ItemSearch::Found::kEndless) return answer(UsedValues::kNone);
    if (found == ItemSearch::Found::kNothing) break;
    for (const FrameId ended : search.ended()) {
      const Frame& frame = frames_[ended];
      const Frame& outer = frames_[frame.parent];
      // The hole may be a value that another item of it must not have.
      if (frame.distinct) simple = false;
      if (!outer.distinct) continue;
      for (std::uint32_t i = 0; i < outer.size; ++i) {
        const UsedValues::Set barred = alternatives(outer)[i].barred;
        if (barred == outer.used) continue;
        simple = false;
        listed = listed || barred != UsedValues::kNone;
      }
      if (outer.partial != 0) simple = false;
      UsedValues::Set set = scalars_in(outer.items);
      const Partial& value = partials_[frame.partial];
      for (const char c : under(print_of(value, value.sum))) {
        set = used_values_.after(set, static_cast<std::uint8_t>(c));
      }
      sets.push_back(set);
    }
  }
  if (ways == 0) return answer(UsedValues::kNone);
  listed = listed || (ways == kMostWays && !simple);
  if (simple) {
    if (ways == 1) return answer(sets.front());
    if (std::ranges::find(sets, UsedValues::kNone) != sets.end()) {
      return answer(UsedValues::kNone);
    }
    sets.resize(1);
  }
  // Step 2: of the scalars that may be barred, those without which no item can
  // be completed.
  std::set<std::string> values;
  if (listed)
    values = solver_.values().few_values(conjunction, kMostListed).values;
  for (const UsedValues::Set set : sets) {
    for (std::string& value : used_values_.texts(set)) {
      values.insert(std::move(value));
    }
  }
  UsedValues::Set barred = UsedValues::kNone;
  for (const std::string& value : values) {
    if (value[0] == schema_solver::kNestedText) continue;
    const FrameId after = frame_after_value(id, {conjunction}, &value, 0);
    if (after == 0 || !finishes(after)) barred = with_used(barred, value);
  }
  return answer(barred);
}

}  // namespace parlance::json_recogniser
