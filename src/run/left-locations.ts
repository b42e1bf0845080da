/** Names locations that the settings no longer name: their rows stay in every release, as they were last read. */
import * as Effect from "effect/Effect"
import type { LeftLocation } from "../stores/warehouse/meta/run-resources.ts"
import { Output } from "../console/output.ts"

export const leftText = ({ location, readAt }: LeftLocation): string =>
  `The location ${location} is no longer in the settings; its rows are live in every release, as of ${readAt}.`

/** The next command for the first of them; it prints a plan. */
export const nextForLeft = ([first]: ReadonlyArray<LeftLocation>): string | undefined =>
  first && `./sluice location remove ${first.location}`

export const sayLeft = Effect.fnUntraced(function* (left: ReadonlyArray<LeftLocation>) {
  const { say } = yield* Output
  for (const one of left) say(leftText(one), "warn")
})
