// Laws of arguments whose layout is data (the styles elements, python and
// delimited), on random schemas:
//
//   sound     a text that the grammar accepts is read to its end, and the value
//             is valid by the slow validator
//   complete  a value that the style json generates, written by the writer
//   below,
//             is accepted, and the reader gives exactly this value
//   stream    the JSON text that is written while a text arrives has the values
//             of the whole text, and its events do not depend on the cut
//   excludes  no string and no name of a value holds an excluded text
//   cut       of the beginning of a text whole members are read, and reading
//             what was read once more gives the same

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "arguments/reader.h"
#include "base/access.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "schema/validate.h"
#include "structural_tag/structural_tag.h"
#include "support/argument_checks.h"
#include "support/argument_texts.h"
#include "support/small_schemas.h"

namespace parlance::layouts_law_test {
namespace {

using structural_tag::ArgumentStyle;
using testing::SmallSchemas;

// The members of a json_schema node that specify the layout.
constexpr const char* kLayouts[] = {
    R"({"style": "python"})",
    R"({"style": "delimited", "delimited": {"string": ["<|\"|>", "<|\"|>"]}})",
    R"({"style": "delimited", "delimited": {"string": ["''", "''"]}})",
    R"({"style": "delimited", "delimited": {"string": ["<|\"|>", "<|\"|>"],
        "keys": "text"}})",
    R"({"style": "delimited", "delimited": {"string": ["<", "a>"]}})",
    R"({"style": "elements", "elements": {"open": "<parameter=",
        "middle": ">\n", "close": "\n</parameter>\n",
        "ends": ["<parameter=", "</function>"]}})",
    R"({"style": "elements", "elements": {"open": "<p name=\"",
        "middle": "\" string=\"", "types": {"string": "true", "*": "false"},
        "after_type": "\">", "close": "</p>", "between": "\n"}})",
    R"({"style": "elements", "elements": {"open": "<arg key=\"",
        "middle": "\" type=\"", "types": {"string": "string", "number":
        "number", "integer": "integer", "boolean": "boolean", "null": "null",
        "object": "object", "array": "array"}, "after_type": "\">",
        "close": "</arg>", "key": "xml"}})",
    R"({"style": "elements", "elements": {"open": "", "middle": "=",
        "close": "", "between": ", ", "strings": "json"}})",
    R"({"style": "elements", "elements": {"open": "<p name=\"",
        "middle": "\">", "close": "</p>", "strings": "cdata"}})",
    R"({"style": "elements", "elements": {"open": "<p name=\"",
        "middle": "\"", "types": {"string": ">", "*": " json>"},
        "after_type": "", "close": "</p>", "strings": "cdata"}})",
    R"({"style": "elements", "elements": {"open": "'", "middle": "''",
        "close": "\na\na", "between": "--"}})",
    R"({"style": "elements", "elements": {"open": "", "middle": ": ",
        "close": "\n", "between": ""}})",
    R"({"style": "elements", "elements": {"open": "<k>", "middle": "</k><v>",
        "types": {"number": "n", "boolean": "n", "integer": "b", "*": "b"},
        "after_type": ":", "close": "</v>", "between": " "}})",
};

// Whether a Python call gives an argument twice.
bool gives_twice(std::string_view text) {
  std::set<std::string_view> names;
  std::size_t begin = 0;
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > 0) continue;
    if (c == ' ') begin = i + 1;
    if (c == '=' && !names.insert(text.substr(begin, i - begin)).second) {
      return true;
    }
  }
  return false;
}

// A text like the layouts' chat templates write it, written from the layout in
// JSON alone.  Nothing if the layout cannot write it.
class LayoutWriter {
 public:
  explicit LayoutWriter(const json::Value& node) : node_(node) {
    for (const char* style : {"elements", "delimited"}) {
      if (const json::Value* found = node.find(style)) layout_ = *found;
    }
  }

