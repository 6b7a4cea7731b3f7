// text -> Ast -> Hir, and the same for PCRE2.

#include "regex/pattern.h"

#include <utility>

#include "regex/ast.h"

namespace parlance::regex {

Result<Pattern> parse_pattern(std::string_view text,
                              const PatternOptions& options) {
  Result<Ast> ast = parse_ast(text, options);
  if (!ast) return ast.error();
  Result<Hir> hir = translate(*ast, options);
  if (!hir) return hir.error();
  Pattern pattern;
  pattern.source = std::string(text);
  pattern.hir = std::move(*hir);
  pattern.flavor = options.flavor;
  return pattern;
}

}  // namespace parlance::regex
