#ifndef PARLANCE_BINDINGS_C_CALLS_H_
#define PARLANCE_BINDINGS_C_CALLS_H_

// How every function of parlance_c.h is made.
//
//   PARLANCE_C_FUNCTIONS_BEGIN
//   parlance_status parlance_tools_from_json(const char* text, size_t size,
//                                            parlance_tools** out,
//                                            parlance_error** error) {
//     return call(error, [&] {
//       Out made(out, "out");                     // NULL until it is set
//       made.set(taken(ToolSet::from_json(text_of(text, size, "text"))));
//     });
//   }
//   PARLANCE_C_FUNCTIONS_END
//
// Inside, what is wrong is thrown (Failed) by the functions that check
// arguments and take results.  call() turns it, and std::bad_alloc, into a
// status: no exception leaves a function.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "handles.h"
#include "parlance/error.h"
#include "parlance/json.h"

// Around functions of the header, which are exported.
#define PARLANCE_C_FUNCTIONS_BEGIN \
  extern "C" {                     \
  _Pragma("GCC visibility push(default)")
#define PARLANCE_C_FUNCTIONS_END \
  _Pragma("GCC visibility pop")  \
  }

namespace parlance::c {

// ORDER: ErrorCode
constexpr parlance_status status_of(ErrorCode code) {
  return static_cast<parlance_status>(code) + 1;
}

struct Failed {
  parlance_status status;
  Error error;
};

// Throws an error of a person.
[[noreturn]] void fail(Error error);
// Throws a misuse: `what` names the argument, `why` what is wrong with it.
[[noreturn]] void misuse(parlance_status status, std::string_view what,
                         std::string_view why);

// The status of the exception that is being handled.  Stores an error.
parlance_status caught(parlance_error** error) noexcept;

template <class Body>
parlance_status call(parlance_error** error, const Body& body) noexcept {
  if (error != nullptr) *error = nullptr;
  try {
    body();
    return PARLANCE_OK;
  } catch (...) {
    return caught(error);
  }
}

template <class T>
T taken(Result<T> result) {
  if (!result) fail(std::move(result).error());
  return *std::move(result);
}

inline void need(const void* pointer, std::string_view what) {
  if (pointer == nullptr) misuse(PARLANCE_NULL, what, "is NULL");
}

// The handle, if it is one of its kind.
template <class T>
T& the(T* handle, std::string_view what) {
  need(handle, what);
  if (!is_of_its_kind(handle)) {
    misuse(PARLANCE_WRONG_HANDLE, what, "is a handle of another kind");
  }
  return *handle;
}
// The same, or null.
template <class T>
T* the_or_null(T* handle, std::string_view what) {
  return handle == nullptr ? nullptr : &the(handle, what);
}
// The value of a handle, or null.
template <class T>
auto* value_or_null(T* handle, std::string_view what) {
  T* const found = the_or_null(handle, what);
  return found == nullptr ? nullptr : &found->value;
}

// A handle that changes, for one call.
template <class T>
class Use {
 public:
  // Nothing is used if it is null.
  static Use maybe(T* handle, std::string_view what) {
    return Use(the_or_null(handle, what), what, nullptr);
  }
  Use(T* handle, std::string_view what) : Use(&the(handle, what), what, {}) {}
  Use(Use&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  ~Use() {
    if (handle_ != nullptr) {
      handle_->in_use.store(false, std::memory_order_release);
    }
  }
  T* get() const { return handle_; }
  T* operator->() const { return handle_; }
  T& operator*() const { return *handle_; }

 private:
  Use(T* handle, std::string_view what, std::nullptr_t) : handle_(handle) {
    if (handle_ != nullptr &&
        handle_->in_use.exchange(true, std::memory_order_acquire)) {
      handle_ = nullptr;
      misuse(PARLANCE_BUSY, what, "is used by another call");
    }
  }

  T* handle_;
};

// --- Arguments

inline std::string_view text_of(const void* text, std::size_t size,
                                std::string_view what) {
  if (size > 0) need(text, what);
  return size == 0 ? std::string_view()
                   : std::string_view(static_cast<const char*>(text), size);
}

template <class T>
std::span<T> list_of(T* items, std::size_t count, std::string_view what) {
  if (count > 0) need(items, what);
  return count == 0 ? std::span<T>() : std::span<T>(items, count);
}

// A number that is one of an enum.
template <class Enum>
Enum one_of(std::int32_t number, Enum last, std::string_view what) {
  if (number < 0 || number > static_cast<std::int32_t>(last)) {
    misuse(PARLANCE_BAD_ARGUMENT, what, "is none of its constants");
  }
  return static_cast<Enum>(number);
}

// What later versions may add to a struct.  A size beyond that was never set.
inline constexpr std::size_t kMostNewBytes = 1024;

// Throws unless `given` may be the size of a struct of which this version knows
// `size` bytes.
void check_stride(std::size_t given, std::size_t size, std::string_view what);

// Reads a struct that begins with its size, as the caller's header has it.
void read_struct(const void* from, void* to, std::size_t size,
                 std::string_view what);
template <class T>
T read_options(const T* options, const T& defaults, std::string_view what) {
  T out = defaults;
  if (options != nullptr) read_struct(options, &out, sizeof out, what);
  return out;
}

// --- Results

// Where a function stores a value: a default until it is set.
template <class T>
class Out {
 public:
  Out(T* out, std::string_view what, T otherwise = {}) : out_(out) {
    need(out, what);
    *out_ = otherwise;
  }
  void set(T value) { *out_ = value; }

 private:
  T* out_;
};
// The same for a new handle.
template <class T>
requires requires { T::kKind; }
class Out<T*> {
 public:
  Out(T** out, std::string_view what) : out_(out) {
    need(out, what);
    *out_ = nullptr;
  }
  template <class... Of>
  void set(Of&&... of) {
    *out_ = new T(std::forward<Of>(of)...);
  }

 private:
  T** out_;
};
// The same for a text.
template <>
class Out<parlance_bytes> {
 public:
  Out(parlance_bytes* out, std::string_view what) : out_(out) {
    need(out, what);
    *out_ = {nullptr, 0};
  }
  void set(std::string_view text);
  // As JSON.  No text may become a value on its way.
  template <std::same_as<json::Value> Value>
  void set(const Value& value) {
    set(json::dump(value, {.ascii = false, .compact = true}));
  }

 private:
  parlance_bytes* out_;
};
template <class T>
Out(T*, std::string_view) -> Out<T>;

// Stores where the caller wants it.
template <class T, class U>
void store(T* out, U value) {
  if (out != nullptr) *out = static_cast<T>(value);
}

inline json::Value number(std::size_t n) {
  return json::Value(static_cast<std::int64_t>(n));
}
inline json::Value range(Span span) {
  return json::Array{number(span.begin), number(span.end)};
}

json::Value to_json(const std::vector<GrammarNote>& notes);
json::Value to_json(const std::vector<RuleCapture>& captures);

// The events as an array of flat structs, `event_size` bytes apart, which the
// parser keeps until its next call.
const parlance_event* flatten(parlance_parser& parser,
                              std::span<const Event> of,
                              std::size_t event_size);
// The options of a parser, which point to what the caller has.
StreamOptions stream_options(const parlance_parser_options* options);

}  // namespace parlance::c

#endif  // PARLANCE_BINDINGS_C_CALLS_H_
