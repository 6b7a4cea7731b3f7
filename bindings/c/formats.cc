// Formats, tools and detection.

#include <algorithm>
#include <utility>

#include "calls.h"
#include "parlance/detect.h"
#include "parlance/format.h"
#include "parlance/hints.h"
#include "parlance/verify_format.h"
#include "requests.h"

namespace parlance::c {

namespace {

json::Value list_of(std::span<const std::string> texts) {
  json::Array out;
  for (const std::string& text : texts) out.emplace_back(text);
  return out;
}

json::Value description_of(const Format& format) {
  json::Array fields;
  for (std::size_t i = 0; i < format.field_count(); ++i) {
    const auto join = format.field_join(i);
    fields.push_back(
        json::Object{{"name", format.field_name(i)},
                     {"dirty", format.field_dirty(i)},
                     {"trimmed", format.field_trimmed(i)},
                     {"join", join ? json::Value(*join) : json::Value()}});
  }
  return json::Object{{"name", format.name()},
                      {"aliases", list_of(format.aliases())},
                      {"models", list_of(format.models())},
                      {"variants", list_of(format.variants())},
                      {"recovers", format.recovers()},
                      {"fields", std::move(fields)}};
}

// The text or the ids of the member "prefix".
void read_prefix(Request& request, StructuralTagOptions& options) {
  const json::Value* const prefix = request.find("prefix");
  if (prefix == nullptr || prefix->is_string()) {
    options.prefix = request.text("prefix");
    return;
  }
  options.prefix_ids = *request.ids("prefix");
  if (options.vocabulary == nullptr) {
    fail({.code = ErrorCode::kUsage,
          .message = "a prefix of token ids needs a vocabulary",
          .path = "/prefix"});
  }
}

std::optional<std::uint32_t> small_number(Request& request,
                                          std::string_view key) {
  const auto number = request.maybe_number(key, UINT32_MAX);
  if (!number) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

json::Value member(Request& request, std::string_view key) {
  const json::Value* const found = request.find(key);
  return found == nullptr ? json::Value() : *found;
}

}  // namespace

PARLANCE_C_FUNCTIONS_BEGIN

size_t parlance_formats_count(void) { return Format::built_in_names().size(); }

const char* parlance_formats_name(size_t index, size_t* size) {
  const auto names = Format::built_in_names();
  const bool known = index < names.size();
  store(size, known ? names[index].size() : 0);
  return known ? names[index].data() : nullptr;  // literals
}

parlance_status parlance_json_locate(const char* text, size_t text_size,
                                     const char* path, size_t path_size,
                                     parlance_bytes* out,
                                     parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    const auto place = find_json_place(text_of(text, text_size, "text"),
                                       text_of(path, path_size, "path"));
    json::Value found;
    if (place) {
      found = json::Object{
          {"value", range(place->value)},
          {"key", place->key ? range(*place->key) : json::Value()}};
    }
    told.set(found);
  });
}

parlance_status parlance_format_built_in(const char* name, size_t name_size,
                                         parlance_format** out,
                                         parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    made.set(taken(Format::built_in(text_of(name, name_size, "name"))));
  });
}

parlance_status parlance_format_from_json(const char* text, size_t text_size,
                                          const char* variant,
                                          size_t variant_size,
                                          parlance_format** out,
                                          parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    made.set(taken(Format::from_json(
        text_of(text, text_size, "text"),
        {.variant = text_of(variant, variant_size, "variant")})));
  });
}

parlance_status parlance_format_rename(const parlance_format* format,
                                       const char* names, size_t names_size,
                                       parlance_format** out,
                                       parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    const Format& of = the(format, "format").value;
    const json::Value given =
        taken(json::parse(text_of(names, names_size, "names")));
    if (!given.is_object()) {
      fail({.code = ErrorCode::kWrongType,
            .message = "the names are an object: {\"old\": \"new\"}"});
    }
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const json::Member& name : given.members()) {
      if (!name.value.is_string()) {
        fail({.code = ErrorCode::kWrongType,
              .message =
                  "the new name of \"" + name.key + "\" must be a string"});
      }
      pairs.emplace_back(name.key, name.value.as_string());
    }
    made.set(taken(of.with_names(pairs)));
  });
}

parlance_format* parlance_format_ref(const parlance_format* format) {
  return add_reference(format);
}
void parlance_format_free(parlance_format* format) { drop_reference(format); }

parlance_status parlance_format_describe(const parlance_format* format,
                                         parlance_bytes* out,
                                         parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    told.set(description_of(the(format, "format").value));
  });
}

parlance_status parlance_format_to_json(const parlance_format* format,
                                        parlance_bytes* out,
                                        parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    told.set(the(format, "format").value.to_json());
  });
}

parlance_status parlance_format_template(const parlance_format* format,
                                         parlance_bytes* out,
                                         parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    told.set(the(format, "format").value.template_json());
  });
}

parlance_status parlance_format_lint(const parlance_format* format,
                                     parlance_bytes* out,
                                     parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    json::Array list;
    for (const Lint& lint : the(format, "format").value.lint()) {
      list.push_back(json::Object{{"code", to_string(lint.code)},
                                  {"message", lint.message},
                                  {"path", lint.path}});
    }
    told.set(json::Value(std::move(list)));
  });
}

