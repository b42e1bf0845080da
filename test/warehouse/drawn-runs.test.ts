/** What the tables of runs say, read a second time in plain code: drawn runs that ended, were stopped, or read a part. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { columnsOf, storedTables } from "../../src/stores/warehouse/columns.ts"
import { readingHistory } from "../../src/stores/warehouse/meta/reading-history.ts"
import {
  addBlockedFields,
  changedSince,
  completeRuns,
  lastReadings,
  lastStatuses,
  leftLocations,
  loadedRuns,
  resourcesSinceEnd,
  unfinishedRefreshes
} from "../../src/stores/warehouse/meta/run-resources.ts"
import { eachSync } from "../../src/stores/warehouse/meta/runs.ts"
import { query } from "../../src/stores/warehouse/query.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { instantOf, literal, name, selected } from "../../src/stores/warehouse/sql.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"

const random = randomFrom(5)
const below = (limit: number) => Math.floor(random() * limit)
const pick = <A>(values: ReadonlyArray<A>) => values[below(values.length)]!
const begin = Date.parse("2026-01-01T00:00:00Z")
const day = 86_400_000

/** Some have several readings of one table: of its list, its details, and as children. */
const labels = ["things", "things/details", "things/of_others", "notes"]
const drawRuns = () =>
  Array.from({ length: 7 }, (_, n) => ({
    id: `r${n}`,
    command: pick(["sync", "sync", eachSync, "backfill"]),
    status: pick(["complete", "incomplete", "interrupted"]),
    startedAt: begin + n * day
  }))
const drawReadings = (runs: ReturnType<typeof drawRuns>) =>
  runs.flatMap(({ command, id: run, startedAt }) =>
    ["L", "M"].flatMap((location) =>
      labels
        .filter(() => random() < 0.6)
        .map((resource) => {
          const isEnded = random() < 0.7
          const text = pick(["", "", "one is missing"])
          const status = isEnded && random() < 0.8 ? (text === "" ? "complete" : "incomplete") : null
          return {
            run,
            location,
            resource,
            mode: command === "backfill" ? pick([null, "window"]) : pick([null, "full", "incremental"]),
            status,
            text: isEnded ? text : undefined,
            finishedAt: isEnded ? startedAt + below(day) : null,
            pages: below(5),
            requests: below(5),
            changed: below(2)
          }
        })
    )
  )
type Reading = ReturnType<typeof drawReadings>[number]

const last = <A>(values: ReadonlyArray<A>): A | undefined => values.at(-1)
const groups = (readings: ReadonlyArray<Reading>) =>
  [...Map.groupBy(readings, ({ location, resource }) => `${location} ${resource}`)].toSorted(([one], [other]) =>
    one < other ? -1 : 1
  )
const sorted = (lines: ReadonlyArray<string>) => lines.toSorted()

