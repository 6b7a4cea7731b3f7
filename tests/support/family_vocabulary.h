#ifndef PARLANCE_TESTS_SUPPORT_FAMILY_VOCABULARY_H_
#define PARLANCE_TESTS_SUPPORT_FAMILY_VOCABULARY_H_

// A small made-up vocabulary for each family with a built-in format: all bytes,
// some merges, and the markers of the family as tokens of the kind that its
// real tokenizer gives them.
//
//   FamilyVocabulary family = family_vocabulary("qwen3");
//   family.encode("<think>Hm.")   ids as the tokenizer writes them
//   family.spell("<think>")       ids of ordinary tokens alone

#include <algorithm>
#include <cstddef>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/vocabulary.h"

namespace parlance::testing {

struct FamilyMarkers {
  std::vector<std::string> control;
  std::vector<std::string> added;
};

// The last of `control` is the stop token.
inline const std::map<std::string, FamilyMarkers, std::less<>>&
family_markers() {
  static const auto* const kMarkers = new std::map<std::string, FamilyMarkers,
                                                   std::less<>>{
      {"cohere_command",
       {{"<|START_OF_TURN_TOKEN|>", "<|CHATBOT_TOKEN|>", "<|USER_TOKEN|>",
         "<|START_THINKING|>", "<|END_THINKING|>", "<|START_RESPONSE|>",
         "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>",
         "<|START_ACTION|>", "<|END_ACTION|>", "<|END_OF_TURN_TOKEN|>"},
        {}}},
      {"apertus",
       {{"<|user_start|>", "<|assistant_start|>", "<|inner_prefix|>",
         "<|inner_suffix|>", "<|tools_prefix|>", "<|tools_suffix|>",
         "<|assistant_end|>"},
        {}}},
      {"apriel",
       {{"<|system|>", "<|user|>", "<|assistant|>", "<|begin_assistant|>",
         "<|end|>"},
        {"<tool_calls>", "</tool_calls>", "[BEGIN FINAL RESPONSE]",
         "[END FINAL RESPONSE]"}}},
      {"deepseek_v3_1",
       {{"<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"},
        {"<｜User｜>", "<｜Assistant｜>", "<think>", "</think>",
         "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>",
         "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", "<｜tool▁sep｜>",
         "<｜tool▁outputs▁begin｜>", "<｜tool▁outputs▁end｜>",
         "<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>"}}},
      {"deepseek_v3_2",
       {{"<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"},
        {"<｜User｜>", "<｜Assistant｜>", "<think>", "</think>", "｜DSML｜"}}},
      {"dots",
       {{"<|userprompt|>", "<|endofuserprompt|>", "<|response|>",
         "<|endofresponse|>"},
        {"<think>", "</think>"}}},
      {"gigachat3_5",
       {{"<|role_sep|>\n", "<|message_sep|>\n\n", "</s>"},
        {"<think>", "</think>"}}},
      {"granite_20b_fc", {{"<|endoftext|>"}, {}}},
      {"iquest_q1",
       {{"<|iquest_assistant|>", "<|iquest_user|>", "<|iquest_end|>"},
        {"<think>", "</think>", "<iquest_tool_call>", "</iquest_tool_call>"}}},
      {"k2_horizon",
       {{"<|ifm|im_start|>", "<|ifm|endoftext|>", "<|ifm|im_end|>"},
        {"<ifm|think>", "</ifm|think>", "<ifm|think_fast>", "</ifm|think_fast>",
         "<ifm|tool_calls>", "</ifm|tool_calls>", "<ifm|tool_call>",
         "</ifm|tool_call>", "<ifm|arg_key>", "</ifm|arg_key>",
         "<ifm|arg_value>", "</ifm|arg_value>"}}},
      {"kimi_vl", {{"<|im_assistant|>", "<|im_middle|>", "<|im_end|>"}, {}}},
      {"mirothinker",
       {{"<|im_start|>", "<|endoftext|>", "<|im_end|>"},
        {"<think>", "</think>"}}},
      {"openpangu",
       {{"[unused9]", "[unused11]", "[unused12]", "[unused16]", "[unused17]",
         "[unused10]"},
        {}}},
      {"plamo3",
       {{"<|plamo:msg|>", "<|plamo:constrain|>", "<|plamo:tag|>"}, {}}},
      {"solar_open2",
       {{"<|im:start|>", "<|im:content|>", "<|think:start|>", "<|think:end|>",
         "<|tool_call:start|>", "<|tool_call:end|>", "<|tool_arg:start|>",
         "<|tool_arg:value|>", "<|tool_arg:end|>", "<|im:end|>"},
        {}}},
      {"step_audio_2",
       {{"<|BOT|>", "<|EOT|>"},
        {"<think>", "</think>", "<tool_call>", "</tool_call>"}}},
      {"ernie",
       {{"<|im_start|>", "<|im_end|>", "</s>"},
        {"<think>", "</think>", "<tool_call>", "</tool_call>", "<response>",
         "</response>"}}},
      {"exaone4",
       {{"[|assistant|]", "[|user|]", "[|endofturn|]"},
        {"<think>", "</think>", "<tool_call>", "</tool_call>"}}},
      {"gemma3", {{"<start_of_turn>", "<eos>", "<end_of_turn>"}, {}}},
      {"laguna",
       {{"<user>", "</user>", "<assistant>", "</assistant>"},
        {"<think>", "</think>", "<tool_call>", "</tool_call>", "<arg_key>",
         "</arg_key>", "<arg_value>", "</arg_value>"}}},
      {"lfm2",
       {{"<|im_start|>", "<|tool_call_start|>", "<|tool_call_end|>",
         "<|im_end|>"},
        {"<think>", "</think>"}}},
      {"minimax_m1",
       {{"<beginning_of_sentence>", "<end_of_sentence>"},
        {"<think>", "</think>"}}},
      {"muse_glimmer",
       {{"<|start|>", "<|message|>", "<|eom|>", "<|eot|>"}, {}}},
      {"phi3_5",
       {{"<|user|>", "<|assistant|>", "<|endoftext|>", "<|end|>"}, {}}},
      {"pythonic_llama4",
       {{"<|header_start|>", "<|header_end|>", "<|python_start|>",
         "<|python_end|>", "<|eom|>", "<|eot|>"},
        {}}},
      {"solar_open",
       {{"<|begin|>", "<|think|>", "<|content|>", "<|tool_calls|>",
         "<|tool_call:begin|>", "<|tool_call:name|>", "<|tool_call:args|>",
         "<|tool_call:end|>", "<|calls|>", "<|end|>"},
        {}}},
      {"functiongemma",
       {{"<start_of_turn>", "<start_function_call>", "<end_function_call>",
         "<escape>", "<start_function_response>", "<end_function_response>",
         "<eos>", "<end_of_turn>"},
        {}}},
      {"gemma4",
       {{"<|turn>", "<|channel>", "<channel|>", "<|tool_call>", "<tool_call|>",
         "<|tool_response>", "<tool_response|>", "<|\"|>", "<eos>", "<turn|>"},
        {}}},
      {"gigachat3",
       {{"<|role_sep|>\n", "<|message_sep|>\n\n", "<|function_call|>", "</s>"},
        {}}},
      {"glm4_5",
       {{"<|assistant|>", "<|system|>", "<|observation|>", "<|user|>"},
        {"<think>", "</think>", "<tool_call>", "</tool_call>", "<arg_key>",
         "</arg_key>", "<arg_value>", "</arg_value>"}}},
      {"gpt_oss",
       {{"<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>",
         "<|call|>", "<|return|>"},
        {}}},
      {"granite",
       {{"<|start_of_role|>", "<|end_of_role|>", "<|tool_call|>",
         "<|end_of_text|>"},
        {}}},
      {"granite4",
       {{"<|start_of_role|>", "<|end_of_role|>", "<|end_of_text|>"},
        {"<tool_call>", "</tool_call>"}}},
      {"hermes_qwen2_5",
       {{"<|im_start|>", "<|endoftext|>", "<|im_end|>"},
        {"<tool_call>", "</tool_call>"}}},
      {"hunyuan_a13b", {{"<|startoftext|>", "<|extra_0|>", "<|eos|>"}, {}}},
      {"hunyuan_v3",
       {{"<｜hy_Assistant｜>", "<｜hy_Assistant:opensource｜>",
         "<｜hy_eos:opensource｜>", "<｜hy_eos｜>"},
        {"<think>",
         "</think>",
         "<tool_calls>",
         "</tool_calls>",
         "<tool_call>",
         "</tool_call>",
         "<tool_sep>",
         "<arg_key>",
         "</arg_key>",
         "<arg_value>",
         "</arg_value>",
         "<think:opensource>",
         "</think:opensource>",
         "<tool_calls:opensource>",
         "</tool_calls:opensource>",
         "<tool_call:opensource>",
         "</tool_call:opensource>",
         "<tool_sep:opensource>",
         "<arg_key:opensource>",
         "</arg_key:opensource>",
         "<arg_value:opensource>",
         "</arg_value:opensource>"}}},
      {"inkling",
       {{"<|message_model|>", "<|content_thinking|>", "<|content_text|>",
         "<|content_invoke_tool_json|>", "<|end_message|>",
         "<|content_model_end_sampling|>"},
        {}}},
      {"internlm2",
       {{"<|im_start|>", "<|action_start|>", "<|plugin|>", "<|interpreter|>",
         "<|action_end|>", "<|im_end|>"},
        {}}},
      {"jamba",
       {{"<|bom|>", "<|assistant|>", "<|endoftext|>", "<|eom|>"},
        {"<tool_calls>", "</tool_calls>"}}},
      {"kimi_k2",
       {{"<|im_assistant|>", "<|im_user|>", "<|im_middle|>",
         "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>",
         "<|tool_call_begin|>", "<|tool_call_argument_begin|>",
         "<|tool_call_end|>", "<|im_end|>"},
        {"<think>", "</think>"}}},
      {"kimi_k3", {{"<|open|>", "<|close|>", "<|sep|>"}, {}}},
      {"llama3_json",
       {{"<|start_header_id|>", "<|end_header_id|>", "<|python_tag|>",
         "<|eom_id|>", "<|eot_id|>"},
        {}}},
      {"longcat",
       {{"</longcat_s>"},
        {"<longcat_tool_call>", "</longcat_tool_call>", "<longcat_think>",
         "</longcat_think>"}}},
      {"minicpm5", {{"<|im_start|>", "<|im_end|>"}, {"<think>", "</think>"}}},
      {"minimax_m2",
       {{"]~!b[", "]~b]", "[e~["},
        {"<minimax:tool_call>", "</minimax:tool_call>", "<think>",
         "</think>"}}},
      {"minimax_m3",
       {{"]~!b[", "]~b]", "[e~["},
        {"]<]minimax[>[", "<mm:think>", "</mm:think>"}}},
      {"mistral_v3",
       {{"[INST]", "[/INST]", "[TOOL_CALLS]", "[TOOL_RESULTS]",
         "[/TOOL_RESULTS]", "</s>"},
        {}}},
      {"mistral_v11",
       {{"[INST]", "[/INST]", "[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "[THINK]",
         "[/THINK]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "</s>"},
        {}}},
      {"nemotron_nano_v2",
       {{"<SPECIAL_11>", "<SPECIAL_12>"}, {"<think>", "</think>"}}},
      {"phi4_mini",
       {{"<|assistant|>", "<|user|>", "<|tool_call|>", "<|/tool_call|>",
         "<|endoftext|>", "<|end|>"},
        {"functools"}}},
      {"qwen3",
       {{"<|im_start|>", "<|endoftext|>", "<|im_end|>"},
        {"<think>", "</think>", "<tool_call>", "</tool_call>"}}},
      {"seed_oss",
       {{"<seed:bos>", "<seed:eos>"},
        {"<seed:think>", "</seed:think>", "<seed:tool_call>",
         "</seed:tool_call>"}}},
      {"step3",
       {{"<|BOT|>", "<｜tool_calls_begin｜>", "<｜tool_call_begin｜>",
         "<｜tool_sep｜>", "<｜tool_call_end｜>", "<｜tool_calls_end｜>",
         "<|EOT|>"},
        {"<think>", "</think>"}}},
  };
  return *kMarkers;
}

// Families whose tokenizer has another's markers.
inline std::string_view markers_like(std::string_view family) {
  static const std::map<std::string_view, std::string_view> kLike = {
      {"chatml", "qwen3"},
      {"cohere_cofl_xml", "cohere_command"},
      {"command_r_plus", "cohere_command"},
      {"deepseek_v3_r1", "deepseek_v3_1"},
      {"deepseek_v4", "deepseek_v3_2"},
      {"deepseek_v4_1", "deepseek_v3_2"},
      {"functionary_v3_2", "llama3_json"},
      {"glm4_7", "glm4_5"},
      {"llama_custom_function", "llama3_json"},
      {"pythonic_olmo3", "qwen3"},
      {"qwen3_coder", "qwen3"},
      {"smollm3", "qwen3"},
      {"xlam", "llama3_json"}};
  const auto found = kLike.find(family);
  return found == kLike.end() ? family : found->second;
}

struct FamilyVocabulary {
  Vocabulary vocabulary;

  // Leftmost and then longest markers as their tokens, the rest by the longest
  // ordinary token that fits.
  std::vector<TokenId> encode(std::string_view text) const {
    return encoded(text, true, nullptr);
  }
  // Ordinary tokens alone; with `random`, any that fit.
  std::vector<TokenId> spell(std::string_view text,
                             std::mt19937* random = nullptr) const {
    return encoded(text, false, random);
  }

 private:
  std::vector<TokenId> encoded(std::string_view text, bool markers,
                               std::mt19937* random) const {
    std::vector<TokenId> ids;
    while (!text.empty()) {
      TokenId best = 0;
      std::size_t size = 0;
      const auto take = [&](bool special) {
        for (TokenId id = 0; id < vocabulary.size(); ++id) {
          const bool ordinary = vocabulary.kind(id) == TokenKind::kOrdinary;
          const std::string_view bytes = vocabulary.spelling(id);
          if (ordinary == special || bytes.size() <= size ||
              !text.starts_with(bytes)) {
            continue;
          }
          if (random != nullptr && size > 0 && (*random)() % 2 == 0) continue;
          best = id;
          size = bytes.size();
        }
      };
      if (markers) take(true);
      // No merge may reach into a marker that begins later.
      if (size == 0) {
        std::string_view whole = text;
        for (std::size_t at = 1; markers && at < whole.size(); ++at) {
          for (const TokenId id : vocabulary.special_ids()) {
            if (whole.substr(at).starts_with(vocabulary.spelling(id))) {
              text = whole.substr(0, at);
              at = whole.size();
              break;
            }
          }
        }
        take(false);
        text = whole;
      }
      ids.push_back(best);
      text.remove_prefix(size);
    }
    return ids;
  }
};

inline FamilyVocabulary family_vocabulary(std::string_view family) {
  const FamilyMarkers& markers =
      family_markers().find(markers_like(family))->second;
  std::vector<TokenEntry> entries;
  const auto add = [&](std::string bytes, TokenKind kind) {
    entries.push_back({.id = static_cast<TokenId>(entries.size()),
                       .bytes = std::move(bytes),
                       .kind = kind});
  };
  for (int byte = 0; byte < 256; ++byte) {
    add(std::string(1, static_cast<char>(byte)), TokenKind::kOrdinary);
  }
  // Some of them end inside markers, and some reach over an end.
  for (const char* merge :
       {"\n\n",      ">\n",      "</",        "<|",        "|>",
        "{\"",       "\": ",     "\"}",       "}}",        "name",
        "arguments", "tool",     "_call",     "tool_call", "think",
        "get",       "_weather", "city",      " B",        "ern",
        "Bern",      "arg",      "_key",      "_value",    ">{",
        "{\"name",   "function", "parameter", "=\"",       "\">",
        "celsius",   "unit",     " the",      "The",       "call",
        "\xEF\xBD",  "\xE2\x96", "im_",       "end",       "]{",
        "[{\""}) {
    add(merge, TokenKind::kOrdinary);
  }
  for (const std::string& marker : markers.added) {
    add(marker, TokenKind::kAdded);
  }
  for (const std::string& marker : markers.control) {
    add(marker, TokenKind::kControl);
  }
  const std::vector<TokenId> stops = {static_cast<TokenId>(entries.size() - 1)};
  add("<added>", TokenKind::kAdded);
  add("<|control|>", TokenKind::kControl);
  return {*Vocabulary::from_table(entries, stops)};
}

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_FAMILY_VOCABULARY_H_