  std::optional<std::string> write(const json::Object& members) {
    const std::string_view style = node_.find("style")->as_string();
    std::string out;
    bool fits = true;
    if (style == "delimited") {
      fits = delimited(members, out);
    } else {
      for (const json::Member& member : members) {
        const bool first = out.empty();
        if (style == "python") {
          if (!first) out += ", ";
          out += member.key + "=" + python(member.value);
        } else {
          if (!first) out += text("between");
          fits = fits && element(member, out);
        }
      }
    }
    if (!fits) return std::nullopt;
    return out;
  }

 private:
  std::string text(std::string_view key) const {
    const json::Value* found = layout_.find(key);
    return found == nullptr ? "" : std::string(found->as_string());
  }

  static std::string dump(const json::Value& value) {
    return json::dump(value, {.ascii = false});
  }

  static std::string python(const json::Value& value) {
    std::string out;
    switch (value.kind()) {
      case json::Kind::kNull:
        return "None";
      case json::Kind::kBool:
        return value.as_bool() ? "True" : "False";
      case json::Kind::kArray:
        for (const json::Value& item : value.items()) {
          out += (out.empty() ? "" : ", ") + python(item);
        }
        return "[" + out + "]";
      case json::Kind::kObject:
        for (const json::Member& member : value.members()) {
          out += (out.empty() ? "" : ", ") + dump(member.key) + ": " +
                 python(member.value);
        }
        return "{" + out + "}";
      default:
        return dump(value);
    }
  }

  // Whether a raw text contains what ends it, or a beginning of this that could
  // become it together with the markup.
  static bool holds_end(std::string_view content, std::string_view before,
                        std::string_view end) {
    for (std::size_t size = 1; size <= end.size(); ++size) {
      const std::string part(end.substr(0, size));
      if ((part + std::string(before) + std::string(end)).starts_with(end)) {
        return content.find(part) != std::string_view::npos;
      }
    }
    return false;
  }

  bool raw(std::string_view content, std::string& out) const {
    const json::Array& string = layout_.find("string")->items();
    const std::string_view close = string[1].as_string();
    out += string[0].as_string();
    out += content;
    out += close;
    return !holds_end(content, "", close);
  }

  bool delimited(const json::Value& value, std::string& out) const {
    bool fits = true;
    const auto separate = [&](std::size_t i) {
      if (i > 0) out += ",";
    };
    if (value.is_string()) return raw(value.as_string(), out);
    if (value.is_array()) {
      out += "[";
      for (std::size_t i = 0; i < value.items().size(); ++i) {
        separate(i);
        fits = delimited(value.items()[i], out) && fits;
      }
      out += "]";
    } else if (value.is_object()) {
      out += "{";
      std::size_t i = 0;
      for (const json::Member& member : value.members()) {
        separate(i++);
        const bool any = text("keys") == "text";
        const bool word =
            !member.key.empty() &&
            (any ? member.key.find_first_of("<\"[]{},:\n") ==
                           std::string::npos &&
                       member.key.front() != ' ' && member.key.back() != ' '
                 : std::all_of(
                       member.key.begin(), member.key.end(), [](char c) {
                         return std::isalnum(static_cast<unsigned char>(c)) !=
                                    0 ||
                                c == '_' || c == '.' || c == '-' ||
                                (c & 0x80) != 0;
                       }));
        if (word) out += member.key;
        fits = (word || raw(member.key, out)) && fits;
        out += ":";
        fits = delimited(member.value, out) && fits;
      }
      out += "}";
    } else {
      out += dump(value);
    }
    return fits;
  }

  std::string type_of(const json::Value& value) const {
    std::vector<std::string_view> names = {json::to_string(value.kind())};
    switch (value.kind()) {
      case json::Kind::kNull:
        names = {"null", "*"};
        break;
      case json::Kind::kBool:
        names = {"boolean", "*"};
        break;
      case json::Kind::kString:
        names = {"string", "*"};
        break;
      case json::Kind::kArray:
        names = {"array", "*"};
        break;
      case json::Kind::kObject:
        names = {"object", "*"};
        break;
      case json::Kind::kFloat:
        names = {"number", "*"};
        break;
      default:
        names = {"integer", "number", "*"};
        break;
    }
    for (const std::string_view name : names) {
      if (const json::Value* found = layout_.find("types")->find(name)) {
        return std::string(found->as_string());
      }
    }
    return "";
  }

