// Calls in JSON; see json_calls.h.
//
// One scanner follows the structure of the region down to the parts of a call.
// What it has read of the arguments is copied at once, unless they are not JSON
// or the tool's schema casts: then a second scanner reads the arguments again,
// and their tokens are written.

#include "call_stream/json_calls.h"

#include <algorithm>
#include <tuple>

#include "call_syntax/encoding.h"
#include "json/writer.h"
#include "parlance/json.h"

namespace parlance::call_stream {

std::unique_ptr<JsonCallReader> JsonCallReader::make(
    JsonCallShape shape, Casts casts, const Limits& limits,
    const std::vector<MarkAt>* marks) {
  std::unique_ptr<JsonCallReader> out(
      new JsonCallReader(std::move(shape), std::move(casts), limits, marks));
  bool fits = out->add_paths(out->shape_.arguments, Part::kArguments);
  for (const auto& [source, part] : {std::pair(&out->shape_.name, Part::kName),
                                     std::pair(&out->shape_.id, Part::kId)}) {
    if (source->from != CallPart::From::kItem) continue;
    fits = fits && out->add_paths(source->paths, part);
  }
  return fits ? std::move(out) : nullptr;
}

JsonCallReader::JsonCallReader(JsonCallShape shape, Casts casts,
                               const Limits& limits,
                               const std::vector<MarkAt>* marks)
    : shape_(std::move(shape)),
      casts_(std::move(casts)),
      limits_(limits),
      marks_(marks),
      scanner_(shape_.dialect) {
  // The list of calls is no part of its items.
  shape_.dialect.max_depth = limits.json_depth + (shape_.ends_items ? 1 : 0);
  shape_.dialect.values = shape_.count == JsonCallShape::Count::kSequence
                              ? JsonDialect::Values::kLoose
                              : JsonDialect::Values::kOne;
  shape_.dialect.separator = shape_.separator;
}

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

JsonCallReader::Input JsonCallReader::input_of(std::string_view text,
                                               bool end) const {
  Input out = {.text = text, .end = end};
  if (marks_ != nullptr) out.marks = *marks_;
  return out;
}

// The node of a value that begins in the innermost open value.
std::int32_t JsonCallReader::child_node(Kind kind) const {
  using Count = JsonCallShape::Count;
  if (frames_.empty()) {
    if (shape_.count == Count::kOne) return 0;
    if (kind == Kind::kList) return kList;
    return shape_.count == Count::kList ? kOutside : 0;
  }
  if (frames_.back().node == kList) return 0;
  return frames_.back().object ? key_node_ : kOutside;
}

void JsonCallReader::begin_call() {
  name_known_ = shape_.name.from == CallPart::From::kText;
  id_known_ = shape_.id.from != CallPart::From::kItem;
  if (!id_known_) shape_.id.text.clear();
  announced_ = false;
  repeated_ = false;
  damaged_ = false;
  std::ranges::fill(ranks_, kNoRank);
  arguments_begin_ = kNowhere;
  arguments_end_ = kNowhere;
  written_ = kNowhere;
  in_text_ = false;
  text_written_ = false;
  members_ = 0;
  others_ = false;
}

void JsonCallReader::begin_arguments(const Token& token) {
  arguments_begin_ = static_cast<std::size_t>(token.begin);
  arguments_end_ = kNowhere;
  in_text_ = shape_.as_text && token.kind == Kind::kTextBegin;
}

void JsonCallReader::begin_value(const Token& token) {
  const auto begin = static_cast<std::size_t>(token.begin);
  const std::int32_t node = child_node(token.kind);
  if (!frames_.empty() && frames_.back().node == 0) {
    only_value_.first = begin;
    if (begins_only_value(node, token)) begin_only_value(token);
  }
  frames_.push_back({node, token.kind == Kind::kObject,
                     token.kind == Kind::kTextBegin, begin,
                     static_cast<std::size_t>(token.end)});
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
  if (!repeated_ && known.part == Part::kArguments) begin_arguments(token);
}

// Whether the value that begins with `token`, at `node`, is the arguments under
// the only key of a call.  Another key may follow, which makes it no call: then
// the call is never closed.
bool JsonCallReader::begins_only_value(std::int32_t node,
                                       const Token& token) const {
  const bool arguments = token.kind == Kind::kObject ||
                         (shape_.as_text && token.kind == Kind::kTextBegin);
  return arguments && shape_.only_key && members_ == 1 && node == kOutside &&
         !announced_ && frames_.back().object && id_known_or_optional();
}

void JsonCallReader::begin_only_value(const Token& token) {
  shape_.name.text = only_key_;
  name_known_ = true;
  id_known_ = true;
  begin_arguments(token);
  // Parts that come by their own names replace nothing.
  ranks_[static_cast<std::size_t>(Part::kName)] = 0;
  ranks_[static_cast<std::size_t>(Part::kArguments)] = 0;
}

// The innermost value ends with `token`.
void JsonCallReader::end_value(std::string_view text, const Token& token) {
  const Frame frame = frames_.back();
  frames_.pop_back();
  const auto end = static_cast<std::size_t>(token.end);
  const bool only = shape_.only_key && members_ == 1 &&
                    arguments_begin_ == only_value_.first &&
                    frame.begin == arguments_begin_;
  if (!frames_.empty() && frames_.back().node == 0) {
    if (only) arguments_end_ = end;
    only_value_.second = end;
  }
  if ((frame.node < 0 && !only) || repeated_) return;
  const Part part = only ? Part::kArguments
                         : nodes_[static_cast<std::size_t>(frame.node)].part;
  std::string string;
  if (frame.string && part != Part::kNone) {
    call_syntax::append_text(
        string,
        text.substr(frame.text,
                    static_cast<std::size_t>(token.begin) - frame.text),
        token.encoding);
  }
  const auto set = [&](CallPart& source, bool& known) {
    known = true;
    if (frame.string) {
      source.text = std::move(string);
    } else if (const auto value =
                   json::parse(text.substr(frame.begin, end - frame.begin))) {
      // null is no id.
      if (!value->is_null()) source.text = json::standard_text(*value);
    }
  };
  switch (part) {
    case Part::kArguments:
      arguments_end_ = end;
      if (in_text_) string_ = std::move(string);
      break;
    case Part::kName:
      set(shape_.name, name_known_);
      // A name that is no string makes no call.
      if (!frame.string) name_known_ = false;
      break;
    case Part::kId:
      set(shape_.id, id_known_);
      break;
    case Part::kNone:
      break;
  }
  if (frame.node == 0) end_call();
}

// Whether the call that has ended inside the open values is an item: of a list,
// or a value of a sequence.
bool JsonCallReader::is_item() const {
  if (!shape_.ends_items) return false;
  return frames_.empty() ? shape_.count == JsonCallShape::Count::kSequence
                         : frames_.back().node == kList;
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

void JsonCallReader::announce(CallWriter& out) {
  if (announced_ || damaged_ || !name_known_ || !id_known_) return;
  announced_ = true;
  out.open(shape_.name.text, shape_.id.text);
  parameters_ = schema::parameters_of(casts_.tools, shape_.name.text);
  inner_.reset();
  waiting_.reset();
}

void JsonCallReader::read_key(std::string_view text, const Token& token) {
  key_node_ = kOutside;
  const std::int32_t in = frames_.back().node;
  if (in < 0) return;
  const Node& node = nodes_[static_cast<std::size_t>(in)];
  if (node.children.empty()) return;
  std::string key;
  call_syntax::append_text(
      key, input_of(text, false).slice(token.begin, token.end), token.encoding);
  if (in == 0 && ++members_ == 1) only_key_ = key;
  for (const auto& [name, child] : node.children) {
    if (key == name) key_node_ = child;
  }
  if (in == 0 && key_node_ == kOutside && !is_no_arguments(key)) {
    others_ = true;
  }
}

// Whether the arguments are written token by token.
bool JsonCallReader::rewrites() const {
  return !shape_.dialect.strict() ||
         (parameters_ != nullptr && arguments_are_object_);
}

// The common case: the text goes on inside a string of the arguments, and all
// before it is written.  Returns false, and does nothing, otherwise.
bool JsonCallReader::continue_string(std::string_view text, CallWriter& out) {
  if (!announced_ || written_ != scanner_.position() || in_text_ || waiting_ ||
      repeated_ || damaged_ || stopped_ || arguments_end_ != kNowhere) {
    return false;
  }
  const Input input = input_of(text, false);
  if (rewrites() && (inner_->position() != written_ || !inner_->in_text())) {
    return false;
  }
  if (!scanner_.skip_plain(input)) return false;
  if (rewrites()) inner_->skip_text(input);
  out.arguments() += text.substr(written_);
  written_ = text.size();
  return true;
}

// Damage: of an item, if calls are items; else nothing more is read.  Returns
// whether reading goes on.
bool JsonCallReader::damage() {
  if (shape_.ends_items && !scanner_.stopped()) {
    damaged_ = true;
    return true;
  }
  stopped_ = true;
  return false;
}

// Whether the ordinary string that ends at `token` contains a delimiter that
// counts.
bool JsonCallReader::doubtful(std::string_view text, const Token& token) const {
  if (!shape_.delimiters_first ||
      token.encoding != call_syntax::Encoding::kJson) {
    return false;
  }
  const auto end = static_cast<std::size_t>(token.end);
  const std::size_t begin = token.kind == Kind::kKey
                                ? static_cast<std::size_t>(token.begin)
                                : waiting_begin_;
  const std::string& open = shape_.dialect.delimiters[0].open;
  return text.substr(begin, end - begin).find(open) != std::string_view::npos;
}

// Notes a number that is no JSON.
void JsonCallReader::note_number(std::string_view text, const Token& token) {
  const auto end = static_cast<std::size_t>(token.end);
  if (text[end - 1] == 'N') nonfinite_.push_back(end - 3);
  if (text[end - 1] == 'y') nonfinite_.push_back(end - 8);
}

// A value that has begun ends with `token`.
void JsonCallReader::read_value_end(std::string_view text, const Token& token,
                                    CallWriter& out) {
  const std::int32_t node = frames_.back().node;
  const std::size_t begin = frames_.back().begin;
  end_value(text, token);
  if (node < 0) return;
  announce(out);
  if (!damaged_) write_arguments(text, out);
  if (node != 0) return;
  if (announced_ && shape_.arguments_optional && !others_ && !repeated_ &&
      arguments_begin_ == kNowhere) {
    out.arguments() = "{}";
    arguments_end_ = static_cast<std::size_t>(token.end);
  }
  if (announced_ && is_item()) {
    out.end({begin, static_cast<std::size_t>(token.end)});
  } else if (announced_ && !damaged_ && !repeated_ &&
             arguments_end_ != kNowhere) {
    out.end();
  }
  if (shape_.count == JsonCallShape::Count::kOne) return;
  // No call is open until the next one begins.
  announced_ = false;
  damaged_ = false;
  name_known_ = false;
}

// Invariant: frames_ has the values that are open at scanner_.position().
// After each token, everything that is certain has been written.
void JsonCallReader::advance(std::string_view text, bool end, CallWriter& out) {
  if (continue_string(text, out)) return;
  const bool one = shape_.count == JsonCallShape::Count::kOne;
  if (one && frames_.empty() && !announced_ && !stopped_ &&
      scanner_.position() == 0 && shape_.name.from == CallPart::From::kText &&
      shape_.id.from != CallPart::From::kItem) {
    begin_call();
    announce(out);
  }
  const Input input = input_of(text, end);
  while (!stopped_) {
    const Token token = scanner_.next(input);
    switch (token.kind) {
      case Kind::kMore:
        if (!damaged_) write_arguments(text, out);
        return;
      case Kind::kBad:
        if (!damaged_) write_arguments(text, out);
        if (!damage()) return;
        // A string that damage ends has no other end.
        if (!frames_.empty() && frames_.back().string &&
            !scanner_.in_string()) {
          frames_.pop_back();
        }
        break;
      case Kind::kObject:
      case Kind::kList:
      case Kind::kTextBegin:
        begin_value(token);
        announce(out);
        break;
      case Kind::kScalar:
        begin_value(token);
        note_number(text, token);
        announce(out);
        read_value_end(text, token, out);
        break;
      case Kind::kKey:
        read_key(text, token);
        break;
      case Kind::kTextEnd:
      case Kind::kClose:
        read_value_end(text, token, out);
        break;
      default:
        break;
    }
  }
}

// Writes what has been read of the arguments and is certain.
void JsonCallReader::write_arguments(std::string_view text, CallWriter& out) {
  if (!announced_ || arguments_begin_ == kNowhere) return;
  if (repeated_ && arguments_end_ == kNowhere) return;
  if (in_text_) {
    if (arguments_end_ == kNowhere || text_written_) return;
    text_written_ = true;
    return write_decoded(out);
  }
  if (written_ == kNowhere) {
    written_ = arguments_begin_;
    arguments_are_object_ = text[arguments_begin_] == '{';
    parameter_ = nullptr;
  }
  const auto limit =
      std::min(arguments_end_, static_cast<std::size_t>(scanner_.certain()));
  if (rewrites()) {
    write_tokens(text, limit, out);
  } else if (written_ < limit) {
    copy(text, limit, out.arguments());
  }
}

// Appends the text in [written_, to).  NaN and Infinity are no JSON.
void JsonCallReader::copy(std::string_view text, std::size_t to,
                          std::string& out) {
  std::size_t passed = 0;
  for (; passed < nonfinite_.size() && nonfinite_[passed] < to; ++passed) {
    const std::size_t begin = nonfinite_[passed];
    if (begin < written_) continue;
    const bool is_nan = text[begin] == 'N';
    out += text.substr(written_, begin - written_);
    out += is_nan ? "null" : "1e999";
    written_ = begin + std::string_view(is_nan ? "NaN" : "Infinity").size();
  }
  nonfinite_.erase(nonfinite_.begin(),
                   nonfinite_.begin() + static_cast<std::ptrdiff_t>(passed));
  out += text.substr(written_, to - written_);
  written_ = to;
}

// Writes arguments that are a string: the object whose text it is, if it is
// one.
void JsonCallReader::write_decoded(CallWriter& out) {
  Result<json::Value> value = json::parse(string_, {.limits = limits_});
  if (!value || !value->is_object()) {
    out.arguments() += json::quoted(string_);
    return;
  }
  schema::cast_arguments(*value, casts_.tools, shape_.name.text,
                         casts_.strings);
  out.arguments() += json::standard_text(*value);
}

// Invariant: the arguments before written_ are read by inner_.  They are
// written, but for a value that waits.
void JsonCallReader::write_tokens(std::string_view text, std::size_t limit,
                                  CallWriter& out) {
  if (!inner_) {
    inner_.emplace(shape_.dialect, arguments_begin_, /*details=*/true);
    json_ = call_syntax::JsonText(call_syntax::JsonText::Spacing::kModels);
  }
  const Input input =
      input_of(text.substr(0, limit), arguments_end_ != kNowhere);
  while (true) {
    const Token token = inner_->next(input);
    written_ = static_cast<std::size_t>(inner_->position());
    const bool member = inner_->depth() == 1;
    switch (token.kind) {
      case Kind::kMore:
        return;
      case Kind::kBad:
        damaged_ = true;
        return;
      case Kind::kKey: {
        if (!member || parameters_ == nullptr) break;
        std::string key;
        call_syntax::append_text(key, input.slice(token.begin, token.end),
                                 token.encoding);
        const auto found = parameters_->find(key);
        parameter_ = found == parameters_->end() ? nullptr : &found->second;
        break;
      }
      case Kind::kTextBegin: {
        if (waiting_) break;
        casts_waiting_ = member && parameter_ != nullptr &&
                         schema::may_cast_string(*parameter_, casts_.strings);
        const bool plain = text[static_cast<std::size_t>(token.begin)] == '"';
        if (casts_waiting_ || (shape_.delimiters_first && plain)) {
          wait(token);
        }
        break;
      }
      case Kind::kList:
        if (waiting_ || inner_->depth() != 2 || parameter_ == nullptr ||
            !schema::may_cast_list(*parameter_)) {
          break;
        }
        casts_waiting_ = true;
        wait(token);
        break;
      default:
        break;
    }
    if ((token.kind == Kind::kTextEnd || token.kind == Kind::kKey) &&
        doubtful(text, token)) {
      damaged_ = true;
      return;
    }
    if (!waiting_) {
      json_.add(token, input, out.arguments());
      continue;
    }
    waiting_->add(token, input);
    if (waiting_->complete()) write_waiting(input.text, out.arguments());
  }
}

// The value that begins with `token` waits for its end.
void JsonCallReader::wait(const Token& token) {
  waiting_.emplace(limits_);
  waiting_begin_ = static_cast<std::size_t>(token.begin);
}

// The value that waited has ended at written_.
void JsonCallReader::write_waiting(std::string_view text, std::string& out) {
  std::optional<json::Value> changed;
  if (casts_waiting_) {
    changed =
        schema::cast_argument(waiting_->take(), *parameter_, casts_.strings);
  }
  waiting_.reset();
  if (changed) return json_.value(*changed, out);
  // The cast changes nothing: the value is written as the model wrote it.
  const Input input = input_of(text.substr(0, written_), true);
  call_syntax::JsonScanner again(shape_.dialect, waiting_begin_,
                                 /*details=*/true);
  for (;;) {
    const Token token = again.next(input);
    if (token.kind == Kind::kMore) return;
    json_.add(token, input, out);
  }
}

}  // namespace parlance::call_stream
