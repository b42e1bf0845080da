/** sluice as a library: what its functions return is what the commands print. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Ajv2020 } from "ajv/dist/2020.js"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { SluiceError, openWarehouse, plan, status, sync } from "../../src/index.ts"
import * as library from "../../src/library/effect.ts"
import { discard, openTables } from "../support/account.ts"
import { newOutput } from "../support/fixtures.ts"
import { hostileService } from "../support/hostile.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const tables = "contacts,contact_notes"
const only = tables.split(",")
const options = (given: object) => {
  const lines: Array<string> = []
  const taken = { ...given, onMessage: (line: string) => void lines.push(line) }
  // Not enumerable: the library refuses options that it does not know.
  return Object.defineProperty(taken, "lines", { value: lines }) as typeof taken & { readonly lines: typeof lines }
}
const refused = async (work: Promise<unknown>): Promise<SluiceError> => {
  const error = await work.catch((cause: unknown) => cause)
  if (!(error instanceof SluiceError)) throw error
  return error
}
const described = (name: string, result: unknown) => {
  const schema = readFileSync(new URL(`../../docs/schemas/${name}.schema.json`, import.meta.url), "utf8")
  const check = new Ajv2020({ allErrors: true }).compile(
    JSON.parse(schema.replaceAll('Properties": true', 'Properties": false'))
  )
  assert.isTrue(check(result), `${name}: ${JSON.stringify(check.errors)}`)
}

describe("the library", () => {
  it("returns what the commands print with --json, and says what they say", { tags: ["slow"] }, async () => {
    const account = await openTables(tables, "--contacts", "30")
    const { environment } = account
    const printed = async (...args: ReadonlyArray<string>) =>
      JSON.parse((await sluice([...args, "--json"], environment)).stdout)
    try {
      const planned = await plan({ environment, only })
      const expected = await printed("plan", "--only", tables)
      // Times follow from how fast the service responds.
      const withoutTimes = ({ data, ...result }: typeof planned) => ({
        ...result,
        data: { ...data, elapsedMs: undefined, likely: { ...data.likely, elapsedMs: undefined } }
      })
      assert.deepStrictEqual(withoutTimes(planned), withoutTimes(expected))
      assert.strictEqual(planned.next, "./sluice sync")

      const given = options({ environment, only })
      const synced = await sync(given)
      described("sync", synced)
      assert.deepInclude(synced, { exitCode: 0, next: "./sluice explore --open" })
      const contacts = synced.data.resources.find(({ resource }) => resource === "contacts")!
      assert.strictEqual(contacts.newRows, (await account.service.records("contacts")).length)
      assert.match(given.lines[0]!, /run started.* command=sync/)
      assert.match(given.lines.at(-1)!, /run ended.* exit_code=0/)
      assert.isNotEmpty(given.lines.filter((line) => /Planned: \d.* requests\./.test(line)))

      // How long ago something was read is another number a second later.
      const withoutAge = (result: unknown): unknown =>
        JSON.parse(JSON.stringify(result).replaceAll(/\d+ s ago/g, "ago"))
      assert.deepStrictEqual(withoutAge(await status({ environment })), withoutAge(await printed("status")))
      await using warehouse = await openWarehouse({ output: account.output })
      assert.deepStrictEqual(await warehouse.query("SELECT count(*)::INTEGER AS n FROM crm.contacts"), [
        { n: contacts.newRows }
      ])
    } finally {
      discard(account)
    }
  })

  it("takes the settings of a file, and repeats the file and the folder in the next steps", async () => {
    const account = await openTables(tables, "--contacts", "30")
    const { service } = account
    const [output, config] = [await newOutput(), join(newFolder(), "other.toml")]
    writeFileSync(
      config,
      `[account]\nbase_url = "${service.url}"\nlocation_id = "${service.locationId}"\ntoken = "env:THE_TOKEN"\n[output]\nformats = []\n`
    )
    const environment = { THE_TOKEN: service.token, SLUICE_COMMAND: "sluice" }
    const flags = `--config ${config} --output ${output}`
    try {
      const empty = options({ config, output: newFolder(), environment })
      const nothing = await refused(status(empty))
      assert.deepInclude(nothing, { exitCode: 1, code: "failed" })
      assert.deepStrictEqual(empty.lines, [
        `sluice: ${nothing.message}`,
        `About this message: docs/messages.md#${nothing.about}`,
        `Next: ${nothing.next}`
      ])

      const synced = await sync({ config, output, environment, only })
      assert.strictEqual(synced.next, `sluice explore ${flags} --open`)
      assert.strictEqual((await status({ config, output, environment })).next, `sluice sync ${flags}`)
      const unread = await sync({ config, output, environment, only: ["contacts"], full: true, deadline: "1s" })
      assert.strictEqual(unread.data.ended.length, 1)
    } finally {
      discard(account)
    }
  })

  it("fails with the exit code, the reason and the next step of the command", async () => {
    const service = await hostileService(({ headers }) => ({
      status: 401,
      body: { statusCode: 401, message: `Invalid JWT: ${headers.authorization}` }
    }))
    const { environment, folder } = service
    try {
      const given = options({ environment })
      const error = await refused(sync(given))
      assert.deepInclude(error, { exitCode: 77, code: "credentials" })
      assert.match(error.message, /Invalid JWT: Bearer <redacted>/)
      assert.isNotEmpty(given.lines.filter((line) => line.includes("Invalid JWT: Bearer <redacted>")))
      assert.match(given.lines.at(-1)!, /run ended.* status=failed exit_code=77/)

      const usage = { exitCode: 2, code: "usage" } as const
      assert.deepInclude(await refused(sync({ environment, only: [] })), usage)
      assert.deepInclude(await refused(plan({ environment, except: ["contcts"] })), usage)
      assert.deepInclude(await refused(sync({ environment, output: folder, deadline: "soon" })), {
        ...usage,
        next: `./sluice sync --output ${folder} --help`
      })
      assert.deepInclude(await refused(sync({ environment: {}, config: join(folder, "none.toml") })), {
        exitCode: 78,
        code: "config"
      })
      const failed = await Effect.runPromise(Effect.flip(library.sync({ environment })))
      assert.deepInclude(failed, { _tag: "SluiceError", exitCode: 77, message: error.message })
    } finally {
      service.close()
    }
  })

  it("returns no secret", async () => {
    const service = await hostileService(() => undefined)
    const output = join(newFolder(), "workflows")
    mkdirSync(output)
    try {
      // The token is also the name of a table and of a folder.
      const environment = { ...service.environment, SLUICE_TOKEN: "workflows" }
      const result = await sync({ environment, output, only: ["workflows"] })
      assert.notInclude(JSON.stringify(result), "workflows")
      assert.deepStrictEqual(
        result.data.ended.map(({ resource }) => resource),
        ["<redacted>"]
      )
      assert.match(result.next!, /--output \S+<redacted>/)
    } finally {
      service.close()
    }
  })

  it.each(["promises", "Effects"])("saves its progress when it is stopped, as %s", { tags: ["slow"] }, async (kind) => {
    const account = await openTables(tables, "--contacts", "60", "--latency", "30")
    try {
      const given = options({ environment: account.environment, only })
      if (kind === "Effects") {
        const fiber = Effect.runFork(library.sync(given))
        await account.service.requested(15)
        await Effect.runPromise(Fiber.interrupt(fiber))
      } else {
        const stopped = new AbortController()
        const syncing = sync({ ...given, signal: stopped.signal }).catch((cause: unknown) => cause)
        await account.service.requested(15)
        stopped.abort(new Error("enough"))
        assert.deepStrictEqual(await syncing, new Error("enough"))
      }
      const messages = given.lines.filter((line) => /Stopping|Next|run ended/.test(line))
      assert.match(messages[0]!, /Stopping; progress is saved/)
      assert.match(messages[1]!, /it resumes from the last saved page/)
      assert.match(messages[2]!, /run ended.* status=stopped exit_code=143/)
      const { data } = await status({ environment: account.environment })
      assert.strictEqual(data.lastRun?.status, "interrupted")
      const { data: resumed } = await sync({ environment: account.environment, only })
      assert.isTrue(resumed.resources.every((one) => one.status === "complete"))
    } finally {
      discard(account)
    }
  })
})
