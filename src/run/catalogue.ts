/** The catalogue that a command uses: the definitions of sluice, and those of the folder `pipelines.folder`. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { resolve } from "node:path"
import { type Catalogue, DefinitionError, discover } from "../catalog/discover.ts"
import { readSettings } from "../settings/read.ts"
import type { OutputSettings } from "../settings/settings.ts"
import { Environment } from "../values/environment.ts"
import { CommandError } from "./console/errors.ts"

/** A command uses what it returns of the catalogue. Every table takes time, also without a row: tests leave most of them out. */
export const Restriction = Context.Reference<(all: Catalogue) => Catalogue>("sluice/cli/Restriction", {
  defaultValue: () => (all) => all
})

export const loadCatalogue = ({
  pipelines
}: Pick<OutputSettings, "pipelines">): Effect.Effect<Catalogue, CommandError> =>
  Effect.tryPromise({ try: () => discover(pipelines), catch: (error) => error }).pipe(
    Effect.flatMap((all) => Effect.map(Restriction, (restrict) => restrict(all))),
    Effect.catch((error) =>
      error instanceof DefinitionError
        ? Effect.fail(new CommandError({ ends: "config", message: error.message, next: "./sluice pipelines check" }))
        : folderProblem(pipelines, error)
    )
  )

/** For commands without settings: the folder is that of the environment, or of the default settings file. */
export const defaultCatalogue = Effect.fnUntraced(function* () {
  const { folder } = readSettings({}, yield* Environment).values.pipelines
  return yield* loadCatalogue({ pipelines: folder === undefined ? undefined : resolve(folder) })
})

/** The folder of the user's definitions is missing or cannot be read. */
export const folderProblem = (folder: string | undefined, error: unknown) =>
  folder !== undefined && (error as NodeJS.ErrnoException).path === folder
    ? Effect.fail(
        new CommandError({
          ends: "config",
          message: `pipelines.folder: ${folder} cannot be read: ${(error as NodeJS.ErrnoException).code}.`,
          next: "correct pipelines.folder in the settings file, or SLUICE_PIPELINES"
        })
      )
    : Effect.die(error)
