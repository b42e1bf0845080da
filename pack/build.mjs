// Builds `dist/`, which the package contains: Node does not strip types of files below node_modules. It has the layout of
// the repository, so that files find each other in the same way.
import { execFileSync } from "node:child_process"
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const dist = `${root}dist/`

rmSync(dist, { recursive: true, force: true })
execFileSync(`${root}node_modules/.bin/tsc`, ["-p", `${root}pack/tsconfig.json`], { stdio: "inherit" })
for (const folder of ["models", "config", "src/explore/page"])
  cpSync(`${root}${folder}`, `${dist}${folder}`, {
    recursive: true,
    // Settings and tokens of whoever builds the package.
    filter: (path) => !/\/(sluice\.toml|token)$/.test(path)
  })
const { dependencies, name, optionalDependencies, version } = JSON.parse(readFileSync(`${root}package.json`, "utf8"))
const imports = { "#catalog/*.ts": "./src/catalog/*.js" }
writeFileSync(
  `${dist}package.json`,
  `${JSON.stringify({ name, version, type: "module", imports, dependencies, optionalDependencies }, null, 2)}\n`
)
