// Brzozowski's derivative by a text instead of a letter.  A state is the list
// of the nodes that are left to read, the next one first.  Reading replaces a
// node by its parts until a text of known spelling is next, and compares.  What
// is left of anything but markers and free text is no node, and then there is
// no derivative.

#include "inversion/prefix.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "inversion/tag_rest.h"
#include "inversion/tag_values.h"

namespace parlance::inversion {
namespace {

using json::Value;

// More alternatives than this are not kept.  Each is a way to read the same
// text, so there are few.
constexpr std::size_t kMostStates = 64;

class Reader {
 public:
  // The states after `text`, from the state `rest`.
  void read(Rest rest, std::string_view text, std::vector<Rest>& out) {
    while (!text.empty()) {
      exact_ = exact_ && out.size() < kMostStates;
      if (rest.empty() || !exact_) return;
      const Value node = std::move(rest.back());
      rest.pop_back();
      const std::string_view type = text_of(node, "type");
      if (type == "const_string") {
        const std::string_view value = text_of(node, "value");
        const std::size_t common = std::min(value.size(), text.size());
        if (value.substr(0, common) != text.substr(0, common)) return;
        text.remove_prefix(common);
        if (common < value.size()) {
          rest.push_back(values::const_string(value.substr(common)));
        }
      } else if (type == "sequence") {
        push_all(rest, node.find("elements")->items());
      } else if (type == "or") {
        for (const Value& choice : node.find("elements")->items()) {
          Rest with = rest;
          with.push_back(choice);
          read(std::move(with), text, out);
        }
        return;
      } else if (type == "optional" || type == "star") {
        Rest with = rest;
        if (type == "star") with.push_back(node);
        with.push_back(*node.find("content"));
        read(std::move(with), text, out);
      } else if (type == "any_text") {
        read_any_text(node, rest, text, out);
        return;
      } else if (type == "tag") {
        read_tag(node, rest, text, out);
        return;
      } else if (type == "tags_with_separator") {
        rest.push_back(as_sequence(node));
        if (!flag_of(node, "at_least_one")) {
          const Value once = std::move(rest.back());
          rest.pop_back();
          read(rest, text, out);
          rest.push_back(once);
        }
      } else {
        exact_ = false;
        return;
      }
    }
    out.push_back(std::move(rest));
  }

  // Whether the states are all there are.
  bool exact() const { return exact_; }

 private:
  // Free text may end after any part of `text` that contains nothing excluded.
  void read_any_text(const Value& node, const Rest& rest, std::string_view text,
                     std::vector<Rest>& out) {
    exact_ = exact_ && node.find("exclude_patterns") == nullptr;
    // At `limit` bytes the free text would contain an excluded text.
    std::size_t limit = text.size() + 1;
    for (const Value& exclude : node.find("excludes")->items()) {
      const std::size_t at = text.find(exclude.as_string());
      if (at != std::string_view::npos) {
        limit = std::min(limit, at + exclude.as_string().size());
      }
      exact_ = exact_ && !ends_inside(text, exclude.as_string());
    }
    for (std::size_t n = 0; n < std::min(limit, text.size()); ++n) {
      read(rest, text.substr(n), out);
    }
    if (limit > text.size()) {
      Rest with = rest;
      with.push_back(node);
      out.push_back(std::move(with));
    }
  }

  // Whether `text` ends with the beginning of `marker`, and not with all of it.
  static bool ends_inside(std::string_view text, std::string_view marker) {
    for (std::size_t n = std::min(text.size() + 1, marker.size()); n-- > 1;) {
      if (text.ends_with(marker.substr(0, n))) return true;
    }
    return false;
  }

  // The text of a region does not contain the end of its tag: if that is in
  // `text`, the tag is read.
  bool after_end(const Value& node, const Rest& rest, std::string_view text,
                 std::vector<Rest>& out) {
    if (node.find("field") == nullptr) return false;
    const Value& end = *node.find("end");
    json::Array ends = end.items();
    if (end.is_string()) ends.push_back(end);
    std::size_t first = std::string_view::npos;
    std::size_t size = 0;
    for (const Value& one : ends) {
      const std::size_t at =
          one.as_string().empty() ? first : text.find(one.as_string());
      if (at >= first) continue;
      first = at;
      size = one.as_string().size();
    }
    for (const Value& one : ends) {
      exact_ = exact_ && !ends_inside(text, one.as_string());
    }
    if (first == std::string_view::npos) return false;
    const std::string_view type = text_of(*node.find("content"), "type");
    exact_ = exact_ && (type == "any_text" || type == "const_string");
    const std::string_view after = text.substr(first + size);
    if (after.empty()) {
      out.push_back(rest);
    } else {
      read(rest, after, out);
    }
    return true;
  }

  // Within the begin of a tag, the tag remains a tag.  After it, the content
  // has to take up the text, and the tag remains without its begin.
  void read_tag(const Value& node, const Rest& rest, std::string_view text,
                std::vector<Rest>& out) {
    const std::string_view begin = text_of(node, "begin");
    const std::size_t common = std::min(begin.size(), text.size());
    if (begin.substr(0, common) != text.substr(0, common)) return;
    if (after_end(node, rest, text.substr(common), out)) return;
    Value left = node;
    left.mutable_members().set("begin", begin.substr(common));
    std::vector<Rest> contents;
    read({*node.find("content")}, text.substr(common), contents);
    for (const Rest& content : contents) {
      left.mutable_members().set("content", left_to_read(content));
      Rest with = rest;
      with.push_back(left);
      out.push_back(std::move(with));
    }
  }

  bool exact_ = true;
};

}  // namespace

std::optional<Value> after_prefix(const Value& format,
                                  std::string_view written) {
  std::vector<Rest> states;
  Reader reader;
  reader.read({format}, written, states);
  if (!reader.exact() || !base::is_utf8(written)) return std::nullopt;
  std::vector<Value> choices;
  choices.reserve(states.size());
  for (const Rest& state : states) choices.push_back(left_to_read(state));
  if (choices.empty()) return std::nullopt;
  return any_of(choices);
}

}  // namespace parlance::inversion
