// Tabs as ARIA has them: arrows move, and what is moved to is shown.

import { button } from "../src/beside/explanation/viewer/text.js";

// `names`: [panel id, words].  Returns show(id).
export function tabs(list, names, onShow = () => {}) {
  const panels = names.map(([id]) => document.getElementById(id));
  const buttons = names.map(([id, words], i) => {
    const made = button("tab", words, () => show(id));
    made.id = `tab-${id}`;
    made.setAttribute("role", "tab");
    made.setAttribute("aria-controls", id);
    panels[i].setAttribute("aria-labelledby", made.id);
    return made;
  });
  // What a link names need not be here.
  function show(id) {
    if (!names.some(([name]) => name === id)) return;
    names.forEach(([name], i) => {
      const isIt = name === id;
      buttons[i].setAttribute("aria-selected", String(isIt));
      buttons[i].tabIndex = isIt ? 0 : -1;
      // Where panes are side by side, the style sheet shows all of them.
      if (list.classList.contains("narrow")) {
        panels[i].classList.toggle("is-hidden", !isIt);
      } else {
        panels[i].hidden = !isIt;
      }
    });
    onShow(id);
  }
  list.addEventListener("keydown", (event) => {
    const at = buttons.indexOf(event.target);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0,
      End: names.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    const next = (to + names.length) % names.length;
    show(names[next][0]);
    buttons[next].focus();
  });
  list.append(...buttons);
  show(names[0][0]);
  return show;
}
