import { id, ref, text, identifier } from "#catalog/fields.ts"
import { cursorOr, get, location, size } from "#catalog/request.ts"
import { byOffset, defineChild } from "#catalog/resource.ts"

export const recordRelations = defineChild({
  table: "record_relations",
  description: "Ties of the records of objects to other records, each once for every side that was read.",
  source: "C 2.2 GET /associations/relations/{recordId}",
  scope: "associations/relation.readonly",
  unproven: true,
  singleReads: "never",
  key: ["record_id", "id"],
  childOf: {
    table: "object_records",
    column: "record_id",
    where: "EXISTS (FROM crm.associations)",
    versionColumn: "updated_at",
    refreshAfter: "30 days",
    strategy: byOffset(
      get("/associations/relations/{recordId}", { locationId: location, skip: cursorOr(0), limit: size }),
      // The description shows an association in place of the answer.
      { records: "relations", elsewhere: ["data", "results", ""], pageSize: 100 }
    )
  },
  // An id of a contact is that of no other record.
  person: { contacts: ["first_record_id", "second_record_id"], records: { record_id: "object_records" } },
  fields: {
    id: id("Id of the tie; `relation_id` elsewhere"),
    associationId: ref("associations", "Kind of tie"),
    firstObjectKey: text("Object of the record on the first side"),
    firstRecordId: identifier("Record on the first side"),
    secondObjectKey: text("Object of the record on the second side"),
    secondRecordId: identifier("Record on the second side")
  }
})
