// Reads arguments.  A list of elements is matched with each alternative of its
// object in turn, by depth-first search with an explicit stack:
//
//   position    element        candidates        which end at
//   0           a              {"x": "</..."}    the end of the JSON
//                              "{\"x\": \""      the first closing marker
//   after a     b              ...
//
// Nearly always there is one candidate.  The search memoizes the states that do
// not lead to the end, so it expands no state twice.
//
// In cohere_xml and minimax_m3_xml elements are nested.  They are scanned into
// a tree first (elements.h), and two passes over the tree replace a recursion:
// request_all() finds, from outer to inner elements, the rules that may apply
// to each element; evaluate_all() reads, from inner to outer elements, each
// element under each of these rules.

#include "arguments/reader.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arguments/call_reader.h"
#include "arguments/element_parts.h"
#include "arguments/elements.h"
#include "arguments/literals.h"
#include "arguments/reader_rules.h"
#include "base/argument_names.h"
#include "base/mutex.h"
#include "base/unwinding.h"
#include "call_stream/json_calls.h"
#include "call_stream/nested_calls.h"
#include "call_stream/python_calls.h"
#include "parlance/tools.h"
#include "schema/cast_calls.h"

namespace parlance::arguments {

using structural_tag::ArgumentStyle;

struct ArgumentReader::State {
  Limits limits;
  ArgumentStyle style = ArgumentStyle::kJson;
  structural_tag::DelimitedLayout delimited;
  json::Value schema = {};  // of the style minimax_m3_xml
  // Null for the styles that are read without the schema: json, python and
  // delimited.
  std::shared_ptr<ArgumentRules> rules;
  base::Mutex mutex;  // guards `rules`, unless null, and its tables
  // Makes the rules again.
  std::function<Result<std::unique_ptr<ArgumentRules>>()> make = {};

  // Rules whose tables can be used.  REQUIRES: the caller holds the mutex.
  const std::shared_ptr<ArgumentRules>& usable() {
    if (rules->broken()) {
      if (auto made = make()) rules = *std::move(made);
    }
    return rules;
  }
};

namespace {

// The limit of the number of memoized states; beyond it the search gives up.
constexpr std::size_t kMaxFailedStates = std::size_t{1} << 20;

// One way to read the element at a position.
struct Candidate {
  std::uint32_t member = kNone;  // kNone: an undeclared member
  std::string name;
  json::Value value;
  std::size_t end = 0;
};

// A state of the search.
struct SearchState {
  std::size_t pos = 0;
  // Without any_order: the first declared member that may come next; the number
  // of members if only undeclared members may come.
  std::uint32_t next = 0;
  std::uint64_t taken = 0;  // members read so far
  // With any_order: the declared members that have been read, sorted.
  std::vector<std::uint32_t> came = {};
  auto operator<=>(const SearchState&) const = default;
};

// A state on the path of the search.  Its first `tried` candidates have been
// tried; the last one of them leads to the next state on the path, if any.
struct Step {
  SearchState state;
  std::vector<Candidate> candidates;
  std::size_t tried = 0;
};

// The elements before the farthest position that the search has reached.
struct Partial {
  std::size_t read = 0;
  json::Object members;
};

// The members that the steps before the first untried one have read.
json::Object members_of(const std::vector<Step>& steps) {
  json::Object out;
  for (const Step& step : steps) {
    if (step.tried == 0) break;
    const Candidate& candidate = step.candidates[step.tried - 1];
    out.set(candidate.name, candidate.value);
  }
  return out;
}

class Reading {
 public:
  Reading(ArgumentRules& rules, const Limits& limits, std::string_view text)
      : rules_(rules), layout_(rules.layout()), limits_(limits), text_(text) {}

  Arguments read();

 private:
  using Kind = ArgumentElement::Kind;

