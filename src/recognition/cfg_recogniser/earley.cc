// Earley's algorithm; see earley.h.

#include "cfg_recogniser/earley.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/mix.h"
#include "cfg_recogniser/earley_set.h"
#include "cfg_recogniser/symbol_reader.h"

namespace parlance::cfg_recogniser {

using rules::kUnbounded;
using rules::RuleId;

using recogniser::Configuration;
using recogniser::Recogniser;

std::size_t EarleyRecogniser::ItemHash::operator()(const Item& item) const {
  std::uint64_t hash = item.state;
  for (std::uint32_t part :
       {item.origin, item.activation, item.inner, item.count}) {
    base::mix(hash, part);
  }
  return static_cast<std::size_t>(hash);
}

// The limit of EarleyRecogniser::steps_, per item allowed.
constexpr std::size_t kStepsPerItem = 100;

// Completes a state set: predicts and completes until nothing follows any more
// from the items just read.
//
// While recording, every item also has the back pointer of its preferred
// derivation.  A better one may be found after the item has been followed; then
// the item is followed again (again_), which only updates back pointers.
//
// Invariant of run(): the items before the i-th have been followed, each with
// the best back pointer that was known then.  again_ has those among them whose
// derivation has improved since; an item of again_ that was not followed yet is
// skipped, because it will be followed with its better pointer anyway.
//
// It ends: a back pointer only changes to improve the derivation of its item,
// which improves the derivations through that item or leaves them as they are.
// So no derivation comes back.
class EarleyRecogniser::Closure {
 public:
  Closure(EarleyRecogniser& recogniser, const Place& place, StateSet& column)
      : recogniser_(recogniser),
        network_(recogniser.network_),
        place_(place),
        column_(column) {}

  void run() {
    const Kernel& kernel = column_.kernel;
    for (std::size_t i = 0; i < kernel.items.size(); ++i) {
      add(kernel.items[i], i < kernel.backs.size() ? kernel.backs[i] : Back{});
    }
    for (std::size_t i = 0; i < column_.items.size() || !again_.empty();) {
      if (column_.made + recogniser_.copied_ + column_.items.size() >
              recogniser_.max_items_ ||
          recogniser_.steps_ > kStepsPerItem * recogniser_.max_items_) {
        recogniser_.overflowed_ = true;
        column_.overflowed = true;
        column_.items.clear();
        column_.waiting.clear();
        column_.can_end = false;
        return;
      }
      first_time_ = again_.empty();
      if (first_time_) {
        followed_ = static_cast<std::uint32_t>(i++);
      } else {
        followed_ = again_.back();
        again_.pop_back();
        if (followed_ >= i) continue;
      }
      follow(column_.items[followed_], followed_);
    }
    column_.made += column_.items.size();
    if (recogniser_.recording_) column_.all = column_.items;
    if (!ended_.empty()) end_activations();
  }

 private:
  static std::uint64_t key(RuleId rule, std::uint32_t activation) {
    return std::uint64_t{rule} << 32 | activation;
  }

  void add(const Item& item, const Back& back) {
    const NetworkState& state = network_.states[item.state];
    if (!state.live) return;
    // While recording, the derivation with the larger count may be preferred.
    if (!recogniser_.recording_ && item.count > state.min &&
        state.max != kUnbounded &&
        (state.action == Action::kCount ||
         state.action == Action::kCountClass)) {
      // Above the minimum, the smaller count subsumes the larger: it leaves
      // more repetitions.
      Item place = item;
      place.count = 0;
      auto [known, added] = least_.try_emplace(place, item.count);
      if (!added && known->second <= item.count) return;
      known->second = item.count;
    }
    const auto [known, added] = seen_.try_emplace(
        item, static_cast<std::uint32_t>(column_.items.size()));
    if (!added) {
      if (recogniser_.recording_) prefer(known->second, back);
      return;
    }
    column_.items.push_back(item);
    if (recogniser_.recording_) column_.backs.push_back(back);
  }

