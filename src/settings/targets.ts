/**
 * What `[[publish]]` names: folders and buckets, which must not overlap, and databases. One with pseudonyms needs a key that is
 * kept apart from the data.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { join } from "node:path"
import type { Catalogue } from "../catalog/discover.ts"
import { choosableNames, namedTables } from "../catalog/published-tables.ts"
import { type Destination, destinationKinds, destinationSettings } from "../destinations/settings.ts"
import { outputPaths } from "../output/paths.ts"
import { isBelow } from "../output/remove.ts"
import { formatNames } from "../stores/formats/formats.ts"
import {
  type ItemOf,
  type Secret,
  type Section,
  anyOf,
  enumeration,
  setting,
  text,
  textList
} from "../values/setting.ts"
import { wrong } from "../values/finding.ts"
import { closest } from "./closest.ts"
import type { ItemProblem } from "./destination.ts"
import { type SettingProblem, SettingsError } from "./errors.ts"
import { type Masking, type ProfileName, type PseudonymKey, profiles } from "./masking.ts"
import { nodeCrypto } from "../values/node.ts"

/** The formats of a folder of published files. */
export const fileFormats = ["duckdb", ...formatNames] as const
export type FileFormat = (typeof fileFormats)[number]

export const targetSettings = {
  name: setting(text, { description: "Name of the target in messages.", example: "analysts" }),
  ...destinationSettings,
  profile: setting(enumeration(profiles), {
    description:
      "What personal data it contains: everything (raw), masked values (masked), or keyed pseudonyms (analytics).",
    example: "analytics"
  }),
  formats: setting(anyOf(fileFormats), {
    description: "Formats to publish; without it, output.formats.",
    example: ["duckdb", "parquet"]
  }),
  tables: setting(textList, {
    description: "Tables to publish, with their child tables, or families such as invoices/*; without it, all tables.",
    example: ["contacts", "opportunities"]
  })
} satisfies Section

