/** `sluice report`: writes the report, and what writes it after each run. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { stat } from "node:fs/promises"
import { resolve } from "node:path"
import type { Catalogue } from "../../catalog/discover.ts"
import { linkedPath, outputPaths, reportPath } from "../../output/paths.ts"
import { type ReportOptions, makeReport, writeReport } from "./report.ts"
import type { Flags } from "../../settings/read.ts"
import { type OutputSettings, outputSettings } from "../../settings/settings.ts"
import { loadCatalogue } from "../../command/catalogue.ts"
import { Environment } from "../../values/environment.ts"
import { failedError } from "../../console/errors.ts"
import { Output } from "../../console/streams.ts"
import { openReadable, sayHolder } from "../../command/readable.ts"
import { keptOut, storedEarlier } from "../../command/withheld.ts"
import { instant, printEither } from "../../console/result.ts"

export const reportCommand = Effect.fn("command.reportPage")(function* (
  flags: Flags & { readonly to: string | undefined; readonly json: boolean }
) {
  const { print } = yield* Output
  const output = yield* outputSettings(flags, yield* Environment)
  const catalogue = yield* loadCatalogue(output)
  const readable = yield* openReadable(output)
  if (readable.source === "none") return yield* readable.locked
  const report = yield* makeReport(yield* optionsOf(output, catalogue)).pipe(Effect.provide(readable.tables))
  const path = flags.to === undefined ? yield* reportPath(output.folder) : resolve(flags.to)
  if (path === undefined)
    return yield* failedError(
      `Nothing is published in ${output.folder} yet, so the report has no place there.`,
      "./sluice report --to report.html"
    )
  yield* writeReport(path, report)
  const shown = flags.to === undefined ? linkedPath(output.folder) : path
  const next = `open ${shown} in a browser.`
  const { state, run, asOf, text } = report
  const { source } = readable
  const data = { path: shown, bytes: Buffer.byteLength(text), source, state, run, asOf: instant(asOf) }
  const forPeople = Effect.gen(function* () {
    print(`${state}, as of ${instant(asOf)}: ${shown}`)
    yield* sayHolder(readable, yield* Clock.currentTimeMillis)
  })
  return yield* printEither("report", { exitCode: 0, next, data }, flags.json, forPeople)
}, Effect.scoped)

/** Writes the report into the current release, if there is one and the warehouse has changed since. */
export const refreshReport = Effect.fnUntraced(function* (output: OutputSettings, catalogue: Catalogue) {
  const path = yield* reportPath(output.folder)
  if (path === undefined || (yield* isNewerThan(path, outputPaths(output.folder).warehouse))) return
  const { source, tables } = yield* openReadable(output)
  // Another run has begun, and writes its own report.
  if (source !== "warehouse") return
  yield* writeReport(path, yield* makeReport(yield* optionsOf(output, catalogue)).pipe(Effect.provide(tables)))
}, Effect.scoped)

/** Whether the warehouse has not changed since the report: the same data would give the same bytes. */
const isNewerThan = (report: string, warehouse: string) =>
  Effect.promise(async () => {
    const [written, changed] = await Promise.all([report, warehouse].map((path) => stat(path).catch(() => undefined)))
    return written !== undefined && changed !== undefined && written.mtimeMs > changed.mtimeMs
  })

const optionsOf = Effect.fnUntraced(function* ({ wanted, folder, memoryMb }: OutputSettings, catalogue: Catalogue) {
  return {
    folder,
    memoryMb,
    resources: catalogue.resources,
    locations: wanted?.locations ?? [],
    withheld: { names: keptOut(catalogue), earlier: yield* storedEarlier(folder, catalogue) }
  } satisfies ReportOptions
})
