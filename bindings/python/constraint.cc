// Compiler, Constraint, Matcher: which tokens a model may write next.

#include "constraint.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "docstrings.h"
#include "interruptible.h"
#include "parlance/constraint.h"
#include "parlance/limit_names.h"
#include "stepping.h"

namespace parlance::python {

namespace {

// The content of Python's Matcher objects.
struct MatcherObject : Exclusive {
  static constexpr std::string_view kWhat =
      "matcher; a matcher is for one text and one thread at a time, see "
      "Matcher.copy()";

  MatcherObject(Matcher m, nb::object c, std::size_t w)
      : matcher(std::move(m)), constraint(std::move(c)), words(w) {}

  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(constraint.ptr());
    return 0;
  }

  Matcher matcher;
  const nb::object constraint;  // that made it
  const std::size_t words;      // of one mask
};

void check_stop_ids(std::span<const TokenId> ids,
                    const Vocabulary& vocabulary) {
  for (TokenId id : ids) {
    if (id < vocabulary.size()) continue;
    raise_usage("stop_ids contains " + std::to_string(id) +
                ", and the vocabulary has only " +
                std::to_string(vocabulary.size()) + " ids");
  }
}

Compiler make_compiler(const Vocabulary& vocabulary, std::size_t cache_bytes,
                       std::size_t grammar_bytes, nb::handle stop_ids) {
  CompilerOptions options;
  options.cache_bytes = cache_bytes;
  options.grammar_bytes = grammar_bytes;
  if (!stop_ids.is_none()) {
    options.stop_ids = read_ids(stop_ids, "stop_ids");
    check_stop_ids(*options.stop_ids, vocabulary);
  }
  std::optional<Result<Compiler>> compiler;
  {
    const WithoutGil released;
    compiler.emplace(Compiler::create(vocabulary, options));
  }
  if (!*compiler) raise(Domain::kOther, compiler->error());
  return **std::move(compiler);
}

// The Python object of a constraint refers to that of its compiler: constraints
// that are pickled together are loaded with one compiler.
nb::object with_compiler(Constraint constraint, const Compiler& compiler) {
  nb::object out = nb::cast(std::move(constraint));
  out.attr("_compiler") = nb::find(compiler);
  return out;
}

nb::object compile(const Compiler& self, const Grammar& grammar,
                   nb::handle markers) {
  const ConstraintOptions options = {.markers = to_markers(markers)};
  std::optional<Result<Constraint>> constraint;
  {
    const WithoutGil released;
    constraint.emplace(self.compile(grammar, options));
  }
  if (!*constraint) raise(Domain::kOther, constraint->error());
  return with_compiler(**std::move(constraint), self);
}

nb::object constraint_from_bytes(const Compiler& self, nb::handle data,
                                 nb::dict limits, nb::object cancelled) {
  const std::string_view bytes = bytes_of(data, "data");
  Budget budget(std::move(limits), std::move(cancelled));
  std::optional<Result<Constraint>> constraint;
  {
    const WithoutGil released;
    constraint.emplace(self.constraint_from_bytes(bytes, budget.limits()));
  }
  budget.check();
  if (!*constraint) raise(Domain::kOther, constraint->error());
  return with_compiler(**std::move(constraint), self);
}

// A temperature to sample with, or None.
std::optional<double> read_temperature(nb::handle value) {
  if (value.is_none()) return std::nullopt;
  const double number = read_number(value, "default_temperature", "a number");
  if (number >= 0 && std::isfinite(number)) return number;
  raise_usage("default_temperature is a finite number, 0 or greater");
}

std::unique_ptr<MatcherObject> make_matcher(nb::handle object,
                                            nb::handle stop_ids,
                                            nb::handle temperature) {
  const auto& self = nb::cast<const Constraint&>(object);
  MatcherOptions options;
  options.default_temperature = read_temperature(temperature);
  if (!stop_ids.is_none()) {
    options.stop_ids = read_ids(stop_ids, "stop_ids");
    check_stop_ids(*options.stop_ids, self.vocabulary());
  }
  return std::make_unique<MatcherObject>(self.matcher(options),
                                         nb::borrow(object), self.mask_words());
}

// The grammar that a constraint was compiled from.  Its limits are those that
// it was compiled with.
nb::object grammar_of(const Constraint& self) {
  GrammarLimits any;
  for (const auto& [name, limit] : kGrammarLimits) {
    any.*limit = std::numeric_limits<std::size_t>::max();
  }
  std::optional<Result<Grammar>> made;
  {
    const WithoutGil released;
    made.emplace(self.grammar(any));
  }
  if (!*made) raise(Domain::kGrammar, made->error());
  return nb::module_::import_("parlance._constraining")
      .attr("_wrap")(nb::cast(std::move(**made)));
}

// Compiles the source of a structural tag.  `tag`, if it is one already, knows
// the request that it was made from.
nb::object compile_tag(const Compiler& self, std::string_view text,
                       const TagObject* tag, nb::dict limits,
                       nb::object cancelled, nb::handle markers) {
  Budget budget(std::move(limits), std::move(cancelled));
  const ConstraintOptions options = {.markers = to_markers(markers)};
  std::optional<Result<Constraint>> constraint;
  {
    const WithoutGil released;
    constraint.emplace(
        self.compile_structural_tag(text, budget.limits(), options));
    // What is not in the text is an error about the request.
    if (tag != nullptr && !*constraint &&
        constraint->error().code != ErrorCode::kTooLarge) {
      Result<Constraint> made =
          self.compile_structural_tag(tag->tag, budget.limits(), options);
      if (made || made.error().path != constraint->error().path) {
        constraint.emplace(std::move(made));
      }
    }
  }
  budget.check();
  if (!*constraint) {
    raise(Domain::kGrammar, constraint->error(), {.source = text});
  }
  return with_compiler(**std::move(constraint), self);
}

nb::object grammar_statistics(const Compiler& self) {
  const GrammarCacheStatistics now = self.grammar_cache().statistics();
  nb::dict out;
  set(out, interned("bytes"), to_int(now.bytes));
  set(out, interned("grammars"), to_int(now.grammars));
  set(out, interned("parts"), to_int(now.parts));
  set(out, interned("grammar_hits"), to_int(now.grammar_hits));
  set(out, interned("grammar_misses"), to_int(now.grammar_misses));
  set(out, interned("part_hits"), to_int(now.part_hits));
  set(out, interned("part_misses"), to_int(now.part_misses));
  set(out, interned("evictions"), to_int(now.evictions));
  return out;
}

nb::object cache_statistics(const Compiler& self) {
  const CacheStatistics statistics = self.cache_statistics();
  nb::dict out;
  set(out, interned("bytes"), to_int(statistics.bytes));
  set(out, interned("entries"), to_int(statistics.entries));
  set(out, interned("hits"), to_int(statistics.hits));
  set(out, interned("misses"), to_int(statistics.misses));
  set(out, interned("evictions"), to_int(statistics.evictions));
  set(out, interned("tables_bytes"), to_int(statistics.tables_bytes));
  return out;
}

bool fill_bitmask(MatcherObject& self, nb::handle buffer, Py_ssize_t row) {
  const Rows rows(buffer, self.words);
  const std::span<std::int32_t> words = rows.row(row);
  const WithoutGil released;
  return self.matcher.fill_bitmask(words) == MaskFill::kConstrains;
}

// An id beyond the range of TokenId is in no vocabulary, so it does not fit.
bool accept_token(MatcherObject& self, nb::handle value) {
  if (PyIndex_Check(value.ptr()) == 0) raise_type("id", "an integer", value);
  const nb::object number = nb::steal(PyNumber_Index(value.ptr()));
  if (!number.is_valid()) throw nb::python_error();
  int overflow = 0;
  const long long id = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0 || id < 0 || id > std::numeric_limits<TokenId>::max()) {
    return false;
  }
  const WithoutGil released;
  return self.matcher.accept_token(static_cast<TokenId>(id));
}

