// A model in llama.cpp calls a tool: the constraint chooses what may come, and
// the parser of the same format reads it while it is written.
//
//   constrained MODEL.gguf [FAMILY [PROMPT]]
//
// FAMILY is a built-in format, by default hermes_qwen2_5; PROMPT is the prompt
// as the model reads it, with its special tokens.
//
// Exit status: 0; 1 when something fails, or the message is not complete.

#include <llama.h>

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "parlance/parlance.h"
#include "sampler.h"

namespace {

constexpr const char* kTools = R"([{
  "type": "function",
  "function": {
    "name": "get_weather",
    "parameters": {
      "type": "object",
      "properties": {
        "city": {"type": "string", "pattern": "^[A-Z][a-z]{1,9}$"},
        "days": {"type": "integer", "minimum": 1, "maximum": 7}
      },
      "required": ["city", "days"],
      "additionalProperties": false
    }
  }
}])";
constexpr const char* kPrompt =
    "<|im_start|>user\nThe weather in Oslo, please.<|im_end|>\n"
    "<|im_start|>assistant\n";
constexpr int kMaxTokens = 200;

struct FreeModel {
  void operator()(llama_model* model) const { llama_model_free(model); }
};
struct FreeContext {
  void operator()(llama_context* context) const { llama_free(context); }
};
struct FreeSampler {
  void operator()(llama_sampler* sampler) const { llama_sampler_free(sampler); }
};

int failed(const std::string& what) {
  std::cerr << "constrained: " << what << "\n";
  return 1;
}

// What may be written: calls of the tools in the format of the family.
parlance::Result<parlance::Constraint> constraint_of(
    const parlance::Format& format, const parlance::Vocabulary& vocabulary) {
  parlance::StructuralTagOptions request;
  request.tools = *parlance::json::parse(kTools);
  request.tool_choice = "required";
  request.parallel_tool_calls = false;
  request.max_white_space = 1;  // small models like line feeds
  const auto tag = format.structural_tag(request);
  if (!tag) return tag.error();
  const auto compiler = parlance::Compiler::create(vocabulary);
  if (!compiler) return compiler.error();
  return compiler->compile_structural_tag(*tag);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return failed("a GGUF file must be named");
  const std::string path = argv[1];
  const std::string family = argc > 2 ? argv[2] : "hermes_qwen2_5";
  const std::string prompt = argc > 3 ? argv[3] : kPrompt;

  const auto format = parlance::Format::built_in(family);
  if (!format) return failed(format.error().to_string());
  const auto vocabulary = parlance::Vocabulary::from_file(path);
  if (!vocabulary) return failed(vocabulary.error().to_string());
  const auto constraint = constraint_of(*format, *vocabulary);
  if (!constraint) return failed(constraint.error().to_string());

  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  llama_backend_init();
  const std::unique_ptr<llama_model, FreeModel> model(
      llama_model_load_from_file(path.c_str(), llama_model_default_params()));
  if (model == nullptr) return failed("llama.cpp cannot load " + path);
  const llama_vocab* words = llama_model_get_vocab(model.get());

  // Of the prompt, special tokens are tokens.
  std::vector<llama_token> ids(prompt.size() + 8);
  const int count = llama_tokenize(
      words, prompt.data(), static_cast<int>(prompt.size()), ids.data(),
      static_cast<int>(ids.size()), /*add_special=*/true,
      /*parse_special=*/true);
  if (count <= 0) return failed("the prompt has no tokens");
  ids.resize(static_cast<std::size_t>(count));

  llama_context_params options = llama_context_default_params();
  options.n_ctx = static_cast<std::uint32_t>(count + kMaxTokens);
  options.n_batch = options.n_ctx;
  const std::unique_ptr<llama_context, FreeContext> context(
      llama_init_from_model(model.get(), options));
  if (context == nullptr) return failed("llama.cpp cannot make a context");

  const std::unique_ptr<llama_sampler, FreeSampler> chain(
      llama_sampler_chain_init(llama_sampler_chain_default_params()));
  llama_sampler* sampler = init_constraint_sampler(*constraint);
  llama_sampler_chain_add(chain.get(), sampler);
  llama_sampler_chain_add(chain.get(), llama_sampler_init_greedy());

  parlance::ResponseParser parser(
      *format, {.prefix = prompt, .vocabulary = &*vocabulary});
  const auto show = [](std::span<const parlance::Event> events) {
    for (const parlance::Event& event : events) {
      std::cout << parlance::to_string(event.kind) << " " << event.field;
      if (!event.text.empty()) {
        std::cout << " " << parlance::json::dump(std::string(event.text));
      }
      std::cout << "\n";
    }
  };

  std::vector<llama_token> next = ids;
  for (int written = 0; written < kMaxTokens; ++written) {
    if (llama_decode(context.get(),
                     llama_batch_get_one(next.data(),
                                         static_cast<int>(next.size()))) != 0) {
      return failed("llama.cpp cannot decode");
    }
    const llama_token token =
        llama_sampler_sample(chain.get(), context.get(), -1);
    const auto id = static_cast<parlance::TokenId>(token);
    show(parser.feed_tokens(std::span(&id, 1)));
    if (llama_vocab_is_eog(words, token)) break;
    next = {token};
  }
  show(parser.finalize());
  std::cout << parlance::json::dump(parser.message().fields, {.indent = 2})
            << "\n";
  llama_backend_free();
  if (constraint_state(sampler) != ConstraintState::kEnded) {
    return failed("the response has not ended");
  }
  return parser.message().complete ? 0 : 1;
}
