/** Words that the project gave up for the terms of the glossary in docs/README.md, which must not come back. */
import { assert, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { sourceTexts } from "./support/source-text.ts"

const root = fileURLToPath(new URL("..", import.meta.url))

/** In names, by the parts of `camelCase` and `snake_case`: what to say instead. */
const inNames: Readonly<Record<string, string>> = {
  asked: "requested",
  doubt: "warning",
  doubts: "warnings",
  fanout: "children",
  gone: "deleted, or notFound",
  misfit: "invalidValue",
  misfits: "invalidValues",
  pass: "partition, or read",
  passes: "partitions, or matches",
  patience: "limit",
  stray: "orphan",
  strays: "orphans",
  stretch: "range",
  stretches: "ranges",
  talk: "messages, or log",
  told: "reported",
  way: "strategy",
  ways: "strategies",
  whereabouts: "location"
}

/** In comments and strings, and on the pages for readers. */
const inTexts: ReadonlyArray<readonly [pattern: RegExp, instead: string]> = [
  [/\bdoubts?\b/i, "warning"],
  [/\bfan-?outs?\b/i, "children"],
  [/\bmisfits?\b/i, "invalid value"],
  [/\bwhereabouts\b/i, "location"],
  [/\b(hang|hangs|hanging) on\b/i, "belong to, or depend on"],
  [/\b(make|makes|making|made) way\b/i, "yield to"]
]

/** Only on the pages: in comments, these have meanings that they need. */
const onPages: ReadonlyArray<readonly [pattern: RegExp, instead: string]> = [
  [/\b(is|are|was|were|be|been) told\b/i, "be reported"],
  [/\b(is|are|was|were|be|been) gone\b/i, "be deleted, or be removed"],
  [/\basked for\b/i, "requested"],
  [/\b(go|goes|going) on\b(?! while)/i, "resume, or continue"],
  [/\bways? (of|to) (read|ask)/i, "strategy"],
  [/\bstretch(es)? of\b/i, "period"],
  [/\btalk\b/i, "messages"],
  [/\bin silence\b/i, "silently"]
]

/** The names of earlier versions, and of the API. */
const allowedFiles: ReadonlySet<string> = new Set(["src/stores/warehouse/meta/take-over.ts", "docs/dictionary.md"])
const allowedNames: ReadonlySet<string> = new Set(["enabled2waySync", "patienceLevel"])

const problemsIn = (path: string): ReadonlyArray<string> => {
  const content = readFileSync(`${root}/${path}`, "utf8")
  return path.endsWith(".md")
    ? textProblems([...inTexts, ...onPages], withoutCode(content), path, 1)
    : sourceTexts(content).flatMap(({ kind, text, line }) =>
        kind === "name" ? nameProblems(text, `${path}:${line}`) : textProblems(inTexts, text, path, line)
      )
}

const nameProblems = (text: string, place: string): ReadonlyArray<string> =>
  allowedNames.has(text)
    ? []
    : partsOf(text).flatMap((part) =>
        Object.hasOwn(inNames, part) ? [`${place}: ${text}: ${part}: say ${inNames[part]}`] : []
      )

const partsOf = (identifier: string): ReadonlyArray<string> =>
  identifier
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replaceAll("fan_out", "fanout")
    .split(/[^a-z]+/)

const textProblems = (
  words: ReadonlyArray<readonly [pattern: RegExp, instead: string]>,
  text: string,
  path: string,
  line: number
): ReadonlyArray<string> =>
  text.split("\n").flatMap((part, index) =>
    words.flatMap(([pattern, instead]) => {
      const found = pattern.exec(part)
      return found ? [`${path}:${line + index}: ${found[0]}: say ${instead}`] : []
    })
  )

/** CHANGELOG names old tables, and pages show commands and their output. */
const withoutCode = (page: string): string =>
  page.replaceAll(/```.*?```|`[^`]*`/gs, (code) => code.replaceAll(/[^\n]/g, ""))

it("the program and its pages use the terms of the glossary", { tags: ["slow"] }, () => {
  const paths = [
    "src/**/*.{ts,md}",
    "sandbox/**/*.{ts,md}",
    "pipelines/**/*.ts",
    "docs/*.md",
    "output/README.md",
    "*.md"
  ].flatMap((pattern) => globSync(pattern, { cwd: root }))
  assert.isAbove(paths.length, 300)
  assert.deepStrictEqual(paths.filter((path) => !allowedFiles.has(path)).flatMap(problemsIn), [])
})

it("a name or a text with such a word is reported with its line and the term to use", () => {
  const source =
    'const askedFor = 1\nconst n = { a: `${"a doubt"} of ${f({ b: 1 })}` } // It hangs on\n/x"doubt/.test("")'
  assert.deepStrictEqual(
    sourceTexts(source).flatMap(({ kind, text, line }) =>
      kind === "name" ? nameProblems(text, `a.ts:${line}`) : textProblems(inTexts, text, "a.ts", line)
    ),
    [
      "a.ts:1: askedFor: asked: say requested",
      "a.ts:2: doubt: say warning",
      "a.ts:2: hangs on: say belong to, or depend on"
    ]
  )
})
