#ifndef PARLANCE_SRC_TAG_PARSER_COMPILER_H_
#define PARLANCE_SRC_TAG_PARSER_COMPILER_H_

// Compiles a structural tag into its programs.
//
// Every format has two fixed instructions: a kEnter, at which it begins, and a
// kLeave, at which it ends.  The format compiles what lies between, and the
// enclosing format sets the successor of the kLeave.  So formats are compiled
// one by one, in any order, and nesting needs no call stack.
//
// Code is compiled from its end to its beginning: a function is given the
// successor of its piece of code (for a format, the kLeave), and returns the
// first instruction of the piece.
//
// compile.cc has the analysis, the markers and most formats, and
// compile_free_text.cc has free text, its triggers and sets of tokens.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/access.h"
#include "grammar/embedded.h"
#include "grammar/exclude_dfas.h"
#include "grammar/grammar_cache.h"
#include "grammar/tag_to_rules.h"
#include "parlance/error.h"
#include "rules/marks.h"
#include "structural_tag/structural_tag.h"
#include "structural_tag/tokens.h"
#include "tag_parser/program.h"

namespace parlance::tag_parser {

using Word = std::vector<automata::WordSymbol>;  // bytes and marks

class TagCompiler {
 public:
  TagCompiler(CompiledTagImpl& code, const CompiledTagOptions& options)
      : tag_(*code.tag),
        analysis_(tag_),
        tokens_(tag_.nodes.size()),
        options_(options),
        code_(code),
        enter_(tag_.nodes.size()),
        leave_(tag_.nodes.size()),
        resumes_(tag_.nodes.size(), false),
        impossible_(tag_.nodes.size(), false),
        nullable_(tag_.nodes.size(), structural_tag::Nullable::kNo),
        depth_(tag_.nodes.size(), 0),
        is_region_(tag_.nodes.size(), false),
        in_section_(tag_.nodes.size(), false),
        leaves_(tag_.nodes.size()),
        shared_leaves_(tag_.nodes.size(), structural_tag::kNoTagNode),
        exclude_dfas_(tag_, analysis_, lowering_) {
    lowering_.shared = &texts_;
    if (options.cache != nullptr) {
      lowering_.cache = &detail::Access::impl(*options.cache)->cache;
    }
    if (options.vocabulary != nullptr) {
      const Vocabulary& words = *options.vocabulary;
      lowering_.tokens.vocabulary_size =
          static_cast<std::uint32_t>(words.size());
      lowering_.tokens.find = [&words](std::string_view text) {
        return words.find_first(text);
      };
    }
  }

  // The program for texts, in which markers are spelled.
  Result<TagProgram> texts();
  // The program for token ids, in which markers are written with marks; null if
  // the vocabulary has no token for any marker.
  // REQUIRES: texts() had no error.
  Result<std::unique_ptr<const TagProgram>> tokens();

 private:
  std::optional<Error> analyse();
  std::optional<Error> make_leaf(TagNodeId id,
                                 const grammar::LoweredTag& lowered);
  bool share_leaf(TagNodeId id);
  std::optional<Error> make_reader(
      TagNodeId id,
      std::shared_ptr<const arguments::ArgumentDocument> document);
  std::optional<Error> collect_marks();
  std::optional<Error> mark_leaves();
  Result<TagProgram> emit();
  void find_joins();
  bool find_impossible(const structural_tag::TagNode& format) const;
  structural_tag::Nullable find_nullable(TagNodeId id) const;
  void find_depths();
  void find_delimited();
  void find_resumable();

  Pc add(Instruction instruction) {
    out_.code.push_back(instruction);
    return Pc{out_.code.size() - 1};
  }
  Pc fork(std::vector<Pc> ways) {
    out_.forks.push_back(std::move(ways));
    return add({.op = Op::kFork,
                .index = static_cast<std::uint32_t>(out_.forks.size() - 1)});
  }
  // A marker, then `next`; `next` itself if the marker is empty.
  Pc marker(std::string_view text, Pc next) { return marker(text, 0, next); }
  // The same for the marker without its first `from` bytes.
  Pc marker(std::string_view text, std::size_t from, Pc next);
  Pc symbols(std::span<const automata::WordSymbol> word, Pc next);
  // White space and `texts` in any number, then `next`.  They are markup.
  Pc layout(Pc next, std::span<const std::string> texts = {});
  // Ends of turn with white space after each, or none, then `next`.
  Pc ends_of_turn(Pc next);
  bool has_layout() const { return tag_.turn_end.has_value(); }
  Pc literal(std::string_view text, Pc next);
  Pc mark(std::uint32_t number, Pc next);
  Pc token(TokenId id, Pc next) { return tokens({{id}}, Op::kToken, 1, next); }
  Pc tokens(TokenSet set, Op op, std::uint32_t max, Pc next) {
    std::sort(set.ids.begin(), set.ids.end());
    if (set.negated) out_.has_tokens = true;
    for (const TokenId id : set.ids) out_.roles.try_emplace(id, kNoMark);
    out_.token_sets.push_back(std::move(set));
    return add({.op = op,
                .next = next,
                .index = static_cast<std::uint32_t>(out_.token_sets.size() - 1),
                .max = max});
  }
  const structural_tag::NodeTokens& tokens_of(TagNodeId id) const {
    return tokens_[index_of(id)];
  }
  // Sorted.
  std::vector<TokenId> excluded_tokens(TagNodeId id) const {
    std::vector<TokenId> out = tokens_of(id).excludes;
    std::sort(out.begin(), out.end());
    return out;
  }
  bool is_special(TokenId id) const {
    if (options_.vocabulary == nullptr) return false;
    const TokenKind kind = options_.vocabulary->kind(id);
    return kind == TokenKind::kAdded || kind == TokenKind::kControl;
  }
  Pc enter(TagNodeId id) const { return enter_[index_of(id)]; }
  void then(TagNodeId id, Pc next) {
    if (has_layout() && is_region_[index_of(id)]) next = layout(next);
    out_.code[leave_[index_of(id)]].next = next;
  }
  bool possible(TagNodeId id) const { return !impossible_[index_of(id)]; }
  std::vector<TagNodeId> possible_children(
      const structural_tag::TagNode& format) const {
    std::vector<TagNodeId> out;
    for (const TagNodeId child : format.children) {
      if (possible(child)) out.push_back(child);
    }
    return out;
  }

