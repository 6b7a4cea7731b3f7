// Reads a pattern in three steps.  Respeller rewrites it for the parser of ECMA
// patterns.  Then the tree is checked, and its sets are case-folded.  Last, the
// Hir is restricted to the constructs and characters of a grammar.

#include "notation/regex_rules.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/utf8.h"
#include "regex/ast.h"
#include "regex/pattern.h"

namespace parlance::notation {

using rules::RegexExpr;
namespace {

using base::hex_digit;
using base::is_letter;

using regex::AstKind;
using regex::CharClass;
using regex::HirKind;

// Rewrites a pattern in ECMA's spelling, and maps each byte of the result to
// its origin in the pattern, so that errors have spans in the pattern.
class Respeller {
 public:
  Respeller(std::string_view text, const RegexOptions& options, bool verbose)
      : text_(text),
        embedded_(options.embedded),
        search_(options.search),
        verbose_(verbose) {}

  // False after an error.
  bool run() {
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (verbose_ && !in_class_ && c == '#') {
        keep(std::min(text_.find('\n', at_), text_.size()) - at_);
      } else if (c == '\\') {
        if (!escape()) return false;
      } else if (!in_class_ && c == '[') {
        in_class_ = true;
        keep(1);
        if (at_ < text_.size() && text_[at_] == '^') keep(1);
      } else if (in_class_ && c == ']') {
        in_class_ = false;
        keep(1);
      } else if (!in_class_ && text_.substr(at_).starts_with("{,")) {
        return fail(2, "A least count is missing; write {0,...}.",
                    ErrorCode::kBadPattern);
      } else if (!in_class_ && text_.substr(at_).starts_with("(?")) {
        if (!group()) return false;
      } else if (!in_class_ && c == '(') {
        outer_verbose_.push_back(verbose_);
        keep(1);
      } else if (!in_class_ && c == ')') {
        // A group ends, and the flags that were set in it.
        if (!outer_verbose_.empty()) {
          verbose_ = outer_verbose_.back();
          outer_verbose_.pop_back();
        }
        keep(1);
      } else {
        keep(1);
      }
    }
    map.push_back(static_cast<std::uint32_t>(text_.size()));
    return true;
  }

  std::string out;
  std::vector<std::uint32_t> map;  // by byte of `out`, and for its end
  Error error;

 private:
  // Copies the next `size` bytes.
  void keep(std::size_t size) {
    for (std::size_t i = 0; i < size && at_ < text_.size(); ++i) {
      out += text_[at_];
      map.push_back(static_cast<std::uint32_t>(at_++));
    }
  }
  // Writes `text` instead of the next `size` bytes.
  void put(std::string_view text, std::size_t size) {
    out += text;
    map.insert(map.end(), text.size(), static_cast<std::uint32_t>(at_));
    at_ += size;
  }

  bool fail(std::size_t size, std::string message, ErrorCode code) {
    error = {code, std::move(message), {}, Span{at_, at_ + size}};
    return false;
  }
  bool refuse(std::size_t size, std::string message) {
    return fail(std::min(size, text_.size() - at_), std::move(message),
                ErrorCode::kUnsupportedPattern);
  }

  bool group() {
    std::string_view rest = text_.substr(at_ + 2);
    if (rest.starts_with("=") || rest.starts_with("!")) {
      if (search_) {
        outer_verbose_.push_back(verbose_);
        keep(3);
        return true;
      }
      return refuse(3,
                    "Look-ahead is not supported in a grammar; write what may "
                    "follow as part of the pattern.");
    }
    if (rest.starts_with("<=") || rest.starts_with("<!")) {
      return refuse(4,
                    "Look-behind is not supported in a grammar; write what "
                    "may come before as part of the pattern.");
    }
    if (rest.starts_with("P<") && embedded_) return name(3);
    if (rest.starts_with("P")) {
      return refuse(3, "\"(?P\" is Python's; a named group is (?<name>...).");
    }
    if (rest.starts_with("<")) return name(2);
    if (rest.starts_with(":")) {
      outer_verbose_.push_back(verbose_);
      keep(3);
      return true;
    }
    if (rest.starts_with(">")) {
      return refuse(3, "Atomic groups are not supported; use (?:...).");
    }
    if (rest.starts_with("#")) return refuse(3, "Comments are not supported.");
    // Flags.  The parser reads them; here it matters whether comments follow:
    // up to the end of the group, which ":" begins and ")" does not.
    const std::size_t end = rest.find_first_not_of("imsux-");
    if (end == std::string_view::npos || end == 0 ||
        (rest[end] != ':' && rest[end] != ')')) {
      return refuse(3,
                    "\"(?\" must be followed by \":\", \"<name>\" or flags "
                    "out of \"imsux\".");
    }
    if (rest[end] == ':') outer_verbose_.push_back(verbose_);
    const std::string_view flags = rest.substr(0, end);
    const std::size_t x = flags.find('x');
    if (x != std::string_view::npos) verbose_ = x < flags.find('-');
    keep(3 + end);
    return true;
  }

