// Finds the built-in format of a model from its tokenizer_config.json.
//
// The evidence is text: every chat template, and the spelling of every token
// that the configuration declares.  The rules are in the format files
// ("detect").  Families borrow markers from each other, so the rules have an
// order: by rank, then by the number of texts that they ask for.  The first
// rule that holds decides on the family; the family's variants then decide
// among themselves ("when").
//
// What the chat template renders is stronger evidence than its text, which
// mentions markers in comments and in branches for other cases.  So if there is
// a rendered call, a family must read it: the families whose rules hold are
// tried in order, then all others.

#include "parlance/detect.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/builtin.h"
#include "format/load_family.h"
#include "parlance/format.h"
#include "parlance/response_parser.h"
#include "parlance/tools.h"

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

// A family with a rule that holds.
struct Fit {
  std::size_t file = 0;
  const DetectRule* rule = nullptr;  // the first that holds
};

// The families that fit, the most likely first.
std::vector<Fit> fitting(const std::vector<Candidate>& sorted,
                         const Evidence& evidence) {
  std::vector<Fit> out;
  for (const Candidate& candidate : sorted) {
    const bool known = std::any_of(out.begin(), out.end(), [&](const Fit& fit) {
      return fit.file == candidate.file;
    });
    if (known || !holds(candidate.rule, evidence)) continue;
    out.push_back({candidate.file, &candidate.rule});
  }
  return out;
}

bool equally_strong(const DetectRule& a, const DetectRule& b) {
  return a.rank == b.rank && weight(a) == weight(b);
}

// Whether every text of the rule that is found is an added token.
bool by_tokens(const DetectRule& rule, const Evidence& evidence) {
  const auto is_token = [&](const std::string& text) {
    return std::find(evidence.tokens.begin(), evidence.tokens.end(), text) !=
           evidence.tokens.end();
  };
  return std::all_of(rule.all.begin(), rule.all.end(), is_token) &&
         (rule.any.empty() ||
          std::any_of(rule.any.begin(), rule.any.end(), is_token));
}

