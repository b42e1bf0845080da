/**
 * Where the fields of a definition go: the column of each, and the names by which the service may send it. The tables, and
 * what the settings can name and keep out of them, follow from these lists.
 */
import { type ChildField, type ColumnField, type Fields, columnName } from "./fields.ts"
import { perResource } from "./per-resource.ts"
import type { Resource } from "./resource.ts"

export interface FieldPlace {
  readonly table: string
  readonly column: string
  readonly field: ColumnField
  /** The names of the field, and of the objects around it before each. */
  readonly names: ReadonlyArray<string>
  /** Of a column that holds an object as sent: the fields of its members, which have columns of their own. */
  readonly inside?: ReadonlyArray<ColumnField>
  /** Only the detail contains it. */
  readonly detail: boolean
}

export interface ChildPlace {
  /** The table of the records or items that contain it. */
  readonly table: string
  readonly child: ChildField
  /** The names of its field, as those of a column. */
  readonly names: ReadonlyArray<string>
  /** The column with the whole object that contains it. */
  readonly whole?: string
  /** Only the detail contains it. */
  readonly detail: boolean
}

export interface Places {
  readonly columns: ReadonlyArray<FieldPlace>
  readonly children: ReadonlyArray<ChildPlace>
}

export const placesOf = perResource(({ detail, fields, table }: Resource): Places => {
  const record = { table, prefix: "", path: "", whole: undefined }
  const places = [
    ...walk(fields, { ...record, detail: false }),
    ...walk(detail?.fields ?? {}, { ...record, detail: true })
  ]
  return { columns: places.filter(isColumn), children: places.filter(isChild) }
})

const isColumn = (place: FieldPlace | ChildPlace): place is FieldPlace => "column" in place
const isChild = (place: FieldPlace | ChildPlace): place is ChildPlace => "child" in place

/** Where an object, a record or an item of a list is. */
interface Around {
  readonly table: string
  readonly detail: boolean
  /** How the names of columns begin. */
  readonly prefix: string
  /** How the names of fields begin. */
  readonly path: string
  /** The column with the whole object that contains it. */
  readonly whole: string | undefined
}

/** In the order of the definition; the column with an object as sent is behind those of its members. */
function* walk(fields: Fields, around: Around): Generator<FieldPlace | ChildPlace> {
  const { detail, path, prefix, table, whole } = around
  for (const [name, field] of Object.entries(fields))
    switch (field.kind) {
      case "column": {
        const names = [name, ...aliasesOf(fields, name)].map((one) => path + one)
        yield { table, detail, column: columnName(prefix, name, field), field, names }
        break
      }
      case "object": {
        const column = field.whole && columnName(prefix, name, field.whole)
        const inside = { ...around, path: `${path}${name}.`, whole: column ?? whole }
        const members = [...walk(field.fields, { ...inside, prefix: `${columnName(prefix, name, {})}_` })]
        yield* members
        if (field.whole) {
          const all = members.filter(isColumn).map((member) => member.field)
          yield { table, detail, column: column!, field: field.whole, names: [path + name], inside: all }
        }
        if (field.rest) yield* walkChild(field.rest, [], inside)
        break
      }
      case "list":
      case "entries":
        yield* walkChild(field, [path + name], around)
        break
      case "alias":
      case "transport":
    }
}

function* walkChild(child: ChildField, names: ReadonlyArray<string>, { detail, table, whole }: Around) {
  yield { table, detail, child, names, ...(whole !== undefined && { whole }) }
  const items = { table: child.table, detail }
  if (child.keyColumn) yield { ...items, column: child.keyColumn.name, field: child.keyColumn.field, names: [] }
  yield* walk(child.fields, { ...items, prefix: "", path: "", whole: undefined })
}

/** A name that ends with `*` covers every name with this prefix. */
const aliasesOf = (fields: Fields, name: string): ReadonlyArray<string> =>
  Object.entries(fields).flatMap(([other, one]) =>
    one.kind === "alias" && one.of === name ? [other.replace("*", "")] : []
  )