  Arguments read_value();
  std::optional<json::Object> fit(const ObjectRule& rule, std::size_t begin,
                                  std::size_t end, Partial& partial);
  bool finished(const ObjectRule& rule, const SearchState& state) const;
  std::optional<SearchState> after(const ObjectRule& rule,
                                   const SearchState& state,
                                   const Candidate& candidate) const;
  std::vector<Candidate> candidates(const ObjectRule& rule,
                                    const SearchState& state);
  static void add_candidate(std::vector<Candidate>& out,
                            const MemberName& member, ElementValue value);
  std::optional<json::Value> json_at(ValueId value, std::size_t pos,
                                     std::size_t& end);
  // After optional white space, if the layout has it.
  std::size_t skip_layout(std::size_t pos) const {
    return arguments::skip_layout(layout_, text_, pos);
  }

  // cohere_xml, minimax_m3_xml
  void request(std::uint32_t element, ValueId value);
  void request_all();
  void evaluate_all();
  std::optional<json::Value> evaluate(std::uint32_t element, ListId list);
  std::optional<json::Value> fit_items(const ArrayRule& rule,
                                       std::uint32_t element);
  const ArgumentElement* element_at(std::size_t pos) const;
  std::shared_ptr<const schema::Parameter> parameter_at(
      const ArgumentElement& element) const;
  std::optional<json::Value> element_value(const ArgumentElement& element,
                                           ValueId value);

  ArgumentRules& rules_;
  const ElementLayout& layout_;
  const Limits& limits_;
  const std::string_view text_;
  // A value is a string if and only if the text of its type says so.
  bool by_attribute_ = false;

