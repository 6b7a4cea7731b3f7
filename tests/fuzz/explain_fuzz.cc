// Any bytes as a response that is explained: the rows own every byte once, the
// page has the facts and no markup of the response, and so has the table.
//
//   byte 0     the template or the tag: one of the small ones below, or a
//              built-in format
//   byte 1     bits 0-1: bytes per chunk, bit 2: the prefix is a marker, bit 3:
//              the title is the response, too
//   the rest   the response

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/explain.h"
#include "parlance/structural_tag.h"

namespace {

using namespace parlance;

// Delimiters that match nothing, look ahead and look back.
constexpr std::string_view kTemplates[] = {
    R"x({"start_anchor": "A", "fields": {
      "c": {"close_pattern": "b*$"},
      "t": {"open_pattern": "<(?P<n>\\w+)>\\s*",
            "close_pattern": "\\s*</(?:t|$)", "transform": {"n": "{n}"}}}})x",
    R"x({"start_anchor_pattern": "A|^", "fields": {
      "<b>&": {"open_pattern": "(a|b)<\\1", "close_pattern": "(?<=a)>|(?=<b)",
            "content": "kv-lines", "repeats": true},
      "c": {"close_pattern": "a?"}}})x",
    R"x({"start_anchor": "A", "fields": {
      "u": {"open_pattern": "^|\\b<", "close_pattern": ".+b?",
            "content": "int", "repeats": true}}})x",
};

constexpr std::string_view kTags[] = {
    R"({"format": {"type": "triggered_tags", "triggers": ["<a", "<b"],
      "tags": [
        {"type": "tag", "begin": "<a>", "content": {"type": "any_text"},
         "end": ["</a>", ""], "field": "reasoning"},
        {"type": "tag", "begin": "<b>", "tool": "f", "end": "</b>",
         "content": {"type": "json_schema", "json_schema": true}}]}})",
    R"({"format": {"type": "star", "content": {"type": "or", "elements": [
      {"type": "dispatch", "rules": [["a", {"type": "regex", "pattern": "b*"}]]},
      {"type": "optional", "content":
        {"type": "const_string", "value": "<"}}]}}})",
};

const std::vector<Format>& formats() {
  static const auto* const kFormats = [] {
    auto* out = new std::vector<Format>;
    for (const std::string_view text : kTemplates) {
      out->push_back(*Format::from_json(text));
    }
    for (const std::string_view name : Format::built_in_names()) {
      out->push_back(*Format::built_in(name));
    }
    return out;
  }();
  return *kFormats;
}

const std::vector<CompiledTag>& tags() {
  static const auto* const kCompiled = [] {
    auto* out = new std::vector<CompiledTag>;
    for (const std::string_view text : kTags) {
      out->push_back(*CompiledTag::compile(*StructuralTag::from_json(text)));
    }
    return out;
  }();
  return *kCompiled;
}

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "explain_fuzz: %s\n", what);
  std::abort();
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; ++at) {
    ++found;
  }
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  if (size < 2) return 0;
  const std::string response(reinterpret_cast<const char*>(data) + 2, size - 2);
  ExplainOptions options;
  options.chunk = data[1] & 3U;
  if ((data[1] & 4U) != 0) options.prefix = "A<think>";
  if ((data[1] & 8U) != 0) options.name = response;
  const std::size_t choice = data[0] % (formats().size() + tags().size());
  const Explanation e =
      choice < formats().size()
          ? explain(formats()[choice], response, options)
          : explain(tags()[choice - formats().size()], response, options);

  require(std::string_view(e.text).substr(e.prefix_bytes) == response,
          "the text is not the response");
  std::size_t at = 0;
  for (const ExplanationRow& row : e.rows) {
    require(row.bytes.begin <= row.bytes.end && row.bytes.end <= e.text.size(),
            "a row is not in the text");
    if (!owns_bytes(row.kind)) continue;
    require(row.bytes.begin == at, "rows do not partition the text");
    at = row.bytes.end;
  }
  require(at == e.text.size(), "bytes without a row");

  const std::string page = to_html(e);
  constexpr std::string_view kBefore = "id=\"facts\">";
  const std::size_t facts_at = page.find(kBefore) + kBefore.size();
  const std::string_view facts = std::string_view(page).substr(
      facts_at, page.find("</script>", facts_at) - facts_at);
  for (const char* part : {"<!", "</", "<s", "<S"}) {
    require(facts.find(part) == facts.npos, "markup in the facts");
  }
  require(json::parse(facts, {.allow_nonfinite = false}).has_value(),
          "the facts are not JSON");
  require(count(page, "<script") == 2 && count(page, "</script") == 2,
          "a script more");

  const std::string beginning = to_html(e, {.max_bytes = 5});
  require(count(beginning, "<script") == 2, "a script more in the beginning");
  return 0;
}
