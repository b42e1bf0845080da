/** When the sync runs by itself. */
import { h } from "./dom.js"
import { ago, field, formOf, headline, input, timeText } from "./console-parts.js"
import { listOf, proposeChange } from "./console-change.js"
import { current, live, readState } from "./console-state.js"

export const schedule = () => {
  const { paused, timeZone, times = [] } = current().schedule ?? {}
  const time = input({ value: times.join(", ") || "03:30", required: true })
  const zone = input({ value: timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone, required: true })
  zone.setAttribute("list", "zones")
  const pause = h("input", { type: "checkbox", checked: paused ?? false })
  const form = formOf(
    "Show the change",
    [
      field(
        "Times",
        "Hours and minutes, separated by commas. Each day has one run at each of them, also the days on which the clock changes.",
        time
      ),
      field("Time zone", "For example Europe/Berlin.", zone),
      field("Pause", "Start nothing until this is taken back.", pause),
      h(
        "datalist",
        { id: "zones" },
        Intl.supportedValuesOf("timeZone").map((value) => h("option", { value }))
      )
    ],
    () => {
      const changes = {
        "schedule.times": listOf(time.value),
        "schedule.time_zone": zone.value.trim(),
        "schedule.paused": pause.checked
      }
      return proposeChange({ changes }, readState)
    }
  )
  return [
    h("h2", "Schedule"),
    live(h("div.part"), (state) => state.schedule, nextRuns),
    form,
    h(
      "p.muted",
      "A sync that the rate limit or the service stopped is started again after an hour. If a token is refused or a setting is wrong, the schedule stops, and the overview says so."
    )
  ]
}

export const nextRuns = (now) => {
  const { halted, next, paused, retryAt, timeZone, times = [] } = now ?? {}
  if (times.length === 0) return h("p", "No run is scheduled: nothing is read unless somebody starts it.")
  const one = (instant) => h("li", h("strong", timeText(instant, timeZone)), h("span.muted", ago(instant)))
  const sentence = `Every day at ${times.join(", ")} (${timeZone}).`
  const again = retryAt && ` The last run was stopped early; it continues ${ago(retryAt)}.`
  if (paused) return [h("p", sentence), headline("warn", h("p", "The schedule is paused."))]
  if (halted) return [h("p", sentence), headline("error", h("p", `It has stopped: ${halted.text}`))]
  return [h("p", sentence, again), h("ol.next-runs", { "aria-label": "The next three runs" }, next.map(one))]
}
