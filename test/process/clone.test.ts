/** A clone of the repository in which a user works: git sees nothing of what the commands write. */
import { assert, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { start } from "../support/process.ts"
import { startService } from "../support/service.ts"
import { newFolder } from "../support/sluice.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

it("a clone ignores what every command writes into it", async () => {
  const folder = newFolder()
  const git = (...args: ReadonlyArray<string>) => execFileSync("git", args, { cwd: folder, encoding: "utf8" })
  const service = await startService("--limits", "off", "--contacts", "20", "--seed", "5")
  try {
    git("init", "-q")
    copyFileSync(join(root, ".gitignore"), join(folder, ".gitignore"))
    mkdirSync(join(folder, "config"))
    copyFileSync(join(root, "config", "example.toml"), join(folder, "config", "example.toml"))
    git("add", "-A")
    git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "clone")
    const account = {
      SLUICE_BASE_URL: service.url,
      SLUICE_TOKEN: service.token,
      SLUICE_LOCATION_ID: service.locationId,
      SLUICE_FORMATS: "duckdb"
    }
    const run = async (...args: ReadonlyArray<string>) => {
      const { code, stderr } = await start(args, account, folder).ended
      assert.include([0, 3], code, `${args.join(" ")}: ${stderr}`)
    }
    writeFileSync(join(folder, "config", "environment"), "SLUICE_TOKEN=secret\n")
    await run("sync", "--only", "locations,contacts")
    const [contact] = await service.records("contacts")
    const id = String(contact!["id"])
    await run(
      "init",
      "--no-check",
      "--base-url",
      service.url,
      "--location",
      service.locationId,
      "--format",
      "duckdb",
      "--token-ref",
      "env:SLUICE_TOKEN"
    )
    await run("subject", "export", "--contact", id)
    await run("subject", "export", "--contact", id, "--to", "subject-jane")
    await run("export", "excel", "contacts.xlsx", "--only", "contacts")
    await run("export", "bundle", "audit-2026-11")
    await run("export", "bundle", "audit-2026-11.tar")
    await run("report")
    await run("publish")
    await run("demo")
    assert.strictEqual(statSync(join(folder, "output", "exports")).mode & 0o777, 0o700)
    assert.isTrue(statSync(join(folder, "output", "exports", `subject-${id}`, "index.html")).isFile())
    assert.strictEqual(git("status", "--porcelain", "--untracked-files=all"), "")
  } finally {
    service.stop()
  }
})

it("a clone keeps no headers of Node, which take 67 MB", () => {
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
  const installed = Object.keys(optionalDependencies)
    .map((name) => join(root, "node_modules", name))
    .filter((folder) => existsSync(folder))
  assert.isNotEmpty(installed)
  for (const folder of installed) {
    assert.isTrue(existsSync(join(folder, "bin")), folder)
    assert.isFalse(existsSync(join(folder, "include")), folder)
  }
})
