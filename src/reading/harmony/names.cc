// The names of enumerators, and the messages of diagnostics.

#include <array>
#include <cstddef>

#include "harmony/diagnostics.h"
#include "parlance/harmony.h"
#include "vocab/table.h"

namespace parlance {
namespace {

struct ProblemText {
  std::string_view name;
  std::string_view message;
};

// ORDER: HarmonyProblem
constexpr std::array kProblems = {
    ProblemText{"missing_message_marker",
                "The header ends without <|message|>. Its text, unless it is "
                "only fields, is the content of a message without recipient"},
    ProblemText{"text_outside_message",
                "There is text between messages. It is a message of the "
                "default role"},
    ProblemText{"missing_start", "A header begins without <|start|>"},
    ProblemText{"missing_end",
                "A message begins inside a content. The content ends here"},
    ProblemText{"stray_stop",
                "There is a stop token between messages. It is ignored"},
    ProblemText{"empty_channel", "No name follows <|channel|>"},
    ProblemText{"conflicting_channel",
                "The header has a second channel. The first one counts"},
    ProblemText{"conflicting_recipient",
                "The header has several recipients. The message has none"},
    ProblemText{"empty_recipient", "No name follows to="},
    ProblemText{"conflicting_content_type",
                "The header has a second content type. The first one counts"},
    ProblemText{"unknown_role",
                "The author is neither a role nor a tool that addresses "
                "to=assistant. The message has the default role"},
    ProblemText{"missing_role",
                "The header has no author. The message has the default role"},
    ProblemText{"marker_text_in_header",
                "A word of the header contains \"<|\". It is no field, and the "
                "message has no recipient"},
    ProblemText{"recipient_suppressed",
                "The header has a recipient, and \"<|\" in a word. The message "
                "has no recipient"},
    ProblemText{"unexpected_header_text",
                "A word of the header is neither a recipient (to=NAME) nor a "
                "content type"},
    ProblemText{"truncated_header", "The response ends in a header"},
    ProblemText{"redundant_start", "<|start|> in an empty header is ignored"},
    ProblemText{"duplicate_channel", "The header repeats the channel"},
    ProblemText{"duplicate_recipient", "The header repeats the recipient"},
    ProblemText{"duplicate_content_type",
                "The header repeats the content type"},
    ProblemText{"empty_content_type", "No name follows <|constrain|>"},
    ProblemText{"space_before_channel_name",
                "White space precedes the name of the channel"},
    ProblemText{"space_after_to", "White space follows to="},
    ProblemText{"recipient_without_to", "The recipient is written without to="},
    ProblemText{"unexpected_special",
                "A control token means nothing here. It is dropped"},
    ProblemText{"unknown_token", "The vocabulary has no token with this id"},
    ProblemText{"expected_start",
                "Between messages there is a token other than <|start|>"},
    ProblemText{"header_trailing_text",
                "The header has more words than author, recipient and content "
                "type"},
    ProblemText{"header_not_decodable",
                "The header has an id without a token, or bytes that are not "
                "UTF-8"},
    ProblemText{"header_too_long",
                "The header is longer than the limit held_bytes"},
    ProblemText{"eos_in_header", "The response ends in a header"},
};
static_assert(kProblems.size() ==
              static_cast<std::size_t>(HarmonyProblem::kEosInHeader) + 1);

constexpr std::array<std::string_view, 5> kRoles = {
    "system", "developer", "user", "assistant", "tool"};
constexpr std::array<std::string_view, 7> kEnds = {
    "open", "end", "call", "return", "eos_token", "eos", "implicit"};

}  // namespace

std::string_view to_string(HarmonyRole role) {
  return kRoles[static_cast<std::size_t>(role)];
}

std::optional<HarmonyRole> harmony_role(std::string_view name) {
  for (std::size_t i = 0; i < kRoles.size(); ++i) {
    if (kRoles[i] == name) return static_cast<HarmonyRole>(i);
  }
  return std::nullopt;
}

std::string_view to_string(HarmonyEnd end) {
  return kEnds[static_cast<std::size_t>(end)];
}

std::string_view to_string(HarmonyProblem problem) {
  return kProblems[static_cast<std::size_t>(problem)].name;
}

bool is_warning(HarmonyProblem problem) {
  return problem >= HarmonyProblem::kRedundantStart &&
         problem <= HarmonyProblem::kUnknownToken;
}

namespace harmony {

std::string describe(HarmonyProblem problem, std::string_view found) {
  std::string out(kProblems[static_cast<std::size_t>(problem)].message);
  if (!found.empty()) out += ": " + vocab::printable(found);
  return out + ".";
}

}  // namespace harmony
}  // namespace parlance
