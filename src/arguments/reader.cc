// Reading arguments.  A list of elements is fitted to each alternative of its
// object in turn, by a search with a stack:
//
//   place       element        may be            and ends at
//   0           a              "{"               the first closing marker
//                              {"x": "</..."}    the end of the JSON
//   behind it   b              ...
//
// Nearly always there is one way on.  Places from which no end was reached are
// remembered, so that none is searched twice.  In cohere_xml and
// minimax_m3_xml elements stand in elements: what those inside are, under every
// rule that could be asked of them, is known before those around them are
// looked at.

#include "arguments/reader.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arguments/elements.h"
#include "arguments/reader_rules.h"

namespace parlance::arguments {

using structural_tag::ArgumentStyle;

struct ArgumentReader::State {
  Limits limits;
  std::unique_ptr<ArgumentRules> rules;  // null for the style json
  std::mutex mutex;
};

namespace {

// Places that a search remembers; beyond them it gives up.
constexpr std::size_t kMaxPlaces = std::size_t{1} << 20;

// What the element at one place may be.
struct Way {
  std::uint32_t member = kNone;  // kNone: one that is not declared
  std::string name;
  json::Value value;
  std::size_t end = 0;
};

// Where a search stands: which member may come next, how many there were.
struct Place {
  std::size_t pos = 0;
  std::uint32_t next = 0;
  std::uint64_t taken = 0;
  // With any_order: the declared members that came, sorted.
  std::vector<std::uint32_t> came = {};
  auto operator<=>(const Place&) const = default;
};

struct Step {
  Place place;
  std::vector<Way> ways;
  std::size_t tried = 0;
};

// The elements read before the place where reading stopped.
struct Partial {
  std::size_t read = 0;
  json::Object members;
};

json::Object members_of(const std::vector<Step>& steps) {
  json::Object out;
  for (const Step& step : steps) {
    if (step.tried == 0) break;
    const Way& way = step.ways[step.tried - 1];
    out.set(way.name, way.value);
  }
  return out;
}

std::optional<json::Value> parse(std::string_view text, const Limits& limits) {
  json::ParseOptions options;
  options.allow_nonfinite = false;
  options.limits = limits;
  Result<json::Value> value = json::parse(text, options);
  if (!value) return std::nullopt;
  return std::move(*value);
}

class Reading {
 public:
  Reading(ArgumentRules& rules, const Limits& limits, std::string_view text)
      : rules_(rules), markup_(rules.markup()), limits_(limits), text_(text) {}

  Arguments read();

 private:
  using Kind = ArgumentElement::Kind;

  Arguments read_value();
  std::optional<json::Object> fit(const ObjectRule& rule, std::size_t begin,
                                  std::size_t end, Partial& partial);
  bool finished(const ObjectRule& rule, const Place& place) const;
  std::optional<Place> after(const ObjectRule& rule, const Place& place,
                             const Way& way) const;
  std::vector<Way> ways(const ObjectRule& rule, std::size_t pos);
  void add_ways(std::vector<Way>& out, Way way, ValueId value, std::size_t pos);
  void add_way(std::vector<Way>& out, const Way& way, json::Value value,
               std::size_t end) const;
  std::optional<json::Value> json_at(ValueId value, std::size_t pos,
                                     std::size_t& end);
  // The rule of a name as it is written; false if it may not come.
  bool find_member(const ObjectRule& rule, std::string_view written, Way& way,
                   ValueId& value);

  // cohere_xml, minimax_m3_xml
  void ask(std::uint32_t element, ValueId value);
  void ask_all();
  void answer_all();
  std::optional<json::Value> answer(std::uint32_t element, ListId list);
  std::optional<json::Value> fit_items(const ArrayRule& rule,
                                       std::uint32_t element);
  const ArgumentElement* element_at(std::size_t pos) const;
  std::optional<json::Value> element_value(const ArgumentElement& element,
                                           ValueId value);

  ArgumentRules& rules_;
  const arguments::ArgumentMarkup& markup_;
  const Limits& limits_;
  const std::string_view text_;

