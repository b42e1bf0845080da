/** `sluice plan`: prints what a sync would read, in requests and time, and what the estimate is based on. */
import { Clock, Effect } from "effect"
import { counted } from "../values/finding.ts"
import { megabytes, some } from "../values/text.ts"
import { plannedText, rangeText } from "../values/range.ts"
import { sayEarlier } from "../console/findings.ts"
import { Output, placeOf, table, timeText } from "../console/streams.ts"
import { type PlanFlags, planOnce } from "../run/plan.ts"
import { holderText } from "../command/readable.ts"
import { type CommandResult, printEither } from "../console/result.ts"

export const plan = Effect.fn("command.plan")(function* ({ json, ...flags }: PlanFlags & { readonly json: boolean }) {
  const result = yield* planOnce(flags)
  return yield* printEither("plan", result, json, printPlan(result))
})

const printPlan = Effect.fnUntraced(function* ({ data }: CommandResult<"plan">) {
  const { print, say } = yield* Output
  const {
    dailyRemaining,
    elapsedMs,
    holder,
    likely,
    omitted,
    requests,
    steps,
    files = [],
    storedEarlier,
    withheld = []
  } = data
  if (holder) print(holderText(holder, yield* Clock.currentTimeMillis))
  if (requests && elapsedMs) {
    const place = placeOf(steps, data.locations)
    for (const line of table(
      [...place.head, "resource", "mode", "records", "requests", "based on"],
      steps.map(({ location, resource, mode, records, requests, basis, refused }) => [
        ...place.of({ location }),
        resource,
        mode,
        records?.toLocaleString("en-US") ?? "",
        refused ? "" : (rangeText(requests) ?? "unknown"),
        refused
          ? `refused: ${refused.scope === undefined ? "" : `scope ${refused.scope}; `}${refused.reason.slice(0, 80)}`
          : basis
      ])
    ))
      print(line)
    for (const { bytes, files: count, location, sized } of files)
      say(
        `${place.head.length > 0 ? `${location}: ` : ""}${counted(count, "file")} behind the links of stored records ${count === 1 ? "is" : "are"} new${sized === 0 ? "" : `; ${sized} of them have ${megabytes(bytes)}`}.`
      )
    for (const { resource, setting, what } of omitted)
      say(`Not read: ${what} (${resource}). To read them, set ${setting} = true.`)
    const left = dailyRemaining === undefined ? "" : `; ${dailyRemaining.toLocaleString("en-US")} requests left today`
    if (withheld.length > 0) say(`The settings keep out: ${some(withheld)}.`)
    yield* sayEarlier(storedEarlier)
    const planned = plannedText({ ...requests, ...(likely && { likely: likely.requests }) })
    const time = timeText({ ...elapsedMs, ...(likely && { likely: likely.elapsedMs }) })
    const basis = likely && requests.min !== requests.max ? `, by the ${likely.basis}` : ""
    say(`${capitalised(planned)}, ${time}${basis}${left}.`)
  }
})

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
