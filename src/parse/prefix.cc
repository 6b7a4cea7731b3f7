// The part of a prompt that belongs to the response, see prefix.h.

#include "parse/prefix.h"

#include "base/utf8.h"

namespace parlance::parse {

std::string_view after_last_anchor(const DelimiterProgram& program,
                                   std::string_view prefix) {
  if (program.anchor_literal) {
    // The literal cannot overlap itself, so its last occurrence is also the
    // last of the non-overlapping occurrences from the left.
    std::size_t at = prefix.rfind(*program.anchor_literal);
    if (at == std::string_view::npos) return prefix;
    return prefix.substr(at + program.anchor_literal->size());
  }
  FindAll all(program.anchor, prefix);
  Found found;
  std::size_t end = 0;
  while (all.next(found)) end = found.end;
  return prefix.substr(end);
}

Prompt read_prompt(const DelimiterProgram& program,
                   const Vocabulary* vocabulary, std::string_view prefix) {
  Prompt prompt;
  prompt.text = after_last_anchor(program, prefix);
  std::size_t done = 0;
  while (program.spelled && !program.marks.empty()) {
    const auto found = program.spelled->find(prompt.text, done);
    if (!found) break;
    const std::size_t size = vocabulary->spelling(found->id).size();
    prompt.marks.push_back(
        {found->at, size, program.mark_symbols.at(found->id)});
    done = found->at + size;
  }
  return prompt;
}

Prompt read_prompt(const DelimiterProgram& program,
                   const Vocabulary& vocabulary,
                   std::span<const TokenId> prefix) {
  Prompt prompt;
  bool drop_space = false;
  for (const TokenId id : prefix) {
    const TokenKind kind = vocabulary.kind(id);
    if (kind == TokenKind::kOrdinary) {
      std::string_view bytes = vocabulary.bytes(id);
      if (drop_space && bytes.starts_with(' ')) bytes.remove_prefix(1);
      prompt.text += bytes;
      drop_space = false;
      continue;
    }
    if (kind == TokenKind::kUnused) {
      prompt.text += base::kReplacement;
      continue;
    }
    const std::string_view spelling = vocabulary.spelling(id);
    const auto mark = program.prompt_symbols.find(id);
    if (mark != program.prompt_symbols.end() && mark->second != kNoSymbol) {
      prompt.marks.push_back(
          {prompt.text.size(), spelling.size(), mark->second});
    }
    prompt.text += spelling;
    drop_space = vocabulary.space_after_marks();
  }
  if (program.marks.empty()) {
    const std::string_view tail = after_last_anchor(program, prompt.text);
    prompt.begin = prompt.text.size() - tail.size();
    return prompt;
  }
  FindAll all(program.marked_anchor, {prompt.text, prompt.marks});
  Found found;
  while (all.next(found)) prompt.begin = found.end;
  return prompt;
}

}  // namespace parlance::parse
