// What fits a structural tag: the recorded vectors, judged by the slow
// recogniser over the tag's rules.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/json.h"
#include "support/conformance.h"
#include "support/differences.h"
#include "support/tag_reader.h"
#include "support/vectors.h"

namespace parlance::structural_tag_language_test {
namespace {

using testing::make_tag_reader;
using testing::TagReader;

// Vectors whose verdict is not ours, each with its reason.
const auto& differences() {
  static const auto all = testing::documented_differences("structural-tags.md");
  return all;
}

void run(const std::string& file, std::size_t expected_rows) {
  const json::Value rows = testing::vectors("structural_tag/" + file);
  EXPECT_GE(rows.size(), expected_rows);
  std::map<std::string, std::unique_ptr<Result<TagReader>>> readers;
  for (const json::Value& row : rows.items()) {
    const json::Value& spec = *row.find("spec");
    auto& reader = readers[json::dump(spec)];
    if (!reader) {
      reader = std::make_unique<Result<TagReader>>(make_tag_reader(spec));
    }
    const std::string_view id = row.find("id")->as_string();
    SCOPED_TRACE(std::string(id) + " " + json::dump(spec, {.ascii = false}) +
                 "\n" + json::dump(*row.find("instance"), {.ascii = false}));
    EXPECT_TRUE(*reader) << reader->error().to_string();
    if (!*reader) continue;
    EXPECT_EQ((*reader)->accepts(testing::bytes_of(*row.find("instance"))),
              row.find("accepted")->as_bool() != differences().contains(id));
  }
}

TEST(StructuralTagLanguage, Formats) { run("formats.json", 490); }
TEST(StructuralTagLanguage, Probes) { run("probes.json", 185); }
TEST(StructuralTagLanguage, SeedExamples) { run("seed_examples.json", 42); }
TEST(StructuralTagLanguage, XmlStyles) { run("xml_styles.json", 236); }
TEST(StructuralTagLanguage, BuiltinInstances) {
  run("builtin_instances.json", 91);
}
TEST(StructuralTagLanguage, Mutations) { run("mutations.json", 880); }

TEST(StructuralTagLanguage, ErrorsOfWhatIsInside) {
  const json::Value rows = testing::vectors("structural_tag/errors.json");
  for (const json::Value& row : rows.items()) {
    const json::Value* spec = row.find("spec");
    if (spec == nullptr) continue;  // not JSON
    EXPECT_FALSE(make_tag_reader(*spec)) << json::dump(row);
  }
}

// One session of a matcher: the place after each step, so that a rollback is
// a pop.
class Session {
 public:
  Session(TagReader reader, std::vector<std::string> tokens,
          std::vector<std::int64_t> stops)
      : reader_(std::move(reader)),
        tokens_(std::move(tokens)),
        stops_(std::move(stops)) {
    places_.push_back(reader_.recogniser->start());
  }

  bool accept_token(std::int64_t id) {
    if (terminated_ || id < 0 ||
        static_cast<std::size_t>(id) >= tokens_.size()) {
      return false;
    }
    if (stop(id)) {
      if (!completed()) return false;
      terminated_ = true;
      places_.push_back(places_.back());
      return true;
    }
    auto next = places_.back();
    if (!reader_.recogniser->feed_token(next, static_cast<std::uint32_t>(id),
                                        tokens_[id])) {
      return false;
    }
    places_.push_back(std::move(next));
    return true;
  }
  void rollback(std::int64_t steps) {
    terminated_ = false;
    for (; steps > 0 && places_.size() > 1; --steps) places_.pop_back();
  }
  bool terminated() const { return terminated_; }
  bool completed() const { return reader_.recogniser->can_end(places_.back()); }
  json::Array allowed() {
    json::Array out;
    for (std::size_t id = 0; id < tokens_.size(); ++id) {
      const auto token = static_cast<std::int64_t>(id);
      const bool fits = stop(token) ? completed() : accept_token(token);
      if (fits && !stop(token)) places_.pop_back();
      if (fits) out.emplace_back(token);
    }
    return out;
  }

 private:
  bool stop(std::int64_t id) const {
    return std::find(stops_.begin(), stops_.end(), id) != stops_.end();
  }

  TagReader reader_;
  std::vector<std::string> tokens_;
  std::vector<std::int64_t> stops_;
  std::vector<cfg_recogniser::EarleyRecogniser::Place> places_;
  bool terminated_ = false;
};

void run_steps(Session& session, const json::Array& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const json::Value& step = steps[i];
    SCOPED_TRACE("step " + std::to_string(i) + " " + json::dump(step));
    const std::string_view op = step.find("op")->as_string();
    const json::Value* argument = step.find("arg");
    if (op == "accept_token") {
      EXPECT_EQ(session.accept_token(argument->as_int()),
                step.find("result")->as_bool());
    } else if (op == "fill_next_token_bitmask") {
      EXPECT_EQ(json::Value(session.allowed()), *step.find("allowed"));
    } else if (op == "is_terminated") {
      EXPECT_EQ(session.terminated(), step.find("result")->as_bool());
    } else if (op == "is_completed") {
      EXPECT_EQ(session.completed(), step.find("result")->as_bool());
    } else if (op == "rollback") {
      session.rollback(argument == nullptr ? 1 : argument->as_int());
    } else {
      ADD_FAILURE() << "unknown step";
    }
  }
}

TEST(StructuralTagLanguage, Traces) {
  const json::Value rows = testing::vectors("structural_tag/traces.json");
  EXPECT_GE(rows.size(), 40u);
  for (const json::Value& row : rows.items()) {
    SCOPED_TRACE(std::string(row.find("id")->as_string()) + " " +
                 json::dump(*row.find("spec")));
    std::vector<std::string> tokens;
    for (const json::Value& token :
         row.find("tokenizer")->find("vocab")->items()) {
      tokens.emplace_back(token.as_string());
    }
    std::vector<std::int64_t> stops;
    if (const json::Value* ids =
            row.find("tokenizer")->find("stop_token_ids")) {
      for (const json::Value& id : ids->items()) stops.push_back(id.as_int());
    } else {
      const auto found = std::find(tokens.begin(), tokens.end(), "</s>");
      stops.push_back(found - tokens.begin());
    }
    grammar::LowerOptions options;
    options.tokens.vocabulary_size = static_cast<std::uint32_t>(tokens.size());
    options.tokens.find =
        [&](std::string_view text) -> std::optional<rules::Token> {
      const auto found = std::find(tokens.begin(), tokens.end(), text);
      if (found == tokens.end()) return std::nullopt;
      return static_cast<rules::Token>(found - tokens.begin());
    };
    Result<TagReader> reader = make_tag_reader(*row.find("spec"), options);
    EXPECT_TRUE(reader) << reader.error().to_string();
    if (!reader) continue;
    Session session(std::move(*reader), tokens, stops);
    run_steps(session, row.find("steps")->items());
  }
}

}  // namespace
}  // namespace parlance::structural_tag_language_test
