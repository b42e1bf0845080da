import { iso } from "../../account/clock.ts"
import { type Data, without } from "../../account/collection.ts"
import type { Random } from "../../account/random.ts"
import { dayOf } from "../../account/seeded.ts"
import { type Make, type Parts, further, idAt, times } from "./parts.ts"

const kinds: ReadonlyArray<readonly [key: string, singular: string, plural: string]> = [
  ["contact", "Contact", "Contacts"],
  ["opportunity", "Opportunity", "Opportunities"],
  ["business", "Company", "Companies"],
  ["custom_objects.project", "Project", "Projects"],
  ["custom_objects.boats", "Boat", "Boats"]
]
const keyOf = (index: number): string => ["custom_objects.project", "custom_objects.project", "business"][index % 3]!
const count = ({ owners }: Parts): number => owners.share(0.4, 12)

/** A value as the table in C 1.2 shows it, by the type of its field. */
const valueOf = ({ context }: Parts, random: Random, dataType: string, options: ReadonlyArray<string>): unknown => {
  switch (dataType) {
    case "NUMERICAL":
      return random.between(1, 90) / 4
    case "MONETORY":
      return { currency: "default", value: random.between(100, 90_000) }
    case "DATE":
      return dayOf(context.begin + random.int(context.end - context.begin))
    case "SINGLE_OPTIONS":
    case "RADIO":
      return random.pick(options)
    case "MULTIPLE_OPTIONS":
    case "CHECKBOX":
      return random.some(options, 3, 0.6)
    case "FILE_UPLOAD":
      return [{ url: "https://files.example/plan.pdf" }]
    case "PHONE":
      return `+1415555${String(random.int(10_000)).padStart(4, "0")}`
    case "EMAIL":
      return `crew${random.int(100)}@example.com`
    default:
      return random.pick(["Harbour side", "=North yard", "Ünter den Linden 3", "second line\nof text"])
  }
}

/** One in eight records has no value at all, and one in seven a value of a field that was removed. */
const propertiesOf = (parts: Parts, random: Random, key: string, index: number): Data => {
  if (index % 8 === 7) return {}
  const objectFields = parts.of("objectFields")
  const filled = objectFields.children(key).flatMap((row): ReadonlyArray<readonly [string, unknown]> => {
    const { dataType, fieldKey, options = [] } = objectFields.data(row) as Record<string, any>
    const name = String(fieldKey).split(".").at(-1)!
    if (random.chance(0.3)) return []
    const keys = options.map((one: Data) => one["key"])
    return dataType === "TEXTBOX_LIST"
      ? keys.map((box: string) => [`${name}.${box}`, "4 by 5"] as const)
      : [[name, valueOf(parts, random, String(dataType), keys)]]
  })
  return { ...Object.fromEntries(filled), ...(index % 7 === 3 && { old_code: `X${index}` }) }
}

const by = (at: number, source: string, id: string | undefined): Data => ({
  channel: source === "WEB" ? "WEB_USER" : "OAUTH",
  createdAt: iso(at),
  source,
  sourceId: id
})

export const objectCollections: Record<"objects" | "objectRecords" | "associations" | "recordRelations", Make> = {
  objects: further(1, kinds.length, (draw, { context }) => {
    const [key, singular, plural] = kinds[draw.index]!
    const isOwn = key.startsWith("custom_objects.")
    return {
      id: draw.id,
      standard: !isOwn,
      key,
      labels: { singular, plural },
      ...(isOwn && { description: `${plural} that we work on` }),
      locationId: context.locationId,
      primaryDisplayProperty: `${key}.name`,
      ...times(draw, "dateAdded", "dateUpdated"),
      type: isOwn ? "USER_DEFINED" : "SYSTEM_DEFINED"
    }
  }),
  objectRecords: further(
    2,
    count,
    (draw, parts) => {
      const { context, of } = parts
      const key = keyOf(draw.index)
      const object = [...of("objects").live()].find((row) => of("objects").data(row)["key"] === key)!
      return {
        id: draw.id,
        locationId: context.locationId,
        objectId: object.id,
        objectKey: key,
        owner: draw.index % 2 === 0 && key !== "business" ? [context.userIds[draw.index % context.userIds.length]] : [],
        followers: draw.random.chance(0.2) ? context.userIds.slice(0, 2) : [],
        properties: propertiesOf(parts, draw.random, key, draw.index),
        ...times(draw),
        createdBy: by(draw.entry.created, "WEB", context.userIds[0]),
        lastUpdatedBy: by(draw.entry.updated, "PUBLIC_API", "app3")
      }
    },
    {
      under: (_, index) => keyOf(index),
      // A single read has other names for the dates (C 1.2).
      full: (data) => ({
        ...without("createdAt", "updatedAt", "createdBy", "lastUpdatedBy")(data),
        dateAdded: data["createdAt"],
        dateUpdated: data["updatedAt"]
      }),
      list: (data) => data
    }
  ),
  associations: further(3, 2, ({ id, index }, { context }) => ({
    id,
    locationId: context.locationId,
    key: ["project_client", "boat_project"][index],
    firstObjectKey: ["custom_objects.project", "custom_objects.boats"][index],
    firstObjectLabel: ["Project", "Boat"][index],
    secondObjectKey: ["contact", "custom_objects.project"][index],
    secondObjectLabel: ["Client", "Project"][index],
    associationType: "USER_DEFINED"
  })),
  recordRelations: further(4, count, ({ id, index }, { context, owners, of }) => ({
    id,
    associationId: idAt(of("associations"), 0),
    firstObjectKey: "custom_objects.project",
    firstRecordId: idAt(of("objectRecords"), index - (index % 3)),
    secondObjectKey: "contact",
    secondRecordId: owners.of(204, index).id,
    locationId: context.locationId
  }))
}
