/** What the features do in a run; see `command/features.ts`. Their code is loaded when a run needs it. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { RunFeatures } from "../command/features.ts"

const loaded = <A>(module: Promise<A>): Effect.Effect<A> => Effect.promise(() => module)

export const runFeatures: RunFeatures["Service"] = {
  beginSignals: (subject) =>
    Effect.flatMap(loaded(import("../features/operations/signals/heartbeats.ts")), (_) => _.beginSignals(subject)),
  withoutErased: (vault, output, { resources }, onRemoved) =>
    Layer.unwrap(
      Effect.map(loaded(import("../features/privacy/erasure/vault.ts")), (_) =>
        _.withoutErased(vault, output, resources, onRemoved)
      )
    ),
  writeReport: (output, catalogue) =>
    Effect.flatMap(loaded(import("../features/report/report-page.ts")), (_) => _.refreshReport(output, catalogue))
}