  std::vector<ArgumentElement> elements_;
  std::vector<std::vector<std::uint32_t>> children_;
  // The value of each element under each list rule that may apply to it.
  std::vector<std::map<ListId, std::optional<json::Value>>> results_;
};

// The JSON value after the white space at `pos`.
std::optional<json::Value> Reading::json_at(ValueId value, std::size_t pos,
                                            std::size_t& end) {
  const std::size_t begin = skip_layout(pos);
  end = rules_.json_end(value, text_, begin, {});
  if (end == std::string_view::npos) return std::nullopt;
  return parse_json(text_.substr(begin, end - begin), limits_);
}

void Reading::add_candidate(std::vector<Candidate>& out,
                            const MemberName& member, ElementValue value) {
  // Two candidates for the same member with the same end lead to the same
  // state, and the first one is preferred.
  for (const Candidate& other : out) {
    if (other.end == value.end && other.member == member.index) return;
  }
  out.push_back({member.index, member.name, std::move(value.value), value.end});
}

// The candidates for the element at `pos`, in the order of preference.
//
// A nested element has been evaluated, so it has at most one candidate.  The
// name of any other element ends at the first `middle`, or is a declared name
// that contains `middle`.
std::vector<Candidate> Reading::candidates(const ObjectRule& rule,
                                           const SearchState& state) {
  std::vector<Candidate> out;
  if (rules_.nests()) {
    const ArgumentElement* element = element_at(state.pos);
    if (element == nullptr || element->end == 0 || !element->named) return out;
    const auto member = rules_.member_of(rule, element->name);
    if (!member) return out;
    if (auto read = element_value(*element, member->value)) {
      add_candidate(out, *member, {std::move(*read), element->end});
    }
    return out;
  }
  const auto add = [&](ElementHead head) {
    if (head.read(text_) != ElementHead::Found::kYes) return;
    const auto take = [&](std::optional<ElementValue> value) {
      if (value) add_candidate(out, head.member(), *std::move(value));
    };
    const bool string = head.says_string();
    if (!string) take(json_value(rules_, head, text_, limits_));
    if (string || !by_attribute_) take(string_value(rules_, head, text_));
    if (string && !by_attribute_) {
      take(json_value(rules_, head, text_, limits_));
    }
  };
  const bool first = state.taken == 0;
  add({rules_, rule, state.pos, first});
  for (const std::uint32_t index : rule.names_with_middle) {
    add({rules_, rule, state.pos, first, index});
  }
  return out;
}

// Whether the object may end in `state`: it has enough members, and all
// required ones.
bool Reading::finished(const ObjectRule& rule, const SearchState& state) const {
  if (state.taken < rule.min || state.taken > rule.max) return false;
  if (rules_.any_order()) {
    return std::includes(state.came.begin(), state.came.end(),
                         rule.required.begin(), rule.required.end());
  }
  return rule.next_required[state.next] == rule.members.size();
}

// The state after `candidate`, if the rule allows it in `state`.
//
// With any_order, every declared member may come once.  Otherwise declared
// members come in their order, no required member may be skipped, and
// undeclared members come after all declared ones.
std::optional<SearchState> Reading::after(const ObjectRule& rule,
                                          const SearchState& state,
                                          const Candidate& candidate) const {
  SearchState out{skip_layout(candidate.end), state.next, state.taken + 1};
  if (out.taken > rule.max) return std::nullopt;
  if (rules_.any_order()) {
    out.came = state.came;
    if (candidate.member == kNone) return out;
    const auto at =
        std::lower_bound(out.came.begin(), out.came.end(), candidate.member);
    if (at != out.came.end() && *at == candidate.member) return std::nullopt;
    out.came.insert(at, candidate.member);
    return out;
  }
  const auto size = static_cast<std::uint32_t>(rule.members.size());
  const std::uint32_t member =
      candidate.member == kNone ? size : candidate.member;
  if (member < state.next || rule.next_required[state.next] < member) {
    return std::nullopt;
  }
  out.next = candidate.member == kNone ? size : member + 1;
  return out;
}

std::optional<json::Object> Reading::fit(const ObjectRule& rule,
                                         std::size_t begin, std::size_t end,
                                         Partial& partial) {
  // Invariant: the stack is a path of states from `begin`.  No path from a
  // state in `failed` leads to a finished object at `end`.
  std::set<SearchState> failed;
  std::vector<Step> steps;
  const auto enter = [&](const SearchState& state) {
    steps.push_back({state, candidates(rule, state), 0});
  };
  enter({skip_layout(begin)});
  while (!steps.empty()) {
    Step& step = steps.back();
    if (step.tried == 0 && step.state.pos == end &&
        finished(rule, step.state)) {
      return members_of(steps);
    }
    if (step.tried < step.candidates.size()) {
      const auto next = after(rule, step.state, step.candidates[step.tried++]);
      if (next && !failed.contains(*next)) enter(*next);
      continue;
    }
    // No candidate is left: the state has failed.
    if (step.state.pos > partial.read) {
      partial.read = step.state.pos;
      step.tried = 0;
      partial.members = members_of(steps);
    }
    failed.insert(step.state);
    if (failed.size() > kMaxFailedStates) return std::nullopt;
    steps.pop_back();
  }
  return std::nullopt;
}

// --- cohere_xml, minimax_m3_xml --------------------------------------------

// The element that begins at `pos`, or null.
const ArgumentElement* Reading::element_at(std::size_t pos) const {
  const auto found =
      std::lower_bound(elements_.begin(), elements_.end(), pos,
                       [](const ArgumentElement& element, std::size_t at) {
                         return element.begin < at;
                       });
  return found == elements_.end() || found->begin != pos ? nullptr : &*found;
}

// What is known of a nested element, from the outermost one that holds it.
std::shared_ptr<const schema::Parameter> Reading::parameter_at(
    const ArgumentElement& element) const {
  std::vector<const ArgumentElement*> path = {&element};
  while (path.back()->parent != kNone) {
    path.push_back(&elements_[path.back()->parent]);
  }
  auto out = rules_.parameter_of(path.back()->name);
  for (std::size_t i = path.size() - 1; i-- > 0 && out != nullptr;) {
    out = std::make_shared<const schema::Parameter>(
        schema::inner_parameter(*out, path[i]->name, path[i]->index));
  }
  return out;
}

// The value of a nested element under a rule, or nullopt if it does not fit.
// The kind of the element decides between a string, JSON, and a list of inner
// elements, whose value is looked up in results_.  A kLeaf can be any of them.
//
// REQUIRES: for lists, the element was requested and evaluated.
std::optional<json::Value> Reading::element_value(
    const ArgumentElement& element, ValueId value) {
  const ValueRule& rule = rules_.value(value);
  const std::string_view content = text_.substr(
      element.content_begin, element.content_end - element.content_begin);
  const auto as_string = [&]() -> std::optional<json::Value> {
    if (!rules_.string_fits(value, content)) return std::nullopt;
    const auto parameter = parameter_at(element);
    if (parameter == nullptr) return json::Value(content);
    return rules_.cast_string(*parameter, value, content);
  };
  const auto as_json = [&]() -> std::optional<json::Value> {
    std::size_t end = 0;
    std::optional<json::Value> out = json_at(value, element.content_begin, end);
    if (!out || skip_space(text_, end) != element.content_end) {
      return std::nullopt;
    }
    if (out->kind() != json::Kind::kFloat) return out;
    const auto parameter = parameter_at(element);
    return rules_.number_value(parameter.get(), content, *std::move(out));
  };
  const auto as_list = [&](ListId list) -> std::optional<json::Value> {
    const auto& known =
        results_[static_cast<std::size_t>(&element - elements_.data())];
    const auto found = known.find(list);
    if (found == known.end()) return std::nullopt;
    return found->second;
  };
  switch (element.kind) {
    case Kind::kRaw:
      return as_string();
    case Kind::kJson:
      return as_json();
    case Kind::kDict:
      return as_list(rule.object);
    case Kind::kList:
      return as_list(rule.array);
    case Kind::kLeaf:
      if (auto out = as_json()) return out;
      if (auto out = as_string()) return out;
      // An empty list or object.
      if (auto out = as_list(rule.array)) return out;
      return as_list(rule.object);
    case Kind::kNest:
      if (auto out = as_list(rule.object)) return out;
      return as_list(rule.array);
  }
  return std::nullopt;
}

// Requests the value of `element` under the list rules of `value`.
void Reading::request(std::uint32_t element, ValueId value) {
  const ValueRule& rule = rules_.value(value);
  const Kind kind = elements_[element].kind;
  const bool both = kind == Kind::kLeaf || kind == Kind::kNest;
  for (const ListId list :
       {both || kind == Kind::kDict ? rule.object : kNoList,
        both || kind == Kind::kList ? rule.array : kNoList}) {
    if (list != kNoList) results_[element].try_emplace(list, std::nullopt);
  }
}

// Requests every element under the rules that may apply to it, from outer to
// inner elements.  Invariant: a parent is stored before its children, so all
// requests of the parent of element `i` have been made.
void Reading::request_all() {
  const auto ask_members = [&](const ListRule& list, std::uint32_t element) {
    for (const ObjectRule& rule : list.objects) {
      if (!elements_[element].named) break;
      if (const auto member = rules_.member_of(rule, elements_[element].name)) {
        request(element, member->value);
      }
    }
    const std::size_t index = elements_[element].index;
    for (const ArrayRule& rule : list.arrays) {
      const ValueId value =
          index < rule.prefix.size() ? rule.prefix[index] : rule.rest;
      if (value != kNoValue) request(element, value);
    }
  };
  for (std::uint32_t i = 0; i < elements_.size(); ++i) {
    const std::uint32_t parent = elements_[i].parent;
    if (parent == kNone) {
      ask_members(rules_.list(rules_.root_list()), i);
      continue;
    }
    for (const auto& [list, unknown] : results_[parent]) {
      ask_members(rules_.list(list), i);
    }
  }
}

// The elements inside `element` as an array.
std::optional<json::Value> Reading::fit_items(const ArrayRule& rule,
                                              std::uint32_t element) {
  const std::vector<std::uint32_t>& items = children_[element];
  if (items.size() < rule.min || items.size() > rule.max) return std::nullopt;
  json::Array out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const ValueId value = i < rule.prefix.size() ? rule.prefix[i] : rule.rest;
    const ArgumentElement& item = elements_[items[i]];
    // Items have no name, except in minimax_m3_xml, where all have the same.
    if (value == kNoValue ||
        (item.named && (rules_.style() != ArgumentStyle::kMinimaxM3Xml ||
                        item.name != kMinimaxM3Item))) {
      return std::nullopt;
    }
    std::optional<json::Value> read = element_value(item, value);
    if (!read) return std::nullopt;
    out.push_back(std::move(*read));
  }
  return json::Value(std::move(out));
}

// The elements inside `element` as an object or an array: the first alternative
// of the list that fits.
std::optional<json::Value> Reading::evaluate(std::uint32_t element,
                                             ListId list) {
  const ArgumentElement& outer = elements_[element];
  const ListRule& rule = rules_.list(list);
  Partial unused;
  for (const ObjectRule& object : rule.objects) {
    auto out = fit(object, outer.content_begin, outer.content_end, unused);
    if (out) return json::Value(std::move(*out));
  }
  for (const ArrayRule& array : rule.arrays) {
    if (auto out = fit_items(array, element)) return out;
  }
  return std::nullopt;
}

// Evaluates every complete element under the requested rules, from inner to
// outer elements.  Invariant: the children of element `i` are stored after it,
// so they have been evaluated.
void Reading::evaluate_all() {
  children_.resize(elements_.size());
  for (std::uint32_t i = 0; i < elements_.size(); ++i) {
    const std::uint32_t parent = elements_[i].parent;
    if (parent != kNone) children_[parent].push_back(i);
  }
  for (auto i = static_cast<std::uint32_t>(elements_.size()); i-- > 0;) {
    if (elements_[i].end == 0) continue;
    for (auto& [list, known] : results_[i]) known = evaluate(i, list);
  }
}

// --- The whole text -------------------------------------------------------

// Reads the text as one value: JSON, or else a string.
// REQUIRES: the schema does not allow objects.
Arguments Reading::read_value() {
  std::size_t end = 0;
  std::optional<json::Value> value = json_at(rules_.root_value(), 0, end);
  if (value && skip_layout(end) == text_.size()) {
    return {std::move(*value), true, text_.size()};
  }
  if (rules_.string_fits(rules_.root_value(), text_)) {
    return {text_, true, text_.size()};
  }
  return {};
}

Arguments Reading::read() {
  if (rules_.root_list() == kNoList) return read_value();
  if (rules_.nests()) {
    elements_ = scan_elements(rules_.style() == ArgumentStyle::kCohereXml
                                  ? call_syntax::NestedStyle::kCohereXml
                                  : call_syntax::NestedStyle::kMinimaxM3Xml,
                              text_);
    results_.resize(elements_.size());
    request_all();
    evaluate_all();
  }
  Partial partial;
  const std::vector<ObjectRule>& alternatives =
      rules_.list(rules_.root_list()).objects;
  // An alternative whose values have the types that are written comes before
  // one in which some value has not.
  by_attribute_ =
      layout_.loose && !layout_.types.empty() && alternatives.size() > 1;
  for (bool again = true; again; by_attribute_ = false) {
    for (const ObjectRule& rule : alternatives) {
      if (auto out = fit(rule, 0, text_.size(), partial)) {
        return {json::Value(std::move(*out)), true, text_.size()};
      }
    }
    again = by_attribute_;
  }
  return {json::Value(std::move(partial.members)), false, partial.read};
}

}  // namespace

