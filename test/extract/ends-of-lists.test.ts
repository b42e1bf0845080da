/** Every list ends where the service's does: pages are cut to any length, totals are missing, flags too. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { commonFields } from "../../src/catalog/fields.ts"
import { discover } from "../../src/catalog/discover.ts"
import type { Parameters, Placeholder, Template } from "../../src/catalog/request.ts"
import type { Resource, Strategy } from "../../src/catalog/resource.ts"
import { Api } from "../../src/stages/api/api.ts"
import { beginning, idOf } from "../../src/stages/extract/list-progress.ts"
import { readPartition } from "../../src/stages/extract/paginate.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { randomFrom } from "../support/random.ts"
import { nothingOptional } from "../support/optional.ts"
import { answerOf, contextOf, emptyWarehouse, silentApi, vaultOf } from "./fakes.ts"

const { resources } = await discover()
/**
 * The lists with several pages that no account has shown yet. Of the others it is known how long a page is at most, so a short
 * one is their end, which saves a request for each parent.
 */
const lists = resources
  .filter(({ unproven }) => unproven)
  .flatMap((resource) =>
    [...(resource.full ?? []), ...(resource.childOf ? [resource.childOf.strategy] : [])]
      .filter(({ paging, windows }) => !["once", "sortValue"].includes(paging.kind) && windows === undefined)
      .map((strategy) => ({ resource, strategy }))
  )

interface World {
  readonly count: number
  /** The lengths to which pages are cut, one after another. */
  readonly lengths: ReadonlyArray<number>
  /** A gateway asks the service for shorter pages; or it shortens the answer. */
  readonly isLimit: boolean
  readonly hasTotal: boolean
  readonly hasMore: boolean
}
const drawn = (seed: number): World => {
  const draw = randomFrom(seed)
  const upTo = (most: number) => Math.floor(draw() ** 2 * most)
  const cut = 1 + upTo(60)
  const isLimit = draw() < 0.5
  const others = draw() < 0.5 ? [Infinity, Infinity] : [1 + upTo(60), 1 + upTo(60)]
  return {
    count: upTo(300),
    lengths: isLimit ? [cut] : draw() < 0.3 ? [Infinity] : [cut, ...others],
    isLimit,
    hasTotal: draw() < 0.4,
    hasMore: draw() < 0.4
  }
}

/** The value that a request has in the place of a placeholder. */
const valueOf = (parameters: unknown, template: Template, name: Placeholder["placeholder"]): unknown => {
  if (typeof template !== "object" || template === null) return undefined
  if ("placeholder" in template) return template.placeholder === name ? parameters : undefined
  return Object.entries(template as Parameters)
    .map(([member, part]) => valueOf((parameters as Record<string, unknown> | undefined)?.[member], part, name))
    .find((value) => value !== undefined)
}

const put = (body: Record<string, unknown>, path: string, value: unknown): void => {
  const [name, ...rest] = path.split(".")
  if (rest.length === 0) body[name!] = value
  else put((body[name!] ??= {}) as Record<string, unknown>, rest.join("."), value)
}

/** The answer of a service that has `all`, to the nth request of this list. */
const served = (strategy: Strategy, { hasMore, hasTotal, isLimit, lengths }: World, all: ReadonlyArray<Row>) => {
  const { paging, records: path, request } = strategy
  return (parameters: unknown, n: number): unknown => {
    const asked = Number(valueOf(parameters, request.parameters, "size") ?? strategy.pageSize)
    const cut = lengths[n % lengths.length]!
    const size = isLimit ? Math.min(asked, cut) : asked
    const cursor = valueOf(parameters, request.parameters, "cursor")
    const behind = JSON.stringify(cursor)
    const start =
      cursor === undefined || cursor === "" || behind === "[]"
        ? 0
        : paging.kind === "offset"
          ? Number(cursor)
          : paging.kind === "pageNumber"
            ? (Number(cursor) - paging.first) * size
            : 1 + all.findIndex(({ cursors }) => cursors.includes(behind))
    const page = all.slice(start, start + Math.min(size, cut)).map(({ record }) => record)
    const isLast = start + page.length >= all.length
    if (path === "") return page
    const body: Record<string, unknown> = {}
    put(body, path, page)
    for (const [name, kind] of Object.entries(strategy.beside ?? {})) if (kind === "true") put(body, name, true)
    if (hasTotal && strategy.total !== undefined && !strategy.total.includes(".0."))
      put(body, strategy.total, all.length)
    if (hasMore && strategy.more !== undefined) put(body, strategy.more, !isLast)
    if (paging.kind === "body")
      for (const part of Object.values(paging.parts)) put(body, part, page.length === 0 ? null : page.at(-1)!["id"])
    if (paging.kind === "expiring" && !isLast) put(body, paging.field, page.at(-1)!["id"])
    return body
  }
}

