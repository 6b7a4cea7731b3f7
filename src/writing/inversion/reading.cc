#include "inversion/reading.h"

#include <span>

#include "base/trimmed.h"
#include "json/located.h"
#include "json/writer.h"
#include "parlance/response_parser.h"
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
        out.fault = "the text " + json::quoted(event.text) +
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
  if (!found.empty()) out.diagnostic = found.front().message;
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

bool is_call(const json::Value& call, std::string_view name,
             const json::Value& arguments) {
  const json::Value* found = name_of(call);
  if (found == nullptr || found->as_string() != name) return false;
  const json::Value* read = arguments_of(call);
  return read == nullptr ? arguments.size() == 0
                         : schema::equal_values(*read, arguments);
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
  if (is_call(call, name, arguments)) {
    return options.strict ? reading.diagnostic : "";
  }
  const json::Value* found = name_of(call);
  const json::Value* read = arguments_of(call);
  const bool named = found != nullptr && found->as_string() == name;
  return "it is read as " +
         json::dump(read != nullptr && named ? *read : call, {.ascii = false});
}

std::string quoted_list(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) {
    out += (out.empty() ? "" : ", ") + json::quoted(text);
  }
  return out;
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
