/** What commands load: help and status must begin at once, and what is off must cost nothing. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFile, spawnSync } from "node:child_process"
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { type Account, discard, openTables } from "../support/account.ts"
import { newFolder } from "../support/sluice.ts"

let account: Account
beforeAll(async () => {
  account = await openTables("users")
})
afterAll(() => discard(account))

/** The modules that a command loads, as paths from the folder of the repository. */
const loadedBy = async (args: ReadonlyArray<string>, environment: Readonly<Record<string, string>> = {}) => {
  const file = join(newFolder(), "modules")
  const hook = `import { registerHooks } from "node:module"; import { appendFileSync } from "node:fs"; registerHooks({ load: (url, context, next) => { appendFileSync(${JSON.stringify(file)}, url + "\\n"); return next(url, context) } })`
  const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(hook)}`
  const root = new URL("../../", import.meta.url).href
  // The program that npm builds has the same modules in other files.
  await promisify(execFile)(process.execPath, [fileURLToPath(`${root}src/main.ts`), ...args], {
    env: { PATH: process.env["PATH"], ...account.environment, ...environment, NODE_OPTIONS }
  })
  return readFileSync(file, "utf8")
    .split("\n")
    .map((url) => url.replace(root, ""))
}

const wholeOfEffect = "node_modules/effect/dist/index.js"
/** What only a run with signals, events or traces needs. */
const ofReports =
  /^src\/features\/operations\/(?!commands)|^src\/(command\/signals|run\/progress-events)\.ts|^src\/values\/event-schemas\.ts/

describe("the modules of", () => {
  it("a sync without signals are none of theirs, and with them they are", async () => {
    const without = await loadedBy(["sync", ...account.selection])
    assert.include(without, "src/run/sync-account.ts")
    assert.deepStrictEqual(
      without.filter((module) => ofReports.test(module)),
      []
    )
    const told = await loadedBy(["sync", ...account.selection], {
      SLUICE_METRICS_FILE: join(newFolder(), "sluice.prom")
    })
    assert.include(told, "src/features/operations/signals/metrics.ts")
  })

  it("the version are two", async () => {
    assert.deepStrictEqual(
      (await loadedBy(["--version"])).filter((module) => module.startsWith("src/")),
      ["src/main.ts", "src/values/version.ts"]
    )
  })

  it("help and status do not include the whole of effect", async () => {
    for (const command of [["--help"], ["status"]]) {
      const modules = await loadedBy(command)
      assert.include(modules, "src/cli/commands.ts")
      assert.notInclude(modules, wholeOfEffect, command.join(" "))
    }
  })

  const ofNetworkOrCrypto = /^(net|dgram|tls|http|https|http2|crypto|zlib|readline|child_process|worker_threads|util)$/
  // DuckDB's binding asks for the C library by a module that loads child_process, and with it net and dgram.
  const ofDuckDB = ["child_process", "dgram", "net"]
  it.each([
    // Files of the built program with their bytes, and modules of Node beyond those that it starts with.
    ["--version", 2, 400, 2, []],
    ["--help", 6, 900_000, 10, []],
    // The head of the ledger is a checksum.
    ["status", 24, 1_500_000, 36, [...ofDuckDB, "crypto"]],
    ["check", 24, 1_500_000, 20, ofDuckDB]
  ] as const)("%s are at most %i files of %i bytes, and %i of Node", async (command, files, bytes, ofNode, allowed) => {
    const file = join(newFolder(), "loaded.json")
    const count = `import { registerHooks } from "node:module"; import fs from "node:fs"; const before = new Set(process.moduleLoadList); const files = new Set(); registerHooks({ load: (url, context, next) => { if (url.startsWith("file:")) files.add(url); return next(url, context) } }); process.on("exit", () => fs.writeFileSync(${JSON.stringify(file)}, JSON.stringify({ files: [...files], node: process.moduleLoadList.filter((one) => one.startsWith("NativeModule ") && !before.has(one)).map((one) => one.slice(13)) })))`
    const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(count)}`
    const main = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url))
    // A pipe is a part of the network for Node.
    const { status } = spawnSync(process.execPath, [main, command], {
      env: { PATH: process.env["PATH"], ...account.environment, NODE_OPTIONS },
      stdio: "ignore"
    })
    assert.include([0, 3, 4], status)
    const loaded = JSON.parse(readFileSync(file, "utf8")) as Readonly<Record<"files" | "node", ReadonlyArray<string>>>
    const size = loaded.files.reduce((sum, url) => sum + statSync(fileURLToPath(url)).size, 0)
    assert.isAtMost(loaded.files.length, files, loaded.files.join("\n"))
    assert.isAtMost(size, bytes)
    assert.isAtMost(loaded.node.length, ofNode, loaded.node.join(" "))
    assert.isEmpty(loaded.node.filter((one) => ofNetworkOrCrypto.test(one) && !allowed.some((other) => other === one)))
  })
})
