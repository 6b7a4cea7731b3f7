// The page of an explanation: its skeleton, filled.

#include "explanation/page.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "explanation/visible.h"
#include "parlance/explain.h"

namespace parlance {
namespace explanation {
namespace {

// The facts as the page's script reads them.  A JSON number of the message can
// have more digits than a number of the script, and NaN is none there, so the
// message is text.
std::string page_facts(const Explanation& explanation) {
  json::Value facts = to_json(explanation);
  json::Object& members = facts.mutable_members();
  if (const json::Value* message = members.find("message")) {
    const std::string text =
        json::dump(*message, {.ascii = false, .indent = 2});
    members.erase("message");
    members.set("message_text", json::Value(text));
  }
  return json::dump(facts, {.ascii = false, .compact = true});
}

// JSON inside of a script element: no character there can end the element or
// begin a comment.  In JSON these characters are only in strings.
void append_script_json(std::string& out, std::string_view json) {
  for (const char c : json) {
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
}

std::string title_of(const Explanation& explanation,
                     const PageOptions& options) {
  if (!options.title.empty()) return std::string(options.title);
  if (explanation.name.empty()) return "Response";
  return "Response read by " + explanation.name;
}

}  // namespace
}  // namespace explanation

std::string to_html(const Explanation& explanation,
                    const PageOptions& options) {
  std::string_view rest = explanation::page_skeleton();
  const std::string facts = explanation::page_facts(explanation);
  std::string out;
  out.reserve(rest.size() + facts.size() + facts.size() / 8 +
              explanation::page_style().size() +
              explanation::page_script().size());
  // The places in the order in which they come.
  const auto up_to = [&](std::string_view place) {
    const std::size_t at = rest.find(place);
    out += rest.substr(0, at);
    rest.remove_prefix(at + place.size());
  };
  const std::string title = explanation::title_of(explanation, options);
  up_to("{TITLE}");
  explanation::append_html(out, title);
  up_to("{STYLE}");
  out += explanation::page_style();
  up_to("{TITLE}");
  explanation::append_html(out, title);
  up_to("{FACTS}");
  explanation::append_script_json(out, facts);
  up_to("{SCRIPT}");
  out += explanation::page_script();
  out += rest;
  return out;
}

}  // namespace parlance
