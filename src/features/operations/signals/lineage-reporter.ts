/** Reports a run to OpenLineage. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { exitCodes } from "../../../values/failure.ts"
import type { LineageSettings } from "../../../settings/signals.ts"
import { LineageSink } from "./lineage-sink.ts"
import { type RunEnd, RunLineage } from "./lineage.ts"
import type { RunEvent } from "../../../values/run-event.ts"
import { warn } from "../../../run/console/findings.ts"
import type { End, Reporter, Subject } from "../../../run/reports.ts"

export const beginLineage = (
  { accounts, catalogue, command, output }: Subject,
  settings: LineageSettings
): Reporter => {
  const baseUrls = new Map(accounts.map(({ api, location }) => [location, api.baseUrl]))
  const { namespace } = settings
  const lineage = new RunLineage({ command, namespace, catalogue, baseUrls, output: output.folder })
  const sink = new LineageSink(settings)
  lineage.start().forEach((one) => sink.send(one))
  const onEvent = (event: RunEvent) => lineage.after(event).forEach((one) => sink.send(one))
  const end = (end: End) => {
    // The reason of a failure may have words of the service.
    const text = `sluice ${command} ended with exit code ${end.exitCode}`
    lineage.end({ type: typeOf(end), text }).forEach((one) => sink.send(one))
    return Effect.flatMap(
      Effect.promise(() => sink.close()),
      warn
    )
  }
  return { services: Context.empty(), onEvent, end }
}

const typeOf = ({ exitCode, isSilent }: End): RunEnd["type"] => {
  if (exitCode === 0) return "COMPLETE"
  return isSilent || exitCode === exitCodes.later ? "ABORT" : "FAIL"
}
