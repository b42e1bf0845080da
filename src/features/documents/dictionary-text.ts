/** The data dictionary as aligned text for a terminal. */
import type { Covered } from "../../catalog/coverage.ts"
import { type DescribedTable, sourceText } from "../../catalog/dictionary.ts"
import type { Catalogue } from "../../catalog/discover.ts"
import { wrapped } from "../../run/console/wrap.ts"

/** One line for each table, with as much of its description as fits. */
export const listLines = (tables: ReadonlyArray<DescribedTable>, width: number): ReadonlyArray<string> => {
  const indent = Math.max(...tables.map(({ table }) => table.name.length)) + 2
  return tables.map(({ table }) => shortened(`${table.name.padEnd(indent)}${table.description}`, width))
}

const shortened = (line: string, width: number): string =>
  line.length <= width ? line : `${line.slice(0, width - 1).trimEnd()}…`

/** A table with its source and its columns. */
export const columnLines = (catalogue: Catalogue, one: DescribedTable, width: number): ReadonlyArray<string> => {
  const { columns, description, name } = one.table
  const nameWidth = Math.max(...columns.map((column) => column.name.length))
  const typeWidth = Math.max(...columns.map(({ sql }) => sql.length))
  const indent = nameWidth + typeWidth + 6
  return [
    name,
    ...wrapped(description, { width }),
    "",
    ...sourceText(catalogue, one)
      .replaceAll(/^- |`/gm, "")
      .split("\n")
      .flatMap((line) => wrapped(line, { width, indent: 2 })),
    "",
    ...columns.flatMap((column) =>
      wrapped(meaningOf(column), {
        width,
        first: `  ${column.name.padEnd(nameWidth)}  ${column.sql.padEnd(typeWidth)}  `,
        indent
      })
    ),
    ""
  ]
}

const meaningOf = ({ description, personal, references }: DescribedTable["table"]["columns"][number]): string => {
  const notes = [personal !== "none" && `personal data: ${personal}`, references && `refers to ${references}`]
  const shown = notes.filter(Boolean)
  return shown.length === 0 ? description : `${description} [${shown.join(", ")}]`
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
