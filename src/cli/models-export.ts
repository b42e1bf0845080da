/** `sluice models export`: writes the dbt project. */
import { Effect } from "effect"
import { namesIn } from "../output/folder.ts"
import { onDisk } from "../output/files.ts"
import { readSettings } from "../settings/read.ts"
import { currenciesOf } from "../settings/settings.ts"
import { Environment } from "../values/environment.ts"
import { usageError } from "../console/errors.ts"
import { shown } from "../console/result.ts"
import { writeProject } from "../stages/publish/models/files.ts"

export const modelsExport = Effect.fn("command.modelsExport")(function* ({
  folder,
  force
}: {
  readonly folder: string
  readonly force: boolean
}) {
  if (!force && (yield* onDisk(folder, "read", () => namesIn(folder))).length > 0)
    return yield* usageError(
      `${folder} is not empty. Nothing was written.`,
      `./sluice models export ${folder} --force replaces the files of the project, and leaves all others.`
    )
  const currencies = currenciesOf(readSettings({}, yield* Environment))
  const views = yield* onDisk(folder, "written", () => writeProject(folder, currencies))
  const next = `cd ${folder}, then SLUICE_DUCKDB=<path of crm.duckdb> dbt build --profiles-dir .`
  return shown("models-export", { exitCode: 0, next, data: { folder, views } }, () => [
    `The dbt project is in ${folder}.`
  ])
})
