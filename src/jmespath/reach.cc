// The expression is run over places instead of values.  What a node gives is
// known as far as it matters: parts of the input (`self`), or a new list of
// parts of the input (`elements`), or something new.
//
// One rule keeps this right: whoever loses sight of a place marks it as looked
// at in full.

#include "jmespath/reach.h"

#include <algorithm>
#include <utility>

#include "jmespath/functions.h"

namespace parlance::jmespath {
namespace {

// Beyond this many places nothing is gained by telling them apart.
constexpr std::size_t kMaxPlaces = 128;

using Set = std::vector<PlaceId>;

struct Parts {
  Set self = {};
  Set elements = {};
};

void add(Set& set, PlaceId place) {
  if (std::find(set.begin(), set.end(), place) == set.end()) {
    set.push_back(place);
  }
}

void add(Set& set, const Set& others) {
  for (const PlaceId place : others) add(set, place);
}

class Reader {
 public:
  explicit Reader(const Expression& expression)
      : expression_(expression), places_(1) {}

  std::vector<Place> run() {
    use(visit(expression_.root, {{PlaceId{}}, {}}));
    if (places_.size() >= kMaxPlaces) {
      places_.assign(1, Place{.all = true});
    }
    return std::move(places_);
  }

 private:
  Place& at(PlaceId id) { return places_[static_cast<std::size_t>(id)]; }

  PlaceId make() {
    // Too many: the answer will be the whole input; go on with the root.
    if (places_.size() >= kMaxPlaces) return PlaceId{};
    places_.emplace_back();
    return static_cast<PlaceId>(places_.size() - 1);
  }

  template <class Key>
  PlaceId below(std::vector<std::pair<Key, PlaceId>> Place::*list, PlaceId id,
                const Key& key) {
    for (const auto& [name, place] : at(id).*list) {
      if (name == key) return place;
    }
    const PlaceId made = make();
    (at(id).*list).emplace_back(key, made);
    return made;
  }

  PlaceId below(PlaceId Place::*all, PlaceId id) {
    if (at(id).*all == PlaceId{}) {
      const PlaceId made = make();
      at(id).*all = made;
    }
    return at(id).*all;
  }

  void use(const Set& set) {
    for (const PlaceId place : set) at(place).all = true;
  }
  void use(const Parts& parts) {
    use(parts.self);
    use(parts.elements);
  }
  void use_shape(const Parts& parts) {
    for (const PlaceId place : parts.self) at(place).shape = true;
  }

  // What stands in the list that `parts` is.
  Set elements(const Parts& parts) {
    Set out = parts.elements;
    for (const PlaceId place : parts.self) add(out, below(&Place::each, place));
    return out;
  }

  Set values(const Parts& parts) {
    Set out;
    for (const PlaceId place : parts.self) {
      add(out, below(&Place::values, place));
    }
    return out;
  }

  // A new list of what `side` gives for each of `items`.
  Parts apply(NodeId side, Set items) {
    Parts each = visit(side, {std::move(items), {}});
    use(each.elements);
    return {{}, std::move(each.self)};
  }

  Parts visit(NodeId id, const Parts& input) {
    const Node& node = expression_[id];
    switch (node.kind) {
      case NodeKind::kCurrent:
        return input;
      case NodeKind::kLiteral:
        return {};
      case NodeKind::kField: {
        Parts out;
        for (const PlaceId place : input.self) {
          add(out.self, below(&Place::fields, place, node.name));
        }
        return out;
      }
      case NodeKind::kIndex: {
        if (node.slice.start < 0) return {elements(input), {}};
        Parts out{input.elements, {}};
        for (const PlaceId place : input.self) {
          add(out.self, below(&Place::indices, place, node.slice.start));
        }
        return out;
      }
      case NodeKind::kSlice:
        return {{}, elements(input)};
      case NodeKind::kChain: {
        Parts parts = input;
        for (const NodeId child : node.children) parts = visit(child, parts);
        return parts;
      }
      case NodeKind::kOr:
      case NodeKind::kAnd: {
        Parts out;
        for (const NodeId child : node.children) {
          const Parts parts = visit(child, input);
          if (child != node.children.back()) use(parts);
          add(out.self, parts.self);
          add(out.elements, parts.elements);
        }
        return out;
      }
      case NodeKind::kFlatten: {
        const Set items = elements(visit(node.children[0], input));
        Parts out{{}, items};
        for (const PlaceId place : items) {
          add(out.elements, below(&Place::each, place));
        }
        return out;
      }
      case NodeKind::kProjection:
        return apply(node.children[1],
                     elements(visit(node.children[0], input)));
      case NodeKind::kValueProjection:
        return apply(node.children[1], values(visit(node.children[0], input)));
      case NodeKind::kFilter: {
        const Set items = elements(visit(node.children[0], input));
        use(visit(node.children[2], {items, {}}));
        return apply(node.children[1], items);
      }
      case NodeKind::kCall:
        return call(node, input);
      case NodeKind::kNot:
      case NodeKind::kCompare:
      case NodeKind::kMultiList:
      case NodeKind::kMultiObject:
      case NodeKind::kReference:
        for (const NodeId child : node.children) use(visit(child, input));
        return {};
    }
    return {};
  }

  // REQUIRES: the call is one that check()s in evaluate.cc; others use all.
  Parts call(const Node& node, const Parts& input) {
    const std::size_t count = node.children.size();
    const auto is_reference = [&](std::size_t i) {
      return expression_[node.children[i]].kind == NodeKind::kReference;
    };
    switch (node.function) {
      case Function::kLength:
      case Function::kKeys:
      case Function::kType:
        if (count != 1 || is_reference(0)) break;
        use_shape(visit(node.children[0], input));
        return {};
      case Function::kMap:
        if (count != 2 || !is_reference(0) || is_reference(1)) break;
        return apply(expression_[node.children[0]].children[0],
                     elements(visit(node.children[1], input)));
      case Function::kSortBy:
      case Function::kMinBy:
      case Function::kMaxBy: {
        if (count != 2 || !is_reference(1) || is_reference(0)) break;
        const Set items = elements(visit(node.children[0], input));
        use(visit(expression_[node.children[1]].children[0], {items, {}}));
        if (node.function == Function::kSortBy) return {{}, items};
        return {items, {}};
      }
      default:
        break;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_reference(i)) {
        use(visit(node.children[i], input));
      }
    }
    return {};
  }

  const Expression& expression_;
  std::vector<Place> places_;
};

}  // namespace

std::vector<Place> places_of(const Expression& expression) {
  return Reader(expression).run();
}

}  // namespace parlance::jmespath
