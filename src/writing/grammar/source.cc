// Writing and reading the sources of grammars: see source.h.

#include "grammar/source.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/access.h"
#include "base/checksum.h"
#include "grammar/compile.h"
#include "parlance/limit_names.h"
#include "rules/schema_options.h"
#include "structural_tag/structural_tag.h"

namespace parlance {
namespace grammar {
namespace {

// --- Writing -----------------------------------------------------------------

json::Value list(json::Array items) { return json::Value(std::move(items)); }

// As texts, so that any std::size_t is read as it was written.
json::Value limits_of(const GrammarLimits& limits) {
  json::Array out;
  for (const auto& [name, limit] : kGrammarLimits) {
    out.emplace_back(std::to_string(limits.*limit));
  }
  return list(std::move(out));
}

json::Value tokens_of(const LookedUp& tokens) {
  json::Array out;
  for (const auto& [text, ids] : tokens) {
    json::Array one;
    one.emplace_back(text);
    for (const std::uint32_t id : ids) {
      one.emplace_back(static_cast<std::int64_t>(id));
    }
    out.push_back(list(std::move(one)));
  }
  return list(std::move(out));
}

json::Object begin(const char* kind, const GrammarLimits& limits) {
  return json::Object{{"kind", kind}, {"limits", limits_of(limits)}};
}

std::string compact(const json::Value& value) {
  return json::dump(value, {.ascii = false, .compact = true});
}

// A source outlives the call that the caller may cancel, and its argument.
GrammarLimits without_cancel(GrammarLimits limits) {
  limits.cancelled = nullptr;
  limits.cancelled_argument = nullptr;
  return limits;
}

std::shared_ptr<const Source> make(std::function<json::Value()> write,
                                   std::size_t bytes) {
  return std::make_shared<const Source>(
      Source{.write = std::move(write), .bytes = bytes});
}

json::Value source_of(const Grammar& grammar) {
  const auto& source = detail::Access::impl(grammar)->source;
  return source == nullptr ? json::Value() : source->write();
}

}  // namespace

notation::TokensSpelled recorded(const notation::TokensSpelled& find,
                                 LookedUp& tokens) {
  if (!find) return nullptr;
  return [&find, &tokens](std::string_view spelling) {
    std::vector<std::uint32_t> ids = find(spelling);
    tokens.emplace_back(spelling, ids);
    return ids;
  };
}

std::shared_ptr<const Source> schema_source(
    std::shared_ptr<const json::Value> schema,
    const JsonSchemaOptions& options) {
  return make(
      [schema = std::move(schema), options] {
        json::Object out = begin("json_schema", options.limits);
        out.set("text", compact(*schema));
        out.set("options", rules::write_schema_options(options));
        return json::Value(std::move(out));
      },
      0);  // the schema is that of the grammar
}

std::shared_ptr<const Source> ebnf_source(std::string_view text,
                                          const EbnfOptions& options) {
  return make(
      [text = std::string(text), root = options.root_rule,
       limits = without_cancel(options.limits)] {
        json::Object out = begin("ebnf", limits);
        out.set("text", text);
        out.set("root", root);
        return json::Value(std::move(out));
      },
      text.size());
}

std::shared_ptr<const Source> gbnf_source(std::string_view text,
                                          const GbnfOptions& options,
                                          LookedUp tokens) {
  return make(
      [text = std::string(text), root = options.root_rule,
       limits = without_cancel(options.limits),
       knows_tokens = options.tokens_spelled != nullptr,
       tokens = std::move(tokens)] {
        json::Object out = begin("gbnf", limits);
        out.set("text", text);
        out.set("root", root);
        if (knows_tokens) out.set("tokens", tokens_of(tokens));
        return json::Value(std::move(out));
      },
      text.size());
}

std::shared_ptr<const Source> regex_source(std::string_view pattern,
                                           const GrammarLimits& limits) {
  return make(
      [text = std::string(pattern), limits = without_cancel(limits)] {
        json::Object out = begin("regex", limits);
        out.set("text", text);
        return json::Value(std::move(out));
      },
      pattern.size());
}

std::shared_ptr<const Source> lark_source(std::string_view text,
                                          const LarkGrammarOptions& options,
                                          LookedUp tokens) {
  std::size_t bytes = text.size();
  for (const auto& [name, source] : options.sources) bytes += source.size();
  return make(
      [text = std::string(text), grammars = options.grammars,
       sources = options.sources, start = options.start_rule,
       limits = without_cancel(options.limits),
       knows_tokens = options.tokens_spelled != nullptr,
       tokens = std::move(tokens)] {
        json::Object out = begin("lark", limits);
        out.set("text", text);
        if (start != "start") out.set("start", start);
        json::Object parts;
        for (const auto& [name, grammar] : grammars) {
          parts.set(name, source_of(grammar));
        }
        for (const auto& [name, source] : sources) parts.set(name, source);
        out.set("grammars", std::move(parts));
        if (knows_tokens) out.set("tokens", tokens_of(tokens));
        return json::Value(std::move(out));
      },
      bytes);
}

std::shared_ptr<const Source> tag_source(
    const parlance::StructuralTag& tag, std::optional<std::string_view> text,
    const StructuralTagGrammarOptions& options, LookedUp tokens) {
  const structural_tag::TagTree& tree = *detail::Access::impl(tag);
  const std::size_t bytes =
      text ? text->size() : tree.nodes.size() * sizeof(tree.nodes[0]);
  std::function<std::string()> read;
  if (text) {
    read = [text = std::string(*text)] { return text; };
  } else {
    read = [tag] {
      // A tag that was made from a request is written as it was loaded, which
      // is what identifies its nodes (TagTree::source).
      const json::Value& loaded = detail::Access::impl(tag)->source;
      return compact(loaded.is_object() ? loaded : tag.to_json());
    };
  }
  return make(
      [read = std::move(read), limits = without_cancel(options.limits),
       size = options.vocabulary_size,
       knows_tokens = options.find_token != nullptr,
       tokens = std::move(tokens)] {
        json::Object out = begin("structural_tag", limits);
        out.set("text", read());
        out.set("vocabulary_size", static_cast<std::int64_t>(size));
        if (knows_tokens) out.set("tokens", tokens_of(tokens));
        return json::Value(std::move(out));
      },
      bytes);
}

std::shared_ptr<const Source> parts_source(const std::vector<Grammar>& parts,
                                           bool in_sequence,
                                           const GrammarLimits& limits) {
  return make(
      [parts, in_sequence, limits = without_cancel(limits)] {
        json::Object out = begin(in_sequence ? "concat" : "union", limits);
        json::Array sources;
        for (const Grammar& part : parts) sources.push_back(source_of(part));
        out.set("parts", list(std::move(sources)));
        return json::Value(std::move(out));
      },
      parts.size() * sizeof(Grammar));
}

// --- Reading -----------------------------------------------------------------

namespace {

Error malformed() {
  return Error{.code = ErrorCode::kInvalidValue,
               .message = "The saved grammar is malformed."};
}

// Reads one source.  Values of a wrong type read as empty ones.
class Reader {
 public:
  Reader(const json::Value& source, const GrammarLimits& limits)
      : source_(source), at_most_(limits) {
    for (const json::Value& one : member("tokens").items()) {
      if (one.items().empty()) continue;
      tokens_.emplace(one.items()[0].as_string(), &one);
    }
  }

