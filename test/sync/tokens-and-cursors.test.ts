/** Tokens that end while a run works, and days that have too few requests. test/simulation/claims.test.ts has cursors. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { openAlone, openCore } from "../support/account.ts"
import { newFolder } from "../support/sluice.ts"
import { begin } from "../support/life.ts"

const slow = { tags: ["slow"] }

describe("OAuth", () => {
  it(
    "tokens that expire in a run are renewed, and the next run continues with the stored refresh token",
    slow,
    async () => {
      const life = await begin(openCore("--token-lifetime", "61", "--latency", "20", "--contacts", "150"))
      const { service } = life
      const app = {
        SLUICE_TOKEN: "",
        SLUICE_CLIENT_ID: service.clientId,
        SLUICE_CLIENT_SECRET: service.clientSecret,
        SLUICE_REFRESH_TOKEN: service.refreshToken
      }
      const running = life.sync("", 0, app)
      await service.requested(30)
      // The service's clock is ahead: it refuses a token that is still valid by the local clock.
      await service.post("clock", { advanceMs: 120_000 })
      const first = await running
      await life.equalsService()
      const store = join(life.account.output, "tokens.json")
      assert.strictEqual(statSync(store).mode & 0o777, 0o600)
      const { refreshToken } = JSON.parse(readFileSync(store, "utf8"))
      assert.notStrictEqual(refreshToken, service.refreshToken)
      assert.isAtLeast((await service.stats()).requestsByOperation["POST /oauth/token"]!, 2)
      // The configured refresh token is no longer valid; the stored one is.
      const second = await life.sync("", 0, app)
      for (const { stdout, stderr } of [first, second]) assert.notInclude(stdout + stderr, refreshToken)
    }
  )

  it("a refused refresh token ends the run with 77", async () => {
    const life = await begin(openAlone("contacts", "--contacts", "1"))
    const { clientId, clientSecret } = life.service
    const app = { SLUICE_CLIENT_ID: clientId, SLUICE_CLIENT_SECRET: clientSecret, SLUICE_REFRESH_TOKEN: "used-up" }
    await life.sync("", 77, { ...app, SLUICE_TOKEN: "" })
  })
})

describe("a private token that is replaced while a run works", () => {
  it.each(["file", "cmd"])("in its %s is read again once, however many requests were rejected", slow, async (kind) => {
    const life = await begin(openCore("--latency", "30", "--contacts", "80"))
    const folder = newFolder()
    const [file, readings] = [join(folder, "token"), join(folder, "readings")]
    const rotate = async () =>
      ((await life.service.post("token", { rotate: true })) as { readonly token: string }).token
    const isReadTimes = (times: number) => {
      if (kind === "cmd") assert.strictEqual(readFileSync(readings, "utf8"), "x\n".repeat(times))
    }
    writeFileSync(file, life.service.token)
    const given = { SLUICE_TOKEN: kind === "file" ? `file:${file}` : `cmd:echo x >> ${readings}; cat ${file}` }
    const running = life.sync("", 0, given)
    await life.service.requested(20)
    const renewed = await rotate()
    writeFileSync(file, `${renewed}\n`)
    const ran = await running
    await life.equalsService()
    assert.notInclude(ran.stdout + ran.stderr, renewed)
    isReadTimes(2)
    // The reference still has the token that the service has replaced.
    await rotate()
    await life.sync("", 77, given)
    isReadTimes(4)
  })
})

describe("a used-up daily budget", () => {
  it(
    "ends the run with 75 and the time to go on; runs on the next days read the rest, also of a full sync",
    slow,
    async () => {
      const life = await begin(openCore("--limits", "100/500/150", "--contacts", "100"))
      const config = join(newFolder(), "config.toml")
      writeFileSync(config, "[budget]\nreserve_per_day = 0\n")
      const nextDay = () => life.service.post("clock", { advanceMs: 86_400_000 })
      const daysOf = async (flags: string) => {
        for (let days = 1; ; days++) {
          const { code, stderr } = await life.run(["sync", ...flags.split(" ")])
          if (code === 0) return days
          assert.strictEqual(code, 75, stderr)
          assert.match(stderr, /the day's requests are used up/)
          assert.match(stderr, new RegExp(`Next: ./sluice sync ${flags}.*, after \\d{4}-\\d\\d-\\d\\dT`))
          assert.isAtMost(days, 5, "each day makes progress")
          await nextDay()
        }
      }
      await life.sync(`--config ${config}`, 75)
      const { requests, refused429 } = await life.service.stats()
      assert.isAtMost(requests, 150)
      assert.strictEqual(refused429, 0)
      for (const flags of [`--config ${config}`, `--config ${config} --again all`, `--config ${config} --again all`]) {
        await nextDay()
        const days = await daysOf(flags)
        if (flags.endsWith("--again all")) assert.isAbove(days, 1, "a full sync takes more than a day")
      }
      await life.equalsService()
    }
  )

  it("excludes the default reserve for other programs, which is refused if it is not smaller than the limit", async () => {
    const limitedTo = (daily: number) =>
      begin(openAlone("contacts,contact_notes", "--limits", `100/500/${daily}`, "--contacts", "20"))
    const life = await limitedTo(1010)
    await life.sync("", 75)
    assert.isAtMost((await life.service.stats()).requests, 10)
    const small = await limitedTo(900)
    const reserved = /budget\.reserve_per_day reserves 1000 .* the service allows 900.*reserve_per_day = 90 under/s
    assert.match((await small.sync("", 78)).stderr, reserved)
  })
})
