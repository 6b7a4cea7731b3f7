// parlance/arrow.h: columns of every type that is read, against
// parse_response(); what is exported, against the specification.

#include "parlance/arrow.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "parlance/json.h"
#include "support/family_vocabulary.h"

namespace parlance::arrow_test {
namespace {

using Texts = std::vector<std::optional<std::string>>;

// A column and the memory of its buffers.  The first `skip` rows are before the
// offset.
class Column {
 public:
  static Column texts(const Texts& rows, std::string_view format,
                      std::size_t skip = 0) {
    Column made;
    made.format_ = format;
    made.start(rows.size(), skip);
    const auto at = [&](std::size_t i) -> std::optional<std::string_view> {
      if (i < skip) return "skipped";
      if (!rows[i - skip]) return std::nullopt;
      return *rows[i - skip];
    };
    const std::size_t all = rows.size() + skip;
    std::vector<std::uint8_t> valid((all + 7) / 8);
    std::string bytes = "junk";
    std::string starts;
    const bool small = format == "u" || format == "z";
    const bool views = format.starts_with("v");
    const auto offset = [&](std::size_t value) {
      if (small) {
        append<std::int32_t>(starts, value);
      } else {
        append<std::int64_t>(starts, value);
      }
    };
    if (!views) offset(bytes.size());
    for (std::size_t i = 0; i < all; ++i) {
      const auto text = at(i);
      if (text) valid[i / 8] |= static_cast<std::uint8_t>(1U << (i % 8));
      const std::string_view have = text.value_or("");
      if (views) {
        append<std::int32_t>(starts, have.size());
        std::string rest(12, '\0');
        if (have.size() <= 12) {
          have.copy(rest.data(), have.size());
        } else {
          have.copy(rest.data(), 4);
          const std::int32_t place[] = {
              0, static_cast<std::int32_t>(bytes.size())};
          std::memcpy(rest.data() + 4, place, sizeof(place));
        }
        starts += rest;
      }
      if (!views || have.size() > 12) bytes += have;
      if (!views) offset(bytes.size());
    }
    made.buffer(std::string(valid.begin(), valid.end()));
    made.buffer(std::move(starts));
    std::string sizes;
    append<std::int64_t>(sizes, bytes.size());
    made.buffer(std::move(bytes));
    if (views) made.buffer(std::move(sizes));
    return made;
  }

  template <class Offset, class Id>
  static Column ids(const std::vector<std::vector<TokenId>>& rows,
                    std::string_view format, std::string_view items) {
    Column made;
    made.format_ = format;
    made.start(rows.size(), 0);
    std::string starts;
    std::string values;
    std::size_t count = 0;
    append<Offset>(starts, 0);
    for (const auto& row : rows) {
      for (const TokenId id : row) append<Id>(values, id);
      count += row.size();
      append<Offset>(starts, count);
    }
    made.buffer("");
    made.buffer(std::move(starts));
    auto child = std::make_unique<Column>();
    child->format_ = items;
    child->start(count, 0);
    child->buffer("");
    child->buffer(std::move(values));
    made.children_.push_back(std::move(child));
    return made;
  }

  static Column dictionary(const Texts& words,
                           const std::vector<std::int8_t>& rows) {
    Column made;
    made.format_ = "c";
    made.start(rows.size(), 0);
    made.buffer("");
    made.buffer(std::string(rows.begin(), rows.end()));
    made.words_ = std::make_unique<Column>(texts(words, "u"));
    return made;
  }

  // The structs of the last view(), to be changed.
  ArrowSchema& schema() { return schema_; }
  ArrowArray& array() { return array_; }
  // Replaces entry `at` of a buffer.
  template <class T>
  void set(std::size_t buffer, std::size_t at, T value) {
    std::memcpy(buffers_[buffer].data() + at * sizeof(T), &value, sizeof(T));
  }
  // Adds a buffer.
  template <class T>
  void add(const std::vector<T>& entries) {
    std::string bytes;
    for (const T one : entries) {
      append<T>(bytes, static_cast<std::size_t>(one));
    }
    buffer(std::move(bytes));
  }

