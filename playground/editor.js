// An editor of one text: CodeMirror in a shadow root, where it may adopt a style
// sheet under the policy of the page.

import { Compartment, EditorState, StateEffect, Transaction }
  from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin, drawSelection, highlightSpecialChars,
  keymap, lineNumbers, placeholder } from "@codemirror/view";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { json } from "@codemirror/lang-json";
import { tags } from "@lezer/highlight";

import viewerSheet from "../src/beside/explanation/viewer/viewer.css";
import editorSheet from "./editor.css";

// What marks a range of units: [{from, to, name}] in order, or null.
const setMarks = StateEffect.define();

const marks = ViewPlugin.fromClass(class {
  constructor() {
    this.of = null;
    this.shown = Decoration.none;
  }

  // Until what was written has been read, marks move with their text.
  update(update) {
    let isNew = false;
    for (const transaction of update.transactions) {
      for (const effect of transaction.effects) {
        if (!effect.is(setMarks)) continue;
        this.of = effect.value;
        isNew = true;
      }
    }
    if (update.docChanged && !isNew) {
      this.of = null;
      this.shown = this.shown.map(update.changes);
    } else if (isNew || (update.viewportChanged && this.of)) {
      this.shown = this.build(update.view);
    }
  }

  build(view) {
    if (!this.of) return Decoration.none;
    const found = [];
    for (const { from, to } of view.visibleRanges) {
      for (const mark of this.of(from, to)) {
        const begin = Math.max(mark.from, from);
        const end = Math.min(mark.to, to);
        if (begin >= end) continue;
        found.push(Decoration.mark({ class: mark.name }).range(begin, end));
      }
    }
    return Decoration.set(found, true);
  }
}, { decorations: (plugin) => plugin.shown });

const colours = HighlightStyle.define([
  { tag: tags.propertyName, class: "json-key" },
  { tag: [tags.number, tags.bool, tags.null], class: "json-other" },
]);

const sheets = [viewerSheet, editorSheet].map((text) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return sheet;
});

// Whether nothing is left of the text that was there.
function isWhole(changes) {
  let left = changes.length;
  changes.iterChanges((from, to) => { left -= to - from; });
  return left === 0;
}

export class Editor {
  // `label`: what a screen reader says.  `onChange(isPaste, isOverExample)`,
  // `onSelect(unit)`.
  constructor(host, { label, hint = "", isJson = false, onChange = () => {},
    onSelect = () => {} }) {
    this.editable = new Compartment();
    this.isExample = false;  // what is pasted then replaces it
    const root = host.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = sheets;
    const changed = EditorView.updateListener.of((update) => {
      const own = update.transactions.some((one) =>
        one.annotation(Transaction.userEvent) !== undefined);
      if (update.docChanged && own) {
        const wasExample = this.isExample;
        this.isExample = false;
        // A paste that leaves nothing of what was there.
        const whole = update.transactions.some((one) =>
          one.isUserEvent("input.paste") && isWhole(one.changes));
        onChange(whole, whole && wasExample);
      } else if (update.selectionSet && own) {
        onSelect(update.state.selection.main.head);
      }
    });
    const pasted = EditorView.domEventHandlers({ paste: (event) => {
      const text = event.clipboardData?.getData("text/plain");
      if (!text || !(this.isExample || this.view.state.readOnly)) return false;
      event.preventDefault();
      this.replace(text);
      return true;
    } });
    this.extensions = [
      lineNumbers(), highlightSpecialChars({ addSpecialChars: /[\r\t]/g }), history(),
      drawSelection(), EditorView.lineWrapping, marks, placeholder(hint), changed, pasted,
      keymap.of([...defaultKeymap, ...historyKeymap]),
      // A carriage return is a character.
      EditorState.lineSeparator.of("\n"),
      EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0",
        spellcheck: "false", autocorrect: "off", autocapitalize: "off" }),
      this.editable.of([]),
      isJson ? [json(), syntaxHighlighting(colours)] : [],
    ];
    this.view = new EditorView({ root, parent: root, state: this.stateOf("") });
  }

  stateOf(text) {
    return EditorState.create({ doc: text, extensions: this.extensions });
  }

  get text() {
    return this.view.state.doc.toString();
  }

  // As if another text was pasted over all, which can be undone.
  replace(text, userEvent = "input.paste") {
    this.view.dispatch({ userEvent, selection: { anchor: 0 },
      changes: { from: 0, to: this.view.state.doc.length, insert: text } });
  }

  // Puts in another text, without a history.
  set(text, isReadOnly = false) {
    this.isExample = false;
    this.view.setState(this.stateOf(text));
    if (!isReadOnly) return;
    this.view.dispatch({ effects: this.editable.reconfigure([
      EditorState.readOnly.of(true),
      EditorView.contentAttributes.of({ "aria-readonly": "true" })]) });
  }

  mark(of) {
    this.view.dispatch({ effects: setMarks.of(of) });
  }

  // Shows and selects a range; the keyboard stays where it is.
  show(from, to) {
    const size = this.view.state.doc.length;
    const [anchor, head] = [from, to].map((unit) => Math.min(unit, size));
    this.view.dispatch({ selection: { anchor, head },
      effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
  }

  // The units that are selected, or where the cursor is; null at the beginning.
  get selection() {
    const { from, to } = this.view.state.selection.main;
    return to === 0 ? null : [from, to];
  }

  focus() {
    this.view.focus();
  }
}
