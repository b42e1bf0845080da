/** The compared tools: how each is run against a sandbox, and how the rows that it wrote are read. */
import { execFileSync } from "node:child_process"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { snakeCase } from "../../src/catalog/fields.ts"
import { inDatabase } from "../../test/support/compare.ts"
import type { Account } from "../measure.ts"
import { airbyteRows, prepareAirbyte } from "./airbyte.ts"
import { fieldsOf, lists, type Rows } from "./judge.ts"
import { environmentOf, packages } from "./packages.ts"

export interface Tool {
  readonly name: string
  /** What runs, with versions. */
  readonly versions: string
  /** The lists that it offers. */
  readonly lists: ReadonlyArray<string>
  /** Writes what it needs into an empty folder. */
  readonly prepare?: (account: Account, folder: string) => void
  /** A line of bash, which runs in the folder that `FOLDER` names. */
  readonly command: string
  readonly rows: (folder: string) => Promise<Rows>
}

export const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export const sluice: Tool = {
  name: "sluice",
  versions: `sluice, Node ${process.versions.node}`,
  lists: Object.keys(lists),
  command: `'${here("../../sluice")}' sync --except=details --only ${Object.keys(lists).map((list) => `table:${list}`)}`,
  rows: async (folder) =>
    inDatabase(join(folder, "warehouse.duckdb"), async (ask) => {
      const rows = Object.keys(lists).map(async (list) => {
        const columns = fieldsOf(list).map((field) => `${columnOf(list, field)} AS "${field}"`)
        return [list, await ask(`SELECT ${columns} FROM crm.${list} AS r WHERE _deleted_at IS NULL`)] as const
      })
      return Object.fromEntries(await Promise.all(rows))
    })
}

const tags = "(SELECT list(tag) FROM crm.contact_tags AS t WHERE t.contact_id = r.id AND t._deleted_at IS NULL)"
const columnOf = (list: string, field: string) =>
  field === "tags" ? `to_json(${tags})` : field === lists[list]!.id ? "id" : snakeCase(field)

/** Reads a DuckDB file with the version that wrote it. */
const rowsBy = (python: string, file: string, schema: string): Rows => {
  if (!existsSync(file)) return {}
  const wanted = Object.fromEntries(Object.keys(lists).map((list) => [list, fieldsOf(list)]))
  const args = [here("rows.py"), file, schema, JSON.stringify(wanted)]
  return JSON.parse(execFileSync(python, args, { encoding: "utf8", maxBuffer: 2 ** 30 })) as Rows
}

interface Options {
  /** The folder of the packages of others. */
  readonly environments: string
  /** The checkout of a tap. */
  readonly checkout: string | undefined
}

const dlt =
  (kind: "default" | "tuned") =>
  ({ environments }: Options): Tool => {
    const python = join(environmentOf("dlt", environments), "bin", "python")
    return {
      name: `dlt, ${kind}`,
      versions: packages.dlt.join(", "),
      lists: Object.keys(lists),
      command: `'${python}' '${here("dlt_lists.py")}' ${kind}`,
      rows: async (folder) => rowsBy(python, join(folder, "result.duckdb"), "crm")
    }
  }

const airbyte = ({ environments }: Options): Tool => {
  const program = join(environmentOf("airbyte", environments), "bin", "source-declarative-manifest")
  return {
    name: "Airbyte's CDK",
    versions: packages.airbyte.join(", "),
    lists: Object.keys(lists),
    prepare: prepareAirbyte,
    command: `'${program}' read --config config.json --catalog catalog.json >records.jsonl`,
    rows: async (folder) => airbyteRows(join(folder, "records.jsonl"))
  }
}

/** It has conversations as well: their dates are numbers in its schema and text in the answers, and this target stops. */
const tapLists = ["contacts", "opportunities", "users", "calendars"]

const tap = ({ checkout, environments }: Options): Tool | undefined => {
  if (checkout === undefined) return undefined
  const [python, loader] = (["tap", "target"] as const).map((name) => join(environmentOf(name, environments), "bin"))
  const commit = execFileSync("git", ["-C", checkout, "rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim()
  return {
    name: "tap",
    versions: [`commit ${commit}`, ...packages.tap, ...packages.target].join(", "),
    lists: tapLists,
    prepare: ({ clientId, clientSecret, locationId, refreshToken }, folder) => {
      const account = { client_id: clientId, client_secret: clientSecret, refresh_token: refreshToken }
      writeFileSync(join(folder, "tap.json"), JSON.stringify({ ...account, location_id: locationId }))
      writeFileSync(
        join(folder, "target.json"),
        JSON.stringify({ path: "result.duckdb", default_target_schema: "crm" })
      )
    },
    // Users are read below the location.
    command:
      `'${python}/python' '${here("run_tap.py")}' '${checkout}' tap.json ${[...tapLists, "location"].join()}` +
      ` | '${loader}/target-duckdb' --config target.json`,
    rows: async (folder) => rowsBy(`${loader}/python`, join(folder, "result.duckdb"), "crm")
  }
}

/** The tools of others, by their names in `--only`. */
export const peers: Readonly<Record<string, (options: Options) => Tool | undefined>> = {
  "dlt-default": dlt("default"),
  "dlt-tuned": dlt("tuned"),
  airbyte,
  tap
}
