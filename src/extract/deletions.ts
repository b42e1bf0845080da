/**
 * Finds deleted rows: those missing from a complete list, and children of deleted parents. A list may omit records by
 * mistake, so each missing row is requested by its id where the API allows it, and if too many rows are missing at once
 * none is marked deleted.
 */
import { Clock, Effect } from "effect"
import { Api } from "../api/api.ts"
import type { ApiError } from "../api/errors.ts"
import { requestById } from "../catalog/get-one.ts"
import { bind } from "../catalog/request.ts"
import type { Resource } from "../catalog/resource.ts"
import type { Failure } from "../failure.ts"
import { Vault } from "../vault/vault.ts"
import { missingRows, orphanedRows } from "../warehouse/absent-rows.ts"
import type { Warehouse } from "../warehouse/warehouse.ts"
import type { RunContext } from "./run-context.ts"

/** Missing rows that are requested by id; any beyond these are taken as deleted without a request. */
const confirmMax = 500
/** This many missing rows are always accepted as deleted, whatever their share. */
const alwaysPlausible = 20

/** Call this after a complete reading that began at `begunAt`. Records the deletions and returns the warnings. */
export const findDeleted = Effect.fn("extract.findDeleted")(function* (
  resource: Resource,
  begunAt: number,
  context: RunContext
): Effect.fn.Return<ReadonlyArray<string>, ApiError | Failure, Api | Vault | Warehouse> {
  yield* context.loaded
  const { keys, explained, rows } = yield* missingRows(resource, context.location, begunAt)
  if (keys.length === 0) return []
  const unexplained = keys.length - explained
  const { deletionShareMax } = context
  if (unexplained > Math.max(alwaysPlausible, rows * deletionShareMax))
    return [
      `${unexplained} of ${rows} rows are missing from the list, more than ${deletionShareMax * 100} % at once, so none was marked deleted. If the deletions are real, run again with --accept-deletions`
    ]
  return yield* confirm(resource, keys, context)
})

/** Call this after the parents have been read. Records the deletions and returns the warnings. */
export const findOrphans = Effect.fn("extract.findOrphans")(function* (resource: Resource, context: RunContext) {
  yield* context.loaded
  const keys = yield* orphanedRows(resource, context.location)
  return keys.length === 0 ? [] : yield* confirm(resource, keys, context)
})

const confirm = Effect.fnUntraced(function* (
  resource: Resource,
  keys: ReadonlyArray<string>,
  context: RunContext
): Effect.fn.Return<ReadonlyArray<string>, ApiError | Failure, Api | Vault> {
  const api = yield* Api
  const getOne = requestById(resource)
  const { location, company } = context
  /** Whether the service still has the record. */
  const exists = (key: string) =>
    getOne === undefined
      ? Effect.succeed(false)
      : api
          .send({
            request: bind(getOne, { location, company, id: key }),
            priority: 2,
            resource: resource.table
          })
          .pipe(
            Effect.as(true),
            Effect.catchTags({
              NotFound: () => Effect.succeed(false),
              // If the record cannot be requested, the list decides.
              Forbidden: () => Effect.succeed(false),
              RequestRejected: () => Effect.succeed(false),
              // Without a response, nothing proves the deletion.
              Unavailable: () => Effect.succeed(true),
              BudgetExhausted: () => Effect.succeed(true)
            })
          )
  const found = yield* Effect.forEach(keys.slice(0, confirmMax), exists, { concurrency: 8 })
  const deleted = keys.filter((_, index) => found[index] !== true)
  if (deleted.length > 0) yield* recordDeleted(resource, deleted, context)
  const existing = keys.length - deleted.length
  return existing === 0 ? [] : [`${existing} rows are missing from the list but still exist`]
})

/** Appends the deletion of these rows to the vault; the load ignores keys that no row has. */
export const recordDeleted = Effect.fnUntraced(function* (
  { table }: Resource,
  keys: ReadonlyArray<string>,
  { run, location }: RunContext
): Effect.fn.Return<void, Failure, Vault> {
  const at = yield* Clock.currentTimeMillis
  yield* (yield* Vault).append({
    entry: { kind: "deleted", run, at, location, resource: table },
    body: JSON.stringify(keys)
  })
})
