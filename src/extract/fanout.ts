/**
 * One request for each parent row that is new, changed, or has its turn: notes of a contact, the detail of an order.
 * Which rows are due is asked of the warehouse, so what was fetched before a crash is not fetched again. It goes on
 * while the parents are still being read, behind them in the budget.
 */
import { Clock, Deferred, Effect } from "effect"
import { Api } from "../api/api.ts"
import type { ApiError } from "../api/errors.ts"
import { fill } from "../catalog/request.ts"
import type { Resource, Turn } from "../catalog/resource.ts"
import type { Failure } from "../failure.ts"
import type { Outcome } from "../vault/frame.ts"
import { Vault } from "../vault/vault.ts"
import { type Due, dueParents } from "../warehouse/state.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import { type RunContext, count } from "./context.ts"

/** Parents asked for side by side: enough to spend the whole budget at 1.2 s of latency, and the most a crash costs. */
const concurrency = 12
const batchSize = 500
/** Parents that cannot be read, one after the other, before the resource is given up. */
const failuresInARowMax = 20

export const fanOut = Effect.fn("extract.fanOut")(function* (
  resource: Resource,
  parentsRead: Deferred.Deferred<void>,
  context: RunContext
): Effect.fn.Return<Outcome, ApiError | Failure, Api | Vault | Warehouse> {
  const [api, vault] = [yield* Api, yield* Vault]
  const { label, kind, request, records, ...turn } = followUpOf(resource)
  const before = api.requestsByResource.get(label) ?? 0
  const failed = new Map<string, string>()
  let failuresInARow = 0

  const fetch = Effect.fnUntraced(function* (parent: Due) {
    const filled = fill(request, { location: context.location, company: context.company, parent: parent.id })
    const answer = yield* api.send({ request: filled, priority: 2, resource: label }).pipe(
      // A parent that is gone has nothing to give; it is not asked again until it changes.
      Effect.catchTag("Gone", () =>
        Clock.currentTimeMillis.pipe(Effect.map((now) => ({ text: "", long: false, at: now })))
      )
    )
    failuresInARow = 0
    count(context.counts, label, 1)
    yield* vault.append({
      entry: {
        kind,
        run: context.run,
        at: answer.at,
        location: context.location,
        resource: resource.table,
        pass: label,
        request: { path: filled.path },
        records,
        long: answer.long,
        parent,
        progress: {}
      },
      body: answer.text
    })
  })

  while (true) {
    const last = yield* Deferred.isDone(parentsRead)
    yield* context.loaded
    const due = yield* dueParents({
      ...turn,
      location: context.location,
      resource: resource.table,
      limit: batchSize + failed.size
    })
    const parents = due.filter(({ id }) => !failed.has(id))
    if (parents.length === 0) {
      if (last) break
      yield* Effect.raceFirst(Deferred.await(parentsRead), Effect.sleep(250))
      continue
    }
    yield* context.backpressure
    yield* Effect.forEach(
      parents,
      (parent) =>
        fetch(parent).pipe(
          Effect.catchTags({
            Unavailable: (error) => skip(parent, error),
            Refused: (error) => skip(parent, error)
          })
        ),
      { concurrency, discard: true }
    )
  }
  const requests = (api.requestsByResource.get(label) ?? 0) - before
  return failed.size === 0
    ? { mode: "each", verdict: "complete", doubts: [], requests }
    : {
        mode: "each",
        verdict: "incomplete",
        requests,
        doubts: [`${failed.size} could not be read, for example of ${[...failed][0]!.join(": ")}`]
      }

  function skip(parent: Due, error: Extract<ApiError, { readonly message: string }>) {
    failed.set(parent.id, error.message)
    return ++failuresInARow > failuresInARowMax ? Effect.fail(error) : Effect.void
  }
})

/** A resource under another, or the detail of its own records: the same work. */
const followUpOf = (resource: Resource) => {
  const { each, detail, table } = resource
  if (each)
    return {
      label: table,
      kind: "page" as const,
      request: resource.full[0]!.request,
      records: resource.full[0]!.records,
      ...turnOf(each.table, each)
    }
  if (!detail) throw new Error(`${table} has no second request`)
  return {
    label: `${table}/details`,
    kind: "detail" as const,
    request: detail.request,
    records: detail.record,
    ...turnOf(table, detail)
  }
}

const turnOf = (parentTable: string, { changedBy, everyDays }: Turn) => ({ parentTable, changedBy, everyDays })
