// Batch: a step of many matchers and parsers in one call.  MaskTable: masks by
// number.

#include "parlance/batch.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "constraint.h"
#include "events.h"
#include "shortcut.h"
#include "stepping.h"

namespace parlance::python {

namespace {

// The tokens of each row, in one list.
struct Tokens {
  std::vector<TokenId> ids;
  std::vector<std::size_t> ends;  // of row i

  std::span<const TokenId> of(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    return std::span(ids).subspan(begin, ends[i] - begin);
  }
};

// `tokens`: one id for each row in a flat sequence or array, or a sequence of
// ids for each row.
Tokens read_tokens(nb::handle tokens, std::size_t rows) {
  Tokens out;
  const bool listed = PyList_Check(tokens.ptr()) || PyTuple_Check(tokens.ptr());
  bool flat = !listed;
  if (listed) {
    flat =
        nb::len(tokens) == 0 || PyIndex_Check(nb::object(tokens[0]).ptr()) != 0;
  }
  if (flat) {
    out.ids = read_ids(tokens, "tokens");
    for (std::size_t i = 0; i < out.ids.size(); ++i) out.ends.push_back(i + 1);
  } else {
    for (nb::handle item : tokens) {
      const std::vector<TokenId> ids = read_ids(item, "an item of tokens");
      out.ids.insert(out.ids.end(), ids.begin(), ids.end());
      out.ends.push_back(out.ids.size());
    }
  }
  if (out.ends.size() != rows) {
    raise_usage("tokens has " + std::to_string(out.ends.size()) +
                " items, and there are " + std::to_string(rows) + " rows");
  }
  return out;
}

struct Draft {
  std::vector<std::int64_t> first_child;
  std::vector<std::int64_t> next_sibling;
  std::vector<std::int64_t> tokens;
};

// `drafts`: None, or for each row None or (first_child, next_sibling, tokens).
std::vector<Draft> read_drafts(nb::handle drafts, std::size_t rows) {
  std::vector<Draft> out;
  if (drafts.is_none()) return out;
  constexpr std::string_view kWanted =
      "a list with None or (first_child, next_sibling, tokens) for each row";
  if (!PyList_Check(drafts.ptr()) && !PyTuple_Check(drafts.ptr())) {
    raise_type("drafts", kWanted, drafts);
  }
  for (nb::handle item : drafts) {
    Draft& draft = out.emplace_back();
    if (item.is_none()) continue;
    if ((!PyList_Check(item.ptr()) && !PyTuple_Check(item.ptr())) ||
        nb::len(item) != 3) {
      raise_type("an item of drafts", kWanted, item);
    }
    draft.first_child = read_numbers(item[0], "first_child");
    draft.next_sibling = read_numbers(item[1], "next_sibling");
    draft.tokens = read_numbers(item[2], "tokens of a draft");
    if (draft.tokens.empty() ||
        draft.first_child.size() != draft.tokens.size() ||
        draft.next_sibling.size() != draft.tokens.size()) {
      raise_usage(
          "a draft tree needs first_child, next_sibling and tokens of the same "
          "length, one item for each node, the root first");
    }
  }
  if (out.size() != rows) {
    raise_usage("drafts has " + std::to_string(out.size()) +
                " items, and there are " + std::to_string(rows) + " rows");
  }
  return out;
}

// The content of Python's MaskTable objects.  Several steps may use a table at
// the same time; only clear() takes it for itself.
struct TableObject : Exclusive {
  static constexpr std::string_view kWhat =
      "table; a table is cleared while no step uses it";

  explicit TableObject(const Compiler& compiler, std::size_t rows)
      : table(compiler, rows) {}