  // Valid as long as *this and until the next call.
  ArrowColumn view() {
    pointers_.clear();
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      const bool no_nulls = i == 0 && buffers_[i].empty();
      pointers_.push_back(no_nulls ? nullptr : buffers_[i].data());
    }
    array_.n_buffers = static_cast<std::int64_t>(pointers_.size());
    array_.buffers = pointers_.data();
    array_.null_count = -1;
    schema_.format = format_.c_str();
    schema_.release = [](ArrowSchema*) {};
    array_.release = [](ArrowArray*) {};
    schemas_.clear();
    arrays_.clear();
    for (const auto& child : children_) {
      child->view();
      schemas_.push_back(&child->schema_);
      arrays_.push_back(&child->array_);
    }
    schema_.n_children = array_.n_children =
        static_cast<std::int64_t>(children_.size());
    schema_.children = schemas_.data();
    array_.children = arrays_.data();
    if (words_) {
      words_->view();
      schema_.dictionary = &words_->schema_;
      array_.dictionary = &words_->array_;
    }
    return {&schema_, &array_};
  }

 private:
  template <class T>
  static void append(std::string& out, std::size_t value) {
    const auto as = static_cast<T>(value);
    out.append(reinterpret_cast<const char*>(&as), sizeof(as));
  }
  void start(std::size_t rows, std::size_t skip) {
    array_.length = static_cast<std::int64_t>(rows);
    array_.offset = static_cast<std::int64_t>(skip);
  }
  void buffer(std::string bytes) { buffers_.push_back(std::move(bytes)); }

