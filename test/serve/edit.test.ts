/** Settings files that are changed by the page: what was not changed is the same, byte by byte. */
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { parse } from "effect/encoding/Toml"
import { exampleToml } from "../../src/settings/documents.ts"
import { withChanges, withItem, withoutItem } from "../../src/settings/edit.ts"

const example = exampleToml()
const changed = (content: string, changes: Readonly<Record<string, unknown>>) =>
  Result.getOrElse(withChanges(content, changes), (problem) => `REFUSED ${problem}`)
const added = (content: string, list: string, values: Readonly<Record<string, unknown>>, name?: string) =>
  Result.getOrElse(withItem(content, list, values, name), (problem) => `REFUSED ${problem}`)

describe("a change", () => {
  const cases: ReadonlyArray<readonly [what: string, before: string, after: string]> = [
    ["of a value", '[output]\nformats = ["csv"]\n', '[output]\nformats = ["duckdb"]\n'],
    [
      "with a comment behind it",
      '[output]\nformats = ["csv"] # "#" why\n',
      '[output]\nformats = ["duckdb"] # "#" why\n'
    ],
    [
      "of a value of several lines",
      '[output]\nformats = [\n  "csv", # one\n]\nfolder = "x"\n',
      '[output]\nformats = ["duckdb"]\nfolder = "x"\n'
    ],
    ["of a dotted key", 'output.formats = ["csv"]\n', 'output.formats = ["duckdb"]\n'],
    [
      "of a section without the key",
      '[output]\n# Folder.\nfolder = "x"\n',
      '[output]\nformats = ["duckdb"]\n# Folder.\nfolder = "x"\n'
    ],
    ["of a section that is not there", "[files]\n", '[files]\n\n[output]\nformats = ["duckdb"]\n'],
    ["of an empty file", "", '[output]\nformats = ["duckdb"]\n'],
    [
      "beside a text that looks like the key",
      'a = """\n[output]\nformats = []\n"""\n',
      'a = """\n[output]\nformats = []\n"""\n\n[output]\nformats = ["duckdb"]\n'
    ],
    [
      "of an inline table",
      'output = { formats = ["csv"] }\n',
      "REFUSED The file writes output.formats in a form that only a person can change."
    ],
    [
      "of a file that is no TOML",
      "[output\n",
      "REFUSED The file writes output.formats in a form that only a person can change."
    ]
  ]
  for (const [what, before, after] of cases)
    it(what, () => assert.strictEqual(changed(before, { "output.formats": ["duckdb"] }), after))

  it("puts a value below its description, and changes no other line", () => {
    const after = changed(example, { "schedule.times": ["03:30"], "output.formats": ["csv"] })
    const lines = new Set(example.split("\n"))
    assert.deepStrictEqual(
      after.split("\n").filter((line) => !lines.has(line)),
      ['formats = ["csv"]', 'times = ["03:30"]']
    )
    assert.strictEqual(after.split("\n").length, example.split("\n").length + 2)
    const all = after.split("\n")
    assert.isTrue(all[all.indexOf('times = ["03:30"]') - 1]!.startsWith("# times ="))
  })
  it("removes a value, and removes nothing that is not there", () => {
    assert.strictEqual(
      changed('[output]\nformats = ["csv"]\nfolder = "x"\n', { "output.formats": null }),
      '[output]\nfolder = "x"\n'
    )
    assert.strictEqual(changed('[output]\nfolder = "x"\n', { "output.formats": null }), '[output]\nfolder = "x"\n')
  })
  it("keeps a text with the syntax of TOML a text", () => {
    for (const text of ['a"]\n[evil]\ny = 1', '"""', "'''", "\\", "# no comment", "]]", "\u0000\u001b", "é\u2028"]) {
      const after = changed('[signals]\nmail_to = "x"\n', { "signals.mail_to": text })
      const parsed = Result.getOrThrow(parse(after)) as { readonly signals: { readonly mail_to: string } }
      assert.strictEqual(parsed.signals.mail_to, text)
      assert.deepStrictEqual(Object.keys(parsed), ["signals"])
    }
  })
})

describe("a new item", () => {
  it("comes at the end, and what is there stays", () => {
    assert.strictEqual(
      added("[a]\nb = 1\n# end", "locations", { id: "x" }),
      '[a]\nb = 1\n# end\n\n[[locations]]\nid = "x"\n'
    )
    const two = added(added("", "locations", { id: "x" }), "locations", { id: "y", token: "file:/t" })
    assert.deepStrictEqual(JSON.parse(JSON.stringify(Result.getOrThrow(parse(two)))), {
      locations: [{ id: "x" }, { id: "y", token: "file:/t" }]
    })
  })
  it("has a name where the list has names, which must be new", () => {
    const one = added("[a]\nb = 1\n", "tables", { exclude: ["ssn"] }, "contacts")
    assert.strictEqual(one, '[a]\nb = 1\n\n[tables.contacts]\nexclude = ["ssn"]\n')
    assert.match(added(one, "tables", { only: [] }, "contacts"), /^REFUSED \[tables\.contacts\] is in the file already/)
    const odd = added(one, "tables", { only: ["id"] }, 'x"]\n[evil')
    assert.deepStrictEqual(JSON.parse(JSON.stringify(Result.getOrThrow(parse(odd)))), {
      a: { b: 1 },
      tables: { contacts: { exclude: ["ssn"] }, 'x"]\n[evil': { only: ["id"] } }
    })
  })
  it("is refused where the list has another form", () => {
    assert.match(added("locations = [{ id = 'x' }]\n", "locations", { id: "y" }), /^REFUSED/)
    assert.match(added("[locations]\nid = 'x'\n", "locations", { id: "y" }), /^REFUSED/)
  })
})

describe("an item that is removed", () => {
  const content = `# Mine
[account]
location_id = "x" # here
# Closed
[[silence]]
alarm = "a"
reason = "[[silence]]"

[[silence]]
alarm = "b"

# About contacts
[tables.contacts]
exclude = [
  "ssn",
]
# About notes
[tables."notes"]
only = []
`
  const left = (list: string, item: string) =>
    Result.getOrElse(withoutItem(content, list, item), (why) => `REFUSED ${why}`)
  it("goes with its lines, and the others stay with what is said of them", () => {
    for (const [list, item, lines] of [
      ["silence", "0", ['[[silence]]\nalarm = "a"\nreason = "[[silence]]"\n']],
      ["silence", "1", ['[[silence]]\nalarm = "b"\n']],
      ["tables", "contacts", ['[tables.contacts]\nexclude = [\n  "ssn",\n]\n']],
      ["tables", "notes", ['[tables."notes"]\nonly = []\n']]
    ] as const) {
      const expected = lines.reduce((text, one) => text.replace(one, ""), content)
      assert.strictEqual(left(list, item).trimEnd(), expected.trimEnd(), `${list} ${item}`)
    }
  })
  it("is one that is there, in the form that a person would write", () => {
    for (const [list, item] of [
      ["silence", "2"],
      ["silence", "-1"],
      ["silence", "a"],
      ["silence", "length"],
      ["tables", "deals"],
      ["tables", "__proto__"],
      ["account", "location_id"],
      ["publish", "0"]
    ] as const)
      assert.match(left(list, item), /^REFUSED/, `${list} ${item}`)
    const inline = "silence = [{ alarm = 'a', reason = 'b', until = 2030-01-01 }]\n"
    assert.isTrue(Result.isFailure(withoutItem(inline, "silence", "0")))
  })
})
