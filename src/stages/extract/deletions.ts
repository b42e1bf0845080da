/**
 * Decides which rows are deleted. No other module does: the load only carries out what is recorded here.
 *
 * A row is marked deleted only if
 *
 * 1. the service answers a request for that very record as it answers for an id that was never issued, or with its flag of
 *    deletion, while it returns another record of the run; and nothing read in the run still names it; or the record's
 *    parent was found deleted; or, where the service cannot be asked so, a second complete reading agrees; and
 * 2. the run removes no more than `deletions.max_share` of the table, unless --accept-deletions was given. Where only a
 *    second reading agrees, what is deleted with the row counts in the share of its own table; and
 * 3. the row is counted in `meta.run_resources` and shown with the run.
 *
 * No word of an error decides, and a missing list and a 404 of a whole route are never evidence. A record that a list returns
 * with its flag of deletion needs no decision, because the flag is one of its values.
 */
import { Limits } from "../../values/limits.ts"
import { Clock, Effect } from "effect"
import { Api } from "../api/api.ts"
import type { ApiError } from "../api/errors.ts"
import { isSame, kindOfId, neverIssued } from "../api/author.ts"
import { recordIn } from "../../catalog/answer.ts"
import { requestForRow } from "../../catalog/get-one.ts"
import { at } from "../../catalog/json.ts"
import { itemAt } from "../../catalog/present.ts"
import { type ChildOf, type Resource, childLabelOf } from "../../catalog/resource.ts"
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
  { column, ids, table: parent }: ChildOf,
  context: RunContext,
  /** Reads the children of these parents again. */
  readAgain: (parents: ReadonlyArray<string>) => Decides<void>
) {
  yield* context.loaded
  const { known, location } = context
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
 * Records that the service refused, or returned with its flag of deletion. Returns the keys of those that do not exist, of those that
 * something names, and the warnings.
 */
export const decideNotFound = Effect.fn("extract.decideNotFound")(function* (
  resource: Resource,
  keys: ReadonlyArray<string>,
  context: RunContext,
  /** Those that something read in this run names: they are not deleted. */
  isNamed: (notFound: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, Failure, Warehouse> = () =>
    Effect.succeed([]),
  /** The id of a record that the same route has returned in this run. */
  returned?: string
) {
  const rows = keys.map((key) => ({ key, row: { id: key }, isExplained: false }))
  const { notFound } = yield* experiment(resource, rows, context, returned)
  const named = yield* isNamed(notFound)
  const deleted = notFound.filter((key) => !named.includes(key))
  const refusal = deleted.length === 0 ? undefined : yield* tooManyOf(resource, deleted, "asked", context)
  if (refusal === undefined) yield* recordRemoved(resource, deleted, "asked", context)
  return { notFound, named, warnings: refusal === undefined ? [] : [refusal] }
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
  const [example] = others
  if (example === undefined) return []
  const keys = others.map(({ key }) => key)
  const isAskable = requestOf(resource, example.row, context) !== undefined
  const tooMany = yield* tooManyOf(resource, keys, isAskable ? "asked" : "read twice", context)
  if (tooMany !== undefined) return [tooMany]
  const found = isAskable ? yield* experiment(resource, others, context) : undefined
  if (found?.isProven) {
    const { existing, notFound, unknown } = found
    yield* recordRemoved(resource, notFound, "asked", context)
    // A list that omits a record is asked again by the next full reading; a parent may not be read again for months.
    if (resource.childOf) yield* record("existing", resource, existing, context)
    return [
      ...(existing.length > 0 ? [{ _tag: "MissingRowsExist", rows: existing.length } as const] : []),
      ...(unknown.length > 0 ? [{ _tag: "MissingRowsUnknown", rows: unknown.length } as const] : [])
    ]
  }
  // Without another record, the second reading and the record's own route are two witnesses.
  const alone = found?.alone ?? []
  const evidence = keys.every((key) => alone.includes(key)) ? "asked" : "read twice"
  const tooManyUnasked = isAskable ? yield* tooManyOf(resource, keys, evidence, context) : undefined
  if (tooManyUnasked !== undefined) return [tooManyUnasked]
  const absent = yield* readAgain(others)
  const agreed = keys.filter((key) => absent.has(key))
  yield* recordRemoved(resource, agreed, evidence, context)
  const unproven = keys.length - agreed.length
  return unproven === 0 ? [] : [{ _tag: "DeletionsUnconfirmed", rows: unproven }]
})

interface Experiment {
  /** Whether the route tells a record that exists from one that does not. */
  readonly isProven: boolean
  readonly notFound: ReadonlyArray<string>
  readonly existing: ReadonlyArray<string>
  readonly unknown: ReadonlyArray<string>
  /** Refused like an id that was never issued, but there is no other record to ask for. */
  readonly alone: ReadonlyArray<string>
}

/**
 * Asks for each record, and for two whose answer is known: an id that was never issued, and a record of this run, before the
 * others and after them. A record is gone if its answer is that of the id that was never issued.
 */
const experiment = Effect.fnUntraced(function* (
  resource: Resource,
  rows: ReadonlyArray<AbsentRow>,
  context: RunContext,
  returned?: string
): Effect.fn.Return<Experiment, ApiError | Failure, Api | Warehouse> {
  const proven: Experiment = { isProven: true, notFound: [], existing: [], unknown: [], alone: [] }
  const { row } = itemAt(rows, 0)
  const { controls } = (yield* Limits).extract
  const others = yield* otherRows(
    resource,
    context.location,
    context.run,
    rows.map(({ key }) => key),
    controls.value
  )
  controls.isReachedBy(others.length)
  const known = returned === undefined ? [] : [{ row: { id: returned } }]
  const exists: { readonly row: Row } | undefined = [...known, ...others].find(
    (other) => kindOfId(String(other.row["id"])) === kindOfId(String(row["id"]))
  )
  const holds = (again: boolean) =>
    exists === undefined
      ? Effect.succeed(false)
      : Effect.map(ask(resource, exists.row, context, again), (answer) => answer === "exists")
  const never = Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      column === resource.childOf?.column ? value : neverIssued(String(value))
    ])
  )
  const refused = (answer: Answer, of: Row) =>
    typeof answer === "object" ? { ...answer, ids: Object.values(of).map(String) } : undefined
  // Where the records were asked for before, the control between them and the other one shows that nothing is wrong any more.
  const isRequested = rows.every((one) => context.answers.has(placeOf(resource, one.row)))
  const before = isRequested && (yield* holds(false))
  const control = refused(yield* ask(resource, never, context), never)
  if (control === undefined) return { ...proven, isProven: false }
  if (exists !== undefined && !before && !(yield* holds(false))) return { ...proven, isProven: false }
  const askFor = (one: AbsentRow, again = false) =>
    Effect.map(ask(resource, one.row, context, again), (answer) => ({ ...one, answer }))
  const first = yield* Effect.forEach(rows, (one) => askFor(one), { concurrency: 8 })
  const isLike = (answer: Answer, of: Row) => isSame(control, refused(answer, of))
  const isAnyLike = first.some(({ answer, row: of }) => isLike(answer, of))
  const answers = yield* Effect.forEach(
    first,
    (one) => {
      // What an answer has of its own, such as a random text, may look like a word: then that of another answer does not.
      const isRepeated = isAnyLike && typeof one.answer === "object" && !isLike(one.answer, one.row)
      return isRepeated ? askFor(one, true) : Effect.succeed(one)
    },
    { concurrency: 8 }
  )
  const keysWhere = (is: (answer: Answer, row: Row) => boolean) =>
    answers.flatMap(({ answer, key, row: of }) => (is(answer, of) ? [key] : []))
  const flagged = keysWhere((answer) => answer === "flagged as deleted")
  const existing = keysWhere((answer) => answer === "exists")
  const like = keysWhere(isLike)
  if (exists === undefined) return { ...proven, isProven: false, alone: [...like, ...flagged] }
  const isUnlike = like.length + flagged.length + existing.length < rows.length
  // An answer that is never the same twice proves nothing.
  if (like.length === 0 && isUnlike && !isLike(yield* ask(resource, never, context, true), never))
    return { ...proven, isProven: false }
  const isProof = like.length > 0 && (yield* holds(true))
  const notFound = [...flagged, ...(isProof ? like : [])]
  const decided = new Set([...notFound, ...existing])
  return { ...proven, notFound, existing, unknown: keysWhere(() => true).filter((key) => !decided.has(key)) }
})

