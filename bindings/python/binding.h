#ifndef PARLANCE_BINDINGS_PYTHON_BINDING_H_
#define PARLANCE_BINDINGS_PYTHON_BINDING_H_

// What the files of the Python module share.
//
// The module `_parlance` translates between Python objects and the library's
// public API and decides nothing.  What a spec may be, how a batch is
// distinguished from a single response, and what is cached is decided in
// Python, in parlance/.
//
// Conversions use Python's C interface directly and return new references as
// nb::object; a call that fails throws nb::python_error.  All functions here
// require the GIL.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gil.h"
#include "parlance/chat.h"
#include "parlance/error.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/limits.h"
#include "parlance/message.h"
#include "parlance/response_parser.h"
#include "parlance/tools.h"
#include "parlance/vocabulary.h"

namespace parlance::python {

namespace nb = nanobind;

// ---- Objects of the module

// Python objects that the functions of the module need are the members of a
// struct `T`, which is made when the module is imported and never destroyed.
// They are not made when they are first needed: a static of a function has a
// lock, and Python code that runs while one is made can switch to a thread that
// waits for the lock with the GIL.
template <class T>
inline T* made_at_import = nullptr;
template <class T>
void make_at_import() {
  made_at_import<T> = new T;
}

// Slots of the class of `T` (nb::type_slots) with which the garbage collector
// finds cycles of references.  `T::traverse(visit, arg)` is as tp_traverse.
//
// There is no tp_clear: the objects refer to what they were made of, as tuples
// do, so every cycle has an object of another kind that can be cleared.
template <class T>
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  return nb::inst_ptr<const T>(self)->traverse(visit, arg);
}
template <class T>
inline PyType_Slot kTraversed[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(&traverse<T>)}, {0, nullptr}};

// ---- errors.cc

// What an error is about, which selects the subclass of parlance.Error.
enum class Domain : std::uint8_t {
  kOther,
  kTemplate,
  kSchema,
  kGrammar,
  kResponse,
};

struct ErrorContext {
  std::string_view source = {};  // the text that path and span refer to
  nb::object events = {};        // those of the call that failed
  std::optional<std::size_t> item = std::nullopt;  // index in a batch
};

// The functions that raise replace a pending exception, which becomes the cause
// of the new one.  One that is no Exception, such as KeyboardInterrupt, is
// raised itself.

// The exception for `error`, made by parlance/_errors.py.
nb::object exception_of(Domain domain, const Error& error,
                        const ErrorContext& context = {});
// Raises it.
[[noreturn]] void raise(Domain domain, const Error& error,
                        const ErrorContext& context = {});
// Raises ResponseError with a code that is not an ErrorCode.
[[noreturn]] void raise_response(std::string_view code,
                                 std::string_view message, nb::object events);
[[noreturn]] void raise_usage(std::string message);
[[noreturn]] void raise_finalized(std::string_view parser = "ResponseParser");
// Throws the pending exception if it says nothing about an argument:
// KeyboardInterrupt and its like, and MemoryError.
void check_blames_argument();
// TypeError("`what` must be `wanted`, not `type of got`")
[[noreturn]] void raise_type(std::string_view what, std::string_view wanted,
                             nb::handle got);
// The name of the class of `value`.  Runs none of the caller's code.
std::string class_name(nb::handle value);
// object.name; an invalid object if there is no such attribute.  Raises what a
// property raises.
nb::object attribute(nb::handle object, const char* name);
// Sets Python's exception for the C++ exception that is being handled.  None of
// them shows the name of a class of C++.
void set_exception() noexcept;

// ---- values.cc

// A str.  Surrogates encoded as three bytes become surrogates.
nb::object to_str(std::string_view text);
// The same for keys and other texts that repeat: short ones come from a small
// cache.
nb::object to_key(std::string_view text);
nb::object to_object(const json::Value& value);
nb::object to_object(std::span<const json::FlatNode> nodes);

// A str that the caller passed, and its UTF-8; null if there is none.
struct Fed {
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  PyObject* object = nullptr;
  std::string_view text = {};
  std::uint64_t begin = kUnknown;  // in the stream, as of Event::bytes

