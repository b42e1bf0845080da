/** Programs that some process tests need and that this repository does not install. */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** The path of the first program that exists; a skipped test says what to install. */
export const programAt = (paths: ReadonlyArray<string>): string | undefined => paths.find((path) => existsSync(path))

/**
 * A Python with packages from PyPI, in a folder that is kept for the next run. Absent if there is no Python, or PyPI cannot
 * be reached.
 */
export const pythonWith = (name: string, packages: ReadonlyArray<string>): string | undefined => {
  const folder = join(tmpdir(), `sluice-python-${name}`)
  const python = join(folder, "bin/python")
  const complete = join(folder, "installed")
  if (existsSync(complete) && readFileSync(complete, "utf8") === packages.join("\n")) return python
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { mode: 0o700 })
  const succeeds = (program: string, args: ReadonlyArray<string>) =>
    spawnSync(program, args, { stdio: "ignore", timeout: 240_000 }).status === 0
  if (!succeeds("python3", ["-m", "venv", folder])) return undefined
  if (!succeeds(python, ["-m", "pip", "install", "--quiet", ...packages])) return undefined
  writeFileSync(complete, packages.join("\n"))
  return python
}
