// Implements the functions of parlance/grammar.h for structural tags, and
// builds the languages of their regex, grammar and json_schema nodes.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/access.h"
#include "base/cancellable.h"
#include "base/in_quotes.h"
#include "cfg_recogniser/cfg_recogniser.h"
#include "grammar/compile.h"
#include "grammar/embedded.h"
#include "grammar/grammar_impl.h"
#include "grammar/productive.h"
#include "grammar/source.h"
#include "grammar/tag_to_rules.h"
#include "json/located.h"
#include "parlance/grammar.h"
#include "structural_tag/structural_tag.h"

namespace parlance {

using rules::MarkedFor;
using rules::Rules;
namespace grammar {
namespace {

// Schemas of a request have pointers into the request.
void set_pointers(std::vector<EmbeddedSchema>& schemas,
                  const structural_tag::TagTree& tag,
                  const LoweredTag& lowered) {
  for (std::size_t i = 0; i < schemas.size(); ++i) {
    schemas[i].path = lowered.schema_paths[i];
    schemas[i].in_place = lowered.schema_in_place[i];
    if (auto place = structural_tag::place_in_request(tag, schemas[i].path)) {
      schemas[i].path = std::move(place->path);
      schemas[i].subject = std::move(place->subject);
    }
  }
}

// An error if no text is valid under the schema of the document.
std::optional<Error> find_unwritable(
    const structural_tag::TagTree& tag,
    const std::vector<EmbeddedSchema>& schemas) {
  if (tag.requested.document.empty()) return std::nullopt;
  for (const EmbeddedSchema& embedded : schemas) {
    if (embedded.language != nullptr ||
        embedded.path != tag.requested.document) {
      continue;
    }
    return Error{ErrorCode::kConflict,
                 embedded.subject +
                     ": no document that is valid under the schema can be "
                     "written.",
                 embedded.path};
  }
  return std::nullopt;
}

// Finds the tools of which no call can be written, because no arguments that
// are valid under the schema have a text.  A tool may have several tags, one
// for each spelling of a call; one that has a text is enough.
//
// An error for a tool of the request that the tag was made from; else a note.
std::optional<Error> find_uncallable(const structural_tag::TagTree& tag,
                                     const LoweredTag& lowered,
                                     const std::vector<EmbeddedSchema>& schemas,
                                     std::vector<GrammarNote>& notes) {
  std::vector<bool> empty(schemas.size());
  for (std::size_t i = 0; i < schemas.size(); ++i) {
    empty[i] = schemas[i].language == nullptr;
  }
  const std::vector<bool> productive = productive_exprs(lowered.rules, empty);
  std::unordered_set<std::string_view> callable;
  for (const LoweredTag::Call& call : lowered.calls) {
    if (productive[call.arguments]) callable.insert(tag[call.tag].tool);
  }
  for (const LoweredTag::Call& call : lowered.calls) {
    const structural_tag::TagNode& node = tag[call.tag];
    // Each tool once.
    if (!callable.insert(node.tool).second) continue;
    const std::string what =
        "the tool " +
        base::in_quotes(std::string_view(node.tool).substr(0, 200)) +
        " cannot be called: no arguments that are valid under its schema can "
        "be written.";
    const auto requested =
        std::ranges::find(tag.requested.tools, node.tool,
                          &structural_tag::TagTree::Requested::Tool::name);
    if (requested != tag.requested.tools.end()) {
      return Error{ErrorCode::kConflict, "tools: " + what, requested->path};
    }
    notes.push_back({GrammarNote::Kind::kNarrowed, "tool", node.path, what});
  }
  return std::nullopt;
}

// The span of an error counts bytes of the string that its pointer names.
// `text` is the source of the tag, if it was read from one.
ImplResult make_tag(const parlance::StructuralTag& source,
                    std::optional<std::string_view> text,
                    const StructuralTagGrammarOptions& options,
                    recogniser::PartCache* cache, const MarkedFor* marked) {
  const structural_tag::TagTree& tag = *detail::Access::impl(source);
  const base::Cancellable compile(options.limits.cancelled,
                                  options.limits.cancelled_argument);
  LowerOptions lowering;
  LookedUp tokens;
  if (options.find_token) {
    lowering.tokens.find = [&](std::string_view spelling) {
      const std::optional<std::uint32_t> id = options.find_token(spelling);
      tokens.emplace_back(spelling, std::vector<std::uint32_t>());
      if (id) tokens.back().second.push_back(*id);
      return id;
    };
  }
  lowering.tokens.vocabulary_size = options.vocabulary_size;
  lowering.cancelled = [&] { return cancelled(options.limits); };
  lowering.cache = cache;
  Result<LoweredTag> lowered = lower_tag(tag, lowering);
  if (compile.stopped()) return cancelled_error();
  if (!lowered) return std::move(lowered).error();
  std::vector<EmbeddedSchema> schemas =
      schemas_of(lowered->rules, options.limits);
  set_pointers(schemas, tag, *lowered);
  // Calls and documents without a text are found before the whole tag is said
  // to have none.
  std::vector<GrammarNote> uncallable;
  if (!lowered->calls.empty() || !tag.requested.document.empty()) {
    std::vector<GrammarNote> unused;
    if (auto error = make_schemas(schemas, {options.limits, cache}, unused)) {
      return *std::move(error);
    }
    if (compile.stopped()) return cancelled_error();
    if (auto error = find_uncallable(tag, *lowered, schemas, uncallable)) {
      return *std::move(error);
    }
    if (auto error = find_unwritable(tag, schemas)) return *std::move(error);
  }
  ImplResult made = make_impl(std::move(lowered->rules), std::move(schemas),
                              {options.limits, cache, marked});
  if (!made) return made;
  for (GrammarNote& note : lowered->narrowed) {
    if (auto place = structural_tag::place_in_request(tag, note.path)) {
      note.path = std::move(place->path);
    }
    (*made)->notes.push_back(std::move(note));
  }
  for (GrammarNote& note : structural_tag::notes_of(tag)) {
    (*made)->notes.push_back(std::move(note));
  }
  for (GrammarNote& note : uncallable) {
    (*made)->notes.push_back(std::move(note));
  }
  (*made)->source = tag_source(source, text, options, std::move(tokens));
  return made;
}

}  // namespace

ImplResult tag_grammar(const parlance::StructuralTag& tag,
                       const StructuralTagGrammarOptions& options,
                       recogniser::PartCache* cache, const MarkedFor* marked) {
  ImplResult made = make_tag(tag, std::nullopt, options, cache, marked);
  if (made) return made;
  Error error = structural_tag::in_request(*detail::Access::impl(tag),
                                           std::move(made).error());
  error.span = std::nullopt;  // there is no text to count in
  return error;
}

ImplResult tag_grammar(std::string_view text,
                       const StructuralTagGrammarOptions& options,
                       recogniser::PartCache* cache, const MarkedFor* marked) {
  Result<parlance::StructuralTag> tag =
      parlance::StructuralTag::from_json(text);
  if (!tag) return std::move(tag).error();
  ImplResult made = make_tag(*tag, text, options, cache, marked);
  if (!made) return json::place_error(std::move(made).error(), text);
  return made;
}

namespace {

// The language of `rules`, or null if no text fits them.
Result<std::shared_ptr<recogniser::Language>> make_language(
    const Rules& rules,
    std::vector<std::shared_ptr<recogniser::Language>> schemas,
    std::shared_ptr<const rules::Marks> marks, const GrammarLimits& limits) {
  auto impl = std::make_shared<cfg_recogniser::CfgRecogniser>(
      rules, std::move(schemas),
      cfg_recogniser::CfgRecogniserLimits{.bytes = limits.bytes},
      std::move(marks));
  if (auto error = check_start(*impl, "format")) {
    if (error->code != ErrorCode::kUnsatisfiable) return *std::move(error);
    return std::shared_ptr<recogniser::Language>();
  }
  return std::make_shared<recogniser::Language>(std::move(impl));
}

}  // namespace

Result<EmbeddedLanguage> make_embedded(const structural_tag::TagTree& tag,
                                       structural_tag::TagNodeId id,
                                       const LoweredTag& lowered,
                                       recogniser::PartCache* cache,
                                       const GrammarLimits& limits) {
  const Rules& rules = lowered.rules;
  std::vector<GrammarNote> notes;
  std::vector<EmbeddedSchema> schemas = schemas_of(rules, limits);
  set_pointers(schemas, tag, lowered);
  if (auto error = make_schemas(schemas, {limits, cache}, notes)) {
    return *std::move(error);
  }
  EmbeddedLanguage out;
  if (rules.exprs[rules.rules[rules.root].body].kind ==
      rules::ExprKind::kSchema) {
    out.language = schemas.front().language;
    return out;
  }
  auto impl = make_language(rules, languages_of(schemas), nullptr, limits);
  if (!impl) {
    Error error = std::move(impl).error();
    error.path = tag[id].path;
    return error;
  }
  out.language = *std::move(impl);
  if (rules::has_markers(rules) || !rules.free_texts.empty()) {
    out.schemas = languages_of(schemas);
    out.rules = std::make_shared<const Rules>(rules);
  }
  out.reads_tokens = !rules.token_sets.empty() || !rules.token_texts.empty() ||
                     std::any_of(rules.rules.begin(), rules.rules.end(),
                                 [](const rules::Rule& rule) {
                                   return rule.options.max_tokens.has_value();
                                 });
  return out;
}

Result<EmbeddedLanguage> embedded_with_marks(
    const EmbeddedLanguage& embedded, std::shared_ptr<const rules::Marks> marks,
    const GrammarLimits& limits) {
  auto impl = make_language(*embedded.rules, embedded.schemas, std::move(marks),
                            limits);
  if (!impl) return std::move(impl).error();
  EmbeddedLanguage out = embedded;
  out.language = *std::move(impl);
  return out;
}

}  // namespace grammar

Result<Grammar> Grammar::from_structural_tag(
    const StructuralTag& tag, const StructuralTagGrammarOptions& options) {
  auto made = grammar::tag_grammar(tag, options, nullptr);
  if (!made) return std::move(made).error();
  return Grammar(std::move(*made));
}

Result<Grammar> Grammar::from_structural_tag(
    std::string_view text, const StructuralTagGrammarOptions& options) {
  auto made = grammar::tag_grammar(text, options, nullptr);
  if (!made) return std::move(made).error();
  return Grammar(std::move(*made));
}

}  // namespace parlance