  // Whether the text of `event` is all of it.  A chunk of the same size at the
  // same place in the stream is the same text.  Others are compared, unless
  // they are long.
  bool is_text_of(const Event& event) const {
    constexpr std::size_t kCompared = 1024;
    if (object == nullptr || event.text.size() != text.size()) return false;
    const bool placed =
        begin != kUnknown && event.kind == EventKind::kRegionChunk;
    if (placed && event.bytes.begin == begin &&
        event.bytes.size() == text.size()) {
      return true;
    }
    return (!placed || text.size() <= kCompared) && event.text == text;
  }
};
// The same, but members of `value`, an object, whose text is all of `fed` are
// that very str.  A str is immutable, so it can be shared.
nb::object to_object(const json::Value& value, const Fed& fed);
// An interned str.  It is never released.
PyObject* interned(const char* text);

nb::object to_dict(const Diagnostic& diagnostic);
nb::object to_tuple(Span span);

// `dict[key] = value`.  An invalid `value` means that an exception is pending,
// which is thrown.
void set(nb::handle dict, PyObject* key, nb::object value);
nb::object to_bytes(std::string_view bytes);
nb::object to_bool(bool value);
nb::object to_int(std::size_t value);

// About the depth at which Python's own json fails.
constexpr std::size_t kMaxValueDepth = 990;

// The value of an object made of dict, list, tuple, str, int, float, bool and
// None; else raises TypeError.  Lone surrogates in texts are encoded as three
// bytes.  `fail` raises what it is given: an error for a value that is too deep
// (kMaxValueDepth) or too large (kMaxValues).
using FailedValue = std::function<void(const Error&)>;
json::Value to_value(nb::handle object, const FailedValue& fail);

// The decimal digits of an int; nothing if there are more than the library
// reads.  It does not depend on sys.set_int_max_str_digits().
constexpr std::size_t kMaxDigits = Limits().integer_digits;
std::optional<std::string> digits_of(nb::handle value);

// A str that compares and hashes as str does: `text`, or, of a subclass, its
// text.
nb::object exact_str(nb::handle text);

// The UTF-8 of a str; surrogates are encoded as three bytes.
std::string utf8_with_surrogates(nb::handle text);

// The items of a dict in its own order: a subclass may have another than that
// in which it stores them.  A list of pairs, which nobody else has.
nb::object items_of(nb::handle dict);

// A number as a double: NaN if it has no double, as 10**400.  Raises
// TypeError("`what` must be `wanted`, ...") for what is no number.
double read_number(nb::handle value, std::string_view what,
                   std::string_view wanted);

// ---- write_json.cc

// What to do with values that JSON cannot represent.
enum class Unfit : std::uint8_t {
  kRefuse,  // an error with the path of the value
  kDumps,   // the same, but tuples and some keys are written as json.dumps does
  kNull,    // written as null (a key: left out); tuples are written as lists
};

// The largest number of values that one text may have.  A dict that several
// others share is written as often as it is reached, so a small object can
// stand for exponentially many values.
constexpr std::size_t kMaxValues = std::size_t{1} << 20;

// The JSON text of a Python value, as json.dumps(ensure_ascii=False) writes it;
// lone surrogates are escaped.  Errors are raised in `domain`, with a path that
// begins with `path`.
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

  // Whether the text is a view of the caller's object.
  bool is_plain() const {
    return is_text && !owner.is_valid() && copy.empty() && ids.empty();
  }
};

// The largest number of ids of one call.  Some sequences have any number of
// items and need no memory for them: those that compute their items, and arrays
// with a stride of 0.
constexpr std::size_t kMaxIds = std::size_t{1} << 26;

// The UTF-8 of a str, valid as long as `text`; nothing, and no exception, if it
// has half of a surrogate pair.
inline std::optional<std::string_view> utf8_of(nb::handle text) {
  Py_ssize_t size = 0;
  const char* begin = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (begin != nullptr) {
    return std::string_view(begin, static_cast<std::size_t>(size));
  }
  if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError) == 0) {
    throw nb::python_error();
  }
  PyErr_Clear();
  return std::nullopt;
}

// The text of a str or of UTF-8 bytes, valid as long as `value`.  Raises
// TypeError for anything else, and Error for a str with half of a surrogate
// pair.
std::string_view text_of(nb::handle value, std::string_view what);
// The bytes of a bytes object; a TypeError names `what` for anything else.
std::string_view bytes_of(nb::handle value, std::string_view what);
// A path in the encoding of the file system.  Raises TypeError for an object
// that is no path (a number is none), and UsageError for a path that cannot
// exist.
std::string path_of(nb::handle path);

