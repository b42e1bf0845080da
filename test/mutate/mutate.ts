/**
 * Changes the product in one place at a time, as a slip would, and says which changes the quick tests of the room let pass.
 *
 *     npm run mutate -- src/stages/extract/paging.ts
 *     npm run mutate -- src/stages/load/merge                               every file below it
 *     npm run mutate -- src/stages/extract/paging.ts:30-80                  only these lines
 *     npm run mutate -- src/values/status.ts test/values test/extract       other tests than those of the room
 *     npm run mutate -- --workers 1 src/alarms                              on a machine that others use
 *
 * The changes are made in a copy below the folder for temporary files, so the tree stays as it is whatever happens.
 */
import { Stryker } from "@stryker-mutator/core"
import { existsSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { testFoldersOf } from "./rooms.ts"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { workers: { type: "string", default: "2" } }
})
const isTest = (path: string) => path.startsWith("test/")
const paths = positionals.filter((path) => !isTest(path))
const fileOf = (path: string) => path.replace(/:[\d:-]+$/, "")
const missing = positionals.find((path) => !existsSync(fileOf(path)))
if (paths.length === 0 || missing !== undefined) {
  console.error(missing === undefined ? "Name a file or a folder of src." : `There is no ${missing}.`)
  process.exit(2)
}
const isFolder = (path: string) => statSync(fileOf(path)).isDirectory()
const named = positionals.filter(isTest)
const tests = named.length > 0 ? named : [...new Set(paths.flatMap((path) => testFoldersOf(fileOf(path))))]
if (tests.length === 0) {
  console.error("No folder below test/ has the name of this room: name the tests as well.")
  process.exit(2)
}
process.env["SLUICE_MUTATE_TESTS"] = JSON.stringify(
  tests.map((path) => (isFolder(path) ? `${path}/**/*.test.ts` : path))
)

const results = await new Stryker({
  mutate: paths.map((path) => (isFolder(path) ? `${path}/**/*.ts` : path)),
  plugins: [fileURLToPath(import.meta.resolve("@stryker-mutator/vitest-runner"))],
  testRunner: "vitest",
  vitest: { configFile: "test/mutate/vitest.config.ts", related: false },
  coverageAnalysis: "perTest",
  concurrency: Number(values.workers),
  tempDirName: join(tmpdir(), `sluice-mutate-${process.pid}`),
  cleanTempDir: "always",
  ignorePatterns: ["/dist", "/output", "/demo-output"],
  // TypeScript 7 cannot rewrite its own configuration, and nothing here reads it.
  tsconfigFile: "none",
  reporters: ["progress-append-only"],
  // A change that makes a loop endless stops its tests: they take far less than this.
  timeoutMS: 3000,
  allowConsoleColors: false
}).runMutationTest()

const isFound = ({ status }: { readonly status: string }) => status === "Killed" || status === "Timeout"
const counted = results.filter(({ status }) => !["Ignored", "CompileError", "RuntimeError"].includes(status))
for (const [file, mutants] of Map.groupBy(counted, ({ fileName }) => relative(process.cwd(), fileName))) {
  const missed = mutants.filter((mutant) => !isFound(mutant))
  console.log(`\n${file}: ${mutants.length - missed.length} of ${mutants.length} changes are found${share(mutants)}`)
  for (const { location, mutatorName, replacement, status } of missed)
    console.log(
      `  ${location.start.line}:${location.start.column} ${status === "NoCoverage" ? "no test" : "survives"}: ` +
        `${mutatorName}: ${replacement.replaceAll(/\s+/g, " ")}`
    )
}
console.log(`\nall: ${counted.filter(isFound).length} of ${counted.length}${share(counted)}, with ${tests.join(", ")}`)

function share(mutants: typeof counted) {
  return mutants.length === 0 ? "" : `, ${((100 * mutants.filter(isFound).length) / mutants.length).toFixed(0)} %`
}
