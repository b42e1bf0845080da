/** `sluice plan`: prints what a sync would read, in requests and time, and what the estimate is based on. */
import { Clock, Effect } from "effect"
import { counted } from "../values/finding.ts"
import { megabytes, some } from "../values/text.ts"
import { likelyText, plannedText, rangeText, sumOf } from "../values/range.ts"
import { sayEarlier } from "../console/findings.ts"
import { Output, placeOf, table, timeText } from "../console/streams.ts"
import { type PlanFlags, planOnce } from "../run/plan.ts"
import { holderText } from "../command/readable.ts"
import { type CommandResult, printEither } from "../console/result.ts"

export const plan = Effect.fn("command.plan")(function* ({ json, ...flags }: PlanFlags & { readonly json: boolean }) {
  const result = yield* planOnce(flags)
  return yield* printEither("plan", result, json, printPlan(result))
})

export const printPlan = Effect.fnUntraced(function* ({ data }: CommandResult<"plan">) {
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
  for (const { location, problem } of data.unplanned ?? []) say(`${location} could not be planned: ${problem}`, "error")
  if (holder) print(holderText(holder, yield* Clock.currentTimeMillis))
  if (requests && elapsedMs) {
    const place = placeOf(steps, data.locations)
    const details = place.isOfSeveral ? steps.filter(({ refused }) => refused) : steps
    if (place.isOfSeveral) for (const line of locationLines(data)) print(line)
    const head = [...place.head, "resource", "mode", "records", "requests", "based on"]
    const lines = table(
      head,
      details.map(({ location, resource, mode, records, requests, basis, refused }) => [
        ...place.of({ location }),
        resource,
        mode,
        records?.toLocaleString("en-US") ?? "",
        refused ? "" : (rangeText(requests) ?? "unknown"),
        refused ? `refused: ${refused.reason.slice(0, 80)}` : basis
      ])
    )
    if (details.length > 0) for (const line of lines) print(line)
    if (place.isOfSeveral) say(`Each resource of one of them: ./sluice plan --location ${steps[0]!.location}`)
    for (const { bytes, files: count, location, sized } of files)
      say(
        `${place.head.length > 0 ? `${location}: ` : ""}${counted(count, "file")} behind the links of stored records ${count === 1 ? "is" : "are"} new${sized === 0 ? "" : `; ${sized} of them have ${megabytes(bytes)}`}.`
      )
    const [offers, others] = [omitted.filter(isOffer), omitted.filter((one) => !isOffer(one))]
    for (const { resource, setting, what } of others)
      say(`Not read: ${what} (${resource}). To read them, set ${setting} = true.`)
    if (offers.length > 0) {
      const each = offers.map(({ resource, what }) => `${resource} (${what})`)
      say(
        `Not read, because each takes a request for each row of another table: ${each.join(", ")}. To read one, set ${offers[0]!.setting}.`
      )
    }
    const left = dailyRemaining === undefined ? "" : `; ${dailyRemaining.toLocaleString("en-US")} requests left today`
    if (withheld.length > 0) say(`The settings keep out: ${some(withheld)}.`)
    yield* sayEarlier(storedEarlier)
    const planned = plannedText({ ...requests, ...(likely && { likely: likely.requests }) })
    const time = timeText({ ...elapsedMs, ...(likely && { likely: likely.elapsedMs }) })
    const basis = likely && requests.min !== requests.max ? `, by the ${likely.basis}` : ""
    say(`${capitalised(planned)}, ${time}${basis}${left}.`)
  }
})

/** What each of several locations takes, by its name. */
const locationLines = ({ locations, steps }: CommandResult<"plan">["data"]) => {
  const place = placeOf(steps, locations)
  return table(
    [...place.head, "id", "resources", "requests", "at least and at most"],
    Map.groupBy(steps, ({ location }) => location)
      .entries()
      .map(([location, own]) => {
        const range = sumOf(own.map(({ likely, requests }) => ({ ...requests, likely })))
        return [...place.of({ location }), location, own.length, likelyText(range) ?? "", rangeText(range) ?? "unknown"]
      })
      .toArray()
  )
}

/** Read once its setting has this value. */
const isOffer = ({ setting }: { readonly setting: string }): boolean => setting.includes(" = ")

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
