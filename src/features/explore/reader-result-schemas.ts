/** The data of the results of the commands for people who read the data. */
import * as Schema from "effect/Schema"
import { Report } from "../report/report-result-schema.ts"

/** Printed once the server listens. */
const Explore = Schema.Struct({
  /** The address to open, with the token. */
  url: Schema.String,
  port: Schema.Int,
  /** The folder of the saved queries. */
  queries: Schema.String
})

/** Printed once it listens. */
const Listen = Schema.Struct({
  url: Schema.String,
  port: Schema.Int,
  /** The tables that an event has read at once. */
  tables: Schema.Array(Schema.String)
})

const Reidentified = Schema.Struct({
  pseudonym: Schema.String,
  /** Several if they share an address. */
  contacts: Schema.Array(
    Schema.Struct({
      location: Schema.String,
      id: Schema.String,
      name: Schema.String,
      email: Schema.String,
      phone: Schema.String
    })
  )
})

const ExportExcel = Schema.Struct({
  file: Schema.String,
  sheets: Schema.Array(Schema.Struct({ name: Schema.String, table: Schema.String, rows: Schema.Int })),
  rows: Schema.Int,
  /** Values that are longer than a cell. */
  cut: Schema.Int
})

const ExportBundle = Schema.Struct({
  path: Schema.String,
  format: Schema.Literals(["folder", "tar", "zip"]),
  /** The run that published the release. */
  run: Schema.String,
  writtenAt: Schema.String,
  tables: Schema.Int,
  rows: Schema.Int,
  /** Of the payload. */
  files: Schema.Int,
  bytes: Schema.Int,
  /** SHA-256 of manifest-sha256.txt, which identifies the content. */
  manifestSha256: Schema.String
})

const ExportVerify = Schema.Struct({
  folder: Schema.String,
  /** Whether everything was compared and agrees. */
  isIntact: Schema.Boolean,
  /** Of the payload. */
  files: Schema.Int,
  bytes: Schema.Int,
  /** The number of tables whose control totals agree with every file. */
  tables: Schema.Int,
  findings: Schema.Array(
    Schema.Struct({ level: Schema.Literals(["wrong", "notCompared"]), where: Schema.String, what: Schema.String })
  )
})

export const readerSchemas = {
  report: Report,
  explore: Explore,
  listen: Listen,
  "subject-reidentify": Reidentified,
  "export-excel": ExportExcel,
  "export-bundle": ExportBundle,
  "export-verify": ExportVerify
}
