/** An erasure, of a person or of what is too old: its plan, or the erasure itself and its result. */
import { fileCounts } from "./file-counts.ts"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { basename } from "node:path"
import type { Catalogue } from "../../../catalog/discover.ts"
import { completeErasure, eraseStored } from "../erasure/erase.ts"
import { heldIn, holdsOn } from "../erasure/holds.ts"
import { type ErasureJob, readJob, recordsIn, storeJob, unjudgedText } from "../erasure/job.ts"
import { isCertain } from "../erasure/search.ts"
import { suppressionState } from "../erasure/suppression.ts"
import { exitCodes } from "../../../values/failure.ts"
import { checksumOf, onDisk } from "../../../output/files.ts"
import { givenTo } from "../../../stores/ledger/given.ts"
import { type SchemaSettings, schemaPolicies } from "../../../settings/schema-policy.ts"
import type { OutputSettings } from "../../../settings/settings.ts"
import { resolveTargets } from "../../../settings/targets.ts"
import { counted } from "../../../values/finding.ts"
import { outputLayer } from "../../../command/output-layer.ts"
import { Output, table } from "../../../console/streams.ts"
import { run } from "../../../command/recorded.ts"
import { type Line, instant, shown, warning } from "../../../console/result.ts"
import { refuseIfHeld } from "./removing.ts"

/** The schema of the result in docs/schemas. */
type Named = "subject-erase" | "retention"

const foundMax = 50

const shownPlan = (schema: Named, job: ErasureJob, next: string) => {
  const { kept, removed } = recordsIn(job.identifiers)
  const data = {
    applied: false,
    rows: job.rows,
    records: removed.length,
    rowsKept: job.kept,
    recordsKept: kept.length,
    unjudged: job.unjudged ?? [],
    ...fileCounts(job.files.length)
  }
  return shown(schema, { exitCode: 0, next, data }, function* () {
    yield* table(["table", "rows"], Object.entries(job.rows))
    yield `${counted(removed.length, "record")} and ${counted(job.files.length, "file")} would be erased. Nothing was changed.`
    if (kept.length > 0) yield `${counted(kept.length, "financial record")} would be kept without the person.`
    for (const one of data.unjudged) yield warning(unjudgedText(one))
  })
}

/** With `apply`, an erasure that was stopped continues before anything else. */
export const planOrErase = Effect.fnUntraced(function* <E, R>(
  schema: Named,
  flags: { readonly apply: boolean },
  next: string,
  { catalogue, output }: { readonly catalogue: Catalogue; readonly output: OutputSettings & SchemaSettings },
  planned: Effect.Effect<ErasureJob, E, R>
) {
  const { say } = yield* Output
  const { folder } = output
  const pending = yield* readJob(folder)
  if (pending) say(`The erasure of ${pending.startedAt} was stopped${flags.apply ? ", and continues" : ""}.`, "warn")
  const job = pending ?? (yield* planned)
  yield* refuseIfHeld(holdsOn(yield* heldIn(folder), job.identifiers), "what would be erased")
  return flags.apply ? yield* erase(schema, catalogue, output, job) : shownPlan(schema, job, next)
})

const erase = Effect.fnUntraced(function* (
  schema: Named,
  catalogue: Catalogue,
  output: OutputSettings & SchemaSettings,
  job: ErasureJob
) {
  const policies = yield* schemaPolicies(output, catalogue)
  const targets = yield* resolveTargets(output, catalogue)
  yield* storeJob(output.folder, job)
  const erasing = Effect.gen(function* () {
    const stored = yield* eraseStored(catalogue, output, policies, job).pipe(Effect.provide(outputLayer(output)))
    const now = instant(yield* Clock.currentTimeMillis)
    const given = yield* givenTo(output.folder)
    const completed = yield* completeErasure(catalogue, output, job, stored, { now, given, targets })
    const { sha256 } = yield* onDisk(completed.path, "read", () => checksumOf(completed.path))
    return { ...completed, sha256, suppressed: { ...(yield* suppressionState(output.folder)) } }
  })
  const { certificate, path } = yield* run(schema === "retention" ? "retention" : "erase", erasing, {
    output,
    catalogue,
    detailOf: ({ certificate: { records, recordsKept, isErased }, path, sha256, suppressed }) => ({
      certificate: basename(path),
      sha256,
      records,
      recordsKept,
      isErased,
      suppressed
    })
  })
  const { isErased, records, recordsKept, search, segments } = certificate
  const exitCode = isErased ? 0 : exitCodes.partial
  const next = isErased ? "./sluice verify" : `read ${path}, which lists the places`
  const data = {
    applied: true,
    rows: certificate.rows,
    records,
    rowsKept: certificate.rowsKept,
    recordsKept,
    unjudged: certificate.unjudged,
    segments: segments.length,
    ...fileCounts(certificate.files),
    certificate: path,
    isErased,
    found: search.found,
    unsearched: search.unsearched,
    places: certificate.places
  }
  return shown(schema, { exitCode, next, data }, () => erasedLines(certificate, path))
})

export function* erasedLines(certificate: Certificate, path: string): Iterable<Line> {
  const { earlierExports, places, records, recordsKept, search, unjudged } = certificate
  yield `${counted(records, "record")} erased; ${counted(search.files, "file")} searched. Certificate: ${path}`
  if (recordsKept > 0) yield `${counted(recordsKept, "financial record")} kept without the person.`
  for (const one of unjudged) yield warning(unjudgedText(one))
  for (const { form, label, place } of search.found.slice(0, foundMax))
    yield warning(`${place} contains the ${label.replace(/ \d+$/, "")} (${form}).`)
  for (const file of search.unsearched)
    yield warning(
      `${file} was not searched: it is an archive, or cannot be opened. Remove it if it may contain the person.`
    )
  for (const { folder, name, state } of places)
    if (state !== "cleaned") yield warning(`${name}, ${folder}: ${placeSentences[state]}.`)
  if (search.found.some(isCertain)) yield warning("The person is still named in what belongs to others; see above.")
  if (earlierExports.length > 0)
    yield warning(
      `Exports made earlier may contain what was erased: ${earlierExports.map(({ at, name }) => `${name} of ${at}`).join(", ")}.`
    )
}

type Certificate = Effect.Success<ReturnType<typeof completeErasure>>["certificate"]

const placeSentences = {
  left: "it still has what was published there; add it to the settings again, or remove the folder",
  removed: "there is nothing any more; a copy elsewhere is out of reach",
  "out of reach": "it could not be searched from here"
}
