import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { problemSentence, settingsExplanation } from "../../src/run/console/setting-errors.ts"
import type { Environment, Flags } from "../../src/settings/read.ts"
import { checkSettings, outputSettings, syncSettings } from "../../src/settings/settings.ts"
import { newFolder } from "../support/sluice.ts"

const fileOf = (content: string): string => {
  const path = join(newFolder(), "sluice.toml")
  writeFileSync(path, content)
  return path
}
const complete = { SLUICE_BASE_URL: "https://api.test", SLUICE_TOKEN: "token-1", SLUICE_LOCATION_ID: "L" }

/** The sentences about the settings of a sync. */
const sentences = (content: string, environment: Environment = complete, flags: Flags = {}) => {
  const config = fileOf(content)
  return checkSettings({ config, ...flags }, environment).problems.map((problem) =>
    problemSentence(problem).replaceAll(config, "FILE")
  )
}

describe("a value", () => {
  it.effect("comes from the flag, else from the environment, else from the file, else from the default", () =>
    Effect.gen(function* () {
      const config = fileOf("[output]\nfolder = '/file'\nformats = ['csv']\nfile_mb_max = 5\n")
      const environment = { ...complete, SLUICE_OUTPUT: "/environment", SLUICE_FORMATS: "parquet" }
      const folderWith = (flags: Flags, variables: Environment) =>
        Effect.map(outputSettings({ config, ...flags }, variables), ({ folder }) => folder)
      assert.strictEqual(yield* folderWith({ output: "/flag" }, environment), "/flag")
      assert.strictEqual(yield* folderWith({}, environment), "/environment")
      assert.strictEqual(yield* folderWith({}, {}), "/file")
      const { output, accounts } = yield* syncSettings({ config }, environment)
      assert.deepStrictEqual(output.formats, ["parquet"])
      assert.strictEqual(accounts[0]!.api.fileMbMax, 5)
      assert.strictEqual(output.memoryMb, 128)
    })
  )

  it.effect("is not set by an empty variable, and `none` is an empty list of formats", () =>
    Effect.gen(function* () {
      const config = fileOf("[output]\nformats = ['csv']\n")
      const formats = (text: string) =>
        Effect.map(outputSettings({ config }, { SLUICE_FORMATS: text }), ({ formats }) => formats)
      assert.deepStrictEqual(yield* formats(""), ["csv"])
      assert.deepStrictEqual(yield* formats("none"), [])
      assert.deepStrictEqual(yield* formats("csv, duckdb"), ["csv", "duckdb"])
    })
  )

  it("is read from every TOML form that a settings file may use", () => {
    const content = [
      "account = { base_url = 'https://api.test', token = 'tökén-€' }",
      "output.formats = [ # with a comment",
      '  "csv",',
      "]",
      "schema.resources.invoices = 'freeze'",
      "[[locations]]",
      "id = 'N'",
      "[[locations]]",
      "id = 'S'",
      'token = """\ntoken-s"""'
    ].join("\r\n")
    assert.deepStrictEqual(sentences(content, {}), [])
    const { accounts } = checkSettings({ config: fileOf(content) }, {})
    assert.deepStrictEqual(
      accounts.map(({ location }) => location),
      ["N", "S"]
    )
  })
})

