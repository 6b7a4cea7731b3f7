// From tokens to a tree, by binding powers (Pratt, "Top Down Operator
// Precedence", 1973): every token that may follow an expression has a power,
// and an expression extends over the tokens that bind more tightly than the
// token before it.
//
// The powers, and with them where a projection ends, are those of the package.
// So are three liberties that the specification does not give: commas between
// the arguments of a call and the pairs of {a: b} may be missing (the last one
// of a call may also be superfluous), a slice may have a number too many
// ([1:2 3] is [1:3]), and an index binds to an index before it: x[0][1:2] is a
// list, not a projection.
//
// Parsing recurses once per bracket; its depth, and that of the tree, is held
// to limits.pattern_depth.

#include "jmespath/parser.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/utf8.h"
#include "jmespath/lexer.h"

namespace parlance::jmespath {
namespace {

// Ends a projection: a[*].b | c applies c to the list of all b.
constexpr int kProjectionStop = 10;
constexpr int kFlattenPower = 9;
constexpr int kStarPower = 20;
constexpr int kFilterPower = 21;
constexpr int kDotPower = 40;
constexpr int kNotPower = 45;

// How many times a part of the input may stand in a result; see Node::fan.
constexpr std::uint32_t kMaxFan = 1u << 20;

int power(TokenKind kind) {
  switch (kind) {
    case TokenKind::kPipe:
      return 1;
    case TokenKind::kOr:
      return 2;
    case TokenKind::kAnd:
      return 3;
    case TokenKind::kEqual:
    case TokenKind::kNotEqual:
    case TokenKind::kLess:
    case TokenKind::kLessOrEqual:
    case TokenKind::kGreater:
    case TokenKind::kGreaterOrEqual:
      return 5;
    case TokenKind::kFlatten:
      return kFlattenPower;
    case TokenKind::kStar:
      return kStarPower;
    case TokenKind::kFilter:
      return kFilterPower;
    case TokenKind::kDot:
      return kDotPower;
    case TokenKind::kNot:
      return kNotPower;
    case TokenKind::kOpenBrace:
      return 50;
    case TokenKind::kOpenBracket:
      return 55;
    case TokenKind::kOpenParen:
      return 60;
    default:
      return 0;
  }
}

Comparison comparison_of(TokenKind kind) {
  switch (kind) {
    case TokenKind::kNotEqual:
      return Comparison::kNotEqual;
    case TokenKind::kLess:
      return Comparison::kLess;
    case TokenKind::kLessOrEqual:
      return Comparison::kLessOrEqual;
    case TokenKind::kGreater:
      return Comparison::kGreater;
    case TokenKind::kGreaterOrEqual:
      return Comparison::kGreaterOrEqual;
    default:
      return Comparison::kEqual;
  }
}

class Parser {
 public:
  Parser(std::string_view text, std::vector<Token> tokens, const Limits& limits)
      : text_(text), tokens_(std::move(tokens)), limits_(limits) {}

  Result<Expression> run() {
    Expression out;
    const MaybeNode root = expression(0);
    if (root && current().kind != TokenKind::kEnd) unexpected();
    if (error_) return *std::move(error_);
    out.text = text_;
    out.root = *root;
    out.max_string_bytes = limits_.source_bytes;
    check_references(out.root);
    if (error_) return *std::move(error_);
    out.nodes = std::move(nodes_);
    return out;
  }

 private:
  // Empty: error_ is set.
  using MaybeNode = std::optional<NodeId>;

  const Token& current() const { return tokens_[at_]; }
  TokenKind kind() const { return tokens_[at_].kind; }
  // kEnd is never passed.
  void advance() {
    if (at_ + 1 < tokens_.size()) ++at_;
  }
  std::size_t last_end() const {
    return at_ == 0 ? 0 : tokens_[at_ - 1].span.end;
  }
  TokenKind kind_after() const {
    return tokens_[std::min(at_ + 1, tokens_.size() - 1)].kind;
  }
  Node& node(NodeId id) { return nodes_[static_cast<std::size_t>(id)]; }

  // ---- Errors