/** Asks for one record, once in a run unless it is asked `again`. */
const ask = Effect.fnUntraced(function* (resource: Resource, row: Row, context: RunContext, again = false) {
  const { getOne, table, tombstone } = resource
  const request = requestOf(resource, row, context)
  if (getOne === undefined || request === undefined) return "unknown"
  const place = placeOf(resource, row)
  const known = context.answers.get(place)
  if (known !== undefined && !again) return known
  const id = String(row["id"])
  const unknown = () => Effect.succeed<Answer>("unknown")
  const answer = yield* (yield* Api)
    .send({ request, pathTemplate: getOne.request.path, priority: 2, resource: table })
    .pipe(
      Effect.map(({ body }): Answer => {
        const found = recordIn(body, getOne.record, id)
        if (found === undefined) return "unknown"
        return tombstone !== undefined && at(found.record, tombstone) === true ? "flagged as deleted" : "exists"
      }),
      Effect.catchTags({
        RequestRejected: ({ refusal }) => Effect.succeed<Answer>(refusal === undefined ? "unknown" : { refusal }),
        Forbidden: unknown,
        Unavailable: unknown,
        BudgetExhausted: unknown
      })
    )
  context.answers.set(place, answer)
  return answer
})

/** Under which the answer about a record is kept. */
export const placeOf = ({ getOne }: Resource, row: Row): string => JSON.stringify([getOne?.request.path, row["id"]])