// Reads str, bytes, bytearray or a flat sequence of ids.  `previous`, if given,
// is the last byte that an earlier call fed as bytes.  The views are valid as
// long as `in`, and as long as `value` if it is a str or bytes.
//
// Surrogates of a str are encoded as three bytes.  The same three bytes in a
// bytes object are replaced by bytes that are ill-formed for every parser (same
// length, same number of U+FFFD), so that a parser that accepts surrogates can
// read both.
void read_input(nb::handle value, std::string_view what, Input& in,
                unsigned char* previous = nullptr);
// The text of `in` follows `before`, which may end inside a surrogate of a
// bytes object.
void continue_text(std::string_view before, Input& in);
// Token ids from a list, a tuple, a buffer or an object with tolist().
std::vector<TokenId> read_ids(nb::handle value, std::string_view what);
// The text of a str argument, valid as long as `value`.  Raises TypeError for
// anything else, and Error for a str with half of a surrogate pair.
std::string_view str_of(nb::handle value, std::string_view what);
// One token id.
TokenId read_id(nb::handle value, std::string_view what);
// A number of 0 or more.  Raises TypeError for what is no integer, and
// UsageError for a negative one or one beyond 63 bits.
std::size_t read_count(nb::handle value, std::string_view what);
// A list of int.
nb::object to_ids(std::span<const TokenId> ids);
// The same for integers of any kind.
std::vector<std::int64_t> read_numbers(nb::handle value, std::string_view what);
// Text; ids become the bytes of their tokens.
void read_text(nb::handle value, std::string_view what,
               const Vocabulary* vocabulary, Input& in);
// A prefix as text.
void read_prefix(nb::handle value, const Vocabulary* vocabulary, Input& in);

// A prefix as text or as ids.  Ids distinguish marks from their spellings.
void read_marked_prefix(nb::handle value, const Vocabulary* vocabulary,
                        Input& in);

// "token", "either" or "text".
Markers to_markers(nb::handle value);

// ---- events.cc

// For each field and kind of event a dict with the keys of such an event and
// the values that never change.  An event's dict begins as a copy of it.
class EventPrototypes {
 public:
  struct Field {
    std::string_view name;
    bool dirty = false;     // of its chunks
    bool captures = false;  // its open event has named groups, maybe none
  };
  EventPrototypes() = default;
  // With `bare`, the keys are those that transformers gives an event, and no
  // others.
  explicit EventPrototypes(std::span<const Field> fields, bool bare = false);

  bool bare() const { return bare_; }

  // The field's name as a str, borrowed.
  PyObject* name(std::uint32_t field) const { return names_[field].ptr(); }
  bool dirty(std::uint32_t field) const { return dirty_[field]; }
  bool has_captures(std::uint32_t field) const { return captures_[field]; }
  // The prototype, borrowed.
  PyObject* get(std::uint32_t field, EventKind kind) const {
    return prototypes_[4 * field + static_cast<std::size_t>(kind)].ptr();
  }

 private:
  bool bare_ = false;
  std::vector<nb::object> names_;
  std::vector<bool> dirty_;
  std::vector<bool> captures_;
  std::vector<nb::object> prototypes_;  // ORDER: EventKind, four per field
};

// ---- vocabulary.cc

// A vocabulary as a Python object.
nb::object vocabulary_object(Vocabulary vocabulary);

// ---- format.cc

// A value that is made when it is first needed.  Making it can run code that
// needs it, too: then the one that is finished first is kept.
template <class T>
class MadeLater {
 public:
  MadeLater() = default;
  ~MadeLater() { delete made_.load(std::memory_order_relaxed); }
  MadeLater(const MadeLater&) = delete;
  MadeLater& operator=(const MadeLater&) = delete;

  // `make` returns a T.
  const T& get(const auto& make) {
    const T* known = made_.load(std::memory_order_acquire);
    if (known != nullptr) return *known;
    auto made = std::make_unique<const T>(make());
    if (made_.compare_exchange_strong(known, made.get(),
                                      std::memory_order_acq_rel,
                                      std::memory_order_acquire)) {
      known = made.release();
    }
    return *known;
  }

