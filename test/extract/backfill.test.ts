/** Backfills of drawn windows: what they ask for, what they record as read, and what they say of the others. */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { cursor, get, size, windowEnd, windowStart } from "../../src/catalog/request.ts"
import { type Strategy } from "../../src/catalog/resource.ts"
import { Api } from "../../src/stages/api/api.ts"
import { RequestRejected } from "../../src/stages/api/errors.ts"
import { readWindows } from "../../src/stages/extract/backfill.ts"
import { noCapabilities } from "../../src/values/capabilities.ts"
import type { Checkpoint } from "../../src/values/checkpoint.ts"
import type { Frame } from "../../src/stores/vault/frame.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { randomFrom } from "../support/random.ts"
import { answerOf, contextOf, emptyWarehouse, silentApi, vaultOf } from "./fakes.ts"
import { listOf, paged } from "./service.ts"

const day = 86_400_000
const now = Date.parse("2026-06-01T00:00:00Z")
const strategyAt = (path: "/quick" | "/slow"): Strategy => ({
  request: get(path, { from: windowStart("epochMs"), to: windowEnd("epochMs"), limit: size, after: cursor }),
  paging: { kind: "lastRecord", field: "next" },
  records: "items",
  pageSize: 10,
  total: "total",
  verifyField: "at"
})
const strategies = [strategyAt("/quick"), strategyAt("/slow")]
const resourceWith = (padding: number) =>
  listOf([paged], {
    partitions: { open: { parameters: { state: "open" } }, done: { parameters: { state: "done" } } },
    backfill: { dateField: "at", strategies, padding }
  })

const drawWorld = (seed: number) => {
  const random = randomFrom(seed)
  const below = (n: number) => Math.floor(random() * n)
  // The newest window may reach beyond today.
  const windows = Array.from({ length: 1 + below(3) }, (_, n) => {
    const to = now + day * (1 - 10 * n)
    return [to - 10 * day, to] as const
  })
  return {
    windows,
    padding: below(2) * day,
    items: Array.from({ length: below(120) }, (_, n) => ({
      id: `i${n}`,
      at: now - Math.floor(random() * 40 * day),
      state: below(2) === 0 ? "open" : "done"
    })),
    refused: (["/quick", "/slow"] as const).filter(() => random() < 0.3),
    /** The window that lacks records of one state, more than changes explain. */
    short: random() < 0.4 ? { window: below(windows.length), state: random() < 0.5 ? "open" : "done" } : undefined
  }
}

const play = Effect.fnUntraced(function* (world: ReturnType<typeof drawWorld>) {
  const asked: Array<{
    readonly path: string
    readonly from: number
    readonly to: number
    readonly state: string
    readonly after: unknown
  }> = []
  const frames: Array<Frame> = []
  const served = (from: number, to: number, state: unknown) =>
    world.items
      .filter((one) => one.state === state && one.at >= from && one.at <= to)
      .toSorted((one, other) => one.at - other.at)
  const api = Api.of({
    ...silentApi,
    send: ({ priority, request: { parameters, path } }) =>
      Effect.gen(function* () {
        const { after, from, limit, state, to } = parameters as Readonly<Record<string, string | number>>
        assert.strictEqual(priority, 2, "a backfill goes last")
        asked.push({ path, from: Number(from), to: Number(to), state: String(state), after })
        if (world.refused.some((one) => one === path))
          return yield* new RequestRejected({ status: 400, message: `no ${path}`, refusal: "no" })
        const all = served(Number(from), Number(to), state)
        const start = after === undefined ? 0 : Number(after)
        const items = all.slice(start, start + Number(limit)).map((one, n) => ({ ...one, next: start + n + 1 }))
        const isShort =
          world.short?.state === state && Number(from) + world.padding === world.windows[world.short!.window]![0]
        return answerOf({ items, total: all.length + (isShort ? 30 : 0) })
      })
  })
  const resource = resourceWith(world.padding)
  const layer = Layer.mergeAll(Layer.succeed(Api, api), Layer.succeed(Vault, vaultOf(frames)), emptyWarehouse)
  yield* TestClock.setTime(now)
  const run = (checkpoints: Readonly<Record<string, Checkpoint>>) =>
    Effect.gen(function* () {
      const reading = {
        mode: "window" as const,
        checkpoints,
        capabilities: noCapabilities,
        windows: world.windows
      }
      const running = yield* Effect.forkChild(readWindows(resource, reading, contextOf()).pipe(Effect.provide(layer)))
      yield* TestClock.adjust("1 hour")
      return yield* Fiber.join(running)
    })
  return { asked, frames, outcome: yield* run({}), run, served }
})

