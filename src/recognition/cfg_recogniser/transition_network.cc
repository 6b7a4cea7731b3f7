// Builds a network from rules by Thompson's construction (1968): each
// expression becomes a fragment between a begin and an end state.  See
// transition_network.h.  A list of expressions still to be built replaces
// recursion, so nesting does not use the call stack.

#include "cfg_recogniser/transition_network.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cfg_recogniser/common_parts.h"
#include "rules/excluded_words.h"

namespace parlance::cfg_recogniser {

using rules::ExprKind;
using rules::FreeTextExpr;
using rules::kNoExpr;
using rules::kNoRule;
using rules::RuleId;
using rules::TokenTextExpr;

using automata::AhoCorasick;
using automata::WordSymbol;
namespace {

using regex::CharClass;
using regex::HirKind;

const CharClass& scalar_values() {
  static const CharClass set({{0, 0xD7FF}, {0xE000, regex::kMaxCodePoint}});
  return set;
}

}  // namespace

struct TransitionNetwork::Build {
  TransitionNetwork& net;
  const rules::Rules& from;
  const rules::Marks* marks;
  const CommonParts common_parts;
  // The rules of common parts, by their numbers and temperatures.
  std::map<std::pair<std::uint32_t, std::uint32_t>, RuleId> rule_of_part = {};

  // An expression, or a node of a regular expression, to be built between two
  // states.
  struct Work {
    bool in_regex = false;
    std::uint32_t regex = 0;
    std::uint32_t id = 0;  // an ExprId, or a HirId of the regex
    StateId begin = {};
    StateId end = {};
    // Whether a call of a terminal rule, here or as the first of a sequence, is
    // replaced by its body.
    bool expand = false;
  };
  std::vector<Work> left = {};

  // Where there are as many alternatives, or parts of a sequence, they begin
  // with bytes or classes rather than with calls, so that share_prefixes() sees
  // their texts.
  static constexpr std::size_t kManyAlternatives = 64;
  // By rule: the nodes of its body, from 1, if the body has no calls and is
  // small; 0: it is not such a rule.
  std::vector<std::optional<std::uint32_t>> terminal_sizes = {};
  std::size_t expandable = 50'000;  // nodes that may still be copied

  // The automata of free texts without triggers: equal ones are one.  Many
  // arguments have the same excludes.
  struct TextKey {
    std::vector<std::string> excludes;
    const automata::PatternDfa* patterns = nullptr;
    bool markers = false;
    auto operator<=>(const TextKey&) const = default;
  };
  std::map<TextKey, std::uint32_t> plain_texts = {};
  // The pieces of a marker from a byte on.
  std::map<std::pair<std::string_view, std::size_t>,
           std::vector<rules::MarkedPiece>>
      marker_pieces = {};

  RuleId owner = kNoRule;  // the rule that is being built
  StateId state() {
    net.states.emplace_back();
    net.states.back().rule = owner;
    return static_cast<StateId>(net.states.size() - 1);
  }
  void epsilon(StateId a, StateId b) { net.states[a].epsilon.push_back(b); }
  // Adds a state with `action` between `begin` and `end`.
  StateId act(Action action, std::size_t index, StateId begin, StateId end) {
    StateId id = state();
    net.states[id].action = action;
    net.states[id].index = static_cast<std::uint32_t>(index);
    net.states[id].next = end;
    epsilon(begin, id);
    return id;
  }
  StateId call(RuleId rule, StateId next) {
    StateId id = state();
    net.states[id].action = Action::kCall;
    net.states[id].index = rule;
    net.states[id].next = next;
    return id;
  }
  void char_class(const CharClass& set, StateId begin, StateId end) {
    net.classes.push_back(set.intersect(scalar_values()));
    act(Action::kClass, net.classes.size() - 1, begin, end);
  }
  void bytes(const std::string& text, StateId begin, StateId end) {
    net.texts.push_back(text);
    act(Action::kBytes, net.texts.size() - 1, begin, end);
  }

