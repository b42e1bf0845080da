/** Checks what the settings keep out, and whether it was stored before. */
import * as Effect from "effect/Effect"
import type { Catalogue } from "../../catalog/discover.ts"
import { earlierText } from "../../run/console/stored-earlier.ts"
import { failureExplanation } from "../../run/console/errors.ts"
import { storedEarlier, keptOut } from "../../run/withheld.ts"
import type { OutputSettings } from "../../settings/settings.ts"
import { counted, ok, warning } from "../../values/finding.ts"
import { problem } from "./finding.ts"

export const withheld = Effect.fn("doctor.withheld")(function* (
  { folder }: Pick<OutputSettings, "folder">,
  catalogue: Catalogue
) {
  const names = keptOut(catalogue)
  if (names.length === 0) return []
  return yield* storedEarlier(folder, catalogue).pipe(
    Effect.map((earlier) => [
      earlier.length === 0
        ? ok(
            "kept out",
            `${counted(names.length, "column or table", "columns and tables")}, nothing of it stored before`
          )
        : warning("kept out", earlierText(earlier))
    ]),
    Effect.catch((failure) => Effect.succeed([problem("kept out", failureExplanation(failure))]))
  )
})
