/** versitygw, a server of S3 over files, which Go builds once. Its buckets are folders, so their objects can be read as files. */
import { execFileSync, spawn } from "node:child_process"
import { existsSync, mkdirSync, renameSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "../../src/features/fleet/commands/free-port.ts"
import { programAt } from "./programs.ts"

const version = "1.8.0"
/** Go compiles its packages for minutes on a machine that has none of them. */
const buildMs = 500_000

/** Skipped without Go. */
export const versityBuilder = programAt(["/usr/local/go/bin/go", "/usr/lib/go/bin/go", "/usr/bin/go"])
if (versityBuilder === undefined) console.log("skipped: needs Go, to build versitygw (https://go.dev/dl)")

export const startVersity = async (bucket: string, folder: string, key: string, secret: string) => {
  const home = join(tmpdir(), `sluice-versitygw-${version}`)
  const program = join(home, "versitygw")
  if (!existsSync(program)) {
    const building = `${home}-${process.pid}`
    execFileSync(versityBuilder!, ["install", `github.com/versity/versitygw/cmd/versitygw@v${version}`], {
      env: { ...process.env, GOBIN: building, GOFLAGS: "-mod=mod" },
      stdio: "ignore",
      timeout: buildMs
    })
    mkdirSync(home, { recursive: true })
    renameSync(join(building, "versitygw"), program)
  }
  mkdirSync(join(folder, bucket), { recursive: true })
  const port = await freePort("127.0.0.1")
  const flags = ["--access", key, "--secret", secret, "--port", `127.0.0.1:${port}`, "--quiet"]
  const server = spawn(program, [...flags, "posix", folder], { stdio: "ignore" })
  process.once("exit", () => server.kill("SIGKILL"))
  const url = `http://127.0.0.1:${port}`
  const until = Date.now() + 30_000
  while (!(await fetch(url).catch(() => undefined))) {
    if (Date.now() > until || server.exitCode !== null) throw new Error("versitygw does not start")
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return { url, stop: () => void server.kill("SIGKILL") }
}
