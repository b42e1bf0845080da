import { assert, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))
const importsOf = (path: string): ReadonlyArray<string> =>
  [...readFileSync(join(root, path), "utf8").matchAll(/^(?:import|export) [^"]*?from "([^"]+)"|^import "([^"]+)"/gms)]
    .filter(([statement]) => !/^(import|export) type\b/.test(statement))
    .map(([, from, bare]) => (from ?? bare)!)

/** All files that are loaded with a file, before any dynamic import. */
const loadedWith = (path: string, found = new Set<string>()): ReadonlySet<string> => {
  if (found.has(path)) return found
  found.add(path)
  for (const one of importsOf(path)) {
    if (one.startsWith(".")) loadedWith(join(dirname(path), one), found)
    if (one.startsWith("#catalog/")) loadedWith(one.replace("#catalog", "src/catalog"), found)
  }
  return found
}

it("one file of the fleet alone loads pg-boss", () => {
  const importing = globSync("src/**/*.ts", { cwd: root }).filter((path) => importsOf(path).includes("pg-boss"))
  assert.deepStrictEqual(importing, ["src/features/fleet/commands/connect.ts"])
})

it.each(["src/cli/run.ts", "src/run/sync.ts", "src/cli/status.ts", "src/index.ts"])(
  "%s loads nothing of a fleet but the flags and results of its commands, and the name of the tether",
  (path) => {
    const loaded = [...loadedWith(path)]
    assert.isAbove(loaded.length, 10)
    assert.deepStrictEqual(
      loaded.filter((one) => one.startsWith("src/features/fleet/") && !/\/(commands|results|tether)\.ts$/.test(one)),
      []
    )
  }
)
