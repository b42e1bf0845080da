/** What the service counts after a reading of changes: when it makes the list be read in full, and what is said otherwise. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { id, instant } from "../../src/catalog/fields.ts"
import { cursorOr, get, since, size } from "../../src/catalog/request.ts"
import { type Strategy, defineList } from "../../src/catalog/resource.ts"
import { Api } from "../../src/stages/api/api.ts"
import { Unavailable } from "../../src/stages/api/errors.ts"
import { readWithTotal, withOwnDifference } from "../../src/stages/extract/totals.ts"
import type { Outcome } from "../../src/stores/vault/entry.ts"
import type { Reason } from "../../src/values/reason.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { noCapabilities } from "../../src/values/capabilities.ts"
import { randomFrom } from "../support/random.ts"
import { answerOf, contextOf, silentApi, vaultOf } from "./fakes.ts"
import { begin } from "./service.ts"

const full: Strategy = {
  request: get("/items", { limit: size, skip: cursorOr(0) }),
  paging: { kind: "offset" },
  records: "items",
  pageSize: 50,
  total: "total"
}
const changed: Strategy = {
  ...full,
  request: get("/items", { limit: size, skip: cursorOr(0), since: since("epochMs") })
}
const minute = 60_000
const items = defineList({
  table: "items",
  description: "d",
  source: "s",
  scope: "s",
  full: [full],
  changes: { field: "changedAt", overlap: "10 minutes", strategies: [{ ...changed, verifyField: "changedAt" }] },
  fields: { id: id("Id"), changedAt: instant("Change") }
})

interface Given {
  /** Records that no reading returns and the service counts, or fewer than none. */
  readonly excess?: number
  /** What is known of the excess. */
  readonly known?: number
  /** Changes that the list shows only so many requests after the first, with the time at which they were made. */
  readonly late?: ReadonlyArray<{ readonly id: string; readonly agoMs: number; readonly shownAt: number }>
  readonly deleted?: number
  readonly isCountUnanswered?: boolean
  /** Whether the answer to the small request has no total. */
  readonly isCountMissing?: boolean
  readonly vainReadings?: number
}

/** A night of a list with 20 rows, of which three have changed. */
const night = ({ deleted = 0, excess = 0, isCountMissing, isCountUnanswered, known, late = [], vainReadings }: Given) =>
  Effect.gen(function* () {
    const now = begin + 10_000 * minute
    yield* TestClock.setTime(now)
    const rows = new Map(Array.from({ length: 20 }, (_, n) => [`i${n}`, begin + (n > 16 ? 9990 + n : n) * minute]))
    const live = new Set(rows.keys())
    const stored = new Map([...rows].slice(deleted))
    const kinds: Array<"changes" | "count" | "full"> = []
    const api = Api.of({
      ...silentApi,
      send: ({ request: { parameters } }) =>
        Effect.gen(function* () {
          const [from, limit, skip] = [
            parameters["since"],
            Number(parameters["limit"]),
            Number(parameters["skip"] ?? 0)
          ]
          const kind = from !== undefined ? "changes" : limit === 10 ? "count" : "full"
          kinds.push(kind)
          if (kind === "count" && isCountUnanswered) return yield* new Unavailable({ message: "503", later: false })
          for (const one of late) if (kinds.length > one.shownAt) stored.set(one.id, now - one.agoMs)
          const all = [...stored].map(([id, changedAt]) => ({ id, changedAt }))
          const found = all.filter(({ changedAt }) => changedAt >= Number(from ?? 0)).slice(skip, skip + limit)
          if (kind !== "count") for (const one of found) live.add(one.id)
          const total = kind === "changes" ? all.filter((one) => one.changedAt >= Number(from)).length : all.length
          return {
            ...answerOf({
              items: found,
              ...(!(kind === "count" && isCountMissing) && { total: total + (kind === "changes" ? 0 : excess) })
            }),
            serviceTime: yield* Clock.currentTimeMillis
          }
        })
    })
    const warehouse = {
      rows: (sql: string) =>
        Effect.sync(() => (sql.includes("GROUP BY") ? [{ table: "items", n: String(live.size) }] : [{ n: "0" }]))
    } as unknown as Warehouse["Service"]
    const capabilities = {
      ...noCapabilities,
      ...(known !== undefined && { totalExcess: known }),
      ...(vainReadings !== undefined && { vainReadings })
    }
    const reading = { mode: "incremental", since: now - 30 * minute, checkpoints: {}, capabilities } as const
    const running = yield* Effect.forkChild(
      readWithTotal(items, reading, contextOf({ resources: [items] })).pipe(
        Effect.provide(
          Layer.mergeAll(Layer.succeed(Api, api), Layer.succeed(Vault, vaultOf()), Layer.succeed(Warehouse, warehouse))
        )
      )
    )
    yield* TestClock.adjust("1 hour")
    const { outcome, rowsBefore } = yield* Fiber.join(running)
    return { kinds, missed: [...stored.keys()].filter((one) => !live.has(one)), outcome, rowsBefore }
  })

