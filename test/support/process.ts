/** Runs sluice as users do: as a process, through the launcher. */
import { execFileSync, spawn } from "node:child_process"
import { hash } from "node:crypto"
import { cpSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { discover } from "../../src/catalog/discover.ts"
import { fixture } from "./fixtures.ts"
import { type Ran, knowing, restrictedTo, withSentences } from "./sluice.ts"

export interface Running {
  readonly ended: Promise<Ran>
  readonly pid: number
  /** What it has written until now. */
  readonly stdout: () => string
  readonly stderr: () => string
  readonly kill: (signal: NodeJS.Signals) => void
}

const root = fileURLToPath(new URL("../..", import.meta.url))
const launcher = join(root, "sluice")
const program = "PROGRAM"

export const start = (
  args: ReadonlyArray<string>,
  { [program]: path = launcher, ...environment }: Readonly<Record<string, string>>,
  cwd?: string
): Running => {
  // The modes of files must not depend on the umask of the caller.
  const child = spawn("sh", ["-c", 'umask 000 && exec "$0" "$@"', path, ...withSentences(args)], {
    cwd,
    env: { PATH: process.env["PATH"], ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    // Shorter than the time limit of a test, so that a process that hangs is killed and the test fails with its output.
    timeout: 800_000,
    killSignal: "SIGKILL"
  })
  let [stdout, stderr] = ["", ""]
  child.stdout.on("data", (chunk) => (stdout += chunk))
  child.stderr.on("data", (chunk) => (stderr += chunk))
  return {
    ended: new Promise((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr }))),
    pid: child.pid!,
    stdout: () => stdout,
    stderr: () => stderr,
    kill: (signal) => child.kill(signal)
  }
}

/** What the launcher compares with the time of the build: it runs the sources if one of them is newer. */
const sources = Array.from(
  /find (.+) -newer/.exec(readFileSync(launcher, "utf8"))![1]!.matchAll(/\$home\/([\w.]+)/g),
  ([, name]) => join(root, name!)
)

/**
 * As `knowing`, also for processes: they run a copy of the built program, as an installed package, whose other definitions are
 * removed.
 */
export const knowingApart = async (tables: string): Promise<Readonly<Record<string, string>>> => {
  const environment = { ...knowing(tables), SLUICE_MODELS: "false", SLUICE_COMMAND: "sluice" }
  const built = statSync(join(root, "dist", "built"), { throwIfNoEntry: false })
  if (!built || execFileSync("find", [...sources, "-newer", join(root, "dist", "built")]).length > 0) return environment
  const id = hash("sha256", `${tables} ${built.mtimeMs}`).slice(0, 12)
  const copy = await fixture(`program-${id}`, async (folder) => {
    for (const name of ["dist", "sluice", "package.json"])
      cpSync(join(root, name), join(folder, name), { recursive: true })
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
    const kept = new Set(restrictedTo(tables)(await discover()).resources.map(({ table }) => `${table}.js`))
    const definitions = join(folder, "dist", "pipelines")
    for (const file of readdirSync(definitions, { recursive: true, withFileTypes: true }))
      if (file.isFile() && !kept.has(file.name)) rmSync(join(file.parentPath, file.name))
  })
  return { ...environment, [program]: join(copy, "sluice") }
}
