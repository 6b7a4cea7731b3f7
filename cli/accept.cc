// `parlance accept` and `parlance mask`: whether a text fits a grammar, and
// which tokens may come after the beginning of one.

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands.h"
#include "constrain.h"
#include "io.h"
#include "parlance/error.h"
#include "parlance/grammar.h"
#include "setup.h"

namespace parlance::cli {
namespace {

constexpr const char* kAcceptExamples = R"(Examples:
  parlance accept --schema city.json answer.json
  printf '{"city": 3}' | parlance accept --schema city.json
  parlance accept --grammar sums.ebnf sum.txt
  parlance accept --tag tools.tag.json response.txt)";

constexpr const char* kMaskExamples = R"(Examples:
  parlance mask --schema city.json --vocabulary tokenizer.json
  printf '{"ci' | parlance mask -s city.json --vocabulary models/Qwen3-8B --ids -
  parlance mask -g sums.ebnf --vocabulary models/Qwen3-8B --text '1+')";

// How many bytes of the text are shown before the byte that does not fit.
constexpr std::size_t kShown = 40;

std::string refusal(const Style& style, std::string_view name,
                    std::string_view text, const Rejection& rejection) {
  const std::size_t at = rejection.offset;
  const LineColumn place = line_column(text, at);
  std::string out =
      style.paint(Style::kBold, std::string(name) + ":" +
                                    std::to_string(place.line) + ":" +
                                    std::to_string(place.column) + ":") +
      " ";
  out += style.paint(Style::kError, "refused") +
         (at == text.size()
              ? std::string(" at its end, byte ") + std::to_string(at)
              : " at byte " + std::to_string(at));
  out += ": expected " + one_line(rejection.expected) + "\n";
  const std::size_t begin = at < kShown ? 0 : at - kShown;
  const std::string before = one_line(text.substr(begin, at - begin));
  out += "  " + before +
         style.paint(Style::kCaret, one_line(text.substr(at, kShown))) + "\n";
  out += "  " + std::string(columns_of(before), ' ') +
         style.paint(Style::kCaret, "^") + "\n";
  return out;
}

// Fails if a limit was passed before a text was decided.
void fail_if_undecided(const Grammar& grammar, std::string_view text,
                       const std::string& file) {
  GrammarReader reader(grammar);
  reader.feed(text);
  reader.can_end();
  if (!reader.error()) return;
  throw Failure(display_name(file) + ": " + reader.error()->message);
}

// ---- accept

struct AcceptArguments {
  GrammarArguments grammar;
  std::string file;
  bool ids = false;
  bool quiet = false;
};

std::string refused_token(const Style& style, std::string_view name,
                          const std::vector<TokenId>& ids, std::size_t fit,
                          const Constraining& constraining) {
  const Vocabulary& vocabulary = *constraining.vocabulary;
  std::string text;
  for (std::size_t i = 0; i < fit; ++i) text += vocabulary.bytes(ids[i]);
  const std::size_t before = text.size();
  std::string out = style.paint(Style::kBold, std::string(name) + ":") + " " +
                    style.paint(Style::kError, "refused") + " at ";
  if (fit == ids.size()) {
    out += "its end, token " + std::to_string(fit);
  } else {
    out += "token " + std::to_string(fit) + ", id " + std::to_string(ids[fit]);
    if (ids[fit] < vocabulary.size()) {
      const std::string_view bytes = vocabulary.bytes(ids[fit]);
      out += " " + style.paint(Style::kCaret, one_line(bytes));
      text += bytes;
    } else {
      out += ", which the vocabulary does not have";
    }
  }
  out += " (byte " + std::to_string(before) + ")";
  // A text without tokens may be refused earlier, where the grammar names a
  // token.
  const std::optional<Rejection> why = constraining.grammar.explain(text);
  if (why && why->offset >= before) {
    out += ": expected " + one_line(why->expected);
  }
  return out + "\n";
}

// Tokens, perhaps followed by one that ends the text.
int run_accept_ids(const AcceptArguments& arguments) {
  if (!arguments.grammar.vocabulary.given()) {
    throw Failure("--ids needs --vocabulary, which says what the ids mean");
  }
  const Constraining constraining(arguments.grammar);
  const std::string name = display_name(arguments.file);
  const std::vector<TokenId> ids = read_ids(read_all(arguments.file), name);
  const Style style(arguments.grammar.color, 1);
  Matcher matcher = constraining.constraint(constraining.compiler()).matcher();
  const std::size_t fit = matcher.accept_tokens(ids);
  const bool whole = matcher.is_terminated() || matcher.can_end();
  if (fit == ids.size() && whole) {
    if (!arguments.quiet) put(style.paint(Style::kString, "accepted") + "\n");
    return kOk;
  }
  if (!arguments.quiet) {
    put(refused_token(style, name, ids, fit, constraining));
  }
  return kDamage;
}

