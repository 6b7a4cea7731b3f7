#ifndef PARLANCE_VERIFY_FORMAT_H_
#define PARLANCE_VERIFY_FORMAT_H_

// Whether a format reads what it writes.
//
//   Result<Format> format = Format::from_json(text);
//   for (const FormatFinding& finding : verify_format(*format)) {
//     show(finding.error.path, finding.error.message);  // a place in the file
//     show(finding.text, finding.meant, finding.read);
//   }
//
// A structural tag is made for tools, those of a request or a sample of tools
// with arguments of every type, and calls of them are written: names and values
// that are written without quotes, at the edges of what the grammar accepts.
// Each must be read by the format's own parser as the tag has it, as text and,
// with a vocabulary, as tokens.
//
// A format of which nothing is found has been tried, not proved.  Reports of
// what a tag leaves out are no findings: see StructuralTag::report().

#include <cstddef>
#include <string>
#include <vector>

#include "parlance/error.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/vocabulary.h"

namespace parlance {

struct VerifyFormatOptions {
  // The tools of a request.  Null: a sample.
  json::Value tools = {};

  // Calls are also written in its tokens, marks as such.  May be null.
  const Vocabulary* vocabulary = nullptr;

  // Calls that are written at most.
  std::size_t most_calls = 5000;
};

struct FormatFinding {
  // What is wrong, and where: a JSON Pointer into the text of the format, or,
  // if the fault is in given tools, one that begins with "/tools".
  Error error;

  // A shortest response that is not read as it was meant; empty if there is
  // none because no structural tag can be made.
  std::string text = {};
  // The arguments of its call, and those that are read; null if no call is.
  json::Value meant = {};
  json::Value read = {};
};

// Complexity: that of a structural tag and its grammar, and of reading the
// calls.
std::vector<FormatFinding> verify_format(
    const Format& format, const VerifyFormatOptions& options = {});

}  // namespace parlance

#endif  // PARLANCE_VERIFY_FORMAT_H_