  MaskTable table;
};

std::int32_t id_of(TableObject& self, nb::handle matcher) {
  const std::optional<Stepped> found = stepped_matcher(matcher);
  if (!found) raise_type("matcher", "a Matcher", matcher);
  Uses uses;
  if (!uses.take(*found->in_use)) raise_in_use("matcher");
  const WithoutGil released;
  return self.table.id_of(*found->row.matcher);
}

// Copies the rows of the table from `begin` on.
std::size_t copy_rows(TableObject& self, nb::handle buffer, std::size_t begin) {
  const std::size_t end = self.table.size();
  if (begin > end) {
    raise_usage("the table has " + std::to_string(end) +
                " rows, so they do not begin at " + std::to_string(begin));
  }
  const std::size_t words = self.table.mask_words();
  const Rows target(buffer, words);
  if (target.count() < end - begin) {
    raise_usage("the buffer has " + std::to_string(target.count()) +
                " rows, and there are " + std::to_string(end - begin) +
                " to copy");
  }
  for (std::size_t i = begin; i < end; ++i) {
    const auto from = self.table.rows(i, i + 1);
    const auto to = target.row(static_cast<Py_ssize_t>(i - begin));
    std::ranges::copy(from, to.begin());
    std::ranges::fill(to.subspan(words), 0);
  }
  return end - begin;
}

class BatchObject : public Exclusive {
 public:
  static constexpr std::string_view kWhat =
      "batch; a batch makes one step at a time";

  explicit BatchObject(unsigned threads) : batch_({.threads = threads}) {}

  std::uint32_t add(nb::object matcher, nb::object parser) {
    Row row;
    if (!matcher.is_none()) {
      const std::optional<Stepped> found = stepped_matcher(matcher);
      if (!found) raise_type("matcher", "a Matcher", matcher);
      row.stepped.matcher = found->row.matcher;
      row.words = found->words;
      row.matcher_in_use = found->in_use;
    }
    if (!parser.is_none()) {
      std::optional<Stepped> found = stepped_response_parser(parser);
      if (!found) found = stepped_tag_parser(parser);
      if (!found) raise_type("parser", "a ResponseParser or TagParser", parser);
      if (!found->tokens) {
        raise_usage(
            "the parser of a row reads token ids, so it must be made with "
            "vocabulary=");
      }
      row.stepped.parser = found->row.parser;
      row.stepped.tag_parser = found->row.tag_parser;
      row.parser_in_use = found->in_use;
    }
    row.matcher = std::move(matcher);
    row.parser = std::move(parser);
    // The place is made first: it may fail for lack of memory.  A number is at
    // most the number of rows.
    if (rows_.size() == batch_.size()) rows_.emplace_back();
    const std::uint32_t number = batch_.add(row.stepped);
    rows_[number] = std::move(row);
    return number;
  }

  // Returns the objects of the row, which the caller drops when the batch is no
  // longer in use: they may be the last references, and a finalizer may use the
  // batch.
  nb::object remove(std::int64_t number) {
    Row& row = find(number);
    nb::object out = nb::make_tuple(row.matcher, row.parser);
    batch_.remove(static_cast<std::uint32_t>(number));
    rows_[static_cast<std::size_t>(number)].reset();
    return out;
  }

  std::size_t size() const { return batch_.size(); }

  nb::object step(nb::handle rows, nb::handle tokens, nb::handle buffer,
                  nb::handle mask_rows, nb::handle drafts, TableObject* table,
                  nb::handle heat, nb::handle time_limit) {
    const std::chrono::nanoseconds limit = read_time_limit(time_limit);
    const std::vector<std::int64_t> numbers = read_numbers(rows, "rows");
    const Tokens ids = read_tokens(tokens, numbers.size());
    const std::vector<Draft> trees = read_drafts(drafts, numbers.size());
    std::vector<BatchInput> inputs(numbers.size());
    std::size_t words = 0;
    Uses uses;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const Row& row = find(numbers[i]);
      take(uses, row.matcher_in_use);
      take(uses, row.parser_in_use);
      words = std::max(words, row.words);
      inputs[i].row = static_cast<std::uint32_t>(numbers[i]);
      inputs[i].tokens = ids.of(i);
      if (!trees.empty()) {
        inputs[i].first_child = trees[i].first_child;
        inputs[i].next_sibling = trees[i].next_sibling;
        inputs[i].draft_tokens = trees[i].tokens;
        inputs[i].time_limit = limit;
      }
    }
    std::optional<Rows> target;
    if (!buffer.is_none()) {
      target.emplace(buffer, words);
      place(inputs, mask_rows, target->count());
    } else if (!mask_rows.is_none()) {
      raise_usage("mask_rows needs a buffer, which has these rows");
    } else if (table != nullptr) {
      raise_usage("table needs a buffer, for the masks that have no row in it");
    } else if (!heat.is_none()) {
      raise_usage("temperatures needs a buffer, to whose rows they belong");
    }
    const Temperatures temperatures(heat, target ? target->count() : 0);
    std::vector<BatchOutput> outputs(inputs.size());
    std::optional<SharedUse> masks;
    if (table != nullptr) masks.emplace(*table);
    std::optional<Error> error;
    {
      const WithoutGil released;
      error = batch_.step(
          inputs, target ? target->all() : std::span<std::int32_t>(),
          target ? target->stride() : 0, outputs,
          table == nullptr ? nullptr : &table->table, temperatures.get());
    }
    if (error) raise_usage(error->message);
    return to_tuple(numbers, outputs);
  }

