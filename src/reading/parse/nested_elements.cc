// Both readers keep the open elements on a stack.  Invariant of their loops:
// the elements before `at_` are in the frames, the outermost frame first; the
// first frame is the object of arguments.

#include "parse/nested_elements.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/python_number.h"
#include "parse/content.h"
#include "schema/cast_calls.h"

namespace parlance::parse {
namespace {

using json::Value;

constexpr std::string_view kCohereOpen = "<cofl:value";
constexpr std::string_view kCohereClose = "</cofl:value>";
constexpr std::string_view kMinimax = "]<]minimax[>[";
constexpr std::string_view kItem = "item";

Error invalid_element(std::string message) {
  return {ErrorCode::kInvalidContent, std::move(message), ""};
}

Error too_deep() {
  return {ErrorCode::kTooDeep, "the nesting is deeper than Limits::json_depth",
          ""};
}

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && base::is_space(text[at])) ++at;
  return at;
}

// Adds a member; members with the same name are a list.
void add_member(json::Object& object, const std::string& name, Value value,
                bool& listed) {
  Value* old = object.find(name);
  if (old == nullptr) {
    object.set(name, std::move(value));
    return;
  }
  if (!listed) *old = Value(json::Array{std::move(*old)});
  listed = true;
  old->mutable_items().push_back(std::move(value));
}

// ---- cohere_xml ----

struct CohereFrame {
  std::string name;
  bool list = false;
  json::Object members = {};
  json::Array items = {};
};

struct CohereTag {
  std::optional<std::string> name;
  std::string type;
};

// Reads the attributes of an opening tag; `at` is after "<cofl:value", and then
// after the tag.
Result<CohereTag> read_tag(std::string_view text, std::size_t& at) {
  CohereTag out;
  for (;;) {
    at = skip_space(text, at);
    if (text.substr(at).starts_with('>')) {
      ++at;
      return out;
    }
    const std::size_t equals = text.find("=\"", at);
    const std::size_t end =
        equals == std::string_view::npos ? equals : text.find('"', equals + 2);
    if (end == std::string_view::npos) {
      return invalid_element("the opening of a value is not complete: " +
                             shown(text.substr(at)));
    }
    const std::string_view key = text.substr(at, equals - at);
    const std::string value(text.substr(equals + 2, end - (equals + 2)));
    if (key == "name") {
      out.name = value;
    } else if (key == "type") {
      out.type = value;
    } else {
      return invalid_element("a value has the attribute " + shown(key) +
                             "; expected name or type");
    }
    at = end + 1;
  }
}

class CohereReader {
 public:
  CohereReader(std::string_view text, const Limits& limits)
      : text_(text), limits_(limits) {}

  Result<Value> read() {
    for (;;) {
      at_ = skip_space(text_, at_);
      if (frames_.size() > 1 && rest().starts_with(kCohereClose)) {
        if (auto error = close()) return *std::move(error);
      } else if (at_ >= text_.size() && frames_.size() == 1) {
        return Value(std::move(frames_[0].members));
      } else if (auto error = read_value()) {
        return *std::move(error);
      }
    }
  }

 private:
  std::string_view rest() const { return text_.substr(at_); }

  // Adds a value to the innermost container.
  std::optional<Error> add(const std::optional<std::string>& name,
                           Value value) {
    CohereFrame& parent = frames_.back();
    if (parent.list) {
      parent.items.push_back(std::move(value));
    } else if (!name) {
      return invalid_element("a member of a dict has no name");
    } else {
      parent.members.set(*name, std::move(value));
    }
    return std::nullopt;
  }

  // The end of a container.
  std::optional<Error> close() {
    at_ += kCohereClose.size();
    CohereFrame done = std::move(frames_.back());
    frames_.pop_back();
    Value value = done.list ? Value(std::move(done.items))
                            : Value(std::move(done.members));
    return add(done.name, std::move(value));
  }

  // A whole leaf, or the beginning of a container.
  std::optional<Error> read_value() {
    if (!rest().starts_with(kCohereOpen)) {
      return invalid_element("expected a value (<cofl:value ...>), found " +
                             shown(rest()));
    }
    at_ += kCohereOpen.size();
    Result<CohereTag> tag = read_tag(text_, at_);
    if (!tag) return std::move(tag).error();
    if (tag->type != "dict" && tag->type != "list") return read_leaf(*tag);
    if (frames_.size() >= limits_.json_depth) return too_deep();
    if (!frames_.back().list && !tag->name) {
      return invalid_element("a member of a dict has no name");
    }
    frames_.push_back({tag->name.value_or(""), tag->type == "list"});
    return std::nullopt;
  }

  std::optional<Error> read_leaf(const CohereTag& tag) {
    const std::size_t end = text_.find(kCohereClose, at_);
    if (end == std::string_view::npos) {
      return invalid_element("the text ends inside a value: " + shown(rest()));
    }
    const std::string_view inside = text_.substr(at_, end - at_);
    at_ = end + kCohereClose.size();
    Result<Value> value = Value(inside);
    if (tag.type == "json") {
      value = json::parse(base::python_strip(inside), {.limits = limits_});
      if (!value) return invalid_element("not JSON: " + shown(inside));
    } else if (tag.type != "raw") {
      return invalid_element("a value has the type " + shown(tag.type) +
                             "; expected raw, json, dict or list");
    }
    return add(tag.name, *std::move(value));
  }

