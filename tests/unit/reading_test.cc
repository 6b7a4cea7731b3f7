// What parlance.read of a family file says about how a response is read.
//
// Each case is a small format and a response.  The events must be the same
// however the response is cut, and every byte must be accounted for.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/response_parser.h"
#include "parlance/tools.h"
#include "parlance/vocabulary.h"
#include "support/parse_record.h"

namespace parlance::reading_test {
namespace {

using testing::account;
using testing::cut_at_random;
using testing::cut_every;
using testing::EventRecord;
using testing::ParseRecord;
using testing::record_parse;

// A format with the fields of `fields` and the members of `parlance`.
Format format_of(const std::string& fields, const std::string& parlance) {
  const Result<Format> format = Format::from_json(
      R"({"name": "test", "response_template": {"version": 1,
          "start_anchor": "<a>", "fields": )" +
      fields + R"(}, "parlance": )" + parlance + "}");
  EXPECT_TRUE(format.has_value()) << (format ? "" : format.error().to_string());
  return *format;
}

// Calls as JSON between <f> and </f>, and content.
Format json_calls(const std::string& reading,
                  const std::string& parlance = "") {
  return format_of(
      R"({"calls": {"open": "<f>", "close": "</f>", "repeats": true,
            "content": "json"},
          "think": {"open": "<t>", "close": "</t>", "content": "text",
            "content_args": {"strip": false}, "repeats": true, "join": "|"},
          "content": {"content": "text", "repeats": true, "join": "",
            "content_args": {"strip": false}}})",
      "{" + parlance + R"("read": {)" + reading + "}}");
}

// The events of `text` as text.  Fails if they depend on the cut, or if a byte
// is lost.
std::string read(const Format& format, std::string_view text,
                 StreamOptions options = {}) {
  const ParseRecord whole = record_parse(format, {std::string(text)}, options);
  EXPECT_EQ(account(whole, std::string(options.prefix) + std::string(text)),
            "");
  EXPECT_EQ(testing::fold(whole), json::dump(whole.message.fields));
  EXPECT_EQ(record_parse(format, cut_every(text, 1), options).to_string(),
            whole.to_string());
  std::mt19937 random(static_cast<unsigned>(text.size()));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(record_parse(format, cut_at_random(text, random, 12), options)
                  .to_string(),
              whole.to_string());
  }
  std::string out;
  for (const EventRecord& event : whole.events) {
    if (!out.empty()) out += ' ';
    switch (event.kind) {
      case EventKind::kRegionOpen:
        out += event.name + "(";
        break;
      case EventKind::kRegionChunk:
        out += json::dump(json::Value(event.text));
        break;
      case EventKind::kRegionClose:
        out += (event.cut ? "cut)=" : ")=") + json::dump(event.value);
        break;
      case EventKind::kRegionMalformed:
        out += event.cut ? "cut)!" : ")!";
        break;
      case EventKind::kTextUnclaimed:
        out += "unclaimed " + json::dump(json::Value(event.text));
        break;
      default:
        out += "?";
    }
  }
  return out;
}

std::string fields(const Format& format, std::string_view text,
                   StreamOptions options = {}) {
  read(format, text, options);
  const ParseRecord record = record_parse(format, {std::string(text)}, options);
  std::string out = json::dump(record.message.fields);
  for (const Diagnostic& d : record.message.diagnostics) {
    out += " " + std::string(text.substr(d.bytes.begin, d.bytes.size()));
  }
  return out;
}

// ---- the prefix ----

TEST(Prefix, WithoutStartAnchor) {
  const Format format = json_calls("");
  for (const char* prefix : {"user: Hi\n", "user<t>", "\n"}) {
    const ParseRecord record =
        record_parse(format, {"Yes."}, {.prefix = prefix});
    EXPECT_EQ(json::dump(record.message.fields), R"({"content": "Yes."})");
    ASSERT_EQ(record.message.diagnostics.size(), 1u);
    EXPECT_EQ(record.message.diagnostics[0].message,
              "the prefix contains no start anchor of the format; the "
              "response begins at the end of the prefix");
    EXPECT_EQ(record.prefix_bytes, 0u);
  }
  EXPECT_EQ(
      json::dump(
          record_parse(format, {"Yes."}, {.prefix = "x<a><t>"}).message.fields),
      R"({"think": "Yes."})");
}

// ---- ends: value ----

const char* const kEnds = R"("calls": {"ends": "value"})";

TEST(EndsValue, CloseInStringIsText) {
  const Format format = json_calls(kEnds);
  EXPECT_EQ(fields(format, R"(<f>{"a": "x </f> y"} </f>Yes.)"),
            R"({"calls": [{"a": "x </f> y"}], "content": "Yes."})");
  EXPECT_EQ(fields(format, R"(<f>["\"</f>", {"</f>": "</f></f>"}]</f>)"),
            R"({"calls": [["\"</f>", {"</f>": "</f></f>"}]]})");
  EXPECT_EQ(fields(format, R"(<f>"</f>"</f>!)"),
            R"({"calls": ["</f>"], "content": "!"})");
}

TEST(EndsValue, RegionEndsAfterItsValue) {
  const Format format = json_calls(kEnds);
  EXPECT_EQ(read(format, "<f>{\"a\": 1}\nYes."),
            "calls( \"{\\\"a\\\": 1}\" )={\"a\": 1} content( \"\\nYes.\" "
            ")=\"\\nYes.\"");
  EXPECT_EQ(fields(format, R"(<f>{"a": 1}<f>[2] </f> z)"),
            R"({"calls": [{"a": 1}, [2]], "content": " z"})");
  EXPECT_EQ(fields(format, R"(<f>{} < /f>)"),
            R"({"calls": [{}], "content": " < /f>"})");
  EXPECT_EQ(fields(format, R"(<f> 12 x)"),
            R"({"calls": [12], "content": " x"})");
}

TEST(EndsValue, MissingCloseIsNoDamage) {
  const Format format = json_calls(kEnds);
  for (const char* text : {R"(<f>{"a": 1})", "<f>{\"a\": 1}\n ", "<f>1"}) {
    const ParseRecord record = record_parse(format, {text});
    EXPECT_TRUE(record.message.complete) << text;
    EXPECT_TRUE(record.message.diagnostics.empty()) << text;
    EXPECT_EQ(record.events.back().kind, EventKind::kRegionClose) << text;
    read(format, text);
  }
}

