// Asks the reader in this order, each step within what those before it left:
//
//   strings    by character: inside, first, last; then words that are read as
//              something else, texts, and length
//   others     numbers, booleans and null; lists and objects with the strings
//              and the white space in them
//   together   two arguments, one after the other
//   names      of arguments that are not declared

#include "inversion/read_texts.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <string>
#include <utility>
#include <vector>

#include "base/access.h"
#include "base/utf8.h"
#include "inversion/probes.h"
#include "inversion/reading.h"
#include "json/writer.h"
#include "regex/literal_pattern.h"

namespace parlance::inversion {
namespace {

using format::WriteLayout;
using json::Value;

constexpr std::size_t kAscii = 128;
using Characters = std::bitset<kAscii>;

// A value longer than classes of values that have a bound take.
constexpr std::size_t kLong = 300;

// White space beyond ASCII, as str.strip() knows it.
constexpr std::string_view kMoreSpace =
    "\\x85\\xA0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000";

// ---- characters ----

// A set of characters: some of ASCII, and all others or none.
struct Class {
  Characters out = {};  // of ASCII, not in the set
  bool others = true;
  bool more_space = true;  // of the others, white space

  bool full() const { return out.none() && others && more_space; }
  bool empty() const { return out.all() && !others; }
};

Class meet(const Class& a, const Class& b) {
  return {a.out | b.out, a.others && b.others, a.more_space && b.more_space};
}

void append_code(std::string& out, std::size_t c) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  out += "\\x";
  out += kDigits[c >> 4];
  out += kDigits[c & 15];
}

// As a class of a pattern.
std::string pattern_of(const Class& set) {
  if (set.full()) return "[\\s\\S]";
  std::string out = set.others ? "[^" : "[";
  for (std::size_t c = 0; c < kAscii; ++c) {
    if (set.out[c] != set.others) continue;
    std::size_t end = c;
    while (end + 1 < kAscii && set.out[end + 1] == set.others) ++end;
    append_code(out, c);
    if (end > c) out += '-';
    if (end > c) append_code(out, end);
    c = end;
  }
  if (set.others && !set.more_space) out += kMoreSpace;
  return out + "]";
}

// What a set leaves out, for people.
std::string shown_class(const Class& set) {
  std::string texts;
  std::size_t count = 0;
  for (std::size_t c = 0; c < kAscii; ++c) {
    if (!set.out[c] || c == '\v' || c == '\f' || (c >= 0x1C && c <= 0x1F)) {
      continue;
    }
    if (++count > 12) continue;
    texts += (texts.empty() ? "" : ", ") +
             json::quoted(std::string(1, static_cast<char>(c)));
  }
  if (count > 12) texts += " and " + std::to_string(count - 12) + " others";
  if (!set.others) {
    texts +=
        std::string(texts.empty() ? "" : ", ") + "nor a character beyond ASCII";
  }
  return texts;
}

enum class Side : std::uint8_t { kFirst, kInside, kLast };

std::string at_side(std::string_view text, Side side) {
  std::string out(text);
  if (side != Side::kFirst) out.insert(0, "a");
  if (side != Side::kLast) out += 'a';
  return out;
}

// The characters that texts may have at `side`.  `make` makes a probe of a text
// and `read` says which probes are read back.
//
// Beyond ASCII a few characters stand for all: one of each size in UTF-8, and
// four kinds of white space.  A text that the grammar does not have counts as
// read (Probes::read()).
template <typename Make, typename Read>
Class find_class(const Class& within, Side side, const Make& make,
                 const Read& read) {
  constexpr std::array<std::string_view, 4> kOthers = {"é", "€", "日", "😀"};
  constexpr std::array<std::string_view, 4> kSpaces = {
      "\xC2\x85", "\xC2\xA0", "\xE2\x80\xA8", "\xE3\x80\x80"};
  Class out = within;
  std::vector<decltype(make(std::string()))> probes;
  std::vector<std::size_t> which;
  for (std::size_t c = 0; c < kAscii; ++c) {
    if (within.out[c]) continue;
    probes.push_back(make(at_side(std::string(1, static_cast<char>(c)), side)));
    which.push_back(c);
  }
  const std::size_t ascii = probes.size();
  if (within.others) {
    for (const auto text : kOthers) probes.push_back(make(at_side(text, side)));
    for (const auto text : kSpaces) probes.push_back(make(at_side(text, side)));
  }
  const std::vector<bool> is_read = read(probes);
  for (std::size_t i = 0; i < probes.size(); ++i) {
    if (is_read[i]) continue;
    if (i < ascii) {
      out.out.set(which[i]);
      continue;
    }
    if (i < ascii + kOthers.size()) out.others = false;
    out.more_space = false;
  }
  return out;
}

// ---- what is read ----

class Finder {
 public:
  Finder(const Format& format, const Plan& plan, std::string_view name,
         bool other_names)
      : probes_(format, plan, name),
        format_(*detail::Access::impl(format)),
        plan_(plan),
        other_names_(other_names) {}

