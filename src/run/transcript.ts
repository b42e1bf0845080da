/** What a command has printed so far, as the page shows it: the events of `--json=lines`, and at the end the result. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { Event } from "../values/event-schemas.ts"
import { type LikelyRange, mapRange } from "../values/range.ts"
import { Printed, printedIn } from "./process.ts"

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
  isPublishing?: true
  waiting?: Pick<Named<"waiting">, "reason" | "waitMs">
  budgets: Named<"progress">["budgets"]
  readonly resources: Array<Reading>
}

/** A run that warns for days has no end of lines. */
const logLinesMax = 300
const logLineMax = 10_000

export class Transcript {
  progress: Progress | undefined
  printed: Printed | undefined
  /** Characters of the line that has the result. */
  printedLength = 0
  readonly log: Array<LogLine> = []
  #startedAt = 0

  /** Takes a line of stderr. Returns it as the log shows it; a line without a word is none. */
  readLog(message: string): LogLine | undefined {
    if (message.trim() === "") return undefined
    const line = logLineOf(message.slice(0, logLineMax))
    this.log.push(line)
    if (this.log.length > logLinesMax) this.log.shift()
    return line
  }

  /** Takes a line of stdout. `isCut`: only its beginning, of a result that is too large to be shown. */
  read(line: string, isCut = false): void {
    if (isCut) {
      const [, exitCode] = /"exitCode":(\d+)/.exec(line.slice(0, 1000)) ?? []
      if (exitCode !== undefined) this.printed = { schema: "", exitCode: Number(exitCode) }
      return
    }
    const said = Option.getOrUndefined(decodeLine(line))
    if (said === undefined) return
    if (!("event" in said) || said.event === "finished") {
      this.printed = "event" in said ? printedIn(said.result) : said
      this.printedLength = line.length
    } else if (said.event !== "message") this.#fold(said)
  }

  /** How it ended stays; what it printed is in its file. */
  forgetData(): void {
    if (this.printed) this.printed = Struct.omit(this.printed, ["data"])
    this.printedLength = 0
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
        if (left && !progress.isPublishing) progress.leftMs = left
        break
      }
      case "loaded":
        progress.isPublishing = true
        delete progress.leftMs
        break
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

/** Fails for a line that a killed process did not finish. */
const decodeLine = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Union([Event, Printed])))

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
