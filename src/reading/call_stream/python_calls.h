#ifndef PARLANCE_SRC_CALL_STREAM_PYTHON_CALLS_H_
#define PARLANCE_SRC_CALL_STREAM_PYTHON_CALLS_H_

// Calls in Python's syntax, as JSON text while they are being written.
//
//   [get(city='Be      call_open       get
//                      call_arguments  {"city": "Be
//   rn', on=True),     call_arguments  rn", "on": true}
//
// The tokens are those of a PythonScanner.  An argument that the schema of the
// tool may cast is written when it ends.  A call that cannot be read stays as
// it is; the next one is looked for where its brackets close.

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "call_stream/call_stream.h"
#include "call_stream/json_calls.h"
#include "call_syntax/json_text.h"
#include "call_syntax/python_scanner.h"
#include "call_syntax/value_builder.h"
#include "parlance/limits.h"
#include "schema/cast_calls.h"

namespace parlance::call_stream {

// How calls are written in a dialect, and how deep they may nest.
call_syntax::PythonLanguage python_language(call_syntax::PythonDialect dialect,
                                            const Limits& limits);

// The names of the arguments of one call, each of which may come once.
class ArgumentNames {
 public:
  // Whether `key`, a kKey token between the arguments, is new.
  bool add(std::string_view key) { return names_.emplace(key).second; }
  void clear() { names_.clear(); }
  static std::string repeated(std::string_view key);

 private:
  std::set<std::string, std::less<>> names_;
};

class PythonCallReader final : public CallReader {
 public:
  PythonCallReader(call_syntax::PythonDialect dialect, Casts casts,
                   std::string_view id, const Limits& limits);
  // Reads the arguments of a call of `name`, without parentheses.
  static std::unique_ptr<PythonCallReader> of_arguments(std::string_view name,
                                                        const Limits& limits);

  void advance(std::string_view text, bool end, CallWriter& out) override;

 private:
  void open(CallWriter& out);
  void add(const call_syntax::Token& token, const call_syntax::Input& input,
           std::string& out);
  bool may_cast(const call_syntax::Token& token,
                const call_syntax::Input& input) const;

  const Casts casts_;
  const std::string id_;
  const Limits limits_;
  const call_syntax::PythonLanguage language_;
  call_syntax::PythonScanner scanner_;

  // The call.
  std::string name_;
  call_syntax::JsonText json_;
  ArgumentNames names_;
  bool opened_ = false;
  bool in_call_ = false;
  bool damaged_ = false;
  bool stopped_ = false;
  const schema::StringMap<schema::Parameter>* parameters_ = nullptr;
  const schema::Parameter* parameter_ = nullptr;  // of the argument
  bool held_ = false;                             // the argument may be cast
  call_syntax::ValueBuilder builder_;             // of it
};

}  // namespace parlance::call_stream

#endif  // PARLANCE_SRC_CALL_STREAM_PYTHON_CALLS_H_
