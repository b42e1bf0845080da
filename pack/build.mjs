/**
 * Builds `dist/`, which the package contains, because Node does not strip types of files below node_modules, and which a
 * clone runs as long as no source is newer, because it starts in a quarter of the time. npm calls this after it has installed
 * the dependencies of a clone (`prepublish`, which it does not call for a package that is installed), and before it packs.
 * It has the layout of the repository, so that files find each other in the same way. The command line and the definitions
 * are bundled, with Effect and the other libraries that every command loads: a process loads a few files instead of a
 * thousand.
 *
 * Commands run meanwhile, and load modules when they need them. So the files are made beside `dist/`, and each takes its place
 * by one rename, what is loaded first last of all; modules of earlier builds, which are known by a hash, stay for a week.
 */
import { execFileSync } from "node:child_process"
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { basename, dirname, resolve } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const target = `${root}dist/`
const dist = `${root}dist.building-${process.pid}/`
process.on("exit", () => rmSync(dist, { recursive: true, force: true }))

const { dependencies, name, optionalDependencies, version } = JSON.parse(readFileSync(`${root}package.json`, "utf8"))
const filesIn = (folder) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => !entry.isDirectory())
        .map((entry) => `${entry.parentPath}/${entry.name}`.slice(folder.length))
    : []
// The pinned Node brings 67 MB of headers for native modules, and nothing here compiles one.
for (const node of Object.keys(optionalDependencies))
  rmSync(`${root}node_modules/${node}/include`, { recursive: true, force: true })

const isPacking = ["pack", "publish"].includes(process.env["npm_command"] ?? "")
if (!isPacking && !existsSync(`${root}node_modules/rolldown`)) {
  console.log("sluice is not built: `npm ci` also installs the packages that build it, and those that it then contains")
  process.exit(existsSync(`${target}built`) ? 0 : 1)
}
const { rolldown } = await import("rolldown")
execFileSync(`${root}node_modules/.bin/tsc`, ["-p", `${root}pack/tsconfig.json`, "--outDir", dist], {
  stdio: "inherit"
})
for (const folder of ["models", "config", "deploy/schedules", "src/features/explore/page", "src/features/serve/page"])
  cpSync(`${root}${folder}`, `${dist}${folder}`, {
    recursive: true,
    // Settings and tokens of whoever builds the package.
    filter: (path) => !/\/(sluice\.toml|token)$/.test(path)
  })
// Reading YAML takes a third of a second.
const { parse } = await import("yaml")
for (const file of ["_marts.yml", "_metrics.yml"])
  writeFileSync(`${dist}${file}.json`, JSON.stringify(parse(readFileSync(`${root}models/marts/${file}`, "utf8"))))
const imports = { "#catalog/*.ts": "./src/catalog/*.js" }
writeFileSync(
  `${dist}package.json`,
  `${JSON.stringify({ name, version, type: "module", imports, dependencies, optionalDependencies }, null, 2)}\n`
)

/** Packages stay outside if npm installs them with this one; but what every command loads of DuckDB is bundled. */
const outside = Object.keys(dependencies).filter((one) => one !== "@duckdb/node-api")
const isOutside = (id) =>
  id.startsWith("node:") ||
  id.startsWith("@duckdb/node-bindings") ||
  outside.some((one) => `${id}/`.startsWith(`${one}/`))
const definitions = readdirSync(`${dist}pipelines`, { recursive: true }).filter((file) => file.endsWith(".js"))
writeFileSync(
  `${dist}src/definitions.js`,
  definitions
    .map((file) => `export * as ${JSON.stringify(file)} from ${JSON.stringify(`../pipelines/${file}`)}\n`)
    .join("")
)
// Definitions of users import the catalogue, of which there must be one, so it is bundled along.
const catalogue = readdirSync(`${root}src/catalog`).map((file) => `catalog/${file.slice(0, -".ts".length)}`)
// A program that uses the promises needs no Effect; what is run as a process of its own is an entry as well.
const entries = ["main", "index", "features/explore/database-process", "definitions", ...catalogue]
const bundle = await rolldown({
  input: Object.fromEntries(entries.map((name) => [name, `${dist}src/${name}.js`])),
  platform: "node",
  external: isOutside,
  checks: { circularDependency: false, ineffectiveDynamicImport: false }
})
/**
 * Files of their own for what every command begins with, what reads the warehouse, what writes a release, and the rest of a
 * sync: each with all that it imports and is not in those before it. Without them, rolldown writes a file for each set of
 * commands that share something, and a sync loads 157 of them.
 */