  MaybeNode fail(ErrorCode code, std::string message, Span span) {
    if (!error_) error_ = Error{code, std::move(message), "", span};
    return std::nullopt;
  }
  MaybeNode fail(std::string message, Span span) {
    return fail(ErrorCode::kBadExpression, std::move(message), span);
  }
  MaybeNode unexpected(std::string_view wanted = {}) {
    std::string message;
    if (kind() == TokenKind::kEnd) {
      message = "the expression ends too early";
    } else {
      message = "found '";
      message += text_.substr(current().span.begin, current().span.size());
      message += "'";
      if (wanted.empty()) message += ", which cannot stand here";
    }
    if (!wanted.empty()) {
      message += ", expected ";
      message += wanted;
    }
    message += '.';
    return fail(std::move(message), current().span);
  }
  bool expect(TokenKind wanted, std::string_view name) {
    if (kind() != wanted) {
      unexpected(name);
      return false;
    }
    advance();
    return true;
  }

  // ---- Nodes

  // Adds a node and works out its bounds from those of its children.
  MaybeNode add(Node made) {
    made.span.end = std::max(made.span.end, last_end());
    std::uint32_t depth = 0;
    std::uint32_t deepest_lift = 0;
    std::uint64_t lifts = 0;
    std::uint64_t fans = 0;
    std::uint64_t product = 1;
    for (const NodeId id : made.children) {
      const Node& child = node(id);
      depth = std::max(depth, child.depth);
      deepest_lift = std::max(deepest_lift, child.lift);
      lifts += child.lift;
      fans += child.fan;
      product = std::min<std::uint64_t>(product * child.fan, kMaxFan + 1);
    }
    made.depth = depth + 1;
    std::uint64_t lift = deepest_lift;
    std::uint64_t fan = 1;
    switch (made.kind) {
      case NodeKind::kChain:
      case NodeKind::kProjection:
      case NodeKind::kValueProjection:
      case NodeKind::kFilter:
        lift = lifts;
        fan = product;
        break;
      case NodeKind::kCall:
        lift = lifts + 1;
        // A reference is applied to the result of the other argument.
        fan = std::max(fans, product);
        break;
      case NodeKind::kMultiList:
      case NodeKind::kMultiObject:
        lift = deepest_lift + 1;
        fan = fans;
        break;
      default:
        for (const NodeId id : made.children) {
          fan = std::max<std::uint64_t>(fan, node(id).fan);
        }
        break;
    }
    constexpr std::uint64_t kMany = std::numeric_limits<std::uint32_t>::max();
    made.lift = static_cast<std::uint32_t>(std::min(lift, kMany));
    made.fan =
        static_cast<std::uint32_t>(std::clamp<std::uint64_t>(fan, 1, kMany));
    if (!check(made)) return {};
    nodes_.push_back(std::move(made));
    return static_cast<NodeId>(nodes_.size() - 1);
  }

  bool check(const Node& made) {
    if (made.depth > limits_.pattern_depth ||
        made.lift > limits_.pattern_depth) {
      too_deep(made.span);
    } else if (made.fan > kMaxFan) {
      fail(ErrorCode::kTooLarge,
           "the expression can repeat its input more than " +
               std::to_string(kMaxFan) + " times.",
           made.span);
    }
    return !error_;
  }

  MaybeNode too_deep(Span span) {
    return fail(ErrorCode::kTooDeep,
                "the expression is nested more than " +
                    std::to_string(limits_.pattern_depth) +
                    " levels deep (limit pattern_depth).",
                span);
  }

  MaybeNode add(NodeKind kind, std::vector<NodeId> children, Span span) {
    Node made;
    made.kind = kind;
    made.children = std::move(children);
    made.span = span;
    return add(std::move(made));
  }

  MaybeNode identity(std::size_t at) {
    return add(NodeKind::kCurrent, {}, {at, at});
  }

  // One more child at the end of a chain, an Or or an And, in place: long ones
  // are built in linear time.
  MaybeNode extend(NodeId id, NodeId child) {
    Node& longer = node(id);
    const Node& last = node(child);
    longer.children.push_back(child);
    longer.span.end = last_end();
    longer.depth = std::max(longer.depth, last.depth + 1);
    if (longer.kind == NodeKind::kChain) {
      longer.lift += last.lift;
      longer.fan = static_cast<std::uint32_t>(std::min<std::uint64_t>(
          std::uint64_t{longer.fan} * last.fan, kMaxFan + 1));
    } else {
      longer.lift = std::max(longer.lift, last.lift);
      longer.fan = std::max(longer.fan, last.fan);
    }
    return check(longer) ? MaybeNode(id) : std::nullopt;
  }

