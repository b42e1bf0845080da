/** The first part of the report: how the copying went. */
import * as Effect from "effect/Effect"
import type { Failure } from "../../../values/failure.ts"
import { modelProblems } from "../../../stores/warehouse/meta/model-problems.ts"
import { runsNewestFirst } from "../../../stores/warehouse/meta/runs.ts"
import type { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { type Html, html } from "../../../values/html.ts"
import { changesSection, tableChanges } from "./changes.ts"
import { diskUse } from "../../../output/disk.ts"
import { diskSection } from "./disk.ts"
import { freshness } from "./freshness.ts"
import { type Overview, overviewOf, overviewSection } from "./overview.ts"
import { type Period, periodOf } from "./period.ts"
import { readingsOf } from "./readings.ts"
import { driftSection, rejectsOf, rejectsSection, roundedSection, wideSection } from "./rejects.ts"
import { requestsOf, requestsSection } from "./requests.ts"
import { changesByRun, runsMax, runsSection } from "./runs.ts"

/** The report takes seconds, however many recordings there are. */
const filesMax = 100_000

export interface Operations {
  readonly period: Period
  readonly overview: Overview
  readonly content: Html
}

/** `undefined` before the first run. `scopeOf`: the scope that a resource needs. */
export const operations = Effect.fn("report.operations")(function* (
  output: string,
  scopeOf: (label: string) => string | undefined,
  withheld: Html | undefined
): Effect.fn.Return<Operations | undefined, Failure, Warehouse> {
  const period = yield* periodOf()
  if (period === undefined) return undefined
  const readings = yield* readingsOf(period)
  const tables = yield* tableChanges(period)
  const runs = yield* runsNewestFirst(undefined, runsMax)
  const requests = yield* requestsOf(period)
  const rejects = yield* rejectsOf(period)
  const models = yield* modelProblems()
  const used = yield* diskUse(output, { filesMax })
  return {
    period,
    overview: overviewOf(period, readings, models),
    content: html`${overviewSection({ period, readings, tables, requests, rejects, models, scopeOf })}
    ${changesSection(period, tables)} ${freshness(period, readings, scopeOf)}
    ${runsSection(runs, period.runs, yield* changesByRun(runs))} ${requestsSection(period, requests)}
    ${rejectsSection(rejects)} ${roundedSection(rejects)} ${wideSection(rejects)} ${driftSection(rejects)} ${withheld}
    ${diskSection(used)}`
  }
})