  Result<Grammar> grammar() const;
  Result<GrammarLimits> limits() const;

 private:
  const json::Value& member(std::string_view key) const {
    static const json::Value absent;
    const json::Value* found = source_.find(key);
    return found == nullptr ? absent : *found;
  }
  std::string_view text() const { return member("text").as_string(); }
  // The tokens of a text that the compile looked up.  An unknown text has none.
  std::vector<std::uint32_t> tokens(std::string_view text) const {
    std::vector<std::uint32_t> out;
    const auto found = tokens_.find(text);
    if (found == tokens_.end()) return out;
    const json::Array& ids = found->second->items();
    for (std::size_t i = 1; i < ids.size(); ++i) {
      out.push_back(static_cast<std::uint32_t>(ids[i].as_int()));
    }
    return out;
  }

  // The functions that look tokens up refer to *this; the functions of Grammar
  // that get them do not keep them.
  Result<Grammar> json_schema(GrammarLimits limits) const;
  // Null if the grammar was made without a vocabulary.
  notation::TokensSpelled tokens_spelled() const {
    if (!member("tokens").is_array()) return nullptr;
    return [this](std::string_view spelling) { return tokens(spelling); };
  }

  Result<Grammar> gbnf(GrammarLimits limits) const;
  Result<Grammar> lark(GrammarLimits limits) const;
  Result<Grammar> structural_tag(GrammarLimits limits) const;
  Result<Grammar> parts(GrammarLimits limits, bool in_sequence) const;

