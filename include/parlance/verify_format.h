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
// A structural tag is made for the tools of a request, or for a sample of tools
// with arguments of every type.  Calls are written as the tag allows them, with
// names and values that test the limits of what the grammar accepts without
// quotes.  The format's own parser must read each call as the tag means it, as
// text and, with a vocabulary, as tokens.
//
// With `walks`, random responses are written as well, under the masks of the
// grammar: with and without calls, reasoning and a document.  The parser must
// read each as the tag has it, in pieces cut anywhere as whole; its message
// must be rendered and read back; and what is damaged must be read in single
// bytes as whole.
//
// That nothing is found is no proof: these calls and responses were tried, and
// no others.  What a tag leaves out is not a finding: see
// StructuralTag::report().

#include <cstddef>
#include <cstdint>
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

  // Random responses that are written, and the seed of the first.  They are
  // written only if the calls have no findings.
  std::size_t walks = 0;
  std::uint32_t seed = 0;
};

struct FormatFinding {
  // What is wrong, and where: a JSON Pointer into the text of the format, or,
  // if the fault is in given tools, one that begins with "/tools".
  Error error;

  // A shortest response that is not read as it was meant; empty if there is
  // none because no structural tag can be made.
  std::string text = {};
  // The arguments of its call, and those that are read; null if no call is.
  // For a random response: its message, and the message that is read.
  json::Value meant = {};
  json::Value read = {};
};

// Complexity: that of a structural tag and its grammar, and of reading the
// calls; for a walk, its masks, and reading its text once for each of its
// bytes, at most 200 times.
std::vector<FormatFinding> verify_format(
    const Format& format, const VerifyFormatOptions& options = {});

}  // namespace parlance

#endif  // PARLANCE_VERIFY_FORMAT_H_
