// Resolves the tokens of a node; see tokens.h.

#include "structural_tag/tokens.h"

#include <algorithm>
#include <string>
#include <utility>

#include "json/located.h"

namespace parlance::structural_tag {
namespace {

class Resolver {
 public:
  Resolver(const TagTree& tag, const TagAnalysis& analysis, TagNodeId id,
           const TokenLookup& lookup)
      : tag_(tag),
        analysis_(analysis),
        id_(id),
        node_(tag_[id]),
        lookup_(lookup) {}

  Result<NodeTokens> run() {
    if (const auto* tag = node_.part<TagBody>()) {
      if (tag->end.token) {
        out_.end = find(*tag->end.token, node_.path + "/end/token");
      }
      if (tag->begin.token) {
        out_.begin = find(*tag->begin.token, node_.path + "/begin/token");
      }
    } else if (const auto* one = node_.part<TokenBody>()) {
      out_.token = find(one->token, node_.path + "/token");
    }
    find_excludes();
    if (const auto* body = node_.part<TokenTriggers>()) {
      find_triggers(body->triggers);
      if (has_rules(node_)) {
        for (const std::uint32_t trigger : out_.triggers) {
          out_.trigger_of.push_back(index_of_trigger(trigger));
        }
      } else {
        find_tags();
      }
    }
    if (error_) return *std::move(error_);
    return std::move(out_);
  }

 private:
  void fail(Error error) {
    if (!error_) error_ = std::move(error);
  }

  std::uint32_t find(const TokenRef& ref, const std::string& path) {
    if (!ref.by_text()) {
      if (ref.id >= lookup_.vocabulary_size) {
        fail({ErrorCode::kConflict,
              "token: the id " + std::to_string(ref.id) +
                  " is not in the vocabulary, which has " +
                  std::to_string(lookup_.vocabulary_size) + " tokens.",
              path});
      }
      return ref.id;
    }
    if (!lookup_.find) {
      fail({ErrorCode::kUsage,
            "token: '" + ref.text +
                "' is given by its text, and there is no vocabulary to "
                "look it up in. Give its id, or compile the tag with a "
                "vocabulary.",
            path});
      return 0;
    }
    const std::optional<std::uint32_t> found = lookup_.find(ref.text);
    if (found) return *found;
    fail({ErrorCode::kUnknownName,
          "token: no token of the vocabulary has the text '" + ref.text + "'.",
          path});
    return 0;
  }

  void find_excludes() {
    const std::string path = json::append_pointer(node_.path, "exclude_tokens");
    for (const TokenRef& ref : analysis_.excluded_tokens(id_)) {
      out_.excludes.push_back(find(ref, path));
    }
  }

  void find_triggers(const std::vector<TokenRef>& triggers) {
    for (std::size_t i = 0; i < triggers.size(); ++i) {
      out_.triggers.push_back(find(triggers[i], trigger_path(node_, i)));
    }
    for (std::size_t i = 0; i < triggers.size(); ++i) {
      if (std::ranges::find(out_.excludes, out_.triggers[i]) ==
          out_.excludes.end()) {
        continue;
      }
      fail(excluded_trigger_error(node_, i, std::to_string(out_.triggers[i])));
    }
  }

  std::size_t index_of_trigger(std::uint32_t token) const {
    return static_cast<std::size_t>(std::ranges::find(out_.triggers, token) -
                                    out_.triggers.begin());
  }

  // Exactly one trigger begins each tag, and every trigger begins one.
  void find_tags() {
    std::vector<bool> used(out_.triggers.size(), false);
    for (const TagNodeId child : node_.children) {
      const std::uint32_t begin = find(*tag_[child].as<TagBody>().begin.token,
                                       tag_[child].path + "/begin/token");
      if (std::ranges::count(out_.triggers, begin) != 1) {
        return fail(token_begin_error(tag_[child], std::to_string(begin)));
      }
      out_.trigger_of.push_back(index_of_trigger(begin));
      used[out_.trigger_of.back()] = true;
    }
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (used[i]) continue;
      fail(unused_token_error(node_, i, std::to_string(out_.triggers[i])));
    }
  }

  const TagTree& tag_;
  const TagAnalysis& analysis_;
  const TagNodeId id_;
  const TagNode& node_;
  const TokenLookup& lookup_;
  NodeTokens out_;
  std::optional<Error> error_;
};

}  // namespace

Result<NodeTokens> resolve_tokens(const TagTree& tag,
                                  const TagAnalysis& analysis, TagNodeId id,
                                  const TokenLookup& lookup) {
  return Resolver(tag, analysis, id, lookup).run();
}

}  // namespace parlance::structural_tag
