// Versions, memory, statuses and errors.

#include <new>
#include <string_view>

#include "calls.h"
#include "parlance/version.h"

namespace parlance::c {

// The numbers of parlance_c.h never change, so a new ErrorCode is the last one.
// ORDER: ErrorCode
static_assert(status_of(ErrorCode::kInvalidJson) == PARLANCE_INVALID_JSON);
static_assert(status_of(ErrorCode::kInvalidUtf8) == PARLANCE_INVALID_UTF8);
static_assert(status_of(ErrorCode::kTooLarge) == PARLANCE_TOO_LARGE);
static_assert(status_of(ErrorCode::kIo) == PARLANCE_IO);
static_assert(status_of(ErrorCode::kWrongType) == PARLANCE_WRONG_TYPE);
static_assert(status_of(ErrorCode::kUnknownKey) == PARLANCE_UNKNOWN_KEY);
static_assert(status_of(ErrorCode::kMissingKey) == PARLANCE_MISSING_KEY);
static_assert(status_of(ErrorCode::kEmptyValue) == PARLANCE_EMPTY_VALUE);
static_assert(status_of(ErrorCode::kConflict) == PARLANCE_CONFLICT);
static_assert(status_of(ErrorCode::kUnknownName) == PARLANCE_UNKNOWN_NAME);
static_assert(status_of(ErrorCode::kUnsupportedVersion) ==
              PARLANCE_UNSUPPORTED_VERSION);
static_assert(status_of(ErrorCode::kBadPattern) == PARLANCE_BAD_PATTERN);
static_assert(status_of(ErrorCode::kUnsupportedPattern) ==
              PARLANCE_UNSUPPORTED_PATTERN);
static_assert(status_of(ErrorCode::kBadPlaceholder) ==
              PARLANCE_BAD_PLACEHOLDER);
static_assert(status_of(ErrorCode::kUnusedCapture) == PARLANCE_UNUSED_CAPTURE);
static_assert(status_of(ErrorCode::kSeveralImplicitFields) ==
              PARLANCE_SEVERAL_IMPLICIT_FIELDS);
static_assert(status_of(ErrorCode::kUnknownFormat) == PARLANCE_UNKNOWN_FORMAT);
static_assert(status_of(ErrorCode::kBadVocabulary) == PARLANCE_BAD_VOCABULARY);
static_assert(status_of(ErrorCode::kInvalidContent) ==
              PARLANCE_INVALID_CONTENT);
static_assert(status_of(ErrorCode::kMissingPlaceholder) ==
              PARLANCE_MISSING_PLACEHOLDER);
static_assert(status_of(ErrorCode::kContentType) == PARLANCE_CONTENT_TYPE);
static_assert(status_of(ErrorCode::kContentAttribute) ==
              PARLANCE_CONTENT_ATTRIBUTE);
static_assert(status_of(ErrorCode::kTooDeep) == PARLANCE_TOO_DEEP);
static_assert(status_of(ErrorCode::kMissingRequired) ==
              PARLANCE_MISSING_REQUIRED);
static_assert(status_of(ErrorCode::kUnexpectedSpecial) ==
              PARLANCE_UNEXPECTED_SPECIAL);
static_assert(status_of(ErrorCode::kUsage) == PARLANCE_USAGE);
static_assert(status_of(ErrorCode::kFinalized) == PARLANCE_FINALIZED);
static_assert(status_of(ErrorCode::kTransform) == PARLANCE_TRANSFORM);
static_assert(status_of(ErrorCode::kBadExpression) == PARLANCE_BAD_EXPRESSION);
static_assert(status_of(ErrorCode::kUnknownFunction) ==
              PARLANCE_UNKNOWN_FUNCTION);
static_assert(status_of(ErrorCode::kInvalidArity) == PARLANCE_INVALID_ARITY);
static_assert(status_of(ErrorCode::kInvalidType) == PARLANCE_INVALID_TYPE);
static_assert(status_of(ErrorCode::kInvalidValue) == PARLANCE_INVALID_VALUE);
static_assert(status_of(ErrorCode::kNotConvertible) ==
              PARLANCE_NOT_CONVERTIBLE);
static_assert(status_of(ErrorCode::kUnsupported) == PARLANCE_UNSUPPORTED);
static_assert(status_of(ErrorCode::kUnsatisfiable) == PARLANCE_UNSATISFIABLE);
static_assert(status_of(ErrorCode::kBadReference) == PARLANCE_BAD_REFERENCE);
static_assert(status_of(ErrorCode::kBadSyntax) == PARLANCE_BAD_SYNTAX);
static_assert(status_of(ErrorCode::kMissingStopIds) ==
              PARLANCE_MISSING_STOP_IDS);

namespace {

const char* text_of(const std::string& text, std::size_t* size) {
  store(size, text.size());
  return text.c_str();
}

bool is_error(const parlance_error* error) {
  return error != nullptr && is_of_its_kind(error);
}

const char* no_text(std::size_t* size) {
  store(size, 0);
  return "";
}

}  // namespace

PARLANCE_C_FUNCTIONS_BEGIN

uint32_t parlance_abi(void) { return PARLANCE_ABI; }
uint32_t parlance_abi_minor(void) { return PARLANCE_ABI_MINOR; }
const char* parlance_version(void) { return PARLANCE_VERSION_STRING; }

void* parlance_alloc(size_t size) { return ::operator new(size, std::nothrow); }
void parlance_free(void* data) { ::operator delete(data); }

const char* parlance_status_name(parlance_status status) {
  switch (status) {
    case PARLANCE_OK:
      return "ok";
    case PARLANCE_NO_MEMORY:
      return "no_memory";
    case PARLANCE_NULL:
      return "null";
    case PARLANCE_WRONG_HANDLE:
      return "wrong_handle";
    case PARLANCE_BUSY:
      return "busy";
    case PARLANCE_BAD_SIZE:
      return "bad_size";
    case PARLANCE_BAD_ARGUMENT:
      return "bad_argument";
    case PARLANCE_INTERNAL:
      return "internal";
    default:
      break;
  }
  if (status < 1 || status > PARLANCE_MISSING_STOP_IDS) return "unknown";
  // The names are literals, so a NUL follows.
  return parlance::to_string(static_cast<ErrorCode>(status - 1)).data();
}

parlance_status parlance_error_status(const parlance_error* error) {
  if (error == nullptr) return PARLANCE_OK;
  return is_error(error) ? error->status : PARLANCE_WRONG_HANDLE;
}

const char* parlance_error_message(const parlance_error* error, size_t* size) {
  return is_error(error) ? text_of(error->error.message, size) : no_text(size);
}

const char* parlance_error_path(const parlance_error* error, size_t* size) {
  return is_error(error) ? text_of(error->error.path, size) : no_text(size);
}

int32_t parlance_error_span(const parlance_error* error, parlance_span* out) {
  const bool has = is_error(error) && error->error.span;
  if (out != nullptr) {
    *out = {};
    if (has) *out = {error->error.span->begin, error->error.span->end};
  }
  return has ? 1 : 0;
}

void parlance_error_free(parlance_error* error) { drop_reference(error); }

PARLANCE_C_FUNCTIONS_END

}  // namespace parlance::c