std::size_t accept_tokens(MatcherObject& self, nb::handle ids) {
  const std::vector<TokenId> list = read_ids(ids, "ids");
  const WithoutGil released;
  return self.matcher.accept_tokens(list);
}

bool accept_bytes(MatcherObject& self, nb::handle text) {
  Input in;
  const std::string_view bytes = read_bytes(text, "text", in);
  const WithoutGil released;
  return self.matcher.accept_bytes(bytes);
}

nb::object stop_ids_of(const MatcherObject& self) {
  return to_ids(self.matcher.stop_ids());
}

std::unique_ptr<MatcherObject> copy(MatcherObject& self) {
  return std::make_unique<MatcherObject>(self.matcher.copy(), self.constraint,
                                         self.words);
}

nb::object captured(MatcherObject& self) {
  std::optional<Result<std::vector<RuleCapture>>> found;
  Budget budget{nb::dict(), nb::none()};
  {
    const WithoutGil released;
    found.emplace(self.matcher.captures(budget.interrupt()));
  }
  budget.check();
  return capture_list(*found);
}

nb::object forced_bytes(MatcherObject& self, nb::handle most) {
  const std::size_t limit = read_count(most, "limit");
  std::string bytes;
  {
    const WithoutGil released;
    bytes = self.matcher.forced_bytes(limit);
  }
  return to_bytes(bytes);
}