it.effect("a backfill reads every record of its windows, and records a window as read if it lacks none", () =>
  Effect.gen(function* () {
    const ends = { complete: 0, short: 0, slow: 0, none: 0 }
    for (let seed = 1; seed <= 60; seed++) {
      const world = drawWorld(seed)
      const played = yield* Effect.result(play(world))
      const shown = JSON.stringify({ seed, ...world, items: world.items.length })
      if (world.refused.length === 2) {
        assert.strictEqual(played._tag, "Failure", shown)
        assert.include(JSON.stringify(played), "no /slow")
        ends.none++
        continue
      }
      if (played._tag === "Failure") throw new Error(`${shown}: ${String(played.failure)}`)
      const { asked, frames, outcome, served } = played.success
      const path = world.refused.includes("/quick") ? "/slow" : "/quick"
      if (path === "/slow") ends.slow++
      // A strategy that is refused is not tried again for the next window.
      const vain = asked.filter((one) => one.path !== path)
      assert.strictEqual(vain.length > 0, path === "/slow", shown)
      assert.isTrue(
        vain.every(({ from }) => from >= world.windows[0]![0] - world.padding),
        shown
      )
      assert.deepStrictEqual(
        outcome.warnings.map(({ _tag }) => _tag),
        path === "/slow" ? ["StrategyFailed"] : [],
        shown
      )
      const entries = frames.map(({ entry }) => entry)
      const read = entries.flatMap((entry) => (entry.kind === "window" ? [entry.window] : []))
      const short = world.windows.filter((_, n) => n === world.short?.window)
      assert.deepStrictEqual(
        read,
        world.windows
          .filter((window) => !short.includes(window))
          // The last day may still change.
          .map(([from, to]) => [from, Math.max(from, Math.min(to, now - day))]),
        shown
      )
      assert.deepStrictEqual(
        outcome.shortfalls,
        short.map(([from, to]) => ({ _tag: "WindowBelowTotal", missing: 30, from, to })),
        shown
      )
      ends[short.length > 0 ? "short" : "complete"]++
      for (const [from, to] of world.windows)
        for (const state of ["open", "done"]) {
          const pages = asked.filter(
            (one) => one.path === path && one.state === state && one.from === from - world.padding
          )
          assert.isTrue(
            pages.every((one) => one.to === to + world.padding),
            shown
          )
          const expected = served(from - world.padding, to + world.padding, state).length
          const least = Math.max(1, Math.ceil(expected / 10))
          // A full page is followed by a request for the next one, and a list that seems too short is requested again.
          const mayBeMore = short.length > 0 || (expected > 0 && expected % 10 === 0)
          assert.isTrue(pages.length === least || (mayBeMore && pages.length === least + 1), shown)
        }
      assert.strictEqual(outcome.mode, "window")
      assert.isFalse("watermark" in outcome, "a backfill advances no watermark")
    }
    for (const [end, count] of Object.entries(ends)) assert.isAtLeast(count, 2, end)
  })
)

it.effect("a window that was interrupted goes on where it was, and one that was read to its end begins again", () =>
  Effect.gen(function* () {
    for (let seed = 1; seed <= 25; seed++) {
      const world = { ...drawWorld(seed), refused: [], short: undefined }
      const { asked, frames, run } = yield* play(world)
      const first = asked.length
      const pages = frames.flatMap(({ entry }) => (entry.kind === "page" && entry.partition === "open" ? [entry] : []))
      const stopped = pages[seed % pages.length]!
      const [begun, until] = stopped.checkpoint!.window!
      // Of a period that ends elsewhere, nothing is known.
      yield* run({ open: { ...stopped.checkpoint!, window: [begun, until + 1] } })
      assert.deepStrictEqual(asked.slice(first), asked.slice(0, first), `seed ${seed}`)
      yield* run({ open: stopped.checkpoint! })
      const again = asked.slice(2 * first).filter(({ state }) => state === "open")
      const of = (window: readonly [number, number]) => again.filter(({ from }) => from === window[0] - world.padding)
      for (const window of world.windows) {
        const before = asked
          .slice(0, first)
          .filter(({ from, state }) => state === "open" && from === window[0] - world.padding)
        const isStopped = stopped.checkpoint!.window![0] === window[0] && !stopped.checkpoint!.done
        const read = pages.filter(({ checkpoint }) => checkpoint!.window![0] === window[0]).indexOf(stopped) + 1
        assert.deepStrictEqual(of(window), isStopped ? before.slice(read) : before, `seed ${seed}`)
      }
    }
  })
)
