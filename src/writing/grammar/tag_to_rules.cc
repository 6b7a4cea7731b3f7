// Lowers a structural tag to rules in one pass over its nodes from the last to
// the first.  Children have greater ids, so their rules exist before those of
// their parent.

#include "grammar/tag_to_rules.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "arguments/language_rules.h"
#include "arguments/markup.h"
#include "arguments/text_languages.h"
#include "arguments/to_rules.h"
#include "grammar/compile.h"
#include "grammar/exclude_dfas.h"
#include "json/located.h"
#include "notation/ebnf.h"
#include "notation/regex_rules.h"
#include "parlance/error.h"
#include "rules/triggers.h"

namespace parlance::grammar {

using arguments::ArgumentOptions;
using arguments::LoweredArguments;

using structural_tag::JsonSchemaBody;
using structural_tag::TagBody;
using structural_tag::TagNode;
using structural_tag::TagNodeId;
using structural_tag::TagNodeType;
using structural_tag::TagTree;

using rules::ExprId;
using rules::FreeTextExpr;
using rules::kNoExpr;
using rules::kUnbounded;
using rules::RuleId;
using rules::Rules;
using rules::Token;
using rules::TriggerTarget;
namespace {

class Lowering {
 public:
  // `inside`: whether to lower patterns, grammars and schemas.  If not, each of
  // them becomes the empty text.
  Lowering(const TagTree& tag, const structural_tag::TagAnalysis& analysis,
           const LowerOptions& options, bool inside = true)
      : tag_(tag),
        options_(options),
        inside_(inside),
        analysis_(analysis),
        exclude_dfas_(tag_, analysis_, options),
        made_(tag_.nodes.size()) {}

  Result<LoweredTag> lower() {
    Rules& rules = out_.rules;
    const RuleId root = rules.add_rule("root");
    for (std::size_t i = tag_.nodes.size(); i-- > 0;) {
      if (options_.cancelled && options_.cancelled()) {
        return Error{ErrorCode::kTooLarge, "The compile was cancelled."};
      }
      made_[i].whole = lower_one(TagNodeId{static_cast<std::uint32_t>(i)});
      if (error_) return *std::move(error_);
      if (!rules.within(options_.rules)) {
        return Error{ErrorCode::kTooLarge,
                     "structural tag: makes more rules or expressions than "
                     "the limit allows (RulesLimits).",
                     tag_.nodes[i].path};
      }
    }
    add_calls();
    for (const TagNode& node : tag_.nodes) {
      if (node.tool.empty()) continue;
      rules.names.push_back(
          {node.tool, json::append_pointer(node.path, "tool")});
    }
    rules.rules[root].body = made_[0].whole;
    rules.root = root;
    rules.prefix = tag_.prefix;
    return std::move(out_);
  }

  Result<LoweredTag> lower_node(TagNodeId id) {
    Rules& rules = out_.rules;
    rules.root = rules.add_rule("root");
    const ExprId whole = lower_one(id);
    if (error_) return *std::move(error_);
    rules.rules[rules.root].body = whole;
    out_.document = std::move(document_);
    return std::move(out_);
  }

 private:
  // The expressions of a node.
  struct Made {
    ExprId whole = kNoExpr;
    ExprId after_begin = kNoExpr;  // of a tag: its content and end
  };

