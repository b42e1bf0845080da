/**
 * Decides which rows are deleted. No other module does: the load only carries out what is recorded here.
 *
 * A row is marked deleted only if
 *
 * 1. the service answers a request for that very record with not found, and nothing read in the run still names it; or the
 *    record's parent was found deleted; or, where the service cannot return a record alone, a second complete reading
 *    agrees; and
 * 2. the run removes no more than `deletions.max_share` of the table, unless --accept-deletions was given. Where only a
 *    second reading agrees, what is deleted with the row counts in the share of its own table; and
 * 3. the row is counted in `meta.run_resources` and shown with the run.
 *
 * An error, a missing list and a 404 of a whole route are never evidence. A record that the service itself flags as deleted
 * needs no decision, because the flag is one of its values.
 */
import { Clock, Effect } from "effect"
import { Api } from "../api/api.ts"
import type { ApiError } from "../api/errors.ts"
import { failureIn, singleRecord } from "../../catalog/answer.ts"
import { requestForRow } from "../../catalog/get-one.ts"
import { at } from "../../catalog/json.ts"
import { type Resource, childLabelOf } from "../../catalog/resource.ts"
import type { Failure } from "../../values/failure.ts"
import type { SingleReason } from "../../values/reason.ts"
import { Vault } from "../../stores/vault/vault.ts"
import {
  type AbsentRow,
  type Partitions,
  missingChildren,
  missingRows,
  otherRows,
  unnamedRows,
  deletedShares
} from "../../stores/warehouse/absent-rows.ts"
import type { Row, Warehouse } from "../../stores/warehouse/warehouse.ts"
import type { Answer, RunContext } from "./run-context.ts"

type Decides<A> = Effect.Effect<A, ApiError | Failure, Api | Vault | Warehouse>

/** Reads again what did not return the rows; returns the keys of those that the second reading does not return either. */
type ReadAgain = (rows: ReadonlyArray<AbsentRow>) => Decides<ReadonlySet<string>>

/** Call this after a complete reading of a list that began at `begunAt`. Records the deletions and returns the warnings. */
export const decideMissingRows = Effect.fn("extract.decideMissingRows")(function* (
  /** The resource, and those whose records are embedded in its pages. */
  resources: ReadonlyArray<Resource>,
  begunAt: number,
  context: RunContext,
  /** Reads the list again; returns whether the reading is complete. */
  readAgain: Decides<boolean>,
  /** If only some partitions of the tables were read: these. */
  partitions?: Partitions
) {
  yield* context.loaded
  // The tables share the pages of one list, so one second reading serves all of them.
  const again = yield* Effect.cached(readAgain)
  const warnings = yield* Effect.forEach(resources, (resource) =>
    Effect.gen(function* () {
      if (context.known.hasSeenAll(resource.table, context.location)) return []
      const rows = yield* missingRows(resource, context, begunAt, partitions)
      return yield* decide(resource, rows, context, () =>
        Effect.gen(function* () {
          if (!(yield* again)) return new Set<string>()
          yield* context.loaded
          return new Set((yield* missingRows(resource, context, begunAt, partitions)).map(({ key }) => key))
        })
      )
    })
  )
  return warnings.flat()
})

/** Call this after the children of all due parents have been read. Records the deletions and returns the warnings. */
export const decideMissingChildren = Effect.fn("extract.decideMissingChildren")(function* (
  resource: Resource,
  context: RunContext,
  /** Reads the children of these parents again. */
  readAgain: (parents: ReadonlyArray<string>) => Decides<void>
) {
  yield* context.loaded
  const { known, location } = context
  const { table: parent, ids } = resource.childOf!
  // A parent that was read again may no longer name a record.
  const isReadAgain = ids !== undefined && context.readInFull.has(parent)
  const unnamed =
    !isReadAgain && known.hasNoDeleted(parent, location) ? [] : yield* unnamedRows(resource, location, isReadAgain)
  const warnings = yield* decide(resource, unnamed, context, () => Effect.succeed(new Set<string>()))
  if (unnamed.length > 0) yield* context.loaded
  if (!known.hasMissing(location, childLabelOf(resource))) return warnings
  const missing = yield* missingChildren(resource, context.location)
  const others = yield* decide(resource, missing, context, (rows) =>
    Effect.gen(function* () {
      const agreed = new Set(missing.filter(({ isAgreed }) => isAgreed).map(({ key }) => key))
      const { column } = resource.childOf!
      const parents = new Set(rows.filter(({ key }) => !agreed.has(key)).map(({ row }) => String(row[column])))
      yield* readAgain([...parents])
      yield* context.loaded
      const still = yield* missingChildren(resource, context.location)
      return new Set(still.filter(({ isAgreed }) => isAgreed).map(({ key }) => key))
    })
  )
  return [...warnings, ...others]
})

