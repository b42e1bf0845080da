/** What the page shows of drawn settings, and what it says and writes of drawn changes, each computed a second time. */
import { assert, it } from "@effect/vitest"
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import * as Result from "effect/Result"
import { parse } from "effect/encoding/Toml"
import type { Ask } from "../../src/features/serve/ask.ts"
import { changeSettings, settingsOf } from "../../src/features/serve/settings-page.ts"
import { allSettings } from "../../src/settings/sections.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"

/** What the page has by its title: the setting, another value than the default, and what a form shows without one. */
const fields: ReadonlyArray<readonly [title: string, path: string, other: unknown, unset: unknown]> = [
  ["Times", "schedule.times", ["03:30", "22:15"], []],
  ["Time zone", "schedule.time_zone", "Europe/Berlin", ""],
  ["Paused", "schedule.paused", true, false],
  ["Free disk space", "schedule.prune", true, false],
  ["Formats", "output.formats", ["csv"], ["duckdb", "parquet", "csv"]],
  ["Models", "models.build", false, true],
  ["Files", "files.fetch", ["message_attachments"], []],
  ["Mail to", "signals.mail_to", "ops@example.com", ""],
  ["Webhook", "signals.webhook_url", "env:HOOK", ""],
  ["Warning after", "alarms.warn_after", "12h", "30h"],
  ["Error after", "alarms.error_after", "40h", "54h"],
  ["Classes of personal data", "personal_data.exclude_classes", ["content"], []]
]
const secret = "signals.webhook_url"
const items = {
  publish: [
    { name: "analysts", folder: "/srv/a", profile: "analytics" },
    { name: "board", folder: "/srv/b", profile: "analytics" }
  ],
  silence: [{ alarm: "freshness:contacts", reason: "closed", until: "2027-01-31" }],
  tables: { contacts: { exclude: ["ssn"] }, orders: { only: ["id", "total"] } }
}
const toml = (value: unknown) => JSON.stringify(value)
const linesOf = (values: Readonly<Record<string, unknown>>) =>
  Object.entries(values).map(([key, value]) => `${key} = ${toml(value)}`)

const drawnFile = (seed: number) => {
  const random = randomFrom(seed)
  const isSo = () => random() < 0.5
  const set = fields.filter(isSo)
  const publish = items.publish.filter(isSo)
  const silence = items.silence.filter(isSo)
  const tables = Object.entries(items.tables).filter(isSo)
  const sections = Map.groupBy(set, ([, path]) => path.split(".")[0]!)
  const lines = [
    ...Array.from(sections, ([section, own]) => [
      `[${section}]`,
      ...own.map(([, path, other]) => `${path.split(".")[1]} = ${toml(other)}`)
    ]).flat(),
    ...publish.flatMap((one) => ["[[publish]]", ...linesOf(one)]),
    ...tables.flatMap(([name, one]) => [`[tables.${name}]`, ...linesOf(one)]),
    ...silence.flatMap((one) => ["[[silence]]", ...linesOf(one)])
  ]
  return { isSo, lines, publish, random, set, silence, tables }
}
const parsed = (text: string) => Result.getOrThrow(parse(text))
const inText = (value: unknown) => (Array.isArray(value) ? value.join(", ") : String(value))
const environment = { HOOK: "https://hook.example.com" }
const ask = {} as Ask