TEST(EndsValue, CutCallIsMalformed) {
  const Format format = json_calls(kEnds);
  for (const char* text :
       {R"(<f>{"a": 1)", R"(<f>{"a": "x)", R"(<f>{"a": "</f> x)", R"(<f>{"a")",
        R"(<f>)", R"(<f>{"a": "</f>")"}) {
    const ParseRecord record = record_parse(format, {text});
    EXPECT_FALSE(record.message.complete) << text;
    EXPECT_EQ(record.events.back().kind, EventKind::kRegionMalformed) << text;
    EXPECT_TRUE(record.events.back().cut) << text;
    read(format, text);
  }
}

// A string that never ends does not swallow what follows.
TEST(EndsValue, DamageStaysInItsRegion) {
  const Format format = json_calls(kEnds);
  EXPECT_EQ(read(format, R"(<f>{"a": "x}</f><f>{"b": 1}</f>.)"),
            "calls( \"{\\\"a\\\": \\\"x}\" )! calls( \"{\\\"b\\\": 1}\" "
            ")={\"b\": 1} content( \".\" )=\".\"");
  EXPECT_TRUE(read(format, "<f>{\"a\": \"x}</f>\n.")
                  .starts_with("calls( \"{\\\"a\\\": \\\"x}\" )! content("));
  EXPECT_EQ(read(format, R"(<f>{"a": "x}</f>)"),
            "calls( \"{\\\"a\\\": \\\"x}\" )!");
  EXPECT_EQ(read(format, R"(<f>{"a": b "</f>" </f>.)"),
            "calls( \"{\\\"a\\\": b \\\"\" )! content( \"\\\" </f>.\" "
            ")=\"\\\" </f>.\"");
  EXPECT_EQ(read(format, R"(<f>{"a": 1</f>.)"),
            "calls( \"{\\\"a\\\": 1\" )! content( \".\" )=\".\"");
  EXPECT_EQ(read(format, "<f>no value</f>."),
            "calls( \"no value\" )! content( \".\" )=\".\"");
}

// A candidate in a string is held, but not for ever.
TEST(EndsValue, LongStringAfterClose) {
  const Format format = json_calls(kEnds);
  for (std::size_t size : {100u, 40000u, 70000u, 200000u}) {
    const std::string string = "</f>" + std::string(size, 'x') + "</f>";
    const std::string text = "<f>{\"a\": \"" + string + "\"}</f>.";
    const ParseRecord whole = record_parse(format, {text});
    ASSERT_EQ(whole.message.parts.size(), 2u);
    EXPECT_EQ(whole.message.parts[0].value.find("a")->as_string(), string);
    for (std::size_t piece : {7u, 1000u, 32768u, 50000u}) {
      const ParseRecord cut = record_parse(format, cut_every(text, piece));
      EXPECT_EQ(cut.to_string(), whole.to_string()) << size << ' ' << piece;
      EXPECT_LE(cut.most_held, Limits{}.held_bytes + 50000);
    }
  }
}

// Work grows with the text, whatever is in it.
TEST(EndsValue, IsLinear) {
  const Format format = json_calls(kEnds);
  for (const char* piece :
       {R"(<f>{"a": "</f>", "b": [1, "</f></f>"]} x)", R"(<f>{"a": "</f>)",
        R"(<f>1 )", R"(<f>{"a": }</f>)", "<f>\"", "</f>"}) {
    const auto work = [&](int times) {
      std::string text;
      for (int i = 0; i < times; ++i) text += piece;
      const std::uint64_t one = record_parse(format, {text}).work;
      return std::max(one, record_parse(format, cut_every(text, 3)).work);
    };
    EXPECT_LE(work(4000), 11 * work(400)) << piece;
  }
}

TEST(EndsValue, StringsBetweenDelimiters) {
  const Format format = format_of(
      R"({"calls": {"open": "<f>", "close": "</f>", "repeats": true,
            "content": "json", "content_args": {"unquoted_keys": true,
              "string_delims": [["<|\"|>", "<|\"|>"]]}},
          "content": {"content": "text", "content_args": {"strip": false}}})",
      R"({"read": {"calls": {"ends": "value"}}})");
  EXPECT_EQ(fields(format, R"(<f>{a:<|"|>x </f> "y<|"|>,b:[1,2]}</f>.)"),
            R"({"calls": [{"a": "x </f> \"y", "b": [1, 2]}], "content": "."})");
  EXPECT_EQ(fields(format, R"(<f>{a:<|"|><<|"<|"|>}.)"),
            R"({"calls": [{"a": "<<|\""}], "content": "."})");
}

// Random texts made of the pieces that matter, cut in every way.
TEST(EndsValue, RandomTexts) {
  const Format format =
      json_calls(R"("calls": {"ends": "value", "values": {"sequence": "; "}})",
                 R"("turn_end": ["<e>"], )");
  const std::vector<std::string> pieces = {"<f>",
                                           "</f>",
                                           "<t>",
                                           "</t>",
                                           "{",
                                           "}",
                                           "[",
                                           "]",
                                           "\"",
                                           "\\",
                                           ",",
                                           ":",
                                           "\"a\"",
                                           "1",
                                           " ",
                                           "\n",
                                           ";",
                                           "; ",
                                           "x",
                                           "<",
                                           "<e>",
                                           "{\"a\": 1}",
                                           "{\"a\": \"</f>\"}"};
  std::mt19937 random(7);
  for (int i = 0; i < 1500; ++i) {
    std::string text = random() % 2 == 0 ? "<f>" : "";
    for (std::size_t n = random() % 16; n > 0; --n) {
      text += pieces[random() % pieces.size()];
    }
    SCOPED_TRACE(text);
    const ParseRecord whole = record_parse(format, {text});
    ASSERT_EQ(account(whole, text), "");
    ASSERT_EQ(record_parse(format, cut_every(text, 1)).to_string(),
              whole.to_string());
    ASSERT_EQ(record_parse(format, cut_at_random(text, random, 5)).to_string(),
              whole.to_string());
  }
}

// ---- turn_end, drop, interruption ----

