// What is taken away from a reading: a report in Markdown, code that reads the same
// response and prints the message, and a vector for tests.

import { toolsIn } from "./intake.js";
import { base64Of } from "./link.js";
import { Text } from "./places.js";

// A fence that the text does not contain.
function fenced(text, kind = "") {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([one]) => one.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${kind}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}\n`;
}

// `verdict`: what the page says, a line each.
export function report({ response, tools, prefix, family, version, verdict, message,
  link }) {
  const parts = [`Parlance ${version}, format \`${family}\`, in the playground.\n`];
  // The address of a file on a disk is of no use to others.
  parts.push(link.length > 8000 ? "The link would be too long for an issue.\n"
    : link.startsWith("file:")
      ? `In the address of a playground: \`${link.slice(link.indexOf("#"))}\`\n`
      : `[Open it](${link})\n`);
  parts.push("**The response**" + (response.isUtf8 ? "" : ", in base64") + "\n\n" +
    fenced(response.isUtf8 ? response.string : base64Of(response.bytes)));
  if (prefix) parts.push(`**The prefix**\n\n${fenced(prefix.string)}`);
  if (tools) parts.push(`**The tools**\n\n${fenced(tools.string, "json")}`);
  parts.push(`**What was said**\n\n${fenced(verdict)}`);
  parts.push(`**The message**\n\n${fenced(message, "json")}`);
  parts.push("**What I expected**\n\n\n");
  return parts.join("\n");
}

const json = JSON.stringify;

// JSON strings are strings of JavaScript, and of Python but for the two separators,
// which it takes as they are.
const isPlain = (text) => text.isUtf8 && !/[\ud800-\udfff]/.test(
  text.string.replace(/[\ud800-\udbff][\udc00-\udfff]/g, ""));

export function javascript({ response, tools, prefix, family }) {
  const text = isPlain(response) ? json(response.string)
    : `Buffer.from(${json(base64Of(response.bytes))}, "base64")`;
  const options = [];
  if (prefix) options.push(`prefix: ${json(prefix.string)}`);
  // Another wrote them, so they are data in this code, and nothing else.
  if (tools) options.push(`tools: JSON.parse(${json(tools.string)})`);
  return `import { init, parse } from "parlance";

await init();
const { message } = parse(${json(family)}, ${text}, {${
  options.length > 0 ? ` ${options.join(", ")} ` : ""}});
console.log(JSON.stringify(message));
`;
}

export function python({ response, tools, prefix, family }) {
  const text = isPlain(response) ? json(response.string)
    : `base64.b64decode(${json(base64Of(response.bytes))})`;
  const options = [`prefix=${json(prefix?.string ?? "")}`];
  if (tools) options.push(`tools=json.loads(${json(tools.string)})`);
  return `import base64
import json

import parlance

message = parlance.parse_response(
    ${text},
    ${json(family)},
    ${options.join(",\n    ")},
)
print(json.dumps(message, ensure_ascii=False))
`;
}

// A word of a shell.
const word = (text) => `'${text.replaceAll("'", "'\\''")}'`;

export function shell({ response, tools, prefix, family }) {
  const options = [`--format ${family}`];
  if (prefix) options.push(`--prefix ${word(prefix.string)}`);
  const input = isPlain(response) && !response.string.includes("\0")
    ? `printf %s ${word(response.string)}`
    : `printf %s ${base64Of(response.bytes)} | base64 -d`;
  if (!tools) return `${input} | parlance parse ${options.join(" ")}\n`;
  return `printf %s ${word(tools.string)} > tools.json
${input} | parlance parse ${options.join(" ")} --tools tools.json
`;
}

// A literal of C++: bytes that are not printed are octal, of which there are at most
// three digits.
function literal(text) {
  const octal = (bytes) => Array.from(bytes, (byte) =>
    `\\${byte.toString(8).padStart(3, "0")}`).join("");
  if (!isPlain(text)) return `std::string_view("${octal(text.bytes)}", ${text.bytes.length})`;
  const encoder = new TextEncoder();
  const body = text.string.replace(/[^\p{L}\p{N}\p{P}\p{S} ]|["\\?]/gu, (one) =>
    one === "\n" ? '\\n"\n    "' : `"\\?`.includes(one) ? `\\${one}`
      : octal(encoder.encode(one))).replace(/\n {4}""$/, "");
  return `std::string_view(\n    "${body}",\n    ${text.bytes.length})`;
}

export function cpp({ response, tools, prefix, family }) {
  const options = [];
  const lines = [];
  if (tools) {
    lines.push(`  parlance::Result<parlance::ToolSet> tools =
      parlance::ToolSet::from_json(${literal(new Text(json(toolsIn(exact(tools.string)))))});
  if (!tools) {
    std::cerr << tools.error().to_string() << "\\n";
    return 1;
  }
`);
    options.push("  options.tools = &*tools;\n");
  }
  if (prefix) options.push(`  options.prefix = ${literal(prefix)};\n`);
  return `#include <iostream>
#include <string_view>

#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"
#include "parlance/tools.h"

int main() {
  constexpr std::string_view kResponse = ${literal(response)};

  parlance::Result<parlance::Format> format =
      parlance::Format::built_in(${json(family)});
  if (!format) {
    std::cerr << format.error().to_string() << "\\n";
    return 1;
  }
${lines.join("")}  parlance::StreamOptions options;
${options.join("")}  parlance::ResponseParser parser(*format, options);
  parser.feed(kResponse);
  parser.finalize();
  std::cout << parlance::json::dump(parser.message().fields) << "\\n";
}
`;
}

// JSON with its numbers as they are written, where the browser can.
function exact(text) {
  return JSON.parse(text, (key, value, context) =>
    typeof value === "number" && context?.source && JSON.rawJSON
      ? JSON.rawJSON(context.source) : value);
}

// A file of conformance/formats with this response: what is expected is what this
// version reads, to be put right by hand.
export function vector({ response, tools, prefix, family, message, isMalformed }) {
  const fields = exact(message);
  const plain = (value) => [value].flat(Infinity).filter((one) =>
    typeof one === "string").join("");
  const expected = {};
  const reasoning = plain(fields.thinking ?? fields.reasoning ?? "").trim();
  const content = plain(fields.content ?? "").trim();
  if (reasoning) expected.reasoning = reasoning;
  if (content) expected.content = content;
  const calls = [fields.tool_calls ?? []].flat(Infinity).map((call) => {
    const { name, arguments: given } = call.function ?? call;
    return { name, arguments: given, ...(call.id ? { id: call.id } : {}) };
  });
  if (calls.length > 0) expected.tool_calls = calls;
  if (isMalformed) expected.malformed = true;
  const made = { id: `${family}/playground`, family, source: "own", tags: [],
    prefix: prefix?.string ?? "", raw: response.string,
    ...(tools ? { tools: toolsIn(exact(tools.string)) } : {}), expected, hf_template_today: false };
  return `[\n${json(made)}\n]\n`;
}