  bool element(const json::Member& member, std::string& out) const {
    std::string close = text("close");
    std::string core = close;
    const std::size_t first = close.find_first_not_of(" \n");
    const std::size_t lead = first == std::string::npos ? 0 : first;
    if (first != std::string::npos) {
      core = close.substr(first, close.find_last_not_of(" \n") + 1 - first);
    }
    const auto closes = [&](const std::string& content) {
      if (holds_end(content, close.substr(0, lead), core)) return true;
      const json::Value* ends = layout_.find("ends");
      if (ends == nullptr) return false;
      return std::any_of(ends->items().begin(), ends->items().end(),
                         [&](const json::Value& one) {
                           return content.find(one.as_string()) !=
                                  std::string::npos;
                         });
    };
    out += text("open");
    std::string name = member.key;
    if (text("key") == "xml") {
      for (std::size_t i = 0; i < name.size(); ++i) {
        if (name[i] == '&') name.replace(i, 1, "&amp;");
        if (name[i] == '"') name.replace(i, 1, "&quot;");
      }
    }
    out += name + text("middle");
    if (layout_.find("types") != nullptr) {
      out += type_of(member.value) + text("after_type");
    }
    const std::string strings = text("strings");
    if (!member.value.is_string() || strings == "json") {
      out += dump(member.value) + close;
      return true;
    }
    const std::string content(member.value.as_string());
    if (strings == "cdata" &&
        content.find_first_of("<&") != std::string::npos) {
      out += "<![CDATA[" + content + "]]>" + close;
      return content.find("]]>") == std::string::npos;
    }
    out += content + close;
    return !closes(content);
  }

  const json::Value& node_;
  json::Value layout_;
};

struct Counts {
  std::size_t schemas = 0;
  std::size_t texts = 0;
  std::size_t values = 0;
  std::size_t left_out = 0;
  std::size_t streams = 0;
};

json::Value schema_of(SmallSchemas& small) {
  SmallSchemas::Kinds kinds;
  kinds.unevaluated = false;
  kinds.references = small.below(3) == 0;
  kinds.logic = small.below(2) == 0;
  if (small.below(3) == 0) return small.schema(kinds);
  kinds.references = false;
  json::Object properties;
  for (const char* name : {"a", "b", "c"}) {
    if (small.below(3) == 0) continue;
    properties.set(name, small.schema(kinds));
  }
  // "properties" without any closes an object here, and not in JSON.
  if (properties.begin() == properties.end()) properties.set("a", true);
  json::Object root;
  root.set("type", "object");
  root.set("properties", std::move(properties));
  if (small.below(2) == 0) {
    root.set("additionalProperties", small.below(2) == 0
                                         ? json::Value(small.below(2) == 0)
                                         : small.schema(kinds));
  }
  if (small.below(3) == 0) root.set("required", json::Array{"b"});
  if (small.below(8) == 0) {
    root.set("minProperties", static_cast<int>(small.below(4)));
  }
  if (small.below(4) == 0) {
    root.set("maxProperties", static_cast<int>(1 + small.below(3)));
  }
  if (small.below(5) == 0) {
    root.set("patternProperties",
             json::Object{{"^[b-d]+$", small.schema(kinds)}});
  }
  return root;
}

class Case {
 public:
  Case(std::uint32_t seed, Counts& counts)
      : seed_(seed), counts_(counts), small_(seed) {}

