/** The recipes of deploy/ for other engines: they run as they are, with other paths. */
import { assert, describe, it } from "@effect/vitest"
import { execFile, spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { startFleet } from "../support/fleet.ts"
import { postgresPrograms, sqlIn, withoutPostgres } from "../support/postgres.ts"
import { python } from "../support/python.ts"
import { newFolder } from "../support/sluice.ts"

const recipe = (name: string) => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), "utf8")

describe.skipIf(python === undefined)("the recipe for Kubernetes", () => {
  it("is what its schemas accept in their strict form", () => {
    const check = (text: string) => {
      const file = join(newFolder(), "job.yaml")
      writeFileSync(file, text)
      const { status, stdout, stderr } = spawnSync(python!, ["-m", "kubernetes_validate", "--strict", file], {
        encoding: "utf8"
      })
      return { status, said: stdout + stderr }
    }
    const { said, status } = check(recipe("locations.kubernetes.yaml"))
    assert.strictEqual(status, 0, said)
    assert.notStrictEqual(
      check(recipe("locations.kubernetes.yaml").replace("completionMode", "completionMod")).status,
      0,
      "the control"
    )
  })
})

describe.skipIf(postgresPrograms === undefined || python === undefined)(
  postgresPrograms === undefined ? withoutPostgres : "the recipe for Dagster",
  () => {
    it("syncs the location of a partition, behind the fence", async () => {
      const fleet = await startFleet("--locations", "2", "--contacts", "2", "--limits", "off")
      try {
        const [north, south] = (await fleet.counts()).map(({ locationId }) => locationId) as [string, string]
        const folder = newFolder()
        mkdirSync(join(folder, "bin"))
        symlinkSync(fileURLToPath(new URL("../../sluice", import.meta.url)), join(folder, "bin", "sluice"))
        writeFileSync(join(folder, "locations.txt"), `${north}\n${south}\n`)
        writeFileSync(join(folder, "fleet.toml"), `[output]\nfolder = "${folder}/output"\n`)
        const code = recipe("locations.dagster.py").replaceAll("/config/", `${folder}/`)
        const run = `result = dg.materialize([account], partition_key="${north}")\nassert result.success\n`
        const planned = `import json; print(json.dumps([one.partition_key for one in nightly(dg.build_schedule_context())]))\n`
        writeFileSync(join(folder, "recipe.py"), `${code}${run}${planned}`)
        // The service of this test answers meanwhile.
        const { stdout: printed } = await promisify(execFile)(python!, [join(folder, "recipe.py")], {
          encoding: "utf8",
          env: { ...fleet.environment, HOME: folder, PATH: `${folder}/bin:${process.env["PATH"]}` },
          timeout: 180_000
        })
        assert.deepStrictEqual(JSON.parse(printed.trim().split("\n").at(-1)!), [north, south])
        const fences = await sqlIn(fleet.postgres, "SELECT location, number, ended_cleanly FROM sluice_fleet.fences")
        assert.strictEqual(fences, `${north}|1|t`)
      } finally {
        await fleet.stop()
      }
    })
  }
)
