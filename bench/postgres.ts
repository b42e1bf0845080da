/**
 * What the first load of a PostgreSQL database costs, beside COPY of the same rows into the same tables with the same keys and
 * indexes: CPU of the client and of all processes of the server, in pairs, for an account of all families of each size. Then a
 * night of 1 %. The start of the command, which is what a publish takes that finds nothing new, is shown and taken off.
 * PostgreSQL has to be installed.
 *
 *     node_modules/.bin/node bench/postgres.ts [contacts,contacts…] [pairs] [only]     `only`: an account of contacts alone
 */
import { execFileSync } from "node:child_process"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { postgresPrograms, sqlIn, startServer } from "../test/support/postgres.ts"
import { cpuOf, median, newFolder, run, runProgram, startContacts, startSandbox } from "./measure.ts"

const sizes = (process.argv[2] ?? "60,4000").split(",").map(Number)
const pairs = Number(process.argv[3] ?? 5)
const isOnly = process.argv[4] === "only"

const server = await startServer()
const sql = (text: string) => sqlIn(server, text)
const program = (name: string) => join(postgresPrograms!, name)
const postmaster = Number((await sql("SELECT pg_read_file('postmaster.pid')")).split("\n")[0])

interface Cost {
  readonly client: number
  readonly server: number
}
const sum = ({ client, server }: Cost) => client + server
const measured = async (work: () => Promise<{ readonly cpuSeconds: number }>): Promise<Cost> => {
  await sql("CHECKPOINT")
  const before = cpuOf(postmaster)
  const { cpuSeconds } = await work()
  return { client: cpuSeconds, server: cpuOf(postmaster) - before }
}
const middle = (costs: ReadonlyArray<Cost>): Cost => ({
  client: median(costs.map((one) => one.client)),
  server: median(costs.map((one) => one.server))
})
const show = (name: string, cost: Cost) =>
  console.log(`${name.padEnd(46)} client ${cost.client.toFixed(2)}  server ${cost.server.toFixed(2)} s CPU`)

/** A script for psql that makes the tables which are there, once more, with their rows, keys and indexes. */
const copyOf = async (folder: string) => {
  const dump = (section: string) =>
    execFileSync(
      program("pg_dump"),
      [server.url, "--no-comments", "--no-owner", `--section=${section}`, "--schema=crm", "--schema=crm_bi"],
      { encoding: "utf8", maxBuffer: 1e8 }
    ).replaceAll(/^SELECT pg_catalog.set_config\('search_path'.*$/gm, "")
  const tables = await sql(
    "SELECT oid::regclass FROM pg_class WHERE relkind = 'r' AND relnamespace::regnamespace::text IN ('crm', 'crm_bi')"
  )
  let rows = 0
  const copies: Array<string> = []
  for (const [index, table] of tables.split("\n").entries()) {
    const count = Number(await sql(`SELECT count(*) FROM ${table}`))
    rows += count
    if (count === 0) continue
    const file = join(folder, `${index}.csv`)
    await sql(`\\copy ${table} TO '${file}' (FORMAT csv)`)
    copies.push(`\\copy ${table} FROM '${file}' (FORMAT csv)`)
  }
  const script = join(folder, "copy.sql")
  writeFileSync(script, ["BEGIN;", dump("pre-data"), ...copies, dump("post-data"), "COMMIT;"].join("\n"))
  return { script, rows, tables: tables.split("\n").length, filled: copies.length }
}

for (const size of sizes) {
  const sandbox = isOnly
    ? await startContacts(size, "--warm")
    : await startSandbox("--limits", "off", "--warm", "--contacts", String(size))
  try {
    const folder = newFolder()
    const environment = {
      ...sandbox.environment,
      SLUICE_OUTPUT: join(folder, "output"),
      SLUICE_FORMATS: "none",
      CRM_DATABASE_URL: server.url
    }
    const config = join(folder, "sluice.toml")
    writeFileSync(config, '[[publish]]\nname = "database"\npostgres = "env:CRM_DATABASE_URL"\nprofile = "raw"\n')
    const publish = () => run(["publish", "--config", config], environment)
    const drop = () => sql("SET client_min_messages = warning; DROP SCHEMA IF EXISTS crm, crm_bi CASCADE")
    await drop()
    await run(["sync"], environment)
    await publish()
    const copy = await copyOf(folder)
    const byCopy = () =>
      runProgram(program("psql"), ["-q", "-v", "ON_ERROR_STOP=1", "-o", "/dev/null", "-f", copy.script, server.url], {})
    const found = { nothing: [], load: [], copy: [], ratio: [] } as Record<"nothing" | "load" | "copy", Array<Cost>> & {
      readonly ratio: Array<number>
    }
    for (let pair = 1; pair <= pairs; pair++) {
      found.nothing.push(await measured(publish))
      await drop()
      // The release is there already, and nothing tells that the database had it.
      rmSync(join(environment.SLUICE_OUTPUT, "destinations", "database", "loaded.json"))
      found.load.push(await measured(publish))
      await drop()
      found.copy.push(await measured(byCopy))
      await drop()
      await publish()
      const start = found.nothing.at(-1)!.client
      found.ratio.push((sum(found.load.at(-1)!) - start) / sum(found.copy.at(-1)!))
    }
    const nights: Array<Cost> = []
    for (let seed = 1; seed <= 3; seed++) {
      const body = JSON.stringify({ contacts: 0.01, opportunities: 0.01, conversations: 0.02, seed })
      const { ok } = await fetch(`${sandbox.url}/__sandbox/change`, { method: "POST", body })
      if (!ok) throw new Error("the sandbox refused the change")
      await run(["sync"], environment)
      nights.push(await measured(publish))
    }
    console.log(
      `\n${size} contacts ${isOnly ? "alone" : "of all families"}: ${copy.rows} rows, ${copy.filled} of ${copy.tables} tables have some`
    )
    show("first load, with the start of the command", middle(found.load))
    show("COPY with the same keys and indexes", middle(found.copy))
    show("nothing changed", middle(found.nothing))
    show("night of 1 %, with its release", middle(nights))
    console.log(
      `first load without the start / COPY: ${median(found.ratio).toFixed(2)} (${found.ratio.map((one) => one.toFixed(2)).join(" ")})`
    )
  } finally {
    sandbox.stop()
  }
}
await server.stop()
process.exit(0)
