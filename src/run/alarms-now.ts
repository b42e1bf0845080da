/** The alarms that there are now, decided from the warehouse, or from the last release while another program has it open. */
import * as Effect from "effect/Effect"
import type { AlarmLimits } from "../alarms/alarms.ts"
import type { Facts } from "../alarms/facts.ts"
import { isComparable } from "../alarms/volume.ts"
import { readFacts, watch } from "../alarms/watch.ts"
import type { CommandSettings } from "../settings/settings.ts"
import { loadCatalogue } from "../command/catalogue.ts"
import { openReadable } from "../command/readable.ts"
import type { comparedShape } from "../command/result-shapes.ts"

/** Fails if there is neither a warehouse that can be opened nor a release. */
export const alarmsNow = Effect.fnUntraced(function* (output: CommandSettings) {
  const { folder, alarms: settings } = output
  const readable = yield* openReadable(output)
  if (readable.source === "none") return yield* readable.locked
  const facts = yield* Effect.provide(readFacts(settings.limits, yield* loadCatalogue(output)), readable.tables)
  const watched = yield* watch({ folder, ...settings, isRunning: readable.holder?.isRun === true }, facts)
  return { facts, watched, compared: comparedOf(facts, settings.limits) }
}, Effect.scoped)

export type Compared = ReturnType<typeof comparedShape>["Type"]

/** A new output has no nights, and its volumes are compared with nothing. */
const comparedOf = ({ completeAt, nights, syncs }: Facts, limits: AlarmLimits): Compared => ({
  syncs: syncs.length,
  readings: completeAt.length,
  volumes: [...nights.values()].filter((known) => isComparable(known, limits)).length
})
