/** What settings can name of the tables of a resource, and what is kept out with it. */
import { type Places, placesOf } from "../catalog/field-places.ts"
import type { PersonalData } from "../catalog/personal-data.ts"
import type { Resource } from "../catalog/resource.ts"
import { type Column, type Table, tablesOf } from "../catalog/tables.ts"
import { pathIn } from "../catalog/withheld.ts"

export class Members {
  /** By `table.column`, with those of sluice. */
  readonly columns: ReadonlyMap<string, Column>
  /** The table of the records first. */
  readonly names: ReadonlyArray<string>
  readonly resource: Resource
  private readonly tables: ReadonlyArray<Table>
  private readonly places: Places
  private readonly needed: ReadonlyMap<string, unknown>
  private readonly excluded: Set<string>

  /** `excluded`: grows with what is kept out. */
  constructor(resource: Resource, needed: ReadonlyMap<string, unknown>, excluded: Set<string>) {
    this.resource = resource
    this.tables = tablesOf(resource)
    this.names = this.tables.map(({ name }) => name)
    this.places = placesOf(resource)
    this.needed = needed
    this.excluded = excluded
    this.columns = new Map(
      this.tables.flatMap(({ columns, name }) => columns.map((column) => [pathIn(name, column.name), column] as const))
    )
  }

  /** The columns and child tables of a table. */
  of(table: string): ReadonlyArray<string> {
    return [...new Set([...this.dataOf(table).map(({ name }) => name), ...this.children(table)])]
  }

  children(table: string): ReadonlyArray<string> {
    return this.places.children.flatMap((one) => (one.table === table ? [one.child.table] : []))
  }

  private dataOf(table: string): ReadonlyArray<Column> {
    return dataIn(this.tables.find(({ name }) => name === table)!)
  }

  /** The text of a custom value goes with it, and the rows below a row with it. */
  exclude(table: string, member: string): void {
    if (this.children(table).includes(member)) {
      this.excluded.add(member)
      for (const below of this.children(member)) this.exclude(member, below)
    } else if (this.columns.get(pathIn(table, member))?.role === "customValue") {
      for (const { name, role } of this.dataOf(table))
        if (role === "customValue") this.excluded.add(pathIn(table, name))
    } else this.excluded.add(pathIn(table, member))
  }

  /** Without a column that a child table needs, it has no rows. */
  excludeColumn(path: string): void {
    const [table = "", column = ""] = path.split(".")
    if (!this.needed.has(path)) this.exclude(table, column)
    else if (table !== this.names[0]) this.excludeTable(table)
  }

  /** Each custom field has a class of its own. Returns the columns of the records that are needed. */
  excludeClasses(classes: ReadonlyArray<PersonalData>): ReadonlyArray<string> {
    const [own] = this.names
    return this.names.flatMap((table) =>
      this.dataOf(table).flatMap(({ name, personal, role }) => {
        if (!classes.includes(personal) || role === "customValue") return []
        this.excludeColumn(pathIn(table, name))
        return table === own && this.needed.has(pathIn(table, name)) ? [name] : []
      })
    )
  }

  /** A child table without a column of its own has nothing to say. */
  excludeEmpty(): void {
    for (const table of this.names.slice(1)) {
      const data = this.dataOf(table)
      const isEmpty = data.length > 0 && data.every(({ name }) => this.excluded.has(pathIn(table, name)))
      if (isEmpty && !this.needed.has(table)) this.excludeTable(table)
    }
  }

  private excludeTable(table: string): void {
    this.exclude(this.places.children.find(({ child }) => child.table === table)!.table, table)
  }
}

/** The columns that sluice does not make. */
const dataIn = ({ columns }: Table): ReadonlyArray<Column> => columns.filter(({ type }) => type !== "system")

/** Whether a table has a column of one of these classes. */
export const hasClass = (table: Table, classes: ReadonlyArray<PersonalData>): boolean =>
  dataIn(table).some(({ personal }) => classes.includes(personal))
