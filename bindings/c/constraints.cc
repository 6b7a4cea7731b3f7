// Compilers, constraints, matchers, and masks by number.

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>
#include <vector>

#include "calls.h"
#include "grammar_requests.h"
#include "parlance/constraint.h"
#include "requests.h"

namespace parlance::c {

namespace {

json::Value statistics_of(const Compiler& compiler) {
  const CacheStatistics masks = compiler.cache_statistics();
  const GrammarCacheStatistics grammars = compiler.grammar_cache().statistics();
  return json::Object{
      {"masks", json::Object{{"bytes", number(masks.bytes)},
                             {"entries", number(masks.entries)},
                             {"hits", number(masks.hits)},
                             {"misses", number(masks.misses)},
                             {"evictions", number(masks.evictions)},
                             {"tables_bytes", number(masks.tables_bytes)}}},
      {"grammars",
       json::Object{{"bytes", number(grammars.bytes)},
                    {"grammars", number(grammars.grammars)},
                    {"parts", number(grammars.parts)},
                    {"grammar_hits", number(grammars.grammar_hits)},
                    {"grammar_misses", number(grammars.grammar_misses)},
                    {"part_hits", number(grammars.part_hits)},
                    {"part_misses", number(grammars.part_misses)},
                    {"evictions", number(grammars.evictions)}}}};
}

Result<Constraint> compiled(const Compiler& compiler, std::int32_t language,
                            std::string_view text, Request& asked) {
  switch (language) {
    case PARLANCE_JSON_SCHEMA:
      return compiler.compile_json_schema(text, schema_options(asked));
    case PARLANCE_EBNF:
      return compiler.compile_ebnf(text, ebnf_options(asked));
    case PARLANCE_GBNF:
      return compiler.compile_gbnf(text, gbnf_options(asked, nullptr));
    case PARLANCE_LARK:
      return compiler.compile_lark(text, lark_options(asked, nullptr));
    case PARLANCE_REGEX:
      return compiler.compile_regex(text, limits_alone(asked));
    case PARLANCE_STRUCTURAL_TAG: {
      const ConstraintOptions options{.markers = asked.markers()};
      return compiler.compile_structural_tag(text, limits_alone(asked),
                                             options);
    }
    default:
      misuse(PARLANCE_BAD_ARGUMENT, "language", "is none of its constants");
  }
}

}  // namespace

PARLANCE_C_FUNCTIONS_BEGIN

parlance_status parlance_compiler_new(const parlance_vocabulary* vocabulary,
                                      const char* request, size_t request_size,
                                      parlance_compiler** out,
                                      parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    const Vocabulary& of = the(vocabulary, "vocabulary").value;
    CompilerOptions options;
    Request asked(request, request_size);
    options.cache_bytes = asked.number("cache_bytes", options.cache_bytes);
    options.grammar_bytes =
        asked.number("grammar_bytes", options.grammar_bytes);
    options.stop_ids = asked.ids("stop_ids");
    asked.finish();
    made.set(taken(Compiler::create(of, options)));
  });
}

parlance_compiler* parlance_compiler_ref(const parlance_compiler* compiler) {
  return add_reference(compiler);
}
void parlance_compiler_free(parlance_compiler* compiler) {
  drop_reference(compiler);
}

size_t parlance_compiler_mask_words(const parlance_compiler* compiler) {
  const bool is_one = compiler != nullptr && is_of_its_kind(compiler);
  return is_one ? compiler->value.mask_words() : 0;
}

parlance_status parlance_compiler_statistics(const parlance_compiler* compiler,
                                             parlance_bytes* out,
                                             parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    told.set(statistics_of(the(compiler, "compiler").value));
  });
}

parlance_status parlance_compiler_clear_cache(
    const parlance_compiler* compiler) {
  return call(nullptr, [&] { the(compiler, "compiler").value.clear_cache(); });
}

