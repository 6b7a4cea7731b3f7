// Content parsers: their names and their arguments.
//
// Upstream checks the arguments when a region closes, in production.  Here they
// are checked once, when the template is loaded, and arguments that would fail
// for every region are refused.  A fault that some regions never meet (a value
// parser that never gets a value) is recorded as Content::fault; lint() lists
// it, and the region that meets it fails.  Keys that the parser does not know
// are ignored, as in upstream.

#include <array>
#include <utility>
#include <vector>

#include "format/load.h"
#include "format/names.h"
#include "json/located.h"

namespace parlance::format {
namespace {

// ORDER: ContentKind
constexpr std::array<std::string_view, 8> kContentNames = {
    "text", "int",        "float",    "bool",
    "json", "xml-inline", "kv-lines", "python-call-list"};

// The arguments of one parser, and their location.
class Arguments {
 public:
  Arguments(const json::Value* object, const Location& location)
      : object_(object), location_(location) {}

  const json::Value* find(std::string_view key) const {
    return object_ != nullptr ? object_->find(key) : nullptr;
  }

  // As Python's bool() of the argument.
  bool flag(std::string_view key, bool by_default) const {
    const json::Value* value = find(key);
    return value != nullptr ? value->truthy() : by_default;
  }

  // Reads a string.  An empty line_sep fails for every region, so it is
  // refused. An empty kv_sep fails only on a line that is not blank: upstream
  // reads regions of blank lines with it, so the fault is left to the region.
  std::optional<Error> separator(std::string_view key, std::string& out) const {
    const json::Value* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_string()) {
      return error(ErrorCode::kWrongType, key,
                   "must be a string, got " + describe_kind(*value) + ".");
    }
    if (value->as_string().empty() && key == "line_sep") {
      return error(ErrorCode::kEmptyValue, key,
                   "must not be empty: there is nothing to split at.");
    }
    out = std::string(value->as_string());
    return std::nullopt;
  }

  Error error(ErrorCode code, std::string_view key,
              std::string_view what) const {
    return Error{code,
                 location_.scope + ": content_args '" + std::string(key) +
                     "' " + std::string(what),
                 pointer(key)};
  }

  std::string pointer(std::string_view key) const {
    return find(key) != nullptr ? json::append_pointer(location_.pointer, key)
                                : location_.pointer;
  }

  const Location& location() const { return location_; }

