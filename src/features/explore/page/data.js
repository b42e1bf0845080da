/** The tables of the release, and how their rows belong together. */
import { rowAddress, tableAddress } from "./address.js"

export const dataOf = ({ tables, locations }) => {
  const byName = new Map(tables.map((table) => [`${table.schema}.${table.name}`, table]))
  const find = (schema, name) => byName.get(`${schema}.${name}`)
  return { tables, locations, find, hasOneLocation: Object.keys(locations).length === 1 }
}

export const noData = dataOf({ tables: [], locations: {} })

/** Where the row to which a value refers is shown; nothing if the value refers to none. `valueOf`: of a column of the row. */
export const targetOf = ({ find }, { refersTo }, valueOf) => {
  const target = refersTo && find(refersTo.schema, refersTo.table)
  const value = valueOf?.value
  if (!target || value === null || value === undefined) return undefined
  const key = target.key.map((column) => (column === refersTo.column ? value : valueOf.row(column)))
  return target.key.includes(refersTo.column) && key.every((one) => typeof one === "string")
    ? rowAddress(target, key)
    : tableAddress(target, { filters: [{ column: refersTo.column, operator: "equals", value }] })
}

/** The address of a row itself; nothing for a table without a key. */
export const ownAddress = (table, valueOf) => {
  const key = table.key.map(valueOf)
  return key.length > 0 && key.every((one) => typeof one === "string") ? rowAddress(table, key) : undefined
}

/** The columns of other tables that refer to rows of this one, and the earlier versions of its rows. */
export const referrersOf = ({ tables }, { schema, name }) =>
  tables
    .filter(
      (table) =>
        (table.kind === "table" || table.schema === "bi") &&
        !table.isStaging &&
        !table.wide &&
        (table.schema === schema || table.name === name)
    )
    .flatMap((table) =>
      table.columns
        .filter(({ refersTo }) => refersTo?.schema === schema && refersTo.table === name)
        .map(({ name: column, refersTo }) => ({ table, column, target: refersTo.column }))
    )

/** The table to which values refer, if people know its rows by a name. */
export const targetOfReference = ({ find }, { schema, table }) => {
  const target = find(schema, table)
  const label = target && labelOf(target)
  return label && { table: target, label: label.name }
}

/** The column that people know a row by: that of a model has the name of its key, `user_name` of `user_id`. */
export const labelOf = ({ columns, key }) =>
  columns.find(({ name }) => /^(name|title|subject)$/.test(name)) ??
  columns.find(({ name }) => name.endsWith("_name") && name === key.at(-1)?.replace(/_id$/, "_name")) ??
  columns.find(({ name }) => name.endsWith("_name"))

/** What identifies a row within its location. */
export const mainKeyOf = ({ key }) => key.find((column) => column !== "location_id") ?? key[0]

/**
 * The column that is shown first and stays while the others are scrolled: the name of the row, or else that of somebody in it.
 * Not every message has a subject.
 */
export const firstOf = (table) => {
  const label = labelOf(table)?.name
  if (label !== undefined && label !== "subject" && label !== "location_name") return label
  return table.columns.find(({ name, refersTo }) => name === "contact_id" && refersTo)?.name ?? mainKeyOf(table)
}
