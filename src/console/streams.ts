/** Results on stdout, messages and logs on stderr, secrets on neither. No other module writes to either stream. */
import { proxySecrets } from "../network/proxy.ts"
import * as Context from "effect/Context"
import { DisplayArea } from "./display-area.ts"
import type { Event } from "../values/event-schemas.ts"
import type { OnRunEvent } from "../values/run-event.ts"
import { levelWords } from "../values/finding.ts"
import type { LikelyRange } from "../values/range.ts"
import { toneByText } from "../values/state.ts"
import { duration, terminalWidth, wrapped } from "../values/text.ts"
import { type LogEntry, type LogFormat, type LogLevel, formatEntry, isAtLeast } from "./log.ts"
import { nodeUtil } from "../values/node.ts"

/** Where a command writes; a terminal also has a size. */
export interface Streams {
  readonly stdout: Stream
  readonly stderr: Stream
}
type Stream = NodeJS.WritableStream & {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
  readonly writableNeedDrain?: boolean
}

export interface OutputOptions {
  /** Whether the events of a run are printed instead of its result alone. */
  readonly hasEvents?: boolean
  /** Repeats the flags of this command in the commands that a text suggests. */
  readonly withFlags?: (text: string) => string
}

export interface LogOptions {
  readonly format: LogFormat
  /** Messages below this level are left out. */
  readonly level: LogLevel
  /** Log entries below this level are left out. */
  readonly logLevel: LogLevel
}

/** The two streams of one command, and the secrets that it must not write. */
export class Output extends Context.Service<
  Output,
  {
    /** Writes a result that is streamed. */
    readonly stdout: Stream
    /** Writes one line of a result, on a terminal with colours after the mark of how good it is. */
    readonly print: (line: string, mark?: Mark) => void
    /** Writes a sentence of a result; a terminal has it broken between words. */
    readonly printText: (line: string) => void
    /** A text as `print` writes it. */
    readonly asPrinted: (text: string) => string
    /** Writes an event as one line; absent without `--json=lines`. */
    readonly event: OnRunEvent
    /** Writes one line for people; a log entry if logs are written for programs. The level is `info` by default. */
    readonly say: (line: string, level?: LogLevel) => void
    readonly log: (entry: LogEntry) => void
    /** Repeats the flags of this command in the commands that a text suggests. */
    readonly withFlags: (text: string) => string
    /** Writes this text as `<redacted>` from now on. */
    readonly keepSecret: (text: string) => void
    readonly redacted: (text: string) => string
    /** Without a call, people read the messages, and see only warnings and errors of the log. */
    readonly configureLogs: (options: LogOptions) => void
    readonly isLogged: (level: LogLevel) => boolean
    /** Whether stderr is a terminal, with a person who may read it. */
    readonly isTerminal: boolean
    /** The lines below all messages; absent if the terminal cannot replace lines. */
    readonly display: DisplayArea | undefined
    /** Calls a function when the size of the terminal changes. Returns a function that ends this. */
    readonly onResize: (listener: () => void) => () => void
  }
>()("sluice/console/Output") {
  static readonly make = (
    { stdout, stderr }: Streams,
    environment: Readonly<Record<string, string | undefined>>,
    { hasEvents = false, withFlags = (text) => text }: OutputOptions = {}
  ): Output["Service"] => {
    const secrets = new Set<string>(proxySecrets())
    const redacted = (text: string) =>
      [...secrets].reduce((clean, secret) => clean.replaceAll(secret, "<redacted>"), text)
    // An installed sluice is typed without a path; the launcher says so.
    const asTyped = (text: string) => text.replaceAll("./sluice", environment["SLUICE_COMMAND"] ?? "./sluice")
    const isTerminal = stderr.isTTY === true && !environment["CI"] && environment["TERM"] !== "dumb"
    const area = new DisplayArea(stderr)
    const isColoured = ({ isTTY }: Stream) => isTTY === true && !isPlain(environment)
    const write = (stream: Stream, line: string) =>
      area.above(() => void stream.write(`${isColoured(stream) ? painted(line) : line}\n`))
    const writeText = (stream: Stream, text: string, mark = "") => {
      const width = terminalWidth(stream)
      const lines =
        width === undefined || text.length <= width ? [text] : wrapped(text, { width: width - mark.length, indent: 2 })
      for (const [index, line] of lines.entries()) write(stream, index === 0 ? `${mark}${line}` : line)
    }
    const asPrinted = (text: string) => redacted(asTyped(text))
    const markOn = (stream: Stream, mark: string | undefined) => (isColoured(stream) ? (marks[mark as Mark] ?? "") : "")
    const print = (line: string, mark?: Mark) => write(stdout, `${markOn(stdout, mark)}${asPrinted(line)}`)
    const event: OnRunEvent = hasEvents
      ? (one) => {
          // A slow reader misses progress; nothing waits for it, and what waits for it in memory stays small.
          if (one.event === "progress" && stdout.writableNeedDrain) return
          print(JSON.stringify({ schema: eventSchema, time: new Date().toISOString(), ...one }))
        }
      : undefined
    const message = (level: LogLevel, text: string) => {
      if (level === "warn" || level === "error") event?.({ event: "message", level, message: text })
    }
    let logs: LogOptions = { format: "pretty", level: "info", logLevel: "warn" }
    const writeEntry = (entry: LogEntry) => {
      // Secrets are replaced before the formats escape characters of them.
      const fields = Object.entries(entry.fields)
        .filter(([, value]) => value !== undefined)
        .map(([key, value]) => [key, typeof value === "string" ? redacted(value) : value])
      const clean = { ...entry, message: redacted(entry.message), fields: Object.fromEntries(fields) }
      write(stderr, withoutControls(redacted(formatEntry(logs.format, clean))).replaceAll(/\s*\n\s*/g, " "))
    }
    return Output.of({
      stdout,
      redacted,
      withFlags,
      isTerminal,
      display: isTerminal ? area : undefined,
      print,
      printText: (line) => writeText(stdout, asPrinted(line)),
      asPrinted,
      event,
      say: (line, level = "info") => {
        const text = asTyped(withFlags(line))
        message(level, text)
        if (!isAtLeast(level, logs.level)) return
        const mark = text.startsWith("Next:") ? "" : markOn(stderr, level)
        if (logs.format === "pretty") writeText(stderr, withoutControls(redacted(text)), mark)
        else if (text.trim() !== "")
          writeEntry({ time: new Date().toISOString(), level, message: text.trim(), fields: {} })
      },
      log: (entry) => {
        message(entry.level, entry.message)
        if (isAtLeast(entry.level, logs.logLevel)) writeEntry(entry)
      },
      keepSecret: (text) => {
        if (text.length >= 6) secrets.add(text)
      },
      configureLogs: (options) => {
        logs = options
      },
      isLogged: (level) => isAtLeast(level, logs.level),
      onResize: (listener) => {
        stderr.on("resize", listener)
        return () => void stderr.off("resize", listener)
      }
    })
  }
}

