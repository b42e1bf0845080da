import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { openAccount, openCore } from "../support/account.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const configWithoutReserve = (output: string): string => {
  const path = join(output, "config.toml")
  mkdirSync(output, { recursive: true })
  writeFileSync(path, "[budget]\nreserve_per_day = 0\n")
  return path
}

describe("OAuth", () => {
  it(
    "tokens that expire during a run are renewed, and the next run continues with the stored refresh token",
    { tags: ["slow"] },
    async () => {
      const account = await openCore("--token-lifetime", "61", "--latency", "20", "--contacts", "150")
      try {
        const { service, output } = account
        const { SLUICE_TOKEN: _, ...others } = account.environment
        const environment = {
          ...others,
          SLUICE_CLIENT_ID: service.clientId,
          SLUICE_CLIENT_SECRET: service.clientSecret,
          SLUICE_REFRESH_TOKEN: service.refreshToken
        }
        const running = sluice(["sync", ...account.selection], environment)
        await service.requested(30)
        // The service's clock is ahead: it refuses a token that is still valid by the local clock.
        await service.post("clock", { advanceMs: 120_000 })
        const first = await running
        assert.strictEqual(first.code, 0, first.stderr)
        assert.deepStrictEqual(await account.differences(), [])
        const store = join(output, "tokens.json")
        assert.strictEqual(statSync(store).mode & 0o777, 0o600)
        const { refreshToken } = JSON.parse(readFileSync(store, "utf8"))
        assert.notStrictEqual(refreshToken, service.refreshToken)
        assert.isAtLeast((await service.stats()).requestsByOperation["POST /oauth/token"]!, 2)

        // The configured refresh token is no longer valid; the stored one is.
        const second = await sluice(["sync", ...account.selection], environment)
        assert.strictEqual(second.code, 0, second.stderr)
        for (const { stdout, stderr } of [first, second]) assert.notInclude(stdout + stderr, refreshToken)
      } finally {
        account.service.stop()
      }
    }
  )

  it("a refused refresh token ends the run with 77", async () => {
    const account = await openAccount("--contacts", "20")
    try {
      const { service, output } = account
      const ran = await sluice(["sync"], {
        SLUICE_BASE_URL: service.url,
        SLUICE_LOCATION_ID: service.locationId,
        SLUICE_OUTPUT: output,
        SLUICE_CLIENT_ID: service.clientId,
        SLUICE_CLIENT_SECRET: service.clientSecret,
        SLUICE_REFRESH_TOKEN: "used-up"
      })
      assert.strictEqual(ran.code, 77, ran.stderr)
    } finally {
      account.service.stop()
    }
  })
})

describe("a private token that is replaced while a run works", () => {
  it.each(["file", "cmd"])(
    "in its %s is read again once, however many requests were rejected",
    { tags: ["slow"] },
    async (kind) => {
      const account = await openCore("--latency", "30", "--contacts", "80")
      const folder = newFolder()
      const [file, readings] = [join(folder, "token"), join(folder, "readings")]
      const rotate = async () => {
        const { token } = (await account.service.post("token", { rotate: true })) as { readonly token: string }
        return token
      }
      try {
        writeFileSync(file, account.service.token)
        const reference = kind === "file" ? `file:${file}` : `cmd:echo x >> ${readings}; cat ${file}`
        const environment = { ...account.environment, SLUICE_TOKEN: reference }
        const running = sluice(["sync", ...account.selection], environment)
        await account.service.requested(20)
        const renewed = await rotate()
        writeFileSync(file, `${renewed}\n`)
        const ran = await running
        assert.strictEqual(ran.code, 0, ran.stderr)
        assert.deepStrictEqual(await account.differences(), [])
        assert.notInclude(ran.stdout + ran.stderr, renewed)
        if (kind === "cmd") assert.strictEqual(readFileSync(readings, "utf8"), "x\nx\n")

        // The reference still has the token that the service has replaced.
        await rotate()
        const refused = await sluice(["sync", ...account.selection], environment)
        assert.strictEqual(refused.code, 77, refused.stderr)
        if (kind === "cmd") assert.strictEqual(readFileSync(readings, "utf8"), "x\nx\nx\nx\n")
      } finally {
        account.service.stop()
      }
    }
  )
})

