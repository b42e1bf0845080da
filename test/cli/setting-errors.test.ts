import { assert, it } from "@effect/vitest"
import { problemSentence, settingsExplanation } from "../../src/console/setting-errors.ts"
import { type SettingProblem, SettingsError, missing } from "../../src/settings/errors.ts"
import { setting, text } from "../../src/values/setting.ts"
import { wrong } from "../../src/values/finding.ts"

const baseUrl = setting(text, { description: "Address of the API.", environment: "SLUICE_BASE_URL", flag: "baseUrl" })
const all: ReadonlyArray<readonly [SettingProblem, sentence: string]> = [
  [wrong("s.toml", { _tag: "FileNotFound" }), "The settings file s.toml does not exist."],
  [wrong("s.toml", { _tag: "FileUnreadable", cause: "EACCES" }), "The settings file s.toml cannot be read: EACCES."],
  [
    wrong("s.toml:1:9", { _tag: "InvalidToml", message: "Expected ']'" }),
    "s.toml:1:9: this is not valid TOML: Expected ']'."
  ],
  [
    wrong("s.toml:2", { _tag: "UnknownSetting", path: "account.base_ulr", closest: "account.base_url" }),
    "s.toml:2: account.base_ulr: there is no such setting; did you mean account.base_url?"
  ],
  [
    wrong("s.toml:2", { _tag: "UnknownSetting", path: "output.frobnicate" }),
    "s.toml:2: output.frobnicate: there is no such setting."
  ],
  [
    wrong("s.toml:2", { _tag: "WrongValue", path: "budget.burst", value: "0", expected: "a number greater than 0" }),
    "s.toml:2: budget.burst is 0; expected a number greater than 0."
  ],
  [
    wrong("s.toml:2", { _tag: "WrongValue", path: "account.token", expected: "a text that is not empty" }),
    "s.toml:2: account.token has a wrong value; expected a text that is not empty."
  ],
  [
    missing("account.base_url", baseUrl),
    "account.base_url is missing: Address of the API. Set SLUICE_BASE_URL or --base-url or account.base_url in the settings file."
  ],
  [
    wrong("s.toml:1", { _tag: "Missing", path: "locations[0].id", description: "Id of the location to read." }),
    "s.toml:1: locations[0].id is missing: Id of the location to read. Set locations[0].id in the settings file."
  ],
  [
    wrong("account.token", { _tag: "NoCredentials", missing: ["account.client_secret", "account.refresh_token"] }),
    "There are no credentials: account.token (SLUICE_TOKEN) is missing, and for an OAuth app account.client_secret, account.refresh_token are missing."
  ],
  [
    wrong("account.token", { _tag: "SecretUnavailable", reference: "env:T", cause: "the variable is not set" }),
    "account.token: env:T cannot be read: the variable is not set."
  ],
  [
    wrong("s.toml:4", {
      _tag: "TargetConflict",
      path: "publish[1].name",
      value: "a",
      other: "another target has this name"
    }),
    "s.toml:4: publish[1].name is a, and another target has this name. Name another one."
  ],
  [
    wrong("s.toml:5", { _tag: "UnknownTable", table: "contcts", closest: "contacts" }),
    "s.toml:5: tables: there is no table or family contcts; did you mean contacts?"
  ],
  [
    wrong("masking.key", { _tag: "KeyUnusable", reference: "file:/k", cause: "it has 3 bytes" }),
    "masking.key: file:/k cannot be used as a key: it has 3 bytes."
  ],
  [
    wrong("s.toml:6", { _tag: "UnknownResource", resource: "contcts" }),
    "s.toml:6: schema.resources.contcts: there is no such resource."
  ],
  [
    wrong("s.toml:7", { _tag: "UnknownField", field: "contacts" }),
    "s.toml:7: schema.accepted: contacts does not name a table and one of its fields, as in contacts.loyaltyTier."
  ]
]

it.each(all)("%j has a sentence", (problem, sentence) => assert.strictEqual(problemSentence(problem), sentence))

it("several problems are listed, and init is the next step only if nothing but settings is missing", () => {
  const [absent, misspelt] = [missing("account.base_url", baseUrl), all[3]![0]]
  const both = settingsExplanation(new SettingsError({ problems: [absent, misspelt] }))
  assert.strictEqual(both.ends, "config")
  assert.match(both.message, /^2 settings are missing or wrong:\n {2}account\.base_url is missing.*\n {2}s\.toml:2: /)
  assert.match(both.next, /^Correct this/)
  assert.match(settingsExplanation(new SettingsError({ problems: [absent] })).next, /^Run \.\/sluice init/)
})
