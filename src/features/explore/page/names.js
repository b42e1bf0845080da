/** Writes before ids what people know the rows by to which they refer. */
import { targetOfReference } from "./data.js"
import { h } from "./dom.js"
import { request } from "./service.js"
import { literal, qualified, quoted } from "./sql.js"

/** The name becomes what leads to the row, and the id stands after it. */
const nameFirst = (node, name) => {
  const id = node.textContent
  node.textContent = name
  node.after(" ", h("span.id", id))
}

/**
 * `cells`: each with its column, the node of its value, and the values of its row. One query reads all names. `show`: writes a
 * name to its node.
 */
export const showNames = async (cells, data, show = nameFirst) => {
  const asked = cells.flatMap(({ column: { name, refersTo }, node, valueOf }) => {
    const target = refersTo && targetOfReference(data, refersTo)
    const id = valueOf(name)
    // Locations have their names instead of their ids.
    return !id || !target || target.table.name === "locations" ? [] : [{ id, node, refersTo, target, valueOf }]
  })
  const lists = Array.from(
    Map.groupBy(asked, ({ target: { table } }) => table),
    ([, of]) => [of[0].target, of]
  )
  if (lists.length === 0) return
  const placeOf = ({ key }, location) => (key.includes("location_id") ? location : null)
  const sql = lists.map(([{ label, table }, of], index) => {
    const column = quoted(of[0].refersTo.column)
    const ids = [...new Set(of.map(({ id }) => literal(id)))].join(", ")
    return `SELECT ${index} AS i, ${placeOf(table, "location_id")} AS location, ${column} AS id, any_value(${quoted(label)}) AS name FROM ${qualified(table)} WHERE ${column} IN (${ids}) GROUP BY ALL`
  })
  const { rows } = await request("/api/query", { sql: sql.join("\nUNION ALL ") }).catch(() => ({ rows: [] }))
  const names = new Map(rows.map(([index, location, id, name]) => [JSON.stringify([index, location, id]), name]))
  for (const [index, [{ table }, of]] of lists.entries())
    for (const { id, node, valueOf } of of) {
      const name = names.get(JSON.stringify([String(index), placeOf(table, valueOf("location_id")), id]))
      if (name) show(node, name)
    }
}
