// The examples, in the order of the menu: files of the JSON of links.

import openerInALine from "./examples/opener-in-a-line.json";
import cutOff from "./examples/cut-off.json";
import twoCalls from "./examples/two-calls.json";
import callInReasoning from "./examples/call-in-reasoning.json";
import quotedMarker from "./examples/quoted-marker.json";
import anotherFamily from "./examples/another-family.json";
import xmlArgument from "./examples/xml-argument.json";
import apiAnswer from "./examples/api-answer.json";
import events from "./examples/events.json";
import logLine from "./examples/log-line.json";
import bytes from "./examples/bytes.json";
import hiddenSigns from "./examples/hidden-signs.json";
import thirtyTools from "./examples/thirty-tools.json";
import deadEnd from "./examples/dead-end.json";
import callByGrammar from "./examples/call-by-grammar.json";
import unescapedBar from "./examples/unescaped-bar.json";

export const examples = [
  openerInALine, cutOff, twoCalls, callInReasoning, quotedMarker,
  anotherFamily, xmlArgument, apiAnswer, events, logLine, bytes,
  hiddenSigns, thirtyTools, deadEnd, callByGrammar, unescapedBar,
];
