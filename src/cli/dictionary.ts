/** `sluice dictionary`: what every table and column means, and what became of every operation of the API. */
import { Effect } from "effect"
import { coverageOf } from "../catalog/coverage.ts"
import { coverageTable, dictionary as markdown } from "../catalog/dictionary.ts"
import { discover } from "../catalog/discover.ts"
import { tablesOf } from "../catalog/tables.ts"
import { Output } from "./output.ts"
import { printResult } from "./result.ts"

export const dictionary = Effect.fn("cli.dictionary")(function* (flags: {
  readonly json: boolean
  readonly coverage: boolean
}) {
  const { print } = yield* Output
  const catalogue = yield* Effect.promise(() => discover())
  if (flags.json)
    return yield* flags.coverage
      ? printResult("coverage", { exitCode: 0, data: { operations: coverageOf(catalogue) } })
      : printResult("dictionary", {
          exitCode: 0,
          data: { tables: catalogue.resources.flatMap((resource) => tablesOf(resource)) }
        })
  print(flags.coverage ? coverageTable(catalogue) : markdown(catalogue))
  return 0
})
