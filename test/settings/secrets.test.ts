import { assert, describe, it } from "@effect/vitest"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { secretReader } from "../../src/settings/secrets.ts"

const environment = { PATH: process.env["PATH"] }
const read = (text: string, path = "account.token", commandMs?: number) =>
  Result.map(secretReader(environment, commandMs)(text, path), Redacted.value)

describe("a token", () => {
  const token = "pit-0815-4711"
  it.each([
    [`'${token}'`, "quotation marks around it"],
    [`\`${token}\``, "quotation marks around it"],
    [`"${token}`, "quotation marks"],
    [`${token}",`, "quotation marks"],
    [`Bearer ${token}`, "Bearer"],
    [`bearer\t${token}`, "Bearer"],
    ["Bearer", "Bearer"],
    [`Authorization: Bearer ${token}`, "Bearer"],
    [`Bearer%20${token}`, "Bearer"],
    [`${token} # the agency`, "comment"],
    [`${token} // the agency`, "comment"],
    [`${token}#agency`, "comment"],
    [`${token};`, "after it"],
    [`pit-0815 4711`, "blank inside"],
    [`pit-0815\u00a04711`, "blank inside"],
    [`${token}\\n`, "line end"],
    [`${token}\\r\\n`, "line end"],
    [`SLUICE_TOKEN=${token}`, "equals sign"],
    ["${CRM_TOKEN}", "placeholder"],
    ["<your token>", "placeholder"],
    ["{{ token }}", "placeholder"],
    [`"env:CRM_TOKEN"`, "quotation marks around it"]
  ])("%j is refused, without a part of it in the message", (text, why) => {
    for (const path of ["account.token", "account.refresh_token", "locations.N.token", "fleet.agency_token"]) {
      const found = read(text, path)
      assert.isTrue(Result.isFailure(found), path)
      if (!Result.isFailure(found)) continue
      const { cause, reference } = found.failure.what
      assert.include(cause, why)
      assert.notMatch(cause + reference, /0815|4711|CRM/)
    }
  })

  it.each([
    [token],
    [`${token}\r\n`],
    [`  ${token} `],
    ["eyJhbGciOi.J9-_x.c2ln"],
    ["c2VjcmV0=="],
    ["1//0gM.C5~x"],
    ["a:b|c!d*e"]
  ])("%j is taken", (text) => {
    for (const path of ["account.token", "account.client_secret"])
      assert.deepStrictEqual(read(text, path), Result.succeed(text.trim()))
  })
})

it.each([
  ["account.client_secret", "a#b$c;d", true],
  ["account.client_secret", "'secret'", false],
  ["publish[0].s3_secret", "a/b+c=", true],
  ["publish[0].s3_secret", "a/b+c= # archive", false],
  ["fleet.s3_key", '"AKIA"', false],
  ["listen.secret", "correct horse battery", true],
  ["listen.secret", '"correct horse battery"', false],
  ["fleet.database", "postgres:dbname=a password='b c'", true],
  ["fleet.database", "'postgres://db.example.com/crm'", false],
  ["signals.webhook_url", '"https://hooks.example.com/x"', false]
])("%s may be %j: %j", (path, text, isTaken) => {
  assert.strictEqual(Result.isSuccess(read(text, path)), isTaken)
})

describe("a command", () => {
  it.each([
    ["exit 3 # hvs.0815", "ended with exit code 3"],
    ["hvs.0815", "ended with exit code 127"],
    ["echo 'hvs.0815", "ended with exit code 2"],
    ["kill -9 $$; hvs.0815", "ended with SIGKILL"],
    [": hvs.0815", "printed nothing"],
    ["echo hvs.0815; echo hvs.0815", "line break inside"],
    ["sleep 5; echo hvs.0815", "was stopped after 0.2 s"],
    ["echo hvs.0815; yes hvs.0815", "could not be run"]
  ])("%j is in no message", (command, why) => {
    const found = read(`cmd:${command}`, "account.token", 200)
    assert.isTrue(Result.isFailure(found))
    if (!Result.isFailure(found)) return
    assert.strictEqual(found.failure.where, "account.token")
    assert.include(found.failure.what.cause, why)
    assert.notInclude(JSON.stringify(found.failure), "hvs")
  })

  it("is the secret that it prints", () => {
    assert.deepStrictEqual(read("cmd:echo pit-0815; echo oops >&2"), Result.succeed("pit-0815"))
  })
})
