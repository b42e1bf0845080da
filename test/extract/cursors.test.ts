/** What is requested after each page, after a wait and after an interruption; and what must not be sent any more. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { cursor, get, since, size } from "../../src/catalog/request.ts"
import type { Strategy } from "../../src/catalog/resource.ts"
import { Api } from "../../src/stages/api/api.ts"
import { RequestRejected } from "../../src/stages/api/errors.ts"
import { read } from "../../src/stages/extract/list.ts"
import type { Frame } from "../../src/stores/vault/frame.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { noCapabilities } from "../../src/values/capabilities.ts"
import type { Checkpoint } from "../../src/values/checkpoint.ts"
import { contextOf, emptyWarehouse, silentApi, vaultOf } from "./fakes.ts"
import { type Item, begin, items, listOf } from "./service.ts"

const exported: Strategy = {
  request: get("/export", { since: since("epochMs"), after: cursor, limit: size }),
  paging: { kind: "expiring", field: "next", anchor: "at" },
  records: "items",
  pageSize: 10
}
const apart = items(40, (n) => n * 10_000)

interface Given {
  readonly list?: ReadonlyArray<Item>
  /** How long it takes to store the n-th page, in seconds. */
  readonly stores?: (n: number) => number
  /** How long the n-th request waits for the rate limit, in seconds. */
  readonly waits?: (n: number) => number
  readonly rejects?: (after: unknown, n: number) => string | undefined
  readonly checkpoint?: Checkpoint
}

/** Reads the export; returns each request as its cursor, or the time from which it begins, in seconds. */
const exporting = ({
  checkpoint,
  list = apart,
  rejects = () => undefined,
  stores = () => 0,
  waits = () => 0
}: Given = {}) =>
  Effect.gen(function* () {
    const [sent, events, frames] = [[] as Array<unknown>, [] as Array<string>, [] as Array<Frame>]
    const [priorities, seen] = [[] as Array<number>, new Set<string>()]
    let [requests, pages, waited] = [0, 0, 0]
    const api = Api.of({
      ...silentApi,
      send: ({ isDue, priority, request: { parameters } }) =>
        Effect.gen(function* () {
          const n = ++requests
          yield* Effect.sleep(waits(n) * 1000)
          if (!(yield* isDue!)) return yield* new RequestRejected({ status: 0, message: "too late", unsent: true })
          const { after, since: from } = parameters
          sent.push(after ?? (from === undefined ? "beginning" : (Number(from) - begin) / 1000))
          events.push(`request ${n}`)
          priorities.push(priority)
          yield* Effect.sleep(1000)
          const message = rejects(after, n)
          if (message !== undefined) return yield* new RequestRejected({ status: 400, message })
          const first = from === undefined ? 0 : list.findIndex(({ at }) => at >= Number(from))
          const start = after === undefined ? first : Number(String(after).slice(1))
          const shown = list.slice(start, start + Number(parameters["limit"]))
          for (const { id } of shown) seen.add(id)
          const next = start + shown.length < list.length ? `c${start + shown.length}` : null
          const body = { items: shown, next }
          return { bytes: Buffer.alloc(0), body, hasBigNumbers: false, at: 0, serviceTime: undefined }
        })
    })
    const memory = vaultOf(frames)
    const vault = Vault.of({
      ...memory,
      append: (frame) =>
        Effect.sleep(stores(++pages) * 1000).pipe(
          Effect.andThen(memory.append(frame)),
          Effect.tap(() => Effect.sync(() => events.push("stored")))
        )
    })
    const backpressure = Effect.sync(() => void waited++)
    const checkpoints: Readonly<Record<string, Checkpoint>> = checkpoint ? { all: checkpoint } : {}
    const reading = { mode: "full", checkpoints, capabilities: noCapabilities } as const
    const running = yield* Effect.forkChild(
      read(listOf([exported]), reading, contextOf({ backpressure })).pipe(
        Effect.provide(Layer.mergeAll(Layer.succeed(Api, api), Layer.succeed(Vault, vault), emptyWarehouse)),
        Effect.exit
      )
    )
    yield* TestClock.adjust("5 hours")
    const exit = yield* Fiber.join(running)
    return {
      events,
      failed: Exit.isFailure(exit) ? JSON.stringify(exit) : undefined,
      frames,
      priorities,
      seen,
      sent,
      waited
    }
  })

