/** The tag files of a bag: BagIt 1.0 (RFC 8493), with SHA-256 and SHA-512. */
import { findIn, present } from "../../../catalog/present.ts"
import { type Head, headText } from "../../../stores/ledger/record.ts"
import { sluiceVersion } from "../../../values/version.ts"
import { type Building, type SealedFile, sealText } from "./sealed-files.ts"
import type { TableTotals } from "./control-totals.ts"
import type { Release } from "./source.ts"

export interface BagInfo {
  readonly locations: ReadonlyArray<string>
  readonly description: string
  /** The identifier of the run that published the release. */
  readonly run: string
  /** ISO 8601. */
  readonly writtenAt: string
  /** The end of the ledger in the bundle; absent without one. */
  readonly ledgerHead: Head | undefined
}

/** Writes the tag files beside the payload. Returns the SHA-256 of `manifest-sha256.txt`, which identifies the payload. */
export const writeTagFiles = async (building: Building, info: BagInfo, payload: ReadonlyArray<SealedFile>) => {
  const tags = [
    await sealText(building, "bagit.txt", "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"),
    await sealText(building, "bag-info.txt", infoText(info, payload))
  ]
  for (const algorithm of ["sha256", "sha512"] as const)
    tags.push(await sealText(building, `manifest-${algorithm}.txt`, linesOf(payload, algorithm)))
  for (const algorithm of ["sha256", "sha512"] as const)
    await sealText(building, `tagmanifest-${algorithm}.txt`, linesOf(tags, algorithm))
  return findIn(tags, ({ path }) => path === "manifest-sha256.txt", "manifest-sha256.txt").sha256
}

const infoText = (
  { locations, description, run, writtenAt, ledgerHead }: BagInfo,
  payload: ReadonlyArray<SealedFile>
): string =>
  [
    ["Source-Organization", locations.join(", ")],
    ["External-Description", description],
    ["External-Identifier", run],
    ["Bagging-Date", writtenAt.slice(0, 10)],
    ["Payload-Oxum", `${payload.reduce((sum, { bytes }) => sum + bytes, 0)}.${payload.length}`],
    ...(ledgerHead ? [["Ledger-Head", headText(ledgerHead)]] : []),
    ["Bag-Software-Agent", `sluice ${sluiceVersion}`]
  ]
    .map(([label, value = ""]) => `${label}: ${value.replaceAll(/\s+/g, " ")}\n`)
    .join("")

/** In the order of the paths, as `sha256sum` reads them. The names of tables need no escapes. */
const linesOf = (files: ReadonlyArray<SealedFile>, algorithm: "sha256" | "sha512"): string =>
  files
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
    .map((file) => `${file[algorithm]}  ${file.path}\n`)
    .join("")

/** `README.md` of a bundle: how an auditor checks it without sluice. */
export const readmeText = (
  { run, writtenAt }: Pick<Release, "run" | "writtenAt">,
  tables: ReadonlyArray<TableTotals>
): string => {
  const hasAmount = ({ sums }: TableTotals) => sums.some(isAmount)
  const [first = tables[0]] = tables.filter(hasAmount)
  const example = present(tables.find((one) => one.currencyColumn !== null && hasAmount(one)) ?? first, "table in it")
  const { table } = example
  const column = example.sums.find(isAmount)?.column
  const parquet = `'data/parquet/${table}/part-0.parquet'`
  const csv = `read_csv('data/csv/${table}.csv', header = true, all_varchar = true)`
  const currency = example.currencyColumn
  return `# Tables of an account

Run ${run} of sluice published these tables at ${writtenAt}. This folder is a bag (BagIt 1.0, RFC 8493). Its tables are personal data.

- \`csv/\` and \`parquet/\`: each table in both formats, with deleted rows, which have the time in \`_deleted_at\`.
- \`datapackage.json\`: files, columns, types and keys (Data Package 2.0).
- \`control-totals.json\`: of each table its rows, the sums of its decimals by currency, its first and last time, and the totals
  that the API named when the table was read.
- \`masked-columns.json\`, if there is one: the columns whose values were replaced, and how.
- \`runs.json\`: the runs that read the tables.
- \`ledger.jsonl\`, if there is one: a record of every command up to this release, each with the SHA-256 of the one before. The
  \`Ledger-Head\` of \`bag-info.txt\` is the number and the SHA-256 of the last one.

## Check it without sluice

Run these commands in the folder that contains \`bagit.txt\`. They use coreutils, jq, DuckDB, and \`pip install bagit frictionless\`.

\`\`\`sh
# 1. No file was changed, added or removed.
sha256sum --check --strict --quiet manifest-sha256.txt
sha512sum --check --strict --quiet manifest-sha512.txt
sha256sum --check --strict --quiet tagmanifest-sha256.txt
bagit.py --validate .

# 2. The CSV file of a table fits its schema.
frictionless validate data/datapackage.json --resource-name ${table}-csv

# 3. The control totals of a table, and the same figures from its files.
jq '.tables[] | select(.table == "${table}")' data/control-totals.json
duckdb -c "SELECT count(*) AS rows, count(*) FILTER (WHERE _deleted_at IS NULL) AS current_rows FROM ${parquet}"
duckdb -c "SELECT count(*) AS rows, count(*) FILTER (WHERE _deleted_at IS NULL) AS current_rows FROM ${csv}"
${
  column === undefined
    ? ""
    : [parquet, csv]
        .map(
          (from) =>
            `duckdb -c "SELECT ${currency === null ? "" : `${currency}, `}sum(${column}::DECIMAL(38,7)) AS sum FROM ${from} WHERE _deleted_at IS NULL GROUP BY ALL ORDER BY ALL"\n`
        )
        .join("")
}${example.time === null ? "" : `duckdb -c "SELECT min(${example.time.column}) AS first, max(${example.time.column}) AS last FROM ${parquet}"\n`}
# 4. The runs that read the tables, and those that did not read everything.
jq -r '.runs[] | [.run_id, .command, .status] | @tsv' data/runs.json
jq -r '.resources[] | select(.status != "complete") | [.run_id, .resource, .status] | @tsv' data/runs.json
\`\`\`

## Tables

| table | rows | current rows |
| --- | --- | --- |
${tables.map((one) => `| ${one.table} | ${one.rows} | ${one.currentRows} |`).join("\n")}
`
}

const isAmount = ({ sum }: TableTotals["sums"][number]): boolean => /[1-9]/.test(sum)
