/** What other users of the machine can see: the arguments of processes, and the modes of files. */
import { assert, describe, it } from "@effect/vitest"
import { lstatSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { openAccount } from "../support/account.ts"
import { below } from "../support/holding.ts"
import { type Running, start } from "../support/process.ts"
import { newFolder } from "../support/sluice.ts"

const allFormats = { SLUICE_FORMATS: "duckdb,parquet,csv" }

/** The arguments of every process on the machine while a command runs, sampled every 20 ms. */
const argumentsWhile = (running: Running) => {
  const seen = new Set<string>()
  const timer = setInterval(() => {
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name)))
      try {
        seen.add(readFileSync(`/proc/${pid}/cmdline`, "utf8"))
      } catch {
        // The process has ended.
      }
  }, 20)
  void running.ended.finally(() => clearInterval(timer))
  return seen
}

describe("the sampled arguments of all processes", () => {
  it.each([
    ["itself", (path: string) => readFileSync(path, "utf8")],
    ["a file", (path: string) => `file:${path}`],
    ["a command", (path: string) => `cmd:sleep 0.2; cat ${path}`]
  ])("do not contain a token or OAuth secrets given as %s", async (_, reference) => {
    const account = await openAccount("--contacts", "20")
    const { token, clientId, clientSecret, refreshToken } = account.service
    const given = (secret: string) => {
      const path = join(newFolder(), "secret")
      writeFileSync(path, secret, { mode: 0o600 })
      return reference(path)
    }
    try {
      for (const credentials of [
        { SLUICE_TOKEN: given(token) },
        {
          SLUICE_TOKEN: "",
          SLUICE_CLIENT_ID: clientId,
          SLUICE_CLIENT_SECRET: given(clientSecret),
          SLUICE_REFRESH_TOKEN: given(refreshToken)
        }
      ]) {
        const running = start(["sync", "--only", "contacts,workflows"], { ...account.environment, ...credentials })
        const seen = argumentsWhile(running)
        const ran = await running.ended
        assert.strictEqual(ran.code, 0, ran.stderr)
        assert.isTrue([...seen].some((line) => /main\.[jt]s\0sync/.test(line)))
        for (const secret of [token, clientSecret, refreshToken])
          for (const line of seen) assert.notInclude(line, secret)
      }
    } finally {
      account.service.stop()
    }
  })
})

/** The files that must have been seen in the folder. */
const kinds = [
  /^warehouse\.duckdb$/,
  /^(warehouse|rebuilt)\.duckdb\.wal$/,
  /^(warehouse|rebuilt)\.duckdb\.tmp\/./,
  /^tokens\.json$/,
  /^tmp\/\d\/.*\.ndjson$/,
  /^vault\/\d+\.ndjson\.zst\.part$/,
  /^files\/.*\.wav$/,
  /crm\.duckdb$/,
  /\.parquet$/,
  /\.csv$/,
  /manifest\.json$/
]

describe("only the owner can access every file and folder", () => {
  it("in every sample during the runs, with an open umask: published, stored, partial and spilled files", async () => {
    const account = await openAccount("--contacts", "8000", "--messages", "500")
    const config = join(newFolder(), "config.toml")
    writeFileSync(config, "[machine]\nmemory_mb = 96\n")
    try {
      const { clientId, clientSecret, refreshToken } = account.service
      const environment: Record<string, string> = {
        ...account.environment,
        ...allFormats,
        SLUICE_TOKEN: "",
        SLUICE_CLIENT_ID: clientId,
        SLUICE_CLIENT_SECRET: clientSecret,
        SLUICE_REFRESH_TOKEN: refreshToken
      }
      const modes = new Map<string, string>()
      const sample = () => {
        for (const path of below(account.output))
          try {
            const stat = lstatSync(path)
            modes.set(path, `${stat.isDirectory() ? "folder" : "file"} ${(stat.mode & 0o777).toString(8)}`)
            if (!/ (600|700)$/.test(modes.get(path)!)) open.add(`${path}: ${modes.get(path)}`)
          } catch {
            // The file was removed in the meantime.
          }
      }
      const open = new Set<string>()
      const timer = setInterval(() => {
        try {
          sample()
        } catch {
          // A folder was removed while it was listed.
        }
      }, 5)
      await start(["sync", "--only", "contacts", "--config", config], environment).ended
      const ran = await start(["sync", "--only", "contacts,messages,recordings"], environment).ended
      assert.strictEqual(ran.code, 0, ran.stderr)
      const missing = () => {
        const seen = [...modes.keys()].map((path) => path.slice(account.output.length + 1))
        return kinds.filter((kind) => !seen.some((path) => kind.test(path))).map(String)
      }
      // Five million distinct texts do not fit in the memory, so DuckDB spills.
      const texts = "(SELECT c.id || r.range AS text FROM crm.contacts AS c, range(600) AS r)"
      const many = `id IN (SELECT left(text, 20) FROM (SELECT DISTINCT text FROM ${texts}))`
      const args = ["publish", "--stdout", "contacts", "--where", many, "--config", config]
      assert.strictEqual((await start(args, environment).ended).code, 0)
      // Some files exist only briefly: run again if they were not seen.
      for (let again = 0; again < 3 && missing().length > 0; again++)
        assert.strictEqual((await start(["rebuild", "--config", config], environment).ended).code, 0)
      clearInterval(timer)
      sample()
      assert.deepStrictEqual([...open], [])
      assert.deepStrictEqual([...new Set(modes.values())].sort(), ["file 600", "folder 700"])
      assert.deepStrictEqual(missing(), [])
    } finally {
      account.service.stop()
    }
  }, 300_000)
})
