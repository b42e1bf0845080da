/** The script that starts sluice: where Node finds what was compiled before, which it runs without a question. */
import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { newFolder } from "./support/sluice.ts"

const root = fileURLToPath(new URL("..", import.meta.url))

/** An installed package whose Node prints the folder of the cache. */
const installed = () => {
  const folder = newFolder()
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true })
  copyFileSync(join(root, "sluice"), join(folder, "sluice"))
  const node = join(folder, "node_modules/.bin/node")
  writeFileSync(node, '#!/bin/sh\nprintf %s "$NODE_COMPILE_CACHE"\n')
  chmodSync(node, 0o755)
  return join(folder, "sluice")
}
const script = installed()
const cacheWith = (env: Readonly<Record<string, string>>): string =>
  execFileSync("/bin/sh", [script], { encoding: "utf8", env: { PATH: "/usr/bin:/bin", ...env } })

describe("the cache of what was compiled", () => {
  it("is a folder of this user alone, below the home or the folder for caches", () => {
    const [HOME, XDG_CACHE_HOME] = [newFolder(), newFolder()]
    for (let time = 0; time < 2; time++) {
      const cache = cacheWith({ HOME, TMPDIR: newFolder() })
      assert.strictEqual(cache, join(HOME, ".cache/sluice/compiled"))
      assert.strictEqual(statSync(cache).mode & 0o777, 0o700)
    }
    assert.strictEqual(cacheWith({ HOME, XDG_CACHE_HOME }), join(XDG_CACHE_HOME, "sluice/compiled"))
    assert.strictEqual(cacheWith({ HOME, NODE_COMPILE_CACHE: "/own" }), "/own")
  })

  const planted = (plant: (cache: string) => void): string => {
    const HOME = newFolder()
    mkdirSync(join(HOME, ".cache/sluice"), { recursive: true, mode: 0o700 })
    plant(join(HOME, ".cache/sluice/compiled"))
    return cacheWith({ HOME })
  }
  it.each<readonly [string, (cache: string) => void]>([
    ["others can write to it", (cache) => (mkdirSync(cache), chmodSync(cache, 0o777))],
    ["its group can write to it", (cache) => (mkdirSync(cache), chmodSync(cache, 0o770))],
    ["it is a link", (cache) => symlinkSync(newFolder(), cache)],
    ["it is a file", (cache) => writeFileSync(cache, "")]
  ])("is not used if %s", (_, plant) => assert.strictEqual(planted(plant), ""))

  it.skipIf(process.getuid?.() !== 0)("is not used if somebody else made it, or the folder above", () => {
    const foreign = (path: string) => chownSync(path, 65_534, 65_534)
    assert.strictEqual(
      planted((cache) => (mkdirSync(cache, { mode: 0o700 }), foreign(cache))),
      ""
    )
    assert.strictEqual(
      planted((cache) => (mkdirSync(cache, { mode: 0o700 }), foreign(join(cache, "..")))),
      ""
    )
  })

  it("is not used without a home", () => {
    assert.strictEqual(cacheWith({}), "")
    assert.strictEqual(cacheWith({ HOME: "/proc/nobody" }), "")
  })
})

it("git and Docker take nothing of config but the examples", () => {
  const folder = newFolder()
  const written = (
    "sluice.toml .a1b2c3.toml token token-north client-secret refresh-token console-password environment token.part own.key " +
    "sluice.toml.part"
  ).split(" ")
  mkdirSync(join(folder, "config"))
  for (const name of [...written, "example.toml", "sluice.schema.json"]) writeFileSync(join(folder, "config", name), "")
  execFileSync("git", ["init", "-q"], { cwd: folder })
  for (const list of [".gitignore", ".dockerignore"]) {
    copyFileSync(join(root, list), join(folder, ".gitignore"))
    const added = execFileSync("git", ["add", "-A", "-n", "config"], { cwd: folder, encoding: "utf8" })
    assert.deepStrictEqual(added.match(/config\/[^']+/g), ["config/example.toml", "config/sluice.schema.json"], list)
  }
  // What the page writes for people, and beside the output folder.
  for (const path of [
    "output/exports/sales.xlsx",
    "backups/crm/vault/000001.ndjson.zst",
    "output/console/sessions.json"
  ]) {
    mkdirSync(join(folder, path, ".."), { recursive: true })
    writeFileSync(join(folder, path), "")
  }
  for (const list of [".gitignore", ".dockerignore"]) {
    copyFileSync(join(root, list), join(folder, ".gitignore"))
    const added = execFileSync("git", ["add", "-A", "-n", "."], { cwd: folder, encoding: "utf8" })
    assert.notMatch(added, /output|backups/, list)
  }
  assert.notMatch(
    readFileSync(join(root, ".dockerignore"), "utf8"),
    /^!(?!config\/(example\.toml|sluice\.schema\.json)$)/m
  )
})
