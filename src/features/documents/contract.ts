/** `sluice contract`: what readers may rely on, and whether another version of it still holds. */
import { Effect, Schema } from "effect"
import { readFile } from "node:fs/promises"
import { breakingChanges, contractOf } from "../../stages/publish/contracts/contract.ts"
import { contractText, odcsTables } from "../../stages/publish/contracts/odcs.ts"
import { modelContract } from "../../stages/publish/models/dictionary.ts"
import { sluiceVersion } from "../../values/version.ts"
import { defaultCatalogue } from "../../command/catalogue.ts"
import { defaultModels } from "../../command/default-models.ts"
import { usageError } from "../../console/errors.ts"
import { Output } from "../../console/streams.ts"
import { info, shown } from "../../console/result.ts"

export const contractPrint = Effect.fn("command.contractPrint")(function* () {
  const { print } = yield* Output
  const tables = yield* presentTables
  print((yield* Effect.promise(() => contractText(tables, sluiceVersion))).trimEnd())
  return 0
})

/** Ends with 1 if readers of the contract in the file would lose something with the present definitions. */
export const contractCheck = Effect.fn("command.contractCheck")(function* ({ file }: { readonly file: string }) {
  const released = yield* readContract(file)
  const present = odcsTables(yield* presentTables)
  const breaking = breakingChanges(released, present)
  const exitCode = breaking.length === 0 ? 0 : 1
  return shown("contract-check", { exitCode, data: { tables: released.length, breaking } }, () =>
    exitCode === 0
      ? [`All ${released.length} tables and models of ${file} are as it says.`]
      : [...breaking, info(`${breaking.length} breaking changes since ${file}.`)]
  )
})

/** The tables, and the models. */
const presentTables = Effect.gen(function* () {
  const catalogue = yield* defaultCatalogue()
  return [...contractOf(catalogue), ...(yield* defaultModels(catalogue)).map(modelContract)]
})

const readContract = Effect.fnUntraced(function* (file: string) {
  const wrong = (detail: string) =>
    usageError(`${file}: ${detail}`, "./sluice contract print > contract.odcs.yaml writes the present contract.")
  const text = yield* Effect.tryPromise({
    try: () => readFile(file, "utf8"),
    catch: (error) => wrong(error instanceof Error ? error.message : String(error))
  })
  const { parse } = yield* Effect.promise(() => import("yaml"))
  const content: unknown = yield* Effect.try({
    try: (): unknown => parse(text),
    catch: (error) => wrong(error instanceof Error ? error.message : String(error))
  })
  return isContract(content)
    ? content.schema
    : yield* wrong("is not a data contract of the Open Data Contract Standard with tables and typed columns.")
})

/** It may say more. */
const isContract = Schema.is(
  Schema.Struct({
    kind: Schema.Literal("DataContract"),
    schema: Schema.Array(
      Schema.Struct({
        name: Schema.String,
        properties: Schema.Array(Schema.Struct({ name: Schema.String, physicalType: Schema.String }))
      })
    )
  })
)
