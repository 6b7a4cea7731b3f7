// The search for items that are not barred: see unique_items.h.

#include "json_recogniser/unique_items.h"

#include <algorithm>
#include <memory>
#include <set>
#include <unordered_set>
#include <utility>

#include "base/work.h"
#include "json_recogniser/frames.h"
#include "json_recogniser/next_members.h"

namespace parlance::json_recogniser {

using schema_solver::ConjunctionId;
using schema_solver::FewValues;
using schema_solver::Fingerprint;
using schema_solver::JsonType;
using schema_solver::kMostListed;
using schema_solver::ValueText;

// The strings inside of the items so far: any other string in this place makes
// an item that differs from all of them.  Nothing where it may also depend on
// another array whose items differ, or on values that are barred before they
// come.
std::optional<UsedValues::Set> UniqueItems::noted_strings(FrameId id) {
  while (frames_[id].partial != 0) {
    if (frames_[id].distinct) return std::nullopt;
    id = frames_[id].parent;
  }
  const Frame& frame = frames_[id];
  for (const Alternative& one : frame.alternatives) {
    const UsedValues::Set barred = one.barred;
    if (barred != frame.used && barred != UsedValues::kNone) {
      return std::nullopt;
    }
  }
  const UsedValues::Set scalars = partials_.scalars_in(frame.items);
  return values_.after(values_.after(scalars, kNoted), '"');
}

// --- Whether an item can be completed. ---------------------------------------

// Whether a value in the frame is in an array, or in an item of one, that bars
// values.
bool UniqueItems::barred_around(FrameId id) const {
  for (;;) {
    const Frame& frame = frames_[id];
    if (frame.distinct) {
      for (const Alternative& one : frame.alternatives) {
        if (one.barred != UsedValues::kNone) return true;
      }
    }
    if (frame.partial == 0) return false;
    id = frame.parent;
  }
}

// A depth-first search over the frames that complete the outermost item, one
// value or bracket at a time.  Each node of the path gives its successors one
// by one.
//
// Objects with the same members in another order are equal, and n members have
// n! orders, each of which would be tried where all of them are barred.  So
// each set of members is added in one order, unless the schema gives the order:
// keys that are needed come next, whatever comes after them; the others come in
// the order of their texts.
class UniqueItems::ItemSearch {
 public:
  enum class Found : std::uint8_t {
    kNothing,
    kItem,     // the frame on top of the path ends the outermost item
    kEndless,  // something can be any of infinitely many values
  };

  ItemSearch(UniqueItems& owner, FrameId from) : owner_(owner) { enter(from); }

