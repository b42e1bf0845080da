/** Checks which scopes the token has, with one small request for each scope that the definitions name. */
import { Clock, Effect } from "effect"
import { itemAt } from "../../catalog/present.ts"
import { type ApiResponse, Api } from "../../stages/api/api.ts"
import { expectedOf, failureIn } from "../../catalog/answer.ts"
import { at } from "../../catalog/json.ts"
import type { Catalogue } from "../../catalog/discover.ts"
import { dayMs } from "../../catalog/timestamps.ts"
import { bind } from "../../catalog/request.ts"
import { enabledPart } from "../../catalog/optional.ts"
import type { Account } from "../../settings/settings.ts"
import { type Resource, type Strategy, partitionsOf } from "../../catalog/resource.ts"
import { isOfAgency, ofAgency } from "../../stages/api/token-kind.ts"
import { ok, warning } from "../../values/finding.ts"
import { type DoctorFinding, problem } from "./finding.ts"

/** The smallest page size of a list where it is not 1: the documents state one only for the export (A 4.9). */
const smallestPages: Readonly<Record<string, number>> = { messages: 10 }

interface Probe {
  readonly scope: string
  readonly resource: Resource
  readonly strategy: Strategy
  /** The request needs a row of this table. */
  readonly under?: string
}

interface Result {
  readonly probe: Probe
  /** Absent if the scope is granted. */
  readonly refused?: "missing" | "unclear"
  readonly why?: string
  readonly answer?: ApiResponse
}

const concurrency = 6

/** Leaves out the scope of locations, which the request for the location has checked. Fails only if no request can succeed. */
export const checkScopes = Effect.fn("doctor.scopes")(function* (all: Catalogue, account: Account) {
  // Without a list that no account has shown yet, nothing is missing.
  const catalogue = { ...all, resources: all.resources.filter(({ unproven }) => !unproven) }
  const probes = probesOf(catalogue, account.optional)
  const lists = probes.filter(({ under }) => under === undefined)
  const listed = yield* Effect.forEach(lists, (probe) => send(probe, account, undefined), { concurrency })
  const parents = probes.flatMap((probe) =>
    probe.under === undefined ? [] : [{ probe, parent: firstId(listed, probe.under) }]
  )
  const withParent = parents.filter(({ parent }) => parent !== undefined)
  const childResults = yield* Effect.forEach(withParent, ({ probe, parent }) => send(probe, account, parent), {
    concurrency
  })
  const withoutParent = parents.filter(({ parent }) => parent === undefined).map(({ probe }) => probe.scope)

  const results = [...listed, ...childResults]
  const granted = results.filter(({ refused }) => refused === undefined).length
  const isRefused = results.some(({ refused }) => refused === "missing")
  if (isRefused && (yield* isOfAgency(account.location, account.company)))
    return [problem("token", { ends: "credentials", ...ofAgency })]
  const skipped = [...withoutParent, ...scopesWithoutProbe(catalogue, probes)]
  const requests = [...(yield* Api).requestsByResource.values()].reduce((sum, count) => sum + count, 0)
  return [
    ok(
      "scopes",
      `${granted} of ${results.length} checked scopes are granted, ${requests} requests in all${skipped.length > 0 ? `; not checked: ${skipped.join(", ")}` : ""}`
    ),
    ...results.flatMap((result) => lineOf(result, catalogue))
  ]
})

const probesOf = ({ resources }: Catalogue, optional: Account["optional"]): ReadonlyArray<Probe> => {
  const scopes = new Set(resources.map(({ scope }) => scope))
  return [...scopes].flatMap((scope): ReadonlyArray<Probe> => {
    if (scope === "any" || scope === "locations.readonly") return []
    const readers = resources.filter(
      (resource) =>
        resource.scope === scope &&
        enabledPart(resource, optional) &&
        !resource.embeddedIn &&
        partitionsOf(resource, optional).length > 0
    )
    const list = readers.find((resource) => resource.kind === "list")
    if (list) return [{ scope, resource: list, strategy: itemAt(list.full, 0) }]
    for (const resource of readers)
      if (resource.childOf && resource.childOf.ids === undefined)
        return [{ scope, resource, strategy: resource.childOf.strategy, under: resource.childOf.table }]
    return []
  })
}

const scopesWithoutProbe = ({ resources }: Catalogue, probes: ReadonlyArray<Probe>): ReadonlyArray<string> =>
  [...new Set(resources.map(({ scope }) => scope))].filter(
    (scope) => scope !== "any" && scope !== "locations.readonly" && !probes.some((probe) => probe.scope === scope)
  )

const send = Effect.fnUntraced(function* (probe: Probe, { location, company, optional }: Account, parent: unknown) {
  const { resource, strategy } = probe
  const now = yield* Clock.currentTimeMillis
  const [partition, { parameters }] = itemAt(partitionsOf(resource, optional), 0)
  const request = bind(
    { ...strategy.request, parameters: { ...strategy.request.parameters, ...parameters } },
    {
      location,
      company,
      id: parent,
      partition,
      size: smallestPages[resource.table] ?? 1,
      windowStart: now - dayMs,
      windowEnd: now
    }
  )
  const failure = failureIn(expectedOf(resource, strategy, partition))
  const call = {
    request,
    pathTemplate: strategy.request.path,
    priority: 1,
    resource: "doctor",
    failureIn: failure
  } as const
  return yield* (yield* Api).send(call).pipe(
    Effect.map((answer): Result => ({ probe, answer })),
    Effect.catchTags({
      Forbidden: ({ message }) => Effect.succeed<Result>({ probe, refused: "missing", why: message }),
      // A token without the scope would be refused before the service looks for the record.
      RequestRejected: ({ message, refusal, status }) =>
        Effect.succeed<Result>(refusal && status === 404 ? { probe } : { probe, refused: "unclear", why: message }),
      Unavailable: ({ message }) => Effect.succeed<Result>({ probe, refused: "unclear", why: message })
    })
  )
})
/** The id of the first row that a list just returned. */
const firstId = (listed: ReadonlyArray<Result>, table: string): unknown => {
  const found = listed.find(({ probe }) => probe.resource.table === table)
  const rows = found?.answer && at(found.answer.body, found.probe.strategy.records)
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined
  return at(row, "id") ?? at(row, "_id")
}

const lineOf = ({ probe: { scope }, refused, why }: Result, { resources }: Catalogue): ReadonlyArray<DoctorFinding> => {
  if (refused === undefined) return []
  const tables = resources.filter((resource) => resource.scope === scope).map(({ table }) => table)
  return [
    refused === "missing"
      ? problem("scopes", {
          ends: "credentials",
          message: `${scope} is missing, so these cannot be read: ${tables.join(", ")} (${why})`,
          next: `Add the scope to the integration, whose token stays the same; or leave them out: ./sluice sync --except ${tables.join(",")}`
        })
      : warning("scopes", `${scope} could not be checked: ${why}`, "Run ./sluice sync, which tries other requests.")
  ]
}
