/** `--json=lines`: each line against the published schema, read by a validator that is not ours. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Output } from "../../src/console/streams.ts"
import { type Account, discard, openTables } from "../support/account.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const validator = (name: string): ValidateFunction => {
  const path = fileURLToPath(new URL(`../../docs/schemas/${name}.schema.json`, import.meta.url))
  // Programs must accept new fields; here, a field that the schema does not describe is an error.
  return new Ajv2020({ allErrors: true }).compile(
    JSON.parse(readFileSync(path, "utf8").replaceAll('Properties": true', 'Properties": false'))
  )
}
const isEvent = validator("events")

interface Line {
  readonly event: string
  readonly time: string
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly [field: string]: any
}

const linesOf = (stdout: string): ReadonlyArray<Line> =>
  stdout
    .trim()
    .split("\n")
    .map((line) => {
      const event: Line = JSON.parse(line)
      assert.isTrue(isEvent(event), `${line.slice(0, 300)} ${JSON.stringify(isEvent.errors).slice(0, 500)}`)
      return event
    })

let account: Account
beforeAll(async () => {
  account = await openTables("contacts,contact_notes,users", "--contacts", "60", "--limits", "30/4000/200000")
})
afterAll(() => discard(account))

const run = async (args: ReadonlyArray<string>, environment: Readonly<Record<string, string>> = {}) => {
  const ran = await sluice([...args, "--json=lines"], { ...account.environment, ...environment })
  const lines = linesOf(ran.stdout)
  const of = (event: string) => lines.filter((line) => line.event === event)
  const last = lines.at(-1)!
  assert.strictEqual(last.event, "finished", ran.stderr)
  assert.lengthOf(of("finished"), 1)
  assert.strictEqual(last["exitCode"], ran.code)
  assert.strictEqual(last["result"].exitCode, ran.code)
  const isResult = validator(last["result"].schema.split("/")[1])
  assert.isTrue(isResult(last["result"]), JSON.stringify(isResult.errors))
  return { ...ran, lines, of, result: last["result"] }
}

describe("--json=lines", () => {
  it("of a sync prints what happens, in order, and ends with the result", { tags: ["slow"] }, async () => {
    const { code, lines, of, result } = await run(["sync", ...account.selection], { SLUICE_FORMATS: "csv" })
    assert.strictEqual(code, 0)
    assert.deepInclude(lines[0]!, { event: "started", command: "sync", output: account.output })
    assert.strictEqual(result.schema, "sluice/sync/1")
    const runs = new Set(lines.flatMap((line) => (typeof line["run"] === "string" ? [line["run"]] : [])))
    assert.deepStrictEqual([...runs], [result.data.run])
    assert.deepStrictEqual(
      lines.map(({ time }) => time).toSorted(),
      lines.map(({ time }) => time)
    )

    const readings = (event: string) => of(event).map(({ resource }) => resource)
    assert.includeMembers(readings("resourceStarted"), ["contacts", "users", "contact_notes"])
    assert.sameMembers(readings("resourceStarted"), readings("resourceFinished"))
    assert.sameMembers(
      of("planned")[0]!["steps"].map(({ resource }: Line) => resource),
      readings("resourceStarted")
    )
    // The counts of the events are those of the result.
    for (const { resource, requests } of of("resourceFinished"))
      assert.strictEqual(requests, result.data.ended.find((end: Line) => end["resource"] === resource).requests)
    assert.deepStrictEqual(of("loaded")[0]!["resources"], result.data.resources)
    assert.strictEqual(of("published")[0]!["published"], "released")
    const names = lines.map(({ event }) => event)
    assert.isBelow(names.lastIndexOf("resourceFinished"), names.indexOf("loaded"))
    assert.isBelow(names.indexOf("loaded"), names.indexOf("published"))

    // 60 contacts have more than 30 requests for notes, so the run waits for its windows.
    const progress = of("progress")
    assert.isAbove(progress.length, 1)
    for (const one of of("waiting")) assert.deepInclude(one, { reason: "rateLimit" })
    assert.isAtLeast(of("waiting").length, 1)
    const sums = progress.map(({ requests }) => requests)
    assert.deepStrictEqual(
      sums.toSorted((one, other) => one - other),
      sums
    )
    assert.isAtMost(sums.at(-1), result.data.requests)
  })

  it("of a backfill and a rebuild", { tags: ["slow"] }, async () => {
    const backfill = await run(["backfill", "--from", "2026-01-01", "--only", "contacts"])
    assert.strictEqual(backfill.code, 0)
    assert.strictEqual(backfill.result.schema, "sluice/backfill/1")
    assert.strictEqual(backfill.of("resourceFinished")[0]!["mode"], "window")
    const rebuild = await run(["rebuild"])
    assert.deepStrictEqual(
      rebuild.lines.map(({ event }) => event),
      ["started", "loaded", "published", "finished"]
    )
  })

  it("of a command that fails ends with the error, without the secret", async () => {
    const { code, of, result, stdout } = await run(["sync"], { SLUICE_TOKEN: "a-token-that-is-wrong" })
    assert.strictEqual(code, 77)
    assert.strictEqual(result.error.code, "credentials")
    assert.isAtLeast(of("message").length, 1)
    assert.notInclude(stdout, "a-token-that-is-wrong")
    const usage = await run(["sync", "--ful"])
    assert.deepStrictEqual([usage.code, usage.result.error.code], [2, "usage"])
    assert.strictEqual((await run(["sync"], { SLUICE_BASE_URL: "ftp://x" })).code, 78)
  })

  it("is refused by commands without events, and other values by all", async () => {
    assert.strictEqual((await run(["status"], { SLUICE_OUTPUT: newFolder() })).code, 2)
    const { code, stderr } = await sluice(["sync", "--json=line"], account.environment)
    assert.strictEqual(code, 2)
    assert.include(stderr, "lines")
  })

  it("leaves out progress while the reader is behind", () => {
    const written: Array<string> = []
    const stream = (writableNeedDrain: boolean) =>
      ({ writableNeedDrain, write: (text: string) => written.push(text) > 0 }) as unknown as NodeJS.WritableStream
    for (const isBehind of [false, true]) {
      const output = Output.make({ stdout: stream(isBehind), stderr: stream(false) }, {}, { hasEvents: true })
      output.event!({ event: "progress", requests: 1, records: 0, resources: [], budgets: [] })
      output.event!({ event: "message", level: "warn", message: "late" })
    }
    assert.deepStrictEqual(
      linesOf(written.join("")).map(({ event }) => event),
      ["progress", "message", "message"]
    )
  })
})
