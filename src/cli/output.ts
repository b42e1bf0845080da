/** Results on stdout, messages on stderr, secrets on neither. */
import * as Context from "effect/Context"
import { withGivenFlags } from "./given-flags.ts"

/** Where a command writes; a terminal also has a width. */
export interface Streams {
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }
}

/** The two streams of one command, and the secrets that it must not write. */
export class Output extends Context.Service<
  Output,
  Streams & {
    /** Writes one line of a result. */
    readonly print: (line: string) => void
    /** Writes one line for people. */
    readonly say: (line: string) => void
    /** Repeats the flags of this command in the commands that a text suggests. */
    readonly withFlags: (text: string) => string
    /** From now on this text is written as `<redacted>`. */
    readonly keepSecret: (text: string) => void
    readonly redacted: (text: string) => string
  }
>()("sluice/cli/Output") {
  static readonly make = ({ stdout, stderr }: Streams, args: ReadonlyArray<string>): Output["Service"] => {
    const secrets = new Set<string>()
    const withFlags = withGivenFlags(args)
    const redacted = (text: string) =>
      [...secrets].reduce((clean, secret) => clean.replaceAll(secret, "<redacted>"), text)
    return Output.of({
      stdout,
      stderr,
      redacted,
      withFlags,
      print: (line) => void stdout.write(`${redacted(line)}\n`),
      say: (line) => void stderr.write(`${withoutControls(redacted(withFlags(line)))}\n`),
      keepSecret: (text) => {
        if (text.length >= 6) secrets.add(text)
      }
    })
  }
}

/** Text of the service must not move the cursor or change colours. */
const withoutControls = (text: string): string => text.replaceAll(/[^\P{Cc}\n\t]/gu, "\ufffd")

/** Columns aligned; numbers to the right. */
export const table = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string | number>>
): ReadonlyArray<string> => {
  const cells = [head, ...rows.map((row) => row.map(shown))]
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)))
  const right = head.map(
    (_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === "number" || row[column] === "")
  )
  return cells.map((row) =>
    row
      .map((cell, column) => (right[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join("  ")
      .trimEnd()
  )
}

const shown = (cell: string | number): string => (typeof cell === "number" ? cell.toLocaleString("en-US") : cell)

export const duration = (milliseconds: number): string => {
  const seconds = Math.round(milliseconds / 1000)
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`
}
