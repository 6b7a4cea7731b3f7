// Finds the built-in format of a model from its tokenizer_config.json.
//
// The evidence is text: every chat template, and the spelling of every token
// that the configuration declares.  A table of rules lists the markers that
// must occur.  Families borrow markers from each other, so the first rule that
// applies decides, and special rules come before general ones.

#include <array>
#include <string>
#include <string_view>

#include "parlance/format.h"

namespace parlance {
namespace {

struct Rule {
  // "": a family without a built-in format.  No later rule may claim it.
  std::string_view name;
  std::array<std::string_view, 3> required;  // all of them; "" is none
  std::string_view why;
};

// ORDER: special before general.
constexpr Rule kRules[] = {
    {"",
     {"]<]minimax[>["},
     "]<]minimax[>[ stands before every tag of MiniMax M3, which nests them"},
    {"",
     {"cofl:"},
     "cofl: is the prefix of the nested tags with which some Command models "
     "call"},
    {"gpt_oss",
     {"<|channel|>", "<|message|>"},
     "<|channel|> and <|message|> are the headers of harmony messages"},
    {"kimi_k3",
     {"<|open|>", "<|close|>", "<|sep|>"},
     "<|open|>, <|close|> and <|sep|> spell Kimi K3's tags"},
    {"kimi_k2",
     {"<|tool_calls_section_begin|>"},
     "<|tool_calls_section_begin|> opens Kimi K2's section of calls"},
    {"deepseek_v3_2",
     {"｜DSML｜", "function_calls"},
     "｜DSML｜ marks DeepSeek's tags, and V3.2 calls the block "
     "function_calls"},
    {"deepseek_v4",
     {"｜DSML｜"},
     "｜DSML｜ marks DeepSeek's tags, without V3.2's function_calls"},
    {"step3",
     {"<｜tool_calls_begin｜>"},
     "<｜tool_calls_begin｜> opens Step3's block of calls"},
    {"step3", {"steptml:"}, "steptml: is the prefix of Step3's tags"},
    {"deepseek_v3_r1",
     {"<｜tool▁calls▁begin｜>", "```json"},
     "DeepSeek's call marks, with arguments in a json code fence as V3 and "
     "R1 write them"},
    {"deepseek_v3_1",
     {"<｜tool▁calls▁begin｜>"},
     "DeepSeek's call marks, without the code fence of V3 and R1"},
    {"cohere_command",
     {"<|START_ACTION|>"},
     "<|START_ACTION|> opens Command's list of actions"},
    {"gemma4",
     {"<|tool_call>", "<tool_call|>"},
     "<|tool_call> and <tool_call|> surround Gemma 4's calls"},
    {"functiongemma",
     {"<start_function_call>"},
     "<start_function_call> opens FunctionGemma's calls"},
    {"longcat",
     {"<longcat_tool_call>"},
     "<longcat_tool_call> opens LongCat's calls"},
    {"seed_oss",
     {"<seed:tool_call>"},
     "<seed:tool_call> opens Seed-OSS's calls"},
    {"minimax_m2",
     {"<minimax:tool_call>"},
     "<minimax:tool_call> opens MiniMax M2's calls"},
    {"hunyuan_v3",
     {"<tool_sep>", "<arg_key>"},
     "<tool_sep> ends the name of a call of Hunyuan 3, <arg_key> follows"},
    {"glm4_5",
     {"<arg_key>", "<arg_value>", "<think></think>"},
     "<arg_key> and <arg_value> are GLM's, and an empty <think></think> turns "
     "reasoning off as in 4.5 and 4.6"},
    {"glm4_7",
     {"<arg_key>", "<arg_value>"},
     "<arg_key> and <arg_value> are GLM's, without the empty <think></think> "
     "of 4.5 and 4.6"},
    {"mistral_v11",
     {"[TOOL_CALLS]", "[ARGS]"},
     "[TOOL_CALLS] and [ARGS] are Mistral's marks since tokenizer v11"},
    {"mistral_v3",
     {"[TOOL_CALLS]"},
     "[TOOL_CALLS] without [ARGS] opens Mistral's JSON list of calls"},
    {"granite4",
     {"<|start_of_role|>", "</tool_call>"},
     "<|start_of_role|> is Granite's, and its calls are closed as in 4.x"},
    {"granite",
     {"<|start_of_role|>"},
     "<|start_of_role|> is Granite's, and calls have no closing tag as in "
     "3.x"},
    {"nemotron_nano_v2",
     {"<TOOLCALL>"},
     "<TOOLCALL> opens Nemotron Nano v2's list of calls"},
    {"phi4_mini",
     {"<|/tool_call|>"},
     "<|tool_call|> and <|/tool_call|> surround Phi-4-mini's calls"},
    {"phi4_mini",
     {"functools"},
     "functools stands before Phi-4-mini's list of calls"},
    {"exaone4", {"[|assistant|]"}, "[|assistant|] begins EXAONE's turn"},
    {"hunyuan_a13b", {"<|extra_0|>"}, "<|extra_0|> begins Hunyuan A13B's turn"},
    {"jamba", {"<|bom|>"}, "<|bom|> begins Jamba's messages"},
    {"internlm2",
     {"<|action_start|>", "<|plugin|>"},
     "<|action_start|><|plugin|> opens InternLM's calls"},
    {"gigachat3",
     {"<|role_sep|>"},
     "<|role_sep|> stands behind GigaChat's roles"},
    {"inkling",
     {"<|content_invoke_tool_json|>"},
     "<|content_invoke_tool_json|> opens Inkling's calls"},
    {"minicpm5",
     {"<function name=", "<param name="},
     "<function name=...> with <param name=...> is how MiniCPM 5 calls"},
    {"ernie",
     {"<response>", "<tool_call>"},
     "<response> around the answer, with <tool_call>, is ERNIE's"},
    {"qwen3_coder",
     {"<tool_call>", "<function=", "<parameter="},
     "<function=...> and <parameter=...> inside <tool_call> is how "
     "Qwen3-Coder calls"},
    {"smollm3",
     {"<tool_call>", "<think>", "/no_think"},
     "<think>, JSON in <tool_call>, and the switch /no_think are SmolLM3's"},
    {"qwen3",
     {"<tool_call>", "<think>"},
     "<think> and JSON in <tool_call> are Qwen3's"},
    {"xlam",
     {"func_name1"},
     "the prompt shows a bare JSON list of calls, as xLAM's does"},
    {"hermes_qwen2_5",
     {"<tool_call>"},
     "JSON in <tool_call>, and no <think>, is the form of Hermes and "
     "Qwen2.5"},
    {"llama_custom_function",
     {"<|start_header_id|>", "<function="},
     "Llama 3's headers, with calls as <function=...>"},
    {"llama3_json",
     {"<|start_header_id|>", "parameters"},
     "Llama 3's headers, and a prompt that asks for JSON with \"name\" and "
     "\"parameters\""},
    {"llama3_json",
     {"<|start_header_id|>", "<|python_tag|>"},
     "Llama 3.1's headers and its <|python_tag|>"},
};

// Adds the spelling of a token: "x" or {"content": "x", ...}.
void add_token(const json::Value& token, std::string& evidence) {
  const json::Value* content =
      token.is_object() ? token.find("content") : &token;
  if (content == nullptr || !content->is_string()) return;
  evidence += content->as_string();
  evidence += '\n';
}

void add_templates(const json::Value& templates, std::string& evidence) {
  if (templates.is_string()) {
    evidence += templates.as_string();
    evidence += '\n';
  }
  for (const json::Value& entry : templates.items()) {
    const json::Value* text = entry.find("template");
    if (text == nullptr || !text->is_string()) continue;
    evidence += text->as_string();
    evidence += '\n';
  }
}

std::string gather(const json::Value& config) {
  std::string evidence;
  if (const json::Value* templates = config.find("chat_template")) {
    add_templates(*templates, evidence);
  }
  if (const json::Value* added = config.find("added_tokens_decoder")) {
    for (const json::Member& token : added->members()) {
      add_token(token.value, evidence);
    }
  }
  for (std::string_view key :
       {"additional_special_tokens", "extra_special_tokens"}) {
    const json::Value* tokens = config.find(key);
    if (tokens == nullptr) continue;
    for (const json::Value& token : tokens->items()) {
      add_token(token, evidence);
    }
    for (const json::Member& token : tokens->members()) {
      add_token(token.value, evidence);
    }
  }
  for (std::string_view key : {"bos_token", "eos_token"}) {
    if (const json::Value* token = config.find(key)) {
      add_token(*token, evidence);
    }
  }
  return evidence;
}

bool fits(const Rule& rule, std::string_view evidence) {
  for (std::string_view marker : rule.required) {
    if (evidence.find(marker) == std::string_view::npos) return false;
  }
  return true;
}

}  // namespace

Result<DetectedFormat> detect_format(const json::Value& tokenizer_config) {
  if (!tokenizer_config.is_object()) {
    return Error{ErrorCode::kWrongType,
                 "a tokenizer configuration is an object, this is " +
                     std::string(json::to_string(tokenizer_config.kind())) +
                     "."};
  }
  const json::Value* own = tokenizer_config.find("response_template");
  if (own != nullptr && own->is_object()) {
    return DetectedFormat{
        "response_template",
        "the configuration carries its own response_template"};
  }
  const std::string evidence = gather(tokenizer_config);
  for (const Rule& rule : kRules) {
    if (!fits(rule, evidence)) continue;
    if (rule.name.empty()) {
      return Error{ErrorCode::kUnknownFormat,
                   "there is no built-in format for this family: " +
                       std::string(rule.why) + "."};
    }
    return DetectedFormat{std::string(rule.name), std::string(rule.why)};
  }
  return Error{
      ErrorCode::kUnknownFormat,
      evidence.empty()
          ? "the configuration has no chat_template, declares no tokens and "
            "carries no response_template: there is nothing to tell its "
            "format by."
          : "nothing in the chat template or among the declared tokens is "
            "known from a built-in format; looked for the delimiters of tool "
            "calls such as <tool_call>, [TOOL_CALLS], <|channel|> or "
            "<|START_ACTION|>, and for the headers of turns."};
}

}  // namespace parlance
