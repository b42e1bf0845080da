/** Reads a list for whoever stores none of it: a stream of its records over `Api`, without vault and batches. */
import { Limits } from "../../values/limits.ts"
import { Clock, Effect, Option, Stream } from "effect"
import { Shapes } from "../../catalog/beside.ts"
import { answerOf, expectedOf } from "../../catalog/answer.ts"
import type { OptionalSettings } from "../../catalog/optional-settings.ts"
import type { Bindings } from "../../catalog/request.ts"
import type { ListResource } from "../../catalog/resource.ts"
import type { SingleReason } from "../../values/reason.ts"
import { beginning, idOf } from "./list-progress.ts"
import { missingBeyondDrift, noStrategyWorks } from "./outcome.ts"
import { PageLoop } from "./page-loop.ts"
import { type PartitionTask, nextPage } from "./paginate.ts"

/**
 * Each record once, by the first strategy of the list. The stream fails unless it has returned the whole list, because nobody
 * looks at a status here. So after each short page another one is requested, whatever the service cuts its pages to.
 */
export const readList = (
  resource: ListResource,
  { optional, ...bindings }: Pick<Bindings, "location" | "company"> & { readonly optional: OptionalSettings }
) =>
  Stream.unwrap(
    Effect.map(Effect.all([Clock.currentTimeMillis, Limits]), ([now, { extract: limits }]) => {
      const strategy = resource.full[0]!
      const fresh = { ...beginning({ strategy, mode: "full", since: undefined, now, optional }), cut: true }
      const task: PartitionTask = {
        resource,
        strategy,
        name: "all",
        parameters: {},
        sizes: {},
        unreliableTotals: new Set(),
        fresh,
        label: resource.table,
        priority: 1
      }
      const expected = {
        ...expectedOf(resource, strategy, task.name),
        shapes: new Shapes(),
        isFirst: (): boolean => loop.state.count === 0,
        isCounted: true
      }
      const loop: PageLoop = new PageLoop(task, fresh, {
        expected,
        identified: (record) => record,
        cuts: new Set(),
        limits
      })
      const next = nextPage(loop, task, expected, bindings)
      const returned = new Set<string>()
      const isNew = (record: unknown): boolean => {
        const before = returned.size
        return returned.add(idOf(record)).size > before
      }
      /** Why records may be missing though the list has ended. */
      const missed = (): ReadonlyArray<SingleReason> => {
        const { count, total = 0, warnings } = loop.state
        const isShort = missingBeyondDrift(loop.state, strategy) > 0
        return isShort ? [...warnings, { _tag: "BelowTotal", total, read: count }] : warnings
      }
      const step = Effect.gen(function* () {
        loop.discardOld(yield* Clock.currentTimeMillis)
        const page = yield* next
        const { method, path } = strategy.request
        if (page.kind === "failed")
          return yield* noStrategyWorks([{ _tag: "StrategyFailed", method, path, detail: page.unread.reason }])
        const answer = page.kind === "page" ? answerOf(page.response.body, expected) : undefined
        const records = answer?.kind === "data" ? answer.records.filter(isNew) : []
        if (!loop.state.done) return [records, Option.some(undefined)] as const
        return missed().length > 0 ? yield* noStrategyWorks(missed()) : ([records, Option.none()] as const)
      })
      return Stream.paginate(undefined, () => step)
    })
  )
