/**
 * Reads one resource: its passes side by side, each page durable in the vault before its cursor is used. Where a way
 * of reading does not work for this account, the next one is taken and the reason told.
 */
import { Clock, Effect } from "effect"
import { hash } from "node:crypto"
import { Api } from "../api/api.ts"
import type { ApiError } from "../api/errors.ts"
import { Refused } from "../api/errors.ts"
import { at } from "../catalog/body.ts"
import { type Parameters, fill } from "../catalog/request.ts"
import type { Resource, Way } from "../catalog/resource.ts"
import type { Failure } from "../failure.ts"
import type { Outcome, Progress } from "../vault/frame.ts"
import { Vault } from "../vault/vault.ts"
import { type Findings, type Reading, type RunContext, count } from "./context.ts"
import { type PassProgress, type Step, advance, halved } from "./paging.ts"

interface State extends PassProgress {
  readonly mode: Reading["mode"]
  /** Watermark less overlap, epoch milliseconds; always there in mode `changed`. */
  readonly since: number | undefined
  /** When the reading began, epoch milliseconds. */
  readonly startedAt: number
  /** The definition it was begun with: an edited one begins anew. */
  readonly fingerprint: string
}

export const read = Effect.fn("extract.read")(function* (
  resource: Resource,
  reading: Reading,
  context: RunContext
): Effect.fn.Return<Outcome, ApiError | Failure, Api | Vault> {
  const api = yield* Api
  const before = api.requestsByResource.get(resource.table) ?? 0
  const reasons: Array<string> = []
  // Written by this file, at the end of an earlier reading. A full reading tries again what did not work then.
  const findings = ((reading.mode === "changed" && reading.findings) || { sizes: {}, refused: [] }) as Findings
  const sizes: Record<string, number> = { ...findings.sizes }
  const refused = [...findings.refused]
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
    const begin = { ...firstState(way, since, startedAt), mode, since, startedAt, fingerprint: fingerprint(way) }
    const results = yield* Effect.forEach(
      Object.entries(resource.passes ?? { all: {} }),
      ([pass, parameters]) =>
        readPass(resource, { way, pass, parameters, sizes }, resumed(reading.begun[pass], begin) ?? begin, context),
      { concurrency: "unbounded" }
    )
    const failure = results.find((result) => "reason" in result)
    if (failure) {
      reasons.push(`${way.request.method} ${way.request.path} did not do: ${failure.reason}`)
      refused.push(fingerprint(way))
      continue
    }
    return {
      ...outcomeOf(
        results.filter((result) => "state" in result).map(({ state }) => state),
        mode,
        since,
        reasons
      ),
      requests: (api.requestsByResource.get(resource.table) ?? 0) - before,
      way: { sizes, refused } satisfies Findings
    }
  }
  return yield* new Refused({ status: 0, message: reasons.join("; ") })
})

interface Pass {
  readonly way: Way
  readonly pass: string
  readonly parameters: Parameters
  readonly sizes: Record<string, number>
}

/** An expiring cursor is used again within this time or thrown away; the service's limit is 120 s. */
const cursorLifetimeMs = 110_000
const beginningsMax = 4

