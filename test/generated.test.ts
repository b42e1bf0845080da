import { assert, it } from "@effect/vitest"
import { readFileSync, readdirSync } from "node:fs"
import { generatedFiles, inRepository } from "../pack/generated.ts"

const files = await generatedFiles()

it.each([...files])("%s is current; to write it: npm run generate", (path, text) =>
  assert.isTrue(readFileSync(inRepository(path), "utf8") === text)
)

it("no other file is in a folder of generated files", () => {
  assert.sameMembers(
    readdirSync(inRepository("docs/schemas")).map((name) => `docs/schemas/${name}`),
    [...files.keys()].filter((path) => path.startsWith("docs/schemas/"))
  )
})