 private:
  std::atomic<const T*> made_ = nullptr;
};

// What Python's Format objects hold.
class FormatObject {
 public:
  FormatObject(Format format, std::string source);

  const Format& format() const { return format_; }
  const std::string& source() const { return source_; }
  // Made when first needed.
  const EventPrototypes& prototypes() const;
  const EventPrototypes& bare_prototypes() const;
  // By field.
  std::span<const std::string_view> names() const { return names_; }

  // An object to read a response with, which was used before if one has been
  // left; and leaves one for the next response, without what it has read.  Each
  // thread that parses without the GIL has its own.
  std::unique_ptr<ResponseFields> take_reader() const {
    return spare_reader_ != nullptr ? std::move(spare_reader_)
                                    : std::make_unique<ResponseFields>();
  }
  void leave_reader(std::unique_ptr<ResponseFields> reader) const {
    reader->clear();
    spare_reader_ = std::move(reader);
  }

 private:
  Format format_;
  std::string source_;
  std::vector<std::string_view> names_;  // of format_
  mutable MadeLater<EventPrototypes> prototypes_;
  mutable MadeLater<EventPrototypes> bare_prototypes_;
  mutable std::unique_ptr<ResponseFields> spare_reader_;
};

Recover to_recover(nb::handle value);  // None, True or False

// ---- chat.cc

// The fields of a format, if there is one, and after them those of `names` that
// it does not have.
std::vector<ChatField> chat_fields(const FormatObject* format,
                                   std::span<const std::string_view> names);

// ---- parse.cc

// Less text than this is parsed before a thread would have started.
constexpr std::size_t kThreadBytes = 16384;

// The fields of parlance.ParseResult: a tuple of the message (or None), whether
// it is complete, its diagnostics, the exception raised in place of the message
// (or None), whether the end of the turn was seen, the attempted calls, and the
// bytes of the prefix from which places count.
struct Details {
  nb::object message = nb::none();
  bool complete = false;
  nb::object diagnostics = nb::list();
  nb::object error = nb::none();
  bool turn_ended = false;
  nb::object attempted_calls = nb::list();
  std::size_t prefix_bytes = 0;
};
nb::object to_tuple(Details details);

// Calls `read`.  Returns the Exception that it raised, or an invalid object.
nb::object caught(const std::function<void()>& read);

// Whether to stop; long work asks from time to time.
using Stop = std::function<bool()>;
using Work = std::function<void(std::size_t, const Stop&)>;

// Calls work(0) to work(count - 1), which read `bytes` bytes in total, without
// the GIL, on as many threads as pay off.  REQUIRES: the caller holds the GIL.
// If a signal handler raises an exception meanwhile, the work is stopped, and
// the exception is thrown when all threads have ended.
void on_threads(std::size_t count, std::size_t bytes, const Work& work);

// ---- One function per file

void define_values();
void define_events();
void define_shortcut();
void define_arrow(nb::module_& m);
void define_batch(nb::module_& m);
void define_chat(nb::module_& m);
void define_command(nb::module_& m);  // if there is one
void define_constraint(nb::module_& m);
void define_delta_stream(nb::module_& m);
void define_errors(nb::module_& m);
void define_format(nb::module_& m);
void define_grammar(nb::module_& m);
void define_harmony(nb::module_& m);
void define_jmespath(nb::module_& m);
void define_logits(nb::module_& m);
void define_parse(nb::module_& m);
void define_parser(nb::module_& m);
void define_schema(nb::module_& m);
void define_snapshot(nb::module_& m);
void define_structural_tag(nb::module_& m);
void define_tag_parser(nb::module_& m);
void define_tools(nb::module_& m);
void define_view(nb::module_& m);
void define_vocabulary(nb::module_& m);

// What cached() has made of `spec`; an invalid object if its content has
// changed since, or if nothing was made of it.
nb::object find_cached(nb::handle cache, nb::handle spec);

// The message of a response by a schema, or an invalid object if the arguments
// are not the usual ones: a ResponseSchema and a short text, of type str.
nb::object parse_text_by_schema(nb::handle schema, nb::handle response);

}  // namespace parlance::python

#endif  // PARLANCE_BINDINGS_PYTHON_BINDING_H_
