// Any bytes as a response: no crash, the same events however they are cut, and
// every byte accounted for.
//
//   byte 0     the template: one of the small ones below, or a built-in format
//   byte 1     bit 0: recover, bit 1: the prefix opens what it can, bit 2:
//              surrogates, bit 3: small limits
//   bytes 2-3  seed of the cuts
//   the rest   the response

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/access.h"
#include "base/utf8.h"
#include "format/description.h"
#include "parlance/format.h"
#include "parlance/response_parser.h"
#include "support/parse_record.h"

namespace {

using namespace parlance;

// Delimiters that collide, look ahead, look back, match nothing.
constexpr std::string_view kSmall[] = {
    R"x({"start_anchor": "A", "fields": {
      "c": {"repeats": true, "join": ""},
      "t": {"open": "<t>", "close": "</t>"},
      "u": {"open": ["<t>u", "<u"], "close": ["</t>", "</"],
            "content": "json"}}})x",
    R"x({"start_anchor": "A", "fields": {
      "c": {"close_pattern": "b*$"},
      "t": {"open_pattern": "<(?P<n>\\w+)>\\s*",
            "close_pattern": "\\s*</(?:t|$)", "content": "xml-inline",
            "transform": {"n": "{n}", "v": "{content}"},
            "content_args": {
              "tag_pattern": "<(?P<key>\\w*)=?(?P<value>.*?)>"}}}})x",
    R"x({"start_anchor_pattern": "A|^", "fields": {
      "t": {"open_pattern": "(a|b)<\\1", "close_pattern": "(?<=a)>|(?=<b)",
            "content": "kv-lines", "repeats": true},
      "c": {"close_pattern": "a?"}}})x",
    R"x({"start_anchor": "A", "fields": {
      "t": {"open_pattern": "<.*?a", "close_pattern": "(?!a)."},
      "u": {"open_pattern": "^|\\b<", "close_pattern": ".+b?",
            "content": "int", "repeats": true}}})x",
};

const Format& format_of(std::uint8_t choice, bool small_limits) {
  static const auto* formats = [] {
    auto* out = new std::vector<Format>;
    for (bool small : {false, true}) {
      FormatOptions options;
      if (small) {
        options.limits.held_bytes = 16;
        // The formats themselves are read under it.
        options.limits.json_depth = 16;
        options.limits.integer_digits = 5;
        options.limits.diagnostics = 2;
        options.limits.match_steps = 50;
        options.limits.automaton_bytes = 2000;
      }
      for (std::string_view text : kSmall) {
        out->push_back(*Format::from_json(text, options));
      }
      for (std::string_view name : Format::built_in_names()) {
        out->push_back(*Format::built_in(name, options));
      }
    }
    return out;
  }();
  const std::size_t half = formats->size() / 2;
  return (*formats)[choice % half + (small_limits ? half : 0)];
}

// A prompt may end after the first opening literal.
std::string prefix_of(const Format& format) {
  for (const format::Field& field :
       parlance::detail::Access::impl(format)->description.fields) {
    if (field.open && !field.open.literals.empty()) {
      return field.open.literals[0];
    }
  }
  return "";
}

void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  if (size < 4) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 4, size - 4);
  const Format& format = format_of(data[0], (data[1] & 8) != 0);
  StreamOptions options;
  options.recover = (data[1] & 1) != 0 ? Recover::kYes : Recover::kNo;
  options.allow_surrogates = (data[1] & 4) != 0;
  const std::string prefix = (data[1] & 2) != 0 ? prefix_of(format) : "";
  options.prefix = prefix;

  const testing::ParseRecord whole =
      testing::record_parse(format, {text}, options);
  const std::string all = whole.to_string();
  std::string stream = prefix.substr(prefix.size() - whole.prefix_bytes) + text;
  const std::string fault =
      testing::account(whole, stream, base::is_utf8(stream, true));
  require(fault.empty(), fault + "\n" + all);
  require(testing::fold(whole) == json::dump(whole.message.fields), all);

  std::mt19937 random(data[2] | static_cast<unsigned>(data[3]) << 8);
  for (std::size_t most : {1U, 5U, 50U}) {
    const auto cuts = most == 1 ? testing::cut_every(text, 1)
                                : testing::cut_at_random(text, random, most);
    const testing::ParseRecord other =
        testing::record_parse(format, cuts, options);
    require(other.to_string() == all,
            "whole:\n" + all + "in pieces:\n" + other.to_string());
  }
  return 0;
}