TEST(TurnEnd, EndsTheResponse) {
  const Format format = json_calls(kEnds, R"("turn_end": ["<e>", "<end>"], )");
  EXPECT_EQ(read(format, "Hi.<e>"), "content( \"Hi.\" )=\"Hi.\"");
  EXPECT_EQ(read(format, "Hi.<end>\n"), "content( \"Hi.\" )=\"Hi.\"");
  EXPECT_EQ(fields(format, "Hi.<e> and <f>1</f> <e>"),
            "{\"content\": \"Hi.\"} and <f>1</f> <e>");
  EXPECT_EQ(fields(format, R"(<f>{"a": "<e>"}<e>)"),
            R"({"calls": [{"a": "<e>"}]})");
  EXPECT_EQ(read(format, "<t>Hm.<e>"), "think( \"Hm.\" )=\"Hm.\"");
  EXPECT_EQ(read(format, "<f>{\"a\": <e>"), "calls( \"{\\\"a\\\": \" )!");
}

TEST(Drop, TextsAreNobodys) {
  const Format format = json_calls(
      R"("content": {"drop": ["<co>", "</co>"]}, "think": {"drop": ["</f>"]})");
  EXPECT_EQ(fields(format, "It <co>is</co> so.<t></f>ab</t>"),
            R"({"content": "It is so.", "think": "ab"})");
  // What closes a field, after text, is damage.
  EXPECT_EQ(fields(format, "<t>a</f>b</t>"), R"({"think": "ab"} </f>)");
}

TEST(Interruption, OpenerThatBeginsALine) {
  const Format format = json_calls(kEnds);
  EXPECT_EQ(fields(format, "<t>Hm.\n<f>{}</f>Yes."),
            R"({"think": "Hm.\n", "calls": [{}], "content": "Yes."} <f>)");
  EXPECT_EQ(fields(format, "<t>I use <f>.\n  <f>{}</f>"),
            R"({"think": "I use <f>.\n  ", "calls": [{}]} <f>)");
  EXPECT_EQ(fields(format, "<t>I use <f> now</t>Yes."),
            R"({"think": "I use <f> now", "content": "Yes."})");
  EXPECT_EQ(fields(format, "<t><f>{}</f>"), R"({"calls": [{}]} <f>)");
}

// ---- layout, otherwise ----

TEST(Layout, IsNoPayload) {
  const Format format = json_calls(
      R"("think": {"layout": {"first": ["\n"], "last": ["\n"],
           "after": ["\n", "\n\n"]}},
         "calls": {"ends": "value", "layout": {"before": ["\n"],
           "after": ["\n"]}},
         "content": {"layout": {"last": ["\n"]}})",
      R"("turn_end": ["<e>"], )");
  EXPECT_EQ(read(format, "<t>\nHm.\n</t>\n\nYes.\n<f>{}</f>\n<f>{}</f><e>"),
            "think( \"Hm.\" )=\"Hm.\" content( \"Yes.\" )=\"Yes.\" "
            "calls( \"{}\" )={} calls( \"{}\" )={}");
  // Once, and the longest.
  EXPECT_EQ(fields(format, "<t>\n\nHm.\n\n</t>\n\n\nYes.\n\n"),
            R"({"think": "\nHm.\n", "content": "\nYes.\n"})");
  EXPECT_EQ(fields(format, "<t>\n</t>\n<f>{}</f>\n"), R"({"calls": [{}]})");
  EXPECT_EQ(fields(format, "Yes.\n<e>"), R"({"content": "Yes."})");
  EXPECT_EQ(fields(format, "<f>{}\n Yes."),
            R"({"calls": [{}], "content": " Yes."})");
  // At the beginning of the response nothing precedes.
  EXPECT_EQ(fields(format, "\n\nYes."), R"({"content": "\n\nYes."})");
  EXPECT_EQ(fields(format, "\n<f>{}</f>"), R"({"calls": [{}]})");
}

TEST(Layout, OfDroppedText) {
  const Format format = json_calls(
      R"("content": {"drop": ["<co>"], "layout": {"last": ["\n\n"],
           "first": ["\n"]}})");
  EXPECT_EQ(fields(format, "\n<co>a\n<co>\n"), R"({"content": "a"})");
  EXPECT_EQ(fields(format, "a\n<co>\n<co>b"), R"({"content": "a\n\nb"})");
}

TEST(Layout, Strip) {
  const Format format =
      json_calls(R"("think": {"strip": true}, "content": {"strip": true})");
  EXPECT_EQ(fields(format, "<t> Hm.\n</t> \nYes. "),
            R"({"think": "Hm.", "content": "Yes."})");
  const std::string text(2000, 'x');
  EXPECT_EQ(fields(format, " " + text + "\n"),
            "{\"content\": \"" + text + "\"}");
}

TEST(Layout, RandomTexts) {
  const Format format = json_calls(
      R"("think": {"layout": {"first": ["\n"],
           "last": ["\n", "\n\n"], "after": ["\n", "\n\n", " \n"]}},
         "calls": {"ends": "value", "otherwise": "content",
           "layout": {"before": ["\n", "\n\n"], "after": ["\n "]}},
         "content": {"drop": ["<co>"], "layout": {"last": ["\n", " \n"],
           "first": [" ", "\n"]}})",
      R"("turn_end": ["<e>"], )");
  const std::vector<std::string> pieces = {"<f>",
                                           "</f>",
                                           "<t>",
                                           "</t>",
                                           "\n",
                                           "\n",
                                           " ",
                                           "x",
                                           "<co>",
                                           "<",
                                           "<e>",
                                           "{\"a\": 1}",
                                           "{\"a\": \"</f>\"}",
                                           "{",
                                           "[oh"};
  std::mt19937 random(11);
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (std::size_t n = random() % 14; n > 0; --n) {
      text += pieces[random() % pieces.size()];
    }
    SCOPED_TRACE(text);
    const ParseRecord whole = record_parse(format, {text});
    ASSERT_EQ(account(whole, text), "");
    ASSERT_EQ(record_parse(format, cut_every(text, 1)).to_string(),
              whole.to_string());
    ASSERT_EQ(record_parse(format, cut_at_random(text, random, 5)).to_string(),
              whole.to_string());
  }
}

Format candidates() {
  return format_of(
      R"x({"calls": {"open_pattern": "(?=\\{|\\[)", "repeats": true,
            "content": "json", "transform": {"type": "function", "function":
              {"name": "{content.name}", "arguments": "{content.arguments}"}}},
          "content": {"content": "text", "repeats": true, "join": "",
            "content_args": {"strip": false}}})x",
      R"({"turn_end": ["<e>"],
          "read": {"calls": {"ends": "value", "otherwise": "content"}}})");
}

