/** Reports the models that a release does not have. */
import { Effect } from "effect"
import type { ModelProblem } from "../models/model.ts"
import { Output } from "./output.ts"

export const sentenceOf = ({ problem }: ModelProblem): string => `Model not built: ${problem}`

export const sayProblems = Effect.fnUntraced(function* (problems: ReadonlyArray<ModelProblem>) {
  const { say } = yield* Output
  for (const problem of problems) say(sentenceOf(problem), "warn")
})