describe("an export cursor that expires", () => {
  it.each([
    ["applies the dates of the export", []],
    ["ignores the dates of the export", ["--quirk", "exportDates=ignored"]]
  ])("does not fail the run, which reads every record, if the service %s", { tags: ["slow"] }, async (_, flags) => {
    const account = await openCore(...flags, "--latency", "150", "--contacts", "100", "--messages", "9000")
    try {
      const running = account.sync()
      for (let n = 1; n <= 4; n++) {
        await account.service.requested(n * 12)
        await account.service.post("clock", { advanceMs: 121_000 })
      }
      const ran = await running
      assert.strictEqual(ran.code, 0, ran.stderr)
      assert.deepStrictEqual(await account.differences(), [])
      const { expiredCursorsShown } = await account.service.stats()
      assert.isAtLeast(expiredCursorsShown, 1, "a cursor has expired")
    } finally {
      account.service.stop()
    }
  })
})

describe("a used-up daily budget", () => {
  it(
    "ends the run with 75 and the time at which it can continue; runs on the next days read the rest",
    { tags: ["slow"] },
    async () => {
      const account = await openCore("--limits", "100/500/120", "--contacts", "100")
      try {
        const first = await account.sync("--config", configWithoutReserve(account.output))
        assert.strictEqual(first.code, 75, first.stderr)
        assert.match(first.stderr, /the day's requests are used up/)
        assert.match(first.stderr, /after \d{4}-\d\d-\d\dT/)
        const { requests, refused429 } = await account.service.stats()
        assert.isAtMost(requests, 120)
        assert.strictEqual(refused429, 0)
        const nextDay = async () => {
          await account.service.post("clock", { advanceMs: 86_400_000 })
          return (await account.sync("--config", configWithoutReserve(account.output))).code
        }
        let days = 1
        while ((await nextDay()) === 75) assert.isAtMost(days++, 3, "each day makes progress")
        assert.deepStrictEqual(await account.differences(), [])
      } finally {
        account.service.stop()
      }
    }
  )

  it("does not stop a full sync from completing: runs on the next days resume it", { tags: ["slow"] }, async () => {
    const account = await openCore("--limits", "100/500/150", "--contacts", "100")
    const run = (...flags: ReadonlyArray<string>) =>
      account.sync("--config", configWithoutReserve(account.output), ...flags)
    const daysOf = async (...flags: ReadonlyArray<string>) => {
      for (let days = 1; ; days++) {
        const ran = await run(...flags)
        if (ran.code === 0) return days
        assert.strictEqual(ran.code, 75, ran.stderr)
        const given = [`--config ${configWithoutReserve(account.output)}`, ...flags].join(" ")
        assert.include(ran.stderr, `Next: ./sluice sync ${given}, after`)
        assert.isAtMost(days, 5, "each day makes progress")
        await account.service.post("clock", { advanceMs: 86_400_000 })
      }
    }
    try {
      await daysOf()
      for (const again of ["the first", "the next one"]) {
        await account.service.post("clock", { advanceMs: 86_400_000 })
        assert.isAbove(await daysOf("--full"), 1, `${again} takes more than a day`)
      }
      assert.deepStrictEqual(await account.differences(), [])
    } finally {
      account.service.stop()
    }
  })

  it("excludes the default reserve for other programs", { tags: ["slow"] }, async () => {
    const account = await openCore("--limits", "100/500/1200", "--contacts", "250")
    try {
      const ran = await account.sync()
      assert.strictEqual(ran.code, 75)
      assert.isAtMost((await account.service.stats()).requests, 200)
    } finally {
      account.service.stop()
    }
  })

  it("ends the run with 78 and a suggested setting if the reserve is not smaller than the daily limit", async () => {
    const account = await openCore("--limits", "100/500/900", "--contacts", "20")
    try {
      const ran = await account.sync()
      assert.strictEqual(ran.code, 78, ran.stderr)
      assert.match(
        ran.stderr,
        /budget\.reserve_per_day reserves 1000 .* the service allows 900.*reserve_per_day = 90 under/s
      )
    } finally {
      account.service.stop()
    }
  })
})
