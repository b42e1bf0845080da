/** Opens the tables for a command that only reads, also while another program has the warehouse open. */
import { likelyText } from "../values/range.ts"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { Failure } from "../values/failure.ts"
import { outputPaths, snapshotName } from "../output/paths.ts"
import type { OutputSettings } from "../settings/settings.ts"
import { Warehouse } from "../stores/warehouse/warehouse.ts"
import { Output } from "../console/streams.ts"
import { duration } from "../values/text.ts"
import type { holderShape } from "./result-shapes.ts"
import { readRunProgress } from "./run-progress.ts"

export type Holder = ReturnType<typeof holderShape>["Type"]

/** `published`: the tables are those of the last release. `none`: there is no release yet either. */
export type Readable =
  | { readonly source: "warehouse"; readonly tables: Context.Context<Warehouse>; readonly holder?: undefined }
  | { readonly source: "published"; readonly tables: Context.Context<Warehouse>; readonly holder: Holder }
  | { readonly source: "none"; readonly tables?: undefined; readonly holder: Holder; readonly locked: Failure }

/** Closed with the scope. Fails if there is no warehouse. */
export const openReadable = Effect.fnUntraced(function* (output: Pick<OutputSettings, "folder" | "memoryMb">) {
  const { warehouse, published } = outputPaths(output.folder)
  const { memoryMb } = output
  return yield* Layer.build(Warehouse.layer(warehouse, { memoryMb, access: "read" })).pipe(
    Effect.map((tables): Readable => ({ source: "warehouse", tables })),
    Effect.catchIf(isLocked, (locked) => {
      const holder = holderOf(output.folder, locked)
      const release = join(published, snapshotName)
      if (!existsSync(release)) return Effect.succeed<Readable>({ source: "none", holder, locked })
      return Effect.map(
        Layer.build(Warehouse.layer(release, { memoryMb, access: "read", isRelease: true })),
        (tables): Readable => ({ source: "published", tables, holder })
      )
    })
  )
})

/** The program that has locked the warehouse, with the progress of a run. */
export const holderOf = (folder: string, { reason: { pid, program, isRun } }: Locked): Holder => ({
  command: program ?? "another program",
  ...(pid !== undefined && { pid }),
  ...(isRun && readRunProgress(folder, pid)),
  isRun
})

type Locked = Failure & { readonly reason: Extract<Failure["reason"], { readonly _tag: "WarehouseLocked" }> }
export const isLocked = (failure: unknown): failure is Locked =>
  failure instanceof Failure && failure.reason._tag === "WarehouseLocked"

/** What the holder does, in a sentence. */
export const holderText = (holder: Holder, now: number): string => {
  const { command, pid, isRun, startedAt, requests, planned, records } = holder
  const process = pid === undefined ? "" : ` (process ${pid})`
  if (!isRun) return `${command}${process} has the warehouse open.`
  const since = startedAt === undefined ? "" : ` for ${duration(now - Date.parse(startedAt))}`
  const estimate = planned && likelyText(planned)
  const of = estimate === undefined ? "" : ` of ${estimate}`
  const sent = requests === undefined ? "" : `: ${requests}${of} requests, ${records} records`
  return `${command}${process} has been running${since}${sent}.`
}

/** Says that the tables are those of the last release, and why. */
export const sayHolder = Effect.fnUntraced(function* (
  { source, holder }: Pick<Readable, "source" | "holder">,
  now: number
) {
  if (!holder) return
  const { say } = yield* Output
  say(holderText(holder, now))
  if (source === "published") say("The answer is from the last published release.")
})
