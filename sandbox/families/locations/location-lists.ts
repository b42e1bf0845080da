import { invalid } from "../../http/errors.ts"
import { listed, pageOf } from "../../http/pages.ts"
import { wholeNumber } from "../../http/parameters.ts"
import type { Route } from "../../http/route.ts"
import { between, choice, flag, integer, list, object, record, required, text } from "../../http/shape.ts"
import { type Data, byCreated } from "../../account/collection.ts"
import { slice } from "../../account/position.ts"
import { Random, streams } from "../../account/random.ts"

const location = { in: "path", name: "locationId" } as const

/** The time zones, messaging providers and saved templates of a location (A 4.6). */
export const locationListRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/locations/:locationId/timezones",
    scope: "locations.readonly",
    location,
    summary: "List time zones",
    returns: { timezones: list(text) },
    handle: () => ({ timezones })
  },
  {
    method: "GET",
    path: "/locations/:locationId/conversationChannels/:type",
    scope: "locations.readonly",
    location,
    summary: "List the messaging providers of a channel",
    // Date-based versions were observed not to have this operation (field-notes 4).
    isNew: true,
    returns: { conversationChannel: object() },
    handle: ({ params }, { world: { context } }) => {
      const type = params["type"]!
      const names = providers[type]
      if (names === undefined) throw invalid("type must be one of the following values: SMS, Email")
      const held = names.map((name, index) => {
        const _id = new Random(context.seed, streams.provider, index + type.length * 10).id()
        return { conversationProvider: { _id, name, type, default: index === 0 } }
      })
      return { conversationChannel: { [type]: held } }
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
      const type = query["type"]
      const deleted = query["deleted"] === true
      const skip = wholeNumber(query, "skip", { fallback: 0, minimum: 0 })
      const limit = Number(query["limit"] ?? 25)
      const fits = (data: Data): boolean =>
        data["originId"] === query["originId"] &&
        data["deleted"] === deleted &&
        (type === undefined || data["type"] === type)
      const rows = templates.sorted(byCreated).filter((row) => fits(templates.data(row)))
      const texts = listed(templates, slice(rows, skip, limit, true))
      return pageOf("templates", texts, { totalCount: rows.length })
    }
  }
]

const timezones = [...Intl.supportedValuesOf("timeZone"), "UTC"]

/** The providers by type; the first is the default. */
const providers: Readonly<Record<string, ReadonlyArray<string>>> = Object.assign(Object.create(null), {
  SMS: ["Harbor Text", "Backup SMS"],
  Email: ["Pine Mail"]
})