  void run(std::size_t walks) {
    schema_ = schema_of(small_);
    // A key that only "not" or "dependentSchemas" mentions may come twice in
    // JSON, which its reader does not take.
    const std::string text = json::dump(schema_);
    if (text.find("dependentSchemas") != std::string::npos ||
        text.find("\"not\"") != std::string::npos) {
      return;
    }
    const Result<json::Value> layout =
        json::parse(kLayouts[small_.below(std::size(kLayouts))]);
    ASSERT_TRUE(layout);
    node_ = *layout;
    node_.mutable_members().set("type", "json_schema");
    node_.mutable_members().set("json_schema", schema_);
    node_.mutable_members().set("any_order", small_.below(3) == 0);
    if (small_.below(5) == 0) {
      node_.mutable_members().set("excludes", json::Array{"ab", "c"});
    }
    SCOPED_TRACE("seed " + std::to_string(seed_) + " " + json::dump(node_));
    const Result<schema::Document> document = schema::load(schema_);
    if (!document) return;
    const auto tag = StructuralTag::from_value(json::Object{{"format", node_}});
    if (!tag) return;
    format_ = detail::Access::impl(*tag)
                  ->nodes[0]
                  .as<structural_tag::JsonSchemaBody>();
    const Result<Grammar> grammar = Grammar::from_structural_tag(*tag);
    if (!grammar) return;
    ++counts_.schemas;
    const auto reader = arguments::ArgumentReader::make(format_);
    ASSERT_TRUE(reader) << reader.error().to_string();
    schema::Validator validator(*document);
    walk(*grammar, *reader, validator, walks);
    if (!::testing::Test::HasFatalFailure()) {
      write(*grammar, *reader, validator, 4 * walks);
    }
  }

 private:
  std::vector<std::string> words() const {
    std::vector<std::string> out = testing::argument_words(format_.style);
    const structural_tag::ElementLayout& layout = format_.elements;
    for (const std::string& text :
         {layout.open, layout.middle, layout.after_type, layout.close,
          layout.between, layout.close + layout.between + layout.open,
          format_.delimited.open, format_.delimited.close,
          format_.delimited.open + "a" + format_.delimited.close}) {
      if (!text.empty()) out.insert(out.end(), 2, text);
    }
    for (const auto& [type, text] : layout.types) {
      if (!text.empty()) out.push_back(text + layout.after_type);
    }
    // JSON in which an element ends and the next one begins, and a string in
    // which something else seems to.
    if (!layout.close.empty()) {
      out.push_back("[\"" + layout.close + layout.between + layout.open + "b" +
                    layout.middle + layout.after_type + "\"]" + layout.close);
      out.push_back("<![CDATA[true" + layout.close);
    }
    for (const char* text : {"a=", "b=", "a:", "\"a\": ", ", ", "None", "True",
                             "False", "{", "[", "<![CDATA[", "]]>", "<", "&"}) {
      out.emplace_back(text);
    }
    return out;
  }

  void walk(const Grammar& grammar, const arguments::ArgumentReader& reader,
            schema::Validator& validator, std::size_t walks) {
    testing::check_walks(
        grammar, reader, validator, format_.excludes, words(), walks, small_,
        counts_.texts,
        [&](const std::string& text, const json::Value& value) {
          check_stream(reader, text, value);
        },
        format_.style == ArgumentStyle::kPython ? &gives_twice : nullptr);
  }

  void check_stream(const arguments::ArgumentReader& reader,
                    std::string_view text, const json::Value& value) {
    if (!value.is_object()) return;
    testing::check_stream(reader, text, value, counts_.streams);
  }

  // A value with strings that hold parts of the layout.
  json::Value value() {
    json::Value out = small_.value(3);
    const std::vector<std::string> favourites = words();
    if (!out.is_object()) return out;
    for (json::Member& member : out.mutable_members()) {
      if (!member.value.is_string() || small_.below(3) != 0) continue;
      std::string text(member.value.as_string());
      text += favourites[small_.below(favourites.size())];
      if (small_.below(2) == 0) text = "\n" + text;
      member.value = text;
    }
    return out;
  }

