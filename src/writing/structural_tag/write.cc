// The names of types and styles, and writing a structural tag as JSON.

#include <array>
#include <cstdint>

#include "base/utf8.h"
#include "structural_tag/structural_tag.h"

namespace parlance::structural_tag {
namespace {

// ORDER: TagNodeType
constexpr std::array<std::string_view, kTagNodeTypes> kTypeNames = {
    "const_string",
    "json_schema",
    "regex",
    "grammar",
    "any_text",
    "sequence",
    "or",
    "optional",
    "plus",
    "star",
    "repeat",
    "tag",
    "triggered_tags",
    "tags_with_separator",
    "dispatch",
    "token",
    "exclude_token",
    "any_tokens",
    "token_triggered_tags",
    "token_dispatch",
};

json::Value texts(const std::vector<std::string>& list) {
  json::Array out;
  out.reserve(list.size());
  for (const std::string& text : list) out.emplace_back(text);
  return out;
}

json::Value token(const TokenRef& ref) {
  if (ref.by_text()) return ref.text;
  return std::int64_t{ref.id};
}

json::Value tokens(const std::vector<TokenRef>& list) {
  json::Array out;
  out.reserve(list.size());
  for (const TokenRef& ref : list) out.push_back(token(ref));
  return out;
}

json::Value marker(const Marker& marker) {
  if (marker.token) {
    return json::Object{{"type", "token"}, {"token", token(*marker.token)}};
  }
  if (marker.texts.size() == 1) return marker.texts[0];
  return texts(marker.texts);
}

json::Value count_or_null(const std::optional<std::uint32_t>& count) {
  return count ? json::Value(std::int64_t{*count}) : json::Value();
}

// The children of `node`, moved out of `made`.
json::Value children(const TagNode& node, std::vector<json::Value>& made) {
  json::Array out;
  out.reserve(node.children.size());
  for (TagNodeId child : node.children) {
    out.push_back(std::move(made[index_of(child)]));
  }
  return out;
}

json::Value child(const TagNode& node, std::vector<json::Value>& made) {
  return std::move(made[index_of(node.children[0])]);
}

// "exclude_patterns", which other engines do not know, is written if given.
void add_exclude_patterns(const std::vector<std::string>& patterns,
                          json::Object& out) {
  if (!patterns.empty()) out.set("exclude_patterns", texts(patterns));
}

// [[pattern, format], ...]
json::Value rules(json::Value patterns, const TagNode& node,
                  std::vector<json::Value>& made) {
  json::Array out;
  out.reserve(node.children.size());
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    out.push_back(json::Array{patterns.items()[i],
                              std::move(made[index_of(node.children[i])])});
  }
  return out;
}

template <class Tags>
void add_counts(const Tags& body, json::Object& out) {
  out.set("at_least_one", body.at_least_one);
  out.set("stop_after_first", body.stop_after_first);
}

void add_json_schema(const JsonSchemaBody& body, json::Object& out) {
  out.set("json_schema", body.schema);
  add_style(body.style, body.elements, body.delimited, out);
  out.set("any_order", body.any_order);
  out.set("max_whitespace_cnt",
          body.max_white_space == kUnbounded
              ? json::Value()
              : json::Value(std::int64_t{body.max_white_space}));
  if (!body.excludes.empty()) out.set("excludes", texts(body.excludes));
}

// A flat table: the members of each type of node after "type", in the order in
// which docs/reference/structural-tags.md lists them.  Children are moved out
// of `made`.
void add_members(const TagNode& node, std::vector<json::Value>& made,
                 json::Object& out) {
  switch (node.type) {
    case TagNodeType::kConstString:
      out.set("value", node.as<ConstString>().value);
      return;
    case TagNodeType::kJsonSchema:
      return add_json_schema(node.as<JsonSchemaBody>(), out);
    case TagNodeType::kRegex:
      out.set("pattern", node.as<RegexBody>().pattern);
      return;
    case TagNodeType::kGrammar:
      out.set("grammar", node.as<GrammarBody>().source);
      return;
    case TagNodeType::kAnyText: {
      const auto& body = node.as<AnyText>();
      out.set("excludes", texts(body.excludes));
      add_exclude_patterns(body.exclude_patterns, out);
      out.set("max_tokens", count_or_null(body.max_tokens));
      out.set("max_chars", count_or_null(body.max_chars));
      return;
    }
    case TagNodeType::kSequence:
    case TagNodeType::kOr:
      out.set("elements", children(node, made));
      return;
    case TagNodeType::kOptional:
    case TagNodeType::kPlus:
    case TagNodeType::kStar:
      out.set("content", child(node, made));
      return;
    case TagNodeType::kRepeat: {
      const auto& body = node.as<RepeatBody>();
      out.set("min", std::int64_t{body.min});
      out.set("max", body.max == kUnbounded ? std::int64_t{-1}
                                            : std::int64_t{body.max});
      out.set("content", child(node, made));
      return;
    }
    case TagNodeType::kTag: {
      const auto& body = node.as<TagBody>();
      out.set("begin", marker(body.begin));
      out.set("content", child(node, made));
      out.set("end", marker(body.end));
      return;
    }
    case TagNodeType::kTriggeredTags: {
      const auto& body = node.as<TriggeredTags>();
      out.set("triggers", texts(body.triggers));
      out.set("tags", children(node, made));
      add_counts(body, out);
      out.set("excludes", texts(body.excludes));
      add_exclude_patterns(body.exclude_patterns, out);
      return;
    }
    case TagNodeType::kTagsWithSeparator: {
      const auto& body = node.as<TagsWithSeparator>();
      out.set("tags", children(node, made));
      out.set("separator", body.separator);
      add_counts(body, out);
      return;
    }
    case TagNodeType::kDispatch: {
      const auto& body = node.as<DispatchBody>();
      out.set("rules", rules(texts(body.patterns), node, made));
      out.set("loop", body.loop);
      out.set("excludes", texts(body.excludes));
      add_exclude_patterns(body.exclude_patterns, out);
      return;
    }
    case TagNodeType::kToken:
      out.set("token", token(node.as<TokenBody>().token));
      return;
    case TagNodeType::kExcludeToken:
      out.set("exclude_tokens", tokens(node.as<ExcludeToken>().excludes));
      return;
    case TagNodeType::kAnyTokens: {
      const auto& body = node.as<AnyTokens>();
      out.set("exclude_tokens", tokens(body.excludes));
      out.set("max_tokens", count_or_null(body.max_tokens));
      return;
    }
    case TagNodeType::kTokenTriggeredTags: {
      const auto& body = node.as<TokenTriggeredTags>();
      out.set("trigger_tokens", tokens(body.triggers));
      out.set("tags", children(node, made));
      out.set("exclude_tokens", tokens(body.excludes));
      add_counts(body, out);
      return;
    }
    case TagNodeType::kTokenDispatch: {
      const auto& body = node.as<TokenDispatch>();
      out.set("rules", rules(tokens(body.patterns), node, made));
      out.set("loop", body.loop);
      out.set("exclude_tokens", tokens(body.excludes));
      return;
    }
  }
}

}  // namespace

std::string_view to_string(TagNodeType type) {
  return kTypeNames[static_cast<std::size_t>(type)];
}

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
  out.set("ends", texts(layout.ends));
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
    add_members(node, made, out);
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