int run_accept(const AcceptArguments& arguments) {
  if (arguments.ids) return run_accept_ids(arguments);
  const Constraining constraining(arguments.grammar);
  const std::string text = read_all(arguments.file);
  const Style style(arguments.grammar.color, 1);
  const std::optional<Rejection> rejection = constraining.grammar.explain(text);
  if (rejection) fail_if_undecided(constraining.grammar, text, arguments.file);
  if (rejection) {
    if (!arguments.quiet) {
      put(refusal(style, display_name(arguments.file), text, *rejection));
    }
    return kDamage;
  }
  if (!arguments.quiet) put(style.paint(Style::kString, "accepted") + "\n");
  return kOk;
}

// ---- mask

struct MaskArguments {
  GrammarArguments grammar;
  std::string text;
  std::string file;
  std::size_t limit = 20;
  bool ids = false;
};

std::vector<TokenId> allowed_tokens(Matcher& matcher,
                                    const Compiler& compiler) {
  std::vector<std::int32_t> row(compiler.mask_words());
  matcher.fill_bitmask(row);
  std::vector<TokenId> out;
  for (TokenId id = 0; id < compiler.vocabulary().size(); ++id) {
    if ((static_cast<std::uint32_t>(row[id / 32]) >> (id % 32) & 1) != 0) {
      out.push_back(id);
    }
  }
  return out;
}

std::string as_list(const std::vector<TokenId>& ids) {
  std::string out = "[";
  for (const TokenId id : ids) {
    if (out.size() > 1) out += ", ";
    out += std::to_string(id);
  }
  return out + "]\n";
}

int run_mask(const MaskArguments& arguments) {
  const Constraining constraining(arguments.grammar);
  const Grammar& grammar = constraining.grammar;
  const Compiler compiler = constraining.compiler();
  const std::string text =
      arguments.file.empty() ? arguments.text : read_all(arguments.file);
  const Style style(arguments.grammar.color, 1);
  const Constraint constraint = constraining.constraint(compiler);
  Matcher matcher = constraint.matcher();
  if (!text.empty() && !matcher.accept_bytes(text)) {
    const std::string name =
        arguments.file.empty() ? "text" : display_name(arguments.file);
    const std::optional<Rejection> rejection = grammar.explain(text);
    if (rejection && rejection->offset < text.size()) {
      put(refusal(style, name, text, *rejection));
    } else {
      // The bytes fit, but not as tokens.
      put(name + ": with " + constraining.vocabulary_name +
          " it does not fit, because it spells a marker that is a token, "
          "where that token may not come\n");
    }
    return kDamage;
  }
  const std::vector<TokenId> ids = allowed_tokens(matcher, compiler);
  if (matcher.error()) {
    throw Failure(constraining.vocabulary_name + ": " +
                  matcher.error()->message);
  }
  if (arguments.ids) {
    put(as_list(ids));
    return kOk;
  }
  const Vocabulary& vocabulary = compiler.vocabulary();
  std::string out = std::to_string(ids.size()) + " of " +
                    std::to_string(vocabulary.size()) + " tokens allowed" +
                    (matcher.can_end() ? ", and the end" : "") + "\n";
  for (std::size_t i = 0; i < ids.size() && i < arguments.limit; ++i) {
    out += pad_left(std::to_string(ids[i]), 8) + "  " +
           style.paint(Style::kString, one_line(vocabulary.bytes(ids[i]))) +
           "\n";
  }
  if (ids.size() > arguments.limit) {
    out += "     ...  " + std::to_string(ids.size() - arguments.limit) +
           " more, see --limit and --ids\n";
  }
  put(out);
  return kOk;
}

}  // namespace

void add_accept(Command& app, Run& run) {
  auto a = std::make_shared<AcceptArguments>();
  Command* command = app.add_subcommand(
      "accept",
      "Checks whether a text fits a grammar, and shows where it does not");
  command->footer(kAcceptExamples);
  command
      ->add_option("FILE", a->file,
                   "The text (every byte counts), or with --ids its tokens; "
                   "default: standard input")
      ->type_name("");
  add_grammar(*command, a->grammar, false);
  command->add_flag("--ids", a->ids,
                    "The text is token ids: numbers between white space, or a "
                    "JSON list; needs --vocabulary");
  command->add_flag("-q,--quiet", a->quiet,
                    "Print nothing, only set the exit status");
  command->callback([a, &run] { run = [a] { return run_accept(*a); }; });
}

void add_mask(Command& app, Run& run) {
  auto a = std::make_shared<MaskArguments>();
  Command* command =
      app.add_subcommand("mask", "Lists the tokens that may come after a text");
  command->footer(kMaskExamples);
  command
      ->add_option("FILE", a->file,
                   "The text so far; - is standard input; default: empty")
      ->type_name("");
  command->add_option("--text", a->text, "The text so far")
      ->type_name("TEXT")
      ->excludes(command->option("FILE"));
  add_grammar(*command, a->grammar, true);
  command->add_option("--limit", a->limit, "List at most this many tokens (20)")
      ->type_name("N");
  command->add_flag("--ids", a->ids,
                    "Write only the ids of all allowed tokens, as a JSON list");
  command->callback([a, &run] { run = [a] { return run_mask(*a); }; });
}

}  // namespace parlance::cli
