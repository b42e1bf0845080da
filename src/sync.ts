/**
 * The whole program. A sync goes one way, and may be stopped at any instant and run again:
 *
 *     plan      what is due, from what the warehouse knows
 *     extract   API -> vault: pages as received, durable before their cursor is used
 *     load      vault -> warehouse: rows and progress in one transaction
 *     publish   warehouse -> files that people open, swapped in whole
 *
 * A bad value is rejected and counted; a bad page stops its resource; bad credentials stop the run.
 */
import { Clock, Effect } from "effect"
import { join } from "node:path"
import { Api } from "./api/api.ts"
import type { Catalogue } from "./catalog/discover.ts"
import { publishedTables } from "./catalog/tables.ts"
import type { Counts } from "./extract/context.ts"
import { type Ended, extract } from "./extract/extract.ts"
import { exitCodes } from "./failure.ts"
import { makeFollower } from "./load/follow.ts"
import { makeLoader } from "./load/load.ts"
import { recordCoverage } from "./plan/covered.ts"
import { type Choice, type Plan, makePlan } from "./plan/plan.ts"
import { publish } from "./publish/publish.ts"
import type { OutputSettings } from "./settings.ts"
import { Vault } from "./vault/vault.ts"
import {
  type RunRecord,
  type RunResource,
  beginRun,
  companyOf,
  driftOf,
  endRun,
  resourcesOf
} from "./warehouse/runs.ts"
import { prepare } from "./warehouse/schema.ts"
import { versionStatements } from "./warehouse/versions.ts"
import { refreshWide } from "./warehouse/wide.ts"

export interface SyncOptions extends Choice {
  readonly catalogue: Catalogue
  readonly location: string
  readonly company: string | undefined
  readonly output: OutputSettings
  /** Share of a table's rows that may vanish at once. */
  readonly deletionShareMax: number
  /** Filled while pages come in. */
  readonly counts: Counts
  /** Told when the plan is made and requests begin. */
  readonly onPlan: (plan: Plan) => Effect.Effect<void>
}

export interface Synced {
  readonly run: RunRecord
  readonly ended: ReadonlyArray<Ended>
  readonly exitCode: number
  /** Requests sent, retries included. */
  readonly requests: number
  readonly rows: ReadonlyArray<RunResource>
  /** What the service sent otherwise than ever before. */
  readonly drift: ReadonlyArray<string>
  /** From the first request until every record was in the warehouse. */
  readonly loadedMs: number
  /** With planning and publishing. */
  readonly elapsedMs: number
}

export const sync = Effect.fn("sync")(function* (options: SyncOptions) {
  const { catalogue, location, company, output, counts } = options
  const { resources } = catalogue

  yield* prepare(catalogue)
  // What an interrupted run left in the vault comes first: the plan asks the warehouse what is known.
  const loader = yield* makeLoader(resources, join(output.folder, "tmp"))
  yield* loader.load
  const plan = yield* makePlan(catalogue, location, options)
  const run = yield* beginRun("sync", plan.requests)
  yield* options.onPlan(plan)

  const follower = yield* makeFollower(loader)
  const { asked, deletionShareMax } = options
  const here = { run: run.id, location, company, folder: output.folder }
  const context = { ...follower, ...here, counts, asked, deletionShareMax }
  const ended = yield* Effect.raceFirst(extract(plan.steps, context, companyOf(location)), follower.run)
  yield* (yield* Vault).seal
  yield* loader.load
  const loadedMs = (yield* Clock.currentTimeMillis) - run.startedAt

  const requests = (yield* Api).requestsByResource.values().reduce((sum, count) => sum + count, 0)
  const exitCode = exitCodeOf(ended)
  yield* recordCoverage(catalogue, { run: run.id, location, steps: plan.steps, ended })
  const rows = yield* resourcesOf(run.id)
  const drift = yield* driftOf(run.id)
  yield* endRun(run, outcomeOf(rows), exitCode, requests)
  yield* publishNow(catalogue, output, run.id)
  const elapsedMs = (yield* Clock.currentTimeMillis) - run.startedAt
  return { run, ended, exitCode, requests, rows, drift, loadedMs, elapsedMs } satisfies Synced
})

/** Makes the published files anew from what the warehouse holds. */
export const publishNow = Effect.fnUntraced(function* (catalogue: Catalogue, output: OutputSettings, run: string) {
  yield* refreshWide(catalogue)
  const folder = join(output.folder, "published")
  if (output.formats.length === 0) return { files: [], folder }
  const views = catalogue.resources.flatMap((resource) =>
    versionStatements(resource, { current: "main", history: "crm_history" })
  )
  return yield* publish({ ...output, folder, run, schemaVersion: "1", views }, publishedTables(catalogue))
})

/** The worst verdict speaks for the run. */
const outcomeOf = (rows: ReadonlyArray<RunResource>) =>
  (["incomplete", "complete with doubts"] as const).find((worst) => rows.some(({ verdict }) => verdict === worst)) ??
  "complete"

const exitCodeOf = (ended: ReadonlyArray<Ended>): number => {
  const unread = ended.filter(({ verdict }) => verdict === "incomplete")
  if (unread.length === 0) return 0
  if (unread.some(({ why }) => why === "later")) return exitCodes.later
  return unread.some(({ why }) => why === "scope") ? exitCodes.credentials : exitCodes.partial
}
