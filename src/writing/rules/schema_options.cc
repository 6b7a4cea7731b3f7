#include "rules/schema_options.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/located.h"

namespace parlance::rules {
namespace {

using json::Kind;
using json::Value;

// ORDER: JsonSpelling
constexpr std::array<std::string_view, 3> kSpellings = {"canonical", "any",
                                                        "raw"};
// ORDER: SchemaDraft
constexpr std::array<std::string_view, 5> kDrafts = {"4", "6", "7", "2019-09",
                                                     "2020-12"};
constexpr std::array<std::string_view, 12> kKeys = {
    "any_whitespace", "max_whitespace_cnt", "indent",   "separators",
    "strict_mode",    "any_order",          "spelling", "lenient",
    "draft",          "assert_formats",     "excludes", "documents"};

constexpr const char* kTexts = "is a list of strings that are not empty.";

// Stops at the first error.
class Reader {
 public:
  explicit Reader(const Value& source) : source_(source) {}

  Result<JsonSchemaOptions> read() {
    if (!source_.is_null() && !source_.is_object()) {
      return Error{ErrorCode::kWrongType,
                   "The options of a schema are an object."};
    }
    for (const auto& [key, value] : source_.members()) {
      bool known = false;
      for (std::string_view name : kKeys) known = known || name == key;
      if (!known) unknown(key);
    }
    JsonSchemaOptions out;
    layout(out.layout);
    out.closed = flag("strict_mode", false);
    out.key_order =
        flag("any_order", true) ? KeyOrder::kAny : KeyOrder::kSchema;
    spelling(out.spelling);
    out.lenient = flag("lenient", false);
    out.assert_formats = flag("assert_formats", true);
    draft(out.draft);
    excludes(out.excludes);
    documents(out);
    if (error_) return *std::move(error_);
    return out;
  }

 private:
  // Null if the key is absent or its value is null.
  const Value* given(std::string_view key) const {
    const Value* found = source_.find(key);
    return found == nullptr || found->is_null() ? nullptr : found;
  }

  void fail(ErrorCode code, std::string_view key, std::string message) {
    if (error_) return;
    error_ = Error{code, "\"" + std::string(key) + "\" " + std::move(message),
                   json::append_pointer("", key)};
  }

