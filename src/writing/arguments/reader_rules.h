#ifndef PARLANCE_SRC_ARGUMENTS_READER_RULES_H_
#define PARLANCE_SRC_ARGUMENTS_READER_RULES_H_

// The rules by which the arguments of a json_schema node are read: the members
// of each object, the texts that are strings, and the texts that are JSON. They
// come from the same view of the schema as the rules of arguments/to_rules.h.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arguments/markup.h"
#include "arguments/schema_view.h"
#include "automata/language.h"
#include "base/id.h"
#include "json_recogniser/json_recogniser.h"
#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"
#include "parlance/tools.h"
#include "schema/document.h"
#include "schema/tool_table.h"
#include "structural_tag/structural_tag.h"

namespace parlance::arguments {

using ValueId = base::Id<struct ValueRule>;
using ListId = base::Id<struct ListRule>;
inline constexpr ValueId kNoValue{0xFFFFFFFF};
inline constexpr ListId kNoList{0xFFFFFFFF};
// No member of an ObjectRule, or no element.
inline constexpr std::uint32_t kNone = 0xFFFFFFFF;

// The rule of one value: the strings and the JSON texts that are valid.
struct ValueRule {
  enum class Strings : std::uint8_t {
    kNoString,  // no string is valid
    kAny,       // every string
    kListed,    // the strings in `listed`
    kLengths,   // the strings whose number of characters is in `lengths`
    kLanguage,  // the strings of `language`
  };
  Strings strings = Strings::kNoString;
  std::vector<std::string> listed = {};
  arguments::Lengths lengths = {};
  automata::LanguageId language = {};

  // Types whose values are written as JSON.
  std::uint8_t json_types = 0;
  // The rules for nested elements in cohere_xml and minimax_m3_xml; kNoList if
  // there are none.
  ListId object = kNoList;
  ListId array = kNoList;

  arguments::Conjunction all = {};
  // Reads JSON texts of json_types.
  struct JsonTexts {
    // Built for the first such text; null before, and if it cannot be built.
    std::unique_ptr<json_recogniser::JsonRecogniser> recogniser = nullptr;
    bool known = false;
  };
  // The texts of all valid values, of those of closed objects, and of those
  // without excluded texts.  Each has texts that those before it lack: a name
  // that only a subschema declares which an excluded text cannot satisfy is an
  // undeclared name, and may come several times; so may a name where closed
  // objects have no alternative that counts members.
  JsonTexts valid = {};
  JsonTexts closed = {};
  JsonTexts without_excluded = {};
};

// The rule of one alternative of an object.
struct ObjectRule {
  struct Member {
    std::string name;
    std::string written;  // the name as the style writes it
    ValueId value = kNoValue;
  };
  // Undeclared members whose names are in a language.
  struct Extra {
    automata::LanguageId names = {};
    ValueId value = kNoValue;
  };
  std::vector<Member> members;
  // Index of a member by its written name, except of names_with_middle.
  std::map<std::string, std::uint32_t, std::less<>> by_written;
  // The members whose written name contains the layout's `middle`.
  std::vector<std::uint32_t> names_with_middle;
  // next_required[i]: the first required member from i on, or their number.
  std::vector<std::uint32_t> next_required;
  std::vector<std::uint32_t> required;  // sorted
  std::vector<Extra> extras;
  std::uint64_t min = 0;
  std::uint64_t max = 0;
};

// A member that a written name names.
struct MemberName {
  std::uint32_t index = kNone;  // kNone: it is undeclared
  std::string name = {};
  ValueId value = kNoValue;
};

// The rule of one alternative of an array.
struct ArrayRule {
  std::vector<ValueId> prefix;
  ValueId rest = kNoValue;  // of the items after `prefix`, if there are any
  std::uint64_t min = 0;
  std::uint64_t max = 0;
};

// The rule of an object or an array that is written as a list of elements: its
// alternatives, in the order of preference.
struct ListRule {
  schema::TypeBits type = schema::kObject;
  arguments::Conjunction all = {};
  std::vector<ObjectRule> objects = {};
  std::vector<ArrayRule> arrays = {};
};

// Not thread-safe: queries build automata lazily.
class ArgumentRules {
 public:
  // Errors: those of arguments::lower_arguments().
  static Result<std::unique_ptr<ArgumentRules>> make(
      const structural_tag::JsonSchemaBody& format, const Limits& limits,
      std::shared_ptr<const ArgumentDocument> loaded);