describe("a problem is reported with its path, its value and what is expected:", () => {
  it.each([
    ["[account]\nbase_ulr = 'x'", "FILE:2: account.base_ulr: there is no such setting; did you mean account.base_url?"],
    ["[acount]\nbase_url = 'x'", "FILE:1: acount: there is no such setting; did you mean account?"],
    ["[output]\nfrobnicate = 1", "FILE:2: output.frobnicate: there is no such setting."],
    ["output.frobnicate = 1", "FILE:1: output.frobnicate: there is no such setting."],
    ["[account]\nfolder = 'x'", "FILE:2: account.folder: there is no such setting; did you mean output.folder?"],
    [
      "account = { base_url = 'https://api.test', tokn = 'x' }",
      "FILE:1: account.tokn: there is no such setting; did you mean account.token?"
    ],
    [
      '[account]\ncompany_id = """\nbase_ulr = 1\n"""\n[output]\nformts = [\n  \'csv\'\n]',
      "FILE:6: output.formts: there is no such setting; did you mean output.formats?"
    ],
    [
      "[[locations]]\nid = 'L'\ntokn = 'x'",
      "FILE:3: locations[0].tokn: there is no such setting; did you mean locations[0].token?"
    ],
    [
      "[[locations]]\ntoken = 'x'",
      "FILE:1: locations[0].id is missing: Id of the location to read. Set locations[0].id in the settings file."
    ],
    ["locations = ['L']", "FILE:1: locations has a wrong value; expected [[locations]], once for each location."],
    ["output = 'x'", "FILE:1: output has a wrong value; expected a section, [output]."],
    ["[budget]\nburst = 0", "FILE:2: budget.burst is 0; expected a number greater than 0."],
    ["[budget]\nburst = inf", "FILE:2: budget.burst is Infinity; expected a number greater than 0."],
    ["[machine]\nmemory_mb = 95", "FILE:2: machine.memory_mb is 95; expected a number that is 96 or more."],
    ["[deletions]\nmax_share = 30", "FILE:2: deletions.max_share is 30; expected a number from 0 to 1."],
    [
      "[output]\nformats = ['excel']",
      'FILE:2: output.formats is ["excel"]; expected a list of "duckdb", "parquet", "csv", "ndjson" and "lake".'
    ],
    [
      "[account]\nrefresh_token = 7",
      "FILE:2: account.refresh_token has a wrong value; expected a text that is not empty."
    ],
    ["[schema]\npolicy = 'frozen'", 'FILE:2: schema.policy is "frozen"; expected "evolve", "freeze" or "discard".'],
    ["[account\n", "FILE:1:9: this is not valid TOML: Expected ']'."],
    [
      "\n[account]\ntoken = secret-token\n",
      "FILE:3:21: this is not valid TOML: Invalid value, or a text without quotes."
    ]
  ])("%j", (content, sentence) => {
    assert.deepStrictEqual(sentences(content), [sentence])
  })

  it.each([
    [
      { SLUICE_BASE_URL: "ftp://x" },
      'SLUICE_BASE_URL: account.base_url is "ftp://x"; expected an http or https address.'
    ],
    [
      { SLUICE_CONTACT_DETAILS: "yes" },
      'SLUICE_CONTACT_DETAILS: account.contact_details is "yes"; expected true or false.'
    ],
    [
      { SLUICE_FREE_SLOT_DAYS: "-1" },
      "SLUICE_FREE_SLOT_DAYS: account.free_slot_days is -1; expected a number that is 0 or more."
    ],
    [{ SLUICE_TOKEN: "env:NOT_SET" }, "account.token: env:NOT_SET cannot be read: the variable is not set."],
    [{ SLUICE_TOKEN: "cmd:exit 3" }, "account.token: cmd:exit 3 cannot be read: the command failed."]
  ])("%j", (environment, sentence) => {
    assert.deepStrictEqual(sentences("", { ...complete, ...environment }), [sentence])
  })

  it("an empty flag does not fall back to the default", () => {
    assert.deepStrictEqual(sentences("", complete, { location: "" }), [
      '--location: account.location_id is ""; expected a text that is not empty.'
    ])
  })
})

it.effect("everything missing or wrong is reported at once, without secrets", () =>
  Effect.gen(function* () {
    const config = fileOf("[account]\ntokn = 'secret-1'\nclient_secret = ['secret-2']\n[budget]\nburst = 'many'\n")
    const error = yield* Effect.flip(syncSettings({ config }, { SLUICE_CLIENT_ID: "id" }))
    const { message, ends } = settingsExplanation(error)
    assert.strictEqual(ends, "config")
    assert.match(message, /^6 settings are missing or wrong:\n/)
    for (const part of [
      "account.tokn",
      "account.client_secret",
      "budget.burst",
      "account.base_url",
      "account.location_id"
    ])
      assert.include(message, part)
    assert.match(message, /no credentials.* account\.client_secret, account\.refresh_token are missing/)
    assert.notInclude(message, "secret-")
  })
)

it.effect("a secret is read by reference, once even if several locations share it", () =>
  Effect.gen(function* () {
    const counter = fileOf("")
    const config = fileOf(
      `[account]\nbase_url = 'https://api.test'\ntoken = "cmd:echo x >> ${counter}; wc -l < ${counter}"\n`
    )
    const { accounts } = yield* syncSettings({ config, location: "N,S" }, { PATH: process.env["PATH"] })
    assert.deepStrictEqual(
      accounts.map(({ location, secrets }) => [location, ...secrets]),
      [
        ["N", "1"],
        ["S", "1"]
      ]
    )
  })
)
