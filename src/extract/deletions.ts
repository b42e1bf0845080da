/**
 * What a complete reading did not show, and what hangs on rows that are gone. A list can lie, so each row is asked for
 * by its id where the API has such a request, and where too many vanish at once none is believed to be gone.
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

/** Rows asked for one by one; of more than that, the rest is believed without asking. */
const confirmMax = 500
/** Fewer than this may always vanish. */
const alwaysPlausible = 20

/** To be called when the list was read whole, from a moment on. Writes down what is gone; returns the warnings. */
export const findDeleted = Effect.fn("extract.findGone")(function* (
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
      `${unexplained} of ${rows} rows were not shown any more, which is more than ${deletionShareMax * 100} % at once: none was marked deleted. If it is true, run again with --accept-deletions`
    ]
  return yield* confirm(resource, keys, context)
})

/** To be called when the rows it is read under are known. */
export const findOrphans = Effect.fn("extract.findOrphaned")(function* (resource: Resource, context: RunContext) {
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
  /** Whether the service still has it. */
  const isThere = (key: string) =>
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
              // Where it cannot be asked for, the list decides.
              Forbidden: () => Effect.succeed(false),
              RequestRejected: () => Effect.succeed(false),
              // Where nobody answers, nobody said that it is gone.
              Unavailable: () => Effect.succeed(true),
              BudgetExhausted: () => Effect.succeed(true)
            })
          )
  const asked = yield* Effect.forEach(keys.slice(0, confirmMax), isThere, { concurrency: 8 })
  const gone = keys.filter((_, index) => asked[index] !== true)
  if (gone.length > 0) yield* recordDeleted(resource, gone, context)
  const there = keys.length - gone.length
  return there === 0 ? [] : [`${there} rows were not shown by the list and are still there`]
})

/** Writes down that these rows are gone, as far as there are such. */
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