it.each(Array.from({ length: 24 }, (_, seed) => seed + 1))("each setting has its value and its place: %i", (seed) => {
  const { isSo, lines, publish, set, silence, tables } = drawnFile(seed)
  const path = join(newFolder(), "sluice.toml")
  const isThere = seed % 6 !== 0
  if (isThere) writeFileSync(path, lines.join("\n"))
  const byVariable: Readonly<Record<string, string>> = isSo() ? { SLUICE_FORMATS: "none" } : {}
  const output = isSo() ? "/srv/out" : undefined
  const shown = settingsOf({ path, output, ask, environment: { ...environment, ...byVariable } })
  assert.deepStrictEqual([shown.file, shown.exists], [path, isThere])
  const isSet = (one: string) => isThere && set.some(([, path]) => path === one)
  const isVariable = (one: string) => one === "output.formats" && "SLUICE_FORMATS" in byVariable
  assert.deepStrictEqual(
    shown.things.flatMap((thing) => thing.fields.map(({ name, title, value }) => [title, name, value])),
    fields.map(([title, one, other, unset]) => [
      title,
      one,
      one === secret ? "" : isVariable(one) ? [] : isSet(one) ? other : unset
    ])
  )
  const placeOf = (line: number) => `${path}:${line + 1}`
  const rowsOf = (name: string, start: number, values: Readonly<Record<string, unknown>>) =>
    Object.entries(values).map(([key, value], index) => ({
      path: `${name}.${key}`,
      shown: inText(value),
      from: "file",
      name: placeOf(start + 1 + index)
    }))
  /** The line of the n-th such head. */
  const headAt = (head: string, n = 0) => lines.flatMap((one, index) => (one === head ? [index] : []))[n]!
  const listed = isThere
    ? {
        publish: publish.map((one, n) => ({
          item: String(n),
          settings: rowsOf(`publish[${n}]`, headAt("[[publish]]", n), one)
        })),
        tables: tables.map(([name, one]) => ({
          item: name,
          settings: rowsOf(`tables.${name}`, headAt(`[tables.${name}]`), one)
        })),
        silence: silence.map((one, n) => ({
          item: String(n),
          settings: rowsOf(`silence[${n}]`, headAt("[[silence]]", n), one)
        }))
      }
    : { publish: [], tables: [], silence: [] }
  assert.deepStrictEqual(
    Object.fromEntries(shown.things.flatMap(({ lists }) => lists.map(({ items, list }) => [list, items]))) as unknown,
    listed
  )
  const rows = new Map(shown.settings.map((one) => [one.path, one]))
  assert.strictEqual(rows.size, shown.settings.length)
  assert.deepStrictEqual(
    [...rows.keys()].toSorted(),
    [
      ...allSettings.map((one) => one.path),
      ...Object.values(listed).flatMap((list) => list.flatMap(({ settings }) => settings.map((one) => one.path)))
    ].toSorted()
  )
  for (const [, one, other] of fields) {
    const row = rows.get(one)!
    assert.strictEqual(
      (row as { readonly description?: string }).description,
      allSettings.find(({ path }) => path === one)!.description
    )
    if (isVariable(one)) assert.deepInclude(row, { shown: "none", from: "environment", name: "SLUICE_FORMATS" })
    else if (isSet(one)) {
      const key = `${one.split(".")[1]} = ${toml(other)}`
      assert.deepInclude(row, { shown: inText(other), from: "file", name: placeOf(lines.indexOf(key)) })
    } else assert.deepInclude(row, { from: "default", name: "" })
  }
  assert.deepInclude(
    rows.get("output.folder"),
    output === undefined ? { from: "default", name: "" } : { shown: output, from: "flag", name: "--output" }
  )
})

