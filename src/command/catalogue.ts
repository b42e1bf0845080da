/** The catalogue that a command uses: the definitions of sluice, and those of the folder `pipelines.folder`. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { resolve } from "node:path"
import { type Catalogue, DefinitionError, discover } from "../catalog/discover.ts"
import { SettingsError } from "../settings/errors.ts"
import { type Flags, readSettings } from "../settings/read.ts"
import type { OutputSettings } from "../settings/settings.ts"
import { type WithheldSettings, withholding } from "../settings/withheld.ts"
import { Environment } from "../values/environment.ts"
import { CommandError, configError } from "../console/errors.ts"
import { withSince } from "./withheld.ts"
import { codeOf } from "../values/thrown.ts"

/** A command uses what it returns of the catalogue. Every table takes time, also without a row: tests leave most of them out. */
export const Restriction = Context.Reference<(all: Catalogue) => Catalogue>("sluice/command/Restriction", {
  defaultValue: () => (all) => all
})

export const loadCatalogue = Effect.fnUntraced(function* (
  output: Pick<OutputSettings, "folder" | "pipelines"> & WithheldSettings
) {
  const { catalogue, problems } = withholding(output, yield* definedCatalogue(output))
  return problems.length === 0 ? yield* withSince(output.folder, catalogue) : yield* new SettingsError({ problems })
})

/** The catalogue without what the settings keep out. */
export const definedCatalogue = ({
  pipelines
}: Pick<OutputSettings, "pipelines">): Effect.Effect<Catalogue, CommandError> =>
  Effect.tryPromise({ try: () => discover(pipelines), catch: (error) => error }).pipe(
    Effect.flatMap((all) => Effect.map(Restriction, (restrict) => restrict(all))),
    Effect.catch((error) =>
      error instanceof DefinitionError
        ? Effect.fail(configError(error.message, "./sluice pipelines check"))
        : folderProblem(pipelines, error)
    )
  )

/** For commands that work without settings, too: the folder is that of the flags, the environment, or the settings file. */
export const defaultCatalogue = Effect.fnUntraced(function* (flags: Flags = {}) {
  const { lists, placeOf, values } = readSettings(flags, yield* Environment)
  const { folder } = values.pipelines
  const defined = yield* definedCatalogue({ pipelines: folder === undefined ? undefined : resolve(folder) })
  const { personalData } = values
  const { catalogue } = withholding({ withheld: { tables: lists.tables, personalData, placeOf } }, defined)
  return yield* withSince(resolve(values.output.folder), catalogue)
})

/** The folder of the user's definitions is missing or cannot be read. */
export const folderProblem = (folder: string | undefined, error: unknown) =>
  folder !== undefined && error instanceof Error && "path" in error && error.path === folder
    ? Effect.fail(
        configError(
          `pipelines.folder: ${folder} cannot be read: ${codeOf(error)}.`,
          "correct pipelines.folder in the settings file, or SLUICE_PIPELINES"
        )
      )
    : Effect.die(error)
