// Calls in JSON; see json_calls.h.
//
// One scanner follows the structure of the region down to the parts of a call.
// What it has read of the arguments is written at once, unless the tool's
// schema casts: then a second scanner reads the arguments and finds the members
// that have to wait.

#include "call_stream/json_calls.h"

#include <algorithm>

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
  bool fits = out->add_path(out->shape_.arguments, Part::kArguments);
  for (const auto& [source, part] : {std::pair(&out->shape_.name, Part::kName),
                                     std::pair(&out->shape_.id, Part::kId)}) {
    if (source->kind != Source::Kind::kPath) continue;
    fits = fits && out->add_path(source->path, part);
  }
  return fits ? std::move(out) : nullptr;
}

JsonCallReader::JsonCallReader(JsonCallShape shape, Casts casts,
                               const Limits& limits)
    : shape_(std::move(shape)),
      casts_(std::move(casts)),
      limits_(limits),
      scanner_(limits.json_depth) {}

bool JsonCallReader::add_path(const std::vector<std::string>& path, Part part) {
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
  return true;
}

// The node of a value that begins in the innermost open value.
std::int32_t JsonCallReader::child_node(char first) const {
  if (frames_.empty()) {
    if (!shape_.list) return 0;
    return first == '[' ? kList : kOutside;
  }
  if (frames_.back().node == kList) return 0;
  return frames_.back().object ? key_node_ : kOutside;
}

void JsonCallReader::begin_call() {
  name_known_ = shape_.name.kind == Source::Kind::kText;
  id_known_ = shape_.id.kind != Source::Kind::kPath;
  announced_ = false;
  repeated_ = false;
  arguments_begin_ = kNowhere;
  arguments_end_ = kNowhere;
}

void JsonCallReader::begin_value(std::string_view text) {
  const std::size_t begin = scanner_.position();
  const std::int32_t node = child_node(text[begin]);
  frames_.push_back({node, text[begin] == '{', begin});
  key_node_ = kOutside;
  if (node < 0) return;
  // A call that was announced when the region opened has begun already.
  if (node == 0 && !announced_) begin_call();
  const Part part = nodes_[static_cast<std::size_t>(node)].part;
  if (part == Part::kNone) return;
  if (announced_ &&
      (part != Part::kArguments || arguments_begin_ != kNowhere)) {
    repeated_ = true;
  }
  if (repeated_) return;
  if (part == Part::kArguments) {
    arguments_begin_ = begin;
    arguments_end_ = kNowhere;
  }
}

void JsonCallReader::end_value(std::string_view text) {
  const Frame frame = frames_.back();
  frames_.pop_back();
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
}

void JsonCallReader::set_text(Source& source, std::string_view raw,
                              bool& known) {
  if (std::optional<std::string> text = string_of(raw)) {
    source.text = std::move(*text);
  } else if (const Result<json::Value> value = json::parse(raw)) {
    source.text = json::dump(*value, {.ascii = false});
  }
  known = true;
}

// Invariant: frames_ has the values that are open at scanner_.position().
// After each token, everything that is certain has been written.
void JsonCallReader::advance(std::string_view text, bool, CallWriter& out) {
  const auto announce = [&] {
    if (announced_ || !name_known_ || !id_known_) return;
    announced_ = true;
    out.open(shape_.name.text, shape_.id.text);
    parameters_ = schema::parameters_of(casts_.tools, shape_.name.text);
    inner_.reset();
  };
  if (frames_.empty() && !shape_.list && !announced_ &&
      shape_.name.kind == Source::Kind::kText &&
      shape_.id.kind != Source::Kind::kPath) {
    begin_call();
    announce();
  }
  while (!stopped_) {
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
        break;
      case JsonScanner::Token::kKey: {
        const Frame& frame = frames_.back();
        key_node_ = kOutside;
        if (frame.node < 0) break;
        const Node& node = nodes_[static_cast<std::size_t>(frame.node)];
        if (node.children.empty()) break;
        const auto key = string_of(
            text.substr(scanner_.token_begin(),
                        scanner_.position() - scanner_.token_begin()));
        for (const auto& [name, child] : node.children) {
          if (key == name) key_node_ = child;
        }
        break;
      }
      case JsonScanner::Token::kEnd: {
        const bool on_path = frames_.back().node >= 0;
        const bool call = frames_.back().node == 0;
        end_value(text);
        if (!on_path) break;
        announce();
        write_arguments(text, out);
        if (call && shape_.list) announced_ = false;
        break;
      }
    }
    if (token == JsonScanner::Token::kBegin) announce();
  }
}

// Writes what has been read of the arguments and is certain.
void JsonCallReader::write_arguments(std::string_view text, CallWriter& out) {
  if (!announced_ || arguments_begin_ == kNowhere) return;
  if (repeated_ && arguments_end_ == kNowhere) return;
  const std::size_t limit = std::min(arguments_end_, scanner_.position());
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
    out.arguments() += text.substr(written_, limit - written_);
    written_ = limit;
  }
}

// Invariant: the arguments before written_ are written, and if `waiting_`, the
// value of a member begins there.
void JsonCallReader::write_cast(std::string_view text, std::size_t limit,
                                CallWriter& out) {
  const auto write_to = [&](std::size_t end) {
    out.arguments() += text.substr(written_, end - written_);
    written_ = end;
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
          out.arguments() += json::dump(*changed, {.ascii = false});
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
