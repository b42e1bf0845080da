/** Python programs that test outputs, each with the packages that it needs. */
import { execFileSync } from "node:child_process"
import { hash } from "node:crypto"
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/**
 * The Python of a virtual environment with these packages, which later runs reuse. `undefined` if there is no Python or the
 * packages cannot be installed; a test then skips with one line. `withoutDependencies`: packages of which only files are used.
 */
export const pythonWith = (
  packages: ReadonlyArray<string>,
  withoutDependencies: ReadonlyArray<string> = []
): string | undefined => {
  const id = hash("sha256", JSON.stringify([packages, withoutDependencies])).slice(0, 12)
  const folder = join(tmpdir(), `sluice-python-${id}`)
  const python = join(folder, "bin", "python")
  const complete = join(folder, "complete")
  const lock = `${folder}.lock`
  // Another test may be installing the same packages.
  while (!existsSync(complete) && isLockedByOther(lock))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
  if (existsSync(complete)) {
    rmSync(lock, { recursive: true, force: true })
    return python
  }
  const run = (program: string, ...args: ReadonlyArray<string>) =>
    execFileSync(program, args, { stdio: ["ignore", "ignore", "pipe"], timeout: 240_000 })
  try {
    rmSync(folder, { recursive: true, force: true })
    run("python3", "-m", "venv", folder)
    const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run(python, ...install, ...packages)
    if (withoutDependencies.length > 0) run(python, ...install, "--no-deps", ...withoutDependencies)
    writeFileSync(complete, "")
    return python
  } catch (error) {
    console.log(`skipped: ${packages.join(", ")} cannot be installed: ${String(error).split("\n")[0]}`)
    return undefined
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

const installMsMax = 500_000

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

/** Runs a program text and returns what it printed. */
export const runPython = (python: string, program: string, ...args: ReadonlyArray<string>): string =>
  execFileSync(python, ["-c", program, ...args], { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 })