  void add_calls();
  ExprId lower_one(TagNodeId id);
  // The expression of a node, by its body.
  ExprId lower(TagNodeId id, const structural_tag::ConstString& body);
  ExprId lower(TagNodeId id, const JsonSchemaBody& body);
  ExprId lower(TagNodeId id, const structural_tag::RegexBody& body);
  ExprId lower(TagNodeId id, const structural_tag::GrammarBody& body);
  ExprId lower(TagNodeId id, const structural_tag::AnyText& body);
  ExprId lower(TagNodeId id, const structural_tag::Elements& body);
  ExprId lower(TagNodeId id, const structural_tag::Repetition& body);
  ExprId lower(TagNodeId id, const structural_tag::TagBody& body);
  ExprId lower(TagNodeId id, const structural_tag::TextTriggers& body);
  ExprId lower(TagNodeId id, const structural_tag::TagsWithSeparator& body);
  ExprId lower(TagNodeId id, const structural_tag::TokenBody& body);
  ExprId lower(TagNodeId id, const structural_tag::ExcludeToken& body);
  ExprId lower(TagNodeId id, const structural_tag::AnyTokens& body);
  ExprId lower(TagNodeId id, const structural_tag::TokenTriggers& body);
  Result<LoweredArguments> elements(const json::Value& schema,
                                    const ArgumentOptions& options);

  FreeTextExpr free_text(TagNodeId id);
  void add_triggers(std::vector<TriggerTarget> targets, std::string_view name,
                    FreeTextExpr& text);

  // If at least one child is needed, one of them and then, if others may
  // follow, `text`.  Else `text` alone.
  ExprId with_first(const TagNode& node, const structural_tag::Counts& counts,
                    ExprId text);

  ExprId whole(TagNodeId id) const {
    return made_[structural_tag::index_of(id)].whole;
  }
  std::vector<ExprId> wholes(const TagNode& node) const {
    std::vector<ExprId> out;
    for (TagNodeId child : node.children) out.push_back(whole(child));
    return out;
  }

  RuleId rule(std::string_view name, ExprId body) {
    // The number makes the name unique without a search.
    const RuleId id = out_.rules.add_rule(
        std::string(name) + "_" + std::to_string(out_.rules.rules.size()));
    out_.rules.rules[id].body = body;
    return id;
  }

  ExprId one_token(Token token) {
    rules::TokenSetExpr set;
    set.ranges.push_back({token, token});
    return out_.rules.tokens(std::move(set));
  }
  ExprId other_tokens();
  // `loop`: the text continues after what a trigger leads to.  `after`: for
  // each child of the node, the rest of what its trigger begins.
  rules::TokenTextExpr token_text(bool loop, std::string_view name,
                                  const std::vector<ExprId>& after);

  arguments::SharedTexts& shared() {
    return options_.shared != nullptr ? *options_.shared : own_texts_;
  }

  void fail(Error error) {
    if (!error_) error_ = std::move(error);
  }
  // Reports an error inside the schema or, with `text`, inside the text of the
  // member `key`.
  void fail_inside(Error error, const TagNode& node, std::string_view key,
                   std::string_view text = {}) {
    std::string where(structural_tag::to_string(node.type));
    if (error.span && !text.empty()) {
      where += ", " + to_string(line_column(text, error.span->begin));
    }
    error.message = where + ": " + error.message;
    error.path = json::append_pointer(node.path, key) + error.path;
    if (text.empty()) error.span = std::nullopt;
    fail(std::move(error));
  }

