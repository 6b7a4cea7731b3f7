// `parlance sample`: texts that a schema lets out, written token by token.
//
// A walk takes a token at random from each mask.  By itself it would hardly
// end: in a string one token in a hundred thousand is the quote.  So every
// second step prefers what closes something, and beyond --tokens every step
// does. Declared properties come in the order of the schema, so that a name
// that is required is not looked for by chance.

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "commands.h"
#include "constrain.h"
#include "io.h"
#include "setup.h"

namespace parlance::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  parlance sample --schema city.json --vocabulary tokenizer.json --seed 1
  parlance sample -s city.json --vocabulary v.vocab --count 5 --compact)";

struct Arguments {
  GrammarArguments grammar;
  std::string vocabulary_file;
  std::uint64_t seed = 0;
  std::size_t count = 1;
  std::size_t tokens = 64;
  std::size_t max_tokens = 4096;
  bool ids = false;
};

class Walk {
 public:
  Walk(const Arguments& arguments, const Compiler& compiler,
       const Constraint& constraint)
      : arguments_(arguments),
        vocabulary_(compiler.vocabulary()),
        row_(compiler.mask_words()),
        constraint_(constraint),
        random_(arguments.seed) {}

  // False: no end within the tokens.
  bool run();
  const std::vector<TokenId>& ids() const { return ids_; }
  std::string text() const;

 private:
  // How much taking the token ends: 3 the text, 2 an object, array or the open
  // string, 1 little (a string begins, rather than an object), 0 nothing.
  int closes(TokenId id) const;
  void take(TokenId id);
  TokenId choose(bool close);
  std::size_t below(std::size_t n) { return random_() % n; }

  const Arguments& arguments_;
  const Vocabulary& vocabulary_;
  std::vector<std::int32_t> row_;
  const Constraint& constraint_;
  std::mt19937_64 random_;  // the same numbers everywhere
  std::vector<TokenId> ids_;
  bool in_string_ = false;
  bool escaped_ = false;
};

int Walk::closes(TokenId id) const {
  if (vocabulary_.kind(id) == TokenKind::kSpecial) return 3;
  const std::string_view bytes = vocabulary_.bytes(id);
  if (bytes == "\"") return in_string_ ? 2 : 1;
  return !in_string_ && (bytes == "}" || bytes == "]") ? 2 : 0;
}

// The text is JSON so far, so that its quotes say where strings are.
void Walk::take(TokenId id) {
  ids_.push_back(id);
  for (const char c : vocabulary_.bytes(id)) {
    if (escaped_) {
      escaped_ = false;
    } else if (c == '"') {
      in_string_ = !in_string_;
    } else {
      escaped_ = in_string_ && c == '\\';
    }
  }
}

TokenId Walk::choose(bool close) {
  std::vector<TokenId> allowed;
  TokenId best = 0;
  int most = 0;
  for (std::size_t word = 0; word < row_.size(); ++word) {
    auto bits = static_cast<std::uint32_t>(row_[word]);
    for (TokenId id = static_cast<TokenId>(word * 32); bits != 0;
         ++id, bits >>= 1) {
      if ((bits & 1) == 0) continue;
      allowed.push_back(id);
      if (const int what = closes(id); what > most) {
        most = what;
        best = id;
      }
    }
  }
  return close && most > 0 ? best : allowed[below(allowed.size())];
}

bool Walk::run() {
  ids_.clear();
  in_string_ = escaped_ = false;
  Matcher matcher = constraint_.matcher();
  while (ids_.size() < arguments_.max_tokens) {
    matcher.fill_bitmask(row_);
    const bool close = ids_.size() >= arguments_.tokens || below(2) == 0;
    const TokenId id = choose(close);
    if (!matcher.accept_token(id)) return false;
    if (matcher.is_terminated()) return true;
    take(id);
  }
  return false;
}

std::string Walk::text() const {
  std::string out;
  for (const TokenId id : ids_) out += vocabulary_.bytes(id);
  return out;
}

int run_sample(Arguments arguments) {
  arguments.grammar.schema_order = true;
  const Grammar grammar = load_grammar(arguments.grammar);
  const Compiler compiler = load_compiler(arguments.vocabulary_file);
  if (compiler.vocabulary().stop_ids().empty()) {
    throw Failure("the vocabulary names no token that ends a text");
  }
  const Constraint constraint = or_fail(compiler.compile(grammar), "", "");
  Walk walk(arguments, compiler, constraint);
  for (std::size_t i = 0; i < arguments.count; ++i) {
    if (!walk.run()) {
      put_error("parlance: sample " + std::to_string(i) +
                " did not end within " + std::to_string(arguments.max_tokens) +
                " tokens, see --max-tokens\n");
      return kDamage;
    }
    if (!arguments.ids) {
      put(walk.text() + "\n");
      continue;
    }
    std::string out = "[";
    for (const TokenId id : walk.ids()) {
      if (out.size() > 1) out += ", ";
      out += std::to_string(id);
    }
    put(out + "]\n");
  }
  return kOk;
}

}  // namespace

void add_sample(CLI::App& app, Run& run) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("sample", "Writes random texts that fit a schema");
  command->footer(kExamples);
  command
      ->add_option("--vocabulary", a->vocabulary_file,
                   "tokenizer.json, tiktoken ranks or a vocabulary file")
      ->type_name("FILE")
      ->required();
  add_grammar(*command, a->grammar);
  command->add_option("--seed", a->seed, "The same seed, the same texts (0)")
      ->type_name("N");
  command->add_option("-n,--count", a->count, "How many texts (1)")
      ->type_name("N");
  command
      ->add_option("--tokens", a->tokens,
                   "Head for the end after so many tokens (64)")
      ->type_name("N");
  command
      ->add_option("--max-tokens", a->max_tokens,
                   "Give up after so many tokens (4096)")
      ->type_name("N");
  command->add_flag("--ids", a->ids, "Token ids as a JSON list");
  command->callback([a, &run] { run = [a] { return run_sample(*a); }; });
}

}  // namespace parlance::cli
