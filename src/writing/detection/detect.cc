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
// tried in order, then all others.  If none reads it, the format is unknown.
//
// Without a rendered call, the text of a chat template that writes calls must
// not contradict a family (contradiction()): it can write what the family
// writes around turns, reasoning and calls, and between the markers of a call
// it has no tags that the family's file does not know.

#include "parlance/detect.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/argument_names.h"
#include "base/ascii.h"
#include "base/trimmed.h"
#include "format/builtin.h"
#include "format/load_family.h"
#include "json/writer.h"
#include "parlance/format.h"
#include "parlance/response_parser.h"
#include "parlance/tools.h"

namespace parlance {
namespace {

using format::DetectRule;
using Texts = std::vector<std::string>;

struct Evidence {
  std::string text;  // chat templates and spellings of tokens, one a line
  std::vector<std::string> tokens;
  std::string_view templates() const {
    return std::string_view(text).substr(0, templates_size);
  }
  std::size_t templates_size = 0;
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
    evidence.templates_size = evidence.text.size();
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

// The texts that a family writes, its variants as well.
struct Written {
  // Of each layout of calls and of reasoning, in order.
  std::vector<Texts> calls = {};
  std::vector<Texts> reasoning = {};
  Texts anchors = {};  // each may begin a turn
  Texts ends = {};     // each may end a turn
};

// What the built-in formats say about detection.
struct Knowledge {
  std::vector<Candidate> candidates;  // in the order in which they are tried
  std::vector<std::vector<format::Variant>> variants;  // by file
  std::vector<Written> written;                        // by file
};

// The texts among the parts of a layout: what stands in its lists.
void add_texts(const json::Value& parts, Texts& out) {
  for (const json::Value& part : parts.items()) {
    if (part.is_string()) out.emplace_back(part.as_string());
    add_texts(part, out);
  }
  for (const json::Member& member : parts.members()) {
    if (member.key != "ends") add_texts(member.value, out);
  }
}

const json::Value& member_at(const json::Value& value,
                             std::initializer_list<std::string_view> keys) {
  static const json::Value kNothing;
  const json::Value* at = &value;
  for (const std::string_view key : keys) {
    at = at->find(key);
    if (at == nullptr) return kNothing;
  }
  return *at;
}

// The layouts of a field.
void add_layouts(const json::Value& layouts, std::vector<Texts>& out) {
  const auto add = [&](const json::Value& layout) {
    Texts& texts = out.emplace_back();
    const json::Value* section = layout.find("section");
    const json::Value* parts = layout.find("parts");
    const bool whole = section != nullptr && section->items().size() == 2;
    if (whole) add_texts(section->items()[0], texts);
    if (parts != nullptr) add_texts(*parts, texts);
    if (whole) add_texts(section->items()[1], texts);
    if (texts.empty()) out.pop_back();
  };
  if (layouts.is_object()) add(layouts);
  for (const json::Value& layout : layouts.items()) add(layout);
}

// What a file writes, or a variant's patch of it.
void add_written(const json::Value& file, Written& out) {
  add_layouts(member_at(file, {"parlance", "write", "tool_calls"}), out.calls);
  add_layouts(member_at(file, {"parlance", "write", "thinking"}),
              out.reasoning);
  const auto add_all = [](const json::Value& value, Texts& texts) {
    if (value.is_string()) texts.emplace_back(value.as_string());
    add_texts(value, texts);
  };
  add_all(member_at(file, {"response_template", "start_anchor"}), out.anchors);
  add_all(member_at(file, {"parlance", "turn_end"}), out.ends);
}

Knowledge read_knowledge() {
  Knowledge out;
  for (std::size_t i = 0; i < format::built_ins().size(); ++i) {
    out.variants.emplace_back();
    out.written.emplace_back();
    const Result<json::Value> file = json::parse(format::built_ins()[i].source);
    if (!file) continue;  // a test loads every file
    std::optional<Error> ignored;
    const format::FileValue whole(*file, "", "", ignored);
    if (file->find("detect") != nullptr) {
      for (DetectRule& rule :
           format::load_detect_rules(whole.member("detect", ""))) {
        out.candidates.push_back({std::move(rule), i});
      }
    }
    add_written(*file, out.written[i]);
    const json::Value* extension = file->find("parlance");
    const json::Value* variants =
        extension == nullptr ? nullptr : extension->find("variants");
    if (variants != nullptr) {
      out.variants[i] = format::load_variants({*variants, "", "", ignored});
      for (const format::Variant& variant : out.variants[i]) {
        add_written(variant.patch, out.written[i]);
      }
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

// --- What contradicts a family -----------------------------------------------

bool is_word(std::string_view text, std::size_t at) {
  if (at >= text.size()) return false;
  return base::is_name_letter(text[at]) ||
         base::is_digit(static_cast<unsigned char>(text[at]));
}

// Whether `part` occurs in the text, and not in the middle of a word of it.
bool occurs_whole(std::string_view part, std::string_view text) {
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; ++at) {
    const std::size_t end = at + part.size();
    const bool begins = at == 0 || !is_word(text, at) || !is_word(text, at - 1);
    const bool ends = !is_word(text, end - 1) || !is_word(text, end);
    if (begins && ends) return true;
  }
  return false;
}

// Whether the text of a template may write `text`, white space apart: whole, or
// joined of parts that occur in it.  A word behind a marker may be a variable:
// <|im_start|>{{ role }}.
bool may_write(std::string_view templates, std::string_view text) {
  constexpr std::size_t kLongest = 64;
  text = text.substr(0, kLongest);
  char before = ' ';
  while (!(text = base::trimmed(text)).empty()) {
    std::size_t size = std::min(text.size(), text.find_first_of(" \t\r\n"));
    while (size > 0 && !occurs_whole(text.substr(0, size), templates)) --size;
    if (size == 0 && (before == '>' || before == ']')) {
      while (is_word(text, size)) ++size;
    }
    if (size == 0) return false;
    before = text[size - 1];
    text.remove_prefix(size);
  }
  return true;
}

// A tag that opens and closes in the text, and that does not occur in `source`;
// "" if there is none.
std::string_view unknown_tag(std::string_view text, std::string_view source) {
  for (std::size_t at = 0; (at = text.find("</", at)) != text.npos; ++at) {
    const std::string_view rest = text.substr(at + 2);
    const std::string_view name =
        rest.substr(0, rest.find_first_of(" \t\r\n<>=/\"'"));
    const std::string open = '<' + std::string(name);
    const std::string close = "</" + std::string(name);
    if (name.size() < 2 || source.find(open) != source.npos ||
        source.find(close) != source.npos) {
      continue;
    }
    if (text.find(open) != text.npos) return name;
  }
  return "";
}

// A marker (<|x|> or <x>) that the template writes from a test for calls, or a
// loop over them, to the end of a loop, and that does not occur in `source`; ""
// if there is none.
std::string_view unknown_marker(std::string_view templates,
                                std::string_view source) {
  constexpr std::string_view kCalls = "tool_calls";
  for (std::size_t at = 0; (at = templates.find(kCalls, at)) != templates.npos;
       at += kCalls.size()) {
    std::string_view loop = templates.substr(at + kCalls.size());
    loop.remove_prefix(
        std::min(loop.size(), loop.find_first_not_of(" -'\"])")));
    if (!loop.starts_with("%}")) continue;
    constexpr std::size_t kLongest = 4096;
    loop = loop.substr(0, kLongest);
    loop = loop.substr(0, loop.find("endfor"));
    for (std::size_t from = 0; (from = loop.find('<', from)) != loop.npos;
         ++from) {
      std::size_t end = from + 1;
      while (is_word(loop, end) || loop.substr(end).starts_with('|')) ++end;
      const std::string_view marker = loop.substr(from, end + 1 - from);
      if (marker.size() < 4 || marker.back() != '>') continue;
      if (source.find(marker) == source.npos) return marker;
    }
  }
  return "";
}

// Why the turns that the chat template writes are not those of the family; ""
// if they may be, or if it writes no calls.
std::string contradiction(std::size_t file, const Knowledge& known,
                          std::string_view templates) {
  constexpr std::string_view kCalls[] = {".tool_calls", "'tool_calls'",
                                         "\"tool_calls\""};
  if (std::ranges::none_of(kCalls, [&](std::string_view text) {
        return templates.find(text) != templates.npos;
      })) {
    return "";
  }
  const Written& written = known.written[file];
  const std::vector<Texts>& layouts = written.calls;
  if (layouts.empty()) return "it has no calls, and the chat template has";
  const auto writes_any = [&](const Texts& texts) {
    return texts.empty() || std::ranges::any_of(texts, [&](const auto& text) {
             return may_write(templates, text);
           });
  };
  const auto lacks = [](std::string_view what, std::string_view text) {
    return std::string(what) + json::quoted(base::trimmed(text)) +
           ", which the chat template does not write";
  };
  if (!writes_any(written.anchors)) {
    return lacks("its turns begin with ", written.anchors.front());
  }
  // It may be written by the name that the tokenizer has for it.
  if (!writes_any(written.ends) &&
      templates.find("eos_token") == templates.npos) {
    return lacks("its turns end with ", written.ends.front());
  }
  if (!written.reasoning.empty() &&
      templates.find("reasoning_content") != templates.npos &&
      std::ranges::none_of(written.reasoning, [&](const Texts& texts) {
        return std::ranges::all_of(texts, [&](const std::string& text) {
          return may_write(templates, text);
        });
      })) {
    return lacks("its reasoning has ", written.reasoning.front().front());
  }
  std::string missing;
  for (const Texts& texts : layouts) {
    // Other text is that of JSON, which a filter of the template may write.
    const auto absent = std::ranges::find_if(texts, [&](const auto& text) {
      return text.find_first_of("<>[]") != text.npos &&
             !may_write(templates, text);
    });
    if (absent != texts.end()) {
      if (missing.empty()) missing = lacks("its calls have ", *absent);
      continue;
    }
    const auto unknown_is = [&](std::string_view text) {
      return "the calls of the chat template have " + std::string(text) +
             ", which it does not know";
    };
    // Where calls have no markers, the template has none there.
    if (std::ranges::none_of(texts, [](const std::string& text) {
          return text.find('<') != text.npos;
        })) {
      const std::string_view marker =
          unknown_marker(templates, format::built_ins()[file].source);
      if (!marker.empty()) {
        missing = unknown_is(marker);
        continue;
      }
    }
    // The calls that the template writes, or shows in a prompt.
    constexpr std::size_t kLongestCall = 4096;
    std::string_view open = base::trimmed(texts.front());
    open = open.substr(0, open.find_first_of(">]") + 1);
    std::string_view close = base::trimmed(texts.back());
    close = close.substr(std::min(close.size(), close.find_last_of("<[")));
    std::string_view unknown;
    for (std::size_t at = 0;
         unknown.empty() && !open.empty() && !close.empty() &&
         (at = templates.find(open, at)) != templates.npos;) {
      const std::string_view call = templates.substr(at, kLongestCall);
      const std::size_t end = call.find(close, open.size());
      // What begins before the same end is a part of it.
      at += end == call.npos ? open.size() : end;
      if (end == call.npos) continue;
      unknown =
          unknown_tag(call.substr(0, end), format::built_ins()[file].source);
    }
    if (unknown.empty()) return "";
    missing = unknown_is('<' + std::string(unknown) + '>');
  }
  return missing;
}

// --- The rendered call -------------------------------------------------------

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

// --- Unknown -----------------------------------------------------------------

// A family that comes near, and what is missing.
struct NearFamily {
  std::size_t file = 0;
  std::string why = {};
};

// The families of which some rule is met in part, the nearest first.
std::vector<NearFamily> partly_fitting(const Knowledge& known,
                                       const Evidence& evidence) {
  struct Part {
    std::size_t file = 0;
    std::size_t found = 0;  // of 2 * asked
    std::size_t asked = 0;
    std::string missing = {};
  };
  std::vector<Part> parts;
  for (const Candidate& candidate : known.candidates) {
    Part part{candidate.file};
    const auto look_for = [&](const Texts& texts) {
      for (const std::string& text : texts) {
        ++part.asked;
        if (evidence.text.find(text) != std::string::npos) {
          part.found += 2;
          continue;
        }
        if (may_write(evidence.text, text)) ++part.found;
        if (!part.missing.empty()) part.missing += ", ";
        part.missing += json::quoted(text);
      }
    };
    look_for(candidate.rule.all);
    look_for(candidate.rule.tokens);
    if (part.asked == 0) look_for(candidate.rule.any);
    if (part.found < part.asked || part.missing.empty()) continue;
    const auto same = std::ranges::find(parts, part.file, &Part::file);
    if (same == parts.end()) {
      parts.push_back(std::move(part));
    } else if (part.found * same->asked > same->found * part.asked) {
      *same = std::move(part);
    }
  }
  std::ranges::stable_sort(parts, [](const Part& a, const Part& b) {
    return a.found * b.asked > b.found * a.asked;
  });
  std::vector<NearFamily> out;
  out.reserve(parts.size());
  for (Part& part : parts) {
    out.push_back({part.file, "is told by " + std::move(part.missing) +
                                  ", which is not there"});
  }
  return out;
}

// The rendered call with some of the text around it.
std::string excerpt(std::string_view rendered) {
  constexpr std::size_t kAround = 60;
  const std::size_t city = rendered.rfind(kCity);
  const std::size_t tool = rendered.rfind(kTool, city);
  std::size_t begin = std::min(tool, city);
  begin -= std::min(begin, kAround);
  std::size_t end = std::min(rendered.size(), city + kCity.size() + kAround);
  // Whole characters.
  const auto inside = [&](std::size_t at) {
    return at < rendered.size() &&
           (static_cast<unsigned char>(rendered[at]) & 0xC0) == 0x80;
  };
  while (begin > 0 && inside(begin)) --begin;
  while (inside(end)) ++end;
  return json::quoted(rendered.substr(begin, end - begin));
}

Error unknown(std::string why, std::vector<NearFamily> near,
              const Knowledge& known, const Evidence& evidence) {
  constexpr std::size_t kMost = 3;
  if (near.empty()) near = partly_fitting(known, evidence);
  if (near.size() > kMost) near.resize(kMost);
  std::string list;
  for (const auto& [file, missing] : near) {
    list += list.empty() ? "; near is " : ", and ";
    list += json::quoted(format::built_ins()[file].name) + " (" + missing + ")";
  }
  return {ErrorCode::kUnknownFormat, std::move(why) + list + "."};
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
  std::vector<NearFamily> near;
  if (has_call(options.rendered)) {
    std::optional<DetectedFormat> read =
        by_reading(fits, known, evidence, options.rendered);
    if (read) return *std::move(read);
    for (const Fit& fit : fits) {
      near.push_back({fit.file, "does not read that call"});
    }
    return unknown(
        "no built-in format reads the call that the chat template "
        "renders, " +
            excerpt(options.rendered),
        std::move(near), known, evidence);
  }
  std::vector<Fit> left;
  for (const Fit& fit : fits) {
    std::string why = contradiction(fit.file, known, evidence.templates());
    if (why.empty()) {
      left.push_back(fit);
    } else {
      near.push_back({fit.file, std::move(why)});
    }
  }
  if (left.empty()) {
    if (evidence.text.empty()) {
      return Error{ErrorCode::kUnknownFormat,
                   "the configuration has no chat_template, declares no tokens "
                   "and has no response_template: there is nothing to tell its "
                   "format by."};
    }
    const std::string_view what =
        near.empty() ? "the chat template and the declared tokens are those of "
                       "no built-in format"
                     : "the calls that the chat template writes are those of "
                       "no built-in format";
    return unknown(std::string(what), std::move(near), known, evidence);
  }
  const DetectRule& rule = *left[0].rule;
  DetectedFormat out = described(left[0], known, evidence);
  for (std::size_t i = 1; i < left.size(); ++i) {
    out.others.emplace_back(format::built_ins()[left[i].file].name);
  }
  const bool contested = left.size() > 1 && equally_strong(rule, *left[1].rule);
  out.certainty = rule.rank < 0 || contested ? Certainty::kGuess
                  : out.others.empty() && by_tokens(rule, evidence)
                      ? Certainty::kCertain
                      : Certainty::kLikely;
  return out;
}

}  // namespace parlance
