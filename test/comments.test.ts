import { assert, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { sourceTexts } from "./support/source-text.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const files = globSync(["*.md", "{src,sandbox,pipelines,bench,pack,test,docs}/**/*.{ts,js,mjs,md}"], { cwd: root })

/** The files that the comments of a source name: `merge.ts`, `load/merge.ts`. */
const namedIn = (source: string): ReadonlyArray<string> =>
  // Few sources need to be parsed.
  (/(?:\/\/|\*).*\w\.(?:ts|md)\b/.test(source) ? sourceTexts(source) : [])
    .filter(({ text }) => /^\/[*/]/.test(text))
    .flatMap(({ text }) => text.match(/(?<![\w/.*-])(?:[\w-]+\/)*[\w-]+\.(?:ts|md)\b/g) ?? [])

it("a comment names no file that is not there", () => {
  assert.deepStrictEqual(namedIn('// See load/gone.ts and here.ts.\nconst a = "other.ts"'), ["load/gone.ts", "here.ts"])
  const ends = new Set(files.flatMap((path) => path.split("/").map((_, at, parts) => parts.slice(at).join("/"))))
  const missing = files
    .filter((path) => path.endsWith(".ts") && !path.startsWith("test/"))
    .flatMap((path) =>
      namedIn(readFileSync(join(root, path), "utf8"))
        .filter((name) => !ends.has(name))
        .map((name) => `${path}: ${name}`)
    )
  assert.deepStrictEqual(missing, [])
})
