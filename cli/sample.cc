// `parlance sample`: texts that a grammar generates, written token by token.
//
// A random walk takes a token from each mask.  A uniform walk would hardly ever
// end: in a string one token in a hundred thousand is the quote, and free text
// that continues until "</think>" hardly ever spells it by chance.  So every
// second step prefers a token that closes something, and after --tokens every
// step does.  For JSON the closing tokens are known; for grammars they are
// taken from the literal texts in them: the ends of tags, the words in quotes.
// Texts that begin something are also written now and then, so that tools are
// called.
//
// With a JSON Schema, declared properties come in the order of the schema, so
// that the walk need not find a required name by chance.

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "commands.h"
#include "constrain.h"
#include "io.h"
#include "parlance/structural_tag.h"
#include "setup.h"

namespace parlance::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  parlance sample --schema city.json --vocabulary tokenizer.json --seed 1
  parlance sample -s city.json --vocabulary models/Qwen3-8B --count 5 --compact
  parlance tag --style qwen_3 --tools tools.json > tools.tag.json
  parlance sample --tag tools.tag.json --vocabulary tokenizer.json)";

struct Arguments {
  GrammarArguments grammar;
  std::uint64_t seed = 0;
  std::size_t count = 1;
  std::size_t tokens = 64;
  std::size_t max_tokens = 4096;
  bool ids = false;
};

// ---- Texts that a grammar is likely to want

