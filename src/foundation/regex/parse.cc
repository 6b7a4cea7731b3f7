// Text -> Ast: groups, alternation, quantifiers, flags.
//
// The parser walks the text once.  frames_ is the stack of open groups.  A
// frame holds the branch being read as a list of node ids.  A quantifier
// replaces the last id of the list, "|" moves the list to the branches, and ")"
// pops the frame and appends its node to the list of the enclosing group.
//
// Invariant between two constructs: text_[0, at_) is read; the nodes of
// frames_, from the outermost to the innermost, are its complete constructs in
// order; and in ast_.nodes every child precedes its parent.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/utf8.h"
#include "regex/parser.h"
#include "regex/unicode_properties.h"

namespace parlance::regex {
namespace {

using base::is_digit;

// The characters that VERBOSE ignores: those for which str.isspace() is true.
bool is_ignored_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31);
  return property_class(Property::kSpace).contains(c);
}

bool is_identifier(std::string_view name) {
  static const CharClass start = find_property("", "XIDSTART").char_class;
  static const CharClass rest = find_property("", "XIDCONTINUE").char_class;
  std::size_t i = 0;
  bool first = true;
  while (i < name.size()) {
    char32_t c = base::next_code_point(name, i);
    if (!(first ? c == '_' || start.contains(c) : rest.contains(c))) {
      return false;
    }
    first = false;
  }
  return !first;
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c >= '0' && c <= '9';
  });
}

// The value of decimal digits, at most base::kUnbounded.
std::uint32_t number_of(std::string_view digits) {
  std::uint64_t value = 0;
  for (char c : digits) {
    value = std::min<std::uint64_t>(value * 10 + std::uint64_t(c - '0'),
                                    base::kUnbounded);
  }
  return static_cast<std::uint32_t>(value);
}

// What is made of a pattern takes up to 500 bytes a node.
constexpr std::size_t kMostNodes = 2'000'000;

}  // namespace

Result<Ast> parse_ast(std::string_view text, const PatternOptions& options) {
  return Parser(text, options).run();
}

Parser::Parser(std::string_view text, const PatternOptions& options)
    : text_(text), flavor_(options.flavor), limits_(options.limits) {
  flags_.ignore_case = options.ignore_case;
  flags_.multi_line = options.multi_line;
  flags_.dot_all = options.dot_all;
  flags_.verbose = options.verbose;
}

Result<Ast> Parser::run() {
  if (!base::is_utf8(text_, true)) {
    fail(0, text_.size(), "The pattern is not UTF-8.", ErrorCode::kInvalidUtf8);
    return *error_;
  }
  // Node spans and child ids are 32 bits wide.
  if (text_.size() > std::min<std::size_t>(limits_.source_bytes, 0x7FFFFFFF)) {
    fail(0, text_.size(), "The pattern is longer than the limit source_bytes.",
         ErrorCode::kTooLarge);
    return *error_;
  }
  Frame whole;
  whole.outer_flags = flags_;
  frames_.push_back(std::move(whole));
  for (skip_ignored(); !at_end(); skip_ignored()) {
    if (!step()) return *error_;
    if (ast_.nodes.size() > kMostNodes) {
      fail(
          0, text_.size(),
          "The pattern has more than " + std::to_string(kMostNodes) + " parts.",
          ErrorCode::kTooLarge);
      return *error_;
    }
  }
  if (frames_.size() > 1) {
    std::size_t begin = frames_.back().begin;
    fail(begin, begin + 1, "This \"(\" is never closed; add a \")\".");
    return *error_;
  }
  finish(frames_.back());
  if (!resolve_references()) return *error_;
  return std::move(ast_);
}

// Reads one construct at at_.
bool Parser::step() {
  std::size_t begin = at_;
  char32_t c = raw_next();
  switch (c) {
    case '(':
      return open_paren(begin);
    case ')':
      return close(begin);
    case '|':
      return next_branch(begin);
    case '[':
      return bracket(begin);
    case '\\':
      return escape(begin);
    case '.':
      push(make(AstKind::kDot, begin));
      return true;
    case '^':
      return anchor(AstAnchor::kCaret, begin);
    case '$':
      return anchor(AstAnchor::kDollar, begin);
    case '*':
    case '+':
    case '?':
    case '{':
      return quantifier(begin);
    default:
      push_char(c, begin);
      return true;
  }
}

bool Parser::anchor(AstAnchor which, std::size_t begin) {
  AstNode node = make(AstKind::kAnchor, begin);
  node.anchor = which;
  push(std::move(node));
  return true;
}

