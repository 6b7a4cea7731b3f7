#ifndef PARLANCE_SRC_FORMAT_ARGUMENT_LAYOUT_H_
#define PARLANCE_SRC_FORMAT_ARGUMENT_LAYOUT_H_

// How the arguments of a call are written: by a family file ("write"), and in a
// node json_schema of a structural tag.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parlance::format {

// How the arguments of a call are written.  ORDER: ArgumentStyle
enum class ArgumentStyle : std::uint8_t {
  kJson,
  kQwenXml,         // <parameter=NAME>VALUE</parameter>
  kMinimaxXml,      // <parameter name="NAME">VALUE</parameter>
  kDeepseekXml,     // the same with full-width bars and an attribute "string"
  kGlmXml,          // <arg_key>NAME</arg_key><arg_value>VALUE</arg_value>
  kKimiK3Xml,       // <|open|>argument key="NAME" type="TYPE"<|sep|>VALUE...
  kCohereXml,       // <cofl:value name="NAME" type="KIND">VALUE</cofl:value>
  kDeepseekV41Xml,  // as kDeepseekXml, with a space before "parameter"
  kMinimaxM3Xml,    // ]<]minimax[>[<NAME>VALUE]<]minimax[>[</NAME>, nested
  kElements,        // as ArgumentLayout::elements describes
  kPython,          // city="Bern", days=3
  kDelimited,       // as ArgumentLayout::delimited describes
};
constexpr std::size_t kArgumentStyles = 12;
// "qwen_xml" for ArgumentStyle::kQwenXml.
std::string_view to_string(ArgumentStyle style);

// How each argument is written as an element:
//
//   open         NAME  middle  [TYPE after_type]  VALUE  close    between
//   <parameter=  city  >\n                        Bern   \n</parameter>\n
//
// A string is raw text, any other value JSON.  The texts are exact: white space
// in them is markup, and there is no other.
struct ElementLayout {
  enum class Key : std::uint8_t {
    kRaw,
    kXml,  // & is &amp; and " is &quot;
  };
  enum class Strings : std::uint8_t {
    kRaw,
    kJson,   // strings are JSON too
    kCdata,  // a string with < or & is <![CDATA[...]]>
  };

  std::string open = {};
  std::string middle = {};  // not empty
  // The text of TYPE by the name of a JSON type, as given; "*" is any type that
  // is not listed, and integers are numbers unless they are listed.  Empty: no
  // type is written.  No text with after_type begins with another one.
  std::vector<std::pair<std::string, std::string>> types = {};
  std::string after_type = {};
  std::string close = {};    // empty only if `strings` is kJson
  std::string between = {};  // between two elements
  Key key = Key::kRaw;
  Strings strings = Strings::kRaw;
  // What else ends an argument or a call for the parsers of the family.  A raw
  // string contains none of them, nor `close` without the white space before
  // and after it.
  std::vector<std::string> ends = {};
  // The parsers of the family leave out white space around a raw string, so no
  // raw string begins or ends with white space.
  bool strip = false;
  // JSON is written on one line, as json.dumps() does: the parsers of the
  // family end a value at a line feed, or leave it out.
  bool one_line = false;

  // The rest describes the named styles; it is false for kElements.
  // White space is optional between elements and around a value of JSON, and
  // the text of TYPE does not specify how the value is written.
  bool loose = false;
  // One line feed before and after a value is optional markup.
  bool line_feeds = false;

  // The text of TYPE for a type of JSON Schema; null if there is none.
  const std::string* type_text(std::string_view type) const {
    const auto listed = [&](std::string_view name) -> const std::string* {
      for (const auto& [known, text] : types) {
        if (known == name) return &text;
      }
      return nullptr;
    };
    const std::string* out = listed(type);
    if (out == nullptr && type == "integer") out = listed("number");
    return out != nullptr ? out : listed("*");
  }

  bool operator==(const ElementLayout&) const = default;
};

// An object in braces, with bare keys and raw strings between delimiters:
//
//   {city:<|"|>Bern<|"|>,days:3,opts:{x:null}}
//
// There is no white space, and a string does not contain the closing delimiter.
// A key that is not a word ([A-Za-z0-9_.-] and characters beyond ASCII) is
// written as a string.
struct DelimitedLayout {
  std::string open = {};   // not empty
  std::string close = {};  // not empty
  bool text_keys = false;  // base::is_bare_key(): any text

  bool operator==(const DelimitedLayout&) const = default;
};

// How all arguments of a call are written.
struct ArgumentLayout {
  ArgumentStyle style = ArgumentStyle::kJson;
  ElementLayout element_layout = {};
  DelimitedLayout delimited_layout = {};
  // The members of an object come in another order than that of the schema.
  bool any_order = false;

  // Null in every other style.
  const ElementLayout* elements() const {
    return style == ArgumentStyle::kElements ? &element_layout : nullptr;
  }
  const DelimitedLayout* delimited() const {
    return style == ArgumentStyle::kDelimited ? &delimited_layout : nullptr;
  }
};

}  // namespace parlance::format

#endif  // PARLANCE_SRC_FORMAT_ARGUMENT_LAYOUT_H_
