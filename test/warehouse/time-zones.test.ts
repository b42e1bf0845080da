/** Time zones as people and programs write them. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { windowsZones } from "../../src/catalog/windows-zones.ts"
import { literal } from "../../src/stores/warehouse/sql.ts"
import { locationZonesSql, unknownTimeZones } from "../../src/stores/warehouse/time-zones.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { newFolder } from "../support/sluice.ts"

const known: ReadonlyArray<readonly [written: string, zone: string]> = [
  ["Europe/Berlin", "Europe/Berlin"],
  [" america/NEW_YORK\n", "America/New_York"],
  ["America/New_York\u00a0", "America/New_York"],
  ["(GMT-05:00) America/New_York", "America/New_York"],
  ["UTC", "UTC"],
  ["Pacific Standard Time", "America/Los_Angeles"],
  ["pacific daylight time ", "America/Los_Angeles"],
  ["Pacific Time (US & Canada)", "America/Los_Angeles"],
  ["(UTC-08:00) Pacific Time (US & Canada)", "America/Los_Angeles"],
  ["Eastern Time (US & Canada)", "America/New_York"],
  ["W. Europe Standard Time", "Europe/Berlin"],
  ["AUS Eastern Standard Time", "Australia/Sydney"],
  ["(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna", "Europe/Amsterdam"],
  ["(UTC+05:30) Chennai, Kolkata, Mumbai, New Delhi", "Asia/Kolkata"],
  ["(UTC-06:00) Guadalajara, Mexico City, Monterrey", "America/Mexico_City"],
  ["(UTC) Coordinated Universal Time", "UTC"],
  ["Sao Paulo", "America/Sao_Paulo"]
]
const unknown = ["Mars/Olympus", "Central", "PDT8", "(UTC+01:00)", "+02:00 somewhere"]

const within = <A, E>(work: Effect.Effect<A, E, Warehouse>) =>
  Effect.runPromise(
    work.pipe(Effect.provide(Warehouse.layer(join(newFolder(), "w.duckdb"), { access: "write", memoryMb: 128 })))
  )
const zonesOf = (written: ReadonlyArray<string>) =>
  within(
    Effect.gen(function* () {
      const { rows, run } = yield* Warehouse
      yield* run("CREATE SCHEMA IF NOT EXISTS crm")
      yield* run("CREATE TABLE crm.locations (id VARCHAR, timezone VARCHAR, _deleted_at TIMESTAMPTZ)")
      for (const [index, text] of written.entries())
        yield* run(`INSERT INTO crm.locations VALUES ('${String(index).padStart(3, "0")}', ${literal(text)}, NULL)`)
      yield* run("INSERT INTO crm.locations VALUES ('none', NULL, NULL), ('blank', ' ', NULL), ('gone', 'Mars', now())")
      const found = yield* rows(`FROM (${locationZonesSql("crm.locations")}) ORDER BY location_id`)
      return {
        found: found.map((row) => [written[Number(row["location_id"])], row["time_zone"]]),
        unknown: (yield* unknownTimeZones()).map(({ timeZone }) => timeZone)
      }
    })
  )

it("a time zone is known in every usual form, and any other is named", async () => {
  const all = await zonesOf([...known.map(([written]) => written), ...unknown])
  assert.deepStrictEqual(
    all.found,
    known.map((one) => [...one])
  )
  assert.deepStrictEqual(all.unknown, unknown)
})

it("every name of Windows is a zone", async () => {
  const names = Object.entries({ ...windowsZones, UTC: "UTC" })
  assert.isAbove(names.length, 130)
  const { found, unknown } = await zonesOf(names.map(([name]) => name))
  assert.deepStrictEqual(unknown, [])
  assert.deepStrictEqual(found, names)
})

it("without a table of locations, nothing is known to be wrong", async () => {
  assert.deepStrictEqual(await within(unknownTimeZones()), [])
})
