/** Programs of others that some tests need and that this repository does not bring. */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"

/** Whether tests may install what they need: only where somebody asks for it, since the system is the reader's. */
export const mayInstall = process.env["SLUICE_TESTS"] === "all"

/** The path of the first program that exists; a skipped test says what to install. */
export const programAt = (paths: ReadonlyArray<string>): string | undefined => paths.find((path) => existsSync(path))

/** The path of a program of a Debian package, which is installed if `mayInstall`; says so if it is missing. */
export const programOf = (debianPackage: string, path: string): string | undefined => {
  if (existsSync(path) || (mayInstall && installed(debianPackage))) return path
  console.log(`skipped: needs ${path} (Debian: apt-get install ${debianPackage})`)
  return undefined
}

const installed = (debianPackage: string): boolean => {
  // Another test may be installing something at the moment.
  const apt = (...args: ReadonlyArray<string>) =>
    spawnSync("apt-get", ["-o", "DPkg::Lock::Timeout=200", ...args], { stdio: "ignore", timeout: 240_000 }).status === 0
  const install = () => apt("install", "-y", "--no-install-recommends", debianPackage)
  // A new machine has no lists of packages.
  return install() || (apt("update") && install())
}

/** Python, with nothing but its own modules. */
export const hasPython = spawnSync("python3", ["-c", "import pty"]).status === 0
