#include "harmony/strict_header.h"

#include <string>
#include <vector>

#include "base/utf8.h"
#include "base/white_space.h"
#include "harmony/words.h"

namespace parlance::harmony {
namespace {

// The beginning of `text` up to white space of Unicode or '<'.
std::string_view channel_name(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    const char32_t c = base::next_code_point(text, i);
    if (c == '<' || base::is_white_space(c)) return text.substr(0, begin);
  }
  return text;
}

// The words of `text`, which white space of ASCII separates.  A word also
// begins with each <|constrain|>.
std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  const auto end_word = [&](std::size_t end) {
    if (end > begin) words.push_back(text.substr(begin, end - begin));
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f') {
      end_word(i);
      begin = i + 1;
    } else if (text.substr(i).starts_with(kConstrainMarker)) {
      end_word(i);
      begin = i;
    }
  }
  end_word(text.size());
  return words;
}

std::string without_to(std::string_view word) {
  return std::string(word.starts_with(kTo) ? word.substr(kTo.size()) : word);
}

}  // namespace

// Steps: the first <|channel|> and the word after it are cut out; the first of
// the remaining words is the author, unless the prompt names it; the last words
// are recipient and content type.
std::variant<Fields, HarmonyProblem> read_strict_header(
    std::string_view text, std::optional<HarmonyRole> role) {
  Fields fields;
  std::string rest(text);
  if (const std::size_t at = text.find(kChannelMarker);
      at != std::string_view::npos) {
    const std::string_view after = text.substr(at + kChannelMarker.size());
    const std::string_view name = channel_name(after);
    if (name.empty()) return HarmonyProblem::kEmptyChannel;
    fields.channel = name;
    rest = std::string(text.substr(0, at));
    rest += after.substr(name.size());
  }
  std::vector<std::string_view> words = split_words(trimmed(rest));
  std::size_t first = 0;

  if (!role) {
    if (words.empty()) return HarmonyProblem::kMissingRole;
    role = harmony_role(words[0]);
    if (!role) {
      // A tool.  A lone word is one only if it is a recipient.
      if (words.size() == 1 && !words[0].starts_with(kTo)) {
        return HarmonyProblem::kUnknownRole;
      }
      role = HarmonyRole::kTool;
      first = 1;
    }
    if (*role == HarmonyRole::kTool) fields.name = words[0];
  }
  fields.role = *role;
  if (first < words.size() && words[first] == to_string(*role)) ++first;

  const std::size_t count = words.size() - first;
  if (count == 0) return fields;
  const std::string_view last = words.back();
  std::size_t used = 1;
  if (last.starts_with(kTo) || count == 1) {
    fields.recipient = without_to(last);
  } else {
    fields.content_type = last;
    fields.recipient = without_to(words[words.size() - 2]);
    used = 2;
  }
  if (count > used) return HarmonyProblem::kHeaderTrailingText;
  return fields;
}

}  // namespace parlance::harmony
