/** The explorer beside publishes, and the command that starts it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { rmSync } from "node:fs"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { newOutput } from "../publish/output.ts"
import { addThings, publishThings, recordThings, warehouseAt } from "../publish/things.ts"
import { sluice } from "../support/sluice.ts"
import { openExplorer } from "./client.ts"

const publishOnce = (output: string, run: string, name: string) =>
  Effect.gen(function* () {
    yield* (yield* Warehouse).run(`UPDATE crm.things SET name = '${name}'`)
    yield* recordThings
    yield* publishThings(output, { run, formats: ["duckdb"] })
  })

it.live("a new release is shown at once, and an open file delays no publish", () => {
  const output = newOutput()
  return Effect.gen(function* () {
    yield* addThings([{ id: "1", name: "first" }])
    yield* publishThings(output, { run: "first", formats: ["duckdb"] })
    const client = yield* Effect.promise(() => openExplorer(output))
    const nameShown = async () => {
      const { body } = await client.query("SELECT name FROM things")
      return [body.release.id, body.rows[0][0]]
    }
    assert.deepStrictEqual(yield* Effect.promise(nameShown), ["000001-first", "first"])
    // The first release is removed while this runs.
    const long = client.query("SELECT any_value(name), count(*) FROM things, range(400000000)")
    for (const run of ["second", "third"]) yield* publishOnce(output, run, run)
    assert.deepStrictEqual(yield* Effect.promise(nameShown), ["000003-third", "third"])
    const { status, body } = yield* Effect.promise(() => long)
    assert.deepStrictEqual([status, body.rows], [200, [["first", "400000000"]]])
    rmSync(join(output, "published/crm.duckdb"))
    const missing = yield* Effect.promise(() => client.query("SELECT 1"))
    assert.strictEqual(missing.status, 503)
    assert.match(missing.body.error.message, /crm\.duckdb does not exist\. Run \.\/sluice publish/)
    yield* Effect.promise(() => client.explorer.close())
  }).pipe(Effect.provide(warehouseAt(output)))
})

describe("sluice explore", () => {
  it("says what is missing and the next command, when there is nothing to show", async () => {
    const output = newOutput()
    const nothing = await sluice(["explore"], { SLUICE_OUTPUT: output })
    assert.strictEqual(nothing.code, 1)
    assert.match(nothing.stderr, /^sluice: Nothing was published into .*\.\nNext: \.\/sluice sync\n$/)
    const formats = await sluice(["explore"], { SLUICE_OUTPUT: output, SLUICE_FORMATS: "csv" })
    assert.strictEqual(formats.code, 78)
    assert.match(formats.stderr, /output\.formats is \["csv"\], without "duckdb"/)
    assert.strictEqual((await sluice(["explore", "--listen", "70000"], { SLUICE_OUTPUT: output })).code, 2)
  })

  it.live("prints its address, and ends with the signal without a message", () => {
    const output = newOutput()
    return Effect.gen(function* () {
      yield* addThings([{ id: "1", name: "first" }])
      yield* publishThings(output, { formats: ["duckdb"] })
      yield* Effect.promise(async () => {
        const taken = createServer().listen(0, "127.0.0.1")
        await new Promise((resolve) => taken.once("listening", resolve))
        const { port } = taken.address() as AddressInfo
        const refused = await sluice(["explore", "--listen", String(port)], { SLUICE_OUTPUT: output })
        assert.strictEqual(refused.code, 1)
        assert.match(refused.stderr, /cannot be used: listen EADDRINUSE.*\nNext: Name another port with --listen/)
        await new Promise((resolve) => taken.close(resolve))
        const signal = new AbortController()
        const running = sluice(
          ["explore", "--listen", String(port), "--json"],
          { SLUICE_OUTPUT: output },
          {
            signal: signal.signal
          }
        )
        const opened = async () => (await fetch(`http://127.0.0.1:${port}/`)).status
        while ((await opened().catch(() => 0)) !== 401) await new Promise((resolve) => setTimeout(resolve, 20))
        signal.abort(130)
        const { code, stdout, stderr } = await running
        assert.strictEqual(code, 130)
        const { data } = JSON.parse(stdout)
        assert.strictEqual(data.port, port)
        assert.match(data.url, /^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{32}$/)
        assert.match(stderr, /^The page shows .* to this machine only\. Press Ctrl-C to end\.\n$/)
        assert.strictEqual(await opened().catch(() => 0), 0)
      })
    }).pipe(Effect.provide(warehouseAt(output)))
  })
})
