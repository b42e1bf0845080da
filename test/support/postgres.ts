/** A PostgreSQL server in a temporary folder, from the programs of this machine. */
import { execFileSync, spawn, spawnSync } from "node:child_process"
import { existsSync, globSync, mkdtempSync, chownSync } from "node:fs"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { programOf } from "./programs.ts"

/** Debian does not put initdb and postgres into PATH. */
const findPrograms = (): string | undefined =>
  [...globSync("/usr/lib/postgresql/*/bin"), ...(process.env["PATH"] ?? "").split(":")].find(
    (folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres"))
  )
/** The folder of these programs; undefined if they cannot be installed. */
export const postgresPrograms: string | undefined =
  findPrograms() ?? (programOf("postgresql", "/usr/bin/pg_createcluster") && findPrograms())

/** Why tests are skipped, for their name. */
export const withoutPostgres = "skipped: PostgreSQL is not installed (Debian: apt-get install postgresql)"

export interface Postgres {
  readonly url: string
  readonly restart: () => Promise<void>
  readonly stop: () => Promise<void>
}

export const startPostgres = async (): Promise<Postgres> => {
  const programs = postgresPrograms!
  const folder = mkdtempSync(join(tmpdir(), "sluice-postgres-"))
  const user = ordinaryUser()
  if (user) chownSync(folder, user.uid, user.gid)
  const options = { cwd: folder, stdio: "ignore", ...user } as const
  const data = join(folder, "data")
  execFileSync(
    join(programs, "initdb"),
    ["-D", data, "-U", "sluice", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"],
    options
  )
  const port = await freePort()
  const begin = async () => {
    const settings = [`port=${port}`, "listen_addresses=127.0.0.1", `unix_socket_directories=`, "fsync=off"]
    const server = spawn(
      join(programs, "postgres"),
      ["-D", data, ...settings.flatMap((setting) => ["-c", setting])],
      options
    )
    // A test that times out leaves no server.
    process.once("exit", () => server.kill("SIGQUIT"))
    const ended = new Promise<void>((resolve) => server.once("exit", () => resolve()))
    const until = Date.now() + 30_000
    while (spawnSync(join(programs, "pg_isready"), ["-h", "127.0.0.1", "-p", String(port), "-q"]).status !== 0) {
      if (Date.now() > until || server.exitCode !== null) throw new Error("PostgreSQL does not start")
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    return { server, ended }
  }
  let running = await begin()
  const stop = async () => {
    // Fast shutdown: connections are closed.
    running.server.kill("SIGINT")
    await running.ended
  }
  return {
    url: `postgres://sluice@127.0.0.1:${port}/postgres`,
    stop,
    restart: async () => {
      await stop()
      running = await begin()
    }
  }
}

/** PostgreSQL refuses to run as root. */
const ordinaryUser = (): { uid: number; gid: number } | undefined => {
  if (process.getuid?.() !== 0) return undefined
  const id = (flag: string) => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }))
  return { uid: id("-u"), gid: id("-g") }
}

/** A port that is free now. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

/** The rows of a statement, by psql: columns are separated by a bar. */
export const sqlIn = async ({ url }: Postgres, sql: string): Promise<string> =>
  execFileSync(join(postgresPrograms!, "psql"), ["-qAt", "-c", sql, url], { encoding: "utf8" }).trim()
