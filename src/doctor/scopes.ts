/** What the token may read: one small request for each scope that the definitions name. */
import { Clock, Effect } from "effect"
import { type Answer, Api } from "../api/api.ts"
import type { BadCredentials, BudgetExhausted, WrongLocation } from "../api/errors.ts"
import { at } from "../catalog/json.ts"
import type { Catalogue } from "../catalog/discover.ts"
import { dayMs } from "../catalog/timestamps.ts"
import { bind } from "../catalog/request.ts"
import { type Asked, asAsked } from "../catalog/asked.ts"
import { type Resource, type Strategy, partitionsOf } from "../catalog/resource.ts"
import type { Failure } from "../failure.ts"
import { type Line, ok, problem, warning } from "./check-result.ts"

export interface Account {
  readonly location: string
  readonly company: string | undefined
  readonly asked: Asked
}

/** The smallest page each list gives; 1 where nothing is said. The documents name it for the export alone (A 4.9). */
const smallestPages: Readonly<Record<string, number>> = { messages: 10 }

interface Probe {
  readonly scope: string
  readonly resource: Resource
  readonly strategy: Strategy
  /** Read under the rows of this table. */
  readonly under?: string
}

interface Result {
  readonly probe: Probe
  /** Absent: granted. */
  readonly refused?: "missing" | "unclear"
  readonly why?: string
  readonly answer?: Answer
}

const concurrency = 6

/** Reading the location has shown its own scope. Fails only with what ends every request. */
export const askScopes = Effect.fn("doctor.scopes")(function* (
  catalogue: Catalogue,
  account: Account
): Effect.fn.Return<ReadonlyArray<Line>, BadCredentials | WrongLocation | BudgetExhausted | Failure, Api> {
  const probes = probesOf(catalogue, account.asked)
  const [lists, children] = [
    probes.filter(({ under }) => under === undefined),
    probes.filter(({ under }) => under !== undefined)
  ]
  const listed = yield* Effect.forEach(lists, (probe) => ask(probe, account, undefined), { concurrency })
  const parents = children.map((probe) => ({ probe, parent: firstId(listed, probe.under!) }))
  const able = parents.filter(({ parent }) => parent !== undefined)
  const under = yield* Effect.forEach(able, ({ probe, parent }) => ask(probe, account, parent), { concurrency })
  const unable = parents.filter(({ parent }) => parent === undefined).map(({ probe }) => probe.scope)

  const results = [...listed, ...under]
  const granted = results.filter(({ refused }) => refused === undefined).length
  const skipped = [...unable, ...scopesNotAsked(catalogue, probes)]
  const requests = [...(yield* Api).requestsByResource.values()].reduce((sum, count) => sum + count, 0)
  return [
    ok(
      "scopes",
      `${granted} of ${results.length} that were asked for are granted, for ${requests} requests in all${skipped.length > 0 ? `; nothing to ask of ${skipped.join(", ")}` : ""}`
    ),
    ...results.flatMap((result) => lineOf(result, catalogue))
  ]
})

const probesOf = ({ resources }: Catalogue, asked: Asked): ReadonlyArray<Probe> => {
  const scopes = new Set(resources.map(({ scope }) => scope))
  return [...scopes].flatMap((scope): ReadonlyArray<Probe> => {
    if (scope === "any" || scope === "locations.readonly") return []
    const readers = resources.filter(
      (resource) => resource.scope === scope && asAsked(resource, asked) && !resource.embeddedIn
    )
    const list = readers.find(({ full }) => full.length > 0)
    if (list) return [{ scope, resource: list, strategy: list.full[0]! }]
    const child = readers.find(({ childOf }) => childOf && childOf.ids === undefined)
    return child ? [{ scope, resource: child, strategy: child.childOf!.strategy, under: child.childOf!.table }] : []
  })
}

const scopesNotAsked = ({ resources }: Catalogue, probes: ReadonlyArray<Probe>): ReadonlyArray<string> =>
  [...new Set(resources.map(({ scope }) => scope))].filter(
    (scope) => scope !== "any" && scope !== "locations.readonly" && !probes.some((probe) => probe.scope === scope)
  )

const ask = Effect.fnUntraced(function* (probe: Probe, { location, company, asked }: Account, parent: unknown) {
  const { resource, strategy } = probe
  const now = yield* Clock.currentTimeMillis
  const [partition, { parameters }] = partitionsOf(resource, asked)[0]!
  const request = bind(
    { ...strategy.request, parameters: { ...strategy.request.parameters, ...parameters } },
    {
      location,
      company,
      parent,
      partition,
      size: smallestPages[resource.table] ?? 1,
      windowStart: now - dayMs,
      windowEnd: now
    }
  )
  return yield* (yield* Api).send({ request, priority: 1, resource: "doctor" }).pipe(
    Effect.map((answer): Result => ({ probe, answer })),
    Effect.catchTags({
      Forbidden: ({ message }) => Effect.succeed<Result>({ probe, refused: "missing", why: message }),
      // Looked for and not found, so looking is allowed.
      NotFound: () => Effect.succeed<Result>({ probe }),
      RequestRejected: ({ message }) => Effect.succeed<Result>({ probe, refused: "unclear", why: message }),
      Unavailable: ({ message }) => Effect.succeed<Result>({ probe, refused: "unclear", why: message })
    })
  )
})
/** The id of the first row that a list just showed. */
const firstId = (listed: ReadonlyArray<Result>, table: string): unknown => {
  const found = listed.find(({ probe }) => probe.resource.table === table)
  const rows = found?.answer && at(found.answer.body, found.probe.strategy.records)
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined
  return at(row, "id") ?? at(row, "_id")
}

const lineOf = ({ probe: { scope }, refused, why }: Result, { resources }: Catalogue): ReadonlyArray<Line> => {
  if (refused === undefined) return []
  const tables = resources.filter((resource) => resource.scope === scope).map(({ table }) => table)
  return [
    refused === "missing"
      ? problem(
          "scopes",
          "credentials",
          `${scope} is missing, so these cannot be read: ${tables.join(", ")} (${why})`,
          `Add the scope to the integration, whose token stays the same; or leave them out: ./sluice sync --except ${tables.join(",")}`
        )
      : warning(
          "scopes",
          `${scope}: not known, the service said ${why}`,
          "./sluice sync tells more: it tries other ways."
        )
  ]
}
