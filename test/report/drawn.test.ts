/** Every figure about the copying, computed a second time from the drawn nights of an account. */
import { assert, it } from "@effect/vitest"
import { reportAfter } from "./filled.ts"
import { dayMs, draw, end, rowsInto, states } from "./nights.ts"
import { numberIn, rowsOf, textOf, tile } from "./reading.ts"

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
const two = (value: number) => String(value).padStart(2, "0")
const dayOf = (at: number) => `${new Date(at).getUTCDate()} ${months[new Date(at).getUTCMonth()]}`
const timeOf = (at: number) => `${two(new Date(at).getUTCHours())}:${two(new Date(at).getUTCMinutes())}`
const shortOf = (at: number) => `${dayOf(at)} ${timeOf(at)}`
const longOf = (at: number) => `${dayOf(at)} ${new Date(at).getUTCFullYear()}, ${timeOf(at)} UTC`

const brief = {
  complete: "complete",
  complete_with_warnings: "warnings",
  incomplete: "incomplete",
  interrupted: "interrupted"
}

type World = ReturnType<typeof draw>
type Reading = World["readings"][number]

const sum = <One>(rows: ReadonlyArray<One>, of: (row: One) => number) => rows.reduce((all, row) => all + of(row), 0)
const within = (days: number) => (at: number) => at > end - days * dayMs
const durationOf = (ms: number): string => {
  const seconds = Math.round(ms / 1000)
  const minutes = Math.round(seconds / 60)
  if (minutes < 2) return `${seconds} s`
  return minutes < 120
    ? `${minutes} min`
    : `${minutes < 600 ? Math.round(minutes / 6) / 10 : Math.round(minutes / 60)} h`
}
/** Without the rows that only name a location. */
const listOf = (html: string, id: string) => rowsOf(html, id).filter(({ length }) => length > 1)

/** The first lines are of the most; equal ones are in the order of their names. */
const mostFirst = <One>(rows: ReadonlyArray<One>, ...numbers: ReadonlyArray<(row: One) => number>) =>
  rows.toSorted((one, other) => numbers.map((of) => of(other) - of(one)).find((difference) => difference !== 0) ?? 0)

const tableOf = ({ resource }: Reading) => resource.split("/")[0]!
const groupsOf = <One>(rows: ReadonlyArray<One>, of: (row: One) => string) =>
  [...Map.groupBy(rows, of)].toSorted(([one], [other]) => (one < other ? -1 : 1))

const changesOf = ({ readings }: World) => {
  const rows = groupsOf(readings, tableOf).map(([table, own]) => ({
    table,
    moves: [1, 7].flatMap((days) => {
      const recent = own.filter((one) => within(days)(one.finished_at))
      return [
        sum(recent, (one) => one.new_rows),
        sum(recent, (one) => one.changed_rows),
        sum(recent, (one) => one.deleted_rows)
      ]
    })
  }))
  const moved =
    (from: number) =>
    ({ moves }: (typeof rows)[number]) =>
      sum(moves.slice(from, from + 3), Number)
  return mostFirst(rows, moved(0), moved(3)).filter((row) => moved(3)(row) > 0)
}

/** The rows at the end of each day, computed back from those that there are. */
const totalsOf = ({ readings, rows }: World, days: ReadonlyArray<number>) => {
  const tables = groupsOf(readings, tableOf).map(([table, own]) => {
    let there = rows.filter((row) => row.table === table && row._deleted_at === undefined).length
    return days.toReversed().map((day) => {
      const atEnd = there
      const ofDay = own.filter(({ finished_at }) => Math.floor(finished_at / dayMs) === day && within(31)(finished_at))
      there = Math.max(0, there - sum(ofDay, (one) => one.new_rows - one.deleted_rows))
      return atEnd
    })
  })
  return days.map((_, index) => sum(tables, (one) => one[days.length - 1 - index]!))
}

const costsOf = ({ readings }: World) => {
  const recent = readings.filter((one) => within(31)(one.finished_at))
  const rows = groupsOf(recent, ({ resource }) => resource).map(([resource, own]) => ({
    resource,
    day: sum(
      own.filter((one) => within(1)(one.finished_at)),
      (one) => one.requests
    ),
    all: sum(own, (one) => one.requests)
  }))
  return mostFirst(
    rows,
    ({ day }) => day,
    ({ all }) => all
  ).filter(({ all }) => all > 0)
}

/** The last reading of each resource that was no backfill, the worst first. */
const lastOf = ({ locations, readings, watermarks }: World, days: ReadonlyArray<number>) =>
  locations
    .flatMap((location) =>
      groupsOf(
        readings.filter((one) => one.location_id === location && one.mode === "full"),
        ({ resource }) => resource
      )
    )
    .map(([resource, own]) => {
      const { location_id: location, status: ended, warnings } = own.at(-1)!
      const status = ended ?? ("interrupted" as const)
      const mark = watermarks.find((one) => one.location_id === location && one.resource === resource)
      const complete = days.filter((day) => {
        const ofDay = own.filter(
          ({ finished_at }) => Math.floor(finished_at / dayMs) === day && within(31)(finished_at)
        )
        return ofDay.at(-1)?.status?.startsWith("complete")
      })
      return { location, resource, status, warnings, completeAt: mark?.complete_at, days: complete.length }
    })
    .toSorted(
      (one, other) =>
        states.indexOf(other.status) - states.indexOf(one.status) || (one.completeAt ?? 0) - (other.completeAt ?? 0)
    )