  std::string_view text_;
  const Limits& limits_;
  std::size_t at_ = 0;
  std::vector<CohereFrame> frames_ = std::vector<CohereFrame>(1);
};

// ---- minimax_m3_xml ----

struct MinimaxFrame {
  std::string name;
  schema::Parameter parameter = {};
  std::size_t content = 0;  // where the element's text begins
  bool has_elements = false;
  bool only_items = true;  // all elements are called "item"
  json::Object members = {};
  std::set<std::string> listed = {};  // members that occurred again
  json::Array items = {};             // the same values in order
};

// The value of an element that ends at `end`.
Value value_of(MinimaxFrame& frame, std::string_view text, std::size_t end) {
  if (frame.has_elements) {
    const std::uint8_t types = schema::types_of(frame.parameter);
    if (frame.only_items &&
        ((types & schema::kArray) != 0 || (types & schema::kObject) == 0)) {
      return Value(std::move(frame.items));
    }
    return Value(std::move(frame.members));
  }
  return schema::value_of_leaf(text.substr(frame.content, end - frame.content),
                               frame.parameter);
}

class MinimaxReader {
 public:
  MinimaxReader(std::string_view text, const ToolSet& tools,
                std::string_view tool, const Limits& limits)
      : text_(text), tools_(tools), tool_(tool), limits_(limits) {}

  // Each round reads the next marker.  Text before it belongs to an element
  // without others.
  Result<Value> read() {
    for (;;) {
      const std::size_t marker = text_.find(kMinimax, at_);
      const std::string_view before =
          text_.substr(at_, std::min(marker, text_.size()) - at_);
      if (marker == std::string_view::npos) return end(before);
      if (auto error = read_marker(marker, before)) return *std::move(error);
    }
  }

 private:
  // The end of the text.
  Result<Value> end(std::string_view before) {
    MinimaxFrame& top = frames_.back();
    if (frames_.size() > 1) {
      return invalid_element("the text ends inside <" + top.name + ">");
    }
    if (!base::python_strip(before).empty()) {
      return invalid_element("expected an element, found " + shown(before));
    }
    return Value(std::move(top.members));
  }

  std::optional<Error> read_marker(std::size_t marker,
                                   std::string_view before) {
    const std::size_t name_begin = marker + kMinimax.size();
    const std::size_t name_end = text_.find('>', name_begin);
    if (name_end == std::string_view::npos || text_[name_begin] != '<') {
      return invalid_element("a marker is not complete: " +
                             shown(text_.substr(marker)));
    }
    std::string_view name =
        text_.substr(name_begin + 1, name_end - (name_begin + 1));
    const bool closes = name.starts_with('/');
    if (closes) name.remove_prefix(1);
    const bool mixed =
        (frames_.back().has_elements || !closes || frames_.size() == 1) &&
        !base::python_strip(before).empty();
    if (mixed) {
      return invalid_element("text between elements: " + shown(before));
    }
    at_ = name_end + 1;
    return closes ? close(name, marker) : open(name);
  }

  std::optional<Error> open(std::string_view name) {
    if (frames_.size() >= limits_.json_depth) return too_deep();
    MinimaxFrame& parent = frames_.back();
    parent.has_elements = true;
    MinimaxFrame next;
    next.name = name;
    next.content = at_;
    if (frames_.size() > 1) {
      next.parameter = schema::inner_parameter(parent.parameter, next.name,
                                               parent.items.size());
    } else if (const auto declared = schema::parameter_of(
                   tools_, tool_, next.name, schema::Strings::kWritten)) {
      next.parameter = *declared;
    }
    frames_.push_back(std::move(next));
    return std::nullopt;
  }

  // `end`: where the element's text ends.
  std::optional<Error> close(std::string_view name, std::size_t end) {
    MinimaxFrame& top = frames_.back();
    if (frames_.size() == 1 || top.name != name) {
      return invalid_element("</" + std::string(name) +
                             "> closes no open element");
    }
    Value value = value_of(top, text_, end);
    const std::string done = std::move(top.name);
    frames_.pop_back();
    MinimaxFrame& parent = frames_.back();
    parent.only_items = parent.only_items && done == kItem;
    if (parent.only_items) parent.items.push_back(value);
    bool listed = parent.listed.contains(done);
    add_member(parent.members, done, std::move(value), listed);
    if (listed) parent.listed.insert(done);
    return std::nullopt;
  }

  std::string_view text_;
  const ToolSet& tools_;
  std::string_view tool_;
  const Limits& limits_;
  std::size_t at_ = 0;
  std::vector<MinimaxFrame> frames_ = std::vector<MinimaxFrame>(1);
};

}  // namespace

Result<Value> read_cohere_elements(std::string_view text,
                                   const Limits& limits) {
  return CohereReader(text, limits).read();
}

Result<Value> read_minimax_m3_elements(std::string_view text,
                                       const ToolSet& tools,
                                       std::string_view tool,
                                       const Limits& limits) {
  return MinimaxReader(text, tools, tool, limits).read();
}

}  // namespace parlance::parse