  // `left`, then `right` applied to its result.
  MaybeNode chain(NodeId left, NodeId right, bool indexed) {
    if (node(left).kind == NodeKind::kChain && node(left).indexed == indexed) {
      return extend(left, right);
    }
    Node made;
    made.kind = NodeKind::kChain;
    made.indexed = indexed;
    made.children = {left, right};
    made.span = node(left).span;
    return add(std::move(made));
  }

  MaybeNode either(NodeKind kind, NodeId left, NodeId right) {
    if (node(left).kind == kind) return extend(left, right);
    return add(kind, {left, right}, node(left).span);
  }

  // ---- Expressions

  MaybeNode expression(int binding_power) {
    if (++depth_ > limits_.pattern_depth) return too_deep(current().span);
    MaybeNode left = prefix();
    while (left && binding_power < power(kind())) left = infix(*left);
    --depth_;
    return left;
  }

  MaybeNode prefix() {
    const std::size_t start = at_;
    const Token& token = current();
    const std::size_t begin = token.span.begin;
    advance();
    switch (token.kind) {
      case TokenKind::kLiteral: {
        Node made;
        made.kind = NodeKind::kLiteral;
        made.literal = token.value;
        made.span = token.span;
        return add(std::move(made));
      }
      case TokenKind::kQuotedName:
        if (kind() == TokenKind::kOpenParen) {
          return fail("a function is called by its bare name, not in quotes.",
                      token.span);
        }
        [[fallthrough]];
      case TokenKind::kName: {
        Node made;
        made.kind = NodeKind::kField;
        made.name = token.text;
        made.span = token.span;
        return add(std::move(made));
      }
      case TokenKind::kCurrent:
        return add(NodeKind::kCurrent, {}, token.span);
      case TokenKind::kStar: {
        const MaybeNode left = identity(begin);
        const MaybeNode right = projection_side(kStarPower);
        return project(NodeKind::kValueProjection, left, right, begin);
      }
      case TokenKind::kFilter:
        return filter(identity(begin), begin);
      case TokenKind::kFlatten:
        return flatten(identity(begin), begin);
      case TokenKind::kOpenBrace:
        return multi_object(begin);
      case TokenKind::kOpenParen: {
        const MaybeNode inner = expression(0);
        if (!inner || !expect(TokenKind::kCloseParen, "')'")) return {};
        return inner;
      }
      case TokenKind::kNot: {
        const MaybeNode inner = expression(kNotPower);
        if (!inner) return {};
        return add(NodeKind::kNot, {*inner}, {begin, begin});
      }
      case TokenKind::kReference: {
        const MaybeNode inner = expression(0);
        if (!inner) return {};
        return add(NodeKind::kReference, {*inner}, {begin, begin});
      }
      case TokenKind::kOpenBracket:
        if (kind() == TokenKind::kNumber || kind() == TokenKind::kColon) {
          return index(identity(begin));
        }
        if (kind() == TokenKind::kStar &&
            kind_after() == TokenKind::kCloseBracket) {
          advance();
          advance();
          return project(NodeKind::kProjection, identity(begin),
                         projection_side(kStarPower), begin);
        }
        return multi_list(begin);
      default:
        at_ = start;
        return unexpected();
    }
  }

