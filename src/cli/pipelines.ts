/** `sluice pipelines check`: finds the mistakes in the user's own definitions, each with its file and line. */
import * as Effect from "effect/Effect"
import { relative, resolve } from "node:path"
import { violations } from "../catalog/conformance.ts"
import { problemAt, readCatalogue } from "../catalog/discover.ts"
import { tablesOf } from "../catalog/tables.ts"
import { exitCodes } from "../values/failure.ts"
import type { Flags } from "../settings/read.ts"
import { outputSettings } from "../settings/settings.ts"
import { counted } from "../values/finding.ts"
import { reservedWords } from "../stores/warehouse/in-memory.ts"
import { folderProblem } from "../command/catalogue.ts"
import { Environment } from "../values/environment.ts"
import { usageError } from "../console/errors.ts"
import { table } from "../console/streams.ts"
import { info, shown } from "../console/result.ts"

export const pipelinesCheck = Effect.fn("command.pipelinesCheck")(function* (
  flags: Flags & { readonly folder: string | undefined }
) {
  const { pipelines } = yield* outputSettings(flags, yield* Environment)
  const folder = flags.folder === undefined ? pipelines : resolve(flags.folder)
  if (folder === undefined)
    return yield* usageError(
      "There is no folder of own definitions: pipelines.folder is not set.",
      "./sluice pipelines check my-pipelines"
    )
  const {
    catalogue,
    own,
    problems: unread
  } = yield* Effect.tryPromise({
    try: () => readCatalogue(folder),
    catch: (error) => error
  }).pipe(Effect.catch((error) => folderProblem(folder, error)))
  const reserved = yield* Effect.promise(reservedWords)
  const problems = [
    ...unread,
    ...own.flatMap(({ file, resource }) =>
      violations(resource, catalogue, reserved).map(({ text, message }) => problemAt(file, text, message))
    )
  ].map((problem) => ({ ...problem, file: relative(process.cwd(), problem.file) }))
  const definitions = own.map(({ family, file, resource }) => ({
    table: resource.table,
    family,
    file: relative(process.cwd(), file),
    columns: tablesOf(resource)[0].columns.length,
    childTables: tablesOf(resource).length - 1
  }))
  const exitCode = problems.length === 0 ? 0 : exitCodes.config
  const next =
    problems.length === 0
      ? `./sluice sync --only ${definitions[0]?.table ?? "contacts"}`
      : "correct this, then ./sluice pipelines check"
  return shown("pipelines-check", { exitCode, next, data: { folder, definitions, problems } }, () => [
    ...problems.map(({ file, line, message }) => `${file}:${line}: ${message}`),
    ...(problems.length > 0
      ? []
      : table(
          ["table", "family", "columns", "child tables", "file"],
          definitions.map((one) => [one.table, one.family, one.columns, one.childTables, one.file])
        )),
    info(`${counted(definitions.length, "definition")}, ${counted(problems.length, "problem")} in ${folder}.`)
  ])
})
