#include "inversion/reading.h"

#include <span>

#include "base/argument_names.h"
#include "base/trimmed.h"
#include "json/located.h"
#include "json/writer.h"
#include "parlance/response_parser.h"
#include "rendering/arguments.h"
#include "schema/validate.h"

namespace parlance::inversion {

using format::WriteLayout;
using format::WritePart;
using format::WriteParts;

std::string text_in(const WriteParts& parts) {
  std::string out;
  for (const WritePart& part : parts) out += part.text;
  return out;
}

std::string spelled(const Sample& sample, std::string_view name,
                    std::string_view arguments) {
  std::string out;
  for (const SamplePiece& piece : sample) {
    switch (piece.kind) {
      case SamplePiece::Kind::kArguments:
        out += arguments.empty() ? piece.text : arguments;
        break;
      case SamplePiece::Kind::kText:
      case SamplePiece::Kind::kId:
        out += piece.text;
        break;
      case SamplePiece::Kind::kName:
        out += name;
        break;
      case SamplePiece::Kind::kJsonName:
        json::append_string(out, name, /*ascii=*/false);
        break;
    }
  }
  return out;
}

std::string call_text(const Plan& plan, const Sample& sample,
                      std::string_view name, std::string_view arguments) {
  const WriteLayout& layout = plan.writing->fields[*plan.calls].front();
  return text_in(layout.section_begin) + spelled(sample, name, arguments) +
         text_in(layout.section_end);
}

const json::Value* argument_style(const WriteLayout& layout) {
  for (const WritePart& part : layout.parts) {
    if (part.kind == WritePart::Kind::kArguments && !part.as_text) {
      return &part.style;
    }
  }
  return nullptr;
}

std::string_view member_text(const json::Value& object, std::string_view key) {
  const json::Value* found = object.find(key);
  return found == nullptr ? std::string_view() : found->as_string();
}

std::string element_text(const json::Value& style, std::string_view key,
                         std::string_view type, std::string_view text) {
  const json::Value& elements = *style.find("elements");
  std::string out(member_text(elements, "open"));
  out += member_text(elements, "key") == "xml" ? base::escape_xml_name(key)
                                               : std::string(key);
  out += member_text(elements, "middle");
  if (const json::Value* types = elements.find("types")) {
    const json::Value* found = types->find(type);
    if (found == nullptr && type == "integer") found = types->find("number");
    if (found == nullptr) found = types->find("*");
    if (found != nullptr) out += found->as_string();
    out += member_text(elements, "after_type");
  }
  return out.append(text).append(member_text(elements, "close"));
}

std::string value_text(const json::Value& style, const json::Value& value) {
  const std::string_view strings =
      member_text(*style.find("elements"), "strings");
  if (!value.is_string() || strings == "json") {
    return json::dump(value, {.ascii = false});
  }
  const std::string_view text = value.as_string();
  if (strings == "cdata" &&
      text.find_first_of("<&") != std::string_view::npos) {
    return "<![CDATA[" + std::string(text) + "]]>";
  }
  return std::string(text);
}

Result<std::string> arguments_text(const json::Value& style,
                                   const json::Object& arguments) {
  const json::Value* elements = style.find("elements");
  if (elements == nullptr) {
    return rendering::write_arguments(arguments, style);
  }
  std::string out;
  for (const json::Member& member : arguments) {
    if (!out.empty()) out += member_text(*elements, "between");
    out += element_text(style, member.key, json::to_string(member.value.kind()),
                        value_text(style, member.value));
  }
  return out;
}

namespace {

// The calls in a value of the field of calls: the object of a call, or a list
// of such objects.
void collect_calls(const json::Value& value, std::vector<json::Value>& out) {
  if (!value.is_array()) {
    out.push_back(value);
    return;
  }
  for (const json::Value& item : value.items()) out.push_back(item);
}

const json::Value& function_of(const json::Value& call) {
  const json::Value* function = call.find("function");
  return function == nullptr ? call : *function;
}

}  // namespace

Reading read_response(const Format& format, const Plan& plan,
                      std::string_view text, const ReadOptions& options) {
  ResponseParser parser(format, {.tools = options.tools});
  Reading out;
  const auto take = [&](std::span<const Event> events) {
    for (const Event& event : events) {
      const bool call = plan.calls && event.field_index == *plan.calls;
      if (event.kind == EventKind::kRegionChunk && !call) {
        out.text += event.text;
      }
      if (event.kind == EventKind::kRegionClose && call) {
        collect_calls(*event.value, out.calls);
      } else if (!out.fault.empty()) {
        continue;
      } else if (options.sample && event.kind == EventKind::kRegionChunk &&
                 !call && base::trimmed(event.text) == kFieldText) {
        out.fields.push_back(event.field_index);
      } else if (event.kind == EventKind::kRegionMalformed) {
        out.fault = event.diagnostic == nullptr ? "it cannot be read"
                                                : event.diagnostic->message;
      } else if (event.kind == EventKind::kTextUnclaimed ||
                 (event.kind == EventKind::kRegionChunk && !call &&
                  !base::trimmed(event.text).empty())) {
        out.fault = "the text " +
                    json::dump(json::Value(event.text), {.ascii = false}) +
                    " is not a part of the call";
      }
    }
  };
  take(parser.feed(text));
  take(parser.finalize());
  if (out.fault.empty() && parser.failure() != nullptr) {
    out.fault = parser.failure()->message;
  }
  const std::vector<Diagnostic>& found = parser.message().diagnostics;
  if (options.strict && out.fault.empty() && !found.empty()) {
    out.fault = found.front().message;
  }
  return out;
}

const json::Value* name_of(const json::Value& call) {
  return function_of(call).find("name");
}

const json::Value* arguments_of(const json::Value& call) {
  for (const char* key : {"arguments", "parameters", "args"}) {
    const json::Value* found = function_of(call).find(key);
    if (found != nullptr) return found;
  }
  return nullptr;
}

bool has_arguments(const json::Value& call, const json::Value& expected) {
  const json::Value* found = arguments_of(call);
  return found != nullptr && schema::equal_values(*found, expected);
}

std::string call_fault(const Format& format, const Plan& plan,
                       std::string_view text, std::string_view name,
                       const json::Value& arguments,
                       const ReadOptions& options) {
  const Reading reading = read_response(format, plan, text, options);
  if (!reading.fault.empty()) return reading.fault;
  if (reading.calls.empty()) return "it opens no call";
  if (reading.calls.size() > 1) return "it is read as several calls";
  const json::Value& call = reading.calls[0];
  const json::Value* found = name_of(call);
  if (found != nullptr && found->as_string() == name &&
      has_arguments(call, arguments)) {
    return "";
  }
  const json::Value* read = arguments_of(call);
  return "it is read as " + json::dump(read == nullptr || found == nullptr ||
                                               found->as_string() != name
                                           ? call
                                           : *read,
                                       {.ascii = false});
}

std::string field_pointer(const format::FormatImpl& format,
                          format::FieldId field) {
  return json::append_pointer(
      format.name.empty() ? "/fields" : "/response_template/fields",
      format.description.fields[field].template_name);
}

std::string calls_pointer(const format::FormatImpl& format, const Plan& plan) {
  std::string in_template = field_pointer(format, *plan.calls);
  if (plan.is_derived()) return in_template;
  const json::Value* at = format.file.find("parlance");
  if (at != nullptr) at = at->find("write");
  if (at == nullptr) return in_template;
  const format::Field& field = format.description.fields[*plan.calls];
  std::string pointer =
      json::append_pointer("/parlance/write", field.template_name);
  at = at->find(field.template_name);
  if (at != nullptr && at->is_array() && at->size() > 0) {
    at = &at->items().front();
    pointer = json::append_pointer(pointer, std::size_t{0});
  }
  const json::Value* parts = at == nullptr ? nullptr : at->find("parts");
  if (parts == nullptr) return pointer;
  pointer += "/parts";
  for (std::size_t i = 0; i < parts->items().size(); ++i) {
    if (parts->items()[i].find("arguments") == nullptr) continue;
    return json::append_pointer(pointer, i) + "/arguments";
  }
  return pointer;
}

}  // namespace parlance::inversion
