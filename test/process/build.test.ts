/** A build under running commands: `npm ci`, `npm pack` or an update at noon. */
import { assert, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { existsSync, globSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const root = fileURLToPath(new URL("../..", import.meta.url))
const run = promisify(execFile)

it("takes no file away from a command that runs or begins meanwhile", async () => {
  const chunks = globSync("dist/src/chunks/*.js", { cwd: root })
  let isBuilding = true
  const building = run(process.execPath, ["pack/build.mjs"], { cwd: root }).finally(() => (isBuilding = false))
  let commands = 0
  while (isBuilding) {
    // Fails if a module is missing.
    await run(process.execPath, ["dist/src/main.js", "--version"], { cwd: root })
    commands++
  }
  await building
  assert.isAbove(commands, 3)
  assert.deepStrictEqual(
    chunks.filter((chunk) => !existsSync(`${root}/${chunk}`)),
    [],
    "a command that runs loads modules when it needs them"
  )
  assert.isTrue(existsSync(`${root}/dist/built`))
  assert.deepStrictEqual(globSync("dist.building-*", { cwd: root }), [])
})