  // Goes on to the next way to complete the item.  `known`: whether frames
  // whose answer is known are not searched again.
  Found next(bool known) {
    while (!path_.empty()) {
      gave_up_ = seen_.size() > kMostListed;
      if (gave_up_ || !base::spend_work()) return stop();
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
            const Finishes finishes = owner_.frames_.memo(edge.frame).finishes;
            if (finishes == Finishes::kYes) return Found::kItem;
            if (finishes == Finishes::kNo) break;
          }
          enter(edge.frame);
        }
      }
    }
    return Found::kNothing;
  }

  // Whether next() found nothing among as many frames as it tries.
  bool gave_up() const { return gave_up_; }
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
        owner_.frames_.memo(node.frame).finishes = Finishes::kYes;
      }
    } else if (!stopped_) {
      for (const FrameId id : seen_) {
        owner_.frames_.memo(id).finishes = Finishes::kNo;
      }
    }
  }

 private:
  struct Node {
    FrameId frame = kNoFrame;
    std::size_t part = 0;
    bool closed = false;  // the edge that was taken is the closing bracket
    std::vector<ConjunctionId> conjunctions = {};
    // Of the conjunction of this part.
    std::shared_ptr<const FewValues> few = nullptr;
    std::set<ValueText>::const_iterator value = {};
    std::vector<std::string> others = {};  // keys not spelled, to be tried
    // Of an object: the key of the member that this node tries; the last one
    // before it that the search has added without need.
    std::string key = {};
    std::optional<std::string> last = {};
    std::uint32_t needed = KeyTrie::kNone;  // the only key to be tried
  };
  struct Edge {
    enum class Kind : std::uint8_t { kNone, kFrame, kItem, kEndless };
    Kind kind = Kind::kNone;
    FrameId frame = kNoFrame;
  };

  void enter(FrameId id) {
    if (!seen_.insert(id).second) return;
    const Frame& frame = owner_.frames_[id];
    Node node{.frame = id};
    if (frame.pending) {
      node.conjunctions = owner_.frames_.conjunctions_in(id);
    } else if (frame.kind == FrameKind::kObject &&
               !owner_.language_.in_order()) {
      node.last = last_key(frame.depth);
    }
    path_.push_back(std::move(node));
  }

  // Node::last of an object at that depth.  The nearest node of the same depth
  // has added the member before; the nodes after it belong to its value.
  std::optional<std::string> last_key(std::uint32_t depth) const {
    for (auto node = path_.rbegin(); node != path_.rend(); ++node) {
      const Frame& frame = owner_.frames_[node->frame];
      if (frame.depth < depth) break;
      if (frame.depth == depth && !frame.pending) {
        return node->needed == KeyTrie::kNone ? node->key : node->last;
      }
    }
    return std::nullopt;
  }

  Found stop() {
    stopped_ = true;
    path_.clear();
    return Found::kNothing;
  }

  Edge next_edge(Node& node) {
    const Frame& frame = owner_.frames_[node.frame];
    if (frame.pending) return next_value(node);
    return frame.kind == FrameKind::kArray ? next_of_array(node)
                                           : next_of_object(node);
  }

  // The scalars of each conjunction, then an object, then an array.
  Edge next_value(Node& node) {
    while (node.part < node.conjunctions.size()) {
      const ConjunctionId conjunction = node.conjunctions[node.part];
      if (node.few == nullptr) {
        node.few = owner_.solver_.values().few_values(conjunction, kMostListed);
        if (node.few->many) return {Edge::Kind::kEndless};
        node.value = node.few->values.begin();
      }
      while (node.value != node.few->values.end()) {
        const ValueText& value = *node.value++;
        if (value[0] == schema_solver::kNestedText) continue;
        const FrameId next = owner_.steps_.frame_after_value(
            node.frame, {conjunction}, &value, 0);
        if (next != 0) return {Edge::Kind::kFrame, next};
      }
      node.few = nullptr;
      ++node.part;
    }
    while (node.part < node.conjunctions.size() + 2) {
      const FrameId next = owner_.steps_.open_frame(
          node.frame, node.part++ == node.conjunctions.size()
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
    const Closing closing = owner_.steps_.closing(node.frame);
    if (closing.survivors.empty()) return {};
    node.closed = true;
    const FrameId outer = owner_.frames_[node.frame].parent;
    if (owner_.frames_[outer].partial == 0) return {Edge::Kind::kItem};
    const FrameId next = owner_.steps_.frame_after_value(
        outer, closing.survivors, &closing.value,
        owner_.frames_[node.frame].partial);
    if (next == 0) return {};
    return {Edge::Kind::kFrame, next};
  }

  Edge next_of_array(Node& node) {
    if (const Edge edge = close(node); edge.kind != Edge::Kind::kNone) {
      return edge;
    }
    if (node.part != 1) return {};
    node.part = 2;
    const FrameId next = owner_.steps_.make_next_item(node.frame);
    if (next == 0) return {};
    return {Edge::Kind::kFrame, next};
  }

  Edge next_of_object(Node& node) {
    if (const Edge edge = close(node); edge.kind != Edge::Kind::kNone) {
      return edge;
    }
    if (node.part == 1) {
      node.part = 2;
      if (owner_.endless_keys(node.frame, node.others)) {
        return {Edge::Kind::kEndless};
      }
      node.needed = owner_.members_.needed_key(node.frame);
    }
    const KeyInfo& info = owner_.members_.raw_key_info(node.frame);
    const KeyTrie& trie = owner_.keys_.trie(info.trie);
    if (node.needed != KeyTrie::kNone) {
      if (node.part++ != 2) return {};
      const FrameId next =
          owner_.members_.member_of(node.frame, node.needed, {}, nullptr);
      if (next == 0) return {};
      return {Edge::Kind::kFrame, next};
    }
    while (node.part < trie.keys().size() + 2) {
      const auto index = static_cast<std::uint32_t>(node.part++ - 2);
      const schema_solver::KeyId key = trie.keys()[index];
      if (!owner_.solver_.key_sets().contains(info.possible, key)) continue;
      node.key = owner_.solver_.names().text(key);
      if (node.last && node.key <= *node.last) continue;
      const FrameId next =
          owner_.members_.member_of(node.frame, index, {}, nullptr);
      if (next != 0) return {Edge::Kind::kFrame, next};
    }
    while (!node.others.empty()) {
      node.key = std::move(node.others.back());
      node.others.pop_back();
      if (node.last && node.key <= *node.last) continue;
      const FrameId next = owner_.other_member(node.frame, node.key);
      if (next != 0) return {Edge::Kind::kFrame, next};
    }
    return {};
  }

  UniqueItems& owner_;
  std::vector<Node> path_;
  std::unordered_set<FrameId> seen_;
  bool stopped_ = false;
  bool gave_up_ = false;
};

// Whether infinitely many keys may come next that the schema does not spell.
// If not, they are added to `keys`.
bool UniqueItems::endless_keys(FrameId id, std::vector<std::string>& keys) {
  const std::optional<automata::LanguageId> others =
      members_.raw_key_info(id).others;
  if (!others) return false;
  if (solver_.languages().infinite(*others)) return true;
  FewValues few;
  solver_.values().list_strings(*others, kMostListed, few);
  for (const std::string& key : few.values) keys.push_back(key.substr(1));
  return few.partial;
}

// The frame of a member whose key the schema does not spell.
FrameId UniqueItems::other_member(FrameId id, const std::string& key) {
  automata::Languages& languages = solver_.languages();
  std::vector<bool> matched;
  for (const automata::LanguageId language :
       keys_.trie(members_.raw_key_info(id).trie).languages()) {
    automata::StateId state = languages.start(language);
    for (const char c : key) {
      if (state == automata::kDeadState) break;
      state = languages.step(state, static_cast<std::uint8_t>(c));
    }
    matched.push_back(state != automata::kDeadState &&
                      languages.accepting(state));
  }
  return members_.member_of(id, KeyTrie::kNone, std::move(matched), &key);
}

// Drops the keys after which every value is barred.  Of infinitely many keys
// none is dropped: with_member() refuses them where they end.
void UniqueItems::check_keys(FrameId id, KeyInfo& info) {
  info.checked = true;
  if (!barred_around(id)) return;
  const std::vector<schema_solver::KeyId>& keys = keys_.trie(info.trie).keys();
  schema_solver::KeySets& sets = solver_.key_sets();
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    if (!sets.contains(info.possible, keys[i])) continue;
    const FrameId member = members_.member_of(id, i, {}, nullptr);
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
    info.start = lexemes_.intern(std::move(start));
  }
  info.any = info.allowed != schema_solver::kNoKeys ||
             info.extras != automata::kDeadState;
}

