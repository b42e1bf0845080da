/**
 * Reads the list of one resource: its passes side by side. Where a way of reading does not work for this account, the
 * next one is taken and the reason told.
 */
import { Clock, Effect } from "effect"
import { Api } from "../api/api.ts"
import type { ApiError } from "../api/errors.ts"
import { Refused } from "../api/errors.ts"
import { type Resource, passesOf } from "../catalog/resource.ts"
import { dayMs } from "../catalog/instants.ts"
import type { Failure } from "../failure.ts"
import type { Outcome } from "../vault/frame.ts"
import type { Vault } from "../vault/vault.ts"
import { type Findings, type Reading, type RunContext, findingsOf } from "./context.ts"
import { writeGone } from "./deletions.ts"
import { type State, beginning, fingerprint, readPass, resumed } from "./pass.ts"

/**
 * One reading, and where it went on from an earlier run, what changed since that one began: its first pages may be days
 * old.
 */
export const read = Effect.fn("extract.read")(function* (
  resource: Resource,
  reading: Reading,
  context: RunContext
): Effect.fn.Return<Outcome, ApiError | Failure, Api | Vault> {
  const outcome = yield* readOnce(resource, reading, context)
  const { changes } = resource
  if (!changes || Object.keys(reading.begun).length === 0 || outcome.verdict === "incomplete") return outcome
  const since = (outcome.servedAt ?? outcome.begunAt!) - changes.overlapDays * dayMs
  const more = yield* readOnce(resource, { ...reading, mode: "changed", since, begun: {} }, context)
  return {
    ...outcome,
    verdict: more.verdict === "complete" ? outcome.verdict : more.verdict,
    doubts: [...new Set([...outcome.doubts, ...more.doubts])],
    requests: outcome.requests + more.requests,
    ...(more.watermark !== undefined && { watermark: Math.max(outcome.watermark ?? 0, more.watermark) })
  }
})

const readOnce = Effect.fnUntraced(function* (
  resource: Resource,
  reading: Reading,
  context: RunContext
): Effect.fn.Return<Outcome, ApiError | Failure, Api | Vault> {
  const api = yield* Api
  const before = api.requestsByResource.get(resource.table) ?? 0
  const reasons: Array<string> = []
  // A full reading tries again the ways that did not work then.
  const findings = findingsOf(reading.findings)
  const sizes: Record<string, number> = { ...findings.sizes }
  const loose = new Set(findings.loose)
  const refused = reading.mode === "changed" ? [...findings.refused] : []
  const startedAt = yield* Clock.currentTimeMillis

  // Ways to ask for what changed, then the ways to ask for everything.
  const ways = [
    ...(reading.mode === "changed"
      ? (resource.changes?.ways ?? []).map((way) => ({ way, mode: "changed" as const }))
      : []),
    ...resource.full.map((way) => ({ way, mode: "full" as const }))
  ].filter(({ way }) => !refused.includes(fingerprint(way)))
  for (const { way, mode } of ways) {
    const since = mode === "changed" ? reading.since : undefined
    const begin = beginning({ way, mode, since, now: startedAt, asked: context.asked })
    const from = (name: string) => {
      const state = resumed(reading.begun[name], begin)
      // One page is the price of an interruption, and a fresh one is worth it.
      return state.count > way.pageSize ? state : begin
    }
    const passes = passesOf(resource, context.asked)
    // What a pass says of its records is only true if the service heeds its parameters, so one looks at the other.
    const telling = passes.some(([, { columns, parameters }]) => columns && parameters)
    let other: ReadonlyArray<string> | undefined
    const results = yield* Effect.forEach(
      passes,
      ([name, { parameters = {} }]) =>
        readPass(
          {
            resource,
            way,
            name,
            parameters,
            sizes,
            loose,
            ...(telling && { other: other ?? [] }),
            label: resource.table,
            priority: 1,
            ...(mode === "full" && { fresh: begin })
          },
          from(name),
          context
        ).pipe(
          Effect.map((result) => {
            // A pass that is not understood leaves the first one as good as it is.
            if ("reason" in result && other !== undefined) return { state: { ...begin, ignored: name } }
            if (telling && "state" in result) other ??= result.state.firstIds
            return result
          }),
          Effect.catchTag("Gone", (gone) =>
            Effect.gen(function* () {
              if (typeof resource.passes !== "string") return yield* gone
              // One of the words in the settings, maybe a row's own id; the others are none the worse.
              reasons.push(`${name}, which the settings ask for, is not there`)
              yield* writeGone(resource, [name], context)
              return { state: { ...begin, done: true } }
            })
          )
        ),
      { concurrency: telling ? 1 : "unbounded" }
    )
    const failure = results.find((result) => "reason" in result)
    if (failure) {
      reasons.push(`${way.request.method} ${way.request.path} did not do: ${failure.reason}`)
      refused.push(fingerprint(way))
      continue
    }
    const states = results.filter((result) => "state" in result).map(({ state }) => state)
    for (const { ignored } of states)
      if (ignored) reasons.push(`the service does not tell ${ignored} ones from the others`)
    return {
      ...outcomeOf(
        states.filter(({ ignored }) => !ignored),
        mode,
        since,
        reasons
      ),
      requests: (api.requestsByResource.get(resource.table) ?? 0) - before,
      way: { sizes, refused, loose: [...loose] } satisfies Findings
    }
  }
  return yield* new Refused({ status: 0, message: reasons.join("; ") })
})

const outcomeOf = (
  states: ReadonlyArray<State>,
  mode: Reading["mode"],
  since: number | undefined,
  reasons: ReadonlyArray<string>
): Omit<Outcome, "requests"> => {
  const sum = (values: ReadonlyArray<number | undefined>) =>
    values.reduce<number>((total, value) => total + (value ?? 0), 0)
  const count = sum(states.map((state) => state.count))
  const totals = states.map(({ total }) => total)
  const total = totals.every((value) => value !== undefined) ? sum(totals) : undefined
  const doubts = states.flatMap((state) => state.doubts)
  if (mode === "full" && total !== undefined && count < total)
    doubts.push(`the service says ${total} records, ${count} were read`)
  const highest = Math.max(...states.map((state) => state.highest ?? Number.NEGATIVE_INFINITY))
  const startedAt = Math.min(...states.map((state) => state.startedAt))
  const servedAt = Math.min(...states.map((state) => state.servedAt ?? state.startedAt))
  return {
    mode,
    verdict: doubts.length > 0 ? "complete with doubts" : "complete",
    doubts: [...reasons, ...doubts],
    begunAt: startedAt,
    servedAt,
    ...(since !== undefined && { since }),
    // Never beyond the moment the reading began: what changed after it may have been missed.
    ...(Number.isFinite(highest) && { watermark: Math.min(highest, servedAt) }),
    ...(mode === "full" && total !== undefined && { total })
  }
}