 private:
  const json::Value* object_;
  const Location& location_;
};

std::optional<Error> load_string_delims(const Arguments& args, Content& out) {
  const json::Value* pairs = args.find("string_delims");
  if (pairs == nullptr) return std::nullopt;
  if (!pairs->is_array()) {
    return args.error(ErrorCode::kWrongType, "string_delims",
                      "must be a list of [open, close] pairs, got " +
                          describe_kind(*pairs) + ".");
  }
  for (std::size_t i = 0; i < pairs->items().size(); ++i) {
    const json::Value& pair = pairs->items()[i];
    const std::string pointer =
        json::append_pointer(args.pointer("string_delims"), i);
    if (!pair.is_array() || pair.size() != 2 || !pair.items()[0].is_string() ||
        !pair.items()[1].is_string()) {
      Error error =
          args.error(ErrorCode::kWrongType, "string_delims",
                     "must hold pairs of two strings, [open, close]; entry " +
                         std::to_string(i) + " is " +
                         json::dump(pair, {.ascii = false}) + ".");
      error.path = pointer;
      return error;
    }
    std::string open(pair.items()[0].as_string());
    std::string close(pair.items()[1].as_string());
    if (open.empty() || close.empty()) {
      Error error =
          args.error(ErrorCode::kEmptyValue, "string_delims",
                     "must not contain empty strings: nothing marks where the "
                     "model's string begins or ends.");
      error.path =
          json::append_pointer(pointer, std::size_t{open.empty() ? 0u : 1u});
      return error;
    }
    out.string_delims.emplace_back(std::move(open), std::move(close));
  }
  return std::nullopt;
}

std::optional<Error> load_tag_pattern(const Arguments& args,
                                      const Limits& limits, Content& out) {
  const json::Value* value = args.find("tag_pattern");
  if (value == nullptr || value->is_null()) {
    return args.error(ErrorCode::kMissingKey, "tag_pattern",
                      "is required by xml-inline: a pattern with the named "
                      "groups 'key' and 'value'.");
  }
  const Location location = {args.pointer("tag_pattern"),
                             args.location().scope};
  Result<regex::Pattern> pattern =
      load_pattern(*value, location, "tag_pattern", limits);
  if (!pattern) return std::move(pattern).error();
  // A pattern without the group `key` fails on its first match; a region
  // without a match is an empty object.  lint() reports such a pattern.
  out.tag_pattern = std::move(*pattern);
  return std::nullopt;
}

// Reads one parser without its value parser.
std::optional<Error> load_one(ContentKind kind, const Arguments& args,
                              const Limits& limits, Content& out) {
  out.kind = kind;
  out.strip = args.flag("strip", true);
  switch (kind) {
    case ContentKind::kText:
    case ContentKind::kInt:
    case ContentKind::kFloat:
    case ContentKind::kBool:
    case ContentKind::kPythonCallList:
      return std::nullopt;
    case ContentKind::kJson:
      out.allow_non_json = args.flag("allow_non_json", false);
      out.unquoted_keys = args.flag("unquoted_keys", false);
      return load_string_delims(args, out);
    case ContentKind::kXmlInline:
      out.merge_duplicates = args.flag("merge_duplicates", false);
      return load_tag_pattern(args, limits, out);
    case ContentKind::kKvLines:
      if (auto error = args.separator("line_sep", out.line_separator)) {
        return error;
      }
      return args.separator("kv_sep", out.key_separator);
  }
  return std::nullopt;
}

// A parser by name, with its arguments, which may be null.
struct NamedParser {
  ContentKind kind = ContentKind::kText;
  const json::Value* args = nullptr;
  std::string pointer = {};  // of the arguments
};

// The parser of the values of a parser of this kind; nothing if it has none.
Result<std::optional<NamedParser>> find_value_parser(ContentKind kind,
                                                     const Arguments& args) {
  if (kind != ContentKind::kXmlInline && kind != ContentKind::kKvLines) {
    return std::optional<NamedParser>();
  }
  const json::Value* value = args.find("value_parser");
  if (value == nullptr || value->is_null()) return std::optional<NamedParser>();
  if (!value->is_object()) {
    return args.error(
        ErrorCode::kWrongType, "value_parser",
        "must be an object {\"name\": ..., \"args\": {...}} or null, got " +
            describe_kind(*value) + ".");
  }
  NamedParser out;
  out.pointer = args.pointer("value_parser");
  if (const json::Value* name = value->find("name")) {
    const std::optional<ContentKind> found =
        name->is_string() ? content_kind_from_name(name->as_string())
                          : std::nullopt;
    if (!found) {
      return Error{ErrorCode::kUnknownName,
                   args.location().scope +
                       ": value_parser names the unknown content parser " +
                       json::dump(*name, {.ascii = false}) +
                       ". Available: " + content_kind_list() + ".",
                   json::append_pointer(out.pointer, "name")};
    }
    out.kind = *found;
  }
  out.args = value->find("args");
  if (out.args != nullptr) {
    out.pointer = json::append_pointer(out.pointer, "args");
  }
  return std::optional(std::move(out));
}

}  // namespace

std::string_view to_string(ContentKind kind) {
  return kContentNames[static_cast<std::size_t>(kind)];
}

std::optional<ContentKind> content_kind_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kContentNames.size(); ++i) {
    if (kContentNames[i] == name) return static_cast<ContentKind>(i);
  }
  return std::nullopt;
}

std::string content_kind_list() { return listed(kContentNames); }

Result<Content> load_content(ContentKind kind, const json::Value* args,
                             const Location& location, const Limits& limits) {
  // A chain: a parser, the parser of its values, the parser of theirs, ...  It
  // ends with the parser that has none, or with a fault, which is an error only
  // in the first.
  std::vector<Content> chain;
  Location at = location;
  while (true) {
    if (chain.size() > kMaxValueParsers) {
      return Error{ErrorCode::kTooLarge,
                   location.scope + ": more than " +
                       std::to_string(kMaxValueParsers) +
                       " value parsers inside each other.",
                   at.pointer};
    }
    const bool outer = chain.empty();
    Content& content = chain.emplace_back();
    if (args != nullptr && !args->is_object()) {
      Error error{ErrorCode::kWrongType,
                  location.scope + ": " + (outer ? "content_args" : "'args'") +
                      " must be an object, got " + describe_kind(*args) + ".",
                  at.pointer};
      if (outer) return error;
      content.fault = std::move(error);
      break;
    }
    const Arguments arguments(args, at);
    if (auto error = load_one(kind, arguments, limits, content)) {
      if (outer || error->code == ErrorCode::kTooLarge) return *error;
      content.fault = std::move(error);
      break;
    }
    Result<std::optional<NamedParser>> next =
        find_value_parser(kind, arguments);
    if (!next) {
      chain.emplace_back().fault = std::move(next).error();
      break;
    }
    if (!*next) break;
    kind = (*next)->kind;
    args = (*next)->args;
    at.pointer = std::move((*next)->pointer);
  }
  // Each parser moves into the one whose values it parses.
  while (chain.size() > 1) {
    Content inner = std::move(chain.back());
    chain.pop_back();
    chain.back().value_parser =
        std::make_shared<const Content>(std::move(inner));
  }
  return std::move(chain.back());
}

}  // namespace parlance::format