// Whether the items that the frame is in can be completed without becoming
// values that are barred.  The memo reads the frame and its parents.
bool UniqueItems::finishes(FrameId id) {
  if (frames_.memo(id).finishes != Finishes::kNotAsked) {
    return frames_.memo(id).finishes == Finishes::kYes;
  }
  if (!barred_around(id)) {
    frames_.memo(id).finishes = Finishes::kYes;
    return true;
  }
  const schema_solver::ScopedDepthLimit levels(solver_.satisfiability(),
                                               frames_.levels_in(id));
  ItemSearch search(*this, id);
  const ItemSearch::Found found = search.next(/*known=*/true);
  search.remember(found);
  if (search.gave_up()) {
    frames_.memo(id).finishes = Finishes::kNo;
    note_given_up(id);
  }
  return found != ItemSearch::Found::kNothing;
}

void UniqueItems::note_given_up(FrameId id) {
  while (!frames_[id].distinct) id = frames_[id].parent;
  static_cast<void>(solver_.notes().leave_out(
      schema_solver::LeftOutBy::kLimit,
      solver_.place_of_array(frames_[id].alternatives.front().disjunct),
      "uniqueItems",
      "items are left out that are not found to differ from those before them "
      "among " +
          std::to_string(kMostListed) + " ways to complete them"));
}

// The scalars that the value of the conjunction must not be, so that the items
// around it can be completed.  The memo reads the frame and its parents.
UsedValues::Set UniqueItems::barred_inside(FrameId id,
                                           ConjunctionId conjunction) {
  constexpr std::size_t kMostWays = 16;
  if (!barred_around(id)) return UsedValues::kNone;
  const std::uint64_t key = std::uint64_t{id} << 32 | conjunction.value();
  if (const auto known = barred_.find(key); known != barred_.end()) {
    return known->second;
  }
  const auto answer = [&](UsedValues::Set set) {
    barred_.emplace(key, set);
    bytes_ += 48;
    return set;
  };
  // Step 1: ways to complete the items with a hole in place of the value.
  // `sets`: of each way, the scalars that are barred by the outermost item.
  // `simple`: no array inside of it bars anything, and it bars what it has.
  const FrameId hole = steps_.frame_after_value(id, {conjunction}, &kHole, 0);
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
      for (const Alternative& one : outer.alternatives) {
        const UsedValues::Set barred = one.barred;
        if (barred == outer.used) continue;
        simple = false;
        listed = listed || barred != UsedValues::kNone;
      }
      if (outer.partial != 0) simple = false;
      UsedValues::Set set = partials_.scalars_in(outer.items);
      const Partial value = partials_[frame.partial];
      for (const char c : under(print_of(value, value.sum))) {
        set = values_.after(set, static_cast<std::uint8_t>(c));
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
  if (listed) {
    values = solver_.values().few_values(conjunction, kMostListed)->values;
  }
  for (const UsedValues::Set set : sets) {
    for (std::string& value : values_.texts(set)) {
      values.insert(std::move(value));
    }
  }
  UsedValues::Set barred = UsedValues::kNone;
  for (const std::string& value : values) {
    if (value[0] == schema_solver::kNestedText) continue;
    const FrameId after =
        steps_.frame_after_value(id, {conjunction}, &value, 0);
    if (after == 0 || !finishes(after)) {
      barred = values_.with_spellings(barred, value);
    }
  }
  return answer(barred);
}

}  // namespace parlance::json_recogniser
