/** A PostgreSQL server in a temporary folder, from the programs of this machine. */
import { execFileSync } from "node:child_process"
import { chmodSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  type Postgres,
  postgresPrograms as programsOf,
  startPostgres as startIn
} from "../../src/features/fleet/commands/demo-postgres.ts"
import { programOf } from "./programs.ts"

export type { Postgres }

/** Installed if the machine permits it. */
export const postgresPrograms: string | undefined =
  programsOf() ?? (programOf("postgresql", "/usr/bin/pg_createcluster") && programsOf())

/** Why tests are skipped, for their name. */
export const withoutPostgres = "skipped: PostgreSQL is not installed (Debian: apt-get install postgresql)"

export const startPostgres = (): Promise<Postgres> => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-postgres-"))
  // The server runs as another user if this one is root.
  chmodSync(folder, 0o755)
  return startIn(postgresPrograms!, join(folder, "server"))
}

/** The rows of a statement, by psql: columns are separated by a bar. */
export const sqlIn = async ({ url }: Postgres, sql: string): Promise<string> =>
  execFileSync(join(postgresPrograms!, "psql"), ["-qAt", "-c", sql, url], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024
  }).trim()