  const json::Value& source_;
  const GrammarLimits& at_most_;
  std::map<std::string_view, const json::Value*> tokens_;
};

Result<GrammarLimits> Reader::limits() const {
  GrammarLimits out = at_most_;  // and when to cancel
  const json::Array& numbers = member("limits").items();
  // Grammars from before there was a limit of work have four numbers.
  if (numbers.size() > std::size(kGrammarLimits) || numbers.size() < 4) {
    return malformed();
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::string_view digits = numbers[i].as_string();
    std::size_t limit = 0;
    const auto [end, failed] =
        std::from_chars(digits.data(), digits.data() + digits.size(), limit);
    if (failed != std::errc() || end != digits.data() + digits.size()) {
      return malformed();
    }
    const auto& [name, place] = kGrammarLimits[i];
    if (limit > out.*place) {
      return Error{.code = ErrorCode::kTooLarge,
                   .message = "The saved grammar was made with the limit " +
                              std::string(name) + " = " +
                              std::to_string(limit) + "; limits allow " +
                              std::to_string(out.*place) + "."};
    }
    out.*place = limit;
  }
  return out;
}

Result<Grammar> Reader::json_schema(GrammarLimits limits) const {
  Result<JsonSchemaOptions> options =
      rules::read_schema_options(member("options"));
  if (!options) return std::move(options).error();
  options->limits = limits;
  return Grammar::from_json_schema(text(), *options);
}

Result<Grammar> Reader::lark(GrammarLimits limits) const {
  LarkGrammarOptions options;
  options.limits = limits;
  if (member("start").is_string()) {
    options.start_rule = member("start").as_string();
  }
  for (const json::Member& part : member("grammars").members()) {
    if (part.value.is_string()) {
      options.sources.emplace(part.key, part.value.as_string());
      continue;
    }
    Result<Grammar> made = Reader(part.value, at_most_).grammar();
    if (!made) return made;
    options.grammars.emplace(part.key, *std::move(made));
  }
  options.tokens_spelled = tokens_spelled();
  return Grammar::from_lark(text(), options);
}

Result<Grammar> Reader::gbnf(GrammarLimits limits) const {
  return Grammar::from_gbnf(
      text(), {.root_rule = std::string(member("root").as_string()),
               .tokens_spelled = tokens_spelled(),
               .limits = limits});
}

Result<Grammar> Reader::structural_tag(GrammarLimits limits) const {
  StructuralTagGrammarOptions options;
  options.limits = limits;
  options.vocabulary_size =
      static_cast<std::uint32_t>(member("vocabulary_size").as_int());
  if (member("tokens").is_array()) {
    options.find_token =
        [this](std::string_view text) -> std::optional<std::uint32_t> {
      const std::vector<std::uint32_t> ids = tokens(text);
      if (ids.empty()) return std::nullopt;
      return ids.front();
    };
  }
  return Grammar::from_structural_tag(text(), options);
}

Result<Grammar> Reader::parts(GrammarLimits limits, bool in_sequence) const {
  std::vector<Grammar> grammars;
  grammars.reserve(member("parts").size());
  for (const json::Value& part : member("parts").items()) {
    Result<Grammar> made = Reader(part, at_most_).grammar();
    if (!made) return made;
    grammars.push_back(*std::move(made));
  }
  return in_sequence ? Grammar::concat(grammars, limits)
                     : Grammar::union_of(grammars, limits);
}

// The nesting of sources is that of the JSON text, which its parser bounds.
Result<Grammar> Reader::grammar() const {
  const Result<GrammarLimits> limits = this->limits();
  if (!limits) return limits.error();
  const std::string_view kind = member("kind").as_string();
  if (kind == "json_schema") return json_schema(*limits);
  if (kind == "ebnf") {
    return Grammar::from_ebnf(
        text(), {.root_rule = std::string(member("root").as_string()),
                 .limits = *limits});
  }
  if (kind == "gbnf") return gbnf(*limits);
  if (kind == "regex") return Grammar::from_regex(text(), *limits);
  if (kind == "lark") return lark(*limits);
  if (kind == "structural_tag") return structural_tag(*limits);
  if (kind == "concat" || kind == "union") {
    return parts(*limits, kind == "concat");
  }
  return malformed();
}

}  // namespace

Result<Grammar> read_source(const json::Value& source,
                            const GrammarLimits& limits) {
  return Reader(source, limits).grammar();
}

Result<GrammarLimits> read_limits(const json::Value& source,
                                  const GrammarLimits& limits) {
  return Reader(source, limits).limits();
}

// --- Documents ---------------------------------------------------------------

namespace {

constexpr std::string_view kVersion = " 1 ";

std::string checksum_of(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::uint64_t sum = base::hash_text(text);
  std::string out(16, '0');
  for (std::size_t i = 16; i-- > 0; sum >>= 4) out[i] = kDigits[sum & 15];
  return out;
}

}  // namespace

// "parlance grammar 1 0123456789abcdef\n{...}"
std::string make_document(std::string_view kind, const json::Value& content) {
  const std::string text = compact(content);
  std::string out = "parlance ";
  out += kind;
  out += kVersion;
  return out + checksum_of(text) + '\n' + text;
}

Result<json::Value> open_document(std::string_view kind,
                                  std::string_view bytes) {
  const std::string what = "saved " + std::string(kind);
  const std::string signature = "parlance " + std::string(kind) + ' ';
  if (!bytes.starts_with(signature)) {
    return Error{.code = ErrorCode::kInvalidValue,
                 .message = "This is not a " + what + "."};
  }
  bytes.remove_prefix(signature.size() - 1);
  if (!bytes.starts_with(kVersion)) {
    return Error{.code = ErrorCode::kUnsupportedVersion,
                 .message = "The " + what +
                            " was written by another version of Parlance, or "
                            "is damaged."};
  }
  bytes.remove_prefix(kVersion.size());
  constexpr std::size_t kSum = 16;
  if (bytes.size() <= kSum || bytes[kSum] != '\n' ||
      checksum_of(bytes.substr(kSum + 1)) != bytes.substr(0, kSum)) {
    return Error{.code = ErrorCode::kInvalidValue,
                 .message = "The " + what + " is damaged."};
  }
  return json::parse(bytes.substr(kSum + 1), {.exact_floats = true});
}

}  // namespace grammar

// --- Grammar -----------------------------------------------------------------

namespace {

using Kind = GrammarNote::Kind;

json::Value notes_of(const std::vector<GrammarNote>& notes) {
  json::Array out;
  for (const GrammarNote& note : notes) {
    json::Array one;
    one.emplace_back(note.kind == Kind::kIgnored);
    one.emplace_back(note.keyword);
    one.emplace_back(note.path);
    one.emplace_back(note.message);
    out.emplace_back(std::move(one));
  }
  return json::Value(std::move(out));
}

std::vector<GrammarNote> read_notes(const json::Value& notes) {
  std::vector<GrammarNote> out;
  for (const json::Value& note : notes.items()) {
    const json::Array& parts = note.items();
    if (parts.size() != 4) continue;
    out.push_back({parts[0].as_bool() ? Kind::kIgnored : Kind::kNarrowed,
                   std::string(parts[1].as_string()),
                   std::string(parts[2].as_string()),
                   std::string(parts[3].as_string())});
  }
  return out;
}

}  // namespace

std::string Grammar::to_bytes() const {
  return grammar::make_document(
      "grammar",
      json::Object{{"source", grammar::source_of(*this)},
                   {"notes", notes_of(grammar::compile_notes(*impl_))}});
}

// A note that is not made by the compile is one of a structural tag's request,
// which its JSON form does not have.
Result<Grammar> Grammar::from_bytes(std::string_view bytes,
                                    const GrammarLimits& limits) {
  const Result<json::Value> document = grammar::open_document("grammar", bytes);
  if (!document) return document.error();
  const json::Value* source = document->find("source");
  const json::Value* notes = document->find("notes");
  if (source == nullptr || notes == nullptr) return grammar::malformed();
  Result<Grammar> made = grammar::read_source(*source, limits);
  // The notes of a JSON Schema are those of its compile.
  if (made && made->impl_->rules != nullptr) {
    made->impl_->notes = read_notes(*notes);
  }
  return made;
}

}  // namespace parlance