const readPass = Effect.fn("extract.pass")(function* (
  resource: Resource,
  { way, pass, parameters, sizes }: Pass,
  start: State,
  context: RunContext
): Effect.fn.Return<{ readonly state: State } | { readonly reason: string }, ApiError | Failure, Api | Vault> {
  const [api, vault] = [yield* Api, yield* Vault]
  const wayName = `${way.request.method} ${way.request.path}`
  let state = start
  let live: { readonly cursor: unknown; readonly usedAt: number } | undefined
  const begun = new Map<number | undefined, number>()

  while (!state.done) {
    const expiring = way.paging.kind === "expiring"
    if (live && (yield* Clock.currentTimeMillis) - live.usedAt > cursorLifetimeMs) live = undefined
    if (!live) {
      yield* context.backpressure
      // Beginning again and again at one place would never end.
      begun.set(state.anchor, (begun.get(state.anchor) ?? 0) + 1)
      if (expiring && begun.get(state.anchor)! > beginningsMax) return { reason: "its cursors die before they lead on" }
    }
    const size = sizes[wayName] ?? way.pageSize
    const request = fill(
      { ...way.request, parameters: { ...way.request.parameters, ...parameters } },
      {
        location: context.location,
        company: context.company,
        size,
        cursor: expiring ? live?.cursor : state.cursor,
        since: expiring ? anchorOf(state) : state.since,
        windowStart: state.windows?.[0]?.[0],
        windowEnd: state.windows?.[0]?.[1]
      }
    )
    const result = yield* api
      .send({ request, priority: live ? 0 : 1, resource: resource.table })
      .pipe(Effect.catchTag("Refused", (refusal) => Effect.succeed(refusal)))
    if (result instanceof Refused) {
      const change = afterRefusal(result, state, size, live !== undefined)
      if ("reason" in change) return change
      if (change.size !== undefined) sizes[wayName] = change.size
      state = { ...state, ...change.progress }
      live = undefined
      continue
    }
    const records = at(result.body, way.records)
    const page = {
      records: Array.isArray(records) ? records : records === undefined || records === null ? [] : [records],
      body: result.body,
      size
    }
    if (records === undefined && way.paging.kind !== "once") return { reason: `the answer holds no ${way.records}` }
    const step: Step = advance({ way, changes: resource.changes, since: state.since }, state, page)
    if (step.kind === "failed") return { reason: step.reason }
    state = { ...state, ...step.progress, ...("cursor" in step.progress ? {} : { cursor: undefined }) }
    if (expiring)
      live = step.cursor === undefined ? undefined : { cursor: step.cursor, usedAt: yield* Clock.currentTimeMillis }
    count(context.counts, resource.table, page.records.length)
    // Durable first, cursor second: a crash from here on repeats no page.
    yield* vault.append({
      entry: {
        kind: "page",
        run: context.run,
        at: result.at,
        location: context.location,
        resource: resource.table,
        pass,
        request,
        records: way.records,
        long: result.long,
        progress: state as unknown as Progress
      },
      body: result.text
    })
  }
  return { state }
})

/** What a refusal asks for: smaller pages, narrower windows, a new cursor, or another way. */
const afterRefusal = (
  { message }: Refused,
  state: State,
  size: number,
  hadCursor: boolean
): { readonly size?: number; readonly progress?: Partial<State> } | { readonly reason: string } => {
  // Expired or unknown: the reading begins again at its anchor.
  if (hadCursor) return {}
  if (/limit/i.test(message) && size > 10) return { size: Math.floor(size / 2) }
  const window = state.windows?.[0]
  const halves = window && window[1] - window[0] > 2 * dayMs ? halved(...window) : undefined
  if (halves && (state.count > 0 || /date|range|period|startAt|endAt/i.test(message)))
    return { progress: { windows: [...halves, ...state.windows!.slice(1)], cursor: undefined, lastIds: [] } }
  return { reason: `the service refused the request (${message})` }
}

const dayMs = 86_400_000

const firstState = (way: Way, since: number | undefined, now: number): PassProgress => ({
  done: false,
  count: 0,
  lastIds: [],
  doubts: [],
  // The cursor of a sort value is the value itself, so a reading can begin at the watermark.
  ...(way.paging.kind === "sortValue" && !way.paging.descending && since !== undefined && { cursor: since }),
  ...(way.windows && {
    // Two days ahead: the service may be in a zone that is, and its clock may be.
    windows: [[way.windows.from === "since" ? since! : Date.parse(way.windows.from), now + 2 * dayMs] as const]
  })
})

const resumed = (begun: unknown, fresh: State): State | undefined => {
  // Written by this file; the fingerprint changes with the definition.
  const state = begun as State | undefined
  return state?.fingerprint === fresh.fingerprint && state.mode === fresh.mode ? { ...fresh, ...state } : undefined
}

const fingerprint = (way: Way): string =>
  hash("sha256", JSON.stringify([way.request, way.paging, way.records])).slice(0, 12)

/** A second before the last record read: records may share its instant. */
const anchorOf = ({ anchor }: PassProgress): number | undefined => (anchor === undefined ? undefined : anchor - 1000)

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
  return {
    mode,
    verdict: doubts.length > 0 ? "complete with doubts" : "complete",
    doubts: [...reasons, ...doubts],
    ...(since !== undefined && { since }),
    // Never beyond the moment the reading began: what changed after it may have been missed.
    ...(Number.isFinite(highest) && { watermark: Math.min(highest, startedAt) }),
    ...(mode === "full" && total !== undefined && { total })
  }
}