  MaybeNode infix(NodeId left) {
    const Token& token = current();
    const TokenKind operation = token.kind;
    const std::size_t begin = node(left).span.begin;
    switch (operation) {
      case TokenKind::kDot: {
        advance();
        if (kind() == TokenKind::kStar) {
          advance();
          return project(NodeKind::kValueProjection, left,
                         projection_side(kDotPower), begin);
        }
        const MaybeNode right = dot_side(kDotPower);
        return right ? chain(left, *right, false) : std::nullopt;
      }
      case TokenKind::kPipe: {
        advance();
        const MaybeNode right = expression(power(operation));
        return right ? chain(left, *right, false) : std::nullopt;
      }
      case TokenKind::kOr:
      case TokenKind::kAnd: {
        advance();
        const MaybeNode right = expression(power(operation));
        if (!right) return {};
        return either(
            operation == TokenKind::kOr ? NodeKind::kOr : NodeKind::kAnd, left,
            *right);
      }
      case TokenKind::kEqual:
      case TokenKind::kNotEqual:
      case TokenKind::kLess:
      case TokenKind::kLessOrEqual:
      case TokenKind::kGreater:
      case TokenKind::kGreaterOrEqual: {
        advance();
        const MaybeNode right = expression(power(operation));
        if (!right) return {};
        Node made;
        made.kind = NodeKind::kCompare;
        made.comparison = comparison_of(operation);
        made.children = {left, *right};
        made.span = {begin, begin};
        return add(std::move(made));
      }
      case TokenKind::kFlatten:
        advance();
        return flatten(left, begin);
      case TokenKind::kFilter:
        advance();
        return filter(left, begin);
      case TokenKind::kOpenBracket:
        advance();
        if (kind() == TokenKind::kNumber || kind() == TokenKind::kColon) {
          return index(left);
        }
        if (!expect(TokenKind::kStar, "a number, ':' or '*'") ||
            !expect(TokenKind::kCloseBracket, "']'")) {
          return {};
        }
        return project(NodeKind::kProjection, left, projection_side(kStarPower),
                       begin);
      case TokenKind::kOpenParen:
        return call(left);
      default:
        return unexpected();
    }
  }

  // ---- Projections

  MaybeNode project(NodeKind kind, MaybeNode left, MaybeNode right,
                    std::size_t begin) {
    if (!left || !right) return {};
    return add(kind, {*left, *right}, {begin, begin});
  }

  // The expression that a projection applies to each element.
  MaybeNode projection_side(int binding_power) {
    if (power(kind()) < kProjectionStop) return identity(last_end());
    if (kind() == TokenKind::kOpenBracket || kind() == TokenKind::kFilter) {
      return expression(binding_power);
    }
    if (kind() == TokenKind::kDot) {
      advance();
      return dot_side(binding_power);
    }
    return unexpected();
  }

  MaybeNode dot_side(int binding_power) {
    switch (kind()) {
      case TokenKind::kName:
      case TokenKind::kQuotedName:
      case TokenKind::kStar:
        return expression(binding_power);
      case TokenKind::kOpenBracket: {
        const std::size_t begin = current().span.begin;
        advance();
        return multi_list(begin);
      }
      case TokenKind::kOpenBrace: {
        const std::size_t begin = current().span.begin;
        advance();
        return multi_object(begin);
      }
      default:
        return unexpected("a name, '*', '[' or '{' after '.'");
    }
  }

  MaybeNode flatten(MaybeNode left, std::size_t begin) {
    if (!left) return {};
    const MaybeNode flat = add(NodeKind::kFlatten, {*left}, {begin, begin});
    return project(NodeKind::kProjection, flat, projection_side(kFlattenPower),
                   begin);
  }

  // REQUIRES: "[?" has been read.
  MaybeNode filter(MaybeNode left, std::size_t begin) {
    const MaybeNode condition = expression(0);
    if (!left || !condition || !expect(TokenKind::kCloseBracket, "']'")) {
      return {};
    }
    const MaybeNode right = projection_side(kFilterPower);
    if (!right) return {};
    return add(NodeKind::kFilter, {*left, *right, *condition}, {begin, begin});
  }

  // ---- [1], [1:2:3].  REQUIRES: "[" has been read.

  MaybeNode index(MaybeNode left) {
    if (!left) return {};
    Node made;
    made.span = {tokens_[at_ - 1].span.begin, 0};
    const bool slice =
        kind() == TokenKind::kColon || kind_after() == TokenKind::kColon;
    made.kind = slice ? NodeKind::kSlice : NodeKind::kIndex;
    if (slice) {
      if (!read_slice(made.slice)) return {};
    } else {
      made.slice.start = current().number;
      advance();
      if (!expect(TokenKind::kCloseBracket, "']'")) return {};
    }
    const std::size_t begin = node(*left).span.begin;
    const bool follows =
        node(*left).kind == NodeKind::kChain && node(*left).indexed;
    const MaybeNode step = add(std::move(made));
    if (!step) return {};
    const MaybeNode steps = chain(*left, *step, true);
    if (!slice || follows) return steps;
    return project(NodeKind::kProjection, steps, projection_side(kStarPower),
                   begin);
  }

