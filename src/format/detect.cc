// Finds the built-in format of a model from its tokenizer_config.json.
//
// The evidence is text: every chat template, and the spelling of every token
// that the configuration declares.  The rules are in the format files
// ("detect").  Families borrow markers from each other, so the rules have an
// order: by rank, then by the number of texts that they ask for.  The first
// rule that holds decides on the family; the family's variants then decide
// among themselves ("when").

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/builtin.h"
#include "format/load_family.h"
#include "parlance/format.h"

namespace parlance {
namespace {

using format::DetectRule;

struct Evidence {
  std::string text;  // chat templates and spellings of tokens, one a line
  std::vector<std::string> tokens;
};

// Adds the spelling of a token: "x" or {"content": "x", ...}.
void add_token(const json::Value& token, Evidence& evidence) {
  const json::Value* content =
      token.is_object() ? token.find("content") : &token;
  if (content == nullptr || !content->is_string()) return;
  evidence.text += content->as_string();
  evidence.text += '\n';
  evidence.tokens.emplace_back(content->as_string());
}

void add_templates(const json::Value& templates, std::string& text) {
  if (templates.is_string()) {
    text += templates.as_string();
    text += '\n';
  }
  for (const json::Value& entry : templates.items()) {
    const json::Value* member = entry.find("template");
    if (member == nullptr || !member->is_string()) continue;
    text += member->as_string();
    text += '\n';
  }
}

Evidence gather(const json::Value& config) {
  Evidence evidence;
  if (const json::Value* templates = config.find("chat_template")) {
    add_templates(*templates, evidence.text);
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

// How many texts a rule asks for.
std::size_t weight(const DetectRule& rule) {
  return rule.all.size() + (rule.any.empty() ? 0 : 1) + rule.none.size() +
         rule.tokens.size();
}

bool holds(const DetectRule& rule, const Evidence& evidence) {
  const auto occurs = [&](const std::string& text) {
    return evidence.text.find(text) != std::string::npos;
  };
  const auto is_token = [&](const std::string& text) {
    return std::find(evidence.tokens.begin(), evidence.tokens.end(), text) !=
           evidence.tokens.end();
  };
  return std::all_of(rule.all.begin(), rule.all.end(), occurs) &&
         (rule.any.empty() ||
          std::any_of(rule.any.begin(), rule.any.end(), occurs)) &&
         std::none_of(rule.none.begin(), rule.none.end(), occurs) &&
         std::all_of(rule.tokens.begin(), rule.tokens.end(), is_token);
}

// A rule of a built-in format.
struct Candidate {
  DetectRule rule;
  std::size_t file = 0;  // in built_ins()
};

// What the built-in formats say about detection.
struct Knowledge {
  std::vector<Candidate> candidates;  // in the order in which they are tried
  std::vector<std::vector<format::Variant>> variants;  // by file
};

Knowledge read_knowledge() {
  Knowledge out;
  for (std::size_t i = 0; i < format::built_ins().size(); ++i) {
    out.variants.emplace_back();
    const Result<json::Value> file = json::parse(format::built_ins()[i].source);
    if (!file) continue;  // a test loads every file
    format::FileReader read;
    if (const json::Value* rules = file->find("detect")) {
      for (DetectRule& rule :
           format::load_detect_rules(*rules, "/detect", read)) {
        out.candidates.push_back({std::move(rule), i});
      }
    }
    const json::Value* extension = file->find("parlance");
    const json::Value* variants =
        extension == nullptr ? nullptr : extension->find("variants");
    if (variants != nullptr) {
      out.variants[i] =
          format::load_variants(*variants, "/parlance/variants", read);
    }
  }
  // Files are sorted by name, which decides among equal rules.
  std::stable_sort(out.candidates.begin(), out.candidates.end(),
                   [](const Candidate& a, const Candidate& b) {
                     if (a.rule.rank != b.rule.rank) {
                       return a.rule.rank > b.rule.rank;
                     }
                     return weight(a.rule) > weight(b.rule);
                   });
  return out;
}

// Read once.  Not destroyed: another thread may still detect a format while the
// program ends.
const Knowledge& knowledge() {
  static const auto* const kKnowledge = new Knowledge(read_knowledge());
  return *kKnowledge;
}

// Whether a rule of another family holds that is not weaker than `first`.
bool is_contested(const std::vector<Candidate>& sorted, std::size_t first,
                  const Evidence& evidence) {
  for (std::size_t i = first + 1; i < sorted.size(); ++i) {
    if (sorted[i].rule.rank != sorted[first].rule.rank ||
        weight(sorted[i].rule) != weight(sorted[first].rule)) {
      return false;
    }
    if (sorted[i].file != sorted[first].file &&
        holds(sorted[i].rule, evidence)) {
      return true;
    }
  }
  return false;
}

// Replaces the name by that of the variant whose "when" holds, if there is one.
// Of several, the one with the highest rank, then the most texts, then the
// first.
void choose_variant(const std::vector<format::Variant>& variants,
                    const Evidence& evidence, DetectedFormat& out) {
  const DetectRule* best = nullptr;
  for (const format::Variant& variant : variants) {
    for (const DetectRule& rule : variant.when) {
      if (!holds(rule, evidence)) continue;
      if (best != nullptr && std::pair(best->rank, weight(*best)) >=
                                 std::pair(rule.rank, weight(rule))) {
        continue;
      }
      best = &rule;
      out.name = variant.name;
      if (!rule.why.empty()) out.why = rule.why;
    }
  }
}

}  // namespace

std::string_view to_string(Certainty certainty) {
  switch (certainty) {
    case Certainty::kCertain:
      return "certain";
    case Certainty::kLikely:
      return "likely";
    case Certainty::kGuess:
      return "guess";
  }
  return "guess";
}

Result<DetectedFormat> detect_format(const json::Value& tokenizer_config) {
  if (!tokenizer_config.is_object()) {
    return Error{ErrorCode::kWrongType,
                 "a tokenizer configuration is an object, this is " +
                     std::string(json::to_string(tokenizer_config.kind())) +
                     "."};
  }
  for (const std::string_view key : {"response_template", "response_schema"}) {
    const json::Value* own = tokenizer_config.find(key);
    if (own == nullptr || !own->is_object()) continue;
    return DetectedFormat{std::string(key), "",
                          "the configuration has a " + std::string(key),
                          Certainty::kCertain};
  }
  const Evidence evidence = gather(tokenizer_config);
  const std::vector<Candidate>& sorted = knowledge().candidates;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const DetectRule& rule = sorted[i].rule;
    if (!holds(rule, evidence)) continue;
    DetectedFormat out;
    out.family = format::built_ins()[sorted[i].file].name;
    out.name = out.family;
    out.why = rule.why;
    out.certainty = rule.rank < 0 || is_contested(sorted, i, evidence)
                        ? Certainty::kGuess
                    : rule.tokens.empty() ? Certainty::kLikely
                                          : Certainty::kCertain;
    choose_variant(knowledge().variants[sorted[i].file], evidence, out);
    return out;
  }
  return Error{
      ErrorCode::kUnknownFormat,
      evidence.text.empty()
          ? "the configuration has no chat_template, declares no tokens and "
            "has no response_template: there is nothing to tell its format by."
          : "nothing in the chat template or among the declared tokens is "
            "known from a built-in format; looked for the delimiters of tool "
            "calls such as <tool_call>, [TOOL_CALLS], <|channel|> or "
            "<|START_ACTION|>, and for the headers of turns."};
}

}  // namespace parlance
