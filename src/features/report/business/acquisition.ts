/** Section: from where new contacts came. */
import * as Effect from "effect/Effect"
import { count, counted, share } from "../format.ts"
import { query } from "../../../stores/warehouse/query.ts"
import { ownName } from "../mask.ts"
import { bars, number, sumOf, tableOf, text } from "../../../pages/html-table.ts"
import { inMonths, lastWhole } from "./months.ts"
import type { Topic } from "./topic.ts"

/** A source with fewer contacts may be a text about one person, so it is not shown by name. */
const contactsMin = 5
const sourcesMax = 20

export const acquisitionTopic: Topic = {
  id: "acquisition",
  title: "New contacts by source",
  models: ["fct_contact_acquisition"],
  resources: ["contacts"],
  unknown: {
    rows: (from) => `${from("fct_contact_acquisition")} WHERE created_local_date IS NULL`,
    thing: "contact",
    of: "day of creation"
  },
  none: "No contact was created in the last 13 months.",
  whether: "a contact was created in the last 13 months",
  week: {
    thing: "new contact",
    things: "new contacts",
    rows: (from) =>
      `SELECT created_local_date AS day, NULL AS currency, NULL AS amount FROM ${from("fct_contact_acquisition")}`
  },
  find: Effect.fn("report.acquisition")(function* ({ from, months, since, lastMonth, leftOut }) {
    const sources = yield* query(
      { name: ownName, contacts: Number, recent: Number },
      // Referral and referral are one source, named as most write it.
      `SELECT mode(channel ORDER BY channel) AS name, count(*) AS contacts, count(*) FILTER (month = '${lastWhole(months)}') AS recent
       FROM ${inMonths(from("fct_contact_acquisition"), "created_local_date", months)} GROUP BY lower(trim(channel)) ORDER BY contacts DESC, name`
    )
    const named = sources.filter(({ contacts }) => contacts >= contactsMin).slice(0, sourcesMax)
    const others = sources.filter((one) => !named.includes(one))
    const together = {
      name: counted(others.length, "other source"),
      contacts: sumOf(others, ({ contacts }) => contacts),
      recent: sumOf(others, ({ recent }) => recent)
    }
    const rows = others.length === 0 ? named : [...named, together]
    const all = sumOf(rows, ({ contacts }) => contacts)
    const recent = count(sumOf(rows, (one) => one.recent))
    return {
      figures: [{ title: "New contacts", value: recent, note: `in ${lastMonth}` }],
      isEmpty: all === 0,
      lead: `${counted(all, "contact was", "contacts were")} created since ${since}, ${recent} in ${lastMonth}. The source is that of the first visit, or else the one that the contact names; sources of fewer than ${contactsMin} contacts are not shown by name.${leftOut}`,
      content: tableOf(rows, {
        id: "sources",
        caption: `Contacts by source since ${since}`,
        folded: 12,
        columns: [
          text("Source", ({ name }) => name),
          number("Contacts", ({ contacts }) => contacts),
          number("Share", ({ contacts }) => share(contacts, all)),
          bars("Share of the highest", rows, ({ contacts }) => contacts),
          number(lastMonth, (one) => one.recent)
        ]
      })
    }
  })
}
