/** What doctor says of drawn answers of a service: each line computed a second time, without a request. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { TestClock } from "effect/testing"
import { at } from "../../src/catalog/json.ts"
import type { DoctorFinding } from "../../src/features/doctor/finding.ts"
import { service } from "../../src/features/doctor/service.ts"
import { Api, type ApiResponse, type Call } from "../../src/stages/api/api.ts"
import { BudgetExhausted, Forbidden, RequestRejected, Unavailable } from "../../src/stages/api/errors.ts"
import { contacts } from "../../pipelines/crm/contacts.ts"
import { contactNotes } from "../../pipelines/crm/contact_notes.ts"
import { forms } from "../../pipelines/forms/forms.ts"
import { users } from "../../pipelines/account/users.ts"
import { randomFrom } from "../support/random.ts"

const now = Date.UTC(2026, 5, 1)
const resources = [contacts, contactNotes, forms, users]

it.effect.each(Array.from({ length: 40 }, (_, seed) => seed + 1))("each line says what was answered: %i", (seed) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(now)
    const random = randomFrom(seed)
    const isSo = (share = 0.5) => random() < share
    const drift = isSo(0.2) ? undefined : Math.round((random() - 0.5) * 400) * 1000
    const name = isSo() ? `name ${seed}` : undefined
    const isAgency = isSo(0.3)
    const usage = {
      burst: 10 + seed,
      windowMs: 5000,
      dailyRemaining: isSo(0.2) ? undefined : Math.floor(random() * 4000)
    }
    const reserve = Math.floor(random() * 3000)
    const answers = new Map(
      ["contacts.readonly", "forms.readonly", "users.readonly"].map((scope) => {
        const way = Math.floor(random() * 6)
        return [
          scope,
          {
            isRefused: way === 0,
            isUnclear: way === 1 || way === 2,
            error:
              way === 0
                ? new Forbidden({ message: `403 of ${scope}` })
                : way === 1
                  ? new Unavailable({ message: `503 of ${scope}`, later: false })
                  : way === 2
                    ? new RequestRejected({ message: `404 of ${scope}`, status: 404 })
                    : // Whoever may not read it would not be told that it is not there.
                      way === 3
                      ? new RequestRejected({ message: "no such", status: 404, refusal: "no such" })
                      : undefined
          }
        ] as const
      })
    )
    const scopeOf = ({ request }: Call) =>
      /form/.test(request.path) ? "forms.readonly" : /user/.test(request.path) ? "users.readonly" : "contacts.readonly"
    let sent = 0
    const answer = (body: unknown): ApiResponse => ({
      bytes: Buffer.alloc(0),
      body,
      hasBigNumbers: false,
      at: now,
      serviceTime: drift === undefined ? undefined : now + drift - 500
    })
    const outOfBudget = isSo(0.1) ? new BudgetExhausted({ message: "used up", resumeAt: now + 1000 }) : undefined
    const send = (
      call: Call
    ): Effect.Effect<ApiResponse, Forbidden | Unavailable | RequestRejected | BudgetExhausted> => {
      sent++
      if (call.request.path === "/locations/north")
        return Effect.succeed(answer({ location: { name, companyId: "C" } }))
      if (call.request.path === "/locations/search") {
        assert.strictEqual(call.request.parameters["companyId"], "C")
        return Effect.succeed(answer({ locations: [{ id: "north" }, ...(isAgency ? [{ id: "south" }] : [])] }))
      }
      if (outOfBudget) return Effect.fail(outOfBudget)
      const error = answers.get(scopeOf(call))!.error
      return error === undefined ? Effect.succeed(answer({ contacts: [{ id: "c1" }] })) : Effect.fail(error)
    }
    const api = {
      send,
      usage: () => usage,
      get requestsByResource() {
        return new Map([["doctor", sent]])
      }
    } as unknown as Api["Service"]
    const account = {
      location: "north",
      company: undefined,
      optional: {},
      tokenName: "SLUICE_TOKEN",
      api: { limits: { reservePerDay: reserve } }
    } as never
    const catalogue = { resources, familyByTable: new Map<string, string>() }
    const explained = () => assert.fail("nothing else fails")
    const lines: ReadonlyArray<DoctorFinding> = yield* service({ catalogue, account, explained }).pipe(
      Effect.provideService(Api, api)
    )

    const found = (where: string) => lines.filter((one) => one.where === where)
    const [token] = found("token")
    assert.deepStrictEqual(token, {
      level: "ok",
      where: "token",
      what: `accepted for location north${name === undefined ? "" : `, ${name}`}`
    } as never)
    const seconds = Math.abs(drift ?? 0) / 1000
    const [clock] = found("clock")
    assert.deepStrictEqual(
      [clock!.level, clock!.what],
      drift === undefined
        ? ["warning", "the service sends no time"]
        : seconds <= 60
          ? ["ok", `within ${Math.max(seconds, 1)} s of the service's`]
          : ["warning", `this machine is ${seconds} s ${drift > 0 ? "behind" : "ahead of"} the service`]
    )
    const { dailyRemaining } = usage
    const [budget] = found("budget")
    const counted = (value: number) => value.toLocaleString("en-US")
    assert.deepStrictEqual(
      [budget!.level, budget!.what, budget!.ends],
      dailyRemaining === undefined
        ? ["warning", `${10 + seed} requests in 5 s; the service does not report how many are left today`, undefined]
        : [
            dailyRemaining > reserve ? "ok" : "wrong",
            `${10 + seed} requests in 5 s, ${counted(dailyRemaining)} left today, ${counted(reserve)} reserved for other programs`,
            dailyRemaining > reserve ? undefined : "later"
          ]
    )
    if (outOfBudget) {
      assert.deepStrictEqual(
        found("scopes").map(({ level, next, what }) => [level, what, next]),
        [["warning", "not checked: used up", `./sluice doctor, after ${new Date(now + 1000).toISOString()}`]]
      )
      return
    }
    const isRefused = [...answers.values()].some((one) => one.isRefused)
    if (isRefused && isAgency) {
      assert.deepStrictEqual(found("scopes"), [])
      assert.match(found("token")[1]!.what, /^the token is that of an agency/)
      return
    }
    const granted = [...answers.values()].filter((one) => !one.isRefused && !one.isUnclear).length
    const tables: Readonly<Record<string, ReadonlyArray<string>>> = {
      "contacts.readonly": ["contacts", "contact_notes"],
      "forms.readonly": ["forms"],
      "users.readonly": ["users"]
    }
    assert.deepStrictEqual(
      found("scopes").map(({ ends, level, what }) => ({ ends, level, what })),
      [
        {
          ends: undefined,
          level: "ok" as const,
          what: `${granted} of 3 checked scopes are granted, ${sent} requests in all`
        },
        ...[...answers].flatMap(([scope, { error, isRefused, isUnclear }]): ReadonlyArray<object> => {
          const why = at(error, "message")
          if (isRefused)
            return [
              {
                ends: "credentials" as const,
                level: "wrong" as const,
                what: `${scope} is missing, so these cannot be read: ${tables[scope]!.join(", ")} (${String(why)})`
              }
            ] as const
          return isUnclear
            ? [{ ends: undefined, level: "warning", what: `${scope} could not be checked: ${String(why)}` }]
            : []
        })
      ] as never
    )
    for (const { level, next, what } of found("scopes"))
      if (level === "wrong") assert.include(next, `--except ${tables[what.split(" ")[0]!]!.join(",")}`)
  })
)
