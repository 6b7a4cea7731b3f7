// A batch does for each row what its matcher and its parser do alone.

#include "parlance/batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/format.h"
#include "parlance/structural_tag.h"
#include "support/byte_vocabulary.h"
#include "support/sanitized.h"

namespace parlance::batch_test {
namespace {

constexpr std::string_view kTools = R"([
  {"type": "function", "function": {"name": "get_weather", "parameters": {
    "type": "object", "required": ["city"], "additionalProperties": false,
    "properties": {"city": {"enum": ["Rome", "Bern"]},
                   "days": {"type": "integer"}}}}},
  {"type": "function", "function": {"name": "now"}}])";

Vocabulary vocabulary() {
  constexpr std::array<std::string_view, 2> kTexts = {
      kTools,
      "{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\", \"days"};
  const std::vector<std::pair<std::string, TokenKind>> marks = {
      {"<think>", TokenKind::kAdded},
      {"</think>", TokenKind::kAdded},
      {"<tool_call>", TokenKind::kAdded},
      {"</tool_call>", TokenKind::kAdded},
      {"<|im_end|>", TokenKind::kControl}};
  return testing::byte_vocabulary(testing::pieces_of(kTexts, 60), marks);
}

std::vector<std::string> written(std::span<const Event> events) {
  std::vector<std::string> out;
  for (const Event& event : events) {
    out.push_back(std::string(to_string(event.kind)) + " " +
                  std::string(event.field) + " " + std::string(event.text));
  }
  return out;
}

// What belongs to one request.
struct Request {
  std::optional<Matcher> matcher;
  std::optional<ResponseParser> parser;
  std::optional<TagParser> tag_parser;
  std::vector<TokenId> next = {};  // what the model generates

  BatchRow row() {
    return {.matcher = matcher ? &*matcher : nullptr,
            .parser = parser ? &*parser : nullptr,
            .tag_parser = tag_parser ? &*tag_parser : nullptr};
  }
  std::vector<std::string> feed(std::span<const TokenId> ids) {
    if (parser) return written(parser->feed_tokens(ids));
    if (tag_parser) return written(tag_parser->feed_tokens(ids));
    return {};
  }
  json::Value message() const {
    if (parser) return parser->message().fields;
    return tag_parser ? tag_parser->message().fields : json::Value();
  }
};

// What a server has once.
struct Server {
  Vocabulary tokens = vocabulary();
  TokenId stop = *tokens.special("<|im_end|>");
  Format format = *Format::built_in("qwen3");
  Compiler compiler =
      *Compiler::create(tokens, {.stop_ids = std::vector<TokenId>{stop}});
  StructuralTag tag = *format.structural_tag({.tools = *json::parse(kTools)});
  Constraint constraint = *compiler.compile_structural_tag(tag);
  CompiledTag program = *CompiledTag::compile(tag, {.vocabulary = &tokens});
  std::size_t words = compiler.mask_words();

  // A row of one of five kinds: with and without matcher, with one of both
  // parsers or none.
  Request request(std::uint32_t kind) const {
    Request out;
    if (kind % 5 != 4) {
      const bool hot = kind % 2 == 0;
      out.matcher = constraint.matcher(
          {.default_temperature = hot ? std::optional(0.5) : std::nullopt});
    }
    if (kind % 5 <= 1 || kind % 5 == 4) {
      out.parser.emplace(format, StreamOptions{.prefix = "",
                                               .vocabulary = &tokens,
                                               .stream_calls = true});
    } else if (kind % 5 == 2) {
      out.tag_parser.emplace(
          program, StreamOptions{.vocabulary = &tokens, .stream_calls = true});
    }
    return out;
  }
};

const Server& server() {
  static const Server* one = new Server();
  return *one;
}

