// Builds recognisers: first one for each embedded schema, from the cache if it
// has an equal schema, then one for the rules that contain them.

#include "grammar/compile.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/cancellable.h"
#include "cfg_recogniser/cfg_recogniser.h"
#include "regex/pattern.h"
#include "rules/nesting.h"
#include "rules/schema_options.h"
#include "schema/close.h"
#include "schema/document.h"
#include "schema_solver/excludes.h"

namespace parlance::grammar {

using json_recogniser::JsonRecogniser;

using rules::Rules;

using recogniser::Language;
using recogniser::PartCache;
using recogniser::Recogniser;
namespace {

// Estimated bytes of the parts that do not grow after compilation: the loaded
// document and its conjunctions.  Measured on tool schemas: 24 to 32 KiB for
// 2 KiB of JSON.
std::size_t document_bytes(const json::Value& schema) {
  return sizeof(JsonRecogniser) + (std::size_t{12} << 10) +
         6 * schema.memory_bytes();
}

// Rewrites a pointer into an embedded schema as a pointer into the enclosing
// source.
void locate(const EmbeddedSchema& embedded, std::string& path,
            std::string& message) {
  if (embedded.path.empty()) return;
  if (!embedded.in_place && !path.empty()) {
    message = "In the schema that is made here, at " + path + ": " + message;
  }
  path = embedded.in_place ? embedded.path + path : embedded.path;
}

// Finds schemas with the notes of another one: the same language for the same
// value, such as the parameters of a tool whose calls have several spellings.
class NotedSchemas {
 public:
  // Whether this is the first one.  What is made of the strings of arguments
  // has none: the arguments have notes of their own.
  bool add(const EmbeddedSchema& embedded) {
    if (!embedded.in_place && embedded.options.spelling == JsonSpelling::kRaw) {
      return false;
    }
    return embedded.path.empty() ||
           seen_.emplace(embedded.path, embedded.language.get()).second;
  }

