/** PgBouncer in its default settings but for what it must be told: the server, the port, and that a transaction has a connection. */
import { spawn } from "node:child_process"
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs"
import { createConnection } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "../../src/features/fleet/commands/free-port.ts"
import { programOf } from "./programs.ts"

/** Installed if the machine permits it. */
export const bouncer: string | undefined = programOf("pgbouncer", "/usr/sbin/pgbouncer")

export const withoutBouncer = "skipped: PgBouncer is not installed (Debian: apt-get install pgbouncer)"

export const startBouncer = async (server: string) => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-pooler-"))
  chmodSync(folder, 0o755)
  const port = await freePort("127.0.0.1")
  const { hostname, pathname, port: serverPort } = new URL(server)
  const users = join(folder, "users.txt")
  writeFileSync(users, '"sluice" ""\n')
  const settings = join(folder, "pgbouncer.ini")
  writeFileSync(
    settings,
    `[databases]
postgres = host=${hostname} port=${serverPort} dbname=${pathname.slice(1)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
`
  )
  // It refuses to run as root.
  const running = spawn(bouncer!, [...(process.getuid?.() === 0 ? ["-u", "nobody"] : []), settings], {
    stdio: "ignore"
  })
  const kill = () => running.kill("SIGQUIT")
  process.once("exit", kill)
  const isReady = () =>
    new Promise<boolean>((resolve) => {
      const socket = createConnection({ host: "127.0.0.1", port }, () => resolve(true))
      socket.once("error", () => resolve(false)).once("connect", () => socket.destroy())
    })
  for (const until = Date.now() + 30_000; !(await isReady());) {
    if (Date.now() > until || running.exitCode !== null) throw new Error("PgBouncer does not start")
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    url: `postgres://sluice@127.0.0.1:${port}/postgres`,
    stop: () => {
      process.off("exit", kill)
      kill()
    }
  }
}