TokenId draw(std::span<const std::int32_t> mask, std::mt19937& random) {
  std::vector<TokenId> allowed;
  for (TokenId id = 0; id < mask.size() * 32; ++id) {
    if ((static_cast<std::uint32_t>(mask[id / 32]) >> (id % 32) & 1) != 0) {
      allowed.push_back(id);
    }
  }
  return allowed.empty() ? 0 : allowed[random() % allowed.size()];
}

// Requests come and go; some steps have several tokens, one that is refused, a
// draft tree, or no mask.
void run_schedule(unsigned threads, std::uint32_t seed) {
  SCOPED_TRACE(::testing::Message() << threads << " threads, seed " << seed);
  const Server& host = server();
  std::mt19937 random(seed);
  Batch batch({.threads = threads});
  // In two of three runs; in one of them it has too few rows.
  std::optional<MaskTable> table;
  if (seed % 3 != 0) table.emplace(host.compiler, seed % 3 == 1 ? 4 : 1024);
  // Each request twice: in the batch and alone.
  std::map<std::uint32_t, std::unique_ptr<std::pair<Request, Request>>>
      requests;
  const std::size_t stride = host.words + seed % 3;
  for (int step = 0; step < 40; ++step) {
    while (requests.size() < 40) {
      const std::uint32_t kind = random();
      auto pair = std::make_unique<std::pair<Request, Request>>(
          host.request(kind), host.request(kind));
      const std::uint32_t number = batch.add(pair->first.row());
      ASSERT_TRUE(requests.emplace(number, std::move(pair)).second);
    }
    ASSERT_EQ(batch.size(), requests.size());
    std::vector<BatchInput> inputs;
    std::size_t rows = 0;
    const std::array<std::int64_t, 3> first_child = {1, -1, -1};
    const std::array<std::int64_t, 3> next_sibling = {-1, 2, -1};
    std::vector<std::array<std::int64_t, 3>> drafts(requests.size());
    for (auto& [number, pair] : requests) {
      Request& one = pair->second;
      if (random() % 8 == 0) continue;  // has no part in this step
      BatchInput input = {.row = number, .tokens = one.next};
      if (random() % 8 != 0) {
        input.mask_row = rows;
        rows += 1;
      }
      if (input.mask_row != BatchInput::kNoMask && random() % 4 == 0) {
        std::array<std::int64_t, 3>& tokens = drafts[inputs.size()];
        tokens = {0, static_cast<std::int64_t>(random() % 300),
                  static_cast<std::int64_t>(random() % 300)};
        input.first_child = first_child;
        input.next_sibling = next_sibling;
        input.draft_tokens = tokens;
        rows += 2;
      }
      inputs.push_back(input);
    }
    std::shuffle(inputs.begin(), inputs.end(), random);
    std::vector<std::int32_t> masks(rows * stride, 7);
    std::vector<BatchOutput> outputs(inputs.size());
    std::vector<float> heat(rows, 7);
    ASSERT_FALSE(batch.step(inputs, masks, stride, outputs,
                            table ? &*table : nullptr, heat));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const BatchInput& input = inputs[i];
      Request& one = requests.at(input.row)->second;
      std::optional<Matcher>& matcher = one.matcher;
      const std::size_t accepted =
          matcher ? matcher->accept_tokens(input.tokens) : input.tokens.size();
      ASSERT_EQ(outputs[i].accepted, accepted);
      ASSERT_EQ(outputs[i].terminated, matcher && matcher->is_terminated());
      ASSERT_EQ(written(outputs[i].events),
                one.feed(input.tokens.first(accepted)));
      one.next.clear();
      std::vector<std::int32_t> mask(host.words, -1);
      bool constrained =
          matcher && matcher->fill_bitmask(mask) == MaskFill::kConstrains;
      if (input.mask_row == BatchInput::kNoMask) {
        ASSERT_FALSE(outputs[i].constrained);
        ASSERT_EQ(outputs[i].filled, 0U);
      } else {
        const std::size_t nodes =
            std::max<std::size_t>(input.draft_tokens.size(), 1);
        ASSERT_EQ(outputs[i].filled, nodes);
        std::vector<float> wanted(nodes, NAN);
        if (matcher && nodes == 1) {
          wanted[0] = static_cast<float>(matcher->temperature().value_or(NAN));
        } else if (matcher) {
          std::vector<std::int32_t> tree(nodes * host.words);
          ASSERT_EQ(
              matcher->fill_tree(first_child, next_sibling, input.draft_tokens,
                                 tree, {.temperatures = wanted}),
              nodes);
        }
        for (std::size_t node = 0; node < nodes; ++node) {
          const float got = heat[input.mask_row + node];
          ASSERT_TRUE(got == wanted[node] ||
                      (std::isnan(got) && std::isnan(wanted[node])))
              << got << " " << wanted[node];
        }
        const std::int32_t id = outputs[i].mask_id;
        const auto row = [&](std::size_t node) {
          if (id == MaskTable::kNothingExcluded) {
            return std::vector<std::int32_t>(host.words, -1);
          }
          if (id >= 0) {
            const auto at = static_cast<std::size_t>(id);
            const auto listed = table->rows(at, at + 1);
            return std::vector<std::int32_t>(listed.begin(), listed.end());
          }
          const auto at = masks.begin() + static_cast<std::ptrdiff_t>(
                                              (input.mask_row + node) * stride);
          return std::vector<std::int32_t>(
              at, at + static_cast<std::ptrdiff_t>(host.words));
        };
        if (!input.draft_tokens.empty() && matcher) {
          std::vector<std::int32_t> tree(3 * host.words);
          constrained = matcher->fill_tree(first_child, next_sibling,
                                           input.draft_tokens, tree);
          for (std::size_t node = 0; node < 3; ++node) {
            const auto at =
                tree.begin() + static_cast<std::ptrdiff_t>(node * host.words);
            ASSERT_EQ(row(node),
                      std::vector<std::int32_t>(
                          at, at + static_cast<std::ptrdiff_t>(host.words)));
          }
        } else if (id != MaskTable::kNothingExcluded || !matcher) {
          ASSERT_EQ(row(0), mask);
        }
        if (!table || !input.draft_tokens.empty()) {
          ASSERT_EQ(id, MaskTable::kNotListed);
        } else if (seed % 3 == 2) {
          ASSERT_NE(id, MaskTable::kNotListed);
        }
        ASSERT_EQ(outputs[i].constrained, constrained);
      }
      if (outputs[i].terminated || random() % 30 == 0) {
        ASSERT_TRUE(batch.remove(input.row));
        ASSERT_EQ(requests.at(input.row)->first.message(), one.message());
        requests.erase(input.row);
        continue;
      }
      one.next.push_back(draw(mask, random));
      if (matcher && random() % 4 == 0) {
        Matcher ahead = matcher->copy();
        ahead.accept_token(one.next[0]);
        ahead.fill_bitmask(mask);
        one.next.push_back(draw(mask, random));
        if (random() % 2 == 0) one.next.push_back(random() % 300);
      }
    }
  }
}

