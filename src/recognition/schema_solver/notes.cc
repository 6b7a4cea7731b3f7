// Notes on what a schema says without effect, and the places of notes.

#include "schema_solver/notes.h"

#include <tuple>
#include <utility>

#include "parlance/json.h"

namespace parlance::schema_solver {
namespace {

std::string_view reason(schema::Ignored::Why why) {
  using enum schema::Ignored::Why;
  switch (why) {
    case kUnknownKeyword:
      return "is not a keyword";
    case kUnknownFormat:
      return "is not a format that is enforced";
    case kOtherDraft:
      return "belongs to another draft";
    case kRequiredFlag:
      return "is a flag of draft 3; a list of names belongs there";
    case kBesideRef:
      return "stands beside \"$ref\", which stands alone in this draft";
    case kUnknownDraft:
      return "is not a draft that is known; 2020-12 is assumed";
  }
  return {};
}

}  // namespace

Exactness NoteList::leave_out(LeftOutBy by, schema::NodeId node,
                              std::string_view keyword, std::string_view why) {
  std::string text(keyword);
  text.append(1, '\0').append(why);
  if (left_out_.emplace(node, std::move(text)).second) {
    notes_.push_back({GrammarNote::Kind::kNarrowed, node, keyword,
                      std::string(why), by == LeftOutBy::kLimit});
  }
  return Exactness(true);
}

std::vector<NodeNote> ignored_notes(const schema::Document& document) {
  std::vector<NodeNote> out;
  out.reserve(document.ignored.size());
  for (const schema::Ignored& ignored : document.ignored) {
    NodeNote note{GrammarNote::Kind::kIgnored, ignored.node, ignored.keyword,
                  std::string(reason(ignored.why))};
    if (ignored.why == schema::Ignored::Why::kUnknownFormat) {
      note.keyword = "format";
      note.message =
          json::dump(std::string(ignored.keyword)) + " " + note.message;
    }
    out.push_back(std::move(note));
  }
  return out;
}

std::vector<GrammarNote> locate(const schema::Document& document,
                                std::vector<NodeNote> notes) {
  std::vector<const json::Value*> sources;
  sources.reserve(notes.size());
  for (const NodeNote& note : notes) {
    sources.push_back(document.node(note.node).source);
  }
  std::vector<std::string> pointers = document.pointers(sources);
  std::vector<GrammarNote> out;
  out.reserve(notes.size());
  // Copies of a node (schema/close.h) have one source.
  std::set<std::tuple<const json::Value*, std::string_view, std::string>> known;
  for (std::size_t i = 0; i < notes.size(); ++i) {
    NodeNote& note = notes[i];
    if (!known.emplace(sources[i], note.keyword, note.message).second) continue;
    out.push_back({note.kind, std::string(note.keyword), std::move(pointers[i]),
                   std::move(note.message)});
  }
  return out;
}

}  // namespace parlance::schema_solver
