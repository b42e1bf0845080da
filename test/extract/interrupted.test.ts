/** A list that was interrupted: what the next run requests, and what both readings together say. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { id, instant } from "../../src/catalog/fields.ts"
import { cursor, get, since } from "../../src/catalog/request.ts"
import { type Strategy, defineList } from "../../src/catalog/resource.ts"
import { Api } from "../../src/stages/api/api.ts"
import { read } from "../../src/stages/extract/list.ts"
import { beginning } from "../../src/stages/extract/list-progress.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { noCapabilities } from "../../src/values/capabilities.ts"
import type { Checkpoint } from "../../src/values/checkpoint.ts"
import { nothingOptional } from "../support/optional.ts"
import { contextOf, emptyWarehouse, silentApi, vaultOf } from "./fakes.ts"
import { begin } from "./service.ts"

const strategy: Strategy = {
  request: get("/items", { since: since("epochMs"), after: cursor }),
  paging: { kind: "lastRecord", field: "id" },
  records: "items",
  pageSize: 1
}
const items = defineList({
  table: "items",
  description: "d",
  source: "s",
  scope: "s",
  full: [strategy],
  changes: { field: "changedAt", overlap: "1 minute", strategies: [strategy] },
  fields: { id: id("Id"), changedAt: instant("Change") }
})
const minute = 60_000

/** Reads five records, a minute apart by the service's clock; of those that changed since a time, `changed`. */
const reading = (checkpoint?: Checkpoint, mode: "full" | "incremental" = "full", changed: ReadonlyArray<number> = []) =>
  Effect.gen(function* () {
    const sent: Array<string> = []
    const requestsByResource = new Map<string, number>()
    yield* TestClock.setTime(begin)
    const api = Api.of({
      ...silentApi,
      requestsByResource,
      send: ({ request: { parameters }, resource }) =>
        Effect.sync(() => {
          const { after, since: from } = parameters
          sent.push(`${after ?? "first"}${from === undefined ? "" : ` since ${(Number(from) - begin) / minute}`}`)
          requestsByResource.set(resource, sent.length)
          const ids = from === undefined ? [1, 2, 3, 4, 5] : changed
          const next = ids.find((one) => one > Number(after ?? 0))
          const body = { items: next === undefined ? [] : [{ id: String(next), changedAt: begin + next * minute }] }
          return {
            bytes: Buffer.alloc(0),
            body,
            hasBigNumbers: false,
            at: 0,
            serviceTime: begin + sent.length * minute
          }
        })
    })
    const since = mode === "incremental" ? { since: begin } : {}
    const checkpoints: Readonly<Record<string, Checkpoint>> = checkpoint ? { all: checkpoint } : {}
    const outcome = yield* read(items, { mode, checkpoints, capabilities: noCapabilities, ...since }, contextOf()).pipe(
      Effect.provide(Layer.mergeAll(Layer.succeed(Api, api), Layer.succeed(Vault, vaultOf()), emptyWarehouse))
    )
    return { outcome, sent }
  })
const stopped = (more: Partial<Checkpoint> = {}): Checkpoint => ({
  ...beginning({ strategy, mode: "full", since: undefined, now: begin - 60 * minute, optional: nothingOptional }),
  count: 3,
  lastIds: ["3"],
  cursor: "3",
  servedAt: begin - 50 * minute,
  highest: begin + 3 * minute,
  ...more
})

describe("a list that is read in one go", () => {
  it.effect("has its watermark at its first answer, and not at its last, which may have missed changes", () =>
    Effect.gen(function* () {
      const { outcome, sent } = yield* reading()
      assert.deepStrictEqual(sent, ["first", "1", "2", "3", "4", "5"])
      assert.deepInclude(outcome, { servedAt: begin + minute, watermark: begin + minute, begunAt: begin, requests: 6 })
      assert.isFalse("since" in outcome)
    })
  )

  it.effect("of changes requests those since its time, and says so", () =>
    Effect.gen(function* () {
      const { outcome, sent } = yield* reading(undefined, "incremental", [2])
      assert.deepStrictEqual(sent, ["first since 0", "2 since 0"])
      assert.deepInclude(outcome, { mode: "incremental", since: begin, requests: 2 })
    })
  )
})

describe("a list that was interrupted", () => {
  it.effect("continues where it stopped, then reads what changed since it began, by the service's clock", () =>
    Effect.gen(function* () {
      const { outcome, sent } = yield* reading(stopped(), "full", [1, 5])
      assert.deepStrictEqual(sent, ["3", "4", "5", "first since -51", "1 since -51", "5 since -51"])
      assert.strictEqual(outcome.requests, 6, "the requests of both readings")
      assert.strictEqual(outcome.mode, "full")
      assert.deepInclude(outcome, { servedAt: begin - 50 * minute, begunAt: begin - 60 * minute })
      assert.strictEqual(outcome.watermark, begin + 4 * minute, "the second reading reached further")
    })
  )

  it.effect("by the local clock, if the service gave no time", () =>
    Effect.gen(function* () {
      const { sent } = yield* reading(stopped({ servedAt: undefined }), "full", [])
      assert.strictEqual(sent.at(-1), "first since -61")
    })
  )

  it.effect("begins anew if one page is all that it had read, or its definition is another", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* reading(stopped({ count: 1 }))).sent[0], "first")
      assert.deepStrictEqual((yield* reading(stopped({ fingerprint: "other" }))).sent[0], "first")
      assert.deepStrictEqual((yield* reading(stopped({ count: 2 }))).sent[0], "3")
    })
  )
})
