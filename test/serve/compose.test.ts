/** The files of compose for one machine, and the commands of docs/console.md. */
import { assert, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { parse } from "yaml"
import { sluice } from "../support/sluice.ts"

const textOf = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")

it("one service with a read-only file system, all data in its volume, and the token as a secret", () => {
  const { services, volumes } = parse(textOf("deploy/console/compose.yaml"))
  assert.deepStrictEqual(Object.keys(services), ["sluice"])
  const { ports, read_only: isReadOnly, volumes: mounted } = services.sluice
  assert.isTrue(isReadOnly)
  // The page must not be open to others.
  assert.isTrue(ports.every((port: string) => port.startsWith("127.0.0.1:")))
  const [name, path] = mounted[0].split(":")
  assert.property(volumes, name)
  assert.include(textOf("Dockerfile"), `VOLUME ${path}`)

  const secret = parse(textOf("deploy/console/secret.yaml"))
  assert.deepStrictEqual(secret.services.sluice.secrets, Object.keys(secret.secrets))
  assert.include(textOf("docs/console.md"), `file:/run/secrets/${Object.keys(secret.secrets)[0]}`)
})

it("the container and the page use commands, flags and files that exist", async () => {
  const page = textOf("docs/console.md")
  for (const [, file] of page.matchAll(/--file (\S+)/g))
    assert.isTrue(existsSync(new URL(`../../${file}`, import.meta.url)), file)
  const entry = JSON.parse(/^CMD (\[.*\])$/m.exec(textOf("Dockerfile"))![1]!) as ReadonlyArray<string>
  const inContainer = Array.from(
    page.matchAll(/exec sluice sluice (\w+)|--env SLUICE_TOKEN sluice (\w+)/g),
    (found) => found[1] ?? found[2]!
  )
  assert.sameMembers(inContainer, ["status", "backup", "sync"])
  for (const command of [entry[0]!, ...inContainer]) {
    const { code, stdout } = await sluice([command, "--help"], {})
    assert.strictEqual(code, 0, command)
    if (command === entry[0])
      for (const flag of entry.filter((one) => one.startsWith("--"))) assert.include(stdout, flag)
  }
})
