/** Every check that needs no request: the vault, the tables, the published files, the files rows tell of. */
import { Effect } from "effect"
import type { Catalogue } from "../catalog/discover.ts"
import { backfillOf, childRequestOf } from "../catalog/resource.ts"
import type { Failure } from "../failure.ts"
import { outputPaths, warehouseName } from "../settings/paths.ts"
import type { OutputSettings } from "../settings/settings.ts"
import type { Position } from "../vault/position.ts"
import type { Warehouse } from "../warehouse/warehouse.ts"
import { checkBlocks } from "./checksum-scan.ts"
import { checkFormats, checkWarehouseContent } from "./contents.ts"
import { checkFiles } from "./files.ts"
import { loadedLocations, loadedRuns } from "../warehouse/meta/run-resources.ts"
import { loadedPosition } from "../warehouse/meta/vault-offset.ts"
import { type Checked, type Part, isWrong, wrong, failureText } from "./finding.ts"
import { checkHistory } from "./history.ts"
import { knownTables } from "./existing-tables.ts"
import { checkPublished } from "./published.ts"
import { type ReplayOptions, checkReplay } from "./replay.ts"
import { checkKeys, checkParents, checkReferences } from "./rows.ts"
import { checkRejects, checkTimes } from "./state.ts"
import { checkVault } from "./vault.ts"

/** `onCheck` is told of each before it begins: some take minutes on a large account. */
export const verify = Effect.fn("verify")(function* (
  catalogue: Catalogue,
  { folder, formats }: Pick<OutputSettings, "folder" | "formats">,
  replaying: Pick<ReplayOptions, "all" | "replay">,
  onCheck: (check: string) => Effect.Effect<void>
): Effect.fn.Return<ReadonlyArray<Checked>, Failure, Warehouse> {
  const known = yield* knownTables(catalogue)
  const loaded = yield* loadedPosition()
  yield* onCheck("the vault")
  const vault = yield* whole(
    "vault",
    "vault",
    checkVault(outputPaths(folder).vault, yield* expectedOf(catalogue, loaded))
  )
  yield* onCheck("the tables")
  const tables = [
    yield* whole("warehouse", "blocks", checkBlocks()),
    yield* whole("warehouse", "keys", checkKeys(known)),
    yield* whole("warehouse", "parents", checkParents(known)),
    yield* whole("warehouse", "references", checkReferences(known)),
    yield* whole("warehouse", "times", checkTimes(known)),
    yield* whole("warehouse", "history", checkHistory(known)),
    yield* whole("warehouse", "rejects", checkRejects(catalogue, entriesWait(vault)))
  ]
  yield* onCheck("published and other files")
  yield* onCheck("records of the vault against their rows")
  const why =
    loaded === undefined
      ? "nothing is loaded"
      : isWrong(vault)
        ? "the vault is not whole"
        : entriesWait(vault)
          ? "entries of the vault wait for the next sync"
          : undefined
  const replayed: Checked =
    loaded === undefined || why !== undefined
      ? { part: "warehouse", check: "replay", looked: `nothing: ${why}`, findings: [] }
      : yield* whole("warehouse", "replay", checkReplay(known, { ...replaying, folder, loaded }))
  const shown = outputPaths(folder).published
  const { checked: published, manifest } = yield* checkPublished(shown).pipe(
    Effect.catch((failure) =>
      Effect.succeed({ checked: unfinished("published", "published", failure), manifest: undefined })
    )
  )
  const broken = new Set(published.findings.filter(({ level }) => level === "wrong").map(({ where }) => where))
  yield* onCheck("the tables against the published files")
  return [
    vault,
    ...tables,
    replayed,
    yield* whole("warehouse", "content", checkWarehouseContent(known, manifest)),
    published,
    yield* whole("published", "formats", checkFormats(known, shown, manifest, { wanted: formats, broken })),
    yield* whole("files", "files", checkFiles(known, folder))
  ]
})

const expectedOf = Effect.fnUntraced(function* ({ resources }: Catalogue, loaded: Position | undefined) {
  if (loaded === undefined) return undefined
  const labels = resources.flatMap((resource) => [
    resource.table,
    backfillOf(resource.table),
    ...(childRequestOf(resource) ? [childRequestOf(resource)!.label] : [])
  ])
  return {
    loaded,
    runs: yield* loadedRuns(),
    resources: new Set(labels),
    locations: new Set(yield* loadedLocations())
  }
})

/** What can be said where the warehouse does not open: whether the vault can make it again. */
export const verifyVault = Effect.fn("verify.vaultAlone")(function* (
  folder: string,
  failure: Failure
): Effect.fn.Return<ReadonlyArray<Checked>, Failure> {
  const vault = yield* whole("vault", "vault", checkVault(outputPaths(folder).vault, undefined))
  return [
    vault,
    { part: "warehouse", check: "tables", looked: "nothing", findings: [wrong(warehouseName, failureText(failure))] }
  ]
})

/** A check that cannot go to its end is a finding, and the others are made all the same. */
const whole = <R>(
  part: Part,
  check: string,
  effect: Effect.Effect<Checked, Failure, R>
): Effect.Effect<Checked, never, R> =>
  Effect.catch(effect, (failure) => Effect.succeed(unfinished(part, check, failure)))

const unfinished = (part: Part, check: string, failure: Failure): Checked => ({
  part,
  check,
  looked: "not to the end",
  findings: [wrong(part === "warehouse" ? warehouseName : part, failureText(failure))]
})

const entriesWait = ({ findings }: Checked): boolean =>
  findings.some(({ level, where }) => level === "note" && where === "position")

/** The act that mends what is wrong, the one first that the others build on. */
export const nextStep = (checked: ReadonlyArray<Checked>, disagreeing: ReadonlyArray<string>): string => {
  const parts = new Set<Part>(checked.filter(isWrong).map(({ part }) => part))
  if (parts.has("vault"))
    return parts.has("warehouse")
      ? "put the vault back from a backup, then ./sluice rebuild; without a backup, move the whole folder away and ./sluice sync reads everything again"
      : "put what is named back from a backup of the vault; until then the tables are the better copy, so do not run ./sluice rebuild"
  if (parts.has("warehouse")) return "./sluice rebuild"
  // A reading leaves a row alone whose record is as it was: it mends a missed change, and not a row that was altered.
  if (parts.has("service"))
    return `./sluice sync --full --only ${disagreeing.join(",")}; where ./sluice verify then finds the same, ./sluice rebuild`
  if (parts.has("files")) return "./sluice sync --full --only recordings"
  if (parts.has("published")) return "./sluice publish"
  return checked.some(entriesWait) ? "./sluice sync" : "./sluice status"
}
