// Reading MaskBench.

#include "maskbench_corpus.h"

#include <algorithm>
#include <charconv>
#include <memory>

namespace parlance::maskbench {

namespace {

// The name of a schema without reading the rest of its line, which is most of
// the time of a run over few: `{"name": "X", ...`.
std::string_view name_of(std::string_view line) {
  constexpr std::string_view kHead = "{\"name\": \"";
  if (!line.starts_with(kHead)) return {};
  line.remove_prefix(kHead.size());
  return line.substr(0, line.find('"'));
}

std::string quoted(const std::string& path) {
  std::string out = "'";
  for (char c : path) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string_view cell(std::string_view& line) {
  const std::size_t end = std::min(line.find('\t'), line.size());
  std::string_view out = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return out;
}

}  // namespace

bool Corpus::fail(std::string what) {
  error_ = std::move(what);
  return false;
}

bool Corpus::open(const std::filesystem::path& folder,
                  const std::filesystem::path& tokens, Selection selection) {
  selection_ = std::move(selection);
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(folder, code)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".jsonl") || name.ends_with(".jsonl.gz")) {
      files_.push_back(entry.path());
    }
  }
  if (files_.empty()) {
    return fail(folder.string() + ": no .jsonl or .jsonl.gz in it");
  }
  std::sort(files_.begin(), files_.end());
  token_file_ = tokens;
  if (tokens.empty()) return true;
  std::ifstream in(tokens, std::ios::binary);
  if (!in) return fail(tokens.string() + ": cannot be read");
  std::uint64_t at = 0;
  for (std::string line; std::getline(in, line);) {
    offsets_.try_emplace(line.substr(0, line.find('\t')), at);
    at += line.size() + 1;
  }
  return true;
}

bool Corpus::each_line(const std::filesystem::path& file,
                       const std::function<bool(std::string_view)>& line) {
  const std::string command =
      (file.extension() == ".gz" ? "gzip -dc " : "cat ") +
      quoted(file.string());
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(
      popen(command.c_str(), "r"), &pclose);
  if (!pipe) return fail(file.string() + ": cannot be read");
  char* buffer = nullptr;
  std::size_t capacity = 0;
  for (ssize_t n = 0; (n = getline(&buffer, &capacity, pipe.get())) > 0;) {
    std::string_view text(buffer, static_cast<std::size_t>(n));
    if (text.ends_with('\n')) text.remove_suffix(1);
    if (!line(text)) break;
  }
  std::free(buffer);
  return true;
}

bool Corpus::read_tokens(Problem& problem) {
  if (problem.instances.empty() || token_file_.empty()) return true;
  const auto found = offsets_.find(problem.name);
  if (found == offsets_.end()) {
    return fail(token_file_.string() + ": no tokens of " + problem.name);
  }
  tokens_.clear();
  tokens_.seekg(static_cast<std::streamoff>(found->second));
  std::string line;
  for (Instance& instance : problem.instances) {
    if (!std::getline(tokens_, line)) {
      return fail(token_file_.string() + ": ends within " + problem.name);
    }
    std::string_view rest = line;
    const bool same = cell(rest) == problem.name;
    cell(rest);
    if (!same || (cell(rest) == "1") != instance.valid) {
      return fail(token_file_.string() + ": not made from " + problem.name);
    }
    const char* at = rest.data();
    const char* end = rest.data() + rest.size();
    for (std::uint32_t id = 0; at < end; ++at) {
      const auto [next, code] = std::from_chars(at, end, id);
      if (code != std::errc()) {
        return fail(token_file_.string() + ": bad ids of " + problem.name);
      }
      instance.tokens.push_back(id);
      at = next;
    }
  }
  return true;
}

bool Corpus::each(std::size_t first,
                  const std::function<bool(std::size_t, Problem)>& visit) {
  // A process of its own reads from a place of its own.
  tokens_ = std::ifstream(token_file_, std::ios::binary);
  std::size_t number = 0;
  bool more = true;
  for (const std::filesystem::path& file : files_) {
    if (!more) break;
    const bool read = each_line(file, [&](std::string_view line) {
      const std::string_view name = name_of(line);
      if (selection_.names && !selection_.names->contains(name)) return true;
      if (number >= selection_.limit) return more = false;
      if (number++ < first) return true;
      Result<json::Value> value = json::parse(line);
      if (!value || value->find("schema") == nullptr) {
        fail(file.string() + ": a line that holds no schema");
        return more = false;
      }
      Problem problem{std::string(name), *value->find("schema"), {}};
      if (const json::Value* tests = value->find("tests")) {
        for (const json::Value& test : tests->items()) {
          const json::Value* valid = test.find("valid");
          const json::Value* text = test.find("text");
          if (valid == nullptr || text == nullptr) continue;
          problem.instances.push_back(
              {valid->as_bool(), std::string(text->as_string()), {}});
        }
      }
      if (!read_tokens(problem)) return more = false;
      return more = visit(number - 1, std::move(problem));
    });
    if (!read || !error_.empty()) return false;
  }
  return true;
}

}  // namespace parlance::maskbench