ArgumentReader::ArgumentReader(std::shared_ptr<State> state)
    : state_(std::move(state)) {}

Result<ArgumentReader> ArgumentReader::make(
    const structural_tag::JsonSchemaBody& format, const Limits& limits,
    std::shared_ptr<const ArgumentDocument> document) {
  auto state = std::make_shared<State>();
  // The limits must not refuse a text that the grammar generates, whose depth
  // is limited by GrammarLimits and whose integers may have any length.
  state->limits = limits;
  state->limits.json_depth =
      std::max(limits.json_depth, GrammarLimits{}.depth + 1);
  state->limits.integer_digits = ~std::size_t{0};
  state->style = format.style;
  state->delimited = format.delimited;
  if (format.style == ArgumentStyle::kMinimaxM3Xml) {
    state->schema = format.schema;
  }
  if (format.style != ArgumentStyle::kJson && !writes_literals(format.style)) {
    state->make = [=] { return ArgumentRules::make(format, limits, document); };
    auto rules = state->make();
    if (!rules) return std::move(rules).error();
    state->rules = std::move(*rules);
  }
  return ArgumentReader(std::move(state));
}

Arguments ArgumentReader::read(std::string_view text) const {
  if (state_->style == ArgumentStyle::kJson) {
    std::optional<json::Value> value = parse_json(text, state_->limits);
    if (!value) return {};
    return {std::move(*value), true, text.size()};
  }
  if (state_->rules == nullptr) {
    const Literals read =
        state_->style == ArgumentStyle::kPython
            ? read_python(text, state_->limits)
            : read_delimited(text, state_->delimited, state_->limits);
    std::optional<json::Value> value = parse_json(read.json, state_->limits);
    if (!value) return {};
    return {std::move(*value), read.complete, read.read};
  }
  const std::lock_guard<base::Mutex> lock(state_->mutex);
  ArgumentRules& rules = *state_->usable();
  const base::OnUnwinding failed([&] { rules.break_off(); });
  return Reading(rules, state_->limits, text).read();
}

