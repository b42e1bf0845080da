/** Writes beside ids what people know the rows by to which they refer. */
import { labelOf } from "./data.js"
import { h } from "./dom.js"
import { request } from "./service.js"
import { literal, qualified, quoted } from "./sql.js"

/** `cells`: each with its column, the node of its value, and the values of its row. One query reads all names. */
export const showNames = async (cells, data) => {
  const asked = cells.flatMap(({ column: { name, refersTo }, node, valueOf }) => {
    const target = refersTo && data.find(refersTo.schema, refersTo.table)
    const id = valueOf(name)
    // Locations have their names instead of their ids.
    return !id || !target || !labelOf(target) || target.name === "locations" ? [] : [{ id, node, refersTo, valueOf }]
  })
  const lists = [...Map.groupBy(asked, ({ refersTo: { schema, table } }) => data.find(schema, table))]
  if (lists.length === 0) return
  const placeOf = ({ key }, location) => (key.includes("location_id") ? location : null)
  const sql = lists.map(([target, of], index) => {
    const column = quoted(of[0].refersTo.column)
    const ids = [...new Set(of.map(({ id }) => literal(id)))].join(", ")
    return `SELECT ${index} AS i, ${placeOf(target, "location_id")} AS location, ${column} AS id, any_value(${quoted(labelOf(target).name)}) AS name FROM ${qualified(target)} WHERE ${column} IN (${ids}) GROUP BY ALL`
  })
  const { rows } = await request("/api/query", { sql: sql.join("\nUNION ALL ") }).catch(() => ({ rows: [] }))
  const names = new Map(rows.map(([index, location, id, name]) => [JSON.stringify([index, location, id]), name]))
  for (const [index, [target, of]] of lists.entries())
    for (const { id, node, valueOf } of of) {
      const name = names.get(JSON.stringify([String(index), placeOf(target, valueOf("location_id")), id]))
      if (name) node.after(" ", h("span.muted", name))
    }
}
