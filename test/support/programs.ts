/** Programs that some process tests need and that this repository does not install. */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"

/** The path of the first program that exists; a skipped test says what to install. */
export const programAt = (paths: ReadonlyArray<string>): string | undefined => paths.find((path) => existsSync(path))

/** The path of a program of a Debian package, which is installed if the machine permits it; says so if it does not. */
export const programOf = (debianPackage: string, path: string): string | undefined => {
  if (existsSync(path)) return path
  // Another test may be installing something at the moment.
  const apt = (...args: ReadonlyArray<string>) =>
    spawnSync("apt-get", ["-o", "DPkg::Lock::Timeout=200", ...args], { stdio: "ignore", timeout: 240_000 }).status === 0
  const install = () => apt("install", "-y", "--no-install-recommends", debianPackage)
  // A new machine has no lists of packages.
  if (install() || (apt("update") && install())) return path
  console.log(`skipped: needs ${path} (apt-get install ${debianPackage})`)
  return undefined
}
