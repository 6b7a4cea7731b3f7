#ifndef PARLANCE_SRC_REGEX_PARSER_H_
#define PARLANCE_SRC_REGEX_PARSER_H_

// The reader of patterns: one pass over the text with its own stack of open
// groups, so nesting costs memory that Limits::pattern_depth bounds and no
// call stack.  parse.cc parses the structure of a pattern, parse_class.cc
// escapes and brackets.  Used by parse_ast() only.
//
// Methods that return bool return false after fail() was called.  Only the
// first failure is reported.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "regex/ast.h"
#include "regex/unicode_properties.h"

namespace parlance::regex {

class Parser {
 public:
  Parser(std::string_view text, const PatternOptions& options);
  Result<Ast> run();

 private:
  enum class FrameKind : unsigned char {
    kPattern,
    kPlain,  // (?:...), (?i:...)
    kCapture,
    kLook,
    kAtomic,
    kConditional,
  };

  // An open group.  `sequence` is the branch being read, `branches` the
  // branches before it.
  struct Frame {
    FrameKind kind = FrameKind::kPattern;
    std::size_t begin = 0;
    std::size_t branch_begin = 0;
    Flags outer_flags = {};
    std::vector<AstId> branches = {};
    std::vector<AstId> sequence = {};
    // The last item was a quantifier: another one would be "a**".
    bool quantified = false;
    // The last item was "(?:...)", whatever is in it.
    bool grouped = false;
    std::uint32_t group = 0;
    bool behind = false;
    bool negated = false;
  };

  // A reference that is checked once every group is known.
  struct Reference {
    std::uint32_t node = 0;  // kBackref or kConditional
    std::string name;        // or a number in digits
    Span span = {};
    std::uint32_t known_groups = base::kUnbounded;  // a back-reference: so far
  };

  // The character or set that a member of a bracket, or an escape, denotes.
  struct Item {
    bool is_char = true;
    char32_t c = 0;
    CharClass set = {};
    CharClass cased = {};  // as PropertyAnswer::ignoring_case, under that flag
    bool negated = false;
  };

  // Reading.  peek() and next() see the text as VERBOSE leaves it.
  bool at_end() const { return at_ >= text_.size(); }
  char32_t raw_peek() const;  // 0 at the end
  char32_t raw_next();
  bool raw_match(std::string_view expected);
  void skip_ignored();
  std::string_view rest() const { return text_.substr(at_); }
  std::string_view shown(std::size_t begin) const;

  bool fail(std::size_t begin, std::size_t end, std::string message,
            ErrorCode code = ErrorCode::kBadPattern);
  bool refuse(std::size_t begin, std::size_t end, std::string message);

  // Structure (parse.cc).
  bool step();
  bool quantifier(std::size_t begin);
  bool braces(std::size_t begin, bool& is_quantifier, std::uint32_t& min,
              std::uint32_t& max);
  bool apply(std::size_t begin, std::uint32_t min, std::uint32_t max);
  bool open_paren(std::size_t begin);
  bool open_extension(std::size_t begin);
  bool open_python(std::size_t begin);
  bool open_conditional(std::size_t begin);
  bool open_capture(std::size_t begin, const std::string* name);
  bool open_flags(std::size_t begin);
  bool read_flag_letters(std::size_t begin, bool on, Flags& flags,
                         unsigned& seen);
  bool comment(std::size_t begin);
  bool open(Frame frame);
  bool next_branch(std::size_t begin);
  bool close(std::size_t begin);
  bool group_name(char32_t end, bool numeric, std::string& name);
  bool resolve_references();
  bool is_open(const std::string& name) const;
  void end_branch();
  AstId finish(Frame& frame);
  bool anchor(AstAnchor which, std::size_t begin);

  // Escapes and brackets (parse_class.cc).
  bool escape(std::size_t begin);
  bool common_escape(std::size_t begin, char32_t c, bool in_set, Item& item);
  bool ecma_escape(std::size_t begin, char32_t c, bool in_set, Item& item);
  bool hex_escape(std::size_t begin, int digits, Item& item);
  bool ecma_unicode_escape(std::size_t begin, Item& item);
  bool octal_escape(std::size_t begin, char32_t first, Item& item);
  bool back_reference(std::size_t begin, char32_t first);
  bool named_back_reference(std::size_t begin, char32_t close);
  bool property(std::size_t begin, bool positive, Item& item);
  Item property_item(PropertyAnswer answer, bool negated) const;
  bool refused_escape(std::size_t begin, char32_t c);
  bool class_escape(char32_t c, Item& item) const;
  bool bracket(std::size_t begin);
  bool bracket_member(std::size_t begin, std::size_t first_member, Item& alone,
                      CharClass& set);
  bool bracket_item(std::size_t begin, Item& item);
  bool posix_class(std::size_t begin, bool& found, Item& item);
  bool set_operator(std::size_t begin, std::size_t first_member);

  AstNode make(AstKind kind, std::size_t begin) const;
  void push(AstNode node);
  AstId store(AstNode node);
  void push_char(char32_t c, std::size_t begin);
  void push_item(Item item, std::size_t begin, bool bracketed);
  void push_reference(std::string name, std::size_t begin);
  static void add_item(CharClass& set, const Item& item);

  bool ecma() const { return flavor_ == Flavor::kEcma; }
  bool python_re() const { return flavor_ == Flavor::kPythonRe; }

  std::string_view text_;
  std::size_t at_ = 0;
  Flavor flavor_;
  Limits limits_;
  Flags flags_;
  Ast ast_;
  std::vector<Frame> frames_;
  std::map<std::string, std::uint32_t> groups_by_name_;
  std::vector<Reference> references_;
  std::optional<Error> error_;
};

}  // namespace parlance::regex

#endif  // PARLANCE_SRC_REGEX_PARSER_H_