  std::string format_;
  std::vector<std::string> buffers_;
  std::vector<const void*> pointers_;
  std::vector<std::unique_ptr<Column>> children_;
  std::vector<ArrowSchema*> schemas_;
  std::vector<ArrowArray*> arrays_;
  std::unique_ptr<Column> words_;
  ArrowSchema schema_ = {};
  ArrowArray array_ = {};
};

// A result, read back by its schema as JSON: structs are objects, lists arrays.
json::Value value_at(const ArrowSchema& schema, const ArrowArray& array,
                     std::int64_t row) {
  row += array.offset;
  const auto* valid = static_cast<const std::uint8_t*>(array.buffers[0]);
  if (valid != nullptr && (valid[row / 8] >> (row % 8) & 1) == 0) return {};
  const std::string_view format = schema.format;
  if (format == "U") {
    const auto* ends = static_cast<const std::int64_t*>(array.buffers[1]);
    const auto* data = static_cast<const char*>(array.buffers[2]);
    return json::Value(std::string_view(
        data + ends[row], static_cast<std::size_t>(ends[row + 1] - ends[row])));
  }
  if (format == "b") {
    const auto* bits = static_cast<const std::uint8_t*>(array.buffers[1]);
    return json::Value((bits[row / 8] >> (row % 8) & 1) != 0);
  }
  if (format == "l") {
    return json::Value(static_cast<const std::int64_t*>(array.buffers[1])[row]);
  }
  if (format == "+l") {
    const auto* ends = static_cast<const std::int32_t*>(array.buffers[1]);
    json::Array items;
    for (std::int32_t i = ends[row]; i < ends[row + 1]; ++i) {
      items.push_back(value_at(*schema.children[0], *array.children[0], i));
    }
    return json::Value(std::move(items));
  }
  EXPECT_EQ(format, "+s");
  json::Object members;
  for (std::int64_t i = 0; i < schema.n_children; ++i) {
    members.set(schema.children[i]->name,
                value_at(*schema.children[i], *array.children[i], row));
  }
  return json::Value(std::move(members));
}

// The messages of a column; releases the result.
std::vector<json::Value> messages(const ArrowColumn& responses,
                                  const ArrowParseOptions& options) {
  ArrowArray out = {};
  const Result<std::size_t> rows = parse_arrow(responses, options, &out);
  EXPECT_TRUE(rows) << rows.error().to_string();
  if (!rows) return {};
  EXPECT_EQ(static_cast<std::int64_t>(*rows), out.length);
  ArrowSchema schema = {};
  arrow_message_schema(&schema);
  std::vector<json::Value> all;
  for (std::int64_t i = 0; i < out.length; ++i) {
    all.push_back(value_at(schema, out, i));
  }
  out.release(&out);
  EXPECT_EQ(out.release, nullptr);
  schema.release(&schema);
  EXPECT_EQ(schema.release, nullptr);
  return all;
}

json::Value text_or_null(const json::Value* value) {
  return value == nullptr ? json::Value() : *value;
}

// What a row must be, from parse_response().
json::Value expected(const Format& format,
                     const std::optional<std::string>& text,
                     StreamOptions options = {}) {
  if (!text) return {};
  options.stream_calls = true;
  options.attempts = true;
  const Message message = parse_response(format, *text, options);
  json::Array attempts;
  for (const Attempt& one : message.attempts) {
    attempts.push_back(json::Value(json::Object{
        {"status", to_string(one.status)},
        {"id", one.id},
        {"name", one.name},
        {"arguments", one.arguments},
        {"text", one.text},
        {"offset", static_cast<std::int64_t>(one.bytes.begin)},
        {"end", static_cast<std::int64_t>(one.bytes.end)},
        {"token_offset", static_cast<std::int64_t>(one.tokens.begin)},
        {"token_end", static_cast<std::int64_t>(one.tokens.end)},
        {"why", one.why}}));
  }
  json::Array calls;
  for (const Call& call : message.calls) {
    if (!call.complete) continue;
    calls.push_back(json::Value(json::Object{
        {"id", call.id.empty() ? json::Value() : json::Value(call.id)},
        {"name", call.name},
        {"arguments", call.arguments},
        {"complete", call.complete}}));
  }
  json::Array diagnostics;
  for (const Diagnostic& one : message.diagnostics) {
    diagnostics.push_back(json::Value(
        json::Object{{"offset", static_cast<std::int64_t>(one.bytes.begin)},
                     {"end", static_cast<std::int64_t>(one.bytes.end)},
                     {"code", to_string(one.code)},
                     {"field", one.field},
                     {"message", one.message}}));
  }
  const json::Value* reasoning = message.fields.find("thinking");
  return json::Value(json::Object{
      {"reasoning", text_or_null(reasoning)},
      {"content", text_or_null(message.fields.find("content"))},
      {"tool_calls", std::move(calls)},
      {"other", json::Value()},
      {"complete", message.complete},
      {"diagnostics", std::move(diagnostics)},
      {"turn_ended", message.turn_ended},
      {"attempted_calls", std::move(attempts)},
      {"prefix_bytes", static_cast<std::int64_t>(message.prefix_bytes)}});
}

Format format_of(std::string_view name) {
  Result<Format> format = Format::built_in(name);
  EXPECT_TRUE(format) << name;
  return *std::move(format);
}

Texts some_responses(std::size_t count) {
  const std::vector<std::string> pieces = {
      "<think>",
      "</think>",
      "Hm. ",
      "Grüezi 🙂 ",
      "<tool_call>",
      "{\"name\": \"f\", \"arguments\": {\"a\": [1, \"ü\"]}}",
      "</tool_call>",
      "\n",
      "{",
      "\xFF",
      ""};
  std::mt19937 random(7);
  Texts rows(count);
  for (auto& row : rows) {
    if (random() % 7 == 0) continue;  // null
    row.emplace();
    for (std::size_t n = random() % 12; n > 0; --n) {
      *row += pieces[random() % pieces.size()];
    }
  }
  rows[0] =
      "<think>Hm.</think>Hi.<tool_call>\n{\"name\": \"f\", \"arguments\": "
      "{\"a\": 1}}\n</tool_call>";
  return rows;
}

TEST(Arrow, EveryTextLayoutGivesTheMessagesOfParseResponse) {
  const Format format = format_of("qwen3");
  const Texts rows = some_responses(700);
  std::vector<json::Value> wanted;
  wanted.reserve(rows.size());
  for (const auto& row : rows) wanted.push_back(expected(format, row));
  EXPECT_EQ(wanted[0].find("tool_calls")->items().size(), 1U);
  for (const std::string_view layout : {"u", "U", "z", "Z", "vu", "vz"}) {
    for (const std::size_t skip : {0, 1, 11}) {
      for (const unsigned threads : {1U, 3U}) {
        Column column = Column::texts(rows, layout, skip);
        EXPECT_EQ(
            messages(column.view(), {.format = &format, .threads = threads}),
            wanted)
            << layout << " after " << skip << " rows, threads: " << threads;
      }
    }
  }
}

TEST(Arrow, NeedsNoThreads) {
  const Format format = format_of("qwen3");
  const Texts rows = some_responses(700);
  Column column = Column::texts(rows, "u");
  const auto with = messages(column.view(), {.format = &format, .threads = 3});
  base::refuse_threads = true;
  const auto without =
      messages(column.view(), {.format = &format, .threads = ~0U});
  base::refuse_threads = false;
  EXPECT_EQ(with, without);
}

TEST(Arrow, DictionariesAndNulls) {
  const Format format = format_of("qwen3");
  const Texts words = {"Hi.", std::nullopt, "<think>x</think>y"};
  Column column = Column::dictionary(words, {2, 0, 1, 0, -1, 3});
  const auto got = messages(column.view(), {.format = &format});
  ASSERT_EQ(got.size(), 6U);
  EXPECT_EQ(got[0], expected(format, words[2]));
  EXPECT_EQ(got[1], expected(format, words[0]));
  EXPECT_EQ(got[3], expected(format, words[0]));
  for (const std::size_t none : {2, 4, 5}) EXPECT_TRUE(got[none].is_null());

  ArrowSchema nulls = {};
  nulls.format = "n";
  nulls.release = [](ArrowSchema*) {};
  ArrowArray two = {};
  two.length = 2;
  two.release = [](ArrowArray*) {};
  EXPECT_EQ(messages({&nulls, &two}, {.format = &format}),
            std::vector<json::Value>(2));
}

TEST(Arrow, NoRows) {
  const Format format = format_of("qwen3");
  Column column = Column::texts({}, "u");
  EXPECT_TRUE(messages(column.view(), {.format = &format}).empty());
}

TEST(Arrow, TokenIds) {
  const Format format = format_of("qwen3");
  // Ids below 256 are bytes.
  const testing::FamilyVocabulary family = testing::family_vocabulary("qwen3");
  const Vocabulary& vocabulary = family.vocabulary;
  std::vector<std::vector<TokenId>> rows;
  std::vector<json::Value> wanted;
  for (const std::string text : {"a</think>b", "", "<tool_call>{}"}) {
    rows.emplace_back();
    for (const char c : text) {
      rows.back().push_back(static_cast<std::uint8_t>(c));
    }
    wanted.push_back(expected(format, text, {.markers = Markers::kEither}));
    for (json::Value& call : wanted.back()
                                 .mutable_members()
                                 .find("attempted_calls")
                                 ->mutable_items()) {
      call.mutable_members().set("token_offset", *call.find("offset"));
      call.mutable_members().set("token_end", *call.find("end"));
    }
  }
  const ArrowParseOptions options{.format = &format,
                                  .vocabulary = &vocabulary,
                                  .markers = Markers::kEither};
  Column small = Column::ids<std::int32_t, std::int32_t>(rows, "+l", "i");
  EXPECT_EQ(messages(small.view(), options), wanted);
  Column large = Column::ids<std::int64_t, std::uint64_t>(rows, "+L", "L");
  EXPECT_EQ(messages(large.view(), options), wanted);

  rows[1] = {static_cast<TokenId>(-1)};
  Column bad = Column::ids<std::int32_t, std::int32_t>(rows, "+l", "i");
  const auto got = messages(bad.view(), options);
  EXPECT_EQ(got[0], wanted[0]);
  EXPECT_FALSE(got[1].find("complete")->as_bool());
  EXPECT_EQ(got[1].find("diagnostics")->items()[0].find("code")->as_string(),
            "wrong_type");
}

TEST(Arrow, FormatsPrefixesAndToolsByRow) {
  const Format qwen = format_of("qwen3_coder");
  const Texts rows = {
      "x</think>y",
      "<tool_call>\n<function=f>\n<parameter=a>\n7\n</parameter>\n"
      "</function>\n</tool_call>",
      "Hi.", "Hi."};
  Column responses = Column::texts(rows, "u");
  Column formats =
      Column::texts({"qwen3", std::nullopt, "no such format", "{]"}, "u");
  Column prefixes =
      Column::texts({"<think>", std::nullopt, std::nullopt, std::nullopt}, "U");
  const std::string tools = R"([{"name": "f", "parameters": {"type": "object",
      "properties": {"a": {"type": "integer"}}}}])";
  Column by_row = Column::texts({std::nullopt, tools, "[", std::nullopt}, "vu");
  const ArrowColumn format_column = formats.view();
  const ArrowColumn prefix_column = prefixes.view();
  const ArrowColumn tools_column = by_row.view();
  const auto got = messages(responses.view(), {.format = &qwen,
                                               .formats = &format_column,
                                               .prefixes = &prefix_column,
                                               .tools_by_row = &tools_column});
  ASSERT_EQ(got.size(), 4U);
  EXPECT_EQ(got[0].find("reasoning")->as_string(), "x");
  EXPECT_EQ(got[0].find("content")->as_string(), "y");
  EXPECT_EQ(
      got[1].find("tool_calls")->items()[0].find("arguments")->as_string(),
      R"({"a": 7})");
  EXPECT_EQ(got[2].find("content")->as_string(), "Hi.");
  EXPECT_EQ(got[2].find("diagnostics")->items()[0].find("code")->as_string(),
            "unknown_format");
  EXPECT_EQ(got[3].find("content")->as_string(), "Hi.");
  EXPECT_EQ(got[3].find("diagnostics")->items()[0].find("code")->as_string(),
            "invalid_json");
}

