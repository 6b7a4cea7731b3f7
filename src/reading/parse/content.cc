// Content parsers and transforms, see content.h.  Both recurse over trees of
// the template, whose depth the loader has limited; the depth of the response
// does not matter.

#include "parse/content.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/python_number.h"
#include "base/utf8.h"
#include "call_syntax/json_values.h"
#include "json/lax.h"
#include "json/reader.h"
#include "parse/argument_values.h"
#include "parse/element_scanner.h"
#include "parse/python_calls.h"
#include "parse/spoofs.h"
#include "regex/unicode_properties.h"

namespace parlance::parse {
namespace {

using format::Content;
using format::ContentKind;
using format::Transform;
using json::Value;

// The type of a value by its name in JSON; lists and objects also by their name
// in Python, which template authors know.
std::string type_name(const Value& value) {
  std::string name(json::to_string(value.kind()));
  if (value.is_array()) name += " (list)";
  if (value.is_object()) name += " (dict)";
  return name;
}

Error invalid(std::string message) {
  return {ErrorCode::kInvalidContent, std::move(message)};
}

std::string_view stripped(std::string_view text, const Content& content) {
  return content.strip ? base::python_strip(text) : text;
}

ContentResult parse_int(std::string_view text, const Content& content) {
  std::string digits;
  switch (base::python_int(stripped(text, content), digits)) {
    case base::NumberStatus::kOk:
      return Value::integer(digits);
    case base::NumberStatus::kTooManyDigits:
      return invalid("the integer has more than 4300 digits");
    case base::NumberStatus::kNotANumber:
      break;
  }
  return invalid(shown(text) +
                 " is not an integer (digits with an optional sign)");
}

ContentResult parse_float(std::string_view text, const Content& content) {
  double number = 0;
  if (base::python_float(stripped(text, content), number)) {
    return Value(number);
  }
  return invalid(shown(text) + " is not a number");
}

Value parse_bool(std::string_view text, const Content& content) {
  // Upstream: text.lower() in ("true", "1").  No character beyond ASCII has a
  // letter of "true" as its lower case.
  text = stripped(text, content);
  if (text == "1") return true;
  if (text.size() != 4) return false;
  return std::equal(text.begin(), text.end(), "true", [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b;
  });
}

ContentResult parse_json(const MarkedText& marked, const Content& content,
                         const DelimiterProgram& program, const Limits& limits,
                         const CallContent* once) {
  const std::string_view text = marked.text;
  json::ParseOptions options;
  options.limits = limits;
  std::string rewritten;
  std::string_view working = text;
  if (is_lax(content)) {
    auto result = rewritten_json(marked, content, program);
    if (!result) {
      return invalid(
          "the text contains U+0001 or U+0002, the sentinels of string_delims");
    }
    rewritten = std::move(*result);
    working = rewritten;
  }
  bool repeats_key = false;
  Result<Value> value = json::read_text(working, options, repeats_key);
  if (value) {
    if (once != nullptr && repeats_key) {
      if (const auto key = repeated_part(working, *once)) {
        return invalid("a call gives " + shown(*key) + " twice");
      }
    }
    return std::move(*value);
  }
  Error error = std::move(value).error();
  // A place in the rewritten text has no place in the response.
  std::optional<Span> rewritten_place;
  if (working != text) rewritten_place = std::exchange(error.span, {});
  // Not even with allow_non_json do these give text: json.loads() raises
  // RecursionError and, for an integer of too many digits, a plain ValueError,
  // and upstream catches JSONDecodeError alone.
  switch (error.code) {
    case ErrorCode::kTooDeep:
      return error;
    case ErrorCode::kTooLarge:
      return invalid(error.message);
    default:
      break;
  }
  if (content.allow_non_json) return Value(stripped(text, content));
  error.code = ErrorCode::kInvalidContent;
  error.message = "not JSON: " + error.message;
  if (working != text) {
    error.message += ".  After dialects: " + shown(working);
    if (rewritten_place) {
      error.message += ", there byte " + std::to_string(rewritten_place->begin);
    }
  }
  return error;
}

}  // namespace

call_syntax::JsonDialect json_dialect(const Content& content,
                                      const DelimiterProgram& program) {
  call_syntax::JsonDialect out;
  if (content.unquoted_keys) {
    out.keys = call_syntax::JsonDialect::Keys::kWords;
    out.is_word = &regex::is_word;
  }
  // Strings are delimited by the marks alone if both texts are marks; the same
  // characters in ordinary tokens are then part of a string.
  const auto spells_mark = [&](const std::string& text) {
    return program.spoofable &&
           std::ranges::any_of(program.marks, [&](const automata::Mark& mark) {
             return mark.spelling == text;
           });
  };
  for (const auto& [open, close] : content.string_delims) {
    if (open.empty() || close.empty()) continue;
    out.delimiters.push_back(
        {open, close, spells_mark(open) && spells_mark(close)});
  }
  return out;
}

std::optional<std::string> rewritten_json(const MarkedText& marked,
                                          const Content& content,
                                          const DelimiterProgram& program) {
  // A format file reads the dialect as a language, without sentinels, so that a
  // stream gives the same.  A bare template rewrites the text as upstream does,
  // with its regular expressions and what they get wrong.
  if (const auto* dialect = program.dialect_of(content)) {
    return call_syntax::plain_json({.text = marked.text,
                                    .base = marked.offset,
                                    .marks = marked.marks,
                                    .end = true},
                                   *dialect);
  }
  json::Dialect dialect;
  dialect.unquoted_keys = content.unquoted_keys;
  dialect.string_delims = content.string_delims;
  if (!program.spoofable) {
    return json::rewrite(marked.text, dialect, &regex::is_word);
  }
  // The spelling of a delimiter in ordinary tokens is part of a string.
  const Sentinels sentinels(marked, program.marks, content.string_delims);
  if (sentinels.empty()) {
    return json::rewrite(marked.text, dialect, &regex::is_word);
  }
  dialect.string_delims = sentinels.delimiters();
  auto out = json::rewrite(sentinels.text(), dialect, &regex::is_word);
  if (out) out = sentinels.restored(std::move(*out));
  return out;
}

ContentResult parse_member_value(const MarkedText& raw, bool null,
                                 const Content& parent,
                                 const DelimiterProgram& program,
                                 const Limits& limits) {
  const Content* parser = parent.value_parser.get();
  if (parser != nullptr && parser->fault) {
    // A fault of the value parser shows only here: a region without values is
    // read, as upstream reads it.
    // Upstream looks the parser up in a dict, which raises KeyError.
    const bool unknown = parser->fault->code == ErrorCode::kUnknownName;
    return Error{unknown ? ErrorCode::kUnknownName : ErrorCode::kInvalidContent,
                 parser->fault->message};
  }
  if (!null) {
    if (parser == nullptr) return Value(raw.text);
    return parse_content(raw, *parser, program, limits);
  }
  if (parser == nullptr) return Value();
  // Upstream passes None to the parser.  Each case is what Python does then.
  switch (parser->kind) {
    case ContentKind::kText:
      if (!parser->strip) return Value();
      break;
    case ContentKind::kInt:
    case ContentKind::kFloat:
      if (!parser->strip) {
        return Error{ErrorCode::kContentType,
                     "a tag without a value cannot be read as a number"};
      }
      break;
    case ContentKind::kJson:
    case ContentKind::kXmlInline:
    case ContentKind::kPythonCallList:
      return Error{ErrorCode::kContentType,
                   "a tag without a value cannot be parsed as " +
                       std::string(format::to_string(parser->kind))};
    case ContentKind::kBool:
    case ContentKind::kKvLines:
      break;
  }
  return Error{ErrorCode::kContentAttribute,
               "a tag without a value cannot be parsed as " +
                   std::string(format::to_string(parser->kind)) +
                   "; let the group \"value\" take part, or leave out "
                   "value_parser"};
}

namespace {

// Remarks on `part`, a view into `text`.
void remark(std::string_view part, std::string_view text, std::string_view what,
            std::vector<Remark>* remarks) {
  if (remarks == nullptr || remarks->size() >= kMostRemarks) return;
  part = base::python_strip(part);
  if (part.empty()) return;
  auto begin = static_cast<std::size_t>(part.data() - text.data());
  remarks->push_back({{begin, begin + part.size()}, what});
}

// `part` is in no value.
void ignore(std::string_view part, std::string_view text,
            std::vector<Remark>* remarks) {
  remark(part, text, "text that belongs to no argument is ignored", remarks);
}

// Whether `text` consists of white space and `closers`.
bool is_stray(std::string_view text, const std::vector<std::string>& closers) {
  for (;;) {
    text = base::python_strip(text);
    if (text.empty()) return true;
    const auto closer = std::ranges::find_if(
        closers, [&](const std::string& one) { return text.starts_with(one); });
    if (closer == closers.end()) return false;
    text.remove_prefix(closer->size());
  }
}

Error other_text(std::string_view text) {
  return invalid("between arguments stands " + shown(base::python_strip(text)) +
                 ": expected an argument or the end of the call");
}

// The arguments that are written as an object in place of elements.
ContentResult read_object(std::string_view object, std::string_view text,
                          const Limits& limits, std::vector<Remark>* remarks) {
  Result<Value> value = json::parse(object, {.limits = limits});
  if (!value || !value->is_object()) {
    return invalid("in place of arguments stands " + shown(object) +
                   ", which is no JSON object");
  }
  remark(object, text, "the arguments are JSON in place of elements", remarks);
  return value;
}

// Reads the elements of a call into an object.
class Elements {
 public:
  Elements(const MarkedText& marked, const Content& content,
           const DelimiterProgram& program, const Limits& limits)
      : marked_(marked), content_(content), program_(program), limits_(limits) {
    const auto known = program.arguments.find(&content);
    if (known != program.arguments.end()) reading_ = known->second;
  }

