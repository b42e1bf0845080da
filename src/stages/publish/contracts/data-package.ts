/** `datapackage.json`: the files of a release as a Data Package, version 2 (https://datapackage.org). */
import { findIn } from "../../../catalog/present.ts"
import { typesOf } from "../../../catalog/kinds.ts"
import { formatNames, mediatypeOf } from "../../../stores/formats/formats.ts"
import { type ContractColumn, type ContractTable, contractOf } from "./contract.ts"
import { Effect } from "effect"
import type { Catalogue } from "../../../catalog/discover.ts"
import type { Failure } from "../../../values/failure.ts"
import { columnsOf } from "../../../stores/warehouse/columns.ts"
import { packageName } from "../../../output/paths.ts"
import { sluiceVersion } from "../../../values/version.ts"
import { name } from "../../../stores/warehouse/sql.ts"
import type { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import type { WideView } from "../../../stores/warehouse/wide-view.ts"

/** A file of the release; `table` has the name of a table or wide view. */
export interface PackagedFile {
  readonly path: string
  readonly table: string
  readonly rows: number
  readonly bytes: number
  readonly sha256: string
}

interface DataPackage {
  readonly files: ReadonlyArray<PackagedFile>
  readonly tables: ReadonlyArray<ContractTable>
  /** Version of the contract. */
  readonly version: string
}

export const dataPackage = ({ files, tables, version }: DataPackage): object => ({
  $schema: "https://datapackage.org/profiles/2.0/datapackage.json",
  name: "account",
  title: "Account",
  description: "The records of an account on the Account Platform as normalised tables.",
  version,
  resources: files.flatMap((file) => {
    const format = formatNames.find((name) => file.path.startsWith(`${name}/`))
    if (format === undefined) return []
    const table = tables.find(({ name }) => name === file.table)
    return [
      {
        $schema: "https://datapackage.org/profiles/2.0/dataresource.json",
        name: nameOf(file.path),
        type: "table",
        path: file.path,
        format,
        mediatype: mediatypeOf(format),
        ...(format === "csv" && { encoding: "utf-8" }),
        ...(table && { description: table.description }),
        bytes: file.bytes,
        hash: `sha256:${file.sha256}`,
        "sluice:rows": file.rows,
        ...(table && { schema: schemaOf(table, tables, format) })
      }
    ]
  })
})

/** `contacts-csv` for `csv/contacts.csv`, `bi-dim_contact-parquet` for `parquet/bi/dim_contact/part-0.parquet`. */
const nameOf = (path: string): string => {
  const [format, ...rest] = path.replace(/(\/part-0)?\.\w+$/, "").split("/")
  return [...rest, format].join("-")
}

const schemaOf = ({ columns, key, parent }: ContractTable, tables: ReadonlyArray<ContractTable>, format: string) => {
  const hasParent = parent && tables.some(({ name }) => name === parent.table)
  return {
    $schema: "https://datapackage.org/profiles/2.0/tableschema.json",
    fields: columns.map(fieldOf),
    // An empty text is quoted and NULL is not, which few readers distinguish.
    missingValues: [""],
    primaryKey: key,
    ...(hasParent && {
      foreignKeys: [
        {
          fields: ["location_id", parent.column],
          reference: { resource: `${parent.table}-${format}`, fields: ["location_id", "id"] }
        }
      ]
    })
  }
}

/** Only what is always true becomes a constraint: other references may be to records that no longer exist. */
const fieldOf = ({ name, type, description, personal, isRequired, refersTo, withheld }: ContractColumn) => ({
  name,
  type: typesOf(type).fieldType,
  description,
  ...(isRequired && { constraints: { required: true } }),
  "sluice:personalData": personal,
  ...(withheld && { "sluice:withheld": withheld }),
  ...(refersTo && { "sluice:refersTo": `${refersTo.table}.${refersTo.column}` })
})

/** The documents of a release: the description of its files as a Data Package. */
export interface Document {
  /** In the folder of the release. */
  readonly path: string
  readonly text: string
}

export const releaseDocuments = Effect.fn("contracts.releaseDocuments")(function* (
  catalogue: Catalogue,
  wide: ReadonlyArray<WideView>,
  files: ReadonlyArray<PackagedFile>
): Effect.fn.Return<ReadonlyArray<Document>, Failure, Warehouse> {
  const tables = contractOf(catalogue)
  const wideTables = yield* Effect.forEach(wide, (view) => wideTable(view, tables))
  const described = dataPackage({ files, tables: [...tables, ...wideTables], version: sluiceVersion })
  return [{ path: packageName, text: `${JSON.stringify(described, null, 1)}\n` }]
})

const wideTable = Effect.fnUntraced(function* (
  { view, table, columns }: WideView,
  tables: ReadonlyArray<ContractTable>
) {
  const base = findIn(tables, (one) => one.name === table, `table ${table} of the contract`)
  const types = new Map((yield* columnsOf(`crm.${name(view)}`)).map((column) => [column.name, column.type]))
  const own = columns.map(({ column, label, personal }) => ({
    name: column,
    type: types.get(column) ?? "VARCHAR",
    description: label,
    personal,
    isRequired: false
  }))
  return {
    ...base,
    name: view,
    description: `${base.description} With one column for each custom field.`,
    columns: [...base.columns, ...own]
  }
})
