/** The files of deploy/, checked by programs that know their formats, and against the settings and flags of sluice. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { copyFileSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseAllDocuments, parse } from "yaml"
import { programOf } from "../support/programs.ts"
import { python } from "../support/python.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const analyze = programOf("systemd", "/usr/bin/systemd-analyze")

const deploy = fileURLToPath(new URL("../../deploy", import.meta.url))
const textOf = (name: string) => readFileSync(join(deploy, name), "utf8")
const checked = (program: string, ...args: ReadonlyArray<string>) => {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" })
  return { status, said: stdout + stderr }
}

describe("deploy", () => {
  it.skipIf(python === undefined)(
    "compose.yaml is what the schema of Compose accepts, and a mistake in it is not",
    { tags: ["slow"] },
    () => {
      const check = (file: string) =>
        checked(python!, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", file)
      const { said, status } = check(join(deploy, "compose.yaml"))
      assert.strictEqual(status, 0, said)
      assert.strictEqual(check(join(deploy, "console/compose.yaml")).status, 0)
      const wrong = join(newFolder(), "compose.yaml")
      writeFileSync(wrong, textOf("compose.yaml").replace("stop_grace_period", "stop_grace"))
      assert.notStrictEqual(check(wrong).status, 0, "the control")
    }
  )

  it.skipIf(python === undefined)(
    "kubernetes.yaml is what the schemas of Kubernetes accept in their strict form",
    { tags: ["slow"] },
    () => {
      const check = (file: string) => checked(python!, "-m", "kubernetes_validate", "--strict", file)
      const { said, status } = check(join(deploy, "kubernetes.yaml"))
      assert.strictEqual(status, 0, said)
      const wrong = join(newFolder(), "kubernetes.yaml")
      writeFileSync(
        wrong,
        textOf("kubernetes.yaml").replace("maxUnavailable: 1\n  selector", "maxUnavailabl: 1\n  selector")
      )
      assert.notStrictEqual(check(wrong).status, 0, "the control")
    }
  )

  it("the container of the console serves the page on the port that its file names", () => {
    const { services } = parse(textOf("console/compose.yaml"))
    const dockerfile = textOf("../Dockerfile")
    const [, command = ""] = /^CMD (.*)$/m.exec(dockerfile) ?? []
    assert.deepStrictEqual(JSON.parse(command), ["serve", "--listen", "0.0.0.0"])
    assert.deepStrictEqual(services.sluice.ports, ["127.0.0.1:8787:8787"])
    assert.match(dockerfile, /^EXPOSE 8787$/m)
    for (const proxy of ["Caddyfile", "nginx.conf", "traefik.yaml"])
      assert.include(textOf(`console/${proxy}`), "127.0.0.1:8787", proxy)
  })

  it("kubernetes.yaml has one set of labels for its workers, their budget and their network policy", () => {
    const [deployment, budget, policy] = parseAllDocuments(textOf("kubernetes.yaml")).map((one) => one.toJS())
    for (const { spec } of [deployment, budget])
      assert.deepStrictEqual(spec.selector.matchLabels, deployment.spec.template.metadata.labels)
    assert.deepStrictEqual(policy.spec.podSelector.matchLabels, deployment.spec.template.metadata.labels)
  })

  it.skipIf(analyze === undefined)("sluice-worker@.service is a unit that systemd accepts", { tags: ["slow"] }, () => {
    const unit = join(newFolder(), "sluice-worker@1.service")
    copyFileSync(join(deploy, "sluice-worker@.service"), unit)
    assert.deepStrictEqual(checked(analyze!, "verify", "--man=no", unit), { status: 0, said: "" })
  })

  it("fleet.toml has settings that exist, and the files set what it refers to", async () => {
    const ran = await sluice(["config", "show", "--config", join(deploy, "fleet.toml"), "--json"], {})
    assert.strictEqual(ran.code, 0, ran.stderr)
    const { data } = JSON.parse(ran.stdout)
    const place = (setting: string) => data.settings.find((one: { setting: string }) => one.setting === setting)?.place
    assert.match(String(place("fleet.state")), /fleet\.toml/)
    const wanted = [...textOf("fleet.toml").matchAll(/"env:(\w+)"/g)].map(([, name]) => name!)
    const { environment } = parse(textOf("compose.yaml")).services.worker
    for (const name of wanted) {
      assert.property(environment, name)
      assert.include(textOf("kubernetes.yaml"), `${name}=`)
    }
  })
})
