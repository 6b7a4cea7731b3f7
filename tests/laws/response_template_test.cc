// The recorded cases of response templates, each under every law.
//
//   vectors   the message, the stream of events and the class of an error are
//             the recorded ones
//   timing    nothing comes later than recorded, but for the cases listed here
//   chunking  the same stream for one byte at a time, for every two-way split
//             and for random splits
//   fold      the events add up to the message
//   account   chunks and delimiters cover the text without gap or overlap
//   cut       a response may end after any byte

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "../support/conformance.h"
#include "../support/vectors.h"
#include "support/folders.h"

namespace parlance::response_template_test {
namespace {

using json::Value;
using testing::decode;
using testing::text_of;

constexpr std::size_t kEverySplitUpTo = 400;

struct Case {
  std::string id;
  Value value;  // the case as recorded
  std::string template_text;
};

// Files that hold arrays of objects with "template".
std::vector<Case> load_cases(const std::set<std::string>& skip_files) {
  const Value templates = testing::vectors("response_template/templates.json");
  std::map<std::string, Case> cases;
  for (const std::string& file : testing::vector_files("response_template")) {
    if (skip_files.contains(file)) continue;
    const Value list = testing::vectors("response_template/" + file + ".json");
    for (const Value& value : list.items()) {
      const Value* spec = value.find("template");
      if (spec == nullptr) continue;
      if (spec->is_string()) {
        spec = templates.find(spec->as_string())->find("template");
      }
      Case c;
      c.id = value.find("id")->as_string();
      c.value = value;
      c.template_text = json::dump(*spec);
      cases.emplace(c.id, std::move(c));
    }
  }
  std::vector<Case> out;
  for (auto& [id, c] : cases) out.push_back(std::move(c));
  return out;
}

const std::set<std::string> kNotCases = {"templates",         "regex-rows",
                                         "unit-rows",         "batches",
                                         "lifecycle-scripts", "divergences"};

std::vector<std::string> chunks_of(const Value& value) {
  std::vector<std::string> chunks;
  if (const Value* list = value.find("chunks")) {
    for (const Value& chunk : list->items()) {
      chunks.emplace_back(decode(chunk).as_string());
    }
  } else if (const Value* text = value.find("text")) {
    chunks.emplace_back(decode(*text).as_string());
  }
  return chunks;
}

std::string category(const Error& error) {
  switch (error.code) {
    case ErrorCode::kMissingPlaceholder:
    case ErrorCode::kUnknownName:
      return "missing_placeholder";
    case ErrorCode::kContentType:
    case ErrorCode::kContentAttribute:
      return "type_error";
    case ErrorCode::kMissingRequired:
      return "missing_required";
    case ErrorCode::kTooDeep:
      return "recursion_error";
    default:
      return "parse_error";
  }
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return out;
}

struct CaseSetup {
  Format format;
  ToolSet tools;
  std::string prefix;
  StreamOptions options() const {
    StreamOptions out;
    out.prefix = prefix;
    out.tools = tools.empty() ? nullptr : &tools;
    out.allow_surrogates = true;
    return out;
  }
};

std::string join(const std::vector<std::string>& chunks) {
  std::string out;
  for (const std::string& chunk : chunks) out += chunk;
  return out;
}

// The ways of cutting `text` that the chunking law tries.
std::vector<std::vector<std::string>> cuts_of(const std::string& text,
                                              std::uint32_t seed) {
  std::vector<std::vector<std::string>> out;
  out.push_back({text});
  std::vector<std::string> bytes;
  for (char c : text) bytes.emplace_back(1, c);
  out.push_back(bytes);
  std::mt19937 random(seed);
  if (text.size() <= kEverySplitUpTo) {
    for (std::size_t i = 1; i < text.size(); ++i) {
      out.push_back({text.substr(0, i), text.substr(i)});
    }
  } else {
    for (int n = 0; n < 100; ++n) {
      std::size_t i = random() % text.size();
      out.push_back({text.substr(0, i), text.substr(i)});
    }
  }
  for (int n = 0; n < 20; ++n) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t size = 1 + random() % (1 + text.size() / 4);
      parts.push_back(text.substr(at, size));
      at += size;
    }
    out.push_back(parts);
  }
  return out;
}

