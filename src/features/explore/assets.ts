/** The files of the page: a list that is made at the start, so that no address can name another file. */
import { existsSync, readFileSync, readdirSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { findPackageJSON } from "node:module"
import { dirname, join } from "node:path"
import { findIn, present } from "../../catalog/present.ts"
import { type Routes, fileResponse } from "../../network/server.ts"
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
  return join(dirname(present(findPackageJSON(name, base), `package ${name}`)), entry)
}

const folder = installed("src/features/explore/page")
const consoleFolder = installed("src/features/serve/page")

const filesIn = (path: string) =>
  readdirSync(path)
    .filter((name) => /\.(js|css)$/.test(name))
    .map((name) => [`/page/${name}`, join(path, name)] as const)

export const assetRoutes = (isConsole: boolean): Routes<unknown> =>
  Object.fromEntries(
    [...assetPaths(isConsole)].map(([address, path]) => [
      `GET ${address}`,
      { right: "reader", answer: () => fileResponse(path) }
    ])
  )

/** By the path of their address, the paths of all files that are served. */
export const assetPaths = (isConsole: boolean): ReadonlyMap<string, string> =>
  new Map([
    ...filesIn(folder),
    ...(isConsole ? filesIn(consoleFolder) : []),
    ...packages.map(([name, entry, from]) => [`/packages/${name}.js`, packageFile(name, entry, from)] as const)
  ])

export const importMap = (): string =>
  JSON.stringify({ imports: Object.fromEntries(packages.map(([name]) => [name, `/packages/${name}.js`])) })

/** The modules that are needed at once: the browser would find them one after the other. */
const importedBy = (names: ReadonlyArray<string>): ReadonlySet<string> => {
  const found = new Set(names)
  // A set visits what is added to it meanwhile.
  for (const name of found) {
    const path = findIn([join(folder, name), join(consoleFolder, name)], existsSync, `file ${name} of the page`)
    for (const [, next = ""] of readFileSync(path, "utf8").matchAll(/ from "\.\/([\w-]+\.js)"/g)) found.add(next)
  }
  return found
}

const queryTabs = [
  ["#/sql", "SQL"],
  ["#/board", "Board"]
] as const
const documentTabs = [
  ["/report", "Report"],
  ["/dictionary", "Dictionary"]
] as const

/** What stands around the tables: in the explorer nothing else, in the console what acts. `views`: the module that has it. */
const frames = {
  explorer: {
    name: "sluice explore",
    views: "",
    tabs: [["#/", "Tables"], ...queryTabs, ...documentTabs, ["#/table/meta/runs?sort=-started_at", "Runs"]],
    modules: ["main.js"],
    styles: []
  },
  console: {
    name: "sluice",
    views: "/page/console.js",
    tabs: [
      ["#/", "Overview"],
      ["#/runs", "Runs"],
      ["#/locations", "Locations"],
      ["#/tasks", "Work"],
      ["#/settings", "Settings"],
      ["#/tables", "Tables"],
      ...queryTabs,
      ...documentTabs
    ],
    modules: ["main.js", "console.js", "console-overview.js"],
    styles: ["serve.css"]
  }
} as const

/**
 * The page; `nonce` permits what is not a file: its import map, and the style that it shares with other pages. `role`: of the
 * visitor of the console; empty for the explorer, which only looks.
 */
export const pageHtml = async (nonce: string, role: string): Promise<string> => {
  const { modules, name, styles, tabs, views } = frames[role === "" ? "explorer" : "console"]
  const links = tabs.map(([address, text]) => `<a href="${address}" id="tab-${text.toLowerCase()}">${text}</a>`)
  const sheets = styles.map((style) => `<link rel="stylesheet" href="/page/${style}" />`)
  const preloads = Array.from(importedBy(modules), (module) => `<link rel="modulepreload" href="/page/${module}" />`)
  return (await readFile(join(folder, "index.html"), "utf8"))
    .replaceAll("{{nonce}}", nonce)
    .replaceAll("{{name}}", name)
    .replace("{{console}}", role)
    .replace("{{views}}", views)
    .replace("{{tabs}}", links.join("\n        "))
    .replace("{{styles}}", sheets.join("\n    "))
    .replace("{{baseStyle}}", baseStyle)
    .replace("{{importMap}}", importMap())
    .replace("{{preloads}}", preloads.join("\n    "))
}
