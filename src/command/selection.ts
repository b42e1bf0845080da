/** What `--only` and `--except` say. */
import * as Effect from "effect/Effect"
import { commaSeparated } from "../values/setting.ts"
import { usageError } from "../console/errors.ts"

export interface ChoiceFlags {
  readonly only?: string | undefined
  readonly except?: string | undefined
  /** Read lists alone, without a request for each record. */
  readonly lists?: boolean | undefined
  readonly full?: boolean | undefined
  /** Send the requests for each record again. */
  readonly each?: boolean | undefined
}

/** A flag that was given holds a word: an empty one, as of a variable that is not set, must not mean everything. */
export const choiceOf = Effect.fnUntraced(function* ({
  only,
  except,
  lists = false,
  full = false,
  each = false
}: ChoiceFlags) {
  for (const [flag, text] of [
    ["--only", only],
    ["--except", except]
  ] as const)
    if (text !== undefined && commaSeparated(text).length === 0)
      return yield* usageError(`${flag} "${text}": no table or family is named.`, "./sluice dictionary")
  return { only: commaSeparated(only ?? ""), except: commaSeparated(except ?? ""), lists, full: full || each, each }
})