TEST(Otherwise, ContentUnlessItIsACall) {
  const Format format = candidates();
  EXPECT_EQ(fields(format, R"(See {"name": "f", "arguments": {}} now.)"),
            R"({"content": "See  now.", "calls": [{"type": "function", )"
            R"("function": {"name": "f", "arguments": {}}}]})");
  EXPECT_EQ(read(format, "See [1] and {x} now."),
            "content( \"See [1] and {x} now.\" )=\"See [1] and {x} now.\"");
  EXPECT_EQ(read(format, R"({"name": 1, "arguments": {}}<e>)"),
            R"(content( "{\"name\": 1, \"arguments\": {}}" )=)"
            R"("{\"name\": 1, \"arguments\": {}}")");
  EXPECT_EQ(read(format, R"({not {"name": "f", "arguments": {"a": 1}})"),
            R"(content( "{not " )="{not " calls( )"
            R"("{\"name\": \"f\", \"arguments\": {\"a\": 1}}" )=)"
            R"({"type": "function", "function": {"name": "f", "arguments": )"
            R"({"a": 1}}})");
}

TEST(Otherwise, CutCandidateIsACutCall) {
  const Format format = candidates();
  EXPECT_EQ(read(format, R"({"name": "f", "argum)"),
            R"(calls( "{\"name\": \"f\", \"argum" )!)");
}

// What a candidate is does not depend on its size.
TEST(Otherwise, LongCandidates) {
  const Format format = candidates();
  for (const std::size_t size : {100U, 70000U, 200000U}) {
    const std::string string(size, 'x');
    const std::string call =
        R"({"name": "f", "arguments": {"a": ")" + string + "\"}} .";
    const std::string answer = R"({"data": [")" + string + "\"]} .";
    const std::string broken = R"({"data": [")" + string + "\" x]} .";
    for (const std::string& text : {call, answer, broken}) {
      const ParseRecord whole = record_parse(format, {text});
      const bool is_call = text[2] == 'n';
      EXPECT_EQ(whole.message.fields.find("calls") != nullptr, is_call);
      EXPECT_EQ(whole.message.fields.find("content")->as_string(),
                is_call ? " ." : text);
      EXPECT_EQ(whole.message.diagnostics.size(), text == broken ? 1U : 0U);
      EXPECT_EQ(record_parse(format, cut_every(text, 999)).to_string(),
                whole.to_string());
    }
  }
}

// ---- values, members, syntax ----

const char* const kTransform =
    R"({"type": "function", "function": {"name": "{content.name}",
        "arguments": "{content.arguments}"}})";
const char* const kItemTransform =
    R"({"type": "function", "function": {"name": "{name}",
        "arguments": "{arguments}"}})";

// Calls between <f> and </f> whose members are `reading`.
Format values(const std::string& content, const std::string& reading,
              const std::string& transform = kTransform) {
  return format_of(
      R"({"calls": {"open": "<f>", "close": "</f>", "repeats": true,
            "content": ")" +
          content + R"(", "transform": )" + transform +
          R"(}, "content": {"content": "text", "repeats": true, "join": "",
            "content_args": {"strip": false}}})",
      R"({"read": {"calls": )" + reading + "}}");
}

// The calls as f({...}), the content, and the texts of the diagnostics.
std::string calls(const Format& format, std::string_view text,
                  StreamOptions options = {}) {
  read(format, text, options);
  const ParseRecord record = record_parse(format, {std::string(text)}, options);
  std::string out;
  if (const json::Value* list = record.message.fields.find("calls")) {
    for (const json::Value& call : list->items()) {
      const json::Value& function = *call.find("function");
      if (!out.empty()) out += ' ';
      if (const json::Value* id = call.find("id")) {
        out += std::string(id->as_string()) + ":";
      }
      out += std::string(function.find("name")->as_string()) + "(" +
             json::dump(*function.find("arguments")) + ")";
    }
  }
  if (const json::Value* content = record.message.fields.find("content")) {
    out += " | " + std::string(content->as_string());
  }
  for (const Diagnostic& d : record.message.diagnostics) {
    out += " !" + std::string(text.substr(d.bytes.begin, d.bytes.size()));
  }
  return out;
}

TEST(Members, NamesOfParts) {
  const Format format =
      values("json",
             R"({"members": {"name": ["name", "tool_name"],
          "arguments": ["arguments", "parameters"], "id": ["id", "call_id"],
          "as_text": true}})",
             R"({"type": "function", "id": "{content.id}", "function": {"name":
          "{content.name}", "arguments": "{content.arguments}"}})");
  EXPECT_EQ(calls(format, R"(<f>{"name": "f", "parameters": {"a": 1}}</f>)"),
            R"(f({"a": 1}))");
  EXPECT_EQ(
      calls(format, R"(<f>{"tool_name": "f", "arguments": {}, "id": "x"}</f>)"),
      R"(x:f({}))");
  EXPECT_EQ(calls(format, R"(<f>{"parameters": "{\"a\": [1]}", "name": "f",
                             "call_id": "y"}</f>)"),
            R"(y:f({"a": [1]}))");
  EXPECT_EQ(calls(format, R"(<f>{"parameters": {}}</f><f>{"name": "g",
                             "arguments": {}}</f>)"),
            R"(g({}) !{"parameters": {}})");
}

// A member of the item, or an argument, may be called as a placeholder begins.
TEST(Members, CalledContent) {
  EXPECT_EQ(calls(values("json", R"({"members": {"id": ["id"]}})"),
                  R"(<f>{"name": "f", "arguments": {"content": 1},
                     "content": 2}</f>)"),
            R"(f({"content": 1}))");
  EXPECT_EQ(
      calls(values("text", R"({"syntax": "python_calls"})", kItemTransform),
            "<f>f(content=1, name=2)</f>"),
      R"(f({"content": 1, "name": 2}))");
}

TEST(Members, OnlyKey) {
  const Format format =
      values("json", R"({"values": "list", "members": {"only_key": true}})");
  EXPECT_EQ(calls(format, R"(<f>[{"f": {"x": 1}}, {"now": {}}]</f>)"),
            R"(f({"x": 1}) now({}))");
  EXPECT_EQ(calls(format, R"(<f>{"name": "f", "arguments": {}}</f>)"), "f({})");
}

