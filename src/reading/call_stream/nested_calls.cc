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

// The arguments that are JSON, as the message will have them.
Value cast_body(std::string_view text, std::string_view tool,
                const Casts& casts, const Limits& limits) {
  Result<Value> arguments = json::parse(text, {.limits = limits});
  Value call = json::Object{
      {"function", json::Object{{"name", tool},
                                {"arguments", arguments ? *std::move(arguments)
                                                        : Value()}}}};
  // A schema that cannot be read is an error of the message.
  if (schema::cast_tool_calls(call, casts.tools, casts.strings)) return {};
  return *call.find("function")->find("arguments");
}

// ---- minimax_m3_xml as values ----

struct Element {
  std::string name = {};
  schema::Parameter parameter = {};
  bool has_elements = false;
  bool only_items = true;  // all of them are called "item"
  std::string_view text = {};
  json::Object members = {};
  std::set<std::string, std::less<>> listed = {};  // members that came again
  json::Array items = {};  // the same values in order, while only_items
};

schema::Parameter parameter_in(const Element& parent, bool outermost,
                               std::string_view name, const ToolSet& tools,
                               std::string_view tool) {
  if (!outermost) {
    return schema::inner_parameter(parent.parameter, name, parent.items.size());
  }
  const auto declared =
      schema::parameter_of(tools, tool, name, schema::Strings::kWritten);
  return declared ? *declared : schema::Parameter();
}

Value value_of(Element& element) {
  if (!element.has_elements) {
    return schema::value_of_leaf(element.text, element.parameter);
  }
  const std::uint8_t types = schema::types_of(element.parameter);
  if (element.only_items &&
      ((types & schema::kArray) != 0 || (types & schema::kObject) == 0)) {
    return Value(std::move(element.items));
  }
  return Value(std::move(element.members));
}

