/** The seven tasks of docs/README.md, walked by the commands with which their pages begin, one after the other. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Service, startService } from "../support/service.ts"
import { newFolder } from "../support/sluice.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const textOf = (page: string) => readFileSync(join(root, "docs", page), "utf8")
const [, listed = ""] = /## Seven tasks.*?\n(.*?)\n## /s.exec(textOf("README.md")) ?? []
const tasks = listed.match(/(?<=\]\()[\w-]+\.md/g) ?? []

/** What a page asks to type first, without what serves or needs a program of others. */
const commandsOf = (page: string): ReadonlyArray<string> => {
  const [, block = ""] = /```sh\n(.*?)```/s.exec(textOf(page)) ?? []
  return block
    .split("\n")
    .map((line) => line.replace(/\s+# .*/, ""))
    .filter((line) => /^(\.\/sluice|mkdir) /.test(line) && !line.includes("--open"))
}

interface Place {
  readonly locationId: string
  readonly token: string
}

/** The exports of the walk name the erased person, and stay. */
const ends: ReadonlyArray<readonly [command: RegExp, code: number]> = [[/subject erase .*--apply/, 3]]

describe("the pages of the tasks", () => {
  let service: Service
  let replaced: ReadonlyArray<readonly [there: RegExp | string, here: string]>
  const home = newFolder()
  const settings = join(home, "config/sluice.toml")
  const environment = {
    HOME: home,
    PATH: `${home}/bin:${process.env["PATH"]}`,
    TZ: "UTC",
    SLUICE_FORMATS: "duckdb",
    SLUICE_MASKING_KEY: "ab".repeat(32),
    SLUICE_MODELS: "false"
  }

  beforeAll(async () => {
    service = await startService("--contacts", "5", "--locations", "2", "--limits", "off")
    const locations = await fetch(`${service.url}/__sandbox/locations`)
    const [first, second] = (await locations.json()) as [Place, Place]
    const contacts = await fetch(`${service.url}/__sandbox/records/contacts?location=${first.locationId}`)
    const [, email = ""] = /"email":"([^"]+)"/.exec(await contacts.text()) ?? []
    mkdirSync(join(home, "bin"))
    writeFileSync(join(home, "bin/systemctl"), "#!/bin/sh\n")
    chmodSync(join(home, "bin/systemctl"), 0o755)
    symlinkSync(join(root, "sluice"), join(home, "sluice"))
    for (const [name, token] of Object.entries({ first: first.token, second: second.token }))
      writeFileSync(join(home, name), token, { mode: 0o600 })
    replaced = [
      ["--location ID", `--location ${second.locationId}`],
      ["file:/run/secrets/second", `file:${home}/second`],
      ["/mnt/backup", `${home}/backup`],
      ["jane@example.com", email],
      [
        /^\.\/sluice init$/,
        `./sluice init --base-url ${service.url} --location ${first.locationId} --token-ref file:${home}/first`
      ]
    ]
  })
  afterAll(() => service.stop())

  // The tasks follow each other: the second location is added to what the first sync has set up.
  it.each(tasks)("can be walked: %s", async (page) => {
    for (const typed of commandsOf(page)) {
      const command = replaced.reduce((text, [there, here]) => text.replace(there, here), typed)
      const isFirst = command.startsWith("./sluice init --base-url")
      if (isFirst && existsSync(settings)) continue
      const { code, said } = await new Promise<{ readonly code: number; readonly said: string }>((ended) =>
        execFile("sh", ["-c", command], { cwd: home, env: environment }, (error, stdout, stderr) =>
          ended({ code: error === null ? 0 : Number(error.code), said: stdout + stderr })
        )
      )
      const [, expected = 0] = ends.find(([pattern]) => pattern.test(command)) ?? []
      assert.strictEqual(code, expected, `${command}\n${said}`)
      if (isFirst) appendFileSync(settings, '\n[retention]\nperiods = { messages = "24 months" }\n')
    }
  })
})
