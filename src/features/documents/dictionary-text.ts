/** The data dictionary as aligned text for a terminal. */
import type { Covered } from "../../catalog/coverage.ts"
import { type Described, type DescribedColumn, sourceText } from "../../catalog/dictionary.ts"
import { wrapped } from "../../values/text.ts"

/** One line for each table and model, with as much of its description as fits. */
export const listLines = (entries: ReadonlyArray<Described>, width: number): ReadonlyArray<string> => {
  const indent = Math.max(...entries.map(({ name }) => name.length)) + 2
  return entries.map(({ description, name }) => shortened(`${name.padEnd(indent)}${description}`, width))
}

const shortened = (line: string, width: number): string =>
  line.length <= width ? line : `${line.slice(0, width - 1).trimEnd()}…`

/** A table or model with its source and its columns. */
export const columnLines = (described: Described, width: number): ReadonlyArray<string> => {
  const { columns, description, name } = described
  const nameWidth = Math.max(...columns.map((column) => column.name.length))
  const typeWidth = Math.max(...columns.map(({ type }) => type.length))
  const indent = nameWidth + typeWidth + 6
  return [
    name,
    ...wrapped(description, { width }),
    "",
    ...sourceText(described)
      .replaceAll(/^- |`/gm, "")
      .split("\n")
      .flatMap((line) => wrapped(line, { width, indent: 2 })),
    "",
    ...columns.flatMap((column) =>
      wrapped(meaningOf(column), {
        width,
        first: `  ${column.name.padEnd(nameWidth)}  ${column.type.padEnd(typeWidth)}  `,
        indent
      })
    ),
    ""
  ]
}

const meaningOf = (column: DescribedColumn): string => {
  const { description, origins, personal, relation } = column
  const notes = [
    ...(personal === "none" ? [] : [`personal data: ${personal}`]),
    ...(origins.length === 0 ? [] : [`${relation} ${origins.join(", ")}`])
  ]
  return notes.length === 0 ? description : `${description} [${notes.join(", ")}]`
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
