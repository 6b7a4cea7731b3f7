#include "inversion/verify.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/access.h"
#include "base/argument_names.h"
#include "base/quoted.h"
#include "inversion/trimmed.h"
#include "json/located.h"
#include "json/writer.h"
#include "parlance/response_parser.h"
#include "rendering/arguments.h"

namespace parlance::inversion {
namespace {

using format::WriteLayout;
using format::WritePart;
using format::WriteParts;

// The texts of `parts`; other parts are left out.
std::string text_in(const WriteParts& parts) {
  std::string out;
  for (const WritePart& part : parts) out += part.text;
  return out;
}

// `arguments`: their text, "" for none.
std::string spelled(const Sample& sample, std::string_view name,
                    std::string_view arguments = "") {
  std::string out;
  for (const SamplePiece& piece : sample) {
    switch (piece.kind) {
      case SamplePiece::Kind::kArguments:
        out += arguments.empty() ? piece.text : arguments;
        break;
      case SamplePiece::Kind::kText:
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

// A response of one call.
std::string call_text(const Plan& plan, const Sample& sample,
                      std::string_view name, std::string_view arguments = "") {
  const WriteLayout& layout = plan.writing->fields[*plan.calls].front();
  return text_in(layout.section_begin) + spelled(sample, name, arguments) +
         text_in(layout.section_end);
}

// The pointer of the field of calls.
std::string calls_pointer(const Format& format, const Plan& plan) {
  return json::append_pointer(
      format.name().empty() ? "/fields" : "/response_template/fields",
      format.field_name(*plan.calls));
}

// The calls in a value of the field of calls: the object of a call, or a list
// of such objects.
void collect_calls(const json::Value& value, std::vector<json::Value>& out) {
  if (!value.is_array()) {
    out.push_back(value);
    return;
  }
  for (const json::Value& item : value.items()) out.push_back(item);
}

// The text of fields in a sample of a whole response.
constexpr std::string_view kText = "x";

// What a response is read as: its calls, the fields of text in it, and the
// first thing that it should not have.
struct Reading {
  std::vector<json::Value> calls;
  std::vector<std::size_t> fields;
  std::string text;  // of the fields
  std::string fault;
};

// `sample`: fields may have the text kText, and no other.
Reading read(const Format& format, const Plan& plan, std::string_view text,
             bool sample = false) {
  ResponseParser parser(format);
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
      } else if (sample && event.kind == EventKind::kRegionChunk && !call &&
                 trimmed(event.text) == kText) {
        out.fields.push_back(event.field_index);
      } else if (event.kind == EventKind::kRegionMalformed) {
        out.fault = event.diagnostic == nullptr ? "it cannot be read"
                                                : event.diagnostic->message;
      } else if (event.kind == EventKind::kTextUnclaimed ||
                 (event.kind == EventKind::kRegionChunk && !call &&
                  !trimmed(event.text).empty())) {
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
  return out;
}

bool calls_tool(const json::Value& call, std::string_view name) {
  const json::Value* function = call.find("function");
  const json::Value& owner = function == nullptr ? call : *function;
  const json::Value* found = owner.find("name");
  if (found == nullptr || found->as_string() != name) return false;
  const json::Value* arguments = owner.find("arguments");
  return arguments == nullptr ||
         (arguments->is_object() && arguments->size() == 0);
}

bool has_arguments(const json::Value& call, const json::Value& expected) {
  const json::Value* function = call.find("function");
  const json::Value& owner = function == nullptr ? call : *function;
  for (const char* key : {"arguments", "parameters", "args"}) {
    const json::Value* found = owner.find(key);
    if (found != nullptr) return *found == expected;
  }
  return false;
}

// Why one call is not read back; "" if it is.
std::string fault_of(const Format& format, const Plan& plan,
                     std::string_view text, std::string_view name) {
  const Reading reading = read(format, plan, text);
  if (!reading.fault.empty()) return reading.fault;
  if (reading.calls.empty()) return "it opens no call";
  if (reading.calls.size() > 1) return "it is read as several calls";
  if (calls_tool(reading.calls[0], name)) return "";
  return "it is read as " + json::dump(reading.calls[0], {.ascii = false});
}

// A response with every field in the order of the steps is read as these
// fields.
//
// Sets ReadBack::no_turn_end if a text that ends the turn is not read after it.
std::optional<Error> verify_order(const Format& format, const Plan& plan,
                                  std::string_view name, ReadBack& out) {
  std::string text;
  std::vector<std::size_t> expected;
  for (const format::WriteStep& step : plan.writing->steps) {
    const WriteLayout& layout = plan.writing->fields[step.field].front();
    if (step.field == plan.calls) {
      if (!expected.empty()) text += text_in(layout.before);
      text += text_in(layout.section_begin);
      text += spelled(plan.samples.front(), name);
      text += text_in(layout.section_end);
      continue;
    }
    expected.push_back(step.field);
    for (const WritePart& part : layout.parts) {
      text += part.kind == WritePart::Kind::kPayload ? kText : part.text;
    }
  }
  const auto is_read = [&](const Reading& reading) {
    if (!reading.fault.empty() || reading.fields != expected) return false;
    if (!plan.calls) return reading.calls.empty();
    return reading.calls.size() == 1 && calls_tool(reading.calls[0], name);
  };
  const Reading reading = read(format, plan, text, /*sample=*/true);
  if (is_read(reading)) {
    if (plan.is_derived()) {
      for (const std::string& end : plan.turn_end) {
        if (!is_read(read(format, plan, text + end, /*sample=*/true))) {
          out.no_turn_end = true;
        }
      }
    }
    return std::nullopt;
  }
  return Error{
      ErrorCode::kUnsupported,
      "the fields of the format are not read back one after the other: of " +
          json::dump(json::Value(text), {.ascii = false}) + ", " +
          (!reading.fault.empty()       ? reading.fault
           : reading.fields != expected ? "another field is read"
                                        : "the call is not read") +
          ".",
      format.name().empty() ? "/fields" : "/response_template/fields"};
}

// Sets ReadBack::text_between_calls if calls have no section, and two of them
// with text between are read as such.
void verify_text_between(const Format& format, const Plan& plan,
                         std::string_view name, ReadBack& out) {
  const WriteLayout& layout = plan.writing->fields[*plan.calls].front();
  if (out.one_call_only || !plan.content || !layout.section_begin.empty() ||
      !layout.section_end.empty() ||
      plan.writing->fields[*plan.content].empty()) {
    return;
  }
  const std::string call = spelled(plan.samples.front(), name);
  std::string text = call;
  for (const WritePart& part :
       plan.writing->fields[*plan.content].front().parts) {
    text += part.kind == WritePart::Kind::kPayload ? kText : part.text;
  }
  text += text_in(layout.before) + call;
  const Reading reading = read(format, plan, text, /*sample=*/true);
  out.text_between_calls =
      reading.fault.empty() && reading.calls.size() == 2 &&
      calls_tool(reading.calls[0], name) &&
      calls_tool(reading.calls[1], name) &&
      reading.fields == std::vector<std::size_t>{plan.content->value()} &&
      reading.text == kText;
}

// A call whose arguments have a string with the call's opener in it is read as
// these arguments: the opener does not read on into them.
std::optional<Error> verify_string(const Format& format, const Plan& plan,
                                   std::string_view name) {
  const WriteLayout& layout = plan.writing->fields[*plan.calls].front();
  const Sample& sample = plan.samples.front();
  std::string opener;
  for (const SamplePiece& piece : sample) {
    if (piece.kind == SamplePiece::Kind::kArguments) {
      if (piece.text != "{}") return std::nullopt;
      break;
    }
    opener += spelled({piece}, name);
  }
  const auto& excluded = plan.fields[*plan.calls].strings;
  for (const std::string& text : excluded) {
    if (opener.find(text) != std::string::npos) return std::nullopt;
  }
  for (const WritePart& part : layout.parts) {
    const bool json = part.style.find("style") != nullptr &&
                      part.style.find("style")->as_string() == "json";
    if (part.kind == WritePart::Kind::kArguments && !json) return std::nullopt;
  }
  const json::Value expected = json::Object{{"a", opener}};
  const std::string text =
      call_text(plan, sample, name, json::dump(expected, {.ascii = false}));
  const Reading reading = read(format, plan, text);
  if (reading.fault.empty() && reading.calls.size() == 1 &&
      has_arguments(reading.calls[0], expected)) {
    return std::nullopt;
  }
  return Error{ErrorCode::kUnsupported,
               "field '" + std::string(format.field_name(*plan.calls)) +
                   "': the opener of a call reads on into its arguments: " +
                   json::dump(json::Value(text), {.ascii = false}) +
                   " is not read back.",
               calls_pointer(format, plan) + "/open_pattern"};
}

// A call whose arguments are two elements is read as these arguments.
std::optional<Error> verify_elements(const Format& format, const Plan& plan,
                                     std::string_view name, ReadBack& out) {
  const WriteLayout& layout = plan.writing->fields[*plan.calls].front();
  const json::Value* elements = nullptr;
  for (const WritePart& part : layout.parts) {
    if (part.kind == WritePart::Kind::kArguments) {
      elements = part.style.find("elements");
    }
  }
  if (elements == nullptr) return std::nullopt;
  const auto text_of = [&](const char* key) {
    const json::Value* found = elements->find(key);
    return found == nullptr ? std::string_view() : found->as_string();
  };
  const bool json_strings = text_of("strings") == "json";
  std::string arguments;
  for (const std::string_view key : {"a", "bc"}) {
    std::string value = "x " + std::string(key);
    if (json_strings) value = json::dump(json::Value(value));
    arguments.append(text_of("open")).append(key).append(text_of("middle"));
    arguments.append(value).append(text_of("close"));
  }
  const std::string text =
      call_text(plan, plan.samples.front(), name, arguments);
  const json::Value expected = json::Object{{"a", "x a"}, {"bc", "x bc"}};
  const auto is_read = [&](const Reading& reading) {
    return reading.fault.empty() && reading.calls.size() == 1 &&
           has_arguments(reading.calls[0], expected);
  };
  const Reading reading = read(format, plan, text);
  if (is_read(reading)) {
    for (const std::string& end : plan.turn_end) {
      if (!is_read(read(format, plan, text + end))) out.no_turn_end = true;
    }
    return std::nullopt;
  }
  return Error{ErrorCode::kUnsupported,
               "field '" + std::string(format.field_name(*plan.calls)) +
                   "': the arguments of the call " +
                   json::dump(json::Value(text), {.ascii = false}) +
                   " are not read back" +
                   (reading.fault.empty() ? "." : ": " + reading.fault + "."),
               calls_pointer(format, plan) + "/content_args/tag_pattern"};
}

// Whether the tag may write several calls in one response.
bool has_several_calls(const Plan& plan) {
  bool out = plan.writing->messages.has_value();
  for (const format::WriteStep& step : plan.writing->steps) {
    if (step.field == *plan.calls) out = step.repeats;
  }
  return out;
}

// Whether the calls of all names are read back from one response, as the tag
// writes them.
bool are_read_together(const Format& format, const Plan& plan,
                       const std::vector<std::string_view>& names) {
  const WriteLayout& layout = plan.writing->fields[*plan.calls].front();
  const std::string between =
      text_in(plan.writing->messages ? plan.writing->messages->between
                                     : layout.between);
  std::string text = text_in(layout.section_begin);
  std::vector<std::string_view> expected;
  for (const std::string_view name : names) {
    for (const Sample& sample : plan.samples) {
      if (!expected.empty()) text += between;
      text += spelled(sample, name);
      expected.push_back(name);
    }
  }
  text += text_in(layout.section_end);
  const Reading reading = read(format, plan, text);
  return reading.fault.empty() &&
         std::equal(reading.calls.begin(), reading.calls.end(),
                    expected.begin(), expected.end(), calls_tool);
}

// An error for the first call that is not read back from a response of its own.
std::optional<Error> verify_each(const Format& format, const Plan& plan,
                                 const std::vector<std::string_view>& names) {
  for (const std::string_view name : names) {
    for (const Sample& sample : plan.samples) {
      const std::string text = call_text(plan, sample, name);
      const std::string fault = fault_of(format, plan, text, name);
      if (fault.empty()) continue;
      return Error{ErrorCode::kConflict,
                   "tools: the tool " + base::quoted(name.substr(0, 200)) +
                       " cannot be called in field '" +
                       std::string(format.field_name(*plan.calls)) +
                       "': of the call " +
                       json::dump(json::Value(text), {.ascii = false}) + ", " +
                       fault + ".",
                   "/tools"};
    }
  }
  return std::nullopt;
}

// The order of the fields, text between calls, and the arguments of a derived
// writing, by a call of one tool.
std::optional<Error> verify_layout(const Format& format, const Plan& plan,
                                   std::string_view name, ReadBack& out) {
  verify_text_between(format, plan, name, out);
  if (auto error = verify_order(format, plan, name, out)) return error;
  if (!plan.is_derived()) return std::nullopt;
  if (auto error = verify_elements(format, plan, name, out)) return error;
  return verify_string(format, plan, name);
}

// verify_names() without the memo.
Result<ReadBack> read_names(const Format& format, const Plan& plan,
                            const std::vector<std::string_view>& names) {
  ReadBack out;
  if (!plan.calls) {
    if (!plan.is_derived()) return out;
    // The empty name stands for the fields without calls.
    if (auto error = verify_order(format, plan, "", out)) {
      return *std::move(error);
    }
    return out;
  }
  if (names.empty()) return out;
  // If one of the calls in a response is not read back, each is read by itself,
  // to find it.
  const bool several = has_several_calls(plan);
  if (!several || !are_read_together(format, plan, names)) {
    if (auto error = verify_each(format, plan, names)) {
      return *std::move(error);
    }
    // What ends the first call swallows the next one, or there is no end.
    out.one_call_only = several;
  }
  if (!plan.writing->messages) {
    if (auto error = verify_layout(format, plan, names.front(), out)) {
      return *std::move(error);
    }
  }
  return out;
}

}  // namespace

Result<ReadBack> verify_names(const Format& format, const Plan& plan,
                              const std::vector<std::string_view>& names) {
  const std::vector<std::string> key(names.begin(), names.end());
  {
    const std::lock_guard lock(plan.read_back_mutex);
    const auto known = plan.read_back.find(key);
    if (known != plan.read_back.end()) return known->second;
  }
  Result<ReadBack> out = read_names(format, plan, names);
  if (!out) return out;
  const std::lock_guard lock(plan.read_back_mutex);
  if (plan.names + key.size() >= Plan::kMostNames) {
    plan.read_back.clear();
    plan.names = 0;
  }
  plan.names += 1 + key.size();
  plan.read_back.emplace(key, *out);
  return out;
}

namespace {

// Whether the grammar leaves out an optional argument with this name, since
// what ends the name is in it.
bool ends_early(std::string_view name, const json::Value& style) {
  const json::Value* elements = style.find("elements");
  if (elements == nullptr) return false;
  const json::Value* key = elements->find("key");
  const bool raw = key == nullptr || key->as_string() != "xml";
  const json::Value* open = elements->find("open");
  const json::Value* middle = elements->find("middle");
  if (raw && open != nullptr && open->as_string().ends_with('"') &&
      name.find('"') != std::string_view::npos) {
    return true;
  }
  return raw && middle != nullptr && !middle->as_string().empty() &&
         name.find(middle->as_string()) != std::string_view::npos;
}

// Why a call with the argument is not read back, "" if it is.  `call` gets the
// text of the call; "" if it cannot be written.
std::string argument_fault(const Format& format, const Plan& plan,
                           const Tool& tool, const std::string& name,
                           const json::Value& style, std::string& call) {
  const json::Value arguments = json::Object{{name, "v"}};
  const Result<std::string> written =
      rendering::write_arguments(arguments, style);
  if (!written) return written.error().message;
  for (const Sample& sample : plan.samples) {
    call = call_text(plan, sample, tool.name, *written);
    const Reading reading = read(format, plan, call);
    if (!reading.fault.empty()) return reading.fault;
    if (reading.calls.empty()) return "it opens no call";
    if (reading.calls.size() == 1 &&
        has_arguments(reading.calls[0], arguments)) {
      continue;
    }
    return "it is read as " + json::dump(reading.calls[0], {.ascii = false});
  }
  return "";
}

// The schema of these properties becomes `false`.
void leave_out(Tool& tool, std::vector<std::string> names) {
  if (names.empty()) return;
  json::Value properties = *tool.schema.find("properties");
  for (std::string& name : names) {
    properties.mutable_members().set(std::move(name), false);
  }
  tool.schema.mutable_members().set("properties", std::move(properties));
}

// verify_arguments() for one tool whose arguments have this style.
std::optional<Error> verify_properties(const Format& format, const Plan& plan,
                                       const json::Value& style, Tool& tool,
                                       std::vector<GrammarNote>& notes) {
  const json::Value* declared = tool.schema.find("properties");
  if (declared == nullptr || !declared->is_object()) return std::nullopt;
  std::vector<std::string> left_out;
  for (const json::Member& member : declared->members()) {
    if (base::is_argument_name(member.key)) continue;
    std::string call;
    const std::string fault =
        argument_fault(format, plan, tool, member.key, style, call);
    if (fault.empty()) continue;
    const bool required = requires_argument(tool, member.key);
    const bool by_grammar = call.empty() || ends_early(member.key, style);
    if (by_grammar && !required) continue;
    const std::string what =
        "the argument " + base::quoted(member.key.substr(0, 200)) +
        " of the tool " + base::quoted(tool.name.substr(0, 200)) +
        " cannot be written in field '" +
        std::string(format.field_name(*plan.calls)) + "': " +
        (call.empty() ? fault
                      : "of the call " +
                            json::dump(json::Value(call), {.ascii = false}) +
                            ", " + fault + ".");
    const std::string pointer =
        json::append_pointer(tool.path + "/parameters/properties", member.key);
    if (required) {
      return Error{ErrorCode::kConflict, "tools: " + what, pointer};
    }
    notes.push_back({GrammarNote::Kind::kNarrowed, "properties", pointer,
                     what + "  It is optional, so it is left out."});
    left_out.push_back(member.key);
  }
  leave_out(tool, std::move(left_out));
  return std::nullopt;
}

}  // namespace

std::optional<Error> verify_arguments(const Format& format, const Plan& plan,
                                      std::vector<Tool>& tools,
                                      std::vector<GrammarNote>& notes) {
  if (!plan.calls) return std::nullopt;
  const WriteLayout& layout = plan.writing->fields[*plan.calls].front();
  const json::Value* style = nullptr;
  for (const WritePart& part : layout.parts) {
    if (part.kind == WritePart::Kind::kArguments) style = &part.style;
  }
  const json::Value* kind = style == nullptr ? nullptr : style->find("style");
  if (kind == nullptr || kind->as_string() == "json") return std::nullopt;
  for (Tool& tool : tools) {
    if (auto error = verify_properties(format, plan, *style, tool, notes)) {
      return error;
    }
  }
  return std::nullopt;
}

}  // namespace parlance::inversion
