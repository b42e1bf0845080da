/** The sentences about what the settings keep out now and did not before, and the reverse. */
import * as Effect from "effect/Effect"
import { some } from "../values/text.ts"
import { Output } from "./output.ts"

export const earlierText = (names: ReadonlyArray<string>): string =>
  `The settings keep out ${some(names)}; what was stored before stays in the vault, the tables and their history. Only a new ` +
  "output folder is without it: sync into one with --output, then remove this one."

export const liftedText = (names: ReadonlyArray<string>): string =>
  `The settings no longer keep out ${some(names)}: it is stored from now on. Records that do not change have it after ` +
  "./sluice sync --full."

export const sayEarlier = Effect.fnUntraced(function* (names: ReadonlyArray<string> = []) {
  const { say } = yield* Output
  if (names.length > 0) say(earlierText(names), "warn")
})