  Result<ReadTexts> find() {
    if (probes_.empty()) return std::move(out_);
    // Strings come first: check_together() and find_names() use such as are
    // read back.
    find_strings();
    find_others();
    if (auto error = check_together()) return *std::move(error);
    if (out_.types.empty()) {
      return misread("no argument is read back as it is written");
    }
    if (probes_.elements() != nullptr) {
      out_.last_counts =
          !other_names_ || !reads("string") || probes_.last_counts();
    }
    if (other_names_) find_names();
    out_.text = probes_.text();
    out_.fault = probes_.fault();
    return std::move(out_);
  }

 private:
  bool reads(std::string_view type) const {
    return std::ranges::find(out_.types, type) != out_.types.end();
  }
  void note(std::string what) { out_.notes.push_back(std::move(what)); }

  Error misread(const std::string& what) const {
    return {ErrorCode::kConflict,
            "field '" + format_.description.fields[*plan_.calls].name +
                "': " + what + ": of the call " + json::quoted(probes_.text()) +
                ", " + probes_.fault() + ".",
            calls_pointer(format_, plan_)};
  }

  // What is read back alone is read back beside other arguments.
  std::optional<Error> check_together() {
    Values values;
    std::size_t type = kTypes.size();
    for (std::size_t i = kTypes.size(); i-- > 0;) {
      if (reads(kTypes[i])) type = i;
    }
    const std::array<Values, 7> kTwo = {
        {kept_.empty() ? Values{"ab", "cd"} : kept_,
         {1, 2},
         {0.5, 2},
         {true, false},
         {nullptr, nullptr},
         {json::Array{1}, json::Array()},
         {json::Object{{"a", 1}}, json::Object()}}};
    if (type == kTypes.size() || probes_.read_together(type, kTwo[type])) {
      return std::nullopt;
    }
    return misread("arguments are not read back one after the other");
  }

  template <typename Make>
  Class classes_of(std::size_t type, const Class& within, Side side,
                   const Make& make) {
    return find_class(within, side, make, [&](const Values& values) {
      std::vector<bool> read = probes_.read(type, values);
      for (std::size_t i = 0; i < values.size() && type == 0; ++i) {
        if (read[i]) kept_.push_back(values[i]);
      }
      return read;
    });
  }