TEST(Values, ListOrOne) {
  const Format format = values("json", R"({"values": "list"})");
  EXPECT_EQ(calls(format, R"(<f>[{"name": "f", "arguments": {}},
                             {"name": "g", "arguments": {}}]</f><f>
                             {"name": "h", "arguments": {}}</f>)"),
            "f({}) g({}) h({})");
  EXPECT_EQ(calls(format, "<f>[]</f>"), "");
  // What is damaged does not take its neighbours with it.
  EXPECT_EQ(calls(format, R"(<f>[{"name": "f", "arguments": {}},
      {"name": oh}, {"x": 1}, {"name": "g", "arguments": {"a": [1, 2]}}]</f>)"),
            R"(f({}) g({"a": [1, 2]}) !{"name": oh} !{"x": 1})");
  EXPECT_EQ(
      calls(format, R"(<f>[{"name": "f", "arguments": {}}, {"name": "g")"),
      R"(f({}) !{"name": "g")");
}

TEST(Values, Sequences) {
  const Format lines =
      values("json", R"({"ends": "value", "values": {"sequence": "\n"}})");
  EXPECT_EQ(calls(lines,
                  "<f>\n{\"name\": \"f\", \"arguments\": {}}\n"
                  "{\"name\": \"g\", \"arguments\": {}}\n</f>."),
            "f({}) g({}) | .");
  const Format format =
      values("json", R"({"ends": "value", "values": {"sequence": "; "}})");
  EXPECT_EQ(calls(format, R"(<f>{"name": "f", "arguments": {"a": "; </f>"}}; )"
                          R"({"name": "g", "arguments": {}} and so)"),
            R"(f({"a": "; </f>"}) g({}) |  and so)");
  EXPECT_EQ(calls(format, R"(<f>{"name": "f", "arguments": {}};{"x": 1} ;)"
                          R"({"name": "g", "arguments": {}}</f>)"),
            R"(f({}) g({}) !{"x": 1})");
}

TEST(Syntax, PythonLiteral) {
  const Format format = values("text", R"({"syntax": "python"})");
  EXPECT_EQ(calls(format, R"(<f>{'name': 'f', 'arguments': {'a': (True, None,
                             "it's")}}</f>)"),
            R"(f({"a": [true, null, "it's"]}))");
  EXPECT_EQ(calls(format, R"(<f>{"name": "f", "arguments": {"a": true}}</f>)"),
            R"(f({"a": true}))");
  EXPECT_EQ(calls(format, R"(<f>{'name': f()}</f>)"), " !{'name': f()}");
}

// What stands beside calls in a list and is no literal in brackets.
TEST(Syntax, PythonLiteralsInAList) {
  const Format format =
      values("text", R"({"syntax": "python", "values": "list"})");
  EXPECT_EQ(calls(format,
                  "<f>[None, {'name': 'f', 'arguments': {}}, 'x, y', "
                  "{'name': 'g', 'arguments': {}} z]</f>"),
            "f({}) g({}) !None !'x, y' !z");
  EXPECT_EQ(calls(format,
                  "<f>[it's [a, b], {'name': 'f', 'arguments': {}} x, "
                  ", 'y, {'name': 'g', 'arguments': {}}]</f>"),
            "f({}) !it's [a, b] !x !, !'y, {'name': 'g' !'arguments': {}}");
}

TEST(Syntax, PythonCalls) {
  const Format format = values(
      "text", R"({"syntax": "python_calls", "ends": "value"})", kItemTransform);
  EXPECT_EQ(calls(format, "<f>[f(a=1, b='x</f>'), clock.now()]</f>."),
            R"(f({"a": 1, "b": "x</f>"}) clock.now({}) | .)");
  EXPECT_EQ(calls(format, "<f>f(a=[1, {'b': None}])\n g ( )\nand so"),
            "f({\"a\": [1, {\"b\": null}]}) g({}) | \nand so");
  EXPECT_EQ(calls(format, R"(<f>f(a="it's", b='say "hi"')</f>)"),
            R"(f({"a": "it's", "b": "say \"hi\""}))");
  // Good calls survive their neighbours.
  EXPECT_EQ(calls(format,
                  "<f>[f(a=b'x'), g(), h(a={1: 2, 3}), i(a=1e999), "
                  "j(a=__import__('os')), k(a=1)]</f>"),
            "g({}) k({\"a\": 1}) !f(a=b'x') !h(a={1: 2, 3}) !i(a=1e999) "
            "!j(a=__import__('os'))");
  EXPECT_EQ(calls(format, "<f>[f(a=[1), g(b=2)]</f>"),
            "g({\"b\": 2}) !f(a=[1)");
  EXPECT_EQ(calls(format, "<f>[f(a=1), g(b="), "f({\"a\": 1}) !g(b=");
  EXPECT_EQ(calls(format, "<f>f(1)</f>."), " | . !f(1)");
  EXPECT_EQ(calls(format, "<f>no calls</f>."),
            " | <f>no calls</f>. !<f> !</f>");
}

TEST(Syntax, PythonCallsAfterOneAnother) {
  const Format format = values(
      "text", R"({"syntax": "python_calls", "ends": "value"})", kItemTransform);
  const char* const kBoth = R"(f({"a": 1}) g({"b": "</f>"}) | .)";
  for (const char* between : {", ", ";", "\n", " ", ",;\n"}) {
    const std::string all = std::string("f(a=1)") + between + "g(b='</f>')";
    EXPECT_EQ(calls(format, "<f>" + all + "</f>."), kBoth) << all;
    EXPECT_EQ(calls(format, "<f>[" + all + "]</f>."), kBoth) << all;
  }
  EXPECT_EQ(calls(format, "<f>[f(a=1)] [g(b='</f>')]</f>."), kBoth);
  EXPECT_EQ(calls(format, "<f>f\n(a=1), g \n (b='</f>')</f>."), kBoth);
  EXPECT_EQ(calls(format, "<f>f(a=1), and so on"),
            "f({\"a\": 1}) | , and so on");
  // A long string does not hide where a damaged call ends.
  EXPECT_EQ(calls(format, R"x(<f>[f(a="""x"</f>y)""", b=), g(c=3)]</f>.)x"),
            R"x(g({"c": 3}) | . !f(a="""x"</f>y)""", b=))x");
  // Once.
  EXPECT_EQ(calls(format, "<f>[f(a=1, a=2), g()]</f>"), "g({}) !f(a=1, a=2)");
}