it.each(Array.from({ length: 40 }, (_, seed) => seed + 1))(
  "a change is shown as it is written, after the new file was checked, and not if the file is another: %i",
  async (seed) => {
    const { isSo, lines, publish, random, set } = drawnFile(seed)
    const path = join(newFolder(), "sluice.toml")
    const before = `${lines.join("\n")}\n`
    writeFileSync(path, before)
    const output = isSo() ? "/srv/out" : undefined
    const problems = random() < 0.25 ? ["$DRAFT:3: schedule.times is wrong", "$NAME: something else"] : []
    const error = random() < 0.15 ? { code: "config", message: "$DRAFT cannot be read." } : undefined
    const checked: Array<string> = []
    const checking = {
      json: async (args: ReadonlyArray<string>, flags: ReadonlyArray<string>) => {
        assert.deepStrictEqual(args, ["config", "validate"])
        const [, draft] = flags as readonly [string, string]
        assert.deepStrictEqual(flags, ["--config", draft, ...(output === undefined ? [] : ["--output", output])])
        assert.strictEqual(dirname(draft), dirname(path))
        checked.push(readFileSync(draft, "utf8"))
        const named = problems.map((one) => one.replace("$DRAFT", draft).replace("$NAME", basename(draft)))
        return {
          schema: "",
          exitCode: 0,
          data: { problems: named, settings: ["schedule.times"] },
          ...(error && { error: { ...error, message: error.message.replace("$DRAFT", draft) } })
        }
      }
    } as unknown as Ask
    const changes = Object.fromEntries(
      fields
        .filter(() => random() < 0.25)
        .map(([, one, other]) => [one, isSo() && set.some(([, path]) => path === one) ? null : other])
    )
    const added = { alarm: "freshness:orders", reason: "later", until: "2027-02-01" }
    const removed = publish.length > 0 && isSo() ? "0" : undefined
    const body = {
      changes,
      ...(isSo() && { add: { list: "silence" as const, values: { ...added } } }),
      ...(removed !== undefined && { remove: { list: "publish" as const, item: removed } }),
      apply: isSo()
    }
    const options = { path, output, ask: checking, environment }
    const { basis, diff, problems: found, written } = await changeSettings(options, body)
    const after = checked[0]!
    assert.lengthOf(checked, 1)
    const isWritten = body.apply && problems.length === 0 && error === undefined
    assert.strictEqual(written, isWritten)
    assert.strictEqual(readFileSync(path, "utf8"), isWritten ? after : before)
    assert.deepStrictEqual(readdirSync(dirname(path)), ["sluice.toml"])
    assert.deepStrictEqual(found.map(({ message }) => message) as ReadonlyArray<string>, [
      ...(problems.length > 0 ? ["is wrong", `${path}: something else`] : []),
      ...(error ? [`${path} cannot be read.`] : [])
    ])
    // The new file has what was asked for, and everything else as it was.
    const expected = structuredClone(parsed(before)) as unknown as Record<string, Record<string, unknown>> & {
      publish?: Array<unknown>
      silence?: Array<unknown>
    }
    for (const [one, value] of Object.entries(changes)) {
      const [section, key] = one.split(".") as [string, string]
      if (value === null) delete expected[section]![key]
      else (expected[section] ??= {})[key] = value
    }
    if (body.add !== undefined) (expected.silence ??= []).push(added)
    if (removed !== undefined) expected.publish!.splice(0, 1)
    if (expected.publish?.length === 0) delete expected.publish
    const withoutEmpty = (file: object) =>
      Object.fromEntries(Object.entries(file).filter(([, one]) => Object.keys(one as object).length > 0))
    assert.deepStrictEqual(withoutEmpty(parsed(after)), withoutEmpty(expected))
    // The lines that the difference names are the lines by which both files differ.
    const linesWith = (kind: string) => diff.filter((one) => one.kind === kind).map(({ text }) => text)
    const count = (lines: ReadonlyArray<string>) => {
      const counts = new Map<string, number>()
      for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1)
      return counts
    }
    const [old, now, minus, plus] = [
      before.split("\n"),
      after.split("\n"),
      linesWith("removed"),
      linesWith("added")
    ].map(count)
    for (const line of new Set([...before.split("\n"), ...after.split("\n")]))
      assert.strictEqual(
        (now!.get(line) ?? 0) - (old!.get(line) ?? 0),
        (plus!.get(line) ?? 0) - (minus!.get(line) ?? 0),
        line
      )
    for (const line of linesWith("same")) assert.isTrue(old!.has(line) || now!.has(line), line)
    if (isWritten) return
    // What has changed since it was shown is not replaced.
    writeFileSync(path, `${before}# more\n`)
    if (problems.length > 0 || error !== undefined || basis === undefined) return
    const late = await changeSettings(options, { ...body, apply: true, basis }).then(
      () => "written",
      (cause: { readonly code?: string }) => cause.code
    )
    assert.strictEqual(late, "changed")
    assert.isTrue(existsSync(path))
    assert.strictEqual(readFileSync(path, "utf8"), `${before}# more\n`)
  }
)
