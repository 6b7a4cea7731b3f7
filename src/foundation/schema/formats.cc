// The table of formats.
//
// format                 from                        left out
// date, time, date-time  RFC 3339 section 5.6        leap seconds with another
//                                                    offset than zero
// duration               RFC 3339 appendix A
// email                  RFC 5321 section 4.1.2      IPv6 with IPv4 at its end,
//                                                    other tags in brackets,
//                                                    host names as for hostname
// idn-email              RFC 6531 section 3.3        the same, and host names
//                                                    as for idn-hostname
// hostname               RFC 1123 section 2.1        labels with "--" third,
//                                                    so Punycode
// idn-hostname           RFC 5890, 5891              Punycode; labels beyond
//                                                    ASCII that have hyphens or
//                                                    are long; scripts with
//                                                    rules on context
// ipv4                   RFC 2673 section 3.2
// ipv6                   RFC 4291 section 2.2
// uri, uri-reference,    RFC 3986, 3987              IPv6 with IPv4 at its end
// iri, iri-reference
// uri-template           RFC 6570 section 2          reserved operators
// uuid                   RFC 4122 section 3
// json-pointer           RFC 6901 section 3
// relative-json-pointer  draft-bhutton, section 3    shifts of an index
// regex                  ECMA-262, with the u flag   deep groups, look-behind,
//                                                    references, most ranges
//
// The expressions do not bound the lengths of whole addresses and host names
// (RFC 5321 section 4.5.3.1, RFC 1035 section 2.3.4), because an automaton
// needs a state for each length.

#include "schema/formats.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <string>

#include "base/once.h"

