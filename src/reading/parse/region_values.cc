// In two parts: from text to items, each with its place, and from items to
// calls.  Damage is that of an item, so neither part stops at it.

#include "parse/region_values.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/ascii.h"
#include "base/python_number.h"
#include "base/trimmed.h"
#include "call_stream/json_calls.h"
#include "call_syntax/json_values.h"
#include "call_syntax/python_scanner.h"
#include "format/call_parts.h"
#include "json/python_literal.h"
#include "parse/python_calls.h"
#include "parse/repeated_part.h"
#include "schema/cast_calls.h"

namespace parlance::parse {
namespace {

using format::Content;
using format::ContentKind;
using format::Field;
using format::FieldReading;
using format::MemberNames;
using format::ValueCount;
using format::ValueSyntax;
using json::Value;

struct Item {
  Span bytes;
  Result<Value> value;
};

Error invalid_region(std::string message) {
  return {ErrorCode::kInvalidContent, std::move(message), ""};
}

// ---- From text to items ----

// One text as a value.  `literals`: it may be a Python literal.
Result<Value> read_one(const MarkedText& text, const Content& content,
                       bool literals, const CallContent& once,
                       const DelimiterProgram& program, const Limits& limits) {
  Result<Value> value =
      parse_content(text, content, program, limits, false, nullptr, &once);
  if (value || !literals || value.error().code == ErrorCode::kTooDeep) {
    return value;
  }
  // JSON is tried first: a literal such as `{"a": 1}` is the same in either,
  // and models that write Python's mix both.
  Result<Value> literal = json::read_python(text.text, limits);
  if (literal) return literal;
  Error error = std::move(value).error();
  error.message += ".  Not a Python literal: " + literal.error().message;
  return error;
}

// The end of the Python literal that begins at text[begin], or npos.  One that
// is damaged reaches to where its brackets close.
std::size_t end_of_literal(std::string_view text, std::size_t begin,
                           const Limits& limits) {
  const call_syntax::PythonLanguage values = {
      .dialect = call_syntax::PythonDialect::kValues,
      .max_depth = limits.json_depth};
  call_syntax::PythonScanner scanner(values, begin);
  const call_syntax::Input input = {.text = text, .end = true};
  while (scanner.next(input).kind != call_syntax::Kind::kMore) {
  }
  return scanner.has_value() ? static_cast<std::size_t>(scanner.value_end())
                             : std::string_view::npos;
}

// The end of what begins at `begin` and is no literal in brackets: before the
// next separator that stands outside strings and brackets, or `end`.
std::size_t end_of_other(std::string_view text, std::size_t begin,
                         std::size_t end, std::string_view separator) {
  const auto in_word = [](char c) {
    return base::is_letter(static_cast<unsigned char>(c)) || base::is_digit(c);
  };
  std::size_t depth = 0;
  std::string unpaired;  // quotes, of which no other one follows
  for (std::size_t at = begin; at < end; ++at) {
    const char c = text[at];
    if (depth == 0 && text.substr(at, end - at).starts_with(separator)) {
      return at;
    }
    if (std::string_view("{[(").find(c) != std::string_view::npos) {
      ++depth;
    } else if (std::string_view("}])").find(c) != std::string_view::npos) {
      depth -= depth > 0 ? 1 : 0;
    } else if ((c == '"' || c == '\'') &&
               (at == begin || !in_word(text[at - 1])) &&
               unpaired.find(c) == std::string::npos) {
      // No apostrophe, as in `it's`.  A search for a partner that fails is the
      // last for this kind of quote, so the function is linear.
      std::size_t close = at + 1;
      while (close < end && text[close] != c) {
        close += text[close] == '\\' ? 2 : 1;
      }
      if (close < end) {
        at = close;
      } else {
        unpaired += c;
      }
    }
  }
  return end;
}

// Where the Python literals of `bytes` of the text are, which have `separator`
// between them.  What is no literal has a place as well.
//
// Invariant of the loop: `at` is after the last place and its separator.
std::vector<Span> split_literals(std::string_view text, Span bytes,
                                 std::string_view separator,
                                 const Limits& limits) {
  std::vector<Span> out;
  std::size_t at = bytes.begin;
  const auto skip_space = [&] {
    while (at < bytes.end && base::is_space(text[at])) ++at;
  };
  for (;;) {
    skip_space();
    // One separator at most: a second one is an item of its own, below.
    if (!out.empty() && !separator.empty() &&
        text.substr(at, bytes.end - at).starts_with(separator)) {
      at += separator.size();
      skip_space();
    }
    if (at >= bytes.end) return out;
    // The rest of the text is one item if a literal does not end, or if it does
    // not begin like a literal and no separator is defined.
    std::size_t end = bytes.end;
    if (std::string_view("{[(").find(text[at]) != std::string_view::npos) {
      end = std::min(end, end_of_literal(text, at, limits));
    } else if (!separator.empty()) {
      end = end_of_other(text, at, end, separator);
      if (end == at) end += separator.size();  // one too many is an item
    }
    out.push_back({at, at + base::trimmed(text.substr(at, end - at)).size()});
    at = end;
  }
}

// Of a syntax of its own, which the content of the field does not describe;
// nothing for the others.
std::optional<std::vector<Item>> read_special_items(
    ValueSyntax syntax, const MarkedText& text, Captures captures,
    const ValueContext& context) {
  std::vector<Item> out;
  const Span all = {0, text.text.size()};
  if (const auto style = nested_style(syntax)) {
    // The last of equal names counts, as in transforms.
    std::string_view tool;
    for (const auto& [name, value] : captures) {
      if (name == "name") tool = value;
    }
    call_stream::NestedValue read = call_stream::read_nested(
        *style, text.text, context.tools, tool, context.limits);
    const auto told = [&](std::string_view what, Span bytes) {
      return std::string(what) +
             shown(text.text.substr(bytes.begin, bytes.size()));
    };
    if (!read.value) {
      out.push_back({all, Error{read.code, told(read.damage, read.bytes), ""}});
      return out;
    }
    out.push_back({all, *std::move(read.value)});
    for (const Span& stray : read.stray) {
      out.push_back(
          {stray, invalid_region(
                      told("a closing marker that closes nothing: ", stray))});
    }
    return out;
  }
  if (syntax == ValueSyntax::kPythonCalls) {
    for (PythonCall& call : read_python_calls(text.text, context.limits)) {
      out.push_back({call.bytes, std::move(call.call)});
    }
    return out;
  }
  return std::nullopt;
}

// Where the items are in the list of JSON that begins at text[at].
// REQUIRES: the list is valid.
//
// Only brackets, commas and quotes matter.  Invariant: `depth` brackets are
// open, that of the list included, and the current item of the list begins at
// `begin` or after it.
std::vector<Span> places_in_list(std::string_view text, std::size_t at) {
  std::vector<Span> out;
  std::size_t depth = 0;
  std::size_t begin = at;
  const auto add = [&](std::size_t end) {
    const std::string_view item =
        base::trimmed(text.substr(begin, end - begin));
    if (item.empty()) return;
    const auto first = static_cast<std::size_t>(item.data() - text.data());
    out.push_back({first, first + item.size()});
  };
  for (;; ++at) {
    at = text.find_first_of("[]{},\"", at);
    if (at == std::string_view::npos) return out;
    switch (text[at]) {
      case '"':
        for (++at; at < text.size() && text[at] != '"'; ++at) {
          at += text[at] == '\\' ? 1 : 0;
        }
        break;
      case '[':
      case '{':
        if (++depth == 1) begin = at + 1;
        break;
      case ',':
        if (depth != 1) break;
        add(at);
        begin = at + 1;
        break;
      default:
        if (depth == 1) return add(at), out;
        --depth;
        break;
    }
  }
}

// `places`: whether the items of a list have their own places.
std::vector<Item> read_items(const Field& field, const FieldReading& reading,
                             const MarkedText& text, Captures captures,
                             const ValueContext& context, bool places) {
  if (auto special =
          read_special_items(reading.syntax, text, captures, context)) {
    return *std::move(special);
  }
  std::vector<Item> out;
  const Span all = {0, text.text.size()};
  static const Content kJson{.kind = ContentKind::kJson};
  const Content& content =
      field.content.kind == ContentKind::kJson ? field.content : kJson;
  const bool literals =
      reading.syntax == ValueSyntax::kPython && !is_lax(content);
  const auto read = [&](Span bytes) {
    Result<Value> value =
        read_one(text.substr(bytes.begin, bytes.size()), content, literals,
                 {field, &reading}, context.program, context.limits);
    if (!value && value.error().span) {
      Error error = std::move(value).error();
      error.span->begin += bytes.begin;
      error.span->end += bytes.begin;
      value = std::move(error);
    }
    return value;
  };
  // The places of the items of a list, or of the values of a sequence.
  const auto split = [&](Span bytes, bool list) {
    if (literals) {
      if (list) {
        const std::size_t end =
            end_of_literal(text.text, bytes.begin, context.limits);
        // Without the brackets.  A list that does not end (npos) reaches to the
        // end of its text, as far as its items go.
        bytes = {bytes.begin + 1, end > bytes.end ? bytes.end : end - 1};
      }
      return split_literals(text.text, bytes,
                            list ? "," : base::python_strip(reading.separator),
                            context.limits);
    }
    call_syntax::JsonDialect dialect;
    if (const auto* known = context.program.dialect_of(content)) {
      dialect = *known;
    }
    dialect.values = call_syntax::JsonDialect::Values::kLoose;
    dialect.max_depth = context.limits.json_depth + 1;  // with the list
    dialect.separator = base::python_strip(reading.separator);
    const MarkedText part = text.substr(bytes.begin, bytes.size());
    std::vector<Span> found = call_syntax::json_items({.text = part.text,
                                                       .base = part.offset,
                                                       .marks = part.marks,
                                                       .end = true},
                                                      dialect, list);
    for (Span& place : found) {
      place.begin += bytes.begin;
      place.end += bytes.begin;
    }
    return found;
  };
  // The items of a list are items.  If it cannot be read, they are read one by
  // one.
  const auto add = [&](Span bytes) {
    Result<Value> whole = read(bytes);
    const bool list = whole && whole->is_array();
    std::vector<Span> found;
    const std::size_t first =
        text.text.find_first_not_of(" \t\r\n", bytes.begin);
    // A list that was read needs places only if the caller asks for them; one
    // that was not is split to save its good items.
    if ((list ? places : !whole) && first < bytes.end &&
        text.text[first] == '[') {
      if (list && !literals && !is_lax(content)) {
        found = places_in_list(text.text, first);
      } else {
        found = split({first, bytes.end}, true);
      }
    }
    if (list) {
      // Splitting is lenient.  Should it disagree with the reader, every item
      // has the place of the list.
      const bool own = found.size() == whole->size();
      for (std::size_t i = 0; i < whole->size(); ++i) {
        out.push_back({own ? found[i] : bytes, whole->items()[i]});
      }
      return;
    }
    for (const Span place : found) out.push_back({place, read(place)});
    if (found.empty()) out.push_back({bytes, std::move(whole)});
  };
  // One value is the text; a list is split into its items; a sequence is split
  // at its separator first, and each of its values may be a list as well.
  if (!has_several_values(field, reading)) {
    out.push_back({all, read(all)});
  } else if (reading.count != ValueCount::kSequence) {
    add(all);
  } else {
    for (const Span place : split(all, false)) add(place);
  }
  return out;
}

// ---- From items to calls ----

// The member of `item` with the first of `names` that it has.
const Value* first_of(const Value& item, const std::vector<std::string>& names,
                      const std::string& otherwise) {
  if (names.empty()) return otherwise.empty() ? nullptr : item.find(otherwise);
  for (const std::string& name : names) {
    if (const Value* found = item.find(name)) return found;
  }
  return nullptr;
}

// Arguments that are the text of an object.
Value decoded(const Value& arguments, const FieldReading& reading,
              const Limits& limits) {
  if (!reading.members.as_text || !arguments.is_string()) return arguments;
  const std::string_view text = arguments.as_string();
  Result<Value> value = json::parse(text, {.limits = limits});
  if (!value && reading.syntax == ValueSyntax::kPython) {
    value = json::read_python(text, limits);
  }
  if (value && value->is_object()) return *std::move(value);
  return arguments;
}

std::string listed(const std::vector<std::string>& names,
                   const std::string& otherwise) {
  if (names.empty()) return "\"" + otherwise + "\"";
  std::string out;
  for (const std::string& name : names) {
    if (!out.empty()) out += " or ";
    out += '"' + name + '"';
  }
  return out;
}

// `item` with the members that the transform names.  `nameless`: it lacks
// nothing but a name.
Result<Value> with_members(const Value& item, const format::CallParts& parts,
                           const FieldReading& reading, const Limits& limits,
                           bool& nameless) {
  const MemberNames& members = reading.members;
  // What the transform names; "" where it takes the part from elsewhere.
  const std::string& name_key = parts.name.key;
  const std::string& arguments_key = parts.arguments.key;
  const std::string& id_key = parts.id.key;
  // 1. Items that are no objects of parts: the item is the arguments, or the
  //    transform takes neither part from it.
  if (parts.arguments.is_item()) return decoded(item, reading, limits);
  if (name_key.empty() && arguments_key.empty()) return item;
  if (!item.is_object()) return invalid_region("a call must be an object");
  // 2. A part is given once, under one of its names.
  const Value* name = first_of(item, members.name, name_key);
  const Value* arguments = first_of(item, members.arguments, arguments_key);
  for (const auto* names : {&members.name, &members.arguments, &members.id}) {
    const auto has = [&](const std::string& key) {
      return item.find(key) != nullptr;
    };
    if (std::ranges::count_if(*names, has) > 1) {
      return invalid_region("a call gives more than one of " +
                            listed(*names, ""));
    }
  }
  // 3. With `only_key`, {"f": {...}} is a call of f.  In a stream the name is
  //    sent with that first key, so no other may come after it.
  if (members.only_key && item.size() > 1) {
    const json::Member& first = *item.members().begin();
    if ((first.value.is_object() ||
         (members.as_text && first.value.is_string())) &&
        first.key != name_key && first.key != arguments_key &&
        first.key != id_key &&
        std::ranges::find(members.id, first.key) == members.id.end()) {
      return invalid_region("a call that is called " + shown(first.key) +
                            " by its only key has another key");
    }
  }
  Value only;
  if (members.only_key && name == nullptr && arguments == nullptr &&
      item.size() == 1) {
    only = Value(item.members().begin()->key);
    name = &only;
    arguments = &item.members().begin()->value;
  }
  // 4. The name is a string.  Arguments may be missing only if the item has no
  //    member that could be meant as them: {"name": "f", "args": {}} is damage.
  if (!name_key.empty() &&
      (name == nullptr || !name->is_string() || name->as_string().empty())) {
    nameless = true;
    return invalid_region("a call without a name: expected a string under " +
                          listed(members.name, name_key));
  }
  static const Value kNone = json::Object();
  if (!arguments_key.empty() && arguments == nullptr) {
    const auto is_known = [&](const json::Member& member) {
      return &member.value == name ||
             call_stream::is_no_arguments(member.key) || member.key == id_key ||
             std::ranges::find(members.id, member.key) != members.id.end();
    };
    if (needs_arguments(reading) ||
        !std::ranges::all_of(item.members(), is_known)) {
      return invalid_region("a call without arguments: expected " +
                            listed(members.arguments, arguments_key));
    }
    arguments = &kNone;
  }
  // 5. The parts, under the keys that the transform names.
  json::Object out = item.members();
  if (const Value* id = first_of(item, members.id, id_key)) {
    const Value copy = *id;
    out.set(id_key.empty() ? "id" : id_key, copy);
  }
  if (!arguments_key.empty()) {
    out.set(arguments_key, decoded(*arguments, reading, limits));
  }
  if (!name_key.empty()) {
    const Value copy = *name;
    out.set(name_key, copy);
  }
  return Value(std::move(out));
}

// The call of an item.
Result<Value> call_of(const Value& item, const Field& field,
                      const FieldReading& reading,
                      const format::CallParts& parts, Captures captures,
                      const Limits& limits, bool& nameless) {
  Result<Value> call = with_members(item, parts, reading, limits, nameless);
  if (!call) return call;
  if (!field.transform) {
    if (!call->is_object() || call->find("function") != nullptr) return call;
    json::Object function;
    // with_members() has set both: without a transform these are the keys
    // (format::call_parts()).
    function.set("name", *call->find("name"));
    function.set("arguments", *call->find("arguments"));
    json::Object out;
    out.set("type", Value("function"));
    if (const Value* id = call->find("id")) out.set("id", *id);
    out.set("function", Value(std::move(function)));
    return Value(std::move(out));
  }
  return apply_transform_to_item(
      field, *call, captures,
      {.by_name = reading.syntax == ValueSyntax::kPythonCalls,
       .optional_id = !reading.members.id.empty()});
}

}  // namespace

std::optional<call_stream::NestedStyle> nested_style(ValueSyntax syntax) {
  if (syntax == ValueSyntax::kCohereXml) {
    return call_stream::NestedStyle::kCohereXml;
  }
  if (syntax == ValueSyntax::kMinimaxM3Xml) {
    return call_stream::NestedStyle::kMinimaxM3Xml;
  }
  return std::nullopt;
}

bool reads_values(const Field& field, const FieldReading& reading) {
  const MemberNames& members = reading.members;
  if (reading.syntax != ValueSyntax::kTemplate) return true;
  if (field.content.kind != ContentKind::kJson) return false;
  return reading.count != ValueCount::kTemplate || !members.name.empty() ||
         !members.arguments.empty() || !members.id.empty() || members.as_text ||
         members.only_key;
}

bool has_several_values(const Field& field, const FieldReading& reading) {
  if (!reads_values(field, reading)) return false;
  switch (reading.count) {
    case ValueCount::kOne:
      return false;
    case ValueCount::kList:
    case ValueCount::kSequence:
      return true;
    case ValueCount::kTemplate:
      break;
  }
  return field.transform_each || reading.syntax == ValueSyntax::kPythonCalls;
}

bool needs_arguments(const FieldReading& reading) {
  return reading.otherwise_content || reading.count == ValueCount::kSequence;
}

Result<Value> read_values(const Field& field, const FieldReading& reading,
                          const format::CallParts& parts,
                          const MarkedText& text, Captures captures,
                          const ValueContext& context,
                          std::vector<ValueDamage>& damage,
                          std::vector<ItemEnd>* ends) {
  json::Array calls;
  std::vector<ValueDamage> bad;
  for (Item& item :
       read_items(field, reading, text, captures, context, ends != nullptr)) {
    Result<Value> call = item.value;
    bool nameless = false;
    if (call) {
      call = call_of(*item.value, field, reading, parts, captures,
                     context.limits, nameless);
    }
    if (call && !context.tools.empty()) {
      if (auto error =
              schema::cast_tool_calls(*call, context.tools, context.strings)) {
        call = *std::move(error);
      }
    }
    if (ends != nullptr) {
      ends->push_back({item.bytes,
                       call ? std::nullopt : std::optional<Error>(call.error()),
                       nameless});
    }
    if (call) {
      calls.push_back(std::move(*call));
    } else {
      bad.push_back({item.bytes, std::move(call).error()});
    }
  }
  // Items are damaged beside others only if some item is a call; else the first
  // error is that of the region.
  if (calls.empty() && !bad.empty()) return std::move(bad[0].error);
  if (ends == nullptr && !bad.empty()) {
    // What is damage needs its own place.
    std::vector<ItemEnd> places;
    return read_values(field, reading, parts, text, captures, context, damage,
                       &places);
  }
  // Without damage and without a call the text is blank, or an empty list,
  // which is a list of no calls.
  if (calls.empty() && base::python_strip(text.text).empty()) {
    return invalid_region("the region is empty");
  }
  damage.insert(damage.end(), bad.begin(), bad.end());
  if (has_several_values(field, reading)) return Value(std::move(calls));
  // Only "python_calls" gives another number of items than one, and the loader
  // lets it stand for several values only.
  return std::move(calls[0]);
}

}  // namespace parlance::parse