  // Whether the layout writes a string as it writes another value.
  bool is_ambiguous(const json::Object& members) const {
    if (format_.style != ArgumentStyle::kElements ||
        format_.elements.strings ==
            structural_tag::ElementLayout::Strings::kJson) {
      return false;
    }
    const auto text_of = [&](const json::Value& value) {
      for (const arguments::TypeGroup& group :
           arguments::type_groups(format_.elements)) {
        if ((group.types & schema::kString) != 0) {
          return (group.types & ~schema::kString) == 0;
        }
      }
      return value.is_null();
    };
    for (const json::Member& member : members) {
      if (!member.value.is_string() || text_of(member.value)) continue;
      const auto other = json::parse(member.value.as_string());
      if (other && !other->is_string()) return true;
    }
    return false;
  }

  void write(const Grammar& grammar, const arguments::ArgumentReader& reader,
             schema::Validator& validator, std::size_t tries) {
    for (const GrammarNote& note : grammar.report()) {
      if (note.kind == GrammarNote::Kind::kNarrowed) return;
    }
    json::Value plain = node_;
    plain.mutable_members().set("style", "json");
    plain.mutable_members().erase("elements");
    plain.mutable_members().erase("delimited");
    const auto json_tag =
        StructuralTag::from_value(json::Object{{"format", plain}});
    ASSERT_TRUE(json_tag);
    const auto json_grammar = Grammar::from_structural_tag(*json_tag);
    if (!json_grammar) return;
    for (const GrammarNote& note : json_grammar->report()) {
      if (note.kind == GrammarNote::Kind::kNarrowed) return;
    }
    LayoutWriter writer(node_);
    for (std::size_t i = 0; i < tries; ++i) {
      const json::Value made = value();
      if (!made.is_object() || !validator.valid(made)) continue;
      if (!json_grammar->accepts(json::dump(made, {.ascii = false}))) continue;
      const json::Object& members = made.members();
      const std::optional<std::string> text = writer.write(members);
      if (!text) continue;
      if (!grammar.accepts(*text)) {
        // Of several undeclared names that minProperties requires, some are
        // not generated; and a name that is not declared, but required or in a
        // dependency or a condition, comes before other undeclared ones.
        const std::string schema = json::dump(schema_);
        const auto has = [&](const char* keyword) {
          return schema.find(keyword) != std::string::npos;
        };
        ASSERT_TRUE(has("minProperties") ||
                    (!format_.any_order &&
                     (has("required") || has("\"dependent") || has("\"not\"") ||
                      has("\"if\"") || has("\"oneOf\""))))
            << *text;
        ++counts_.left_out;
        continue;
      }
      ++counts_.values;
      const arguments::Arguments read = reader.read(*text);
      ASSERT_TRUE(read.complete) << *text;
      check_stream(reader, *text, read.value);
      if (::testing::Test::HasFatalFailure()) return;
      if (is_ambiguous(members)) continue;
      ASSERT_TRUE(schema::equal_values(read.value, made))
          << *text << "\n"
          << json::dump(read.value) << "\n"
          << json::dump(made);
    }
  }

  const std::uint32_t seed_;
  Counts& counts_;
  SmallSchemas small_;
  json::Value schema_;
  json::Value node_;
  structural_tag::JsonSchemaBody format_;
};

Counts check(std::uint32_t first, std::uint32_t count, std::size_t walks) {
  Counts counts;
  for (std::uint32_t seed = first; seed < first + count; ++seed) {
    Case(seed, counts).run(walks);
    if (::testing::Test::HasFatalFailure()) break;
  }
  std::cout << counts.schemas << " schemas, " << counts.texts << " texts, "
            << counts.values << " values, " << counts.left_out << " left out, "
            << counts.streams << " streams" << std::endl;
  return counts;
}

TEST(LayoutsLaw, Reading) {
  const Counts counts = check(1, 1200, 4);
  EXPECT_GT(counts.texts, 1000u);
  EXPECT_GT(counts.values, 500u);
  EXPECT_LT(counts.left_out, counts.values / 10);
}

TEST(LayoutsLaw, ReadingLongRun) {
  for (std::uint32_t part = 1; part <= 10; ++part) {
    check(part * 100000, 4000, 10);
    if (HasFatalFailure()) break;
  }
}

}  // namespace
}  // namespace parlance::layouts_law_test
