#ifndef PARLANCE_SRC_RENDERING_MARKS_H_
#define PARLANCE_SRC_RENDERING_MARKS_H_

// Reading a rendered text as token ids, without the vocabulary of a model.
//
// A tokenizer that meets "<tool_call>" in a text writes the token of this
// spelling, wherever the text has it from: in a user's sentence it opens a
// call.  Which spellings are tokens depends on the tokenizer, but all that
// matter to a format are in its delimiters.  So a vocabulary of all bytes and
// of the texts in the delimiters that look like tokens shows what a text is as
// ids.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/description.h"
#include "parlance/vocabulary.h"

namespace parlance::rendering {

class FormatMarks {
 public:
  // `written`: the texts of a message.  Where the format lists its marks by a
  // pattern, those that these texts spell are marks.
  FormatMarks(const format::FormatImpl& format,
              std::span<const std::string> written);

  // The marks, each once, longer ones first.
  const std::vector<std::string>& texts() const { return texts_; }

  // Whether the text contains a mark, or begins or ends inside one.
  bool touch(std::string_view text) const;

  // Made when it is first asked for.
  const Vocabulary& vocabulary();
  // The ids of a text: a mark wherever one is spelled, else bytes.
  std::vector<TokenId> encode(std::string_view text) const;

 private:
  std::vector<std::string> texts_;
  std::optional<Vocabulary> vocabulary_;
};

}  // namespace parlance::rendering

#endif  // PARLANCE_SRC_RENDERING_MARKS_H_
