// View: what became of a response, for people.

#include <optional>
#include <string>
#include <utility>

#include "constraint.h"
#include "docstrings.h"
#include "interruptible.h"
#include "parlance/constraint.h"
#include "parlance/explain.h"

namespace parlance::python {

namespace {

class ViewObject {
 public:
  ViewObject(Explanation explanation, std::string title)
      : explanation_(std::move(explanation)), title_(std::move(title)) {}

  nb::object facts() const { return to_object(to_json(explanation_)); }
  nb::object hints() const {
    json::Array out;
    for (const ExplanationRow& row : explanation_.rows) {
      if (!row.hint) continue;
      json::Object hint = {
          {"kind", to_string(*row.hint)},
          {"message", row.message},
          {"start", static_cast<std::int64_t>(row.bytes.begin)},
          {"end", static_cast<std::int64_t>(row.bytes.end)}};
      if (!row.field.empty()) hint.set("field", row.field);
      if (!row.format.empty()) hint.set("format", row.format);
      out.push_back(std::move(hint));
    }
    return to_object(json::Value(std::move(out)));
  }
  nb::object html() const { return to_str(page()); }
  nb::object beginning(std::size_t max_bytes) const {
    return to_str(page(max_bytes));
  }

  void save(nb::handle path) const {
    const std::string name = path_of(path);
    const std::string text = page();
    nb::object file =
        nb::module_::import_("builtins").attr("open")(to_bytes(name), "wb");
    file.attr("write")(to_bytes(text));
    file.attr("close")();
  }

  nb::object repr() const {
    const std::string name =
        explanation_.name.empty() ? "" : " by " + explanation_.name;
    return to_str("<View of " + std::to_string(explanation_.text.size()) +
                  " bytes" + name + ">");
  }

 private:
  std::string page(std::size_t max_bytes = 0) const {
    return to_html(explanation_, {.title = title_, .max_bytes = max_bytes});
  }

  Explanation explanation_;
  std::string title_;
};

// A response as the page shows it: the bytes of a bytes object as they are.
void read_response(nb::handle value, Input& in) {
  if (PyBytes_Check(value.ptr())) {
    in.is_text = true;
    in.text = bytes_of(value, "response");
  } else {
    read_input(value, "response", in);
  }
}

template <class T>
const T* as(nb::handle object) {
  const T* found = nullptr;
  return nb::try_cast(object, found) ? found : nullptr;
}

// `by`: a Format, a CompiledTag, a Grammar, or a Constraint.
ViewObject view(nb::handle by, nb::handle response, nb::handle prefix,
                const ToolSet* tools, const Vocabulary* vocabulary,
                nb::handle markers, nb::handle recover, std::size_t chunk,
                const Constraint* constraint, nb::handle name_object,
                nb::handle title) {
  // Surrogates may be part of the name of a format.
  const std::string name = utf8_with_surrogates(name_object);
  Input in;
  read_response(response, in);
  const auto* limits = as<Constraint>(by);
  if (!in.is_text && vocabulary == nullptr && limits == nullptr) {
    raise_usage(
        "a response of token ids needs vocabulary=, which says what text they "
        "are");
  }
  Input before;
  read_prefix(prefix, vocabulary, before);
  Signals signals;
  const ExplainOptions options{
      .prefix = before.text,
      .tools = tools,
      .markers = to_markers(markers),
      .recover = to_recover(recover),
      .vocabulary = in.is_text ? nullptr : vocabulary,
      .chunk = chunk,
      .constraint = constraint,
      .name = name,
      .interrupt = {
          .cancelled =
              [](void* asked) { return static_cast<Signals*>(asked)->came(); },
          .argument = &signals}};
  const auto* format = as<FormatObject>(by);
  const CompiledTag* tag = compiled_tag_of(by);
  const auto* grammar = as<Grammar>(by);
  std::optional<Explanation> out;
  const auto explain_by = [&](const auto& what) {
    out.emplace(in.is_text ? explain(what, in.text, options)
                           : explain(what, in.ids, options));
  };
  {
    const WithoutGil released;
    if (format != nullptr) {
      explain_by(format->format());
    } else if (tag != nullptr) {
      explain_by(*tag);
    } else if (limits != nullptr && !in.is_text) {
      out.emplace(explain(*limits, in.ids, options));
    } else if (grammar != nullptr && in.is_text) {
      out.emplace(explain(*grammar, in.text, options));
    }
  }
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  if (!out) raise_usage("a Constraint reads token ids, and a Grammar text");
  return ViewObject(*std::move(out), utf8_with_surrogates(title));
}

}  // namespace

void define_view(nb::module_& m) {
  nb::class_<ViewObject>(m, "View", doc::view::kClass)
      .def_prop_ro("facts", &ViewObject::facts, doc::view::kFacts)
      .def_prop_ro("hints", &ViewObject::hints, doc::view::kHints)
      .def_prop_ro("html", &ViewObject::html, doc::view::kHtml)
      .def("save", &ViewObject::save, nb::arg("path").none(),
           nb::sig("def save(self, path: str | os.PathLike[str]) -> None"),
           doc::view::kSave)
      .def("_beginning", &ViewObject::beginning, nb::arg("max_bytes"))
      .def("__repr__", &ViewObject::repr);
  m.def("view", &view, nb::arg("by"), nb::arg("response").none(),
        nb::arg("prefix").none(), nb::arg("tools").none(),
        nb::arg("vocabulary").none(), nb::arg("markers").none(),
        nb::arg("recover").none(), nb::arg("chunk"),
        nb::arg("constraint").none(), nb::arg("name"), nb::arg("title"));
}

}  // namespace parlance::python