nb::object forced_tokens(MatcherObject& self) {
  const EncoderErrors errors;
  std::vector<TokenId> ids;
  {
    const WithoutGil released;
    ids = self.matcher.forced_tokens();
  }
  errors.check();
  return to_ids(ids);
}

std::size_t fill_tree(MatcherObject& self, nb::handle first_children,
                      nb::handle next_siblings, nb::handle token_ids,
                      nb::handle buffer, nb::handle heat, nb::handle time_limit,
                      bool clear_ended) {
  const auto first_child = read_numbers(first_children, "first_child");
  const auto next_sibling = read_numbers(next_siblings, "next_sibling");
  const auto tokens = read_numbers(token_ids, "tokens");
  const Rows rows(buffer, self.words);
  if (rows.count() < tokens.size()) {
    raise_usage("the buffer has " + std::to_string(rows.count()) +
                " rows, and the tree " + std::to_string(tokens.size()) +
                " nodes");
  }
  const Temperatures temperatures(heat, tokens.size());
  const TreeOptions options = {.time_limit = read_time_limit(time_limit),
                               .temperatures = temperatures.get(),
                               .stride = rows.stride(),
                               .clear_ended = clear_ended};
  if (const auto error = check_draft_tree(first_child, next_sibling, tokens)) {
    raise_usage(error->message);
  }
  const WithoutGil released;
  return self.matcher.fill_tree(first_child, next_sibling, tokens, rows.all(),
                                options);
}

// The row of each matcher: as `rows` says, or row i for matcher i.
std::vector<std::size_t> read_rows(nb::handle rows, std::size_t matchers,
                                   const Rows& buffer) {
  std::vector<std::size_t> out(matchers);
  std::iota(out.begin(), out.end(), std::size_t{0});
  if (rows.is_none()) {
    if (buffer.count() < matchers) {
      raise_usage("the buffer has " + std::to_string(buffer.count()) +
                  " rows, and there are " + std::to_string(matchers) +
                  " matchers");
    }
    return out;
  }
  const std::vector<std::int64_t> given = read_numbers(rows, "rows");
  if (given.size() != matchers) {
    raise_usage("rows names " + std::to_string(given.size()) +
                " rows, and there are " + std::to_string(matchers) +
                " matchers");
  }
  for (std::size_t i = 0; i < matchers; ++i) {
    buffer.row(given[i]);
    out[i] = static_cast<std::size_t>(given[i]);
  }
  std::vector<std::size_t> sorted = out;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    raise_usage("rows names row " + std::to_string(*twice) + " twice");
  }
  return out;
}

// `matchers` is a list because it must hold references: an iterable could
// create its items on the fly.
void fill_many(nb::list matchers, nb::handle buffer, nb::handle rows,
               unsigned threads) {
  std::vector<MatcherObject*> objects;
  std::size_t words = 0;
  for (nb::handle item : matchers) {
    MatcherObject* object = nullptr;
    if (!nb::try_cast(item, object) || object == nullptr) {
      raise_type("an item of matchers", "a Matcher", item);
    }
    objects.push_back(object);
    words = std::max(words, object->words);
  }
  const Rows target(buffer, words);
  const std::vector<std::size_t> where =
      read_rows(rows, objects.size(), target);
  std::vector<MatcherObject*> sorted = objects;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    raise_usage(
        "a matcher stands twice among the matchers; a text has one next "
        "token, see Matcher.copy()");
  }
  Uses uses;
  std::vector<Matcher*> list;
  for (MatcherObject* object : objects) {
    if (!uses.take(object->in_use)) raise_in_use(MatcherObject::kWhat);
    list.push_back(&object->matcher);
  }
  std::optional<Error> error;
  {
    const WithoutGil released;
    error = fill_bitmasks(list, where, target.all(), target.stride(), threads);
  }
  if (error) raise_usage(error->message);
}

}  // namespace

