/** `sluice completions`: a script that lets a shell complete commands, flags and table names. */
import * as Effect from "effect/Effect"
import * as Completions from "effect/cli/Completions"
import { choosableNames, familyEnd, publishedTables, tablePrefix } from "../catalog/published-tables.ts"
import { tablesOf } from "../catalog/tables.ts"
import { defaultCatalogue } from "../command/catalogue.ts"
import { defaultModels } from "../command/default-models.ts"
import { Output } from "../console/streams.ts"

interface CompletionFlags {
  readonly shell: "bash" | "zsh" | "fish"
  /** The commands, by the one that contains them. */
  readonly commands: () => Completions.CommandDescriptor
}

export const completions = Effect.fn("command.completions")(function* ({ shell, commands }: CompletionFlags) {
  const { print } = yield* Output
  const catalogue = yield* defaultCatalogue()
  const tables = catalogue.resources.flatMap((resource) => tablesOf(resource).map(({ name }) => name))
  const selection = [...choosableNames(tables, catalogue.familyByTable)].sort()
  const chosen = [
    ...selection,
    ...tables.filter((table) => selection.includes(`${table}${familyEnd}`)).map((table) => `${tablePrefix}${table}`)
  ]
  const models = (yield* defaultModels(catalogue)).map(({ name }) => name)
  const published = [...publishedTables(catalogue).map(({ name }) => name), ...models]
  const namesByParameter = { only: chosen, except: chosen, table: [...selection, ...models], stdout: published }
  print(Completions.generate("sluice", shell, withNames(commands(), new Map(Object.entries(namesByParameter)))))
  return 0
})

type Names = ReadonlyMap<string, ReadonlyArray<string>>

/** A script completes the first name of a list. */
const withNames = (command: Completions.CommandDescriptor, names: Names): Completions.CommandDescriptor => {
  const withValues = <Parameter extends { readonly name: string }>(parameter: Parameter) => {
    const values = names.get(parameter.name)
    return values === undefined ? parameter : { ...parameter, type: { _tag: "Choice" as const, values } }
  }
  return {
    ...command,
    flags: command.flags.map(withValues),
    arguments: command.arguments.map(withValues),
    subcommands: command.subcommands.map((one) => withNames(one, names))
  }
}
