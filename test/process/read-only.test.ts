/** An output that belongs to somebody else, and that this user may read but not write. */
import { assert, describe, it } from "@effect/vitest"
import { execFileSync, spawnSync } from "node:child_process"
import { chmodSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { discard, openSynced } from "../support/account.ts"

const launcher = fileURLToPath(new URL("../../sluice", import.meta.url))
/** Root may write everywhere, unless it gives this right up. */
const mortal =
  process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"] : []
const isPossible =
  mortal.length === 0 || spawnSync(mortal[0]!, [...mortal.slice(1), "true"], { stdio: "ignore" }).status === 0

describe.skipIf(!isPossible)(isPossible ? "an output" : "skipped: setpriv cannot drop rights", () => {
  it("that may only be read is verified, and what may not be read is no reason to rebuild", async () => {
    const account = await openSynced({ tables: "contacts,users", flags: ["--contacts", "20"], formats: "duckdb" })
    const chmod = (...args: ReadonlyArray<string>) => execFileSync("chmod", args)
    const verify = (...flags: ReadonlyArray<string>) => {
      const [program, ...args] = [...mortal, launcher, "verify", ...flags]
      const environment = { PATH: process.env["PATH"], SLUICE_OUTPUT: account.output, SLUICE_FORMATS: "duckdb" }
      return spawnSync(program!, args, { encoding: "utf8", env: environment })
    }
    try {
      chmod("-R", "a-w", account.output)
      for (const flags of [[], ["--all"]]) {
        const ran = verify(...flags)
        assert.strictEqual(ran.status, 0, ran.stdout + ran.stderr)
        assert.match(ran.stdout, /replay +\d+ records? of \d+ replayed from the vault/)
        assert.match(ran.stderr, /Next: \.\/sluice status/)
      }
      const segment = readdirSync(join(account.output, "vault")).find((name) => name.startsWith("0"))!
      for (const path of [join(account.output, "vault", segment), join(account.output, "warehouse.duckdb")]) {
        chmod("a-r", path)
        const ran = verify()
        assert.notStrictEqual(ran.status, 0, ran.stdout + ran.stderr)
        assert.match(ran.stdout + ran.stderr, /EACCES|[Pp]ermission|may not read it/)
        assert.notMatch(ran.stdout + ran.stderr, /Next:.*(rebuild|backup)/)
        chmod("u+r", path)
      }
    } finally {
      chmod("-R", "u+rwX", account.output)
      discard(account)
    }
  })

  it.skipIf(mortal.length === 0)(
    "of another user is refused by every command, with the owner and two ways out",
    async () => {
      const account = await openSynced({ tables: "contacts,users", flags: ["--contacts", "20"], formats: "duckdb" })
      const run = (...args: ReadonlyArray<string>) => {
        const [program, ...before] = [...mortal, launcher, ...args]
        const environment = { ...account.environment, PATH: process.env["PATH"] }
        return spawnSync(program!, before, { encoding: "utf8", env: environment })
      }
      const commands = [
        ["status"],
        ["plan"],
        ["sync", ...account.selection],
        ["verify"],
        ["check"],
        ["publish"],
        ["rebuild"],
        ["report"],
        ["doctor"],
        ["prune"],
        ["ledger", "show"],
        ["backup", `${account.output}-copy`],
        ["subject", "export", "--email", "a@example.com"]
      ]
      try {
        execFileSync("chown", ["-R", "65534", account.output])
        chmodSync(account.output, 0o700)
        for (const command of commands) {
          const { status, stderr, stdout } = run(...command)
          assert.strictEqual(status, 78, `${command.join(" ")}: ${stdout}${stderr}`)
          assert.match(stdout + stderr, /belongs to nobody, and root may not read it/, command.join(" "))
        }
        assert.match(
          run("status").stderr,
          /^Next: Run the command as nobody \(sudo -u nobody …\), or give the folder to root: sudo chown -R root '/m
        )
        // The folder may be read, and what is in it may not be changed.
        execFileSync("chmod", ["-R", "a+rX", account.output])
        assert.strictEqual(run("status").status, 0)
        for (const command of [["publish"], ["plan"], ["sync", ...account.selection]]) {
          const { status, stderr } = run(...command)
          assert.strictEqual(status, 78, `${command.join(" ")}: ${stderr}`)
          assert.match(stderr, /belongs to nobody, and root may not/, command.join(" "))
        }
      } finally {
        execFileSync("chown", ["-R", "0", account.output])
        discard(account)
      }
    }
  )
})
