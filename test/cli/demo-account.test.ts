/** The account of the demo, on any day: the report of it has no figure of 0 and no chart of one bar. */
import { assert, it } from "@effect/vitest"
import type { Collection, Data } from "../../sandbox/account/collection.ts"
import { settle } from "../../sandbox/options.ts"
import { createWorld } from "../../sandbox/world.ts"
import { demoAccount } from "../../src/cli/demo.ts"

const dayMs = 86_400_000

const recordsOf = (collection: Collection): ReadonlyArray<Data> =>
  [...collection.live()].map((entry) => collection.data(entry))

/** What the tiles, the sentence of the week and the charts count, of an account whose history ends at `now`. */
const figuresAt = (now: number) => {
  const world = createWorld(settle({ ...demoAccount, now }))
  const end = new Date(now)
  const monthOf = (time: unknown) => String(time).slice(0, 7)
  const lastMonth = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() - 1, 1)).toISOString().slice(0, 7)
  const times = {
    won: recordsOf(world.opportunities)
      .filter(({ status }) => status === "won")
      .map((deal) => deal["lastStatusChangeAt"]),
    payments: recordsOf(world.transactions)
      .filter(({ liveMode, status }) => status === "succeeded" && liveMode === true)
      .map((payment) => payment["createdAt"]),
    contacts: recordsOf(world.contacts).map((contact) => contact["dateAdded"]),
    booked: recordsOf(world.appointments).map((appointment) => appointment["dateAdded"]),
    questions: recordsOf(world.messages)
      .filter(({ direction }) => direction === "inbound")
      .map((message) => message["dateAdded"])
  }
  const lastDays = new Date(now - 7.5 * dayMs).toISOString()
  return Object.entries(times).map(([name, all]) => ({
    name,
    inLastMonth: all.filter((time) => monthOf(time) === lastMonth).length,
    inLastWeek: all.filter((time) => String(time) >= lastDays).length,
    months: new Set(all.map(monthOf)).size,
    isFuture: all.some((time) => Date.parse(String(time)) > now)
  }))
}

it("has won deals, payments, contacts, bookings and questions in every month and in the last week", () => {
  for (let month = 0; month < 12; month += 3)
    for (const day of [1, 18, 28]) {
      const now = Date.UTC(2026, month, day, (month * 7 + day) % 24)
      for (const { name, inLastMonth, inLastWeek, isFuture, months } of figuresAt(now)) {
        const what = `${name} at ${new Date(now).toISOString()}`
        assert.isAbove(inLastMonth, 0, what)
        assert.isAbove(inLastWeek, 0, what)
        assert.isAtLeast(months, 12, what)
        assert.isFalse(isFuture, what)
      }
    }
})

it("has sources that the report shows by name, several owners, and deals in every stage", () => {
  const world = createWorld(settle(demoAccount))
  const [contacts, deals] = [recordsOf(world.contacts), recordsOf(world.opportunities)]
  const sources = Map.groupBy(contacts, ({ source }) => source)
  assert.isAtLeast([...sources].filter(([name, of]) => name !== undefined && of.length >= 5).length, 2)
  assert.isAtLeast(new Set(deals.map(({ assignedTo }) => assignedTo)).size, 5)
  const open = deals.filter(({ status }) => status === "open")
  assert.strictEqual(
    new Set(open.map(({ pipelineStageId }) => pipelineStageId)).size,
    recordsOf(world.pipelines).flatMap(({ stages }) => stages as ReadonlyArray<Data>).length
  )
})
