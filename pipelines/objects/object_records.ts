import { membersOf } from "#catalog/json.ts"
import { changed, created, customValue, id, ignored, map, ref, text, values } from "#catalog/fields.ts"
import type { Parameters } from "#catalog/request.ts"
import { cursor, cursorOr, location, post, since, size } from "#catalog/request.ts"
import { type Paging, type Strategy, defineList } from "#catalog/resource.ts"
import { actor } from "#catalog/shapes.ts"

const search = (parameters: Parameters, paging: Paging): Strategy => ({
  request: post("/objects/{partition}/records/search", {
    locationId: location,
    pageLimit: size,
    query: "",
    ...parameters
  }),
  paging,
  records: "records",
  pageSize: 100,
  total: "total"
})
const behindLast: Paging = { kind: "lastRecord", field: "searchAfter" }
const byNumber: Paging = { kind: "pageNumber", first: 1 }

export const objectRecords = defineList({
  table: "object_records",
  description: "Records of the objects that the account made, and the custom properties of companies.",
  source: "C 1.2 POST /objects/{schemaKey}/records/search",
  scope: "objects/record.readonly",
  unproven: true,
  // The description demands both cursors, and does not say whether they may stand together.
  full: [
    search({ page: 1, searchAfter: cursorOr([]) }, behindLast),
    search({ searchAfter: cursor }, behindLast),
    search({ page: cursorOr(1), searchAfter: [] }, byNumber),
    search({ page: cursorOr(1) }, byNumber)
  ],
  partitions: "object_keys",
  partitionColumn: "object_key",
  // The filters are not documented; the searches of contacts and deals have them.
  changes: {
    field: "updatedAt",
    overlap: "15 minutes",
    fullEvery: "7 days",
    strategies: [
      {
        ...search(
          {
            page: 1,
            searchAfter: cursorOr([]),
            filters: [{ field: "updatedAt", operator: "range", value: { gte: since("iso") } }],
            sort: [{ field: "updatedAt", direction: "asc" }]
          },
          behindLast
        ),
        verifyField: "updatedAt"
      }
    ]
  },
  person: { addresses: ["object_record_values.value_text"] },
  wide: { table: "object_record_values", field: "field", prefix: "" },
  transform: (record) => [withProperties(record)],
  transformedBy: ["properties"],
  fields: {
    id: id("Record id"),
    objectId: ref("objects", "Object it is a record of"),
    objectKey: text("Key of that object"),
    owner: values("object_record_owners", "Users who own each record.", "user_id", ref("users", "The user")),
    followers: values("object_record_followers", "Users who follow each record.", "user_id", ref("users", "The user")),
    properties: map(
      "object_record_values",
      "Filled fields of each record.",
      { name: "field", field: text("Key of the object, and of its field") },
      { value: customValue("The value as sent") }
    ),
    createdBy: actor("created_by", "Who made it"),
    lastUpdatedBy: actor("last_updated_by", "Who changed it last"),
    createdAt: created("When it was made"),
    dateAdded: ignored,
    updatedAt: changed("Last change"),
    dateUpdated: ignored,
    searchAfter: ignored
  }
})

/**
 * Properties have the key of their object before their own, because two objects may have fields of one name. An amount is two
 * values: the number, and its currency. The properties may be a text, and in events are a list of keys and values.
 */
const withProperties = (record: unknown): unknown => {
  const { objectKey, properties } = membersOf(record)
  if (properties === undefined) return record
  const sent: unknown = typeof properties === "string" ? JSON.parse(properties) : properties
  const pairs = Array.isArray(sent)
    ? sent.map((one) => [membersOf(one)["key"], membersOf(one)["valueString"]] as const)
    : Object.entries(membersOf(sent))
  const object = String(objectKey).replace(/^custom_objects?\./, "")
  const values = pairs.flatMap(([key, value]) => {
    const { currency, value: amount } = membersOf(value)
    const isAmount = currency !== undefined && amount !== undefined
    const parts = isAmount ? [["", amount] as const, ["_currency", currency] as const] : [["", value] as const]
    return parts.flatMap(([end, part]) =>
      part === undefined ? [] : [[`${object}.${String(key)}${end}`, part] as const]
    )
  })
  return { ...membersOf(record), properties: Object.fromEntries(values) }
}