// --- Quantifiers ----------------------------------------------------------

// Reads a quantifier.  REQUIRES: at_ is after one of * + ? {, which is at
// `begin`.  A "{" that begins no quantifier is a character.
bool Parser::quantifier(std::size_t begin) {
  switch (text_[begin]) {
    case '*':
      return apply(begin, 0, base::kUnbounded);
    case '+':
      return apply(begin, 1, base::kUnbounded);
    case '?':
      return apply(begin, 0, 1);
    default:
      break;
  }
  bool is_quantifier = false;
  std::uint32_t min = 0;
  std::uint32_t max = 0;
  if (!braces(begin, is_quantifier, min, max)) return false;
  if (is_quantifier) return apply(begin, min, max);
  // "{e<=1}" is text for everybody but the `regex` module.
  if (flavor_ == Flavor::kRegexModule) {
    std::size_t i = at_;
    std::size_t end = text_.find('}', i);
    if (end != std::string_view::npos && end > i) {
      std::string_view inside = text_.substr(i, end - i);
      bool letters = inside.find_first_not_of(
                         "0123456789abcdefghijklmnopqrstuvwxyz<=,+: ") ==
                     std::string_view::npos;
      bool fuzzy =
          letters &&
          (inside == "e" || inside == "i" || inside == "d" || inside == "s" ||
           inside.find("e<") == 0 || inside.find("i<") == 0 ||
           inside.find("d<") == 0 || inside.find("s<") == 0 ||
           inside.find("<=") != std::string_view::npos);
      if (fuzzy) {
        return refuse(begin, end + 1,
                      "Fuzzy matching is not supported; to match these "
                      "characters as text write \"\\{\".");
      }
    }
  }
  push_char('{', begin);
  return true;
}

// Reads the rest of "{m}", "{m,}", "{,n}" or "{m,n}".  If the text is none of
// these, it is not a quantifier, and at_ does not change.  REQUIRES: at_ is
// after the "{".
bool Parser::braces(std::size_t begin, bool& is_quantifier, std::uint32_t& min,
                    std::uint32_t& max) {
  std::size_t saved = at_;
  auto digits = [this] {
    std::string found;
    for (skip_ignored(); is_digit(raw_peek()); skip_ignored()) {
      found += static_cast<char>(raw_next());
    }
    return found;
  };
  std::string low = digits();
  std::string high = low;
  bool comma = raw_match(",");
  if (comma) high = digits();
  bool closed = raw_match("}");
  bool empty = low.empty() && (!comma || ecma());
  if (!closed || empty) {
    at_ = saved;
    is_quantifier = false;
    return true;
  }
  is_quantifier = true;
  min = low.empty() ? 0 : number_of(low);
  max = high.empty() ? base::kUnbounded : number_of(high);
  if (min == base::kUnbounded || (max == base::kUnbounded && !high.empty())) {
    return fail(begin, at_, "The repeat count is too large.",
                ErrorCode::kTooLarge);
  }
  if (min > max) {
    return fail(begin, at_,
                "The least count is greater than the greatest; write the "
                "smaller number first.");
  }
  return true;
}

bool Parser::apply(std::size_t begin, std::uint32_t min, std::uint32_t max) {
  RepeatMode mode = RepeatMode::kGreedy;
  skip_ignored();
  if (raw_match("?")) {
    mode = RepeatMode::kLazy;
  } else if (!ecma() && raw_match("+")) {
    mode = RepeatMode::kPossessive;
  }
  Frame& frame = frames_.back();
  if (frame.quantified) {
    return fail(begin, at_,
                "A quantifier cannot follow a quantifier; put what is to be "
                "repeated into \"(?:...)\".");
  }
  if (frame.sequence.empty()) {
    return fail(begin, at_,
                "There is nothing here to repeat; to match the character as "
                "text write a \"\\\" before it.");
  }
  AstId repeated = frame.sequence.back();
  if (python_re() && !frame.grouped &&
      ast_.nodes[repeated].kind == AstKind::kAnchor) {
    return fail(begin, at_, "An assertion such as \"^\" cannot be repeated.");
  }
  frame.quantified = true;
  if (min == 1 && max == 1) return true;
  AstNode node = make(AstKind::kRepeat, ast_.nodes[repeated].span.begin);
  node.children = {repeated};
  node.min = min;
  node.max = max;
  node.mode = mode;
  frame.sequence.back() = store(std::move(node));
  return true;
}

