/** The settings of section `[lake]`: where the tables go that several locations or machines share. */
import { absolutePath, httpAddress, period, text } from "./kinds.ts"
import { type Setting, setting } from "./setting.ts"

export const lakeSettings = {
  catalog: setting(text, {
    environment: "SLUICE_LAKE_CATALOG",
    secret: true,
    description:
      "Catalog of the lake: the path of a file, or a PostgreSQL database as postgres:dbname=lake host=db.example.com user=sluice password=…, or a reference to that text. Without it, lake.ducklake in the output folder.",
    example: "env:LAKE_CATALOG"
  }),
  data: setting(text, {
    environment: "SLUICE_LAKE_DATA",
    description:
      "Where the Parquet files of the lake are: a folder, or s3://bucket/prefix. Without it, the folder lake in the output folder.",
    example: "s3://crm-lake/tables"
  }),
  s3_key: setting(text, {
    environment: "SLUICE_LAKE_S3_KEY",
    secret: true,
    description: "Key id for that bucket, or a reference to it.",
    example: "env:LAKE_S3_KEY"
  }),
  s3_secret: setting(text, {
    environment: "SLUICE_LAKE_S3_SECRET",
    secret: true,
    description: "Secret of that key, or a reference to it.",
    example: "env:LAKE_S3_SECRET"
  }),
  s3_region: setting(text, {
    description: "Region of that bucket.",
    default: "us-east-1"
  }),
  s3_endpoint: setting(httpAddress, {
    environment: "SLUICE_LAKE_S3_ENDPOINT",
    description: "Address of another service with the interface of S3; buckets are then part of the path.",
    example: "https://s3.example.com"
  }),
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
} satisfies Readonly<Record<string, Setting>>
