// Each question to the reader is a call with many arguments, in which each is
// one value.  If it is read back, all values are; else the halves are asked.

#include "inversion/read_texts.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <memory>
#include <span>
#include <utility>

#include "base/access.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "inversion/reading.h"
#include "inversion/shortest.h"
#include "inversion/trimmed.h"
#include "json/located.h"
#include "json/writer.h"
#include "parlance/tools.h"
#include "schema/conjoin.h"
#include "schema/declared.h"

namespace parlance::inversion {
namespace {

using format::WriteLayout;
using json::Value;
using Values = std::vector<Value>;

constexpr std::size_t kAscii = 128;
using Characters = std::bitset<kAscii>;

// The types of JSON Schema that a probe is declared with.  Names of arguments
// begin with their index, as a letter.
constexpr std::array<std::string_view, 7> kTypes = {
    "string", "integer", "number", "boolean", "null", "array", "object"};
// Objects look names up one by one.
constexpr std::size_t kMostArguments = 48;

// A value longer than classes of values that have a bound take.
constexpr std::size_t kLong = 300;

// ReadTexts::names for no name at all.
constexpr std::string_view kNoName = "$^";

// White space beyond ASCII, as str.strip() knows it.
constexpr std::string_view kMoreSpace =
    "\\x85\\xA0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000";

// "sa", "sb", ..., "sab": letters only, which most classes of names have.
std::string argument_name(std::size_t type, std::size_t index) {
  std::string out(1, static_cast<char>('a' + type));
  do {
    out += static_cast<char>('a' + index % 26);
    index /= 26;
  } while (index > 0);
  return out;
}

ToolSet probe_tools(std::string_view name) {
  json::Object properties;
  for (std::size_t type = 0; type < kTypes.size(); ++type) {
    const std::size_t count = type == 0 ? kMostArguments : 8;
    for (std::size_t i = 0; i < count; ++i) {
      properties.set(argument_name(type, i),
                     json::Object{{"type", kTypes[type]}});
    }
  }
  return ToolSet::from_value(json::Array{json::Object{
      {"type", "function"},
      {"function",
       json::Object{{"name", name},
                    {"parameters",
                     json::Object{{"type", "object"},
                                  {"properties", std::move(properties)}}}}}}});
}

// What a string cannot contain already.
std::vector<std::string> excluded_texts(const FieldPlan& plan,
                                        const Value& style) {
  const std::string_view name = member_text(style, "style");
  if (name == "json" || name == "python") return plan.strings;
  std::vector<std::string> out = plan.raw_values;
  const Value* elements = style.find("elements");
  if (elements != nullptr && member_text(*elements, "strings") != "json") {
    out.emplace_back(trimmed(member_text(*elements, "close")));
    if (const Value* ends = elements->find("ends")) {
      for (const Value& end : ends->items()) out.emplace_back(end.as_string());
    }
  }
  if (const Value* delimited = style.find("delimited")) {
    const Value* string = delimited->find("string");
    if (string != nullptr && string->size() == 2) {
      out.emplace_back(string->items()[1].as_string());
    }
  }
  std::erase(out, "");
  return out;
}

// ---- the reader ----

class Probes {
 public:
  Probes(const Format& format, const Plan& plan, std::string_view name)
      : format_(format), plan_(plan), name_(name), tools_(probe_tools(name)) {
    const auto& layouts = plan.writing->fields[*plan.calls];
    for (std::size_t i = 0; i < layouts.size(); ++i) {
      const Value* style = argument_style(layouts[i]);
      if (style == nullptr || i >= plan.first_samples.size()) continue;
      layouts_.push_back({style, &plan.samples[plan.first_samples[i]]});
      const auto texts = excluded_texts(plan.fields[*plan.calls], *style);
      excluded_.insert(excluded_.end(), texts.begin(), texts.end());
    }
  }

  bool empty() const { return layouts_.empty(); }
  // The layouts have the same kind of strings.
  const Value& style() const { return *layouts_.front().style; }
  const Value* elements() const { return style().find("elements"); }
  // Whether lists and objects are elements, too.
  bool nests() const {
    const std::string_view name = member_text(style(), "style");
    return name == "cohere_xml" || name == "minimax_m3_xml";
  }
  bool raw_strings() const {
    if (style().find("delimited") != nullptr || nests()) return true;
    return elements() != nullptr &&
           member_text(*elements(), "strings") != "json";
  }
  bool strips() const {
    const Value* strip =
        elements() == nullptr ? nullptr : elements()->find("strip");
    return strip != nullptr && strip->as_bool();
  }
  // What stands around values and ends them.
  std::vector<std::string> marks() const {
    std::vector<std::string> out = excluded_;
    if (elements() != nullptr) {
      out.emplace_back(member_text(*elements(), "open"));
    }
    return out;
  }
  const std::string& text() const { return text_; }
  const std::string& fault() const { return fault_; }