namespace parlance::schema {
namespace {

using std::string;

string one_of(std::initializer_list<string> branches) {
  string out;
  for (const string& branch : branches) {
    out += out.empty() ? "(?:" : "|";
    out += branch;
  }
  return out + ")";
}

string maybe(const string& part) { return "(?:" + part + ")?"; }
string many(const string& part) { return "(?:" + part + ")*"; }
string times(const string& part, const string& count) {
  return "(?:" + part + "){" + count + "}";
}

// Dates and times.

string date() {
  const string day_31 = "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])";
  const string day_30 = "(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)";
  const string february = "02-(?:0[1-9]|1[0-9]|2[0-8])";
  const string leap_year = one_of({"[0-9]{2}(?:0[48]|[2468][048]|[13579][26])",
                                   "(?:[02468][048]|[13579][26])00"});
  return one_of(
      {"[0-9]{4}-" + one_of({day_31, day_30, february}), leap_year + "-02-29"});
}

constexpr char kHourMinute[] = "(?:[01][0-9]|2[0-3]):[0-5][0-9]";

string time() {
  const string hour_minute = kHourMinute;
  const string fraction = maybe("\\.[0-9]+");
  return one_of({hour_minute + ":[0-5][0-9]" + fraction + "(?:[Zz]|[+\\-]" +
                     hour_minute + ")",
                 "23:59:60" + fraction + "(?:[Zz]|[+\\-]00:00)"});
}

// With every leap second, at any time and offset.
string time_superset() {
  return string(kHourMinute) + ":(?:[0-5][0-9]|60)" + maybe("\\.[0-9]+") +
         "(?:[Zz]|[+\\-]" + kHourMinute + ")";
}

string duration() {
  const string n = "[0-9]+";
  const string date_part = one_of({n + "D", n + "M" + maybe(n + "D"),
                                   n + "Y" + maybe(n + "M" + maybe(n + "D"))});
  const string time_part =
      "T" + one_of({n + "S", n + "M" + maybe(n + "S"),
                    n + "H" + maybe(n + "M" + maybe(n + "S"))});
  return "P" + one_of({n + "W", date_part + maybe(time_part), time_part});
}

// Hosts.

string ipv4() {
  const string byte = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
  return byte + times("\\." + byte, "3");
}

// IPv6address of RFC 3986 section 3.2.2.  Each alternative bounds the groups
// before and after "::", so an address never has more than eight groups.
string ipv6() {
  const string group = "[0-9A-Fa-f]{1,4}";
  const string last = one_of({group + ":" + group, ipv4()});
  const auto before = [&](int most) {
    if (most < 0) return string();
    const string more =
        most == 0 ? "" : times(group + ":", "0," + std::to_string(most));
    return maybe(more + group);
  };
  const auto after = [&](int exactly) {
    return times(group + ":", std::to_string(exactly));
  };
  return one_of(
      {after(6) + last, "::" + after(5) + last,
       before(0) + "::" + after(4) + last, before(1) + "::" + after(3) + last,
       before(2) + "::" + after(2) + last, before(3) + "::" + after(1) + last,
       before(4) + "::" + last, before(5) + "::" + group, before(6) + "::"});
}

// A smaller expression for use inside other expressions.  It does not count the
// groups on both sides of one "::", so it accepts only some addresses.
string short_ipv6() {
  const string group = "[0-9A-Fa-f]{1,4}";
  return one_of(
      {times(group + ":", "7") + group, times(group + ":", "1,6") + ":" + group,
       times(group + ":", "1,7") + ":", ":" + times(":" + group, "1,7"), "::"});
}

// Up to 63 letters, digits and hyphens; no hyphen at either end, and not two as
// third and fourth character.
string host_label() {
  const string a = "[A-Za-z0-9]";
  const string x = "[A-Za-z0-9\\-]";
  return a +
         maybe(one_of({a, x + a, x + x + a,
                       x + "(?:" + a + x + "|-" + a + ")" + x + "{0,58}" + a}));
}

string hostname() { return host_label() + many("\\." + host_label()); }

// Labels of RFC 1123, Punycode or not, and a dot at the end.
string hostname_superset() {
  const string label = "[A-Za-z0-9](?:[A-Za-z0-9\\-]{0,61}[A-Za-z0-9])?";
  return label + many("\\." + label) + "\\.?";
}

// Any characters beyond ASCII: whether they may be in a label depends on tables
// of Unicode, and on their neighbours.
string idn_hostname_superset() { return "[A-Za-z0-9.\\-\\u0080-\\u{10FFFF}]+"; }

// Readers of addresses differ in what they allow, but for this.
string mailbox_superset() { return "[\\s\\S]*@[\\s\\S]*"; }

// A label beyond ASCII has at most ten characters, because ten characters of
// any of these scripts have less than 63 in Punycode.  The ranges are lower
// case, because capital letters are not valid in such labels.
string idn_hostname() {
  const string letter =
      "a-z0-9\\u00DF-\\u00F6\\u00F8-\\u00FF"  // Latin
      "\\u03AC-\\u03C1\\u03C3-\\u03CE"        // Greek
      "\\u0430-\\u045F"                       // Cyrillic
      "\\u0561-\\u0586"                       // Armenian
      "\\u0E01-\\u0E30"                       // Thai
      "\\u3041-\\u3096\\u30A1-\\u30FA"        // Kana
      "\\u4E00-\\u9FA5\\uAC00-\\uD7A3";       // Han, Hangul
  const string label = one_of({host_label(), "[" + letter + "]{1,10}"});
  return label + many("[.\\u3002\\uFF0E\\uFF61]" + label);
}

string mailbox(const string& beyond, const string& host) {
  const string atom = "[A-Za-z0-9!#$%&'*+/=?\\^_`{|}~\\-" + beyond + "]+";
  const string quoted = "\"(?:[ !#-\\[\\]-~" + beyond + "]|\\\\[ -~])*\"";
  const string literal = "\\[(?:" + ipv4() + "|IPv6:" + short_ipv6() + ")\\]";
  return one_of({atom + many("\\." + atom), quoted}) + "@" +
         one_of({host, literal});
}

// Characters beyond ASCII in IRIs (RFC 3987 section 2.2: ucschar), without
// those from U+40000 on: most of them are not assigned.  kPrivate
// has the characters that only a query may contain (iprivate).
constexpr char kBeyond[] =
    "\\u00A0-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFEF\\u{10000}-\\u{1FFFD}"
    "\\u{20000}-\\u{2FFFD}\\u{30000}-\\u{3FFFD}";

// All of them, and more.
constexpr char kAllBeyond[] = "\\u0080-\\u{10FFFF}";

constexpr char kPrivate[] =
    "\\uE000-\\uF8FF\\u{F0000}-\\u{FFFFD}\\u{100000}-\\u{10FFFD}";

// URIs.

constexpr char kPercent[] = "%[0-9A-Fa-f]{2}";

struct UriParts {
  string authority, path, absolute, rootless, noscheme, tail;
};

// Which texts an expression may be inexact by.
enum class Side : unsigned char {
  kSubset,    // it accepts only texts that have the format
  kSuperset,  // it accepts every text that has the format
};

UriParts uri_parts(const string& beyond, Side side) {
  const string ascii = "A-Za-z0-9._~!$&'()*+,;=\\-";
  const string safe = ascii + beyond;
  const auto chars = [&](const string& more) {
    return "(?:[" + safe + more + "]|" + kPercent + ")";
  };
  const string address =
      side == Side::kSubset ? short_ipv6() : "[0-9A-Fa-f:.]+";
  const string host =
      one_of({"\\[" + address + "\\]",
              "\\[[Vv][0-9A-Fa-f]+\\.[" + ascii + ":]+\\]", chars("") + "*"});
  UriParts parts;
  parts.authority = maybe(chars(":") + "*@") + host + maybe(":[0-9]*");
  parts.path = many("/" + chars(":@") + "*");
  parts.rootless = chars(":@") + "+" + parts.path;
  parts.noscheme = chars("@") + "+" + parts.path;
  parts.absolute = "/" + maybe(parts.rootless);
  const string query = beyond.empty() ? "" : kPrivate;
  parts.tail = maybe("\\?" + chars(":@/?" + query) + "*") +
               maybe("#" + chars(":@/?") + "*");
  return parts;
}

string uri(const string& beyond, Side side = Side::kSubset) {
  const UriParts p = uri_parts(beyond, side);
  return "[A-Za-z][A-Za-z0-9+.\\-]*:" +
         one_of({"//" + p.authority + p.path, p.absolute, p.rootless, ""}) +
         p.tail;
}

string uri_reference(const string& beyond, Side side = Side::kSubset) {
  const UriParts p = uri_parts(beyond, side);
  const string relative =
      one_of({"//" + p.authority + p.path, p.absolute, p.noscheme, ""}) +
      p.tail;
  return one_of({uri(beyond, side), relative});
}

string uri_template(Side side = Side::kSubset) {
  const string literal = string("[!#$&-;=?-\\[\\]_a-z~") +
                         (side == Side::kSubset ? kBeyond : kAllBeyond) + "]";
  const string operators =
      side == Side::kSubset ? "[+#./;?&]" : "[+#./;?&=,!@|]";
  const string character = string("(?:[A-Za-z0-9_]|") + kPercent + ")";
  const string variable =
      character + many("\\.?" + character) + maybe("\\*|:[1-9][0-9]{0,3}");
  return many(one_of(
      {literal, kPercent,
       "\\{" + operators + "?" + variable + many("," + variable) + "\\}"}));
}

// The rest.

string json_pointer() { return many("/(?:[^~/]|~[01])*"); }

string pattern_text() {
  const string escape =
      "\\\\c[A-Za-z]|\\\\[dDsSwWfnrtv\\^$\\\\.*+?()\\[\\]{}|/]";
  const string member =
      one_of({"[^\\\\\\]\\-]", "a-z", "A-Z", "0-9", escape, "\\\\-"});
  const string set = "\\[\\^?" + many(member) + "\\]";
  // {m,n} needs m <= n.  This holds if n has more digits, or if both have one
  // digit and n is in the range from m to 9.
  string range = "[0-9],[1-9][0-9]{1,2}|[1-9][0-9],[1-9][0-9]{2}";
  for (const char m : string("0123456789")) {
    range += string("|") + m + ",[" + m + "-9]";
  }
  const string quantifier =
      "(?:[*+?]|\\{(?:[0-9]{1,3},?|" + range + ")\\})\\??";
  const string plain =
      one_of({"[^\\\\\\^$.*+?()\\[\\]{}|]", "\\.", escape, set});
  string level;
  for (int depth = 0; depth < 3; ++depth) {
    const string group = level.empty() ? "" : "|\\((?:\\?:)?" + level + "\\)";
    const string item = "(?:(?:" + plain + group + ")" + maybe(quantifier) +
                        "|[\\^$|]|\\\\[bB]" + ")";
    level = many(item);
  }
  return level;
}

// Without the texts that are no pattern at a glance: a quantifier or a
// parenthesis at the start, or a group that is never closed.
string pattern_superset() {
  return "(?![*+?)]|[^\\\\\\[)]*\\([^\\\\\\[)]*$)[\\s\\S]*";
}

string uuid() {
  const string hex = "[0-9A-Fa-f]";
  return hex + "{8}" + times("-" + hex + "{4}", "3") + "-" + hex + "{12}";
}

struct Row {
  std::string_view name;
  string (*expression)();
  // Unless the expression is exact.
  std::string_view left_out = {};
  string (*superset)() = nullptr;
};

// The text of Row::left_out, as in the table above.
constexpr std::string_view kLeapSeconds =
    "leap seconds at another offset than zero";
constexpr std::string_view kMixedAddress =
    "IPv6 addresses that end with an IPv4 address, or have several groups "
    "after \"::\" and some before it";
constexpr std::string_view kMailHost =
    "host names with \"--\" as third and fourth character of a label, so "
    "Punycode; and in brackets, IPv6 addresses that end with an IPv4 address, "
    "or have several groups after \"::\" and some before it, and addresses "
    "that are neither IPv4 nor IPv6";
constexpr std::string_view kIdnMailHost =
    "host names with Punycode, with labels beyond ASCII that have a hyphen or "
    "more than ten characters, or in scripts with rules on context; and in "
    "brackets, IPv6 addresses that end with an IPv4 address, or have several "
    "groups after \"::\" and some before it, and addresses that are neither "
    "IPv4 nor IPv6";
constexpr std::string_view kIri =
    "characters from U+40000 on, and IPv6 addresses that end with an IPv4 "
    "address, or have several groups after \"::\" and some before it";
constexpr std::string_view kIdnLabels =
    "Punycode, labels beyond ASCII that have a hyphen or more than ten "
    "characters, and scripts with rules on context";
constexpr std::string_view kPunycode =
    "labels with \"--\" as third and fourth character, so Punycode";

constexpr Row kFormats[] = {
    {"date-time", [] { return date() + "[Tt]" + time(); }, kLeapSeconds,
     [] { return date() + "[Tt]" + time_superset(); }},
    {"date", date},
    {"time", time, kLeapSeconds, time_superset},
    {"duration", duration},
    {"email", [] { return mailbox("", hostname()); }, kMailHost,
     mailbox_superset},
    {"idn-email",
     [] {
       return mailbox("\\u0080-\\uD7FF\\uE000-\\u{10FFFF}", idn_hostname());
     },
     kIdnMailHost, mailbox_superset},
    {"hostname", hostname, kPunycode, hostname_superset},
    {"idn-hostname", idn_hostname, kIdnLabels, idn_hostname_superset},
    {"ipv4", ipv4},
    {"ipv6", ipv6},
    {"uri", [] { return uri(""); }, kMixedAddress,
     [] { return uri("", Side::kSuperset); }},
    {"uri-reference", [] { return uri_reference(""); }, kMixedAddress,
     [] { return uri_reference("", Side::kSuperset); }},
    {"iri", [] { return uri(kBeyond); }, kIri,
     [] { return uri(kAllBeyond, Side::kSuperset); }},
    {"iri-reference", [] { return uri_reference(kBeyond); }, kIri,
     [] { return uri_reference(kAllBeyond, Side::kSuperset); }},
    {"uri-template", [] { return uri_template(); },
     "reserved operators, characters for private use and from U+40000 on",
     [] { return uri_template(Side::kSuperset); }},
    {"uuid", uuid},
    {"json-pointer", json_pointer},
    {"relative-json-pointer",
     [] { return "(?:0|[1-9][0-9]*)(?:#|" + json_pointer() + ")"; },
     "shifts of an index",
     [] {
       return "(?:0|[1-9][0-9]*)" + maybe("[+\\-](?:0|[1-9][0-9]*)") + "(?:#|" +
              json_pointer() + ")";
     }},
    {"regex", pattern_text,
     "groups more than two deep, look-around, references, names and code "
     "points, most ranges of characters",
     pattern_superset},
};
static_assert(std::ranges::all_of(kFormats, [](const Row& row) {
  return row.left_out.empty() == (row.superset == nullptr);
}));

}  // namespace

std::optional<FormatId> find_format(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kFormats); ++i) {
    if (kFormats[i].name == name) return static_cast<FormatId>(i);
  }
  return std::nullopt;
}

std::string_view format_name(FormatId id) { return kFormats[id].name; }

std::string_view format_leaves_out(FormatId id) {
  return kFormats[id].left_out;
}

namespace {

// An expression that is parsed when it is first needed.
struct Entry {
  base::Once once;
  std::shared_ptr<const regex::Pattern> pattern;

  const std::shared_ptr<const regex::Pattern>& parsed(string (*expression)()) {
    once.call([&] {
      Result<regex::Pattern> read = regex::parse_pattern(
          "^(?:" + expression() + ")$", {.flavor = regex::Flavor::kEcma});
      assert(read.has_value());
      pattern = std::make_shared<const regex::Pattern>(std::move(*read));
    });
    return pattern;
  }
};

}  // namespace

std::shared_ptr<const regex::Pattern> format_pattern(FormatId id) {
  static std::array<Entry, std::size(kFormats)> entries;
  return entries[id].parsed(kFormats[id].expression);
}

std::shared_ptr<const regex::Pattern> format_superset(FormatId id) {
  if (kFormats[id].superset == nullptr) return format_pattern(id);
  static std::array<Entry, std::size(kFormats)> entries;
  return entries[id].parsed(kFormats[id].superset);
}

}  // namespace parlance::schema
