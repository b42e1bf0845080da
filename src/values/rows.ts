/** Rows of a connection or a command by their columns: each is read as one type. */

export type Readers = Readonly<Record<string, (cell: unknown) => unknown>>
export type RowOf<Columns extends Readers> = { readonly [Name in keyof Columns]: ReturnType<Columns[Name]> }

/** `columns`: how each is read, such as `{ name: String, rows: Number, endedAt: orNull(String) }`. A row without one is a defect. */
export const readRows = <Columns extends Readers>(
  columns: Columns,
  rows: ReadonlyArray<Readonly<Record<string, unknown>>>
): ReadonlyArray<RowOf<Columns>> => {
  const readers = Object.entries(columns)
  return rows.map((row) => {
    const cells = readers.map(([name, read]) => {
      if (row[name] === undefined) throw new Error(`a query has no column ${name}, but ${Object.keys(row).join(", ")}`)
      return [name, read(row[name])]
    })
    return Object.fromEntries(cells) as RowOf<Columns> // It has the names of `columns`, which TypeScript does not see.
  })
}

/** Reads NULL as `null`, and everything else by `read`. */
export const orNull =
  <A>(read: (cell: unknown) => A) =>
  (cell: unknown): A | null =>
    cell === null ? null : read(cell)

/** Reads a text that only sluice writes, as one of the words of a type. */
export const wordOf = <Word extends string>(cell: unknown): Word => String(cell) as Word // No other text is written there.

/** Reads each of these columns as a number. */
export const numbers = <Name extends string>(...names: ReadonlyArray<Name>) =>
  Object.fromEntries(names.map((name) => [name, Number])) as Record<Name, NumberConstructor> // It has these names.
