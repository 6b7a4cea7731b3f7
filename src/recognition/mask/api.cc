// The public classes Compiler, Constraint and Matcher, which forward to
// CompilerImpl, ConstraintImpl and MatcherImpl.

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/access.h"
#include "cfg_recogniser/cfg_recogniser.h"
#include "grammar/capture_reader.h"
#include "grammar/compile.h"
#include "grammar/grammar_cache.h"
#include "grammar/grammar_impl.h"
#include "grammar/source.h"
#include "mask/api_state.h"
#include "mask/batch.h"
#include "mask/compiler_impl.h"
#include "mask/constraint_impl.h"
#include "mask/draft_tree.h"
#include "mask/matcher_impl.h"
#include "parlance/constraint.h"
#include "parlance/json.h"
#include "rules/marks.h"
#include "rules/stop_tokens.h"
#include "vocab/saved_tables.h"
#include "vocab/token_tables.h"
#include "vocab/vocabulary_impl.h"

namespace parlance {

// --- What constraints are compiled from --------------------------------------

namespace {

// ORDER: Markers
constexpr std::string_view kMarkers[] = {"token", "either", "text"};

json::Value identity_of(const Vocabulary& vocabulary) {
  const vocab::Table& tokens = vocab::table_of(vocabulary);
  return json::Value(std::to_string(tokens.fingerprint()) + ' ' +
                     std::to_string(tokens.size()));
}

}  // namespace

std::string Constraint::to_bytes() const {
  json::Object content{
      {"source", state_->source->write()},
      {"markers", kMarkers[static_cast<std::size_t>(state_->markers)]},
      {"marked", state_->marked}};
  content.set("vocabulary", identity_of(state_->impl->compiler().vocabulary()));
  return grammar::make_document("constraint", std::move(content));
}

// --- Compiler ----------------------------------------------------------------

Compiler::Compiler(std::shared_ptr<State> state) : state_(std::move(state)) {}

Result<Compiler> Compiler::create(const Vocabulary& vocabulary,
                                  const CompilerOptions& options) {
  Result<vocab::TokenTables> tables = vocab::tables_of(vocabulary);
  if (!tables) return std::move(tables).error();
  const bool given = options.stop_ids.has_value();
  const std::span<const TokenId> stop_ids =
      given ? std::span<const TokenId>(*options.stop_ids)
            : vocabulary.stop_ids();
  auto impl = std::make_shared<mask::CompilerImpl>(
      vocabulary, *std::move(tables), options.cache_bytes, stop_ids);
  return Compiler(std::make_shared<State>(
      State{std::move(impl), GrammarCache(options.grammar_bytes),
            given || vocabulary.has_stop_ids()}));
}

namespace {

// The language of a grammar whose markers are tokens of one vocabulary.  It is
// cached as user data of the language of the same grammar whose markers are
// text.
struct Marked final : recogniser::UserData {
  // Null: no marker contains a mark.
  std::shared_ptr<recogniser::Language> language;
  std::shared_ptr<const rules::Marks> marks;
  std::shared_ptr<grammar::CaptureReaders> captures;  // null: nothing captured

  // If another thread uses the language, returns the size that the last call
  // measured, instead of waiting.
  std::size_t memory_bytes() const override {
    if (language != nullptr) {
      seen_ = language->try_memory_bytes().value_or(seen_);
    }
    return sizeof(Marked) + seen_;
  }

