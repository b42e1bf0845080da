import { id, openEnum, text } from "#catalog/fields.ts"
import { cursorOr, get, location, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"

export const associations = defineList({
  table: "associations",
  description: "Kinds of ties between records, and what each side is called.",
  source: "C 2.1 GET /associations/",
  scope: "associations.readonly",
  unproven: true,
  full: [
    byOffset(get("/associations/", { locationId: location, skip: cursorOr(0), limit: size }), {
      records: "associations",
      // The description shows a single record; others are expected in one of these places.
      elsewhere: ["data", "results", ""],
      pageSize: 100
    })
  ],
  getOne: { request: get("/associations/{associationId}"), record: "" },
  fields: {
    id: id("Id of the kind of tie; `association_id` elsewhere"),
    key: text("Its unique name"),
    firstObjectKey: text("Object on the first side"),
    firstObjectLabel: text("What a record on the first side is called"),
    secondObjectKey: text("Object on the second side"),
    secondObjectLabel: text("What a record on the second side is called"),
    associationType: openEnum("`USER_DEFINED` or `SYSTEM_DEFINED`")
  }
})