TEST(Batch, DoesWhatEachRowDoesAlone) {
  for (const unsigned threads : {1U, 2U, 4U}) {
    for (std::uint32_t seed = 0; seed < testing::cases(20); ++seed) {
      run_schedule(threads, seed);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Batch, GivesTheTemperatureOfEachMask) {
  const Server& host = server();
  const Constraint constraint = *host.compiler.compile_ebnf(
      "root ::= \"a\" v \"z\"\nv[temperature=0.5] ::= \"x\"+");
  Matcher hot = constraint.matcher({.default_temperature = 2});
  Matcher plain = constraint.matcher();
  Batch batch;
  const std::uint32_t rows[] = {batch.add({.matcher = &hot}),
                                batch.add({.matcher = &plain}), batch.add({})};
  MaskTable table(host.compiler);
  const std::vector<TokenId> a = {'a'};
  const std::array<std::int64_t, 3> child = {1, 2, -1};
  const std::array<std::int64_t, 3> sibling = {-1, -1, -1};
  const std::array<std::int64_t, 3> draft = {'a', 'x', 'z'};
  for (MaskTable* const one : {static_cast<MaskTable*>(nullptr), &table}) {
    std::vector<std::int32_t> masks(8 * host.words);
    std::vector<float> heat(8, 7);
    std::vector<BatchOutput> outputs(3);
    const std::array<BatchInput, 3> inputs = {
        BatchInput{.row = rows[0], .tokens = a, .mask_row = 6},
        BatchInput{.row = rows[1],
                   .tokens = a,
                   .mask_row = 1,
                   .first_child = child,
                   .next_sibling = sibling,
                   .draft_tokens = draft},
        BatchInput{.row = rows[2], .mask_row = 0}};
    ASSERT_FALSE(batch.step(inputs, masks, host.words, outputs, one, heat));
    EXPECT_EQ(heat[6], 0.5F);
    EXPECT_EQ(heat[1], 0.5F);
    EXPECT_EQ(heat[2], 0.5F);
    EXPECT_TRUE(std::isnan(heat[3]) && std::isnan(heat[0]));
    EXPECT_TRUE(heat[4] == 7 && heat[5] == 7 && heat[7] == 7);
    EXPECT_EQ(outputs[1].filled, 3U);
    EXPECT_TRUE(batch.step(inputs, masks, host.words, outputs, one,
                           std::span(heat).first(7)));
    hot.reset();
    plain.reset();
  }
}

TEST(Batch, ATreeMayTakeOnlySoLong) {
  const Server& host = server();
  Matcher matcher = host.compiler.compile_ebnf("root ::= \"a\"*")->matcher();
  Batch batch({.threads = 1});
  const std::uint32_t row = batch.add({.matcher = &matcher});
  std::vector<std::int64_t> child(20'000), sibling(child.size(), -1),
      draft(child.size(), 'a');
  for (std::size_t i = 0; i < child.size(); ++i) {
    child[i] = i + 1 < child.size() ? static_cast<std::int64_t>(i + 1) : -1;
  }
  BatchInput input = {.row = row,
                      .mask_row = 0,
                      .first_child = child,
                      .next_sibling = sibling,
                      .draft_tokens = draft,
                      .time_limit = std::chrono::nanoseconds(1)};
  std::vector<std::int32_t> masks(child.size() * host.words, 7);
  std::vector<BatchOutput> outputs(1);
  ASSERT_FALSE(batch.step({&input, 1}, masks, host.words, outputs));
  EXPECT_GE(outputs[0].filled, 1U);
  EXPECT_LT(outputs[0].filled, child.size());
  EXPECT_EQ(masks.back(), 7);
  input.time_limit = {};
  ASSERT_FALSE(batch.step({&input, 1}, masks, host.words, outputs));
  EXPECT_EQ(outputs[0].filled, child.size());
}

TEST(MaskTable, ARowIsTheMaskAndStays) {
  const Server& host = server();
  MaskTable table(host.compiler);
  EXPECT_EQ(table.mask_words(), host.words);
  EXPECT_EQ(table.size(), 0U);
  std::mt19937 random(1);
  std::map<std::vector<std::int32_t>, std::int32_t> ids;
  for (int text = 0; text < 30; ++text) {
    // Some with stop tokens of their own.
    const std::vector<TokenId> stops = {static_cast<TokenId>('a' + text % 3)};
    Matcher matcher = text % 2 == 0
                          ? host.constraint.matcher()
                          : host.constraint.matcher({.stop_ids = stops});
    std::vector<std::int32_t> mask(host.words);
    for (int step = 0; step < 60; ++step) {
      const bool excludes = matcher.fill_bitmask(mask) == MaskFill::kConstrains;
      const std::int32_t id = table.id_of(matcher);
      if (matcher.error()) {  // no token writes what has to come
        ASSERT_EQ(id, MaskTable::kNotListed);
        break;
      }
      ASSERT_EQ(id == MaskTable::kNothingExcluded, !excludes);
      if (!excludes) break;
      // Equal masks have one row, and a row never changes.
      ASSERT_EQ(ids.emplace(mask, id).first->second, id);
      const auto at = static_cast<std::size_t>(id);
      const auto row = table.rows(at, at + 1);
      ASSERT_EQ(std::vector<std::int32_t>(row.begin(), row.end()), mask);
      matcher.accept_token(draw(mask, random));
    }
  }
  EXPECT_EQ(table.size(), ids.size());
  EXPECT_GT(table.size(), 10U);
  EXPECT_TRUE(table.rows(1, table.size() + 1).empty());
  EXPECT_TRUE(table.rows(2, 1).empty());
  table.clear();
  EXPECT_EQ(table.size(), 0U);
  EXPECT_EQ(table.version(), 1U);
  Matcher matcher = host.constraint.matcher();
  EXPECT_EQ(table.id_of(matcher), 0);
}

TEST(MaskTable, WhatHasNoRow) {
  const Server& host = server();
  MaskTable table(host.compiler, 1);
  Matcher matcher = host.constraint.matcher();
  EXPECT_EQ(table.id_of(matcher), 0);
  ASSERT_TRUE(matcher.accept_bytes("<tool_call>"));
  EXPECT_EQ(table.id_of(matcher), MaskTable::kNotListed);  // full
  matcher.reset();
  EXPECT_EQ(table.id_of(matcher), 0);
  const Compiler other = *Compiler::create(host.tokens);
  Matcher stranger = other.compile_structural_tag(host.tag)->matcher();
  EXPECT_EQ(table.id_of(stranger), MaskTable::kNotListed);
  // Masks that nothing keeps.
  const Compiler small = *Compiler::create(host.tokens, {.cache_bytes = 0});
  MaskTable uncached(small);
  Matcher plain = small.compile_structural_tag(host.tag)->matcher();
  const std::int32_t id = uncached.id_of(plain);
  std::vector<std::int32_t> mask(host.words);
  plain.fill_bitmask(mask);
  if (id != MaskTable::kNotListed) {
    const auto row = uncached.rows(0, 1);
    EXPECT_EQ(std::vector<std::int32_t>(row.begin(), row.end()), mask);
  }
}

TEST(Batch, ANumberIsFreeAgainAfterItsRowIsRemoved) {
  Batch batch;
  EXPECT_EQ(batch.add({}), 0U);
  EXPECT_EQ(batch.add({}), 1U);
  EXPECT_TRUE(batch.remove(0));
  EXPECT_FALSE(batch.remove(0));
  EXPECT_EQ(batch.size(), 1U);
  EXPECT_EQ(batch.add({}), 0U);
}

TEST(Batch, AWrongStepDoesNothingAndSaysWhy) {
  const Server& host = server();
  Batch batch({.threads = 1});
  Request first = host.request(0);
  Request second = host.request(1);
  const std::uint32_t row = batch.add(first.row());
  const std::uint32_t other = batch.add(second.row());
  std::vector<std::int32_t> masks(2 * host.words, 7);
  const std::vector<std::int32_t> before = masks;
  std::vector<BatchOutput> outputs(2);
  const std::vector<TokenId> tokens = {'a'};
  const std::array<std::int64_t, 2> two = {1, -1};
  const std::array<std::int64_t, 2> none = {-1, -1};
  const std::array<std::int64_t, 2> loop = {0, 0};
  const auto why = [&](std::vector<BatchInput> inputs, std::size_t stride,
                       std::size_t results = 2) {
    const auto error =
        batch.step(inputs, masks, stride, std::span(outputs).first(results));
    EXPECT_EQ(masks, before);
    EXPECT_EQ(first.matcher->steps(), 0U);
    return error ? error->to_string() : "no error";
  };
  const BatchInput good = {.row = row, .tokens = tokens, .mask_row = 0};
  const std::string at = "usage: Input 1 (row ";
  EXPECT_EQ(why({good, {.row = 9}}, host.words),
            at + "9): the batch has no such row.");
  EXPECT_EQ(why({good, good}, host.words), at + "0): the row is listed twice.");
  EXPECT_EQ(why({good, {.row = other, .mask_row = 2}}, host.words),
            at + "1): it needs 1 rows of the buffer from row 2 on, and there "
                 "are 2.");
  EXPECT_EQ(why({good, {.row = other, .mask_row = 0}}, host.words),
            "usage: Row 0 of the buffer receives two masks; a draft tree takes "
            "as many rows as it has nodes.");
  const std::string words = std::to_string(host.words);
  EXPECT_EQ(why({good}, host.words - 1),
            "usage: Input 0 (row 0): a mask has " + words +
                " words, and the stride is " + std::to_string(host.words - 1) +
                ".");
  EXPECT_NE(why({good}, 0), "no error");
  EXPECT_EQ(why({good}, host.words, 0),
            "usage: There are 1 inputs and 0 outputs; each input has one.");
  // Trees: of unequal lengths, beyond the buffer, with links that are no tree,
  // with a mask or without.
  const auto tree = [&](std::span<const std::int64_t> child,
                        std::span<const std::int64_t> sibling,
                        std::size_t mask_row) {
    return why({good,
                {.row = other,
                 .tokens = tokens,
                 .mask_row = mask_row,
                 .first_child = child,
                 .next_sibling = sibling,
                 .draft_tokens = two}},
               host.words);
  };
  EXPECT_EQ(why({good, {.row = other, .mask_row = 1, .first_child = two}},
                host.words),
            at + "1): A draft tree has a first child, a next sibling and a "
                 "token for each node; there are 2 children, 0 siblings and 0 "
                 "tokens.");
  EXPECT_EQ(tree(two, none, 1),
            at + "1): it needs 2 rows of the buffer from row 1 on, and there "
                 "are 2.");
  for (const std::size_t mask_row : {std::size_t{0}, BatchInput::kNoMask}) {
    EXPECT_EQ(tree(loop, none, mask_row),
              at + "1): node 0 of the draft tree is reached twice.");
    EXPECT_EQ(
        tree(none, none, mask_row),
        at + "1): node 1 of the draft tree is not reached from the root.");
  }
  // Parsers: of text, two of them, one that has ended.
  ResponseParser of_text(host.format);
  ResponseParser ended(host.format, {.vocabulary = &host.tokens});
  TagParser tag_parser(host.program, {.vocabulary = &host.tokens});
  ended.finalize();
  const std::uint32_t wrong = batch.add({.parser = &of_text});
  EXPECT_EQ(why({good, {.row = wrong}}, host.words),
            at + "2): its parser was made without a vocabulary, so it reads "
                 "text.");
  batch.remove(wrong);
  batch.add({.parser = &ended});
  EXPECT_EQ(why({good, {.row = wrong}}, host.words),
            "finalized: Input 1 (row 2): its parser is finalized.");
  batch.remove(wrong);
  batch.add({.parser = &ended, .tag_parser = &tag_parser});
  EXPECT_EQ(why({good, {.row = wrong}}, host.words),
            at + "2): the row has two parsers.");
}

TEST(Misuse, OfMasksIsNoAnswer) {
  const Server& host = server();
  Matcher a = host.constraint.matcher();
  Matcher b = a.copy();
  std::vector<std::int32_t> masks(2 * host.words, 7);
  const std::vector<std::int32_t> before = masks;
  EXPECT_EQ(a.fill_bitmask(std::span(masks).first(host.words - 1)),
            MaskFill::kRowTooShort);
  EXPECT_EQ(a.fill_bitmask({}), MaskFill::kRowTooShort);
  const auto why = [&](std::vector<Matcher*> list,
                       std::vector<std::size_t> rows, std::size_t stride) {
    const auto error = fill_bitmasks(list, rows, masks, stride);
    EXPECT_EQ(masks, before);
    return error ? error->to_string() : "no error";
  };
  EXPECT_EQ(why({&a, &b}, {0}, host.words),
            "usage: There are 2 matchers and 1 rows; each matcher has one.");
  EXPECT_EQ(why({&a, &b}, {1, 1}, host.words), "usage: Row 1 is given twice.");
  EXPECT_EQ(
      why({&a, &b}, {0, 2}, host.words),
      "usage: The mask of matcher 1 is row 2, and the buffer has 2 rows.");
  EXPECT_NE(why({&a, &b}, {0, 1}, host.words - 1), "no error");
  EXPECT_NE(why({&a}, {0}, 0), "no error");
  EXPECT_EQ(why({&a, &a}, {0, 1}, host.words),
            "usage: A matcher is listed twice; a text has one next token.");
  EXPECT_TRUE(fill_bitmasks(std::vector<Matcher*>{&a, &b},
                            std::span(masks).first(host.words), host.words));
  EXPECT_EQ(masks, before);
  EXPECT_FALSE(fill_bitmasks(std::vector<Matcher*>{&a, &b}, masks, host.words));
  EXPECT_NE(masks, before);
  EXPECT_EQ(a.fill_bitmask(masks), MaskFill::kConstrains);
  ASSERT_TRUE(a.accept_bytes("Hi."));
  ASSERT_TRUE(a.accept_token(host.stop));
  EXPECT_EQ(a.fill_bitmask(masks), MaskFill::kExcludesNothing);
}

// Text for a parser of ids, ids for a parser of text, and anything after the
// end cause no events, and are told apart from input that causes none.
template <class Parser>
void expect_misuse(Parser of_text, Parser of_ids) {
  const std::vector<TokenId> ids = {'a'};
  EXPECT_FALSE(of_text.reads_tokens());
  EXPECT_TRUE(of_ids.reads_tokens());
  EXPECT_EQ(of_ids.misuse(), nullptr);
  EXPECT_TRUE(of_ids.feed("a").empty());
  ASSERT_NE(of_ids.misuse(), nullptr);
  EXPECT_EQ(of_ids.misuse()->code, ErrorCode::kUsage);
  EXPECT_NE(of_ids.misuse()->message.find("feed_tokens()"), std::string::npos);
  EXPECT_TRUE(of_text.feed_tokens(ids).empty());
  ASSERT_NE(of_text.misuse(), nullptr);
  EXPECT_EQ(of_text.misuse()->code, ErrorCode::kUsage);
  of_text.feed("");
  EXPECT_EQ(of_text.misuse(), nullptr);
  of_ids.feed_tokens({});
  EXPECT_EQ(of_ids.misuse(), nullptr);
  of_text.finalize();
  of_text.finalize();
  EXPECT_EQ(of_text.misuse(), nullptr);
  of_text.feed("a");
  ASSERT_NE(of_text.misuse(), nullptr);
  EXPECT_EQ(of_text.misuse()->code, ErrorCode::kFinalized);
  of_ids.finalize();
  of_ids.feed_tokens(ids);
  ASSERT_NE(of_ids.misuse(), nullptr);
  EXPECT_EQ(of_ids.misuse()->code, ErrorCode::kFinalized);
}

TEST(Misuse, OfParsersIsNoAnswer) {
  const Server& host = server();
  expect_misuse(ResponseParser(host.format),
                ResponseParser(host.format, {.vocabulary = &host.tokens}));
  const CompiledTag tag = *CompiledTag::compile(host.tag);
  expect_misuse(TagParser(tag),
                TagParser(host.program, {.vocabulary = &host.tokens}));
}

}  // namespace
}  // namespace parlance::batch_test
