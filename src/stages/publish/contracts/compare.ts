/** Finds what readers of a released contract would lose with the present one. */

/** The part of an ODCS document on which readers rely. */
export interface ReleasedTable {
  readonly name: string
  readonly properties: ReadonlyArray<{
    readonly name: string
    readonly physicalType: string
    readonly primaryKeyPosition?: number
    readonly required?: boolean
  }>
}

/** Each breaking change as the line that CHANGELOG.md needs. Tables and columns that were added break nothing. */
export const breakingChanges = (
  released: ReadonlyArray<ReleasedTable>,
  present: ReadonlyArray<ReleasedTable>
): ReadonlyArray<string> =>
  released.flatMap((before) => {
    const now = present.find(({ name }) => name === before.name)
    if (now === undefined) return [`Table \`${before.name}\` was removed.`]
    const keyBefore = keyOf(before)
    const keyNow = keyOf(now)
    return [
      ...before.properties.flatMap((column) => {
        const path = `\`${before.name}.${column.name}\``
        const other = now.properties.find(({ name }) => name === column.name)
        if (other === undefined) return [`Column ${path} was removed.`]
        if (!accepts(other.physicalType, column.physicalType))
          return [`Column ${path} changed its type from ${column.physicalType} to ${other.physicalType}.`]
        return column.required && !other.required ? [`Column ${path} may be NULL now.`] : []
      }),
      ...(keyBefore === keyNow
        ? []
        : [`The key of table \`${before.name}\` changed from (${keyBefore}) to (${keyNow}).`])
    ]
  })

const keyOf = ({ properties }: ReleasedTable): string =>
  properties
    .filter(({ primaryKeyPosition }) => primaryKeyPosition !== undefined)
    .toSorted((one, other) => one.primaryKeyPosition! - other.primaryKeyPosition!)
    .map(({ name }) => name)
    .join(", ")

/** Whether every value of a type fits another, and readers that expect a number still receive one. */
const accepts = (type: string, released: string): boolean => {
  if (type === released) return true
  const [to, from] = [digitsOf(type), digitsOf(released)]
  return to !== undefined && from !== undefined && to.whole >= from.whole && to.fraction >= from.fraction
}

/** The decimal digits that a number may have before and after the point. */
const digitsOf = (type: string): { readonly whole: number; readonly fraction: number } | undefined => {
  if (type === "BIGINT") return { whole: 19, fraction: 0 }
  const [, width, scale] = /^DECIMAL\((\d+),\s*(\d+)\)$/.exec(type) ?? []
  return width === undefined ? undefined : { whole: Number(width) - Number(scale), fraction: Number(scale) }
}
