// StructuralTag, and the structural tags of formats.

#include "parlance/structural_tag.h"

#include "binding.h"
#include "constraint.h"
#include "docstrings.h"

namespace parlance::python {

namespace {

json::Value value_of(std::string_view text, std::string_view path) {
  Result<json::Value> value = json::parse(text, {.exact_floats = true});
  if (!value) {
    Error error = value.error();
    error.path = std::string(path) + error.path;
    raise(Domain::kGrammar, error, {.source = text});
  }
  return *std::move(value);
}

std::string text_of(const StructuralTag& tag) {
  return json::dump(tag.to_json(), {.ascii = false});
}

TagObject made(Result<StructuralTag> tag) {
  if (!tag) raise(Domain::kGrammar, tag.error());
  std::string source = text_of(*tag);
  return {*std::move(tag), std::move(source)};
}

TagObject from_text(std::string_view text) {
  std::optional<Result<StructuralTag>> tag;
  {
    const WithoutGil released;
    tag.emplace(StructuralTag::from_json(text));
  }
  if (!*tag) raise(Domain::kGrammar, tag->error(), {.source = text});
  return {**std::move(tag), std::string(text)};
}

TagObject from_tags(std::string_view tags, std::string_view triggers) {
  return made(StructuralTag::from_tags(value_of(tags, "/tags"),
                                       value_of(triggers, "/triggers")));
}

// ORDER: ReasoningMode
ReasoningMode mode_of(int mode) { return static_cast<ReasoningMode>(mode); }

std::optional<std::uint32_t> number_of(nb::handle value) {
  if (value.is_none()) return std::nullopt;
  return nb::cast<std::uint32_t>(value);
}

TagObject of_format(const FormatObject& format, std::string_view tools,
                    std::string_view tool_choice, bool parallel_tool_calls,
                    int text_with_calls, int reasoning,
                    std::string_view response_format, nb::handle prefix,
                    const Vocabulary* vocabulary,
                    nb::object max_reasoning_tokens, bool any_order,
                    nb::object max_white_space) {
  StructuralTagOptions options;
  options.tools = value_of(tools, "/tools");
  options.tool_choice = value_of(tool_choice, "/tool_choice");
  options.parallel_tool_calls = parallel_tool_calls;
  // ORDER: TextWithCalls
  options.text_with_calls = static_cast<TextWithCalls>(text_with_calls);
  options.reasoning = mode_of(reasoning);
  options.response_format = value_of(response_format, "/response_format");
  Input in;
  read_marked_prefix(prefix, vocabulary, in);
  options.prefix = in.text;
  options.prefix_ids = std::move(in.ids);
  options.vocabulary = vocabulary;
  options.max_reasoning_tokens = number_of(max_reasoning_tokens);
  options.any_order = any_order;
  options.max_white_space = number_of(max_white_space);
  std::optional<Result<StructuralTag>> tag;
  {
    const WithoutGil released;
    tag.emplace(format.format().structural_tag(options));
  }
  return made(*std::move(tag));
}

}  // namespace

void define_structural_tag(nb::module_& m) {
  nb::class_<TagObject>(m, "StructuralTag")
      .def(
          "__init__",
          [](TagObject* self, std::string_view text) {
            new (self) TagObject(from_text(text));
          },
          nb::arg("text"))
      .def(nb::init<const TagObject&>(), nb::arg("tag"))
      .def(
          "to_json",
          [](const TagObject& self) { return to_str(text_of(self.tag)); },
          nb::sig("def to_json(self) -> str"), doc::structural_tag::kToJson)
      .def(
          "to_dict",
          [](const TagObject& self) { return to_object(self.tag.to_json()); },
          nb::sig("def to_dict(self) -> dict[str, Any]"),
          doc::structural_tag::kToDict)
      .def(
          "report",
          [](const TagObject& self) { return note_list(self.tag.report()); },
          nb::sig("def report(self) -> list[dict[str, str]]"),
          doc::structural_tag::kReport)
      .def_prop_ro(
          "source", [](const TagObject& self) { return to_str(self.source); },
          doc::structural_tag::kSource);
  m.def("tag_of_legacy", &from_tags, nb::arg("tags"), nb::arg("triggers"));
  m.def("tag_of_format", &of_format, nb::arg("format"), nb::arg("tools"),
        nb::arg("tool_choice"), nb::arg("parallel_tool_calls"),
        nb::arg("text_with_calls"), nb::arg("reasoning"),
        nb::arg("response_format"), nb::arg("prefix"),
        nb::arg("vocabulary").none(), nb::arg("max_reasoning_tokens").none(),
        nb::arg("any_order"), nb::arg("max_white_space").none());
}

}  // namespace parlance::python