/** The request for the record of a row; `undefined` if the API has none. */
const requestOf = (resource: Resource, row: Row, { location, company }: RunContext) =>
  requestForRow(resource, row, { location, company })

/** What says that rows are deleted: the answer of the service about each of them, or a second reading without them. */
type Evidence = "asked" | "read twice"

/**
 * Rows that may be deleted of a table. Where nothing but the list says that they are deleted, a short list may lose a third: a
 * service that returns half of it, twice, is not believed. This limit is that of the list's own table; tables that lose rows
 * with it may lose `deletedRows` or the share.
 */
const allowedOf = (rows: number, evidence: Evidence, share: number, always: number): number =>
  Math.max(evidence === "asked" ? always : Math.min(always, Math.floor(rows / 3)), rows * share)

/** A parent about which the service itself said so is the proof for its children: they count only without such an answer. */
const dependentsOf = (evidence: Evidence, { resources }: RunContext) => (evidence === "asked" ? undefined : resources)

/** Why these rows are too many to be deleted in this run. */
const tooManyOf = Effect.fnUntraced(function* (
  resource: Resource,
  keys: ReadonlyArray<string>,
  evidence: Evidence,
  context: RunContext
): Effect.fn.Return<SingleReason | undefined, Failure, Warehouse> {
  const { location, removed, deletionShareMax } = context
  const { deletedRows } = (yield* Limits).extract
  for (const { table, deleted, rows } of yield* deletedShares(
    resource,
    location,
    keys,
    dependentsOf(evidence, context)
  )) {
    const isOwn = table === resource.table
    const allowed = allowedOf(rows, isOwn ? evidence : "asked", deletionShareMax, deletedRows.value)
    if (deleted === 0 || (removed.get(table) ?? 0) + deleted <= allowed) continue
    deletedRows.crossed()
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
