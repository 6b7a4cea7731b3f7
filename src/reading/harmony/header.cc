#include "harmony/header.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "base/white_space.h"
#include "harmony/words.h"

namespace parlance::harmony {
namespace {

constexpr std::string_view kMarkerText = "<|";

bool is_bare_type(std::string_view word) {
  return word == "json" || word == "code" || word == "text";
}

}  // namespace

void Header::begin(Origin origin, HarmonyRole role,
                   std::optional<std::string> name, std::size_t token) {
  origin_ = origin;
  role_ = role;
  name_ = std::move(name);
  first_token_ = token;
  bytes_ = 0;
  text_.clear();
  sections_.assign(1, {SectionKind::kRole, 0, token});
  tokens_.clear();
  scan_ = ChannelScan::kNone;
  scanned_ = 0;
  channel_is_new_ = false;
}

void Header::add_text(std::string_view bytes, std::size_t token,
                      TextDecoder& decoder) {
  if (bytes.empty()) return;
  tokens_.push_back({text_.size(), token});
  bytes_ += bytes.size();
  decoder.feed(bytes, text_);
}

void Header::add_section(SectionKind kind, std::size_t bytes, std::size_t token,
                         TextDecoder& decoder) {
  decoder.flush(text_);
  bytes_ += bytes;
  // The token ends the word before it.
  scan();
  if (scan_ == ChannelScan::kInside) end_channel(text_.size());
  if (scan_ != ChannelScan::kDone && kind != SectionKind::kBreak) {
    scan_ = kind == SectionKind::kChannel ? ChannelScan::kBefore
                                          : ChannelScan::kNone;
  }
  // Two breaks in a row are one, so that they take no memory.
  if (kind == SectionKind::kBreak &&
      sections_.back().kind == SectionKind::kBreak &&
      sections_.back().begin == text_.size()) {
    return;
  }
  sections_.push_back({kind, text_.size(), token});
}

void Header::end_channel(std::size_t end) {
  const std::string_view word =
      text().substr(channel_begin_, end - channel_begin_);
  if (word.find(kMarkerText) != std::string_view::npos) {
    scan_ = ChannelScan::kNone;
    return;
  }
  scan_ = ChannelScan::kDone;
  channel_ = word;
  channel_is_new_ = true;
}

// Invariant: text_ up to scanned_ has been read, in whole characters, and scan_
// says where the scan stands there.
void Header::scan() {
  while (scanned_ < text_.size() &&
         (scan_ == ChannelScan::kBefore || scan_ == ChannelScan::kInside)) {
    const std::size_t begin = scanned_;
    const bool white =
        base::is_white_space(base::next_code_point(text_, scanned_));
    if (scan_ == ChannelScan::kBefore && !white) {
      channel_begin_ = begin;
      scan_ = ChannelScan::kInside;
    } else if (scan_ == ChannelScan::kInside && white) {
      end_channel(begin);
    }
  }
  scanned_ = text_.size();
}

std::optional<std::string_view> Header::new_channel() {
  scan();
  if (!std::exchange(channel_is_new_, false)) return std::nullopt;
  return channel_;
}

bool Header::has_marker() const {
  return std::ranges::any_of(sections_, [](const Section& section) {
    return section.kind == SectionKind::kChannel ||
           section.kind == SectionKind::kConstrain;
  });
}

bool Header::blank() const { return !has_marker() && trimmed(text_).empty(); }

Span Header::tokens(std::size_t begin, std::size_t end) const {
  // A token whose bytes began a character has the same `begin` as the token
  // that finished the character.
  auto first = std::ranges::lower_bound(tokens_, begin, {}, &TokenText::begin);
  if (first == tokens_.end() || first->begin > begin) --first;
  auto last = std::ranges::lower_bound(tokens_, end, {}, &TokenText::begin);
  --last;
  return {first->token, last->token + 1};
}

HeaderReader::HeaderReader(const Header& header, bool completion,
                           std::size_t at, Diagnostics& diagnostics)
    : header_(header),
      completion_(completion),
      at_(at),
      diagnostics_(diagnostics) {
  fields_.role = header.role_;
  fields_.name = header.name_;
  split();
  find_recipients();
}

std::string_view HeaderReader::text(const Word& word) const {
  return header_.text().substr(word.begin, word.end - word.begin);
}

void HeaderReader::report(HarmonyProblem problem, const Word& word) {
  const std::size_t marker = header_.sections_[word.section].token;
  diagnostics_.add(problem,
                   word.begin < word.end ? header_.tokens(word.begin, word.end)
                                         : Span{marker, marker + 1},
                   at_, text(word));
}

// Fills words_.  Invariant: `next` is the use of the next word; it is not kFree
// only while the word that the last marker calls for has not come.
void HeaderReader::split() {
  const std::string_view text = header_.text();
  Use next = Use::kFree;
  const auto missing = [&](std::size_t at, std::size_t section) {
    if (next == Use::kChannel || next == Use::kType) {
      words_.push_back({next, at, at, section});
    }
  };
  std::size_t owner = 0;  // the section that called for the next word
  for (std::size_t s = 0; s < header_.sections_.size(); ++s) {
    const Header::Section& section = header_.sections_[s];
    if (section.kind != SectionKind::kBreak) {
      missing(header_.sections_[owner].begin, owner);
      owner = s;
      next = section.kind == SectionKind::kChannel     ? Use::kChannel
             : section.kind == SectionKind::kConstrain ? Use::kType
                                                       : Use::kAuthor;
    }
    const std::size_t end = s + 1 < header_.sections_.size()
                                ? header_.sections_[s + 1].begin
                                : text.size();
    for (std::size_t i = section.begin; i < end;) {
      const std::size_t begin = i;
      if (base::is_white_space(base::next_code_point(text, i))) continue;
      std::size_t last = i;
      while (i < end && !base::is_white_space(base::next_code_point(text, i))) {
        last = i;
      }
      const std::string_view word = text.substr(begin, last - begin);
      // The first word of a role section is the author after <|start|>, unless
      // it is a recipient.  In other headers it may repeat the role.
      if (next == Use::kAuthor && (header_.origin_ == Origin::kStart
                                       ? word.starts_with(kTo)
                                       : word != to_string(header_.role_))) {
        next = Use::kFree;
      }
      words_.push_back({next, begin, last, s});
      next = Use::kFree;
      marked_ = marked_ || word.find(kMarkerText) != std::string_view::npos;
    }
  }
  missing(header_.sections_[owner].begin, owner);
}

// Whether a word without "to=" is a recipient nevertheless.
bool HeaderReader::is_recipient_name(std::string_view word) const {
  if (word.find(kMarkerText) != std::string_view::npos) return false;
  for (const std::string_view space :
       {"functions.", "browser.", "container."}) {
    if (word.starts_with(space) && word.size() > space.size()) return true;
  }
  return word == "python" ||
         (word == "assistant" && fields_.role == HarmonyRole::kTool);
}

// Finds the recipients with "to=", which may stand anywhere, because the words
// before them depend on whether there is one.
void HeaderReader::find_recipients() {
  std::optional<std::string_view> found;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    std::string_view word = text(words_[i]);
    if (words_[i].use != Use::kFree || !word.starts_with(kTo)) continue;
    addressed_ = true;
    std::string_view name = word.substr(kTo.size());
    if (name.empty() && i + 1 < words_.size() &&
        words_[i + 1].use == Use::kFree &&
        words_[i + 1].section == words_[i].section &&
        is_recipient_name(text(words_[i + 1]))) {
      words_[i + 1].taken = true;
      name = text(words_[i + 1]);
    }
    if (name.empty()) continue;
    if (found && *found != name) conflict_ = true;
    if (!found) found = name;
  }
  if (found && !conflict_ && !marked_) fields_.recipient = *found;
}