  // --- The preferred derivation of an item -----------------------------------
  //
  // A derivation inside a rule is a list of parts: calls of rules, texts, and
  // runs of characters read by one state.  Of two derivations, the preferred
  // one has the longer part where they first differ, or fewer parts if the
  // further ones of the other are empty: any part that follows is longer.

  // An item, by its state set and its index there.
  using Node = std::pair<std::uint32_t, std::uint32_t>;

  const Item& item_at(const Node& node) const {
    return node.first == column_.position
               ? column_.items[node.second]
               : place_.columns_[node.first]->all[node.second];
  }
  const Back& back_of(const Node& node) const {
    return node.first == column_.position
               ? column_.backs[node.second]
               : place_.columns_[node.first]->backs[node.second];
  }

  static constexpr StateId kNoState{0xFFFFFFFF};

  // A derivation, followed backwards.
  struct Derivation {
    // An item that was met: in which visit of a state set; the number of parts
    // after it; and whether its state reads there.
    struct Met {
      std::uint64_t visit = 0;
      std::size_t parts = 0;
      bool reads = false;
    };

    Node at;
    StateId run = kNoState;                // the state that reads here
    bool done = false;                     // at the beginning of the rule
    std::vector<std::uint32_t> ends = {};  // of its parts, the last first
    std::uint64_t visit = 0;               // of the current state set
    std::vector<Met> met = {};             // by item of the current state set
  };

  void go_back(Derivation& derivation, const Back& back) {
    ++recogniser_.steps_;
    if (back.column == Back::kNone || back.entered) {
      derivation.done = true;
      return;
    }
    const Node before = {back.column, back.item};
    const std::uint32_t here = derivation.at.first;
    const StateId state = item_at(before).state;
    const bool call = back.ended != Back::kNone;
    const bool read = !call && back.column < here;
    if (call || (read && derivation.run != state)) {
      derivation.ends.push_back(here);
    }
    derivation.run = read ? state : kNoState;
    derivation.at = before;
    if (before.first < here) derivation.visit = ++visits_;
    if (derivation.met.size() <= before.second) {
      recogniser_.steps_ += before.second + 1 - derivation.met.size();
      derivation.met.resize(std::size_t{before.second} + 1);
    }
    derivation.met[before.second] = {derivation.visit, derivation.ends.size(),
                                     read};
  }

  // Whether `derivation` is at an item that `other` has passed, and both go on
  // from there with the same part or both with a new one.  If so, moves `other`
  // back to that item.
  static bool meets(const Derivation& derivation, Derivation& other) {
    if (derivation.done || derivation.at.first != other.at.first ||
        derivation.at.second >= other.met.size()) {
      return false;
    }
    const Derivation::Met& met = other.met[derivation.at.second];
    const bool reads = derivation.run != kNoState;
    if (met.visit != other.visit || met.reads != reads) return false;
    other.ends.resize(met.parts);
    return true;
  }

  // Whether the derivation through `wanted` is preferred to the known one.
  // Both are followed backwards, the one that is later in the text first, until
  // they meet; then their parts are compared from the first on.  Before the
  // item where they meet they are the same derivation, so those parts are equal
  // and need not be followed.
  //
  // A run that the item itself can continue has no end yet.  So a derivation
  // that is preferred here is preferred, or equal, whatever follows.
  bool better(std::uint32_t index, const Back& wanted) {
    Derivation& one = one_;
    Derivation& other = other_;
    for (Derivation* derivation : {&one, &other}) {
      derivation->at = {column_.position, index};
      derivation->run = column_.items[index].state;
      derivation->done = false;
      derivation->ends.clear();
      derivation->visit = ++visits_;
    }
    go_back(one, wanted);
    go_back(other, column_.backs[index]);
    while (!one.done || !other.done) {
      if (meets(one, other) || meets(other, one)) break;
      Derivation& later =
          other.done || (!one.done && one.at.first >= other.at.first) ? one
                                                                      : other;
      go_back(later, back_of(later.at));
    }
    return std::lexicographical_compare(one.ends.rbegin(), one.ends.rend(),
                                        other.ends.rbegin(), other.ends.rend(),
                                        std::greater<>());
  }

