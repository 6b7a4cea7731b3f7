#include "explain_tag.h"

#include <algorithm>
#include <string>
#include <utility>

namespace parlance::cli {
namespace {

// Work that remains: a node, or the text after a node.
struct Left {
  const json::Value* node = nullptr;  // null: the row alone
  std::size_t depth = 0;
  std::string prefix = {};  // why it is this node
  Row row = {};
};

class Teller {
 public:
  explicit Teller(std::string_view text) : text_(text) {}

  std::vector<Row> tell(const json::Value& tree) {
    if (const json::Value* format = tree.find("format")) push(format, 0, "");
    while (!left_.empty()) {
      Left next = std::move(left_.back());
      left_.pop_back();
      if (next.node == nullptr) {
        rows_.push_back(std::move(next.row));
      } else {
        node(next);
      }
    }
    rest(tree);
    return std::move(rows_);
  }

 private:
  static Span span_of(const json::Value& node) {
    const json::Value* span = node.find("span");
    if (span == nullptr || span->size() != 2) return {};
    return {static_cast<std::size_t>(span->items()[0].as_int()),
            static_cast<std::size_t>(span->items()[1].as_int())};
  }
  static std::string_view string(const json::Value& node,
                                 std::string_view key) {
    const json::Value* value = node.find(key);
    return value == nullptr ? std::string_view() : value->as_string();
  }
  static bool is_complete(const json::Value& node) {
    const json::Value* complete = node.find("complete");
    return complete == nullptr || complete->as_bool();
  }

  Row row(Span bytes, std::size_t depth, std::string what,
          std::string_view look = "") const {
    const std::size_t begin = std::min(bytes.begin, text_.size());
    const std::size_t end = std::min(bytes.end, text_.size());
    return {range(bytes), "", std::string(2 * depth, ' ') + std::move(what),
            look, barred(text_.substr(begin, end - begin))};
  }

  // Text that fits no format, and why.
  void rest(const json::Value& tree) {
    const json::Value* format = tree.find("format");
    if (format != nullptr && !string(tree, "rest").empty()) {
      const Span bytes{span_of(*format).end, text_.size()};
      rows_.push_back(row(bytes, 0, "does not fit", Style::kError));
    }
    const json::Value* diagnostics = tree.find("diagnostics");
    if (diagnostics == nullptr) return;
    for (const json::Value& diagnostic : diagnostics->items()) {
      rows_.push_back(
          remark(std::string(string(diagnostic, "message")), Style::kError));
    }
  }

  // Pushed in reverse: the last one pushed is written first.
  void push(const json::Value* node, std::size_t depth, std::string prefix) {
    if (node != nullptr && node->is_object()) {
      left_.push_back({node, depth, std::move(prefix), {}});
    }
  }
  void push(Row row) { left_.push_back({nullptr, 0, "", std::move(row)}); }

  void node(const Left& next) {
    const json::Value& node = *next.node;
    const std::string_view type = string(node, "type");
    const std::string name = next.prefix + std::string(type) + place_of(node);
    const std::string open = is_complete(node) ? "" : ", not finished";
    if (type == "tag") return tag(node, next.depth, name + open);
    if (type == "rule") return rule(node, next.depth, name + open);
    if (const json::Value* content = node.find("content")) {
      // or, optional
      const json::Value* index = node.find("index");
      if (!content->is_object()) {
        return rows_.push_back(row(span_of(node), next.depth,
                                   name + (open.empty() ? ": nothing" : open)));
      }
      std::string why =
          name +
          (index == nullptr
               ? std::string()
               : ", alternative " + std::to_string(index->as_int())) +
          ": ";
      return push(content, next.depth, std::move(why));
    }
    for (const char* key : {"elements", "items", "tags", "parts"}) {
      if (const json::Value* list = node.find(key)) {
        return parts(node, list->items(), next.depth, name + open);
      }
    }
    rows_.push_back(row(span_of(node), next.depth, name + open));
  }

  // The path of the format, which every pointer of the tag begins with.
  static std::string place_of(const json::Value& node) {
    std::string_view path = string(node, "path");
    if (path.starts_with("/format")) path.remove_prefix(7);
    return path.empty() ? "" : " " + std::string(path);
  }

  void tag(const json::Value& node, std::size_t depth,
           const std::string& name) {
    const Span all = span_of(node);
    const json::Value* content = node.find("content");
    if (content == nullptr || !content->is_object()) {
      return rows_.push_back(row(all, depth, name));
    }
    const Span inner = span_of(*content);
    rows_.push_back(row({all.begin, inner.begin}, depth, name));
    if (inner.end < all.end) push(row({inner.end, all.end}, depth, "its end"));
    push(content, depth + 1, "");
  }

  void rule(const json::Value& node, std::size_t depth,
            const std::string& name) {
    const Span all = span_of(node);
    const json::Value* content = node.find("content");
    const bool read = content != nullptr && content->is_object();
    const std::size_t end = read ? span_of(*content).begin : all.end;
    rows_.push_back(row({all.begin, end}, depth, name));
    push(content, depth + 1, "");
  }

  // The items of a list, with the separators between them.
  void parts(const json::Value& node, const json::Array& items,
             std::size_t depth, const std::string& name) {
    const Span all = span_of(node);
    if (items.empty()) {
      return rows_.push_back(row(all, depth, name + ": nothing"));
    }
    std::size_t end = all.end;
    for (std::size_t i = items.size(); i-- > 0;) {
      const Span item = span_of(items[i]);
      if (item.end < end) push(row({item.end, end}, depth, "between"));
      if (string(items[i], "type") == "text") {
        push(row(item, depth, name + ": free text"));
      } else {
        push(&items[i], depth, "");
      }
      end = item.begin;
    }
    if (all.begin < end) push(row({all.begin, end}, depth, "between"));
  }

  std::string_view text_;
  std::vector<Left> left_;
  std::vector<Row> rows_;
};

}  // namespace

std::vector<Row> explain_tree(const json::Value& tree, std::string_view text) {
  return Teller(text).tell(tree);
}

}  // namespace parlance::cli