// --- Groups ---------------------------------------------------------------

bool Parser::open(Frame frame) {
  if (frames_.size() > limits_.pattern_depth) {
    return fail(frame.begin, at_,
                "Groups are nested more deeply than the limit pattern_depth.",
                ErrorCode::kTooLarge);
  }
  frame.outer_flags = flags_;
  frame.branch_begin = at_;
  frames_.push_back(std::move(frame));
  return true;
}

// Reads the opening of a group.  REQUIRES: at_ is after the "(".
bool Parser::open_paren(std::size_t begin) {
  if (raw_match("?")) return open_extension(begin);
  if (flavor_ == Flavor::kRegexModule && raw_peek() == '*') {
    std::size_t i = at_ + 1;
    if (i < text_.size() && ((text_[i] | 0x20) >= 'a') &&
        ((text_[i] | 0x20) <= 'z')) {
      return refuse(begin, at_ + 1, "Verbs such as (*FAIL) are not supported.");
    }
  }
  return open_capture(begin, nullptr);
}

// Reads the opening of an extension.  REQUIRES: at_ is after "(?".
//
// Constructs that all flavors share come first, then "(?<name>", which `re`
// does not have, then the constructs that ECMA does not have, and finally
// flags.  The order matters where one opening is a prefix of another: "<!" and
// "<=" are tested before "<".
bool Parser::open_extension(std::size_t begin) {
  Frame frame;
  frame.begin = begin;
  if (raw_match(":")) {
    frame.kind = FrameKind::kPlain;
    return open(std::move(frame));
  }
  frame.kind = FrameKind::kLook;
  if (raw_match("=")) return open(std::move(frame));
  frame.negated = true;
  if (raw_match("!")) return open(std::move(frame));
  frame.behind = true;
  if (raw_match("<!")) return open(std::move(frame));
  frame.negated = false;
  if (raw_match("<=")) return open(std::move(frame));
  if (!python_re() && raw_match("<")) {
    std::string name;
    if (!group_name('>', false, name)) return false;
    return open_capture(begin, &name);
  }
  if (ecma()) {
    // Spellings of Python and Rust that ECMA has no other meaning for.
    if (raw_match("P<")) {
      std::string name;
      return group_name('>', false, name) && open_capture(begin, &name);
    }
    if (std::u32string_view(U"imsux-").find(raw_peek()) ==
        std::u32string_view::npos) {
      return fail(begin, at_ + 1,
                  "Unknown group; \"(?\" must be followed by \":\", \"=\", "
                  "\"!\", \"<=\", \"<!\", \"<name>\" or flags out of "
                  "\"imsux\".");
    }
    return open_flags(begin);
  }
  if (raw_match("#")) return comment(begin);
  if (raw_match("P")) return open_python(begin);
  if (raw_match("(")) return open_conditional(begin);
  if (raw_match(">")) {
    frame.kind = FrameKind::kAtomic;
    frame.behind = false;
    return open(std::move(frame));
  }
  char32_t c = raw_peek();
  if (flavor_ == Flavor::kRegexModule) {
    if (c == '|') {
      return refuse(begin, at_ + 1,
                    "Branch reset \"(?|\" is not supported; give the groups "
                    "the same name instead: \"(?P<x>a)|(?P<x>b)\".");
    }
    bool relative = (c == '+' || c == '-') && at_ + 1 < text_.size() &&
                    is_digit(char32_t(text_[at_ + 1]));
    if (c == 'R' || c == '&' || is_digit(c) || relative) {
      return refuse(begin, at_ + 1,
                    "Recursion and calls of groups are not supported.");
    }
  }
  return open_flags(begin);
}

// Reads the rest of "(?P<name>" or "(?P=name)".  REQUIRES: at_ is after the
// "P".
bool Parser::open_python(std::size_t begin) {
  if (raw_match("<")) {
    std::string name;
    if (!group_name('>', false, name)) return false;
    return open_capture(begin, &name);
  }
  if (raw_match("=")) {
    std::string name;
    if (!group_name(')', flavor_ == Flavor::kRegexModule, name)) return false;
    if (is_open(name)) {
      return fail(begin, at_,
                  "A group cannot be referred to before it is closed.");
    }
    push_reference(std::move(name), begin);
    return true;
  }
  if (raw_peek() == '>' || raw_peek() == '&') {
    return refuse(begin, at_ + 1,
                  "Recursion and calls of groups are not supported.");
  }
  return fail(begin, at_,
              "Unknown group; \"(?P\" must be followed by \"<name>\" or "
              "\"=name)\".");
}