  // Whether the derivation through `back` contains the item itself: a cyclic
  // derivation, of a rule that derives just itself.
  bool leads_through(std::uint32_t index, const Back& back) const {
    std::vector<Back> left = {back};
    std::vector<bool> seen(column_.items.size(), false);
    recogniser_.steps_ += seen.size() / 64;
    const auto visit = [&](std::uint32_t number) {
      ++recogniser_.steps_;
      if (seen[number]) return;
      seen[number] = true;
      left.push_back(column_.backs[number]);
    };
    while (!left.empty()) {
      const Back one = left.back();
      left.pop_back();
      if (one.ended != Back::kNone) visit(one.ended);
      if (one.column == column_.position && !one.entered) visit(one.item);
    }
    return seen[index];
  }

  void prefer(std::uint32_t index, const Back& back) {
    ++recogniser_.steps_;
    const Back& known = column_.backs[index];
    if (known.column == back.column && known.item == back.item) {
      // The same step, but the derivation of the item before it has improved,
      // if that is the item that is followed again.
      if (!first_time_ && back.column == column_.position &&
          back.item == followed_) {
        again_.push_back(index);
      }
      return;
    }
    if (known.entered || known.column == Back::kNone || back.entered) return;
    if (!better(index, back) || leads_through(index, back)) return;
    column_.backs[index] = back;
    again_.push_back(index);
  }

  // Earley's predictor and completer for one item of the set: adds the items
  // that follow from it without reading.  An item that reads something stays
  // for scan().
  void follow(Item item, std::uint32_t index) {
    const NetworkState& state = network_.states[item.state];
    Item next{state.next, item.origin, item.activation, 0, 0};
    const Back here{column_.position, index};
    switch (state.action) {
      case Action::kPass:
        if (item.state == network_.accept) column_.can_end = true;
        break;
      case Action::kCountClass:
        if (item.inner == 0 && item.count >= state.min) add(next, here);
        break;
      case Action::kCall:
        call(item, index, state.rule_index(), next);
        break;
      case Action::kCount:
        if (item.count >= state.min) add(next, here);
        if (item.count < state.max) call(item, index, state.rule_index(), item);
        break;
      case Action::kSubstring:
        if (item.count == 0) add(next, here);
        break;
      case Action::kFreeText:
        if (item.count == 0 &&
            network_.free_texts[state.index].may_end(item.inner)) {
          add(next, here);
        }
        break;
      case Action::kTokenText:
        add(next, here);
        break;
      case Action::kSchema: {
        Recogniser& schema = *network_.schemas[state.index];
        Configuration config =
            item.inner == 0 ? schema.start() : recogniser_.configs_[item.inner];
        if (schema.can_end(config)) add(next, here);
        break;
      }
      case Action::kBodyEnd:
        if (network_.rules[state.index].options.marker_optional ||
            recogniser_.exhausted(item.activation, column_)) {
          complete(item, index, state.rule_index());
        }
        break;
      case Action::kEnd:
        complete(item, index, state.rule_index());
        break;
      default:
        break;  // reads something
    }
    for (StateId target : state.epsilon) {
      add({target, item.origin, item.activation, 0, 0}, here);
    }
  }

  // Prediction.  `after` is what follows if the rule matches the empty text:
  // if the rule is already known to do so here, it follows at once.
  void call(const Item& item, std::uint32_t index, RuleId rule,
            const Item& after) {
    std::uint32_t activation = recogniser_.activation_for(
        rule, item.activation, column_.position, column_);
    if (first_time_) column_.waiting[key(rule, activation)].push_back(index);
    const auto empty = empty_.find(key(rule, activation));
    if (empty != empty_.end()) {
      const NetworkState& state = network_.states[item.state];
      const bool missing =
          state.action == Action::kCount && !network_.rules[rule].nullable;
      add(missing ? Item{state.next, item.origin, item.activation, 0, 0}
                  : after,
          {column_.position, index, empty->second});
    }
    add({network_.rules[rule].start, column_.position, activation, 0, 0},
        {column_.position, index, Back::kNone, true});
  }

