/** The launcher, and pipes that end early or cannot be written. */
import { assert, describe, it } from "@effect/vitest"
import { execFileSync, spawnSync } from "node:child_process"
import { cpSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { start } from "../support/process.ts"
import { newFolder } from "../support/sluice.ts"

describe("the launcher", () => {
  it("works from any folder and through links", () => {
    const link = join(newFolder(), "sluice-link")
    symlinkSync(fileURLToPath(new URL("../../sluice", import.meta.url)), link)
    assert.match(execFileSync(link, ["--version"], { cwd: "/", encoding: "utf8" }), /^sluice \d/)
  })

  it("runs the built program in a folder whose name is no part of an address", () => {
    const folder = join(newFolder(), "a#b?c%20d")
    const root = fileURLToPath(new URL("../..", import.meta.url))
    for (const part of ["dist", "sluice", "package.json"])
      cpSync(join(root, part), join(folder, part), { recursive: true })
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
    assert.match(execFileSync(join(folder, "sluice"), ["dictionary"], { encoding: "utf8" }), /contacts/)
  })

  it("passes its arguments to the sandbox, which is a separate program", async () => {
    const { code, stdout } = await start(["sandbox", "--help"], {}).ended
    assert.strictEqual(code, 0)
    assert.match(stdout.split("\n").slice(0, 2).join("\n"), /sandbox/)
  })

  it("succeeds if the reader of a pipe ends early, and reports an output that is full", async () => {
    const shell = (line: string) =>
      spawnSync("bash", ["-c", `set -o pipefail; ${line}`], {
        encoding: "utf8",
        cwd: fileURLToPath(new URL("../..", import.meta.url))
      })
    const cut = shell("./sluice dictionary | head -1")
    assert.strictEqual(cut.status, 0, cut.stderr)
    assert.strictEqual(cut.stderr, "")
    const full = shell("./sluice dictionary > /dev/full")
    assert.strictEqual(full.status, 1)
    assert.match(full.stderr, /^sluice: The result could not be printed: ENOSPC.*\n$/)
  })
})
