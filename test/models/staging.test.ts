/** The generated files of models/. To update them: vitest run test/models/staging.test.ts --update */
import { assert, it } from "@effect/vitest"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { expect } from "vitest"
import { discover } from "../../src/catalog/discover.ts"
import { contractOf } from "../../src/stages/publish/contracts/contract.ts"
import { projectFolder } from "../../src/stages/publish/models/files.ts"
import { stagingFiles } from "../../src/stages/publish/models/staging.ts"

const files = await stagingFiles(contractOf(await discover()))

it.each([...files])("models/%s is current", (path, text) => expect(text).toMatchFileSnapshot(join(projectFolder, path)))

it("models/staging has no other files", () =>
  assert.sameMembers(
    readdirSync(join(projectFolder, "staging")).map((file) => `staging/${file}`),
    [...files.keys()]
  ))
