#ifndef PARLANCE_BINDINGS_PYTHON_BINDING_H_
#define PARLANCE_BINDINGS_PYTHON_BINDING_H_

// What the files of the Python module share.
//
// The module `_parlance` translates between Python objects and the library's
// doors and decides nothing; what a spec may be, how batches are told from
// single responses and what is cached is written in Python, in parlance/.
//
// Conversions use Python's C interface directly and return new references as
// nb::object; a failing call leaves through nb::python_error.  All functions
// here need the GIL.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/message.h"
#include "parlance/response_parser.h"
#include "parlance/tools.h"
#include "parlance/vocabulary.h"

namespace parlance::python {

namespace nb = nanobind;

// ---- errors.cc

// Which subclass of parlance.Error: the thing that the error is about.
enum class Domain : std::uint8_t {
  kOther,
  kTemplate,
  kSchema,
  kGrammar,
  kResponse,
};

struct ErrorContext {
  std::string_view source = {};  // the text that path and span refer to
  nb::object events = {};        // of the call that failed
  std::optional<std::size_t> item = std::nullopt;  // index in a batch
};

// The exception that parlance/_errors.py makes of `error`.
nb::object exception_of(Domain domain, const Error& error,
                        const ErrorContext& context = {});
// Raises it.
[[noreturn]] void raise(Domain domain, const Error& error,
                        const ErrorContext& context = {});
[[noreturn]] void raise_usage(std::string message);
[[noreturn]] void raise_finalized(std::string_view parser = "ResponseParser");
// TypeError("`what` must be `wanted`, not `type of got`")
[[noreturn]] void raise_type(std::string_view what, std::string_view wanted,
                             nb::handle got);
// The name of the class of `value`.  Runs no code of the caller's.
std::string class_name(nb::handle value);

// ---- values.cc

// A str; surrogates in their three-byte form come out as surrogates.
nb::object to_str(std::string_view text);
// The same for keys, which repeat: short ones come from a small cache.
nb::object to_key(std::string_view text);
nb::object to_object(const json::Value& value);
// Interned; immortal in effect.
PyObject* interned(const char* text);

nb::object to_dict(const Diagnostic& diagnostic);
nb::object to_tuple(Span span);

// `dict[key] = value`, a null value being a pending exception.
void set(nb::handle dict, PyObject* key, nb::object value);
nb::object to_bytes(std::string_view bytes);
nb::object to_bool(bool value);
nb::object to_int(std::size_t value);

// ---- write_json.cc

// What has no place in JSON.
enum class Unfit : std::uint8_t {
  kRefuse,  // an error with the place
  kDumps,   // the same, but tuples and some keys are as json.dumps has them
  kNull,    // read as null (a key: left out), tuples as lists
};

// Values that are written for one.  A dict that several others share is written
// as often as it is reached, so a small one may have no end of them.
constexpr std::size_t kMostValues = std::size_t{1} << 20;

// The JSON text of a Python value, as json.dumps(ensure_ascii=False) has it;
// lone surrogates as escapes.  What is wrong is raised as an error of `domain`
// at a path that begins with `path`.
std::string to_json_text(nb::handle value, Unfit unfit,
                         Domain domain = Domain::kTemplate,
                         std::string_view path = {});

// ---- ids.cc

// Text or token ids, as the caller gave them.
struct Input {
  bool is_text = true;
  std::string_view text;  // into `owner`, `copy` or the caller's object
  std::vector<TokenId> ids;
  nb::object owner;
  std::string copy;
};

// Ids that one call takes.  Some sequences have any number of items for no
// memory: those that compute them, and arrays with a stride of 0.
constexpr std::size_t kMostIds = std::size_t{1} << 26;

// The text of a str, or of the bytes of one, valid as long as `value`.
// TypeError for anything else; half of a surrogate pair is no text: an Error.
std::string_view text_of(nb::handle value, std::string_view what);
// A path as the file system has it.  TypeError for what is none (a number is
// none), UsageError for what no file system can have.
std::string path_of(nb::handle path);

// str, bytes, bytearray or a flat sequence of ids.  `previous`, where it
// matters, is the last byte that was fed before as bytes.  The views are valid
// as long as `in`, and as `value` when that is a str or bytes.  Surrogates in
// a str come in three-byte form; what looks like those in bytes is made plainly
// ill-formed (same length, same number of U+FFFD), so that a parser that
// accepts surrogates can read both.
void read_input(nb::handle value, std::string_view what, Input& in,
                unsigned char* previous = nullptr);
// Token ids from a list, a tuple, a buffer or something with tolist().
std::vector<TokenId> read_ids(nb::handle value, std::string_view what);
// The same for integers of any kind.
std::vector<std::int64_t> read_numbers(nb::handle value, std::string_view what);
// Text, or ids as text: the bytes of their tokens.
void read_text(nb::handle value, std::string_view what,
               const Vocabulary* vocabulary, Input& in);
// A prefix as text.
void read_prefix(nb::handle value, const Vocabulary* vocabulary, Input& in);

// A prefix as it was given: its ids tell marks from their spellings.
void read_marked_prefix(nb::handle value, const Vocabulary* vocabulary,
                        Input& in);

// "token", "either" or "text".
Markers to_markers(nb::handle value);

// ---- events.cc

// What the events of one field have in common, made once.
class EventOutlines {
 public:
  struct Field {
    std::string_view name;
    bool dirty = false;     // of its chunks
    bool captures = false;  // its opening tells named groups, maybe none
  };
  EventOutlines() = default;
  explicit EventOutlines(std::span<const Field> fields);

