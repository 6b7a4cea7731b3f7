// Implements parlance/grammar_cache.h.  The key of a grammar consists of its
// source and options.  A vocabulary is a function and cannot be part of a key,
// so the value lists the tokens that the compile looked up (CachedGrammar).

#include "grammar/grammar_cache.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/access.h"
#include "grammar/compile.h"
#include "grammar/grammar_impl.h"
#include "grammar/source.h"
#include "structural_tag/structural_tag.h"

namespace parlance {
namespace {

using grammar::ImplResult;
using recogniser::EntryKind;
using recogniser::KeyView;
using recogniser::KeyWriter;
using recogniser::PartCache;
using Tokens = std::vector<std::uint32_t>;

// A grammar depends on the vocabulary only by the ids of the texts that its
// compile looked up.  They are looked up again before a cached grammar is used.
struct CachedGrammar {
  std::shared_ptr<grammar::GrammarImpl> impl;
  grammar::LookedUp tokens = {};
};

template <class Find>
bool same_tokens(const CachedGrammar& cached, const Find& find) {
  for (const auto& [text, ids] : cached.tokens) {
    if (find(text) != ids) return false;
  }
  return true;
}

// Returns the grammar of `key` if the cache has it for the same tokens, else
// compiles and adds it.  `find` returns the tokens of a text.  `make` compiles
// the grammar and records the texts that it looked up, with their tokens, in
// its argument.
template <class Find, class Make>
ImplResult find_or_make(PartCache& cache, const KeyView& key, const Find& find,
                        const Make& make) {
  if (const auto found = cache.find(EntryKind::kGrammar, key)) {
    const auto& cached = *static_cast<const CachedGrammar*>(found.get());
    if (same_tokens(cached, find)) return cached.impl;
  }
  CachedGrammar made;
  ImplResult impl = make(made.tokens);
  if (!impl) return impl;
  made.impl = *impl;
  PartCache::CacheEntry what = grammar::cache_entry(made.impl);
  for (const auto& [text, ids] : made.tokens) {
    what.bytes += sizeof(made.tokens[0]) + text.capacity() +
                  ids.capacity() * sizeof(ids[0]);
  }
  what.value = std::make_shared<const CachedGrammar>(std::move(made));
  const auto stays =
      cache.add(EntryKind::kGrammar, std::string(key.text), std::move(what));
  // The cache may have returned an earlier grammar with the same key and other
  // tokens.
  const auto& cached = *static_cast<const CachedGrammar*>(stays.get());
  return same_tokens(cached, find) ? cached.impl : *impl;
}

template <class Make>
ImplResult find_or_make(PartCache& cache, const std::string& key,
                        const Make& make) {
  return find_or_make(
      cache, KeyView(key), [](std::string_view) { return Tokens(); },
      [&](auto&) { return make(); });
}

// As find_or_make(), for options with a function that looks tokens up.
template <class Options, class Make>
Result<Grammar> looking_up(PartCache& cache, const std::string& key,
                           const Options& options, const Make& make) {
  const auto find = [&](std::string_view spelling) {
    return options.tokens_spelled ? options.tokens_spelled(spelling) : Tokens();
  };
  ImplResult made = find_or_make(cache, KeyView(key), find, [&](auto& tokens) {
    Options asking = options;
    asking.tokens_spelled = grammar::recorded(options.tokens_spelled, tokens);
    return make(asking);
  });
  if (!made) return std::move(made).error();
  return detail::Access::make<Grammar>(std::move(*made));
}

ImplResult tag(PartCache& cache, const KeyView& key,
               const StructuralTagGrammarOptions& options, const auto& source,
               const rules::MarkedFor* marked = nullptr) {
  const auto find = [&](std::string_view text) -> Tokens {
    if (!options.find_token) return {};
    const std::optional<std::uint32_t> id = options.find_token(text);
    return id ? Tokens{*id} : Tokens();
  };
  return find_or_make(cache, key, find, [&](auto& tokens) {
    StructuralTagGrammarOptions asking = options;
    if (options.find_token) {
      asking.find_token = [&](std::string_view text) {
        const std::optional<std::uint32_t> id = options.find_token(text);
        tokens.emplace_back(text, id ? Tokens{*id} : Tokens());
        return id;
      };
    }
    return grammar::tag_grammar(source, asking, &cache, marked);
  });
}

}  // namespace

GrammarCache::GrammarCache(std::size_t budget_bytes)
    : impl_(std::make_shared<grammar::GrammarCacheImpl>(budget_bytes)) {}

Result<Grammar> GrammarCache::from_json_schema(
    std::string_view schema, const JsonSchemaOptions& options) const {
  ImplResult made = find_or_make(
      impl_->cache, KeyWriter('S').options(options).text(schema).take(),
      [&] { return grammar::schema_grammar(schema, options, &impl_->cache); });
  if (!made) return std::move(made).error();
  return detail::Access::make<Grammar>(std::move(*made));
}

Result<Grammar> GrammarCache::from_ebnf(std::string_view text,
                                        const EbnfOptions& options) const {
  std::string key = KeyWriter('E')
                        .text(options.root_rule)
                        .limits(options.limits)
                        .text(text)
                        .take();
  ImplResult made = find_or_make(impl_->cache, key, [&] {
    return grammar::ebnf_grammar(text, options, &impl_->cache);
  });
  if (!made) return std::move(made).error();
  return detail::Access::make<Grammar>(std::move(*made));
}

Result<Grammar> GrammarCache::from_regex(std::string_view pattern,
                                         const GrammarLimits& limits) const {
  ImplResult made = find_or_make(
      impl_->cache, KeyWriter('R').limits(limits).text(pattern).take(),
      [&] { return grammar::regex_grammar(pattern, limits); });
  if (!made) return std::move(made).error();
  return detail::Access::make<Grammar>(std::move(*made));
}

Result<Grammar> GrammarCache::from_gbnf(std::string_view text,
                                        const GbnfOptions& options) const {
  const std::string key = KeyWriter('G')
                              .text(options.root_rule)
                              .limits(options.limits)
                              .number(options.tokens_spelled ? 1 : 0)
                              .text(text)
                              .take();
  return looking_up(impl_->cache, key, options, [&](const GbnfOptions& asking) {
    return grammar::gbnf_grammar(text, asking, &impl_->cache);
  });
}

Result<Grammar> GrammarCache::from_lark(
    std::string_view text, const LarkGrammarOptions& options) const {
  if (!options.grammars.empty()) {
    ImplResult made = grammar::lark_grammar(text, options, &impl_->cache);
    if (!made) return std::move(made).error();
    return detail::Access::make<Grammar>(std::move(*made));
  }
  KeyWriter key('L');
  // Without a vocabulary some texts are errors.
  key.limits(options.limits).number(options.tokens_spelled ? 1 : 0);
  key.number(options.sources.size());
  for (const auto& [name, source] : options.sources) {
    key.text(name).text(source);
  }
  const std::string whole = key.text(options.start_rule).text(text).take();
  return looking_up(impl_->cache, whole, options,
                    [&](const LarkGrammarOptions& asking) {
                      return grammar::lark_grammar(text, asking, &impl_->cache);
                    });
}

namespace {

// Only a Compiler gives `marked`, and its cache serves one vocabulary.
KeyWriter tag_key(char kind, const StructuralTagGrammarOptions& options,
                  const rules::MarkedFor* marked) {
  KeyWriter key(kind);
  key.limits(options.limits).number(options.vocabulary_size);
  key.number(
      marked == nullptr ? 0 : 1 + static_cast<std::uint64_t>(marked->markers));
  return key;
}

ImplResult text_tag(PartCache& cache, std::string_view text,
                    const StructuralTagGrammarOptions& options,
                    const rules::MarkedFor* marked = nullptr) {
  const std::string key = tag_key('T', options, marked).text(text).take();
  return tag(cache, KeyView(key), options, text, marked);
}

// The options, the canonical form or the source, and what these lack of the
// report.
structural_tag::TagTree::GrammarKey full_key(const std::string& options,
                                             const StructuralTag& source) {
  const structural_tag::TagTree& tree = *detail::Access::impl(source);
  KeyWriter writer('v');
  writer.value(tree.source.is_object() ? tree.source : source.to_json());
  writer.number(tree.unknown_keys.size());
  for (const structural_tag::UnknownKey& unknown : tree.unknown_keys) {
    writer.text(unknown.path).text(unknown.key);
  }
  writer.number(tree.notes.size());
  for (const GrammarNote& note : tree.notes) {
    writer.number(static_cast<std::uint64_t>(note.kind));
    writer.text(note.keyword).text(note.path).text(note.message);
  }
  writer.number(tree.requested.tools.size());
  for (const auto& [name, path] : tree.requested.tools) {
    writer.text(name).text(path);
  }
  writer.text(tree.requested.document);
  structural_tag::TagTree::GrammarKey out;
  out.text = options + writer.take();
  out.options_size = options.size();
  out.hash = KeyView(out.text).hash;
  return out;
}

ImplResult value_tag(PartCache& cache, const StructuralTag& source,
                     const StructuralTagGrammarOptions& options,
                     const rules::MarkedFor* marked = nullptr) {
  const structural_tag::TagTree& tree = *detail::Access::impl(source);
  const std::string asked = tag_key('V', options, marked).take();
  std::shared_ptr<const structural_tag::TagTree::GrammarKey> key;
  {
    const std::lock_guard lock(tree.last_key->mutex);
    key = tree.last_key->key;
  }
  if (key == nullptr ||
      std::string_view(key->text).substr(0, key->options_size) != asked) {
    key = std::make_shared<const structural_tag::TagTree::GrammarKey>(
        full_key(asked, source));
    const std::lock_guard lock(tree.last_key->mutex);
    tree.last_key->key = key;
  }
  return tag(cache, KeyView(key->text, key->hash), options, source, marked);
}

}  // namespace

Result<Grammar> GrammarCache::from_structural_tag(
    std::string_view text, const StructuralTagGrammarOptions& options) const {
  ImplResult made = text_tag(impl_->cache, text, options);
  if (!made) return std::move(made).error();
  return detail::Access::make<Grammar>(std::move(*made));
}

Result<Grammar> GrammarCache::from_structural_tag(
    const StructuralTag& source,
    const StructuralTagGrammarOptions& options) const {
  ImplResult made = value_tag(impl_->cache, source, options);
  if (!made) return std::move(made).error();
  return detail::Access::make<Grammar>(std::move(*made));
}

Result<Grammar> grammar::marked_structural_tag(
    const GrammarCache& cache, std::string_view text,
    const StructuralTagGrammarOptions& options,
    const rules::MarkedFor& marked) {
  ImplResult made =
      text_tag(detail::Access::impl(cache)->cache, text, options, &marked);
  if (!made) return std::move(made).error();
  return detail::Access::make<Grammar>(std::move(*made));
}

Result<Grammar> grammar::marked_structural_tag(
    const GrammarCache& cache, const parlance::StructuralTag& source,
    const StructuralTagGrammarOptions& options,
    const rules::MarkedFor& marked) {
  ImplResult made =
      value_tag(detail::Access::impl(cache)->cache, source, options, &marked);
  if (!made) return std::move(made).error();
  return detail::Access::make<Grammar>(std::move(*made));
}

GrammarCacheStatistics GrammarCache::statistics() const {
  const PartCache::Statistics now = impl_->cache.statistics();
  const auto& grammars =
      now.kinds[static_cast<std::size_t>(EntryKind::kGrammar)];
  const auto& parts = now.kinds[static_cast<std::size_t>(EntryKind::kPart)];
  return {.bytes = now.bytes,
          .grammars = grammars.entries,
          .parts = parts.entries,
          .grammar_hits = grammars.hits,
          .grammar_misses = grammars.misses,
          .part_hits = parts.hits,
          .part_misses = parts.misses,
          .evictions = now.evictions};
}

void GrammarCache::clear() const { impl_->cache.clear(); }

}  // namespace parlance
