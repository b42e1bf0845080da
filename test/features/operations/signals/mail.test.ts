import { assert, describe, it } from "@effect/vitest"
import { chmodSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { sendMail } from "../../../../src/features/operations/signals/mail.ts"
import { newFolder } from "../../../support/sluice.ts"

/** A program with the interface of sendmail. */
const programOf = (script: string, mode = 0o755) => {
  const path = join(newFolder(), "sendmail")
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, mode)
  return path
}
/** More than a pipe holds, so the program must read it, or the pipe breaks. */
const large = "line\n".repeat(200_000)

describe("a mail program", () => {
  it("gets the whole mail, and the recipients from its header", async () => {
    const path = programOf('echo "$@" > "$0.flags"; cat > "$0.mail"')
    assert.isUndefined(await sendMail(path, large))
    assert.strictEqual(readFileSync(`${path}.mail`, "utf8"), large)
    assert.strictEqual(readFileSync(`${path}.flags`, "utf8"), "-i -t\n")
  })
  it.each([
    ["dies while it reads", "head -c 10 > /dev/null; kill -9 $$", "SIGKILL"],
    ["ends with an error before it reads", "exit 75", "exit code 75"],
    ["ends with an error after it has read", "cat > /dev/null; exit 1", "exit code 1"]
  ])("that %s is a problem", async (_, script, why) => {
    const path = programOf(script)
    assert.strictEqual(await sendMail(path, large), `${path} ended with ${why}`)
  })
  it("that does not end is killed, also if it ignores a request to end and another process has its mail", async () => {
    const path = programOf("trap '' TERM; sleep 20")
    const start = performance.now()
    assert.strictEqual(await sendMail(path, large, 200), `${path} ended with SIGKILL`)
    assert.isBelow(performance.now() - start, 5000)
  })
  it("that is missing, or may not be run, is a problem", async () => {
    assert.strictEqual(await sendMail("/nowhere/sendmail", "text"), "/nowhere/sendmail cannot be run (ENOENT)")
    const path = programOf("cat > /dev/null", 0o644)
    assert.strictEqual(await sendMail(path, "text"), `${path} cannot be run (EACCES)`)
  })
})