/**
 * Records that do not exist, as the service answered for each. It may answer so for every record, so this counts only if it
 * returns another record by the same route. Returns whether it does, and the warnings.
 */
export const decideNotFound = Effect.fn("extract.decideNotFound")(function* (
  resource: Resource,
  keys: ReadonlyArray<string>,
  context: RunContext,
  /** Whether the route has returned a record in this run. */
  returnsRecords: boolean,
  /** Records with the same answer that something read in this run names: they are not deleted. */
  named: ReadonlyArray<string> = []
): Effect.fn.Return<
  { readonly isProven: boolean; readonly warnings: ReadonlyArray<SingleReason> },
  ApiError | Failure,
  Api | Vault | Warehouse
> {
  const all = [...keys, ...named]
  const isProven = all.length === 0 || returnsRecords || (yield* routeAnswers(resource, all, context)) === true
  if (!isProven || keys.length === 0) return { isProven, warnings: [] }
  const refusal = yield* refusalOf(resource, keys, "asked", context)
  if (refusal === undefined) yield* recordRemoved(resource, keys, "asked", context)
  return { isProven, warnings: refusal === undefined ? [] : [refusal] }
})

const decide = Effect.fnUntraced(function* (
  resource: Resource,
  rows: ReadonlyArray<AbsentRow>,
  context: RunContext,
  readAgain: ReadAgain
): Effect.fn.Return<ReadonlyArray<SingleReason>, ApiError | Failure, Api | Vault | Warehouse> {
  const explained = rows.filter(({ isExplained }) => isExplained).map(({ key }) => key)
  yield* recordDeleted(resource, explained, context)
  const others = rows.filter(({ isExplained }) => !isExplained)
  if (others.length === 0) return []
  const keys = others.map(({ key }) => key)
  const isAskable = requestOf(resource, others[0]!.row, context) !== undefined
  const tooMany = yield* refusalOf(resource, keys, isAskable ? "asked" : "read twice", context)
  if (tooMany !== undefined) return [tooMany]
  // Where no other row is left to ask for, the list and the record's own route are two witnesses.
  if (isAskable && (yield* routeAnswers(resource, keys, context)) !== false)
    return yield* decideByAsking(resource, others, context)
  const tooManyUnasked = isAskable ? yield* refusalOf(resource, keys, "read twice", context) : undefined
  if (tooManyUnasked !== undefined) return [tooManyUnasked]
  const absent = yield* readAgain(others)
  const agreed = keys.filter((key) => absent.has(key))
  yield* recordRemoved(resource, agreed, "read twice", context)
  const unproven = keys.length - agreed.length
  return unproven === 0 ? [] : [{ _tag: "DeletionsUnconfirmed", rows: unproven }]
})

const decideByAsking = Effect.fnUntraced(function* (
  resource: Resource,
  rows: ReadonlyArray<AbsentRow>,
  context: RunContext
): Effect.fn.Return<ReadonlyArray<SingleReason>, ApiError | Failure, Api | Vault | Warehouse> {
  const answers = yield* Effect.forEach(rows, ({ row }) => ask(resource, row, context), { concurrency: 8 })
  const keysOf = (answer: Answer) => rows.filter((_, index) => answers[index] === answer).map(({ key }) => key)
  const [existing, unknown] = [keysOf("exists"), keysOf("unknown")]
  yield* recordRemoved(resource, keysOf("not found"), "asked", context)
  // A list that omits a record is asked again by the next full reading; a parent may not be read again for months.
  if (resource.childOf) yield* record("existing", resource, existing, context)
  return [
    ...(existing.length > 0 ? [{ _tag: "MissingRowsExist", rows: existing.length } as const] : []),
    ...(unknown.length > 0 ? [{ _tag: "MissingRowsUnknown", rows: unknown.length } as const] : [])
  ]
})

