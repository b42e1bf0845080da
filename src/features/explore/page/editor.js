/** The SQL editor, which completes tables, columns and keywords. */
import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeCompletion,
  completionKeymap
} from "@codemirror/autocomplete"
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands"
import { sql } from "@codemirror/lang-sql"
import { HighlightStyle, bracketMatching, syntaxHighlighting } from "@codemirror/language"
import { Compartment, EditorState } from "@codemirror/state"
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers, placeholder } from "@codemirror/view"
import { tags } from "@lezer/highlight"
import { duckdb } from "./dialect.js"

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--code-keyword)", fontWeight: "600" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-text)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
  { tag: [tags.typeName, tags.standard(tags.name)], color: "var(--code-type)" }
])

const look = EditorView.theme({
  "&": { backgroundColor: "var(--surface)", color: "var(--text)", fontSize: "0.875rem" },
  ".cm-content": { fontFamily: "var(--mono)", caretColor: "var(--text)", minHeight: "9rem" },
  ".cm-scroller": { overflow: "auto", maxHeight: "50vh" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--muted)", border: "none" },
  ".cm-activeLine": { backgroundColor: "var(--hover)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--selection)"
  },
  "&.cm-focused": { outline: "none" },
  ".cm-tooltip": { backgroundColor: "var(--surface)", color: "var(--text)", border: "1px solid var(--line)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-completionDetail": { color: "inherit", opacity: "0.8" },
  ".cm-placeholder": { color: "var(--muted)" }
})

/** `text`: the first text; `onRun`: called on Ctrl-Enter. */
export const sqlEditor = (text, tables, onRun) => {
  const language = new Compartment()
  const nonce = /** @type {HTMLElement | null} */ (document.querySelector("script[nonce]"))?.nonce ?? ""
  const run = (target) => {
    closeCompletion(target)
    onRun()
    return true
  }
  const view = new EditorView({
    state: EditorState.create({
      doc: text,
      extensions: [
        EditorView.cspNonce.of(nonce),
        lineNumbers(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        bracketMatching(),
        closeBrackets(),
        autocompletion({ icons: false }),
        language.of(languageOf(tables)),
        syntaxHighlighting(colours),
        look,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": "SQL" }),
        placeholder("SELECT …  (Ctrl-Enter runs it)"),
        // Before the default keys, of which Ctrl-Enter adds a line. Tab leaves the editor unless a completion is open.
        keymap.of([
          { key: "Mod-Enter", run },
          { key: "Tab", run: acceptCompletion },
          ...completionKeymap,
          ...historyKeymap,
          ...defaultKeymap
        ])
      ]
    })
  })
  return {
    element: view.dom,
    text: () => view.state.doc.toString(),
    setText: (next) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } }),
    setTables: (next) => view.dispatch({ effects: language.reconfigure(languageOf(next)) }),
    focus: () => view.focus(),
    /** Selects the place that a message of DuckDB marks. */
    select: (message) => {
      const at = markedPlace(message, view.state.doc)
      if (at !== undefined) view.dispatch({ selection: { anchor: at }, scrollIntoView: true })
    }
  }
}

const languageOf = (tables) => {
  const schema = {}
  for (const table of tables) {
    const columns = table.columns.map(({ name, type }) => ({
      label: name,
      type: "property",
      detail: type.toLowerCase()
    }))
    if (table.schema === "main") schema[table.name] = columns
    else (schema[table.schema] ??= {})[table.name] = columns
  }
  const support = sql({ dialect: duckdb, schema, upperCaseKeywords: true })
  return [support, duckdb.language.data.of({ autocomplete: columnsOf(tables) })]
}

/** Completes the columns of the tables that the text names anywhere, also before its FROM is reached. */
const columnsOf = (tables) => (context) => {
  const word = context.matchBefore(/\w+/)
  if (!word || context.state.sliceDoc(word.from - 1, word.from) === ".") return null
  const words = new Set(context.state.doc.toString().match(/\w+/g))
  const options = tables
    .filter(({ schema, name }) => words.has(name) && (schema === "main" || words.has(schema)))
    .flatMap(({ name, columns }) =>
      columns.map((column) => ({
        label: column.name,
        type: "property",
        detail: name,
        info: column.comment ?? undefined
      }))
    )
  return options.length === 0 ? null : { from: word.from, options, validFor: /^\w*$/ }
}

const markedPlace = (message, doc) => {
  const [, number, line, mark] = /^LINE (\d+): (.*)\n( *)\^/m.exec(message) ?? []
  // DuckDB shows only a part of a long line.
  if (number === undefined || line.startsWith("...") || Number(number) > doc.lines) return undefined
  const { from, length } = doc.line(Number(number))
  return from + Math.min(Math.max(mark.length - `LINE ${number}: `.length, 0), length)
}
