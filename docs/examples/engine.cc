// An engine's loop with everything that makes one fast: a vocabulary and
// constraints that are saved and loaded, a batch that is stepped in one call,
// tokens that are certain and need no model, and drafts that are verified.
//
// The models are scripts: each wants to write one text, and its draft model
// guesses the next tokens, sometimes wrongly.

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/batch.h"
#include "parlance/constraint.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"
#include "parlance/tools.h"
#include "parlance/vocabulary.h"

namespace {

using parlance::TokenId;

constexpr TokenId kEnd = 256;
constexpr std::size_t kNodes = 4;  // of a draft tree

template <class T>
T value_of(parlance::Result<T> result) {
  if (!result) {
    std::cerr << result.error().to_string() << "\n";
    std::exit(1);
  }
  return *std::move(result);
}

// A token for each byte, some words, and the markers of Qwen3.
parlance::Vocabulary make_vocabulary() {
  std::vector<parlance::TokenEntry> entries;
  const auto add = [&](std::string bytes, parlance::TokenKind kind) {
    const auto id = static_cast<TokenId>(entries.size());
    entries.push_back({.id = id, .bytes = std::move(bytes), .kind = kind});
  };
  for (int byte = 0; byte < 256; ++byte) {
    add(std::string(1, static_cast<char>(byte)),
        parlance::TokenKind::kOrdinary);
  }
  add("<|im_end|>", parlance::TokenKind::kControl);
  for (const char* marker :
       {"<think>", "</think>", "<tool_call>", "</tool_call>"}) {
    add(marker, parlance::TokenKind::kAdded);
  }
  for (const char* word :
       {"{\"name\": \"", "get", "_weather", "\", \"", "arguments",
        "\": ", "{\"", "city", "Bern", "\"}}"}) {
    add(word, parlance::TokenKind::kOrdinary);
  }
  return value_of(parlance::Vocabulary::from_table(entries, {{&kEnd, 1}}));
}

// The longest token that `text` begins with and that `allows` permits; the end
// of the response where there is none.
template <class Allows>
TokenId longest(const parlance::Vocabulary& vocabulary, std::string_view text,
                const Allows& allows) {
  TokenId best = kEnd;
  std::size_t size = 0;
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    const std::string_view bytes = vocabulary.bytes(id);
    if (id != kEnd && bytes.size() > size && text.starts_with(bytes) &&
        allows(id)) {
      best = id;
      size = bytes.size();
    }
  }
  return best;
}

struct Request {
  std::string_view wish;  // what the model has not written yet
  parlance::Matcher matcher;
  parlance::ResponseParser parser;
  std::vector<TokenId> next = {};  // chosen, and not yet in a step
  std::array<std::int64_t, kNodes> draft = {};
  std::uint32_t row = 0;
  std::size_t steps = 0;
};

// A guess at the next token, a second guess, and one at the token after the
// first: nodes 1, 2 and 3.  Node 0 is the token before them.
constexpr std::array<std::int64_t, kNodes> kFirstChild = {1, 3, -1, -1};
constexpr std::array<std::int64_t, kNodes> kNextSibling = {-1, 2, -1, -1};

}  // namespace