  // A token of a mark, or with Marks::either() its spelling.
  void mark(std::uint32_t number, StateId begin, StateId end) {
    const rules::Mark& one = marks->marks()[number];
    rules::TokenSetExpr set;
    for (const rules::Token id : one.ids) set.ranges.push_back({id, id});
    net.token_sets.push_back(std::move(set));
    act(Action::kTokens, net.token_sets.size() - 1, begin, end);
    if (marks->either()) bytes(one.spelling, begin, end);
  }
  void marker(const rules::MarkerText& marker, StateId begin, StateId end);
  void symbols(std::span<const WordSymbol> word, StateId begin, StateId end);
  void run();
  void expression(const Work& work);
  void hir_node(const Work& work);
  bool expands(RuleId rule);
  std::uint32_t terminal_size(rules::ExprId body) const;
  // `Id`: ExprId or HirId, as Work::id.
  template <class Id>
  void sequence(const Work& work, const std::vector<Id>& children);
  RuleId add_body();
  RuleId common_part(const CommonParts::Part& part, std::uint32_t value,
                     std::uint32_t literal);
  void repeat(const Work& work, std::uint32_t child, std::uint32_t min,
              std::uint32_t max, const CharClass* single);
  void free_text(const FreeTextExpr& text, const Work& work);
  struct Spelling;
  std::vector<Spelling> trigger_spellings(const FreeTextExpr& text,
                                          StateId after_rule, bool marked,
                                          std::vector<std::string>& triggers);
  AhoCorasick trigger_automaton(std::vector<Spelling> spellings);
  void token_text(const TokenTextExpr& text, const Work& work);
  void finish() {
    while (!left.empty()) {
      Work work = left.back();
      left.pop_back();
      owner = net.states[work.begin].rule;
      work.in_regex ? hir_node(work) : expression(work);
    }
  }
};

// Every rule gets its two ends before any body is built, so that a call can
// refer to a rule that comes later.
void TransitionNetwork::Build::run() {
  for (const rules::Rule& one : from.rules) {
    if (one.options.temperature) {
      net.temperatures.push_back(*one.options.temperature);
    }
  }
  std::ranges::sort(net.temperatures);
  net.temperatures.erase(
      std::unique(net.temperatures.begin(), net.temperatures.end()),
      net.temperatures.end());
  net.rules.resize(from.rules.size());
  for (RuleId id; id < from.rules.size(); ++id) {
    const rules::Rule& written = from.rules[id];
    owner = id;
    NetworkRule& made = net.rules[id];
    made.options = written.options;
    made.name = written.name;
    made.lazy = written.options.lazy || written.options.marker != kNoExpr;
    made.scoped = made.lazy || written.options.limited();
    if (written.options.temperature) {
      made.temperature = static_cast<std::uint32_t>(
          std::ranges::upper_bound(net.temperatures,
                                   *written.options.temperature) -
          net.temperatures.begin());
    }
    made.start = state();
    made.end = state();
    net.states[made.end].action = Action::kEnd;
    net.states[made.end].index = id;
  }
  for (RuleId id; id < from.rules.size(); ++id) {
    const rules::Rule& written = from.rules[id];
    owner = id;
    if (written.body == kNoExpr) continue;  // matches nothing
    StateId begin = net.rules[id].start;
    StateId end = net.rules[id].end;
    if (written.options.marker != kNoExpr) {
      StateId middle = state();
      net.states[middle].action = Action::kBodyEnd;
      net.states[middle].index = id;
      StateId marker = state();
      epsilon(middle, marker);
      left.push_back({false, 0, written.options.marker, marker, end});
      end = middle;
    }
    left.push_back({false, 0, written.body, begin, end});
    finish();
  }
  owner = kNoRule;
  net.accept = state();
  net.start = call(from.root, net.accept);
}

template <class Id>
void TransitionNetwork::Build::sequence(const Work& work,
                                        const std::vector<Id>& children) {
  // Each of many optional pieces is a call that may come next.
  const bool many = children.size() >= kManyAlternatives;
  const CommonParts::Part* part =
      work.in_regex || many ? nullptr : common_parts.of(rules::ExprId(work.id));
  StateId at = work.begin;
  for (std::size_t i = 0; i < children.size(); ++i) {
    const bool common = part != nullptr && part->first == i;
    if (common) ++i;  // the literal is a part of it
    StateId next = i + 1 == children.size() ? work.end : state();
    if (common) {
      epsilon(at, call(common_part(*part, children[i - 1], children[i]), next));
      at = next;
      continue;
    }
    left.push_back({work.in_regex, work.regex, children[i], at, next,
                    many || (work.expand && i == 0)});
    at = next;
  }
  if (children.empty()) epsilon(work.begin, work.end);
}

// An unnamed rule without a body, of the temperature of the rule that is being
// built.
RuleId TransitionNetwork::Build::add_body() {
  const auto body = static_cast<RuleId>(net.rules.size());
  const RuleId outer = std::exchange(owner, body);
  NetworkRule& made = net.rules.emplace_back();
  if (outer != kNoRule) made.temperature = net.rules[outer].temperature;
  made.start = state();
  made.end = state();
  net.states[made.end].action = Action::kEnd;
  net.states[made.end].index = body;
  owner = outer;
  return body;
}

// The rule of a part that several sequences have, built when the first of them
// is.
RuleId TransitionNetwork::Build::common_part(const CommonParts::Part& part,
                                             std::uint32_t value,
                                             std::uint32_t literal) {
  const std::uint32_t temperature =
      owner == kNoRule ? 0 : net.rules[owner].temperature;
  const auto [known, is_new] =
      rule_of_part.try_emplace({part.number, temperature}, kNoRule);
  if (!is_new) return known->second;
  known->second = add_body();
  const NetworkRule& body = net.rules[known->second];
  const RuleId outer = std::exchange(owner, known->second);
  const StateId middle = state();
  owner = outer;
  left.push_back({false, 0, value, body.start, middle});
  left.push_back({false, 0, literal, middle, body.end});
  return known->second;
}

// Builds a repeat in the cheapest form: a class is counted in its own state,
// {0,1}, * and + become epsilon transitions, and any other repeat counts calls
// of its body.  `single`: the class, if the child is one.
void TransitionNetwork::Build::repeat(const Work& work, std::uint32_t child,
                                      std::uint32_t min, std::uint32_t max,
                                      const CharClass* single) {
  if (max == 0) return epsilon(work.begin, work.end);
  if (single != nullptr) {
    net.classes.push_back(single->intersect(scalar_values()));
    StateId id =
        act(Action::kCountClass, net.classes.size() - 1, work.begin, work.end);
    net.states[id].min = min;
    net.states[id].max = max;
    return;
  }
  if (max == rules::kUnbounded && min <= 1) {
    StateId loop = state();
    StateId back = min == 0 ? loop : state();
    epsilon(work.begin, loop);
    left.push_back({work.in_regex, work.regex, child, loop, back});
    if (back != loop) epsilon(back, loop);
    return epsilon(back, work.end);
  }
  if (min <= 1 && max == 1) {
    if (min == 0) epsilon(work.begin, work.end);
    left.push_back({work.in_regex, work.regex, child, work.begin, work.end});
    return;
  }
  const RuleId body = add_body();
  left.push_back({work.in_regex, work.regex, child, net.rules[body].start,
                  net.rules[body].end});
  StateId id = act(Action::kCount, body, work.begin, work.end);
  net.states[id].min = min;
  net.states[id].max = max;
}

// The nodes of an expression that only reads bytes and classes; 0 if it has
// others, or more than kMost.
std::uint32_t TransitionNetwork::Build::terminal_size(
    rules::ExprId body) const {
  constexpr std::size_t kMost = 100;
  std::vector<rules::ExprId> pending = {body};
  std::size_t size = 0;
  while (!pending.empty()) {
    const rules::Expr& expr = from.exprs[pending.back()];
    pending.pop_back();
    switch (expr.kind) {
      case ExprKind::kEmpty:
      case ExprKind::kBytes:
      case ExprKind::kClass:
      case ExprKind::kSequence:
      case ExprKind::kChoice:
      case ExprKind::kRepeat:
        break;
      case ExprKind::kRegex:
        size += from.regexes[expr.index].hir.nodes.size();
        break;
      default:
        return 0;
    }
    pending.insert(pending.end(), expr.children.begin(), expr.children.end());
    if (++size + pending.size() > kMost) return 0;
  }
  return static_cast<std::uint32_t>(size);
}

// Whether a call of the rule, from the rule that is being built, may be
// replaced by its body.
bool TransitionNetwork::Build::expands(RuleId id) {
  const rules::Rule& rule = from.rules[id];
  if (rule.body == kNoExpr || !rule.options.plain() || owner == kNoRule ||
      net.rules[id].temperature != net.rules[owner].temperature) {
    return false;
  }
  terminal_sizes.resize(from.rules.size());
  std::optional<std::uint32_t>& size = terminal_sizes[id];
  if (!size) size = terminal_size(rule.body);
  if (*size == 0 || *size > expandable) return false;
  expandable -= *size;
  return true;
}

// Connects work.begin with work.end by states that read the expression.  What
// is inside it is left to do.
void TransitionNetwork::Build::expression(const Work& work) {
  const rules::Expr& expr = from.exprs[work.id];
  switch (expr.kind) {
    case ExprKind::kEmpty:
      epsilon(work.begin, work.end);
      break;
    case ExprKind::kBytes:
      if (marks != nullptr && expr.marker != rules::Expr::kNoMarker) {
        marker(from.markers[expr.marker], work.begin, work.end);
      } else {
        bytes(from.texts[expr.index], work.begin, work.end);
      }
      break;
    case ExprKind::kClass:
      char_class(from.classes[expr.index], work.begin, work.end);
      break;
    case ExprKind::kSequence:
      sequence(work, expr.children);
      break;
    case ExprKind::kChoice:
      for (rules::ExprId child : expr.children) {
        left.push_back(
            {false, 0, child, work.begin, work.end,
             work.expand || expr.children.size() >= kManyAlternatives});
      }
      break;
    case ExprKind::kRepeat: {
      const rules::Expr& body = from.exprs[expr.children[0]];
      repeat(
          work, expr.children[0], expr.min, expr.max,
          body.kind == ExprKind::kClass ? &from.classes[body.index] : nullptr);
      break;
    }
    case ExprKind::kRule:
      if (work.expand && expands(expr.rule())) {
        left.push_back(
            {false, 0, from.rules[expr.index].body, work.begin, work.end});
      } else {
        epsilon(work.begin, call(expr.rule(), work.end));
      }
      break;
    case ExprKind::kRegex: {
      const regex::Hir& hir = from.regexes[expr.index].hir;
      left.push_back({true, expr.index,
                      static_cast<std::uint32_t>(hir.nodes.size() - 1),
                      work.begin, work.end});
      break;
    }
    case ExprKind::kSubstring:
      net.substrings.push_back(from.substrings[expr.index]);
      act(Action::kSubstring, net.substrings.size() - 1, work.begin, work.end);
      break;
    case ExprKind::kFreeText:
      free_text(from.free_texts[expr.index], work);
      break;
    case ExprKind::kTokens:
      net.token_sets.push_back(from.token_sets[expr.index]);
      act(Action::kTokens, net.token_sets.size() - 1, work.begin, work.end);
      break;
    case ExprKind::kTokenText:
      token_text(from.token_texts[expr.index], work);
      break;
    case ExprKind::kSchema:
      act(Action::kSchema, expr.index, work.begin, work.end);
      break;
  }
}

void TransitionNetwork::Build::hir_node(const Work& work) {
  const regex::Hir& hir = from.regexes[work.regex].hir;
  const regex::HirNode& node = hir.nodes[work.id];
  switch (node.kind) {
    case HirKind::kEmpty:
      epsilon(work.begin, work.end);
      break;
    case HirKind::kLiteral:
      bytes(node.text, work.begin, work.end);
      break;
    case HirKind::kClass:
      char_class(node.char_class, work.begin, work.end);
      break;
    case HirKind::kConcat:
      sequence(work, node.children);
      break;
    case HirKind::kAlternation:
      for (regex::HirId child : node.children) {
        left.push_back({true, work.regex, child, work.begin, work.end});
      }
      break;
    case HirKind::kRepeat: {
      const regex::HirNode& body = hir.nodes[node.children[0]];
      repeat(work, node.children[0], node.min, node.max,
             body.kind == HirKind::kClass ? &body.char_class : nullptr);
      break;
    }
    case HirKind::kCapture:
      left.push_back(
          {true, work.regex, node.children[0], work.begin, work.end});
      break;
    default:
      break;  // kNothing; read_regex() leaves nothing else
  }
}

// Builds a marker as a chain of marks and bytes.
void TransitionNetwork::Build::marker(const rules::MarkerText& marker,
                                      StateId begin, StateId end) {
  const auto [known, is_new] =
      marker_pieces.try_emplace({marker.text, marker.from});
  if (is_new) known->second = marks->pieces(marker.text, marker.from);
  const std::vector<rules::MarkedPiece>& pieces = known->second;
  StateId at = begin;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const rules::MarkedPiece& piece = pieces[i];
    const StateId next = i + 1 == pieces.size() ? end : state();
    if (piece.mark) {
      mark(*piece.mark, at, next);
    } else {
      const bool written = !(marker.exact && piece.added);
      if (written) bytes(piece.text, at, next);
      if (!written || (piece.optional && !marker.exact)) epsilon(at, next);
    }
    at = next;
  }
}

