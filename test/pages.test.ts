/** The pages for readers, checked against the repository. */
import { assert, it } from "@effect/vitest"
import { existsSync, globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const pages = globSync(["*.md", "{docs,bench,output,src,config}/**/*.md"], { cwd: root })

it("every file that a page names exists", () => {
  const missing = pages.flatMap((page) => {
    const text = readFileSync(`${root}/${page}`, "utf8")
    const named = Array.from(text.matchAll(/`((?:src|test|bench|pipelines|docs)\/[^`\s]*)`/g), ([, path]) => path!)
    return named.filter((path) => !existsSync(`${root}/${path}`)).map((path) => `${page} ${path}`)
  })
  assert.isAbove(pages.length, 5)
  assert.deepStrictEqual(missing, [])
})
