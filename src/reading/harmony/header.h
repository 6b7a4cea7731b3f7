#ifndef PARLANCE_SRC_HARMONY_HEADER_H_
#define PARLANCE_SRC_HARMONY_HEADER_H_

// The header of a message, collected token by token and then read as a whole.
//
//   <|start|>assistant to=functions.f<|channel|>commentary <|constrain|>json
//            |        |              |          |         |           |
//   section  role     .              channel    .         type        .
//   word     author   recipient      name       .         type
//
// Control tokens cut the header into sections, and white space cuts sections
// into words; so a marker that ordinary tokens spell is a part of a word.  The
// first word of a section has the meaning that its marker gives it.  All other
// words are free: a recipient or a content type, wherever they stand.
//
// Headers are short (HarmonyOptions::header_bytes), and each is read once, when
// it ends.  Only the end of the channel's name is looked for before, in every
// byte once.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harmony/diagnostics.h"
#include "harmony/text_decoder.h"
#include "parlance/harmony.h"

namespace parlance::harmony {

// How a header began.
enum class Origin : std::uint8_t {
  kPrompt,   // in the prompt: the role is known
  kStart,    // with <|start|>: the first word is the author
  kImplied,  // with another marker: the default role
  kContent,  // with <|channel|> in a content: the role of that message
  kOutside,  // not at all: text between messages that may become a header
};

enum class SectionKind : std::uint8_t {
  kRole,       // before the first marker
  kChannel,    // after <|channel|>
  kConstrain,  // after <|constrain|>
  kBreak,      // after any other token without text: ends a word, no more
};

struct Fields {
  HarmonyRole role = HarmonyRole::kAssistant;
  std::optional<std::string> name = {};
  std::optional<std::string> channel = {};
  std::optional<std::string> recipient = {};
  std::optional<std::string> content_type = {};
};

class Header {
 public:
  // Begins an empty header.  `role` and `name` are the author, for kStart the
  // role of a message without a valid author.
  void begin(Origin origin, HarmonyRole role, std::optional<std::string> name,
             std::size_t token);
  // Makes a header of text between messages.
  void imply() { origin_ = Origin::kImplied; }

  // Adds the text of `token`.  Bytes of an unfinished character stay in
  // `decoder`.
  void add_text(std::string_view bytes, std::size_t token,
                TextDecoder& decoder);
  // Adds a token that begins a section.  `bytes` counts towards the size.
  void add_section(SectionKind kind, std::size_t bytes, std::size_t token,
                   TextDecoder& decoder);
  // Ends the text: what is left in `decoder` is ill-formed.
  void end_text(TextDecoder& decoder) { decoder.flush(text_); }

  // The name of the channel, if it became certain since the last call: the
  // first word of a channel's section that is complete and has no "<|".
  std::optional<std::string_view> new_channel();

  Origin origin() const { return origin_; }
  HarmonyRole role() const { return role_; }
  const std::optional<std::string>& name() const { return name_; }
  std::size_t first_token() const { return first_token_; }
  std::size_t bytes() const { return bytes_; }
  std::string_view text() const { return text_; }
  // Whether there is a marker.
  bool has_marker() const;
  // Whether there is no marker, and no text but white space.
  bool blank() const;

 private:
  friend class HeaderReader;

  struct Section {
    SectionKind kind;
    std::size_t begin;  // in text_
    std::size_t token;
  };
  struct TokenText {
    std::size_t begin;  // in text_
    std::size_t token;
  };
  enum class ChannelScan : std::uint8_t { kNone, kBefore, kInside, kDone };

  // Reads text_ up to its end for the name of the channel.
  void scan();
  // The name of the channel ends at `end`.
  void end_channel(std::size_t end);
  // The tokens of text_[begin, end).  REQUIRES: begin < end.
  Span tokens(std::size_t begin, std::size_t end) const;

  Origin origin_ = Origin::kPrompt;
  HarmonyRole role_ = HarmonyRole::kAssistant;
  std::optional<std::string> name_;
  std::size_t first_token_ = 0;
  std::size_t bytes_ = 0;
  std::string text_;               // well-formed UTF-8
  std::vector<Section> sections_;  // the first is kRole; begin ascends
  std::vector<TokenText> tokens_;  // begin ascends
  ChannelScan scan_ = ChannelScan::kNone;
  std::size_t scanned_ = 0;        // bytes of text_ that the scan has read
  std::size_t channel_begin_ = 0;  // if kInside
  bool channel_is_new_ = false;
  std::string channel_;
};

// What becomes of a header without <|message|>.
struct Stranded {
  enum class Kind : std::uint8_t {
    kMessage,     // a message with this content
    kTruncated,   // only fields, at the end of the stream: no message
    kOpenPrompt,  // at most an author, at the end of the stream: no message
  };
  Kind kind = Kind::kMessage;
  Fields fields = {};  // without recipient and content type
  std::string content = {};
};

// How a header without <|message|> ended.
enum class StrandedBy : std::uint8_t { kToken, kEndOfStream, kLimit };

// Reads a header that has ended.
class HeaderReader {
 public:
  // `completion`: an author that is no role is a tool only if it addresses
  // to=assistant.  `at` is the token that ended the header.  All must exist as
  // long as the reader.
  HeaderReader(const Header& header, bool completion, std::size_t at,
               Diagnostics& diagnostics);

  // The fields of a header that <|message|> ended.
  Fields complete();

  // A header that something else ended.  REQUIRES: complete() was not called.
  Stranded stranded(StrandedBy by);

 private:
  // What the position of a word says.
  enum class Use : std::uint8_t { kAuthor, kChannel, kType, kFree };
  struct Word {
    Use use;
    // In the header's text.  begin == end: no word follows the marker.
    std::size_t begin;
    std::size_t end;
    std::size_t section;
    bool taken = false;  // by the word before: the recipient after "to= "
  };

  void split();
  std::string_view text(const Word& word) const;
  void report(HarmonyProblem problem, const Word& word);
  bool is_recipient_name(std::string_view word) const;
  void find_recipients();
  void read_author(bool report_problems);
  void read_channels();
  void read_types();
  void read_free(std::size_t index);
  void set_type(const Word& word, std::string type);
  bool is_syntax(const Word& word, bool may_be_cut) const;
  bool is_text(const Word& word, StrandedBy by) const;
  bool only_syntax(StrandedBy by) const;

  const Header& header_;
  bool completion_;
  std::size_t at_;
  Diagnostics& diagnostics_;

  std::vector<Word> words_;
  bool marked_ = false;     // a word has "<|"
  bool addressed_ = false;  // a word is a recipient, valid or not
  bool conflict_ = false;   // several recipients
  bool seen_to_ = false;    // read_free() has read a valid recipient
  bool unknown_author_ = false;
  Fields fields_;
};

}  // namespace parlance::harmony

#endif  // PARLANCE_SRC_HARMONY_HEADER_H_