// Builds a string of marks and bytes.
void TransitionNetwork::Build::symbols(std::span<const WordSymbol> word,
                                       StateId begin, StateId end) {
  StateId at = begin;
  for (std::size_t i = 0; i < word.size();) {
    std::string text;
    const std::size_t first = i;
    while (i < word.size() && !automata::is_mark(word[i])) {
      text += static_cast<char>(word[i++]);
    }
    if (text.empty()) ++i;
    const StateId next = i == word.size() ? end : state();
    if (text.empty()) {
      mark(word[first] - automata::kFirstMarkSymbol, at, next);
    } else {
      bytes(text, at, next);
    }
    at = next;
  }
  if (word.empty()) epsilon(begin, end);
}

// A trigger as bytes and marks, and the state after it.
struct TransitionNetwork::Build::Spelling {
  std::vector<WordSymbol> word;
  StateId next = {};
};

// Builds free text: one Aho-Corasick automaton (1975) for the triggers and the
// excluded strings.
//
// With marks, a trigger is a string of bytes and marks; what is excluded then:
// rules/excluded_words.h.
void TransitionNetwork::Build::free_text(const FreeTextExpr& text,
                                         const Work& work) {
  if (text.triggers.empty()) {
    const auto [known, is_new] = plain_texts.try_emplace(
        TextKey{text.excludes, text.exclude_dfa.get(), text.markers},
        static_cast<std::uint32_t>(net.free_texts.size()));
    if (!is_new) {
      act(Action::kFreeText, known->second, work.begin, work.end);
      return;
    }
  }
  StateId id =
      act(Action::kFreeText, net.free_texts.size(), work.begin, work.end);
  const bool marked = marks != nullptr && text.markers;
  std::vector<std::string> triggers;
  AhoCorasick automaton = trigger_automaton(
      trigger_spellings(text, text.loop ? id : work.end, marked, triggers));
  rules::insert_excluded(automaton, text.excludes, triggers,
                         marked ? marks : nullptr);
  automaton.link();
  automaton.marks_are_bytes = !text.markers;
  automaton.patterns = text.exclude_dfa;
  if (automaton.patterns != nullptr && marked) {
    automaton.mark_spellings = marks->spellings();
  }
  net.free_texts.push_back(std::move(automaton));
}