// Reads the author of a header that <|start|> began.
void HeaderReader::read_author(bool report_problems) {
  if (header_.origin_ != Origin::kStart) return;
  const auto author = std::ranges::find(words_, Use::kAuthor, &Word::use);
  if (author == words_.end()) {
    if (report_problems) {
      diagnostics_.add(HarmonyProblem::kMissingRole,
                       {header_.first_token_, header_.first_token_ + 1}, at_);
    }
    return;
  }
  const std::string_view word = text(*author);
  if (word.find(kMarkerText) != std::string_view::npos) {
    unknown_author_ = true;
    if (report_problems) report(HarmonyProblem::kMarkerTextInHeader, *author);
    return;
  }
  if (const std::optional<HarmonyRole> role = harmony_role(word)) {
    fields_.role = *role;
    if (*role == HarmonyRole::kTool) fields_.name = word;
    return;
  }
  // "user:alice"
  const std::size_t colon = word.find(':');
  const std::optional<HarmonyRole> named = harmony_role(word.substr(0, colon));
  if (named && colon + 1 < word.size()) {
    fields_.role = *named;
    fields_.name = word.substr(colon + 1);
    return;
  }
  if (!completion_ || fields_.recipient == "assistant") {
    fields_.role = HarmonyRole::kTool;
    fields_.name = word;
    return;
  }
  unknown_author_ = true;
  if (report_problems) report(HarmonyProblem::kUnknownRole, *author);
}