// Reads the condition of a conditional.  REQUIRES: at_ is after "(?(".
bool Parser::open_conditional(std::size_t begin) {
  if (raw_peek() == '?') {
    return refuse(begin, at_ + 1,
                  "A condition that looks around is not supported; write "
                  "\"(?=...)a|(?!...)b\".");
  }
  std::size_t name_begin = at_;
  Frame frame;
  frame.kind = FrameKind::kConditional;
  frame.begin = begin;
  Reference reference;
  if (!group_name(')', true, reference.name)) return false;
  reference.span = {name_begin, at_ - 1};
  reference.node = base::kUnbounded;  // known when the group is closed
  frame.group = static_cast<std::uint32_t>(references_.size());
  references_.push_back(std::move(reference));
  return open(std::move(frame));
}

bool Parser::open_capture(std::size_t begin, const std::string* name) {
  Frame frame;
  frame.kind = FrameKind::kCapture;
  frame.begin = begin;
  if (name != nullptr) {
    auto known = groups_by_name_.find(*name);
    if (known != groups_by_name_.end()) {
      if (flavor_ != Flavor::kRegexModule) {
        return fail(begin, at_,
                    "The group name \"" + *name + "\" is used twice.");
      }
      if (is_open(*name)) {
        return refuse(begin, at_,
                      "A group inside a group of the same name is not "
                      "supported.");
      }
      frame.group = known->second;
      return open(std::move(frame));
    }
  }
  frame.group = ++ast_.group_count;
  if (name != nullptr) {
    groups_by_name_[*name] = frame.group;
    ast_.names.push_back({*name, frame.group});
  }
  return open(std::move(frame));
}

// Reads the name of a group and the `end` that follows it.
bool Parser::group_name(char32_t end, bool numeric, std::string& name) {
  std::size_t begin = at_;
  for (skip_ignored(); !at_end() && raw_peek() != ')' && raw_peek() != '>';
       skip_ignored()) {
    base::append_utf8(name, raw_next());
  }
  if (name.empty()) {
    return fail(begin, begin, "A group name is missing here.");
  }
  bool valid = all_digits(name)
                   ? numeric && number_of(name) > 0
                   : is_identifier(name) || (ecma() && name == "$");
  if (!valid) {
    return fail(begin, at_,
                "\"" + name +
                    "\" is not a group name; it must be an identifier" +
                    (numeric ? " or a number from 1." : "."));
  }
  std::string closing(1, static_cast<char>(end));
  if (!raw_match(closing)) {
    return fail(begin, at_,
                "The group name must end with \"" + closing + "\".");
  }
  return true;
}

bool Parser::is_open(const std::string& name) const {
  std::uint32_t group = 0;
  if (all_digits(name)) {
    group = number_of(name);
  } else {
    auto known = groups_by_name_.find(name);
    if (known == groups_by_name_.end()) return false;
    group = known->second;
  }
  return std::any_of(frames_.begin(), frames_.end(), [&](const Frame& frame) {
    return frame.kind == FrameKind::kCapture && frame.group == group;
  });
}

// Reads flags, such as "i)", "i-m)" or "i:".  REQUIRES: at_ is after "(?".
//
// With ":" the flags apply to a new group, which restores the old flags when it
// is closed.  With ")" they apply to the rest of the enclosing group; `re`
// permits this form only at the beginning of the pattern.
bool Parser::open_flags(std::size_t begin) {
  Flags flags = flags_;
  unsigned on = 0;
  unsigned off = 0;
  if (!read_flag_letters(begin, true, flags, on)) return false;
  if (raw_match("-")) {
    if (!read_flag_letters(begin, false, flags, off)) return false;
    if (off == 0) {
      return fail(begin, at_, "A flag must follow the \"-\".");
    }
  }
  if ((on & off) != 0) {
    return fail(begin, at_, "A flag is both turned on and turned off.");
  }
  if (raw_match(":")) {
    Frame frame;
    frame.kind = FrameKind::kPlain;
    frame.begin = begin;
    if (!open(std::move(frame))) return false;
    flags_ = flags;
    return true;
  }
  if (!raw_match(")")) {
    return fail(begin, std::min(at_ + 1, text_.size()),
                "Unknown group; \"(?\" must be followed by \":\", \"=\", "
                "\"!\", \"<=\", \"<!\", \"<name>\", \"P<name>\", \">\", "
                "\"#\", \"(\" or flags out of \"imsux\".");
  }
  if (python_re() && on == 0 && off == 0) {
    return fail(begin, at_, "A flag out of \"imsux\" is missing here.");
  }
  const Frame& whole = frames_.back();
  bool at_beginning =
      frames_.size() == 1 && whole.sequence.empty() && whole.branches.empty();
  if (python_re() && (!at_beginning || off != 0)) {
    return fail(begin, at_,
                "Flags for the whole pattern must stand at its beginning; "
                "\"(?i:...)\" sets them for a part.");
  }
  flags_ = flags;
  return true;
}