interface Row {
  readonly record: Readonly<Record<string, unknown>>
  /** What the next page may be asked by. */
  readonly cursors: ReadonlyArray<string>
}
const rowsOf = ({ key, fields }: Resource, { paging }: Strategy, count: number): ReadonlyArray<Row> => {
  const field = Object.keys(fields).find((name) => !/^_?id$/.test(name) && !Object.hasOwn(commonFields, name))!
  return Array.from({ length: count }, (_, n) => {
    const id = `r${n}`
    const record = {
      ...(key === undefined && { id }),
      [field]: `x${n}`,
      ...(paging.kind === "lastRecord" && paging.field !== "id" && { [paging.field]: [n, id] })
    }
    const ids = paging.kind === "body" ? Object.keys(paging.parts).map((part) => [part, id] as const) : []
    return { record, cursors: [id, [n, id], Object.fromEntries(ids)].map((one) => JSON.stringify(one)) }
  })
}

const readBy = Effect.fnUntraced(function* ({ resource, strategy }: (typeof lists)[number], world: World) {
  const all = rowsOf(resource, strategy, world.count)
  const answer = served(strategy, world, all)
  const seen = new Set<string>()
  let requests = 0
  const api = Api.of({
    ...silentApi,
    send: ({ request: { parameters } }) =>
      Effect.suspend(() => {
        if (++requests > 1000) return Effect.die("no end")
        const body = answer(parameters, requests - 1)
        const path = strategy.records
        const page = path === "" ? body : path.split(".").reduce<any>((part, name) => part?.[name], body)
        for (const record of page as ReadonlyArray<unknown>) seen.add(idOf(record))
        return Effect.succeed(answerOf(body))
      })
  })
  const fresh = beginning({ strategy, mode: "full", since: undefined, now: 0, optional: nothingOptional })
  const running = yield* Effect.forkChild(
    readPartition(
      {
        resource,
        strategy,
        name: "all",
        parameters: {},
        sizes: {},
        unreliableTotals: new Set(),
        fresh,
        label: resource.table,
        priority: 1
      },
      fresh,
      contextOf()
    ).pipe(Effect.provide(Layer.mergeAll(Layer.succeed(Api, api), Layer.succeed(Vault, vaultOf()), emptyWarehouse)))
  )
  yield* TestClock.adjust("1 hour")
  const exit = yield* Fiber.await(running)
  return { seen: seen.size, requests, end: Exit.isSuccess(exit) ? exit.value : exit.cause }
})

const holds = (list: (typeof lists)[number], seed: number) =>
  Effect.gen(function* () {
    const world = drawn(seed)
    const { end, seen } = yield* readBy(list, world)
    const what = `${list.resource.table} ${list.strategy.paging.kind}, seed ${seed}: ${JSON.stringify(world)} ${JSON.stringify(end).slice(0, 600)}`
    // What is counted and not shown makes the list incomplete.
    const isTold = "state" in end && end.state.total === world.count && end.state.count < world.count
    assert.isTrue(seen === world.count || isTold, what)
  })

describe("a list is read to its end, whatever its pages are cut to and whether it is counted", () => {
  it.effect("in the further lists", () =>
    Effect.forEach(lists, (list) => Effect.forEach([1, 2, 3, 4, 5, 6], (seed) => holds(list, seed)))
  )
  it.effect(
    "in the further lists, of 300 worlds",
    () =>
      Effect.forEach(lists, (list) =>
        Effect.forEach(
          Array.from({ length: 300 }, (_, seed) => seed),
          (seed) => holds(list, seed)
        )
      ),
    { tags: ["slow"] }
  )
})
