// ToolSet: declared tools, read once and used by many parsers.

#include "binding.h"
#include "docstrings.h"

namespace parlance::python {

void define_tools(nb::module_& m) {
  nb::class_<ToolSet>(m, "ToolSet")
      .def(
          "__init__",
          [](ToolSet* self, std::string_view text) {
            Result<ToolSet> tools = ToolSet::from_json(text);
            if (!tools) raise(Domain::kOther, tools.error(), {.source = text});
            new (self) ToolSet(*std::move(tools));
          },
          nb::arg("text"))
      .def("__len__", &ToolSet::size, doc::tool_set::kLen)
      .def(
          "__contains__",
          [](const ToolSet& self, nb::handle tool) {
            return self.contains(str_of(tool, "the name of a tool"));
          },
          nb::arg("tool"), doc::tool_set::kContains);
}

}  // namespace parlance::python