// The spellings of the triggers of a text, each with the call of its rule,
// which continues at `after_rule`.  `triggers`: gets the triggers.
std::vector<TransitionNetwork::Build::Spelling>
TransitionNetwork::Build::trigger_spellings(
    const FreeTextExpr& text, StateId after_rule, bool marked,
    std::vector<std::string>& triggers) {
  AhoCorasick excluded;
  if (!text.triggers.empty()) {
    excluded = automata::word_automaton(text.excludes);
  }
  std::vector<Spelling> out;
  for (const FreeTextExpr::Trigger& trigger : text.triggers) {
    // A trigger is free text until its last byte, so one that contains an
    // excluded string or a match of a pattern cannot match.
    if (excluded.first_in(trigger.text)) continue;
    if (text.exclude_dfa != nullptr &&
        text.exclude_dfa->always_finds(trigger.text)) {
      continue;
    }
    triggers.push_back(trigger.text);
    StateId next = call(trigger.rule, after_rule);
    if (trigger.hide || !trigger.capture.empty()) {
      net.trigger_texts[next] = {
          trigger.capture, trigger.hide,
          static_cast<std::uint32_t>(trigger.text.size())};
    }
    if (!marked) {
      out.push_back({rules::byte_symbols(trigger.text), next});
      continue;
    }
    for (std::vector<WordSymbol>& word : marks->spellings(trigger.text)) {
      StateId after = next;
      if (marks->vocabulary().space_after_marks() &&
          automata::is_mark(word.back())) {
        after = state();
        epsilon(after, next);
        bytes(" ", after, next);
      }
      out.push_back({std::move(word), after});
    }
  }
  return out;
}

