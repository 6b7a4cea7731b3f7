// The page of an explanation: the viewer, and the facts that it shows.
//
// The facts of a page are those of to_json(), without their repetitions.  The
// text is there once, as `text`, or as `hex` if it is not UTF-8.  Rows that are
// equal but for their place have one *shape*.  `rows` is a list of numbers: two
// for each row, its shape and its size, so that the sizes of the rows before it
// are its place; a remark has size 0, and its place is in its shape.

#include "explanation/page.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/beginning.h"
#include "base/utf8.h"
#include "explanation/facts.h"
#include "parlance/explain.h"
#include "parlance/limits.h"

namespace parlance {
namespace explanation {
namespace {

// Of remarks and dropped calls, in a page of part of a text.
constexpr std::size_t kMostRemarks = 100;

// What two rows of one shape have in common: of rows that own bytes, all that
// row_facts() has without the text.
std::string key_of(const ExplanationRow& row) {
  std::string key = row.what;
  for (const std::string* part : {&row.field, &row.type, &row.path}) {
    key += '\0';
    key += *part;
  }
  for (const auto& [name, text] : row.captures) {
    key += '\0';
    key += name;
    key += '\0';
    key += text;
  }
  key += '\0';
  for (const std::size_t number :
       {static_cast<std::size_t>(row.kind), std::size_t{row.depth},
        std::size_t{row.alternative.value_or(0)},
        std::size_t{row.alternative.has_value()}, std::size_t{row.finished}}) {
    key += std::to_string(number) + ",";
  }
  return key;
}

// ,"shapes":[{...},...],"rows":[0,7,1,3,...]
void append_rows(std::string& out, const Explanation& e, std::size_t shown,
                 bool whole) {
  std::unordered_map<std::string, std::size_t> known;
  std::size_t shapes = 0;
  std::size_t remarks = 0;
  std::string rows;
  out += ",\"shapes\":[";
  const auto add_shape = [&](const ExplanationRow& row) {
    if (shapes > 0) out += ',';
    out += json::dump(json::Value(row_facts(row, nullptr)),
                      {.ascii = false, .compact = true});
    return shapes++;
  };
  for (const ExplanationRow& row : e.rows) {
    const bool owns = owns_bytes(row.kind);
    if (!whole && owns && row.bytes.begin >= shown) continue;
    if (!whole && !owns && remarks++ >= kMostRemarks) continue;
    std::size_t shape = shapes;
    if (owns) {
      const auto [found, added] = known.try_emplace(key_of(row), shapes);
      shape = added ? add_shape(row) : found->second;
    } else {
      add_shape(row);
    }
    if (!rows.empty()) rows += ',';
    rows += std::to_string(shape);
    rows += ',';
    rows += std::to_string(
        owns ? std::min(row.bytes.end, shown) - row.bytes.begin : 0);
  }
  out += "],\"rows\":[" + rows + "]";
}

// The calls that were attempted, and how many of them were dropped; and those
// that are not as they should be.
void add_calls(const Message& message, bool whole, json::Object& out) {
  std::int64_t dropped = 0;
  json::Array attempts;
  for (const Attempt& attempt : message.attempts) {
    if (!is_complete(attempt.status)) ++dropped;
    if (attempt.why.empty() && attempt.status == CallStatus::kOk) continue;
    if (!whole && attempts.size() >= kMostRemarks) continue;
    // The text and the arguments are in the response.
    json::Value facts = to_json(attempt);
    for (const char* member : {"text", "arguments", "tokens"}) {
      facts.mutable_members().erase(member);
    }
    attempts.push_back(std::move(facts));
  }
  out.set("calls",
          json::Value(json::Array{
              static_cast<std::int64_t>(message.attempts.size()), dropped}));
  out.set("attempts", json::Value(std::move(attempts)));
}

// Keeps only the diagnostics that no row reports, and says whether there may be
// more than were recorded.
void keep_untold(const Explanation& e, bool whole, json::Object& out) {
  if (!e.message) return;
  using Told = std::pair<std::size_t, std::string_view>;
  std::set<Told> told;
  for (const ExplanationRow& row : e.rows) {
    if (!row.message.empty()) told.insert({row.bytes.begin, row.message});
  }
  const std::vector<Diagnostic>& all = e.message->diagnostics;
  const json::Value* facts = out.find("diagnostics");
  json::Array untold;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (told.contains({all[i].bytes.begin, all[i].message})) continue;
    if (!whole && untold.size() >= kMostRemarks) break;
    untold.push_back(facts->items()[i]);
  }
  out.set("diagnostics", json::Value(std::move(untold)));
  if (all.size() >= Limits().diagnostics) {
    out.set("more_diagnostics", json::Value(true));
  }
}

// JSON inside of a script element, which nothing there can end, and where no
// comment can begin.  In JSON '<' is only in strings.
void append_script_json(std::string& out, std::string_view json) {
  for (;;) {
    const std::size_t at = json.find('<');
    if (at == std::string_view::npos) break;
    out += json.substr(0, at);
    json.remove_prefix(at + 1);
    // <!--, <script and </script
    const bool begins =
        std::string_view("!/sS").find(json.empty() ? ' ' : json[0]) !=
        std::string_view::npos;
    out += begins ? "\\u003c" : "<";
  }
  out += json;
}

std::string pack(const Explanation& e, const PageOptions& options) {
  std::string_view text = e.text;
  if (options.max_bytes > 0) text = base::beginning(text, options.max_bytes);
  const bool whole = text.size() == e.text.size();
  json::Object head = head_facts(e);
  std::string title(options.title);
  if (title.empty()) {
    title = e.name.empty() ? "Response" : "Response read by " + e.name;
  }
  head.set("title", json::Value(base::to_utf8(title)));
  if (e.message) {
    add_calls(*e.message, whole, head);
    // A JSON number can have more digits than a number of the script, and NaN
    // is none there, so the message is text.
    const std::string message =
        json::dump(e.message->fields, {.ascii = false, .indent = 2});
    head.set(
        "message_text",
        json::Value(whole ? message : base::beginning(message, text.size())));
  }
  add_tail_facts(e, whole, head);
  keep_untold(e, whole, head);
  if (base::is_utf8(text)) {
    head.set("text", json::Value(text));
  } else {
    head.set("hex", json::Value(hex(text)));
  }
  std::string out = json::dump(json::Value(std::move(head)),
                               {.ascii = false, .compact = true});
  out.pop_back();  // the brace
  append_rows(out, e, text.size(), whole);
  return out + "}";
}

}  // namespace
}  // namespace explanation

std::string to_packed_json(const Explanation& e, const PageOptions& options) {
  return explanation::pack(e, options);
}

std::string to_html(const Explanation& explanation,
                    const PageOptions& options) {
  constexpr std::string_view kPlace = "{FACTS}";
  const std::string_view page = explanation::page();
  const std::size_t at = page.find(kPlace);
  const std::string facts = to_packed_json(explanation, options);
  std::string out;
  out.reserve(page.size() + facts.size() + facts.size() / 8);
  out += page.substr(0, at);
  explanation::append_script_json(out, facts);
  out += page.substr(at + kPlace.size());
  return out;
}

}  // namespace parlance
