/** Signatures and encryption of bundles, checked with the programs that auditors have. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { appendFileSync, copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, discard, openTables } from "../support/account.ts"
import { programOf } from "../support/programs.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const minisign = programOf("minisign", "/usr/bin/minisign")
const sshKeygen = programOf("openssh-client", "/usr/bin/ssh-keygen")

const run = (program: string, args: ReadonlyArray<string>, input?: string | Buffer) =>
  spawnSync(program, args, { ...(input !== undefined && { input }), maxBuffer: 64 * 1024 * 1024 })

describe("a bundle", () => {
  let account: Account
  const keys = newFolder()
  const bundle = async (name: string, ...flags: ReadonlyArray<string>) => {
    const target = join(newFolder(), name)
    const { code, stderr } = await sluice(["export", "bundle", target, "--only", "contacts", ...flags], {
      ...account.environment,
      SLUICE_FORMATS: "duckdb,parquet,csv"
    })
    return { target, code, stderr }
  }
  beforeAll(async () => {
    account = await openTables("contacts", "--contacts", "20")
    const environment = { ...account.environment, SLUICE_FORMATS: "duckdb,parquet,csv" }
    assert.strictEqual((await sluice(["sync", ...account.selection], environment)).code, 0)
  })
  afterAll(() => discard(account))

  it.skipIf(minisign === undefined)("that minisign signed is accepted by it, and not after a change", async () => {
    const [secret, open] = [join(keys, "minisign.key"), join(keys, "minisign.pub")]
    assert.strictEqual(run(minisign!, ["-G", "-W", "-s", secret, "-p", open]).status, 0)
    const { code, stderr, target } = await bundle("signed", "--sign", `minisign:${secret}`)
    assert.strictEqual(code, 0, stderr)
    const verify = () => run(minisign!, ["-V", "-p", open, "-m", join(target, "tagmanifest-sha256.txt")])
    assert.strictEqual(verify().status, 0)
    assert.match(String(verify().stdout), /Trusted comment: run 20\d+/)
    assert.strictEqual((await sluice(["export", "verify", target], {})).code, 0)
    const again = await bundle("signed", "--sign", `minisign:${secret}`)
    const signature = (folder: string) => readFileSync(join(folder, "tagmanifest-sha256.txt.minisig"))
    assert.deepStrictEqual(signature(again.target), signature(target), "the same release has the same signature")
    appendFileSync(join(target, "tagmanifest-sha256.txt"), "\n")
    assert.notStrictEqual(verify().status, 0)
  })

  it.skipIf(sshKeygen === undefined)(
    "that an SSH key signed is accepted by ssh-keygen, also from a zip file",
    async () => {
      const key = join(keys, "id_ed25519")
      assert.strictEqual(run(sshKeygen!, ["-q", "-t", "ed25519", "-N", "", "-f", key]).status, 0)
      const { code, stderr, target } = await bundle("signed.zip", "--sign", `ssh:${key}`)
      assert.strictEqual(code, 0, stderr)
      const unpacked = newFolder()
      assert.strictEqual(run("python3", ["-m", "zipfile", "-e", target, unpacked]).status, 0)
      const bag = join(unpacked, String(run("ls", [unpacked]).stdout).trim())
      const signers = join(keys, "signers")
      writeFileSync(signers, `auditor ${readFileSync(`${key}.pub`, "utf8")}`)
      const verify = (signed: Buffer) =>
        run(
          sshKeygen!,
          [
            "-Y",
            "verify",
            "-f",
            signers,
            "-I",
            "auditor",
            "-n",
            "sluice",
            "-s",
            join(bag, "tagmanifest-sha256.txt.sig")
          ],
          signed
        ).status
      const signed = readFileSync(join(bag, "tagmanifest-sha256.txt"))
      assert.strictEqual(verify(signed), 0)
      assert.notStrictEqual(verify(Buffer.concat([signed, Buffer.from("\n")])), 0)
    }
  )

  it("is refused with a key that is wrong, and nothing is written", async () => {
    const inside = join(account.output, "key")
    writeFileSync(inside, "secret")
    const wrong = [
      [["b", "--sign", `ssh:${inside}`], /is in the output folder; keep it elsewhere/],
      [["b", "--sign", "ssh:/nowhere/key"], /there is no key \/nowhere\/key/],
      [["b", "--sign", "gpg:key"], /expected minisign:FILE or ssh:FILE/]
    ] as const
    for (const [[name, ...flags], message] of wrong) {
      const { code, stderr, target } = await bundle(name, ...flags)
      assert.strictEqual(code, 2, stderr)
      assert.match(stderr, message)
      assert.isFalse(existsSync(target))
    }
    const broken = join(keys, "broken")
    copyFileSync(inside, broken)
    const { code, stderr, target } = await bundle("b", "--sign", `ssh:${broken}`)
    assert.strictEqual(code, 1)
    assert.match(stderr, /ssh-keygen cannot sign with/)
    assert.isFalse(existsSync(target))
  })
})
