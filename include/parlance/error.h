#ifndef PARLANCE_ERROR_H_
#define PARLANCE_ERROR_H_

// What can be wrong with something a person wrote, and where.
//
// Templates, patterns, vocabularies and other descriptions become values
// through functions that return a Result:
//
//   Result<Format> format = Format::from_json(text);
//   if (!format) {
//     std::cerr << format.error().to_string() << "\n";
//     return 1;
//   }
//   ResponseParser parser(*format);
//
// What a model writes never causes an error of this kind; see diagnostics in
// parlance/message.h.

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace parlance {

// A half-open range of byte offsets, [begin, end).
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - begin; }
  bool operator==(const Span&) const = default;
};

// The kind of an error.  `to_string` gives the name in snake case without the
// k, e.g. "unknown_key"; these names are stable and are what Python's
// `Error.code` holds.  ORDER: ErrorCode
enum class ErrorCode : std::uint8_t {
  // In any source.
  kInvalidJson,  // the text is not JSON
  kInvalidUtf8,  // the text is not UTF-8
  kTooLarge,     // a limit was passed; the message names it
  kIo,           // a file could not be read
  // In a template, schema, or other description.
  kWrongType,    // a value has another JSON type than is needed here
  kUnknownKey,   // an object has a key that means nothing here
  kMissingKey,   // a required key is absent
  kEmptyValue,   // something that needs content has none
  kConflict,     // two keys exclude each other
  kUnknownName,  // a name is not in the fixed list of names for its key
  kUnsupportedVersion,
  kBadPattern,          // a regular expression is malformed
  kUnsupportedPattern,  // it is well formed but not supported; says why
  kBadPlaceholder,      // a transform string mixes a placeholder with text
  kUnusedCapture,       // a named group that no transform can use
  kSeveralImplicitFields,
  kUnknownFormat,  // no built-in format has this name
  kBadVocabulary,  // a vocabulary file or table cannot be used; says why
  // In a response that is read without recovery.
  kInvalidContent,      // a region's text is not what its field declares
  kMissingPlaceholder,  // a transform names a value that is not there
  kContentType,         // a value has a type that the field cannot use
  kContentAttribute,    // where upstream raises AttributeError
  kTooDeep,             // nesting beyond the limit
  kMissingRequired,     // a field with "optional": false never came
  kUnexpectedSpecial,   // a control token that no marker spells
  // In the use of an object.
  kUsage,      // an argument is missing or does not fit the others
  kFinalized,  // a stream was used after finalize
  // In a response that is read by a response schema.
  kTransform,  // a JMESPath expression is malformed, or fails on its value
  // In a JMESPath expression, or in what it does to a value.
  kBadExpression,    // the expression is malformed
  kUnknownFunction,  // it calls a function that does not exist
  kInvalidArity,     // a function gets too few or too many arguments
  kInvalidType,      // a function gets an argument of the wrong type
  kInvalidValue,     // a slice with step 0, a number without a result
  // Between descriptions.
  kNotConvertible,  // the other language cannot express it; says why
  // In a schema, grammar or structural tag that is to constrain a model.
  kUnsupported,     // it is valid but cannot be enforced; says why
  kUnsatisfiable,   // no text is valid
  kBadReference,    // it refers to something that does not exist
  kBadSyntax,       // the text of a grammar is malformed
  kMissingStopIds,  // nothing says which tokens end a text
};

// "unknown_key" for ErrorCode::kUnknownKey.  Never empty.
std::string_view to_string(ErrorCode code);

// An error a person can act on.
struct Error {
  ErrorCode code = ErrorCode::kUsage;

  // What was found, and what would be accepted.  One or more sentences, UTF-8,
  // without a trailing newline.
  std::string message;

  // JSON Pointer (RFC 6901) into the source; "" for its root, or if the source
  // is not JSON.
  std::string path = {};

  // Bytes of the source text, if the error was found in a text.  For an error
  // in a pattern inside JSON these are bytes of the JSON text.
  std::optional<Span> span = std::nullopt;

  // "unknown_key at /fields/x (bytes 10..15): ..."
  std::string to_string() const;
};

// Either a value or the Error that explains why there is none.  Spelled like
// std::expected.  REQUIRES: has_value() for value(), * and ->; !has_value() for
// error().
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & { return get(); }
  const T& value() const& { return const_cast<Result*>(this)->get(); }
  T&& value() && { return std::move(get()); }
  T& operator*() & { return get(); }
  const T& operator*() const& { return const_cast<Result*>(this)->get(); }
  T&& operator*() && { return std::move(get()); }
  T* operator->() { return &get(); }
  const T* operator->() const { return &const_cast<Result*>(this)->get(); }

  const Error& error() const& {
    assert(!has_value());
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    assert(!has_value());
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  T& get() {
    assert(has_value());
    return *std::get_if<0>(&state_);
  }
  std::variant<T, Error> state_;
};

// Lines and columns of a text.
//
// The spans of errors count bytes.  For messages to people:
//
//   Result<Grammar> grammar = Grammar::from_ebnf(text);
//   if (!grammar) std::cerr << to_string(grammar.error(), text) << "\n";
//   // bad_syntax (line 3, column 9): ...

// Both count from 1.  A line ends after its "\n".  A column is a character
// (code point); each byte that is not UTF-8 counts as one character.
struct LineColumn {
  std::size_t line = 1;
  std::size_t column = 1;
  bool operator==(const LineColumn&) const = default;
};

// The line and column of the character that begins at `byte`, or of the end of
// the text if `byte` is beyond it.  Complexity: O(byte).
LineColumn line_column(std::string_view text, std::size_t byte);

// "line 3, column 9"
std::string to_string(LineColumn place);

// As error.to_string(), but with a line and column instead of bytes.  `source`
// is the text that the error is about.
std::string to_string(const Error& error, std::string_view source);

// The bytes of a value in a JSON text, for errors and notes that name the value
// by its JSON Pointer (Error::path, GrammarNote::path).
//
//   std::optional<JsonPlace> place = find_json_place(text, error.path);
//   if (place) underline(text, place->value);

struct JsonPlace {
  Span value;
  // The key of a member, quotes included; none for the root and for elements.
  std::optional<Span> key = {};
};

// Nothing if `json` is not JSON or has no such value.  Of several equal keys
// the last one counts.  Complexity: O(json.size()).
std::optional<JsonPlace> find_json_place(std::string_view json,
                                         std::string_view pointer);

}  // namespace parlance

#endif  // PARLANCE_ERROR_H_
