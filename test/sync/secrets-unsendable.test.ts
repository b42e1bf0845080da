/** Secrets that no request can carry are wrong settings, found before the first request. */
import { assert, describe, it } from "@effect/vitest"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { hostileService } from "../support/hostile.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const unsendable: ReadonlyArray<readonly [what: string, secret: string]> = [
  ["a line break inside", "pit-first-half\npit-second-half"],
  ["a carriage return inside", "pit-first-half\rpit-second-half"],
  ["a control character", "pit-0815\u0007-4711"],
  ["a typographic quote", "\u201cpit-0815-4711\u201d"],
  ["an emoji", "pit-0815-4711-\u{1f511}"]
]

const at = (variable: string, setting: string) => [variable, setting] as const
const settings = [
  at("SLUICE_TOKEN", "account.token"),
  at("SLUICE_CLIENT_SECRET", "account.client_secret"),
  at("SLUICE_REFRESH_TOKEN", "account.refresh_token"),
  at("SLUICE_LISTEN_SECRET", "listen.secret"),
  at("SLUICE_FLEET_AGENCY_TOKEN", "fleet.agency_token")
]

describe.each(unsendable)("a secret with %s", (_, secret) => {
  it.each(settings)(
    "in %s is a wrong setting: 78 at once, with its name and not its value",
    async (variable, setting) => {
      const { environment, requests, close } = await hostileService(() => undefined)
      try {
        const { SLUICE_TOKEN: token, ...others } = environment
        const app = /CLIENT|REFRESH/.test(variable)
          ? { SLUICE_CLIENT_ID: "app", SLUICE_CLIENT_SECRET: "s-0815", SLUICE_REFRESH_TOKEN: "r-0815" }
          : { SLUICE_TOKEN: token! }
        const file = join(newFolder(), "secret")
        writeFileSync(file, `${secret}\n`)
        for (const reference of [`file:${file}`, "env:HELD", secret]) {
          const ran = await sluice(["sync", "--only", "locations"], {
            ...others,
            ...app,
            HELD: secret,
            [variable]: reference
          })
          assert.strictEqual(ran.code, 78, ran.stderr)
          assert.include(ran.stderr, `${setting}: `)
          assert.include(ran.stderr, "cannot be sent")
          for (const part of secret.split(/[^\w-]+/).filter((text) => text !== ""))
            assert.notInclude(ran.stdout + ran.stderr, part)
          assert.deepStrictEqual(requests, [])
        }
      } finally {
        close()
      }
    }
  )
})

describe("a secret", () => {
  it("of a target or of one location is checked too, and a password of a database may have any character", async () => {
    const { environment, requests, close } = await hostileService(() => undefined)
    try {
      const config = join(newFolder(), "sluice.toml")
      writeFileSync(
        config,
        `[[publish]]\nname = "a"\nprofile = "raw"\nfolder = "s3://bucket/x"\ns3_key = "key"\ns3_secret = "cmd:printf 'a\\\\nb'"\n` +
          `[[publish]]\nname = "b"\nprofile = "raw"\npostgres = "postgres://u:\u043f\u0430\u0440@127.0.0.1:1/x"\n`
      )
      const ran = await sluice(["sync", "--config", config], environment)
      assert.strictEqual(ran.code, 78, ran.stderr)
      assert.match(ran.stderr, /publish\[0\]\.s3_secret: cmd:.* cannot be sent: it has a line break/)
      assert.notMatch(ran.stderr, /publish\[1\]/)
      assert.deepStrictEqual(requests, [])
    } finally {
      close()
    }
  })

  it("may end with a line break, as a file does", async () => {
    const { environment, close } = await hostileService(() => undefined)
    try {
      const file = join(newFolder(), "secret")
      writeFileSync(file, `${environment["SLUICE_TOKEN"]}\n`)
      const ran = await sluice(["sync", "--only", "locations"], { ...environment, SLUICE_TOKEN: `file:${file}` })
      assert.strictEqual(ran.code, 0, ran.stderr)
    } finally {
      close()
    }
  })
})