bool is_space(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// The text that a style of parameters writes after each value.
std::string_view end_of_style(std::string_view style) {
  if (style == "qwen_xml") return "</parameter>";
  if (style == "minimax_xml") return "</parameter>";
  if (style == "deepseek_xml") return "</｜DSML｜parameter>";
  if (style == "deepseek_v4_1_xml") return "</｜DSML｜ parameter>";
  if (style == "glm_xml") return "</arg_value>";
  if (style == "kimi_k3_xml") return "<|close|>argument<|sep|>";
  if (style == "cohere_xml") return "</cofl:value>";
  if (style == "minimax_m3_xml") return "]<]minimax[>[</";
  return "";
}

// All texts of a tag, except those in its schemas and patterns.
void add_texts(const json::Value& tag, std::vector<std::string>& out) {
  std::vector<const json::Value*> left = {&tag};
  while (!left.empty()) {
    const json::Value& value = *left.back();
    left.pop_back();
    for (const json::Value& item : value.items()) left.push_back(&item);
    for (const json::Member& member : value.members()) {
      if (member.key == "type" || member.key == "json_schema" ||
          member.key == "pattern" || member.key == "grammar" ||
          member.key == "field" || member.key == "tool") {
        continue;
      }
      if (member.key == "style") {
        out.emplace_back(end_of_style(member.value.as_string()));
      } else {
        left.push_back(&member.value);
      }
    }
    if (value.is_string()) out.emplace_back(value.as_string());
  }
}

// Adds the texts in double quotes.
void add_quoted(std::string_view text, std::vector<std::string>& out) {
  for (std::size_t at = text.find('"'); at != std::string_view::npos;) {
    const std::size_t end = text.find_first_of("\"\n", at + 1);
    if (end == std::string_view::npos) return;
    if (text[end] == '"') {
      out.emplace_back(text.substr(at + 1, end - at - 1));
      at = text.find('"', end + 1);
    } else {
      at = text.find('"', end);
    }
  }
}

std::vector<std::string> texts_of(const Source& source) {
  std::vector<std::string> out;
  if (source.kind == SourceKind::kTag) {
    const Result<StructuralTag> tag = StructuralTag::from_json(source.text);
    if (tag) add_texts(tag->to_json(), out);
  } else if (source.kind != SourceKind::kSchema) {
    add_quoted(source.text, out);
  }
  std::erase_if(out, is_space);
  return out;
}

// ---- The walk

class Walk {
 public:
  Walk(const Arguments& arguments, const Compiler& compiler,
       const Constraint& constraint, std::vector<std::string> texts)
      : arguments_(arguments),
        vocabulary_(compiler.vocabulary()),
        row_(compiler.mask_words()),
        constraint_(constraint),
        texts_(std::move(texts)),
        random_(arguments.seed) {}

  // False: the text did not end within the allowed number of tokens.
  bool run();
  // Then whether it was because no token could continue it.
  bool stuck() const { return stuck_; }
  // Why there is no mask, if that is why.
  const std::optional<Error>& error() const { return error_; }
  const std::vector<TokenId>& ids() const { return ids_; }
  std::string text() const;

 private:
  enum class Place { kString, kFree, kOther };

  // A JSON string cannot contain a line break; other free text can.
  static Place place_of(const Matcher& matcher);
  // How much taking the token ends: 3 the text, 2 a bracket or the open string,
  // 1 little (a string begins, rather than an object), 0 nothing.
  int closes(TokenId id, Place place) const;
  // Null if no token is allowed.
  std::optional<TokenId> choose(const Matcher& matcher, bool close);
  // The rest of one of the texts, if one fits.
  bool begin_text(const Matcher& matcher);
  // The longest allowed token that `pending_` begins with.
  std::optional<TokenId> next_pending(const std::vector<TokenId>& allowed);
  std::size_t below(std::size_t n) { return random_() % n; }

  const Arguments& arguments_;
  const Vocabulary& vocabulary_;
  std::vector<std::int32_t> row_;
  const Constraint& constraint_;
  std::vector<std::string> texts_;
  std::mt19937_64 random_;  // the same numbers everywhere
  std::vector<TokenId> ids_;
  bool stuck_ = false;
  std::optional<Error> error_;
  std::string_view pending_;  // of a text that is being written
};

Walk::Place Walk::place_of(const Matcher& matcher) {
  Matcher probe = matcher.copy();
  if (!probe.accept_bytes("\xC3\xA9")) return Place::kOther;
  return probe.accept_bytes("\n") ? Place::kFree : Place::kString;
}

int Walk::closes(TokenId id, Place place) const {
  for (const TokenId stop : vocabulary_.stop_ids()) {
    if (id == stop) return 3;
  }
  const std::string_view bytes = vocabulary_.bytes(id);
  if (bytes == "\"") return place == Place::kString ? 2 : 1;
  const bool bracket = bytes == "}" || bytes == "]" || bytes == ")";
  return place == Place::kOther && bracket ? 2 : 0;
}

bool Walk::begin_text(const Matcher& matcher) {
  if (texts_.empty()) return false;
  const std::size_t first = below(texts_.size());
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const std::string& text = texts_[(first + i) % texts_.size()];
    if (matcher.copy().accept_bytes(text)) {
      pending_ = text;
      return true;
    }
  }
  return false;
}

std::optional<TokenId> Walk::next_pending(const std::vector<TokenId>& allowed) {
  std::optional<TokenId> best;
  std::size_t longest = 0;
  for (const TokenId id : allowed) {
    const std::string_view bytes = vocabulary_.bytes(id);
    if (bytes.size() > longest && pending_.starts_with(bytes)) {
      longest = bytes.size();
      best = id;
    }
  }
  pending_.remove_prefix(longest);
  if (!best) pending_ = {};
  return best;
}

std::optional<TokenId> Walk::choose(const Matcher& matcher, bool close) {
  std::vector<TokenId> allowed;
  for (std::size_t word = 0; word < row_.size(); ++word) {
    auto bits = static_cast<std::uint32_t>(row_[word]);
    for (auto id = static_cast<TokenId>(word * 32); bits != 0;
         ++id, bits >>= 1) {
      if ((bits & 1) != 0) allowed.push_back(id);
    }
  }
  if (allowed.empty()) return std::nullopt;
  if (pending_.empty() && !close && below(8) == 0 &&
      place_of(matcher) == Place::kFree) {
    begin_text(matcher);
  }
  if (pending_.empty() && close) {
    const Place place = place_of(matcher);
    TokenId best = 0;
    int most = 0;
    for (const TokenId id : allowed) {
      if (const int what = closes(id, place); what > most) {
        most = what;
        best = id;
      }
    }
    // In free text a quote closes nothing.
    if (most > (place == Place::kFree ? 1 : 0)) return best;
    if (place != Place::kString) begin_text(matcher);
  }
  if (!pending_.empty()) {
    if (const auto next = next_pending(allowed)) return *next;
  }
  // Most tokens that may come between two parts are white space.
  std::vector<TokenId> others;
  for (const TokenId id : allowed) {
    if (!is_space(vocabulary_.bytes(id))) others.push_back(id);
  }
  const bool space = others.empty() || below(8) == 0;
  const std::vector<TokenId>& from = space ? allowed : others;
  return from[below(from.size())];
}

