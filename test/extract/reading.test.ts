import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { type Call, Api } from "../../src/stages/api/api.ts"
import { id, instant } from "../../src/catalog/fields.ts"
import { cursor, cursorOr, get, since, size } from "../../src/catalog/request.ts"
import { type Strategy, defineList } from "../../src/catalog/resource.ts"
import type { Reading } from "../../src/stages/extract/run-context.ts"
import { read } from "../../src/stages/extract/list.ts"
import type { Frame } from "../../src/stores/vault/frame.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { after, items as many, listOf, paged, reading as readingOf } from "./service.ts"
import { contextOf, silentApi, emptyWarehouse, vaultOf } from "./fakes.ts"
import { noCapabilities } from "../../src/values/capabilities.ts"
import type { PageEntry } from "../../src/stores/vault/entry.ts"

const strategy: Strategy = {
  request: get("/items", { since: since("epochMs"), after: cursor }),
  paging: { kind: "lastRecord", field: "id" },
  records: "items",
  pageSize: 1
}
const overlap = "15 minutes"
const items = defineList({
  table: "items",
  description: "d",
  source: "s",
  scope: "s",
  full: [strategy],
  changes: { field: "changedAt", overlap, strategies: [strategy] },
  fields: { id: id("Id"), changedAt: instant("Change") }
})

const serviceTime = Date.parse("2026-03-02T09:00:00Z")
const changedAt = serviceTime + 600_000
/** Reads a list of three records from a service that dates its responses; the test clock is at 1970. */
const reading = (checkpoints: Reading["checkpoints"]) => {
  const calls: Array<Call> = []
  const frames: Array<Frame> = []
  const api = Api.of({
    send: (call) =>
      Effect.sync(() => {
        calls.push(call)
        const next = Number(call.request.parameters["after"] ?? 0) + 1
        const body = { items: next > 3 ? [] : [{ id: String(next), changedAt }] }
        return { bytes: Buffer.from(JSON.stringify(body)), body, hasBigNumbers: false, at: 0, serviceTime }
      }),
    ...silentApi
  })
  return read(items, { mode: "full", checkpoints, capabilities: noCapabilities }, contextOf()).pipe(
    Effect.provide(Layer.mergeAll(Layer.succeed(Api, api), Layer.succeed(Vault, vaultOf(frames)), emptyWarehouse)),
    Effect.map((outcome) => ({ outcome, calls, frames }))
  )
}

describe("a wrong local clock", () => {
  it.effect("does not affect the watermark, which follows the service's clock", () =>
    Effect.gen(function* () {
      const { outcome } = yield* reading({})
      assert.strictEqual(outcome.watermark, serviceTime)
    })
  )

  it.effect("does not hide changes made while a reading was interrupted", () =>
    Effect.gen(function* () {
      const { frames } = yield* reading({})
      const [, second] = frames
      assert.strictEqual(second!.entry.kind, "page")
      const ahead = serviceTime + 7_200_000
      const checkpoints = { ...(second!.entry as PageEntry).checkpoint!, startedAt: ahead }
      const { calls } = yield* reading({ all: checkpoints })
      const again = calls.map(({ request }) => request.parameters["since"]).filter((from) => from !== undefined)
      assert.isNotEmpty(again)
      for (const from of again) assert.strictEqual(from, serviceTime - 15 * 60_000)
    })
  )
})

describe("a service that does not answer", () => {
  const paging = { records: "items", pageSize: 10 } as const
  const lists: ReadonlyArray<Strategy> = [
    paged,
    after,
    { request: get("/items", { limit: size, page: cursorOr(1) }), paging: { kind: "pageNumber", first: 1 }, ...paging },
    { request: get("/items", { limit: size, after: cursor }), paging: { kind: "sortValue", field: "at" }, ...paging },
    {
      request: get("/items", { limit: size, after: cursor, since: since("epochMs") }),
      paging: { kind: "expiring", field: "next", anchor: "at" },
      ...paging
    }
  ]
  // What is no error of one list must not make it be read in another way, or counted as read.
  it.effect.each([{ later: true }, { isBetween: true }, { later: true, isBetween: true }])(
    "to anybody, or in whose place another answers, ends a list of any kind, on any page: %j",
    (kind) =>
      Effect.gen(function* () {
        for (const strategy of lists)
          for (const failing of [1, 2, 3]) {
            const shown = many(60).map((item, n) => ({ ...item, next: n + 1 }))
            const { error, requests } = yield* readingOf(listOf([strategy, paged]), (_, n) => {
              const from = (n - 1) * 10
              return n >= failing
                ? { outage: "503", kind }
                : { items: shown.slice(Math.max(0, from - 1), from + 10), next: n }
            })
            const where = `${strategy.paging.kind}, page ${failing}`
            assert.deepInclude(Object(error), { _tag: "Unavailable", ...kind }, where)
            // The service may fail on a cursor of sort value and id, so one more is sent with the value alone.
            assert.isAtMost(
              requests,
              strategy.paging.kind === "sortValue" && !("later" in kind) ? failing + 1 : failing,
              where
            )
          }
      })
  )
})