  const TagTree& tag_;
  const LowerOptions& options_;
  const bool inside_;
  const structural_tag::TagAnalysis& analysis_;
  ExcludeDfas exclude_dfas_;
  arguments::SharedTexts own_texts_;
  LoweredTag out_;
  arguments::LinkTexts link_texts_{out_.rules};
  std::vector<Made> made_;
  structural_tag::NodeTokens tokens_;  // of the node that is being lowered
  // Of the last json_schema, if its rules were not cached.
  std::shared_ptr<const arguments::ArgumentDocument> document_;
  std::optional<Error> error_;
};

// All tokens but those that the node excludes.
ExprId Lowering::other_tokens() {
  rules::TokenSetExpr set;
  set.negated = true;
  for (const Token excluded : tokens_.excludes) {
    set.ranges.push_back({excluded, excluded});
  }
  return out_.rules.tokens(std::move(set));
}

// Lists the calls: each json_schema inside a tag with a tool, at any depth.
// check_calls() has made sure that such a tag contains one json_schema and that
// no tag inside it has a tool, so the nearest tag with a tool is the only one.
void Lowering::add_calls() {
  for (std::size_t i = 0; i < tag_.nodes.size(); ++i) {
    if (!inside_ || tag_.nodes[i].type != TagNodeType::kJsonSchema) continue;
    auto at = analysis_.enclosing_tag(TagNodeId{static_cast<std::uint32_t>(i)});
    while (at != structural_tag::kNoTagNode && tag_[at].tool.empty()) {
      at = analysis_.enclosing_tag(at);
    }
    if (at != structural_tag::kNoTagNode) {
      out_.calls.push_back({at, made_[i].whole});
    }
  }
}

ExprId Lowering::lower(TagNodeId id, const JsonSchemaBody& body) {
  const TagNode& node = tag_[id];
  if (body.style == structural_tag::ArgumentStyle::kJson) {
    return out_.rules.schema(
        arguments::json_texts(body.schema, schema::kAllTypes, body.any_order,
                              body.max_white_space, body.excludes));
  }
  ArgumentOptions options;
  options.style = body.style;
  options.layout = arguments::element_layout(body);
  options.delimited = body.delimited;
  options.any_order = body.any_order;
  options.max_white_space = body.max_white_space;
  options.excludes = body.excludes;
  options.max_exprs = options_.rules.exprs;
  options.limits = options_.limits;
  const TagNodeId enclosing = analysis_.enclosing_tag(id);
  if (enclosing != structural_tag::kNoTagNode) {
    for (const std::string& end : tag_[enclosing].as<TagBody>().end.texts) {
      if (!end.empty()) options.alone_excludes.push_back(end);
    }
  }
  const std::size_t first_name = out_.rules.names.size();
  Result<LoweredArguments> made = elements(body.schema, options);
  if (!made) {
    fail_inside(std::move(made).error(), node, "json_schema");
    return out_.rules.empty();
  }
  const std::string path = json::append_pointer(node.path, "json_schema");
  for (std::size_t i = first_name; i < out_.rules.names.size(); ++i) {
    out_.rules.names[i].path = path + out_.rules.names[i].path;
  }
  for (GrammarNote& note : made->narrowed) {
    note.path.insert(0, path);
    out_.narrowed.push_back(std::move(note));
  }
  document_ = std::move(made->document);
  return made->list;
}

namespace {

// What the cache of elements() stores.
struct CachedElements {
  Rules rules;
  LoweredArguments made;

