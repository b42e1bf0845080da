/** Reports the models that could not be built for a release. */
import * as Effect from "effect/Effect"
import type { FailedModel } from "../../stores/warehouse/meta/model-problems.ts"
import { Output } from "./output.ts"

export const sentenceOf = ({ problem, kept }: FailedModel): string =>
  `Model not built${kept === undefined ? "" : `, its table of ${kept.at} stays`}: ${problem}`

export const sayProblems = Effect.fnUntraced(function* (sentences: ReadonlyArray<string>) {
  const { say } = yield* Output
  for (const sentence of sentences) say(sentence, "warn")
})