  bool read_slice(Slice& slice) {
    int part = 0;
    while (kind() != TokenKind::kCloseBracket) {
      if (kind() == TokenKind::kColon && part < 2) {
        ++part;
      } else if (kind() == TokenKind::kNumber) {
        const std::int64_t number = current().number;
        if (part == 0) {
          slice.start = number;
          slice.has_start = true;
        } else if (part == 1) {
          slice.stop = number;
          slice.has_stop = true;
        } else {
          slice.step = number;
        }
      } else {
        unexpected("a number, ':' or ']'");
        return false;
      }
      advance();
    }
    advance();
    return true;
  }

  // ---- [a, b], {x: a, y: b}, f(a, b)

  // REQUIRES: "[" has been read.
  MaybeNode multi_list(std::size_t begin) {
    Node made;
    made.kind = NodeKind::kMultiList;
    made.span = {begin, begin};
    for (;;) {
      const MaybeNode child = expression(0);
      if (!child) return {};
      made.children.push_back(*child);
      if (kind() == TokenKind::kCloseBracket) break;
      if (!expect(TokenKind::kComma, "',' or ']'")) return {};
    }
    advance();
    return add(std::move(made));
  }

  // REQUIRES: "{" has been read.
  MaybeNode multi_object(std::size_t begin) {
    Node made;
    made.kind = NodeKind::kMultiObject;
    made.span = {begin, begin};
    for (;;) {
      if (kind() != TokenKind::kName && kind() != TokenKind::kQuotedName) {
        return unexpected("a key");
      }
      made.keys.push_back(current().text);
      advance();
      if (!expect(TokenKind::kColon, "':'")) return {};
      const MaybeNode child = expression(0);
      if (!child) return {};
      made.children.push_back(*child);
      if (kind() == TokenKind::kCloseBrace) break;
      if (kind() == TokenKind::kComma) advance();
    }
    advance();
    return add(std::move(made));
  }

  MaybeNode call(NodeId left) {
    if (node(left).kind != NodeKind::kField) {
      return fail("only a function's name may stand before '('.",
                  {node(left).span.begin, current().span.end});
    }
    advance();
    Node made;
    made.kind = NodeKind::kCall;
    made.name = node(left).name;
    made.function = find_function(made.name);
    made.span = node(left).span;
    while (kind() != TokenKind::kCloseParen) {
      const MaybeNode argument = expression(0);
      if (!argument) return {};
      made.children.push_back(*argument);
      if (kind() == TokenKind::kComma) advance();
    }
    advance();
    return add(std::move(made));
  }

  // A reference is no value; it may only be an argument.
  void check_references(NodeId root) {
    const auto refuse = [&](NodeId id) {
      if (node(id).kind != NodeKind::kReference) return;
      fail("'&' may only stand before an argument of a function.",
           node(id).span);
    };
    refuse(root);
    for (const Node& parent : nodes_) {
      if (parent.kind == NodeKind::kCall) continue;
      for (const NodeId child : parent.children) refuse(child);
    }
  }

  const std::string_view text_;
  const std::vector<Token> tokens_;
  const Limits limits_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::vector<Node> nodes_;
  std::optional<Error> error_;
};

}  // namespace

Result<Expression> parse(std::string_view text, const Limits& limits) {
  if (text.size() > limits.source_bytes) {
    return Error{ErrorCode::kTooLarge,
                 "the expression has " + std::to_string(text.size()) +
                     " bytes, more than the limit source_bytes (" +
                     std::to_string(limits.source_bytes) + ")."};
  }
  if (!base::is_utf8(text, true)) {
    return Error{ErrorCode::kInvalidUtf8, "the expression is not UTF-8."};
  }
  if (text.empty()) {
    return Error{ErrorCode::kBadExpression, "the expression is empty.", "",
                 Span{0, 0}};
  }
  Result<std::vector<Token>> tokens = tokenize(text, limits);
  if (!tokens) return std::move(tokens).error();
  return Parser(text, *std::move(tokens), limits).run();
}

}  // namespace parlance::jmespath
