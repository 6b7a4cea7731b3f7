// Text -> Ast: escapes and brackets, the constructs that denote a character or
// a set of characters.  Their meaning differs by flavor, so most functions here
// are lists of the differences.

#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/utf8.h"
#include "regex/parser.h"
#include "regex/unicode_properties.h"

namespace parlance::regex {
namespace {

using base::hex_digit;
using base::is_digit;
using base::is_letter;

bool is_octal(char32_t c) { return c >= '0' && c <= '7'; }

// What to write for a POSIX class, for people.
std::string instead_of_posix(std::string_view name, bool negated) {
  static constexpr std::pair<std::string_view, std::string_view> kMembers[] = {
      {"alnum", "A-Za-z0-9"},
      {"alpha", "A-Za-z"},
      {"ascii", "\\0-\\x7F"},
      {"blank", " \\t"},
      {"cntrl", "\\0-\\x1F\\x7F"},
      {"digit", "0-9"},
      {"graph", "!-~"},
      {"lower", "a-z"},
      {"print", " -~"},
      {"punct", "!-\\/:-@\\[-`{-~"},
      {"space", "\\t-\\r "},
      {"upper", "A-Z"},
      {"word", "A-Za-z0-9_"},
      {"xdigit", "0-9A-Fa-f"},
  };
  for (const auto& [posix, members] : kMembers) {
    if (posix != name) continue;
    return (negated ? "write [^" : "write [") + std::string(members) + "].";
  }
  return "list the characters.";
}

CharClass ecma_space() {
  CharClass set = find_property("", "Zs").char_class;
  set.add(CharClass({{9, 13}, {0x2028, 0x2029}, {0xFEFF, 0xFEFF}}));
  return set;
}

}  // namespace

// --- Escapes --------------------------------------------------------------

// Reads an escape outside brackets.  REQUIRES: at_ is after the "\".
bool Parser::escape(std::size_t begin) {
  if (at_end()) {
    return fail(begin, at_,
                "The pattern ends after a \"\\\"; write \"\\\\\" for the "
                "character.");
  }
  char32_t c = raw_next();
  if (is_digit(c) && c != '0') return back_reference(begin, c);
  if (c == 'b') return anchor(AstAnchor::kWordBoundary, begin);
  if (c == 'B') return anchor(AstAnchor::kNotWordBoundary, begin);
  if (c == 'A') return anchor(AstAnchor::kTextStart, begin);
  if (c == 'Z') return anchor(AstAnchor::kTextEnd, begin);
  if (c == 'z' && !python_re()) return anchor(AstAnchor::kTextEnd, begin);
  if (ecma() && c == 'k') return named_back_reference(begin, '>');
  if (flavor_ == Flavor::kRegexModule) {
    if (c == 'g') return named_back_reference(begin, '>');
    if (c == 'm' || c == 'M' || c == 'K' || c == 'G' || c == 'X' || c == 'R' ||
        c == 'L') {
      return refused_escape(begin, c);
    }
  }
  Item item;
  bool good = ecma() ? ecma_escape(begin, c, false, item)
                     : common_escape(begin, c, false, item);
  if (!good) return false;
  if (!item.cased.empty()) item.set = std::move(item.cased);
  push_item(std::move(item), begin, false);
  return true;
}

bool Parser::refused_escape(std::size_t begin, char32_t c) {
  std::string_view what;
  switch (c) {
    case 'm':
      what = "the start of a word; write \\b(?=\\w)";
      break;
    case 'M':
      what = "the end of a word; write \\b(?<=\\w)";
      break;
    case 'K':
      what = "\"keep\"; use a look-behind or a group";
      break;
    case 'G':
      what = "the place where the search began";
      break;
    case 'X':
      what = "a grapheme cluster";
      break;
    case 'R':
      what = "a line ending; write (?>\\r\\n|[\\n-\\r\\u0085\\u2028\\u2029])";
      break;
    default:
      what = "a named list; write its members as alternatives";
      break;
  }
  std::string message = "\"\\";
  message += static_cast<char>(c);
  message += "\" is not supported: ";
  message += what;
  message += ".";
  return refuse(begin, at_, std::move(message));
}

// "\1" to "\99", or three octal digits.
bool Parser::back_reference(std::size_t begin, char32_t first) {
  std::string digits(1, static_cast<char>(first));
  if (is_digit(raw_peek())) {
    digits += static_cast<char>(raw_next());
    bool octal = is_octal(first) && is_octal(char32_t(digits[1]));
    if (octal && is_octal(raw_peek()) && !ecma()) {
      digits += static_cast<char>(raw_next());
      char32_t value = 0;
      for (char d : digits) value = value * 8 + char32_t(d - '0');
      if (python_re() && value > 0377) {
        return fail(begin, at_, "An octal escape goes up to \\377.");
      }
      push_char(value & 0x1FF, begin);
      return true;
    }
  }
  if (is_open(digits) && !ecma()) {
    return fail(begin, at_,
                "A group cannot be referred to before it is closed.");
  }
  push_reference(std::move(digits), begin);
  return true;
}

// "\g<name>", "\g<1>"; ECMA's "\k<name>".
bool Parser::named_back_reference(std::size_t begin, char32_t close_char) {
  if (!raw_match("<")) {
    return fail(begin, at_,
                "A back-reference must be written \"" +
                    std::string(shown(begin)) + "<name>\".");
  }
  std::string name;
  if (!group_name(close_char, !ecma(), name)) return false;
  if (is_open(name) && !ecma()) {
    return fail(begin, at_,
                "A group cannot be referred to before it is closed.");
  }
  push_reference(std::move(name), begin);
  return true;
}

// \d \D \s \S \w \W \h, whatever the flavor makes of them.
bool Parser::class_escape(char32_t c, Item& item) const {
  item.is_char = false;
  item.negated = c == 'D' || c == 'S' || c == 'W';
  switch (c) {
    case 'd':
    case 'D':
      item.set =
          ecma() ? CharClass({{'0', '9'}}) : property_class(Property::kDigit);
      return true;
    case 's':
    case 'S':
      if (ecma()) {
        item.set = ecma_space();
        return true;
      }
      item.set = property_class(Property::kSpace);
      if (python_re()) item.set.add({0x1C, 0x1F});
      return true;
    case 'w':
    case 'W':
      item.set = word_class(flavor_);
      return true;
    default:
      break;
  }
  return false;
}

// The control characters that have the same spelling in every flavor.
static bool control_escape(char32_t c, char32_t& out) {
  switch (c) {
    case 'b':
      out = 8;  // only reached in brackets
      return true;
    case 'f':
      out = 12;
      return true;
    case 'n':
      out = 10;
      return true;
    case 'r':
      out = 13;
      return true;
    case 't':
      out = 9;
      return true;
    case 'v':
      out = 11;
      return true;
    default:
      return false;
  }
}

// An escape of the `regex` module or of `re`, in or out of brackets.
bool Parser::common_escape(std::size_t begin, char32_t c, bool in_set,
                           Item& item) {
  if (control_escape(c, item.c)) return true;
  switch (c) {
    case 'x':
      return hex_escape(begin, 2, item);
    case 'u':
      return hex_escape(begin, 4, item);
    case 'U':
      return hex_escape(begin, 8, item);
    case 'a':
      item.c = 7;
      return true;
    case 'N':
      return refuse(begin, at_,
                    "Characters by name are not supported; write \"\\u\" and "
                    "four hexadecimal digits.");
    default:
      break;
  }
  if (is_digit(c)) return octal_escape(begin, c, item);
  if (class_escape(c, item)) return true;
  if (flavor_ == Flavor::kRegexModule) {
    if (c == 'p' || c == 'P') return property(begin, c == 'p', item);
    if (c == 'h') {
      item.is_char = false;
      item.set = find_property("", "BLANK").char_class;
      return true;
    }
  }
  if (is_letter(c)) {
    return fail(begin, at_,
                "Unknown escape \"" + std::string(shown(begin)) + "\"" +
                    (in_set ? " in brackets" : "") +
                    "; a letter stands for itself without the \"\\\".");
  }
  item.is_char = true;
  item.c = c;
  return true;
}

bool Parser::ecma_escape(std::size_t begin, char32_t c, bool in_set,
                         Item& item) {
  if (control_escape(c, item.c)) return true;
  switch (c) {
    case 'u':
      return ecma_unicode_escape(begin, item);
    case 'x':
      return hex_escape(begin, 2, item);
    case '0':
      if (is_digit(raw_peek())) break;
      item.c = 0;
      return true;
    case 'c':
      if (!is_letter(raw_peek())) {
        return fail(begin, at_, "\"\\c\" must be followed by a letter.");
      }
      item.c = raw_next() & 31;
      return true;
    case 'p':
    case 'P':
      return property(begin, c == 'p', item);
    default:
      break;
  }
  if (class_escape(c, item)) return true;
  item.is_char = true;
  if (is_letter(c) || is_digit(c)) {
    return fail(begin, at_,
                "Unknown escape \"" + std::string(shown(begin)) + "\"" +
                    (in_set ? " in brackets" : "") +
                    "; a letter stands for itself without the \"\\\".");
  }
  item.c = c;
  return true;
}

bool Parser::hex_escape(std::size_t begin, int digits, Item& item) {
  char32_t value = 0;
  for (int i = 0; i < digits; ++i) {
    int digit = hex_digit(raw_peek());
    if (digit < 0) {
      return fail(begin, at_,
                  "\"" + std::string(shown(begin)) + "\" is incomplete; " +
                      std::to_string(digits) +
                      " hexadecimal digits are needed.");
    }
    raw_next();
    // Eight digits fit 32 bits.
    value = value * 16 + static_cast<char32_t>(digit);
  }
  if (value > kMaxCodePoint) {
    return fail(begin, at_, "Characters end at U+10FFFF.");
  }
  item.c = value;
  return true;
}

// "\u1234", "\u{1F600}", or a surrogate pair that means one character.
bool Parser::ecma_unicode_escape(std::size_t begin, Item& item) {
  if (raw_match("{")) {
    char32_t value = 0;
    bool any = false;
    while (hex_digit(raw_peek()) >= 0 && value <= kMaxCodePoint) {
      value = value * 16 + static_cast<char32_t>(hex_digit(raw_next()));
      any = true;
    }
    if (!any || value > kMaxCodePoint || !raw_match("}")) {
      return fail(begin, at_,
                  "\"\\u{\" must be followed by hexadecimal digits up to "
                  "10FFFF and \"}\".");
    }
    item.c = value;
    return true;
  }
  if (!hex_escape(begin, 4, item)) return false;
  if (item.c < 0xD800 || item.c > 0xDBFF || !rest().starts_with("\\u")) {
    return true;
  }
  std::size_t saved = at_;
  at_ += 2;
  char32_t low = 0;
  int digits = 0;
  while (digits < 4 && hex_digit(raw_peek()) >= 0) {
    low = low * 16 + static_cast<char32_t>(hex_digit(raw_next()));
    ++digits;
  }
  if (digits == 4 && low >= 0xDC00 && low <= 0xDFFF) {
    item.c = 0x10000 + ((item.c - 0xD800) << 10) + (low - 0xDC00);
  } else {
    at_ = saved;
  }
  return true;
}

// "\0", or a digit in brackets: up to three octal digits.
bool Parser::octal_escape(std::size_t begin, char32_t first, Item& item) {
  if (!is_octal(first)) {
    return fail(begin, at_,
                "Unknown escape \"" + std::string(shown(begin)) +
                    "\"; octal digits go up to 7.");
  }
  char32_t value = first - '0';
  int digits = 1;
  while (digits < 3 && is_octal(raw_peek())) {
    value = value * 8 + (raw_next() - '0');
    ++digits;
  }
  if (python_re() && value > 0377) {
    return fail(begin, at_, "An octal escape goes up to \\377.");
  }
  item.c = value;
  return true;
}

// Reads the property of "\p" or "\P": its name in braces, which may have a
// qualifier ("{Script=Greek}"), or one letter.  Then looks up the set that the
// name denotes.  REQUIRES: at_ is after the "p" or "P".
bool Parser::property(std::size_t begin, bool positive, Item& item) {
  std::string_view name;
  std::string_view qualifier;
  bool negate = !positive;
  std::size_t name_begin = at_;
  if (raw_match("{")) {
    if (!ecma() && raw_match("^")) negate = !negate;
    std::size_t end = text_.find('}', at_);
    if (end == std::string_view::npos) {
      return fail(begin, at_, "The property name must end with \"}\".");
    }
    name = text_.substr(at_, end - at_);
    at_ = end + 1;
    std::size_t split = name.find_first_of(":=");
    if (split != std::string_view::npos) {
      qualifier = name.substr(0, split);
      name = name.substr(split + 1);
    }
  } else if (!ecma() && !at_end() &&
             std::string_view("CLMNPSZ").find(text_[at_]) !=
                 std::string_view::npos) {
    name = text_.substr(at_, 1);
    raw_next();
  } else {
    return fail(begin, at_,
                "\"" + std::string(shown(begin)) +
                    "\" must be followed by a property in braces, as in "
                    "\"\\p{L}\".");
  }
  // Look up the set.
  using Kind = PropertyAnswer::Kind;
  PropertyAnswer answer = find_property(qualifier, name);
  std::string written(text_.substr(name_begin, at_ - name_begin));
  switch (answer.kind) {
    case Kind::kFound:
      break;
    case Kind::kRefused:
      return refuse(begin, at_,
                    "The property " + written +
                        " is not supported; general categories, scripts, "
                        "blocks and the common binary properties are.");
    case Kind::kUnknownProperty:
    case Kind::kUnknownValue:
      return fail(begin, at_,
                  "There is no property " + written +
                      "; examples are \\p{L}, \\p{Greek}, \\p{Alphabetic}.");
  }
  item = property_item(std::move(answer), negate);
  return true;
}

Parser::Item Parser::property_item(PropertyAnswer answer, bool negated) const {
  Item item;
  item.is_char = false;
  item.set = std::move(answer.char_class);
  if (flags_.ignore_case) item.cased = std::move(answer.ignoring_case);
  item.negated = negated;
  return item;
}

// --- Brackets -------------------------------------------------------------

// Reads a bracket.  REQUIRES: at_ is after the "[".
//
// Invariant of the loop: `set` is the union of the members read so far.  The
// first member may be a "]", except for ECMA.
bool Parser::bracket(std::size_t begin) {
  // VERBOSE does not apply in brackets, and a flag cannot change in them.
  bool verbose = flags_.verbose;
  flags_.verbose = false;
  bool negated = raw_match("^");
  std::size_t first_member = at_;
  CharClass set;
  // "[\p{Lu}]" is the same as "\p{Lu}", also under IGNORECASE, which treats a
  // property differently if the bracket has other members.
  Item alone;
  std::size_t members = 0;
  bool first = !ecma();
  for (;; first = false, ++members) {
    if (at_end()) {
      return fail(begin, begin + 1,
                  "This \"[\" is never closed; add a \"]\", or write \"\\[\" "
                  "for the character.");
    }
    if (!first && raw_match("]")) break;
    if (!set_operator(begin, first_member)) return false;
    Item low;
    if (!bracket_member(begin, first_member, low, set)) return false;
    if (members == 0) alone = std::move(low);
  }
  flags_.verbose = verbose;
  if (members == 1 && !alone.is_char) {
    alone.negated = alone.negated != negated;
    if (!alone.cased.empty()) alone.set = std::move(alone.cased);
    push_item(std::move(alone), begin, false);
    return true;
  }
  Item whole;
  whole.is_char = false;
  whole.set = std::move(set);
  whole.negated = negated;
  push_item(std::move(whole), begin, true);
  return true;
}

// Reads a member and adds it to `set`.  It is a range if a "-" and another
// member follow; else `alone` is the member.
bool Parser::bracket_member(std::size_t begin, std::size_t first_member,
                            Item& alone, CharClass& set) {
  const std::size_t item_begin = at_;
  Item low;
  if (!bracket_item(item_begin, low)) return false;
  if (!set_operator(begin, first_member)) return false;
  if (!low.is_char || !rest().starts_with("-") || rest().starts_with("-]") ||
      rest() == "-") {
    add_item(set, low);
    alone = std::move(low);
    return true;
  }
  raw_next();
  Item high;
  if (!bracket_item(at_, high)) return false;
  if (!high.is_char) {
    // "[a-\d]": the "-" is a character of the set.
    if (python_re()) {
      return fail(item_begin, at_, "A range must end with a character.");
    }
    add_item(set, low);
    set.add({'-', '-'});
    add_item(set, high);
    return true;
  }
  if (low.c > high.c) {
    return fail(
        item_begin, at_,
        "The range \"" + std::string(shown(item_begin)) + "\" runs backwards.");
  }
  set.add({low.c, high.c});
  return true;
}

// Refuses "--", "&&", "||" and "~~".  In version 0 they are characters, but an
// author who writes "[a-z--b]" means the set operation of version 1, and in
// ECMA one who writes "[a-z&&[^b]]" means that of Rust.
bool Parser::set_operator(std::size_t begin, std::size_t first_member) {
  if (python_re() || at_ == first_member) return true;
  for (std::string_view op : {"--", "&&", "||", "~~"}) {
    if (!rest().starts_with(op) || rest().substr(2).starts_with("]")) continue;
    // In ECMA, as the operations of Rust: before another class.
    if (ecma() && (op == "||" || !rest().substr(2).starts_with("["))) continue;
    return refuse(begin, at_ + 2,
                  "The set operation \"" + std::string(op) +
                      "\" is not supported; write a character that stands "
                      "for itself once, or with a \"\\\".");
  }
  return true;
}

bool Parser::bracket_item(std::size_t begin, Item& item) {
  if (raw_match("\\")) {
    if (at_end()) {
      return fail(begin, at_,
                  "The pattern ends after a \"\\\"; write \"\\\\\" for the "
                  "character.");
    }
    char32_t c = raw_next();
    return ecma() ? ecma_escape(begin, c, true, item)
                  : common_escape(begin, c, true, item);
  }
  if (!python_re() && rest().starts_with("[:")) {
    bool found = false;
    if (!posix_class(begin, found, item)) return false;
    if (found) return true;
  }
  if (at_end()) {
    return fail(begin, begin, "The bracket ends within a range.");
  }
  item.c = raw_next();
  return true;
}

// "[:alpha:]", "[:^alpha:]"; anything else beginning with "[:" is text.
bool Parser::posix_class(std::size_t begin, bool& found, Item& item) {
  std::size_t i = begin + 2;
  bool negated = i < text_.size() && text_[i] == '^';
  if (negated) ++i;
  std::size_t end = i;
  while (
      end < text_.size() &&
      (is_letter(char32_t(text_[end])) || is_digit(char32_t(text_[end])) ||
       std::string_view("&_-. =").find(text_[end]) != std::string_view::npos)) {
    ++end;
  }
  found = end > i && text_.substr(end).starts_with(":]");
  if (!found) return true;
  std::string_view name = text_.substr(i, end - i);
  // To ECMA these are the characters "[", ":" and the letters, which nobody
  // means.
  if (ecma()) {
    at_ = end + 2;
    return refuse(begin, at_,
                  "The class " + std::string(shown(begin)) +
                      " is not ECMA's; " + instead_of_posix(name, negated));
  }
  std::string_view qualifier;
  std::size_t split = name.find('=');
  if (split != std::string_view::npos) {
    qualifier = name.substr(0, split);
    name = name.substr(split + 1);
  }
  at_ = end + 2;
  PropertyAnswer answer = find_property(qualifier, name, true);
  if (answer.kind == PropertyAnswer::Kind::kRefused) {
    return refuse(
        begin, at_,
        "The class " + std::string(shown(begin)) + " is not supported.");
  }
  if (answer.kind != PropertyAnswer::Kind::kFound) {
    return fail(begin, at_,
                "There is no class " + std::string(shown(begin)) +
                    "; examples are [:alpha:] and [:digit:].");
  }
  item = property_item(std::move(answer), negated);
  return true;
}

void Parser::add_item(CharClass& set, const Item& item) {
  if (item.is_char) {
    set.add({item.c, item.c});
  } else {
    set.add(item.negated ? item.set.negated() : item.set);
  }
}

void Parser::push_item(Item item, std::size_t begin, bool bracketed) {
  if (item.is_char) {
    push_char(item.c, begin);
    return;
  }
  AstNode node = make(AstKind::kSet, begin);
  node.set = std::move(item.set);
  node.negated = item.negated;
  node.bracketed = bracketed;
  push(std::move(node));
}

}  // namespace parlance::regex
