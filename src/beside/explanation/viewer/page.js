// The page of `parlance explain --html`: the viewer of the facts that are in it.

import { showFacts } from "./viewer.js";

const facts = JSON.parse(document.getElementById("facts").textContent);
document.title = facts.title;
showFacts(document.getElementById("viewer"), facts);
