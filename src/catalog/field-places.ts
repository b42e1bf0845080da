/** Where the fields of a definition go: the column of each, and the names by which the service may send it. */
import type { ChildField, ColumnField, Fields } from "./fields.ts"
import { perResource } from "./per-resource.ts"
import type { Resource } from "./resource.ts"
import { columnName } from "./tables.ts"

export interface FieldPlace {
  readonly table: string
  readonly column: string
  readonly field: ColumnField
  /** The names of the field, and of the objects around it before each. */
  readonly names: ReadonlyArray<string>
  /** It holds an object whose members have columns of their own. */
  readonly isWhole?: true
}

export interface ChildPlace {
  /** The table of the records or items that contain it. */
  readonly table: string
  readonly child: ChildField
  /** The names of its field, as those of a column. */
  readonly names: ReadonlyArray<string>
  /** The column with the whole object that contains it. */
  readonly whole?: string
}

export interface Places {
  readonly columns: ReadonlyArray<FieldPlace>
  readonly children: ReadonlyArray<ChildPlace>
}

export const placesOf = perResource((resource): Places => derive(resource))

const derive = ({ table, fields, detail }: Resource): Places => {
  const columns: Array<FieldPlace> = []
  const children: Array<ChildPlace> = []
  const addChild = (table: string, child: ChildField, names: ReadonlyArray<string>, whole: string | undefined) => {
    children.push({ table, child, names, ...(whole !== undefined && { whole }) })
    if (child.keyColumn)
      columns.push({ table: child.table, column: child.keyColumn.name, field: child.keyColumn.field, names: [] })
    visit(child.fields, child.table, "", "", undefined)
  }
  const visit = (fields: Fields, table: string, prefix: string, path: string, whole: string | undefined): void => {
    for (const [name, field] of Object.entries(fields))
      switch (field.kind) {
        case "column": {
          const aliases = Object.entries(fields).flatMap(([other, one]) =>
            one.kind === "alias" && one.of === name ? [other.replace("*", "")] : []
          )
          const names = [name, ...aliases].map((one) => path + one)
          columns.push({ table, column: columnName(prefix, name, field), field, names })
          break
        }
        case "object": {
          const own = field.whole && columnName(prefix, name, field.whole)
          if (field.whole)
            columns.push({ table, column: own!, field: field.whole, names: [path + name], isWhole: true })
          visit(field.fields, table, `${columnName(prefix, name, {})}_`, `${path}${name}.`, own ?? whole)
          if (field.rest) addChild(table, field.rest, [], own ?? whole)
          break
        }
        case "list":
        case "entries":
          addChild(table, field, [path + name], whole)
          break
        case "alias":
        case "transport":
      }
  }
  visit({ ...fields, ...detail?.fields }, table, "", "", undefined)
  return { columns, children }
}
