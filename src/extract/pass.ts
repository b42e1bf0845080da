/** One pass over a list: page after page, each durable in the vault before its cursor is used. */
import { Clock, Effect } from "effect"
import { hash } from "node:crypto"
import { Api, type Answer, type Call } from "../api/api.ts"
import { type ApiError, Gone, Refused } from "../api/errors.ts"
import type { FileTarget } from "../api/files.ts"
import { at } from "../catalog/body.ts"
import { type Window, dayMs } from "../catalog/instants.ts"
import { type Parameters, fill } from "../catalog/request.ts"
import type { Asked, Resource, Way } from "../catalog/resource.ts"
import type { Failure } from "../failure.ts"
import type { PageEntry, Parent, Progress } from "../vault/frame.ts"
import { Vault } from "../vault/vault.ts"
import { type Reading, type RunContext, count } from "./context.ts"
import { advance, halved } from "./paging.ts"
import { type PassProgress, type Step, behind, doubt, idOf, isCounted, listOf } from "./progress.ts"
import { probed, sizeBelow, worthProbing } from "./sizes.ts"

export interface State extends PassProgress {
  readonly mode: Reading["mode"]
  /** Watermark less overlap, epoch milliseconds; always there in mode `changed`. */
  readonly since: number | undefined
  /** When the reading began, epoch milliseconds. */
  readonly startedAt: number
  /** What the service's clock showed then: its changes are dated by it, and ours may be hours off. */
  readonly servedAt?: number | undefined
  /** The definition it was begun with: an edited one begins anew. */
  readonly fingerprint: string
  /** Read a second time, because the service counts more than the first time showed. */
  readonly again?: boolean
  /** In mode `window`: what is being read. */
  readonly window?: Window
  /** Ids of the first page, where another pass has to look at them. */
  readonly firstIds?: ReadonlyArray<string>
  /** Name of a pass whose parameters the service ignores; nothing of it is kept. */
  readonly ignored?: string
}

export interface PassWork {
  readonly resource: Resource
  readonly way: Way
  /** Of a list: the pass. */
  readonly name: string
  readonly parameters: Parameters
  /** Page sizes found, by way; grows while we read. */
  readonly sizes: Record<string, number>
  /** Ways whose totals count more than they show; grows while we read. */
  readonly loose: Set<string>
  /**
   * Where passes say something about their records, the first page of another pass, empty for the first: one that shows
   * the same is the same list, and its parameters are ignored.
   */
  readonly other?: ReadonlyArray<string>
  /** Where a second reading begins, should records be missing; nothing: there is none. */
  readonly fresh?: State
  /** What its requests are counted as. */
  readonly label: string
  readonly priority: Call["priority"]
  /** The row it is read under. */
  readonly under?: {
    readonly kind: PageEntry["kind"]
    readonly parent: Omit<Parent, "done">
    /** The service refuses what it has not got. */
    readonly refusedMeansNone: boolean
    /** Makes of the first answer what is kept. */
    readonly complete?: (answer: Answer) => Effect.Effect<Answer, Failure>
    /** Where the answer goes if it is a file. */
    readonly file?: FileTarget
  }
}

/** An expiring cursor is used again within this time or thrown away; the service's limit is 120 s. */
const cursorLifetimeMs = 110_000
const beginningsMax = 4
/** No page of the service is near it; loaded in one transaction, more of the smallest would not fit into memory. */
const recordsMax = 100_000

