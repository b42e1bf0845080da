/** The published files against the warehouse, row by row, as DuckDB reads them: after each run that publishes. */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { outputPaths } from "../../../src/output/paths.ts"
import type { Ran, Stage } from "../run.ts"
import { type State, lastRun } from "./state.ts"

interface Manifest {
  readonly files: ReadonlyArray<{
    readonly path: string
    readonly table: string
    readonly rows: number
    readonly bytes: number
    readonly sha256: string
  }>
}

/** Whether there is a release, and every file of it is as its manifest says. */
export const releaseIsWhole = ({ output }: Stage): ReadonlyArray<string> => {
  const folder = outputPaths(output.folder).published
  if (!existsSync(folder)) return []
  const { files } = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as Manifest
  return files.flatMap(({ bytes, path, sha256 }) => {
    if (!existsSync(join(folder, path))) return [`${path} is in the manifest, and is missing`]
    const content = readFileSync(join(folder, path))
    const isSame = content.length === bytes && createHash("sha256").update(content).digest("hex") === sha256
    return isSame ? [] : [`${path} is not the file of which the manifest has the checksum`]
  })
}

const readers: Readonly<Record<string, (path: string) => string>> = {
  csv: (path) =>
    `read_csv('${path}', auto_detect = false, header = true, columns = ${columnsOf(path)}, delim = ',', quote = '"', escape = '"', parallel = false, max_line_size = 500000, buffer_size = 1000000)`,
  parquet: (path) => `read_parquet('${path}')`,
  ndjson: (path) =>
    `read_json('${path}', maximum_object_size = 500000, format = 'newline_delimited', columns = {'id': 'VARCHAR', '_run_id': 'VARCHAR', '_deleted_at': 'VARCHAR'})`
}

/** By the first line of the file: names of columns have no commas. */
const columnsOf = (path: string): string => {
  const [header] = readFileSync(path, "utf8").split(/\r?\n/)
  return `{${header!
    .split(",")
    .map((name) => `'${name.replaceAll('"', "")}': 'VARCHAR'`)
    .join(", ")}}`
}

/** The published rows of every table are those of the warehouse: ids, runs and times for all formats, and all columns of some. */
export const releaseEqualsWarehouse = async (
  stage: Stage,
  folder = outputPaths(stage.output.folder).published
): Promise<ReadonlyArray<string>> => {
  const { catalogue, output, warehouse } = stage
  if (!existsSync(folder)) return ["nothing is published"]
  const { files } = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as Manifest
  const tables = new Set(catalogue.resources.map(({ table }) => table))
  const ask = (sql: string) => Effect.runPromise(warehouse.rows(sql))
  const selects: Array<string> = []
  for (const format of output.formats) {
    if (format === "duckdb") continue
    for (const table of tables) {
      const parts = files.filter((file) => file.table === table && file.path.startsWith(`${format}/`))
      if (parts.length === 0) return [`${format}: no file of ${table}`]
      const rows = parts.map(
        ({ path }) =>
          `SELECT id::VARCHAR AS id, _run_id::VARCHAR AS run, _deleted_at IS NULL AS live FROM ${readers[format]!(join(folder, path))}`
      )
      selects.push(
        comparison(
          `${format} ${table}`,
          rows.join(" UNION ALL "),
          `SELECT id, _run_id AS run, _deleted_at IS NULL AS live FROM crm.${table}`
        )
      )
    }
  }
  const wrong: Array<string> = []
  if (output.formats.includes("duckdb")) {
    await Effect.runPromise(warehouse.run(`ATTACH '${join(folder, "crm.duckdb")}' AS released (READ_ONLY)`))
    try {
      const inRelease = [...tables].map((table) =>
        comparison(`duckdb ${table}`, `FROM released.main.${table}`, `FROM crm.${table}`)
      )
      const earlier = [...tables].map((table) =>
        comparison(`duckdb history of ${table}`, `FROM released.crm_history.${table}`, `FROM crm_history.${table}`)
      )
      wrong.push(...(await problemsIn([...inRelease, ...earlier])))
    } finally {
      await Effect.runPromise(warehouse.run("DETACH released"))
    }
  }
  wrong.push(...(await problemsIn(selects)))
  return wrong.slice(0, 5)

  /** A few in a statement: each reader has a buffer of its own. */
  async function problemsIn(comparisons: ReadonlyArray<string>) {
    const problems: Array<string> = []
    for (let from = 0; from < comparisons.length; from += 8)
      for (const row of await ask(comparisons.slice(from, from + 8).join(" UNION ALL ")))
        problems.push(...problemOf(row))
    return problems
  }
}

/** A run that ends well has given the target what the warehouse has; one that could not says so in `meta`, and has failed. */
export const targetIsTold = async (stage: Stage, { meta }: State, ran: Ran): Promise<ReadonlyArray<string>> => {
  if (!stage.world.target) return []
  const failedSince = meta.targets.find(({ target }) => target === "desk")?.["failed_since"] ?? null
  if (ran.hasTargetFailed) {
    const last = String(lastRun(meta)?.["status"])
    return [
      ...(failedSince === null ? ["meta.targets does not say that the target failed"] : []),
      ...(last.startsWith("complete") ? [`the target failed, and the run is ${last}`] : [])
    ]
  }
  if (ran.exitCode !== 0) return []
  const found = await releaseEqualsWarehouse(stage, stage.machine.targetFolder)
  return [
    ...(failedSince === null ? [] : ["meta.targets says that the target fails, and the run ended well"]),
    ...found.map((one) => `target: ${one}`)
  ]
}

const comparison = (what: string, published: string, stored: string) =>
  `SELECT '${what}' AS what, (SELECT count(*) FROM (${published} EXCEPT ALL ${stored})) AS foreign_rows, (SELECT count(*) FROM (${stored} EXCEPT ALL ${published})) AS absent`

const problemOf = ({ absent, foreign_rows, what }: Readonly<Record<string, unknown>>): ReadonlyArray<string> =>
  Number(absent) + Number(foreign_rows) === 0
    ? []
    : [
        `${String(what)}: ${String(absent)} rows of the warehouse are not published, and ${String(foreign_rows)} published rows are not in it`
      ]
