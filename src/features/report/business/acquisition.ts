/** Section: from where new contacts came. */
import * as Effect from "effect/Effect"
import { count, counted, share } from "../format.ts"
import { query } from "../../../stores/warehouse/query.ts"
import { ownName } from "../mask.ts"
import { bars, number, sumOf, tableOf, text } from "../../../pages/html-table.ts"
import { during, duringAll, inMonths, lastWhole } from "./months.ts"
import { literal } from "../../../stores/warehouse/sql.ts"
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
  whether: "a contact was created in the last 13 months",
  week: {
    thing: "new contact",
    things: "new contacts",
    count: "new_contacts"
  },
  find: Effect.fn("report.acquisition")(function* ({ from, metric, rowsSql, tile, months, since, lastMonth, leftOut }) {
    const created = metric("new_contacts")
    const inLast = during(created.day, lastWhole(months))
    const sources = yield* query(
      { name: ownName, written: String, contacts: Number, recent: Number },
      // Referral and referral are one source, named as most write it.
      `SELECT mode(channel ORDER BY channel) AS name, lower(trim(name)) AS written, ${created.value} AS contacts, ${created.value} FILTER (month = '${lastWhole(months)}') AS recent
       FROM ${inMonths(from(created.model), created.day, months)} GROUP BY lower(trim(channel)) ORDER BY contacts DESC, name`
    )
    const named = sources.filter(({ contacts }) => contacts >= contactsMin).slice(0, sourcesMax)
    const others = sources.filter((one) => !named.includes(one))
    const together = {
      name: counted(others.length, "other source"),
      written: "",
      contacts: sumOf(others, ({ contacts }) => contacts),
      recent: sumOf(others, ({ recent }) => recent)
    }
    const rows = others.length === 0 ? named : [...named, together]
    const all = sumOf(rows, ({ contacts }) => contacts)
    /** A name that is masked stands nowhere, also not in SQL. */
    const behind = ({ name, written }: (typeof rows)[number]) =>
      name.toLowerCase() === written ? `lower(trim(channel)) = ${literal(written)}` : undefined
    const recent = count(sumOf(rows, (one) => one.recent))
    return {
      figures: [tile(created, recent, `in ${lastMonth}`, inLast)],
      rows: rowsSql(created, duringAll(created.day, months)),
      isEmpty: all === 0,
      lead: `${counted(all, "contact was", "contacts were")} created since ${since}, ${recent} in ${lastMonth}. The source is that of the first visit, or else the one that the contact names; sources of fewer than ${contactsMin} contacts are not shown by name.${leftOut}`,
      content: tableOf(rows, {
        id: "sources",
        caption: `Contacts by source since ${since}`,
        folded: 12,
        behind,
        columns: [
          text("Source", ({ name }) => name),
          number("Contacts", ({ contacts }) => contacts),
          number("Share", ({ contacts }) => share(contacts, all)),
          bars("Share of the highest", rows, ({ contacts }) => contacts),
          number(lastMonth, (one) => one.recent, inLast)
        ]
      })
    }
  })
}
