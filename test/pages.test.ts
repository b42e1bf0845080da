/** The pages for readers, checked against the program and the repository. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { exitCodes } from "../src/values/failure.ts"
import { allSettings } from "../src/settings/sections.ts"
import { inDatabase } from "./support/compare.ts"
import { prepareIn } from "./support/fixtures.ts"
import { newFolder, sluice } from "./support/sluice.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const pages = globSync(["*.md", "{docs,bench,output,src,config}/**/*.md"], { cwd: root })
const textOf = (page: string) => readFileSync(join(root, page), "utf8")
const matches = (text: string, pattern: RegExp) => Array.from(text.matchAll(pattern), ([, found]) => found!)

/** As GitHub makes them of headings, and those that a page names itself. */
const anchorsOf = (page: string): ReadonlySet<string> => {
  const content = textOf(page)
  const headings = matches(content.replaceAll(/^ *```.*?^ *```/gms, ""), /^#+ (.*)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .replaceAll(/[^\p{L}\p{N}\- _]/gu, "")
      .replaceAll(" ", "-")
  )
  return new Set([...headings, ...matches(content, /<a (?:id|name)="([^"]+)"/g)])
}

describe("the pages", () => {
  it("name and link to files that exist", () => {
    const missing = pages.flatMap((page) => {
      const named = matches(textOf(page), /`((?:src|test|bench|pipelines|docs)\/[^`\s]*)`/g).map((path) =>
        join(root, path)
      )
      const linked = matches(textOf(page), /\]\((?!https?:)([^)#]+)\)/g).map((path) => join(root, dirname(page), path))
      return [...named, ...linked].filter((path) => !existsSync(path)).map((path) => `${page}: ${path}`)
    })
    assert.isAbove(pages.length, 10)
    assert.deepStrictEqual(missing, [])
  })

  it("link to headings that exist", () => {
    const wrong = pages.flatMap((page) =>
      [...textOf(page).matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)]
        .filter(([, path]) => path === "" || path!.endsWith(".md"))
        .map(([, path, anchor]) => [path === "" ? page : join(dirname(page), path!), anchor!] as const)
        .filter(([target, anchor]) => !anchorsOf(target).has(anchor))
        .map(([target, anchor]) => `${page}: ${target}#${anchor}`)
    )
    assert.deepStrictEqual(wrong, [])
  })

  it("are each linked from the list of pages", () => {
    const listed = new Set(matches(textOf("docs/README.md"), /\]\(([^)#]+)/g))
    const missing = globSync("*.md", { cwd: join(root, "docs") }).filter(
      (page) => page !== "README.md" && !listed.has(page)
    )
    assert.deepStrictEqual(missing, [])
  })

  it("name every destination in the first sentence, as the help and the package do", async () => {
    const { description } = JSON.parse(textOf("package.json")) as { readonly description: string }
    const { stdout } = await sluice(["--help"], {})
    const first = {
      README: textOf("README.md").split("\n\n")[1]!,
      package: description,
      help: stdout.split("\n\n")[1]!
    }
    for (const [where, text] of Object.entries(first))
      for (const kind of ["DuckDB", "Parquet", "CSV", "PostgreSQL", "SQLite", "bucket", "lake"])
        assert.include(text, kind, where)
  })

  it("have lines of at most 120 characters, apart from large tables and pages of columns", () => {
    const wide = pages
      .filter((page) => !["architecture", "comparison", "dictionary"].map((name) => `docs/${name}.md`).includes(page))
      .flatMap((page) => {
        const outside = textOf(page).replaceAll(/^(```|~~~)[^]*?^\1$/gm, "")
        return outside.split("\n").flatMap((line) => (line.length > 120 ? [`${page}: ${line}`] : []))
      })
    assert.deepStrictEqual(wide, [])
  })

  it("list every exit code of a command", () => {
    const listed = matches(textOf("docs/operations.md"), /^- ([\d, ]+): /gm).flatMap((codes) =>
      codes.split(",").map(Number)
    )
    const expected = new Set([0, ...Object.values(exitCodes), 130, 143])
    assert.deepStrictEqual(
      listed.toSorted((one, other) => one - other),
      [...expected].sort((one, other) => one - other)
    )
  })

  it("name settings that exist", () => {
    const known = new Set(allSettings.map(({ path }) => path))
    const sections = [...new Set([...known].map((path) => path.split(".")[0]!))].filter(
      (section) => section !== "locations"
    )
    const pattern = new RegExp(`\`((?:${sections.join("|")})\\.(?!(?:ts|json|ducklake)\`)[a-z_]+)\``, "g")
    const unknown = pages
      .filter((page) => page !== "CHANGELOG.md" && page !== "docs/dictionary.md")
      .flatMap((page) =>
        matches(textOf(page), pattern)
          .filter((path) => !known.has(path))
          .map((path) => `${page}: ${path}`)
      )
    assert.deepStrictEqual(unknown, [])
  })

  it("ask questions in SQL that the tables can answer", async () => {
    const folder = newFolder()
    await prepareIn(folder)
    const queries = matches(textOf("README.md"), /```sql\n(.*?);\n```/gs)
    assert.isAbove(queries.length, 0)
    await inDatabase(join(folder, "warehouse.duckdb"), async (ask) => {
      await ask("SET schema = 'crm'")
      for (const query of queries) await ask(`EXPLAIN ${query.replaceAll(/^--.*$/gm, "")}`)
    })
  })
})