export const readPass = Effect.fn("extract.pass")(function* (
  work: PassWork,
  start: State,
  context: RunContext
): Effect.fn.Return<{ readonly state: State } | { readonly reason: string }, ApiError | Failure, Api | Vault> {
  const [api, vault] = [yield* Api, yield* Vault]
  const { resource, way, name, parameters, sizes, label, priority, under } = work
  const wayName = `${way.request.method} ${way.request.path}`
  const path = way.records.replace("{pass}", name)
  const expiring = way.paging.kind === "expiring"
  let state = start
  let live: { readonly cursor: unknown; readonly usedAt: number } | undefined
  const begun = new Map<number | undefined, number>()
  /** Length of a first page that was shorter than asked and not the last: the service cuts pages to it. */
  let cut: number | undefined

  while (!state.done) {
    if (live && (yield* Clock.currentTimeMillis) - live.usedAt > cursorLifetimeMs) live = undefined
    if (!live) {
      yield* context.backpressure
      // Beginning again and again at one place would never end.
      begun.set(state.anchor, (begun.get(state.anchor) ?? 0) + 1)
      if (expiring && begun.get(state.anchor)! > beginningsMax) return { reason: "its cursors die before they lead on" }
    }
    const known = sizes[wayName]
    const probing = known === undefined && worthProbing(way, state)
    const size = probing ? way.probeSize! : (known ?? way.pageSize)
    const request = fill(
      { ...way.request, parameters: { ...way.request.parameters, ...parameters, ...state.ties?.left[0]?.parameters } },
      {
        location: context.location,
        company: context.company,
        parent: under?.parent.id,
        pass: name,
        size,
        cursor: expiring ? live?.cursor : state.cursor,
        since: (expiring ? anchorOf(state) : undefined) ?? state.since,
        windowStart: state.windows?.[0]?.[0],
        windowEnd: state.windows?.[0]?.[1]
      }
    )
    const result = yield* api
      .send({ request, priority: live ? 0 : priority, resource: label, ...(under?.file && { file: under.file }) })
      .pipe(Effect.catchTag("Refused", (refusal) => Effect.succeed(refusal)))
    if (result instanceof Refused) {
      if (under?.refusedMeansNone && [400, 422].includes(result.status))
        return yield* new Gone({ message: result.message })
      const change = probing ? { size: way.pageSize } : afterRefusal(result, state, size, live !== undefined)
      if ("reason" in change) return change
      if (change.size !== undefined) sizes[wayName] = change.size
      state = { ...state, ...("progress" in change ? change.progress : {}) }
      live = undefined
      continue
    }
    state = { ...state, servedAt: state.servedAt ?? (state.count === 0 ? result.serviceTime : undefined) }
    const answer = under?.complete ? yield* under.complete(result) : result
    const list = listOf(answer.body, path, way.paging.kind === "once", under !== undefined)
    if (list === undefined) return { reason: `the answer holds no list ${path}` }
    if (list.length > recordsMax) return { reason: `the answer holds ${list.length} records, over our ${recordsMax}` }
    // An empty list may be left out; but an answer about something else is no reason to believe that all is gone.
    if (!under && at(answer.body, path) === undefined)
      state = { ...state, ...doubt(state, `the answer holds no list ${path}`) }
    const firstIds = work.other && (state.firstIds ?? list.slice(0, 100).map(idOf))
    if (firstIds && !state.firstIds && firstIds.length > 0 && firstIds.every((id) => work.other!.includes(id)))
      return { state: { ...state, done: true, doubts: [], ignored: name } }
    const found = probing ? probed(way, list.length) : undefined
    if (found !== undefined) sizes[wayName] = found
    const page = { records: list, body: answer.body, size: found ?? cut ?? size }
    const step: Step = advance({ way, changes: resource.changes, since: state.since }, state, page)
    if (step.kind === "failed") return { reason: step.reason }
    const [first, before] = [state.cursor === undefined, state.count]
    state = { ...behind(state, step.progress), ...(firstIds && { firstIds }) }
    const short = state.done && state.total !== undefined && state.count < state.total
    if (short && work.fresh && !state.again && isCounted(way) && !work.loose.has(wayName))
      state = { ...work.fresh, again: true }
    else if (short && state.again) work.loose.add(wayName)
    if (cut !== undefined && state.count > before) sizes[wayName] = cut
    cut = first && !expiring && state.cursor !== undefined && list.length < size ? list.length : undefined
    if (expiring)
      live = step.cursor === undefined ? undefined : { cursor: step.cursor, usedAt: yield* Clock.currentTimeMillis }
    count(context.counts, label, list.length)
    // Durable first, cursor second: a crash from here on repeats no page.
    yield* vault.append({
      entry: {
        kind: under?.kind ?? "page",
        run: context.run,
        at: answer.at,
        location: context.location,
        resource: resource.table,
        pass: under ? label : name,
        request,
        records: path,
        long: answer.long,
        ...(under && { parent: { ...under.parent, done: state.done } }),
        progress: state as unknown as Progress
      },
      body: answer.text,
      parsed: answer.body
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
  const smaller = /limit|page ?size/i.test(message) ? sizeBelow(size, message) : undefined
  if (smaller !== undefined) return { size: smaller }
  const window = state.windows?.[0]
  const halves = window && window[1] - window[0] > 2 * dayMs ? halved(...window) : undefined
  if (halves && (state.count > 0 || /date|range|period|startAt|endAt|over our limit/i.test(message)))
    return { progress: { windows: [...halves, ...state.windows!.slice(1)], cursor: undefined, lastIds: [] } }
  return { reason: `the service refused the request (${message})` }
}

interface Beginning {
  readonly way: Way
  readonly mode: Reading["mode"]
  readonly since: number | undefined
  /** Epoch milliseconds. */
  readonly now: number
  readonly asked: Asked
}

export const beginning = ({ way, mode, since, now, asked }: Beginning): State => ({
  done: false,
  count: 0,
  lastIds: [],
  doubts: [],
  mode,
  since,
  startedAt: now,
  fingerprint: fingerprint(way),
  // The cursor of a sort value is the value itself, so a reading can begin at the watermark.
  ...(way.paging.kind === "sortValue" && !way.paging.descending && since !== undefined && { cursor: since }),
  ...(way.windows && { windows: windowsOf(way.windows, since, now, asked) })
})

const windowsOf = (
  { from, aheadDays = 2, daysMax }: NonNullable<Way["windows"]>,
  since: number | undefined,
  now: number,
  asked: Asked
): ReadonlyArray<readonly [number, number]> => {
  const ahead = typeof aheadDays === "number" ? aheadDays : Number(asked[aheadDays])
  const start = from === "now" ? now : from === "since" ? since! : Date.parse(from)
  const end = now + ahead * dayMs
  const step = daysMax === undefined ? end - start : daysMax * dayMs
  const windows: Array<readonly [number, number]> = []
  for (let at = start; at < end; at += step) windows.push([at, Math.min(at + step, end)])
  return windows
}

/** Where an interrupted reading left off, if it was begun with the same definition; else the beginning. */
export const resumed = (begun: unknown, fresh: State): State => {
  // Written by this file.
  const state = begun as State | undefined
  return state?.fingerprint === fresh.fingerprint && state.mode === fresh.mode ? { ...fresh, ...state } : fresh
}

export const fingerprint = (way: Way): string =>
  hash("sha256", JSON.stringify([way.request, way.paging, way.records])).slice(0, 12)

/** A second before the last record read: records may share its instant. */
const anchorOf = ({ anchor }: PassProgress): number | undefined => (anchor === undefined ? undefined : anchor - 1000)
