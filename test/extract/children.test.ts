/** When the reading of children looks for parents, while these are still being listed. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Api } from "../../src/stages/api/api.ts"
import { discover } from "../../src/catalog/discover.ts"
import { childRequestOf } from "../../src/catalog/resource.ts"
import { readChildren } from "../../src/stages/extract/children.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { Signal } from "../../src/values/signal.ts"
import { contextOf, silentApi, vaultOf } from "./fakes.ts"

describe("children of parents that are being listed", () => {
  it.effect(
    "are looked for after each batch that changes the parents, and nothing is asked of the load in between",
    () =>
      Effect.gen(function* () {
        const { resources } = yield* Effect.promise(() => discover())
        const resource = resources.find((one) => childRequestOf(one) !== undefined)!
        const request = childRequestOf(resource)!
        const [committed, parentsRead] = [new Signal(), yield* Deferred.make<void>()]
        let [queries, commits, loads] = [0, 0, 0]
        const context = contextOf({
          resources,
          nextCommit: () => committed.next,
          loaded: Effect.sync(() => void loads++),
          known: {
            commitsOf: (table) => (table === request.table ? commits : 0),
            hasSeenAll: () => true,
            hasNoDeleted: () => true,
            hasMissing: () => false
          }
        })
        const reading = yield* Effect.forkChild(
          readChildren(
            resource,
            request,
            { childCapabilities: undefined, refreshCutoff: undefined, parents: { due: 0, oldestFetch: undefined } },
            parentsRead,
            context
          ).pipe(
            Effect.provideService(Api, Api.of({ send: () => Effect.never, ...silentApi })),
            Effect.provideService(Vault, vaultOf()),
            Effect.provideService(Warehouse, {
              rows: () =>
                Effect.sync(() => {
                  queries++
                  return []
                })
            } as unknown as Warehouse["Service"])
          )
        )
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(queries, 0)
        committed.notify() // Of another table.
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(queries, 0)
        for (commits of [1, 2]) {
          committed.notify()
          yield* TestClock.adjust("1 hour")
          assert.strictEqual(queries, commits)
        }
        assert.strictEqual(loads, 0, "what has arrived is loaded in its own time")
        yield* Deferred.succeed(parentsRead, undefined)
        assert.strictEqual((yield* Fiber.join(reading)).mode, "children")
        assert.strictEqual(loads, 1)
      })
  )
})

describe("a full sync whose local clock was set back after it began", () => {
  it.effect("requests the children of each parent once, although their times are before its beginning", () =>
    Effect.gen(function* () {
      const { resources } = yield* Effect.promise(() => discover())
      const resource = resources.find(({ table }) => table === "contact_notes")!
      const now = Date.parse("2026-01-01T00:00:00Z")
      yield* TestClock.setTime(now)
      let requests = 0
      const send = () =>
        Effect.suspend(() => {
          const body = { notes: [] }
          return ++requests > 20
            ? Effect.die("no end")
            : Effect.succeed({
                bytes: Buffer.from(JSON.stringify(body)),
                body,
                hasBigNumbers: false,
                at: now,
                serviceTime: undefined
              })
        })
      const due = ["a", "b"].map((id) => ({ id, version: "1", full: true, checkpoint: null }))
      // The warehouse keeps the times of the local clock: both parents stay due.
      const rows = (sql: string) => Effect.succeed(sql.includes("f.fetched_at <") ? due : [])
      const known = { ...contextOf().known, commitsOf: () => requests }
      const parentsRead = yield* Deferred.make<void>()
      yield* Deferred.succeed(parentsRead, undefined)
      const planned = { childCapabilities: undefined, refreshCutoff: now + 180_000 }
      const reading = yield* Effect.forkChild(
        readChildren(resource, childRequestOf(resource)!, planned, parentsRead, contextOf({ resources, known })).pipe(
          Effect.provideService(Api, Api.of({ send, ...silentApi })),
          Effect.provideService(Vault, vaultOf()),
          Effect.provideService(Warehouse, { rows } as unknown as Warehouse["Service"])
        )
      )
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* Fiber.join(reading)).mode, "children")
      assert.strictEqual(requests, 2)
    })
  )
})
