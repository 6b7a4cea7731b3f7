// Resolving references by the algorithm of RFC 3986 section 5.2.

#include "schema/uri.h"

#include "base/ascii.h"

namespace parlance::schema {
namespace {

using base::hex_digit;
using base::is_digit;
using base::is_letter;

// scheme ":" ["//" authority] path ["?" query].  Each part includes its
// punctuation, so the concatenation of the parts is the URI.
struct Uri {
  std::string_view scheme;     // "http:" or ""
  std::string_view authority;  // "//host" or ""
  std::string_view path;
  std::string_view query;  // "?x" or ""
};

bool is_scheme_char(char c) {
  return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
}

Uri split(std::string_view text) {
  Uri out;
  std::size_t i = 0;
  if (!text.empty() && is_letter(text[0])) {
    while (i < text.size() && is_scheme_char(text[i])) ++i;
    if (i < text.size() && text[i] == ':') {
      out.scheme = text.substr(0, i + 1);
      text.remove_prefix(i + 1);
    }
  }
  if (text.substr(0, 2) == "//") {
    const std::size_t end = text.find_first_of("/?", 2);
    out.authority = text.substr(0, end);
    text.remove_prefix(out.authority.size());
  }
  const std::size_t query = text.find('?');
  out.path = text.substr(0, query);
  if (query != std::string_view::npos) out.query = text.substr(query);
  return out;
}

// Section 5.2.4.  Each round moves one segment from `path` to `out`, or removes
// a dot segment from `path` and, for "..", the last segment from `out`.
std::string remove_dot_segments(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    if (path.substr(0, 3) == "../") {
      path.remove_prefix(3);
    } else if (path.substr(0, 2) == "./") {
      path.remove_prefix(2);
    } else if (path.substr(0, 3) == "/./") {
      path.remove_prefix(2);
    } else if (path == "/.") {
      path = "/";
    } else if (path.substr(0, 4) == "/../" || path == "/..") {
      path = path.size() == 3 ? std::string_view("/") : path.substr(3);
      const std::size_t last = out.rfind('/');
      out.erase(last == std::string::npos ? 0 : last);
    } else if (path == "." || path == "..") {
      path = {};
    } else {
      const std::size_t end = path.find('/', 1);
      out += path.substr(0, end);
      path.remove_prefix(end == std::string_view::npos ? path.size() : end);
    }
  }
  return out;
}

}  // namespace

std::pair<std::string_view, std::string_view> split_fragment(
    std::string_view uri) {
  const std::size_t hash = uri.find('#');
  if (hash == std::string_view::npos) return {uri, {}};
  return {uri.substr(0, hash), uri.substr(hash + 1)};
}

// Section 5.2.2.  The target has the parts of the reference from the first part
// that the reference has, and the parts of the base before it.
std::string resolve_uri(std::string_view base, std::string_view reference) {
  const Uri b = split(split_fragment(base).first);
  const Uri r = split(split_fragment(reference).first);
  std::string_view scheme = b.scheme;
  std::string_view authority = b.authority;
  std::string_view query = r.query;
  std::string path;
  if (!r.scheme.empty() || !r.authority.empty()) {
    if (!r.scheme.empty()) scheme = r.scheme;
    authority = r.authority;
    path = remove_dot_segments(r.path);
  } else if (r.path.empty()) {
    path = b.path;
    if (query.empty()) query = b.query;
  } else if (r.path[0] == '/') {
    path = remove_dot_segments(r.path);
  } else {
    // Section 5.2.3: the reference replaces the last segment of the base.
    if (!b.authority.empty() && b.path.empty()) path = "/";
    const std::size_t last = b.path.rfind('/');
    if (last != std::string_view::npos) path += b.path.substr(0, last + 1);
    path += r.path;
    path = remove_dot_segments(path);
  }
  std::string out(scheme);
  out += authority;
  out += path;
  out += query;
  return out;
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_digit(text[i + 1]);
    const int low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

}  // namespace parlance::schema
