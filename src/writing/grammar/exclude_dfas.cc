// See exclude_dfas.h.

#include "grammar/exclude_dfas.h"

#include <utility>

#include "automata/aho_corasick.h"
#include "notation/exclude_patterns.h"
#include "recogniser/cache_key.h"

namespace parlance::grammar {

using automata::AhoCorasick;
using automata::PatternDfa;
using structural_tag::TagNode;
using structural_tag::TagNodeId;

namespace {

std::string path_of_patterns(const TagNode& node) {
  return node.path + "/exclude_patterns";
}

std::string type_of(const TagNode& node) {
  return std::string(structural_tag::to_string(node.type));
}

}  // namespace

Result<ExcludeDfas::Dfa> ExcludeDfas::of(TagNodeId id) {
  const TagNode& node = tag_[id];
  const std::vector<std::string>& patterns =
      structural_tag::exclude_patterns_of(node);
  if (patterns.empty()) return Dfa();
  if (const auto known = by_node_.find(id); known != by_node_.end()) {
    return known->second;
  }
  Dfa& dfa = by_patterns_[patterns];
  if (dfa == nullptr) {
    Result<Dfa> made = compile(node);
    if (!made) return std::move(made).error();
    dfa = *std::move(made);
  }
  if (auto error = check(id, *dfa)) return *std::move(error);
  by_node_.emplace(id, dfa);
  return dfa;
}

// The automata that the tags of the format share; null for a tag of no format,
// and where the limits are other than theirs.
structural_tag::TagTree::PatternDfas* ExcludeDfas::dfas_of_format() const {
  return options_.limits.automaton_bytes == Limits().automaton_bytes
             ? tag_.pattern_dfas.get()
             : nullptr;
}

// What the format has, if compiling it would be within the limits.
ExcludeDfas::Dfa ExcludeDfas::of_format(
    const std::vector<std::string>& patterns, const Limits& limits) const {
  structural_tag::TagTree::PatternDfas* dfas = dfas_of_format();
  if (dfas == nullptr) return nullptr;
  const std::lock_guard lock(dfas->mutex);
  const auto found = dfas->known.find(patterns);
  if (found == dfas->known.end() ||
      found->second->visited() > limits.pattern_states) {
    return nullptr;
  }
  return found->second;
}

void ExcludeDfas::keep_in_format(const std::vector<std::string>& patterns,
                                 const Dfa& dfa) const {
  structural_tag::TagTree::PatternDfas* dfas = dfas_of_format();
  if (dfas == nullptr) return;
  const std::lock_guard lock(dfas->mutex);
  if (dfas->known.size() < dfas->kMost) dfas->known.emplace(patterns, dfa);
}

// The automaton, from the format, the cache or the patterns.
Result<ExcludeDfas::Dfa> ExcludeDfas::compile(const TagNode& node) {
  const std::vector<std::string>& patterns =
      structural_tag::exclude_patterns_of(node);
  Limits left = options_.limits;
  left.pattern_states -= states_;
  std::string key;
  Dfa dfa = of_format(patterns, left);
  if (dfa == nullptr && options_.cache != nullptr) {
    recogniser::KeyWriter writer('x');
    writer.limits(left).number(patterns.size());
    for (const std::string& pattern : patterns) writer.text(pattern);
    key = writer.take();
    dfa = std::static_pointer_cast<const PatternDfa>(
        options_.cache->find(recogniser::EntryKind::kPart, key));
  }
  if (dfa == nullptr) {
    Result<Dfa> made = notation::read_exclude_patterns(patterns, left);
    if (!made) {
      Error error = std::move(made).error();
      error.message = type_of(node) + ": " + error.message;
      error.path = path_of_patterns(node) + error.path;
      return error;
    }
    dfa = *std::move(made);
    keep_in_format(patterns, dfa);
    if (options_.cache != nullptr) {
      options_.cache->add(recogniser::EntryKind::kPart, std::move(key),
                          {dfa, dfa->memory_bytes()});
    }
  }
  states_ += dfa->visited();
  return dfa;
}

// Free text reads with pairs of states, one of this automaton and one of the
// automaton of the node's triggers and excludes.  Their number must be within
// the limit, and each trigger must be readable.
std::optional<Error> ExcludeDfas::check(TagNodeId id, const PatternDfa& dfa) {
  const TagNode& node = tag_[id];
  const std::vector<std::string>& triggers = structural_tag::triggers_of(node);
  std::size_t bytes = 1;
  for (const std::string& text : triggers) bytes += text.size();
  for (const std::string& text : analysis_.excluded_texts(id)) {
    bytes += text.size();
  }
  if (bytes > (AhoCorasick::kMaxPairs - pairs_) / dfa.size()) {
    return Error{ErrorCode::kTooLarge,
                 type_of(node) + ": the automaton of the patterns has " +
                     std::to_string(dfa.size()) +
                     " states, and the triggers and excludes have " +
                     std::to_string(bytes) +
                     " bytes; the sum of the products of a tag must not be "
                     "more than " +
                     std::to_string(AhoCorasick::kMaxPairs) + ".",
                 path_of_patterns(node)};
  }
  pairs_ += bytes * dfa.size();
  for (std::size_t i = 0; i < triggers.size(); ++i) {
    if (!dfa.always_finds(triggers[i])) continue;
    // Some pattern always finds a match; or several do, each after other texts,
    // and then the error names the first.
    const std::vector<std::string>& patterns =
        structural_tag::exclude_patterns_of(node);
    std::size_t found = 0;
    for (std::size_t p = 1; p < patterns.size(); ++p) {
      auto one =
          notation::read_exclude_patterns({patterns[p]}, options_.limits);
      if (one && (*one)->always_finds(triggers[i])) found = p;
    }
    return structural_tag::unreadable_trigger_error(node, i, patterns[found]);
  }
  return std::nullopt;
}

}  // namespace parlance::grammar