std::unique_ptr<call_stream::CallReader> ArgumentReader::call_reader(
    std::string_view name) const {
  const bool delimited = state_->style == ArgumentStyle::kDelimited;
  if (state_->style == ArgumentStyle::kJson || delimited) {
    call_stream::JsonCallShape shape;
    shape.name.from = call_stream::CallPart::From::kText;
    shape.name.text = name;
    if (delimited) {
      shape.dialect = delimited_dialect(state_->delimited, state_->limits);
    }
    return call_stream::JsonCallReader::make(std::move(shape), {},
                                             state_->limits);
  }
  if (state_->style == ArgumentStyle::kPython) {
    return call_stream::PythonCallReader::of_arguments(name, state_->limits);
  }
  const auto unread = [&] {
    return std::make_unique<call_stream::NamedCallReader>(name, "");
  };
  const std::lock_guard<base::Mutex> lock(state_->mutex);
  // Arguments that are no object are one value, in no style.
  if (state_->rules == nullptr || state_->usable()->root_list() == kNoList) {
    return unread();
  }
  if (state_->style == ArgumentStyle::kCohereXml) {
    return std::make_unique<call_stream::CohereCallReader>(
        name, "", call_stream::Casts(), state_->limits);
  }
  if (state_->style == ArgumentStyle::kMinimaxM3Xml) {
    ToolSet tools = ToolSet::from_value(json::Array{
        json::Object{{"name", name}, {"parameters", state_->schema}}});
    return std::make_unique<call_stream::MinimaxCallReader>(
        name, "",
        call_stream::Casts{std::move(tools), schema::Strings::kWritten}, true,
        state_->limits);
  }
  if (!ArgumentCallReader::streams(*state_->rules)) return unread();
  return std::make_unique<ArgumentCallReader>(name, state_, state_->usable(),
                                              state_->mutex, state_->limits);
}

}  // namespace parlance::arguments
