/** A lake: where the tables go that several locations or machines share, and what is needed to open it. */
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { resolve } from "node:path"
import { outputPaths } from "../../output/paths.ts"
import type { DestinationKind, DestinationPlace } from "../../settings/destination.ts"
import { type ItemOf, type UnavailableSecret, absolutePath, period, place, setting } from "../../values/setting.ts"
import { type S3Access, keyProblems, s3Of, s3Settings } from "../bucket/settings.ts"

const settings = {
  ...s3Settings,
  lake: setting(place, {
    alternative: true,
    description:
      "Instead of a folder, a lake: where its Parquet files are, a folder or s3://bucket/prefix. See docs/destinations.md.",
    example: "s3://crm-lake/tables"
  }),
  catalog: setting(place, {
    alternative: true,
    secret: true,
    description:
      "Catalog of the lake: the path of a file, or a PostgreSQL database as postgres:dbname=lake host=db.example.com user=sluice password=…, or a reference to that text. Without it, lake.ducklake in the output folder.",
    example: "env:LAKE_CATALOG"
  }),
  expire_after: setting(period, {
    alternative: true,
    description: "Age from which ./sluice lake maintain removes earlier versions of the lake.",
    default: "30 days"
  }),
  extensions: setting(absolutePath, {
    alternative: true,
    description:
      "Folder with the DuckDB extensions ducklake, postgres_scanner and httpfs, for machines that cannot download them.",
    example: "/opt/duckdb-extensions"
  })
} as const

export interface LakeDestination extends DestinationPlace {
  readonly kind: "lake"
  readonly extensions: string | undefined
  readonly expireAfter: string
  /** Reads the references when they are needed, because one may run a command. */
  readonly access: () => Result.Result<LakeAccess, UnavailableSecret>
}

export interface LakeAccess {
  readonly catalog:
    | { readonly kind: "file"; readonly path: string }
    | { readonly kind: "postgres"; readonly connection: Redacted.Redacted }
  readonly s3: S3Access | undefined
}

type Item = ItemOf<typeof settings>

const isS3 = (data: string): boolean => data.startsWith("s3://")
const placeOf = ({ lake = "" }: Item): string => (isS3(lake) ? lake.replace(/\/*$/, "/") : resolve(lake))

export const lake = {
  gets: "rows",
  cannot: {
    formats: "a lake has tables instead of files",
    tables: "a lake has all tables",
    profile: "a lake has the rows of the warehouse, which are not masked: write raw"
  },
  settings,
  named: "lake",
  unused: "the target is no lake",
  isNamedBy: ({ lake }) => lake !== undefined,
  read: (item, { output, secretOf }) => {
    const { access: s3, secrets } = s3Of(item, secretOf)
    const catalog = item.catalog === undefined ? undefined : secretOf("catalog", item.catalog)
    return {
      kind: "lake",
      place: placeOf(item),
      secrets,
      extensions: item.extensions,
      expireAfter: item.expire_after ?? settings.expire_after.default,
      access: () =>
        Result.gen(function* () {
          const written = catalog && (yield* catalog.read())
          return {
            catalog: catalogOf(written, outputPaths(output).lakeCatalog),
            s3: isS3(placeOf(item)) ? yield* s3() : undefined
          }
        })
    }
  },
  problems: (item) => {
    const why = "DuckDB writes the lake, and says nothing of it; let the bucket encrypt by default"
    const { s3_encryption: value } = item
    return [
      ...(isS3(placeOf(item)) ? keyProblems(item) : []),
      ...(value === undefined ? [] : [{ key: "s3_encryption", value, why }])
    ]
  },
  // The catalog, too, is of one lake. Its own may be in the output folder.
  paths: (item, output) => {
    const place = placeOf(item)
    const own = isS3(place) ? `${item.s3_endpoint ?? ""} ${place.replace(/\/$/, "")}` : place
    return [
      ...(item.catalog === undefined ? [`catalog of ${output}`] : []),
      ...(place === outputPaths(output).lake ? [] : [own])
    ]
  }
} as const satisfies DestinationKind<Item, LakeDestination>

const catalogOf = (setting: Redacted.Redacted | undefined, embedded: string): LakeAccess["catalog"] => {
  if (setting === undefined) return { kind: "file", path: embedded }
  const [, database] = /^postgres(?:ql)?:(?!\/\/)(.*)$/s.exec(Redacted.value(setting)) ?? []
  // An address of PostgreSQL is a connection as it is.
  if (/^postgres(ql)?:\/\//.test(Redacted.value(setting))) return { kind: "postgres", connection: setting }
  return database === undefined
    ? { kind: "file", path: resolve(Redacted.value(setting)) }
    : { kind: "postgres", connection: Redacted.make(database) }
}
