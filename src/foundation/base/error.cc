// The stable names of error codes.

#include "parlance/error.h"

#include <string>
#include <string_view>

namespace parlance {

std::string_view to_string(ErrorCode code) {
  // ORDER: ErrorCode
  switch (code) {
    case ErrorCode::kInvalidJson:
      return "invalid_json";
    case ErrorCode::kInvalidUtf8:
      return "invalid_utf8";
    case ErrorCode::kTooLarge:
      return "too_large";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kWrongType:
      return "wrong_type";
    case ErrorCode::kUnknownKey:
      return "unknown_key";
    case ErrorCode::kMissingKey:
      return "missing_key";
    case ErrorCode::kEmptyValue:
      return "empty_value";
    case ErrorCode::kConflict:
      return "conflict";
    case ErrorCode::kUnknownName:
      return "unknown_name";
    case ErrorCode::kUnsupportedVersion:
      return "unsupported_version";
    case ErrorCode::kBadPattern:
      return "bad_pattern";
    case ErrorCode::kUnsupportedPattern:
      return "unsupported_pattern";
    case ErrorCode::kBadPlaceholder:
      return "bad_placeholder";
    case ErrorCode::kUnusedCapture:
      return "unused_capture";
    case ErrorCode::kSeveralImplicitFields:
      return "several_implicit_fields";
    case ErrorCode::kUnknownFormat:
      return "unknown_format";
    case ErrorCode::kBadVocabulary:
      return "bad_vocabulary";
    case ErrorCode::kInvalidContent:
      return "invalid_content";
    case ErrorCode::kMissingPlaceholder:
      return "missing_placeholder";
    case ErrorCode::kContentType:
      return "content_type";
    case ErrorCode::kContentAttribute:
      return "content_attribute";
    case ErrorCode::kTooDeep:
      return "too_deep";
    case ErrorCode::kMissingRequired:
      return "missing_required";
    case ErrorCode::kUnexpectedSpecial:
      return "unexpected_special";
    case ErrorCode::kUsage:
      return "usage";
    case ErrorCode::kFinalized:
      return "finalized";
    case ErrorCode::kTransform:
      return "transform";
    case ErrorCode::kBadExpression:
      return "bad_expression";
    case ErrorCode::kUnknownFunction:
      return "unknown_function";
    case ErrorCode::kInvalidArity:
      return "invalid_arity";
    case ErrorCode::kInvalidType:
      return "invalid_type";
    case ErrorCode::kInvalidValue:
      return "invalid_value";
    case ErrorCode::kNotConvertible:
      return "not_convertible";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kUnsatisfiable:
      return "unsatisfiable";
    case ErrorCode::kBadReference:
      return "bad_reference";
    case ErrorCode::kBadSyntax:
      return "bad_syntax";
    case ErrorCode::kMissingStopIds:
      return "missing_stop_ids";
  }
  return "unknown";
}

}  // namespace parlance
