import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { join, normalize } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const page = readFileSync(join(root, "docs/architecture.md"), "utf8")
  .split("\n## ")
  .find((part) => part.startsWith("The folders"))!

/** The table of folders, lowest first, with the stages and features that each may import. */
const floors = Array.from(page.matchAll(/^\| `([a-z/]+)` +\|[^|]*\|([^|]*)\|$/gm), ([, folder, imports]) => ({
  folder: folder!,
  imports: Array.from(imports!.matchAll(/`([a-z/]+)`|all (stages|features)/g), ([, named, all]) => named ?? `${all}/`)
}))

/** The row of a file: that of its folder, or of the folder above. The settings of a destination are settings. */
const rowOf = (path: string): number => {
  if (/^src\/destinations\/.*settings\.ts$/.test(path)) return rowOf("src/settings/x.ts")
  const [top, sub] = path.split("/").slice(1)
  const row = floors.findIndex(({ folder }) => folder === `${top}/${sub}`)
  return row >= 0 ? row : floors.findIndex(({ folder }) => folder === top)
}

interface Import {
  readonly from: string
  readonly to: string
}

/** Why an import is against the order; `undefined` if it is not. */
const problemOf = ({ from, to }: Import): string | undefined => {
  const [row, target] = [rowOf(from), rowOf(to)]
  // main.ts and index.ts stand above all.
  if (from.split("/").length === 2 || row === target) return undefined
  const { folder: name } = floors[target]!
  const { folder, imports } = floors[row]!
  if (target > row) return `${from} imports ${to}, which is above it`
  const isNamed = imports.some((one) => (one.endsWith("/") ? name.startsWith(one) : one === name))
  return /^(stages|features)\//.test(name) && !isNamed
    ? `${from} imports ${to}; ${folder} may not import ${name}`
    : undefined
}

const files = globSync("src/**/*.ts", { cwd: root })
const importsOf = (from: string): ReadonlyArray<Import> =>
  Array.from(
    readFileSync(join(root, from), "utf8").matchAll(/(?:\bfrom |\bimport |\bimport\()"(\.[^"]+|#catalog[^"]*)"/g),
    ([, to]) => ({ from, to: to!.startsWith("#") ? `src/catalog/${to!.slice(9)}` : normalize(join(from, "..", to!)) })
  )
const imports = files.flatMap(importsOf)

describe("the folders of src", () => {
  it("are all in the table of docs/architecture.md, and the table names no other", () => {
    assert.deepStrictEqual(
      files.filter((path) => path.split("/").length > 2 && rowOf(path) < 0),
      []
    )
    const used = new Set(files.map(rowOf))
    assert.deepStrictEqual(
      floors.filter((_, row) => !used.has(row)).map(({ folder }) => folder),
      []
    )
  })

  it("import only what is below them", () => {
    assert.isAbove(imports.length, 2000)
    const within = imports.filter(({ to }) => to.startsWith("src/"))
    assert.deepStrictEqual(
      within.map(problemOf).filter((problem) => problem !== undefined),
      []
    )
  })

  it("have no files that import each other in a circle, dynamic imports included", () => {
    const importsByFile = Map.groupBy(imports, ({ from }) => from)
    const circles: Array<string> = []
    const ended = new Set<string>()
    const follow = (file: string, path: ReadonlyArray<string>): void => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(" -> "))
      else if (!ended.has(file)) for (const { to } of importsByFile.get(file) ?? []) follow(to, [...path, file])
      ended.add(file)
    }
    for (const file of files) follow(file, [])
    assert.deepStrictEqual(circles, [])
  })

  it("give the library the descriptions of commands and features, and one way to run a command", () => {
    const used = imports.filter(({ from, to }) => from.startsWith("src/library/") && to.startsWith("src/cli/"))
    assert.deepStrictEqual([...new Set(used.map(({ to }) => to))].toSorted(), [
      "src/cli/command.ts",
      "src/cli/commands.ts",
      "src/cli/run-features.ts"
    ])
  })

  it("have one place that starts sluice again, and one that serves HTTP", () => {
    const places = (pattern: RegExp) => files.filter((path) => pattern.test(readFileSync(join(root, path), "utf8")))
    assert.deepStrictEqual(places(/process\.argv\[1\]/), ["src/run/process.ts"])
    const ofNetwork = places(/^import (?!type ).*from "node:https?"/m)
    assert.deepStrictEqual(
      ofNetwork.filter((path) => !path.startsWith("src/stages/api/")),
      ["src/network/server.ts"]
    )
  })

  it("are imported by the sandbox nowhere, and import it only for a demo", () => {
    const above = imports.filter(({ to }) => to.startsWith("sandbox/")).map(({ from }) => from)
    assert.deepStrictEqual([...new Set(above)].toSorted(), [
      "src/cli/demo.ts",
      "src/cli/run.ts",
      "src/features/fleet/commands/demo-fleet.ts"
    ])
  })
})

describe("what the code asserts to the compiler", () => {
  const { bin } = JSON.parse(readFileSync(join(root, "node_modules/oxlint/package.json"), "utf8"))
  const linter = join(root, "node_modules/oxlint", bin.oxlint)
  const assertionsIn = (...paths: ReadonlyArray<string>): ReadonlyArray<string> => {
    const args = [linter, "-c", join(root, "test/assertions.json"), "--no-ignore", "-f", "json", ...paths]
    // Each assertion is an error, with which the linter ends.
    const { stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 })
    return JSON.parse(stdout).diagnostics.map(({ code }: { readonly code: string }) => code)
  }

  // A new one needs a proof instead: a default, a type, or `src/catalog/present.ts`, which names what is missing.
  it.each([
    ["no-non-null-assertion", 280],
    ["consistent-type-assertions", 130]
  ])("is no more than it was by %s, and the ceiling of %s falls with each that goes", (rule, ceiling) => {
    const found = assertionsIn("src").filter((code) => code.includes(rule)).length
    assert.isAtMost(found, ceiling)
    assert.isAtLeast(found, ceiling - 20)
  })
})

describe("an import", () => {
  it.each([
    ["src/catalog/a.ts", "src/values/b.ts", "above it"],
    ["src/stages/load/a.ts", "src/stages/api/b.ts", "may not import"],
    ["src/features/report/a.ts", "src/features/ledger/b.ts", "above it"],
    ["src/features/ledger/a.ts", "src/features/report/b.ts", "may not import"],
    ["src/console/a.ts", "src/cli/b.ts", "above it"],
    ["src/settings/a.ts", "src/destinations/bucket/deliver.ts", "above it"]
  ])("of %s from %s is reported", (from, to, why) => {
    assert.include(problemOf({ from, to }) ?? "", why)
  })

  it.each([
    ["src/stages/extract/a.ts", "src/stages/api/b.ts"],
    ["src/features/ledger/a.ts", "src/stores/ledger/b.ts"],
    ["src/cli/a.ts", "src/features/fleet/b.ts"],
    ["src/main.ts", "src/cli/run.ts"],
    ["src/settings/a.ts", "src/destinations/bucket/settings.ts"]
  ])("of %s from %s is not", (from, to) => {
    assert.isUndefined(problemOf({ from, to }))
  })
})