  int traverse(visitproc visit, void* arg) const {
    for (const std::optional<Row>& row : rows_) {
      if (!row) continue;
      Py_VISIT(row->matcher.ptr());
      Py_VISIT(row->parser.ptr());
    }
    return 0;
  }

 private:
  struct Row {
    nb::object matcher;  // keeps `stepped`
    nb::object parser;
    BatchRow stepped = {};
    InUse* matcher_in_use = nullptr;
    InUse* parser_in_use = nullptr;
    std::size_t words = 0;
  };

  static void take(Uses& uses, InUse* one) {
    if (one == nullptr || uses.take(*one)) return;
    raise_usage(
        "a matcher or parser of the batch is in use: by another call, or by "
        "another row of this step; each is for one text at a time");
  }

  Row& find(std::int64_t row) {
    if (row < 0 || static_cast<std::size_t>(row) >= rows_.size() ||
        !rows_[static_cast<std::size_t>(row)]) {
      raise_usage("the batch has no row " + std::to_string(row));
    }
    return *rows_[static_cast<std::size_t>(row)];
  }

  // Which rows of the buffer the masks go to: those of mask_rows, where None
  // or -1 is none; by default one after another.
  static void place(std::vector<BatchInput>& inputs, nb::handle mask_rows,
                    std::size_t count) {
    std::vector<std::int64_t> given;
    if (!mask_rows.is_none()) {
      given = read_numbers(mask_rows, "mask_rows");
      if (given.size() != inputs.size()) {
        raise_usage("mask_rows has " + std::to_string(given.size()) +
                    " items, and there are " + std::to_string(inputs.size()) +
                    " rows");
      }
    }
    std::size_t next = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!given.empty() && given[i] == -1) continue;
      const std::size_t masks =
          std::max<std::size_t>(inputs[i].draft_tokens.size(), 1);
      std::size_t at = next;
      if (!given.empty()) {
        at = given[i] < 0 ? count : static_cast<std::size_t>(given[i]);
      }
      if (at >= count || masks > count - at) {
        raise_usage(
            "the buffer has " + std::to_string(count) + " rows, and input " +
            std::to_string(i) + " needs " + std::to_string(masks) +
            " from row " +
            (given.empty() ? std::to_string(at) : std::to_string(given[i])) +
            " on");
      }
      inputs[i].mask_row = at;
      next = at + masks;
    }
  }

  nb::object to_tuple(std::span<const std::int64_t> numbers,
                      std::span<const BatchOutput> outputs) const {
    nb::list accepted;
    nb::list terminated;
    nb::list constrained;
    DeltaList deltas(outputs.size());
    nb::list mask_ids;
    nb::list filled;
    nb::list failed;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const BatchOutput& output = outputs[i];
      accepted.append(output.accepted);
      terminated.append(output.terminated);
      constrained.append(output.constrained);
      mask_ids.append(output.mask_id);
      filled.append(output.filled);
      failed.append(output.failed);
      if (!output.events.empty()) {
        deltas.add(output.events, nullptr, nb::int_(numbers[i]));
      }
    }
    return nb::make_tuple(accepted, terminated, constrained, deltas.take(),
                          mask_ids, filled, failed);
  }

  Batch batch_;
  std::vector<std::optional<Row>> rows_;  // by number
};

// ---- Steps of parsers of text

struct TextRow {
  nb::object parser;  // keeps reader
  nb::object text;
  TextReader* reader = nullptr;
};
using TextRows = std::pmr::vector<TextRow>;

bool is_text(nb::handle object) {
  return PyUnicode_Check(object.ptr()) || PyBytes_Check(object.ptr()) ||
         PyByteArray_Check(object.ptr()) || object.is_none();
}

