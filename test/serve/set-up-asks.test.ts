/** What set-up asks the other commands, and what it makes of their answers: each call and each field, of drawn accounts. */
import { assert, it } from "@effect/vitest"
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Printed } from "../../src/run/process.ts"
import type { Ask } from "../../src/features/serve/ask.ts"
import { checkSetup } from "../../src/features/serve/set-up.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"

interface Call {
  readonly args: ReadonlyArray<string>
  readonly flags: ReadonlyArray<string>
  readonly environment: Readonly<Record<string, string | undefined>>
}
const folder = newFolder()
const baseUrl = "https://crm.example.com"
const withoutDraft = (flags: ReadonlyArray<string>) =>
  flags.map((one) => one.replace(/^(--config=).*\/sluice-set-up-\w+/, "$1DRAFT"))

it.each(Array.from({ length: 30 }, (_, seed) => seed + 1))(
  "each location is asked with its own token alone, and shown with its own answers: %i",
  async (seed) => {
    const random = randomFrom(seed)
    const maybe = <A>(value: A) => (random() < 0.5 ? value : undefined)
    const error = (what: string) => ({ code: "usage", message: `${what} is wrong: correct --token-ref.` })
    const nexts = [undefined, "Wait.", "./sluice init --token-ref env:X", "Copy it again - from the page."]
    const locations = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, index) => {
      const id = `location-${index}`
      const isApp = index === 0 && random() < 0.4
      const reference = random() < 0.4 ? `env:SLUICE_TOKEN_${index}` : `pit-${index}`
      const secrets = { clientId: `client-${index}`, clientSecret: `secret-${index}`, refreshToken: `refresh-${index}` }
      const next = nexts[Math.floor(random() * nexts.length)]
      const of = (command: string): Printed => ({
        schema: "",
        exitCode: 0,
        ...(next !== undefined && { next }),
        ...(random() < 0.3 && { error: error(`${command} of ${id}`) })
      })
      const numbers = {
        requests: seed * 10 + index,
        elapsedMs: seed + index,
        likely: maybe({ low: index, high: seed })
      }
      return {
        id,
        isApp,
        next,
        given: isApp ? { id, app: secrets } : { id, token: reference },
        reference,
        answers: {
          init: { ...of("init"), data: maybe({ account: `account ${index}` }) },
          doctor: { ...of("doctor"), data: maybe({ lines: [`line of ${id}`] }) },
          plan: { ...of("plan"), data: maybe({ ...numbers, omitted: [`omitted of ${id}`], more: "unseen" }) }
        } as Readonly<Record<string, Printed>>
      }
    })
    const calls: Array<Call> = []
    const drafts = new Set<string>()
    const ask = {
      json: async (args: ReadonlyArray<string>, flags: ReadonlyArray<string>, environment: Call["environment"]) => {
        calls.push({ args, flags: withoutDraft(flags), environment })
        const draft = flags.find((one) => one.includes("sluice-set-up-"))?.slice("--config=".length)
        if (draft !== undefined) {
          assert.isTrue(existsSync(dirname(draft)))
          drafts.add(dirname(draft))
        }
        const of = [...args, ...flags].find((one) => one.startsWith("--location="))!.slice("--location=".length)
        return locations.find(({ id }) => id === of)!.answers[args[0]!]!
      }
    } as unknown as Ask
    const output = join(folder, `output-${seed}`)
    const options = { path: join(folder, "none.toml"), output, ask, environment: { SLUICE_BASE_URL: baseUrl } }
    const found = await checkSetup(options, {
      baseUrl,
      formats: ["csv"],
      locations: locations.map(({ given }) => given)
    })

    const problemOf = ({ error, next }: Printed) =>
      error && {
        message: error.message.replace("--token-ref", "the token"),
        ...(next !== undefined && !next.includes("--token-ref") && { next })
      }
    assert.deepStrictEqual(JSON.parse(JSON.stringify(found)), {
      locations: locations.map(({ answers, id, isApp }) => {
        const { doctor, init, plan } = answers as Readonly<Record<"init" | "doctor" | "plan", Printed>>
        if (!isApp && init.error) return { id, problem: problemOf(init) }
        const { account } = (isApp ? {} : (init.data ?? {})) as { readonly account?: string }
        const { elapsedMs, likely, omitted, requests } = (plan.data ?? {}) as Record<string, unknown>
        return {
          id,
          ...(account !== undefined && { name: account }),
          ...(plan.error && { problem: problemOf(plan) }),
          findings: (doctor.data as { readonly lines?: unknown } | undefined)?.lines ?? [],
          ...(plan.data !== undefined && {
            plan: { requests, elapsedMs, ...(likely !== undefined && { likely }), omitted }
          })
        }
      })
    })
    assert.deepStrictEqual(
      calls,
      locations.flatMap(({ answers, id, isApp, reference }) => {
        const account = [`--base-url=${baseUrl}`, `--location=${id}`]
        const index = id.slice("location-".length)
        const environment: Call["environment"] = isApp
          ? {
              SLUICE_CLIENT_ID: `client-${index}`,
              SLUICE_CLIENT_SECRET: `secret-${index}`,
              SLUICE_REFRESH_TOKEN: `refresh-${index}`
            }
          : { SLUICE_TOKEN: reference }
        const shown = reference.startsWith("env:") ? reference : "env:SLUICE_TOKEN"
        const flags = ["--config=/dev/null", ...account, `--output=${output}`]
        return [
          ...(isApp
            ? []
            : [
                {
                  args: ["init", ...account, `--token-ref=${shown}`],
                  flags: ["--config=DRAFT/sluice.toml"],
                  environment
                }
              ]),
          ...(!isApp && answers["init"]!.error
            ? []
            : ["doctor", "plan"].map((one) => ({ args: [one], flags, environment })))
        ]
      })
    )
  }
)
