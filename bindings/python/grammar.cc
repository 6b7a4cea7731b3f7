// Grammar: what a model may write, as a language of texts.

#include "parlance/grammar.h"

#include <nanobind/stl/vector.h>

#include "binding.h"
#include "constraint.h"
#include "parlance/captures.h"

namespace parlance::python {

namespace {

// The options as parlance/_constraining.py passes them: every one by position,
// checked there.
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
  Result<json::Value> value = json::parse(text);
  if (!value) {
    Error error = value.error();
    error.message = "the document " + std::string(url) + ": " + error.message;
    raise(Domain::kSchema, error, {.source = text});
  }
  return *std::move(value);
}

Grammar from_json_schema(std::string_view text, nb::object separators,
                         nb::object indent, std::size_t max_white_space,
                         bool schema_order, nb::object draft, bool closed,
                         bool lenient, bool assert_formats, nb::dict documents,
                         nb::dict limits) {
  JsonSchemaOptions options;
  options.layout = layout_of({separators, indent, max_white_space});
  if (schema_order) options.key_order = KeyOrder::kSchema;
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
  for (auto [name, value] : limits) {
    const auto key = nb::cast<std::string_view>(name);
    const auto number = nb::cast<std::size_t>(value);
    if (key == "alternatives") options.limits.alternatives = number;
    if (key == "steps") options.limits.steps = number;
    if (key == "depth") options.limits.depth = number;
    if (key == "bytes") options.limits.bytes = number;
  }
  std::optional<Result<Grammar>> grammar;
  {
    nb::gil_scoped_release release;
    grammar.emplace(Grammar::from_json_schema(text, options));
  }
  if (!*grammar) {
    raise(Domain::kSchema, grammar->error(), {.source = text});
  }
  return **std::move(grammar);
}

// A grammar as people write it: `kind` is "ebnf" (then `root` names the rule
// that a text is of), "regex", "lark" or "structural_tag".
Grammar from_text(std::string_view kind, std::string_view text,
                  std::string_view root, nb::object vocabulary) {
  std::optional<Vocabulary> tokens;
  if (!vocabulary.is_none()) tokens = nb::cast<Vocabulary>(vocabulary);
  std::optional<Result<Grammar>> grammar;
  {
    nb::gil_scoped_release release;
    if (kind == "ebnf") {
      grammar.emplace(
          Grammar::from_ebnf(text, {.root_rule = std::string(root)}));
    } else if (kind == "regex") {
      grammar.emplace(Grammar::from_regex(text));
    } else if (kind == "lark") {
      LarkGrammarOptions options;
      if (tokens) {
        options.tokens_spelled = [&](std::string_view spelling) {
          std::vector<std::uint32_t> ids;
          for (std::uint32_t id = 0; id < tokens->size(); ++id) {
            if (tokens->kind(id) != TokenKind::kUnused &&
                tokens->bytes(id) == spelling) {
              ids.push_back(id);
            }
          }
          return ids;
        };
      }
      grammar.emplace(Grammar::from_lark(text, options));
    } else {
      StructuralTagGrammarOptions options;
      if (tokens) {
        options.vocabulary_size = static_cast<std::uint32_t>(tokens->size());
        options.find_token =
            [&](std::string_view spelling) -> std::optional<std::uint32_t> {
          for (std::uint32_t id = 0; id < tokens->size(); ++id) {
            if (tokens->kind(id) != TokenKind::kUnused &&
                tokens->bytes(id) == spelling) {
              return id;
            }
          }
          return std::nullopt;
        };
      }
      grammar.emplace(Grammar::from_structural_tag(text, options));
    }
  }
  if (!*grammar) raise(Domain::kGrammar, grammar->error(), {.source = text});
  return **std::move(grammar);
}

// Texts of any of `parts`, or of all of them one behind the other.
Grammar joined(std::vector<Grammar> parts, bool in_sequence) {
  Result<Grammar> grammar =
      in_sequence ? Grammar::concat(parts) : Grammar::union_of(parts);
  if (!grammar) raise(Domain::kGrammar, grammar.error(), {});
  return *std::move(grammar);
}

bool accepts(const Grammar& self, nb::handle text) {
  Input in;
  const std::string_view bytes = read_bytes(text, "text", in);
  nb::gil_scoped_release release;
  return self.accepts(bytes);
}

nb::object explain(const Grammar& self, nb::handle text) {
  Input in;
  const std::string_view bytes = read_bytes(text, "text", in);
  std::optional<Rejection> rejection;
  {
    nb::gil_scoped_release release;
    rejection = self.explain(bytes);
  }
  if (!rejection) return nb::none();
  nb::dict out;
  set(out, interned("offset"), to_int(rejection->offset));
  set(out, interned("expected"), to_str(rejection->expected));
  return out;
}

nb::object report(const Grammar& self) {
  nb::list out;
  for (const SchemaNote& note : self.report()) {
    nb::dict entry;
    set(entry, interned("kind"),
        to_str(note.kind == SchemaNote::Kind::kNarrowed ? "narrowed"
                                                        : "ignored"));
    set(entry, interned("keyword"), to_str(note.keyword));
    set(entry, interned("path"), to_str(note.path));
    set(entry, interned("message"), to_str(note.message));
    out.append(entry);
  }
  return out;
}

// `text` is token ids where there is a vocabulary.
nb::object captured(const Grammar& self, nb::object text,
                    nb::object vocabulary) {
  std::optional<Result<std::vector<RuleCapture>>> found;
  if (vocabulary.is_none()) {
    Input in;
    const std::string_view bytes = read_bytes(text, "text", in);
    nb::gil_scoped_release release;
    found.emplace(captures(self, bytes));
  } else {
    const auto known = nb::cast<Vocabulary>(vocabulary);
    std::vector<CapturedToken> tokens;
    for (const TokenId id : read_ids(text, "text")) {
      if (known.kind(id) == TokenKind::kUnused) {
        raise_usage("the vocabulary has no token " + std::to_string(id));
      }
      tokens.push_back(
          {id, known.bytes(id), known.kind(id) == TokenKind::kSpecial});
    }
    nb::gil_scoped_release release;
    found.emplace(captures(self, tokens));
  }
  if (!*found) raise(Domain::kOther, found->error(), {});
  nb::list out;
  for (const RuleCapture& one : **found) {
    nb::dict entry;
    set(entry, interned("name"), to_str(one.name));
    set(entry, interned("text"), nb::bytes(one.text.data(), one.text.size()));
    set(entry, interned("span"), to_tuple(one.bytes));
    out.append(entry);
  }
  return out;
}

}  // namespace

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
  nb::class_<Grammar>(m, "Grammar")
      .def(nb::init<const Grammar&>(), nb::arg("grammar"))
      .def("accepts", &accepts, nb::arg("text"))
      .def("explain", &explain, nb::arg("text"))
      .def("report", &report)
      .def("captures", &captured, nb::arg("text"),
           nb::arg("vocabulary") = nb::none())
      .def("to_ebnf",
           [](const Grammar& self) { return to_str(self.to_ebnf()); });
  m.def("grammar_of_json_schema", &from_json_schema, nb::arg("text"),
        nb::arg("separators").none(), nb::arg("indent").none(),
        nb::arg("max_white_space"), nb::arg("schema_order"),
        nb::arg("draft").none(), nb::arg("closed"), nb::arg("lenient"),
        nb::arg("assert_formats"), nb::arg("documents"), nb::arg("limits"));
  m.def("grammar_of_text", &from_text, nb::arg("kind"), nb::arg("text"),
        nb::arg("root"), nb::arg("vocabulary").none());
  m.def("grammar_of_parts", &joined, nb::arg("parts"), nb::arg("in_sequence"));
}

}  // namespace parlance::python
