#ifndef PARLANCE_SRC_INVERSION_READING_H_
#define PARLANCE_SRC_INVERSION_READING_H_

// Calls as a format writes them, and what its own reader reads of them.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "inversion/plan.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/tools.h"

namespace parlance::inversion {

// The texts of `parts`; other parts are left out.
std::string text_in(const format::WriteParts& parts);

// A call.  `arguments`: their text, "" for none.
std::string spelled(const Sample& sample, std::string_view name,
                    std::string_view arguments = "");
// A response of one call.
std::string call_text(const Plan& plan, const Sample& sample,
                      std::string_view name, std::string_view arguments = "");

// The text of fields in a sample of a whole response.
constexpr std::string_view kFieldText = "x";

// What a response is read as: its calls, the fields of text in it, and the
// first thing that it should not have.
struct Reading {
  std::vector<json::Value> calls;
  std::vector<std::size_t> fields;
  std::string text;  // of the fields
  std::string fault;
  std::string diagnostic;  // the first one
};

struct ReadOptions {
  // Fields may have the text kFieldText, and no other.
  bool sample = false;
  // For call_fault(): a diagnostic is a fault, after all others.
  bool strict = false;
  // Types the arguments.  May be null.
  const ToolSet* tools = nullptr;
};

Reading read_response(const Format& format, const Plan& plan,
                      std::string_view text, const ReadOptions& options = {});

// The members of a call; null if it has none.
const json::Value* name_of(const json::Value& call);
const json::Value* arguments_of(const json::Value& call);

// Whether a call has this name and these arguments; where it has none at all,
// they are {}.
bool is_call(const json::Value& call, std::string_view name,
             const json::Value& arguments = json::Object());

// Why a response of one call is not read as this call; "" if it is.
std::string call_fault(const Format& format, const Plan& plan,
                       std::string_view text, std::string_view name,
                       const json::Value& arguments = json::Object(),
                       const ReadOptions& options = {});

// "\"a\", \"b\"": texts as messages list them.
std::string quoted_list(const std::vector<std::string>& texts);

// ---- places ----

// The pointer of a field in the template.
std::string field_pointer(const format::FormatImpl& format,
                          format::FieldId field);
// The pointer of what says how calls are written: their arguments in "write",
// or the field of a template without "write".
std::string calls_pointer(const format::FormatImpl& format, const Plan& plan);

}  // namespace parlance::inversion

#endif  // PARLANCE_SRC_INVERSION_READING_H_
