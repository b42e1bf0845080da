/** Section: how many appointments are missed. */
import * as Effect from "effect/Effect"
import { count, counted, share } from "../format.ts"
import { query } from "../../../stores/warehouse/query.ts"
import { numbers } from "../../../values/rows.ts"
import { ownName } from "../mask.ts"
import { bars, number, sumOf, tableOf, text } from "../../../pages/html-table.ts"
import { duringAll, inMonths } from "./months.ts"
import { literal } from "../../../stores/warehouse/sql.ts"
import { type Topic, named } from "./topic.ts"

/** Calendars that are shown, those with the most appointments. */
const calendarsMax = 25

export const appointmentTopic: Topic = {
  id: "appointments",
  title: "Missed appointments",
  models: ["fct_appointment"],
  resources: ["appointments"],
  unknown: { rows: (from) => `${from("fct_appointment")} WHERE is_past IS NULL`, thing: "appointment", of: "time" },
  whether: "there was an appointment in the last 13 months",
  week: {
    thing: "appointment booked",
    things: "appointments booked",
    count: "appointments_booked",
    day: `(booked_at AT TIME ZONE coalesce((SELECT any_value(time_zone) FROM bi.dim_location AS place
      WHERE place.location_id = fct_appointment.location_id), 'UTC'))::DATE`
  },
  find: Effect.fn("report.appointments")(function* ({ from, group, metric, months, since, leftOut, rowsSql, tile }) {
    const [noShows, wasAttended] = [metric("no_show_share"), metric("attended")]
    const inPeriod = duringAll(noShows.day, months)
    const found = yield* query(
      {
        location: String,
        id: String,
        name: ownName,
        ...numbers("booked", "attended", "missed", "known", "unknown", "cancelled")
      },
      `SELECT location_id AS location, calendar_id AS id, coalesce(any_value(calendar_name), 'deleted calendar') AS name,
         ${wasAttended.sql} AS attended, ${metric("missed").sql} AS missed, ${metric("attended_or_missed").sql} AS known, count(*) FILTER (is_attended IS NULL) AS unknown,
         count(*) FILTER (is_cancelled) AS cancelled, count(*) AS booked
       FROM ${inMonths(`${from(noShows.model)} WHERE is_past`, noShows.day, months)}
       GROUP BY location, id ORDER BY booked DESC, location, id`
    )
    const calendars = named(found.slice(0, calendarsMax))
    const isOf = ({ id, location }: (typeof calendars)[number]) =>
      `location_id = ${literal(location)} AND calendar_id ${id === "null" ? "IS NULL" : `= ${literal(id)}`}`
    const known = sumOf(found, (one) => one.known)
    const missed = sumOf(found, (one) => one.missed)
    const unknown = sumOf(found, (one) => one.unknown)
    const unclear = unknown === 0 ? "" : ` Of ${counted(unknown, "other")} the status is not known.`
    const missedShare = share(missed, known)
    const most =
      found.length > calendarsMax ? ` The ${calendarsMax} calendars with the most appointments are shown.` : ""
    return {
      figures: [tile(noShows, known === 0 ? "–" : missedShare, `of appointments since ${since}`, inPeriod)],
      rows: rowsSql({ ...noShows, where: ["is_past"] }, inPeriod),
      isEmpty: found.length === 0,
      lead:
        known === 0
          ? "No past appointment of the last 13 months says whether it was attended."
          : `Of ${counted(known, "past appointment")} since ${since} whose outcome is known, ${count(missed)} were missed: ${missedShare}.${unclear}${most}${leftOut}`,
      content:
        known === 0
          ? undefined
          : tableOf(calendars, {
              id: "calendars",
              caption: "Past appointments by calendar",
              folded: 12,
              group,
              behind: isOf,
              columns: [
                text("Calendar", ({ name }) => name),
                number("Booked", ({ booked }) => booked),
                number("Attended", ({ attended }) => attended, "is_attended"),
                number("Missed", ({ missed }) => missed, "is_no_show"),
                number("Cancelled", ({ cancelled }) => cancelled, "is_cancelled"),
                number("Missed, share", (one) => share(one.missed, one.known), "is_no_show"),
                bars("Share of the highest", calendars, (one) => one.missed / Math.max(one.known, 1))
              ]
            })
    }
  })
}
