/** The folders of `[[publish]]`: they must not overlap, and one with pseudonyms needs a key that is kept apart from the data. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { realpathSync, statSync } from "node:fs"
import { basename, dirname, join, resolve, sep } from "node:path"
import type { Catalogue } from "../catalog/discover.ts"
import { type PseudonymKey, decodeKey } from "./pseudonym-key.ts"
import type { Masking, ProfileName } from "./profiles.ts"
import { closest } from "./closest.ts"
import { type SettingProblem, SettingsError } from "./errors.ts"
import { outputPaths } from "../output/paths.ts"
import type { Environment, Settings } from "./read.ts"
import { secretReader, shownSecret } from "./secrets.ts"
import { type SettingValues, allSettings } from "./table.ts"

/** The formats of a folder of published files. */
export type FileFormat = Exclude<SettingValues["output"]["formats"][number], "lake">

export const fileFormats = (formats: SettingValues["output"]["formats"]): ReadonlyArray<FileFormat> =>
  formats.filter((format) => format !== "lake")

export interface TargetSettings {
  readonly name: string
  readonly folder: string
  readonly profile: ProfileName
  readonly formats: ReadonlyArray<FileFormat>
  /** Names of resources; without it, all of them. */
  readonly tables?: ReadonlyArray<string> | undefined
  /** Where the file lists the tables. */
  readonly placeOfTables: string
}

export interface PublishSettings {
  readonly targets: ReadonlyArray<TargetSettings>
  /** Reads the key when it is needed, because a reference may run a command. */
  readonly key: () => Result.Result<PseudonymKey, SettingProblem>
}

/** A target with what its profile needs. */
export interface Target extends TargetSettings {
  /** Absent for the profile raw. */
  readonly masking: Masking | undefined
}

export const publishSettingsOf = (settings: Settings, environment: Environment): PublishSettings => {
  const { placeOf, targets, values } = settings
  return {
    targets: targets.flatMap(({ name, folder, profile, formats, tables }, index) =>
      name === undefined || folder === undefined || profile === undefined
        ? []
        : [
            {
              name,
              profile,
              tables,
              folder: resolve(folder),
              formats: formats ?? fileFormats(values.output.formats),
              placeOfTables: placeOf(`publish[${index}].tables`)
            }
          ]
    ),
    key: () => keyOf(settings, environment)
  }
}

/** Checks the targets, and reads the key if one of them needs it. */
export const resolveTargets = Effect.fn("settings.targets")(function* (
  { publishing }: { readonly publishing?: PublishSettings | undefined },
  catalogue: Catalogue
): Effect.fn.Return<ReadonlyArray<Target>, SettingsError> {
  if (publishing === undefined) return []
  const problems = targetProblems(publishing, catalogue)
  if (problems.length > 0) return yield* new SettingsError({ problems })
  return yield* Effect.forEach(publishing.targets, (target) =>
    Effect.map(maskingOf(publishing, target.profile), (masking) => ({ ...target, masking }))
  )
})

/** `undefined` for the profile raw. */
export const maskingOf = Effect.fnUntraced(function* (
  { key }: PublishSettings,
  profile: ProfileName
): Effect.fn.Return<Masking | undefined, SettingsError> {
  if (profile === "raw") return undefined
  if (profile !== "analytics") return { profile }
  const found = key()
  return Result.isSuccess(found)
    ? { profile, key: found.success }
    : yield* new SettingsError({ problems: [found.failure] })
})

/** What is wrong with the key, if a target needs it, and with the names of tables. */
export const targetProblems = (
  { key, targets }: PublishSettings,
  { familyByTable, resources }: Catalogue
): ReadonlyArray<SettingProblem> => {
  const names = [...new Set([...resources.map(({ table }) => table), ...familyByTable.values()])]
  const unknown = targets.flatMap(({ placeOfTables, tables = [] }) =>
    tables
      .filter((table) => !names.includes(table))
      .map((table): SettingProblem => {
        const near = closest(table, names)
        return { _tag: "UnknownTable", place: placeOfTables, table, ...(near !== undefined && { closest: near }) }
      })
  )
  const needed = targets.some(({ profile }) => profile === "analytics") ? key() : undefined
  return needed && Result.isFailure(needed) ? [...unknown, needed.failure] : unknown
}

