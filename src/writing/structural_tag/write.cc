// Writing a structural tag as JSON.

#include <cstdint>

#include "base/utf8.h"
#include "structural_tag/members.h"
#include "structural_tag/structural_tag.h"

namespace parlance::structural_tag {
namespace {

json::Value to_value(const std::string& text) { return text; }
json::Value to_value(const std::optional<std::uint32_t>& count) {
  return count ? json::Value(std::int64_t{*count}) : json::Value();
}
json::Value to_value(const TokenRef& ref) {
  if (ref.by_text()) return ref.text;
  return std::int64_t{ref.id};
}
template <class Item>
json::Value to_value(const std::vector<Item>& list) {
  json::Array out;
  out.reserve(list.size());
  for (const Item& item : list) out.push_back(to_value(item));
  return out;
}
json::Value to_value(const Marker& marker) {
  if (marker.token) {
    return json::Object{{"type", "token"}, {"token", to_value(*marker.token)}};
  }
  if (marker.texts.size() == 1) return marker.texts[0];
  return to_value(marker.texts);
}

// The visitor of visit_members() that adds the members of a node to an object.
// Children are moved out of `made`.
class MemberWriter {
 public:
  MemberWriter(const TagNode& node, std::vector<json::Value>& made,
               json::Object& out)
      : node_(node), made_(made), out_(out) {}

  using Key = std::string;

  template <class Member>
  void member(Key key, const Member& member, Form form) {
    if constexpr (std::is_same_v<Member, bool>) {
      out_.set(std::move(key), member != (form == Form::kNegated));
    } else {
      json::Value value = to_value(member);
      if (form == Form::kSparse && value.items().empty()) return;
      out_.set(std::move(key), std::move(value));
    }
  }
  void children(Key key, ChildForm form) {
    if (form == ChildForm::kOne) return out_.set(std::move(key), child(0));
    json::Array list;
    list.reserve(node_.children.size());
    for (std::size_t i = 0; i < node_.children.size(); ++i) {
      list.push_back(child(i));
    }
    out_.set(std::move(key), std::move(list));
  }
  template <class Trigger>
  void rules(Key key, const std::vector<Trigger>& triggers) {
    json::Array list;
    list.reserve(triggers.size());
    for (std::size_t i = 0; i < triggers.size(); ++i) {
      list.push_back(json::Array{to_value(triggers[i]), child(i)});
    }
    out_.set(std::move(key), std::move(list));
  }
  void bounds(const Repetition& body) {
    out_.set("min", std::int64_t{body.min});
    out_.set("max", body.max == kUnbounded ? std::int64_t{-1}
                                           : std::int64_t{body.max});
  }
  void json_schema(const JsonSchemaBody& body);

 private:
  json::Value child(std::size_t i) {
    return std::move(made_[index_of(node_.children[i])]);
  }

  const TagNode& node_;
  std::vector<json::Value>& made_;
  json::Object& out_;
};

void MemberWriter::json_schema(const JsonSchemaBody& body) {
  out_.set("json_schema", body.schema);
  add_style(body.style, body.elements, body.delimited, out_);
  out_.set("any_order", body.any_order);
  out_.set("max_whitespace_cnt",
           body.max_white_space == kUnbounded
               ? json::Value()
               : json::Value(std::int64_t{body.max_white_space}));
  member("excludes", body.excludes, Form::kSparse);
}

}  // namespace

json::Value to_json(const ElementLayout& layout) {
  json::Object out = {{"open", layout.open}, {"middle", layout.middle}};
  if (!layout.types.empty()) {
    json::Object types;
    for (const auto& [type, text] : layout.types) types.set(type, text);
    out.set("types", std::move(types));
    out.set("after_type", layout.after_type);
  }
  out.set("close", layout.close);
  out.set("between", layout.between);
  out.set("key", layout.key == ElementLayout::Key::kRaw ? "raw" : "xml");
  out.set("strings", layout.strings == ElementLayout::Strings::kRaw ? "raw"
                     : layout.strings == ElementLayout::Strings::kJson
                         ? "json"
                         : "cdata");
  out.set("ends", to_value(layout.ends));
  if (layout.strip) out.set("strip", true);
  if (layout.one_line) out.set("one_line", true);
  return out;
}

json::Value to_json(const DelimitedLayout& layout) {
  return json::Object{{"string", json::Array{layout.open, layout.close}},
                      {"keys", layout.text_keys ? "text" : "bare"}};
}

void add_style(ArgumentStyle style, const ElementLayout& elements,
               const DelimitedLayout& delimited, json::Object& out) {
  out.set("style", to_string(style));
  if (style == ArgumentStyle::kElements) {
    out.set("elements", to_json(elements));
  } else if (style == ArgumentStyle::kDelimited) {
    out.set("delimited", to_json(delimited));
  }
}

json::Value prefix_to_json(std::string_view prefix) {
  if (base::is_utf8(prefix)) return json::Value(prefix);
  json::Array bytes;
  for (const char byte : prefix) {
    bytes.emplace_back(
        static_cast<std::int64_t>(static_cast<unsigned char>(byte)));
  }
  return json::Value(std::move(bytes));
}

json::Value to_json(const TagTree& tag) {
  // From the last node to the first: children are made before their parent.
  std::vector<json::Value> made(tag.nodes.size());
  for (std::size_t i = tag.nodes.size(); i-- > 0;) {
    const TagNode& node = tag.nodes[i];
    json::Object out;
    out.set("type", to_string(node.type));
    MemberWriter members(node, made, out);
    visit_members(node, members);
    if (!node.field.empty()) out.set("field", node.field);
    if (!node.join.empty()) out.set("join", node.join);
    if (!node.tool.empty()) out.set("tool", node.tool);
    if (node.call_id) out.set("call_id", *node.call_id);
    made[i] = std::move(out);
  }
  json::Object out{{"type", "structural_tag"}, {"format", std::move(made[0])}};
  if (!tag.prefix.empty()) out.set("prefix", prefix_to_json(tag.prefix));
  return json::Value(std::move(out));
}

}  // namespace parlance::structural_tag