TEST(Syntax, CallList) {
  const Format format = format_of(
      R"x({"calls": {"open": "<f>", "close": "</f>", "transform_each": true,
            "content": "python-call-list", "transform": {"type": "function",
            "function": {"name": "{name}", "arguments": "{arguments}"}}},
          "content": {"content": "text", "repeats": true, "join": "",
            "content_args": {"strip": false}}})x",
      R"({"read": {"calls": {"ends": "value"}}})");
  EXPECT_EQ(calls(format, R"(<f>[f-x(a-b='\/</f>'), g()]</f>.)"),
            R"(f-x({"a-b": "/</f>"}) g({}) | .)");
  // One call that is not valid spoils the list.
  EXPECT_EQ(calls(format, "<f>[f(), g(a=1,)]</f>."), " | . ![f(), g(a=1,)]");
}

TEST(Syntax, PythonCallsOrContent) {
  const Format format = format_of(
      R"x({"calls": {"open_pattern": "(?=\\[)", "repeats": true,
            "content": "text", "transform": {"type": "function", "function":
              {"name": "{name}", "arguments": "{arguments}"}}},
          "content": {"content": "text", "repeats": true, "join": "",
            "content_args": {"strip": false}}})x",
      R"({"turn_end": ["<e>"], "read": {"calls": {"ends": "value",
          "syntax": "python_calls", "otherwise": "content"}}})");
  EXPECT_EQ(calls(format, "[f(a='x')]<e>"), R"(f({"a": "x"}))");
  EXPECT_EQ(calls(format, "See [1] and [f, g]. [f()]"),
            "f({}) | See [1] and [f, g]. ");
  EXPECT_EQ(calls(format, "[see the docs] ok"), " | [see the docs] ok");
}

TEST(Syntax, TypesAreCast) {
  const ToolSet tools = *ToolSet::from_json(
      R"([{"type": "function", "function": {"name": "f", "parameters":
          {"properties": {"a": {"type": "integer"},
                          "b": {"type": "string"}}}}}])");
  const Format format =
      values("text", R"({"syntax": "python_calls"})", kItemTransform);
  EXPECT_EQ(calls(format, "<f>f(a='7', b='7')</f>", {.tools = &tools}),
            R"(f({"a": 7, "b": "7"}))");
}

TEST(Syntax, RandomPythonCalls) {
  const Format format = values(
      "text", R"({"syntax": "python_calls", "ends": "value"})", kItemTransform);
  const std::vector<std::string> pieces = {
      "<f>", "</f>", "f",   "(",           ")",   "[", "]",   "{",
      "}",   "'",    "\"",  "\\",          ",",   "=", "a=1", " ",
      "\n",  "x",    "f()", "f(a='</f>')", "'''", ";", "."};
  std::mt19937 random(5);
  for (int i = 0; i < 1500; ++i) {
    std::string text = "<f>";
    for (std::size_t n = random() % 14; n > 0; --n) {
      text += pieces[random() % pieces.size()];
    }
    SCOPED_TRACE(text);
    const ParseRecord whole = record_parse(format, {text});
    ASSERT_EQ(account(whole, text), "");
    ASSERT_EQ(record_parse(format, cut_every(text, 1)).to_string(),
              whole.to_string());
    ASSERT_EQ(record_parse(format, cut_at_random(text, random, 5)).to_string(),
              whole.to_string());
  }
}

// ---- arguments ----

// <f=NAME><a=KEY>VALUE</a>...</f>
Format elements(const std::string& arguments,
                const std::string& attribute = "") {
  return format_of(
      R"x({"calls": {"open_pattern": "<f=(?P<name>\\w+)>", "close": "</f>",
            "repeats": true, "content": "xml-inline", "content_args":
              {"tag_pattern": "<a=(?P<key>\\w+))x" +
          attribute + R"x(>(?P<value>.*?)</a>"},
            "transform": {"type": "function", "function":
              {"name": "{name}", "arguments": "{content}"}}},
          "content": {"content": "text", "repeats": true, "join": "",
            "content_args": {"strip": false}}})x",
      R"({"read": {"calls": {"arguments": )" + arguments + "}}}");
}

ToolSet list_tool() {
  return *ToolSet::from_json(
      R"([{"type": "function", "function": {"name": "f", "parameters":
          {"properties": {"list": {"type": "array"}, "map": {"type": "object"},
            "text": {"type": "string"}, "number": {"type": "integer"}}}}}])");
}

TEST(ReadingArguments, LineFeedsOfTheMarkup) {
  const Format format = elements(R"({"line_feeds": 1})");
  EXPECT_EQ(calls(format, "<f=f><a=x>\n\n a\n</a><a=y>b</a><a=z>\n</a></f>"),
            R"(f({"x": "\n a", "y": "b", "z": ""}))");
}

TEST(ReadingArguments, PythonLiterals) {
  const ToolSet tools = list_tool();
  const Format format = elements(R"({"python": true})");
  EXPECT_EQ(
      calls(format,
            "<f=f><a=list>['a', True, None]</a><a=map>{'a': (1,)}</a>"
            "<a=text>['a']</a><a=number>7</a></f>",
            {.tools = &tools}),
      R"(f({"list": ["a", true, null], "map": {"a": [1]}, "text": "['a']", )"
      R"("number": 7}))");
  EXPECT_EQ(calls(format, "<f=f><a=list>f()</a><a=map>['a']</a></f>",
                  {.tools = &tools}),
            R"x(f({"list": "f()", "map": "['a']"}) )x"
            "!<a=list>f()</a><a=map>['a']</a>");
}