  std::size_t memory_bytes() const {
    std::size_t bytes = rules::memory_bytes(rules);
    for (const GrammarNote& note : made.narrowed) {
      bytes += sizeof(note) + note.keyword.capacity() + note.path.capacity() +
               note.message.capacity();
    }
    for (const arguments::TextRule& text : made.texts) {
      bytes += sizeof(text) + text.dfa->memory_bytes();
    }
    return bytes;
  }
};

// The key of the cache: everything that lower_arguments() reads.  An option
// that is missing here would give a node the rules of another node's options.
std::string cache_key(const json::Value& schema,
                      const ArgumentOptions& options) {
  recogniser::KeyWriter writer('a');
  writer.number(static_cast<std::uint64_t>(options.style))
      .number(options.any_order ? 1 : 0)
      .number(options.max_white_space)
      .number(options.max_exprs)
      .limits(options.limits)
      .number(options.alone_excludes.size());
  for (const std::string& text : options.alone_excludes) writer.text(text);
  writer.number(options.excludes.size());
  for (const std::string& text : options.excludes) writer.text(text);
  writer.value(structural_tag::to_json(options.layout))
      .value(structural_tag::to_json(options.delimited));
  return writer.value(schema).take();
}

}  // namespace

// As lower_arguments(), with a cache.  The cache contains the rules of the
// arguments alone, because their ids in out_.rules depend on the rules before
// them.
Result<LoweredArguments> Lowering::elements(const json::Value& schema,
                                            const ArgumentOptions& options) {
  if (options_.cache == nullptr) {
    Result<LoweredArguments> made =
        arguments::lower_arguments(schema, options, out_.rules, &shared());
    if (made) link_texts_.link(made->texts, 0);
    return made;
  }
  std::shared_ptr<const arguments::ArgumentDocument> document;
  std::string key = cache_key(schema, options);
  std::shared_ptr<const void> cached =
      options_.cache->find(recogniser::EntryKind::kPart, key);
  if (cached == nullptr) {
    auto made = std::make_shared<CachedElements>();
    Result<LoweredArguments> lowered =
        arguments::lower_arguments(schema, options, made->rules, &shared());
    if (!lowered) return lowered;
    made->made = *std::move(lowered);
    document = std::move(made->made.document);
    const std::size_t bytes = made->memory_bytes();
    cached = options_.cache->add(recogniser::EntryKind::kPart, std::move(key),
                                 {std::move(made), bytes});
  }
  // Append the cached rules; their expressions move by `first`.
  const auto& one = *static_cast<const CachedElements*>(cached.get());
  Rules& rules = out_.rules;
  const auto first = static_cast<std::uint32_t>(rules.exprs.size());
  const std::size_t first_rule = rules.rules.size();
  rules.append(one.rules);
  // Make their names unique, as rule() does.  Every name that lower_arguments()
  // gives ends with '_' and the number of the rule, which is now another one.
  for (std::size_t i = first_rule; i < rules.rules.size(); ++i) {
    std::string& name = rules.rules[i].name;
    name.resize(name.rfind('_') + 1);
    name += std::to_string(i);
  }
  link_texts_.link(one.made.texts, first_rule);
  return LoweredArguments{ExprId(first + one.made.list),
                          one.made.narrowed,
                          {},
                          std::move(document)};
}

ExprId Lowering::lower(TagNodeId id, const structural_tag::RegexBody& body) {
  Result<rules::RegexExpr> regex = notation::read_regex(body.pattern);
  if (!regex) {
    fail_inside(std::move(regex).error(), tag_[id], "pattern", body.pattern);
    return out_.rules.empty();
  }
  return out_.rules.regex(std::move(*regex));
}

ExprId Lowering::lower(TagNodeId id, const structural_tag::GrammarBody& body) {
  Result<Rules> rules =
      notation::read_ebnf(body.source, "root", options_.rules);
  if (!rules) {
    fail_inside(std::move(rules).error(), tag_[id], "grammar", body.source);
    return out_.rules.empty();
  }
  return out_.rules.reference(out_.rules.append(*rules));
}

// The free text of a node, without triggers.
FreeTextExpr Lowering::free_text(TagNodeId id) {
  FreeTextExpr text;
  text.markers = true;
  text.excludes = analysis_.excluded_texts(id);
  auto dfa = exclude_dfas_.of(id);
  if (dfa) {
    text.exclude_patterns = structural_tag::exclude_patterns_of(tag_[id]);
    text.exclude_dfa = *std::move(dfa);
  } else if (inside_) {
    fail(std::move(dfa).error());
  }
  return text;
}

ExprId Lowering::lower(TagNodeId id, const structural_tag::AnyText& body) {
  Rules& rules = out_.rules;
  // Before the budgets: a pattern with an error is one even if no text may
  // come.
  FreeTextExpr text = free_text(id);
  if (body.max_chars == 0u || body.max_tokens == 0u) return rules.empty();
  const ExprId expr = rules.free_text(std::move(text));
  if (!body.max_chars && !body.max_tokens) return expr;
  const RuleId limited = rule("text", expr);
  rules.rules[limited].options.max_chars = body.max_chars;
  rules.rules[limited].options.max_tokens = body.max_tokens;
  return rules.reference(limited);
}

ExprId Lowering::lower(TagNodeId /*id*/,
                       const structural_tag::ConstString& body) {
  return out_.rules.marker(body.value);
}

ExprId Lowering::lower(TagNodeId id, const structural_tag::Elements& /*body*/) {
  const TagNode& node = tag_[id];
  return node.type == TagNodeType::kOr ? out_.rules.choice(wholes(node))
                                       : out_.rules.sequence(wholes(node));
}

ExprId Lowering::lower(TagNodeId id, const structural_tag::Repetition& body) {
  return out_.rules.repeat(whole(tag_[id].children[0]), body.min, body.max);
}

ExprId Lowering::lower(TagNodeId /*id*/,
                       const structural_tag::TokenBody& /*body*/) {
  return one_token(tokens_.token);
}

ExprId Lowering::lower(TagNodeId /*id*/,
                       const structural_tag::ExcludeToken& /*body*/) {
  return other_tokens();
}

ExprId Lowering::lower(TagNodeId /*id*/,
                       const structural_tag::AnyTokens& body) {
  return out_.rules.repeat(other_tokens(), 0,
                           body.max_tokens.value_or(kUnbounded));
}

ExprId Lowering::lower(TagNodeId id, const TagBody& body) {
  const TagNode& node = tag_[id];
  Rules& rules = out_.rules;
  ExprId end;
  if (body.end.token) {
    end = one_token(*tokens_.end);
    out_.rules.token_sets.back().ends_tag = true;
  } else {
    std::vector<ExprId> ends;
    for (const std::string& text : body.end.texts) {
      ends.push_back(rules.marker(text));
    }
    end = rules.choice(std::move(ends));
  }
  // Triggered tags need the part after "begin" by itself, because the trigger
  // that is a prefix of "begin" has been read as free text.
  const ExprId after = rules.sequence({whole(node.children[0]), end});
  made_[structural_tag::index_of(id)].after_begin = after;
  const ExprId begin = body.begin.token ? one_token(*tokens_.begin)
                                        : rules.marker(body.begin.texts[0]);
  return rules.sequence({begin, after});
}

ExprId Lowering::with_first(const TagNode& node,
                            const structural_tag::Counts& counts, ExprId text) {
  if (!counts.at_least_one) return text;
  const ExprId first = out_.rules.choice(wholes(node));
  if (!counts.loop) return first;
  return out_.rules.sequence({first, text});
}

void Lowering::add_triggers(std::vector<TriggerTarget> targets,
                            std::string_view name, FreeTextExpr& text) {
  for (TriggerTarget& target :
       rules::join_equal_triggers(std::move(targets), out_.rules)) {
    text.triggers.push_back({std::move(target.text), rule(name, target.after)});
  }
}

ExprId Lowering::lower(TagNodeId id, const structural_tag::TextTriggers& body) {
  const TagNode& node = tag_[id];
  Rules& rules = out_.rules;
  FreeTextExpr text = free_text(id);
  if (body.at_least_one && !body.loop) return rules.choice(wholes(node));
  text.loop = body.loop;
  std::vector<TriggerTarget> triggers;
  if (has_rules(node)) {
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      triggers.push_back({body.triggers[i], whole(node.children[i])});
    }
    add_triggers(std::move(triggers), "dispatched", text);
    return rules.free_text(std::move(text));
  }
  // What follows a trigger is the rest of "begin", the content and the end.
  // Tags with the same trigger become alternatives in add_triggers().
  const std::vector<std::uint32_t> begun_by =
      structural_tag::triggers_of_tags(tag_, node);
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const TagNodeId child = node.children[i];
    const std::string& begin = tag_[child].as<TagBody>().begin.texts[0];
    const std::string& trigger = body.triggers[begun_by[i]];
    triggers.push_back(
        {trigger,
         rules.sequence({rules.marker(begin, trigger.size()),
                         made_[structural_tag::index_of(child)].after_begin})});
  }
  add_triggers(std::move(triggers), "tag", text);
  return with_first(node, body, rules.free_text(std::move(text)));
}