  // Completion: advances the callers of the rule.  Also decides whether the
  // activation of the rule has to end here.
  //
  // The callers are those that wait in the set where the rule was entered.  If
  // that is this set, the rule is empty, and callers that come later are
  // advanced by call(): each pair of a caller and an empty rule once.
  void complete(const Item& item, std::uint32_t index, RuleId rule) {
    const RuleActivation& activation =
        recogniser_.activations_[item.activation];
    const bool whole = network_.states[item.state].action == Action::kEnd;
    if (activation.rule == rule &&
        ((activation.lazy && whole) ||
         recogniser_.exhausted(item.activation, column_))) {
      ended_.emplace(item.activation, true);
    }
    const bool here = item.origin == column_.position;
    if (here) empty_.try_emplace(key(rule, item.activation), index);
    const StateSet& origin = here ? column_ : *place_.columns_[item.origin];
    auto found = origin.waiting.find(
        key(rule, recogniser_.at_origin(item.activation, item.origin)));
    if (found == origin.waiting.end()) return;
    // By index: `items` and the list may grow.
    for (std::size_t i = 0; i < found->second.size(); ++i) {
      Item caller = origin.items[found->second[i]];
      caller.activation =
          recogniser_.carried(caller.activation, item.activation, item.origin);
      const Back back{item.origin, origin.number(found->second[i]), index};
      const NetworkState& state = network_.states[caller.state];
      if (state.action == Action::kCall) {
        add({state.next, caller.origin, caller.activation, 0, 0}, back);
      } else if (here && !network_.rules[rule].nullable) {
        // The body is empty because a budget is used up: the repeat is done.
        add({state.next, caller.origin, caller.activation, 0, 0}, back);
      } else if (!here) {
        ++caller.count;
        if (state.max == kUnbounded) {
          caller.count = std::min(caller.count, state.min);
        }
        add(caller, back);
      }
    }
  }

  // Drops the items inside the activations that have to end here.
  void end_activations() {
    constexpr std::uint32_t kDropped = 0xFFFFFFFF;
    const std::vector<RuleActivation>& all = recogniser_.activations_;
    // An activation begins no earlier than the one that it is in, so none that
    // begins before `first` is in one that ends.
    std::uint32_t first = column_.position;
    for (const auto& [id, ends] : ended_) {
      first = std::min(first, all[id].origin);
    }
    // Each activation is followed once: ended_ then has what it is.
    std::vector<std::uint32_t> followed;
    const auto has_to_end = [&](std::uint32_t id) {
      followed.clear();
      bool ends = false;
      for (; id != 0 && all[id].origin >= first; id = all[id].parent) {
        if (const auto known = ended_.find(id); known != ended_.end()) {
          ends = known->second;
          break;
        }
        followed.push_back(id);
      }
      for (const std::uint32_t one : followed) ended_.emplace(one, ends);
      return ends;
    };
    std::vector<Item> kept;
    std::vector<std::uint32_t> moved(column_.items.size(), kDropped);
    for (std::size_t i = 0; i < column_.items.size(); ++i) {
      if (has_to_end(column_.items[i].activation)) continue;
      moved[i] = static_cast<std::uint32_t>(kept.size());
      kept.push_back(column_.items[i]);
    }
    if (recogniser_.recording_) {
      column_.kept.assign(kept.size(), 0);
      for (std::uint32_t i = 0; i < moved.size(); ++i) {
        if (moved[i] != kDropped) column_.kept[moved[i]] = i;
      }
    }
    column_.items = std::move(kept);
    for (auto& [rule, list] : column_.waiting) {
      std::size_t size = 0;
      for (std::uint32_t index : list) {
        if (moved[index] != kDropped) list[size++] = moved[index];
      }
      list.resize(size);
    }
  }