// The rows of a step, checked so that none is fed if one cannot be.  Takes the
// parsers; one may stand in several rows.
void read_rows(const nb::list& parsers, const nb::list& texts, TextRows& rows,
               Uses& uses) {
  const std::size_t count = parsers.size();
  if (count != texts.size()) {
    raise_usage("texts has " + std::to_string(texts.size()) +
                " items, and there are " + std::to_string(count) + " parsers");
  }
  rows.reserve(count);
  PyTypeObject* type = nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = static_cast<Py_ssize_t>(i);
    TextRow& row = rows.emplace_back();
    row.parser = nb::borrow(NB_LIST_GET_ITEM(parsers.ptr(), at));
    row.text = nb::borrow(NB_LIST_GET_ITEM(texts.ptr(), at));
    row.reader = text_reader_of_response_parser(row.parser, type);
    if (row.reader == nullptr) {
      row.reader = text_reader_of_tag_parser(row.parser);
    }
    if (row.reader == nullptr) {
      raise_type("an item of parsers", "a ResponseParser or TagParser",
                 row.parser);
    }
    if (!uses.take(row.reader->in_use) &&
        std::none_of(rows.begin(), rows.end() - 1, [&](const TextRow& other) {
          return other.reader == row.reader;
        })) {
      raise_in_use(TextReader::kWhat);
    }
    row.reader->check_takes_text();
    if (!is_text(row.text)) {
      raise_type("an item of texts", "str, bytes, bytearray or None", row.text);
    }
  }
}

nb::object feed_deltas(const nb::list& parsers, const nb::list& texts) {
  // Enough for the rows and deltas of 256 requests; more are allocated.
  std::array<std::byte, 8192> bytes;
  std::pmr::monotonic_buffer_resource memory(bytes.data(), bytes.size());
  // A copy of the rows: while a long text is read, others may change the lists.
  TextRows rows(&memory);
  Uses uses(&memory);
  read_rows(parsers, texts, rows, uses);
  DeltaList deltas(rows.size(), &memory);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].reader->feed_row(rows[i].text, to_int(i), deltas);
  }
  return deltas.take();
}

// The shortcut of feed_deltas(parsers, texts) for two lists.
nb::object feed_lists(PyObject* const* args, std::size_t count,
                      PyObject* names) {
  if (count != 2 || names != nullptr || !PyList_CheckExact(args[0]) ||
      !PyList_CheckExact(args[1])) {
    return {};
  }
  return feed_deltas(nb::borrow<nb::list>(args[0]),
                     nb::borrow<nb::list>(args[1]));
}

}  // namespace

void define_batch(nb::module_& m) {
  m.def("feed_deltas", &feed_deltas, nb::arg("parsers"), nb::arg("texts"));
  m.def("with_list_shortcut", [](nb::handle feed_deltas) {
    return with_shortcut(feed_deltas, &feed_lists);
  });
  ExclusiveClass<BatchObject>(m, "Batch",
                              nb::type_slots(kTraversed<BatchObject>))
      .def(nb::init<unsigned>(), nb::arg("threads"))
      .def("add", &BatchObject::add, nb::arg("matcher").none(),
           nb::arg("parser").none())
      .def("remove", &BatchObject::remove, nb::arg("row"))
      .def("size", &BatchObject::size)
      .def("step", &BatchObject::step, nb::arg("rows"), nb::arg("tokens"),
           nb::arg("buffer").none(), nb::arg("mask_rows").none(),
           nb::arg("drafts").none(), nb::arg("table").none(),
           nb::arg("temperatures").none(), nb::arg("time_limit").none());

  ExclusiveClass<TableObject>(m, "MaskTable")
      .def(nb::init<const Compiler&, std::size_t>(), nb::arg("compiler"),
           nb::arg("rows"))
      .def_shared("id_of", &id_of, nb::arg("matcher"))
      .def_shared("copy_rows", &copy_rows, nb::arg("buffer"), nb::arg("begin"))
      .def_shared("size",
                  [](const TableObject& self) { return self.table.size(); })
      .def_shared("max_rows",
                  [](const TableObject& self) { return self.table.max_rows(); })
      .def_shared(
          "mask_words",
          [](const TableObject& self) { return self.table.mask_words(); })
      .def_shared("version",
                  [](const TableObject& self) { return self.table.version(); })
      .def("clear", [](TableObject& self) { self.table.clear(); });
}

}  // namespace parlance::python