  void find_strings() {
    // A return before "string" is added to the types means: no strings.
    //
    // 1. Whether any string is read, and in CDATA sections one that needs them.
    if (!probes_.reads(0, "ab")) return;
    if (probes_.elements() != nullptr &&
        probes_.elements()->strings == format::ElementLayout::Strings::kCdata &&
        !(probes_.reads_text(0, "<![CDATA[ab]]>", "ab") &&
          probes_.reads_text(0, "<![CDATA[a<b>&\n]]>", "a<b>&\n"))) {
      return;
    }
    // 2. The characters inside, by probes `a` + c + `a`.  Without letters there
    //    are no strings worth having.
    const auto plain = [](const std::string& text) { return Value(text); };
    Class inside = classes_of(0, {}, Side::kInside, plain);
    leave_out_words(inside);
    if (inside.out['a']) return;
    // 3. The first and the last character.  A style that strips has no white
    //    space there by itself.
    Class edges = inside;
    if (probes_.strips()) {
      for (const char c : std::string_view(" \t\n\v\f\r\x1C\x1D\x1E\x1F")) {
        edges.out.set(static_cast<std::size_t>(c));
      }
      edges.more_space = false;
    }
    Class first = classes_of(0, edges, Side::kFirst, plain);
    const Class last = classes_of(0, edges, Side::kLast, plain);
    leave_out_first(first);
    if (first.out['a']) return;
    // 4. What a class of characters does not show: the empty text, a single
    //    character, texts that the class of values forbids, and length.
    const bool empty = probes_.reads(0, "");
    if (empty) kept_.emplace_back("");
    const bool single = probes_.reads(0, "a");
    leave_out_begun();
    if (!find_longest()) return;
    // 5. The pattern: one character, or first, inside and last.  None if all
    //    strings are read back, or all that the style writes.
    out_.types.emplace_back("string");
    const bool all = empty && single && without_.empty() && !out_.longest;
    if (all && inside.full() && first.full() && last.full()) return;
    const bool is_strip = probes_.strips() && all && inside.full() &&
                          same(first, edges) && same(last, edges);
    if (is_strip) return;
    out_.strings =
        "^(?:" + (single ? pattern_of(meet(first, last)) + "|" : "") +
        pattern_of(first) + pattern_of(inside) + "*" + pattern_of(last) + ")" +
        (empty ? "?" : "") + "$";
    out_.without = without_;
    note_strings(inside, first, last, empty);
    if (!single) {
      note(
          "a string of the arguments is not one character long, "
          "because it would not be read back.");
    }
  }

  // Parts of the texts around a value: the class of values may forbid what
  // begins as its end does.
  std::vector<std::string> begun() const {
    std::vector<std::string> out;
    if (probes_.nests()) return out;  // the style has no mark in a string
    for (const std::string& text : probes_.marks()) {
      for (std::size_t size = 2; size < text.size(); ++size) {
        out.push_back(text.substr(0, size));
      }
    }
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    std::erase_if(out,
                  [](const std::string& one) { return !base::is_utf8(one); });
    return out;
  }

  void leave_out_begun() {
    const std::vector<std::string> texts = begun();
    Values values;
    for (const std::string& text : texts) values.emplace_back("a" + text + "b");
    const std::vector<bool> read = probes_.read(0, values);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      // Sorted, so the shortest comes first.
      if (!read[i] &&
          (without_.empty() || !texts[i].starts_with(without_.back()))) {
        without_.push_back(texts[i]);
      }
    }
  }

  // Sets `longest` if long strings are not read back.  False if no bound keeps
  // them out.
  bool find_longest() {
    if (probes_.reads(0, std::string(kLong, 'a'))) return true;
    if (!probes_.raw_strings()) return false;
    // Invariant: a string of `least` characters is read back, one of `most` is
    // not.
    std::size_t least = 2;
    std::size_t most = kLong;
    while (most - least > 1) {
      const std::size_t middle = (least + most) / 2;
      (probes_.reads(0, std::string(middle, 'a')) ? least : most) = middle;
    }
    out_.longest = least;
    note("a string of the arguments has at most " + std::to_string(least) +
         " characters, because a longer one would not be read back.");
    return true;
  }

  static bool same(const Class& a, const Class& b) {
    return a.out == b.out && a.others == b.others &&
           a.more_space == b.more_space;
  }

