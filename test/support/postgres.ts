/** PostgreSQL, from the programs of this machine. */
import { execFileSync } from "node:child_process"
import { chmodSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  type Postgres as Server,
  postgresPrograms as programsOf,
  startPostgres as startIn
} from "../../src/features/fleet/commands/demo-postgres.ts"
import { programOf } from "./programs.ts"

export type { Server }

export const postgresPrograms: string | undefined =
  programsOf() ?? (programOf("postgresql", "/usr/bin/pg_createcluster") && programsOf())

/** Why tests are skipped, for their name. */
export const withoutPostgres = "skipped: PostgreSQL is not installed (Debian: apt-get install postgresql)"

/** A server in a temporary folder, for tests that stop it. */
export const startServer = (): Promise<Server> => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-postgres-"))
  // The server runs as another user if this one is root.
  chmodSync(folder, 0o755)
  return startIn(postgresPrograms!, join(folder, "server"))
}

/** The address of the server of a run of the tests, which shared-programs.ts starts. */
export const sharedServer = "SLUICE_TEST_POSTGRES"

export interface Postgres {
  readonly url: string
  readonly stop: () => Promise<void>
}

/** A database of its own on the server that all tests share; outside of them, on a server of its own. */
export const openDatabase = async (): Promise<Postgres> => {
  const shared = process.env[sharedServer]
  if (shared === undefined) return startServer()
  const server = { url: shared }
  const name = `test_${process.pid}_${databases++}`
  await sqlIn(server, `CREATE DATABASE ${name}`)
  return {
    url: server.url.replace(/[^/]*$/, name),
    stop: async () => void (await sqlIn(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
  }
}
let databases = 0

/** The database as DuckDB's catalog of a lake names it. */
export const keyValuesOf = ({ url }: Pick<Postgres, "url">): string => {
  const { hostname, pathname, port, username } = new URL(url)
  return `dbname=${pathname.slice(1)} host=${hostname} port=${port} user=${username}`
}

/** The rows of a statement, by psql: columns are separated by a bar. */
export const sqlIn = async ({ url }: Pick<Postgres, "url">, sql: string): Promise<string> =>
  execFileSync(join(postgresPrograms!, "psql"), ["-qAt", "-c", sql, url], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024
  }).trim()