int main() {
  // Once for a model: a file of its tokens and tables, which every process of
  // the server maps.
  const std::string path = "engine.vocabulary";
  value_of(make_vocabulary().save(path));
  const parlance::Vocabulary saved = value_of(parlance::Vocabulary::load(path));

  // The tokenizer's own encoder makes more tokens certain.
  const parlance::Vocabulary vocabulary =
      saved.with_encoder([&saved](std::string_view text) {
        std::vector<TokenId> ids;
        while (!text.empty()) {
          ids.push_back(longest(saved, text, [&](TokenId id) {
            return saved.kind(id) == parlance::TokenKind::kOrdinary;
          }));
          text.remove_prefix(saved.bytes(ids.back()).size());
        }
        return ids;
      });
  const auto compiler = value_of(parlance::Compiler::create(vocabulary));

  // For each list of tools: what a response may be, also as bytes for another
  // process.
  constexpr std::string_view kTools = R"([{"type": "function", "function": {
      "name": "get_weather", "parameters": {"type": "object",
      "properties": {"city": {"type": "string"}}, "required": ["city"]}}}])";
  const auto tools = value_of(parlance::ToolSet::from_json(kTools));
  const auto format = value_of(parlance::Format::built_in("qwen3"));
  parlance::StructuralTagOptions options;
  options.tools = value_of(parlance::json::parse(kTools));
  options.tool_choice = "required";
  options.reasoning = parlance::ReasoningMode::kNone;
  options.prefix = "<think>\n\n</think>\n\n";
  const std::string bytes = value_of(compiler.compile_structural_tag(value_of(
                                         format.structural_tag(options))))
                                .to_bytes();
  const auto constraint = value_of(compiler.constraint_from_bytes(bytes));

  std::vector<std::unique_ptr<Request>> running;
  parlance::Batch batch;
  for (std::string_view wish :
       {"<tool_call>\n{\"name\": \"get_weather\", \"arguments\": "
        "{\"city\": \"Bern\"}}\n</tool_call>",
        "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": "
        "{\"city\": \"Ulm\"}}\n</tool_call>"}) {
    running.push_back(std::make_unique<Request>(Request{
        .wish = wish,
        .matcher = constraint.matcher(),
        .parser =
            parlance::ResponseParser(format, {.prefix = options.prefix,
                                              .tools = &tools,
                                              .vocabulary = &vocabulary})}));
    Request& request = *running.back();
    request.row =
        batch.add({.matcher = &request.matcher, .parser = &request.parser});
  }

  const std::size_t words = compiler.mask_words();
  while (!running.empty()) {
    // One step: the tokens that were chosen go to matchers and parsers, and
    // each node of a draft tree gets the mask of the token after it.
    std::vector<parlance::BatchInput> inputs;
    for (const auto& request : running) {
      // The draft model is right about the token after the first or not at all.
      const TokenId guess =
          longest(vocabulary, request->wish, [](TokenId) { return true; });
      const std::string_view after =
          request->wish.substr(guess == kEnd ? request->wish.size()
                                             : vocabulary.bytes(guess).size());
      request->draft = {0, guess, 'x', longest(vocabulary, after, [](TokenId) {
                          return true;
                        })};
      inputs.push_back({.row = request->row,
                        .tokens = request->next,
                        .mask_row = inputs.size() * kNodes,
                        .first_child = kFirstChild,
                        .next_sibling = kNextSibling,
                        .draft_tokens = request->draft});
    }
    std::vector<std::int32_t> masks(inputs.size() * kNodes * words);
    std::vector<parlance::BatchOutput> outputs(inputs.size());
    if (const auto error = batch.step(inputs, masks, words, outputs)) {
      std::cerr << error->to_string() << "\n";
      return 1;
    }

    for (std::size_t i = 0; i < running.size(); ++i) {
      Request& request = *running[i];
      ++request.steps;
      request.next.clear();
      if (outputs[i].terminated) {
        continue;
      }
      // The model's choice under the mask of each node, as long as a guess was
      // right: all that in one pass of the model.
      std::int64_t node = 0;
      while (node >= 0) {
        const auto mask = masks.begin() + (i * kNodes + node) * words;
        const TokenId choice =
            longest(vocabulary, request.wish,
                    [&](TokenId id) { return mask[id / 32] >> (id % 32) & 1; });
        request.next.push_back(choice);
        if (choice == kEnd) {
          break;
        }
        request.wish.remove_prefix(vocabulary.bytes(choice).size());
        node = kFirstChild[node];
        while (node >= 0 && request.draft[node] != choice) {
          node = kNextSibling[node];
        }
      }
      // What is certain after these tokens needs no pass at all; these models
      // wish for nothing else.
      const std::size_t chosen = request.matcher.accept_tokens(request.next);
      for (TokenId id : request.matcher.forced_tokens()) {
        request.next.push_back(id);
        request.wish.remove_prefix(vocabulary.bytes(id).size());
      }
      request.matcher.rollback(chosen);  // the step accepts them all
    }

    std::erase_if(running, [&](const std::unique_ptr<Request>& request) {
      if (!request->matcher.is_terminated()) {
        return false;
      }
      batch.remove(request->row);
      request->parser.finalize();
      std::cout << parlance::json::dump(request->parser.message().fields)
                << "\n"
                << request->matcher.steps() << " tokens in " << request->steps
                << " steps\n";
      return true;
    });
  }
  std::remove(path.c_str());
}