const groups = [
  // The entry itself imports it: `--version` is to load nothing else.
  { name: "version", modules: ["values/version"] },
  { name: "begin", modules: ["cli/run"] },
  { name: "warehouse", modules: ["run/status", "run/status-text"] },
  { name: "release", modules: ["cli/publish", "features/report/report-page"] },
  { name: "sync", modules: ["cli/sync"] }
].map(({ name, modules }, place) => {
  const paths = modules.map((module) => `${dist}src/${module}.js`)
  const missing = paths.find((path) => !existsSync(path))
  if (missing !== undefined) throw new Error(`${missing} is missing: a module of the group ${name} has another name`)
  return { name, test: (id) => paths.includes(id), priority: 9 - place }
})
// The chunks are in a folder of src/, like the files that they consist of, because these find others by relative paths.
const written = await bundle.write({
  dir: `${dist}src`,
  entryFileNames: "[name].js",
  chunkFileNames: "chunks/[name]-[hash].js",
  codeSplitting: { groups },
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } }
})
// Programs that use Effect bring it: values of two copies would not be of one kind. The catalogue is that of the definitions.
const library = await rolldown({
  input: { "library/effect": `${dist}src/library/effect.js` },
  platform: "node",
  external: (id) => /^effect(\/|$)/.test(id) || isOutside(id),
  plugins: [
    {
      name: "catalogue",
      resolveId: (id, importer = "") => {
        const path = resolve(dirname(importer), id)
        const isOfCatalogue = id.startsWith(".") && dirname(path) === `${dist}src/catalog`
        return isOfCatalogue ? { id: `#catalog/${basename(path, ".js")}.ts`, external: true } : undefined
      }
    }
  ],
  checks: { circularDependency: false, ineffectiveDynamicImport: false }
})
const writtenLibrary = await library.write({
  dir: `${dist}src`,
  entryFileNames: "[name].js",
  chunkFileNames: "chunks/library-[name]-[hash].js",
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } }
})
// The licences of what the bundles contain ask for their texts beside each copy.
const inBundles = [...written.output, ...writtenLibrary.output].flatMap(({ moduleIds = [] }) => moduleIds)
const packages = new Set(inBundles.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []))
const licenceOf = (folder) => {
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one))
  const { license, name: own, version: of } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"))
  return `# ${own} ${of}, ${license}\n\n${file === undefined ? "" : readFileSync(`${folder}/${file}`, "utf8").trim()}\n`
}
writeFileSync(`${dist}LICENSES`, [...packages].sort().map(licenceOf).join("\n\n"))
// What the bundles contain is loaded from nowhere else.
const loaded = new Set([...entries, "library/effect"].map((name) => `src/${name}.js`))
for (const file of filesIn(dist))
  if (/^(src|sandbox)\/.*\.js$/.test(file) && !/\/(chunks|page)\//.test(file) && !loaded.has(file)) rmSync(dist + file)
// It comes last: `sluice` compares the sources with it.
writeFileSync(`${dist}built`, "")

const isChunk = (file) => file.includes("src/chunks/")
/** Chunks name other chunks; the entries name chunks; a command begins with `main`. */
const rankOf = (file) => (isChunk(file) ? 0 : file === "built" ? 3 : file.endsWith("src/main.js") ? 2 : 1)
const made = filesIn(dist).sort((one, other) => rankOf(one) - rankOf(other))
for (const file of made) {
  mkdirSync(dirname(target + file), { recursive: true })
  renameSync(dist + file, target + file)
}
const weekMs = 7 * 86_400_000
const isNew = new Set(made)
const kept = []
for (const file of filesIn(target).filter((one) => !isNew.has(one)))
  if (isChunk(file) && Date.now() - statSync(target + file).mtimeMs < weekMs) kept.push(file)
  else rmSync(target + file)
// A package has those of this build only.
writeFileSync(`${target}src/chunks/.npmignore`, kept.map((file) => `/${basename(file)}\n`).join(""))
