/** What `--only`, `--except` and `--again` say. */
import * as Effect from "effect/Effect"
import { commaSeparated } from "../values/setting.ts"
import { usageError } from "../console/errors.ts"

export interface ChoiceFlags {
  readonly only?: string | undefined
  readonly except?: string | undefined
  /** What is read again. */
  readonly again?: Again | undefined
}

export const againChoices = ["changed", "lists", "all"] as const
export type Again = (typeof againChoices)[number]

/** What takes a request for each record, as the settings call it; no table or family has this name. */
export const detailsName = "details"

/** A flag that was given holds a word: an empty one, as of a variable that is not set, must not mean everything. */
export const choiceOf = Effect.fnUntraced(function* ({ only, except }: Pick<ChoiceFlags, "only" | "except">) {
  for (const [flag, text] of [
    ["--only", only],
    ["--except", except]
  ] as const)
    if (text !== undefined && commaSeparated(text).length === 0)
      return yield* usageError(`${flag} "${text}": no table or family is named.`, "./sluice dictionary")
  return { only: commaSeparated(only ?? ""), except: commaSeparated(except ?? "") }
})

/** As `choiceOf`, for a command about what is read. */
export const readingOf = Effect.fnUntraced(function* ({ again = "changed", ...flags }: ChoiceFlags) {
  const { except, only } = yield* choiceOf(flags)
  return {
    only,
    except: except.filter((name) => name !== detailsName),
    lists: except.includes(detailsName),
    full: again !== "changed",
    each: again === "all"
  }
})
