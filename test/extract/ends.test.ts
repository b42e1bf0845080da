/** How a reading ends with each error: what is missing, whether the run ends, and whether the next one starts over. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { Resource } from "../../src/catalog/resource.ts"
import { Api } from "../../src/stages/api/api.ts"
import {
  type ApiError,
  BadCredentials,
  BudgetExhausted,
  Forbidden,
  RequestRejected,
  Unavailable,
  WrongLocation
} from "../../src/stages/api/errors.ts"
import { extract } from "../../src/stages/extract/extract.ts"
import type { EndEntry } from "../../src/stores/vault/entry.ts"
import type { Frame } from "../../src/stores/vault/frame.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { noCapabilities } from "../../src/values/capabilities.ts"
import { type RunEvent, RunEvents } from "../../src/values/run-event.ts"
import { statusOf } from "../../src/values/status.ts"
import type { Step } from "../../src/values/step.ts"
import { contextOf, emptyWarehouse, listOf, silentApi, vaultOf } from "./fakes.ts"

/** Reads two lists, of which requests for the first one, or all, end with an error. */
const extracted = (error: ApiError | undefined, isDown = false) =>
  Effect.gen(function* () {
    const [frames, events] = [[] as Array<Frame>, [] as Array<RunEvent>]
    const requestsByResource = new Map<string, number>()
    const api = Api.of({
      ...silentApi,
      requestsByResource,
      send: ({ request: { path }, resource }) =>
        Effect.suspend((): ReturnType<Api["Service"]["send"]> => {
          requestsByResource.set(resource, (requestsByResource.get(resource) ?? 0) + 1)
          const isFailing = error !== undefined && (isDown || path === "/first")
          return isFailing
            ? Effect.fail(error)
            : Effect.succeed({
                bytes: Buffer.alloc(0),
                body: { [path.slice(1)]: [{ id: "a" }] },
                hasBigNumbers: false,
                at: 0,
                serviceTime: undefined
              })
        })
    })
    const steps = ["first", "second"].map(listOf).map((resource: Resource): Step => ({
      resource,
      mode: "full",
      embedded: [],
      refreshCutoff: undefined,
      capabilities: noCapabilities,
      childCapabilities: undefined,
      checkpoints: {}
    }))
    const running = yield* Effect.forkChild(
      extract(steps, contextOf(), Effect.succeed("C")).pipe(
        Effect.provide(Layer.mergeAll(Layer.succeed(Api, api), Layer.succeed(Vault, vaultOf(frames)), emptyWarehouse)),
        Effect.provideService(RunEvents, (event) => void events.push(event))
      )
    )
    yield* TestClock.adjust("1 hour")
    const { ended: results, refused } = yield* Fiber.join(running)
    const result = (resource: string) => results.find((one) => one.resource === resource)!
    const ends = frames.filter(({ entry }) => entry.kind === "end").map(({ entry }) => entry as EndEntry)
    return { ends, events, refused, first: result("first"), second: result("second") }
  })

describe("a reading that ends with an error", () => {
  it.effect.each([
    ["a missing scope", new Forbidden({ message: "401" }), { reason: "forbidden", shortfall: "Forbidden" }],
    [
      "a request that is refused",
      new RequestRejected({ status: 422, message: "no" }),
      { shortfall: "NoStrategyWorks", finished: true }
    ],
    [
      "an error of the service",
      new Unavailable({ message: "500", later: false }),
      { shortfall: "RequestFailed", requests: 2 }
    ],
    [
      "no service",
      new Unavailable({ message: "refused", later: true }),
      { reason: "retryLater", shortfall: "RequestFailed" }
    ],
    [
      "no budget",
      new BudgetExhausted({ message: "used up", resumeAt: 777 }),
      { reason: "retryLater", shortfall: "RequestFailed", resumeAt: 777 }
    ],
    [
      "no budget for now",
      new BudgetExhausted({ message: "used up" }),
      { reason: "retryLater", shortfall: "RequestFailed" }
    ]
  ] as ReadonlyArray<readonly [string, ApiError, Readonly<Record<string, unknown>>]>)("%s: %o", ([, error, expected]) =>
    Effect.gen(function* () {
      const { ends, first } = yield* extracted(error)
      const { finished, reason, requests, resumeAt } = first
      assert.deepStrictEqual(
        // Another request shows whether the service is there at all.
        { reason, resumeAt, finished, requests, shortfall: first.shortfalls.map(({ _tag }) => _tag).join() },
        { reason: undefined, resumeAt: undefined, finished: undefined, requests: 1, ...expected } as never
      )
      assert.strictEqual(statusOf(first), "incomplete")
      const end = ends.find(({ resource }) => resource === "first")!
      assert.deepInclude(end.outcome, { shortfalls: first.shortfalls, requests }, "the vault has the same")
      assert.isFalse("reason" in end.outcome)
    })
  )

  it.effect("leaves the others, unless the whole service is down", () =>
    Effect.gen(function* () {
      const one = yield* extracted(new Unavailable({ message: "500", later: false }))
      assert.deepStrictEqual([statusOf(one.second), one.second.reason], ["complete", undefined])
      const all = yield* extracted(new Unavailable({ message: "500", later: false }), true)
      assert.deepStrictEqual([all.first.reason, all.second.reason], ["retryLater", "retryLater"])
    })
  )

  it.effect.each([
    new BadCredentials({ kind: "private", message: "401 revoked", answered: 401 }),
    new WrongLocation({ message: "403", answered: 403 })
  ])("gives each reading of a location that is refused its end, whichever had ended before: %o", (error) =>
    Effect.gen(function* () {
      for (const isAtOnce of [true, false]) {
        const { ends, first, refused, second } = yield* extracted(error, isAtOnce)
        assert.strictEqual(refused, error)
        const unread = ends.filter(({ outcome }) =>
          outcome.shortfalls.some(({ _tag }) => _tag === "LocationUnreadable")
        )
        assert.includeMembers(
          unread.map(({ resource }) => resource),
          isAtOnce ? ["first", "second"] : ["first"]
        )
        assert.sameMembers(
          ends.map(({ resource }) => resource),
          ["first", "second"]
        )
        assert.deepStrictEqual([first.reason, statusOf(first)], ["badToken", "incomplete"])
        assert.isDefined(second)
      }
    })
  )

  it.effect("is told to those who watch, as one that ends well", () =>
    Effect.gen(function* () {
      const { events } = yield* extracted(new Forbidden({ message: "401" }))
      const told = (resource: string) => events.filter((event) => "resource" in event && event.resource === resource)
      assert.deepStrictEqual(
        told("first").map(({ event }) => event),
        ["resourceStarted", "resourceFinished"]
      )
      assert.deepInclude(told("first")[1], {
        status: "incomplete",
        reason: "forbidden",
        requests: 1,
        pages: 0,
        records: 0,
        location: "L"
      })
      assert.deepInclude(told("second")[1], { status: "complete", mode: "full", pages: 1, records: 1, warnings: [] })
    })
  )
})
