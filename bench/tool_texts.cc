// Tools from BFCL, whose schemas are objects with one member for each function
// that is called.

#include "tool_texts.h"

#include <cstdlib>
#include <set>

#include "maskbench_corpus.h"
#include "parlance/grammar.h"
#include "parlance/structural_tag.h"

namespace parlance::bench {
namespace {

bool xml(const std::string& style) { return style != "qwen_3"; }

// In the order of the schema, which elements have to follow.
json::Value ordered(const json::Value& arguments, const json::Value& schema) {
  json::Object out;
  if (const json::Value* properties = schema.find("properties")) {
    for (const auto& [name, unused] : properties->members()) {
      if (const json::Value* value = arguments.find(name)) {
        out.set(name, *value);
      }
    }
  }
  for (const auto& [name, value] : arguments.members()) {
    if (out.find(name) == nullptr) out.set(name, value);
  }
  return out;
}

std::string elements(const json::Value& arguments) {
  std::string out;
  for (const auto& [name, value] : arguments.members()) {
    out += "<parameter=" + std::string(name) + ">\n";
    out += value.is_string() ? std::string(value.as_string())
                             : json::dump(value, {.ascii = false});
    out += "\n</parameter>\n";
  }
  return out;
}

bool both_write(const Tool& tool, const std::string& arguments) {
  for (const std::string style : {"qwen_3", "qwen_3_coder"}) {
    const Result<Grammar> grammar =
        Grammar::from_structural_tag(tag_of(style, {tool}));
    if (!grammar) return false;
    const Call call = call_of(style, tool, arguments);
    const std::string text = call.begin + call.arguments + call.end;
    if (!grammar->accepts(text)) return false;
  }
  return true;
}

}  // namespace

std::string call_begin(const std::string& style, const std::string& name) {
  return call_of(style, {name, {}, {}}, "{}").begin;
}

std::string reasoning_begin(const std::string& style) {
  return style == "qwen_3" ? "<think>\n" : "";
}

Call call_of(const std::string& style, const Tool& tool,
             const std::string& arguments) {
  if (!xml(style)) {
    return {"<tool_call>\n{\"name\": \"" + tool.name + "\", \"arguments\": ",
            arguments, "}\n</tool_call>"};
  }
  const Result<json::Value> value = json::parse(arguments);
  return {"<tool_call>\n<function=" + tool.name + ">\n",
          value ? elements(ordered(*value, tool.schema)) : std::string(),
          "</function>\n</tool_call>"};
}

std::string tag_of(const std::string& style, const std::vector<Tool>& tools) {
  json::Array list;
  for (const Tool& tool : tools) {
    list.emplace_back(json::Object{
        {"type", "function"},
        {"function",
         json::Object{{"name", tool.name}, {"parameters", tool.schema}}}});
  }
  StructuralTagOptions options;
  options.tools = std::move(list);
  const Result<StructuralTag> tag = tool_calling(style, options);
  if (!tag) std::abort();
  return json::dump(tag->to_json(), {.ascii = false});
}

std::vector<Tool> read_tools(const std::string& folder, std::size_t count,
                             std::string* error) {
  std::vector<Tool> tools;
  std::set<std::string> names;
  maskbench::Corpus corpus;
  const auto visit = [&](std::size_t, maskbench::Problem problem) {
    const json::Value* properties = problem.schema.find("properties");
    if (properties == nullptr || !problem.name.starts_with("BFCL")) return true;
    for (const auto& [name, schema] : properties->members()) {
      Tool tool{std::string(name), schema, {}};
      if (!names.insert(tool.name).second) continue;
      for (const maskbench::Instance& instance : problem.instances) {
        const Result<json::Value> value = json::parse(instance.text);
        const json::Value* call =
            instance.valid && value ? value->find(name) : nullptr;
        if (call == nullptr || !call->is_object()) continue;
        const std::string text = json::dump(*call, {.ascii = false});
        if (both_write(tool, text)) tool.arguments.push_back(text);
      }
      if (!tool.arguments.empty()) tools.push_back(std::move(tool));
    }
    return tools.size() < count;
  };
  if (!corpus.open(folder, "", {}) || !corpus.each(0, visit)) {
    *error = corpus.error();
  } else if (tools.size() < count) {
    *error = folder + ": too few functions with calls";
  } else {
    tools.resize(count);
  }
  return tools;
}

}  // namespace parlance::bench