void HeaderReader::read_channels() {
  for (const Word& word : words_) {
    if (word.use != Use::kChannel) continue;
    const std::string_view name = text(word);
    if (name.empty()) {
      report(HarmonyProblem::kEmptyChannel, word);
    } else if (name.find(kMarkerText) != std::string_view::npos) {
      report(HarmonyProblem::kMarkerTextInHeader, word);
    } else if (fields_.channel) {
      report(*fields_.channel == name ? HarmonyProblem::kDuplicateChannel
                                      : HarmonyProblem::kConflictingChannel,
             word);
    } else {
      fields_.channel = name;
      if (word.begin > header_.sections_[word.section].begin) {
        report(HarmonyProblem::kSpaceBeforeChannelName, word);
      }
    }
  }
}

void HeaderReader::set_type(const Word& word, std::string type) {
  if (!fields_.content_type) {
    fields_.content_type = std::move(type);
    return;
  }
  // "json" repeats "<|constrain|>json".
  const bool same =
      *fields_.content_type == type ||
      *fields_.content_type == std::string(kConstrainMarker) + type;
  report(same ? HarmonyProblem::kDuplicateContentType
              : HarmonyProblem::kConflictingContentType,
         word);
}

// Reads the content types that a marker announces.
void HeaderReader::read_types() {
  for (const Word& word : words_) {
    if (word.use != Use::kType) continue;
    const std::string_view name = text(word);
    if (name.empty()) {
      report(HarmonyProblem::kEmptyContentType, word);
    } else if (name.find(kMarkerText) != std::string_view::npos) {
      report(HarmonyProblem::kMarkerTextInHeader, word);
    } else {
      set_type(word, std::string(kConstrainMarker) + std::string(name));
    }
  }
}

// Reads a word without a meaning by position.  fields_ has the recipient with
// "to=" already, if there is a valid one.
void HeaderReader::read_free(std::size_t index) {
  const Word& word = words_[index];
  const std::string_view name = text(word);
  if (word.taken) return;
  if (name.starts_with(kTo)) {
    const bool empty = name.size() == kTo.size();
    const bool spaced =
        empty && index + 1 < words_.size() && words_[index + 1].taken;
    if (spaced) {
      report(HarmonyProblem::kSpaceAfterTo, word);
    } else if (empty) {
      report(HarmonyProblem::kEmptyRecipient, word);
      return;
    }
    // Different recipients are reported by complete().
    if (seen_to_ && fields_.recipient) {
      report(HarmonyProblem::kDuplicateRecipient, word);
    }
    seen_to_ = true;
    return;
  }
  if (name.find(kMarkerText) != std::string_view::npos) {
    report(HarmonyProblem::kMarkerTextInHeader, word);
  } else if (is_bare_type(name)) {
    set_type(word, std::string(name));
  } else if (fields_.recipient) {
    if (*fields_.recipient == name) {
      report(HarmonyProblem::kDuplicateRecipient, word);
    } else if (!fields_.content_type) {
      fields_.content_type = name;
    } else {
      report(HarmonyProblem::kUnexpectedHeaderText, word);
    }
  } else if (!is_recipient_name(name)) {
    report(HarmonyProblem::kUnexpectedHeaderText, word);
  } else {
    addressed_ = true;
    if (marked_ || conflict_) return;
    fields_.recipient = name;
    report(HarmonyProblem::kRecipientWithoutTo, word);
  }
}