  // The field's name as a str, borrowed.
  PyObject* name(std::uint32_t field) const { return names_[field].ptr(); }
  bool dirty(std::uint32_t field) const { return dirty_[field]; }
  bool has_captures(std::uint32_t field) const { return captures_[field]; }
  // A dict with the keys of such an event, and its constant values; borrowed.
  PyObject* get(std::uint32_t field, EventKind kind) const {
    return outlines_[4 * field + static_cast<std::size_t>(kind)].ptr();
  }

 private:
  std::vector<nb::object> names_;
  std::vector<bool> dirty_;
  std::vector<bool> captures_;
  std::vector<nb::object> outlines_;  // ORDER: EventKind, four per field
};

// ---- format.cc

// What Python's Format objects hold.
class FormatObject {
 public:
  FormatObject(Format format, std::string source);

  const Format& format() const { return format_; }
  const std::string& source() const { return source_; }
  const EventOutlines& outlines() const { return outlines_; }
  // By field.
  std::span<const std::string_view> names() const { return names_; }

 private:
  Format format_;
  std::string source_;
  std::vector<std::string_view> names_;  // of format_
  EventOutlines outlines_;
};

Recover to_recover(nb::handle value);  // None, True or False

// ---- parse.cc

// Less than this is done sooner than a thread starts.
constexpr std::size_t kThreadBytes = 16384;

// What is told of one response besides its message: a tuple of the message (or
// None), whether it is complete, its diagnostics, and the exception that came
// in place of the message (or None).
nb::object to_details(nb::object message, bool complete, nb::object diagnostics,
                      nb::object error);

// Calls `read`; where it raises an Exception, that one, else an invalid object.
nb::object caught(const std::function<void()>& read);

// Whether to give up; asked now and then by work that takes long.
using Stop = std::function<bool()>;
using Work = std::function<void(std::size_t, const Stop&)>;

// Does work(0) to work(count - 1), which read `bytes` together, without the GIL
// on as many threads as are worth it.  Called with the GIL; raises what a
// signal handler raised meanwhile, when nobody works any more.
void on_threads(std::size_t count, std::size_t bytes, const Work& work);

// ---- one per file

void define_constraint(nb::module_& m);
void define_errors(nb::module_& m);
void define_format(nb::module_& m);
void define_grammar(nb::module_& m);
void define_jmespath(nb::module_& m);
void define_logits(nb::module_& m);
void define_parse(nb::module_& m);
void define_parser(nb::module_& m);
void define_schema(nb::module_& m);
void define_snapshot(nb::module_& m);
void define_structural_tag(nb::module_& m);
void define_tag_parser(nb::module_& m);
void define_tools(nb::module_& m);
void define_vocabulary(nb::module_& m);

}  // namespace parlance::python

#endif  // PARLANCE_BINDINGS_PYTHON_BINDING_H_
