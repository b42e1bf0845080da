/**
 * What `[[publish]]` names: folders and buckets, which must not overlap, and databases. One with pseudonyms needs a key that is
 * kept apart from the data.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { hash } from "node:crypto"
import { join, resolve } from "node:path"
import type { Catalogue } from "../catalog/discover.ts"
import { choosableNames, namedTables } from "../catalog/named-tables.ts"
import { outputPaths } from "../output/paths.ts"
import { releasesOf } from "../output/releases.ts"
import type { Bucket } from "../stores/objects/bucket.ts"
import { formatNames } from "../stores/formats/formats.ts"
import {
  type ItemOf,
  type Secret,
  type Section,
  type UnavailableSecret,
  anyOf,
  enumeration,
  pattern,
  setting,
  text,
  textList
} from "../values/setting.ts"
import { wrong } from "../values/finding.ts"
import { closest } from "./closest.ts"
import { type SettingProblem, SettingsError } from "./errors.ts"
import { bucketSettings } from "./lake.ts"
import { type Masking, type ProfileName, type PseudonymKey, isBelow, profiles } from "./masking.ts"

/** The formats of a folder of published files. */
export const fileFormats = ["duckdb", ...formatNames] as const
export type FileFormat = (typeof fileFormats)[number]

export const targetSettings = {
  name: setting(text, { description: "Name of the target in messages.", example: "analysts" }),
  folder: setting(text, {
    description: "Folder of the target; becomes a link to its newest release. Or s3://bucket/prefix.",
    example: "/srv/analysts/crm"
  }),
  postgres: setting(text, {
    secret: true,
    alternative: true,
    description:
      "Instead of a folder, a PostgreSQL database: its address, or a reference to it. See docs/destinations.md.",
    example: "env:CRM_DATABASE_URL"
  }),
  schema: setting(pattern("up to 50 lower-case letters, digits and underscores", /^[a-z_][a-z0-9_]{0,49}$/), {
    alternative: true,
    description: "Schema of that database, by default crm; the models are in the schema of this name with _bi.",
    example: "crm"
  }),
  profile: setting(enumeration(profiles), {
    description:
      "What personal data it contains: everything (raw), masked values (masked), keyed pseudonyms (analytics), or no rows about persons (aggregate).",
    example: "analytics"
  }),
  formats: setting(anyOf(fileFormats), {
    description: "Formats to publish; without it, output.formats.",
    example: ["duckdb", "parquet"]
  }),
  tables: setting(textList, {
    description: "Tables to publish, with their child tables, or families such as invoices/*; without it, all tables.",
    example: ["contacts", "opportunities"]
  }),
  s3_key: { ...bucketSettings.s3_key, alternative: true },
  s3_secret: { ...bucketSettings.s3_secret, alternative: true },
  s3_region: { ...bucketSettings.s3_region, alternative: true },
  s3_endpoint: { ...bucketSettings.s3_endpoint, alternative: true }
} satisfies Section

/** Where a target goes from the folder of its releases. */
export type Destination = PostgresDestination | BucketDestination

export interface PostgresDestination {
  readonly kind: "postgres"
  /** Reads the reference when it is needed, because it may run a command. */
  readonly url: Secret
  readonly schema: string
}

export interface BucketDestination {
  readonly kind: "bucket"
  /** `s3://bucket/prefix` */
  readonly place: string
  /** Reads the references when they are needed, because one may run a command. */
  readonly access: () => Result.Result<Bucket, UnavailableSecret>
}

