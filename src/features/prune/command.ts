/** `sluice prune`: frees the space of what no command needs any more. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Catalogue } from "../../catalog/discover.ts"
import { removeLeftovers } from "../../output/leftovers.ts"
import { removeFiles, unnamedFiles, unneededFiles } from "./files.ts"
import { pruneHistory } from "./history.ts"
import { outputPaths } from "../../output/paths.ts"
import type { Flags } from "../../settings/read.ts"
import { type CommandSettings, outputSettings } from "../../settings/settings.ts"
import { counted } from "../../values/finding.ts"
import { prepare } from "../../stores/warehouse/schema.ts"
import { queryNumber } from "../../stores/warehouse/query.ts"
import { literal } from "../../stores/warehouse/sql.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { loadCatalogue } from "../../command/catalogue.ts"
import { Environment } from "../../values/environment.ts"
import { table } from "../../console/streams.ts"
import { run } from "../../command/recorded.ts"
import { instant, shown } from "../../console/result.ts"
import type { Frame } from "../../stores/vault/frame.ts"
import { rewriteSegments } from "../../stores/vault/rewrite.ts"
import { loadedPosition } from "../../stores/warehouse/meta/vault-offset.ts"
import { compactor } from "./compact.ts"

export interface PruneFlags extends Flags {
  readonly apply: boolean
  readonly compactVault: boolean
}

export const prune = Effect.fn("command.prune")(function* (flags: PruneFlags) {
  const output = yield* outputSettings(flags, yield* Environment)
  const catalogue = yield* loadCatalogue(output)
  const { apply } = flags
  const pruning = pruned(catalogue, output, flags).pipe(
    Effect.provide(
      Warehouse.layer(outputPaths(output.folder).warehouse, { ...output, access: apply ? "write" : "read" })
    )
  )
  const { files, history, vault } = yield* apply
    ? run("prune", pruning, {
        output,
        catalogue,
        detailOf: ({ files, history, vault }) => ({
          bytes: sum(files),
          versions: history?.versions ?? 0,
          records: vault?.records ?? 0,
          exitCode: 0
        })
      })
    : pruning
  const next = apply ? "./sluice status" : "./sluice prune --apply"
  return shown("prune", { exitCode: 0, next, data: { applied: apply, files, history, vault } }, function* () {
    yield* table(
      ["MB", "what", "why"],
      files.map(({ bytes, path, why }) => [megabytes(bytes), path, why])
    )
    if (vault)
      yield `vault: ${counted(vault.records, "record")} received before ${vault.before} repeat earlier ones; ${megabytes(vault.bytesBefore)} MB ${apply ? "became" : "would become"} ${megabytes(vault.bytesAfter)} MB`
    if (history)
      yield `history: ${counted(history.versions, "version")} that ended before ${history.before}; with child tables ${counted(history.rows, "row")}`
    if (!apply) yield "Nothing was changed."
  })
})

const pruned = Effect.fnUntraced(function* (
  catalogue: Catalogue,
  output: CommandSettings,
  { apply, compactVault: compactAll }: PruneFlags
) {
  const { folder, values } = output
  const now = yield* Clock.currentTimeMillis
  if (apply) yield* removeLeftovers(folder)
  if (apply) yield* prepare(catalogue)
  const files = [...(yield* unneededFiles(folder, now)), ...(yield* unnamedFiles(folder, catalogue.resources))]
  if (apply) yield* removeFiles(folder, files)
  const historyBefore = yield* before(values.prune.history, now)
  const history =
    historyBefore === undefined ? undefined : yield* pruneHistory(catalogue, { apply, before: historyBefore })
  const vaultBefore = compactAll ? now : yield* before(values.prune.compactVaultAfter, now)
  const vault =
    vaultBefore === undefined
      ? undefined
      : yield* compactVault(outputPaths(folder).vault, catalogue, { apply, before: vaultBefore })
  return {
    files,
    ...(history && { history: { before: instant(historyBefore!), ...history } }),
    ...(vault && {
      vault: {
        before: instant(vaultBefore!),
        records: vault.records,
        segments: vault.segments.length,
        bytesBefore: vault.segments.reduce((total, { bytesBefore }) => total + bytesBefore, 0),
        bytesAfter: vault.segments.reduce((total, { bytesAfter }) => total + bytesAfter, 0)
      }
    })
  }
})

/** The time a period before now, epoch milliseconds. */
export const before = Effect.fnUntraced(function* (period: string | undefined, now: number) {
  if (period === undefined) return undefined
  return yield* queryNumber(`SELECT epoch_ms(TIMESTAMPTZ ${literal(instant(now))} - INTERVAL ${literal(period)})`)
})

const sum = (files: ReadonlyArray<{ readonly bytes: number }>): number =>
  files.reduce((total, { bytes }) => total + bytes, 0)

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1)

/**
 * Compacts the vault, and returns what that removes. `before`: only pages received before this time are changed; epoch
 * milliseconds. Segments that wait for the load are not.
 */
export const compactVault = Effect.fn("prune.compactVault")(function* (
  folder: string,
  { resources }: Catalogue,
  { apply, before }: { readonly before: number; readonly apply: boolean }
) {
  const loaded = yield* loadedPosition()
  if (loaded === undefined) return { records: 0, segments: [] }
  const options = { apply, below: loaded.segment }
  const { compact, look, removed } = compactor(resources, before)
  const unchanged = (frame: Frame) => {
    look(frame)
    return frame
  }
  yield* rewriteSegments(folder, unchanged, { ...options, apply: false })
  const segments = yield* rewriteSegments(folder, compact, options)
  return { records: removed(), segments }
})
