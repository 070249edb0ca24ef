// CodeMirror, set up for the config files. Its own chunk: only the page that edits loads it.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from "@codemirror/language";
import { setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export interface Editor {
  setText: (text: string) => void;
  setMarks: (marks: readonly { readonly line: number; readonly message: string }[]) => void;
  destroy: () => void;
}

interface Options {
  readonly text: string;
  readonly label: string;
  readonly onchange: (text: string) => void;
}

const THEME = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--surface)", font: "var(--t-s)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { font: "var(--t-s)", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--ink-3)", border: "none" },
  ".cm-activeLine": { backgroundColor: "light-dark(#0000000a, #ffffff0a)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--info-bg)" },
  ".cm-matchingBracket": { outline: "1px solid var(--line-strong)", backgroundColor: "transparent" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--sunken)", border: "1px solid var(--line)", color: "var(--ink-2)" },
  ".cm-tooltip": { backgroundColor: "var(--surface)", border: "1px solid var(--line-strong)", color: "var(--ink)" },
  ".cm-diagnostic-error": { borderLeft: "3px solid var(--err)" },
});

const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--link)" },
  { tag: tags.string, color: "var(--ok)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
  { tag: tags.comment, color: "var(--ink-3)" },
]);

/** `root` is a shadow root: there CodeMirror adds its styles as constructed style sheets and not as elements. */
export function createEditor(root: ShadowRoot, { text, label, onchange }: Options): Editor {
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        foldGutter(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        highlightActiveLine(),
        json(),
        syntaxHighlighting(COLOURS),
        THEME,
        // Tab leaves the editor after Escape, as CodeMirror has it, so that the keyboard is not trapped.
        keymap.of([...defaultKeymap, ...historyKeymap, ...foldKeymap, indentWithTab]),
        EditorView.contentAttributes.of({ tabindex: "0", "aria-label": label }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onchange(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    setText: (next) => {
      if (next === view.state.doc.toString()) return;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } });
    },
    setMarks: (marks) => {
      const { doc } = view.state;
      const found = marks.map(({ line, message }) => {
        const { from, to } = doc.line(Math.min(Math.max(line, 1), doc.lines));
        return { from, to, message, severity: "error" as const };
      });
      view.dispatch(setDiagnostics(view.state, found));
    },
    destroy: () => view.destroy(),
  };
}
