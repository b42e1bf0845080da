/** What an account has, by the names that people use: the table of each, and looks at its rows that are ready to open. */
import { tableAddress } from "./address.js"
import { literal, qualified, whereOf } from "./sql.js"

/**
 * `newest`: the time by which rows are new; `week`: that of what happens in a week, if it is another; `more`: another look,
 * its filters as column, operator and value. `beside`: a table that people look for with it.
 */
/** @type {ReadonlyArray<any>} */
const known = [
  { title: "Contacts", name: "contacts", newest: "date_added", more: ["Without an e-mail", ["email", "empty"]] },
  { title: "Deals", name: "opportunities", newest: "created_at", more: ["Open", ["status", "equals", "open"]] },
  {
    title: "Conversations",
    name: "conversations",
    newest: "last_message_date",
    more: ["Unread", ["unread_count", "atLeast", "1"]],
    beside: "messages"
  },
  {
    title: "Appointments",
    name: "appointments",
    newest: "date_added",
    week: "start_time",
    more: ["Missed", ["appointment_status", "equals", "noshow"]]
  },
  { title: "Invoices", name: "invoices", newest: "created_at", more: ["Not paid", ["amount_due", "atLeast", "0.01"]] },
  { title: "Payments", name: "transactions", newest: "created_at", more: ["Failed", ["status", "equals", "failed"]] },
  { title: "Orders", name: "orders", newest: "created_at", more: ["Pending", ["status", "equals", "pending"]] },
  {
    title: "Form submissions",
    name: "form_submissions",
    newest: "created_at",
    more: ["Without a contact", ["contact_id", "empty"]]
  }
]

/** The tables that stand first in every list. */
export const firstNames = known.flatMap(({ name, beside = [] }) => [name].concat(beside))

/** Those of which the release has the table. */
export const thingsOf = ({ find }) =>
  known.flatMap((thing) => {
    const table = find("main", thing.name)
    return table?.kind === "table" ? [{ ...thing, table, looks: looksOf(thing, table) }] : []
  })

/** Without those whose columns the release does not have, or does not have yet. */
const looksOf = ({ more: [title, filter], newest, week = newest }, table) => {
  const has = (name) => table.columns.some((column) => column.name === name)
  const [column, operator, value = ""] = filter
  return [
    has(newest) && { title: "Newest", sort: { column: newest, descending: true }, filters: [] },
    has(week) && {
      title: "This week",
      sort: { column: week, descending: week === newest },
      filters: thisWeek().map(([comparison, day]) => ({ column: week, operator: comparison, value: day }))
    },
    has(column) && { title, filters: [{ column, operator, value }] }
  ]
    .filter(Boolean)
    .map((look) => ({ ...look, href: tableAddress(table, look) }))
}

/** From Monday to Sunday, in UTC as the filters of days are. */
const thisWeek = () => {
  const day = (after) => {
    const date = new Date()
    date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7) + after)
    return date.toISOString().slice(0, 10)
  }
  return [
    ["atLeast", day(0)],
    ["atMost", day(6)]
  ]
}

/** One query for all: for each thing its rows that exist, and for each look those that it shows. */
export const countsOf = (things) =>
  things
    .flatMap(({ looks, name, table }) =>
      [{ title: "", filters: [] }, ...looks.filter(({ filters }) => filters.length > 0)].map(
        ({ filters, title }) =>
          `SELECT ${literal(name)} AS thing, ${literal(title)} AS look, count(*) AS n FROM ${qualified(table)}${whereOf({ filters }, table)}`
      )
    )
    .join("\nUNION ALL ")