// The family, or its variant whose "when" holds: of several, the one with the
// highest rank, then the most texts, then the first.
DetectedFormat described(const Fit& fit, const Knowledge& known,
                         const Evidence& evidence) {
  DetectedFormat out;
  out.family = format::built_ins()[fit.file].name;
  out.name = out.family;
  if (fit.rule != nullptr) out.why = fit.rule->why;
  const DetectRule* best = nullptr;
  for (const format::Variant& variant : known.variants[fit.file]) {
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
  return out;
}

constexpr std::string_view kTool = "get_weather";
constexpr std::string_view kKey = "city";
constexpr std::string_view kCity = "Reykjavik";

// Whether a rendered text has the call of the sample.
bool has_call(std::string_view rendered) {
  return rendered.find(kTool) != std::string_view::npos &&
         rendered.find(kCity) != std::string_view::npos;
}

// Whether the format reads the call of the sample, and nothing else, from what
// the chat template renders.
//
// Only the call contains the name of the city, so the text before it ends in
// the turn with the call, and may be given as the prompt: the parser skips it
// up to the last start anchor.
bool reads_call(std::string_view name, std::string_view rendered,
                const ToolSet& tools) {
  const Result<Format> format = Format::built_in(name);
  if (!format) return false;
  const std::size_t split = rendered.rfind(kCity);
  StreamOptions options;
  options.prefix = rendered.substr(0, split);
  options.tools = &tools;
  ResponseParser parser(*format, options);
  parser.feed(rendered.substr(split));
  parser.finalize();
  const json::Value& message = parser.message().fields;
  const json::Value* content = message.find("content");
  if (content != nullptr && content->is_string() &&
      content->as_string().find_first_not_of(" \t\r\n") !=
          std::string_view::npos) {
    return false;
  }
  const json::Value* calls = message.find("tool_calls");
  if (calls == nullptr || calls->items().size() != 1) return false;
  const json::Value& call = calls->items()[0];
  const json::Value* function = call.find("function");
  if (function == nullptr) function = &call;
  const json::Value* called = function->find("name");
  const json::Value* arguments = function->find("arguments");
  if (called == nullptr || !called->is_string() ||
      called->as_string() != kTool || arguments == nullptr ||
      arguments->members().size() != 1) {
    return false;
  }
  const json::Value* city = arguments->find(kKey);
  return city != nullptr && city->is_string() && city->as_string() == kCity;
}

// The format that reads the rendered call; nothing if none does.  `fits` are
// the families whose rules hold.
std::optional<DetectedFormat> by_reading(const std::vector<Fit>& fits,
                                         const Knowledge& known,
                                         const Evidence& evidence,
                                         std::string_view rendered) {
  const ToolSet tools = ToolSet::from_value(*detection_sample().find("tools"));
  const auto readers_of = [&](const std::vector<Fit>& tried) {
    std::vector<DetectedFormat> out;
    for (const Fit& fit : tried) {
      DetectedFormat format = described(fit, known, evidence);
      // The variant that "when" chooses, the family, then its variants.
      std::vector<std::string> names = {format.name, format.family};
      for (const format::Variant& variant : known.variants[fit.file]) {
        names.push_back(variant.name);
      }
      for (std::string& name : names) {
        if (!reads_call(name, rendered, tools)) continue;
        format.name = std::move(name);
        out.push_back(std::move(format));
        break;
      }
    }
    return out;
  };
  std::vector<DetectedFormat> readers = readers_of(fits);
  const bool has_rule = !readers.empty();
  if (!has_rule) {
    // The other families, in the order in which their rules are tried.
    std::vector<Fit> others;
    for (const Candidate& candidate : known.candidates) {
      const auto same = [&](const Fit& fit) {
        return fit.file == candidate.file;
      };
      if (std::any_of(fits.begin(), fits.end(), same) ||
          std::any_of(others.begin(), others.end(), same)) {
        continue;
      }
      others.push_back({candidate.file, nullptr});
    }
    readers = readers_of(others);
  }
  if (readers.empty()) return std::nullopt;
  DetectedFormat out = std::move(readers[0]);
  for (std::size_t i = 1; i < readers.size(); ++i) {
    out.others.emplace_back(readers[i].family);
  }
  const bool alone = out.others.empty();
  if (has_rule) {
    out.why += "; it reads the call that the chat template renders";
    out.certainty = alone ? Certainty::kCertain : Certainty::kLikely;
  } else {
    out.why =
        "no marker of it is known, and it reads the call that the chat "
        "template renders";
    out.certainty = alone ? Certainty::kLikely : Certainty::kGuess;
  }
  return out;
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

const json::Value& detection_sample() {
  static const auto* const kSample = new json::Value(*json::parse(R"({
        "messages": [
          {"role": "user", "content": "What is the weather like?"},
          {"role": "assistant", "content": "", "tool_calls": [
            {"id": "call12345", "type": "function", "function":
              {"name": "get_weather", "arguments": {"city": "Reykjavik"}}}]}],
        "tools": [
          {"type": "function", "function": {
            "name": "get_weather", "description": "The weather of a city.",
            "parameters": {"type": "object",
                           "properties": {"city": {"type": "string"}},
                           "required": ["city"]}}}]})"));
  return *kSample;
}

Result<DetectedFormat> detect_format(const json::Value& tokenizer_config,
                                     const DetectOptions& options) {
  if (!tokenizer_config.is_object()) {
    return Error{ErrorCode::kWrongType,
                 "a tokenizer configuration is an object, this is " +
                     std::string(json::to_string(tokenizer_config.kind())) +
                     "."};
  }
  for (const std::string_view key : {"response_template", "response_schema"}) {
    const json::Value* own = tokenizer_config.find(key);
    if (own == nullptr || !own->is_object()) continue;
    return DetectedFormat{std::string(key),
                          "",
                          "the configuration has a " + std::string(key),
                          Certainty::kCertain,
                          {}};
  }
  const Evidence evidence = gather(tokenizer_config);
  const Knowledge& known = knowledge();
  const std::vector<Fit> fits = fitting(known.candidates, evidence);
  const bool rendered = has_call(options.rendered);
  if (rendered) {
    std::optional<DetectedFormat> read =
        by_reading(fits, known, evidence, options.rendered);
    if (read) return *std::move(read);
  }
  if (!fits.empty()) {
    const DetectRule& rule = *fits[0].rule;
    DetectedFormat out = described(fits[0], known, evidence);
    for (std::size_t i = 1; i < fits.size(); ++i) {
      out.others.emplace_back(format::built_ins()[fits[i].file].name);
    }
    const bool contested =
        fits.size() > 1 && equally_strong(rule, *fits[1].rule);
    out.certainty = rule.rank < 0 || contested || rendered ? Certainty::kGuess
                    : out.others.empty() && by_tokens(rule, evidence)
                        ? Certainty::kCertain
                        : Certainty::kLikely;
    if (rendered) {
      out.why +=
          "; but it does not read the call that the chat template "
          "renders";
    }
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
