// Format: a description of a model's responses, the content of the Python
// classes Format and ResponseTemplate.

#include <nanobind/stl/string.h>

#include <algorithm>

#include "binding.h"
#include "docstrings.h"
#include "parlance/detect.h"
#include "parlance/hints.h"
#include "parlance/verify_format.h"

namespace parlance::python {

namespace {

FormatObject from_json(std::string_view text) {
  Result<Format> format = Format::from_json(text);
  if (!format) raise(Domain::kTemplate, format.error(), {.source = text});
  return FormatObject(*std::move(format), std::string(text));
}

FormatObject built_in(std::string_view name) {
  Result<Format> format = Format::built_in(name);
  if (!format) raise(Domain::kTemplate, format.error());
  // The text of the file as it is; a variant's is put together.
  std::string source(Format::built_in_source(format->name()));
  const bool is_variant =
      !std::ranges::binary_search(Format::built_in_names(), format->name());
  if (is_variant) source = format->to_json();
  return FormatObject(*std::move(format), std::move(source));
}

// `names`: pairs of str.
FormatObject renamed(const FormatObject& made, const nb::object& names) {
  std::vector<std::pair<std::string, std::string>> list;
  for (const nb::handle pair : names) {
    list.emplace_back(nb::cast<std::string>(pair[0]),
                      nb::cast<std::string>(pair[1]));
  }
  Result<Format> format = made.format().with_names(list);
  if (!format) raise(Domain::kTemplate, format.error());
  return FormatObject(*std::move(format), std::string(made.source()));
}

nb::object models(const FormatObject& self) {
  nb::list out;
  for (const std::string& model : self.format().models()) {
    out.append(to_str(model));
  }
  return out;
}

nb::object aliases(const FormatObject& self) {
  nb::list out;
  for (const std::string& alias : self.format().aliases()) {
    out.append(to_str(alias));
  }
  return out;
}

nb::object variants(const FormatObject& self) {
  nb::list out;
  for (const std::string& variant : self.format().variants()) {
    out.append(to_str(variant));
  }
  return out;
}

nb::object fields(const FormatObject& self) {
  nb::list out;
  for (std::uint32_t i = 0; i < self.format().field_count(); ++i) {
    out.append(nb::borrow(self.prototypes().name(i)));
  }
  return out;
}

nb::object lint(const FormatObject& self) {
  nb::list out;
  for (const Lint& lint : self.format().lint()) {
    nb::dict entry;
    set(entry, to_key("code").ptr(), to_str(to_string(lint.code)));
    set(entry, to_key("message").ptr(), to_str(lint.message));
    set(entry, to_key("path").ptr(), to_str(lint.path));
    out.append(entry);
  }
  return out;
}

nb::object verify(const FormatObject& self, std::string_view tools,
                  const Vocabulary* vocabulary, std::size_t walks,
                  std::uint32_t seed) {
  VerifyFormatOptions options;
  options.vocabulary = vocabulary;
  options.walks = walks;
  options.seed = seed;
  Result<json::Value> value = json::parse(tools);
  if (!value) raise(Domain::kTemplate, value.error(), {.source = tools});
  options.tools = *std::move(value);
  std::vector<FormatFinding> found;
  {
    const WithoutGil released;
    found = verify_format(self.format(), options);
  }
  nb::list out;
  for (const FormatFinding& finding : found) {
    nb::dict entry;
    set(entry, to_key("code").ptr(), to_str(to_string(finding.error.code)));
    set(entry, to_key("message").ptr(), to_str(finding.error.message));
    set(entry, to_key("path").ptr(), to_str(finding.error.path));
    set(entry, to_key("text").ptr(), to_str(finding.text));
    set(entry, to_key("meant").ptr(), to_object(finding.meant));
    set(entry, to_key("read").ptr(), to_object(finding.read));
    out.append(entry);
  }
  return out;
}

nb::object response_template(const FormatObject& self) {
  Result<json::Value> value = json::parse(self.format().template_json());
  if (!value) raise(Domain::kTemplate, value.error());
  return to_object(*value);
}

nb::object formats() {
  nb::list out;
  for (std::string_view name : Format::built_in_names()) {
    out.append(to_str(name));
  }
  return out;
}

nb::object detect(nb::handle tokenizer_config, nb::handle sample) {
  const std::string_view rendered = str_of(sample, "rendered");
  std::string text = to_json_text(tokenizer_config, Unfit::kNull);
  Result<json::Value> value = json::parse(text);
  if (!value) raise(Domain::kTemplate, value.error(), {.source = text});
  Result<DetectedFormat> found = detect_format(*value, {.rendered = rendered});
  if (!found) raise(Domain::kTemplate, found.error());
  nb::list others;
  for (const std::string& other : found->others) others.append(to_str(other));
  return nb::make_tuple(to_str(found->name), to_str(found->why),
                        to_str(found->family),
                        to_str(to_string(found->certainty)), others);
}

nb::object ranked(nb::handle text, const ToolSet* tools) {
  Input in;
  read_text(text, "text", nullptr, in);
  nb::list out;
  for (const FormatReading& reading : rank_formats(in.text, tools)) {
    out.append(nb::make_tuple(
        to_str(reading.name), to_int(reading.calls), to_str(reading.call),
        to_int(reading.diagnostics), to_int(reading.region_bytes),
        to_tuple(reading.bytes), to_bool(reading.marked)));
  }
  return out;
}

// (text, whether it is a name) of what is given as a description of responses,
// or None if it describes itself.
nb::object described(std::string_view text, bool schema_first) {
  const Result<ResponseSpec> spec = response_spec(text, schema_first);
  if (!spec) {
    raise(schema_first ? Domain::kSchema : Domain::kTemplate, spec.error());
  }
  if (spec->kind == ResponseSpec::Kind::kGiven) return nb::none();
  return nb::make_tuple(to_str(spec->text),
                        spec->kind == ResponseSpec::Kind::kFormat);
}

nb::object spec_of_text(nb::handle text, bool schema_first) {
  return described(str_of(text, "text"), schema_first);
}

nb::object spec_of_dict(nb::handle spec, bool schema_first) {
  json::Object keys;
  for (const nb::handle key : nb::borrow<nb::dict>(spec).keys()) {
    if (nb::isinstance<nb::str>(key)) {
      keys.set(nb::cast<std::string>(nb::str(key)), nullptr);
    }
  }
  if (!is_tokenizer_config(keys)) return nb::none();
  // A tokenizer in memory has objects among its settings.
  return described(to_json_text(spec, Unfit::kNull), schema_first);
}

// The index of the field without an open delimiter, or the number of fields.
std::uint32_t implicit_field(const Format& format) {
  Result<json::Value> text = json::parse(format.template_json());
  const json::Value* fields = text ? text->find("fields") : nullptr;
  for (std::uint32_t i = 0; i < format.field_count(); ++i) {
    const json::Value* field =
        fields == nullptr ? nullptr : fields->find(format.field_name(i));
    if (field != nullptr && field->find("open") == nullptr &&
        field->find("open_pattern") == nullptr) {
      return i;
    }
  }
  return static_cast<std::uint32_t>(format.field_count());
}

std::vector<std::string_view> names_of(const Format& format) {
  std::vector<std::string_view> out;
  for (std::uint32_t i = 0; i < format.field_count(); ++i) {
    out.push_back(format.field_name(i));
  }
  return out;
}

EventPrototypes prototypes_of(const Format& format, bool bare) {
  const std::uint32_t implicit = implicit_field(format);
  std::vector<EventPrototypes::Field> fields;
  for (std::uint32_t i = 0; i < format.field_count(); ++i) {
    fields.push_back({.name = format.field_name(i),
                      .dirty = format.field_dirty(i),
                      .captures = i != implicit});
  }
  return EventPrototypes(fields, bare);
}

}  // namespace

FormatObject::FormatObject(Format format, std::string source)
    : format_(std::move(format)),
      source_(std::move(source)),
      names_(names_of(format_)) {}

const EventPrototypes& FormatObject::prototypes() const {
  return prototypes_.get([&] { return prototypes_of(format_, false); });
}

const EventPrototypes& FormatObject::bare_prototypes() const {
  return bare_prototypes_.get([&] { return prototypes_of(format_, true); });
}

Recover to_recover(nb::handle value) {
  if (value.is_none()) return Recover::kDefault;
  int truth = PyObject_IsTrue(value.ptr());
  if (truth < 0) {
    // For example an array.
    if (PyErr_ExceptionMatches(PyExc_ValueError) == 0) throw nb::python_error();
    raise_type("recover", "True, False or None", value);
  }
  return truth != 0 ? Recover::kYes : Recover::kNo;
}

void define_format(nb::module_& m) {
  nb::class_<FormatObject>(m, "Format")
      .def(
          "__init__",
          [](FormatObject* self, std::string_view text, bool named) {
            new (self) FormatObject(named ? built_in(text) : from_json(text));
          },
          nb::arg("text"), nb::arg("named"))
      // The same format, which shares all that has been compiled, with other
      // names.
      .def(
          "__init__",
          [](FormatObject* self, const FormatObject& made,
             const nb::object& names) {
            new (self)
                FormatObject(nb::len(names) > 0
                                 ? renamed(made, names)
                                 : FormatObject(made.format(), made.source()));
          },
          nb::arg("made"), nb::arg("names"))
      .def_prop_ro(
          "name",
          [](const FormatObject& self) { return to_str(self.format().name()); },
          doc::format::kName)
      .def_prop_ro("aliases", &aliases, doc::format::kAliases)
      .def_prop_ro("models", &models, doc::format::kModels)
      .def_prop_ro("variants", &variants, doc::format::kVariants)
      .def_prop_ro(
          "recovers",
          [](const FormatObject& self) { return self.format().recovers(); },
          doc::format::kRecovers)
      .def_prop_ro("fields", &fields, doc::format::kFields)
      .def_prop_ro(
          "source",
          [](const FormatObject& self) { return to_str(self.source()); },
          doc::format::kSource)
      .def_prop_ro("template", &response_template, doc::format::kTemplate)
      .def("lint", &lint, nb::sig("def lint(self) -> list[dict[str, str]]"),
           doc::format::kLint)
      .def("_verify", &verify, nb::arg("tools"), nb::arg("vocabulary").none(),
           nb::arg("walks"), nb::arg("seed"))
      .def(
          "_render",
          [](const FormatObject& self, std::string_view message,
             const ToolSet* tools, nb::handle prompt, bool verify) {
            const std::string_view prefix = str_of(prompt, "prefix");
            Result<json::Value> value = json::parse(message);
            if (!value) {
              raise(Domain::kTemplate, value.error(), {.source = message});
            }
            Result<std::string> text = self.format().render(
                *value, {.tools = tools, .prefix = prefix, .verify = verify});
            if (!text) raise(Domain::kTemplate, text.error());
            return to_str(*text);
          },
          nb::arg("message"), nb::arg("tools").none(), nb::arg("prefix"),
          nb::arg("verify"));
  m.def("formats", &formats);
  m.def("detect_format", &detect, nb::arg("tokenizer_config"),
        nb::arg("rendered"));
  m.def("rank_formats", &ranked, nb::arg("text"), nb::arg("tools").none());
  m.def("detection_sample", [] { return to_object(detection_sample()); });
  m.def("response_spec", &spec_of_text, nb::arg("text"),
        nb::arg("schema_first"));
  m.def("response_spec_of_dict", &spec_of_dict, nb::arg("spec"),
        nb::arg("schema_first"));
  m.def(
      "template_text",
      [](nb::handle value) {
        return to_str(to_json_text(value, Unfit::kRefuse));
      },
      nb::arg("value").none());
  m.def(
      "tools_text",
      [](nb::handle value) {
        return to_str(to_json_text(value, Unfit::kNull, Domain::kOther));
      },
      nb::arg("value").none());
  m.def(
      "schema_text",
      [](nb::handle value) {
        return to_str(to_json_text(value, Unfit::kDumps, Domain::kSchema));
      },
      nb::arg("value").none());
  m.def(
      "tag_text",
      [](nb::handle value, std::string_view path) {
        return to_str(
            to_json_text(value, Unfit::kDumps, Domain::kGrammar, path));
      },
      nb::arg("value").none(), nb::arg("path"));
}

}  // namespace parlance::python
