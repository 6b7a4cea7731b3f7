#ifndef PARLANCE_SRC_SCHEMA_LOADER_H_
#define PARLANCE_SRC_SCHEMA_LOADER_H_

// The reader of schemas: a work list of schema locations, each read once.
//
// A location gets a node when something refers to it, and is read when the work
// list reaches it.  So nesting of the input does not reach the call stack, and
// parts that nothing refers to cost nothing.  load.cc has the work list,
// references and the final check; load_rules.cc has the keywords.
//
// Methods that return bool return false after fail() was called, and those that
// return a node may return kNoNode; the first failure is reported.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schema/document.h"
#include "schema/formats.h"
#include "schema/keywords.h"
#include "schema/resources.h"

namespace parlance::schema {

// A dynamic scope: for the name of each dynamic anchor, the anchor in the
// outermost resource that was entered on the way to a location.
using ScopeId = base::Id<struct ScopeTag>;
inline constexpr ScopeId kNoScope{0};

// Whether the document turned out to need dynamic scopes.  They are rare and
// cost a scan, so a document is read without them first.
enum class Scopes : bool { kNone, kTracked };

class Loader {
 public:
  Loader(const LoadOptions& options, Scopes scopes);
  // Nothing if Scopes::kTracked is needed.
  std::optional<Result<Document>> run(const json::Value& schema);

 private:
  // A location to be read, and the node that it is read into.
  struct Work {
    const json::Value* value = nullptr;
    NodeId node = kNoNode;
    ResourceId resource = Resources::kRoot;
    ScopeId scope = kNoScope;
    std::uint32_t depth = 0;
    bool literal = false;  // `value` is no schema: the node accepts it alone
  };
  // The keywords of the schema being read.
  struct Members {
    std::array<const json::Value*, kKeywordCount> at;
    std::uint64_t present = 0;
    const json::Value* find(Keyword keyword) const {
      const auto i = static_cast<std::size_t>(keyword);
      return (present >> i & 1) != 0 ? at[i] : nullptr;
    }
  };
  // Maps locations to nodes.  Open addressing, at most half full.
  struct Slot {
    const json::Value* value = nullptr;
    ScopeId scope = kNoScope;
    NodeId node = kNoNode;
  };

  // load.cc
  bool read(const Work& work);
  void collect(const json::Value& schema, Draft draft);
  NodeId node_at(const json::Value& value, ResourceId resource, ScopeId scope,
                 std::uint32_t depth);
  NodeId child(const json::Value& value);
  NodeId literal(const json::Value& value);
  NodeId false_node(const json::Value& where);
  NodeId new_node(const json::Value& source);
  Slot& slot_of(const json::Value* value, ScopeId scope);
  bool read_literal(NodeId id, const json::Value& value);
  bool references();
  void drop_beside_ref();
  bool follow(const json::Value& where, NodeId& out);
  bool follow_dynamic(const json::Value& where, NodeId& out);
  bool follow_recursive(const json::Value& where, NodeId& out);
  ScopeId enter_scope(ScopeId scope, ResourceId resource);
  const json::Value* in_scope(std::string_view name) const;
  void merge_unions();
  void merge_union(std::vector<NodeId> members);
  bool check_chains(bool merged);
  bool fail_loop(const json::Value& where, NodeId loop);
  bool fail(const json::Value& where, ErrorCode code, std::string message);
  bool wrong_type(const json::Value& where, Keyword keyword,
                  std::string_view expected);

  // load_rules.cc
  bool rules();
  bool rule(Keyword keyword, const json::Value& value);
  bool draft_name(const json::Value& value);
  bool types(const json::Value& value);
  bool enumeration(const json::Value& value);
  bool constant(const json::Value& value);
  void allow(Node& node, NodeId id, const json::Value& value);
  bool number(Keyword keyword, const json::Value& value);
  bool bound(Keyword plain, Keyword exclusive);
  std::optional<base::Decimal> decimal_of(const json::Value& value);
  bool count(Keyword keyword, const json::Value& value, std::uint64_t& out);
  bool count(Keyword keyword, const json::Value& value,
             std::optional<std::uint64_t>& out);
  bool pattern(const json::Value& where, std::string_view text, PatternId& out);
  bool format(const json::Value& value);
  bool items();
  bool contains();
  bool unique_items(const json::Value& value);
  bool list(Keyword keyword, const json::Value& value,
            std::vector<NodeId>& out);
  bool properties(const json::Value& value);
  bool pattern_properties(const json::Value& value);
  bool required(const json::Value& value);
  bool names(Keyword keyword, const json::Value& value,
             std::vector<std::string_view>& out);
  bool dependencies(Keyword keyword, const json::Value& value);
  bool schema(Keyword keyword, const json::Value& value, NodeId& out);
  bool in_place(Keyword keyword, const json::Value& value, NodeId Node::*out);
  bool in_place(Keyword keyword, const json::Value& value,
                std::vector<NodeId> Node::*out);
  bool condition(const json::Value& value);

  Node& node() { return document_.nodes[now_.node]; }
  NumberRules& numbers();
  StringRules& strings();
  ArrayRules& arrays();
  ObjectRules& objects();

  Document document_;
  const LoadOptions& options_;
  Scopes scopes_;
  Resources resources_;
  std::vector<Work> work_;
  std::vector<Slot> slots_;
  std::size_t used_slots_ = 0;
  NodeId false_node_ = kNoNode;
  bool has_references_ = false;
  bool needs_scopes_ = false;
  std::unordered_map<std::string_view, PatternId> pattern_ids_;
  std::map<FormatId, PatternId> format_ids_;

  // Scopes by id, each sorted; and ids by scope.
  using Scope = std::vector<std::pair<std::string_view, const json::Value*>>;
  std::vector<Scope> scope_list_ = {{}};
  std::map<Scope, ScopeId> scope_ids_;
  std::unordered_map<const json::Value*, ResourceId> resource_of_anchor_;

  // The location being read.
  Work now_;
  Draft draft_ = Draft::k2020;
  Members members_;
  std::optional<Error> error_;
};

}  // namespace parlance::schema

#endif  // PARLANCE_SRC_SCHEMA_LOADER_H_
