// Follows back pointers from the items of a place to the captures: see
// EarleyRecogniser::captures().
//
// The back pointers of an item describe its preferred derivation and contain no
// cycle.  A rule called in between is followed from its end item to its first
// item and no further, since its caller is the item before it.  Only a rule
// that is still open is followed to its callers.
//
// Most items add nothing.  Each remembers the next one that does, so what is
// followed are the captures and not the text: a caller may ask after each
// token.

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "cfg_recogniser/earley.h"
#include "cfg_recogniser/earley_set.h"

namespace parlance::cfg_recogniser {

class EarleyRecogniser::Tracer {
 public:
  Tracer(const EarleyRecogniser& recogniser, const Place& place)
      : network_(recogniser.network_), columns_(place.columns_) {}

  std::vector<Captured> run() {
    const auto last = static_cast<std::uint32_t>(columns_.size() - 1);
    const StateSet& column = *columns_[last];
    for (std::uint32_t i = 0; i < column.items.size(); ++i) {
      if (!column.can_end) {
        reach(last, column.number(i), true);
      } else if (column.items[i].state == network_.accept) {
        reach(last, column.number(i), false);
      }
    }
    while (!left_.empty()) {
      const auto [at, item, open] = left_.back();
      left_.pop_back();
      visit(at, item, open);
    }
    return finish(!column.can_end);
  }

 private:
  struct Found {
    Captured captured;
    std::uint32_t ended = 0;  // where the activation did, its marker included
    bool marker = false;
  };

  using Next = StateSet::Next;

  // `open`: the item's rule is still being read.
  void reach(std::uint32_t column, std::uint32_t item, bool open) {
    const Next next = find_next(column, item, open);
    if (next.column == Next::kNone) return;
    if (seen_.emplace(next.column, next.item, open).second) {
      left_.emplace_back(next.column, next.item, open);
    }
  }

  Next& next_of(std::uint32_t column, std::uint32_t item, bool open) const {
    const StateSet& set = *columns_[column];
    if (set.next.empty()) set.next.resize(set.all.size());
    return set.next[item][open ? 1 : 0];
  }

  // Whether the end of an activation, or of a marker, adds something itself.
  bool adds(const Item& item) const {
    return network_.trigger_texts.contains(item.state);
  }
  bool end_adds(const Item& end) const {
    const NetworkState& state = network_.states[end.state];
    const rules::RuleOptions& options = network_.rules[state.index].options;
    return !options.capture.empty() ||
           (options.marker != rules::kNoExpr &&
            (options.hide_marker || !options.marker_capture.empty()));
  }

  // The first item that adds captures, from this one on.
  //
  // `sought_` is a stack: each of its items waits for the one above.  What an
  // item waits for is the rule that ended there, and then the item before it.
  Next find_next(std::uint32_t column, std::uint32_t item, bool open) {
    sought_.emplace_back(column, item, open);
    while (!sought_.empty()) {
      const auto [at, number, is_open] = sought_.back();
      Next& next = next_of(at, number, is_open);
      if (next.column < Next::kSought || next.column == Next::kNone) {
        sought_.pop_back();
        continue;
      }
      next.column = Next::kSought;
      const Item& here = columns_[at]->all[number];
      const Back& back = columns_[at]->backs[number];
      bool adding = adds(here);
      if (!adding && back.ended != Back::kNone) {
        const Next& inner = next_of(at, back.ended, false);
        if (inner.column == Next::kUnknown) {
          sought_.emplace_back(at, back.ended, false);
          continue;
        }
        adding = inner.column < Next::kSought ||
                 end_adds(columns_[at]->all[back.ended]);
      }
      if (adding) {
        next = {at, number};
      } else if (back.column == Back::kNone || (back.entered && !is_open)) {
        next.column = Next::kNone;
      } else {
        const Next& before = next_of(back.column, back.item, is_open);
        if (before.column == Next::kUnknown) {
          sought_.emplace_back(back.column, back.item, is_open);
          continue;
        }
        next = before;
        if (before.column == Next::kSought) next.column = Next::kNone;
      }
      sought_.pop_back();
    }
    return next_of(column, item, open);
  }