// A text is the value that the schema allows.
TEST(ReadingArguments, ValuesThatTheSchemaAllows) {
  const ToolSet tools = *ToolSet::from_json(R"([
    {"name": "f", "parameters": {"type": "object",
      "additionalProperties": {"type": "integer"}, "properties": {
        "listed": {"enum": [1, "2"]},
        "either": {"anyOf": [{"type": ["boolean", "null"]},
                             {"type": "number"}]},
        "flag": {"type": "boolean"},
        "any": {},
        "text": {"type": "string"}}}}])");
  const auto arguments = [&](std::string_view key, std::string_view text) {
    const Message message = parse_response(
        *Format::built_in("seed_oss"),
        "<seed:tool_call>\n<function=f>\n<parameter=" + std::string(key) + ">" +
            std::string(text) + "</parameter>\n</function>\n</seed:tool_call>",
        {.tools = &tools});
    return json::dump(*message.fields.find("tool_calls")
                           ->items()[0]
                           .find("function")
                           ->find("arguments")
                           ->find(key));
  };
  EXPECT_EQ(arguments("listed", "1"), "1");
  EXPECT_EQ(arguments("listed", "2"), "\"2\"");
  EXPECT_EQ(arguments("either", "0"), "0");
  EXPECT_EQ(arguments("either", "true"), "true");
  EXPECT_EQ(arguments("flag", "0"), "false");
  EXPECT_EQ(arguments("any", "[1]"), "[1]");
  EXPECT_EQ(arguments("any", "a"), "\"a\"");
  EXPECT_EQ(arguments("text", "1"), "\"1\"");
  EXPECT_EQ(arguments("other", "7"), "7");
}

// Grammars and rendering write these keys without quotes, too.
TEST(ReadingArguments, KeysWithoutQuotes) {
  const Message message =
      parse_response(*Format::built_in("functiongemma"),
                     "<start_function_call>call:f{a.b:1,c-d:{\xE6\x9D\xB1:2}}"
                     "<end_function_call>");
  EXPECT_EQ(json::dump(*message.fields.find("tool_calls")
                            ->items()[0]
                            .find("function")
                            ->find("arguments"),
                       {.ascii = false}),
            "{\"a.b\": 1, \"c-d\": {\"\xE6\x9D\xB1\": 2}}");
}

TEST(ReadingArguments, TypedByAnAttribute) {
  const ToolSet tools = list_tool();
  const Format format = elements(
      R"({"type_by": {"capture": "s", "map": {"true": "string",
          "false": "json"}}, "python": true})",
      R"( string=(?P<s>\\w+))");
  EXPECT_EQ(calls(format,
                  "<f=f><a=text string=true>12</a><a=x string=true>[1]</a>"
                  "<a=y string=false>[1, true]</a><a=z string=false>{'a': None}"
                  "</a><a=w string=false>oh</a></f>",
                  {.tools = &tools}),
            R"(f({"text": "12", "x": "[1]", "y": [1, true], )"
            R"("z": {"a": null}, "w": "oh"}))");
}

TEST(ReadingArguments, Decoded) {
  EXPECT_EQ(calls(elements(R"({"decode": "xml"})"),
                  "<f=f><a=x>a &lt; b &amp;lt; &#233;&#x1F600; &no; &</a></f>"),
            R"(f({"x": "a < b &lt; \u00e9\ud83d\ude00 &no; &"}))");
  EXPECT_EQ(calls(elements(R"({"decode": "cdata"})"),
                  "<f=f><a=x><![CDATA[a <b>]]></a><a=y>c</a>"
                  "<a=z><![CDATA[]]]]><![CDATA[>]]></a></f>"),
            R"(f({"x": "a <b>", "y": "c", "z": "]]>"}))");
}

// ---- nested elements ----

Format nested(const std::string& syntax) {
  return format_of(
      R"x({"calls": {"open_pattern": "<f(?: id=(?P<id>\\d+))? (?P<name>\\w+)>",
            "close": "</f>", "repeats": true, "content": "text",
            "content_args": {"strip": false},
            "transform": {"type": "function", "function":
              {"name": "{name}", "arguments": "{content}"}}},
          "content": {"content": "text", "repeats": true, "join": "",
            "content_args": {"strip": false}}})x",
      R"({"read": {"calls": {"syntax": ")" + syntax + R"("}}})");
}

TEST(Syntax, CohereElements) {
  const Format format = nested("cohere_xml");
  const auto value = [](const std::string& attributes,
                        const std::string& text) {
    return "<cofl:value " + attributes + ">" + text + "</cofl:value>";
  };
  EXPECT_EQ(
      calls(format, "<f g>" + value(R"(name="a" type="raw")", " <b>1 ") + "\n" +
                        value(R"(name="d" type="dict")",
                              value(R"(name="x" type="json")", "[1, null]")) +
                        value(R"(name="content" type="raw")", "c") +
                        value(R"(name="l" type="list")",
                              value(R"(type="raw")", "1") +
                                  value(R"(type="list")", "")) +
                        "</f><f now></f>"),
      R"(g({"a": " <b>1 ", "d": {"x": [1, null]}, "content": "c", )"
      R"("l": ["1", []]}) now({}))");
  // A closing tag ends a text before a tag or the end, and is text elsewhere.
  EXPECT_EQ(
      calls(format, "<f g>" +
                        value(R"(name="a" type="raw")", "x</cofl:value> y") +
                        value(R"(name="j" type="json")",
                              R"("x</cofl:value>\"</cofl:value>")") +
                        "</f>"),
      R"(g({"a": "x</cofl:value> y", "j": "x</cofl:value>\"</cofl:value>"}))");
  EXPECT_EQ(calls(format, "<f g>" + value(R"(name="a" type="raw")", "x") +
                              "</cofl:value></f>"),
            R"(g({"a": "x"}) !</cofl:value>)");
  EXPECT_EQ(calls(format, R"(<f g>{"a": {"b": 1}}</f>)"),
            R"(g({"a": {"b": 1}}))");
  // Of two equal names the last one counts.
  EXPECT_EQ(calls(format, "<f g>" + value(R"(name="a" type="raw")", "x") +
                              value(R"(name="a" type="raw")", "y") + "</f>"),
            R"(g({"a": "y"}))");
  for (const std::string& bad :
       {value(R"(name="a" name="b" type="raw")", "x"),
        std::string(R"({"a": 1)"), std::string("</cofl:value>"),
        value(R"(name="a" type="json")", "oh"), value(R"(type="raw")", "x"),
        value(R"(name="a" type="what")", "x"), std::string("text"),
        std::string(R"(<cofl:value name="a" type="raw">x)"),
        std::string(R"(<cofl:value name="a" type="dict">)")}) {
    EXPECT_EQ(calls(format, "<f g>" + bad + "</f>."), " | . !" + bad);
    EXPECT_EQ(calls(format, "<f g>" + bad), " !" + bad);
  }
}

