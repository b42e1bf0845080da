/** What people read of a sync, computed a second time from drawn results. */
import { assert, it } from "@effect/vitest"
import { printSynced } from "../../src/cli/sync.ts"
import type { SyncResult } from "../../src/run/sync-result.ts"
import { cellsIn, printed } from "../support/printed.ts"
import { randomFrom } from "../support/random.ts"

const draw = (seed: number) => {
  const random = randomFrom(seed)
  const upTo = (max: number) => Math.floor(random() * (max + 1))
  const oneOf = <One>(of: ReadonlyArray<One>): One => of[upTo(of.length - 1)]!
  const locations = seed % 3 === 0 ? ["a", "b", "c"] : ["a"]
  const resources = locations.flatMap((location) =>
    Array.from({ length: 1 + upTo(5) }, (_, index) => {
      const isStill = random() < 0.4
      const n = () => (isStill ? 0 : upTo(900))
      return {
        run: "r",
        location,
        resource: `things_${index}`,
        mode: oneOf(["full", "incremental"] as const),
        requests: upTo(20),
        records: oneOf([0, upTo(5000)]),
        newRows: n(),
        changedRows: n(),
        deletedRows: n(),
        rejected: random() < 0.2 ? upTo(5) : 0,
        rounded: random() < 0.1 ? 1 + upTo(3) : 0,
        status: oneOf(["complete", "complete", "complete_with_warnings", "incomplete"] as const),
        warnings: random() < 0.3 ? [oneOf(["first reason", "second reason"])] : []
      }
    })
  )
  const standing = resources.flatMap((row) =>
    random() < 0.15 ? [{ location: row.location, resource: row.resource, rejected: 1 + upTo(9), rows: 50 }] : []
  )
  const data = {
    run: "run7",
    resources,
    ended: resources.map(({ location, resource, status }) => ({ location, resource, status })),
    locations: locations.map((location) => ({ location, name: `Shop ${location}` })),
    drift: { changes: random() < 0.3 ? ["things_0.extra (new field)"] : [], unexpectedValues: [] },
    missingSegments: [],
    isVaultTruncated: false,
    modelProblems: [],
    suppressedRecords: upTo(2),
    requests: resources.reduce((all, one) => all + one.requests, 0),
    loadedMs: 4000,
    elapsedMs: 9000,
    published: oneOf(["released", "unchanged", "nothingRead"] as const),
    totals: { tables: 5, rows: 1234 },
    ...(standing.length > 0 && { standingRejects: standing })
  }
  return {
    exitCode: oneOf([0, 3, 75]),
    isOfAll: random() < 0.5,
    isStoppedByDeadline: random() < 0.2,
    status: "complete",
    data
  }
}

const counted = (n: number, thing: string, things = `${thing}s`) =>
  `${n.toLocaleString("en-US")} ${n === 1 ? thing : things}`
const written = (n: number) => n.toLocaleString("en-US")