// A consumer may move a child out of its parent and release the parent first.
TEST(Arrow, AChildOutlivesItsParent) {
  const Format format = format_of("qwen3");
  Column column = Column::texts({"Hi.", "there"}, "u");
  ArrowArray out = {};
  ASSERT_TRUE(parse_arrow(column.view(), {.format = &format}, &out));
  ArrowArray content = *out.children[1];
  out.children[1]->release = nullptr;
  out.release(&out);
  const auto* ends = static_cast<const std::int64_t*>(content.buffers[1]);
  EXPECT_EQ(std::string_view(static_cast<const char*>(content.buffers[2]),
                             static_cast<std::size_t>(ends[2])),
            "Hi.there");
  content.release(&content);
  EXPECT_EQ(content.release, nullptr);
}

TEST(Arrow, Errors) {
  const Format format = format_of("qwen3");
  Column texts = Column::texts({"Hi."}, "u");
  const auto error = [](const ArrowColumn& column,
                        const ArrowParseOptions& options) {
    ArrowArray out = {};
    const Result<std::size_t> rows = parse_arrow(column, options, &out);
    EXPECT_FALSE(rows);
    EXPECT_EQ(out.release, nullptr);
    return rows ? Error{} : rows.error();
  };
  EXPECT_EQ(error(texts.view(), {}).code, ErrorCode::kUsage);
  Column other = Column::texts({"a", "b"}, "u");
  const ArrowColumn two = other.view();
  const Error lengths =
      error(texts.view(), {.format = &format, .prefixes = &two});
  EXPECT_EQ(lengths.code, ErrorCode::kUsage);
  EXPECT_EQ(lengths.message, "the prefixes are 2 rows beside 1 responses");
  Column ids = Column::ids<std::int32_t, std::int32_t>({{1}}, "+l", "i");
  EXPECT_EQ(error(ids.view(), {.format = &format}).code, ErrorCode::kUsage);
  Column floats = Column::ids<std::int32_t, std::int32_t>({{1}}, "+l", "f");
  EXPECT_EQ(error(floats.view(), {.format = &format}).code,
            ErrorCode::kWrongType);
  ArrowSchema dates = {};
  dates.format = "tdD";
  dates.release = [](ArrowSchema*) {};
  ArrowArray none = {};
  none.release = [](ArrowArray*) {};
  const Error wrong = error({&dates, &none}, {.format = &format});
  EXPECT_EQ(wrong.code, ErrorCode::kWrongType);
  EXPECT_NE(wrong.message.find("'tdD'"), std::string::npos);
  EXPECT_EQ(
      error(texts.view(), {.format = &format, .cancelled = [] { return true; }})
          .message,
      "parsing was cancelled");
}

