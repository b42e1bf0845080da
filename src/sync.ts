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
import { removeParts } from "./api/files.ts"
import type { Catalogue } from "./catalog/discover.ts"
import type { Window } from "./catalog/instants.ts"
import { type SchemaPolicies, isRefused } from "./catalog/policy.ts"
import { publishedTables, tablesOf } from "./catalog/tables.ts"
import type { Counts } from "./extract/context.ts"
import { type Ended, extract } from "./extract/extract.ts"
import { exitCodes } from "./failure.ts"
import { removeLeftovers } from "./leftovers.ts"
import { makeFollower } from "./load/follow.ts"
import { makeLoader } from "./load/load.ts"
import { makeBackfillPlan } from "./plan/backfill.ts"
import { recordCoverage } from "./plan/covered.ts"
import { type Choice, makePlan } from "./plan/plan.ts"
import { withViews } from "./publish/parts.ts"
import { publishDue, stateOf } from "./publish/due.ts"
import { publish } from "./publish/publish.ts"
import type { AccountSettings, OutputSettings } from "./settings.ts"
import { missingSegments } from "./vault/missing.ts"
import { Vault } from "./vault/vault.ts"
import {
  type Drift,
  type RunRecord,
  type RunResource,
  beginRun,
  companyOf,
  driftOf,
  endRun,
  fullSync,
  oldestFirst,
  resourcesOf
} from "./warehouse/runs.ts"
import { prepare } from "./warehouse/schema.ts"
import { versionStatements } from "./warehouse/versions.ts"
import { Warehouse } from "./warehouse/warehouse.ts"
import { refreshWide } from "./warehouse/wide.ts"

/** A location to read, with a budget and credentials of its own. */
export interface SyncAccount extends Pick<AccountSettings, "location" | "company" | "asked" | "deletionShareMax"> {
  readonly api: Api["Service"]
}

export interface SyncOptions extends Omit<Choice, "asked"> {
  /** A stretch of the past to read instead of what is due. */
  readonly stretch?: Window | undefined
  readonly catalogue: Catalogue
  readonly accounts: ReadonlyArray<SyncAccount>
  readonly output: OutputSettings
  readonly policies: SchemaPolicies
  /** Filled while pages come in. */
  readonly counts: Counts
  /** Told when the plan is made and requests begin. */
  readonly onPlan: (requests: number | undefined) => Effect.Effect<void>
}

export interface Synced {
  readonly run: RunRecord
  readonly ended: ReadonlyArray<Ended>
  readonly exitCode: number
  /** Requests sent, retries included. */
  readonly requests: number
  readonly rows: ReadonlyArray<RunResource>
  readonly drift: Drift
  /** The vault no longer holds all that the tables were made from. */
  readonly isVaultShort: boolean
  /** Segments of it that are gone, by their numbers. */
  readonly missingSegments: ReadonlyArray<number>
  /** Whether a new version was published, and if not, why. */
  readonly published: "due" | "unchanged" | "nothing read" | "not wanted"
  /** From the first request until every record was in the warehouse. */
  readonly loadedMs: number
  /** With planning and publishing. */
  readonly elapsedMs: number
}

/** Locations read side by side: each goes at its own full rate, and all go through one load. */
const locationsMax = 4

