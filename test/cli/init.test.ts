import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { writeSettings } from "../../src/settings/new-file.ts"
import { type Account, discard, openAccount } from "../support/account.ts"
import { newFolder, sluice } from "../support/sluice.ts"

let account: Account
beforeAll(async () => {
  account = await openAccount("--contacts", "5")
})
afterAll(() => discard(account))

const pathIn = (folder: string) => join(folder, "config", "sluice.toml")
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
const run = async (path: string, flags: ReadonlyArray<string> = [], token = account.service.token) => {
  const { locationId, url } = account.service
  const answers = ["--base-url", url, "--token-ref", "env:CRM_TOKEN", "--location", locationId, "--format", "csv"]
  return await sluice(["init", "--config", path, ...answers, ...flags], { CRM_TOKEN: token })
}

describe("init", () => {
  it("writes a short file of settings that only the owner can read and that are valid, after two requests", async () => {
    const path = pathIn(newFolder())
    await account.service.post("stats/reset", {})
    const ran = await run(path)
    assert.strictEqual(ran.code, 0, ran.stderr)
    assert.strictEqual((await account.service.stats()).requests, 2)
    assert.match(ran.stderr, /^Reached .+ \(location \w+\)\.\nNext: /)
    assert.isTrue(ran.stderr.endsWith(`Next: ./sluice plan --config ${path}\n`))
    assert.strictEqual(modeOf(path), "600")
    const content = readFileSync(path, "utf8")
    const schema = /^#:schema (\S+)\n/.exec(content)![1]!
    assert.isTrue(existsSync(join(dirname(path), schema)), schema)
    assert.match(content, /^token = "env:CRM_TOKEN"$/m)
    assert.match(content, /^formats = \["csv"\]$/m)
    assert.isAtMost(content.split("\n").length, 15)
    const example = /(\S+example\.toml)/.exec(content)![1]!
    assert.isTrue(existsSync(join(dirname(path), example)), example)
    assert.deepStrictEqual(readdirSync(dirname(path)), ["sluice.toml"])
    const validated = await sluice(["config", "validate", "--config", path], { CRM_TOKEN: account.service.token })
    assert.strictEqual(validated.code, 0, validated.stdout)
  })

  it("replaces a file only with --force", async () => {
    const path = pathIn(newFolder())
    assert.strictEqual((await run(path, ["--no-check"])).code, 0)
    writeFileSync(path, "mine")
    const refused = await run(path)
    assert.strictEqual(refused.code, 2)
    assert.match(refused.stderr, /exists already; --add adds a location, and --force replaces it/)
    assert.strictEqual(readFileSync(path, "utf8"), "mine")
    assert.strictEqual((await run(path, ["--force"])).code, 0)
    assert.match(readFileSync(path, "utf8"), /env:CRM_TOKEN/)
  })

  it("adds a location to the file that is there, with its comments, and tests it first", async () => {
    const path = pathIn(newFolder())
    const add = (location: string, ...flags: ReadonlyArray<string>) =>
      sluice(["init", "--add", "--config", path, "--location", location, ...flags], {
        CRM_TOKEN: account.service.token,
        SOUTH: "t"
      })
    const missing = await add("north")
    assert.strictEqual(missing.code, 2)
    assert.match(missing.stderr, /does not exist; without --add, it is written/)
    assert.strictEqual((await run(path, ["--no-check"])).code, 0)
    const before = readFileSync(path, "utf8")
    assert.notStrictEqual((await add("north")).code, 0)
    assert.strictEqual(readFileSync(path, "utf8"), before)
    const { locationId } = account.service
    assert.match((await add(locationId, "--no-check")).stderr, /is in .* already/)
    assert.strictEqual(readFileSync(path, "utf8"), before)
    assert.strictEqual((await add("north", "--no-check")).code, 0)
    const second = await add("south", "--no-check", "--token-ref", "env:SOUTH")
    assert.strictEqual(second.code, 0, second.stderr)
    const entries = [`id = "${locationId}"`, 'id = "north"', 'id = "south"\ntoken = "env:SOUTH"']
    assert.strictEqual(
      readFileSync(path, "utf8"),
      `${before.trimEnd()}\n${entries.map((one) => `\n[[locations]]\n${one}\n`).join("")}`
    )
    const again = await add("north", "--no-check")
    assert.strictEqual(again.code, 2)
    assert.match(again.stderr, /Location north is in .* already/)
    const environment = { CRM_TOKEN: "t", SOUTH: "t" }
    const validated = await sluice(["config", "validate", "--config", path], environment)
    assert.strictEqual(validated.code, 0, validated.stdout)
  })

  it("writes nothing if the service refuses the token, unless the check is left out", async () => {
    const path = pathIn(newFolder())
    const refused = await run(path, [], "wrong-token")
    assert.strictEqual(refused.code, 77, refused.stderr)
    assert.isFalse(existsSync(path))
    assert.strictEqual((await run(path, ["--no-check"], "wrong-token")).code, 0)
    assert.isTrue(existsSync(path))
  })

  it("without a terminal names every missing flag", async () => {
    const path = pathIn(newFolder())
    const ran = await sluice(["init", "--config", path, "--location", "L"], {})
    assert.strictEqual(ran.code, 2)
    assert.match(ran.stderr, /these are missing: --base-url, --token-ref\.$/m)
    assert.isFalse(existsSync(path))
  })

  it("without a terminal writes the usual formats", async () => {
    const path = pathIn(newFolder())
    const { locationId, token, url } = account.service
    const flags = ["--base-url", url, "--token-ref", "env:CRM_TOKEN", "--location", locationId]
    const ran = await sluice(["init", "--config", path, ...flags], { CRM_TOKEN: token })
    assert.strictEqual(ran.code, 0, ran.stderr)
    assert.match(readFileSync(path, "utf8"), /^formats = \["duckdb"\]$/m)
  })

  it("refuses a token on the command line, without repeating it", async () => {
    const ran = await sluice(["init", "--config", pathIn(newFolder()), "--token-ref", "secret-token"], {})
    assert.strictEqual(ran.code, 2)
    assert.match(ran.stderr, /--token-ref takes env:NAME/)
    assert.notInclude(ran.stdout + ran.stderr, "secret-token")
  })

  it("stores a typed token in a private file beside the settings", async () => {
    const path = pathIn(newFolder())
    const { locationId, token, url } = account.service
    // All that init asks.
    const more = { "schedule.times": ["03:30"], "signals.mail_to": "ops@example.com" }
    await writeSettings(path, { baseUrl: url, formats: [], location: locationId, token, more })
    assert.isAtMost(readFileSync(path, "utf8").trimEnd().split("\n").length, 15)
    const tokenFile = join(dirname(path), "token")
    assert.notInclude(readFileSync(path, "utf8"), token)
    assert.deepStrictEqual([modeOf(path), modeOf(tokenFile)], ["600", "600"])
    assert.deepStrictEqual(readdirSync(dirname(path)).toSorted(), ["sluice.toml", "token"])
    const validated = await sluice(["config", "validate", "--config", path], {})
    assert.strictEqual(validated.code, 0, validated.stdout)
  })
})