 private:
  std::set<std::pair<std::string_view, const Language*>> seen_;
};

// REQUIRES: the language is of a schema.
std::vector<GrammarNote> notes_of(Language& language) {
  const std::shared_ptr<Recogniser> tables = language.with_room();
  return static_cast<const JsonRecogniser&>(*tables).notes();
}

}  // namespace

Error cancelled_error() {
  return Error{ErrorCode::kTooLarge, "The compile was cancelled."};
}

// --- Schemas -----------------------------------------------------------------

namespace {

// The schemas of a tag's arguments have the same excludes.
schema_solver::SharedPattern pattern_of(
    const std::vector<std::string>& excludes, bool raw, PartCache* cache) {
  if (cache == nullptr) return schema_solver::excluded_strings(excludes, raw);
  recogniser::KeyWriter writer('p');
  writer.number(raw ? 1 : 0);
  for (const std::string& text : excludes) writer.text(text);
  std::string key = writer.take();
  std::shared_ptr<const void> found =
      cache->find(recogniser::EntryKind::kPart, key);
  if (found == nullptr) {
    const auto made = schema_solver::excluded_strings(excludes, raw);
    if (made == nullptr) return nullptr;
    const std::size_t bytes =
        sizeof(*made) +
        made->hir.nodes.capacity() * (sizeof(made->hir.nodes[0]) + 32);
    found =
        cache->add(recogniser::EntryKind::kPart, std::move(key), {made, bytes});
  }
  return std::static_pointer_cast<const regex::Pattern>(found);
}

}  // namespace

Result<std::shared_ptr<Language>> make_schema(const json::Value& schema,
                                              const JsonSchemaOptions& options,
                                              PartCache* cache) {
  std::string key;
  if (cache != nullptr) {
    key = recogniser::KeyWriter('s').options(options).value(schema).take();
    if (const auto found = cache->find(recogniser::EntryKind::kPart, key)) {
      return std::const_pointer_cast<Language>(
          std::static_pointer_cast<const Language>(found));
    }
  }
  schema::LoadOptions load;
  if (options.draft) load.draft = static_cast<schema::Draft>(*options.draft);
  load.assert_formats = options.assert_formats;
  for (const auto& [url, document] : options.documents) {
    load.documents.emplace_back(url, document);
  }
  Result<schema::Document> document = schema::load(schema, load);
  if (!document) return std::move(document).error();
  if (options.closed) schema::close(*document);
  if (!options.excludes.empty() && schema_solver::may_have_strings(*document)) {
    schema_solver::exclude_strings(
        *document, pattern_of(options.excludes,
                              options.spelling == JsonSpelling::kRaw, cache));
  }
  Result<std::unique_ptr<JsonRecogniser>> made =
      JsonRecogniser::create(std::move(*document), options);
  if (!made) return std::move(made).error();
  auto impl = std::make_shared<Language>(std::move(*made));
  if (cache == nullptr) return impl;
  std::size_t bytes = document_bytes(schema);
  for (const auto& [url, value] : options.documents) {
    bytes += document_bytes(value);
  }
  const auto stays = cache->add(recogniser::EntryKind::kPart, std::move(key),
                                {impl, bytes, {impl}});
  return std::const_pointer_cast<Language>(
      std::static_pointer_cast<const Language>(stays));
}

std::vector<EmbeddedSchema> schemas_of(
    const Rules& rules, const GrammarLimits& limits,
    const std::vector<EmbeddedSchema>& given) {
  std::vector<EmbeddedSchema> schemas;
  schemas.reserve(rules.schemas.size());
  for (const rules::SchemaExpr& expr : rules.schemas) {
    if (expr.options.kind() == json::Kind::kInt) {
      schemas.push_back(given[static_cast<std::size_t>(expr.options.as_int())]);
      continue;
    }
    // The readers of grammars have checked the options.
    EmbeddedSchema embedded{std::make_shared<const json::Value>(expr.schema),
                            *rules::read_schema_options(expr.options),
                            expr.span};
    embedded.options.limits = limits;
    schemas.push_back(std::move(embedded));
  }
  return schemas;
}

std::optional<Error> make_schemas(std::vector<EmbeddedSchema>& schemas,
                                  const CompileOptions& options,
                                  std::vector<GrammarNote>& notes) {
  // Without a cache, a local one still makes equal schemas share a recogniser.
  PartCache of_this_grammar(~std::size_t{0});
  PartCache* cache =
      options.cache != nullptr ? options.cache : &of_this_grammar;
  const GrammarLimits& limits = options.limits;
  NotedSchemas noted;
  for (EmbeddedSchema& embedded : schemas) {
    if (cancelled(limits)) return cancelled_error();
    if (embedded.language == nullptr) {
      // Use this compile's cancellation callback.  The one in
      // `embedded.options` may belong to a caller that has returned.
      JsonSchemaOptions given = embedded.options;
      given.limits.cancelled = limits.cancelled;
      given.limits.cancelled_argument = limits.cancelled_argument;
      embedded.options.limits.cancelled = nullptr;
      embedded.options.limits.cancelled_argument = nullptr;
      Result<std::shared_ptr<Language>> made =
          make_schema(*embedded.schema, given, cache);
      if (!made && made.error().code == ErrorCode::kUnsatisfiable) continue;
      if (!made) {
        Error error = std::move(made).error();
        if (embedded.span) error.span = embedded.span;
        locate(embedded, error.path, error.message);
        if (!embedded.subject.empty()) {
          error.message = embedded.subject + ": " + error.message;
        }
        return error;
      }
      embedded.language = std::move(*made);
    }
    if (!noted.add(embedded)) continue;
    for (GrammarNote note : notes_of(*embedded.language)) {
      locate(embedded, note.path, note.message);
      notes.push_back(std::move(note));
    }
  }
  return std::nullopt;
}

std::vector<GrammarNote> compile_notes(const GrammarImpl& impl) {
  return impl.rules != nullptr ? impl.notes
                               : notes_of(*impl.schemas.front().language);
}

void survey_schemas(const std::vector<EmbeddedSchema>& schemas,
                    std::vector<GrammarNote>& notes) {
  NotedSchemas noted;
  for (const EmbeddedSchema& embedded : schemas) {
    if (embedded.language == nullptr || !noted.add(embedded)) continue;
    const std::shared_ptr<Recogniser> used = embedded.language->with_room();
    if (used->broken()) continue;
    const Recogniser::Lock lock(*used);
    for (GrammarNote note : static_cast<JsonRecogniser&>(*used).survey()) {
      locate(embedded, note.path, note.message);
      notes.push_back(std::move(note));
    }
  }
}

// --- Grammars ----------------------------------------------------------------

std::vector<std::shared_ptr<Language>> languages_of(
    const std::vector<EmbeddedSchema>& schemas) {
  std::vector<std::shared_ptr<Language>> out;
  out.reserve(schemas.size());
  for (const EmbeddedSchema& embedded : schemas) {
    out.push_back(embedded.language);
  }
  return out;
}

// A recogniser whose start leaves no room could not read a text at all: other
// tables would be full at once, too.
std::optional<Error> check_start(cfg_recogniser::CfgRecogniser& impl,
                                 std::string_view what) {
  if (impl.too_large()) {
    return Error{ErrorCode::kTooLarge,
                 "At the beginning of the " + std::string(what) +
                     " there are more than 100,000 alternatives, or rules "
                     "that are lazy or have a budget begin with one another "
                     "more than 64 deep."};
  }
  if (impl.used_up()) {
    return Error{ErrorCode::kTooLarge,
                 "The beginning of the " + std::string(what) +
                     " needs more than GrammarLimits::bytes, which is " +
                     std::to_string(impl.limits().bytes) + "."};
  }
  if (!impl.start().dead()) return std::nullopt;
  if (impl.has_prefix()) {
    return Error{
        ErrorCode::kUnsatisfiable,
        "No text of the " + std::string(what) + " begins with its prefix."};
  }
  return Error{ErrorCode::kUnsatisfiable,
               "No text fits the " + std::string(what) + "."};
}

Result<std::shared_ptr<GrammarImpl>> make_impl(
    Rules rules, std::vector<EmbeddedSchema> schemas,
    const CompileOptions& options) {
  const base::Cancellable compile(options.limits.cancelled,
                                  options.limits.cancelled_argument);
  auto impl = std::make_shared<GrammarImpl>();
  if (auto error = make_schemas(schemas, options, impl->notes)) {
    return *std::move(error);
  }
  if (cancelled(options.limits)) return cancelled_error();
  if (options.marked != nullptr) {
    Result<std::shared_ptr<const rules::Marks>> marks =
        rules::marks_of(rules, *options.marked);
    if (!marks) return std::move(marks).error();
    impl->marks = *std::move(marks);
  }
  if (const auto deep =
          rules::find_deep_nesting(rules, cfg_recogniser::kMaxActivations)) {
    return Error{ErrorCode::kTooLarge,
                 "In rule \"" + rules.rules[*deep].name + "\" more than " +
                     std::to_string(cfg_recogniser::kMaxActivations) +
                     " rules that are lazy or have a budget, a suffix or a "
                     "stop are nested; leave some of these options out."};
  }
  for (const rules::RuleId id : rules::find_nesting(rules)) {
    const rules::RuleOptions& with = rules.rules[id].options;
    impl->notes.push_back(
        {GrammarNote::Kind::kNarrowed,
         with.max_chars                  ? "max_chars"
         : with.max_tokens               ? "max_tokens"
         : with.marker == rules::kNoExpr ? "lazy"
         : with.hide_marker              ? "stop"
                                         : "suffix",
         "",
         "Rule \"" + rules.rules[id].name +
             "\" can stand inside itself: texts in which more than " +
             std::to_string(cfg_recogniser::kMaxActivations) +
             " such rules are open at once are refused."});
  }
  impl->limits = {.bytes = options.limits.bytes};
  impl->work = options.limits.work;
  auto recogniser = std::make_unique<cfg_recogniser::CfgRecogniser>(
      rules, languages_of(schemas), impl->limits, impl->marks);
  if (cancelled(options.limits)) return cancelled_error();
  auto error = check_start(*recogniser, "grammar");
  if (compile.stopped()) return cancelled_error();
  if (error && error->code == ErrorCode::kUnsatisfiable && impl->marks &&
      recogniser->has_prefix()) {
    error->message +=
        " Markers are tokens here, so half the spelling of one is text.";
  }
  if (error) return *std::move(error);
  impl->language = std::make_shared<Language>(std::move(recogniser));
  impl->rules = std::make_shared<const Rules>(std::move(rules));
  impl->schemas = std::move(schemas);
  return impl;
}

PartCache::CacheEntry cache_entry(const std::shared_ptr<GrammarImpl>& impl) {
  PartCache::CacheEntry out{.value = impl, .bytes = sizeof(GrammarImpl)};
  if (impl->rules != nullptr) out.bytes += rules::memory_bytes(*impl->rules);
  if (impl->source != nullptr) out.bytes += impl->source->bytes;
  for (const EmbeddedSchema& embedded : impl->schemas) {
    out.bytes += sizeof(EmbeddedSchema) + embedded.path.capacity() +
                 embedded.subject.capacity() + sizeof(json::Value);
    if (impl->rules == nullptr) out.bytes += document_bytes(*embedded.schema);
  }
  for (const GrammarNote& note : impl->notes) {
    out.bytes += sizeof(note) + note.path.capacity() + note.message.capacity();
  }
  out.languages = languages_of(impl->schemas);
  out.languages.push_back(impl->language);
  std::ranges::sort(out.languages);
  out.languages.erase(std::unique(out.languages.begin(), out.languages.end()),
                      out.languages.end());
  std::erase(out.languages, nullptr);
  return out;
}

}  // namespace parlance::grammar