export const sync = Effect.fn("sync")(function* (options: SyncOptions) {
  const { catalogue, output, counts, stretch } = options

  yield* removeParts(join(output.folder, "files"))
  yield* removeLeftovers(output.folder)
  const missing = yield* missingSegments(join(output.folder, "vault"))
  yield* prepare(catalogue)
  // What an interrupted run left in the vault comes first: the plan asks the warehouse what is known.
  const loader = yield* makeLoader(catalogue.resources, join(output.folder, "tmp"), options.policies)
  yield* loader.load
  const freshness = yield* oldestFirst()
  const plans = yield* Effect.forEach(
    options.accounts.toSorted((one, other) => freshness(one.location) - freshness(other.location)),
    (account) => {
      const choice = { ...options, asked: account.asked }
      const plan = stretch
        ? makeBackfillPlan(catalogue, account.location, choice, stretch)
        : makePlan(catalogue, account.location, choice)
      return Effect.map(plan, (plan) => ({ ...account, ...plan }))
    }
  )
  const planned = sum(plans.map(({ requests }) => requests))
  const run = yield* beginRun(stretch ? "backfill" : options.full ? fullSync : "sync", planned)
  yield* options.onPlan(planned)

  const follower = yield* makeFollower(loader)
  const alone = plans.length === 1
  const read = Effect.fnUntraced(function* ({ api, steps, location, ...account }: (typeof plans)[number]) {
    const context = {
      ...account,
      ...follower,
      location,
      run: run.id,
      folder: output.folder,
      counts,
      cuts: new Set<number>()
    }
    const reading = extract(steps, context, companyOf(location)).pipe(Effect.provideService(Api, api))
    // One location's trouble is its own; of the only one it is the run's.
    const ended = yield* alone
      ? reading
      : reading.pipe(Effect.catchTags({ BadCredentials: closed, WrongLocation: closed }))
    if (!stretch) yield* recordCoverage(catalogue, { run: run.id, location, steps, ended })
    return ended

    function closed({ message }: { readonly message: string }) {
      const doubts = [`the location cannot be read: ${message}`]
      const end: Ended = {
        location,
        resource: "locations",
        mode: "full",
        verdict: "incomplete",
        doubts,
        requests: 0,
        why: "scope"
      }
      return Effect.succeed([end])
    }
  })
  const ended = (yield* Effect.raceFirst(
    Effect.tap(Effect.forEach(plans, read, { concurrency: locationsMax }), () => follower.loaded),
    follower.run
  )).flat()
  yield* (yield* Vault).seal
  yield* loader.load
  const loadedMs = (yield* Clock.currentTimeMillis) - run.startedAt

  const requests = plans.reduce((all, { api }) => all + api.requestsByResource.values().reduce((n, m) => n + m, 0), 0)
  const drift = yield* driftOf(run.id, (table, field) => {
    const resource = catalogue.resources.find((one) => tablesOf(one).some(({ name }) => name === table))
    return resource && isRefused(options.policies, resource, table, field) ? resource.table : undefined
  })
  const rows = yield* resourcesOf(run.id)
  // The load may find a resource wanting that was read to its end: one whose schema is frozen.
  const exitCode = exitCodeOf([...ended, ...rows])
  yield* endRun(run, outcomeOf([...rows, ...ended]), exitCode, requests)
  const { due: published } = yield* publishNow(catalogue, output, run.id, "due")
  const elapsedMs = (yield* Clock.currentTimeMillis) - run.startedAt
  const { isVaultShort } = loader
  const lost = { isVaultShort, missingSegments: missing }
  return { run, ended, exitCode, requests, rows, drift, ...lost, published, loadedMs, elapsedMs } satisfies Synced
})

/** Unknown while any of them is. */
const sum = (numbers: ReadonlyArray<number | undefined>): number | undefined =>
  numbers.reduce((all, number) => (all === undefined || number === undefined ? undefined : all + number), 0)

/**
 * Makes the published files anew from what the warehouse holds: always, or where it holds something else than the version
 * shown. Nothing is published as long as nothing was read completely.
 */
export const publishNow = Effect.fnUntraced(function* (
  catalogue: Catalogue,
  output: OutputSettings,
  run: string,
  when: "due" | "always"
) {
  const wide = yield* refreshWide(catalogue)
  const folder = join(output.folder, "published")
  if (output.formats.length === 0) return { due: "not wanted", files: [], folder } as const
  // What the load left to be written takes memory that publishing needs.
  yield* (yield* Warehouse).run("CHECKPOINT")
  const views = catalogue.resources.flatMap((resource) =>
    versionStatements(resource, { current: "main", history: "crm_history" })
  )
  const all = [...views, ...wide.flatMap((view) => view.statements("main"))]
  const due = yield* publishDue({ ...output, folder, state: yield* stateOf(all) })
  if (due === "nothing read" || (due === "unchanged" && when === "due")) return { due, files: [], folder }
  const { files } = yield* publish(
    { ...output, folder, run, schemaVersion: "1", views: all },
    withViews(publishedTables(catalogue), wide)
  )
  return { due, files, folder }
})

/** The worst verdict speaks for the run. */
const outcomeOf = (rows: ReadonlyArray<{ readonly verdict: string }>) =>
  (["incomplete", "complete with doubts"] as const).find((worst) => rows.some(({ verdict }) => verdict === worst)) ??
  "complete"

const exitCodeOf = (ended: ReadonlyArray<{ readonly verdict: string; readonly why?: Ended["why"] }>): number => {
  const unread = ended.filter(({ verdict }) => verdict === "incomplete")
  if (unread.length === 0) return 0
  if (unread.some(({ why }) => why === "later")) return exitCodes.later
  return unread.some(({ why }) => why === "scope") ? exitCodes.credentials : exitCodes.partial
}
