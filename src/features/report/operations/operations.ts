/** The first part of the report: how the copying went. */
import * as Effect from "effect/Effect"
import type { Resource } from "../../../catalog/resource.ts"
import { verdictOf } from "../../../alarms/verdict.ts"
import { modelProblems } from "../../../stores/warehouse/meta/model-problems.ts"
import { targetStates } from "../../../stores/warehouse/meta/targets.ts"
import { standingRejects } from "../../../stores/warehouse/meta/standing-rejects.ts"
import { type Html, html } from "../../../pages/html.ts"
import { changesSection } from "./changes.ts"
import { releasedTotals } from "../../../output/manifest.ts"
import { outputPaths } from "../../../output/paths.ts"
import { type Used, diskUse } from "../../../output/disk.ts"
import { freshness } from "./freshness.ts"
import { namingOf, overviewOf, overviewSection } from "./overview.ts"
import { periodOf } from "./period.ts"
import { readingsOf } from "./readings.ts"
import { driftSection, rejectsSection, roundedSection, limitsSection, wideSection } from "./rejects.ts"
import { requestsSection } from "./requests.ts"
import { runsSection } from "./runs.ts"
import { bytes, count, share } from "../format.ts"
import { section } from "../section.ts"
import { bars, number, sumOf, tableOf, text, wide } from "../../../pages/html-table.ts"

/** The report takes seconds, however many recordings there are. */
const filesMax = 100_000

/** `undefined` before the first run. `locations`: those of the settings. */
export const operations = Effect.fn("report.operations")(function* (
  output: string,
  resources: ReadonlyArray<Resource>,
  withheld: Html | undefined,
  locations: ReadonlyArray<string>
) {
  const period = yield* periodOf()
  if (period === undefined) return undefined
  const readings = yield* readingsOf(period, locations)
  const verdict = verdictOf({
    readings: readings.all,
    run: period.sync,
    targets: yield* targetStates(),
    models: yield* modelProblems()
  })
  const naming = namingOf(period)
  const totals = yield* Effect.promise(() => releasedTotals(outputPaths(output).published))
  const changes = yield* changesSection(period)
  const requests = yield* requestsSection(period)
  const rejects = yield* rejectsSection(period, yield* standingRejects(resources))
  const sections = [
    changes.content,
    freshness(period, readings),
    yield* runsSection(period.runs),
    requests.content,
    rejects.content,
    yield* roundedSection(period),
    yield* wideSection(),
    yield* limitsSection(),
    yield* driftSection(period),
    withheld,
    diskSection(yield* diskUse(output, { filesMax }))
  ]
  const { sent } = requests
  return {
    period,
    overview: overviewOf(period, verdict, naming),
    content: html`${overviewSection({ period, readings, changes, sent, rejected: rejects.lastDay, totals, verdict, naming })}
    ${sections}`
  }
})

/** Section: how much space each part of the output folder takes. */
const diskSection = (used: ReadonlyArray<Used>): Html => {
  const all = sumOf(used, (one) => one.bytes)
  const atLeast = ({ isCut }: Used, size: string) => `${isCut ? "more than " : ""}${size}`
  return section({
    id: "disk",
    title: "Disk",
    lead: `The output folder takes ${bytes(all)}.`,
    content: tableOf(used, {
      id: "disk-table",
      caption: "Space by part of the output folder",
      columns: [
        text("Part", ({ part }) => part),
        number("Size", (one) => atLeast(one, bytes(one.bytes))),
        number("Share", (one) => share(one.bytes, all)),
        bars("Share of the folder", used, (one) => one.bytes),
        number("Files", (one) => atLeast(one, count(one.files))),
        wide("What", ({ what }) => what)
      ]
    })
  })
}
