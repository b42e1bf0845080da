/** `sluice location remove`: the plan of the removal of a location, or the removal itself. */
import { fileCounts } from "./file-counts.ts"
import { openToRemove, refuseIfHeld } from "./removing.ts"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { rm } from "node:fs/promises"
import { relative } from "node:path"
import { heldIn } from "../erasure/holds.ts"
import { exitCodes } from "../../../values/failure.ts"
import { onDisk } from "../../../output/files.ts"
import { type RemovalPlan, holdsOnLocation, planRemoval, releasesIn } from "../location/plan.ts"
import { completeRemoval, pendingRemoval, removeStored } from "../location/remove.ts"
import { outputPaths } from "../../../output/paths.ts"
import type { Flags } from "../../../settings/read.ts"
import { type OutputSettings, outputSettings } from "../../../settings/settings.ts"
import type { SchemaSettings } from "../../../settings/schema-policy.ts"
import { megabytes } from "../../../values/text.ts"
import { counted } from "../../../values/finding.ts"
import type { Catalogue } from "../../../catalog/discover.ts"
import { loadCatalogue } from "../../../command/catalogue.ts"
import { heldLocations, markOf } from "../../../command/demo-folder.ts"
import { Environment } from "../../../values/environment.ts"
import { givenTo } from "../../../stores/ledger/given.ts"
import { configError, failedError, nothingSynced, usageError } from "../../../console/errors.ts"
import { modelText } from "../../../console/findings.ts"
import { Output, table } from "../../../console/streams.ts"
import { outputLayer } from "../../../command/output-layer.ts"
import { definitionsOf } from "../../../command/prologue.ts"
import { run } from "../../../command/recorded.ts"
import { workOf } from "../../../destinations/destinations.ts"
import { shown, warning } from "../../../console/result.ts"

export const locationRemove = Effect.fn("command.locationRemove")(function* (
  flags: Flags & { readonly id: string; readonly apply: boolean }
) {
  const { say } = yield* Output
  const { id } = flags
  const output = yield* outputSettings(flags, yield* Environment)
  const { folder } = output
  if (output.wanted.named.has(id))
    return yield* configError(
      `The settings name the location ${id}, so the next sync would read it again. Nothing was changed.`,
      `remove it from the settings (./sluice config show names their places), then ./sluice location remove ${id}`
    )
  const pending = yield* pendingRemoval(folder)
  if (pending && pending.location !== id)
    return yield* failedError(
      `The removal of the location ${pending.location} was stopped. Nothing was changed.`,
      `./sluice location remove ${pending.location} --apply`
    )
  if (pending) say(`The removal of ${id} was stopped${flags.apply ? ", and continues" : ""}.`, "warn")
  const job = pending ?? (yield* planned(id, output, yield* loadCatalogue(output)))
  const places = yield* placesOf(output, job)
  const data = { location: id, rows: job.rows, vault: job.vault, ...fileCounts(job.files.length), places }
  if (!flags.apply) {
    const next = `./sluice location remove ${id} --apply`
    return shown("location-remove", { exitCode: 0, next, data: { applied: false, ...data } }, () => [
      ...table(["table", "rows"], Object.entries(job.rows)),
      `vault: ${counted(job.vault.entries, "response")}, ${megabytes(job.vault.bytes)}; ${counted(job.files.length, "file")}`,
      ...places.map((place) => `${place.path}: ${place.what}`),
      "Nothing was changed."
    ])
  }
  const { found, problems } = yield* removed(output, job)
  const exitCode = found.length > 0 ? exitCodes.partial : 0
  const next = found.length > 0 ? `./sluice location remove ${id} --apply` : "./sluice verify"
  const rows = Object.values(job.rows).reduce((all, count) => all + count, 0)
  return shown("location-remove", { exitCode, next, data: { applied: true, ...data, found } }, () => [
    `${id}: ${counted(rows, "row")}, ${counted(job.vault.entries, "response")} and ${counted(job.files.length, "file")} ${found.length > 0 ? "were to be removed" : "removed; the vault, the tables and the release have nothing of it"}.`,
    ...found.map((place) => warning(`The location is still in ${place}.`)),
    ...places.filter(({ isKept }) => isKept).map(({ path, what }) => warning(`${path}: ${what}`)),
    ...problems.map((one) => warning(modelText(one)))
  ])
})