// The automaton, not yet linked, of the triggers that have no other trigger as
// a prefix.  After "<f" there are two alternatives: the rule of "<f", and ">"
// followed by the rule of "<f>".
AhoCorasick TransitionNetwork::Build::trigger_automaton(
    std::vector<Spelling> spellings) {
  // Sorting puts a trigger before the triggers of which it is a prefix.
  std::stable_sort(
      spellings.begin(), spellings.end(),
      [](const Spelling& a, const Spelling& b) { return a.word < b.word; });
  AhoCorasick automaton;
  std::span<const WordSymbol> first;
  std::uint32_t node = 0;
  for (const Spelling& spelling : spellings) {
    const std::span<const WordSymbol> word = spelling.word;
    if (node == 0 || word.size() < first.size() ||
        !std::ranges::equal(first, word.first(first.size()))) {
      first = word;
      node = automaton.insert(first);
    }
    StateId next = spelling.next;
    if (word.size() > first.size()) {
      const StateId more = state();
      symbols(word.subspan(first.size()), more, next);
      next = more;
    }
    automaton.nodes[node].calls.push_back(next);
  }
  return automaton;
}

void TransitionNetwork::Build::token_text(const TokenTextExpr& text,
                                          const Work& work) {
  StateId id =
      act(Action::kTokenText, net.token_texts.size(), work.begin, work.end);
  TokenTriggers triggers;
  triggers.excludes = text.excludes;
  std::sort(triggers.excludes.begin(), triggers.excludes.end());
  for (const TokenTextExpr::Trigger& trigger : text.triggers) {
    triggers.calls.emplace(trigger.token,
                           call(trigger.rule, text.loop ? id : work.end));
  }
  net.token_texts.push_back(std::move(triggers));
}

