/** What the commands `sluice export` print with `--json`. */
import * as Schema from "effect/Schema"

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

export const exportSchemas = {
  "export-excel": ExportExcel,
  "export-bundle": ExportBundle,
  "export-verify": ExportVerify
}
