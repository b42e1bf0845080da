/** Compares the tables of the lake with those of the warehouse. */
import { Effect } from "effect"
import { openLake } from "./lake.ts"
import { allTables, hasCommits, newestCommits, ofLocations, schemas } from "./tables.ts"
import type { LakeDestination } from "./settings.ts"
import { contentsOfEach } from "../../stores/warehouse/content.ts"
import { contentVersions } from "../../stores/warehouse/meta/content-versions.ts"
import { loadedLocations } from "../../stores/warehouse/meta/run-resources.ts"
import { name } from "../../stores/warehouse/sql.ts"
import type { Catalogue } from "../../catalog/discover.ts"
import { tablesOf } from "../../catalog/tables.ts"
import { type VerifyFinding, counted, note, wrong, compared } from "../../values/finding.ts"

/** A table that the lake has in another version than the warehouse is not compared. */
export const checkLake = Effect.fn("verify.lake")(function* (catalogue: Catalogue, settings: LakeDestination) {
  return yield* Effect.gen(function* () {
    const lake = yield* openLake(settings, "read")
    const { lake: existing, warehouse } = yield* allTables(lake)
    if (!hasCommits(existing))
      return compared("nothing", [wrong(settings.place, "nothing was committed to the lake yet")])
    const locations = yield* loadedLocations()
    const versions = yield* contentVersions()
    const committed = yield* newestCommits(lake, existing, locations)
    const findings: Array<VerifyFinding> = []
    const behind: Array<string> = []
    let rows = 0
    const tables = catalogue.resources
      .flatMap((resource) => tablesOf(resource).map((table) => ({ resource, table })))
      .filter(({ table }) => warehouse.has(`crm.${table.name}`))
    for (const { resource, table } of tables) {
      const commits = committed.filter((one) => one.table === table.name)
      const version = versions.get(resource.table)?.version
      if (commits.length < locations.length || commits.some((one) => one.version !== version)) {
        behind.push(table.name)
        continue
      }
      for (const schema of schemas) {
        const path = `${schema}.${name(table.name)}`
        const types = existing.get(`${schema}.${table.name}`) ?? new Map<string, string>()
        const columns = [...types].map(([column, type]) => ({ name: column, type }))
        const size = commits.reduce((sum, one) => sum + one.rows[schema], 0)
        const sides = [`(FROM lake.${path} WHERE ${ofLocations(locations)})`, `warehouse.${path}`] as const
        const contents = yield* contentsOfEach(sides.map((from) => ({ from, columns, size })))
        const [inLake, inWarehouse] = [contents.of(sides[0]), contents.of(sides[1])]
        rows += inLake.rows
        if (inLake.rows !== inWarehouse.rows || inLake.sum !== inWarehouse.sum)
          findings.push(
            wrong(
              `${schema}.${table.name}`,
              inLake.rows === inWarehouse.rows
                ? "values differ from those of the warehouse"
                : `${counted(inLake.rows, "row")}, and the warehouse has ${inWarehouse.rows.toLocaleString("en-US")}`
            )
          )
        else if (size !== inLake.rows)
          findings.push(
            wrong(`${schema}.${table.name}`, `${counted(inLake.rows, "row")}, and sluice.commits says ${size}`)
          )
      }
    }
    if (behind.length > 0)
      findings.push(
        note(
          settings.place,
          `${counted(behind.length, "table")} of the warehouse ${behind.length === 1 ? "is" : "are"} newer: ${behind.slice(0, 5).join(", ")}${behind.length > 5 ? " and others" : ""}`
        )
      )
    return compared(
      `${counted(tables.length - behind.length, "table")}, ${counted(rows, "row")}, compared with the warehouse`,
      findings
    )
  }).pipe(Effect.scoped)
})