parlance_status parlance_compile(const parlance_compiler* compiler,
                                 int32_t language, const char* text,
                                 size_t text_size, const char* request,
                                 size_t request_size, parlance_constraint** out,
                                 parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    const Compiler& by = the(compiler, "compiler").value;
    const std::string_view source = text_of(text, text_size, "text");
    Request asked(request, request_size);
    made.set(taken(compiled(by, language, source, asked)));
  });
}

parlance_status parlance_compile_tag(const parlance_compiler* compiler,
                                     const parlance_tag* tag,
                                     const char* request, size_t request_size,
                                     parlance_constraint** out,
                                     parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    const Compiler& by = the(compiler, "compiler").value;
    const StructuralTag& of = the(tag, "tag").value;
    Request asked(request, request_size);
    const ConstraintOptions options{.markers = asked.markers()};
    made.set(
        taken(by.compile_structural_tag(of, limits_alone(asked), options)));
  });
}

parlance_status parlance_compile_grammar(const parlance_compiler* compiler,
                                         const parlance_grammar* grammar,
                                         const char* request,
                                         size_t request_size,
                                         parlance_constraint** out,
                                         parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    const Compiler& by = the(compiler, "compiler").value;
    const Grammar& of = the(grammar, "grammar").value;
    Request asked(request, request_size);
    const ConstraintOptions options{.markers = asked.markers()};
    asked.finish();
    made.set(taken(by.compile(of, options)));
  });
}

parlance_status parlance_constraint_from_bytes(
    const parlance_compiler* compiler, const void* data, size_t size,
    parlance_constraint** out, parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    const Compiler& by = the(compiler, "compiler").value;
    made.set(taken(by.constraint_from_bytes(text_of(data, size, "data"))));
  });
}

parlance_status parlance_constraint_to_bytes(
    const parlance_constraint* constraint, parlance_bytes* out,
    parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    told.set(the(constraint, "constraint").value.to_bytes());
  });
}

parlance_constraint* parlance_constraint_ref(
    const parlance_constraint* constraint) {
  return add_reference(constraint);
}
void parlance_constraint_free(parlance_constraint* constraint) {
  drop_reference(constraint);
}

// --- Matchers

parlance_status parlance_matcher_new(const parlance_constraint* constraint,
                                     const parlance_matcher_options* options,
                                     parlance_matcher** out,
                                     parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    const Constraint& of = the(constraint, "constraint").value;
    static constexpr parlance_matcher_options kDefaults =
        PARLANCE_MATCHER_OPTIONS_INIT;
    const parlance_matcher_options given =
        read_options(options, kDefaults, "options");
    MatcherOptions wanted;
    if (given.has_stop_ids != 0) {
      const auto ids =
          list_of(given.stop_ids, given.stop_count, "options.stop_ids");
      wanted.stop_ids.emplace(ids.begin(), ids.end());
    }
    if (given.has_default_temperature != 0) {
      wanted.default_temperature = given.default_temperature;
    }
    made.set(of.matcher(wanted));
  });
}

parlance_status parlance_matcher_copy(const parlance_matcher* matcher,
                                      parlance_matcher** out,
                                      parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    const Use used(matcher, "matcher");
    made.set(used->value.copy());
  });
}

void parlance_matcher_free(parlance_matcher* matcher) {
  drop_reference(matcher);
}

parlance_status parlance_matcher_fill(parlance_matcher* matcher, int32_t* row,
                                      size_t words, int32_t* constrains) {
  return call(nullptr, [&] {
    Out applies(constrains, "constrains");
    const auto mask = list_of(row, words, "row");
    const Use used(matcher, "matcher");
    switch (used->value.fill_bitmask(mask)) {
      case MaskFill::kConstrains:
        applies.set(1);
        return;
      case MaskFill::kExcludesNothing:
        return;
      case MaskFill::kRowTooShort:
        misuse(PARLANCE_BAD_SIZE, "row", "has too few words for a mask");
    }
  });
}

