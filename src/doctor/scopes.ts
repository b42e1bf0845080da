/** What the token may read: one small request for each scope that the definitions name. */
import { Clock, Effect } from "effect"
import { type Answer, Api } from "../api/api.ts"
import type { BadCredentials, BudgetSpent, WrongLocation } from "../api/errors.ts"
import { at } from "../catalog/body.ts"
import type { Catalogue } from "../catalog/discover.ts"
import { dayMs } from "../catalog/instants.ts"
import { fill } from "../catalog/request.ts"
import { type Asked, asAsked } from "../catalog/asked.ts"
import { type Resource, type Way, passesOf } from "../catalog/resource.ts"
import type { Failure } from "../failure.ts"
import { type Line, ok, problem, warning } from "./line.ts"

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
  readonly way: Way
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
): Effect.fn.Return<ReadonlyArray<Line>, BadCredentials | WrongLocation | BudgetSpent | Failure, Api> {
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
      (resource) => resource.scope === scope && asAsked(resource, asked) && !resource.within
    )
    const list = readers.find(({ full }) => full.length > 0)
    if (list) return [{ scope, resource: list, way: list.full[0]! }]
    const child = readers.find(({ each }) => each && each.ids === undefined)
    return child ? [{ scope, resource: child, way: child.each!.way, under: child.each!.table }] : []
  })
}

const scopesNotAsked = ({ resources }: Catalogue, probes: ReadonlyArray<Probe>): ReadonlyArray<string> =>
  [...new Set(resources.map(({ scope }) => scope))].filter(
    (scope) => scope !== "any" && scope !== "locations.readonly" && !probes.some((probe) => probe.scope === scope)
  )

const ask = Effect.fnUntraced(function* (probe: Probe, { location, company, asked }: Account, parent: unknown) {
  const { resource, way } = probe
  const now = yield* Clock.currentTimeMillis
  const [pass, { parameters }] = passesOf(resource, asked)[0]!
  const request = fill(
    { ...way.request, parameters: { ...way.request.parameters, ...parameters } },
    {
      location,
      company,
      parent,
      pass,
      size: smallestPages[resource.table] ?? 1,
      windowStart: now - dayMs,
      windowEnd: now
    }
  )
  return yield* (yield* Api).send({ request, priority: 1, resource: "doctor" }).pipe(
    Effect.map((answer): Result => ({ probe, answer })),
    Effect.catchTags({
      NotPermitted: ({ message }) => Effect.succeed<Result>({ probe, refused: "missing", why: message }),
      // Looked for and not found, so looking is allowed.
      Gone: () => Effect.succeed<Result>({ probe }),
      Refused: ({ message }) => Effect.succeed<Result>({ probe, refused: "unclear", why: message }),
      Unavailable: ({ message }) => Effect.succeed<Result>({ probe, refused: "unclear", why: message })
    })
  )
})
/** The id of the first row that a list just showed. */
const firstId = (listed: ReadonlyArray<Result>, table: string): unknown => {
  const found = listed.find(({ probe }) => probe.resource.table === table)
  const rows = found?.answer && at(found.answer.body, found.probe.way.records)
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