  using Stretch = std::pair<std::size_t, std::size_t>;
  static constexpr std::size_t kNone = std::string_view::npos;

  std::string_view text_of(Stretch part) const {
    return marked_.text.substr(part.first, part.second - part.first);
  }

  // Adds an element; `value` or `type` may begin at kNone: the pattern has the
  // group, which took no part.
  std::optional<Error> add(Stretch name, bool has_value, Stretch value,
                           Stretch type) {
    std::string key(text_of(name));
    if (reading_ != nullptr && reading_->xml_keys) key = decode_references(key);
    const bool null = has_value && value.first == kNone;
    MarkedText raw("");
    if (has_value && !null) {
      raw = marked_.substr(value.first, value.second - value.first);
    }
    ContentResult read = read_argument(
        raw, null, type.first == kNone ? std::string_view() : text_of(type),
        content_, reading_, program_, limits_);
    if (!read) return read.error();
    Value* old = content_.merge_duplicates ? out_.find(key) : nullptr;
    if (old == nullptr) {
      out_.set(std::move(key), std::move(*read));
    } else {
      // A value may itself be a list, so the names whose values were merged are
      // remembered: the second value makes a list, later ones are added.
      if (merged_.insert(key).second) {
        *old = Value(json::Array{std::move(*old)});
      }
      old->mutable_items().push_back(std::move(*read));
    }
    return std::nullopt;
  }
  bool any() const { return out_.size() > 0; }
  Value take() { return Value(std::move(out_)); }