parlance_status parlance_matcher_fill_many(parlance_matcher* const* matchers,
                                           const size_t* rows, size_t count,
                                           int32_t* buffer, size_t words,
                                           size_t stride, uint32_t threads,
                                           parlance_error** error) {
  return call(error, [&] {
    const auto handles = list_of(matchers, count, "matchers");
    const auto masks = list_of(buffer, words, "buffer");
    std::vector<Use<parlance_matcher>> used;
    std::vector<Matcher*> list;
    used.reserve(count);
    for (parlance_matcher* const one : handles) {
      used.emplace_back(one, "a matcher");
      list.push_back(&one->value);
    }
    const auto fault = rows == nullptr
                           ? fill_bitmasks(list, masks, stride, threads)
                           : fill_bitmasks(list, list_of(rows, count, "rows"),
                                           masks, stride, threads);
    if (fault) fail(*fault);
  });
}

parlance_status parlance_matcher_accept(parlance_matcher* matcher, uint32_t id,
                                        int32_t* accepted) {
  return call(nullptr, [&] {
    Out yes(accepted, "accepted");
    yes.set(Use(matcher, "matcher")->value.accept_token(id));
  });
}

parlance_status parlance_matcher_accept_tokens(parlance_matcher* matcher,
                                               const uint32_t* ids,
                                               size_t count, size_t* accepted) {
  return call(nullptr, [&] {
    Out many(accepted, "accepted");
    const auto list = list_of(ids, count, "ids");
    many.set(Use(matcher, "matcher")->value.accept_tokens(list));
  });
}

parlance_status parlance_matcher_accept_bytes(parlance_matcher* matcher,
                                              const char* bytes, size_t size,
                                              int32_t* accepted) {
  return call(nullptr, [&] {
    Out yes(accepted, "accepted");
    const std::string_view text = text_of(bytes, size, "bytes");
    yes.set(Use(matcher, "matcher")->value.accept_bytes(text));
  });
}

parlance_status parlance_matcher_rollback(parlance_matcher* matcher,
                                          size_t steps, int32_t* done) {
  return call(nullptr, [&] {
    Out yes(done, "done");
    yes.set(Use(matcher, "matcher")->value.rollback(steps));
  });
}

parlance_status parlance_matcher_reset(parlance_matcher* matcher) {
  return call(nullptr, [&] { Use(matcher, "matcher")->value.reset(); });
}

parlance_status parlance_matcher_state(const parlance_matcher* matcher,
                                       size_t* steps, uint32_t* flags) {
  return call(nullptr, [&] {
    store(steps, 0);
    store(flags, 0);
    const Use used(matcher, "matcher");
    const Matcher& of = used->value;
    store(steps, of.steps());
    std::uint32_t all = 0;
    if (of.is_terminated()) all |= PARLANCE_MATCHER_TERMINATED;
    if (of.can_end()) all |= PARLANCE_MATCHER_CAN_END;
    if (of.error()) all |= PARLANCE_MATCHER_FAILED;
    store(flags, all);
  });
}

parlance_status parlance_matcher_failure(const parlance_matcher* matcher,
                                         parlance_error** failure) {
  return call(nullptr, [&] {
    Out made(failure, "failure");
    const Use used(matcher, "matcher");
    const auto& why = used->value.error();
    if (why) made.set(status_of(why->code), *why);
  });
}

parlance_status parlance_matcher_forced_tokens(parlance_matcher* matcher,
                                               uint32_t* ids, size_t capacity,
                                               size_t* count) {
  return call(nullptr, [&] {
    Out many(count, "count");
    const auto room = list_of(ids, capacity, "ids");
    const std::vector<TokenId> forced =
        Use(matcher, "matcher")->value.forced_tokens();
    std::copy_n(forced.begin(), std::min(forced.size(), room.size()),
                room.begin());
    many.set(forced.size());
  });
}

