/** The tables that `--only` and `--except` name, by name or by family. */
import { Effect } from "effect"
import type { Catalogue } from "../../catalog/discover.ts"
import { choosableNames, namedTables } from "../../catalog/published-tables.ts"
import { closest, suggestion } from "../../settings/closest.ts"
import type { choiceOf } from "../../command/selection.ts"
import { usageError } from "../../console/errors.ts"

/** A person reads the tables that an export names, so each name has to be that of a table. At least one table is left. */
export const chosenTables = Effect.fnUntraced(function* (
  { tables, familyByTable }: Pick<Catalogue, "familyByTable"> & { readonly tables: ReadonlyArray<string> },
  { only, except }: Effect.Success<ReturnType<typeof choiceOf>>
) {
  const namesOf = (name: string) => namedTables(name, tables, familyByTable)
  for (const [flag, names] of [
    ["--only", only],
    ["--except", except]
  ] as const)
    for (const name of names)
      if (namesOf(name).length === 0)
        return yield* usageError(
          `${flag} ${name}: there is no such table or family${suggestion(closest(name, choosableNames(tables, familyByTable)))}`,
          "./sluice dictionary"
        )
  const excluded = new Set(except.flatMap(namesOf))
  const chosen = [...new Set(only.flatMap(namesOf))].filter((name) => !excluded.has(name))
  if (chosen.length > 0) return chosen
  return yield* usageError(
    `--only ${only.join(",")} --except ${except.join(",")}: no table is left.`,
    "./sluice dictionary lists the tables."
  )
})