// Reads letters up to the first character that is not a flag.  Sets each flag
// to `on` and records its letter as a bit in `seen`.
bool Parser::read_flag_letters(std::size_t begin, bool on, Flags& flags,
                               unsigned& seen) {
  for (;;) {
    char32_t c = raw_peek();
    switch (c) {
      case 'i':
        flags.ignore_case = on;
        break;
      case 'm':
        flags.multi_line = on;
        break;
      case 's':
        flags.dot_all = on;
        break;
      case 'x':
        flags.verbose = on;
        break;
      case 'u':
        if (!on) {
          return refuse(begin, at_ + 1, "The flag u cannot be turned off.");
        }
        break;
      case 'V':
        if (on && rest().starts_with("V0")) {
          raw_next();
          break;
        }
        [[fallthrough]];
      case 'a':
      case 'b':
      case 'e':
      case 'f':
      case 'L':
      case 'p':
      case 'r':
      case 'w': {
        std::size_t size = rest().starts_with("V1") ? 2 : 1;
        return refuse(begin, at_ + size,
                      "The flag " + std::string(rest().substr(0, size)) +
                          " is not supported; supported are i, m, s, u and "
                          "x.");
      }
      default:
        return true;
    }
    seen |= 1U << (c & 31);
    raw_next();
  }
}

// Skips a comment.  REQUIRES: at_ is after "(?#".
bool Parser::comment(std::size_t begin) {
  while (!at_end()) {
    char32_t c = raw_next();
    if (c == ')') return true;
    // A "\)" does not end the comment, except in `re`.
    if (c == '\\' && !python_re() && !at_end()) raw_next();
  }
  return fail(begin, begin + 3, "This comment is never closed; add a \")\".");
}

// Ends a branch and begins the next.  REQUIRES: at_ is after the "|" at
// `begin`.
bool Parser::next_branch(std::size_t begin) {
  Frame& frame = frames_.back();
  if (frame.kind == FrameKind::kConditional && frame.branches.size() == 1) {
    return fail(begin, at_,
                "A conditional has two branches at most; put alternatives "
                "into \"(?:...)\".");
  }
  at_ = begin;  // the branch ends before "|"
  end_branch();
  at_ = begin + 1;
  frame.branch_begin = at_;
  return true;
}

// Closes the innermost group.  REQUIRES: at_ is after the ")" at `begin`.
//
// The steps: the branches become the children of the group's node, the flags of
// the enclosing group are restored, the frame is popped, and the node is
// appended to the enclosing group.  A group that does not capture has no node
// of its own.
bool Parser::close(std::size_t begin) {
  if (frames_.size() == 1) {
    return fail(begin, at_,
                "This \")\" closes nothing; write \"\\)\" for the character.");
  }
  Frame& closing = frames_.back();
  AstNode node;
  node.group = closing.group;
  node.behind = closing.behind;
  node.negated = closing.negated;
  std::size_t after = at_;
  at_ = begin;  // the last branch ends before ")"
  if (closing.kind == FrameKind::kConditional) {
    end_branch();
    if (closing.branches.size() == 1) {
      closing.branches.push_back(store(make(AstKind::kEmpty, at_)));
    }
    node.children = closing.branches;
  } else {
    node.children = {finish(closing)};
  }
  at_ = after;
  flags_ = closing.outer_flags;
  node.span = {closing.begin, at_};
  node.flags = flags_;
  FrameKind kind = closing.kind;
  frames_.pop_back();
  switch (kind) {
    case FrameKind::kPlain:
    case FrameKind::kPattern:
      frames_.back().sequence.push_back(node.children[0]);
      frames_.back().quantified = false;
      frames_.back().grouped = true;
      return true;
    case FrameKind::kCapture:
      node.kind = AstKind::kGroup;
      break;
    case FrameKind::kLook:
      node.kind = AstKind::kLook;
      break;
    case FrameKind::kAtomic:
      node.kind = AstKind::kAtomic;
      break;
    case FrameKind::kConditional:
      node.kind = AstKind::kConditional;
      references_[node.group].node =
          static_cast<std::uint32_t>(ast_.nodes.size());
      break;
  }
  push(std::move(node));
  return true;
}

