/** Runs every check that needs no request: the vault, the tables, the published files, and files that rows refer to. */
import { Effect } from "effect"
import type { Catalogue } from "../../catalog/discover.ts"
import { backfillOf, childLabelOf, childRequestOf } from "../../catalog/resource.ts"
import type { Failure } from "../../values/failure.ts"
import { diskUse } from "../../output/disk.ts"
import { duration, megabytes } from "../../values/text.ts"
import { outputPaths, warehouseName } from "../../output/paths.ts"
import { workOf } from "../../destinations/destinations.ts"
import type { OutputSettings } from "../../settings/settings.ts"
import { releasesOfTarget } from "../../settings/targets.ts"
import { restoredIn } from "../../stores/ledger/restored.ts"
import type { Position } from "../../stores/vault/position.ts"
import type { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { readTables, checkRejects, checkStatuses, checkTimes } from "./state.ts"
import { checkFormats, checkWarehouseContent } from "./contents.ts"
import { checkFiles } from "./files.ts"
import { undefinedTables } from "../../stores/warehouse/columns.ts"
import { loadedLocations, loadedRuns } from "../../stores/warehouse/meta/run-resources.ts"
import { loadedPosition } from "../../stores/warehouse/meta/vault-offset.ts"
import {
  type Checked,
  type Looked,
  type Part,
  counted,
  failureText,
  isWrong,
  note,
  wrong
} from "../../values/finding.ts"
import { checkHistory } from "./history.ts"
import { type Known, knownTables } from "./existing-tables.ts"
import { checkPublished } from "../../destinations/folder/compare.ts"
import { type ReplayOptions, checkReplay } from "./replay.ts"
import { checkKeys, checkParents, checkReferences } from "./rows.ts"
import { deniedText } from "../../output/denied.ts"
import { checkVault } from "./vault.ts"

/** Calls `onCheck` before each check, as some take minutes on a large account. */
export const verify = Effect.fn("verify")(function* (
  catalogue: Catalogue,
  { folder, formats, memoryMb, publishing }: Pick<OutputSettings, "folder" | "formats" | "memoryMb" | "publishing">,
  replaying: Pick<ReplayOptions, "all" | "replay">,
  onCheck: (check: string) => Effect.Effect<void>
): Effect.fn.Return<ReadonlyArray<Checked>, Failure, Warehouse> {
  const known = yield* knownTables(catalogue)
  const loaded = yield* loadedPosition()
  yield* onCheck("the vault")
  const expected = yield* expectedOf(catalogue, loaded)
  const vault = yield* finished("vault", "vault", checkVault(outputPaths(folder).vault, expected))
  yield* onCheck("the tables")
  const read = yield* Effect.cached(readTables(known))
  const tables = yield* checkTables(known, catalogue, vault, read)
  yield* onCheck(yield* replayText(known, replaying.all, folder))
  const reason =
    loaded === undefined
      ? "nothing is loaded"
      : isWrong(vault)
        ? `the vault ${vault.part === "rights" ? "may not be read" : "has errors"}`
        : entriesWait(vault)
          ? "entries of the vault wait for the next sync"
          : undefined
  const { counts } = yield* Effect.orElseSucceed(read, () => ({ counts: undefined }))
  const replayed = yield* finished(
    "warehouse",
    "replay",
    loaded === undefined || reason !== undefined
      ? Effect.succeed({ looked: `nothing, because ${reason}`, findings: [] })
      : checkReplay(known, { ...replaying, folder, loaded, counts })
  )
  yield* onCheck("published files")
  const publishedFolder = outputPaths(folder).published
  const release = yield* Effect.cached(checkPublished(publishedFolder))
  const published = yield* finished("published", "published", release)
  const restored = Effect.map(restoredIn(folder), (one): Looked => ({
    looked: "the records of the ledger against the tables",
    findings: one === undefined ? [] : [(one.level === "wrong" ? wrong : note)(warehouseName, one.text)]
  }))
  const { manifest } = yield* Effect.orElseSucceed(release, () => ({ manifest: undefined }))
  const broken = new Set(published.findings.filter(({ level }) => level === "wrong").map(({ where }) => where))
  yield* onCheck("the tables against the published files")
  const content = yield* Effect.cached(checkWarehouseContent(known, manifest, formats.length > 0))
  const { equal } = yield* Effect.orElseSucceed(content, () => ({ equal: new Map<string, string>() }))
  const compared = [
    yield* finished("warehouse", "content", content),
    published,
    yield* finished(
      "published",
      "formats",
      checkFormats(known, publishedFolder, manifest, { wanted: formats, broken, equal, catalogue })
    )
  ]
  for (const to of publishing?.targets ?? []) {
    const releases = releasesOfTarget(to, { folder, formats })
    yield* onCheck(`the target ${to.name}`)
    const { checkOf, compare, part } = yield* workOf(to)
    const found = compare(to, { catalogue, releases, output: { folder, memoryMb } })
    compared.push(yield* finished(part, checkOf(to.name), found))
  }
  yield* onCheck("files that rows refer to")
  return [
    vault,
    ...tables,
    yield* finished("warehouse", "erasures", restored),
    replayed,
    ...compared,
    yield* finished("files", "files", checkFiles(known, folder, replaying.all))
  ]
})

const checkTables = Effect.fnUntraced(function* (
  known: Known,
  catalogue: Catalogue,
  vault: Checked,
  read: ReturnType<typeof readTables>
) {
  const times = Effect.flatMap(read, ({ counts }) => checkTimes(known, counts))
  const keys = Effect.flatMap(read, ({ counts }) => checkKeys(known, counts))
  const blocks = Effect.map(read, (one) => one.blocks)
  return [
    yield* finished("warehouse", "blocks", blocks),
    yield* finished("warehouse", "keys", keys),
    yield* finished("warehouse", "parents", checkParents(known)),
    yield* finished("warehouse", "references", checkReferences(known)),
    yield* finished("warehouse", "times", times),
    yield* finished("warehouse", "history", checkHistory(known)),
    yield* finished("warehouse", "rejects", checkRejects(catalogue, entriesWait(vault))),
    yield* finished("warehouse", "statuses", checkStatuses())
  ]
})

/** What one record takes to be replayed, in milliseconds, on two cores of 2.3 GHz. */
const msARecord = 0.2

/** What is replayed; of everything, what that takes. */
const replayText = Effect.fnUntraced(function* ({ tables }: Known, all: boolean, folder: string) {
  if (!all) return "a sample of the records of the vault against their rows"
  const records = tables.reduce((sum, { parent, size, table }) => sum + (table === parent ? size : 0), 0)
  const used = yield* diskUse(folder)
  const bytes = used.find(({ part }) => part === "warehouse")?.bytes ?? 0
  return `about ${counted(records, "record")} of the vault against their rows, which takes about ${duration(records * msARecord)} and ${megabytes(bytes)} of disk meanwhile`
})

const expectedOf = Effect.fnUntraced(function* (catalogue: Catalogue, loaded: Position | undefined) {
  if (loaded === undefined) return undefined
  const { resources } = catalogue
  const labels = resources.flatMap((resource) => [
    resource.table,
    backfillOf(resource.table),
    ...(childRequestOf(resource) ? [childLabelOf(resource)] : [])
  ])
  return {
    loaded,
    runs: yield* loadedRuns(),
    resources: new Set(labels),
    undefinedTables: yield* undefinedTables(catalogue),
    locations: new Set(yield* loadedLocations())
  }
})

/** If the warehouse cannot be opened, only the vault is checked: it shows whether a rebuild is possible. */
export const verifyVault = Effect.fn("verify.vaultAlone")(function* (folder: string, failure: Failure) {
  const vault = yield* finished("vault", "vault", checkVault(outputPaths(folder).vault, undefined))
  return [
    vault,
    { part: "warehouse", check: "tables", looked: "nothing", findings: [wrong(warehouseName, failureText(failure))] }
  ] satisfies ReadonlyArray<Checked>
})

/** A check that fails is a finding, and the other checks run nevertheless. */
export const finished = <R>(part: Part, check: string, effect: Effect.Effect<Looked, Failure, R>) =>
  Effect.match(effect, {
    onFailure: (failure) => unfinished(part, check, failure),
    onSuccess: ({ findings, looked }): Checked => ({ part, check, looked, findings })
  })

const unfinished = (part: Part, check: string, failure: Failure): Checked => {
  const { reason } = failure
  const isDenied = reason._tag === "FileFailed" && deniedText.test(reason.detail)
  return {
    part: isDenied ? "rights" : part,
    check,
    looked: isDenied ? "not compared" : "not finished",
    findings: [wrong(part === "warehouse" ? warehouseName : part, failureText(failure))]
  }
}

const entriesWait = ({ findings }: Checked): boolean =>
  findings.some(({ level, where }) => level === "note" && where === "position")

/** The command that repairs the errors; first the part from which the others are made. */
export const nextStep = (checked: ReadonlyArray<Checked>, disagreeing: ReadonlyArray<string>): string => {
  const parts = new Set<Part>(checked.filter(isWrong).map(({ part }) => part))
  if (parts.has("vault"))
    return parts.has("warehouse")
      ? "restore the vault from a backup, then run ./sluice rebuild; without a backup, move the whole folder away, and ./sluice sync reads everything again"
      : "restore the segments above from a backup of the vault; until then the tables are the better copy, so do not run ./sluice rebuild"
  if (parts.has("warehouse")) return "./sluice rebuild"
  // A sync does not touch a row whose record is unchanged: it repairs a missed change, but not an altered row.
  if (parts.has("service"))
    return `./sluice sync --again all --only ${disagreeing.join(",")}; if ./sluice verify then finds the same, ./sluice rebuild`
  if (parts.has("files")) return "./sluice sync --again all --only recordings,files"
  if (parts.has("published") || parts.has("lake") || parts.has("database")) return "./sluice publish --full"
  if (parts.has("rights")) return "give this user the right to read what is named above, then run ./sluice verify"
  return checked.some(entriesWait) ? "./sluice sync" : "./sluice status"
}
