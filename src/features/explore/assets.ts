/** The files of the page: a list that is made at the start, so that no address can name another file. */
import { readFileSync, readdirSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { findPackageJSON } from "node:module"
import { dirname, join } from "node:path"
import { installed } from "../../values/installation.ts"
import { baseStyle } from "../../pages/page-style.ts"

/**
 * The ES modules of the editor, as their packages publish them: the browser loads them by an import map, so nothing is
 * bundled. `from`: the package that depends on it, in whose folder it may be installed.
 */
const packages: ReadonlyArray<readonly [name: string, entry: string, from?: string]> = [
  ["@codemirror/autocomplete", "dist/index.js"],
  ["@codemirror/commands", "dist/index.js"],
  ["@codemirror/lang-sql", "dist/index.js"],
  ["@codemirror/language", "dist/index.js"],
  ["@codemirror/state", "dist/index.js"],
  ["@codemirror/streamparser", "dist/index.js", "@codemirror/language"],
  ["@codemirror/view", "dist/index.js"],
  ["@lezer/common", "dist/index.js", "@codemirror/language"],
  ["@lezer/highlight", "dist/index.js"],
  ["@lezer/lr", "dist/index.js", "@codemirror/language"],
  ["@marijn/find-cluster-break", "src/index.js", "@codemirror/state"],
  ["crelt", "index.js", "@codemirror/view"],
  ["style-mod", "src/style-mod.js", "@codemirror/view"],
  ["w3c-keyname", "index.js", "@codemirror/view"]
]

const packageFile = (name: string, entry: string, from?: string): string => {
  const base = from === undefined ? import.meta.url : join(dirname(packageFile(from, "package.json")), "dist/index.js")
  return join(dirname(findPackageJSON(name, base)!), entry)
}

const folder = installed("src/features/explore/page")
const consoleFolder = installed("src/features/serve/page")

const filesIn = (path: string) =>
  readdirSync(path)
    .filter((name) => /\.(js|css)$/.test(name))
    .map((name) => [`/page/${name}`, join(path, name)] as const)

/** By the path of their address, the paths of all files that are served. */
export const assetPaths = (isConsole: boolean): ReadonlyMap<string, string> =>
  new Map([
    ...filesIn(folder),
    ...(isConsole ? filesIn(consoleFolder) : []),
    ...packages.map(([name, entry, from]) => [`/packages/${name}.js`, packageFile(name, entry, from)] as const)
  ])

export const importMap = (): string =>
  JSON.stringify({ imports: Object.fromEntries(packages.map(([name]) => [name, `/packages/${name}.js`])) })

/** The modules that a module imports at once: the browser would find them one after the other. */
const importedBy = (name: string, found: Set<string> = new Set([name])): ReadonlySet<string> => {
  for (const [, next] of readFileSync(join(folder, name), "utf8").matchAll(/ from "\.\/([\w-]+\.js)"/g))
    if (!found.has(next!)) importedBy(next!, found.add(next!))
  return found
}

const preloads = (): string =>
  Array.from(importedBy("main.js"), (name) => `<link rel="modulepreload" href="/page/${name}" />`).join("\n    ")

/**
 * The page; `nonce` permits what is not a file: its import map, and the style that it shares with other pages. `role`: of the
 * visitor of the console; empty for the explorer, which only looks.
 */
export const pageHtml = async (nonce: string, role: string): Promise<string> =>
  (await readFile(join(folder, "index.html"), "utf8"))
    .replaceAll("{{nonce}}", nonce)
    .replace("{{console}}", role)
    .replace("{{baseStyle}}", baseStyle)
    .replace("{{importMap}}", importMap())
    .replace("{{preloads}}", preloads())
