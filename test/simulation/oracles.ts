/** The checks after each run and at the end of a scenario. */
import { Effect } from "effect"
import { differing } from "../support/compare.ts"
import { tableOf } from "./catalogue.ts"
import type { Ran, World } from "./run.ts"

type Records = ReadonlyMap<string, Readonly<Record<string, unknown>>>

/** The records of the account, by collection. */
export const snapshot = ({ account, catalogue }: World): ReadonlyMap<string, Records> =>
  new Map(
    tableOf
      .entries()
      .filter(([, table]) => catalogue.familyByTable.has(table))
      .map(([collection]) => [collection, account.records(collection)])
  )

const rowsOf = ({ warehouse }: World, table: string) => Effect.runPromise(warehouse.rows(`SELECT * FROM crm.${table}`))

/** A complete read has every record that existed before the run and has not changed since. */
export const afterRun = async (
  world: World,
  before: ReadonlyMap<string, Records>,
  { synced }: Ran,
  { full, calm }: { readonly full: boolean; readonly calm: boolean }
): Promise<ReadonlyArray<string>> => {
  if (!synced) return []
  const wrong: Array<string> = []
  for (const [collection, records] of snapshot(world)) {
    const table = tableOf.get(collection)!
    const statuses = synced.rows.filter(({ resource }) => resource === table || resource.startsWith(`${table}/`))
    const incomplete = statuses.filter(({ status }) => status !== "complete")
    if (calm && synced.exitCode === 0)
      wrong.push(
        ...incomplete.filter(isSurprising).map((row) => `${row.resource} ${row.status}: ${row.warnings.join(", ")}`)
      )
    if (statuses.length === 0 || incomplete.length > 0) continue
    // It is not documented whether a note changes its contact, so incremental syncs may miss notes.
    if (!full && table === "contact_notes") continue
    const untouched = records
      .entries()
      .filter(([id, record]) => JSON.stringify(before.get(collection)!.get(id)) === JSON.stringify(record))
      .map(([, record]) => record)
    const rows = await rowsOf(world, table)
    wrong.push(
      ...differing(table, rows, [...untouched])
        .filter((difference) => !difference.endsWith("not in the service") && !isExpected(difference))
        .map((difference) => `complete, but ${difference}`)
    )
  }
  return wrong.slice(0, 10)
}

/** Warnings are expected if a strategy is not supported, or if some parents are not read. */
const isSurprising = ({ warnings }: { readonly warnings: ReadonlyArray<string> }) =>
  !warnings.every((warning) => /could not be used|were not read individually|the parent table/.test(warning))

/** The type of a conversation is a text in the list and a number in a single read, as documented; columns are left out. */
const isExpected = (difference: string) =>
  /^conversations \w+\.type: \d+ became "TYPE_/.test(difference) || difference.endsWith(": nowhere")

/**
 * Every table equals the service without duplicates, and the rate limit was kept, except by the first request of a run,
 * which cannot know the requests of the run before it.
 */
export const atRest = async (world: World, burst: number | undefined, runs: number): Promise<ReadonlyArray<string>> => {
  const wrong: Array<string> = []
  const { account, clock } = world
  for (const [collection, records] of snapshot(world)) {
    const table = tableOf.get(collection)!
    const rows = await rowsOf(world, table)
    wrong.push(...differing(table, rows, [...records.values()]).filter((one) => !isExpected(one)))
    if (new Set(rows.map(({ id }) => id)).size < rows.length) wrong.push(`${table}: duplicate ids`)
  }
  const query = (sql: string) => Effect.runPromise(world.warehouse.rows(sql))
  for (const { resource, ms } of await query("SELECT resource, epoch_ms(watermark) AS ms FROM meta.watermarks"))
    if (Number(ms) > clock.now()) wrong.push(`${String(resource)}: the watermark is ahead of the service's clock`)
  const { fullestWindow, refused429 } = account.service.statistics
  if (burst !== undefined && fullestWindow > burst + 1) wrong.push(`${fullestWindow} requests in a window of ${burst}`)
  if (refused429 > runs) wrong.push(`${refused429} requests over the limit`)
  return wrong.slice(0, 10)
}