  void note_strings(const Class& inside, const Class& first, const Class& last,
                    bool empty) {
    std::string what;
    const auto add = [&](std::string text) {
      what += (what.empty() ? "" : ", ") + std::move(text);
    };
    if (!inside.full()) add("contains none of " + shown_class(inside));
    Class begin = first;
    Class end = last;
    begin.out &= ~inside.out;
    end.out &= ~inside.out;
    if (begin.out.any()) add("begins with none of " + shown_class(begin));
    if (end.out.any()) add("ends with none of " + shown_class(end));
    for (const std::string& one : without_) {
      add("does not contain " + json::quoted(one));
    }
    if (!empty) add("is not empty");
    note("a string of the arguments " + what +
         ", because it would not be read back.");
  }

  // Spellings that a decoder reads as something else.
  void leave_out_words(Class& inside) {
    if (!probes_.read_all(0, {"a&lt;b", "a&#65;b", "a&amp;b"})) {
      inside.out.set('&');
    }
    if (!probes_.read_all(0, {"a\\nb", "a\\u0041b", "a\\\"b"})) {
      inside.out.set('\\');
    }
    constexpr std::string_view kCdata = "<![CDATA[";
    if (!inside.out['<'] &&
        !probes_.read_all(0, {"<![CDATA[a]]>", "b<![CDATA[a]]>b"})) {
      without_.emplace_back(kCdata);
    }
  }

  // Strings that are read as a value of another type.  What begins as they do
  // is left out.
  void leave_out_first(Class& first) {
    struct Word {
      std::string_view text;
      std::string_view begins;
    };
    constexpr std::string_view kNumber = "+-.0123456789";
    constexpr std::array<Word, 22> kWords = {
        {{"3", kNumber},      {"0", kNumber},     {"-1", kNumber},
         {"1.5", kNumber},    {"1e5", kNumber},   {"true", "tT"},
         {"false", "fF"},     {"null", "nN"},     {"None", "N"},
         {"True", "tT"},      {"False", "fF"},    {"NaN", "nN"},
         {"nan", "nN"},       {"Infinity", "iI"}, {"inf", "iI"},
         {"[]", "["},         {"[1]", "["},       {"{}", "{"},
         {"{\"a\": 1}", "{"}, {"{a: 1}", "{"},    {"\"a\"", "\""},
         {"'a'", "'"}}};
    Values values;
    for (const Word& word : kWords) values.emplace_back(word.text);
    // The same after white space.
    const std::size_t words = values.size();
    for (const char* text : {" 3", "\n3", "3 ", "3\n", " true", " [1]"}) {
      values.emplace_back(text);
    }
    const std::vector<bool> read = probes_.read(0, values);
    for (std::size_t i = 0; i < words; ++i) {
      if (read[i]) continue;
      for (const char c : kWords[i].begins) {
        first.out.set(static_cast<std::size_t>(c));
      }
    }
    // Where a number counts as a string, but not with white space beside it, no
    // string begins with white space.
    for (std::size_t i = words; i < values.size(); ++i) {
      if (read[i] || first.out[values[i].as_string()[0]]) continue;
      for (const char c : std::string_view(" \t\n\v\f\r")) {
        first.out.set(static_cast<std::size_t>(c));
      }
      first.more_space = false;
    }
  }

