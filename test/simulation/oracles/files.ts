/** The files behind links: none is anything but what its host has at the address, and none is complete that was not fetched. */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileAt } from "../host.ts"
import type { Ran, Stage } from "../run.ts"
import type { Row, State } from "./state.ts"

const hashOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex")

const filesIn = async ({ warehouse }: Stage): Promise<ReadonlyArray<Row>> =>
  Effect.runPromise(
    warehouse.rows(
      "SELECT location_id, record_id, url, status, path, sha256, _deleted_at IS NULL AS live FROM crm.files"
    )
  )

export const filesAreRight = async (stage: Stage, state: State, ran: Ran): Promise<ReadonlyArray<string>> => {
  if (!stage.world.files) return []
  const rows = await filesIn(stage)
  const stored = rows.filter(({ path }) => path !== null)
  const wrong = stored.filter(({ sha256, url }) => sha256 !== hashOf(fileAt(String(url))))
  const damaged = stored.filter(({ path, sha256 }) => {
    const place = join(stage.output.folder, String(path))
    return existsSync(place) ? hashOf(readFileSync(place)) !== sha256 : true
  })
  const readings = (ran.synced?.rows ?? []).filter(({ resource }) => resource === "files")
  const isComplete = readings.length > 0 && readings.every(({ status }) => status.startsWith("complete"))
  return [
    ...wrong.map(({ status, url }) => `${String(url)} is ${String(status)}, and is another file`),
    // A power cut loses files; the next run that ends fetches them again.
    ...(isComplete ? damaged.map(({ path, url }) => `${String(path)} is not the file of ${String(url)}`) : []),
    ...(isComplete ? notFetched(state, rows) : [])
  ].slice(0, 5)
}

const notFetched = (state: State, rows: ReadonlyArray<Row>): ReadonlyArray<string> => {
  const nameOf = (...of: ReadonlyArray<unknown>) => of.join(" ")
  const fetched = new Set(
    rows
      .filter(({ live, status }) => live && status === "fetched")
      .map((row) => nameOf(row["location_id"], row["record_id"], row["url"]))
  )
  return [...(state.rows.get("products")?.values() ?? [])].flatMap(({ deleted, id, location, row }) =>
    deleted !== null || row["image"] === null || fetched.has(nameOf(location, id, row["image"]))
      ? []
      : [`files are complete, and ${String(row["image"])} of ${id} was not fetched`]
  )
}
