#ifndef PARLANCE_HINTS_H_
#define PARLANCE_HINTS_H_

// Where a response probably has a call that its format does not read, and what
// to do about it.
//
//   std::string_view text = "<think>I call <tool_call>{\"name\": \"f\", ...";
//   Message message = parse_response(format, text);
//   for (const Hint& hint : hints_of(format, text, message)) {
//     std::cerr << hint.message << "\n";
//   }
//
// A diagnostic says what is wrong with a response by the rules of its format.
// A hint guesses at what was meant: text that is no call by those rules, and
// would be one elsewhere, without its markers, or in another format.
//
// Law.  A response that is well read has no hints.  Each hint about a call is
// verified, except kMissingOpener: the call can be read where the hint says
// that it stands.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/format.h"
#include "parlance/message.h"
#include "parlance/tools.h"

namespace parlance {

// ORDER: HintKind
enum class HintKind : std::uint8_t {
  // Text of a region, or of no field, contains what opens a region of another
  // field, and the region can be read from there; but the opener stands where
  // it opens nothing, such as in the middle of a line.  For a field without
  // calls there is a hint only if the whole response has no region of it.
  kOpenerInText,
  // The same for a call inside reasoning.
  kCallInReasoning,
  // Text contains the elements or the end of a call of the format, without what
  // opens it.
  kMissingOpener,
  // Text contains JSON with the name and the arguments of a call, or the name
  // of a tool of the request and an object of arguments that the tool declares.
  kJsonCall,
  // Another built-in format reads calls, or reasoning, where this one reads
  // none.
  kOtherFormat,
};
// "opener_in_text", "call_in_reasoning", "missing_opener", "json_call",
// "other_format".
std::string_view to_string(HintKind kind);

struct Hint {
  HintKind kind = HintKind::kOpenerInText;
  std::string message;  // what was found, and what to do
  std::string field;    // the field that has the text; "" if none has it
  std::string format;   // kOtherFormat: the name of the format
  Span bytes;           // in `text`
};

struct HintOptions {
  // The tools of the request.  With tools, only text that names one of them can
  // be taken for a call.  May be null.
  const ToolSet* tools = nullptr;
  // The response was read as token ids.
  bool by_tokens = false;
};

// Bytes of a response that are looked at.
inline constexpr std::size_t kHintBytes = std::size_t{1} << 20;

// At most eight hints, in the order of their bytes.  `text` is what `message`
// was read from, the prefix after its last start anchor and then the response
// (Explanation::text), and `message` is final, with its parts.
//
// Text in reasoning, JSON and other formats count only if the message has no
// call: a model may plan a call, and quote one.
//
// Complexity: O(text.size()) for the first kHintBytes of `text`; the rest is
// not looked at.  At most 16 openers and 64 objects are read again, of 64 KiB
// each.  Without a call in the message, rank_formats() runs.
std::vector<Hint> hints_of(const Format& format, std::string_view text,
                           const Message& message,
                           const HintOptions& options = {});

// What a built-in format reads in a text.
struct FormatReading {
  std::string_view name;
  // Calls that are complete and count as evidence; see rank_formats().
  std::size_t calls = 0;
  std::string call;  // the name of the first of them
  std::size_t diagnostics = 0;
  // Bytes of the regions, delimiters included, that count as evidence.
  std::size_t region_bytes = 0;
  Span bytes;           // from the first such region to the last
  bool marked = false;  // whether markup opens one of them
};

// The built-in formats of which the text has evidence, the best first: by more
// calls, then fewer diagnostics, then more bytes in regions, then the name.
//
// A region is evidence if markup of four bytes or more opens it, and calls can
// be read in it or, for reasoning, a delimiter closes it.  With tools, a call
// of one of them is evidence however it is written; a call of any other tool is
// not.
//
// Complexity: O(text.size()) for the first 64 KiB of `text`; the rest is not
// read.  The markup of all formats is searched for; the formats that have some
// of it in the text read it, and all formats do if the text names a tool.  The
// first call of a process reads all format files, which takes some hundredths
// of a second.
std::vector<FormatReading> rank_formats(std::string_view text,
                                        const ToolSet* tools = nullptr);

}  // namespace parlance

#endif  // PARLANCE_HINTS_H_