  void find_others() {
    const auto add = [&](std::size_t type, const Values& values) {
      if (!probes_.read_all(type, values)) return false;
      out_.types.emplace_back(kTypes[type]);
      return true;
    };
    const auto reads_all = [&](std::size_t type,
                               std::initializer_list<std::string> texts) {
      if (probes_.elements() == nullptr) return true;
      return std::ranges::all_of(texts, [&](const std::string& text) {
        return probes_.reads_text(type, text, *json::parse(text));
      });
    };
    // A class of values may also bound the length of numbers.
    const std::string zeros(kLong, '0');
    const bool integers = probes_.read_all(1, {0, 7, -12, 1234567,
                                               (std::int64_t{1} << 53) - 1}) &&
                          reads_all(1, {"12.0", "12.0" + zeros});
    const bool numbers =
        integers && probes_.read_all(2, {0.5, -12.25, 1e20, 1e-7, 3, 2.0}) &&
        reads_all(2, {"12.0", "1E2", "1.50e-3", "0.5" + zeros});
    if (integers || numbers) {
      out_.types.emplace_back(numbers ? "number" : "integer");
      const std::int64_t beyond = (std::int64_t{1} << 53) + 1;
      out_.countable = !probes_.reads(1, beyond) || !probes_.reads(2, beyond);
      if (out_.countable) {
        note(
            "numbers in the arguments are not beyond 2^53, because digits of "
            "a larger integer would be lost.");
      }
    }
    add(3, {true, false});
    add(4, {nullptr});
    find_containers();
    constexpr std::size_t kAllTypes = 6;  // an integer is a number
    if (out_.types.size() == kAllTypes && numbers) return;
    std::string missing;
    for (const std::string_view type : kTypes) {
      if (reads(type) || (type == "integer" && numbers)) continue;
      missing += (missing.empty() ? "" : ", ") + std::string(type);
    }
    if (missing.empty()) return;
    note("the arguments have no values of the types " + missing +
         ", because they would not be read back: of the call " +
         json::quoted(probes_.text()) + ", " + probes_.fault() + ".");
  }

