// Any text as a JSON Schema, and any text as what a model writes under it.  The
// first byte chooses options; up to a zero byte comes the schema, then the
// text.
//
// A schema is read, or refused with a reason.  What is accepted is JSON, and
// valid; explain() agrees with accepts(); every beginning of what is accepted
// may go on; and the masks of a small vocabulary allow just the tokens that
// are accepted.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/constraint.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/vocabulary.h"
#include "schema/document.h"
#include "schema/validate.h"

namespace {

using namespace parlance;

void require(bool holds) {
  if (!holds) std::abort();
}

constexpr std::size_t kMaxSchema = 4096;
constexpr std::size_t kMaxText = 256;

JsonSchemaOptions options_of(std::uint8_t bits) {
  JsonSchemaOptions options;
  options.limits.alternatives = 64;
  options.limits.steps = 20'000;
  options.limits.depth = 40;
  options.layout.exact = (bits & 1) != 0;
  if ((bits & 2) != 0) options.layout.indent = 1;
  if ((bits & 4) != 0) options.layout.max_white_space = 0;
  if ((bits & 8) != 0) options.key_order = KeyOrder::kSchema;
  options.closed = (bits & 16) != 0;
  options.lenient = (bits & 32) != 0;
  if ((bits & 64) != 0) options.draft = SchemaDraft::k7;
  if ((bits & 128) != 0) options.spelling = JsonSpelling::kAny;
  return options;
}

// The validator's numbers are exact as long as they are short.
bool has_long_number(std::string_view text) {
  std::size_t run = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    run = digit ? run + 1 : text[i] == '.' ? run : 0;
    if (run > 14 || (run > 0 && (text[i] | 0x20) == 'e')) return true;
    if (digit && i + 1 < text.size() && (text[i + 1] | 0x20) == 'e') {
      return true;
    }
  }
  return false;
}

const Compiler& compiler() {
  static const Compiler* const kept = [] {
    std::vector<TokenEntry> entries;
    TokenId id = 0;
    for (int byte = 0; byte < 256; ++byte) {
      entries.push_back(
          {.id = id++, .bytes = std::string(1, static_cast<char>(byte))});
    }
    for (const char* token : {"{\"", "\":", "\", \"", "[]", "},", "true", "12",
                              "  ", "\n ", "ab", "\\u00", "\"}", "\xC3\xA9"}) {
      entries.push_back({.id = id++, .bytes = token});
    }
    entries.push_back({.id = id, .bytes = "</s>", .kind = TokenKind::kControl});
    const std::vector<TokenId> stop = {id};
    return new Compiler(
        *Compiler::create(*Vocabulary::from_table(entries, stop)));
  }();
  return *kept;
}

void check_masks(const Grammar& grammar, std::string_view text) {
  const Result<Constraint> constraint = compiler().compile(grammar);
  if (!constraint) return;
  Matcher matcher = constraint->matcher();
  std::vector<std::int32_t> row(compiler().mask_words());
  const TokenId size = static_cast<TokenId>(compiler().vocabulary().size());
  for (std::size_t i = 0; i <= text.size() && i < 12; ++i) {
    require(matcher.fill_bitmask(row) == MaskFill::kConstrains);
    bool any = false;
    for (TokenId id = 0; id < size; ++id) {
      const bool set =
          (static_cast<std::uint32_t>(row[id / 32]) >> (id % 32) & 1) != 0;
      Matcher other = matcher.copy();
      require(other.accept_token(id) == set);
      any = any || set;
    }
    require(any);
    if (i == text.size() || !matcher.accept_bytes(text.substr(i, 1))) return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  if (size == 0) return 0;
  std::string_view schema(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::string_view text;
  const std::size_t cut = schema.find('\0');
  if (cut != std::string_view::npos) {
    text = schema.substr(cut + 1, kMaxText);
    schema = schema.substr(0, cut);
  }
  if (schema.size() > kMaxSchema) return 0;
  const JsonSchemaOptions options = options_of(data[0]);
  const Result<Grammar> grammar = Grammar::from_json_schema(schema, options);
  if (!grammar) {
    require(!grammar.error().message.empty());
    return 0;
  }
  for (const GrammarNote& note : grammar->report()) {
    require(!note.message.empty());
  }
  const bool accepted = grammar->accepts(text);
  const std::optional<Rejection> why = grammar->explain(text);
  require(accepted == !why);
  require(!why || (why->offset <= text.size() && !why->expected.empty()));
  if (accepted) {
    const Result<json::Value> value = json::parse(text);
    require(value.has_value());
    if (!options.lenient && !has_long_number(text)) {
      schema::LoadOptions load;
      if (options.draft) load.draft = schema::Draft::k7;
      const Result<schema::Document> document =
          schema::load(*json::parse(schema), load);
      require(document && schema::validate(*document, document->root, *value));
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
      const std::optional<Rejection> early =
          grammar->explain(text.substr(0, i));
      require(!early || early->offset == i);
    }
  }
  check_masks(*grammar, text);
  return 0;
}
