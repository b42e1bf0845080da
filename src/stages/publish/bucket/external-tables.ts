/** Statements by which engines read the Parquet files of a bucket as tables. */
import * as Effect from "effect/Effect"
import { hash } from "node:crypto"
import { dirname, join } from "node:path"
import { writeSmall, onDisk } from "../../../output/files.ts"
import { mkdir } from "node:fs/promises"
import { literal } from "../../../stores/warehouse/sql.ts"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import type { PreviousRelease } from "../manifest.ts"

const externalTablesFolder = "external-tables/"
/** The statements are made for each bucket, beside the release. */
export const isOfRelease = (path: string): boolean => !path.startsWith(externalTablesFolder)

interface ExternalTable {
  readonly name: string
  /** Of its file, below the prefix. */
  readonly folder: string
  /** The same with bucket and prefix, without `s3:`. */
  readonly location: string
  /** Types of DuckDB by column. */
  readonly columns: ReadonlyArray<readonly [name: string, type: string]>
}

interface Engine {
  readonly about: string
  /** Before the tables. `place`: without `s3:`. */
  readonly first?: (place: string) => string
  readonly table: (table: ExternalTable) => string
}

const ticks = (name: string): string => `\`${name.replaceAll("`", "``")}\``
const quotes = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** The types of Hive, and others that replace some of them. */
const columnsIn = (
  { columns }: ExternalTable,
  quote: (name: string) => string,
  types: Readonly<Record<string, string>> = {}
): string => columns.map(([name, type]) => `  ${quote(name)} ${withReplaced(hiveType(type), types)}`).join(",\n")

const withReplaced = (type: string, types: Readonly<Record<string, string>>): string =>
  type.replaceAll(/[a-z]+/g, (word) => types[word] ?? word)

const hiveType = (type: string): string => {
  if (type.endsWith("[]")) return `array<${hiveType(type.slice(0, -2))}>`
  if (type.startsWith("DECIMAL")) return type.toLowerCase().replace(" ", "")
  return hiveTypes[type] ?? "string"
}
const hiveTypes: Readonly<Record<string, string>> = {
  "TIMESTAMP WITH TIME ZONE": "timestamp",
  TIMESTAMP: "timestamp",
  DATE: "date",
  BIGINT: "bigint",
  INTEGER: "int",
  SMALLINT: "smallint",
  TINYINT: "tinyint",
  BOOLEAN: "boolean",
  DOUBLE: "double",
  FLOAT: "float"
}

const engines: Readonly<Record<string, Engine>> = {
  athena: {
    about: "Amazon Athena",
    first: () => "CREATE DATABASE IF NOT EXISTS `crm`;",
    table: (table) =>
      `DROP TABLE IF EXISTS \`crm\`.${ticks(table.name)};
CREATE EXTERNAL TABLE \`crm\`.${ticks(table.name)} (
${columnsIn(table, ticks)}
) STORED AS PARQUET LOCATION 's3:${table.location}';`
  },
  bigquery: {
    about: "BigQuery, for a bucket of Google Cloud Storage. It reads the columns from the files",
    first: () => "CREATE SCHEMA IF NOT EXISTS `crm`;",
    table: ({ location, name }) =>
      `CREATE OR REPLACE EXTERNAL TABLE \`crm\`.${ticks(name)}
OPTIONS (format = 'PARQUET', uris = ['gs:${location}*.parquet'], enable_list_inference = TRUE);`
  },
  databricks: {
    about:
      "Databricks and Spark SQL. They read the columns from the files; without Databricks, write s3a: instead of s3:",
    first: () => "CREATE SCHEMA IF NOT EXISTS `crm`;",
    table: ({ location, name }) =>
      `CREATE TABLE IF NOT EXISTS \`crm\`.${ticks(name)} USING PARQUET LOCATION 's3:${location}';
REFRESH TABLE \`crm\`.${ticks(name)};`
  },
  redshift: {
    about: "Amazon Redshift Spectrum, in an external schema crm that exists",
    table: (table) =>
      `DROP TABLE IF EXISTS "crm".${quotes(table.name)};
CREATE EXTERNAL TABLE "crm".${quotes(table.name)} (
${columnsIn(table, quotes, { string: "varchar(65535)", double: "double precision" })}
) STORED AS PARQUET LOCATION 's3:${table.location}';`
  },
  snowflake: {
    about:
      "Snowflake. It reads the columns from the files; the stage needs a storage integration, crm_integration here",
    first: (place) =>
      `CREATE FILE FORMAT IF NOT EXISTS crm_parquet TYPE = PARQUET USE_LOGICAL_TYPE = TRUE;
CREATE STAGE IF NOT EXISTS crm_stage URL = 's3:${place}' STORAGE_INTEGRATION = crm_integration FILE_FORMAT = crm_parquet;`,
    table: ({ folder, name }) =>
      `CREATE OR REPLACE EXTERNAL TABLE ${quotes(name)} USING TEMPLATE (
  SELECT ARRAY_AGG(OBJECT_CONSTRUCT(*)) FROM TABLE(INFER_SCHEMA(
    LOCATION => '@crm_stage/${folder}/', FILE_FORMAT => 'crm_parquet'))
) LOCATION = @crm_stage/${folder}/ FILE_FORMAT = crm_parquet AUTO_REFRESH = FALSE;
ALTER EXTERNAL TABLE ${quotes(name)} REFRESH;`
  }
}

/** Writes a file for each engine beside the releases, and returns them; none without Parquet. `place`: `s3://bucket/prefix`. */
export const describeTables = Effect.fn("bucket.describeTables")(function* (
  { folder, manifest }: PreviousRelease,
  published: string,
  place: string
) {
  const warehouse = yield* Warehouse
  const root = `${place.slice("s3:".length)}/`
  const tables = yield* Effect.forEach(
    manifest.files.filter(({ path }) => path.startsWith("parquet/")),
    ({ path }) => {
      const below = dirname(path)
      // A model is in a folder of its schema.
      const name = below.split("/").slice(1).join("_")
      const parquet = `read_parquet(${literal(join(folder, path))}, hive_partitioning = false)`
      return Effect.map(warehouse.rows(`DESCRIBE FROM ${parquet}`), (rows): ExternalTable => ({
        name,
        folder: below,
        location: `${root}${below}/`,
        columns: rows.map((row) => [String(row["column_name"]), String(row["column_type"])])
      }))
    }
  )
  if (tables.length === 0) return []
  const here = join(dirname(published), externalTablesFolder)
  yield* onDisk(here, "created", () => mkdir(here, { recursive: true, mode: 0o700 }))
  return yield* Effect.forEach(Object.entries(engines), ([engine, { about, first, table }]) => {
    const path = `${externalTablesFolder}${engine}.sql`
    const text = `${[
      `-- The tables of ${place} in ${about}. Not run by sluice.`,
      ...(first ? [first(root)] : []),
      ...tables.map(table)
    ].join("\n\n")}\n`
    const file = { path, table: "*", rows: 0, bytes: Buffer.byteLength(text), sha256: hash("sha256", text) }
    return Effect.as(writeSmall(join(dirname(published), path), text), file)
  })
})