/** Reads what the folder holds. Holds come first: nothing is removed then. */
const planned = Effect.fnUntraced(function* (id: string, output: OutputSettings, catalogue: Catalogue) {
  const { vault, warehouse } = outputPaths(output.folder)
  if (!existsSync(warehouse) && !existsSync(vault)) return yield* nothingSynced(output.folder)
  const tables = yield* openToRemove(output)
  return yield* Effect.gen(function* () {
    yield* refuseIfHeld(yield* holdsOnLocation(id, yield* heldIn(output.folder)), `records of the location ${id}`)
    const plan = yield* planRemoval(id, output, catalogue.resources)
    if (Object.keys(plan.rows).length > 0 || plan.vault.entries > 0) return plan
    const mark = yield* markOf(output.folder)
    if (mark !== undefined) return plan
    const others = [...(yield* heldLocations(output.folder))].filter((one) => one !== id)
    return yield* usageError(
      `${output.folder} has nothing of the location ${id}. It has ${others.join(", ") || "no location"}.`,
      "./sluice status"
    )
  }).pipe(Effect.provide(tables))
}, Effect.scoped)

/** Where else the rows are, apart from the warehouse and the vault. */
const placesOf = Effect.fnUntraced(function* (output: OutputSettings, { files }: RemovalPlan) {
  const places: Array<{ readonly path: string; readonly what: string; readonly isKept: boolean }> = []
  const { published } = outputPaths(output.folder)
  for (const target of [published, ...(output.publishing?.targets ?? []).map((one) => one.folder)]) {
    const releases = (yield* releasesIn(target)).length
    if (releases > 0)
      places.push({
        path: target,
        what: `replaced by a release without it; ${counted(releases, "release")} removed`,
        isKept: false
      })
  }
  for (const to of output.publishing?.targets ?? []) {
    const { keeps } = yield* workOf(to)
    if (keeps !== undefined) places.push({ path: to.destination.place, what: keeps, isKept: true })
  }
  if (files.length > 0)
    places.push({
      path: relative(output.folder, outputPaths(output.folder).files),
      what: `${counted(files.length, "file")} removed`,
      isKept: false
    })
  for (const { at, name } of (yield* givenTo(output.folder)).exports)
    places.push({ path: name, what: `an export of ${at}, which sluice cannot reach`, isKept: true })
  return places
})

const removed = Effect.fnUntraced(function* (output: OutputSettings & SchemaSettings, job: RemovalPlan) {
  const { catalogue, policies, targets } = yield* definitionsOf(output)
  return yield* removeStored(catalogue, output, policies, job).pipe(
    Effect.provide(outputLayer(output)),
    Effect.andThen(completeRemoval(catalogue, output, targets, job)),
    Effect.tap(() => removeMark(output.folder, job.location)),
    (work) =>
      run("remove", work, {
        output,
        catalogue,
        detailOf: ({ found }) => ({
          location: job.location,
          rows: Object.values(job.rows).reduce((all, count) => all + count, 0),
          responses: job.vault.entries,
          files: job.files.length,
          exitCode: found.length > 0 ? exitCodes.partial : 0
        })
      })
  )
})

/** The folder is that of an account from then on, and syncs may write there. */
const removeMark = Effect.fnUntraced(function* (folder: string, location: string) {
  const { demo } = outputPaths(folder)
  const mark = yield* markOf(folder)
  if (mark?.locations.every((one) => one === location)) yield* onDisk(demo, "removed", () => rm(demo))
})