/** A release replaces its folder, so no folder may be inside another one, or be one of sluice's own. */
export const folderProblems = ({ placeOf, targets, values }: Settings): ReadonlyArray<SettingProblem> => {
  const output = resolve(values.output.folder)
  const own = Object.values(outputPaths(output))
  const problems: Array<SettingProblem> = []
  for (const [index, { folder, name }] of targets.entries()) {
    const report = (key: string, value: string, other: string) => {
      const path = `publish[${index}].${key}`
      problems.push({ _tag: "TargetConflict", place: placeOf(path), path, value, other })
    }
    if (targets.slice(0, index).some((other) => other.name === name && name !== undefined))
      report("name", name!, "another target has this name")
    if (folder === undefined) continue
    const paths = releasePaths(resolve(folder))
    const earlier = targets
      .slice(0, index)
      .find((one) => one.folder && overlap(paths, releasePaths(resolve(one.folder))))
    if (earlier) report("folder", folder, `it overlaps ${earlier.folder} of the target ${earlier.name ?? ""}`)
    else if (paths.some((path) => isBelow(output, path)))
      report("folder", folder, `the output folder ${output} is inside it`)
    else if (overlap(paths, own)) report("folder", folder, `sluice keeps files of its own there, in ${output}`)
  }
  return problems
}

/** The link, and the folder of the releases next to it. */
const releasePaths = (folder: string): ReadonlyArray<string> => [folder, join(dirname(folder), `.${basename(folder)}`)]

const overlap = (some: ReadonlyArray<string>, others: ReadonlyArray<string>): boolean =>
  some.some((one) => others.some((other) => isBelow(one, other) || isBelow(other, one)))

/** Whether a path is a folder or inside it. */
const isBelow = (path: string, folder: string): boolean => `${path}${sep}`.startsWith(`${folder}${sep}`)

const keyOf = (
  { targets, values }: Settings,
  environment: Environment
): Result.Result<PseudonymKey, SettingProblem> => {
  const { key: reference, key_id: id } = values.masking
  const path = "masking.key"
  const unusable = (cause: string) =>
    Result.fail<SettingProblem>({ _tag: "KeyUnusable", path, reference: shownSecret(reference ?? ""), cause })
  if (reference === undefined) {
    const { description, environment: variable } = allSettings.find((one) => one.path === path)!
    return Result.fail({ _tag: "Missing", path, description, ...(variable && { environment: variable }) })
  }
  const [, file] = /^file:(.*)$/s.exec(reference) ?? []
  const folders = [values.output.folder, ...targets.flatMap(({ folder }) => (folder === undefined ? [] : [folder]))]
  const exposed = file === undefined ? undefined : exposure(file, folders)
  if (exposed !== undefined) return unusable(exposed)
  return Result.flatMap(secretReader(environment)(reference, path), (secret) =>
    Result.match(decodeKey(Redacted.value(secret)), {
      onSuccess: (master) => Result.succeed({ id, master: Redacted.make(master) }),
      onFailure: (cause) => unusable(`${cause}; \`openssl rand -hex 32\` makes one`)
    })
  )
}

/** Why others may get hold of the file, if they may. A missing file is reported when it is read. */
const exposure = (file: string, folders: ReadonlyArray<string>): string | undefined => {
  const real = realPath(file)
  const folder = folders.find((one) => isBelow(real, realPath(one)) || isBelow(resolve(file), resolve(one)))
  if (folder !== undefined) return `it is in ${folder}, with the data that it protects; move it to another folder`
  const mode = statSync(real, { throwIfNoEntry: false })?.mode ?? 0
  return mode & 0o077
    ? `other users can access it (mode ${(mode & 0o777).toString(8)}); run chmod 600 ${file}`
    : undefined
}

const realPath = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}
