#include "grammar_requests.h"

#include <string>
#include <utility>

#include "calls.h"

namespace parlance::c {
namespace {

[[noreturn]] void wrong(ErrorCode code, std::string message, std::string path) {
  fail({.code = code, .message = std::move(message), .path = std::move(path)});
}

JsonLayout layout_of(Request& request) {
  JsonLayout out;
  const bool compact = request.flag("compact", false);
  const auto white_space = request.maybe_number("max_white_space");
  if (compact) out.max_white_space = 0;
  if (white_space) out.max_white_space = *white_space;
  const auto indent = request.maybe_number("indent", UINT32_MAX);
  const json::Value* const separators = request.find("separators");
  if (!indent && separators == nullptr) return out;
  if (compact || white_space) {
    wrong(ErrorCode::kConflict,
          "\"indent\" and \"separators\" exclude \"compact\" and "
          "\"max_white_space\"",
          request.path_of(indent ? "indent" : "separators"));
  }
  out.exact = true;
  if (indent) out.indent = static_cast<std::uint32_t>(*indent);
  if (separators == nullptr) return out;
  const json::Array& pair = separators->items();
  if (pair.size() != 2 || !pair[0].is_string() || !pair[1].is_string()) {
    wrong(ErrorCode::kWrongType,
          "\"separators\" must be a list of two strings: [item, key]",
          request.path_of("separators"));
  }
  out.item_separator = std::string(pair[0].as_string());
  out.key_separator = pair[1].as_string();
  return out;
}

template <class Options>
void look_up(Options& options, const Vocabulary* names) {
  if (names == nullptr) return;
  options.tokens_spelled = [names](std::string_view spelling) {
    return names->find(spelling);
  };
}

}  // namespace

JsonSchemaOptions schema_options(Request& request) {
  JsonSchemaOptions out;
  out.layout = layout_of(request);
  // ORDER: KeyOrder
  out.key_order =
      static_cast<KeyOrder>(request.choice("key_order", {"any", "schema"}));
  // ORDER: JsonSpelling
  out.spelling = static_cast<JsonSpelling>(
      request.choice("spelling", {"canonical", "any", "raw"}));
  if (request.find("draft") != nullptr) {  // ORDER: SchemaDraft
    out.draft = static_cast<SchemaDraft>(
        request.choice("draft", {"4", "6", "7", "2019-09", "2020-12"}));
  }
  out.closed = request.flag("closed", out.closed);
  out.lenient = request.flag("lenient", out.lenient);
  out.assert_formats = request.flag("assert_formats", out.assert_formats);
  if (const json::Value* const excludes = request.list("excludes")) {
    for (const json::Value& text : excludes->items()) {
      if (text.as_string().empty() || !text.is_string()) {
        wrong(ErrorCode::kEmptyValue,
              "an excluded text must be a string that is not empty",
              request.path_of("excludes"));
      }
      out.excludes.emplace_back(text.as_string());
    }
  }
  if (const json::Value* const documents = request.object("documents")) {
    for (const json::Member& document : documents->members()) {
      out.documents.emplace(document.key, document.value);
    }
  }
  out.limits = limits_alone(request);
  return out;
}

EbnfOptions ebnf_options(Request& request) {
  EbnfOptions out;
  out.root_rule = request.text("root_rule", out.root_rule);
  out.limits = limits_alone(request);
  return out;
}

GbnfOptions gbnf_options(Request& request, const Vocabulary* names) {
  GbnfOptions out;
  out.root_rule = request.text("root_rule", out.root_rule);
  look_up(out, names);
  out.limits = limits_alone(request);
  return out;
}

LarkGrammarOptions lark_options(Request& request, const Vocabulary* names) {
  LarkGrammarOptions out;
  out.start_rule = request.text("start_rule", out.start_rule);
  if (const json::Value* const sources = request.object("sources")) {
    for (const json::Member& source : sources->members()) {
      if (!source.value.is_string()) {
        wrong(ErrorCode::kWrongType,
              "the source of \"" + source.key + "\" must be a string",
              request.path_of("sources"));
      }
      out.sources.emplace(source.key, source.value.as_string());
    }
  }
  look_up(out, names);
  out.limits = limits_alone(request);
  return out;
}

StructuralTagGrammarOptions tag_options(Request& request,
                                        const Vocabulary* names) {
  StructuralTagGrammarOptions out;
  if (names != nullptr) {
    out.vocabulary_size = static_cast<std::uint32_t>(names->size());
    out.find_token = [names](std::string_view text) {
      return names->find_first(text);
    };
  }
  out.limits = limits_alone(request);
  return out;
}

GrammarLimits limits_alone(Request& request) {
  GrammarLimits out = request.limits();
  request.finish();
  return out;
}

}  // namespace parlance::c
