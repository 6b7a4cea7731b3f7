// Calls in JSON; see json_calls.h.
//
// One scanner follows the structure of the region down to the parts of a call.
// What it has read of the arguments is written at once, unless the tool's
// schema casts: then a second scanner reads the arguments and finds the members
// that have to wait.

#include "call_stream/json_calls.h"

#include <algorithm>
#include <tuple>

#include "json/writer.h"
#include "parlance/json.h"

namespace parlance::call_stream {
namespace {

// The text of a JSON string as it was written; nothing if it is no string.
std::optional<std::string> string_of(std::string_view raw) {
  if (raw.size() < 2 || raw.front() != '"') return std::nullopt;
  const std::string_view inside = raw.substr(1, raw.size() - 2);
  if (inside.find('\\') == std::string_view::npos) return std::string(inside);
  const Result<json::Value> value = json::parse(raw);
  if (!value || !value->is_string()) return std::nullopt;
  return std::string(value->as_string());
}

}  // namespace

std::unique_ptr<JsonCallReader> JsonCallReader::make(JsonCallShape shape,
                                                     Casts casts,
                                                     const Limits& limits) {
  std::unique_ptr<JsonCallReader> out(
      new JsonCallReader(std::move(shape), std::move(casts), limits));
  bool fits = out->add_paths(out->shape_.arguments, Part::kArguments);
  for (const auto& [source, part] : {std::pair(&out->shape_.name, Part::kName),
                                     std::pair(&out->shape_.id, Part::kId)}) {
    if (source->kind != Source::Kind::kPaths) continue;
    fits = fits && out->add_paths(source->paths, part);
  }
  return fits ? std::move(out) : nullptr;
}

JsonCallReader::JsonCallReader(JsonCallShape shape, Casts casts,
                               const Limits& limits)
    : shape_(std::move(shape)),
      casts_(std::move(casts)),
      limits_(limits),
      scanner_(limits.json_depth) {}

bool JsonCallReader::add_paths(const std::vector<Path>& paths, Part part) {
  std::uint32_t rank = 0;
  return std::ranges::all_of(
      paths, [&](const Path& path) { return add_path(path, part, rank++); });
}

bool JsonCallReader::add_path(const Path& path, Part part, std::uint32_t rank) {
  std::int32_t node = 0;
  for (const std::string& key : path) {
    Node& from = nodes_[static_cast<std::size_t>(node)];
    if (from.part != Part::kNone) return false;
    const auto known = std::ranges::find(
        from.children, key, &std::pair<std::string, std::int32_t>::first);
    if (known != from.children.end()) {
      node = known->second;
      continue;
    }
    const auto next = static_cast<std::int32_t>(nodes_.size());
    from.children.emplace_back(key, next);
    nodes_.emplace_back();
    node = next;
  }
  Node& last = nodes_[static_cast<std::size_t>(node)];
  if (last.part != Part::kNone || !last.children.empty()) return false;
  last.part = part;
  last.rank = rank;
  return true;
}

// The node of a value that begins in the innermost open value.
std::int32_t JsonCallReader::child_node(char first) const {
  using Count = JsonCallShape::Count;
  if (frames_.empty()) {
    if (shape_.count == Count::kOne) return 0;
    if (first == '[') return kList;
    return shape_.count == Count::kList ? kOutside : 0;
  }
  if (frames_.back().node == kList) return 0;
  return frames_.back().object ? key_node_ : kOutside;
}

void JsonCallReader::begin_call() {
  name_known_ = shape_.name.kind == Source::Kind::kText;
  id_known_ = shape_.id.kind != Source::Kind::kPaths;
  if (!id_known_) shape_.id.text.clear();
  announced_ = false;
  repeated_ = false;
  std::ranges::fill(ranks_, kNoRank);
  arguments_begin_ = kNowhere;
  arguments_end_ = kNowhere;
  in_text_ = false;
  members_ = 0;
}

void JsonCallReader::begin_value(std::string_view text) {
  const std::size_t begin = scanner_.position();
  const std::int32_t node = child_node(text[begin]);
  if (!frames_.empty() && frames_.back().node == 0) {
    only_value_.first = begin;
    if (begins_only_value(node)) begin_only_value(text);
  }
  frames_.push_back({node, text[begin] == '{', begin});
  key_node_ = kOutside;
  if (node < 0) return;
  // A call that was announced when the region opened has begun already.
  if (node == 0 && !announced_) begin_call();
  const Node& known = nodes_[static_cast<std::size_t>(node)];
  if (known.part == Part::kNone) return;
  std::uint32_t& rank = ranks_[static_cast<std::size_t>(known.part)];
  if (known.rank > rank && rank != kNoRank) {
    frames_.back().node = kOutside;  // another name counts
    return;
  }
  if (announced_ && (known.part != Part::kArguments || rank != kNoRank)) {
    repeated_ = true;
  }
  rank = known.rank;
  if (repeated_) return;
  if (known.part == Part::kArguments) {
    arguments_begin_ = begin;
    arguments_end_ = kNowhere;
    in_text_ = shape_.as_text && text[begin] == '"';
  }
}

// Whether the value that begins, at `node`, is that of the only key of a call.
// Another key may follow, which makes it no call: then the call is never
// closed.
bool JsonCallReader::begins_only_value(std::int32_t node) const {
  return shape_.only_key && members_ == 1 && node == kOutside && !announced_ &&
         frames_.back().object && id_known_or_optional();
}

void JsonCallReader::begin_only_value(std::string_view text) {
  shape_.name.text = only_key_;
  name_known_ = true;
  id_known_ = true;
  arguments_begin_ = only_value_.first;
  arguments_end_ = kNowhere;
  in_text_ = shape_.as_text && text[arguments_begin_] == '"';
  // Parts that come by their own names replace nothing.
  ranks_[static_cast<std::size_t>(Part::kName)] = 0;
  ranks_[static_cast<std::size_t>(Part::kArguments)] = 0;
}

void JsonCallReader::end_value(std::string_view text) {
  const Frame frame = frames_.back();
  frames_.pop_back();
  if (!frames_.empty() && frames_.back().node == 0) {
    if (shape_.only_key && members_ == 1 &&
        arguments_begin_ == only_value_.first) {
      arguments_end_ = scanner_.position();
    }
    only_value_.second = scanner_.position();
  }
  if (frame.node < 0 || repeated_) return;
  const std::string_view raw =
      text.substr(frame.begin, scanner_.position() - frame.begin);
  switch (nodes_[static_cast<std::size_t>(frame.node)].part) {
    case Part::kArguments:
      arguments_end_ = scanner_.position();
      break;
    case Part::kName:
      set_text(shape_.name, raw, name_known_);
      // A name that is no string makes no call.
      if (!raw.starts_with('"')) name_known_ = false;
      break;
    case Part::kId:
      set_text(shape_.id, raw, id_known_);
      break;
    case Part::kNone:
      break;
  }
  if (frame.node == 0) end_call();
}

// Whether the call that has ended is an item: of a list, or a value of a
// sequence.  What is in a list in a sequence is read with that list.
bool JsonCallReader::stands_alone() const {
  if (!shape_.ends_items) return false;
  return shape_.count == JsonCallShape::Count::kSequence
             ? frames_.empty()
             : frames_.size() == 1 && frames_.back().node == kList;
}

// What is known only when the object of the call has ended.
void JsonCallReader::end_call() {
  if (announced_) return;
  if (shape_.id.optional) id_known_ = true;
  const auto has = [&](Part part) {
    return ranks_[static_cast<std::size_t>(part)] != kNoRank;
  };
  if (!shape_.only_key || members_ != 1 || has(Part::kName) ||
      has(Part::kArguments)) {
    return;
  }
  shape_.name.text = only_key_;
  name_known_ = true;
  std::tie(arguments_begin_, arguments_end_) = only_value_;
}

void JsonCallReader::set_text(Source& source, std::string_view raw,
                              bool& known) {
  if (std::optional<std::string> text = string_of(raw)) {
    source.text = std::move(*text);
  } else if (const Result<json::Value> value = json::parse(raw)) {
    source.text = json::standard_text(*value);
  }
  known = true;
}

void JsonCallReader::announce(CallWriter& out) {
  if (announced_ || !name_known_ || !id_known_) return;
  announced_ = true;
  out.open(shape_.name.text, shape_.id.text);
  parameters_ = schema::parameters_of(casts_.tools, shape_.name.text);
  inner_.reset();
}

void JsonCallReader::read_key(std::string_view text) {
  key_node_ = kOutside;
  const std::int32_t in = frames_.back().node;
  if (in < 0) return;
  const Node& node = nodes_[static_cast<std::size_t>(in)];
  if (node.children.empty()) return;
  const auto key = string_of(text.substr(
      scanner_.token_begin(), scanner_.position() - scanner_.token_begin()));
  if (in == 0 && ++members_ == 1) only_key_ = key.value_or("");
  for (const auto& [name, child] : node.children) {
    if (key == name) key_node_ = child;
  }
}

// kSequence: continues with the next value.  False: more text is needed.
bool JsonCallReader::next_value(std::string_view text, bool end) {
  const auto skip = [&](std::size_t at) {
    const std::size_t next = text.find_first_not_of(" \t\n\r", at);
    return std::min(next, text.size());
  };
  std::size_t at = skip(scanner_.position());
  const std::string_view left = text.substr(at);
  const std::string_view separator = shape_.separator;
  if (!separator.empty() && left.starts_with(separator)) {
    at = skip(at + separator.size());
  } else if (!end && separator.starts_with(left)) {
    return false;
  }
  if (at == text.size()) return false;
  scanner_ = JsonScanner(limits_.json_depth, at);
  between_ = false;
  return true;
}

// The common case: the text goes on inside a string of the arguments, and all
// before it is written.  Returns false, and does nothing, otherwise.
bool JsonCallReader::continue_string(std::string_view text, CallWriter& out) {
  if (!inner_ || in_text_ || waiting_ || repeated_ || stopped_ ||
      arguments_end_ != kNowhere || written_ != scanner_.position()) {
    return false;
  }
  const bool casts = parameters_ != nullptr && inner_object_;
  if (casts && inner_->position() != written_) return false;
  if (!scanner_.skip_plain(text)) return false;
  if (casts) inner_->skip_plain(text);
  out.arguments() += text.substr(written_);
  written_ = text.size();
  return true;
}

// Invariant: frames_ has the values that are open at scanner_.position().
// After each token, everything that is certain has been written.
void JsonCallReader::advance(std::string_view text, bool end, CallWriter& out) {
  if (continue_string(text, out)) return;
  const bool one = shape_.count == JsonCallShape::Count::kOne;
  if (one && frames_.empty() && !announced_ && !stopped_ &&
      scanner_.position() == 0 && shape_.name.kind == Source::Kind::kText &&
      shape_.id.kind != Source::Kind::kPaths) {
    begin_call();
    announce(out);
  }
  while (!stopped_) {
    if (between_ && !next_value(text, end)) return;
    const JsonScanner::Token token = scanner_.next(text);
    switch (token) {
      case JsonScanner::Token::kMore:
        write_arguments(text, out);
        return;
      case JsonScanner::Token::kFailed:
        write_arguments(text, out);
        stopped_ = true;
        return;
      case JsonScanner::Token::kBegin:
        begin_value(text);
        announce(out);
        break;
      case JsonScanner::Token::kKey:
        read_key(text);
        break;
      case JsonScanner::Token::kEnd: {
        const std::int32_t node = frames_.back().node;
        const std::size_t begin = frames_.back().begin;
        end_value(text);
        between_ =
            frames_.empty() && shape_.count == JsonCallShape::Count::kSequence;
        if (node < 0) break;
        announce(out);
        write_arguments(text, out);
        if (node != 0 || one) break;
        if (announced_ && stands_alone()) {
          out.end_item({begin, scanner_.position()});
        }
        announced_ = false;
        break;
      }
    }
  }
}

// Writes what has been read of the arguments and is certain.
void JsonCallReader::write_arguments(std::string_view text, CallWriter& out) {
  if (!announced_ || arguments_begin_ == kNowhere) return;
  if (repeated_ && arguments_end_ == kNowhere) return;
  const std::size_t limit = std::min(arguments_end_, scanner_.position());
  if (in_text_) {
    if (arguments_end_ == kNowhere || inner_) return;
    inner_.emplace(limits_.json_depth);  // written
    return write_decoded(
        text.substr(arguments_begin_, arguments_end_ - arguments_begin_), out);
  }
  if (!inner_) {
    // The first bytes of the arguments.
    inner_.emplace(limits_.json_depth, arguments_begin_);
    inner_object_ = text[arguments_begin_] == '{';
    written_ = arguments_begin_;
    parameter_ = nullptr;
    waiting_ = false;
  }
  if (parameters_ != nullptr && inner_object_) {
    write_cast(text, limit, out);
  } else if (written_ < limit) {
    scanner_.copy(text, written_, limit, out.arguments());
  }
}

// Writes arguments that are a string: the object whose text it is, if it is
// one.
void JsonCallReader::write_decoded(std::string_view raw, CallWriter& out) {
  json::ParseOptions options;
  options.limits = limits_;
  const auto inside = string_of(raw);
  Result<json::Value> value = json::parse(inside ? *inside : "", options);
  if (!value || !value->is_object()) {
    out.arguments() += raw;
    return;
  }
  for (json::Member& member : value->mutable_members()) {
    if (parameters_ == nullptr) break;
    const auto parameter = parameters_->find(member.key);
    if (parameter == parameters_->end()) continue;
    if (auto changed = schema::cast_argument(member.value, parameter->second,
                                             casts_.strings)) {
      member.value = std::move(*changed);
    }
  }
  out.arguments() += json::standard_text(*value);
}

// Invariant: the arguments before written_ are written, and if `waiting_`, the
// value of a member begins there.
void JsonCallReader::write_cast(std::string_view text, std::size_t limit,
                                CallWriter& out) {
  const auto write_to = [&](std::size_t end) {
    scanner_.copy(text, written_, end, out.arguments());
  };
  const std::string_view read = text.substr(0, limit);
  while (true) {
    const JsonScanner::Token token = inner_->next(read);
    const std::size_t here = inner_->position();
    switch (token) {
      case JsonScanner::Token::kMore:
      case JsonScanner::Token::kFailed:
        if (!waiting_ && written_ < limit) write_to(limit);
        return;
      case JsonScanner::Token::kKey: {
        if (inner_->depth() != 1) break;
        parameter_ = nullptr;
        const auto key = string_of(
            text.substr(inner_->token_begin(), here - inner_->token_begin()));
        if (!key) break;
        const auto found = parameters_->find(*key);
        if (found != parameters_->end()) parameter_ = &found->second;
        break;
      }
      case JsonScanner::Token::kBegin: {
        if (inner_->depth() != 1 || parameter_ == nullptr) break;
        const char first = text[here];
        waiting_ = first == '"'
                       ? schema::may_cast_string(*parameter_, casts_.strings)
                       : first == '[' && schema::may_cast_list(*parameter_);
        if (waiting_) write_to(here);
        break;
      }
      case JsonScanner::Token::kEnd: {
        if (inner_->depth() != 1 || !waiting_) break;
        waiting_ = false;
        json::ParseOptions options;
        options.limits = limits_;
        const Result<json::Value> value =
            json::parse(text.substr(written_, here - written_), options);
        std::optional<json::Value> changed;
        if (value) {
          changed = schema::cast_argument(*value, *parameter_, casts_.strings);
        }
        if (changed) {
          out.arguments() += json::standard_text(*changed);
          written_ = here;
        } else {
          write_to(here);
        }
        break;
      }
    }
  }
}

}  // namespace parlance::call_stream
