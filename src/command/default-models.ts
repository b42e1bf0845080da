/** For commands without settings: the models of sluice, and those of the folder that the settings name. */
import { Effect } from "effect"
import { resolve } from "node:path"
import type { Catalogue } from "../catalog/discover.ts"
import { readSettings } from "../settings/read.ts"
import { describedModels } from "../stages/publish/models/described.ts"
import { Environment } from "../values/environment.ts"

export const defaultModels = Effect.fnUntraced(function* (catalogue: Catalogue) {
  const { folder } = readSettings({}, yield* Environment).values.models
  return yield* Effect.promise(() => describedModels(catalogue, folder === undefined ? undefined : resolve(folder)))
})
