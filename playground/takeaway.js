// What is taken away from a reading: a report in Markdown, and code that reads the
// same response and prints the message.

import { base64Of } from "./link.js";

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
  if (tools) options.push(`tools: ${tools.string.trim()}`);
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