it.each([
  { seed: 1, locations: ["north"] },
  { seed: 2, locations: ["north", "south"] }
])("each figure about the copying is that of the rows of its runs: $seed", async ({ locations, seed }) => {
  const world = draw(seed, locations)
  const { drift, readings, rejected, rounded, rows, runs, watermarks } = world
  const html = await reportAfter(
    ...rowsInto("meta.runs", runs),
    ...rowsInto("meta.run_resources", readings),
    ...rowsInto("meta.watermarks", watermarks),
    ...rowsInto("meta.rejected_values", rejected),
    ...rowsInto("meta.rounded_values", rounded),
    ...rowsInto("meta.schema_changes", drift),
    ...groupsOf(rows, ({ table }) => table).flatMap(([table, own]) =>
      rowsInto(
        `crm.${table}`,
        own.map(({ _deleted_at, id, location_id }) => ({ location_id, id, _deleted_at }))
      )
    )
  )
  const text = textOf(html)
  const lastDay = Math.floor(end / dayMs)
  const firstDay = Math.max(lastDay - 29, Math.floor(runs[0]!.started_at / dayMs))
  const days = Array.from({ length: lastDay - firstDay + 1 }, (_, index) => firstDay + index)

  const changes = changesOf(world)
  assert.deepStrictEqual(
    listOf(html, "table-changes").map(([table, all, gone, ...moves]) => ({
      table,
      rows: [numberIn(all!), numberIn(gone!)],
      moves: moves.slice(0, 6).map(numberIn)
    })),
    changes.map((one) => {
      const own = rows.filter(({ table }) => table === one.table)
      return { ...one, rows: [own.length, own.filter((row) => row._deleted_at !== undefined).length] }
    })
  )
  const totals = totalsOf(world, days)
  assert.deepStrictEqual(
    rowsOf(html, "rows-by-day").map(([day, n, difference]) => [
      day,
      numberIn(n!),
      numberIn(difference!.replace("+", ""))
    ]),
    days.map((day, index) => [
      dayOf(day * dayMs),
      totals[index]!,
      index === 0 ? 0 : totals[index]! - totals[index - 1]!
    ])
  )
  assert.strictEqual(numberIn(tile(html, "rows")), totals.at(-1))
  const ofDay = readings.filter((one) => within(1)(one.finished_at))
  for (const [id, n] of Object.entries({
    new: sum(ofDay, (one) => one.new_rows),
    changed: sum(ofDay, (one) => one.changed_rows),
    deleted: sum(ofDay, (one) => one.deleted_rows),
    sent: sum(ofDay, (one) => one.requests),
    rejected: rejected.filter((one) => within(1)(one.rejected_at)).length
  }))
    assert.strictEqual(numberIn(tile(html, id)), n, id)

  const costs = costsOf(world)
  const sent = sum(costs, ({ day }) => day)
  assert.deepStrictEqual(
    listOf(html, "costs").map(([resource, day, part, , all]) => [
      resource,
      numberIn(day!),
      Math.round(Number.parseFloat(part!)),
      numberIn(all!)
    ]),
    costs.map(({ all, day, resource }) => [resource, day, Math.round((100 * day) / Math.max(sent, 1)), all])
  )
  const requestsOn = (day: number, of = readings) =>
    sum(
      of.filter((one) => Math.floor(one.finished_at / dayMs) === day),
      (one) => one.requests
    )
  assert.deepStrictEqual(
    rowsOf(html, "requests-by-day").map(([day, n]) => [day, numberIn(n!)]),
    days.map((day) => [dayOf(day * dayMs), requestsOn(day)])
  )
  const busiest = Math.max(
    ...locations.flatMap((location) =>
      days.map((day) =>
        requestsOn(
          day,
          readings.filter((one) => one.location_id === location)
        )
      )
    )
  )
  assert.include(text, `The busiest day took ${busiest} requests${locations.length > 1 ? " of one location" : ""}`)

  const newest = runs.toReversed().slice(0, 30)
  assert.deepStrictEqual(
    listOf(html, "runs-table").map(([started, command, status, exitCode, took, requests, planned, ...moves]) => [
      started,
      command,
      status,
      exitCode,
      took,
      requests,
      planned,
      ...moves.map(numberIn)
    ]),
    newest.map((run) => {
      const own = readings.filter(({ run_id }) => run_id === run.run_id)
      return [
        shortOf(run.started_at),
        run.command,
        run.status.replaceAll("_", " "),
        run.exit_code === undefined ? "" : String(run.exit_code),
        run.finished_at === undefined ? "did not end" : durationOf(run.finished_at - run.started_at),
        run.requests === undefined ? "unknown" : String(run.requests),
        run.planned_requests === undefined ? "–" : String(run.planned_requests),
        sum(own, (one) => one.new_rows),
        sum(own, (one) => one.changed_rows),
        sum(own, (one) => one.deleted_rows)
      ]
    })
  )
  const planned = newest.filter((run) => run.planned_requests !== undefined && run.requests !== undefined)
  const near = planned.filter((run) => Math.abs(run.requests! / run.planned_requests! - 1) <= 0.25)
  const stopped = newest.filter(({ status }) => status === "interrupted").length
  assert.include(
    text,
    `${stopped > 0 ? ` ${stopped} did not end.` : ""} Of ${planned.length} run${planned.length === 1 ? "" : "s"} with a plan, ${near.length} took`
  )
  const read = newest.filter(({ status }) => status.startsWith("complete")).length
  assert.include(text, `${read} of ${newest.length} runs read everything to its end.`)

  const last = lastOf(world, days)
  const inGroups = locations.flatMap((location) => last.filter((one) => one.location === location))
  const firstGroup = last[0]!.location
  const shown = inGroups.toSorted(
    (one, other) => Number(other.location === firstGroup) - Number(one.location === firstGroup)
  )
  assert.deepStrictEqual(
    listOf(html, "readings").map(([resource, state, , complete, at]) => [resource, state, complete, at]),
    shown.map((one) => [
      one.resource,
      brief[one.status],
      `${one.days} of ${days.length}`,
      one.completeAt === undefined ? "never" : shortOf(one.completeAt)
    ])
  )
  const counts = states
    .map((state) => [last.filter(({ status }) => status === state).length, state.replaceAll("_", " ")] as const)
    .toReversed()
    .filter(([n]) => n > 0)
  const ends = last.flatMap((one) => one.completeAt ?? [])
  const sought = watermarks.flatMap((one) => one.deletions_sought_at ?? [])
  assert.include(
    text,
    `Of ${last.length} resources${locations.length > 1 ? ` in ${locations.length} locations` : ""}: ${counts.map(([n, state]) => `${n} ${state}`).join(", ")}. The oldest complete reading ended on ${longOf(Math.min(...ends))}. Deleted rows were looked for in every list since ${longOf(Math.min(...sought))}.`
  )
  assert.deepStrictEqual(
    listOf(html, "reasons").map(([resource, why]) => [resource, why]),
    shown
      .filter(({ status }) => status !== "complete")
      .map(({ resource, status, warnings }) => [
        resource,
        status === "interrupted"
          ? "The run ended before this was read to its end; the next one resumes."
          : `${warnings.slice(0, 2).join("; ")}${warnings.length > 2 ? `; and ${warnings.length - 2} other reason${warnings.length === 3 ? "" : "s"}` : ""}`
      ])
  )

  const linesOf = <One extends { readonly table_name: string }>(rows: ReadonlyArray<One>, of: (row: One) => string) =>
    groupsOf(rows, (row) => `${row.table_name}, ${of(row)}`)
  const isNew = ({ rejected_at }: (typeof rejected)[number]) => within(1)(rejected_at)
  assert.deepStrictEqual(
    listOf(html, "rejected").map(([table, column, why, day, n]) => [
      `${table}, ${column}, ${why}`,
      numberIn(day!),
      numberIn(n!)
    ]),
    mostFirst(
      linesOf(rejected, (one) => `${one.column_name}, ${one.reason}`),
      ([, own]) => own.filter(isNew).length,
      ([, own]) => own.length
    ).map(([line, own]) => [line, own.filter(isNew).length, own.length])
  )
  const startedAt = new Map(runs.map((run) => [run.run_id, run.started_at]))
  const numbersIn = (own: typeof rounded) => [
    sum(
      own.filter((one) => within(1)(startedAt.get(one.run_id)!)),
      (one) => one.rounded
    ),
    sum(own, (one) => one.rounded)
  ]
  assert.deepStrictEqual(
    listOf(html, "rounded-values").map(([table, column, ...numbers]) => [
      `${table}, ${column}`,
      ...numbers.map(numberIn)
    ]),
    mostFirst(
      linesOf(rounded, (one) => one.column_name),
      ([, own]) => numbersIn(own)[0]!,
      ([, own]) => numbersIn(own)[1]!
    ).map(([line, own]) => [line, ...numbersIn(own)])
  )
  assert.deepStrictEqual(
    listOf(html, "schema-changes").map(([table, field, kind, shape, at]) => [table, field, kind, shape, at]),
    mostFirst(drift, ({ first_seen_at }) => first_seen_at).map((one) => [
      one.table_name,
      one.field.replace(" = Jane", ""),
      one.kind,
      "Aa 00",
      shortOf(one.first_seen_at)
    ])
  )
  const recent = drift.filter((one) => within(7)(one.first_seen_at)).length
  if (drift.length > 0)
    assert.match(
      text,
      new RegExp(
        `${drift.length} fields? (or|and) values? differ from the documents of the service, ${recent} of them new`
      )
    )
})