const eventSchema: (typeof Event.Type)["schema"] = "sluice/events/1"

/** Text of the service must not move the cursor or change colours. */
const withoutControls = (text: string): string => text.replaceAll(/[^\P{Cc}\n\t]/gu, "\ufffd")

/** Whether a terminal must show no colours; see no-color.org. */
const isPlain = (environment: Readonly<Record<string, string | undefined>>): boolean =>
  Boolean(environment["NO_COLOR"]) || Boolean(environment["CI"]) || environment["TERM"] === "dumb"

/** What stands before a message on a terminal with colours. */
const marks = { error: "✗ ", warn: "! ", ok: "✔ " }
type Mark = keyof typeof marks

/** The tone of a mark or of a level of the log. */
const colourOf = (kind: string) => {
  if (/^(wrong|problem|✗|ERROR)$/.test(kind)) return "red"
  if (/^(warning|!|WARN)$/.test(kind)) return "yellow"
  return /^(ok|complete|✔)$/.test(kind) ? "green" : "none"
}

/** The level of a finding or an alarm, or the tone of a state, by its word. */
const kindOfWord = new Map<string, string>([
  ...Object.values(levelWords).flatMap((words) => Object.entries(words).map(([level, word]) => [word, level] as const)),
  ...toneByText
])

/** The first of them that is a cell of a row, the level of a log entry, or a mark. */
const colouredWord = new RegExp(
  `^[✗!✔](?= )|(?<=^\\S+ )(?:ERROR|WARN)(?= )|(?<=^|  )(?:${[...kindOfWord.keys()].join("|")})(?=  |$)`
)

const painted = (line: string): string =>
  line.replace(colouredWord, (word) =>
    nodeUtil().styleText(colourOf(kindOfWord.get(word) ?? word), word, { validateStream: false })
  )

/** The column for the location, by name if it is known, if the rows are from several. */
export const placeOf = (
  rows: ReadonlyArray<{ readonly location: string }>,
  named: ReadonlyArray<{ readonly location: string; readonly name: string }> = []
) => {
  const several = new Set(rows.map(({ location }) => location)).size > 1
  const names = new Map(named.map(({ location, name }) => [location, name]))
  return {
    isOfSeveral: several,
    head: several ? ["location"] : [],
    of: ({ location }: { readonly location: string }) => (several ? [names.get(location) ?? location] : []),
    /** With the id, by which the settings name it. */
    withId: ({ location }: { readonly location: string }) => {
      const name = names.get(location)
      return several ? [name === undefined ? location : `${name} (${location})`] : []
    }
  }
}

/** Columns aligned; numbers to the right. */
export const table = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string | number>>
): ReadonlyArray<string> => {
  const cells = [head, ...rows.map((row) => row.map(shown))]
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const right = head.map(
    (_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === "number" || row[column] === "")
  )
  return cells.map((row) =>
    row
      .map((cell, column) => (right[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join("  ")
      .trimEnd()
  )
}

const shown = (cell: string | number): string => (typeof cell === "number" ? cell.toLocaleString("en-US") : cell)

/** The text of an estimated time, in milliseconds. */
export const timeText = ({ min, max, likely }: LikelyRange): string => {
  if (likely !== undefined) return `about ${duration(likely)}`
  if (max === undefined) return `at least ${duration(min)}`
  const [from, to] = [duration(min), duration(max)]
  return from === to ? `about ${to}` : `${from} to ${to}`
}
