/**
 * Reads the list of one resource: its passes side by side. Where a way of reading does not work for this account, the
 * next one is taken and the reason told.
 */
import { Clock, Effect } from "effect"
import { Api } from "../api/api.ts"
import type { ApiError } from "../api/errors.ts"
import { Refused } from "../api/errors.ts"
import { type Changes, type Resource, type Way, passesOf } from "../catalog/resource.ts"
import { dayMs } from "../catalog/instants.ts"
import type { Failure } from "../failure.ts"
import type { Outcome } from "../vault/frame.ts"
import type { Vault } from "../vault/vault.ts"
import { type Findings, type Reading, type RunContext, findingsOf } from "./context.ts"
import { writeGone } from "./deletions.ts"
import { readPass } from "./pass.ts"
import { type State, beginning, fingerprint, resumed } from "./state.ts"
import { doubted, missingBeyondDrift, together } from "./verdict.ts"

/**
 * One reading, and what it cannot have seen: what changed since it began, where that was in an earlier run, because its first
 * pages may be days old; and what was added without a moment of change.
 */
export const read = Effect.fn("extract.read")(function* (
  resource: Resource,
  reading: Reading,
  context: RunContext
): Effect.fn.Return<Outcome, ApiError | Failure, Api | Vault> {
  const { changes, full } = resource
  const everything = full.map((way) => ({ way, mode: "full" as const }))
  const ways = [...(changes?.ways ?? []).map((way) => ({ way, mode: "changed" as const })), ...everything]
  let outcome = yield* readOnce(resource, reading.mode === "changed" ? ways : everything, reading, context)
  if (!changes || outcome.verdict === "incomplete") return outcome
  if (Object.keys(reading.begun).length > 0) {
    const since = (outcome.servedAt ?? outcome.begunAt!) - changes.overlapDays * dayMs
    const later = { ...reading, mode: "changed" as const, since, begun: {} }
    outcome = together(outcome, yield* readOnce(resource, ways, later, context))
  }
  return outcome.mode === "changed" ? yield* withAdded(outcome, resource, changes, reading, context) : outcome
})

/** The same with records that were added since and carry no moment of change, or a doubt where they cannot be asked for. */
const withAdded = Effect.fnUntraced(function* (
  outcome: Outcome,
  resource: Resource,
  { added, field, ways }: Changes,
  reading: Reading,
  context: RunContext
) {
  if (added) {
    const { passes: _, ...list } = resource
    const addedWays = added.map((way) => ({ way, mode: "changed" as const }))
    const since = { ...reading, since: outcome.since! }
    return yield* readOnce({ ...list, passes: { added: {} } }, addedWays, since, context).pipe(
      Effect.map((more) => together(outcome, more)),
      Effect.catchIf(
        (error) => error._tag === "Refused" || (error._tag === "Unavailable" && !error.later),
        ({ message }) =>
          Effect.succeed(doubted(outcome, [`new records without ${field} come with the next full reading: ${message}`]))
      )
    )
  }
  const { undated } = findingsOf(reading.findings)
  const goesByField = ways.some(
    ({ filtered, paging, until }) => filtered === field || until !== undefined || paging.kind === "sortValue"
  )
  return undated > 0 && goesByField
    ? doubted(outcome, [`${undated} records carry no ${field}; new ones like them come with the next full reading`])
    : outcome
})

const readOnce = Effect.fnUntraced(function* (
  resource: Resource,
  /** Tried in this order. */
  ways: ReadonlyArray<{ readonly way: Way; readonly mode: "full" | "changed" }>,
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

  for (const { way, mode } of ways.filter(({ way }) => !refused.includes(fingerprint(way)))) {
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
        way,
        mode,
        since,
        reasons
      ),
      requests: (api.requestsByResource.get(resource.table) ?? 0) - before,
      way: {
        sizes,
        refused,
        loose: [...loose],
        undated: mode === "full" ? states.reduce((sum, state) => sum + (state.undated ?? 0), 0) : findings.undated
      } satisfies Findings
    }
  }
  return yield* new Refused({ status: 0, message: reasons.join("; ") })
})

const outcomeOf = (
  states: ReadonlyArray<State>,
  way: Way,
  mode: Reading["mode"],
  since: number | undefined,
  reasons: ReadonlyArray<string>
): Omit<Outcome, "requests"> => {
  const sum = (values: ReadonlyArray<number | undefined>) =>
    values.reduce<number>((total, value) => total + (value ?? 0), 0)
  const totals = states.map(({ total }) => total)
  const total = totals.every((value) => value !== undefined) ? sum(totals) : undefined
  const count = sum(states.map((state) => state.count))
  // A reading that begins in the middle of a list shows less than the service counts.
  const counts = mode === "full" || way.filtered !== undefined
  const missing = counts && states.some((state) => missingBeyondDrift(state, way) > 0)
  const doubts = states.flatMap((state) => state.doubts)
  if (counts && total !== undefined && count < total)
    doubts.push(`the service says ${total} records, ${count} were read`)
  const highest = Math.max(...states.map((state) => state.highest ?? Number.NEGATIVE_INFINITY))
  const startedAt = Math.min(...states.map((state) => state.startedAt))
  const servedAt = Math.min(...states.map((state) => state.servedAt ?? state.startedAt))
  return {
    mode,
    verdict: missing ? "incomplete" : doubts.length > 0 ? "complete with doubts" : "complete",
    ...(missing && { finished: true }),
    doubts: [...reasons, ...doubts],
    begunAt: startedAt,
    servedAt,
    ...(since !== undefined && { since }),
    // Never beyond the moment the reading began: what changed after it may have been missed.
    ...(Number.isFinite(highest) && { watermark: Math.min(highest, servedAt) }),
    ...(mode === "full" && total !== undefined && { total })
  }
}
