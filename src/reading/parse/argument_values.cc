#include "parse/argument_values.h"

#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "base/python_number.h"
#include "base/utf8.h"
#include "json/python_literal.h"

namespace parlance::parse {
namespace {

using Decode = format::ArgumentReading::Decode;

constexpr std::string_view kCdata = "<![CDATA[";
constexpr std::string_view kCdataEnd = "]]>";

constexpr std::array<std::pair<std::string_view, char>, 5> kEntities = {
    {{"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}}};

// The longest reference that is looked for, in bytes between & and ;.
constexpr std::size_t kLongestReference = 10;

// The character that a reference (without & and ;) stands for.
std::optional<char32_t> character_of(std::string_view reference) {
  for (const auto& [name, c] : kEntities) {
    if (reference == name) return static_cast<char32_t>(c);
  }
  if (!reference.starts_with('#')) return std::nullopt;
  reference.remove_prefix(1);
  int base = 10;
  if (reference.starts_with('x') || reference.starts_with('X')) {
    reference.remove_prefix(1);
    base = 16;
  }
  std::uint32_t code = 0;
  const char* end = reference.data() + reference.size();
  const auto [stop, error] = std::from_chars(reference.data(), end, code, base);
  const bool character =
      code != 0 && code <= 0x10FFFF && (code < 0xD800 || code >= 0xE000);
  if (error != std::errc() || stop != end || !character) return std::nullopt;
  return static_cast<char32_t>(code);
}

}  // namespace

bool changes_arguments(const format::FieldReading& reading) {
  const format::ArgumentReading& arguments = reading.arguments;
  return arguments.line_feeds > 0 || arguments.python ||
         !arguments.type_capture.empty() || arguments.decode != Decode::kNone ||
         arguments.xml_keys;
}

std::string decode_references(std::string_view text) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t begin = text.find('&', at);
    if (begin == std::string_view::npos) break;
    out += text.substr(at, begin - at);
    const std::string_view rest = text.substr(begin + 1, kLongestReference + 1);
    const std::size_t size = rest.find(';');
    const auto c = size == std::string_view::npos
                       ? std::nullopt
                       : character_of(rest.substr(0, size));
    if (c) {
      base::append_utf8(out, *c);
      at = begin + 1 + size + 1;
    } else {
      out += '&';
      at = begin + 1;
    }
  }
  if (at < text.size()) out += text.substr(at);
  return out;
}

std::string decode_cdata(std::string_view text) {
  std::string out;
  for (;;) {
    const std::size_t begin = text.find(kCdata);
    if (begin == std::string_view::npos) break;
    const std::size_t inside = begin + kCdata.size();
    const std::size_t end = text.find(kCdataEnd, inside);
    if (end == std::string_view::npos) break;
    out += text.substr(0, begin);
    out += text.substr(inside, end - inside);
    text.remove_prefix(end + kCdataEnd.size());
  }
  return out += text;
}

ContentResult read_argument(const MarkedText& raw, bool null,
                            std::string_view type,
                            const format::Content& content,
                            const format::ArgumentReading* reading,
                            const DelimiterProgram& program,
                            const Limits& limits) {
  if (reading == nullptr || null) {
    return parse_member_value(raw, null, content, program, limits);
  }
  // 1. Line feeds.
  std::size_t begin = 0;
  std::size_t end = raw.text.size();
  for (std::uint32_t i = 0; i < reading->line_feeds; ++i) {
    if (begin < end && raw.text[begin] == '\n') ++begin;
    if (begin < end && raw.text[end - 1] == '\n') --end;
  }
  MarkedText text = raw.substr(begin, end - begin);
  // 2. Decoding.
  std::string decoded;
  if (reading->decode != Decode::kNone) {
    decoded = reading->decode == Decode::kXml ? decode_references(text.text)
                                              : decode_cdata(text.text);
    text = MarkedText(decoded);
  }
  // 3. The value.
  for (const auto& [name, kind] : reading->types) {
    if (name != type || reading->type_capture.empty()) continue;
    if (kind == "string") return json::Value(text.text);
    Result<json::Value> value =
        json::parse(base::python_strip(text.text), {.limits = limits});
    if (!value && reading->python) {
      value = json::read_python(text.text, limits);
    }
    return value ? std::move(*value) : json::Value(text.text);
  }
  return parse_member_value(text, false, content, program, limits);
}

}  // namespace parlance::parse
