/** One pass over a list: page after page, each durable in the vault before its cursor is used. */
import { Clock, Effect } from "effect"
import { Api, type Answer, type Call } from "../api/api.ts"
import { type ApiError, Gone, Refused } from "../api/errors.ts"
import type { FileTarget } from "../api/files.ts"
import { at } from "../catalog/body.ts"
import { dayMs } from "../catalog/instants.ts"
import { type Parameters, fill } from "../catalog/request.ts"
import type { Resource, Way } from "../catalog/resource.ts"
import type { Failure } from "../failure.ts"
import type { PageEntry, Parent, Progress } from "../vault/frame.ts"
import { Vault } from "../vault/vault.ts"
import { type RunContext, count } from "./context.ts"
import { Loop } from "./loop.ts"
import { advance } from "./paging.ts"
import type { State } from "./state.ts"
import { halved } from "./windows.ts"
import { type PassProgress, type Step, behind, doubt, idOf, isCounted, listOf, repeats } from "./progress.ts"
import { isPair, withoutPair } from "./ties.ts"
import { missingBeyondDrift } from "./verdict.ts"
import { probed, sizeBelow, worthProbing } from "./sizes.ts"

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
/** How often a page that repeats an earlier one is asked for again: one after the other, and in the whole pass. */
const repeatsMax = 2
const allRepeatsMax = 10
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
  let loop = new Loop()
  let [repeated, allRepeated] = [0, 0]
  /** Length of a page that was shorter than asked and seems not to be the last: the service cuts pages to it. */
  let cut: number | undefined

  while (!state.done) {
    if (live && (yield* Clock.currentTimeMillis) - live.usedAt > cursorLifetimeMs) live = undefined
    if (!live) {
      yield* context.backpressure
      // Beginning again and again at one place would never end.
      begun.set(state.anchor, (begun.get(state.anchor) ?? 0) + 1)
      if (expiring) loop = new Loop()
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
      .pipe(
        Effect.catchTag("Refused", (refusal) => Effect.succeed(refusal)),
        // A sort value with an id beside it may be more than the service can read.
        Effect.catchIf(
          (error) => error._tag === "Unavailable" && !error.later && isPair(way, state),
          ({ message }) => Effect.succeed(new Refused({ status: 0, message }))
        )
      )
    if (result instanceof Refused) {
      if (under?.refusedMeansNone && [400, 422].includes(result.status))
        return yield* new Gone({ message: result.message })
      const change = probing ? { size: way.pageSize } : afterRefusal(result, way, state, size, live !== undefined)
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
    const page = { records: list, body: answer.body, size: found ?? cut ?? size, cuts: context.cuts }
    const step = withoutCircles(
      loop,
      way,
      state,
      list,
      advance({ way, changes: resource.changes, since: state.since }, state, page)
    )
    if (step.kind === "failed") {
      if (!step.again || ++repeated > repeatsMax || ++allRepeated > allRepeatsMax) return { reason: step.reason }
      yield* Effect.sleep(repeated * 1000)
      continue
    }
    repeated = 0
    const [wasCut, before] = [state.cut === true, state.count]
    if ((step.progress.stepsBack ?? 0) > (state.stepsBack ?? 0)) loop = new Loop()
    state = { ...behind(state, step.progress), ...(firstIds && { firstIds }) }
    if (cut !== undefined && state.count > before) {
      sizes[wayName] = cut
      context.cuts.add(cut)
    }
    cut = state.cut && !wasCut ? list.length : undefined
    const short = state.done && state.total !== undefined && state.count < state.total
    const suspicious = short && (isCounted(way) || missingBeyondDrift(state, way) > 0)
    if (suspicious && work.fresh && !state.again && !work.loose.has(wayName)) {
      state = { ...work.fresh, again: true }
      loop = new Loop()
    } else if (short && state.again) work.loose.add(wayName)
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

/** A step that leads to a page which was there before leads nowhere. Where records share a sort value, pages may look alike. */
const withoutCircles = (loop: Loop, { paging }: Way, before: State, list: ReadonlyArray<unknown>, step: Step): Step => {
  if (step.kind === "failed" || step.progress.done || before.ties || step.progress.ties) return step
  const place = [step.progress.windows, before.byValue, paging.kind === "sortValue" && step.cursor]
  return loop.closes(list.map(idOf), place) ? repeats("the list shows a page again that it showed before") : step
}

/** What a refusal asks for: smaller pages, narrower windows, a new cursor, or another way. */
const afterRefusal = (
  { message }: Refused,
  way: Way,
  state: State,
  size: number,
  hadCursor: boolean
): { readonly size?: number; readonly progress?: Partial<State> } | { readonly reason: string } => {
  // Expired or unknown: the reading begins again at its anchor.
  if (hadCursor) return {}
  // A service that takes no sort value with an id beside it takes the value alone.
  if (way.paging.kind === "sortValue" && isPair(way, state)) {
    const step = withoutPair(way.paging, state)
    if (step.kind === "next") return { progress: step.progress }
  }
  const smaller = /limit|page ?size/i.test(message) ? sizeBelow(size, message) : undefined
  if (smaller !== undefined) return { size: smaller }
  const window = state.windows?.[0]
  const halves = window && window[1] - window[0] > 2 * dayMs ? halved(window[0], window[1]) : undefined
  if (halves && (state.count > 0 || /date|range|period|startAt|endAt|over our limit/i.test(message)))
    return { progress: { windows: [...halves, ...state.windows!.slice(1)], cursor: undefined, lastIds: [] } }
  return { reason: `the service refused the request (${message})` }
}

/** A second before the last record read: records may share its instant. */
const anchorOf = ({ anchor }: PassProgress): number | undefined => (anchor === undefined ? undefined : anchor - 1000)
