/** The data dictionary as aligned text for a terminal. */
import type { Covered } from "../../catalog/coverage.ts"
import { type DescribedTable, sourceText } from "../../catalog/dictionary.ts"
import type { Catalogue } from "../../catalog/discover.ts"
import type { PersonalData } from "../../catalog/personal-data.ts"
import type { DescribedModel } from "../../stages/publish/models/described.ts"
import { modelFamily, modelSource, originText } from "../../stages/publish/models/dictionary.ts"
import { wrapped } from "../../values/text.ts"

/** A table or a model. */
interface Entry {
  readonly name: string
  readonly description: string
  /** Which rows it has, and where they come from. */
  readonly source: string
  readonly columns: ReadonlyArray<{ readonly name: string; readonly type: string; readonly meaning: string }>
}

export const entryOf = (catalogue: Catalogue, described: DescribedTable): Entry => {
  const { columns, description, name } = described.table
  return {
    name,
    description,
    source: sourceText(catalogue, described),
    columns: columns.map(({ name, sql, description, personal, references }) => ({
      name,
      type: sql,
      meaning: withNotes(description, [personalNote(personal), references && `refers to ${references}`])
    }))
  }
}

export const modelEntry = (model: DescribedModel): Entry => ({
  name: `${modelFamily}.${model.name}`,
  description: model.description,
  source: modelSource(model),
  columns: model.columns.map((column) => {
    const { copyOf, description, from, name, personal, type } = column
    const origin = from.length > 0 && (copyOf === undefined ? `from ${originText(column)}` : originText(column))
    return { name, type, meaning: withNotes(description, [personalNote(personal), origin]) }
  })
})

const personalNote = (personal: PersonalData) => personal !== "none" && `personal data: ${personal}`

const withNotes = (description: string, notes: ReadonlyArray<string | false | undefined>): string => {
  const shown = notes.filter(Boolean)
  return shown.length === 0 ? description : `${description} [${shown.join(", ")}]`
}

/** One line for each table and model, with as much of its description as fits. */
export const listLines = (entries: ReadonlyArray<Entry>, width: number): ReadonlyArray<string> => {
  const indent = Math.max(...entries.map(({ name }) => name.length)) + 2
  return entries.map(({ description, name }) => shortened(`${name.padEnd(indent)}${description}`, width))
}

const shortened = (line: string, width: number): string =>
  line.length <= width ? line : `${line.slice(0, width - 1).trimEnd()}…`

/** A table or model with its source and its columns. */
export const columnLines = ({ columns, description, name, source }: Entry, width: number): ReadonlyArray<string> => {
  const nameWidth = Math.max(...columns.map((column) => column.name.length))
  const typeWidth = Math.max(...columns.map(({ type }) => type.length))
  const indent = nameWidth + typeWidth + 6
  return [
    name,
    ...wrapped(description, { width }),
    "",
    ...source
      .replaceAll(/^- |`/gm, "")
      .split("\n")
      .flatMap((line) => wrapped(line, { width, indent: 2 })),
    "",
    ...columns.flatMap((column) =>
      wrapped(column.meaning, {
        width,
        first: `  ${column.name.padEnd(nameWidth)}  ${column.type.padEnd(typeWidth)}  `,
        indent
      })
    ),
    ""
  ]
}

/** One paragraph for each operation: what it becomes, or why it is not read. */
export const coverageLines = (operations: ReadonlyArray<Covered>, width: number): ReadonlyArray<string> => {
  const indent = Math.min(Math.max(...operations.map(({ operation }) => operation.length)) + 2, 50)
  return operations.flatMap(({ operation, purpose, reason, tables }) => {
    const what = [purpose === "tables" ? tables.join(", ") : purpose, reason].filter(Boolean).join(": ")
    return operation.length < indent
      ? wrapped(what, { width, first: operation.padEnd(indent), indent })
      : [operation, ...wrapped(what, { width, first: " ".repeat(indent), indent })]
  })
}
