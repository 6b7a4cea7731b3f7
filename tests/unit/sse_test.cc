// Text inside server-sent events.

#include "parlance/sse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace parlance::sse_test {
namespace {

// The text of a stream that comes in pieces of `chunk` bytes, and its faults.
std::string read(std::string_view bytes, std::size_t chunk) {
  SseReader reader;
  std::string text;
  std::string faults;
  const auto add = [&](const std::string& more) {
    text += more;
    for (const SseFault& fault : reader.faults()) {
      faults += std::to_string(fault.line) + ": " + fault.message + "\n";
    }
  };
  while (!bytes.empty()) {
    add(reader.feed(bytes.substr(0, chunk)));
    bytes.remove_prefix(std::min(chunk, bytes.size()));
  }
  add(reader.finalize());
  EXPECT_TRUE(reader.finalized());
  EXPECT_EQ(reader.feed("data: {\"content\": \"late\"}\n\n"), "");
  return text + "\n" + faults;
}

TEST(Sse, CutsChangeNothing) {
  constexpr std::string_view kStream =
      ": comment\r\n\r\n"
      "event: x\ndata: {\"choices\": [{\"index\": 0, \"delta\": {\"content\": "
      "\"é1\"}}]}\n\n"
      "data: {\"choices\": [{\"index\": 1, \"text\": \"other\"}]}\r\r"
      "data: {\"choices\":\ndata: [{\"text\": \"2\"}]}\n\n"
      "data: {\"choices\": []}\n\n"
      "data: {\"type\": \"response.output_text.delta\", \"delta\": \"3\"}\n\n"
      "data: {\"type\": \"content_block_delta\", \"delta\": {\"text\": "
      "\"4\"}}\n\n"
      "{\"response\": \"5\"}\n"
      "data: {]\n\n"
      "data: {\"token\": {\"text\": \"6\"}}\n\n"
      "data: [DONE]\n\n"
      "data: {\"content\": \"7\"}";
  const std::string whole = read(kStream, kStream.size());
  EXPECT_EQ(whole.substr(0, whole.find('\n')), "é1234567");
  EXPECT_NE(whole.find("18: the data is no JSON"), std::string::npos) << whole;
  for (std::size_t chunk = 1; chunk < kStream.size(); ++chunk) {
    ASSERT_EQ(read(kStream, chunk), whole) << "pieces of " << chunk << " bytes";
  }
}

TEST(Sse, WhatAServerHasParsedAlreadyIsAFault) {
  EXPECT_NE(
      read("data: {\"choices\": [{\"delta\": {\"tool_calls\": [{}]}}]}\n\n",
           1000)
          .find("1: it has 'tool_calls'"),
      std::string::npos);
  const std::string reasoning = read(
      "data: {\"choices\": [{\"delta\": {\"reasoning\": \"a\"}}]}\n\n"
      "data: {\"choices\": [{\"delta\": {\"reasoning\": \"b\"}}]}\n\n",
      1000);
  // Once for a stream.
  EXPECT_EQ(reasoning.find("reasoning beside"),
            reasoning.rfind("reasoning beside"));
  EXPECT_NE(read("data: {\"error\": {\"message\": \"no\"}}\n\n", 7)
                .find("the server reports {\"message\": \"no\"}"),
            std::string::npos);
}

TEST(Sse, NoTextIsLostWithoutAFault) {
  // A mark of byte order is no part of the first line.
  EXPECT_EQ(read("\xEF\xBB\xBF"
                 "data: {\"content\": \"a\"}\n\n",
                 1),
            "a\n");
  // A bare line ends the event before it.
  EXPECT_EQ(read("data: {\"content\": \"a\"}\n{\"response\": \"b\"}\n\n", 3),
            "ab\n");
  for (const std::string content : {"[{\"type\": \"text\"}]", "5"}) {
    EXPECT_EQ(read("data: {\"choices\": [{\"delta\": {\"content\": " + content +
                       "}}]}\n\n",
                   1000),
              "\n1: its text is no string\n");
  }
  for (const std::string event :
       {"\"content_block_delta\", \"delta\": {\"partial_json\": \"{}\"}",
        "\"response.function_call_arguments.delta\", \"delta\": \"{}\"",
        "\"content_block_delta\", \"delta\": {\"thinking\": \"a\"}",
        "\"response.reasoning_text.delta\", \"delta\": \"a\""}) {
    EXPECT_NE(read("data: {\"type\": " + event + "}\n\n", 1000)
                  .find("the server has parsed the response already"),
              std::string::npos)
        << event;
  }
}

TEST(Sse, AnUnknownTypeIsNoFrame) {
  EXPECT_EQ(read("data: {\"type\": \"text\", \"content\": \"a\"}\n\n"
                 "data: {\"type\": \"ping\"}\n\n"
                 "data: {\"type\": \"response.created\"}\n\n",
                 1000),
            "a\n");
  EXPECT_EQ(read("data: {\"type\": \"piece\", \"piece\": \"a\"}\n\n", 1000),
            "\n1: its type \"piece\" is none of those that servers send\n");
  EXPECT_EQ(
      read("data: {\"type\": \"error\", \"message\": \"busy\"}\n\n", 1000),
      "\n1: the server reports {\"type\": \"error\", \"message\": "
      "\"busy\"}\n");
}

TEST(Sse, ALongCommentIsSkippedAlone) {
  const std::string stream = ":" + std::string(SseReader::kLongest, 'x') +
                             "\ndata: {\"content\": \"y\"}\n\n";
  EXPECT_EQ(read(stream, std::size_t{1} << 20), "y\n");
}

TEST(Sse, ALongEventIsSkipped) {
  const std::string text =
      read("data: {\"content\": \"" + std::string(SseReader::kLongest, 'x') +
               "\"}\n\ndata: {\"content\": \"y\"}\n\n",
           std::size_t{1} << 20);
  EXPECT_EQ(text, "y\n1: the event is longer than 16777216 bytes\n");
  // Further lines of the event are skipped with it, the empty ones, too.
  const std::string longest(SseReader::kLongest, '1');
  for (const std::string_view more : {"data:\n", "data: 2\ndata:\n"}) {
    EXPECT_EQ(read("data: " + longest + "\n" + std::string(more) +
                       "\ndata: {\"content\": \"y\"}\n\n",
                   std::size_t{1} << 20),
              "y\n1: the event is longer than 16777216 bytes\n");
  }
}

}  // namespace
}  // namespace parlance::sse_test