/** Asks for one record, once in a run. */
export const ask = Effect.fnUntraced(function* (resource: Resource, row: Row, context: RunContext) {
  const { getOne, table, tombstone } = resource
  const request = requestOf(resource, row, context)
  if (request === undefined) return "unknown"
  const place = JSON.stringify(request)
  const known = context.answers.get(place)
  if (known !== undefined) return known
  const failure = failureIn(singleRecord(resource, row["id"]))
  const answer = yield* (yield* Api)
    .send({ request, pathTemplate: getOne!.request.path, priority: 2, resource: table, failureIn: failure })
    .pipe(
      Effect.map(({ body }): Answer => {
        const record = at(body, getOne!.record)
        if (tombstone !== undefined && at(record, tombstone) === true) return "not found"
        const id = at(record, "id") ?? at(record, "_id")
        return id === undefined || String(id) === row["id"] ? "exists" : "unknown"
      }),
      Effect.catchTags({
        NotFound: () => Effect.succeed<Answer>("not found"),
        Forbidden: () => Effect.succeed<Answer>("unknown"),
        RequestRejected: () => Effect.succeed<Answer>("unknown"),
        Unavailable: () => Effect.succeed<Answer>("unknown"),
        BudgetExhausted: () => Effect.succeed<Answer>("unknown")
      })
    )
  context.answers.set(place, answer)
  return answer
})

/** The request for the record of a row; `undefined` if the API has none. */
const requestOf = (resource: Resource, row: Row, { location, company }: RunContext) =>
  requestForRow(resource, row, { location, company })

/** Live rows that are requested, until one is returned: each may have been deleted a moment ago. */
const controlsMax = 5

/** Whether the service returns another record by its id; `undefined` if there is no other row. */
const routeAnswers = Effect.fnUntraced(function* (
  resource: Resource,
  keys: ReadonlyArray<string>,
  context: RunContext
) {
  const controls = yield* otherRows(resource, context.location, keys, controlsMax)
  for (const control of controls) if ((yield* ask(resource, control.row, context)) === "exists") return true
  return controls.length === 0 ? undefined : false
})

/** What says that rows are deleted: the answer of the service about each of them, or a second reading without them. */
type Evidence = "asked" | "read twice"

/** So many rows of a table may be deleted at once, whatever their share. */
const alwaysAllowed = 20

/**
 * Rows that may be deleted of a table. Where nothing but the list says that they are gone, a short list may lose a third: a
 * service that returns half of it, twice, is not believed. This limit is that of the list's own table; tables that lose rows
 * with it may lose `alwaysAllowed` rows or the share.
 */
const allowedOf = (rows: number, evidence: Evidence, share: number): number =>
  Math.max(evidence === "asked" ? alwaysAllowed : Math.min(alwaysAllowed, Math.floor(rows / 3)), rows * share)

/** A parent about which the service itself said so is the proof for its children: they count only without such an answer. */
const dependentsOf = (evidence: Evidence, { resources }: RunContext) => (evidence === "asked" ? undefined : resources)

/** Why these rows are too many to be deleted in this run. */
const refusalOf = Effect.fnUntraced(function* (
  resource: Resource,
  keys: ReadonlyArray<string>,
  evidence: Evidence,
  context: RunContext
): Effect.fn.Return<SingleReason | undefined, Failure, Warehouse> {
  const { location, removed, deletionShareMax } = context
  for (const { table, deleted, rows } of yield* deletedShares(
    resource,
    location,
    keys,
    dependentsOf(evidence, context)
  )) {
    const isOwn = table === resource.table
    const allowed = allowedOf(rows, isOwn ? evidence : "asked", deletionShareMax)
    if (deleted === 0 || (removed.get(table) ?? 0) + deleted <= allowed) continue
    return { _tag: "TooManyDeletions", missing: keys.length, deleted, rows, ...(!isOwn && { dependent: table }) }
  }
  return undefined
})

/** Records deletions that count against what the run may remove. */
const recordRemoved = Effect.fnUntraced(function* (
  resource: Resource,
  keys: ReadonlyArray<string>,
  evidence: Evidence,
  context: RunContext
) {
  if (keys.length === 0) return
  for (const { table, deleted } of yield* deletedShares(
    resource,
    context.location,
    keys,
    dependentsOf(evidence, context)
  ))
    context.removed.set(table, (context.removed.get(table) ?? 0) + deleted)
  yield* recordDeleted(resource, keys, context)
})

/** The load ignores keys that no live row has. */
const recordDeleted = (resource: Resource, keys: ReadonlyArray<string>, context: RunContext) =>
  record("deleted", resource, keys, context)

const record = Effect.fnUntraced(function* (
  kind: "deleted" | "existing",
  { table }: Resource,
  keys: ReadonlyArray<string>,
  { run, location }: RunContext
) {
  if (keys.length === 0) return
  const now = yield* Clock.currentTimeMillis
  yield* (yield* Vault).append({
    entry: { kind, run, at: now, location, resource: table },
    body: JSON.stringify(keys)
  })
})
