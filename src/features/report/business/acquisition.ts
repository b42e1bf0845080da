/** Section: from where new contacts came. */
import * as Effect from "effect/Effect"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { count, counted, share } from "../format.ts"
import { month } from "../../../values/moment.ts"
import { ownName } from "../mask.ts"
import { bar, section, tableOf } from "../table.ts"
import { type TopicDefinition, inMonths, lastWhole, leftOut, noneText } from "./figures.ts"

/** A source with fewer contacts may be a text about one person, so it is not shown by name. */
const contactsMin = 5
const sourcesMax = 20

const contact = { thing: "contact", of: "day of creation" }

export const acquisitionTopic: TopicDefinition = {
  id: "acquisition",
  title: "New contacts by source",
  models: ["fct_contact_acquisition"],
  resources: ["contacts"],
  unknown: "SELECT count(*) FROM bi.fct_contact_acquisition WHERE created_local_date IS NULL",
  week: {
    thing: "new contact",
    things: "new contacts",
    rows: "SELECT created_local_date AS day, NULL AS currency, NULL AS amount FROM bi.fct_contact_acquisition"
  },
  make: Effect.fn("report.acquisition")(function* ({ months, unknown }) {
    const found = yield* (yield* Warehouse).rows(
      `SELECT channel, count(*) AS n, count(*) FILTER (date_trunc('month', created_local_date) = DATE '${lastWhole(months)}') AS month
       FROM bi.fct_contact_acquisition WHERE ${inMonths("created_local_date", months)}
       GROUP BY ALL ORDER BY n DESC, channel`
    )
    const sources = found.map((row) => ({
      name: ownName(String(row["channel"])),
      contacts: Number(row["n"]),
      lastMonth: Number(row["month"])
    }))
    const all = sources.reduce((sum, { contacts }) => sum + contacts, 0)
    const lastMonth = sources.reduce((sum, one) => sum + one.lastMonth, 0)
    const named = sources.filter(({ contacts }) => contacts >= contactsMin).slice(0, sourcesMax)
    const others = sources.length - named.length
    const rows = [
      ...named,
      ...(others === 0
        ? []
        : [
            {
              name: counted(others, "other source"),
              contacts: all - named.reduce((sum, { contacts }) => sum + contacts, 0),
              lastMonth: lastMonth - named.reduce((sum, one) => sum + one.lastMonth, 0)
            }
          ])
    ]
    const highest = Math.max(0, ...rows.map(({ contacts }) => contacts))
    return {
      figures: [{ title: "New contacts", value: count(lastMonth), note: `in ${month(lastWhole(months))}` }],
      content: section({
        id: "acquisition",
        title: "New contacts by source",
        lead:
          all === 0
            ? noneText(
                "No contact was created in the last 13 months.",
                "a contact was created in the last 13 months",
                unknown,
                contact
              )
            : `${counted(all, "contact was", "contacts were")} created since ${month(months[0]!)}, ${count(lastMonth)} in ${month(lastWhole(months))}. The source is that of the first visit, or else the one that the contact names; sources of fewer than ${contactsMin} contacts are not shown by name.${leftOut(unknown, contact)}`,
        content:
          all === 0
            ? undefined
            : tableOf({
                id: "sources",
                caption: `Contacts by source since ${month(months[0]!)}`,
                rows,
                folded: 12,
                columns: [
                  { head: "Source", cell: ({ name }) => name },
                  { head: "Contacts", kind: "number", cell: ({ contacts }) => count(contacts) },
                  { head: "Share", kind: "number", cell: ({ contacts }) => share(contacts, all) },
                  { head: "Share of the highest", kind: "chart", cell: ({ contacts }) => bar(contacts, highest) },
                  { head: month(lastWhole(months)), kind: "number", cell: (one) => count(one.lastMonth) }
                ]
              })
      })
    }
  })
}