  // "(?<name>" becomes "(?:": the name is checked and then unused.
  bool name(std::size_t before) {
    std::size_t i = at_ + before + (text_[at_ + before] == '<' ? 1 : 0);
    std::size_t begin = i;
    while (i < text_.size() &&
           (is_letter(text_[i]) ||
            (i > begin &&
             (text_[i] == '_' || (text_[i] >= '0' && text_[i] <= '9'))))) {
      ++i;
    }
    if (i == begin || i >= text_.size() || text_[i] != '>') {
      return fail(std::min(i, text_.size()) - at_,
                  "A group name is letters, digits and \"_\" between \"<\" "
                  "and \">\", beginning with a letter.",
                  ErrorCode::kBadPattern);
    }
    outer_verbose_.push_back(verbose_);
    put("(?:", i + 1 - at_);
    return true;
  }

  // Writes a character in a spelling that does not depend on the source.
  bool put_code_point(char32_t c, std::size_t size) {
    if (c > regex::kMaxCodePoint) {
      return fail(size, "A code point goes up to 10FFFF.",
                  ErrorCode::kBadPattern);
    }
    static const char* digits = "0123456789ABCDEF";
    std::string spelled = "\\u{";
    for (int shift = 20; shift >= 0; shift -= 4) {
      spelled += digits[(c >> shift) & 15];
    }
    put(spelled + "}", size);
    return true;
  }

  // Exactly `count` hexadecimal digits after the two bytes of the escape.
  bool hex(std::size_t count) {
    char32_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t place = at_ + 2 + i;
      if (place >= text_.size() || hex_digit(text_[place]) < 0) {
        return fail(std::min(place, text_.size()) - at_,
                    "This escape needs " + std::to_string(count) +
                        " hexadecimal digits.",
                    ErrorCode::kBadPattern);
      }
      const auto digit = static_cast<unsigned>(hex_digit(text_[place]));
      if (value > 0xFFFFFFF) value = 0xFFFFFFF;
      value = value * 16 + digit;
    }
    return put_code_point(value, 2 + count);
  }

  // Rewrites an escape.  Escapes with the same meaning in ECMA are copied; all
  // others become a set, a code point or an error.
  bool escape() {
    if (at_ + 1 >= text_.size()) {
      return fail(1,
                  "The pattern ends after a \"\\\"; write \"\\\\\" for the "
                  "character.",
                  ErrorCode::kBadPattern);
    }
    char c = text_[at_ + 1];
    switch (c) {
      case 'n':
      case 'r':
      case 't':
      case 'v':
      case 'f':
      case 'c':
        keep(2);
        return true;
      case 'd':
      case 'D':
      case 'w':
      case 'W':
        return shorthand(c == 'd' || c == 'D' ? (c == 'd' ? "\\d" : "\\D")
                                              : (c == 'w' ? "\\w" : "\\W"));
      case 's':
        return shorthand(in_class_ ? "\\t-\\r \\u00A0" : "[\\t-\\r \\u00A0]");
      case 'S':
        return shorthand(
            in_class_ ? "\\0-\\x08\\x0E-\\x1F!-\\u009F\\u00A1-\\u{10FFFF}"
                      : "[^\\t-\\r \\u00A0]");
      case 'a':
        return put_code_point(7, 2);
      case 'e':
        return put_code_point(27, 2);
      case 'x':
        return hex(2);
      case 'u':
        if (at_ + 2 < text_.size() && text_[at_ + 2] == '{') {
          keep(2);
          return true;
        }
        return hex(4);
      case 'U':
        return hex(8);
      case '0':
        return put_code_point(0, 2);
      case 'b':
        if (in_class_) return put_code_point(8, 2);
        [[fallthrough]];
      case 'B':
        return refuse(2,
                      "Word boundaries are not supported in a grammar: they "
                      "depend on what stands around the pattern.");
      case 'p':
      case 'P':
        return property(c);
      case 'k':
        return refuse(2, "Back-references are not supported in a grammar.");
      case 'A':
      case 'Z':
      case 'z':
        if (in_class_) break;
        if (!search_) {
          keep(2);
          return true;
        }
        return refuse(2, std::string("\"\\") + c +
                             "\" is not supported; \"^\" is the beginning of "
                             "the text, and the end is not known while the "
                             "text is written.");
      default:
        break;
    }
    if (c >= '1' && c <= '9') {
      return refuse(2, "Back-references are not supported in a grammar.");
    }
    std::size_t end = at_ + 1;
    char32_t point = base::next_code_point(text_, end);
    return put_code_point(point, end - at_);
  }

