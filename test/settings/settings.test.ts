import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { settingOf } from "../../src/settings/errors.ts"
import type { Environment, Flags } from "../../src/settings/read.ts"
import { checkSettings, outputSettings, syncSettings } from "../../src/settings/settings.ts"
import { newFolder } from "../support/sluice.ts"

const fileOf = (content: string): string => {
  const path = join(newFolder(), "sluice.toml")
  writeFileSync(path, content)
  return path
}
const complete = { SLUICE_BASE_URL: "https://api.test", SLUICE_TOKEN: "token-1", SLUICE_LOCATION_ID: "L" }

/** What is wrong with the settings of a sync. */
const problemsOf = (content: string, environment: Environment = complete, flags: Flags = {}) => {
  const config = fileOf(content)
  return JSON.parse(
    JSON.stringify(checkSettings({ config, ...flags }, environment).problems).replaceAll(config, "FILE")
  )
}

describe("a value", () => {
  it.effect("comes from the flag, else from the environment, else from the file, else from the default", () =>
    Effect.gen(function* () {
      const config = fileOf("[output]\nfolder = '/file'\nformats = ['csv']\n[files]\nmax_bytes = 5\n")
      const environment = { ...complete, SLUICE_OUTPUT: "/environment", SLUICE_FORMATS: "parquet" }
      const folderWith = (flags: Flags, variables: Environment) =>
        Effect.map(outputSettings({ config, ...flags }, variables), ({ folder }) => folder)
      assert.strictEqual(yield* folderWith({ output: "/flag" }, environment), "/flag")
      assert.strictEqual(yield* folderWith({}, environment), "/environment")
      assert.strictEqual(yield* folderWith({}, {}), "/file")
      const { output, accounts } = yield* syncSettings({ config }, environment)
      assert.deepStrictEqual(output.formats, ["parquet"])
      assert.strictEqual(accounts[0]!.api.fileBytesMax, 5)
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

  it.effect("that is a path is relative to the file that has it, wherever the command is run", () =>
    Effect.gen(function* () {
      const config = fileOf(
        [
          "[output]\nfolder = 'data'",
          "[models]\nfolder = '../models'",
          "[account]\ntoken = 'file:token'",
          "[[publish]]\nname = 'lake'\nlake = 's3://bucket/lake'\ncatalog = 'lake.db'\nprofile = 'raw'",
          "[[publish]]\nname = 'a'\nfolder = 'team'\nprofile = 'raw'",
          "[[publish]]\nname = 'b'\nfolder = '/srv/team'\nprofile = 'raw'",
          "[[publish]]\nname = 'c'\nsqlite = 'crm.sqlite'\nprofile = 'raw'",
          "[[publish]]\nname = 'd'\nfolder = 's3://bucket/team'\nprofile = 'raw'"
        ].join("\n")
      )
      const folder = dirname(config)
      writeFileSync(join(folder, "token"), "token-2")
      const { SLUICE_TOKEN: _, ...environment } = complete
      const { output, accounts } = yield* syncSettings({ config }, environment)
      assert.strictEqual(output.folder, join(folder, "data"))
      assert.strictEqual(output.models?.folder, join(folder, "../models"))
      const [lake, ...others] = output.publishing.targets.map(({ destination }) => destination)
      assert.strictEqual(lake?.place, "s3://bucket/lake/")
      assert.deepInclude(lake!.kind === "lake" ? lake!.access() : assert.fail(lake!.kind), {
        success: {
          catalog: { kind: "file", path: join(folder, "lake.db") },
          s3: { key: undefined, secret: undefined, region: "us-east-1", endpoint: undefined }
        }
      })
      assert.deepStrictEqual(
        others.map(({ place }) => place),
        [join(folder, "team"), "/srv/team", join(folder, "crm.sqlite"), "s3://bucket/team"]
      )
      assert.deepStrictEqual(accounts[0]!.secrets, ["token-2"])
      const { sources } = checkSettings({ config }, environment).settings
      assert.strictEqual(sources.find(({ path }) => path === "output.folder")?.shown, join(folder, "data"))
      // A flag and a variable are relative to the current folder.
      const flagged = yield* outputSettings({ config, output: "data" }, environment)
      assert.strictEqual(flagged.folder, resolve("data"))
    })
  )

  it("is read from every TOML form that a settings file may use", () => {
    const content = [
      "account = { base_url = 'https://api.test', token = 'tökén-£' }",
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
    assert.deepStrictEqual(problemsOf(content, {}), [])
    const { accounts } = checkSettings({ config: fileOf(content) }, {})
    assert.deepStrictEqual(
      accounts.map(({ location }) => location),
      ["N", "S"]
    )
  })
})

describe("a problem is reported with its place, its value and what is expected:", () => {
  const unknown = (path: string, closest?: string) => ({ _tag: "UnknownSetting", path, ...(closest && { closest }) })
  const wrongValue = (path: string, value: string | undefined, expected: string) => ({
    _tag: "WrongValue",
    path,
    expected,
    ...(value !== undefined && { value })
  })
  it.each([
    ["[account]\nbase_ulr = 'x'", "FILE:2", unknown("account.base_ulr", "account.base_url")],
    ["[acount]\nbase_url = 'x'", "FILE:1", unknown("acount", "account")],
    ["[output]\nfrobnicate = 1", "FILE:2", unknown("output.frobnicate")],
    ["output.frobnicate = 1", "FILE:1", unknown("output.frobnicate")],
    ["[account]\nfolder = 'x'", "FILE:2", unknown("account.folder", "output.folder")],
    ["account = { base_url = 'https://api.test', tokn = 'x' }", "FILE:1", unknown("account.tokn", "account.token")],
    [
      '[account]\ncompany_id = """\nbase_ulr = 1\n"""\n[output]\nformts = [\n  \'csv\'\n]',
      "FILE:6",
      unknown("output.formts", "output.formats")
    ],
    ["[[locations]]\nid = 'L'\ntokn = 'x'", "FILE:3", unknown("locations[0].tokn", "locations[0].token")],
    [
      "[[locations]]\ntoken = 'x'",
      "FILE:1",
      { _tag: "Missing", path: "locations[0].id", description: "Id of the location to read." }
    ],
    ["locations = ['L']", "FILE:1", wrongValue("locations", undefined, "[[locations]], once for each location")],
    ["output = 'x'", "FILE:1", wrongValue("output", undefined, "a section, [output]")],
    ["[budget]\nburst = 0", "FILE:2", wrongValue("budget.burst", "0", "a number greater than 0")],
    ["[budget]\nburst = inf", "FILE:2", wrongValue("budget.burst", "Infinity", "a number greater than 0")],
    ["[machine]\nmemory_mb = 95", "FILE:2", wrongValue("machine.memory_mb", "95", "a number that is 96 or more")],
    ["[deletions]\nmax_share = 30", "FILE:2", wrongValue("deletions.max_share", "30", "a number from 0 to 1")],
    [
      "[output]\nformats = ['excel']",
      "FILE:2",
      wrongValue("output.formats", '["excel"]', 'a list of "duckdb", "parquet", "csv" and "ndjson"')
    ],
    [
      "[account]\nrefresh_token = 7",
      "FILE:2",
      wrongValue("account.refresh_token", undefined, "a text that is not empty")
    ],
    [
      "[schema]\npolicy = 'frozen'",
      "FILE:2",
      wrongValue("schema.policy", '"frozen"', '"evolve", "freeze" or "discard"')
    ],
    [
      "[schema.resources]\ncontacts = 'frozen'",
      "FILE:1",
      wrongValue(
        "schema.resources",
        '{"contacts":"frozen"}',
        'a table whose values are "evolve", "freeze" or "discard"'
      )
    ],
    ["[account\n", "FILE:1:9", { _tag: "InvalidToml", message: "Expected ']'" }],
    [
      "\n[account]\ntoken = secret-token\n",
      "FILE:3:21",
      { _tag: "InvalidToml", message: "Invalid value, or a text without quotes" }
    ]
  ])("%j", (content, where, what) => {
    assert.deepStrictEqual(problemsOf(content), [{ level: "wrong", where, what }])
  })

  it.each([
    [
      { SLUICE_BASE_URL: "ftp://x" },
      "SLUICE_BASE_URL",
      wrongValue("account.base_url", '"ftp://x"', "an http or https address")
    ],
    [
      { SLUICE_CONTACT_DETAILS: "yes" },
      "SLUICE_CONTACT_DETAILS",
      wrongValue("account.contact_details", '"yes"', "true or false")
    ],
    [
      { SLUICE_FREE_SLOT_DAYS: "-1" },
      "SLUICE_FREE_SLOT_DAYS",
      wrongValue("account.free_slot_days", "-1", "a number that is 0 or more")
    ],
    [
      { SLUICE_TOKEN: "env:NOT_SET" },
      "account.token",
      { _tag: "SecretUnavailable", reference: "env:NOT_SET", cause: "the variable is not set" }
    ],
    [
      { SLUICE_TOKEN: "cmd:exit 3" },
      "account.token",
      {
        _tag: "SecretUnavailable",
        reference: "what its command prints",
        cause: "the command ended with exit code 3; run it by hand to see why"
      }
    ]
  ])("%j", (environment, where, what) => {
    assert.deepStrictEqual(problemsOf("", { ...complete, ...environment }), [{ level: "wrong", where, what }])
  })

  it("an empty flag does not fall back to the default", () => {
    const what = wrongValue("account.location_id", '""', "a text that is not empty")
    assert.deepStrictEqual(problemsOf("", complete, { location: "" }), [{ level: "wrong", where: "--location", what }])
  })
})

it.effect("everything missing or wrong is reported at once, without secrets", () =>
  Effect.gen(function* () {
    const config = fileOf("[account]\ntokn = 'secret-1'\nclient_secret = ['secret-2']\n[budget]\nburst = 'many'\n")
    const { problems } = yield* Effect.flip(syncSettings({ config }, { SLUICE_CLIENT_ID: "id" }))
    assert.sameMembers(problems.map(settingOf), [
      "account.tokn",
      "account.client_secret",
      "budget.burst",
      "account.base_url",
      "account.location_id",
      "account.token"
    ])
    assert.deepInclude(
      problems.map(({ what }) => what),
      { _tag: "NoCredentials", missing: ["account.client_secret", "account.refresh_token"] }
    )
    assert.notInclude(JSON.stringify(problems), "secret-")
  })
)

it.effect("a message names the setting of each location's token, and no secret", () =>
  Effect.gen(function* () {
    const listed = `[[locations]]\nid = "N"\ntoken = "env:NORTH"\n[[locations]]\nid = "P"\ntoken = "pit-0815"\n[[locations]]\nid = "C"\ntoken = "cmd:echo pit-0815"\n[[locations]]\nid = "S"\n`
    const names = (content: string, environment: Readonly<Record<string, string>>) =>
      Effect.map(
        syncSettings({ config: fileOf(`[account]\nbase_url = "https://api.test"\n${content}`) }, environment),
        ({ accounts }) => accounts.map(({ tokenName }) => tokenName)
      )
    const own = ["locations.N.token (env:NORTH)", "locations.P.token", "locations.C.token"]
    const environment = { NORTH: "pit-1", OTHER: "pit-2", PATH: process.env["PATH"]! }
    assert.deepStrictEqual(yield* names(`token = "env:OTHER"\n${listed}`, environment), [
      ...own,
      "account.token (env:OTHER)"
    ])
    assert.deepStrictEqual(yield* names(listed, { ...environment, SLUICE_TOKEN: "pit-2" }), [...own, "SLUICE_TOKEN"])
    const one = { SLUICE_LOCATION_ID: "X", OTHER: "pit-2" }
    const ofFleet = { ...one, SLUICE_TOKEN: "env:OTHER", SLUICE_FLEET_TOKEN_NAME: "fleet.token" }
    assert.deepStrictEqual(yield* names("", ofFleet), ["fleet.token (env:OTHER)"])
    const app = { SLUICE_CLIENT_ID: "a", SLUICE_CLIENT_SECRET: "b", SLUICE_REFRESH_TOKEN: "c" }
    assert.deepStrictEqual(yield* names("", { ...one, ...app }), ["SLUICE_REFRESH_TOKEN"])
    assert.deepStrictEqual(yield* names("", { ...one, ...app, SLUICE_FLEET_TOKEN_NAME: "fleet.token" }), [
      "fleet.refresh_token"
    ])
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

describe("the address of a PostgreSQL target", () => {
  const target = (address: string) =>
    `[[publish]]\nname = 'd'\npostgres = ${JSON.stringify(address)}\nprofile = 'raw'\n`
  it.each(["100%", "%", "50%off", "a%2", "%zz", "%ff", "100%25%"])(
    "with the password %s is refused by its name",
    (password) => {
      const address = `postgres://user:${password}@host/crm`
      for (const found of [
        problemsOf(target(address)),
        problemsOf(target("env:PLACE"), { ...complete, PLACE: address })
      ]) {
        const text = JSON.stringify(found)
        assert.include(text, "publish[0].postgres")
        assert.include(text, "write a % of the password as %25")
        assert.notInclude(text, address)
      }
    }
  )
  it.each(["100%25", "a%40b", "plain", "%C3%BC"])("with the password %s is right", (password) => {
    assert.deepStrictEqual(problemsOf(target(`postgres://user:${password}@host/crm`)), [])
  })
  it("in the form of words is left as it is", () => {
    assert.deepStrictEqual(problemsOf(target("host=/run/postgresql password=100% dbname=crm")), [])
  })
})

describe("a path that a person types", () => {
  it.each(["~/crm", "~", "a/~/b", "/srv/~/crm"])("as %s is refused, because no shell has expanded it", (path) => {
    for (const [text, setting] of [
      [`[output]\nfolder = "${path}"`, "output.folder"],
      [`[[publish]]\nname = "a"\nprofile = "raw"\nfolder = "${path}"`, "publish[0].folder"],
      [`[[publish]]\nname = "a"\nprofile = "raw"\nsqlite = "${path}"`, "publish[0].sqlite"],
      [`[models]\nfolder = "${path}"`, "models.folder"]
    ] as const) {
      const found = JSON.stringify(problemsOf(text))
      assert.include(found, setting)
      assert.include(found, "without ~, which only a shell expands")
    }
    assert.include(JSON.stringify(problemsOf("", complete, { output: path })), "without ~")
  })
  it.each(["crm~", "a~b/crm", "~crm"])("as %s is right", (path) =>
    assert.deepStrictEqual(problemsOf(`[output]\nfolder = "/srv/${path}"`), [])
  )
  it.each(["what?", "/srv/a?b/crm"])("as %s is refused where DuckDB has its files", (path) => {
    assert.include(JSON.stringify(problemsOf(`[output]\nfolder = "${path}"`)), "without ?")
    assert.include(JSON.stringify(problemsOf("", complete, { output: path })), "without ?")
    const target = `[[publish]]\nname = "a"\nprofile = "raw"\nfolder = "${path}"`
    assert.include(JSON.stringify(problemsOf(target)), "DuckDB cannot have a ?")
  })
})

it.effect("a location is named by any source: a flag that selects one takes none out of the settings", () =>
  Effect.gen(function* () {
    const config = fileOf("[account]\nlocation_id = 'file'\n[[locations]]\nid = 'one'\n[[locations]]\nid = 'two'\n")
    const namedIn = (flags: Flags, environment: Environment) =>
      Effect.map(outputSettings({ config, ...flags }, environment), ({ wanted }) => [...wanted!.named].toSorted())
    assert.deepStrictEqual(yield* namedIn({}, {}), ["file", "one", "two"])
    assert.deepStrictEqual(yield* namedIn({ location: "two" }, { SLUICE_LOCATION_ID: "three, four" }), [
      "file",
      "four",
      "one",
      "three",
      "two"
    ])
  })
)