TEST(Syntax, MinimaxM3Elements) {
  const ToolSet tools = *ToolSet::from_json(
      R"([{"type": "function", "function": {"name": "g", "parameters":
          {"properties": {"n": {"type": "integer"}, "s": {"type": "string"},
            "l": {"type": "array", "items": {"type": "number"}},
            "o": {"type": "object", "properties": {"b": {"type": "boolean"}}},
            "e": {"type": "object"}, "z": {"type": "array"}}}}}])");
  const Format format = nested("minimax_m3_xml");
  const auto element = [](const std::string& name, const std::string& text) {
    const std::string marker = "]<]minimax[>[";
    return marker + "<" + name + ">" + text + marker + "</" + name + ">";
  };
  EXPECT_EQ(
      calls(format,
            "<f g>" + element("n", "7") + element("s", "7\n") + "\n" +
                element("l", element("item", "1") + element("item", "2.5")) +
                element("o", element("b", "true") + element("x", "1")) +
                element("e", "") + element("z", "") + "</f>",
            {.tools = &tools}),
      R"(g({"n": 7, "s": "7\n", "l": [1, 2.5], "o": {"b": true, "x": "1"}, )"
      R"("e": {}, "z": []}))");
  EXPECT_EQ(
      calls(format, "<f h>" + element("a", element("item", "x")) +
                        element("b", element("c", "1") + element("c", "2")) +
                        "</f>"),
      R"(h({"a": ["x"], "b": {"c": ["1", "2"]}}))");
  EXPECT_EQ(
      calls(format, "<f h>" + element("a", "x]<]minimax[>[</a> y") +
                        element("a", "]<]minimax[>[</a>z") +
                        "]<]minimax[>[</a></f>"),
      R"(h({"a": ["x]<]minimax[>[</a> y", "]<]minimax[>[</a>z"]}) !]<]minimax[>[</a>)");
  EXPECT_EQ(calls(format, R"(<f g>{"a": {"b": 1}}</f>)"),
            R"(g({"a": {"b": 1}}))");
  for (const std::string& bad :
       {std::string("]<]minimax[>[<a>x"), "x" + element("a", "1"),
        std::string("]<]minimax[>[</a>"),
        element("a", "x" + element("b", ""))}) {
    EXPECT_EQ(calls(format, "<f g>" + bad + "</f>."), " | . !" + bad);
  }
}

// ---- with token ids ----

const std::vector<std::string> kMarks = {"<f>", "</f>", "<t>", "</t>", "<e>"};

const Vocabulary& vocabulary() {
  static const Vocabulary* const kVocabulary = [] {
    std::vector<TokenEntry> entries;
    for (TokenId id = 0; id < 256; ++id) {
      entries.push_back({id, std::string(1, static_cast<char>(id))});
    }
    for (const std::string& mark : kMarks) {
      entries.push_back(
          {static_cast<TokenId>(entries.size()), mark,
           mark == "<e>" ? TokenKind::kControl : TokenKind::kAdded});
    }
    return new Vocabulary(*Vocabulary::from_table(entries));
  }();
  return *kVocabulary;
}

// The message of a response whose pieces are marks if they spell one, else
// ordinary tokens.  After '!' a piece is ordinary tokens in any case.
std::string read_ids(const Format& format,
                     const std::vector<std::string>& pieces) {
  std::vector<TokenId> ids;
  for (std::string_view piece : pieces) {
    const auto mark = std::ranges::find(kMarks, piece);
    if (mark != kMarks.end()) {
      ids.push_back(256 + static_cast<TokenId>(mark - kMarks.begin()));
      continue;
    }
    if (piece.starts_with('!')) piece.remove_prefix(1);
    for (const char c : piece) ids.push_back(static_cast<unsigned char>(c));
  }
  const StreamOptions options = {.vocabulary = &vocabulary()};
  const ParseRecord whole = testing::record_tokens(format, {ids}, options);
  std::vector<std::vector<TokenId>> single;
  for (const TokenId id : ids) single.push_back({id});
  EXPECT_EQ(testing::record_tokens(format, single, options).to_string(),
            whole.to_string());
  return json::dump(whole.message.fields);
}

TEST(ReadingTokens, MarksInStringsAreText) {
  const Format format = json_calls(kEnds, R"("turn_end": ["<e>"], )");
  EXPECT_EQ(read_ids(format, {"<f>", "{\"a\": \"", "</f>", "!</f>", "<e>",
                              "\"}", "</f>", "Yes.", "<e>"}),
            R"({"calls": [{"a": "</f></f><e>"}], "content": "Yes."})");
}

TEST(ReadingTokens, SpelledMarkersAreText) {
  const Format format = json_calls(kEnds, R"("turn_end": ["<e>"], )");
  EXPECT_EQ(read_ids(format, {"I.", "!<e>", "<e>"}), R"({"content": "I.<e>"})");
  // A mark interrupts wherever it stands, a spelled opener nowhere.
  EXPECT_EQ(read_ids(format, {"<t>", "Hm. ", "<f>", "{}", "</f>", "Yes."}),
            R"({"think": "Hm. ", "calls": [{}], "content": "Yes."})");
  EXPECT_EQ(read_ids(format, {"<t>", "Hm.\n", "!<f>", "{}", "</t>", "Yes."}),
            R"({"think": "Hm.\n<f>{}", "content": "Yes."})");
}

TEST(ReadingTokens, RandomPieces) {
  const Format format = json_calls(
      R"("calls": {"ends": "value", "otherwise": "content",
           "layout": {"before": ["\n"], "after": ["\n"]}},
         "think": {"layout": {"last": ["\n"]}})",
      R"("turn_end": ["<e>"], )");
  const std::vector<std::string> pieces = {
      "<f>", "</f>", "<t>",        "</t>", "!<f>", "!</f>", "!<e>", "\n",
      " ",   "x",    "{\"a\": \"", "\"}",  "{}",   "\"",    "[",    "<"};
  std::mt19937 random(13);
  for (int i = 0; i < 800; ++i) {
    std::vector<std::string> response;
    for (std::size_t n = random() % 14; n > 0; --n) {
      response.push_back(pieces[random() % pieces.size()]);
    }
    read_ids(format, response);
  }
}

}  // namespace
}  // namespace parlance::reading_test