  // What is asked below is stored in tables.  Once an exception has left a
  // question they are not to be asked again.
  void break_off() { broken_ = true; }
  bool broken() const { return broken_; }

  const ElementLayout& layout() const { return layout_; }
  const std::vector<TypeGroup>& groups() const { return groups_; }
  structural_tag::ArgumentStyle style() const { return format_.style; }
  bool any_order() const { return format_.any_order; }
  // Whether nested objects and lists are elements too.
  bool nests() const {
    return style() == structural_tag::ArgumentStyle::kCohereXml ||
           style() == structural_tag::ArgumentStyle::kMinimaxM3Xml;
  }

  // The rule of the whole text: a list of elements or, if the schema is not a
  // schema of objects, a value.
  ListId root_list() const { return root_list_; }
  ValueId root_value() const { return root_value_; }

  const ListRule& list(ListId id) const { return lists_[id]; }
  const ValueRule& value(ValueId id) const { return values_[id]; }

  // Whether a string is valid.
  bool string_fits(ValueId id, std::string_view text);
  // The member that `written` names; nothing if the name is not allowed.
  std::optional<MemberName> member_of(const ObjectRule& rule,
                                      std::string_view written);
  // The end of the JSON text that begins at `begin`, is a valid value of the
  // types in json_types, and is followed by `follow`; npos if there is none.
  // The text may contain white space anywhere, but does not begin or end with
  // it.
  std::size_t json_end(ValueId id, std::string_view text, std::size_t begin,
                       std::string_view follow);
  // The value of `text`, the whole text of a value that may be a string, if it
  // is JSON of the types in json_types, with or without white space around it;
  // nothing if it is a string.
  std::optional<json::Value> json_in(ValueId id, std::string_view text);

  // The argument `name`, as the readers of formats read it (cast_calls.h), so
  // that one text has one value: of a text that may be a string, and of a
  // number of JSON, of which they make an integer or a double.
  json::Value raw_value(std::string_view name, ValueId id,
                        std::string_view text);
  // The same of a text that is not JSON of the rule, if its parameter is known.
  json::Value cast_string(const schema::Parameter& parameter, ValueId id,
                          std::string_view text) const;
  // `number`, which `text` spells, as the parameter casts it.  Without a cast
  // the number itself, if it is finite; else nothing.
  std::optional<json::Value> number_value(const schema::Parameter* parameter,
                                          std::string_view text,
                                          json::Value number);
  // The argument `name`; null if nothing is known of it, or its text is not
  // what is cast.
  std::shared_ptr<const schema::Parameter> parameter_of(
      std::string_view name) const;

 private:
  ArgumentRules(const structural_tag::JsonSchemaBody& format,
                const Limits& limits,
                std::shared_ptr<const ArgumentDocument> loaded);

  std::optional<Error> make_all();
  Result<ValueId> value_of(const arguments::Conjunction& all);
  std::optional<Error> describe(ValueRule& rule);
  ListId list_of(schema::TypeBits type, const arguments::Conjunction& all);
  Result<ObjectRule> object_rule(const arguments::ArgumentObject& constraints);
  Result<ArrayRule> array_rule(const arguments::ArgumentArray& constraints);
  json_recogniser::JsonRecogniser* recogniser_of(
      const ValueRule& rule, ValueRule::JsonTexts& texts, bool only_closed,
      const std::vector<std::string>& excludes);

  const structural_tag::JsonSchemaBody format_;
  const ElementLayout layout_;
  const std::vector<TypeGroup> groups_;
  const Limits limits_;
  const std::shared_ptr<const ArgumentDocument> loaded_;
  // One tool without a name; none if the texts of values are not cast.
  const ToolSet tool_;
  bool broken_ = false;
  arguments::TextLanguages languages_;
  arguments::ArgumentSchema schema_;
  std::vector<ValueRule> values_;
  std::vector<ListRule> lists_;
  std::map<arguments::Conjunction, ValueId> value_ids_;
  std::map<std::pair<schema::TypeBits, arguments::Conjunction>, ListId>
      list_ids_;
  ListId root_list_ = kNoList;
  ValueId root_value_ = kNoValue;
};

}  // namespace parlance::arguments

#endif  // PARLANCE_SRC_ARGUMENTS_READER_RULES_H_
