import { readFileSync, readdirSync } from "node:fs"
import { join, relative, resolve } from "node:path"
import { assert, it } from "vitest"

const folder = resolve("sandbox")
const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"))

/** The modules that a text imports, also dynamically or for their effects only. */
const modulesIn = (text: string): Array<string> =>
  Array.from(text.matchAll(/(?: from |\bimport |\bimport\()"([^"]+)"/g), ([, module]) => module!)

const importsOf = (file: string): Array<string> =>
  modulesIn(readFileSync(join(folder, file), "utf8")).map((module) =>
    module.startsWith(".") ? resolve(folder, file, "..", module) : module
  )

it("every kind of import is found", () => {
  const text = 'import { a } from "a"\nexport * from "b"\nimport "c"\nconst d = await import("d")\n'
  assert.deepEqual(modulesIn(text), ["a", "b", "c", "d"])
})

it("the sandbox imports only itself and Node", () => {
  assert.isAbove(files.length, 40)
  for (const file of files) {
    for (const target of importsOf(file)) {
      assert.isTrue(target.startsWith("node:") || target.startsWith(`${folder}/`), `${file} imports ${target}`)
    }
  }
})

it("the files of the sandbox have no circular imports, not even of types", () => {
  const remaining = new Map(
    files.map((file) => [file, importsOf(file).map((target) => relative(folder, target))] as const)
  )
  // A file that imports none of the remaining files is not part of a circle.
  let removed = true
  while (removed) {
    removed = false
    for (const [file, targets] of remaining) {
      if (!targets.some((target) => remaining.has(target))) removed = remaining.delete(file)
    }
  }
  assert.deepEqual([...remaining.keys()], [])
})

it("no file of the sandbox is longer than 250 lines", () => {
  for (const file of files) assert.isAtMost(readFileSync(join(folder, file), "utf8").split("\n").length, 250, file)
})