// Structs that are no column, each made by one change to a good one.
TEST(Arrow, EveryFieldThatIsReadIsChecked) {
  const Format format = format_of("qwen3");
  const testing::FamilyVocabulary family = testing::family_vocabulary("qwen3");
  const ArrowParseOptions options{.format = &format,
                                  .vocabulary = &family.vocabulary};
  struct Change {
    const char* what;
    std::function<void(ArrowSchema&, ArrowArray&)> make;
    ErrorCode code = ErrorCode::kUsage;
  };
  const std::vector<Change> changes = {
      {"schema released",
       [](ArrowSchema& schema, ArrowArray&) { schema.release = nullptr; }},
      {"array released",
       [](ArrowSchema&, ArrowArray& array) { array.release = nullptr; }},
      {"no format",
       [](ArrowSchema& schema, ArrowArray&) { schema.format = nullptr; }},
      {"length", [](ArrowSchema&, ArrowArray& array) { array.length = -1; }},
      {"too long",
       [](ArrowSchema&, ArrowArray& array) {
         array.length = std::numeric_limits<std::int64_t>::max();
       },
       ErrorCode::kTooLarge},
      {"offset", [](ArrowSchema&, ArrowArray& array) { array.offset = -1; }},
      {"too far",
       [](ArrowSchema&, ArrowArray& array) {
         array.offset = std::numeric_limits<std::int64_t>::max();
       },
       ErrorCode::kTooLarge},
      {"few buffers",
       [](ArrowSchema&, ArrowArray& array) { array.n_buffers = 1; }},
      {"n_buffers",
       [](ArrowSchema&, ArrowArray& array) { array.n_buffers = -1; }},
      {"no buffers",
       [](ArrowSchema&, ArrowArray& array) { array.buffers = nullptr; }},
      {"no entries",
       [](ArrowSchema&, ArrowArray& array) { array.buffers[1] = nullptr; }},
      {"children of the schema",
       [](ArrowSchema& schema, ArrowArray&) { ++schema.n_children; }},
      {"children of the array",
       [](ArrowSchema&, ArrowArray& array) { ++array.n_children; }},
      {"no pointers to children",
       [](ArrowSchema& schema, ArrowArray& array) {
         schema.n_children = array.n_children = 1;
         array.children = nullptr;
       }},
      {"a dictionary of the array",
       [](ArrowSchema&, ArrowArray& array) { array.dictionary = &array; }},
  };
  const std::vector<std::vector<TokenId>> rows = {{1, 2}, {3}};
  const std::vector<std::function<Column()>> columns = {
      [] {
        return Column::texts({"Hi.", "there"}, "u");
      },
      [] {
        return Column::texts({"Hi.", "there"}, "vu");
      },
      [] {
        return Column::dictionary({"Hi."}, {0, 0});
      },
      [&] { return Column::ids<std::int32_t, std::int32_t>(rows, "+l", "i"); },
  };
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (const Change& change : changes) {
      Column made = columns[i]();
      const ArrowColumn column = made.view();
      change.make(made.schema(), made.array());
      ArrowArray out = {};
      const Result<std::size_t> parsed = parse_arrow(column, options, &out);
      ASSERT_FALSE(parsed) << change.what << " of column " << i;
      EXPECT_EQ(parsed.error().code, change.code)
          << change.what << " of column " << i << ": "
          << parsed.error().message;
    }
  }
  // The parts that a column points to.
  const std::vector<Change> parts = {
      {"missing",
       [](ArrowSchema& schema, ArrowArray&) { schema.children[0] = nullptr; }},
      {"released",
       [](ArrowSchema&, ArrowArray& array) {
         array.children[0]->release = nullptr;
       }},
      {"length",
       [](ArrowSchema&, ArrowArray& array) { array.children[0]->length = -1; }},
      {"buffers", [](ArrowSchema&,
                     ArrowArray& array) { array.children[0]->n_buffers = 0; }},
      {"indices of a dictionary",
       [](ArrowSchema& schema, ArrowArray& array) {
         schema.children[0]->dictionary = &schema;
         array.children[0]->dictionary = &array;
       },
       ErrorCode::kWrongType},
  };
  for (const Change& change : parts) {
    Column made = columns[3]();
    const ArrowColumn column = made.view();
    change.make(made.schema(), made.array());
    ArrowArray out = {};
    const Result<std::size_t> parsed = parse_arrow(column, options, &out);
    ASSERT_FALSE(parsed) << change.what;
    EXPECT_EQ(parsed.error().code, change.code)
        << change.what << ": " << parsed.error().message;
  }
  Column made = Column::dictionary({"Hi."}, {0});
  const ArrowColumn column = made.view();
  made.schema().dictionary->dictionary = &made.schema();
  made.array().dictionary->dictionary = &made.array();
  ArrowArray out = {};
  const Result<std::size_t> parsed = parse_arrow(column, options, &out);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, ErrorCode::kWrongType);
  for (const char* type : {"+r", "+s", "+ud:0", "+m", "tdD", "", "+w:", "+w:x",
                           "+w:-1", "w:4", "+w:99999999999999999999"}) {
    Column other = columns[3]();
    const ArrowColumn view = other.view();
    other.schema().format = type;
    const Result<std::size_t> read = parse_arrow(view, options, &out);
    ASSERT_FALSE(read) << type;
    EXPECT_EQ(read.error().code, ErrorCode::kWrongType) << type;
  }
}

