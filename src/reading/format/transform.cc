// Loads transforms; see transform.h.

#include "format/transform.h"

#include <utility>

#include "base/utf8.h"
#include "json/located.h"
#include "regex/unicode_properties.h"

namespace parlance::format {
namespace {

// The end of the word that begins at `i`; `i` itself if there is none.
std::size_t word_end(std::string_view text, std::size_t i) {
  while (i < text.size()) {
    std::size_t next = i;
    if (!regex::is_word(base::next_code_point(text, next))) break;
    i = next;
  }
  return i;
}

// The placeholder whose '{' is at `begin`: the position after its '}', and its
// words.  Nothing if there is none.
std::optional<std::size_t> placeholder_end(std::string_view text,
                                           std::size_t begin,
                                           std::vector<std::string>& path) {
  path.clear();
  std::size_t i = begin + 1;
  // `path` has the words before `i`, and `i` is after '{' or a dot.
  while (true) {
    const std::size_t end = word_end(text, i);
    if (end == i || end == text.size()) return std::nullopt;
    path.emplace_back(text.substr(i, end - i));
    if (text[end] == '}') return end + 1;
    if (text[end] != '.') return std::nullopt;
    i = end + 1;
  }
}

// Builds a Transform.  A list or object without a placeholder anywhere inside
// becomes one constant.
class Loader {
 public:
  explicit Loader(const Location& location) : location_(location) {}

  // The recursion depth is at most kMaxTransformDepth.
  std::optional<Error> load(const json::Value& value,
                            const std::string& pointer, std::size_t depth,
                            Transform& out) {
    if (value.is_string()) return load_string(value, pointer, out);
    if (!value.is_array() && !value.is_object()) {
      out.constant = value;
      return std::nullopt;
    }
    if (depth == kMaxTransformDepth) {
      return Error{ErrorCode::kTooDeep,
                   location_.scope +
                       ": transform nests lists and objects more "
                       "than " +
                       std::to_string(kMaxTransformDepth) +
                       " levels deep; write it flatter.",
                   pointer};
    }
    // Whether all items or members that were loaded so far are constants.
    bool constant = true;
    if (value.is_array()) {
      for (std::size_t i = 0; i < value.items().size(); ++i) {
        Transform& item = out.items.emplace_back();
        if (auto error =
                load(value.items()[i], json::append_pointer(pointer, i),
                     depth + 1, item)) {
          return error;
        }
        constant = constant && item.kind == Transform::Kind::kConstant;
      }
    } else {
      for (const json::Member& member : value.members()) {
        Transform item;
        if (auto error =
                load(member.value, json::append_pointer(pointer, member.key),
                     depth + 1, item)) {
          return error;
        }
        constant = constant && item.kind == Transform::Kind::kConstant;
        out.members.emplace_back(member.key, std::move(item));
      }
    }
    if (constant) {
      out = Transform{};
      out.constant = value;
    } else {
      out.kind =
          value.is_array() ? Transform::Kind::kList : Transform::Kind::kObject;
    }
    return std::nullopt;
  }

 private:
  std::optional<Error> load_string(const json::Value& value,
                                   const std::string& pointer, Transform& out) {
    const std::string_view text = value.as_string();
    TransformString string = classify_transform_string(text);
    switch (string.kind) {
      case TransformString::Kind::kConstant:
        out.constant = value;
        return std::nullopt;
      case TransformString::Kind::kPlaceholder:
        out.kind = Transform::Kind::kPlaceholder;
        out.path = std::move(string.path);
        return std::nullopt;
      case TransformString::Kind::kMixed:
        break;
    }
    const std::string found(
        text.substr(string.found.begin, string.found.size()));
    return Error{ErrorCode::kBadPlaceholder,
                 location_.scope + ": transform string " +
                     json::dump(value, {.ascii = false}) +
                     " mixes the placeholder " + found +
                     " with other text. A placeholder must be the whole "
                     "string, as in \"" +
                     found + "\"; text around it is not supported.",
                 pointer, string.found};
  }

  const Location& location_;
};

}  // namespace

TransformString classify_transform_string(std::string_view text) {
  TransformString out;
  // No '{' before `i` begins a placeholder.  Linear: a try that fails ends at
  // the next '{' at the latest, which no word contains.
  for (std::size_t i = text.find('{'); i != std::string_view::npos;
       i = text.find('{', i + 1)) {
    const std::optional<std::size_t> end = placeholder_end(text, i, out.path);
    if (!end) continue;
    out.found = {i, *end};
    out.kind = i == 0 && *end == text.size()
                   ? TransformString::Kind::kPlaceholder
                   : TransformString::Kind::kMixed;
    if (out.kind == TransformString::Kind::kMixed) out.path.clear();
    return out;
  }
  out.path.clear();
  return out;
}

Result<Transform> load_transform(const json::Value& value,
                                 const Location& location) {
  Transform out;
  Loader loader(location);
  if (auto error = loader.load(value, location.pointer, 0, out)) return *error;
  return out;
}

}  // namespace parlance::format
