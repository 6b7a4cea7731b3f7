// Names, and writing a structural tag back.

#include <array>

#include "structural_tag/structural_tag.h"

namespace parlance::structural_tag {
namespace {

// ORDER: TagNodeType
constexpr std::array<std::string_view, kFormatTypes> kTypeNames = {
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

// ORDER: ArgumentStyle
constexpr std::array<std::string_view, kArgumentStyles> kStyleNames = {
    "json",         "qwen_xml",          "minimax_xml",
    "deepseek_xml", "glm_xml",           "kimi_k3_xml",
    "cohere_xml",   "deepseek_v4_1_xml", "minimax_m3_xml",
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

// The formats that stand in `format`, taken out of `made`.
json::Value children(const TagNode& format, std::vector<json::Value>& made) {
  json::Array out;
  out.reserve(format.children.size());
  for (TagNodeId child : format.children) {
    out.push_back(std::move(made[index_of(child)]));
  }
  return out;
}

json::Value child(const TagNode& format, std::vector<json::Value>& made) {
  return std::move(made[index_of(format.children[0])]);
}

// [[pattern, format], ...]
json::Value rules(json::Value patterns, const TagNode& format,
                  std::vector<json::Value>& made) {
  json::Array out;
  out.reserve(format.children.size());
  for (std::size_t i = 0; i < format.children.size(); ++i) {
    out.push_back(json::Array{patterns.items()[i],
                              std::move(made[index_of(format.children[i])])});
  }
  return out;
}

// Adds the members of `format` after "type".
void add_members(const TagNode& format, std::vector<json::Value>& made,
                 json::Object& out) {
  switch (format.type) {
    case TagNodeType::kConstString:
      out.set("value", format.as<ConstString>().value);
      return;
    case TagNodeType::kJsonSchema: {
      const auto& body = format.as<JsonSchemaFormat>();
      out.set("json_schema", body.schema);
      out.set("style", to_string(body.style));
      out.set("any_order", body.any_order);
      out.set("max_whitespace_cnt",
              body.max_white_space == kUnbounded
                  ? json::Value()
                  : json::Value(std::int64_t{body.max_white_space}));
      if (!body.excludes.empty()) out.set("excludes", texts(body.excludes));
      return;
    }
    case TagNodeType::kRegex:
      out.set("pattern", format.as<RegexFormat>().pattern);
      return;
    case TagNodeType::kGrammar:
      out.set("grammar", format.as<GrammarFormat>().source);
      return;
    case TagNodeType::kAnyText: {
      const auto& body = format.as<AnyText>();
      out.set("excludes", texts(body.excludes));
      out.set("max_tokens", count_or_null(body.max_tokens));
      out.set("max_chars", count_or_null(body.max_chars));
      return;
    }
    case TagNodeType::kSequence:
    case TagNodeType::kOr:
      out.set("elements", children(format, made));
      return;
    case TagNodeType::kOptional:
    case TagNodeType::kPlus:
    case TagNodeType::kStar:
      out.set("content", child(format, made));
      return;
    case TagNodeType::kRepeat: {
      const auto& body = format.as<RepeatFormat>();
      out.set("min", std::int64_t{body.min});
      out.set("max", body.max == kUnbounded ? std::int64_t{-1}
                                            : std::int64_t{body.max});
      out.set("content", child(format, made));
      return;
    }
    case TagNodeType::kTag: {
      const auto& body = format.as<TagFormat>();
      out.set("begin", marker(body.begin));
      out.set("content", child(format, made));
      out.set("end", marker(body.end));
      return;
    }
    case TagNodeType::kTriggeredTags: {
      const auto& body = format.as<TriggeredTags>();
      out.set("triggers", texts(body.triggers));
      out.set("tags", children(format, made));
      out.set("at_least_one", body.at_least_one);
      out.set("stop_after_first", body.stop_after_first);
      out.set("excludes", texts(body.excludes));
      return;
    }
    case TagNodeType::kTagsWithSeparator: {
      const auto& body = format.as<TagsWithSeparator>();
      out.set("tags", children(format, made));
      out.set("separator", body.separator);
      out.set("at_least_one", body.at_least_one);
      out.set("stop_after_first", body.stop_after_first);
      return;
    }
    case TagNodeType::kDispatch: {
      const auto& body = format.as<DispatchFormat>();
      out.set("rules", rules(texts(body.patterns), format, made));
      out.set("loop", body.loop);
      out.set("excludes", texts(body.excludes));
      return;
    }
    case TagNodeType::kToken:
      out.set("token", token(format.as<TokenFormat>().token));
      return;
    case TagNodeType::kExcludeToken:
      out.set("exclude_tokens", tokens(format.as<ExcludeToken>().excludes));
      return;
    case TagNodeType::kAnyTokens: {
      const auto& body = format.as<AnyTokens>();
      out.set("exclude_tokens", tokens(body.excludes));
      out.set("max_tokens", count_or_null(body.max_tokens));
      return;
    }
    case TagNodeType::kTokenTriggeredTags: {
      const auto& body = format.as<TokenTriggeredTags>();
      out.set("trigger_tokens", tokens(body.triggers));
      out.set("tags", children(format, made));
      out.set("exclude_tokens", tokens(body.excludes));
      out.set("at_least_one", body.at_least_one);
      out.set("stop_after_first", body.stop_after_first);
      return;
    }
    case TagNodeType::kTokenDispatch: {
      const auto& body = format.as<TokenDispatch>();
      out.set("rules", rules(tokens(body.patterns), format, made));
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

std::string_view to_string(ArgumentStyle style) {
  return kStyleNames[static_cast<std::size_t>(style)];
}

json::Value to_json(const TagTree& tag) {
  // From the last format to the first: what stands in a format is made before
  // it.
  std::vector<json::Value> made(tag.formats.size());
  for (std::size_t i = tag.formats.size(); i-- > 0;) {
    const TagNode& format = tag.formats[i];
    json::Object out;
    out.set("type", to_string(format.type));
    add_members(format, made, out);
    if (!format.field.empty()) out.set("field", format.field);
    if (!format.tool.empty()) out.set("tool", format.tool);
    made[i] = std::move(out);
  }
  return json::Object{{"type", "structural_tag"},
                      {"format", std::move(made[0])}};
}

}  // namespace parlance::structural_tag