it.live("each question about runs has the answer of a plain reading of them", () =>
  Effect.gen(function* () {
    yield* prepare({ resources: [], familyByTable: new Map() })
    const { transaction } = yield* Warehouse
    for (let drawn = 0; drawn < 5; drawn++) {
      const runs = drawRuns()
      const readings = drawReadings(runs)
      const commandOf = new Map(runs.map(({ command, id }) => [id, command]))
      yield* transaction([
        "DELETE FROM meta.runs",
        "DELETE FROM meta.run_resources",
        ...runs.map(
          ({ command, id, startedAt, status }) =>
            `INSERT INTO meta.runs (run_id, command, started_at, status) VALUES (${[id, command].map(literal).join(", ")}, ${instantOf(startedAt)}, ${literal(status)})`
        ),
        ...readings.map((one) => {
          const found = { shortfalls: one.text ? [{ _tag: "Text", text: one.text }] : [], warnings: [] }
          const texts = [one.run, one.location, one.resource, one.mode, one.status].map(literal).join(", ")
          const reading = one.text === undefined ? "NULL" : literal(JSON.stringify(found))
          return `INSERT INTO meta.run_resources (run_id, location_id, resource, mode, status, reading, finished_at, pages, requests, changed_rows, warnings)
            VALUES (${texts}, ${reading}, ${one.finishedAt === null ? "NULL" : instantOf(one.finishedAt)}, ${one.pages}, ${one.requests}, ${one.changed}, ['as a sentence'])`
        })
      ])
      const same = (found: unknown, expected: unknown, what: string) =>
        assert.deepStrictEqual(found, expected, `${what}, draw ${drawn}`)

      const read = readings.filter(
        ({ mode, run }) => mode !== "window" && !(mode === null && commandOf.get(run) === "backfill")
      )
      same(
        (yield* lastReadings()).map(
          (one) =>
            `${one.location} ${one.resource} ${one.run} ${one.status}, ${one.reasons.map((reason) => (reason._tag === "Text" ? reason.text : reason._tag)).join()}`
        ),
        groups(read).map(([key, all]) => {
          const { run, text } = last(all)!
          return `${key} ${run} ${text === undefined ? "interrupted" : text === "" ? "complete" : "incomplete"}, ${text ?? "as a sentence"}`
        }),
        "the last readings"
      )
      const whole = readings.filter(({ mode, status }) => status === "complete" && mode !== null && mode !== "window")
      same(
        sorted((yield* completeRuns()).map((one) => `${one.location} ${one.resource} ${one.checkedAt}`)),
        groups(whole).map(([key, all]) => `${key} ${Math.max(...all.map(({ finishedAt }) => finishedAt!))}`),
        "complete runs"
      )
      const due = groups(readings.filter(({ location }) => location === "L")).flatMap(([, all]) => {
        const full = last(all.filter(({ run }) => commandOf.get(run) === eachSync))
        const done = last(all.filter(({ status }) => status === "complete"))
        if (full === undefined || full.run <= (done?.run ?? "")) return []
        return `${full.resource} ${runs.find(({ id }) => id === full.run)!.startedAt}`
      })
      same(sorted([...(yield* unfinishedRefreshes("L"))].map((one) => one.join(" "))), due, "unfinished full syncs")
      same(
        sorted(yield* changedSince("r3")),
        sorted([
          ...new Set(
            readings.flatMap((one) => (one.run > "r3" && one.changed > 0 ? [one.resource.replace(/\/.*/, "")] : []))
          )
        ]),
        "changed since"
      )
      same(
        yield* loadedRuns(),
        runs.map(({ id }) => id).filter((id) => readings.some(({ pages, run }) => run === id && pages > 0)),
        "loaded runs"
      )
      const isList = ({ location, mode, resource, status }: Reading) =>
        location === "M" &&
        status !== null &&
        mode !== null &&
        mode !== "window" &&
        resource !== "things/details" &&
        resource !== "notes"
      same(
        sorted(yield* lastStatuses("M", "things")),
        sorted(groups(readings.filter(isList)).map(([, all]) => last(all)!.status!)),
        "last statuses"
      )
      const finished = readings.flatMap((one) => (one.finishedAt === null ? [] : [one]))
      const lastOfM = Math.max(...finished.flatMap((one) => (one.location === "M" ? [one.finishedAt!] : [])))
      same(
        yield* leftLocations(new Set(["L"])),
        [{ location: "M", readAt: new Date(lastOfM).toISOString() }],
        "left locations"
      )
      same(yield* leftLocations(new Set(["wrong"])), [], "left locations of wrong settings")

      const syncs = runs.filter(({ command, id }) => command !== "backfill" && id < "r6")
      const ended = last(syncs.filter(({ status }) => status !== "interrupted"))?.id ?? ""
      const since = readings.filter(({ run }) => run === "r6" || syncs.some(({ id }) => id === run && id > ended))
      same(
        sorted(
          (yield* resourcesSinceEnd("r6", [])).map(
            (one) => `${one.location} ${one.resource} ${one.run} ${one.requests}`
          )
        ),
        sorted(
          since.map(
            (one) =>
              `${one.location} ${one.resource} ${one.run} ${one.text === undefined ? Math.max(one.pages, one.requests) : one.requests}`
          )
        ),
        "since the last end"
      )
      const nights = readings.filter(
        ({ location, mode, run, status }) =>
          location === "L" &&
          commandOf.get(run) === "sync" &&
          status === "complete" &&
          mode !== null &&
          mode !== "window"
      )
      const history = [...(yield* readingHistory("L"))].flatMap(([label, all]) =>
        all.map((one) => `${label} ${one.mode} ${one.requests} ${one.changed} ${one.elapsedMs}`)
      )
      same(
        sorted(history),
        sorted(
          groups(nights).flatMap(([, all]) =>
            all.map((one, n) => {
              const before = all[n - 1]
              const elapsed = before && one.finishedAt! - before.finishedAt!
              return `${one.resource} ${one.mode} ${one.requests} ${one.changed} ${elapsed}`
            })
          )
        ),
        "the history of nights"
      )
      // Each row says which fields its own reading has met and not stored.
      const [one, other] = [pick(readings), pick(readings)]
      yield* transaction(
        [one, other].map(({ location, resource: label, run }, n) =>
          addBlockedFields({ run, location, label }, ["things.b", `things.a${n}`])
        )
      )
      const blocked = yield* query(
        { key: String, fields: selected<ReadonlyArray<string>> },
        `SELECT run_id || ' ' || location_id || ' ' || resource AS key, to_json(blocked_fields)::VARCHAR AS fields
         FROM meta.run_resources WHERE len(blocked_fields) > 0`
      )
      const keyOf = ({ location, resource, run }: Reading) => `${run} ${location} ${resource}`
      same(
        Object.fromEntries(blocked.map(({ fields, key }) => [key, fields])),
        one === other
          ? { [keyOf(one)]: ["things.a0", "things.a1", "things.b"] }
          : { [keyOf(one)]: ["things.a0", "things.b"], [keyOf(other)]: ["things.a1", "things.b"] },
        "blocked fields"
      )
    }
    // What is stored is found without a statement for each table: a view has no rows of its own, and no table has too few.
    yield* transaction(["CREATE VIEW crm.some AS SELECT status, run_id FROM meta.runs"])
    const stored = yield* storedTables
    const key = (path: string) => path.replace(/(?<=\.).*/, name)
    for (const path of ["crm.some", "meta.runs", "meta.run_resources"])
      assert.deepStrictEqual(stored.get(key(path))!.columns, yield* columnsOf(path), path)
    assert.strictEqual(stored.get(key("crm.some"))!.rows, 0)
    assert.isAtLeast(stored.get(key("meta.runs"))!.rows, 7)
    assert.strictEqual(stored.get(key("meta.rejected_values"))!.rows, 0)
    assert.isFalse([...stored.keys()].some((path) => path.startsWith("main.")))
  }).pipe(Effect.provide(Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 128 })))
)
