/** What the one way to a place decides, whatever the kind; and that a delivery which ends in any way is a stored fact. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { join } from "node:path"
import { discover } from "../../src/catalog/discover.ts"
import type { Delivery, Receiver } from "../../src/destinations/contract.ts"
import { type Found, guarded } from "../../src/destinations/guarded.ts"
import { ownerOf } from "../../src/output/folder.ts"
import { deliveringOf } from "../../src/run/release.ts"
import { beginDeliveries, targetStates } from "../../src/stores/warehouse/meta/targets.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { failure } from "../../src/values/failure.ts"
import { advancingClock } from "../support/api-server.ts"
import { newFolder } from "../support/sluice.ts"

const to: Receiver = {
  name: "place",
  folder: "",
  destination: { kind: "sqlite", place: "/place", secrets: [] } as Receiver["destination"]
}
const noWarehouse = {} as Warehouse["Service"]

/** Delivers to a place that says these of itself, one after the other, and returns what was done there. */
const delivered = (looks: ReadonlyArray<Partial<Found> | undefined>, more: { full?: boolean; stageMs?: number } = {}) =>
  Effect.gen(function* () {
    const output = { folder: newFolder(), memoryMb: 1 }
    const owner = yield* ownerOf(output.folder)
    const done: Array<string> = []
    let at = 0
    const deliver = guarded({
      words: () => ({ to: "/place", unit: "table" }),
      look: () =>
        Effect.sync(() => {
          done.push("look")
          const found = looks[Math.min(at++, looks.length - 1)]
          return found && { owner, run: "2", missing: [], ...found }
        }),
      stage: (_, { found, full }) =>
        Effect.gen(function* () {
          done.push(`stage ${full ? "all" : (found?.missing.join() ?? "new")}`)
          yield* Effect.sleep(more.stageMs ?? 0)
          return Effect.sync(() => [done.push("commit")].map(String))
        })
    })
    // Only these are read of it.
    const given = { output, run: "3", full: more.full ?? false } as Delivery
    const exit = yield* advancingClock(Effect.exit(deliver.run(to, () => given, undefined)))
    return { done: done.join(), exit: Exit.isSuccess(exit) ? "delivered" : String(exit.cause) }
  }).pipe(Effect.provideService(Warehouse, noWarehouse))

describe("a delivery", () => {
  it.effect.each<readonly [string, Parameters<typeof delivered>, string, RegExp]>([
    ["to an empty place", [[undefined]], "look,stage new,commit", /delivered/],
    ["to a place of an earlier run", [[{ run: "1" }]], "look,stage ,commit", /delivered/],
    ["to a place that has lost something", [[{ missing: ["a"] }]], "look,stage a,commit", /delivered/],
    ["to a place of another folder", [[{ owner: "other" }]], "look", /another output folder/],
    ["to a place of a later run", [[{ run: "4" }]], "look", /of a later run/],
    ["in full to either", [[{ owner: "other", run: "4" }], { full: true }], "stage all,commit", /delivered/],
    ["that took long", [[{}], { stageMs: 5000 }], "look,stage ,look,commit", /delivered/],
    ["that a later run has overtaken", [[{}, { run: "4" }], { stageMs: 5000 }], "look,stage ,look", /of a later run/],
    [
      "whose place another folder has taken",
      [[undefined, { owner: "o" }], { stageMs: 5000 }],
      "look,stage new,look",
      /another/
    ]
  ])("%s", ([, args, done, how]) =>
    Effect.gen(function* () {
      const found = yield* delivered(...args)
      assert.strictEqual(found.done, done)
      assert.match(found.exit, how)
    })
  )

  it.live("is a stored fact however it ends, and one that is stopped stays open", () =>
    Effect.gen(function* () {
      yield* prepare(yield* Effect.promise(() => discover()))
      const deliveries = {
        well: Effect.void,
        failed: Effect.fail(failure({ _tag: "DestinationFailed", target: "failed", detail: "no room" })),
        defect: Effect.die(new URIError("URI malformed")),
        stopped: Effect.interrupt
      }
      yield* beginDeliveries(Object.keys(deliveries), "3")
      for (const [name, delivery] of Object.entries(deliveries))
        yield* Effect.exit(deliveringOf("3")(name, delivery as Effect.Effect<void>))
      const states = (yield* targetStates()).map(({ name, problem, run }) => [name, run, problem])
      assert.deepStrictEqual(states, [
        ["defect", undefined, "URI malformed"],
        ["failed", undefined, "no room"],
        ["stopped", undefined, "the run ended before it was brought up to date"],
        ["well", "3", undefined]
      ])
    }).pipe(
      Effect.provide(Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 128 })),
      Effect.scoped
    )
  )
})