// Finds the rules that match the empty text: the end of the rule can be reached
// from its start without reading.
void TransitionNetwork::find_nullable() {
  std::vector<bool> reached(states.size(), false);
  std::vector<std::vector<StateId>> waiting(rules.size());
  std::vector<StateId> left;
  auto reach = [&](StateId id) {
    if (reached[id]) return;
    reached[id] = true;
    left.push_back(id);
  };
  for (const NetworkRule& rule : rules) reach(rule.start);
  while (!left.empty()) {
    const StateId id = left.back();
    left.pop_back();
    const NetworkState& state = states[id];
    for (StateId target : state.epsilon) reach(target);
    switch (state.action) {
      case Action::kCountClass:
        if (state.min == 0) reach(state.next);
        break;
      case Action::kSubstring:
      case Action::kFreeText:
      case Action::kTokenText:
        reach(state.next);
        break;
      case Action::kCall:
      case Action::kCount:
        if (rules[state.index].nullable ||
            (state.action == Action::kCount && state.min == 0)) {
          reach(state.next);
        } else {
          waiting[state.index].push_back(state.next);
        }
        break;
      case Action::kBodyEnd:
        if (!rules[state.index].options.marker_optional) break;
        [[fallthrough]];
      case Action::kEnd:
        if (!rules[state.index].nullable) {
          rules[state.index].nullable = true;
          for (StateId next : waiting[state.index]) reach(next);
        }
        break;
      default:
        break;
    }
  }
  // A nullable body may be empty as often as the minimum requires.
  for (NetworkState& state : states) {
    if (state.action == Action::kCount && rules[state.index].nullable) {
      state.min = 0;
    }
  }
}

