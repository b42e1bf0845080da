/** Reads a list of a fake service in this process, on a test clock. */
import { Clock, Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Api } from "../../src/stages/api/api.ts"
import { RequestRejected, Unavailable } from "../../src/stages/api/errors.ts"
import { id, instant } from "../../src/catalog/fields.ts"
import { cursor, cursorOr, get, size, windowEnd, windowStart } from "../../src/catalog/request.ts"
import { type ListResource, type Strategy, defineList } from "../../src/catalog/resource.ts"
import type { Reading } from "../../src/stages/extract/run-context.ts"
import { read } from "../../src/stages/extract/list.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { contextOf, silentApi, emptyWarehouse, vaultOf } from "./fakes.ts"
import { noCapabilities } from "../../src/values/capabilities.ts"
import { sentencesOf, statusOf } from "../../src/values/status.ts"

export type Parameters = Readonly<Record<string, unknown>>
export interface Item {
  readonly id: string
  readonly at: number
  readonly [field: string]: unknown
}
export type Answer = Readonly<Record<string, unknown>>

export const begin = Date.parse("2026-01-01T00:00:00Z")
export const items = (count: number, at: (n: number) => number = (n) => n * 60_000): ReadonlyArray<Item> =>
  Array.from({ length: count }, (_, n) => ({ id: `i${n}`, at: begin + at(n) }))

export const listOf = (full: ReadonlyArray<Strategy>, more: Partial<ListResource> = {}) =>
  defineList({
    table: "items",
    description: "d",
    source: "s",
    scope: "s",
    full,
    fields: { id: id("Id"), at: instant("At") },
    ...more
  })

export const paged: Strategy = {
  request: get("/items", { limit: size, skip: cursorOr(0) }),
  paging: { kind: "offset" },
  records: "items",
  pageSize: 100
}
export const after: Strategy = {
  request: get("/items", { limit: size, after: cursor }),
  paging: { kind: "lastRecord", field: "next" },
  records: "items",
  pageSize: 100,
  total: "total"
}
export const windowed: Strategy = {
  request: get("/items", { from: windowStart("epochMs"), to: windowEnd("epochMs"), limit: size }),
  paging: { kind: "once" },
  records: "items",
  pageSize: 500,
  maxRecords: 500,
  total: "total",
  windows: { from: "2000-01-01" }
}

/** Reads a list to its end. Dies after 2000 requests, because the reading would never end. */
export const reading = (
  resource: ListResource,
  answer: (parameters: Parameters, n: number) => Answer,
  options: {
    readonly reading?: Partial<Reading>
    readonly cuts?: Set<number>
    readonly now?: number
    /** Whether the answers say the time of the service. */
    readonly isTimed?: boolean
  } = {}
) =>
  Effect.gen(function* () {
    const seen = new Set<string>()
    let requests = 0
    const api = Api.of({
      send: ({ request }) =>
        Effect.gen(function* () {
          if (++requests > 2000) return yield* Effect.die("no end")
          const body = answer(request.parameters, requests)
          if (typeof body["rejection"] === "string")
            return yield* new RequestRejected({ status: 400, message: body["rejection"], refusal: body["rejection"] })
          if (body["tooLarge"] === true)
            return yield* new RequestRejected({ status: 200, message: "the response is too large", isTooLarge: true })
          if (typeof body["outage"] === "string")
            return yield* new Unavailable({ message: body["outage"], later: false, ...Object(body["kind"]) })
          for (const item of (body["items"] ?? []) as ReadonlyArray<Item>) seen.add(item.id)
          return {
            bytes: Buffer.alloc(0),
            body,
            hasBigNumbers: false,
            at: 0,
            serviceTime: options.isTimed === false ? undefined : yield* Clock.currentTimeMillis
          }
        }),
      ...silentApi
    })
    const context = contextOf({ cuts: options.cuts ?? new Set() })
    yield* TestClock.setTime(options.now ?? Date.parse("2026-06-01T00:00:00Z"))
    const running = yield* Effect.forkChild(
      read(resource, { mode: "full", checkpoints: {}, capabilities: noCapabilities, ...options.reading }, context).pipe(
        Effect.provide(Layer.mergeAll(Layer.succeed(Api, api), Layer.succeed(Vault, vaultOf()), emptyWarehouse))
      )
    )
    yield* TestClock.adjust("1 hour")
    const exit = yield* Fiber.await(running)
    if (Exit.isFailure(exit)) {
      const [error] = exit.cause.reasons
      const message = error?._tag === "Fail" ? String(error.error.message) : "no end"
      return {
        status: "rejected",
        error: error?._tag === "Fail" ? error.error : undefined,
        warnings: message,
        seen,
        requests
      }
    }
    return {
      outcome: exit.value,
      status: statusOf(exit.value),
      warnings: sentencesOf(exit.value).join("; "),
      finished: exit.value.finished,
      capabilities: exit.value.capabilities,
      watermark: exit.value.watermark,
      seen,
      requests
    }
  })

export const page = (list: ReadonlyArray<Item>, { skip, limit }: Parameters, cut = Infinity) =>
  list.slice(Number(skip ?? 0), Number(skip ?? 0) + Math.min(Number(limit), cut))
