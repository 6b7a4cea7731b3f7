#ifndef PARLANCE_JSON_POINTER_H_
#define PARLANCE_JSON_POINTER_H_

// JSON Pointers (RFC 6901), by which errors name a place in JSON
// (Error::path).

#include <string>
#include <string_view>

namespace parlance {

// `path` extended by "/key", with ~ and / of the key escaped.
std::string append_json_pointer(std::string path, std::string_view key);

}  // namespace parlance

#endif  // PARLANCE_JSON_POINTER_H_
