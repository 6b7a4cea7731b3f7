// The table, and the lists that follow it.

#include "maskbench_report.h"

#include <algorithm>
#include <iomanip>
#include <numeric>
#include <ostream>
#include <utility>

namespace parlance::maskbench {

namespace {

std::string text_of(const json::Value& value, std::string_view key) {
  const json::Value* found = value.find(key);
  return found == nullptr ? std::string() : std::string(found->as_string());
}

std::int64_t int_of(const json::Value& value, std::string_view key) {
  const json::Value* found = value.find(key);
  return found == nullptr ? 0 : found->as_int();
}

const json::Array& items_of(const json::Value& value, std::string_view key) {
  static const json::Array kNone;
  const json::Value* found = value.find(key);
  return found == nullptr ? kNone : found->items();
}

// The keyword at the end of a JSON Pointer; a place in a list has its list's.
std::string keyword_of(std::string_view path) {
  while (!path.empty()) {
    const std::size_t slash = path.rfind('/');
    const std::string_view last = path.substr(slash + 1);
    const bool number =
        !last.empty() && last.find_first_not_of("0123456789") == last.npos;
    if (!number) return std::string(last);
    path = path.substr(0, slash == path.npos ? 0 : slash);
  }
  return "(root)";
}

void print_samples(std::ostream& out, std::string_view name, Samples& samples) {
  samples.sort();
  out << std::left << std::setw(22) << name << std::right
      << std::setprecision(1) << std::fixed;
  out << std::setw(10) << samples.mean();
  for (double p : {25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 100.0}) {
    out << std::setw(11) << samples.at(p);
  }
  out << std::setw(10) << samples.count() << "\n";
}

void print_list(std::ostream& out, std::string_view title,
                const std::vector<std::string>& lines) {
  out << "\n" << title << ": " << lines.size() << "\n";
  for (const std::string& line : lines) out << "  " << line << "\n";
}

}  // namespace

void Samples::sort() { std::sort(ns_.begin(), ns_.end()); }

double Samples::at(double percent) const {
  if (ns_.empty()) return 0;
  const auto index =
      static_cast<std::size_t>(static_cast<double>(ns_.size()) * percent / 100);
  return static_cast<double>(ns_[std::min(index, ns_.size() - 1)]) / 1000;
}

double Samples::mean() const {
  if (ns_.empty()) return 0;
  const std::int64_t sum =
      std::accumulate(ns_.begin(), ns_.end(), std::int64_t{0});
  return static_cast<double>(sum) / 1000 / static_cast<double>(ns_.size());
}

void Report::add(const json::Value& result) {
  ++schemas_;
  const std::string name = text_of(result, "name");
  if (const json::Value* error = result.find("error")) {
    ++verdicts_["compile error"];
    errors_.push_back({name, text_of(*error, "code"), text_of(*error, "path"),
                       text_of(*error, "message")});
    return;
  }
  ++verdicts_[text_of(result, "verdict")];
  masks_hash_ += static_cast<std::uint64_t>(int_of(result, "masks_hash"));
  instances_ += static_cast<std::size_t>(int_of(result, "instances"));
  open_ended_ += static_cast<std::size_t>(int_of(result, "open_ended"));
  compile_.add(int_of(result, "compile_ns"));
  const std::int64_t first_mask =
      int_of(result, "compile_ns") + int_of(result, "first_ns");
  first_mask_.add(first_mask);
  keep_slow(slow_compiles_, {int_of(result, "compile_ns"), name});
  keep_slow(slow_first_masks_, {first_mask, name});
  Slow slowest;
  const json::Array& tbm = items_of(result, "tbm_ns");
  for (std::size_t i = 0; i < tbm.size(); ++i) {
    tbm_.add(tbm[i].as_int());
    if (tbm[i].as_int() > slowest.ns) {
      slowest = {tbm[i].as_int(), name + ", its mask " + std::to_string(i)};
    }
  }
  keep_slow(slow_masks_, std::move(slowest));
  if (const json::Value* notes = result.find("notes")) {
    for (const json::Member& note : notes->members()) {
      notes_[note.key] += static_cast<std::size_t>(note.value.as_int());
    }
  }
  for (const json::Value& item : items_of(result, "invalid_accepted")) {
    accepted_.push_back(name + " #" + std::to_string(int_of(item, "test")));
  }
  for (const json::Value& item : items_of(result, "valid_refused")) {
    refused_.push_back(name + " #" + std::to_string(int_of(item, "test")) +
                       " (" + text_of(item, "how") + ") at byte " +
                       std::to_string(int_of(item, "offset")) + ": \"" +
                       text_of(item, "around") + "\", expected " +
                       text_of(item, "expected"));
  }
  for (const json::Value& item : items_of(result, "laws")) {
    laws_.push_back(name + " " + std::string(item.as_string()));
  }
}

void Report::add_crash(std::string name, std::string how) {
  ++schemas_;
  ++verdicts_["crash"];
  crashes_.push_back(std::move(name) + ": " + std::move(how));
}

void Report::print_times(std::ostream& out) {
  out << std::left << std::setw(22) << "microseconds" << std::right
      << std::setw(10) << "mean";
  for (const char* head :
       {"p25", "p50", "p75", "p90", "p95", "p99", "p99.9", "max"}) {
    out << std::setw(11) << head;
  }
  out << std::setw(10) << "count"
      << "\n";
  print_samples(out, "TBM", tbm_);
  print_samples(out, "compile", compile_);
  print_samples(out, "compile + first mask", first_mask_);
}

void Report::keep_slow(std::vector<Slow>& list, Slow one) {
  constexpr std::size_t kKept = 12;
  list.push_back(std::move(one));
  std::sort(list.begin(), list.end(),
            [](const Slow& a, const Slow& b) { return a.ns > b.ns; });
  if (list.size() > kKept) list.pop_back();
}

void Report::print_slow(std::ostream& out, std::string_view title,
                        const std::vector<Slow>& list) {
  out << "\n" << title << "\n";
  for (const Slow& one : list) {
    out << "  " << static_cast<double>(one.ns) / 1000 << " us " << one.where
        << "\n";
  }
}

void Report::print_lists(std::ostream& out) const {
  std::map<std::string, std::size_t> kinds;
  for (const CompileError& error : errors_) {
    ++kinds[error.code + " " + keyword_of(error.path)];
  }
  std::vector<std::pair<std::size_t, std::string>> order;
  for (const auto& [kind, count] : kinds) order.emplace_back(count, kind);
  std::sort(order.rbegin(), order.rend());
  out << "\ncompile errors: " << errors_.size() << "\n";
  for (const auto& [count, kind] : order) {
    out << "  " << count << " " << kind << "\n";
  }
  print_slow(out, "slowest masks, one a schema:", slow_masks_);
  print_slow(out, "slowest compiles:", slow_compiles_);
  print_slow(out, "slowest compiles with the first mask:", slow_first_masks_);
  print_list(out, "crashes and timeouts", crashes_);
  print_list(out, "laws broken", laws_);
  print_list(out, "invalid accepted", accepted_);
  print_list(out, "valid refused", refused_);
}

void Report::print(std::ostream& out) {
  print_times(out);
  out << "\nschemas: " << schemas_ << ", instances fed: " << instances_ << "\n";
  for (const auto& [verdict, count] : verdicts_) {
    out << "  " << verdict << ": " << count << "\n";
  }
  out << "invalid instances refused only at their end: " << open_ended_ << "\n";
  out << "hash of all masks: " << std::hex << masks_hash_ << std::dec << "\n";
  for (const auto& [note, count] : notes_) {
    out << "notes: " << note << ": " << count << "\n";
  }
  print_lists(out);
}

void Report::print_errors(std::ostream& out) const {
  for (const CompileError& error : errors_) {
    out << error.name << "\t" << error.code << "\t" << error.path << "\t"
        << error.message << "\n";
  }
}

}  // namespace parlance::maskbench
