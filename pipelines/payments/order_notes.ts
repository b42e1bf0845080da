import { membersOf } from "#catalog/json.ts"
import { json, identifier } from "#catalog/fields.ts"
import { altLocation, get } from "#catalog/request.ts"
import { defineChild, inOnePage } from "#catalog/resource.ts"

/** The response is not documented: it may be an array or an object with one, of objects or texts, with or without ids. */
const notesIn = (sent: unknown): ReadonlyArray<unknown> => {
  const { notes, data } = membersOf(sent)
  return [notes, data].find((inside) => Array.isArray(inside)) ?? [sent]
}
const hasNotes = (answer: unknown): boolean => {
  if (Array.isArray(answer)) return true
  const { id, _id, notes, data } = membersOf(answer)
  return [notes, data].some((inside) => Array.isArray(inside)) || (id ?? _id) !== undefined
}
const idOf = (note: unknown): unknown => {
  const { id, _id } = membersOf(note)
  return id ?? _id ?? process.getBuiltinModule("node:crypto").hash("sha256", JSON.stringify(note)).slice(0, 24)
}

export const orderNotes = defineChild({
  table: "order_notes",
  description: "Notes on orders, kept as they came: no document shows what a note holds.",
  source: "B 4.4 GET /payments/orders/{orderId}/notes",
  scope: "payments/orders.readonly",
  // It is not documented whether a note changes the updatedAt of its order, so every order is requested again.
  childOf: {
    table: "orders",
    column: "order_id",
    versionColumn: "updated_at",
    refreshAfter: "30 days",
    strategy: inOnePage(get("/payments/orders/{orderId}/notes", altLocation), { records: "", hasList: hasNotes })
  },
  isReshaped: true,
  transform: (sent) => notesIn(sent).map((note) => ({ id: idOf(note), body: note })),
  key: ["order_id", "id"],
  person: { records: { order_id: "orders" } },
  fields: {
    id: identifier("Note id, or where it has none a fingerprint of the note"),
    body: json("The note as sent", { personal: "content" })
  }
})