 private:
  const MarkedText& marked_;
  const Content& content_;
  const DelimiterProgram& program_;
  const Limits& limits_;
  const format::ArgumentReading* reading_ = nullptr;
  json::Object out_;
  std::set<std::string> merged_;  // the names whose values are a list
};

// All tokens of a text, up to other text.  The last one is kMore if the text
// ends inside an element.
std::vector<ElementToken> read_elements(const MarkedText& marked,
                                        const ElementFinder& finder) {
  using Kind = ElementToken::Kind;
  std::vector<ElementToken> out;
  ElementScanner scanner;
  scanner.start(finder, /*in_stream=*/false, marked.offset);
  Kind kind = Kind::kHead;
  while (kind != Kind::kMore && kind != Kind::kOther) {
    kind = scanner.next({marked, true});
    if (kind != Kind::kMore || scanner.inside()) out.push_back(scanner.token());
  }
  return out;
}

// Whether they are the same in all that their kinds have.
[[maybe_unused]] bool are_same(std::span<const ElementToken> a,
                               std::span<const ElementToken> b) {
  using Kind = ElementToken::Kind;
  const auto same = [](ElementToken::Stretch x, ElementToken::Stretch y) {
    return x.begin == y.begin && x.end == y.end;
  };
  return std::ranges::equal(a, b, [&](const auto& x, const auto& y) {
    const bool element = x.kind == Kind::kHead || x.kind == Kind::kValue;
    const bool stray = x.kind == Kind::kStray || x.damaged;
    return x.kind == y.kind && x.end == y.end && x.damaged == y.damaged &&
           x.whole == y.whole &&
           (!element || (same(x.key, y.key) && same(x.type, y.type))) &&
           (x.kind == Kind::kStray || same(x.value, y.value)) &&
           (!stray || same(x.stray, y.stray));
  });
}

// Of a format file's call (recovery.md, "Elements").  `in_stream`: nobody has
// asked yet whether values hide elements.
ContentResult parse_elements(const MarkedText& marked, const Content& content,
                             const ElementFinder& finder,
                             const DelimiterProgram& program,
                             const Limits& limits, std::vector<Remark>* remarks,
                             std::span<const ElementToken> tokens,
                             bool in_stream) {
  using Kind = ElementToken::Kind;
  Elements out(marked, content, program, limits);
  const auto part = [&](ElementToken::Stretch stretch) -> Elements::Stretch {
    return {static_cast<std::size_t>(stretch.begin - marked.offset),
            static_cast<std::size_t>(stretch.end - marked.offset)};
  };
  const auto from = [&](ElementToken::Stretch stretch) {
    return marked.text.substr(part(stretch).first);
  };
  std::optional<Value> object;
  for (const ElementToken& token : tokens) {
    const bool ends_element = token.kind == Kind::kValue ||
                              (token.kind == Kind::kJson && token.whole);
    // A value with a tail inside, after which text would stand between
    // elements, makes the call malformed (recovery.md, "Elements").  Of a whole
    // text the scanner asks this itself.
    if (in_stream && ends_element && hides_elements(finder, marked, token)) {
      return other_text(from(token.value));
    }
    switch (token.kind) {
      case Kind::kMore:
        return invalid("the text ends inside " + shown(from(token.value)));
      case Kind::kHead:
        if (object || token.key.begin == automata::kNoPosition) {
          return other_text(from(token.value));
        }
        if (token.damaged) {
          remark(out.text_of(part(token.stray)), marked.text,
                 "markup before the value of an argument is damaged", remarks);
        }
        break;
      case Kind::kValue:
        if (auto error = out.add(part(token.key), true, part(token.value),
                                 part(token.type))) {
          return *std::move(error);
        }
        break;
      case Kind::kStray:
        ignore(out.text_of(part(token.stray)), marked.text, remarks);
        break;
      case Kind::kJson: {
        if (object || out.any()) {
          return other_text(out.text_of(part(token.value)));
        }
        ContentResult value =
            read_object(out.text_of(part(token.value)), marked.text, limits,
                        token.whole ? nullptr : remarks);
        if (!value) return value;
        object = *std::move(value);
        break;
      }
      case Kind::kOther:
        return other_text(from(token.stray));
    }
  }
  return object ? *std::move(object) : out.take();
}

// Invariant of the loop: `out` has the members of all matches so far, and the
// text before last_end is either in them or in `remarks`.
ContentResult parse_xml(const MarkedText& marked, const Content& content,
                        const DelimiterProgram& program, const Limits& limits,
                        bool cut, std::vector<Remark>* remarks,
                        const std::vector<ElementToken>* elements) {
  const std::string_view text = marked.text;
  const ElementFinder& halves = program.elements.at(&content);
  // Three ways to read the text:
  //   1. a format file, and a pattern with halves: as the stream reads it;
  //   2. a format file, other patterns: an object in place of elements, or
  //      matches with nothing but closers between them;
  //   3. a bare template: all matches, as with upstream's finditer().
  if (halves.strict && halves) {
    std::vector<ElementToken> read;
    if (elements == nullptr) read = read_elements(marked, halves);
    assert(elements == nullptr ||
           are_same(*elements, read_elements(marked, halves)) ||
           std::ranges::any_of(*elements, [&](const ElementToken& token) {
             return hides_elements(halves, marked, token);
           }));
    return parse_elements(marked, content, halves, program, limits, remarks,
                          elements != nullptr ? *elements : read,
                          elements != nullptr);
  }
  const std::string_view stripped = base::python_strip(text);
  if (halves.strict && stripped.starts_with('{')) {
    return read_object(stripped, text, limits, remarks);
  }
  const Finder& finder = program.tags.at(&content);
  Elements out(marked, content, program, limits);
  FindAll all(finder, marked);
  Found found;
  std::size_t last_end = 0;
  while (all.next(found)) {
    const std::string_view between =
        text.substr(last_end, found.begin - last_end);
    if (halves.strict && !is_stray(between, halves.closers)) {
      return other_text(between);
    }
    ignore(between, text, remarks);
    last_end = found.end;
    if (found.groups[0].first == std::string_view::npos) {
      return invalid(
          "tag_pattern matched without its group \"key\", which every match "
          "must set");
    }
    if (auto error = out.add(
            found.groups[0], finder.groups[1] != 0, found.groups[1],
            found.groups.size() > 2
                ? found.groups[2]
                : Elements::Stretch(Elements::kNone, Elements::kNone))) {
      return *std::move(error);
    }
  }
  if (all.gave_up()) {
    return invalid(
        "tag_pattern needed more steps than Limits::match_steps allows");
  }
  const std::string_view rest = text.substr(last_end);
  // Half an argument must not be taken for no argument.
  if (cut && !base::python_strip(rest).empty()) {
    return invalid("the response ends inside " + shown(rest));
  }
  if (halves.strict && !is_stray(rest, halves.closers)) return other_text(rest);
  ignore(rest, text, remarks);
  return out.take();
}

ContentResult parse_kv(const MarkedText& marked, const Content& content,
                       const DelimiterProgram& program, const Limits& limits,
                       std::vector<Remark>* remarks) {
  const std::string_view text = marked.text;
  json::Object out;
  const std::string& line_separator = content.line_separator;
  // As text.split(line_sep): the text after the last separator is a line, even
  // an empty one.  Ends because the loader refuses an empty line_sep.
  for (std::size_t at = 0; at <= text.size();) {
    std::size_t end = text.find(line_separator, at);
    if (end == std::string_view::npos) end = text.size();
    std::string_view line = stripped(text.substr(at, end - at), content);
    at = end + line_separator.size();
    if (!line.empty() && content.key_separator.empty()) {
      return invalid("kv_sep is empty, so nothing separates key and value in " +
                     shown(line));
    }
    std::size_t split = line.find(content.key_separator);
    if (line.empty() || split == std::string_view::npos) {
      ignore(line, text, remarks);
      continue;
    }
    std::string_view key = stripped(line.substr(0, split), content);
    std::string_view raw =
        stripped(line.substr(split + content.key_separator.size()), content);
    // `raw` is a view into `text`, also where nothing is left of it.
    const auto begin = static_cast<std::size_t>(raw.data() - text.data());
    ContentResult value = parse_member_value(marked.substr(begin, raw.size()),
                                             false, content, program, limits);
    if (!value) return value.error();
    out.set(std::string(key), std::move(*value));
  }
  return Value(std::move(out));
}

ContentResult parse_call_list(std::string_view text, const Limits& limits) {
  Result<Value> calls = read_call_list(text, limits);
  if (calls) return calls;
  Error error = std::move(calls).error();
  error.code = ErrorCode::kInvalidContent;
  error.message = "not a list of calls: " + error.message;
  return error;
}

// The place of an error inside a value is not a place in the text that contains
// the value.
ContentResult without_place(ContentResult value) {
  if (value || !value.error().span) return value;
  Error error = std::move(value).error();
  error.span.reset();
  return error;
}

// The names that a placeholder may refer to.
struct Scope {
  Captures captures;
  const Value* content = nullptr;      // "content", which hides a capture
  const json::Object* item = nullptr;  // transform_each: its keys hide them
  bool optional_id = false;
};

std::string path_text(const std::vector<std::string>& path) {
  std::string out = "{";
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i > 0) out += '.';
    out += path[i];
  }
  return out + "}";
}

