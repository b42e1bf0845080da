/** Reads a range of the past; syncs take precedence. */
import { Clock, Effect } from "effect"
import { type Window, dayMs, instantMs } from "../catalog/timestamps.ts"
import { CommandError, usageError } from "../console/errors.ts"
import { instant } from "../console/result.ts"
import { Output } from "../console/streams.ts"
import { type SyncFlags, syncOnce } from "./sync.ts"

export interface BackfillFlags extends Omit<SyncFlags, "acceptDeletions"> {
  readonly from: string
  readonly to: string | undefined
}

export const backfill = Effect.fnUntraced(function* (flags: BackfillFlags) {
  const range = yield* rangeOf(flags)
  const { only, except, from, to } = flags
  const { say } = yield* Output
  say(`Reads what was made from ${instant(range[0])} to ${instant(range[1])}.`)
  const typed = ["./sluice backfill", ...Object.entries({ only, except, from, to }).map(written)].join("")
  return yield* syncOnce(flags, { range, typed })
})

const written = ([name, value]: readonly [string, string | undefined]) =>
  value === undefined ? "" : ` --${name} ${value}`

const rangeOf = Effect.fnUntraced(function* ({ from, to }: BackfillFlags): Effect.fn.Return<Window, CommandError> {
  const now = yield* Clock.currentTimeMillis
  const start = momentOf(from, 0)
  // A day alone is meant as a whole.
  const end = to === undefined ? now : momentOf(to, dayMs)
  const refuse = (message: string) => Effect.fail(usageError(message, "./sluice backfill --help"))
  const notDate = (flag: string) => refuse(`${flag} is not a date: write 2025-01-31 or 2025-01-31T12:00:00Z.`)
  if (start === undefined) return yield* notDate(`--from ${from}`)
  if (end === undefined) return yield* notDate(`--to ${to}`)
  if (start >= Math.min(end, now))
    return yield* refuse(`--from ${from} is not before ${to === undefined ? "now" : `--to ${to}`}.`)
  return [start, Math.min(end, now)]
})

/** The year first: `01.02.2025` is another day in each half of the world, and the texts of the API are not what people type. */
const momentOf = (text: string, dayAs: number): number | undefined => {
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}|$)/.test(text)) return undefined
  const day = instantMs(`${text}T00:00:00Z`)
  return day === undefined ? instantMs(text) : day + dayAs
}