describe("after a reading of changes", () => {
  it.effect("one request shows that nothing was deleted, whatever is known to differ", () =>
    Effect.gen(function* () {
      for (const excess of [undefined, -3, 0, 4]) {
        const { kinds, outcome } = yield* night({ ...(excess !== undefined && { excess, known: excess }) })
        assert.deepStrictEqual(kinds, ["changes", "count"], String(excess))
        assert.strictEqual(outcome.mode, "incremental")
        assert.isDefined(outcome.soughtAt)
        assert.deepStrictEqual([outcome.warnings, outcome.shortfalls], [[], []])
      }
    })
  )

  it.effect("a total that is not as it was known makes the list be read in full", () =>
    Effect.gen(function* () {
      for (const given of [
        { deleted: 1 },
        { deleted: 2, excess: 1, known: 1 },
        { excess: 1 },
        { known: 2 },
        { excess: -1 }
      ]) {
        const { kinds, outcome, rowsBefore } = yield* night(given)
        assert.strictEqual(kinds.at(-1), "full", JSON.stringify(given))
        assert.strictEqual(outcome.mode, "full")
        assert.strictEqual(rowsBefore, 20)
      }
    })
  )

  it.effect("records that the list shows late are read with the changes, and are no reason to read it in full", () =>
    Effect.gen(function* () {
      const draw = randomFrom(4)
      for (let round = 0; round < 20; round++) {
        const late = Array.from({ length: 1 + Math.floor(draw() * 3) }, (_, n) => ({
          id: `new${n}`,
          agoMs: draw() * 9.9 * minute,
          shownAt: Math.floor(draw() * 2)
        }))
        const { kinds, missed, outcome } = yield* night({ late })
        assert.notInclude(kinds, "full", JSON.stringify(late))
        assert.isEmpty(missed)
        assert.isDefined(outcome.soughtAt)
      }
    })
  )

  it.effect("a total that is not answered says nothing, and that is said", () =>
    Effect.gen(function* () {
      const { outcome } = yield* night({ deleted: 2, isCountUnanswered: true })
      assert.deepStrictEqual(outcome.warnings, [{ _tag: "DeletionsNotSought" }])
      assert.isUndefined(outcome.soughtAt)
    })
  )

  it.effect("a total that the service does not send shows nothing, so the list is not read in full because of it", () =>
    Effect.gen(function* () {
      const { kinds, outcome } = yield* night({ deleted: 2, isCountMissing: true })
      assert.deepStrictEqual(kinds, ["changes", "count"])
      assert.isUndefined(outcome.soughtAt)
      assert.deepStrictEqual([outcome.mode, outcome.warnings], ["incremental", []])
    })
  )

  it.effect("the total is requested until three full readings because of it were in vain", () =>
    Effect.gen(function* () {
      assert.include((yield* night({ deleted: 1, vainReadings: 2 })).kinds, "full")
      const { kinds, outcome } = yield* night({ deleted: 1, vainReadings: 3 })
      assert.deepStrictEqual(kinds, ["changes"])
      assert.isUndefined(outcome.soughtAt)
    })
  )
})

describe("after a full reading because of a total", () => {
  it.effect("the difference is the list's own if no row changed, or if it has records without a row", () =>
    Effect.gen(function* () {
      for (let seed = 1; seed <= 80; seed++) {
        const random = randomFrom(seed)
        const below = (n: number) => Math.floor(random() * n)
        const [rows, rowsBefore, total] = [below(4), below(4), below(4)]
        const [isBelow, isKept, hasOwn] = [random() < 0.3, random() < 0.2, random() < 0.5]
        const vainReadings = [undefined, 0, 1, 2][below(4)]
        const own = { _tag: "BelowTotal", total: 9, read: 8 } as const
        const remarks: ReadonlyArray<Reason> = [
          ...(isBelow ? [{ _tag: "BelowTotal", total, read: rows } as const] : []),
          ...(isKept ? [{ _tag: "MissingRowsExist", count: 1 } as unknown as Reason] : []),
          { _tag: "TotalDiffers", rows: 1, total: 2 }
        ]
        const outcome: Outcome = { mode: "full", shortfalls: [], warnings: remarks, requests: 2, soughtAt: 5, total }
        const capabilities = { ...noCapabilities, ...(vainReadings !== undefined && { vainReadings }) }
        const found = yield* withOwnDifference(
          { outcome, rowsBefore, ...(hasOwn && { own }) },
          items,
          { mode: "incremental", checkpoints: {}, capabilities },
          contextOf({ resources: [items] })
        ).pipe(
          Effect.provide(
            Layer.mergeAll(
              Layer.succeed(Api, Api.of({ ...silentApi, send: () => Effect.die("the reading has a total") })),
              Layer.succeed(Vault, vaultOf()),
              Layer.succeed(Warehouse, {
                rows: () => Effect.succeed([{ table: "items", n: String(rows) }])
              } as unknown as Warehouse["Service"])
            )
          )
        )
        const shown = JSON.stringify({ seed, rows, rowsBefore, total, isBelow, isKept, hasOwn, vainReadings })
        if (isKept && hasOwn) {
          assert.deepStrictEqual(found.shortfalls, [own], shown)
          assert.isFalse(
            found.warnings.some(({ _tag }) => _tag === "TotalDiffers"),
            shown
          )
          assert.isTrue(found.finished, shown)
          continue
        }
        const isVain = rows === rowsBefore
        const isOwn = rows !== total && (isVain || (total > rows && !isBelow))
        assert.strictEqual(found.capabilities?.totalExcess, isOwn ? total - rows : undefined, shown)
        assert.strictEqual(found.capabilities?.vainReadings, isVain ? (vainReadings ?? 0) + 1 : undefined, shown)
        assert.deepStrictEqual(
          found.warnings.slice(remarks.length),
          isVain && rows !== total ? [{ _tag: "TotalDiffers", rows, total }] : [],
          shown
        )
      }
    })
  )
})