  EarleyRecogniser& recogniser_;
  const TransitionNetwork& network_;
  const Place& place_;
  StateSet& column_;
  std::unordered_map<Item, std::uint32_t, ItemHash> seen_;
  // While recording: what better() compares; the items whose derivation has
  // improved; and whether the item that is followed is none of them.
  Derivation one_;
  Derivation other_;
  std::uint64_t visits_ = 0;
  std::vector<std::uint32_t> again_;
  std::uint32_t followed_ = 0;
  bool first_time_ = true;
  std::unordered_map<Item, std::uint32_t, ItemHash> least_;
  // Rules that matched the empty text here, and their end items.
  std::unordered_map<std::uint64_t, std::uint32_t> empty_;
  // Activations that have to end here.  In end_activations() also others that
  // have to, since they are inside of one, or need not.
  std::unordered_map<std::uint32_t, bool> ended_;
};

EarleyRecogniser::EarleyRecogniser(const rules::Rules& rules,
                                   std::span<Recogniser* const> schemas,
                                   std::size_t max_items,
                                   const rules::Marks* marks)
    : network_(rules, schemas, marks), marks_(marks), max_items_(max_items) {
  activations_.emplace_back();
}

EarleyRecogniser::~EarleyRecogniser() = default;

std::uint32_t EarleyRecogniser::activation_for(RuleId rule,
                                               std::uint32_t parent,
                                               std::uint32_t origin,
                                               const StateSet& column) {
  const NetworkRule& called = network_.rules[rule];
  if (!called.scoped) return parent;
  RuleActivation activation;
  activation.parent = parent;
  activation.rule = rule;
  activation.origin = origin;
  activation.lazy = called.lazy;
  activation.chars_limit = activations_[parent].chars_limit;
  activation.tokens_limit = activations_[parent].tokens_limit;
  const rules::RuleOptions& options = called.options;
  if (options.max_chars) {
    activation.chars_limit =
        std::min(activation.chars_limit, column.chars + *options.max_chars);
  }
  if (options.max_tokens) {
    activation.tokens_limit =
        std::min(activation.tokens_limit, column.tokens + *options.max_tokens);
  }
  // Those that begin here as well are the innermost ones.
  for (std::uint32_t id = parent; id != 0; id = activations_[id].parent) {
    const RuleActivation& outer = activations_[id];
    if (outer.origin != origin) break;
    ++steps_;
    if (outer.rule == rule && outer.chars_limit == activation.chars_limit &&
        outer.tokens_limit == activation.tokens_limit) {
      return id;
    }
  }
  auto [place, added] = activation_ids_.try_emplace(
      {parent, rule, origin, activation.chars_limit, activation.tokens_limit},
      static_cast<std::uint32_t>(activations_.size()));
  if (added) activations_.push_back(activation);
  return place->second;
}

bool EarleyRecogniser::exhausted(std::uint32_t id,
                                 const StateSet& column) const {
  const RuleActivation& activation = activations_[id];
  return column.chars >= activation.chars_limit ||
         column.tokens >= activation.tokens_limit;
}

std::uint32_t EarleyRecogniser::copy_of(std::uint32_t id,
                                        std::uint32_t position,
                                        std::uint64_t chars) {
  std::vector<std::uint32_t> missing;  // the innermost first
  std::uint32_t out = 0;
  for (; id != 0; id = activations_[id].parent) {
    if (const auto known = copies_.find({id, position, chars});
        known != copies_.end()) {
      out = known->second;
      break;
    }
    missing.push_back(id);
  }
  for (auto one = missing.rbegin(); one != missing.rend(); ++one) {
    RuleActivation copy = activations_[*one];
    copy.parent = out;
    if (copy.chars_limit != ~std::uint64_t{0}) copy.chars_limit += chars;
    copy.of = *one;
    copy.copied = position;
    copy.chars = chars;
    out = static_cast<std::uint32_t>(activations_.size());
    activations_.push_back(copy);
    ++copied_;
    copies_.try_emplace({*one, position, chars}, out);
  }
  return out;
}

std::uint32_t EarleyRecogniser::at_origin(std::uint32_t id,
                                          std::uint32_t origin) {
  while (activations_[id].of != 0 && origin < activations_[id].copied) {
    id = activations_[id].of;
    ++steps_;
  }
  return id;
}

std::uint32_t EarleyRecogniser::carried(std::uint32_t caller, std::uint32_t id,
                                        std::uint32_t origin) {
  std::vector<std::uint32_t> copies;  // the latest first
  for (; activations_[id].of != 0 && origin < activations_[id].copied;
       id = activations_[id].of) {
    copies.push_back(id);
    ++steps_;
  }
  for (auto copy = copies.rbegin(); copy != copies.rend(); ++copy) {
    const RuleActivation& one = activations_[*copy];
    caller = copy_of(caller, one.copied, one.chars);
  }
  return caller;
}

std::uint32_t EarleyRecogniser::intern(Configuration config) {
  auto [place, added] = config_ids_.try_emplace(
      {config.lex, config.frame, config.count, config.extra},
      static_cast<std::uint32_t>(configs_.size()));
  if (added) configs_.push_back(config);
  return place->second;
}

std::shared_ptr<const EarleyRecogniser::StateSet> EarleyRecogniser::close(
    const Place& place, Kernel kernel, std::uint64_t chars,
    std::uint64_t tokens) {
  auto column = std::make_shared<StateSet>();
  column->kernel = std::move(kernel);
  column->chars = chars;
  column->tokens = tokens;
  column->position = static_cast<std::uint32_t>(place.columns_.size());
  if (!place.columns_.empty()) {
    const StateSet& last = *place.columns_.back();
    column->made = last.made;
    column->overflowed = last.overflowed;
    steps_ = last.steps;
  } else {
    steps_ = 0;
  }
  Closure(*this, place, *column).run();
  column->steps = steps_;
  column->made += std::exchange(copied_, 0);
  return column;
}

EarleyRecogniser::Place EarleyRecogniser::start() {
  Place place;
  Kernel kernel{{{network_.start, 0, 0, 0, 0}}, {}};
  place.columns_.push_back(close(place, std::move(kernel), 0, 0));
  return place;
}

void EarleyRecogniser::truncate(Place& place, std::size_t size) {
  if (size + 1 < place.columns_.size()) place.columns_.resize(size + 1);
}

bool EarleyRecogniser::overflowed(const Place& place) const {
  return place.columns_.back()->overflowed;
}

void EarleyRecogniser::forget() {
  activations_.resize(1);
  activation_ids_.clear();
  copies_.clear();
  configs_.resize(1);
  config_ids_.clear();
  overflowed_ = false;
}

bool EarleyRecogniser::can_end(const Place& place) const {
  return place.columns_.back()->can_end;
}

bool EarleyRecogniser::alive(const Place& place) const {
  return !place.columns_.back()->items.empty();
}

void EarleyRecogniser::add_backs(const StateSet& column, std::size_t item,
                                 Kernel& kernel) const {
  if (!recording_) return;
  kernel.backs.resize(
      kernel.items.size(),
      {column.position, column.number(static_cast<std::uint32_t>(item))});
}

// Earley's scanner: the kernel of the next set has each item of `column` that
// reads the byte, after it.
EarleyRecogniser::Kernel EarleyRecogniser::scan(const StateSet& column,
                                                ByteRead read) {
  Kernel kernel;
  SymbolReader reader(network_, kernel.items);
  for (std::size_t at = 0; at < column.items.size(); ++at) {
    const Item& item = column.items[at];
    const NetworkState& state = network_.states[item.state];
    if (state.action == Action::kSchema) {
      Recogniser& schema = *network_.schemas[state.index];
      const Configuration config = schema.step(
          item.inner == 0 ? schema.start() : configs_[item.inner], read.byte);
      if (!config.dead()) {
        kernel.items.push_back(item);
        kernel.items.back().inner = intern(config);
      }
    } else {
      reader.read(item, read);
    }
    add_backs(column, at, kernel);
  }
  return kernel;
}

EarleyRecogniser::Kernel EarleyRecogniser::scan_token(
    const StateSet& column, rules::Token token) const {
  Kernel kernel;
  SymbolReader reader(network_, kernel.items);
  const TokenRead read(token, marks_);
  for (std::size_t at = 0; at < column.items.size(); ++at) {
    reader.read(column.items[at], read);
    add_backs(column, at, kernel);
  }
  return kernel;
}

bool EarleyRecogniser::feed(Place& place, ByteRead read) {
  const StateSet& last = *place.columns_.back();
  const bool begins = (read.byte & 0xC0) != 0x80;
  place.columns_.push_back(close(place, scan(last, read),
                                 last.chars + (begins ? 1 : 0), last.tokens));
  return alive(place);
}

bool EarleyRecogniser::feed(Place& place, std::string_view bytes) {
  for (char c : bytes) {
    if (!feed(place, static_cast<std::uint8_t>(c))) return false;
  }
  return alive(place);
}

bool EarleyRecogniser::feed_token(Place& place, rules::Token token,
                                  std::string_view bytes) {
  Kernel by_id = scan_token(*place.columns_.back(), token);
  std::uint64_t chars = place.columns_.back()->chars;
  // Free text does not read a mark by its bytes.
  bool begins_mark = marks_ != nullptr && marks_->mark_of(token).has_value();
  for (char c : bytes) {
    feed(place, {.byte = static_cast<std::uint8_t>(c),
                 .begins_mark = std::exchange(begins_mark, false)});
  }
  // The last state set is computed again: it also contains the items that the
  // id leads to, and budgets that begin here begin after the token.  An id has
  // no characters.
  std::shared_ptr<const StateSet> last = place.columns_.back();
  Kernel kernel;
  if (!bytes.empty()) {
    kernel = last->kernel;
    place.columns_.pop_back();
  }
  if (!kernel.items.empty()) {
    const auto position = static_cast<std::uint32_t>(place.columns_.size());
    for (Item& item : by_id.items) {
      item.activation = copy_of(item.activation, position, last->chars - chars);
    }
    chars = last->chars;
  }
  kernel.items.insert(kernel.items.end(), by_id.items.begin(),
                      by_id.items.end());
  kernel.backs.insert(kernel.backs.end(), by_id.backs.begin(),
                      by_id.backs.end());
  place.columns_.push_back(
      close(place, std::move(kernel), chars, last->tokens + 1));
  return alive(place);
}

std::optional<double> EarleyRecogniser::temperature(const Place& place) {
  std::uint32_t hottest = 0;
  // The items that read something next, and then their callers, unless their
  // own rule has a temperature.
  std::vector<std::pair<const StateSet*, std::uint32_t>> open;
  std::set<std::pair<const StateSet*, std::uint32_t>> seen;
  const StateSet& last = *place.columns_.back();
  for (std::uint32_t i = 0; i < last.items.size(); ++i) {
    StateSet one;
    one.items = {last.items[i]};
    const Action action = network_.states[last.items[i].state].action;
    bool reads = action == Action::kTokens || action == Action::kTokenText;
    for (int byte = 0; byte < 256 && !reads; ++byte) {
      reads = !scan(one, {static_cast<std::uint8_t>(byte)}).items.empty();
    }
    if (reads) open.emplace_back(&last, i);
  }
  while (!open.empty()) {
    const auto at = open.back();
    open.pop_back();
    if (!seen.insert(at).second) continue;
    const Item& item = at.first->items[at.second];
    const NetworkState& state = network_.states[item.state];
    if (const std::uint32_t own = network_.temperature_of(state); own != 0) {
      hottest = std::max(hottest, own);
      continue;
    }
    const StateSet& origin = *place.columns_[item.origin];
    const auto callers =
        origin.waiting.find(std::uint64_t{state.rule} << 32 |
                            at_origin(item.activation, item.origin));
    if (callers == origin.waiting.end()) continue;
    for (const std::uint32_t caller : callers->second) {
      open.emplace_back(&origin, caller);
    }
  }
  if (hottest == 0) return std::nullopt;
  return network_.temperatures[hottest - 1];
}

bool EarleyRecogniser::accepts(std::string_view bytes) {
  Place place = start();
  return feed(place, bytes) && can_end(place);
}

}  // namespace parlance::cfg_recogniser
