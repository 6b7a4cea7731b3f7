// Nested elements as values and as JSON text; see nested_calls.h.

#include "call_stream/nested_calls.h"

#include <utility>

#include "base/python_number.h"
#include "schema/cast_calls.h"

namespace parlance::call_stream {
namespace {

using call_syntax::Input;
using call_syntax::JsonText;
using call_syntax::Kind;
using call_syntax::NestedScanner;
using call_syntax::Token;
using call_syntax::ValueBuilder;
using json::Value;

constexpr std::string_view kItem = "item";
constexpr std::uint8_t kContainers = schema::kArray | schema::kObject;

Span span_of(const Token& token) {
  return {static_cast<std::size_t>(token.begin),
          static_cast<std::size_t>(token.end)};
}

void set_damage(const NestedScanner& scanner, const Token& bad,
                NestedValue& out) {
  out.damage = scanner.damage();
  out.code = scanner.code();
  out.bytes = span_of(bad);
}

// ---- The values of minimax_m3_xml ----

// An element that is called `name` begins in the innermost one.
void open_element(std::vector<MinimaxElement>& open, std::string_view name,
                  const ToolSet& tools, std::string_view tool) {
  MinimaxElement& next = open.emplace_back();
  next.name = name;
  if (open.size() == 2) {
    next.declared =
        schema::parameter_of(tools, tool, name, schema::Strings::kWritten);
    return;
  }
  const MinimaxElement& parent = open[open.size() - 2];
  if (parent.declared == nullptr) return;
  next.declared = std::make_shared<schema::Parameter>(
      schema::inner_parameter(*parent.declared, name, parent.items.size()));
}

// The value of an element that ends, whose text is `text`.
Value value_of(MinimaxElement& element, std::string_view text) {
  if (!element.has_elements) {
    return schema::value_of_leaf(text, element.parameter());
  }
  const std::uint8_t types = schema::types_of(element.parameter());
  if (element.only_items &&
      ((types & schema::kArray) != 0 || (types & schema::kObject) == 0)) {
    return Value(std::move(element.items));
  }
  return Value(std::move(element.members));
}

// The innermost element has ended with this value.
void close_element(std::vector<MinimaxElement>& open, Value value) {
  const std::string name = std::move(open.back().name);
  open.pop_back();
  MinimaxElement& parent = open.back();
  parent.only_items = parent.only_items && name == kItem;
  if (parent.only_items) parent.items.push_back(value);
  Value* old = parent.members.find(name);
  if (old == nullptr) {
    parent.members.set(name, std::move(value));
    return;
  }
  if (parent.listed.insert(name).second) *old = json::Array{std::move(*old)};
  old->mutable_items().push_back(std::move(value));
}

NestedValue read_minimax(std::string_view text, const ToolSet& tools,
                         std::string_view tool, const Limits& limits) {
  NestedScanner scanner(NestedStyle::kMinimaxM3Xml, limits);
  NestedValue out;
  std::vector<MinimaxElement> open;
  open.reserve(8);
  open.emplace_back();
  const Input input = {.text = text, .end = true};
  while (!out.value) {
    const Token token = scanner.next(input);
    const std::string_view span = input.slice(token.begin, token.end);
    switch (token.kind) {
      case Kind::kKey:
        open_element(open, span, tools, tool);
        break;
      case Kind::kElements:
        open.back().has_elements = true;
        break;
      case Kind::kTextEnd:
        close_element(open, value_of(open.back(), scanner.content(input)));
        break;
      case Kind::kClose:
        if (open.size() > 1) {
          close_element(open, value_of(open.back(), {}));
        } else {
          out.value = Value(std::move(open.back().members));
        }
        break;
      case Kind::kScalar:
        out.value = *json::parse(span, {.limits = limits});
        break;
      case Kind::kSpace:
        out.stray.push_back(span_of(token));
        break;
      case Kind::kBad:
        set_damage(scanner, token, out);
        return out;
      default:
        break;
    }
  }
  return out;
}

// ---- cohere_xml as values ----

NestedValue read_cohere(std::string_view text, const Limits& limits) {
  NestedScanner scanner(NestedStyle::kCohereXml, limits);
  NestedValue out;
  ValueBuilder builder(limits);
  const Input input = {.text = text, .end = true};
  while (!builder.complete()) {
    const Token token = scanner.next(input);
    if (token.kind == Kind::kSpace) out.stray.push_back(span_of(token));
    if (token.kind == Kind::kBad) {
      set_damage(scanner, token, out);
      return out;
    }
    switch (token.kind) {
      case Kind::kTextBegin:
      case Kind::kText:
        break;
      case Kind::kTextEnd:
        builder.value(scanner.content(input));
        break;
      case Kind::kScalar: {
        Result<Value> value = json::parse(input.slice(token.begin, token.end),
                                          {.limits = limits});
        if (!value) {
          out.damage = "not JSON: ";
          out.code = ErrorCode::kInvalidContent;
          out.bytes = span_of(token);
          return out;
        }
        builder.value(*std::move(value));
        break;
      }
      default:
        builder.add(token, input);
    }
  }
  out.value = builder.take();
  return out;
}

}  // namespace

NestedValue read_nested(NestedStyle style, std::string_view text,
                        const ToolSet& tools, std::string_view tool,
                        const Limits& limits) {
  return style == NestedStyle::kCohereXml
             ? read_cohere(text, limits)
             : read_minimax(text, tools, tool, limits);
}

// ---- The calls ----

// As the message will have it.
void NestedCallReader::write_body(std::string_view text, std::string& out) {
  Result<Value> body = json::parse(text, {.limits = limits_});
  // A schema that cannot be read is an error of the message.
  if (!body || !body->is_object() ||
      schema::cast_arguments(*body, casts_.tools, name_, casts_.strings)) {
    return;
  }
  json_.value(*body, out);
}

void NestedCallReader::advance(std::string_view text, bool end,
                               CallWriter& writer) {
  if (!opened_) writer.open(name_, id_);
  opened_ = true;
  const Input input = {.text = text, .end = end};
  std::string& out = writer.arguments();
  while (!stopped_) {
    const Token token = scanner_.next(input);
    if (token.kind == Kind::kMore) break;
    stopped_ = token.kind == Kind::kBad || !read(token, input, out);
    if (!out.empty() && json_.depth() == 0) writer.end();
  }
  if (!end || !rest_) return;
  while (json_.depth() > 1) json_.close(out);
  writer.leave_rest();
}

// ---- cohere_xml ----

CohereCallReader::CohereCallReader(std::string_view name, std::string_view id,
                                   Casts casts, const Limits& limits)
    : NestedCallReader(NestedStyle::kCohereXml, name, id, std::move(casts),
                       limits),
      parameters_(schema::parameters_of(casts_.tools, name)),
      builder_(limits) {}

// Collects the tokens of an argument that may be cast.
bool CohereCallReader::read(const Token& token, const Input& input,
                            std::string& out) {
  const std::string_view span = input.slice(token.begin, token.end);
  if (token.kind == Kind::kText && held_ == nullptr) {
    json_.text(span, token.encoding, out);
    return true;
  }
  if (token.kind == Kind::kKey && json_.depth() == 1 && held_ == nullptr &&
      parameters_ != nullptr) {
    const auto found = parameters_->find(span);
    if (found != parameters_->end() &&
        (schema::may_cast_string(found->second, casts_.strings) ||
         schema::may_cast_list(found->second))) {
      held_ = &found->second;
      return json_.add(token, input, out);
    }
  }
  if (token.kind == Kind::kScalar && json_.depth() == 0) {
    write_body(span, out);
    return false;
  }
  if (token.kind == Kind::kScalar) {
    Result<Value> value = json::parse(span, {.limits = limits_});
    if (!value) return false;
    if (held_ == nullptr) {
      json_.value(*value, out);
    } else {
      builder_.value(*std::move(value));
    }
  } else if (held_ == nullptr) {
    return json_.add(token, input, out);
  } else {
    builder_.add(token, input);
  }
  if (held_ == nullptr || !builder_.complete()) return true;
  const Value value = builder_.take();
  const auto changed = schema::cast_argument(value, *held_, casts_.strings);
  json_.value(changed ? *changed : value, out);
  held_ = nullptr;
  return true;
}

// ---- minimax_m3_xml ----

MinimaxCallReader::MinimaxCallReader(std::string_view name, std::string_view id,
                                     Casts casts, bool exact,
                                     const Limits& limits)
    : NestedCallReader(NestedStyle::kMinimaxM3Xml, name, id, std::move(casts),
                       limits),
      exact_(exact) {
  open_.reserve(8);
  open_.emplace_back();
  open_[0].kind = Element::Kind::kObject;
}

// Whether text in an element can only be a string.
bool MinimaxCallReader::is_string(const schema::Parameter& parameter) const {
  if (exact_) return schema::types_of(parameter) == schema::kString;
  return !schema::may_cast_string(parameter, schema::Strings::kWritten) &&
         (schema::types_of(parameter) & kContainers) == 0;
}

// Writes what comes before the value of the innermost element.
void MinimaxCallReader::write_key(std::string& out) {
  if (open_[open_.size() - 2].kind == Element::Kind::kList) return;
  json_.key(open_.back().name, out);
}

// Writes a value as the message has it, which casts arguments: values in
// `depth` = 1 open elements.
void MinimaxCallReader::write_value(std::string_view key, const Value& value,
                                    std::size_t depth, std::string& out) {
  std::optional<Value> cast;
  if (!exact_ && depth == 1) {
    const auto parameter =
        schema::parameter_of(casts_.tools, name_, key, casts_.strings);
    if (parameter != nullptr) {
      cast = schema::cast_argument(value, *parameter, casts_.strings);
    }
  }
  json_.value(cast ? *cast : value, out);
}

// Elements begin in the innermost element, the first of them called `first`.
// False: they are written where the region closes.
//
// "{" or "[" has to be written now, and is never taken back.  What decides:
//
//   the first is not called "item"   an object: later elements make no list
//   it is, and the schema allows one of them
//                                    that one; but a list that the message may
//                                    cast is held
//   it is, and the schema allows both, or says nothing
//                                    held: after <item> may come <b>, which
//                                    makes it an object
bool MinimaxCallReader::open_elements(std::string_view first,
                                      std::string& out) {
  Element& element = open_.back();
  const std::uint8_t types = schema::types_of(element.parameter());
  const bool list = (types & schema::kArray) != 0;
  const bool object = (types & schema::kObject) != 0;
  const bool is_list = first == kItem && list;
  // An object that has only items may be a list, unless its schema says no, and
  // the message may cast a list that is an argument.
  if ((first == kItem && list == object) ||
      (is_list && !exact_ && open_.size() == 2 &&
       schema::may_cast_list(element.parameter()))) {
    element.kind = Element::Kind::kHeld;
    return !exact_;
  }
  write_key(out);
  json_.open(!is_list, out);
  element.kind = is_list ? Element::Kind::kList : Element::Kind::kObject;
  return true;
}

// The innermost element, which is written as a list so far, is none: after
// <item> comes <b>, where the schema wants a list.  What was written stays. The
// nearest enclosing member of an object is written again where its object ends,
// with its whole value; readers of JSON take the last of two members.  Nothing
// more of it is written before.
void MinimaxCallReader::take_back_list() {
  std::size_t member = open_.size() - 1;
  while (open_[member - 1].kind == Element::Kind::kList) --member;
  open_[member - 1].again.insert(open_[member].name);
  open_[member].kind = Element::Kind::kWrong;
  for (std::size_t i = member + 1; i < open_.size(); ++i) {
    open_[i].kind = Element::Kind::kSkipped;
  }
}

// An element begins in the innermost one.  False: what follows is written
// where the region closes.
bool MinimaxCallReader::begin_element(std::string_view name, std::string& out) {
  using ElementKind = Element::Kind;
  if (open_.back().kind == ElementKind::kOpen && !open_elements(name, out)) {
    return false;
  }
  if (open_.back().kind == ElementKind::kList && name != kItem) {
    if (exact_) return false;
    take_back_list();
  }
  Element& parent = open_.back();
  const bool object = parent.kind == ElementKind::kObject;
  const bool repeated = object && parent.members.find(name) != nullptr;
  if (repeated) {
    if (exact_) return false;
    parent.again.emplace(name);
  }
  const bool written = object || parent.kind == ElementKind::kList;
  open_element(open_, name, casts_.tools, name_);
  if (!written || repeated) open_.back().kind = ElementKind::kSkipped;
  return true;
}

// The value of a text under a schema that allows no string; nothing if it is
// known when the region closes.
std::optional<Value> MinimaxCallReader::exact_value(
    std::string_view text, const schema::Parameter& parameter) const {
  Result<Value> value =
      json::parse(base::python_strip(text), {.limits = limits_});
  const std::uint8_t types = schema::types_of(parameter);
  if (!value || value->is_string() || types == 0 ||
      (types & schema::kString) != 0) {
    return std::nullopt;
  }
  if (value->kind() != json::Kind::kFloat) return *std::move(value);
  // 7.0 is an integer where the schema wants one.
  return schema::cast_argument(Value(text), parameter,
                               schema::Strings::kWritten)
      .value_or(*value);
}

// The innermost element ends, whose text is `text` if it has no elements.
// False: its value is known when the region closes.
//
// 1. Members that have to be written again, and the bracket that is open.
// 2. The value, as the message will have it.  It is written now if nothing of
// it
//    is.
// 3. The value becomes a member or an item of the element around it, also where
//    it was written already: a later repeat makes a list of both.
bool MinimaxCallReader::end_element(std::string_view text, std::string& out) {
  using ElementKind = Element::Kind;
  Element& element = open_.back();
  const ElementKind kind = element.kind;
  // Members that were repeated, or taken for lists, are written as they are.
  if (!element.again.empty()) {
    for (const auto& [key, value] : element.members) {
      if (!element.again.contains(key)) continue;
      json_.key(key, out);
      write_value(key, value, open_.size(), out);
    }
  }
  if (kind == ElementKind::kObject || kind == ElementKind::kList) {
    json_.close(out);
  }
  if (open_.size() == 1) return true;
  if (kind == ElementKind::kString) json_.close_string(out);
  if (kind == ElementKind::kWrong) {
    while (json_.depth() > open_.size() - 1) json_.close(out);
  }
  std::optional<Value> value;
  if (exact_ && kind == ElementKind::kOpen) {
    value = exact_value(text, element.parameter());
    if (!value) return false;
  } else {
    value = value_of(element, text);
  }
  if (kind == ElementKind::kOpen || kind == ElementKind::kHeld) {
    write_key(out);
    write_value(element.name, *value, open_.size() - 1, out);
  }
  close_element(open_, *std::move(value));
  return true;
}

bool MinimaxCallReader::read(const Token& token, const Input& input,
                             std::string& out) {
  const std::string_view span = input.slice(token.begin, token.end);
  switch (token.kind) {
    case Kind::kObject:
      json_.open(true, out);
      break;
    case Kind::kKey:
      rest_ = !begin_element(span, out);
      break;
    case Kind::kElements:
      open_.back().has_elements = true;
      break;
    case Kind::kTextBegin:
      if (open_.back().kind == Element::Kind::kOpen &&
          is_string(open_.back().parameter())) {
        write_key(out);
        json_.open_string(out);
        open_.back().kind = Element::Kind::kString;
      }
      break;
    case Kind::kText:
      if (open_.back().kind == Element::Kind::kString) {
        json_.text(span, token.encoding, out);
      }
      break;
    case Kind::kTextEnd:
      rest_ = !end_element(scanner_.content(input), out);
      break;
    case Kind::kClose:
      rest_ = !end_element({}, out);
      break;
    case Kind::kScalar:
      write_body(span, out);
      break;
    default:
      break;
  }
  return !rest_;
}

}  // namespace parlance::call_stream
