/** The lake: where the tables go that several locations or machines share, and what is needed to open it. */
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { resolve } from "node:path"
import { outputPaths } from "../../output/paths.ts"
import type { Bucket } from "../../stores/objects/bucket.ts"
import { type Secret, type Section, type ValuesOf, absolutePath, period, place, setting } from "../../values/setting.ts"
import { bucketSettingsOf } from "../bucket/settings.ts"
import type { DestinationPlace } from "../../settings/destination.ts"
import type { SettingProblem } from "../../settings/errors.ts"

export const lakeSection = {
  catalog: setting(place, {
    environment: "SLUICE_LAKE_CATALOG",
    secret: true,
    description:
      "Catalog of the lake: the path of a file, or a PostgreSQL database as postgres:dbname=lake host=db.example.com user=sluice password=…, or a reference to that text. Without it, lake.ducklake in the output folder.",
    example: "env:LAKE_CATALOG"
  }),
  data: setting(place, {
    environment: "SLUICE_LAKE_DATA",
    description:
      "Where the Parquet files of the lake are: a folder, or s3://bucket/prefix. Without it, the folder lake in the output folder.",
    example: "s3://crm-lake/tables"
  }),
  ...bucketSettingsOf("LAKE"),
  expire_after: setting(period, {
    description: "Age from which ./sluice lake maintain removes earlier versions of the lake.",
    default: "30 days"
  }),
  extensions: setting(absolutePath, {
    environment: "SLUICE_LAKE_EXTENSIONS",
    description:
      "Folder with the DuckDB extensions ducklake, postgres_scanner and httpfs, for machines that cannot download them.",
    example: "/opt/duckdb-extensions"
  })
} satisfies Section

type LakeValues = ValuesOf<typeof lakeSection>

export interface LakeSettings extends Pick<LakeValues, "extensions" | "expireAfter">, DestinationPlace {
  readonly kind: "lake"
  /** Reads the references when they are needed, because one may run a command. */
  readonly access: () => Result.Result<LakeAccess, SettingProblem>
}

export interface LakeAccess {
  readonly catalog:
    | { readonly kind: "file"; readonly path: string }
    | { readonly kind: "postgres"; readonly connection: Redacted.Redacted }
  readonly s3: S3Access | undefined
}

export type S3Access = Omit<Bucket, "place">

/** `folder`: the output folder. */
export const lakeOf = (lake: LakeValues, folder: string): LakeSettings => {
  const data = lake.data ?? outputPaths(folder).lake
  const isS3 = data.startsWith("s3://")
  return {
    ...lake,
    kind: "lake",
    place: isS3 ? data.replace(/\/*$/, "/") : resolve(data),
    secrets: [],
    access: () =>
      Result.gen(function* () {
        const [catalog, key, secret] = [yield* read(lake.catalog), yield* read(lake.s3Key), yield* read(lake.s3Secret)]
        return {
          catalog: catalogOf(catalog, outputPaths(folder).lakeCatalog),
          s3: isS3 ? { key, secret, region: lake.s3Region, endpoint: lake.s3Endpoint } : undefined
        }
      })
  }
}

const read = (secret: Secret | undefined) => secret?.read() ?? Result.succeed(undefined)

const catalogOf = (setting: Redacted.Redacted | undefined, embedded: string): LakeAccess["catalog"] => {
  if (setting === undefined) return { kind: "file", path: embedded }
  const [, database] = /^postgres(?:ql)?:(?!\/\/)(.*)$/s.exec(Redacted.value(setting)) ?? []
  // An address of PostgreSQL is a connection as it is.
  if (/^postgres(ql)?:\/\//.test(Redacted.value(setting))) return { kind: "postgres", connection: setting }
  return database === undefined
    ? { kind: "file", path: resolve(Redacted.value(setting)) }
    : { kind: "postgres", connection: Redacted.make(database) }
}

/** What is wrong with the references of the lake. */
export const lakeProblems = (lake: LakeSettings | undefined): ReadonlyArray<SettingProblem> => {
  const access = lake?.access()
  return access && Result.isFailure(access) ? [access.failure] : []
}