  // Lists and objects are written as JSON: what its strings cannot have, and
  // white space.
  void find_containers() {
    if (probes_.nests()) {
      // The schema gives the types of the values inside.
      out_.types.insert(out_.types.end(), {"array", "object"});
      return;
    }
    const std::string long_text(kLong, 'a');
    const Value one = json::Array{"ab", 1, json::Array{}, long_text};
    const Value object =
        json::Object{{"ab", "cd"}, {"c", json::Object()}, {"d", long_text}};
    const bool lists = probes_.read_all(5, {json::Array(), one});
    const bool objects = probes_.read_all(6, {json::Object(), object});
    if (!lists && !objects) return;
    const std::size_t type = objects ? 6 : 5;
    const auto nested = [&](const std::string& text) -> Value {
      if (type == 5) return json::Array{text};
      return json::Object{{"a", text}};
    };
    const Class inside = classes_of(type, {}, Side::kInside, nested);
    for (std::size_t c = 0; c < kAscii; ++c) {
      if (!inside.out[c]) continue;
      const bool written = c >= 0x20 && c != '"' && c != '\\';
      // JSON has these outside strings, or as an escape.
      if (!written || c == ' ' || !inside.others ||
          std::string_view("{}[]:,+-.").find(static_cast<char>(c)) !=
              std::string_view::npos ||
          (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == 'E') {
        return;
      }
      out_.nested.emplace_back(1, static_cast<char>(c));
    }
    if (!inside.others) return;
    for (const std::string& part : begun()) {
      if (!probes_.reads(type, nested("a" + part + "b"))) {
        out_.nested.push_back(part);
      }
    }
    for (const char* text : {"&lt;", "<![CDATA[", "\\n"}) {
      const std::string value = std::string("a") + text + "b]]>";
      if (text[0] != '\\' && !probes_.reads(type, nested(value))) {
        const std::string left(1, text[0]);
        if (std::ranges::find(out_.nested, left) == out_.nested.end()) {
          out_.nested.push_back(left);
        }
      }
    }
    if (!out_.nested.empty()) {
      note(
          "a string in a list or an object of the arguments contains none of " +
          quoted_list(out_.nested) + ", because it would not be read back.");
    }
    if (probes_.elements() != nullptr && !find_space(type)) return;
    if (lists) out_.types.emplace_back("array");
    if (objects) out_.types.emplace_back("object");
  }

  // Whether spaces are read back in JSON; sets `one_line` if other white space
  // is not.
  bool find_space(std::size_t type) {
    const auto read = [&](std::string_view space) {
      std::string text;
      const auto add = [&](std::string_view token) {
        text.append(token).append(space);
      };
      Value value;
      if (type == 6) {
        for (const char* token : {"{", "\"a\"", ":", "1", ",", "\"b\"", ":"}) {
          add(token);
        }
        add("2");
        text += "}";
        value = json::Object{{"a", 1}, {"b", 2}};
      } else {
        for (const char* token : {"[", "1", ","}) add(token);
        add("2");
        text += "]";
        value = json::Array{1, 2};
      }
      return probes_.reads_text(type, text, value);
    };
    // Each three of them, one after the other.
    std::string all;
    for (const char a : std::string_view(" \t\n\r")) {
      for (const char b : std::string_view(" \t\n\r")) {
        for (const char c : std::string_view(" \t\n\r")) all += {a, b, c};
      }
    }
    if (!read(" ") || !read("   ")) return false;
    if (read(all) && read("\n")) return true;
    out_.one_line = true;
    note(
        "JSON in the arguments is written on one line, because line feeds in "
        "it would not be read back.");
    return true;
  }

  // The names with which `<` + name + `>` spells "<think>".
  void find_names_without() {
    const std::string& open = probes_.elements()->open;
    const std::string& middle = probes_.elements()->middle;
    std::vector<std::string>& out = out_.names_without;
    // Each way to cut the text in three: an end of `open`, the name, and a
    // beginning of `middle`.  A part that the markup spells pins the name at
    // that end (^, $).
    for (const std::string& text : plan_.fields[*plan_.calls].raw_values) {
      for (std::size_t begin = 0; begin < text.size(); ++begin) {
        if (!open.ends_with(text.substr(0, begin))) continue;
        const std::string rest = text.substr(begin);
        const std::string at = begin == 0 ? "" : "^";
        out.push_back(at + regex::literal_pattern(rest));
        for (std::size_t end = 0; end < rest.size(); ++end) {
          if (!middle.starts_with(std::string_view(rest).substr(end))) continue;
          out.push_back(at + regex::literal_pattern(rest.substr(0, end)) + "$");
        }
      }
    }
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    std::erase_if(out, [](const std::string& one) { return one == "$"; });
  }

  // The names that are not declared.
  void find_names() {
    if (probes_.elements() == nullptr || out_.types.empty()) return;
    const Value value = some_value(out_);
    const auto read = [&](const std::vector<std::string>& names) {
      return probes_.read_names(names, value);
    };
    if (!out_.last_counts || !read({"ab"})[0] ||
        !read({std::string(kLong, 'a')})[0]) {
      out_.names = kNoName;
      note("arguments that are not declared are left out, because " +
           std::string(out_.last_counts
                           ? "their names would not be read back."
                           : "a second one of the same name would not replace "
                             "the first."));
      return;
    }
    find_names_without();
    const auto find = [&](const Class& within, Side side) {
      return find_class(
          within, side, [](std::string name) { return name; }, read);
    };
    const Class inside = find({}, Side::kInside);
    if (inside.out['a']) return;
    const Class first = find(inside, Side::kFirst);
    const Class last = find(inside, Side::kLast);
    if (inside.full() && first.full() && last.full()) return;
    out_.names = "^(?:" + pattern_of(meet(first, last)) + "|" +
                 pattern_of(first) + pattern_of(inside) + "*" +
                 pattern_of(last) + ")$";
    note("names of arguments that are not declared match " + out_.names +
         ", because others would not be read back.");
  }

  Probes probes_;
  const format::FormatImpl& format_;
  const Plan& plan_;
  const bool other_names_;
  ReadTexts out_ = {};
  std::vector<std::string> without_ = {};
  Values kept_ = {};  // strings that are read back
};

}  // namespace

Result<ReadTexts> find_read_texts(const Format& format, const Plan& plan,
                                  std::string_view name, bool other_names) {
  return Finder(format, plan, name, other_names).find();
}

Value some_value(const ReadTexts& read) {
  const auto reads = [&](std::string_view type) {
    return std::ranges::find(read.types, type) != read.types.end();
  };
  if (read.types.empty() || reads("string")) return "ab";
  if (reads("integer") || reads("number")) return 7;
  if (reads("boolean")) return true;
  if (reads("array")) return json::Array();
  if (reads("object")) return json::Object();
  return nullptr;
}

}  // namespace parlance::inversion
