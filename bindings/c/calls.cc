#include "calls.h"

#include <cstring>
#include <exception>
#include <memory>
#include <new>

namespace parlance::c {

void fail(Error error) {
  const parlance_status status = status_of(error.code);
  throw Failed{status, std::move(error)};
}

void misuse(parlance_status status, std::string_view what,
            std::string_view why) {
  Error error{.code = ErrorCode::kUsage, .message = std::string(what)};
  error.message += ' ';
  error.message += why;
  throw Failed{status, std::move(error)};
}

parlance_status caught(parlance_error** error) noexcept {
  try {
    try {
      throw;
    } catch (Failed& failed) {
      const parlance_status status = failed.status;
      if (error != nullptr) {
        *error = new parlance_error(status, std::move(failed.error));
      }
      return status;
    } catch (const std::bad_alloc&) {
      return PARLANCE_NO_MEMORY;
    } catch (const std::exception& other) {
      if (error != nullptr) {
        *error = new parlance_error(
            PARLANCE_INTERNAL,
            {.code = ErrorCode::kUsage, .message = other.what()});
      }
      return PARLANCE_INTERNAL;
    }
  } catch (const std::bad_alloc&) {
    return PARLANCE_NO_MEMORY;
  } catch (...) {
    return PARLANCE_INTERNAL;
  }
}

void check_stride(std::size_t given, std::size_t size, std::string_view what) {
  if (given < size || given - size > kMostNewBytes ||
      given % alignof(std::uint64_t) != 0) {
    misuse(PARLANCE_BAD_SIZE, what, "is not the size of its struct");
  }
}

void read_struct(const void* from, void* to, std::size_t size,
                 std::string_view what) {
  std::size_t given = 0;
  std::memcpy(&given, from, sizeof given);
  // All structs are of the first version.
  if (given < size || given - size > kMostNewBytes) {
    misuse(PARLANCE_BAD_SIZE, what,
           "has a struct_size that cannot be right; begin with its ..._INIT");
  }
  const auto* const bytes = static_cast<const unsigned char*>(from);
  for (std::size_t i = size; i < given; ++i) {
    if (bytes[i] != 0) {
      misuse(PARLANCE_BAD_SIZE, what,
             "has a member that this version of the library does not know");
    }
  }
  std::memcpy(to, from, size);
}

void Out<parlance_bytes>::set(std::string_view text) {
  auto* const data = static_cast<char*>(::operator new(text.size() + 1));
  if (!text.empty()) std::memcpy(data, text.data(), text.size());
  data[text.size()] = '\0';
  *out_ = {data, text.size()};
}

json::Value to_json(const std::vector<GrammarNote>& notes) {
  json::Array out;
  for (const GrammarNote& note : notes) {
    const bool narrowed = note.kind == GrammarNote::Kind::kNarrowed;
    out.push_back(json::Object{{"kind", narrowed ? "narrowed" : "ignored"},
                               {"keyword", note.keyword},
                               {"path", note.path},
                               {"message", note.message}});
  }
  return out;
}

json::Value to_json(const std::vector<RuleCapture>& captures) {
  json::Array out;
  for (const RuleCapture& capture : captures) {
    out.push_back(json::Object{{"name", capture.name},
                               {"text", capture.text},
                               {"span", range(capture.bytes)}});
  }
  return out;
}

}  // namespace parlance::c