Fields HeaderReader::complete() {
  read_author(true);
  read_channels();
  read_types();
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (words_[i].use == Use::kFree) read_free(i);
  }
  if (addressed_ && marked_) {
    diagnostics_.add(HarmonyProblem::kRecipientSuppressed,
                     {header_.first_token_, at_}, at_);
  } else if (conflict_) {
    diagnostics_.add(HarmonyProblem::kConflictingRecipient,
                     {header_.first_token_, at_}, at_);
  }
  return std::move(fields_);
}

// Whether a word is a field by its form.  At the end of the stream the last
// word may be the beginning of one.
bool HeaderReader::is_syntax(const Word& word, bool may_be_cut) const {
  const std::string_view name = text(word);
  if (name.find(kMarkerText) != std::string_view::npos) return false;
  if (word.use != Use::kFree || word.taken || name.starts_with(kTo) ||
      is_bare_type(name) || is_recipient_name(name)) {
    return true;
  }
  if (!may_be_cut) return false;
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{kTo, "json", "code", "text"},
      [&](std::string_view whole) { return whole.starts_with(name); });
}

// Whether a word is a part of the content of a stranded header.
bool HeaderReader::is_text(const Word& word, StrandedBy by) const {
  switch (word.use) {
    case Use::kAuthor:
      return unknown_author_;
    case Use::kChannel:
      // At the limit, a name that has not ended is text.
      return text(word).find(kMarkerText) != std::string_view::npos ||
             (by == StrandedBy::kLimit && word.begin < word.end &&
              word.end == header_.text().size());
    default:
      return true;
  }
}

// Whether every word of a stranded header is a field by its form.
bool HeaderReader::only_syntax(StrandedBy by) const {
  if (header_.origin_ == Origin::kOutside || by == StrandedBy::kLimit) {
    return false;
  }
  const bool end = by == StrandedBy::kEndOfStream;
  return std::ranges::all_of(words_, [&](const Word& word) {
    // At the end of the stream the author may be cut.
    if (word.use == Use::kAuthor) return end || !unknown_author_;
    return is_syntax(word, end && word.end == header_.text().size());
  });
}

// The content is the text of the header without author and channels, in the
// order written.  If every word is a field by its form, there is no content:
// nobody wrote an answer.
Stranded HeaderReader::stranded(StrandedBy by) {
  // At the limit, an author that has not ended is text.
  if (by == StrandedBy::kLimit && !words_.empty() &&
      words_.back().use == Use::kAuthor &&
      words_.back().end == header_.text().size()) {
    words_.back().use = Use::kFree;
  }
  read_author(false);
  const bool syntax = only_syntax(by);
  if (syntax && by == StrandedBy::kEndOfStream) {
    const bool open_prompt = !header_.has_marker() && !unknown_author_ &&
                             std::ranges::all_of(words_, [](const Word& word) {
                               return word.use == Use::kAuthor;
                             });
    if (open_prompt) return {.kind = Stranded::Kind::kOpenPrompt};
    complete();
    return {.kind = Stranded::Kind::kTruncated};
  }
  Stranded out;
  const std::string_view all = header_.text();
  std::size_t copied = 0;
  for (const Word& word : words_) {
    if (is_text(word, by)) continue;
    out.content += all.substr(copied, word.begin - copied);
    copied = word.end;
  }
  out.content += all.substr(copied);
  out.content =
      syntax ? "" : std::string(trimmed(out.content, by != StrandedBy::kLimit));
  std::erase_if(words_, [&](const Word& word) {
    return word.use == Use::kChannel && is_text(word, by);
  });
  read_channels();
  out.fields.role = fields_.role;
  out.fields.name = std::move(fields_.name);
  out.fields.channel = std::move(fields_.channel);
  return out;
}

}  // namespace parlance::harmony
