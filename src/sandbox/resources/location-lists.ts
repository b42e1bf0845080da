import { invalid } from "../errors.ts"
import { listed, pageOf } from "../pages.ts"
import { oneOf, whole } from "../parameters.ts"
import type { Route } from "../route.ts"
import { between, choice, flag, integer, list, object, record, required, text } from "../shape.ts"
import { type Data, byCreated } from "../world/collection.ts"
import { slice } from "../world/position.ts"
import { Random, streams } from "../world/random.ts"

const location = { in: "path", name: "locationId" } as const

/** What a location offers: time zones, messaging providers, saved templates (A 4.6). */
export const locationListRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/locations/:locationId/timezones",
    scope: "locations.readonly",
    location,
    summary: "List time zones",
    returns: { timezones: list(text) },
    handle: () => ({ body: { timezones } })
  },
  {
    method: "GET",
    path: "/locations/:locationId/conversationChannels/:type",
    scope: "locations.readonly",
    location,
    summary: "List the messaging providers of a channel",
    // Seen to be missing under date-based versions (field-notes 4).
    isNew: true,
    returns: { conversationChannel: object() },
    handle: ({ params }, { world: { setting } }) => {
      const type = params["type"]!
      const names = providers[type]
      if (names === undefined) throw invalid("type must be one of the following values: SMS, Email")
      const held = names.map((name, index) => {
        const _id = new Random(setting.seed, streams.provider, index + type.length * 10).id()
        return { conversationProvider: { _id, name, type, default: index === 0 } }
      })
      return { body: { conversationChannel: { [type]: held } } }
    }
  },
  {
    method: "GET",
    path: "/locations/:locationId/templates",
    scope: "locations/templates.readonly",
    location,
    summary: "List saved templates",
    query: {
      originId: required(text),
      type: choice("sms", "email", "whatsapp"),
      deleted: flag,
      skip: between(integer, 0),
      limit: between(integer, 1, 100)
    },
    returns: { templates: list(record("Template")), totalCount: integer },
    handle: ({ query }, { world: { templates } }) => {
      const type = oneOf(query.get("type"), "type", ["sms", "email", "whatsapp"])
      const deleted = query.get("deleted") === "true"
      const skip = whole(query.get("skip"), "skip", { fallback: 0, least: 0 })
      const limit = whole(query.get("limit"), "limit", { fallback: 25, most: 100 })
      const fits = (data: Data): boolean =>
        data["originId"] === query.get("originId") &&
        data["deleted"] === deleted &&
        (type === undefined || data["type"] === type)
      const rows = templates.sorted(byCreated).filter((row) => fits(templates.data(row)))
      const texts = listed(templates, slice(rows, skip, limit, true))
      return { body: pageOf("templates", texts, { totalCount: rows.length }) }
    }
  }
]

const timezones = [...Intl.supportedValuesOf("timeZone"), "UTC"]

/** The first is the default one. */
const providers: Readonly<Record<string, ReadonlyArray<string>>> = Object.assign(Object.create(null), {
  SMS: ["Harbor Text", "Backup SMS"],
  Email: ["Pine Mail"]
})
