/** The files of deploy/, checked by tools that know their formats, and their settings by sluice. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parse, parseAllDocuments } from "yaml"
import { allSettings } from "../../src/settings/table.ts"
import { programOf } from "../support/programs.ts"
import { pythonWith } from "../support/python.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const folder = newFolder()
const checked = (program: string, ...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync(program, args, { encoding: "utf8" })
  return { status, said: stdout + stderr }
}

describe("deploy/", () => {
  it("compose.yaml: the Compose specification accepts it, and its variables are settings", () => {
    const path = join(root, "deploy/compose.yaml")
    const { environment } = parse(readFileSync(path, "utf8")).services.worker
    const known = new Set(allSettings.map((setting) => setting.environment))
    assert.deepStrictEqual(
      Object.keys(environment).filter((name) => !known.has(name)),
      []
    )
    const python = pythonWith(["check-jsonschema==0.38.0"])
    if (python === undefined) return
    const check = (file: string) =>
      checked(python, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", file)
    const { said, status } = check(path)
    assert.strictEqual(status, 0, said)
    const wrong = join(folder, "wrong.yaml")
    writeFileSync(wrong, readFileSync(path, "utf8").replace("stop_grace_period", "stop_grace"))
    assert.notStrictEqual(check(wrong).status, 0, "the control")
  })

  it("kubernetes.yaml: the schemas of Kubernetes accept it in their strict form, and sluice its settings", async () => {
    const path = join(root, "deploy/kubernetes.yaml")
    const [settings] = parseAllDocuments(readFileSync(path, "utf8")).map((document) => document.toJS())
    const config = join(folder, "sluice.toml")
    writeFileSync(config, `${settings.data["sluice.toml"]}`)
    const { code, stderr, stdout } = await sluice(["config", "show", "--config", config], {})
    assert.strictEqual(code, 0, stderr)
    assert.match(stdout, /fleet\.state +s3:\/\/agency-state\/sluice/)
    const python = pythonWith(["kubernetes-validate==1.37.0"])
    if (python === undefined) return
    const validate = (file: string) => checked(python, "-m", "kubernetes_validate", "--strict", file)
    const { said, status } = validate(path)
    assert.strictEqual(status, 0, said)
    const wrong = join(folder, "wrong.yaml")
    writeFileSync(wrong, readFileSync(path, "utf8").replace("livenessProbe", "lifeProbe"))
    assert.notStrictEqual(validate(wrong).status, 0, "the control")
  })

  it("sluice-worker@.service: systemd accepts it", () => {
    const analyze = programOf("systemd", "/usr/bin/systemd-analyze")
    if (analyze === undefined) return
    const unit = join(folder, "sluice-worker@.service")
    const text = readFileSync(join(root, "deploy/sluice-worker@.service"), "utf8")
    // On this machine, the program is in the clone.
    writeFileSync(unit, text.replace("/usr/bin/sluice", join(root, "sluice")))
    assert.deepStrictEqual(checked(analyze, "verify", unit), { status: 0, said: "" })
    writeFileSync(
      unit,
      text.replace("/usr/bin/sluice", join(root, "sluice")).replace("KillMode=mixed", "KillMod=mixed")
    )
    assert.notStrictEqual(checked(analyze, "verify", unit).said, "", "the control")
  })
})