export interface TargetSettings {
  readonly name: string
  /** The link to its releases; unless they are made at the destination, it is in the output folder. */
  readonly folder: string
  readonly destination: Destination
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

type Item = ItemOf<typeof targetSettings>

/** An item with the paths of its settings: `publish[0].folder`. */
export interface ListedTarget {
  readonly item: Item
  readonly at: (key: string) => string
}

interface Reading {
  readonly targets: ReadonlyArray<ListedTarget>
  readonly placeOf: (path: string) => string
  readonly secretOf: (reference: string, path: string) => Secret
}

/** `formats`: those of a target that names none. `output`: the output folder. */
export const targetsOf = (
  { placeOf, secretOf, targets }: Reading,
  formats: ReadonlyArray<FileFormat>,
  output: string
): PublishSettings["targets"] =>
  targets.flatMap(({ at, item }) => {
    const { name, profile, tables } = item
    const kind = destinationKinds.find(({ isNamedBy }) => isNamedBy(item))
    if (name === undefined || profile === undefined || kind === undefined) return []
    const place = kind.read(item, { name, output, secretOf: (key, reference) => secretOf(reference, at(key)) })
    const destination: Destination = { ...place, gets: kind.gets }
    return [
      {
        name,
        folder: destination.gets === "releases" ? destination.place : releasesFor(output, name),
        destination,
        profile,
        formats: formatsOf[kind.gets] ?? item.formats ?? formats,
        tables,
        placeOfTables: placeOf(at("tables"))
      }
    ]
  })

/** Formats of the destinations whose formats no setting chooses: a database is loaded from crm.duckdb. */
const formatsOf: Readonly<Partial<Record<Destination["gets"], ReadonlyArray<FileFormat>>>> = {
  tables: ["duckdb"],
  rows: []
}

/**
 * Whether releases are made for it alone: it gets more than rows, and another release than the main one. `main`: the formats of
 * the main release.
 */
export const hasOwnRelease = (
  { destination: { gets }, formats, profile, tables }: TargetSettings,
  main: ReadonlyArray<FileFormat>
): boolean => {
  const isLikeMain =
    profile === "raw" &&
    tables === undefined &&
    main.length > 0 &&
    formats.every((format) => main.includes(format)) &&
    (gets === "tables" || main.every((format) => formats.includes(format)))
  return gets === "releases" || (gets !== "rows" && !isLikeMain)
}

/** The link to the release that a target gets. */
export const releasesOfTarget = (
  target: TargetSettings,
  { folder, formats }: { readonly folder: string; readonly formats: ReadonlyArray<FileFormat> }
): string => (hasOwnRelease(target, formats) ? target.folder : outputPaths(folder).published)

/** A name that is no name of a folder is replaced by its hash. */
const releasesFor = (output: string, name: string): string =>
  join(
    outputPaths(output).destinations,
    /^[\w-]{1,60}$/.test(name) ? name : nodeCrypto().hash("sha256", name).slice(0, 16),
    "release"
  )

/** Checks the targets, and reads the key if one of them needs it. */
export const resolveTargets = Effect.fn("settings.targets")(function* (
  { publishing }: { readonly publishing?: PublishSettings | undefined },
  catalogue: Catalogue
) {
  if (publishing === undefined) return []
  const problems = targetProblems(publishing, catalogue)
  if (problems.length > 0) return yield* new SettingsError({ problems })
  return yield* Effect.forEach(publishing.targets, (target) =>
    Effect.map(maskingOf(publishing, target.profile), (masking) => ({ ...target, masking }))
  )
})

/** `undefined` for the profile raw. */
export const maskingOf = Effect.fnUntraced(function* ({ key }: PublishSettings, profile: ProfileName) {
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
  const own = resources.map(({ table }) => table)
  const names = choosableNames(own, familyByTable)
  const unknown = targets.flatMap(({ placeOfTables, tables = [] }) =>
    tables
      .filter((table) => namedTables(table, own, familyByTable).length === 0)
      .map((table) => wrong(placeOfTables, { _tag: "UnknownTable", table, closest: closest(table, names) } as const))
  )
  const needed = targets.some(({ profile }) => profile === "analytics") ? key() : undefined
  return needed && Result.isFailure(needed) ? [...unknown, needed.failure] : unknown
}

/** What is wrong with a target, or with two of them together. */
export const targetConflicts = (
  { placeOf, secretOf, targets }: Reading,
  output: string
): ReadonlyArray<SettingProblem> =>
  targets.flatMap(({ at, item }, index): ReadonlyArray<SettingProblem> => {
    const [kind, another] = destinationKinds.filter(({ isNamedBy }) => isNamedBy(item))
    if (kind === undefined) {
      const description = `${targetSettings.folder.description} Or name a database with postgres or sqlite, or a lake.`
      return [wrong(placeOf(at("folder")), { _tag: "Missing", path: at("folder"), description })]
    }
    const textOf = (key: string, reference: string) =>
      reference.startsWith("cmd:")
        ? undefined
        : Option.getOrUndefined(Option.map(Result.getSuccess(secretOf(reference, at(key)).read()), Redacted.value))
    const earlier = targets.slice(0, index).map((one) => one.item)
    const problems: Array<ItemProblem> = [...kind.problems(item, textOf)]
    if (problems.length === 0) problems.push(...overlapOf(item, kind, earlier, output))
    if (item.name !== undefined && earlier.some(({ name }) => name === item.name))
      problems.push({ key: "name", value: item.name, why: "another target has this name" })
    if (another !== undefined)
      problems.push({ key: another.named, value: "set", why: `the target has a ${kind.named} as well` })
    for (const [key, why] of Object.entries(kind.cannot)) {
      const value = item[key as keyof typeof kind.cannot]
      if (value !== undefined && value !== "raw") problems.push({ key, value: [value].flat().join(", "), why })
    }
    for (const key of Object.keys(item).filter((one) => !(one in kind.settings || one in (another?.settings ?? {})))) {
      const why = destinationKinds.find(({ settings, unused }) => unused !== undefined && key in settings)?.unused
      if (why !== undefined) problems.push({ key, value: "set", why })
    }
    return problems.map(({ key, value, why }) =>
      wrong(placeOf(at(key)), { _tag: "TargetConflict", path: at(key), value, other: why })
    )
  })

/** A release replaces its folder, so no folder may be inside another one, or be one of sluice's own. */
const overlapOf = (
  item: Item,
  kind: (typeof destinationKinds)[number],
  earlier: ReadonlyArray<Item>,
  output: string
): ReadonlyArray<ItemProblem> => {
  const paths = kind.paths(item, output)
  const problem = (why: string): ReadonlyArray<ItemProblem> => [{ key: kind.named, value: item[kind.named]!, why }]
  for (const other of earlier)
    for (const { isNamedBy, named, paths: pathsOf } of destinationKinds)
      if (isNamedBy(other) && overlap(paths, pathsOf(other, output)))
        return problem(`it overlaps ${other[named]} of the target ${other.name ?? ""}`)
  if (paths.some((path) => isBelow(output, path))) return problem(`the output folder ${output} is inside it`)
  return overlap(paths, Object.values(outputPaths(output)))
    ? problem(`sluice keeps files of its own there, in ${output}`)
    : []
}

const overlap = (some: ReadonlyArray<string>, others: ReadonlyArray<string>): boolean =>
  some.some((one) => others.some((other) => isBelow(one, other) || isBelow(other, one)))