  // \p{L}, and \pL, which ECMA does not have.
  bool property(char letter) {
    const std::size_t begin = at_ + 2;
    if (begin < text_.size() && text_[begin] == '{') {
      const std::size_t end = text_.find('}', begin);
      keep(std::min(end, text_.size() - 1) + 1 - at_);
      return true;
    }
    if (begin >= text_.size() || !is_letter(text_[begin])) {
      keep(2);
      return true;
    }
    const char category = text_[begin];
    put(std::string("\\") + letter + "{" + category + "}", 3);
    return true;
  }

  // A dash after a shorthand in brackets is a character.
  bool shorthand(std::string_view text) {
    put(text, 2);
    if (in_class_ && at_ + 1 < text_.size() && text_[at_] == '-' &&
        text_[at_ + 1] != ']') {
      put("\\-", 1);
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool embedded_;
  bool search_;
  bool verbose_;
  std::vector<bool> outer_verbose_;  // by open group: before it
  bool in_class_ = false;
};

CharClass fold_ascii(const CharClass& set) {
  CharClass folded = set;
  CharClass upper = set.intersect(CharClass({{'A', 'Z'}}));
  CharClass lower = set.intersect(CharClass({{'a', 'z'}}));
  for (const regex::CharRange& range : upper.ranges()) {
    folded.add(CharClass({{range.first + 32, range.last + 32}}));
  }
  for (const regex::CharRange& range : lower.ranges()) {
    folded.add(CharClass({{range.first - 32, range.last - 32}}));
  }
  return folded;
}

// A grammar reads UTF-8, which has no surrogates.
const CharClass& scalar_values() {
  static const CharClass set({{0, 0xD7FF}, {0xE000, regex::kMaxCodePoint}});
  return set;
}

// The characters that need no escape in a JSON string.
const CharClass& json_characters() {
  static const CharClass set({{0x20, 0x21},
                              {0x23, 0x5B},
                              {0x5D, 0xD7FF},
                              {0xE000, regex::kMaxCodePoint}});
  return set;
}

// What the flags of a pattern say.
struct Flags {
  bool ignore_case = false;
  bool dot_all = false;
  bool verbose = false;
};

Result<Flags> read_flags(std::string_view pattern,
                         const RegexOptions& options) {
  Flags flags{.dot_all = !options.has_flags};
  for (char flag : options.flags) {
    if (flag == 'i') {
      flags.ignore_case = true;
    } else if (flag == 's') {
      flags.dot_all = true;
    } else if (flag == 'x') {
      flags.verbose = true;
    } else if (flag != 'u' && flag != 'm') {
      return Error{ErrorCode::kUnsupportedPattern,
                   std::string("The flag \"") + flag +
                       "\" is not supported; there are \"i\", \"m\", \"s\", "
                       "\"u\" and \"x\".",
                   {},
                   Span{0, pattern.size()}};
    }
  }
  return flags;
}

// Maps the span of an error from the respelled pattern to the pattern.
Error located(const Respeller& respeller, Error error) {
  if (error.span) {
    const std::vector<std::uint32_t>& map = respeller.map;
    std::size_t last = map.size() - 1;
    Span span{map[std::min(error.span->begin, last)],
              map[std::min(error.span->end, last)]};
    span.end = std::max(span.end, span.begin);
    error.span = span;
  }
  return error;
}

// Gives the tree the meaning of a grammar's pattern: anchors are empty, case is
// that of ASCII letters, and "." excludes at most "\n".
std::optional<Error> interpret(regex::Ast& ast, bool search) {
  for (regex::AstNode& node : ast.nodes) {
    const bool ignore_case = std::exchange(node.flags.ignore_case, false);
    if (node.kind == AstKind::kAnchor && search) {
      if (node.anchor != regex::AstAnchor::kCaret) {
        return Error{ErrorCode::kUnsupportedPattern,
                     "\"$\" is not supported: the end of the text is not "
                     "known while it is written.",
                     {},
                     node.span};
      }
    } else if (node.kind == AstKind::kAnchor) {
      node.kind = AstKind::kEmpty;
    } else if (node.kind == AstKind::kSet) {
      if (node.set.empty()) {
        return Error{ErrorCode::kBadPattern,
                     "An empty class matches nothing; list characters "
                     "between \"[\" and \"]\".",
                     {},
                     node.span};
      }
      if (ignore_case) node.set = fold_ascii(node.set);
    } else if (node.kind == AstKind::kDot && !node.flags.dot_all) {
      // ECMA's dot also excludes \r, U+2028 and U+2029.
      node.kind = AstKind::kSet;
      node.set = CharClass({{'\n', '\n'}});
      node.negated = true;
    } else if (node.kind == AstKind::kChar && ignore_case && node.c < 128 &&
               is_letter(static_cast<char>(node.c))) {
      node.kind = AstKind::kSet;
      node.set = fold_ascii(CharClass({{node.c, node.c}}));
      node.negated = false;
    }
  }
  return std::nullopt;
}

// Restricts the Hir to the characters that can occur in the text.  False if it
// contains constructs that are not regular.
bool restrict_to(regex::Hir& hir, const CharClass& universe, bool search) {
  for (regex::HirNode& node : hir.nodes) {
    switch (node.kind) {
      case HirKind::kClass:
        node.char_class = node.char_class.intersect(universe);
        break;
      case HirKind::kLiteral:
        for (std::size_t i = 0; i < node.text.size();) {
          if (!universe.contains(base::next_code_point(node.text, i))) {
            node.kind = HirKind::kNothing;
            break;
          }
        }
        break;
      case HirKind::kEmpty:
      case HirKind::kNothing:
      case HirKind::kConcat:
      case HirKind::kAlternation:
      case HirKind::kRepeat:
      case HirKind::kCapture:
        break;
      case HirKind::kAssert:
      case HirKind::kLook:
        if (search) break;
        [[fallthrough]];
      default:
        return false;
    }
  }
  return true;
}

}  // namespace

// A pattern passes through four stages: it is respelled in ECMA's notation, and
// parsed; its tree is given the meaning that it has in a grammar; and the tree
// of its meaning is restricted to the characters of a text.
Result<RegexExpr> read_regex(std::string_view pattern,
                             const RegexOptions& options) {
  RegexExpr out;
  out.source = std::string(pattern);
  out.has_flags = options.has_flags;
  out.flags = std::string(options.flags);
  out.json_string = options.json_string;
  if (!base::is_utf8(pattern)) {
    return Error{ErrorCode::kInvalidUtf8,
                 "The pattern is not UTF-8.",
                 {},
                 Span{0, pattern.size()}};
  }
  Result<Flags> flags = read_flags(pattern, options);
  if (!flags) return flags.error();
  Respeller respeller(pattern, options, flags->verbose);
  if (!respeller.run()) return respeller.error;

  regex::PatternOptions reading;
  reading.flavor = regex::Flavor::kEcma;
  reading.dot_all = flags->dot_all;
  reading.ignore_case = flags->ignore_case;
  reading.verbose = flags->verbose;
  Result<regex::Ast> ast = regex::parse_ast(respeller.out, reading);
  if (!ast) return located(respeller, ast.error());
  if (auto error = interpret(*ast, options.search)) {
    return located(respeller, std::move(*error));
  }
  Result<regex::Hir> hir = regex::translate(*ast, reading);
  if (!hir) return located(respeller, hir.error());
  const CharClass& universe =
      options.json_string ? json_characters() : scalar_values();
  if (!restrict_to(*hir, universe, options.search)) {
    return Error{ErrorCode::kUnsupportedPattern,
                 "The pattern is not regular; remove look-around and "
                 "back-references.",
                 {},
                 Span{0, pattern.size()}};
  }
  out.hir = std::move(*hir);
  return out;
}

Result<rules::Rules> regex_rules(std::string_view pattern,
                                 const RegexOptions& options) {
  Result<RegexExpr> expr = read_regex(pattern, options);
  if (!expr) return expr.error();
  rules::Rules rules;
  rules::RuleId root = rules.add_rule("root");
  rules::ExprId body = rules.regex(std::move(*expr));
  rules.rules[root].body = body;
  return rules;
}

}  // namespace parlance::notation