parlance_status parlance_format_check(const parlance_format* format,
                                      const char* request, size_t request_size,
                                      const parlance_vocabulary* vocabulary,
                                      parlance_bytes* out,
                                      parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    const Format& of = the(format, "format").value;
    VerifyFormatOptions options;
    options.vocabulary = value_or_null(vocabulary, "vocabulary");
    Request asked(request, request_size);
    options.tools = member(asked, "tools");
    options.most_calls = asked.number("most_calls", options.most_calls);
    options.walks = asked.number("walks", options.walks);
    options.seed = small_number(asked, "seed").value_or(options.seed);
    asked.finish();
    json::Array list;
    for (const FormatFinding& finding : verify_format(of, options)) {
      list.push_back(json::Object{{"code", to_string(finding.error.code)},
                                  {"message", finding.error.message},
                                  {"path", finding.error.path},
                                  {"text", finding.text},
                                  {"meant", finding.meant},
                                  {"read", finding.read}});
    }
    told.set(json::Value(std::move(list)));
  });
}

parlance_status parlance_format_render(const parlance_format* format,
                                       const char* message, size_t message_size,
                                       const char* request, size_t request_size,
                                       parlance_bytes* out,
                                       parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    const Format& of = the(format, "format").value;
    const json::Value said =
        taken(json::parse(text_of(message, message_size, "message")));
    Request asked(request, request_size);
    const json::Value* const listed = asked.list("tools");
    const ToolSet tools =
        listed == nullptr ? ToolSet() : ToolSet::from_value(*listed);
    const std::string prefix = asked.text("prefix");
    const bool verify = asked.flag("verify", true);
    asked.finish();
    told.set(taken(of.render(
        said, {.tools = &tools, .prefix = prefix, .verify = verify})));
  });
}

parlance_status parlance_format_tag(const parlance_format* format,
                                    const char* request, size_t request_size,
                                    const parlance_vocabulary* vocabulary,
                                    parlance_tag** out,
                                    parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    const Format& of = the(format, "format").value;
    StructuralTagOptions options;
    options.vocabulary = value_or_null(vocabulary, "vocabulary");
    Request asked(request, request_size);
    options.tools = member(asked, "tools");
    options.tool_choice = member(asked, "tool_choice");
    options.parallel_tool_calls = asked.flag("parallel_tool_calls", true);
    // ORDER: TextWithCalls
    options.text_with_calls = static_cast<TextWithCalls>(
        asked.choice("text_with_calls", {"optional", "before", "between"}));
    // ORDER: ReasoningMode, whose last has two names
    options.reasoning = static_cast<ReasoningMode>(std::min<std::size_t>(
        asked.choice("reasoning", {"required", "allowed", "off", "none"},
                     static_cast<std::size_t>(options.reasoning)),
        2));
    options.response_format = member(asked, "response_format");
    read_prefix(asked, options);
    options.max_reasoning_tokens = small_number(asked, "max_reasoning_tokens");
    options.any_order = asked.flag("any_order", false);
    options.max_white_space = small_number(asked, "max_white_space");
    asked.finish();
    made.set(taken(of.structural_tag(options)));
  });
}

parlance_status parlance_formats_rank(const char* text, size_t text_size,
                                      const parlance_tools* tools,
                                      parlance_bytes* out,
                                      parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    json::Array list;
    for (const FormatReading& reading : rank_formats(
             text_of(text, text_size, "text"), value_or_null(tools, "tools"))) {
      list.push_back(
          json::Object{{"name", reading.name},
                       {"calls", number(reading.calls)},
                       {"call", reading.call},
                       {"diagnostics", number(reading.diagnostics)},
                       {"region_bytes", number(reading.region_bytes)},
                       {"span", range(reading.bytes)},
                       {"marked", reading.marked}});
    }
    told.set(json::Value(std::move(list)));
  });
}

parlance_status parlance_detect(const char* config, size_t config_size,
                                const char* rendered, size_t rendered_size,
                                parlance_bytes* out, parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    const json::Value given =
        taken(json::parse(text_of(config, config_size, "config")));
    const DetectedFormat found = taken(detect_format(
        given, {.rendered = text_of(rendered, rendered_size, "rendered")}));
    told.set(json::Value(json::Object{{"name", found.name},
                                      {"family", found.family},
                                      {"certainty", to_string(found.certainty)},
                                      {"why", found.why},
                                      {"others", list_of(found.others)}}));
  });
}

parlance_status parlance_detection_sample(parlance_bytes* out,
                                          parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    told.set(detection_sample());
  });
}

parlance_status parlance_tools_from_json(const char* text, size_t text_size,
                                         parlance_tools** out,
                                         parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    made.set(taken(ToolSet::from_json(text_of(text, text_size, "text"))));
  });
}

parlance_tools* parlance_tools_ref(const parlance_tools* tools) {
  return add_reference(tools);
}
void parlance_tools_free(parlance_tools* tools) { drop_reference(tools); }

PARLANCE_C_FUNCTIONS_END

}  // namespace parlance::c
