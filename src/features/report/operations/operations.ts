/** The first part of the report: how the copying went. */
import * as Effect from "effect/Effect"
import type { Resource } from "../../../catalog/resource.ts"
import { modelProblems } from "../../../stores/warehouse/meta/model-problems.ts"
import { standingRejects } from "../../../stores/warehouse/meta/standing-rejects.ts"
import { type Html, html } from "../../../values/html.ts"
import { changesSection } from "./changes.ts"
import { diskUse } from "../../../output/disk.ts"
import { diskSection } from "./disk.ts"
import { freshness } from "./freshness.ts"
import { overviewOf, overviewSection } from "./overview.ts"
import { periodOf } from "./period.ts"
import { readingsOf } from "./readings.ts"
import { driftSection, rejectsSection, roundedSection, wideSection } from "./rejects.ts"
import { requestsSection } from "./requests.ts"
import { runsSection } from "./runs.ts"

/** The report takes seconds, however many recordings there are. */
const filesMax = 100_000

/** `undefined` before the first run. `scopeOf`: the scope that a resource needs. */
export const operations = Effect.fn("report.operations")(function* (
  output: string,
  resources: ReadonlyArray<Resource>,
  scopeOf: (label: string) => string | undefined,
  withheld: Html | undefined
) {
  const period = yield* periodOf()
  if (period === undefined) return undefined
  const readings = yield* readingsOf(period)
  const models = yield* modelProblems()
  const changes = yield* changesSection(period)
  const requests = yield* requestsSection(period)
  const rejects = yield* rejectsSection(period, yield* standingRejects(resources))
  const sections = [
    changes.content,
    freshness(period, readings, scopeOf),
    yield* runsSection(period.runs),
    requests.content,
    rejects.content,
    yield* roundedSection(period),
    yield* wideSection(),
    yield* driftSection(period),
    withheld,
    diskSection(yield* diskUse(output, { filesMax }))
  ]
  const { sent } = requests
  return {
    period,
    overview: overviewOf(period, readings, models),
    content: html`${overviewSection({ period, readings, changes, sent, rejected: rejects.lastDay, models, scopeOf })}
    ${sections}`
  }
})