// Whether a state is live as far as is known of the states that it needs.
bool TransitionNetwork::live_now(const NetworkState& state) const {
  for (StateId target : state.epsilon) {
    if (states[target].live) return true;
  }
  if (state.action == Action::kEnd) return true;
  if (state.action == Action::kBodyEnd &&
      rules[state.index].options.marker_optional) {
    return true;
  }
  if (state.action == Action::kPass || state.action == Action::kBodyEnd) {
    return false;
  }
  if (!states[state.next].live) return false;
  switch (state.action) {
    case Action::kClass:
      return !classes[state.index].empty();
    case Action::kCountClass:
      return state.min == 0 || !classes[state.index].empty();
    case Action::kCall:
      return states[rules[state.index].start].live;
    case Action::kCount:
      return state.min == 0 || states[rules[state.index].start].live;
    case Action::kSchema:
      return state.index < schemas.size() && schemas[state.index] != nullptr &&
             !schemas[state.index]->start().dead();
    default:
      return true;
  }
}

// Marks the states from which the end of their rule can be reached: a least
// fixpoint, from the ends backwards.  A state is looked at again each time that
// a state which it needs becomes live, so the work is linear in the network.
void TransitionNetwork::find_live() {
  // The states that depend on a state, one after the other: those of state i
  // are dependents[first[i]] up to dependents[first[i + 1]].
  const auto each_need = [&](StateId id, const auto& needs) {
    const NetworkState& state = states[id];
    for (StateId target : state.epsilon) needs(target);
    if (state.action != Action::kPass && state.action != Action::kEnd &&
        state.action != Action::kBodyEnd) {
      needs(state.next);
    }
    if (state.action == Action::kCall || state.action == Action::kCount) {
      needs(rules[state.index].start);
    }
  };
  std::vector<std::uint32_t> first(states.size() + 1, 0);
  for (StateId id{0}; id < states.size(); ++id) {
    each_need(id, [&](StateId target) { ++first[target]; });
  }
  std::uint32_t count = 0;
  for (std::uint32_t& here : first) here = count += here;
  std::vector<StateId> dependents(count);
  for (StateId id{0}; id < states.size(); ++id) {
    each_need(id, [&](StateId target) { dependents[--first[target]] = id; });
  }
  std::vector<StateId> left;
  auto check = [&](StateId id) {
    if (!states[id].live && live_now(states[id])) {
      states[id].live = true;
      left.push_back(id);
    }
  };
  states[accept].live = true;
  left.push_back(accept);
  for (StateId id{0}; id < states.size(); ++id) {
    const Action action = states[id].action;
    if (action == Action::kEnd || action == Action::kBodyEnd) check(id);
  }
  while (!left.empty()) {
    StateId id = left.back();
    left.pop_back();
    for (std::uint32_t i = first[id]; i < first[id + 1]; ++i) {
      check(dependents[i]);
    }
  }
}

// After a mark, free text is committed to a trigger and has to complete it, so
// it must not lead to triggers only whose rules match nothing.
void TransitionNetwork::cut_dead_words() {
  for (AhoCorasick& text : free_texts) {
    text.find_dead_ends([&](std::uint32_t call) { return states[call].live; });
  }
}

TransitionNetwork::TransitionNetwork(
    const rules::Rules& from,
    std::span<recogniser::Recogniser* const> recognisers,
    const rules::Marks* marks)
    : schemas(recognisers.begin(), recognisers.end()) {
  Build{*this, from, marks, CommonParts(from, recognisers)}.run();
  find_nullable();
  find_live();
  cut_dead_words();
}

}  // namespace parlance::cfg_recogniser