  // The code between the kEnter and the kLeave of a format: it sets the
  // successors of the children's kLeave.  Children that are impossible are left
  // out.
  Pc compile_one(TagNodeId id) {
    return std::visit([&](const auto& body) { return compile(id, body); },
                      tag_[id].body);
  }
  Pc compile(TagNodeId id, const structural_tag::ConstString& body);
  Pc compile(TagNodeId id, const structural_tag::JsonSchemaBody& /*body*/) {
    return compile_leaf(id);
  }
  Pc compile(TagNodeId id, const structural_tag::RegexBody& /*body*/) {
    return compile_leaf(id);
  }
  Pc compile(TagNodeId id, const structural_tag::GrammarBody& /*body*/) {
    return compile_leaf(id);
  }
  Pc compile(TagNodeId id, const structural_tag::AnyText& body);
  Pc compile(TagNodeId id, const structural_tag::Elements& body);
  Pc compile(TagNodeId id, const structural_tag::Repetition& body);
  Pc compile(TagNodeId id, const structural_tag::TagBody& body);
  Pc compile(TagNodeId id, const structural_tag::TextTriggers& body);
  Pc compile(TagNodeId id, const structural_tag::TagsWithSeparator& body);
  Pc compile(TagNodeId id, const structural_tag::TokenBody& body);
  Pc compile(TagNodeId id, const structural_tag::ExcludeToken& body);
  Pc compile(TagNodeId id, const structural_tag::AnyTokens& body);
  Pc compile(TagNodeId id, const structural_tag::TokenTriggers& body);
  Pc compile_leaf(TagNodeId id);
  Pc compile_loop(TagNodeId id, std::uint32_t min, std::uint32_t max);
  std::pair<std::uint32_t, ResumePoint> text_with_triggers(
      TagNodeId id, const std::vector<std::string>& triggers);
  std::map<TokenId, std::vector<Pc>> token_targets(TagNodeId id);

  // The words, of bytes and marks, that spell a trigger or an exclude.
  std::vector<Word> words(std::string_view marker) const;
  std::string spelled(std::span<const automata::WordSymbol> word) const;

  ResumePoint resume_point(TagNodeId id, const FreeText& text);
  void add_resume_point(TagNodeId id, Pc after);

  std::uint32_t add_text(TagNodeId id, FreeText text);
  void add_targets(TagNodeId id, FreeText& text);
  Pc after_trigger(TagNodeId id, std::size_t child, const Word& trigger,
                   std::size_t back, std::size_t trigger_bytes);

  const structural_tag::TagTree& tag_;
  const structural_tag::TagAnalysis analysis_;
  std::vector<structural_tag::NodeTokens> tokens_;  // by format
  const CompiledTagOptions& options_;
  grammar::LowerOptions lowering_;
  arguments::SharedTexts texts_;
  CompiledTagImpl& code_;
  std::shared_ptr<const rules::Marks> marks_;  // null: markers are text
  TagProgram out_;
  std::vector<Pc> enter_;
  std::vector<Pc> leave_;
  // By format.
  std::vector<bool> resumes_;     // a list or a choice with a resume point
  std::vector<bool> impossible_;  // no text fits
  // Whether the empty text fits; never kInside.
  std::vector<structural_tag::Nullable> nullable_;
  std::vector<std::uint32_t> depth_;  // how many formats enclose it
  // A tag with a field, a call or a section of calls, outside of free text; and
  // what comes after the first text of a section.
  std::vector<bool> is_region_;
  std::vector<bool> in_section_;
  std::vector<grammar::EmbeddedLanguage> leaves_;
  // The json_schema whose recogniser it shares; kNoTagNode: none.
  std::vector<TagNodeId> shared_leaves_;
  // By representative of a region: the json_schema of a value that was made
  // first.
  std::map<TagNodeId, TagNodeId> made_leaves_;
  grammar::ExcludeDfas exclude_dfas_;
};

}  // namespace parlance::tag_parser

#endif  // PARLANCE_SRC_TAG_PARSER_COMPILER_H_