parlance_status parlance_matcher_forced_text(parlance_matcher* matcher,
                                             size_t limit, parlance_bytes* out,
                                             parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    told.set(Use(matcher, "matcher")->value.forced_bytes(limit));
  });
}

parlance_status parlance_matcher_temperature(parlance_matcher* matcher,
                                             double* temperature) {
  return call(nullptr, [&] {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    Out told(temperature, "temperature", kNone);
    told.set(Use(matcher, "matcher")->value.temperature().value_or(kNone));
  });
}

parlance_status parlance_matcher_captures(parlance_matcher* matcher,
                                          parlance_bytes* out,
                                          parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    told.set(to_json(taken(Use(matcher, "matcher")->value.captures())));
  });
}

parlance_status parlance_matcher_fill_tree(
    parlance_matcher* matcher, const int64_t* first_child,
    const int64_t* next_sibling, const int64_t* tokens, size_t nodes,
    int32_t* rows, size_t words, size_t stride, int64_t nanoseconds,
    float* temperatures, size_t* visited, parlance_error** error) {
  return call(error, [&] {
    store(visited, 0);
    const auto children = list_of(first_child, nodes, "first_child");
    const auto siblings = list_of(next_sibling, nodes, "next_sibling");
    const auto ids = list_of(tokens, nodes, "tokens");
    const auto masks = list_of(rows, words, "rows");
    if (const auto fault = check_draft_tree(children, siblings, ids)) {
      fail(*fault);
    }
    TreeOptions options{.time_limit = std::chrono::nanoseconds(nanoseconds)};
    options.stride = stride;
    if (temperatures != nullptr) options.temperatures = {temperatures, nodes};
    const Use used(matcher, "matcher");
    const std::size_t made =
        used->value.fill_tree(children, siblings, ids, masks, options);
    if (made == 0) {
      misuse(PARLANCE_BAD_SIZE, "rows", "has too few words for the masks");
    }
    store(visited, made);
  });
}

// --- Masks by number

parlance_status parlance_table_new(const parlance_compiler* compiler,
                                   size_t max_rows, parlance_table** out,
                                   parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    const Compiler& of = the(compiler, "compiler").value;
    if (max_rows < 1 || max_rows > std::size_t{1} << 20) {
      misuse(PARLANCE_BAD_ARGUMENT, "max_rows", "is not from 1 to 2^20");
    }
    made.set(of, max_rows);
  });
}

parlance_table* parlance_table_ref(const parlance_table* table) {
  return add_reference(table);
}
void parlance_table_free(parlance_table* table) { drop_reference(table); }

parlance_status parlance_table_id_of(parlance_table* table,
                                     parlance_matcher* matcher, int32_t* id) {
  return call(nullptr, [&] {
    Out found(id, "id", std::int32_t{PARLANCE_MASK_NOT_LISTED});
    MaskTable& of = the(table, "table").value;
    const Use used(matcher, "matcher");
    found.set(of.id_of(used->value));
  });
}

parlance_status parlance_table_size(const parlance_table* table, size_t* rows,
                                    uint64_t* version) {
  return call(nullptr, [&] {
    store(rows, 0);
    store(version, 0);
    const MaskTable& of = the(table, "table").value;
    store(rows, of.size());
    store(version, of.version());
  });
}

parlance_status parlance_table_rows(const parlance_table* table, size_t begin,
                                    size_t end, const int32_t** rows,
                                    size_t* words) {
  return call(nullptr, [&] {
    Out at(rows, "rows");
    Out length(words, "words");
    const MaskTable& of = the(table, "table").value;
    length.set(of.mask_words());
    const auto found = of.rows(begin, end);
    if (!found.empty()) at.set(found.data());
  });
}

parlance_status parlance_table_clear(parlance_table* table) {
  return call(nullptr, [&] { the(table, "table").value.clear(); });
}

PARLANCE_C_FUNCTIONS_END

}  // namespace parlance::c