std::optional<Stepped> stepped_matcher(nb::handle object) {
  MatcherObject* matcher = nullptr;
  if (!nb::try_cast(object, matcher) || matcher == nullptr) return std::nullopt;
  return Stepped{.row = {.matcher = &matcher->matcher},
                 .in_use = &matcher->in_use,
                 .words = matcher->words};
}

void define_constraint(nb::module_& m) {
  nb::class_<Compiler>(m, "Compiler")
      .def(
          "__init__",
          [](Compiler* self, const Vocabulary& vocabulary,
             std::size_t cache_bytes, std::size_t grammar_bytes,
             nb::handle stop_ids) {
            const Making making(self, "compiler");
            new (self) Compiler(make_compiler(vocabulary, cache_bytes,
                                              grammar_bytes, stop_ids));
          },
          nb::arg("vocabulary"), nb::arg("cache_bytes"),
          nb::arg("grammar_bytes"), nb::arg("stop_ids").none())
      .def("compile", &compile, nb::arg("grammar"), nb::kw_only(),
           nb::arg("markers") = "token",
           nb::sig("def compile(self, grammar: Grammar, *, markers: "
                   "Literal[\"token\", \"either\", \"text\"] = \"token\") -> "
                   "Constraint"),
           doc::compiler::kCompile)
      .def("_compile_tag", &compile_tag, nb::arg("text"), nb::arg("tag").none(),
           nb::arg("limits"), nb::arg("cancelled").none(), nb::arg("markers"))
      .def("grammar_statistics", &grammar_statistics,
           nb::sig("def grammar_statistics(self) -> dict[str, int]"),
           doc::compiler::kGrammarStatistics)
      .def_prop_ro("mask_words", &Compiler::mask_words,
                   doc::compiler::kMaskWords)
      .def("cache_statistics", &cache_statistics,
           nb::sig("def cache_statistics(self) -> dict[str, int]"),
           doc::compiler::kCacheStatistics)
      .def("clear_cache", &Compiler::clear_cache, doc::compiler::kClearCache)
      .def("_constraint_from_bytes", &constraint_from_bytes, nb::arg("data"),
           nb::arg("limits"), nb::arg("cancelled").none())
      .def("_vocabulary", [](const Compiler& self) {
        return vocabulary_object(self.vocabulary());
      });

  // Attributes are dynamic for `_compiler`.
  nb::class_<Constraint>(m, "Constraint", nb::dynamic_attr(),
                         doc::constraint::kClass)
      .def(
          "to_bytes",
          [](const Constraint& self) { return to_bytes(self.to_bytes()); },
          nb::sig("def to_bytes(self) -> bytes"), doc::constraint::kToBytes)
      .def("__reduce__",
           [](nb::handle self) {
             return nb::make_tuple(
                 nb::module_::import_("parlance._constraining")
                     .attr("_load_constraint"),
                 nb::make_tuple(self.attr("_compiler"),
                                self.attr("to_bytes")()));
           })
      .def("__copy__", [](nb::handle self) { return nb::borrow(self); })
      .def("__deepcopy__",
           [](nb::handle self, nb::handle) { return nb::borrow(self); })
      .def("matcher", &make_matcher, nb::kw_only(),
           nb::arg("stop_ids").none() = nb::none(),
           nb::arg("default_temperature").none() = nb::none(),
           nb::sig("def matcher(self, *, stop_ids: Sequence[int] | None = "
                   "None, default_temperature: float | None = None) -> "
                   "Matcher"),
           doc::constraint::kMatcher)
      .def_prop_ro("mask_words", &Constraint::mask_words,
                   doc::compiler::kMaskWords)
      .def_prop_ro("memory_bytes", &Constraint::memory_bytes,
                   doc::constraint::kMemoryBytes)
      .def_prop_ro("grammar", &grammar_of, doc::constraint::kGrammar)
      .def_prop_ro(
          "vocabulary",
          [](const Constraint& self) {
            return vocabulary_object(self.vocabulary());
          },
          doc::constraint::kVocabulary);

  ExclusiveClass<MatcherObject>(m, "Matcher", doc::matcher::kClass,
                                nb::type_slots(kTraversed<MatcherObject>))
      .def_ro("mask_words", &MatcherObject::words, doc::compiler::kMaskWords)
      .def_ro("constraint", &MatcherObject::constraint,
              doc::matcher::kConstraint)
      .def_prop_ro("stop_ids", &stop_ids_of, doc::matcher::kStopIds)
      .def("fill_bitmask", &fill_bitmask, nb::arg("buffer"), nb::arg("row") = 0,
           nb::sig("def fill_bitmask(self, buffer: Any, row: int = 0) -> bool"),
           doc::matcher::kFillBitmask)
      .def("accept_token", &accept_token, nb::arg("id"),
           nb::sig("def accept_token(self, id: int) -> bool"),
           doc::matcher::kAcceptToken)
      .def("accept_tokens", &accept_tokens, nb::arg("ids"),
           nb::sig("def accept_tokens(self, ids: Sequence[int]) -> int"),
           doc::matcher::kAcceptTokens)
      .def("accept_bytes", &accept_bytes, nb::arg("text"),
           nb::sig(
               "def accept_bytes(self, text: str | bytes | bytearray) -> bool"),
           doc::matcher::kAcceptBytes)
      .def(
          "rollback",
          [](MatcherObject& self, nb::handle steps) {
            return self.matcher.rollback(read_count(steps, "steps"));
          },
          nb::arg("steps") = 1,
          nb::sig("def rollback(self, steps: int = 1) -> bool"),
          doc::matcher::kRollback)
      .def(
          "reset", [](MatcherObject& self) { self.matcher.reset(); },
          doc::matcher::kReset)
      .def("copy", &copy, nb::sig("def copy(self) -> Matcher"),
           doc::matcher::kCopy)
      .def(
          "steps", [](MatcherObject& self) { return self.matcher.steps(); },
          doc::matcher::kSteps)
      .def(
          "is_terminated",
          [](MatcherObject& self) { return self.matcher.is_terminated(); },
          doc::matcher::kIsTerminated)
      .def(
          "can_end", [](MatcherObject& self) { return self.matcher.can_end(); },
          doc::matcher::kCanEnd)
      .def_prop_ro(
          "error",
          [](MatcherObject& self) -> nb::object {
            const std::optional<Error> error = self.matcher.error();
            if (!error) return nb::none();
            return exception_of(Domain::kGrammar, *error, {});
          },
          nb::sig("def error(self) -> GrammarError | None"),
          doc::matcher::kError)
      .def_prop_ro(
          "temperature",
          [](MatcherObject& self) { return self.matcher.temperature(); },
          nb::sig("def temperature(self) -> float | None"),
          doc::matcher::kTemperature)
      .def("captures", &captured,
           nb::sig("def captures(self) -> list[dict[str, Any]]"),
           doc::matcher::kCaptures)
      .def("forced_bytes", &forced_bytes, nb::arg("limit") = 4096,
           nb::sig("def forced_bytes(self, limit: int = 4096) -> bytes"),
           doc::matcher::kForcedBytes)
      .def("forced_tokens", &forced_tokens,
           nb::sig("def forced_tokens(self) -> list[int]"),
           doc::matcher::kForcedTokens)
      .def("fill_tree", &fill_tree, nb::arg("first_child"),
           nb::arg("next_sibling"), nb::arg("tokens"), nb::arg("buffer"),
           nb::kw_only(), nb::arg("temperatures").none() = nb::none(),
           nb::arg("time_limit").none() = nb::none(),
           nb::arg("clear_ended") = false,
           nb::sig(
               "def fill_tree(self, first_child: Sequence[int], next_sibling: "
               "Sequence[int], tokens: Sequence[int], buffer: Any, *, "
               "temperatures: Any = None, time_limit: float | None = None, "
               "clear_ended: bool = False) -> int"),
           doc::matcher::kFillTree);

  m.def("fill_bitmasks", &fill_many, nb::arg("matchers"), nb::arg("buffer"),
        nb::arg("rows").none(), nb::arg("threads"));
}

}  // namespace parlance::python