// Combines the nodes of the current branch to one node, and appends this node
// to the branches.
void Parser::end_branch() {
  Frame& frame = frames_.back();
  AstId id;
  if (frame.sequence.size() == 1) {
    id = frame.sequence[0];
  } else {
    AstNode node =
        make(frame.sequence.empty() ? AstKind::kEmpty : AstKind::kConcat,
             frame.branch_begin);
    node.children = std::move(frame.sequence);
    id = store(std::move(node));
  }
  frame.sequence.clear();
  frame.quantified = false;
  frame.branches.push_back(id);
}

// Combines all branches of `frame` to one node.  REQUIRES: `frame` is the
// innermost group.
AstId Parser::finish(Frame& frame) {
  end_branch();
  if (frame.branches.size() == 1) return frame.branches[0];
  AstNode node =
      make(AstKind::kAlternation, ast_.nodes[frame.branches[0]].span.begin);
  node.children = std::move(frame.branches);
  return store(std::move(node));
}

bool Parser::resolve_references() {
  for (const Reference& reference : references_) {
    std::uint32_t group = 0;
    if (all_digits(reference.name)) {
      group = number_of(reference.name);
    } else {
      auto known = groups_by_name_.find(reference.name);
      if (known != groups_by_name_.end()) {
        group = known->second;
      } else if (reference.name == "DEFINE") {
        return refuse(reference.span.begin, reference.span.end,
                      "(?(DEFINE)...) is not supported.");
      }
    }
    if (group == 0 || group > ast_.group_count) {
      return fail(reference.span.begin, reference.span.end,
                  "There is no group \"" + reference.name + "\".");
    }
    // In `re` a back-reference must follow the opening of its group.
    if (python_re() && group > reference.known_groups) {
      return fail(reference.span.begin, reference.span.end,
                  "The group \"" + reference.name + "\" comes later.");
    }
    ast_.nodes[reference.node].group = group;
  }
  return true;
}

// --- Nodes ----------------------------------------------------------------

AstNode Parser::make(AstKind kind, std::size_t begin) const {
  AstNode node;
  node.kind = kind;
  node.span = {begin, at_};
  node.flags = flags_;
  return node;
}

AstId Parser::store(AstNode node) {
  ast_.nodes.push_back(std::move(node));
  return AstId(ast_.nodes.size() - 1);
}

void Parser::push(AstNode node) {
  AstId id = store(std::move(node));
  frames_.back().sequence.push_back(id);
  frames_.back().quantified = false;
  frames_.back().grouped = false;
}

void Parser::push_char(char32_t c, std::size_t begin) {
  AstNode node = make(AstKind::kChar, begin);
  node.c = c;
  push(std::move(node));
}

void Parser::push_reference(std::string name, std::size_t begin) {
  AstNode node = make(AstKind::kBackref, begin);
  references_.push_back({static_cast<std::uint32_t>(ast_.nodes.size()),
                         std::move(name), node.span, ast_.group_count});
  push(std::move(node));
}

// --- Reading --------------------------------------------------------------

char32_t Parser::raw_peek() const {
  if (at_end()) return 0;
  std::size_t i = at_;
  return base::next_code_point(text_, i);
}

char32_t Parser::raw_next() { return base::next_code_point(text_, at_); }

bool Parser::raw_match(std::string_view expected) {
  if (!rest().starts_with(expected)) return false;
  at_ += expected.size();
  return true;
}

// Skips white space and comments under VERBOSE.
void Parser::skip_ignored() {
  if (!flags_.verbose) return;
  while (!at_end()) {
    if (raw_peek() == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (is_ignored_space(raw_peek())) {
      raw_next();
    } else {
      return;
    }
  }
}

std::string_view Parser::shown(std::size_t begin) const {
  return text_.substr(begin, at_ - begin);
}

bool Parser::fail(std::size_t begin, std::size_t end, std::string message,
                  ErrorCode code) {
  if (!error_) {
    end = std::min(end, text_.size());
    error_ = Error{code, std::move(message), "", Span{begin, end}};
  }
  return false;
}

bool Parser::refuse(std::size_t begin, std::size_t end, std::string message) {
  return fail(begin, end, std::move(message), ErrorCode::kUnsupportedPattern);
}

}  // namespace parlance::regex
