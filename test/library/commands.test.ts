/** What the library refuses, and the commands that it has beside sync, plan and status. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import {
  SluiceError,
  check,
  exportTables,
  openWarehouse,
  plan,
  publish,
  report,
  status,
  sync,
  verify
} from "../../src/index.ts"
import { discard, openAlone } from "../support/account.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const errorOf = async (work: Promise<unknown>): Promise<SluiceError> => {
  const error = await work.catch((cause: unknown) => cause)
  if (!(error instanceof SluiceError)) throw error
  return error
}

it("npm runs no script of the package where it is installed, and builds a clone", () => {
  const { scripts } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))
  for (const name of ["preinstall", "install", "postinstall", "prepare"]) assert.notProperty(scripts, name)
  assert.strictEqual(scripts.prepublish, scripts.prepack)
})

describe("the library", () => {
  it("refuses options that it does not know, before anything is read", async () => {
    const environment = { SLUICE_BASE_URL: "http://127.0.0.1:9", SLUICE_TOKEN: "t", SLUICE_LOCATION_ID: "l" }
    // JavaScript does not check what TypeScript would refuse.
    const unchecked = (options: object) => options as Parameters<typeof sync>[0]
    const error = await errorOf(sync(unchecked({ environment, onlyy: ["contacts"] })))
    assert.deepInclude(error, { exitCode: 2, code: "usage" })
    assert.strictEqual(error.message, "sync: there is no option onlyy; did you mean only?")
    const output = newFolder()
    for (const call of [plan, status, publish, check, report, verify])
      assert.match((await errorOf(call(unchecked({ output, environment, colour: 1 })!))).message, /no option colour/)
    assert.match((await errorOf(openWarehouse({ output, colour: 1 } as never))).message, /no option colour/)
    // @ts-expect-error: an option that does not exist
    await errorOf(sync({ environment, onlyy: ["contacts"] }))
  })

  it("publishes, checks, reports, exports and verifies, and query writes nothing", { tags: ["slow"] }, async () => {
    const account = await openAlone("contacts,users", "--contacts", "12")
    onTestFinished(() => discard(account))
    const { output } = account
    const environment = { ...account.environment, SLUICE_FORMATS: "csv" }
    assert.strictEqual((await account.sync()).code, 0)
    const published = await publish({ environment, output })
    assert.strictEqual(published.exitCode, 0)
    assert.isTrue(existsSync(join(output, "published/csv/contacts.csv")))
    const printed = JSON.parse((await sluice(["check", "--json"], environment)).stdout)
    assert.deepStrictEqual<unknown>((await check({ environment, output })).data.compared, printed.data.compared)
    const file = join(newFolder(), "report.html")
    assert.strictEqual((await report({ environment, output, file })).data.path, file)
    assert.isTrue((await verify({ environment, output, all: true })).data.isRight)
    const workbook = join(newFolder(), "contacts.xlsx")
    const exported = await exportTables({ environment, output, target: workbook, only: ["contacts"] })
    assert.deepInclude(exported.data, { file: workbook, rows: 12 })
    const error = await errorOf(exportTables({ environment, output, target: workbook, only: ["nothing_like_it"] }))
    assert.strictEqual(error.exitCode, 2)

    await using warehouse = await openWarehouse({ output })
    assert.deepStrictEqual(await warehouse.query("SELECT count(*)::INTEGER AS n FROM crm.contacts"), [{ n: 12 }])
    const target = join(newFolder(), "stolen.csv")
    for (const sql of [
      `COPY (SELECT 1) TO '${target}'`,
      `SELECT 1; COPY (SELECT 1) TO '${target}'`,
      "CREATE TEMP TABLE t AS SELECT 1",
      "SET memory_limit = '1GB'",
      "ATTACH ':memory:' AS other",
      `SELECT * FROM enable_logging(storage_path := '${target}')`
    ])
      assert.match((await errorOf(warehouse.query(sql))).message, /query only reads/, sql)
    assert.isFalse(existsSync(target))
    assert.match((await errorOf(warehouse.query("SELECT FROM WHERE"))).message, /syntax error/i)
  })
})
