/** The packages of others, with their versions, each set in an environment of its own outside of this repository. */
import { execFileSync } from "node:child_process"
import { existsSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export const environmentsFolder = join(tmpdir(), "sluice-peers")

export const packages = {
  dlt: ["dlt[duckdb,parquet]==1.31.0", "duckdb==2.0.1"],
  airbyte: ["airbyte-cdk==7.39.1"],
  // The lock file of the tap names these.
  tap: ["singer-sdk==0.42.1", "jsonpath-ng==1.6.1"],
  target: ["target-duckdb==0.8.0", "duckdb==1.1.3"]
}

/** The folder of an environment, which is made unless it exists with these versions. */
export const environmentOf = (name: keyof typeof packages, folder: string): string => {
  const environment = join(folder, name)
  const complete = join(environment, packages[name].join(" ").replaceAll("/", "_"))
  if (existsSync(complete)) return environment
  console.error(`Installing ${packages[name].join(", ")} into ${environment}`)
  rmSync(environment, { recursive: true, force: true })
  execFileSync("python3", ["-m", "venv", environment], { stdio: "inherit" })
  const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
  execFileSync(join(environment, "bin", "python"), [...install, ...packages[name]], { stdio: "inherit" })
  writeFileSync(complete, "")
  return environment
}
