/** What a command has printed so far, as the page shows it: the events of `--json=lines`, and at the end the result. */
import type { Event } from "../../values/event-schemas.ts"
import { type LikelyRange, mapRange } from "../../values/range.ts"

type AnyEvent = typeof Event.Type
type Named<Name extends AnyEvent["event"]> = Extract<AnyEvent, { readonly event: Name }>

interface Reading {
  readonly location: string
  readonly resource: string
  /** A status of the reading once it has ended. */
  state: string
  requests: number
  pages: number
  records: number
  readonly planned?: LikelyRange
}

export interface LogLine {
  readonly level: "info" | "warn" | "error"
  readonly message: string
}

export interface Progress {
  planned?: LikelyRange
  requests: number
  records: number
  /** Milliseconds; an estimate from the pace so far. */
  leftMs?: LikelyRange
  waiting?: Pick<Named<"waiting">, "reason" | "waitMs">
  budgets: Named<"progress">["budgets"]
  readonly resources: Array<Reading>
}

/** What a command printed last: its result, or why it failed. */
export interface Printed {
  readonly schema: string
  readonly exitCode: number
  readonly data?: unknown
  readonly error?: { readonly code: string; readonly message: string; readonly resumeAt?: string }
  readonly next?: string
}

/** A run that warns for days has no end of lines. */
const logLinesMax = 300

export class Transcript {
  progress: Progress | undefined
  printed: Printed | undefined
  readonly log: Array<LogLine> = []
  #startedAt = 0

  /** Takes lines of stdout. */
  read(lines: string): void {
    for (const line of lines.split("\n")) this.#line(line)
  }

  /** Takes lines of stderr. Returns them as the log shows them. */
  readLog(lines: string): ReadonlyArray<LogLine> {
    const added = lines.split("\n").flatMap((message) => (message.trim() === "" ? [] : [logLineOf(message)]))
    this.log.push(...added)
    this.log.splice(0, this.log.length - logLinesMax)
    return added
  }

  #line(line: string): void {
    const value = objectOf(line)
    if (value === undefined) return
    if (value.schema !== "sluice/events/1") {
      this.printed = value as Printed
      return
    }
    const event = value as AnyEvent
    if (event.event === "finished") this.printed = event.result as Printed
    else if (event.event !== "message") this.#fold(event)
  }

  #fold(event: AnyEvent): void {
    const progress = (this.progress ??= { requests: 0, records: 0, budgets: [], resources: [] })
    delete progress.waiting
    switch (event.event) {
      case "started":
        this.#startedAt = Date.parse(event.time)
        break
      case "planned":
        progress.planned = event.requests
        for (const { location, resource, requests } of event.steps)
          progress.resources.push({ ...unread(location, resource), planned: requests })
        break
      case "waiting":
        progress.waiting = { reason: event.reason, waitMs: event.waitMs }
        break
      case "resourceStarted":
        this.#reading(event).state = "reading"
        break
      case "progress": {
        const { budgets, planned, records, requests, resources } = event
        Object.assign(progress, { budgets, records, requests, ...(planned && { planned }) })
        for (const { location, resource, ...counts } of resources)
          Object.assign(this.#reading({ location, resource }), counts)
        const left = leftOf(progress, Date.parse(event.time) - this.#startedAt)
        if (left) progress.leftMs = left
        break
      }
      case "resourceFinished": {
        const { pages, records, requests, status } = event
        Object.assign(this.#reading(event), { pages, records, requests, state: status })
        break
      }
    }
  }

  #reading({ location, resource }: Pick<Reading, "location" | "resource">): Reading {
    const { resources } = this.progress!
    const known = resources.find((one) => one.resource === resource && one.location === location)
    if (known) return known
    const added: Reading = unread(location, resource)
    resources.push(added)
    return added
  }
}

const unread = (location: string, resource: string): Reading => ({
  location,
  resource,
  state: "waiting",
  requests: 0,
  pages: 0,
  records: 0
})

/** A shorter time is one burst of the rate limit. */
const observedMsMin = 10_000

const leftOf = ({ planned, requests }: Progress, elapsedMs: number): LikelyRange | undefined => {
  if (planned === undefined || elapsedMs < observedMsMin || requests === 0) return undefined
  const timeFor = (count: number) => Math.max(0, Math.round(((count - requests) * elapsedMs) / requests))
  return mapRange(planned, timeFor)
}

/** Commands with a log write it as logfmt; a line of any other command has no level. */
const logLineOf = (message: string): LogLine => {
  const [, level] = /\blevel=(warn|error)\b/.exec(message) ?? []
  return { level: (level as "warn" | "error" | undefined) ?? "info", message }
}

const objectOf = (line: string): { readonly schema?: unknown } | undefined => {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === "object" && value !== null ? value : undefined
  } catch {
    // A line that a killed process did not finish.
    return undefined
  }
}
