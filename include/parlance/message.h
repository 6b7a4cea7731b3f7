#ifndef PARLANCE_MESSAGE_H_
#define PARLANCE_MESSAGE_H_

// What a parser says: events while the response comes, and the message at the
// end.
//
// An event's views (field, text, value, captures) belong to the parser and are
// valid until its next feed() or finalize().  A Message owns what it holds.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/json.h"

namespace parlance {

// Something in a response that does not fit its format, or a limit that was
// passed.  Nothing is lost by it: `bytes` says where the text is.
struct Diagnostic {
  ErrorCode code = ErrorCode::kInvalidContent;
  std::string message;  // what was found and what was expected
  std::string field;    // "" where no field is concerned
  Span bytes;           // in the stream, see Event::bytes
};

// ORDER: EventKind
enum class EventKind : std::uint8_t {
  kRegionOpen,
  kRegionChunk,
  kRegionClose,
  kRegionMalformed,  // in place of a close when the text does not fit
  // Text between regions that belongs to no field, nor to the format's markup.
  // Only of format files without an implicit field.
  kTextUnclaimed,
};

// "region_open", "region_chunk", ...: the names upstream uses, and
// "region_malformed" and "text_unclaimed", which are our own.
std::string_view to_string(EventKind kind);

// A named group of the open delimiter that took part in the match.
struct Capture {
  std::string_view name;
  std::string_view text;
};

struct Event {
  EventKind kind = EventKind::kRegionOpen;

  // The field's name, and its index in the format.  kTextUnclaimed: "" and the
  // number of fields.
  std::string_view field;
  std::uint32_t field_index = 0;

  // kRegionChunk: the text that was routed into the region, whole UTF-8
  // characters, never empty.  The chunks of a region joined are its raw text.
  // kRegionMalformed: the raw text of the whole region.
  // kTextUnclaimed: the text, without white space around it; it comes when a
  // region or markup begins, the response ends, or Limits::held_bytes of it
  // have come.
  std::string_view text;

  // kRegionChunk: the text is not yet the value (json, xml-inline, kv-lines).
  bool dirty = false;

  // kRegionClose, kRegionMalformed: the response ended before the delimiter
  // that closes this region came.
  bool cut = false;

  // kRegionClose: the region's own value, after transform and casting.
  const json::Value* value = nullptr;

  // kRegionOpen, when a delimiter opened it.
  std::span<const Capture> captures;

  // kRegionMalformed: why.  kTextUnclaimed: what was expected.
  const Diagnostic* diagnostic = nullptr;

  // The bytes of the stream that this event stands for: the delimiter for
  // open, close and malformed (empty where there is none), the text of a
  // chunk.  Counted from the start of the truncated prefix, so that the
  // response itself starts at ResponseParser::prefix_bytes().
  Span bytes;

  // The tokens that hold those bytes, half-open, counted from the first token
  // fed; {0, 0} for what the prefix holds and when text was fed.
  Span tokens;
};

// One region of the response.
struct Part {
  std::uint32_t field_index = 0;
  json::Value value;  // null when malformed
  bool malformed = false;
  bool cut = false;
  Span bytes;  // from the open delimiter's start to the close's end
};

struct Message {
  // An object: defaults first, then fields in the order of their first
  // completion, as upstream orders them.
  json::Value fields;

  // Every region in the order written.
  std::vector<Part> parts;

  // What did not fit, in order; the first Limits::diagnostics of them.
  std::vector<Diagnostic> diagnostics;

  // False until finalize(), and afterwards when the response ended inside a
  // region that a delimiter opened and that another one should have closed.
  bool complete = false;
};

}  // namespace parlance

#endif  // PARLANCE_MESSAGE_H_
