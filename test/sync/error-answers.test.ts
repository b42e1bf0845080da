/**
 * Errors that arrive with the status 200, for every operation: they replace, empty, confirm and complete nothing, and the next
 * plain sync reads again. test/catalog/answer.test.ts has every form of them.
 */
import { assert, describe, it } from "@effect/vitest"
import { discover } from "../../src/catalog/discover.ts"
import { childRequestOf } from "../../src/catalog/resource.ts"
import { openAlone, openSynced } from "../support/account.ts"
import { acceleratedClock } from "../support/clock.ts"
import { begin, beginForAll } from "../support/life.ts"

/** Requests for the children or the detail of single records, by their labels. */
const singles = (await discover()).resources.flatMap((resource) => {
  const request = childRequestOf(resource)
  return request && !request.enabledBy && !resource.enabledBy
    ? [{ label: request.label, path: request.strategy.request.path.replaceAll(/\{\w+\}/g, "*") }]
    : []
})

describe("errors with the status 200", { tags: ["slow"] }, () => {
  const life = beginForAll(
    () => openSynced({ flags: ["--contacts", "15"] }),
    async (life) => {
      life.clock = acceleratedClock()
      await life.sync("--full")
    }
  )
  const syncWith = async (code: number, ...rules: ReadonlyArray<unknown>) => {
    await life.service.post("faults", { rules })
    await life.sync("--full", code)
    await life.service.post("faults", { rules: [] })
  }
  /** A fingerprint of every table. */
  const tables = async () => {
    const named = await life.ask("SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'crm'")
    const hashes = named.map(
      ({ name }) => `SELECT '${String(name)}', count(*), bit_xor(hash(t)) FROM crm."${String(name)}" AS t`
    )
    return life.ask(`${hashes.join(" UNION ALL ")} ORDER BY 1`)
  }
  const readings = async () => {
    const last = "FROM meta.run_resources WHERE run_id = (SELECT max(run_id) FROM meta.runs)"
    return new Map((await life.ask(last)).map((row) => [String(row["resource"]), row] as const))
  }

  it.each([
    // Pages of a gateway in place of every response are an outage.
    ["success", "message", 3],
    ["html", "null", 75]
  ])(
    "%s for all, %s for single records: nothing changes or is complete, and is read again",
    async (form, single, code) => {
      const before = await tables()
      await syncWith(code, { kind: "200", form })
      assert.deepStrictEqual(await tables(), before)
      for (const [resource, { status }] of await readings()) assert.strictEqual(status, "incomplete", resource)

      // Lists are well, and every request for a single record or its children fails.
      await syncWith(3, ...singles.map(({ path }) => ({ kind: "200", form: single, match: path })))
      assert.deepStrictEqual(await tables(), before)
      const failed = await readings()
      for (const { label } of singles) assert.strictEqual(failed.get(label)!["status"], "incomplete", label)

      await life.sync()
      const healed = await readings()
      for (const [resource, { status }] of healed) assert.strictEqual(status, "complete", resource)
      for (const { label } of singles) assert.isAbove(Number(healed.get(label)!["requests"]), 0, label)
      await life.equalsService()
    }
  )
})

it("an empty list beside a message is no notes: the sync is incomplete, and the next one has them", async () => {
  const life = await begin(openAlone("contacts,contact_notes", "--contacts", "4"))
  life.clock = acceleratedClock()
  life.alter = ({ path }, answer) => (path.endsWith("/notes") ? { message: "Upstream timed out", notes: [] } : answer)
  await life.sync("", 3)
  life.alter = undefined
  await life.sync()
  const notes = await life.service.records("notes")
  assert.lengthOf(await life.ask("FROM crm.contact_notes"), notes.length)
})