// Offsets, sizes and indices that lead out of the column: of the row alone.
TEST(Arrow, ARowThatLiesOutsideIsADiagnostic) {
  const Format format = format_of("qwen3");
  const testing::FamilyVocabulary family = testing::family_vocabulary("qwen3");
  const ArrowParseOptions options{.format = &format,
                                  .vocabulary = &family.vocabulary,
                                  .markers = Markers::kEither};
  const std::string text = "a text of more than twelve bytes";
  const auto codes = [&](Column& made, std::size_t entry, auto value,
                         std::size_t buffer = 1) {
    const ArrowColumn column = made.view();
    made.set(buffer, entry, value);
    std::vector<std::string> out;
    for (const json::Value& row : messages(column, options)) {
      const json::Array& found = row.find("diagnostics")->items();
      out.emplace_back(found.empty() ? "" : found[0].find("code")->as_string());
    }
    return out;
  };
  using Codes = std::vector<std::string>;
  Column small = Column::texts({text, text, text}, "u");
  EXPECT_EQ(codes(small, 1, std::int32_t{0}), (Codes{"usage", "", ""}));
  Column large = Column::texts({text, text, text}, "U");
  EXPECT_EQ(codes(large, 1, std::int64_t{-5}), (Codes{"usage", "usage", ""}));
  // A view: size, four bytes, buffer, offset.
  for (const auto& [entry, value] :
       {std::pair<std::size_t, std::int32_t>{4, -1},
        {4, 1 << 20},
        {6, -1},
        {6, 1},
        {6, 1 << 20},
        {7, -1},
        {7, 1 << 20}}) {
    Column views = Column::texts({text, text, text}, "vu");
    EXPECT_EQ(codes(views, entry, value), (Codes{"", "usage", ""}))
        << entry << " " << value;
  }
  const std::vector<std::vector<TokenId>> rows = {{97}, {98}, {99}};
  for (const std::int32_t end : {-1, 0, 4, 1 << 30}) {
    Column lists = Column::ids<std::int32_t, std::int32_t>(rows, "+l", "i");
    EXPECT_EQ(codes(lists, 3, end), (Codes{"", "", "usage"})) << end;
  }
  // The offsets are the beginnings of a view; its sizes are 1.
  for (const std::int64_t begin : {std::int64_t{-1}, std::int64_t{3},
                                   std::numeric_limits<std::int64_t>::max()}) {
    Column lists = Column::ids<std::int64_t, std::int32_t>(rows, "+vL", "i");
    lists.add(std::vector<std::int64_t>{1, 1, 1});
    EXPECT_EQ(codes(lists, 1, begin), (Codes{"", "usage", ""})) << begin;
  }
  Column fixed = Column::ids<std::int64_t, std::int32_t>(rows, "+w:1", "i");
  const ArrowColumn column = fixed.view();
  fixed.array().length = 4;
  const auto got = messages(column, options);
  EXPECT_TRUE(got[2].find("complete")->as_bool());
  EXPECT_FALSE(got[3].find("complete")->as_bool());
}

}  // namespace
}  // namespace parlance::arrow_test