  std::vector<ArgumentElement> elements_;
  std::vector<std::vector<std::uint32_t>> children_;
  // What each element is as one of these lists.
  std::vector<std::map<ListId, std::optional<json::Value>>> answers_;
};

// The JSON value at `pos`, white space before it left out.
std::optional<json::Value> Reading::json_at(ValueId value, std::size_t pos,
                                            std::size_t& end) {
  const std::size_t begin = skip_space(text_, pos);
  end = rules_.json_end(value, text_, begin);
  if (end == std::string_view::npos) return std::nullopt;
  return parse(text_.substr(begin, end - begin), limits_);
}

void Reading::add_way(std::vector<Way>& out, const Way& way, json::Value value,
                      std::size_t end) const {
  // Of two readings with one end the first counts.
  for (const Way& other : out) {
    if (other.end == end && other.member == way.member) return;
  }
  out.push_back(way);
  out.back().value = std::move(value);
  out.back().end = end;
}

// The element whose name has been read; `pos` is behind `middle`.
void Reading::add_ways(std::vector<Way>& out, Way way, ValueId value,
                       std::size_t pos) {
  bool string_first = false;
  if (rules_.style() == ArgumentStyle::kGlmXml) pos = skip_space(text_, pos);
  if (!markup_.attribute_end.empty()) {
    const std::size_t end = text_.find(markup_.attribute_end, pos);
    if (end == std::string_view::npos) return;
    const std::string_view attribute = text_.substr(pos, end - pos);
    if (rules_.style() == ArgumentStyle::kGlmXml && !attribute.empty()) return;
    string_first = attribute == "true" || attribute == "string";
    pos = end + markup_.attribute_end.size();
  }
  const auto as_json = [&] {
    std::size_t end = 0;
    std::optional<json::Value> read = json_at(value, pos, end);
    if (!read) return;
    end = skip_space(text_, end);
    if (!text_.substr(end).starts_with(markup_.close)) return;
    add_way(out, way, std::move(*read), end + markup_.close.size());
  };
  if (!string_first) as_json();
  const std::size_t end = text_.find(markup_.close, pos);
  if (end != std::string_view::npos) {
    const std::string_view raw =
        arguments::raw_string(markup_, text_.substr(pos, end - pos));
    if (rules_.string_fits(value, raw)) {
      add_way(out, way, raw, end + markup_.close.size());
    }
  }
  if (string_first) as_json();
}

bool Reading::find_member(const ObjectRule& rule, std::string_view written,
                          Way& way, ValueId& value) {
  const auto declared = rule.by_written.find(written);
  if (declared != rule.by_written.end()) {
    way.member = declared->second;
    way.name = rule.members[way.member].name;
    value = rule.members[way.member].value;
    return true;
  }
  for (const ObjectRule::Extra& extra : rule.extras) {
    if (!rules_.name_fits(extra, written)) continue;
    way.member = kNone;
    way.name = written;
    value = extra.value;
    return true;
  }
  return false;
}

std::vector<Way> Reading::ways(const ObjectRule& rule, std::size_t pos) {
  std::vector<Way> out;
  Way way;
  ValueId value = kNone;
  if (rules_.nests()) {
    const ArgumentElement* element = element_at(pos);
    if (element == nullptr || element->end == 0 || !element->named) return out;
    if (!find_member(rule, element->name, way, value)) return out;
    if (auto read = element_value(*element, value)) {
      add_way(out, way, std::move(*read), element->end);
    }
    return out;
  }
  if (!text_.substr(pos).starts_with(markup_.open)) return out;
  pos += markup_.open.size();
  const std::size_t middle = text_.find(markup_.middle, pos);
  if (middle == std::string_view::npos) return out;
  if (find_member(rule, text_.substr(pos, middle - pos), way, value)) {
    add_ways(out, way, value, middle + markup_.middle.size());
  }
  for (const std::uint32_t odd : rule.odd) {
    const ObjectRule::Member& member = rule.members[odd];
    const std::string_view rest = text_.substr(pos);
    if (!rest.starts_with(member.written) ||
        !rest.substr(member.written.size()).starts_with(markup_.middle)) {
      continue;
    }
    way.member = odd;
    way.name = member.name;
    add_ways(out, way, member.value,
             pos + member.written.size() + markup_.middle.size());
  }
  return out;
}

bool Reading::finished(const ObjectRule& rule, const Place& place) const {
  if (place.taken < rule.min || place.taken > rule.max) return false;
  if (rules_.any_order()) {
    return std::includes(place.came.begin(), place.came.end(),
                         rule.required.begin(), rule.required.end());
  }
  return rule.next_required[place.next] == rule.members.size();
}

// Where `way` leads, if it may come there.
std::optional<Place> Reading::after(const ObjectRule& rule, const Place& place,
                                    const Way& way) const {
  Place out{skip_space(text_, way.end), place.next, place.taken + 1};
  if (out.taken > rule.max) return std::nullopt;
  if (rules_.any_order()) {
    out.came = place.came;
    if (way.member == kNone) return out;
    const auto at =
        std::lower_bound(out.came.begin(), out.came.end(), way.member);
    if (at != out.came.end() && *at == way.member) return std::nullopt;
    out.came.insert(at, way.member);
    return out;
  }
  const auto size = static_cast<std::uint32_t>(rule.members.size());
  const std::uint32_t member = way.member == kNone ? size : way.member;
  if (member < place.next || rule.next_required[place.next] < member) {
    return std::nullopt;
  }
  out.next = way.member == kNone ? size : member + 1;
  return out;
}

std::optional<json::Object> Reading::fit(const ObjectRule& rule,
                                         std::size_t begin, std::size_t end,
                                         Partial& partial) {
  std::set<Place> failed;
  std::vector<Step> steps;
  const auto enter = [&](const Place& place) {
    steps.push_back({place, ways(rule, place.pos), 0});
  };
  enter({skip_space(text_, begin)});
  while (!steps.empty()) {
    Step& step = steps.back();
    if (step.tried == 0 && step.place.pos == end &&
        finished(rule, step.place)) {
      return members_of(steps);
    }
    if (step.tried < step.ways.size()) {
      const auto next = after(rule, step.place, step.ways[step.tried++]);
      if (next && !failed.contains(*next)) enter(*next);
      continue;
    }
    if (step.place.pos > partial.read) {
      partial.read = step.place.pos;
      step.tried = 0;
      partial.members = members_of(steps);
    }
    failed.insert(step.place);
    if (failed.size() > kMaxPlaces) return std::nullopt;
    steps.pop_back();
  }
  return std::nullopt;
}

// --- cohere_xml, minimax_m3_xml --------------------------------------------

const ArgumentElement* Reading::element_at(std::size_t pos) const {
  const auto place =
      std::lower_bound(elements_.begin(), elements_.end(), pos,
                       [](const ArgumentElement& element, std::size_t at) {
                         return element.begin < at;
                       });
  return place == elements_.end() || place->begin != pos ? nullptr : &*place;
}

std::optional<json::Value> Reading::element_value(
    const ArgumentElement& element, ValueId value) {
  const ValueRule& rule = rules_.value(value);
  const std::string_view content = text_.substr(
      element.content_begin, element.content_end - element.content_begin);
  const auto as_string = [&]() -> std::optional<json::Value> {
    if (!rules_.string_fits(value, content)) return std::nullopt;
    return json::Value(content);
  };
  const auto as_json = [&]() -> std::optional<json::Value> {
    std::size_t end = 0;
    std::optional<json::Value> out = json_at(value, element.content_begin, end);
    if (!out || skip_space(text_, end) != element.content_end) {
      return std::nullopt;
    }
    return out;
  };
  const auto as_list = [&](ListId list) -> std::optional<json::Value> {
    const auto& known =
        answers_[static_cast<std::size_t>(&element - elements_.data())];
    const auto place = known.find(list);
    if (place == known.end()) return std::nullopt;
    return place->second;
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
      [[fallthrough]];  // an object or a list without anything in it
    case Kind::kNest:
      if (auto out = as_list(rule.object)) return out;
      return as_list(rule.array);
  }
  return std::nullopt;
}

// Notes that what `element` is as this value will be asked.
void Reading::ask(std::uint32_t element, ValueId value) {
  const ValueRule& rule = rules_.value(value);
  const Kind kind = elements_[element].kind;
  const bool both = kind == Kind::kLeaf || kind == Kind::kNest;
  for (const ListId list : {both || kind == Kind::kDict ? rule.object : kNone,
                            both || kind == Kind::kList ? rule.array : kNone}) {
    if (list != kNone) answers_[element].try_emplace(list, std::nullopt);
  }
}

// From those outside to those inside.
void Reading::ask_all() {
  const auto ask_members = [&](const ListRule& list, std::uint32_t element) {
    Way way;
    ValueId value = kNone;
    for (const ObjectRule& rule : list.objects) {
      if (elements_[element].named &&
          find_member(rule, elements_[element].name, way, value)) {
        ask(element, value);
      }
    }
    const std::size_t index = elements_[element].index;
    for (const ArrayRule& rule : list.arrays) {
      value = index < rule.prefix.size() ? rule.prefix[index] : rule.rest;
      if (value != kNone) ask(element, value);
    }
  };
  for (std::uint32_t i = 0; i < elements_.size(); ++i) {
    const std::uint32_t parent = elements_[i].parent;
    if (parent == kNone) {
      ask_members(rules_.list(rules_.root_list()), i);
      continue;
    }
    for (const auto& [list, unknown] : answers_[parent]) {
      ask_members(rules_.list(list), i);
    }
  }
}

std::optional<json::Value> Reading::fit_items(const ArrayRule& rule,
                                              std::uint32_t element) {
  const std::vector<std::uint32_t>& items = children_[element];
  if (items.size() < rule.min || items.size() > rule.max) return std::nullopt;
  json::Array out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const ValueId value = i < rule.prefix.size() ? rule.prefix[i] : rule.rest;
    const ArgumentElement& item = elements_[items[i]];
    // minimax_m3_xml calls every item by one name.
    if (value == kNone ||
        (item.named && (rules_.style() != ArgumentStyle::kMinimaxM3Xml ||
                        item.name != arguments::kMinimaxM3Item))) {
      return std::nullopt;
    }
    std::optional<json::Value> read = element_value(item, value);
    if (!read) return std::nullopt;
    out.push_back(std::move(*read));
  }
  return json::Value(std::move(out));
}

std::optional<json::Value> Reading::answer(std::uint32_t element, ListId list) {
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

// From those inside to those outside.
void Reading::answer_all() {
  children_.resize(elements_.size());
  for (std::uint32_t i = 0; i < elements_.size(); ++i) {
    const std::uint32_t parent = elements_[i].parent;
    if (parent != kNone) children_[parent].push_back(i);
  }
  for (auto i = static_cast<std::uint32_t>(elements_.size()); i-- > 0;) {
    if (elements_[i].end == 0) continue;
    for (auto& [list, known] : answers_[i]) known = answer(i, list);
  }
}

// --- The whole ------------------------------------------------------------

// Where the schema is not one of objects.
Arguments Reading::read_value() {
  std::size_t end = 0;
  std::optional<json::Value> value = json_at(rules_.root_value(), 0, end);
  if (value && skip_space(text_, end) == text_.size()) {
    return {std::move(*value), true, text_.size()};
  }
  if (rules_.string_fits(rules_.root_value(), text_)) {
    return {text_, true, text_.size()};
  }
  return {};
}

Arguments Reading::read() {
  if (rules_.root_list() == kNone) return read_value();
  if (rules_.nests()) {
    elements_ = rules_.style() == ArgumentStyle::kCohereXml
                    ? scan_elements(text_)
                    : scan_minimax_m3(text_);
    answers_.resize(elements_.size());
    ask_all();
    answer_all();
  }
  Partial partial;
  for (const ObjectRule& rule : rules_.list(rules_.root_list()).objects) {
    if (auto out = fit(rule, 0, text_.size(), partial)) {
      return {json::Value(std::move(*out)), true, text_.size()};
    }
  }
  return {json::Value(std::move(partial.members)), false, partial.read};
}

}  // namespace

ArgumentReader::ArgumentReader(std::shared_ptr<State> state)
    : state_(std::move(state)) {}

Result<ArgumentReader> ArgumentReader::make(
    const structural_tag::JsonSchemaBody& format, const Limits& limits) {
  auto state = std::make_shared<State>();
  // What the grammar lets out is never too large to be read.
  state->limits = limits;
  state->limits.json_depth =
      std::max(limits.json_depth, GrammarLimits{}.depth + 1);
  state->limits.integer_digits = ~std::size_t{0};
  if (format.style != ArgumentStyle::kJson) {
    auto rules = ArgumentRules::make(format, limits);
    if (!rules) return std::move(rules).error();
    state->rules = std::move(*rules);
  }
  return ArgumentReader(std::move(state));
}

Arguments ArgumentReader::read(std::string_view text) const {
  if (state_->rules == nullptr) {
    std::optional<json::Value> value = parse(text, state_->limits);
    if (!value) return {};
    return {std::move(*value), true, text.size()};
  }
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return Reading(*state_->rules, state_->limits, text).read();
}

}  // namespace parlance::arguments
