import { readFileSync, readdirSync } from "node:fs"
import { join, resolve } from "node:path"
import { assert, it } from "vitest"

const folder = resolve("src/sandbox")
const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"))

it("the sandbox imports nothing but itself and node", () => {
  assert.isAbove(files.length, 40)
  for (const file of files) {
    for (const [, from] of readFileSync(join(folder, file), "utf8").matchAll(/ from "([^"]+)"/g)) {
      const target = from!.startsWith(".") ? resolve(folder, file, "..", from!) : from!
      assert.isTrue(target.startsWith("node:") || target.startsWith(`${folder}/`), `${file} imports ${from}`)
    }
  }
})

it("no file of the sandbox is longer than 250 lines", () => {
  for (const file of files) assert.isAtMost(readFileSync(join(folder, file), "utf8").split("\n").length, 250, file)
})