 private:
  mutable std::size_t seen_ = 0;
};

Result<std::shared_ptr<Marked>> make_marked(const grammar::GrammarImpl& machine,
                                            const Vocabulary& vocabulary,
                                            Markers markers) {
  auto out = std::make_shared<Marked>();
  Result<std::shared_ptr<const rules::Marks>> marks =
      rules::marks_of(*machine.rules, {vocabulary, markers});
  if (!marks) return std::move(marks).error();
  if (*marks == nullptr) return out;
  auto recogniser = std::make_shared<cfg_recogniser::CfgRecogniser>(
      *machine.rules, grammar::languages_of(machine.schemas), machine.limits,
      *marks);
  if (auto error = grammar::check_start(*recogniser, "grammar")) {
    return *std::move(error);
  }
  out->language = std::make_shared<recogniser::Language>(std::move(recogniser));
  out->marks = *std::move(marks);
  if (grammar::has_captures(*machine.rules)) {
    out->captures = std::make_shared<grammar::CaptureReaders>(
        grammar::CaptureSource{machine.rules, machine.schemas, out->marks});
  }
  return out;
}

// A trigger, or the end of a tag, that can never come: rules/stop_tokens.h.
std::optional<Error> check_stops(const grammar::GrammarImpl& machine,
                                 const mask::CompilerImpl& compiler,
                                 Markers markers) {
  if (machine.rules == nullptr || compiler.stops()->ids().empty()) {
    return std::nullopt;
  }
  const auto is_stop = [&](TokenId id) {
    return compiler.stops()->contains(id);
  };
  const auto ends_with_stop =
      [&](const std::string& trigger) -> std::optional<TokenId> {
    for (const TokenId id : compiler.stops()->ids()) {
      const std::string_view spelling = compiler.vocabulary().spelling(id);
      if (markers == Markers::kToken && !spelling.empty() &&
          compiler.vocabulary().kind(id) != TokenKind::kOrdinary &&
          trigger.ends_with(spelling)) {
        return id;
      }
    }
    return std::nullopt;
  };
  return rules::check_stop_tokens(*machine.rules, is_stop, ends_with_stop);
}

}  // namespace

// Chooses the language of the constraint.  In this order:
//
// 1. A grammar that was compiled with marks has one language, which reads them.
// 2. If markers are text by option, or if the grammar has no markers, the
//    grammar's own language reads bytes only.
// 3. Otherwise the markers become tokens.  Their language is built once per
//    compiler and value of `markers`, under the lock of the grammar's own
//    language, and cached there.
Result<Constraint> Compiler::compile(const Grammar& grammar,
                                     const ConstraintOptions& options) const {
  if (!state_->knows_stops) {
    return Error{ErrorCode::kMissingStopIds,
                 "The vocabulary does not say which tokens end a text. Take "
                 "them from generation_config.json (eos_token_id), from "
                 "tokenizer_config.json (eos_token) or from the tokenizer "
                 "object, or give stop_ids; an empty list means that a text "
                 "ends where nothing may follow."};
  }
  const std::shared_ptr<grammar::GrammarImpl>& machine =
      detail::Access::impl(grammar);
  if (auto error = check_stops(*machine, *state_->impl, options.markers)) {
    return *std::move(error);
  }
  const auto constrain = [&](std::shared_ptr<recogniser::Language> language,
                             std::shared_ptr<const rules::Marks> marks,
                             std::shared_ptr<grammar::CaptureReaders> readers) {
    auto impl = std::make_shared<mask::ConstraintImpl>(
        state_->impl, std::move(language), std::move(marks));
    impl->set_captures(std::move(readers));
    impl->set_work_limit(machine->work);
    return Constraint(std::make_shared<Constraint::State>(
        Constraint::State{std::move(impl), machine->source, options.markers,
                          machine->marks != nullptr}));
  };
  const std::shared_ptr<recogniser::Language>& text = machine->language;
  const auto on_its_own = [&] {
    return constrain(text, machine->marks,
                     grammar::capture_readers_of(*machine));
  };
  if (machine->marks != nullptr || options.markers == Markers::kText ||
      machine->rules == nullptr || !rules::has_markers(*machine->rules)) {
    return on_its_own();
  }
  const std::uint64_t owner =
      state_->marked_owners[options.markers == Markers::kEither];
  std::shared_ptr<Marked> marked;
  {
    const std::lock_guard lock(text->mutex);
    marked = std::static_pointer_cast<Marked>(text->user_data(owner));
    if (marked == nullptr) {
      Result<std::shared_ptr<Marked>> made =
          make_marked(*machine, vocabulary(), options.markers);
      if (!made) return std::move(made).error();
      marked = *std::move(made);
      text->set_user_data(owner, marked);
    }
  }
  if (marked->language == nullptr) return on_its_own();
  return constrain(marked->language, marked->marks, marked->captures);
}

Result<Constraint> Compiler::compile_made(
    Result<Grammar> grammar, const ConstraintOptions& options) const {
  if (!grammar) return std::move(grammar).error();
  return compile(*grammar, options);
}

namespace {

// The options, which look tokens up in `vocabulary` unless they say where.
template <class Options>
Options looking_up(Options options, const Vocabulary& vocabulary) {
  if (!options.tokens_spelled) {
    options.tokens_spelled = [&vocabulary](std::string_view spelling) {
      return vocabulary.find(spelling);
    };
  }
  return options;
}

}  // namespace

Result<Constraint> Compiler::compile_json_schema(
    std::string_view schema, const JsonSchemaOptions& options) const {
  return compile_made(state_->grammars.from_json_schema(schema, options));
}

Result<Constraint> Compiler::compile_ebnf(std::string_view text,
                                          const EbnfOptions& options) const {
  return compile_made(state_->grammars.from_ebnf(text, options));
}

Result<Constraint> Compiler::compile_regex(std::string_view pattern,
                                           const GrammarLimits& limits) const {
  return compile_made(state_->grammars.from_regex(pattern, limits));
}

Result<Constraint> Compiler::compile_gbnf(std::string_view text,
                                          const GbnfOptions& options) const {
  return compile_made(
      state_->grammars.from_gbnf(text, looking_up(options, vocabulary())));
}

Result<Constraint> Compiler::compile_lark(
    std::string_view text, const LarkGrammarOptions& options) const {
  return compile_made(
      state_->grammars.from_lark(text, looking_up(options, vocabulary())));
}

namespace {

StructuralTagGrammarOptions tag_options(const Vocabulary& vocabulary,
                                        const GrammarLimits& limits) {
  StructuralTagGrammarOptions options;
  options.vocabulary_size = static_cast<std::uint32_t>(vocabulary.size());
  options.limits = limits;
  options.find_token = [&vocabulary](std::string_view text) {
    return vocabulary.find_first(text);
  };
  return options;
}

}  // namespace

Result<Constraint> Compiler::compile_structural_tag(
    std::string_view text, const GrammarLimits& limits,
    const ConstraintOptions& constraint) const {
  return compile_made(
      grammar::marked_structural_tag(state_->grammars, text,
                                     tag_options(vocabulary(), limits),
                                     {vocabulary(), constraint.markers}),
      constraint);
}

Result<Constraint> Compiler::compile_structural_tag(
    const StructuralTag& tag, const GrammarLimits& limits,
    const ConstraintOptions& constraint) const {
  return compile_made(
      grammar::marked_structural_tag(state_->grammars, tag,
                                     tag_options(vocabulary(), limits),
                                     {vocabulary(), constraint.markers}),
      constraint);
}

// A grammar that was compiled with marks is compiled so again.
Result<Constraint> Compiler::constraint_from_bytes(
    std::string_view bytes, const GrammarLimits& limits) const {
  Result<json::Value> document = grammar::open_document("constraint", bytes);
  if (!document) return std::move(document).error();
  const auto member = [&](std::string_view key) {
    const json::Value* found = document->find(key);
    return found == nullptr ? json::Value() : *found;
  };
  if (!(member("vocabulary") == identity_of(vocabulary()))) {
    return Error{ErrorCode::kBadVocabulary,
                 "The constraint was compiled for another vocabulary."};
  }
  const json::Value source = member("source");
  ConstraintOptions options;
  for (std::size_t i = 0; i < std::size(kMarkers); ++i) {
    if (member("markers").as_string() == kMarkers[i]) {
      options.markers = static_cast<Markers>(i);
    }
  }
  if (!member("marked").as_bool()) {
    return compile_made(grammar::read_source(source, limits), options);
  }
  const Result<GrammarLimits> own = grammar::read_limits(source, limits);
  if (!own) return own.error();
  const json::Value* text = source.find("text");
  return compile_structural_tag(
      text == nullptr ? std::string_view() : text->as_string(), *own, options);
}

std::size_t Compiler::mask_words() const { return state_->impl->mask_words(); }

const Vocabulary& Compiler::vocabulary() const {
  return state_->impl->vocabulary();
}

CacheStatistics Compiler::cache_statistics() const {
  mask::CompilerImpl& impl = *state_->impl;
  return {.bytes = impl.cache_bytes(),
          .entries = impl.store().entries(),
          .hits = impl.hits(),
          .misses = impl.misses(),
          .evictions = impl.store().evictions(),
          .tables_bytes = impl.tables_bytes()};
}

const GrammarCache& Compiler::grammar_cache() const { return state_->grammars; }

void Compiler::clear_cache() const {
  state_->grammars.clear();
  state_->impl->clear();
}

// --- Constraint --------------------------------------------------------------

Constraint::Constraint(std::shared_ptr<State> state)
    : state_(std::move(state)) {}

Matcher Constraint::matcher(const MatcherOptions& options) const {
  std::shared_ptr<const mask::StopSet> stops;
  if (options.stop_ids) {
    const mask::CompilerImpl& impl = state_->impl->compiler();
    stops = std::make_shared<const mask::StopSet>(
        impl.vocabulary(), *options.stop_ids, impl.stops()->ids());
  }
  mask::MatcherImpl impl(state_->impl, std::move(stops));
  impl.set_default_temperature(options.default_temperature);
  return Matcher(
      std::make_unique<Matcher::State>(Matcher::State{std::move(impl)}));
}

std::size_t Constraint::mask_words() const {
  return state_->impl->compiler().mask_words();
}

Result<Grammar> Constraint::grammar(const GrammarLimits& limits) const {
  return grammar::read_source(state_->source->write(), limits);
}

const Vocabulary& Constraint::vocabulary() const {
  return state_->impl->compiler().vocabulary();
}

std::size_t Constraint::memory_bytes() const {
  return state_->impl->memory_bytes();
}

// --- Matcher -----------------------------------------------------------------

Matcher::Matcher(std::unique_ptr<State> state) : state_(std::move(state)) {}
Matcher::~Matcher() = default;
Matcher::Matcher(Matcher&&) noexcept = default;
Matcher& Matcher::operator=(Matcher&&) noexcept = default;

Matcher Matcher::copy() const {
  return Matcher(std::make_unique<State>(*state_));
}

MaskFill Matcher::fill_bitmask(std::span<std::int32_t> row) {
  if (row.size() < mask_words()) return MaskFill::kRowTooShort;
  return state_->impl.fill_bitmask(row) ? MaskFill::kConstrains
                                        : MaskFill::kExcludesNothing;
}

bool Matcher::accept_token(TokenId id) { return state_->impl.accept_token(id); }

std::size_t Matcher::accept_tokens(std::span<const TokenId> ids) {
  return state_->impl.accept_tokens(ids);
}

bool Matcher::accept_bytes(std::string_view bytes) {
  return state_->impl.accept_bytes(bytes);
}

const std::optional<Error>& Matcher::error() const {
  return state_->impl.error();
}

bool Matcher::rollback(std::size_t steps) {
  return state_->impl.rollback(steps);
}

std::size_t Matcher::mask_words() const {
  return state_->impl.constraint().compiler().mask_words();
}

std::span<const TokenId> Matcher::stop_ids() const {
  return state_->impl.stops().ids();
}

std::size_t Matcher::steps() const { return state_->impl.steps(); }

void Matcher::reset() { state_->impl.reset(); }

bool Matcher::is_terminated() const { return state_->impl.is_terminated(); }

std::optional<double> Matcher::temperature() {
  return state_->impl.temperature();
}

Result<std::vector<RuleCapture>> Matcher::captures(const Interrupt& interrupt) {
  return state_->impl.captures(interrupt);
}

bool Matcher::can_end() const { return state_->impl.can_end(); }

std::string Matcher::forced_bytes(std::size_t limit) {
  return state_->impl.forced_bytes(limit);
}

std::vector<TokenId> Matcher::forced_tokens() {
  return state_->impl.forced_tokens();
}

bool Matcher::fill_tree(std::span<const std::int64_t> first_child,
                        std::span<const std::int64_t> next_sibling,
                        std::span<const std::int64_t> tokens,
                        std::span<std::int32_t> buffer) {
  return fill_tree(first_child, next_sibling, tokens, buffer, TreeOptions()) !=
         0;
}

std::size_t Matcher::fill_tree(std::span<const std::int64_t> first_child,
                               std::span<const std::int64_t> next_sibling,
                               std::span<const std::int64_t> tokens,
                               std::span<std::int32_t> buffer,
                               const TreeOptions& options) {
  return state_->impl.fill_tree(first_child, next_sibling, tokens, buffer,
                                options.stride, options.time_limit,
                                options.temperatures, options.clear_ended);
}

// --- Draft trees -------------------------------------------------------------

namespace {

Error usage(std::string message) {
  return Error{.code = ErrorCode::kUsage, .message = std::move(message)};
}

}  // namespace

std::optional<Error> check_draft_tree(
    std::span<const std::int64_t> first_child,
    std::span<const std::int64_t> next_sibling,
    std::span<const std::int64_t> tokens) {
  return mask::check_draft_tree(first_child, next_sibling, tokens);
}

// --- Batches -----------------------------------------------------------------

std::optional<Error> fill_bitmasks(std::span<Matcher* const> matchers,
                                   std::span<std::int32_t> buffer,
                                   std::size_t stride, unsigned threads) {
  std::vector<std::size_t> rows(matchers.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return fill_bitmasks(matchers, rows, buffer, stride, threads);
}

std::optional<Error> fill_bitmasks(std::span<Matcher* const> matchers,
                                   std::span<const std::size_t> rows,
                                   std::span<std::int32_t> buffer,
                                   std::size_t stride, unsigned threads) {
  if (rows.size() != matchers.size()) {
    return usage("There are " + std::to_string(matchers.size()) +
                 " matchers and " + std::to_string(rows.size()) +
                 " rows; each matcher has one.");
  }
  const std::size_t count = stride == 0 ? 0 : buffer.size() / stride;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (matchers[i]->mask_words() > stride) {
      return usage("The mask of matcher " + std::to_string(i) + " has " +
                   std::to_string(matchers[i]->mask_words()) +
                   " words, and the stride is " + std::to_string(stride) + ".");
    }
    if (rows[i] >= count) {
      return usage("The mask of matcher " + std::to_string(i) + " is row " +
                   std::to_string(rows[i]) + ", and the buffer has " +
                   std::to_string(count) + " rows.");
    }
  }
  std::vector<std::size_t> sorted(rows.begin(), rows.end());
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted);
      twice != sorted.end()) {
    return usage("Row " + std::to_string(*twice) + " is given twice.");
  }
  std::vector<Matcher*> distinct(matchers.begin(), matchers.end());
  std::ranges::sort(distinct, std::less<>());
  if (std::ranges::adjacent_find(distinct) != distinct.end()) {
    return usage("A matcher is listed twice; a text has one next token.");
  }
  std::vector<mask::MatcherImpl*> impls(matchers.size());
  for (std::size_t i = 0; i < matchers.size(); ++i) {
    impls[i] = &matchers[i]->state_->impl;
  }
  mask::fill_batch(impls, rows, buffer, stride, threads);
  return std::nullopt;
}

}  // namespace parlance
