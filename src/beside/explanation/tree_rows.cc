#include "explanation/tree_rows.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "explanation/event_rows.h"

namespace parlance::explanation {
namespace {

// Work that remains: a node, or the text after a node.
struct Left {
  const json::Value* node = nullptr;  // null: the row alone
  std::uint32_t depth = 0;
  // Of the formats that enclose this node and have no row of their own.
  std::string prefix = {};
  std::optional<std::uint32_t> alternative = std::nullopt;
  ExplanationRow row = {};
};

class TreeRows {
 public:
  explicit TreeRows(Explanation& out) : out_(out) {}

  void add(const json::Value& tree) {
    if (const json::Value* format = tree.find("format")) push(format, 0);
    while (!left_.empty()) {
      Left next = std::move(left_.back());
      left_.pop_back();
      if (next.node == nullptr) {
        out_.rows.push_back(std::move(next.row));
      } else {
        node(next);
      }
    }
    rest(tree);
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
  static bool is_finished(const json::Value& node) {
    const json::Value* complete = node.find("complete");
    return complete == nullptr || complete->as_bool();
  }

  ExplanationRow row(ExplanationKind kind, const Left& of, Span bytes,
                     std::string what) const {
    ExplanationRow made = plain(kind, bytes, std::move(what));
    made.type = string(*of.node, "type");
    made.path = string(*of.node, "path");
    made.depth = of.depth;
    made.alternative = of.alternative;
    made.finished = is_finished(*of.node);
    return made;
  }
  ExplanationRow plain(ExplanationKind kind, Span bytes,
                       std::string what) const {
    ExplanationRow made;
    made.kind = kind;
    made.bytes.end = std::min(bytes.end, out_.text.size());
    made.bytes.begin = std::min(bytes.begin, made.bytes.end);
    made.tokens = tokens_of(out_, made.bytes);
    made.what = std::move(what);
    return made;
  }

  // Text that fits no format, and why.
  void rest(const json::Value& tree) {
    const json::Value* format = tree.find("format");
    if (format != nullptr && !string(tree, "rest").empty()) {
      out_.rows.push_back(plain(ExplanationKind::kRest,
                                {span_of(*format).end, out_.text.size()},
                                "does not fit"));
    }
    const json::Value* diagnostics = tree.find("diagnostics");
    if (diagnostics == nullptr) return;
    std::size_t index = 0;
    for (const json::Value& diagnostic : diagnostics->items()) {
      ExplanationRow made = plain(ExplanationKind::kExpected, {},
                                  std::string(string(diagnostic, "message")));
      made.message = made.what;
      // The message lists the same diagnostics, with their codes and places.
      if (out_.message && index < out_.message->diagnostics.size()) {
        const Diagnostic& same = out_.message->diagnostics[index];
        made.code = same.code;
        made.bytes = same.bytes;
        made.tokens = tokens_of(out_, same.bytes);
      }
      ++index;
      out_.rows.push_back(std::move(made));
    }
  }

  // Pushed in reverse: the last one pushed is written first.
  void push(const json::Value* node, std::uint32_t depth,
            std::string prefix = {},
            std::optional<std::uint32_t> alternative = std::nullopt) {
    if (node != nullptr && node->is_object()) {
      left_.push_back({node, depth, std::move(prefix), alternative, {}});
    }
  }
  void push(ExplanationRow row) {
    left_.push_back({nullptr, 0, {}, std::nullopt, std::move(row)});
  }
  void write(ExplanationRow row) { out_.rows.push_back(std::move(row)); }

  void node(const Left& next) {
    const json::Value& node = *next.node;
    const std::string_view type = string(node, "type");
    const std::string name = next.prefix + std::string(type) + place_of(node);
    const std::string open = is_finished(node) ? "" : ", not finished";
    if (type == "tag") return tag(next, name + open);
    if (type == "rule") return rule(next, name + open);
    if (const json::Value* content = node.find("content")) {
      // or, optional
      const json::Value* index = node.find("index");
      if (!content->is_object()) {
        return write(row(ExplanationKind::kFormat, next, span_of(node),
                         name + (open.empty() ? ": nothing" : open)));
      }
      std::optional<std::uint32_t> alternative = next.alternative;
      std::string why = name;
      if (index != nullptr) {
        alternative = static_cast<std::uint32_t>(index->as_int());
        why += ", alternative " + std::to_string(index->as_int());
      }
      why += ": ";
      return push(content, next.depth, std::move(why), alternative);
    }
    for (const char* key : {"elements", "items", "tags", "parts"}) {
      if (const json::Value* list = node.find(key)) {
        return parts(next, list->items(), name + open);
      }
    }
    write(row(ExplanationKind::kFormat, next, span_of(node), name + open));
  }

  // The path of the format, without that which every pointer begins with.
  static std::string place_of(const json::Value& node) {
    std::string_view path = string(node, "path");
    if (path.starts_with("/format")) path.remove_prefix(7);
    return path.empty() ? "" : " " + std::string(path);
  }

  void tag(const Left& next, const std::string& name) {
    const Span all = span_of(*next.node);
    const json::Value* content = next.node->find("content");
    if (content == nullptr || !content->is_object()) {
      return write(row(ExplanationKind::kFormat, next, all, name));
    }
    const Span inner = span_of(*content);
    write(row(ExplanationKind::kFormat, next, {all.begin, inner.begin}, name));
    if (inner.end < all.end) {
      push(row(ExplanationKind::kEnd, next, {inner.end, all.end}, "its end"));
    }
    push(content, next.depth + 1);
  }

  void rule(const Left& next, const std::string& name) {
    const Span all = span_of(*next.node);
    const json::Value* content = next.node->find("content");
    const bool read = content != nullptr && content->is_object();
    const std::size_t end = read ? span_of(*content).begin : all.end;
    write(row(ExplanationKind::kFormat, next, {all.begin, end}, name));
    push(content, next.depth + 1);
  }

  // The items of a list, with the separators between them.
  void parts(const Left& next, const json::Array& items,
             const std::string& name) {
    const auto between = [&](Span bytes) {
      return row(ExplanationKind::kBetween, next, bytes, "between");
    };
    const Span all = span_of(*next.node);
    if (items.empty()) {
      return write(
          row(ExplanationKind::kFormat, next, all, name + ": nothing"));
    }
    std::size_t end = all.end;
    for (std::size_t i = items.size(); i-- > 0;) {
      const Span item = span_of(items[i]);
      if (item.end < end) push(between({item.end, end}));
      if (string(items[i], "type") == "text") {
        push(row(ExplanationKind::kFormat, next, item, name + ": free text"));
      } else {
        push(&items[i], next.depth);
      }
      end = item.begin;
    }
    if (all.begin < end) push(between({all.begin, end}));
  }

  Explanation& out_;
  std::vector<Left> left_;
};

// Adds rows for text that is in no format: a token that ends the response.
void add_gaps(Explanation& out) {
  std::vector<ExplanationRow> rows;
  rows.reserve(out.rows.size() + 1);
  std::size_t at = 0;
  const auto add_gap = [&](std::size_t end) {
    if (end <= at) return;
    ExplanationRow& row = rows.emplace_back();
    row.kind = ExplanationKind::kOutside;
    row.bytes = {at, end};
    row.tokens = tokens_of(out, row.bytes);
    row.what = end == out.text.size() ? "ends the turn" : "in no format";
    at = end;
  };
  for (ExplanationRow& row : out.rows) {
    if (owns_bytes(row.kind)) {
      add_gap(row.bytes.begin);
      at = row.bytes.end;
    }
    rows.push_back(std::move(row));
  }
  add_gap(out.text.size());
  out.rows = std::move(rows);
}

// Gives each row the field of the part that contains it.  Parts are in the
// order of their beginnings; a part inside another begins later, so the last
// part that begins before a row and ends after it is the innermost.
void add_fields(Explanation& out) {
  if (!out.message) return;
  const std::vector<Part>& parts = out.message->parts;
  std::vector<std::size_t> open;  // parts that contain the row, outer first
  std::size_t next = 0;
  for (ExplanationRow& row : out.rows) {
    if (!owns_bytes(row.kind) || row.kind == ExplanationKind::kRest) continue;
    if (row.bytes.size() == 0) continue;
    while (next < parts.size() && parts[next].bytes.begin <= row.bytes.begin) {
      open.push_back(next++);
    }
    while (!open.empty() && parts[open.back()].bytes.end < row.bytes.end) {
      open.pop_back();
    }
    if (open.empty()) continue;
    row.field_index = parts[open.back()].field_index;
    if (row.field_index < out.fields.size()) {
      row.field = out.fields[row.field_index];
    }
  }
}

}  // namespace

void add_tree_rows(const json::Value& tree, Explanation& out) {
  TreeRows(out).add(tree);
  add_gaps(out);
  add_fields(out);
}

}  // namespace parlance::explanation