ContentResult look_up(const std::vector<std::string>& path,
                      const Scope& scope) {
  const std::string& root = path[0];
  Value from_capture;
  const Value* value = nullptr;
  // The scope of upstream: {**captures, "content": value}, or for
  // transform_each {**captures, **item}.  What stands last hides the others.
  if (scope.content != nullptr && root == "content") {
    value = scope.content;
  } else if (scope.item != nullptr) {
    value = scope.item->find(root);
  }
  if (value == nullptr) {
    // Of equal names the last one counts: captures of the close come after
    // those of the open.
    for (const auto& [name, text] : scope.captures) {
      if (name != root) continue;
      from_capture = Value(text);
      value = &from_capture;
    }
  }
  if (value == nullptr) {
    return Error{ErrorCode::kMissingPlaceholder,
                 "transform placeholder " + path_text(path) +
                     " is not defined: there is no " + shown(root)};
  }
  for (std::size_t i = 1; i < path.size(); ++i) {
    if (!value->is_object()) {
      return invalid("transform placeholder " + path_text(path) +
                     " cannot look for " + shown(path[i]) +
                     " in a value of "
                     "type " +
                     type_name(*value));
    }
    const Value* member = value->find(path[i]);
    if (member == nullptr) {
      return invalid("transform placeholder " + path_text(path) +
                     " is missing the key " + shown(path[i]));
    }
    value = member;
  }
  return *value;
}