// Free tokens with a rule for each trigger; equal triggers have one rule.
rules::TokenTextExpr Lowering::token_text(bool loop, std::string_view name,
                                          const std::vector<ExprId>& after) {
  rules::TokenTextExpr text;
  text.loop = loop;
  text.excludes = tokens_.excludes;
  std::vector<std::vector<ExprId>> begun(tokens_.triggers.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    begun[tokens_.trigger_of[i]].push_back(after[i]);
  }
  for (std::size_t i = 0; i < begun.size(); ++i) {
    if (begun[i].empty()) continue;  // equal to an earlier trigger
    text.triggers.push_back(
        {tokens_.triggers[i],
         rule(name, out_.rules.choice(std::move(begun[i])))});
  }
  return text;
}

ExprId Lowering::lower(TagNodeId id,
                       const structural_tag::TokenTriggers& body) {
  const TagNode& node = tag_[id];
  if (has_rules(node)) {
    return out_.rules.token_text(
        token_text(body.loop, "dispatched", wholes(node)));
  }
  std::vector<ExprId> after;
  for (const TagNodeId child : node.children) {
    after.push_back(made_[structural_tag::index_of(child)].after_begin);
  }
  rules::TokenTextExpr text = token_text(body.loop, "tag", after);
  return with_first(node, body, out_.rules.token_text(std::move(text)));
}

