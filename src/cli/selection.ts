/** What `--only` and `--except` say. */
import { Effect } from "effect"
import { words } from "../asked.ts"
import { Failure } from "../failure.ts"

interface ChoiceFlags {
  readonly only: string | undefined
  readonly except: string | undefined
}

/** A flag that was given holds a word: an empty one, as of a variable that is not set, must not mean everything. */
export const choiceOf = Effect.fnUntraced(function* ({ only, except }: ChoiceFlags) {
  for (const [flag, text] of [
    ["--only", only],
    ["--except", except]
  ] as const)
    if (text !== undefined && words(text).length === 0)
      return yield* new Failure({
        ends: "usage",
        message: `${flag} "${text}": no table or family is named.`,
        next: "./sluice dictionary"
      })
  return { only: words(only), except: words(except) }
})