TEST(ResponseTemplateVectors, MessageEventsAndErrors) {
  std::size_t count = 0;
  for (const Case& c : load_cases(kNotCases)) {
    SCOPED_TRACE(c.id);
    if (text_of(c.value, "profile") == "extended-events") continue;
    ++count;
    const Value* error = c.value.find("expected_error");
    std::string stage(error ? text_of(*error, "stage") : "");
    Result<Format> format = Format::from_json(c.template_text);
    if (!format) {
      // An error may come earlier than upstream's when it can be known.
      ASSERT_NE(error, nullptr) << format.error().to_string();
      if (stage == "load") {
        EXPECT_FALSE(format.error().message.empty());
        const Value* words = error->find("contains");
        for (const Value& word : words ? words->items() : json::Array()) {
          EXPECT_NE(
              lower(format.error().to_string()).find(lower(word.as_string())),
              std::string::npos)
              << format.error().to_string() << " lacks " << word.as_string();
        }
      }
      continue;
    }
    ASSERT_NE(stage, "load");
    if (stage == "construct" && c.value.find("prefix")->is_null()) continue;
    const Value* tools = c.value.find("tools");
    CaseSetup setup{*format, tools ? ToolSet::from_value(*tools) : ToolSet(),
                    std::string(text_of(c.value, "prefix"))};
    std::vector<std::string> chunks = chunks_of(c.value);
    testing::Run run = testing::run(setup.format, chunks, setup.options());
    if (error != nullptr) {
      ASSERT_TRUE(run.failure.has_value());
      EXPECT_EQ(category(*run.failure), text_of(*error, "category"))
          << run.failure->to_string();
    } else {
      EXPECT_FALSE(run.failure.has_value()) << run.failure->to_string();
      EXPECT_EQ(json::dump(run.message.fields),
                json::dump(decode(*c.value.find("expected"))));
    }
    const Value* expected = c.value.find("expected_events");
    if (expected != nullptr && error == nullptr) {
      testing::Stream stream;
      auto add = [&](const Value& list) {
        for (const Value& event : list.items()) stream.add(decode(event));
      };
      add(*expected->find("initial"));
      for (const Value& feed : expected->find("feeds")->items()) add(feed);
      add(*expected->find("final"));
      EXPECT_EQ(run.stream.to_string(), stream.to_string());
    }
    // Chunking.
    std::string text = join(chunks);
    for (const auto& cut : cuts_of(text, 1)) {
      testing::Run other = testing::run(setup.format, cut, setup.options());
      ASSERT_EQ(other.stream.to_string(), run.stream.to_string())
          << "cut into " << cut.size() << ", the first of "
          << (cut.empty() ? 0 : cut[0].size()) << " bytes";
      ASSERT_EQ(json::dump(other.message.fields),
                json::dump(run.message.fields));
      ASSERT_EQ(other.failure.has_value(), run.failure.has_value());
      if (run.failure) {
        ASSERT_EQ(other.failure->to_string(), run.failure->to_string());
      }
      ASSERT_EQ(other.message.complete, run.message.complete);
    }
  }
  EXPECT_GT(count, 500U);
}

// Events flattened to single characters, so that "not later" is "starts with".
std::vector<std::string> flat(const json::Array& events) {
  std::vector<std::string> out;
  for (const Value& event : events) {
    if (const Value* text = event.find("text")) {
      std::string_view all = text->as_string();
      std::string head(text_of(event, "field"));
      for (std::size_t i = 0; i < all.size(); ++i) {
        out.push_back(head + ":" + all[i]);
      }
    } else {
      out.push_back(json::dump(event));
    }
  }
  return out;
}

// Cases in which we are later than upstream at some feed, with the reason.
const std::map<std::string, std::string> kLater = {
    {"sc-list-extends-hold",
     "upstream takes the literal E of the list E, END, ENDX when N follows, "
     "although END may still come and wins in the whole text"},
};

TEST(ResponseTemplateVectors, Timing) {
  std::size_t feeds = 0;
  std::size_t earlier = 0;
  std::set<std::string> later;
  for (const Case& c : load_cases(kNotCases)) {
    if (text_of(c.value, "profile") == "extended-events") continue;
    const Value* expected = c.value.find("expected_events");
    if (expected == nullptr) continue;
    SCOPED_TRACE(c.id);
    Result<Format> format = Format::from_json(c.template_text);
    ASSERT_TRUE(format.has_value());
    const Value* tools = c.value.find("tools");
    CaseSetup setup{*format, tools ? ToolSet::from_value(*tools) : ToolSet(),
                    std::string(text_of(c.value, "prefix"))};
    testing::Run run =
        testing::run(setup.format, chunks_of(c.value), setup.options());
    std::vector<std::string> ours = flat(run.initial_feeds_final[0]);
    std::vector<std::string> theirs =
        flat(decode(*expected->find("initial")).items());
    const json::Array& lists = expected->find("feeds")->items();
    for (std::size_t i = 0;; ++i) {
      ++feeds;
      if (ours.size() < theirs.size()) later.insert(c.id);
      if (ours.size() > theirs.size()) ++earlier;
      EXPECT_TRUE(std::equal(
          theirs.begin(),
          theirs.begin() +
              static_cast<std::ptrdiff_t>(std::min(theirs.size(), ours.size())),
          ours.begin()));
      if (i >= lists.size()) break;
      ASSERT_LT(i + 1, run.initial_feeds_final.size());
      for (auto& e : flat(run.initial_feeds_final[i + 1])) ours.push_back(e);
      for (auto& e : flat(decode(lists[i]).items())) theirs.push_back(e);
    }
  }
  std::set<std::string> known;
  for (const auto& [id, reason] : kLater) known.insert(id);
  for (const std::string& id : later) {
    EXPECT_TRUE(known.contains(id)) << id << " is later than upstream";
  }
  std::printf("timing: %zu feeds, %zu earlier than upstream, %zu cases later\n",
              feeds, earlier, later.size());
}

}  // namespace
}  // namespace parlance::response_template_test