it("a sync prints what changed and what is not whole, the sums of each location, and the total that people quote", async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const world = draw(seed)
    const { data, exitCode, isOfAll, isStoppedByDeadline } = world
    const { out, err } = await printed(printSynced(world as unknown as SyncResult))
    const standingOf = (row: (typeof data.resources)[number]) =>
      data.standingRejects?.find((one) => one.location === row.location && one.resource === row.resource)
    const isSeveral = data.locations.length > 1
    const isQuiet = (row: (typeof data.resources)[number]) =>
      row.status === "complete" &&
      (isSeveral
        ? row.rounded + row.rejected === 0 && standingOf(row) === undefined
        : row.newRows + row.changedRows + row.deletedRows + row.rejected === 0)
    const shown = data.resources.filter((row) => !isQuiet(row))
    const quiet = data.resources.filter(isQuiet)
    const hasRounded = shown.some((row) => row.rounded > 0)
    const lineOf = (row: (typeof data.resources)[number]) => {
      const standing = standingOf(row)
      return [
        ...(isSeveral ? [`Shop ${row.location}`] : []),
        row.resource,
        ...[row.requests, row.records, row.newRows, row.changedRows, row.deletedRows].map(written),
        standing ? `${row.rejected} new, ${standing.rejected} standing` : written(row.rejected),
        ...(hasRounded ? [written(row.rounded)] : []),
        row.status.replaceAll("_", " ")
      ]
    }
    assert.deepStrictEqual(out.filter((line) => /things_\d/.test(line)).map(cellsIn), shown.map(lineOf), `seed ${seed}`)
    if (isSeveral) {
      const sums = data.locations.map(({ location, name }) => {
        const own = data.resources.filter((row) => row.location === location)
        const sum = (of: (row: (typeof own)[number]) => number) => written(own.reduce((all, row) => all + of(row), 0))
        const worst = ["incomplete", "complete_with_warnings"].find((status) =>
          own.some((row) => row.status === status)
        )
        return [
          name,
          String(own.length),
          sum((row) => row.requests),
          sum((row) => row.records),
          sum((row) => row.newRows),
          sum((row) => row.changedRows),
          sum((row) => row.deletedRows),
          sum((row) => row.rejected),
          ...(hasRounded ? [sum((row) => row.rounded)] : []),
          (worst ?? "complete").replaceAll("_", " ")
        ]
      })
      assert.deepStrictEqual(out.slice(1, 1 + sums.length).map(cellsIn), sums, `seed ${seed}`)
    }
    const [still] = out.filter((line) => line.includes("complete without a change"))
    const empty = quiet.filter((row) => row.mode === "full" && row.records === 0).length
    assert.strictEqual(
      still,
      quiet.length === 0 || isSeveral
        ? undefined
        : `${shown.length > 0 ? "and " : ""}${counted(quiet.length, "resource")} complete without a change${empty > 0 ? `, ${empty} of them empty` : ""}`
    )
    const incomplete = data.ended.filter(({ status }) => status === "incomplete").length
    const standing = (data.standingRejects ?? []).reduce((all, one) => all + one.rejected, 0)
    assert.strictEqual(
      out.at(-1),
      [
        "5 tables, 1,234 rows",
        ...(incomplete > 0 ? [`${counted(incomplete, "resource")} incomplete`] : []),
        ...(standing > 0 ? [`${counted(standing, "value or record", "values and records")} rejected`] : []),
        ...(isOfAll && incomplete + standing === 0 ? ["0 missing"] : [])
      ].join(", ")
    )
    const has = (text: string) => err.some((line) => line.includes(text))
    const publishing = data.published === "released" ? ", published in 5 s" : ""
    assert.isTrue(has(`${counted(data.requests, "request")}, loaded in 4 s${publishing}. Run run7.`), err.join("\n"))
    assert.strictEqual(has("Nothing changed; the published files stay"), data.published === "unchanged")
    assert.strictEqual(has("Nothing was published: no list"), data.published === "nothingRead")
    assert.strictEqual(has(`${counted(data.suppressedRecords, "record")} of erased people`), data.suppressedRecords > 0)
    assert.strictEqual(has("The service sent new fields or types"), data.drift.changes.length > 0)
    assert.strictEqual(has("Stopped at the deadline."), isStoppedByDeadline)
    assert.isFalse(has("Part of the vault is missing"))
    for (const warning of ["first reason", "second reason"]) {
      const from = data.resources.filter((row) => row.warnings.includes(warning))
      const lines = err.filter((line) => line.endsWith(`: ${warning}`))
      assert.lengthOf(lines, from.length === 0 ? 0 : 1)
      for (const row of from.slice(0, 5))
        assert.include(lines[0], isSeveral ? `Shop ${row.location} (${row.location}) ${row.resource}` : row.resource)
      assert.strictEqual(lines[0]?.includes(", each: ") ?? false, from.length > 1)
    }
    assert.include([0, 3, 75], exitCode)
  }
})