ContentResult transformed(const Transform& transform, const Scope& scope) {
  switch (transform.kind) {
    case Transform::Kind::kConstant:
      return transform.constant;
    case Transform::Kind::kPlaceholder:
      return look_up(transform.path, scope);
    case Transform::Kind::kList: {
      json::Array items;
      items.reserve(transform.items.size());
      for (const Transform& item : transform.items) {
        ContentResult value = transformed(item, scope);
        if (!value) return value;
        items.push_back(std::move(*value));
      }
      return Value(std::move(items));
    }
    case Transform::Kind::kObject: {
      json::Object members;
      members.reserve(transform.members.size());
      for (const auto& [key, member] : transform.members) {
        ContentResult value = transformed(member, scope);
        if (!value && scope.optional_id && key == "id") continue;
        if (!value) return value;
        members.set(key, std::move(*value));
      }
      return Value(std::move(members));
    }
  }
  return Value();
}

}  // namespace

std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 80;
  bool cut = text.size() > kMost;
  if (cut) {
    // Cut before the character that contains byte kMost.
    std::size_t end = kMost;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
      --end;
    }
    text = text.substr(0, end);
  }
  std::string out = json::dump(Value(text), {.ascii = false});
  if (cut) out += "...";
  return out;
}

ContentResult parse_content(const MarkedText& marked, const Content& content,
                            const DelimiterProgram& program,
                            const Limits& limits, bool cut,
                            std::vector<Remark>* remarks,
                            const CallContent* once,
                            const std::vector<ElementToken>* elements) {
  const std::string_view text = marked.text;
  switch (content.kind) {
    case ContentKind::kText:
      return Value(stripped(text, content));
    case ContentKind::kInt:
      return parse_int(text, content);
    case ContentKind::kFloat:
      return parse_float(text, content);
    case ContentKind::kBool:
      return parse_bool(text, content);
    case ContentKind::kJson:
      return parse_json(marked, content, program, limits, once);
    case ContentKind::kXmlInline:
      return without_place(
          parse_xml(marked, content, program, limits, cut, remarks, elements));
    case ContentKind::kKvLines:
      return without_place(parse_kv(marked, content, program, limits, remarks));
    case ContentKind::kPythonCallList:
      return parse_call_list(text, limits);
  }
  return Value();
}