// The innermost element ends.
void close_element(std::vector<Element>& open) {
  Value value = value_of(open.back());
  const std::string name = std::move(open.back().name);
  open.pop_back();
  Element& parent = open.back();
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

// Reads the elements in `root`, which is the arguments (`outermost`) or has its
// parameter, into its members and items.  The result has a value only if the
// arguments are JSON.
NestedValue read_elements(NestedScanner scanner, std::string_view text,
                          Element& root, bool outermost, const ToolSet& tools,
                          std::string_view tool, const Limits& limits) {
  NestedValue out;
  std::vector<Element> open;
  open.reserve(8);
  open.push_back(std::move(root));
  open.back().has_elements = true;
  const Input input = {.text = text, .end = true};
  for (;;) {
    const Token token = scanner.next(input);
    const std::string_view span = input.slice(token.begin, token.end);
    switch (token.kind) {
      case Kind::kKey: {
        Element next;
        next.name = span;
        next.parameter = parameter_in(
            open.back(), outermost && open.size() == 1, span, tools, tool);
        open.push_back(std::move(next));
        break;
      }
      case Kind::kElements:
        open.back().has_elements = true;
        break;
      case Kind::kTextEnd:
        open.back().text = scanner.content(input);
        close_element(open);
        break;
      case Kind::kClose:
        if (open.size() > 1) {
          close_element(open);
          break;
        }
        root = std::move(open.back());
        return out;
      case Kind::kScalar:
        out.value = *json::parse(span, {.limits = limits});
        return out;
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
  if (style == NestedStyle::kCohereXml) return read_cohere(text, limits);
  Element root;
  NestedValue out = read_elements(NestedScanner(style, limits), text, root,
                                  true, tools, tool, limits);
  if (!out.value && out.damage.empty()) out.value = std::move(root.members);
  return out;
}

// ---- cohere_xml ----

CohereCallReader::CohereCallReader(std::string_view name, std::string_view id,
                                   Casts casts, const Limits& limits)
    : name_(name),
      id_(id),
      casts_(std::move(casts)),
      limits_(limits),
      parameters_(schema::parameters_of(casts_.tools, name)),
      scanner_(NestedStyle::kCohereXml, limits),
      builder_(limits) {}

// Writes a token, or collects those of an argument that may be cast.  False:
// nothing more is written.
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
    const Value body = cast_body(span, name_, casts_, limits_);
    if (body.is_object()) json_.value(body, out);
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

void CohereCallReader::advance(std::string_view text, bool end,
                               CallWriter& writer) {
  if (!opened_) writer.open(name_, id_);
  opened_ = true;
  const Input input = {.text = text, .end = end};
  while (!stopped_) {
    const Token token = scanner_.next(input);
    if (token.kind == Kind::kMore) return;
    stopped_ =
        token.kind == Kind::kBad || !read(token, input, writer.arguments());
  }
}

// ---- minimax_m3_xml ----

MinimaxCallReader::MinimaxCallReader(std::string_view name, std::string_view id,
                                     Casts casts, bool exact,
                                     const Limits& limits)
    : name_(name),
      id_(id),
      casts_(std::move(casts)),
      exact_(exact),
      limits_(limits),
      scanner_(NestedStyle::kMinimaxM3Xml, limits) {
  frames_.reserve(8);
  frames_.emplace_back();
  frames_[0].kind = Frame::Kind::kObject;
}

// Whether text in an element can only be a string.
bool MinimaxCallReader::is_string(const schema::Parameter& parameter) const {
  if (exact_) return schema::types_of(parameter) == schema::kString;
  return !schema::may_cast_string(parameter, schema::Strings::kWritten) &&
         (schema::types_of(parameter) & kContainers) == 0;
}

// Writes what comes before the value of the innermost element.
void MinimaxCallReader::write_key(std::string& out) {
  if (frames_[frames_.size() - 2].kind == Frame::Kind::kList) return;
  json_.key(frames_.back().name, out);
}

// Elements begin in the innermost element, the first of them called `first`.
// False: they are written where the region closes.
bool MinimaxCallReader::open_elements(std::string_view first,
                                      std::string& out) {
  Frame& frame = frames_.back();
  const std::uint8_t types = schema::types_of(frame.parameter);
  const bool list = (types & schema::kArray) != 0;
  const bool object = (types & schema::kObject) != 0;
  // An object that has only items may be a list, unless its schema says no.
  if (first == kItem && list == object) {
    frame.kind = Frame::Kind::kHeld;
    return !exact_;
  }
  const bool is_list = first == kItem && list;
  write_key(out);
  json_.open(!is_list, out);
  frame.kind = is_list ? Frame::Kind::kList : Frame::Kind::kObject;
  return true;
}

// The innermost element, which is written as a list so far, is none.  It is
// written again where the object ends that has it as a member, or as a part of
// one.
void MinimaxCallReader::take_back_list() {
  std::size_t member = frames_.size() - 1;
  while (frames_[member - 1].kind == Frame::Kind::kList) --member;
  frames_[member - 1].again.insert(frames_[member].name);
  frames_[member].kind = Frame::Kind::kWrong;
  for (std::size_t i = member + 1; i < frames_.size(); ++i) {
    frames_[i].kind = Frame::Kind::kSkipped;
  }
}

// An element begins in the innermost one.  False: what follows is written
// where the region closes.
bool MinimaxCallReader::begin_element(std::string_view name, std::string& out) {
  if (frames_.back().kind == Frame::Kind::kOpen && !open_elements(name, out)) {
    return false;
  }
  if (frames_.back().kind == Frame::Kind::kList && name != kItem) {
    if (exact_) return false;
    take_back_list();
  }
  Frame& parent = frames_.back();
  Frame next;
  next.name = name;
  next.begin = scanner_.opening_end();
  if (parent.kind == Frame::Kind::kObject) {
    if (!parent.names.emplace(name).second) {
      if (exact_) return false;
      parent.again.emplace(name);
      next.kind = Frame::Kind::kSkipped;
    }
  } else if (parent.kind != Frame::Kind::kList) {
    next.kind = Frame::Kind::kSkipped;
  }
  if (frames_.size() > 1) {
    next.parameter =
        schema::inner_parameter(parent.parameter, name, parent.items++);
  } else if (const auto declared = schema::parameter_of(
                 casts_.tools, name_, name, schema::Strings::kWritten)) {
    next.parameter = *declared;
  }
  frames_.push_back(std::move(next));
  return true;
}

// Writes a text that may be any value.  False: it is known when the region
// closes.
bool MinimaxCallReader::end_leaf(std::string_view text, std::string& out) {
  const schema::Parameter& parameter = frames_.back().parameter;
  if (!exact_) {
    write_key(out);
    json_.value(schema::value_of_leaf(text, parameter), out);
    return true;
  }
  const Result<Value> value =
      json::parse(base::python_strip(text), {.limits = limits_});
  const std::uint8_t types = schema::types_of(parameter);
  if (!value || value->is_string() || types == 0 ||
      (types & schema::kString) != 0) {
    return false;
  }
  write_key(out);
  // 7.0 is an integer where the schema wants one.
  const auto number = value->kind() == json::Kind::kFloat
                          ? schema::cast_argument(Value(text), parameter,
                                                  schema::Strings::kWritten)
                          : std::nullopt;
  json_.value(number ? *number : *value, out);
  return true;
}

// Writes the members of the innermost object that were repeated, or taken for
// lists, as they are.  `text` is that of the object.
void MinimaxCallReader::write_again(std::string_view text, std::string& out) {
  const Frame& frame = frames_.back();
  if (frame.again.empty()) return;
  Element element;
  element.parameter = frame.parameter;
  read_elements(NestedScanner(NestedStyle::kMinimaxM3Xml, limits_), text,
                element, frames_.size() == 1, casts_.tools, name_, limits_);
  for (const auto& [key, value] : element.members) {
    if (!frame.again.contains(key)) continue;
    json_.key(key, out);
    json_.value(value, out);
  }
}

// The innermost element ends, whose text is `text`.  False: its value is known
// when the region closes.
bool MinimaxCallReader::end_element(std::string_view text, std::string& out) {
  Frame& frame = frames_.back();
  switch (frame.kind) {
    case Frame::Kind::kOpen:
      if (!end_leaf(text, out)) return false;
      break;
    case Frame::Kind::kString:
      json_.close_string(out);
      break;
    case Frame::Kind::kList:
      json_.close(out);
      break;
    case Frame::Kind::kObject:
      write_again(text, out);
      json_.close(out);
      break;
    case Frame::Kind::kHeld: {
      Element element;
      element.parameter = frame.parameter;
      read_elements(NestedScanner(NestedStyle::kMinimaxM3Xml, limits_), text,
                    element, false, casts_.tools, name_, limits_);
      write_key(out);
      json_.value(value_of(element), out);
      break;
    }
    case Frame::Kind::kSkipped:
      break;
    case Frame::Kind::kWrong:
      while (json_.depth() > frames_.size() - 1) json_.close(out);
      break;
  }
  frames_.pop_back();
  return true;
}

// False: what follows is written where the region closes.
bool MinimaxCallReader::read(const Token& token, const Input& input,
                             std::string& out) {
  const std::string_view span = input.slice(token.begin, token.end);
  switch (token.kind) {
    case Kind::kObject:
      json_.open(true, out);
      return true;
    case Kind::kKey:
      return begin_element(span, out);
    case Kind::kTextBegin:
      if (frames_.back().kind == Frame::Kind::kOpen &&
          is_string(frames_.back().parameter)) {
        write_key(out);
        json_.open_string(out);
        frames_.back().kind = Frame::Kind::kString;
      }
      return true;
    case Kind::kText:
      if (frames_.back().kind == Frame::Kind::kString) {
        json_.text(span, token.encoding, out);
      }
      return true;
    case Kind::kTextEnd:
    case Kind::kClose:
      return end_element(
          input.slice(frames_.back().begin, scanner_.closing_begin()), out);
    case Kind::kScalar: {
      const Value body = cast_body(span, name_, casts_, limits_);
      if (body.is_object()) json_.value(body, out);
      frames_.clear();
      return true;
    }
    default:
      return true;
  }
}

void MinimaxCallReader::advance(std::string_view text, bool end,
                                CallWriter& writer) {
  if (!opened_) writer.open(name_, id_);
  opened_ = true;
  const Input input = {.text = text, .end = end};
  std::string& out = writer.arguments();
  while (!stopped_ && !rest_) {
    const Token token = scanner_.next(input);
    if (token.kind == Kind::kMore) break;
    stopped_ = token.kind == Kind::kBad;
    if (stopped_) break;
    rest_ = !read(token, input, out);
    stopped_ = frames_.empty();
  }
  if (!end || !rest_) return;
  // The value of the region has the rest.
  while (json_.depth() > 1) json_.close(out);
  rest_ = false;
  stopped_ = true;
  writer.leave_rest();
}

}  // namespace parlance::call_stream
