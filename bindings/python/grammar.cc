// Grammar: the language of the texts that a model may write.

#include "parlance/grammar.h"

#include <nanobind/stl/vector.h>

#include "constraint.h"
#include "docstrings.h"
#include "interruptible.h"
#include "parlance/constraint.h"
#include "parlance/limit_names.h"

namespace parlance::python {

nb::object capture_list(const Result<std::vector<RuleCapture>>& found) {
  if (!found) raise(Domain::kOther, found.error(), {});
  nb::list out;
  for (const RuleCapture& one : *found) {
    nb::dict entry;
    set(entry, interned("name"), to_str(one.name));
    set(entry, interned("text"), nb::bytes(one.text.data(), one.text.size()));
    set(entry, interned("span"), to_tuple(one.bytes));
    out.append(entry);
  }
  return out;
}

nb::object note_list(const std::vector<GrammarNote>& notes) {
  nb::list out;
  for (const GrammarNote& note : notes) {
    nb::dict entry;
    set(entry, interned("kind"),
        to_str(note.kind == GrammarNote::Kind::kNarrowed ? "narrowed"
                                                         : "ignored"));
    set(entry, interned("keyword"), to_str(note.keyword));
    set(entry, interned("path"), to_str(note.path));
    set(entry, interned("message"), to_str(note.message));
    out.append(entry);
  }
  return out;
}

namespace {

// The layout as parlance/_constraining.py passes it, which has checked it.
struct Options {
  nb::object separators;  // None: flexible; else (item, key)
  nb::object indent;      // None or int
  std::size_t max_white_space;
};

JsonLayout layout_of(const Options& options) {
  JsonLayout layout;
  layout.max_white_space = options.max_white_space;
  if (options.separators.is_none()) return layout;
  layout.exact = true;
  if (!options.indent.is_none()) {
    layout.indent = nb::cast<std::uint32_t>(options.indent);
  }
  layout.item_separator = nb::cast<std::string_view>(options.separators[0]);
  layout.key_separator = nb::cast<std::string_view>(options.separators[1]);
  return layout;
}

json::Value document_of(std::string_view url, std::string_view text) {
  Result<json::Value> value = json::parse(text, {.exact_floats = true});
  if (!value) {
    Error error = value.error();
    error.message = "the document " + std::string(url) + ": " + error.message;
    raise(Domain::kSchema, error, {.source = text});
  }
  return *std::move(value);
}

// Compiles without the GIL.  Raises errors with their position in `source`.
template <class Make>
Grammar made_by(Domain domain, std::string_view source, Budget& budget,
                const Make& make) {
  std::optional<Result<Grammar>> grammar;
  {
    const WithoutGil released;
    grammar.emplace(make(budget.limits()));
  }
  budget.check();
  if (!*grammar) raise(domain, grammar->error(), {.source = source});
  return **std::move(grammar);
}

Grammar from_json_schema(std::string_view text, nb::object separators,
                         nb::object indent, std::size_t max_white_space,
                         bool schema_order, int spelling, nb::object draft,
                         bool closed, bool lenient, bool assert_formats,
                         nb::dict documents, nb::dict limits,
                         nb::object cancelled, const Compiler* compiler) {
  JsonSchemaOptions options;
  options.layout = layout_of({separators, indent, max_white_space});
  if (schema_order) options.key_order = KeyOrder::kSchema;
  options.spelling = static_cast<JsonSpelling>(spelling);
  if (!draft.is_none()) {
    options.draft = static_cast<SchemaDraft>(nb::cast<int>(draft));
  }
  options.closed = closed;
  options.lenient = lenient;
  options.assert_formats = assert_formats;
  for (auto [url, document] : documents) {
    const auto name = nb::cast<std::string_view>(url);
    options.documents.emplace(
        name, document_of(name, nb::cast<std::string_view>(document)));
  }
  Budget budget(std::move(limits), std::move(cancelled));
  return made_by(
      Domain::kSchema, text, budget, [&](const GrammarLimits& given) {
        options.limits = given;
        return compiler != nullptr
                   ? compiler->grammar_cache().from_json_schema(text, options)
                   : Grammar::from_json_schema(text, options);
      });
}

Grammar from_ebnf(std::string_view text, std::string_view root, nb::dict limits,
                  nb::object cancelled, const Compiler* compiler) {
  Budget budget(std::move(limits), std::move(cancelled));
  return made_by(
      Domain::kGrammar, text, budget, [&](const GrammarLimits& given) {
        const EbnfOptions options{.root_rule = std::string(root),
                                  .limits = given};
        return compiler != nullptr
                   ? compiler->grammar_cache().from_ebnf(text, options)
                   : Grammar::from_ebnf(text, options);
      });
}

// Sets where the names of tokens are looked up.
template <class Options>
void look_up(Options& options, const Vocabulary* vocabulary,
             const Compiler* compiler) {
  if (compiler != nullptr) vocabulary = &compiler->vocabulary();
  if (vocabulary == nullptr) return;
  options.tokens_spelled = [vocabulary](std::string_view spelling) {
    return vocabulary->find(spelling);
  };
}

Grammar from_gbnf(std::string_view text, const Vocabulary* vocabulary,
                  std::string_view root, nb::dict limits, nb::object cancelled,
                  const Compiler* compiler) {
  GbnfOptions options{.root_rule = std::string(root)};
  look_up(options, vocabulary, compiler);
  Budget budget(std::move(limits), std::move(cancelled));
  return made_by(
      Domain::kGrammar, text, budget, [&](const GrammarLimits& given) {
        options.limits = given;
        return compiler != nullptr
                   ? compiler->grammar_cache().from_gbnf(text, options)
                   : Grammar::from_gbnf(text, options);
      });
}

Grammar from_regex(std::string_view pattern, nb::dict limits,
                   nb::object cancelled, const Compiler* compiler) {
  Budget budget(std::move(limits), std::move(cancelled));
  return made_by(
      Domain::kGrammar, pattern, budget, [&](const GrammarLimits& given) {
        return compiler != nullptr
                   ? compiler->grammar_cache().from_regex(pattern, given)
                   : Grammar::from_regex(pattern, given);
      });
}

// `grammars` and `sources` define what "@name" stands for.
Grammar from_lark(std::string_view text, const Vocabulary* vocabulary,
                  std::string_view start, nb::dict grammars, nb::dict sources,
                  nb::dict limits, nb::object cancelled,
                  const Compiler* compiler) {
  LarkGrammarOptions options;
  options.start_rule = start;
  look_up(options, vocabulary, compiler);
  for (auto [name, grammar] : grammars) {
    options.grammars.emplace(nb::cast<std::string_view>(name),
                             nb::cast<const Grammar&>(grammar));
  }
  for (auto [name, source] : sources) {
    options.sources.emplace(nb::cast<std::string_view>(name),
                            nb::cast<std::string_view>(source));
  }
  Budget budget(std::move(limits), std::move(cancelled));
  return made_by(
      Domain::kGrammar, text, budget, [&](const GrammarLimits& given) {
        options.limits = given;
        return compiler != nullptr
                   ? compiler->grammar_cache().from_lark(text, options)
                   : Grammar::from_lark(text, options);
      });
}

Grammar from_structural_tag(const TagObject& tag, const Vocabulary* vocabulary,
                            nb::dict limits, nb::object cancelled) {
  StructuralTagGrammarOptions options;
  if (vocabulary != nullptr) {
    options.vocabulary_size = static_cast<std::uint32_t>(vocabulary->size());
    options.find_token = [vocabulary](std::string_view text) {
      return vocabulary->find_first(text);
    };
  }
  Budget budget(std::move(limits), std::move(cancelled));
  return made_by(
      Domain::kGrammar, tag.source, budget, [&](const GrammarLimits& given) {
        options.limits = given;
        Result<Grammar> made = Grammar::from_structural_tag(tag.tag, options);
        if (made || made.error().code == ErrorCode::kTooLarge) return made;
        // Only a compile from the text gives errors their span in bytes.  What
        // is not in the text is an error about the request.
        Result<Grammar> again =
            Grammar::from_structural_tag(tag.source, options);
        return again || made.error().path != again.error().path
                   ? std::move(made)
                   : std::move(again);
      });
}

// The union of `parts`, or their concatenation.
Grammar joined(std::vector<Grammar> parts, bool in_sequence, nb::dict limits,
               nb::object cancelled) {
  Budget budget(std::move(limits), std::move(cancelled));
  return made_by(Domain::kGrammar, {}, budget, [&](const GrammarLimits& given) {
    return in_sequence ? Grammar::concat(parts, given)
                       : Grammar::union_of(parts, given);
  });
}

Grammar from_bytes(nb::handle data, nb::dict limits, nb::object cancelled) {
  const std::string_view bytes = bytes_of(data, "data");
  Budget budget(std::move(limits), std::move(cancelled));
  return made_by(Domain::kGrammar, {}, budget, [&](const GrammarLimits& given) {
    return Grammar::from_bytes(bytes, given);
  });
}

// Raises what stopped a reader.
void raise_error_of(const GrammarReader& reader) {
  const std::optional<Error> error = reader.error();
  if (error) raise(Domain::kGrammar, *error);
}

bool accepts(const Grammar& self, nb::handle text) {
  Input in;
  const std::string_view bytes = read_bytes(text, "text", in);
  GrammarReader reader(self);
  feed_in_pieces(bytes, [&](std::string_view piece) {
    return reader.feed(piece) == piece.size();
  });
  const bool yes = reader.can_end();
  raise_error_of(reader);
  return yes;
}

nb::object explain(const Grammar& self, nb::handle text) {
  Input in;
  const std::string_view bytes = read_bytes(text, "text", in);
  GrammarReader reader(self);
  feed_in_pieces(bytes, [&](std::string_view piece) {
    return reader.feed(piece) == piece.size();
  });
  const bool yes = reader.can_end();
  raise_error_of(reader);
  if (yes) return nb::none();
  std::string expected;
  {
    const WithoutGil released;
    expected = reader.expected();
  }
  nb::dict out;
  set(out, interned("offset"), to_int(reader.offset()));
  set(out, interned("expected"), to_str(expected));
  return out;
}

nb::object report(const Grammar& self) { return note_list(self.report()); }

// With a vocabulary, `text` is token ids.
nb::object captured(const Grammar& self, nb::object text,
                    const Vocabulary* vocabulary) {
  std::optional<Result<std::vector<RuleCapture>>> found;
  Budget budget{nb::dict(), nb::none()};
  if (vocabulary == nullptr) {
    Input in;
    const std::string_view bytes = read_bytes(text, "text", in);
    const WithoutGil released;
    found.emplace(captures(self, bytes, kMaxCaptureItems, budget.interrupt()));
  } else {
    const Vocabulary known = *vocabulary;
    std::vector<CapturedToken> tokens;
    for (const TokenId id : read_ids(text, "text")) {
      if (known.kind(id) == TokenKind::kUnused) {
        raise_usage("the vocabulary has no token " + std::to_string(id));
      }
      tokens.push_back(
          {id, known.bytes(id), known.kind(id) == TokenKind::kControl});
    }
    const WithoutGil released;
    found.emplace(captures(self, tokens, kMaxCaptureItems, budget.interrupt()));
  }
  budget.check();
  return capture_list(*found);
}

// The time between two calls of `cancelled` and of signal handlers.
constexpr std::chrono::milliseconds kInterval{20};

}  // namespace

Budget::Budget(nb::dict limits, nb::object cancelled)
    : cancelled_(std::move(cancelled)) {
  for (auto [name, value] : limits) {
    const auto key = nb::cast<std::string_view>(name);
    const auto number = nb::cast<std::size_t>(value);
    for (const auto& [known, limit] : kGrammarLimits) {
      if (key == known) limits_.*limit = number;
    }
  }
}

GrammarLimits Budget::limits() {
  limits_.cancelled = &Budget::ask;
  limits_.cancelled_argument = this;
  return limits_;
}

Interrupt Budget::interrupt() { return {&Budget::ask, this}; }

bool Budget::ask(void* argument) {
  Budget& self = *static_cast<Budget*>(argument);
  const auto now = std::chrono::steady_clock::now();
  if (now < self.next_) return false;
  const WithGil acquired;
  // An exception stays set in this thread until check() raises it.
  if (PyErr_Occurred() != nullptr || PyErr_CheckSignals() != 0) return true;
  if (!self.cancelled_.is_none()) {
    PyObject* answer = PyObject_CallNoArgs(self.cancelled_.ptr());
    const int cancel = answer == nullptr ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    if (cancel != 0) return true;
  }
  self.next_ = std::chrono::steady_clock::now() + kInterval;
  return false;
}

void Budget::check() const {
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
}

std::string_view read_bytes(nb::handle value, std::string_view what,
                            Input& in) {
  PyObject* object = value.ptr();
  if (!PyUnicode_Check(object) && !PyBytes_Check(object) &&
      !PyByteArray_Check(object)) {
    raise_type(what, "str or bytes", value);
  }
  read_input(value, what, in);
  return in.text;
}

void define_grammar(nb::module_& m) {
  nb::list limit_names;
  for (const auto& [name, limit] : kGrammarLimits) {
    limit_names.append(nb::str(name.data(), name.size()));
  }
  m.attr("limit_names") = nb::tuple(limit_names);
  nb::class_<Grammar>(m, "Grammar")
      .def(nb::init<const Grammar&>(), nb::arg("grammar"))
      .def("accepts", &accepts, nb::arg("text"),
           nb::sig("def accepts(self, text: str | bytes | bytearray) -> bool"),
           doc::grammar::kAccepts)
      .def("explain", &explain, nb::arg("text"),
           nb::sig("def explain(self, text: str | bytes | bytearray) -> "
                   "dict[str, Any] | None"),
           doc::grammar::kExplain)
      .def("report", &report,
           nb::sig("def report(self) -> list[dict[str, str]]"),
           doc::grammar::kReport)
      .def("captures", &captured, nb::arg("text"),
           nb::arg("vocabulary").none() = nb::none(),
           nb::sig("def captures(self, text: str | bytes | bytearray | "
                   "Sequence[int], vocabulary: Vocabulary | None = None) -> "
                   "list[dict[str, Any]]"),
           doc::grammar::kCaptures)
      .def(
          "to_ebnf", [](const Grammar& self) { return to_str(self.to_ebnf()); },
          nb::sig("def to_ebnf(self) -> str"), doc::grammar::kToEbnf)
      .def(
          "to_bytes",
          [](const Grammar& self) { return to_bytes(self.to_bytes()); },
          nb::sig("def to_bytes(self) -> bytes"), doc::grammar::kToBytes);
  m.def("grammar_of_json_schema", &from_json_schema, nb::arg("text"),
        nb::arg("separators").none(), nb::arg("indent").none(),
        nb::arg("max_white_space"), nb::arg("schema_order"),
        nb::arg("spelling"), nb::arg("draft").none(), nb::arg("closed"),
        nb::arg("lenient"), nb::arg("assert_formats"), nb::arg("documents"),
        nb::arg("limits"), nb::arg("cancelled").none(),
        nb::arg("compiler").none());
  m.def("grammar_of_ebnf", &from_ebnf, nb::arg("text"), nb::arg("root"),
        nb::arg("limits"), nb::arg("cancelled").none(),
        nb::arg("compiler").none());
  m.def("grammar_of_gbnf", &from_gbnf, nb::arg("text"),
        nb::arg("vocabulary").none(), nb::arg("root"), nb::arg("limits"),
        nb::arg("cancelled").none(), nb::arg("compiler").none());
  m.def("grammar_of_regex", &from_regex, nb::arg("pattern"), nb::arg("limits"),
        nb::arg("cancelled").none(), nb::arg("compiler").none());
  m.def("grammar_of_lark", &from_lark, nb::arg("text"),
        nb::arg("vocabulary").none(), nb::arg("start"), nb::arg("grammars"),
        nb::arg("sources"), nb::arg("limits"), nb::arg("cancelled").none(),
        nb::arg("compiler").none());
  m.def("grammar_of_tag", &from_structural_tag, nb::arg("tag"),
        nb::arg("vocabulary").none(), nb::arg("limits"),
        nb::arg("cancelled").none());
  m.def("grammar_of_bytes", &from_bytes, nb::arg("data"), nb::arg("limits"),
        nb::arg("cancelled").none());
  m.def("grammar_of_parts", &joined, nb::arg("parts"), nb::arg("in_sequence"),
        nb::arg("limits"), nb::arg("cancelled").none());
}

}  // namespace parlance::python