describe("a cursor that expires", () => {
  it.effect("is used for the next page, which comes before all other requests and waits for no load", () =>
    Effect.gen(function* () {
      const { priorities, seen, sent, waited } = yield* exporting()
      assert.deepStrictEqual(sent, ["beginning", "c10", "c20", "c30"])
      assert.deepStrictEqual(priorities, [1, 0, 0, 0])
      assert.deepStrictEqual([seen.size, waited], [40, 1])
    })
  )

  it.effect("is used only once its page is stored", () =>
    Effect.gen(function* () {
      const { events } = yield* exporting({ stores: () => 5 })
      assert.deepStrictEqual(events.slice(0, 4), ["request 1", "stored", "request 2", "stored"])
    })
  )

  // The response takes a second, and the service may have made the cursor when it received the request.
  it.effect.each([
    [109, 0, ["beginning", "c10", "c20", "c30"], 1],
    [110, 0, ["beginning", "c10", 189, "c29", "c39"], 2],
    [0, 109, ["beginning", "c10", "c20", "c30"], 1],
    [0, 110, ["beginning", "c10", 189, "c29", "c39"], 2],
    [60, 50, ["beginning", "c10", 189, "c29", "c39"], 2]
  ] as const)(
    "whose page took %i s to store, and whose request waited %i s for the rate limit, is used within 110 s or thrown away: %j",
    ([stored, delayed, expected, waits]) =>
      Effect.gen(function* () {
        const { failed, seen, sent, waited } = yield* exporting({
          stores: (n) => (n === 2 ? stored : 0),
          waits: (n) => (n === 3 ? delayed : 0)
        })
        assert.deepStrictEqual([sent, waited, failed], [[...expected], waits, undefined])
        assert.strictEqual(seen.size, 40)
      })
  )

  it.effect("that the service rejects is thrown away, and the list continues a second before the last record", () =>
    Effect.gen(function* () {
      const { failed, priorities, seen, sent } = yield* exporting({
        rejects: (_, n) => (n === 3 ? "expired" : undefined)
      })
      assert.deepStrictEqual([sent, failed], [["beginning", "c10", "c20", 189, "c29", "c39"], undefined])
      assert.deepStrictEqual(priorities, [1, 0, 0, 1, 0, 0])
      assert.strictEqual(seen.size, 40)
    })
  )

  it.effect("that is always rejected lets the list continue as long as it advances", () =>
    Effect.gen(function* () {
      const { failed, seen, sent } = yield* exporting({
        rejects: (after) => (after === undefined ? undefined : "unknown")
      })
      assert.isUndefined(failed)
      assert.deepStrictEqual([seen.size, sent.slice(0, 5)], [40, ["beginning", "c10", 89, "c19", 179]])
    })
  )

  it.effect("that is always rejected ends the reading after four beginnings at one place", () =>
    Effect.gen(function* () {
      const list = items(40, () => 0)
      const { failed, sent } = yield* exporting({
        list,
        rejects: (after) => (after === undefined ? undefined : "unknown")
      })
      assert.match(failed!, /cursors expire before they can be used/)
      assert.deepStrictEqual(sent.filter((one) => one === -1).length, 4)
    })
  )

  it.effect("is not stored: an interrupted reading continues a second before the last record, and misses none", () =>
    Effect.gen(function* () {
      const { frames } = yield* exporting()
      const { checkpoint } = frames[1]!.entry as { readonly checkpoint?: Checkpoint }
      assert.isUndefined(checkpoint!.cursor)
      const { seen, sent } = yield* exporting({ checkpoint: checkpoint! })
      assert.deepStrictEqual(sent.slice(0, 3), [189, "c29", "c39"])
      assert.includeMembers(
        [...seen],
        apart.slice(20).map(({ id }) => id)
      )
    })
  )
})