  void unknown(std::string_view key) {
    std::string names;
    for (std::string_view name : kKeys) {
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
    fail(ErrorCode::kUnknownKey, key,
         "is no option of a schema; there are " + names + ".");
  }

  bool flag(std::string_view key, bool absent) {
    const Value* value = source_.find(key);
    if (value == nullptr) return absent;
    if (value->kind() != Kind::kBool) {
      fail(ErrorCode::kWrongType, key, "is true or false.");
      return absent;
    }
    return value->as_bool();
  }

  // A non-negative integer.
  std::optional<std::size_t> count(std::string_view key) {
    const Value* value = given(key);
    if (value == nullptr) return std::nullopt;
    if (value->kind() != Kind::kInt) {
      fail(ErrorCode::kWrongType, key, "is a whole number or null.");
    } else if (value->as_int() < 0 ||
               value->as_int() > std::numeric_limits<std::uint32_t>::max()) {
      fail(ErrorCode::kInvalidValue, key, "is from 0 to 4294967295.");
    } else {
      return static_cast<std::size_t>(value->as_int());
    }
    return std::nullopt;
  }

  void layout(JsonLayout& out) {
    const std::optional<std::size_t> indent = count("indent");
    const std::optional<std::size_t> space = count("max_whitespace_cnt");
    const Value* separators = given("separators");
    const bool exact = indent || separators != nullptr;
    out.exact = !flag("any_whitespace", !exact);
    if (!out.exact) {
      if (exact) {
        fail(ErrorCode::kConflict, indent ? "indent" : "separators",
             "says exactly how the text is laid out, and any_whitespace is "
             "true.");
      }
      if (space) {
        out.max_white_space = *space;
      } else if (source_.find("max_whitespace_cnt") != nullptr) {
        out.max_white_space = JsonLayout::kUnlimited;
      }
      return;
    }
    if (space) {
      fail(ErrorCode::kConflict, "max_whitespace_cnt",
           "bounds white space that may vary; this layout is exact.");
    }
    if (indent) out.indent = static_cast<std::uint32_t>(*indent);
    if (separators == nullptr) return;
    const json::Array& items = separators->items();
    if (!separators->is_array() || items.size() != 2 || !items[0].is_string() ||
        !items[1].is_string()) {
      fail(ErrorCode::kWrongType, "separators",
           "is a list of two strings: [\", \", \": \"].");
      return;
    }
    out.item_separator = std::string(items[0].as_string());
    out.key_separator = std::string(items[1].as_string());
  }

  void spelling(JsonSpelling& out) {
    const Value* value = given("spelling");
    if (value == nullptr) return;
    for (std::size_t i = 0; i < kSpellings.size(); ++i) {
      if (value->is_string() && value->as_string() == kSpellings[i]) {
        out = static_cast<JsonSpelling>(i);
        return;
      }
    }
    fail(ErrorCode::kUnknownName, "spelling",
         "is \"canonical\", \"any\" or \"raw\".");
  }

  void draft(std::optional<SchemaDraft>& out) {
    const Value* value = given("draft");
    if (value == nullptr) return;
    for (std::size_t i = 0; i < kDrafts.size(); ++i) {
      if (value->is_string() && value->as_string() == kDrafts[i]) {
        out = static_cast<SchemaDraft>(i);
      }
    }
    if (!out) {
      fail(ErrorCode::kUnknownName, "draft",
           "is \"4\", \"6\", \"7\", \"2019-09\" or \"2020-12\".");
    }
  }

  void excludes(std::vector<std::string>& out) {
    const Value* value = given("excludes");
    if (value == nullptr) return;
    for (const Value& text : value->items()) {
      if (text.is_string() && !text.as_string().empty()) {
        out.emplace_back(text.as_string());
      } else {
        fail(ErrorCode::kWrongType, "excludes", kTexts);
      }
    }
    if (!value->is_array()) fail(ErrorCode::kWrongType, "excludes", kTexts);
  }

  void documents(JsonSchemaOptions& out) {
    const Value* value = given("documents");
    if (value == nullptr) return;
    if (!value->is_object()) {
      fail(ErrorCode::kWrongType, "documents",
           "is an object: schemas by their URLs.");
    }
    for (const auto& [url, document] : value->members()) {
      out.documents.emplace(url, document);
    }
  }

  const Value& source_;
  std::optional<Error> error_ = std::nullopt;
};

}  // namespace

Result<JsonSchemaOptions> read_schema_options(const json::Value& source) {
  return Reader(source).read();
}

json::Value write_schema_options(const JsonSchemaOptions& options) {
  const JsonSchemaOptions defaults;
  const JsonLayout& layout = options.layout;
  json::Object out;
  if (layout.exact) {
    out.set("any_whitespace", false);
    if (layout.indent) out.set("indent", std::int64_t{*layout.indent});
    if (layout.item_separator ||
        layout.key_separator != defaults.layout.key_separator) {
      out.set("separators", json::Array{Value(layout.item_separator.value_or(
                                            layout.indent ? "," : ", ")),
                                        Value(layout.key_separator)});
    }
  } else if (layout.max_white_space == JsonLayout::kUnlimited) {
    out.set("max_whitespace_cnt", nullptr);
  } else if (layout.max_white_space != defaults.layout.max_white_space) {
    out.set("max_whitespace_cnt",
            static_cast<std::int64_t>(layout.max_white_space));
  }
  if (options.closed) out.set("strict_mode", true);
  if (options.key_order == KeyOrder::kSchema) out.set("any_order", false);
  if (options.spelling != defaults.spelling) {
    out.set(
        "spelling",
        std::string(kSpellings[static_cast<std::size_t>(options.spelling)]));
  }
  if (options.lenient) out.set("lenient", true);
  if (!options.assert_formats) out.set("assert_formats", false);
  if (options.draft) {
    out.set("draft",
            std::string(kDrafts[static_cast<std::size_t>(*options.draft)]));
  }
  if (!options.excludes.empty()) {
    out.set("excludes",
            json::Array(options.excludes.begin(), options.excludes.end()));
  }
  json::Object documents;
  for (const auto& [url, document] : options.documents) {
    documents.set(url, document);
  }
  if (!documents.empty()) out.set("documents", std::move(documents));
  return out.empty() ? Value() : Value(std::move(out));
}

}  // namespace parlance::rules