bool Walk::run() {
  ids_.clear();
  pending_ = {};
  Matcher matcher = constraint_.matcher();
  while (ids_.size() < arguments_.max_tokens) {
    matcher.fill_bitmask(row_);
    error_ = matcher.error();
    if (error_) {
      stuck_ = true;
      return false;
    }
    const bool close = ids_.size() >= arguments_.tokens || below(2) == 0;
    const std::optional<TokenId> id = choose(matcher, close);
    if (!id || !matcher.accept_token(*id)) {
      stuck_ = true;
      return false;
    }
    if (matcher.is_terminated()) return true;
    ids_.push_back(*id);
  }
  return false;
}

std::string Walk::text() const {
  std::string out;
  for (const TokenId id : ids_) out += vocabulary_.bytes(id);
  return out;
}

// Why no token may come after `text`.
std::string describe_dead_end(const Constraining& constraining,
                              const std::string& text) {
  constexpr std::size_t kShown = 60;
  const std::size_t begin = text.size() < kShown ? 0 : text.size() - kShown;
  std::string out = constraining.vocabulary_name +
                    " has no token that may come after \"" +
                    one_line(std::string_view(text).substr(begin)) + "\"";
  const std::optional<Rejection> why = constraining.grammar.explain(text);
  if (why) out += ", where the grammar expects " + one_line(why->expected);
  return out;
}

int run_sample(Arguments arguments) {
  const Constraining constraining(arguments.grammar, true);
  const Compiler compiler = constraining.compiler();
  if (compiler.vocabulary().stop_ids().empty()) {
    throw Failure("the vocabulary has no stop token; give one with --stop");
  }
  const Constraint constraint = constraining.constraint(compiler);
  Walk walk(arguments, compiler, constraint, texts_of(constraining.source));
  for (std::size_t i = 0; i < arguments.count; ++i) {
    if (!walk.run()) {
      if (walk.stuck()) {
        const bool too_large =
            walk.error() && walk.error()->code == ErrorCode::kTooLarge;
        throw Failure(too_large ? walk.error()->message
                                : describe_dead_end(constraining, walk.text()));
      }
      put_error("parlance: sample " + std::to_string(i) +
                " did not end within " + std::to_string(arguments.max_tokens) +
                " tokens, see --max-tokens\n");
      return kDamage;
    }
    if (!arguments.ids) {
      put_bytes(walk.text() + "\n");
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

void add_sample(Command& app, Run& run) {
  auto a = std::make_shared<Arguments>();
  Command* command =
      app.add_subcommand("sample", "Writes random texts that fit a grammar");
  command->footer(kExamples);
  add_grammar(*command, a->grammar, true);
  command
      ->add_option("--seed", a->seed, "The same seed gives the same texts (0)")
      ->type_name("N");
  command->add_option("-n,--count", a->count, "The number of texts (1)")
      ->type_name("N");
  command
      ->add_option("--tokens", a->tokens,
                   "Steer towards the end after this many tokens (64)")
      ->type_name("N");
  command
      ->add_option("--max-tokens", a->max_tokens,
                   "Give up after this many tokens (4096)")
      ->type_name("N");
  command->add_flag("--ids", a->ids, "Write token ids as a JSON list");
  command->callback([a, &run] { run = [a] { return run_sample(*a); }; });
}

}  // namespace parlance::cli