ContentResult apply_transform_to_item(const format::Field& field,
                                      const Value& item, Captures captures,
                                      ItemOptions options) {
  Scope scope;
  scope.captures = captures;
  if (!field.transform_each) scope.content = &item;
  // Calls in Python's syntax (`by_name`), which upstream does not have, name
  // their members without transform_each.
  if (item.is_object() && (field.transform_each || options.by_name)) {
    scope.item = &item.members();
  }
  scope.optional_id = options.optional_id;
  return transformed(*field.transform, scope);
}

ContentResult apply_transform(const format::Field& field, Value value,
                              Captures captures) {
  Scope scope;
  scope.captures = captures;
  if (!field.transform_each) {
    scope.content = &value;
    return transformed(*field.transform, scope);
  }
  if (!value.is_array()) {
    return invalid("transform_each needs a list, and the content is of type " +
                   type_name(value));
  }
  json::Array out;
  out.reserve(value.items().size());
  for (const Value& item : value.items()) {
    if (!item.is_object()) {
      return invalid(
          "transform_each needs a list of objects, and one element is of "
          "type " +
          type_name(item));
    }
    scope.item = &item.members();
    ContentResult result = transformed(*field.transform, scope);
    if (!result) return result;
    out.push_back(std::move(*result));
  }
  return Value(std::move(out));
}

}  // namespace parlance::parse
