/** A PostgreSQL server for the demo and the tests, in a folder of its own, from the programs of this machine. */
import { execFileSync, spawn, spawnSync } from "node:child_process"
import { chownSync, existsSync, globSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { freePort } from "./free-port.ts"

/** The folder of initdb and postgres; undefined if PostgreSQL is not installed. Debian does not put it into PATH. */
export const postgresPrograms = (path = process.env["PATH"] ?? ""): string | undefined =>
  [...globSync("/usr/lib/postgresql/*/bin").sort().toReversed(), ...path.split(":")].find(
    (folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres"))
  )

export type Postgres = Awaited<ReturnType<typeof startPostgres>>

/** Makes the folder, which a later start of the same database would reuse. Others on this machine may connect. */
export const startPostgres = async (programs: string, folder: string) => {
  const user = ordinaryUser()
  mkdirSync(folder, { recursive: true })
  if (user) chownSync(folder, user.uid, user.gid)
  const options = { cwd: folder, stdio: "ignore", ...user } as const
  const data = join(folder, "data")
  const flags = ["-U", "sluice", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"]
  execFileSync(join(programs, "initdb"), ["-D", data, ...flags], options)
  const port = await freePort("127.0.0.1")
  const settings = [`port=${port}`, "listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"]
  let stop = async () => {}
  const start = async () => {
    const server = spawn(
      join(programs, "postgres"),
      ["-D", data, ...settings.flatMap((setting) => ["-c", setting])],
      options
    )
    const kill = () => server.kill("SIGQUIT")
    // A process that ends early leaves no server.
    process.once("exit", kill)
    const ended = new Promise<void>((resolve) => server.once("exit", () => resolve()))
    stop = async () => {
      server.kill("SIGINT")
      await ended
      process.off("exit", kill)
    }
    const isReady = () =>
      spawnSync(join(programs, "pg_isready"), ["-h", "127.0.0.1", "-p", String(port), "-q"]).status === 0
    for (const until = Date.now() + 30_000; !isReady();) {
      if (Date.now() > until || server.exitCode !== null) throw new Error(`PostgreSQL of ${programs} does not start`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  await start()
  /** `stop` closes the connections, and resolves when the server has ended. */
  return { url: `postgres://sluice@127.0.0.1:${port}/postgres`, start, stop: () => stop() }
}

/** PostgreSQL refuses to run as root. */
const ordinaryUser = (): { uid: number; gid: number } | undefined => {
  if (process.getuid?.() !== 0) return undefined
  const id = (flag: string) => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }))
  return { uid: id("-u"), gid: id("-g") }
}