  // Which of the values of this type are read back.  A value that the grammar
  // does not have is.
  std::vector<bool> read(std::size_t type, const Values& values) {
    std::vector<bool> out(values.size(), true);
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!is_excluded(values[i])) which.push_back(i);
    }
    ask(
        which,
        [&](std::size_t i, std::size_t place) {
          return std::pair(argument_name(type, place), values[i]);
        },
        out);
    return out;
  }
  // The same for names that are not declared, of arguments with this value.
  std::vector<bool> read_names(const std::vector<std::string>& names,
                               const Value& value) {
    std::vector<bool> out(names.size(), true);
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!is_excluded_name(names[i])) which.push_back(i);
    }
    ask(
        which,
        [&](std::size_t i, std::size_t) { return std::pair(names[i], value); },
        out);
    return out;
  }
  bool reads(std::size_t type, const Value& value) {
    return read(type, {value})[0];
  }
  bool read_all(std::size_t type, const Values& values) {
    const std::vector<bool> found = read(type, values);
    return std::ranges::all_of(found, [](bool one) { return one; });
  }

  // Whether several values of this type are read back from one call.  Text and
  // fault are those of a call that is not read back and has few of them.
  bool read_together(std::size_t type, Values values) {
    std::erase_if(values, [&](const Value& one) { return is_excluded(one); });
    if (values.empty()) return true;
    const auto reads_these = [&](std::span<const Value> some) {
      json::Object arguments;
      for (const Value& value : some) {
        if (arguments.size() == kMostArguments) break;
        arguments.set(argument_name(type, arguments.size()), value);
      }
      text_.clear();
      return reads_arguments(arguments);
    };
    const std::string text = text_;
    const std::string fault = fault_;
    std::span<const Value> left = values;
    for (std::size_t at = 0; at < values.size(); at += kMostArguments) {
      left = std::span<const Value>(values).subspan(at);
      if (!reads_these(left)) break;
      left = {};
    }
    while (left.size() > 2) {
      const std::size_t half = left.size() / 2;
      if (!reads_these(left.first(half))) {
        left = left.first(half);
      } else if (!reads_these(left.subspan(half))) {
        left = left.subspan(half);
      } else {
        break;
      }
    }
    if (!left.empty() && !reads_these(left)) return false;
    text_ = text;
    fault_ = fault;
    return true;
  }

  // Whether a value of this type that is written as `text` is read as `value`.
  // Only in elements.
  bool reads_text(std::size_t type, std::string_view text, const Value& value) {
    const std::string key = argument_name(type, 0);
    return std::ranges::all_of(layouts_, [&](const Layout& layout) {
      return is_read(*layout.sample,
                     element_text(*layout.style, key, kTypes[type], text),
                     json::Object{{key, value}});
    });
  }
  // Whether the last of two arguments of one name counts.
  bool last_counts() {
    const std::string key = argument_name(0, 0);
    const Layout& layout = layouts_.front();
    const bool json = member_text(*elements(), "strings") == "json";
    const std::string both =
        element_text(*layout.style, key, "string", json ? "\"ab\"" : "ab") +
        std::string(member_text(*elements(), "between")) +
        element_text(*layout.style, key, "string", json ? "\"cd\"" : "cd");
    return is_read(*layout.sample, both, json::Object{{key, "cd"}});
  }

 private:
  struct Layout {
    const Value* style;
    const Sample* sample;
  };

  // Whether a text of the value holds an excluded one.  Nested no deeper than
  // the values above.
  bool is_excluded(const Value& value) const {
    if (excluded_.empty()) return false;
    if (raw_strings() && (value.is_array() || value.is_object()) &&
        elements() == nullptr) {
      return std::ranges::any_of(
                 value.items(),
                 [&](const Value& item) { return is_excluded(item); }) ||
             std::ranges::any_of(
                 value.members(), [&](const json::Member& member) {
                   return is_excluded(member.key) || is_excluded(member.value);
                 });
    }
    const std::string text = value.is_string() && raw_strings()
                                 ? std::string(value.as_string())
                                 : json::dump(value, {.ascii = false});
    // What ends a raw string may stand in the JSON of another value.
    const bool raw = value.is_string() || elements() == nullptr;
    const auto& excluded =
        raw ? excluded_ : plan_.fields[*plan_.calls].raw_values;
    return std::ranges::any_of(excluded, [&](const std::string& one) {
      return text.find(one) != std::string::npos;
    });
  }

  // See name_excludes() in arguments/markup.h.
  bool is_excluded_name(const std::string& name) const {
    if (is_excluded(Value(name))) return true;
    if (elements() == nullptr || member_text(*elements(), "key") == "xml") {
      return false;
    }
    return name.find(member_text(*elements(), "middle")) != std::string::npos ||
           (member_text(*elements(), "open").ends_with('"') &&
            name.find('"') != std::string::npos);
  }

  // Asks for all of `which` at once, else for some at once, else one by one.
  template <typename Member>
  void ask(std::span<const std::size_t> which, const Member& member,
           std::vector<bool>& out) {
    constexpr std::size_t kSome = 8;
    if (which.empty()) return;
    const auto ask_each = [&](std::size_t size) {
      for (std::size_t at = 0; at < which.size(); at += size) {
        ask(which.subspan(at, std::min(size, which.size() - at)), member, out);
      }
    };
    if (which.size() > kMostArguments) return ask_each(kMostArguments);
    json::Object arguments;
    for (const std::size_t i : which) {
      auto [name, value] = member(i, arguments.size());
      arguments.set(std::move(name), std::move(value));
    }
    if (which.size() == 1) {
      // Beside another one: `a=\n?(?P<value>.*?)\n` reads "" alone.
      const json::Object alone = arguments;
      auto [name, value] = member(which[0], 1);
      if (arguments.find(name) != nullptr) name += "zz";
      arguments.set(std::move(name), std::move(value));
      if (!reads_arguments(arguments)) {
        out[which[0]] = false;
        reads_arguments(alone);  // a shorter text, if it fails as well
      }
      return;
    }
    if (reads_arguments(arguments)) return;
    ask_each(which.size() > kSome ? kSome : 1);
  }

  bool reads_arguments(const json::Object& arguments) {
    return std::ranges::all_of(layouts_, [&](const Layout& layout) {
      const Result<std::string> text = arguments_text(*layout.style, arguments);
      return !text || is_read(*layout.sample, *text, arguments);
    });
  }

  bool is_read(const Sample& sample, const std::string& arguments,
               const Value& expected) {
    std::string text = call_text(plan_, sample, name_, arguments);
    std::string fault = call_fault(format_, plan_, text, name_, expected,
                                   {.strict = true, .tools = &tools_});
    if (fault.empty()) return true;
    // The shortest text is shown.
    if (text_.empty() || text.size() < text_.size()) {
      text_ = std::move(text);
      fault_ = std::move(fault);
    }
    return false;
  }

  const Format& format_;
  const Plan& plan_;
  const std::string_view name_;
  const ToolSet tools_;
  std::vector<Layout> layouts_ = {};
  std::vector<std::string> excluded_ = {};
  std::string text_ = {};
  std::string fault_ = {};
};

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
             json::dump(Value(std::string(1, static_cast<char>(c))),
                        {.ascii = false});
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
                "': " + what + ": of the call " +
                json::dump(Value(probes_.text()), {.ascii = false}) + ", " +
                probes_.fault() + ".",
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
    if (!probes_.reads(0, "ab")) return;
    if (probes_.elements() != nullptr &&
        member_text(*probes_.elements(), "strings") == "cdata" &&
        !(probes_.reads_text(0, "<![CDATA[ab]]>", "ab") &&
          probes_.reads_text(0, "<![CDATA[a<b>&\n]]>", "a<b>&\n"))) {
      return;
    }
    const auto plain = [](const std::string& text) { return Value(text); };
    Class inside = classes_of(0, {}, Side::kInside, plain);
    leave_out_words(inside);
    if (inside.out['a']) return;
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
    const bool empty = probes_.reads(0, "");
    if (empty) kept_.emplace_back("");
    const bool single = probes_.reads(0, "a");
    leave_out_begun();
    if (!find_longest()) return;
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
      add("does not contain " + json::dump(Value(one), {.ascii = false}));
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
    const std::string zeros(kLong, '0');
    const bool integers =
        probes_.read_all(1, {0, 7, -12, 1234567, std::int64_t{1} << 53}) &&
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
         json::dump(Value(probes_.text()), {.ascii = false}) + ", " +
         probes_.fault() + ".");
  }

  // Lists and objects are written as JSON: what its strings cannot have, and
  // white space.
  void find_containers() {
    if (probes_.nests()) {
      // Types of what is inside come from the schema.
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
      std::string texts;
      for (const std::string& text : out_.nested) {
        texts += (texts.empty() ? "" : ", ") +
                 json::dump(Value(text), {.ascii = false});
      }
      note(
          "a string in a list or an object of the arguments contains none of " +
          texts + ", because it would not be read back.");
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
    const std::string_view open = member_text(*probes_.elements(), "open");
    const std::string_view middle = member_text(*probes_.elements(), "middle");
    std::vector<std::string>& out = out_.names_without;
    for (const std::string& text : plan_.fields[*plan_.calls].raw_values) {
      for (std::size_t begin = 0; begin < text.size(); ++begin) {
        if (!open.ends_with(text.substr(0, begin))) continue;
        const std::string rest = text.substr(begin);
        const std::string at = begin == 0 ? "" : "^";
        out.push_back(at + literal_pattern(rest));
        for (std::size_t end = 0; end < rest.size(); ++end) {
          if (!middle.starts_with(std::string_view(rest).substr(end))) continue;
          out.push_back(at + literal_pattern(rest.substr(0, end)) + "$");
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

// ---- tools ----

// Whether the arguments may have names that are not declared at the top.
bool allows_other_names(const Value& schema) {
  const Value* others = schema.find("additionalProperties");
  return others == nullptr || others->kind() != json::Kind::kBool ||
         others->as_bool() || schema.find("patternProperties") != nullptr;
}

// What every argument must be.
Value limits_of(const ReadTexts& read) {
  json::Object out;
  constexpr std::size_t kEvery = 6;
  if (read.types.size() < kEvery || read.integers_only()) {
    out.set("type", json::Array(read.types.begin(), read.types.end()));
  }
  if (!read.strings.empty()) out.set("pattern", read.strings);
  if (read.longest) {
    out.set("maxLength", static_cast<std::int64_t>(*read.longest));
  }
  if (read.countable) {
    constexpr std::int64_t kCountable = std::int64_t{1} << 53;
    out.set("minimum", -kCountable);
    out.set("maximum", kCountable);
  }
  if (!read.without.empty()) {
    json::Array without;
    for (const std::string& text : read.without) {
      without.push_back(
          json::Object{{"type", "string"}, {"pattern", literal_pattern(text)}});
    }
    out.set("not", json::Object{{"anyOf", std::move(without)}});
  }
  return out;
}

std::uint8_t bits_of(const std::vector<std::string>& types) {
  constexpr std::pair<std::string_view, std::uint8_t> kBits[] = {
      {"null", schema::kNull},      {"boolean", schema::kBoolean},
      {"integer", schema::kNumber}, {"number", schema::kNumber},
      {"string", schema::kString},  {"array", schema::kArray},
      {"object", schema::kObject}};
  std::uint8_t out = 0;
  for (const auto& [name, bit] : kBits) {
    if (std::ranges::find(types, name) != types.end()) out |= bit;
  }
  return out;
}

// An error for a required argument all of whose types are lost.
std::optional<Error> check_required(const format::FormatImpl& format,
                                    const Plan& plan, const ReadTexts& read,
                                    const Tool& tool) {
  const Value* properties = tool.schema.find("properties");
  if (properties == nullptr) return std::nullopt;
  const auto root = schema::Declared::root(
      std::make_shared<const schema::ToolSchema>(tool.schema));
  for (const json::Member& member : properties->members()) {
    if (!requires_argument(tool, member.key)) continue;
    const schema::Declared declared = root.member(member.key);
    if (!declared.restricts() || declared.types() == 0 ||
        (declared.types() & bits_of(read.types)) != 0) {
      continue;
    }
    return Error{
        ErrorCode::kConflict,
        "tools: the argument " +
            base::quoted(std::string_view(member.key).substr(0, 200)) +
            " of the tool " + base::quoted(tool.name.substr(0, 200)) +
            " cannot be written in field '" +
            format.description.fields[*plan.calls].name +
            "', whose reader reads back no value of its type (" +
            calls_pointer(format, plan) + "): of the call " +
            json::dump(Value(read.text), {.ascii = false}) + ", " + read.fault +
            ".",
        json::append_pointer(tool.path + "/parameters/properties", member.key)};
  }
  return std::nullopt;
}

// A pattern of the strings that are a value of one of the types: the reader
// finds types in the schema, and takes them as such.
std::string spelling_of(std::uint8_t types) {
  constexpr std::pair<std::uint8_t, std::string_view> kSpellings[] = {
      {schema::kNull, "(?:null|None)\\s*$"},
      {schema::kBoolean, "(?:[Tt]rue|[Ff]alse)\\s*$"},
      {schema::kNumber, "[-+.0-9][-+.0-9eE_]*\\s*$"},
      {schema::kArray, "[\\[(]"},
      {schema::kObject, "\\{"}};
  std::string out;
  for (const auto& [bit, pattern] : kSpellings) {
    if ((types & bit) == 0) continue;
    out.append(out.empty() ? "" : "|").append(pattern);
  }
  return "^\\s*(?:" + out + ")";
}

// What declared arguments must be that may be strings, or values of types that
// are not read back.
json::Object spelled_types(const ReadTexts& read, const Value& limits,
                           const Tool& tool, std::vector<GrammarNote>& notes) {
  json::Object out;
  const std::uint8_t types = bits_of(read.types);
  const Value* properties = tool.schema.find("properties");
  if (properties == nullptr || types == schema::kAllTypes) return out;
  const auto root = schema::Declared::root(
      std::make_shared<const schema::ToolSchema>(tool.schema));
  for (const json::Member& member : properties->members()) {
    const schema::Declared declared = root.member(member.key);
    const auto lost = static_cast<std::uint8_t>(
        (declared.restricts() ? declared.types()
                              : std::uint8_t{schema::kAllTypes}) &
        ~types);
    if (lost == 0 ||
        (declared.restricts() && (declared.types() & schema::kString) == 0)) {
      continue;
    }
    json::Object spelled = {{"type", "string"}, {"pattern", spelling_of(lost)}};
    json::Array all;
    all.push_back(limits);
    all.emplace_back(json::Object{{"not", std::move(spelled)}});
    out.set(member.key, json::Object{{"allOf", std::move(all)}});
    notes.push_back(
        {GrammarNote::Kind::kNarrowed, "type",
         json::append_pointer(tool.path + "/parameters/properties", member.key),
         "the argument " +
             base::quoted(std::string_view(member.key).substr(0, 200)) +
             " of the tool " + base::quoted(tool.name.substr(0, 200)) +
             ": strings that are read as a value of another type are left "
             "out."});
  }
  return out;
}

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

bool may_have_other_names(const std::vector<Tool>& tools) {
  return std::ranges::any_of(
      tools, [](const Tool& tool) { return allows_other_names(tool.schema); });
}

std::optional<Error> narrow_to_read_texts(const format::FormatImpl& format,
                                          const Plan& plan,
                                          const ReadTexts& read,
                                          std::vector<Tool>& tools,
                                          std::vector<GrammarNote>& notes) {
  const Value limits = limits_of(read);
  for (Tool& tool : tools) {
    if (auto error = check_required(format, plan, read, tool)) return error;
    json::Object more;
    if (limits.size() > 0) more.set("additionalProperties", limits);
    if ((bits_of(read.types) & schema::kString) != 0) {
      json::Object spelled = spelled_types(read, limits, tool, notes);
      if (!spelled.empty()) more.set("properties", std::move(spelled));
    }
    if ((!read.names.empty() || !read.names_without.empty()) &&
        allows_other_names(tool.schema)) {
      json::Array names;
      if (const Value* declared = tool.schema.find("properties")) {
        for (const json::Member& member : declared->members()) {
          names.emplace_back(member.key);
        }
      }
      json::Array choices;
      if (!names.empty()) {
        choices.push_back(json::Object{{"enum", std::move(names)}});
      }
      if (read.names != kNoName) {
        json::Object others;
        if (!read.names.empty()) others.set("pattern", read.names);
        if (!read.names_without.empty()) {
          json::Array without;
          for (const std::string& pattern : read.names_without) {
            without.push_back(json::Object{{"pattern", pattern}});
          }
          others.set("not", json::Object{{"anyOf", std::move(without)}});
        }
        choices.emplace_back(std::move(others));
      }
      more.set("propertyNames",
               choices.empty()
                   ? Value(false)
                   : Value(json::Object{{"anyOf", std::move(choices)}}));
    }
    if (more.empty()) continue;
    if (!tool.schema.is_object()) {
      if (!tool.schema.as_bool()) continue;
      tool.schema = json::Object{{"type", "object"}};
    }
    tool.schema = schema::conjoined(std::move(tool.schema), std::move(more));
  }
  const std::string pointer = field_pointer(format, *plan.calls);
  for (const std::string& what : read.notes) {
    notes.push_back({GrammarNote::Kind::kNarrowed, "content", pointer,
                     "field '" + format.description.fields[*plan.calls].name +
                         "': " + what});
  }
  return std::nullopt;
}

}  // namespace parlance::inversion
