#include "hints/json_calls.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"
#include "hints/reading.h"
#include "json/container_end.h"
#include "parlance/json.h"

namespace parlance::hints {
namespace {

// Between the name of a tool and its arguments: "f:0 <sep>\n```json\n".
constexpr std::size_t kNameBytes = 96;

bool is_word_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return base::is_letter(byte) || base::is_digit(byte) || c == '_' ||
         byte >= 0x80;
}

const json::Value* first_of(const json::Value& object,
                            std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (const json::Value* found = object.find(key)) return found;
  }
  return nullptr;
}

// The name of the call that `value` is; nothing if it looks like no call.
std::optional<std::string> called_by(const json::Value& value,
                                     const ToolSet* tools) {
  if (tools != nullptr && value.members().size() == 1) {
    const json::Member& only = *value.members().begin();
    if (only.value.is_object() && tools->contains(only.key)) return only.key;
  }
  const json::Value* call = value.find("function");
  if (call == nullptr || !call->is_object()) call = &value;
  const json::Value* name = first_of(*call, {"name", "tool_name", "tool"});
  if (name == nullptr) name = value.find("function");
  const json::Value* arguments =
      first_of(*call, {"arguments", "parameters", "args", "input"});
  if (name == nullptr || !name->is_string() || name->as_string().empty() ||
      arguments == nullptr) {
    return std::nullopt;
  }
  if (tools != nullptr && !tools->contains(name->as_string())) {
    return std::nullopt;
  }
  if (arguments->is_string()) {
    const Result<json::Value> inner = json::parse(arguments->as_string());
    if (!inner || !inner->is_object()) return std::nullopt;
  } else if (!arguments->is_object()) {
    return std::nullopt;
  }
  // The description of a tool has a schema there.
  if (arguments->find("properties") != nullptr ||
      call->find("description") != nullptr) {
    return std::nullopt;
  }
  return std::string(name->as_string());
}

}  // namespace

JsonCallFinder::JsonCallFinder(const ToolSet* tools)
    : tools_(any_tools(tools) ? tools : nullptr) {}

// Whether the object that begins at `brace` is worth reading: its first key is
// one that calls begin with, or, if the tools are known, any key, because a
// tool may be named before the object or be the key.
bool JsonCallFinder::may_begin_call(std::string_view text,
                                    std::size_t brace) const {
  constexpr std::array<std::string_view, 11> kKeys = {
      "name",      "type",       "function", "id",    "tool", "tool_name",
      "arguments", "parameters", "index",    "input", "args"};
  std::size_t at = brace + 1;
  while (at < text.size() &&
         base::is_space(static_cast<unsigned char>(text[at]))) {
    ++at;
  }
  if (at == text.size() || text[at] != '"') return false;
  std::string_view key = text.substr(at + 1, kNameBytes);
  key = key.substr(0, key.find('"'));
  if (std::ranges::find(kKeys, key) != kKeys.end()) return true;
  return tools_ != nullptr;
}

std::optional<JsonCall> JsonCallFinder::read(std::string_view text,
                                             std::size_t brace) {
  const std::string_view rest = text.substr(brace, kReadBytes);
  const std::size_t end = json::container_end(rest, 0);
  if (end == std::string_view::npos) return std::nullopt;
  const Result<json::Value> value = json::parse(rest.substr(0, end));
  if (!value || !value->is_object()) return std::nullopt;
  if (const auto name = called_by(*value, tools_)) {
    return JsonCall{{brace, brace + end}, *name};
  }
  if (tools_ == nullptr || value->members().size() == 0) return std::nullopt;
  const auto named = tool_before(text, brace);
  if (!named) return std::nullopt;
  const std::string_view name = text.substr(named->begin, named->size());
  for (const auto& [key, member] : value->members()) {
    if (tools_->parameter(name, key) == nullptr) return std::nullopt;
  }
  return JsonCall{{named->begin, brace + end}, std::string(name)};
}

// The last tool that is named shortly before `at`.  Its name may be joined to
// another word, because a marker between them was left out.
std::optional<Span> JsonCallFinder::tool_before(std::string_view text,
                                                std::size_t at) const {
  constexpr std::size_t kFewest = 3;
  const std::size_t from = at - std::min(at, kNameBytes);
  const std::string_view before = text.substr(from, at - from);
  const auto is_edge = [&](std::size_t i) {
    return i == 0 || i == before.size() || !is_word_byte(before[i - 1]) ||
           !is_word_byte(before[i]);
  };
  for (std::size_t begin = before.size(); begin-- > 0;) {
    if (!is_word_byte(before[begin])) continue;
    for (std::size_t end = before.size(); end > begin; --end) {
      const int edges = (is_edge(begin) ? 1 : 0) + (is_edge(end) ? 1 : 0);
      if (edges == 0 || (edges == 1 && end - begin < kFewest)) continue;
      if (tools_->contains(before.substr(begin, end - begin))) {
        return Span{from + begin, from + end};
      }
    }
  }
  return std::nullopt;
}

std::optional<JsonCall> JsonCallFinder::next(std::string_view text,
                                             Span within) {
  text = text.substr(0, within.end);
  for (std::size_t at = text.find('{', within.begin);
       at != std::string_view::npos && left_ > 0; at = text.find('{', at + 1)) {
    if (!may_begin_call(text, at)) continue;
    --left_;
    if (auto found = read(text, at)) return found;
  }
  return std::nullopt;
}

}  // namespace parlance::hints