  void visit(std::uint32_t at, std::uint32_t number, bool open) {
    const Item& item = columns_[at]->all[number];
    const Back& back = columns_[at]->backs[number];
    const auto trigger = network_.trigger_texts.find(item.state);
    if (trigger != network_.trigger_texts.end()) {
      marker(trigger->second.capture, trigger->second.hide,
             at - trigger->second.bytes, at);
    }
    if (back.ended != Back::kNone) {
      activation(at, back.ended);
      reach(at, back.ended, false);
    }
    if (back.column == Back::kNone || (back.entered && !open)) return;
    reach(back.column, back.item, open);
  }

  void activation(std::uint32_t at, std::uint32_t number) {
    const Item& end = columns_[at]->all[number];
    const NetworkState& state = network_.states[end.state];
    const rules::RuleOptions& options = network_.rules[state.index].options;
    std::uint32_t body_end = at;
    if (options.marker != rules::kNoExpr && state.action == Action::kEnd) {
      body_end = end_of_body(at, number, state.rule_index());
      marker(options.marker_capture, options.hide_marker, body_end, at);
    }
    if (!options.capture.empty()) {
      found_.push_back({{options.capture, end.origin, body_end}, at});
    }
  }

  std::uint32_t end_of_body(std::uint32_t at, std::uint32_t number,
                            rules::RuleId rule) const {
    const std::uint32_t end = at;
    for (;;) {
      const NetworkState& state =
          network_.states[columns_[at]->all[number].state];
      if (state.action == Action::kBodyEnd && state.index == rule) return at;
      const Back& back = columns_[at]->backs[number];
      if (back.column == Back::kNone || back.entered) return end;
      at = back.column;
      number = back.item;
    }
  }

  void marker(const std::string& name, bool hide, std::uint32_t begin,
              std::uint32_t end) {
    if (!name.empty()) found_.push_back({{name, begin, end}, end, true});
    if (hide && begin < end) hidden_.emplace(begin, end);
  }

  std::vector<Captured> finish(bool several_ways) {
    // Inner captures were found later.
    std::reverse(found_.begin(), found_.end());
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Found& a, const Found& b) {
                       return std::pair(a.ended, ~a.captured.begin) <
                              std::pair(b.ended, ~b.captured.begin);
                     });
    std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> longest;
    if (several_ways) {
      for (const Found& one : found_) {
        std::uint32_t& end = longest[{one.captured.name, one.captured.begin}];
        end = std::max(end, one.captured.end);
      }
    }
    std::vector<Captured> out;
    for (Found& one : found_) {
      Captured& captured = one.captured;
      if (several_ways) {
        std::uint32_t& end = longest[{captured.name, captured.begin}];
        if (captured.end != end) continue;
        end = Back::kNone;  // once
      }
      for (auto at = hidden_.lower_bound({captured.begin, 0});
           at != hidden_.end() && at->first < captured.end; ++at) {
        if (at->second > captured.end) continue;
        if (one.marker && at->first == captured.begin) continue;
        captured.hidden.push_back(*at);
      }
      out.push_back(std::move(captured));
    }
    return out;
  }

  const TransitionNetwork& network_;
  const std::vector<std::shared_ptr<const StateSet>>& columns_;
  std::set<std::tuple<std::uint32_t, std::uint32_t, bool>> seen_;
  std::vector<std::tuple<std::uint32_t, std::uint32_t, bool>> left_;
  std::vector<std::tuple<std::uint32_t, std::uint32_t, bool>> sought_;
  std::vector<Found> found_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> hidden_;
};

std::vector<EarleyRecogniser::Captured> EarleyRecogniser::captures(
    const Place& place) const {
  return Tracer(*this, place).run();
}

}  // namespace parlance::cfg_recogniser