export interface TargetSettings {
  readonly name: string
  /** The releases of a target with a destination are in the output folder, and only the current one and the one before. */
  readonly folder: string
  readonly destination?: Destination | undefined
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

interface Listed {
  readonly targets: ReadonlyArray<ItemOf<typeof targetSettings>>
  readonly placeOf: (path: string) => string
}

/** `formats`: those of a target that names none. `output`: the output folder. */
export const targetsOf = (
  { placeOf, secretOf, targets }: Listed & { readonly secretOf: (reference: string, path: string) => Secret },
  formats: ReadonlyArray<FileFormat>,
  output: string
): PublishSettings["targets"] =>
  targets.flatMap((item, index) => {
    const { folder, name, postgres, profile, schema = "crm", tables, formats: own = formats } = item
    if (name === undefined || profile === undefined) return []
    const target = { formats: own, name, profile, tables, placeOfTables: placeOf(`publish[${index}].tables`) }
    if (postgres !== undefined) {
      const url = secretOf(postgres, `publish[${index}].postgres`)
      const destination: PostgresDestination = { kind: "postgres", url, schema }
      return [{ ...target, formats: ["duckdb" as const], folder: releasesFor(output, name), destination }]
    }
    if (folder === undefined) return []
    if (!isBucket(folder)) return [{ ...target, folder: resolve(folder) }]
    const secret = (key: "s3_key" | "s3_secret") =>
      item[key] === undefined ? undefined : secretOf(item[key], `publish[${index}].${key}`)
    const destination = bucketOf(folder, { key: secret("s3_key"), secret: secret("s3_secret") }, item)
    return [{ ...target, folder: releasesFor(output, name), destination }]
  })

const isBucket = (folder: string): boolean => folder.startsWith("s3://")
const bucketName = /^s3:\/\/[a-z0-9][a-z0-9.-]+[a-z0-9](\/|$)/
/** Of what a service takes, all but what has another meaning in an address or a statement. */
const bucketPrefix = /^s3:\/\/[^/]+(\/(?!\.{1,2}(\/|$))[^/?#%\\\p{Cc}]+)*\/?$/u

/** Why an address is none of a bucket. */
const bucketProblem = (folder: string): string | undefined => {
  if (!bucketName.test(folder))
    return "a bucket is written as s3://bucket/prefix: its name has 3 to 63 lower-case letters, digits, dots and hyphens"
  return bucketPrefix.test(folder)
    ? undefined
    : "a bucket is written as s3://bucket/prefix: no part of the prefix is empty, . or .., or has ? # % \\ or a control character"
}

const bucketOf = (
  folder: string,
  { key, secret }: { readonly key: Secret | undefined; readonly secret: Secret | undefined },
  item: ItemOf<typeof targetSettings>
): BucketDestination => {
  const place = folder.replace(/\/$/, "")
  const read = (one: Secret | undefined) => one?.read() ?? Result.succeed(undefined)
  return {
    kind: "bucket",
    place,
    access: () =>
      Result.gen(function* () {
        const region = item.s3_region ?? bucketSettings.s3_region.default
        return { place, key: yield* read(key), secret: yield* read(secret), region, endpoint: item.s3_endpoint }
      })
  }
}

/** Where the data of a target goes, for the ledger: a folder, a bucket, or `postgres://` with the target and the schema. */
export const placeOfTarget = ({ destination, folder, name }: TargetSettings) => ({
  name,
  folder:
    destination === undefined
      ? folder
      : destination.kind === "bucket"
        ? destination.place
        : `postgres://${name}/${destination.schema}`
})

/** Whether a destination gets the main release, because its own would be the same. `main`: the formats of the main release. */
export const hasMainRelease = (
  { destination, formats, profile, tables }: TargetSettings,
  main: ReadonlyArray<FileFormat>
): boolean =>
  destination !== undefined &&
  profile === "raw" &&
  tables === undefined &&
  main.length > 0 &&
  formats.every((format) => main.includes(format)) &&
  // A database takes what it needs of a release, a bucket takes all.
  (destination.kind === "postgres" || main.every((format) => formats.includes(format)))

/** The link to the release that a target gets. */
export const releasesOfTarget = (
  target: TargetSettings,
  { folder, formats }: { readonly folder: string; readonly formats: ReadonlyArray<FileFormat> }
): string => (hasMainRelease(target, formats) ? outputPaths(folder).published : target.folder)

/** A name that is no name of a folder is replaced by its hash. */
const releasesFor = (output: string, name: string): string =>
  join(
    outputPaths(output).destinations,
    /^[\w-]{1,60}$/.test(name) ? name : hash("sha256", name).slice(0, 16),
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
      .map((table): SettingProblem => {
        const near = closest(table, names)
        return wrong(placeOfTables, { _tag: "UnknownTable", table, ...(near !== undefined && { closest: near }) })
      })
  )
  const needed = targets.some(({ profile }) => profile === "analytics") ? key() : undefined
  return needed && Result.isFailure(needed) ? [...unknown, needed.failure] : unknown
}

// The keys of an object are its names.
const bucketKeys = Object.keys(bucketSettings) as ReadonlyArray<keyof typeof bucketSettings>

/** A release replaces its folder, so no folder may be inside another one, or be one of sluice's own. */
export const folderProblems = ({ placeOf, targets }: Listed, output: string): ReadonlyArray<SettingProblem> => {
  const own = Object.values(outputPaths(output))
  const problems: Array<SettingProblem> = []
  for (const [index, item] of targets.entries()) {
    const { folder, formats, name, postgres, schema } = item
    const report = (key: string, value: string, other: string) => {
      const path = `publish[${index}].${key}`
      problems.push(wrong(placeOf(path), { _tag: "TargetConflict", path, value, other }))
    }
    if (folder === undefined && postgres === undefined) {
      const path = `publish[${index}].folder`
      const description = `${targetSettings.folder.description} Or name a database with postgres.`
      problems.push(wrong(placeOf(path), { _tag: "Missing", path, description }))
    }
    if (folder !== undefined && postgres !== undefined) report("folder", folder, "the target names a database as well")
    if (folder !== undefined && schema !== undefined) report("schema", schema, "a folder has no schemas")
    if (formats !== undefined && postgres !== undefined)
      report("formats", formats.join(", "), "a database has tables instead of files")
    if (targets.slice(0, index).some((other) => other.name === name && name !== undefined))
      report("name", name!, "another target has this name")
    if (folder === undefined || !isBucket(folder))
      for (const key of bucketKeys)
        if (item[key] !== undefined)
          report(key, "set", "the target is not in a bucket: its folder is not s3://bucket/prefix")
    if (folder === undefined) continue
    const problem = isBucket(folder) ? bucketProblem(folder) : undefined
    if (problem !== undefined) {
      report("folder", folder, problem)
      continue
    }
    const paths = releasePaths(folder, item.s3_endpoint)
    const earlier = targets
      .slice(0, index)
      .find((one) => one.folder && overlap(paths, releasePaths(one.folder, one.s3_endpoint)))
    if (earlier) report("folder", folder, `it overlaps ${earlier.folder} of the target ${earlier.name ?? ""}`)
    else if (isBucket(folder)) {
      const [key, secret] = [item.s3_key !== undefined, item.s3_secret !== undefined]
      if (key && !secret) report("s3_key", "set", "s3_secret is missing")
      if (secret && !key) report("s3_secret", "set", "s3_key is missing")
    } else if (paths.some((path) => isBelow(output, path)))
      report("folder", folder, `the output folder ${output} is inside it`)
    else if (overlap(paths, own)) report("folder", folder, `sluice keeps files of its own there, in ${output}`)
  }
  return problems
}

/** The link, and the folder of the releases next to it; a bucket as if it were a folder that no other can be in. */
const releasePaths = (written: string, endpoint: string | undefined): ReadonlyArray<string> => {
  if (isBucket(written)) return [`${endpoint ?? ""} ${written.replace(/\/$/, "")}`]
  const folder = resolve(written)
  return [folder, releasesOf(folder)]
}

const overlap = (some: ReadonlyArray<string>, others: ReadonlyArray<string>): boolean =>
  some.some((one) => others.some((other) => isBelow(one, other) || isBelow(other, one)))
