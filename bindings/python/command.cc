// The `parlance` command: what parlance/__main__.py calls.

#include <mutex>
#include <string>
#include <vector>

#include "../../cli/command_line.h"
#include "../../cli/system.h"
#include "binding.h"

namespace parlance::python {

namespace {

int run_command(const nb::list& arguments) {
  std::vector<std::string> texts = {"parlance"};
  for (const nb::handle argument : arguments) {
    char* bytes = nullptr;
    // Without a place for the size a zero byte is an error.
    if (PyBytes_AsStringAndSize(argument.ptr(), &bytes, nullptr) != 0) {
      throw nb::python_error();
    }
    texts.emplace_back(bytes);
  }
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);

  static std::mutex one_at_a_time;
  const WithoutGil released;
  const std::lock_guard lock(one_at_a_time);
  const cli::PreparedProcess prepared;
  return cli::run_command_line(static_cast<int>(texts.size()), pointers.data());
}

}  // namespace

void define_command(nb::module_& m) {
  m.def("run_command", &run_command, nb::arg("arguments"),
        "Runs the command with arguments in UTF-8; returns the exit status.");
}

}  // namespace parlance::python
