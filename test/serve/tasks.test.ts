/** The forms of the page, made from the commands, and what they let through. */
import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Schema } from "effect"
import { allCommands } from "../../src/cli/commands.ts"
import { Start, formsOf, orderOf } from "../../src/features/serve/tasks.ts"
import { newFolder } from "../support/sluice.ts"

const root = allCommands()
const exports = join(newFolder(), "exports")
const places = { exports, backups: "/out/backups" }
const argsOf = (task: string, values: Readonly<Record<string, unknown>> = {}) =>
  orderOf(root, Schema.decodeUnknownSync(Start)({ task, values }), places).args
const refused = (task: string, values: Readonly<Record<string, unknown>> = {}) => {
  try {
    return argsOf(task, values).join(" ")
  } catch (cause) {
    return (cause as Error).message
  }
}

describe("the forms", () => {
  const forms = new Map(formsOf(root).map((form) => [form.task, form]))
  it("have the flags of their commands, with their descriptions", () => {
    const names = (task: string) => forms.get(task)?.fields.map(({ name }) => name)
    assert.deepStrictEqual(names("sync"), ["location", "only", "except", "again", "deadline"])
    assert.deepStrictEqual(names("export-excel"), ["file", "only", "except", "deleted"])
    assert.deepStrictEqual(names("plan"), ["location", "only", "except", "again"])
    const choices = (task: string, flag: string) =>
      forms
        .get(task)
        ?.fields.flatMap((field) => (field.name === flag && "choices" in field ? [field.choices] : []))
        .at(0)
    assert.deepStrictEqual(choices("sync", "again"), ["changed", "lists", "all"])
    assert.deepStrictEqual([choices("sync", "except"), choices("export-excel", "except")], [["details"], undefined])
    for (const { fields, summary } of forms.values()) {
      assert.notStrictEqual(summary, "")
      for (const { description, name } of fields) assert.match(description, /[^\]]$/, name)
    }
  })
  it("never offer what removes something", () => {
    for (const { fields, task } of forms.values())
      for (const { name } of fields) {
        // It replaces an export alone.
        if (task === "subject-export" && name === "force") continue
        assert.notInclude(["apply", "force", "accept-deletions", "yes"], name, task)
      }
  })
})

describe("what a form sends", () => {
  it("becomes flags in one word each", () => {
    assert.deepStrictEqual(argsOf("sync", { only: "contacts", again: "lists", except: "" }), [
      "sync",
      "--only=contacts",
      "--again=lists"
    ])
    assert.deepStrictEqual(argsOf("sync", { only: "--accept-deletions" }), ["sync", "--only=--accept-deletions"])
    assert.deepStrictEqual(argsOf("subject-erase", { email: "a@b.c" }), ["subject", "erase", "--email=a@b.c"])
    assert.deepStrictEqual(argsOf("backup", { folder: "crm 1", check: true }), [
      "backup",
      "--check",
      "/out/backups/crm 1"
    ])
  })
  it("is a file below the exports only", () => {
    assert.deepStrictEqual(argsOf("export-excel", { file: "sales" }), ["export", "excel", join(exports, "sales.xlsx")])
    assert.deepStrictEqual(argsOf("export-excel", { file: "sales.xlsx" }), [
      "export",
      "excel",
      join(exports, "sales.xlsx")
    ])
    for (const file of ["../x", "/etc/x", "a/b", ".hidden", "", "a\u0000b", "a\nb", "-x"])
      for (const [task, name] of [
        ["export-excel", "file"],
        ["export-bundle", "target"],
        ["backup", "folder"]
      ] as const)
        assert.match(refused(task, { [name]: file }), /other characters|missing|one line/, JSON.stringify([task, file]))
  })
  it("replaces no earlier file", () => {
    mkdirSync(exports)
    writeFileSync(join(exports, "audit.zip"), "")
    for (const target of ["audit", "audit.zip"])
      assert.match(refused("export-bundle", { target }), /^audit\.zip exists already/)
    assert.include(refused("export-bundle", { target: "audit-2" }), "audit-2.zip")
  })
  it("is nothing that the form does not have", () => {
    assert.match(refused("subject-erase", { apply: true, email: "a@b.c" }), /apply is no field/)
    assert.match(refused("sync", { "accept-deletions": true }), /no field/)
    assert.match(refused("sync", { config: "/etc/passwd" }), /no field/)
    assert.match(refused("export-bundle", { target: "x", sign: "minisign:/etc/key" }), /sign is no field/)
    for (const task of ["fleet", "subject", "retention --apply", "constructor", "__proto__", ""])
      assert.match(refused(task), /^Expected "sync" \| /, task)
    assert.match(refused("sync", { only: 5 }), /not a text/)
  })
})