ExprId Lowering::lower(TagNodeId id,
                       const structural_tag::TagsWithSeparator& body) {
  Rules& rules = out_.rules;
  const ExprId one = rules.choice(wholes(tag_[id]));
  ExprId all = one;
  if (body.loop) {
    const ExprId more = rules.sequence({rules.marker(body.separator), one});
    all = rules.sequence({one, rules.repeat(more, 0, kUnbounded)});
  }
  return body.at_least_one ? all : rules.repeat(all, 0, 1);
}

// The expression of one node.  REQUIRES: made_ has the expressions of the
// node's children.
//
// Invariant: out_.schema_paths and out_.schema_in_place are as long as
// out_.rules.schemas before and after the call.
ExprId Lowering::lower_one(TagNodeId id) {
  const TagNode& node = tag_[id];
  Rules& rules = out_.rules;
  if (!inside_ && has_language(node)) return rules.empty();
  auto tokens =
      structural_tag::resolve_tokens(tag_, analysis_, id, options_.tokens);
  if (!tokens) {
    fail(std::move(tokens).error());
    return rules.empty();
  }
  tokens_ = *std::move(tokens);
  const ExprId made =
      std::visit([&](const auto& body) { return lower(id, body); }, node.body);
  // The schemas that have been added since the last call belong to this node.
  if (rules.schemas.size() > out_.schema_paths.size()) {
    const bool grammar = node.type == TagNodeType::kGrammar;
    out_.schema_paths.resize(
        rules.schemas.size(),
        node.path + (grammar ? "/grammar" : "/json_schema"));
    out_.schema_in_place.resize(
        rules.schemas.size(),
        !grammar && node.as<JsonSchemaBody>().style ==
                        structural_tag::ArgumentStyle::kJson);
  }
  return made;
}

}  // namespace

Result<LoweredTag> lower_tag(const TagTree& tag, const LowerOptions& options) {
  const structural_tag::TagAnalysis analysis(tag);
  return Lowering(tag, analysis, options).lower();
}

Result<LoweredTag> lower_outline(const TagTree& tag,
                                 const structural_tag::TagAnalysis& analysis,
                                 const LowerOptions& options) {
  return Lowering(tag, analysis, options, false).lower();
}

Result<LoweredTag> lower_node(const TagTree& tag,
                              const structural_tag::TagAnalysis& analysis,
                              TagNodeId id, const LowerOptions& options) {
  return Lowering(tag, analysis, options).lower_node(id);
}

}  // namespace parlance::grammar
