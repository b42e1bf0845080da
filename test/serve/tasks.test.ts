/** The forms of the page, made from the commands, and what they let through. */
import { assert, describe, it } from "@effect/vitest"
import { allCommands } from "../../src/cli/commands.ts"
import { formsOf, orderOf } from "../../src/features/serve/tasks.ts"

const root = allCommands()
const argsOf = (task: string, values: Readonly<Record<string, unknown>> = {}) =>
  orderOf(root, { task, values }, "/out/exports").args
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
    assert.deepStrictEqual(names("sync"), ["location", "only", "except", "lists", "full", "each", "deadline"])
    assert.deepStrictEqual(names("export-excel"), ["file", "only", "except", "deleted"])
    assert.deepStrictEqual(names("plan"), ["location", "only", "except", "lists", "full", "each"])
    for (const { fields, summary } of forms.values()) {
      assert.notStrictEqual(summary, "")
      for (const { description, name } of fields) assert.match(description, /[^\]]$/, name)
    }
  })
  it("never offer what removes something", () => {
    for (const { fields, task } of forms.values())
      for (const { name } of fields) assert.notInclude(["apply", "force", "accept-deletions", "yes"], name, task)
  })
})

describe("what a form sends", () => {
  it("becomes flags in one word each", () => {
    assert.deepStrictEqual(argsOf("sync", { only: "contacts", full: true, except: "" }), [
      "sync",
      "--only=contacts",
      "--full"
    ])
    assert.deepStrictEqual(argsOf("sync", { only: "--accept-deletions" }), ["sync", "--only=--accept-deletions"])
    assert.deepStrictEqual(argsOf("subject-erase", { email: "a@b.c" }), ["subject", "erase", "--email=a@b.c"])
    assert.deepStrictEqual(argsOf("backup", { folder: "-rf" }), ["backup", "./-rf"])
  })
  it("is a file below the exports only", () => {
    assert.deepStrictEqual(argsOf("export-excel", { file: "sales" }), ["export", "excel", "/out/exports/sales.xlsx"])
    assert.deepStrictEqual(argsOf("export-excel", { file: "sales.xlsx" }), [
      "export",
      "excel",
      "/out/exports/sales.xlsx"
    ])
    for (const file of ["../x", "/etc/x", "a/b", ".hidden", "", "a\u0000b", "a\nb", "-x"])
      assert.match(refused("export-excel", { file }), /other characters|missing|one line/, JSON.stringify(file))
  })
  it("is nothing that the form does not have", () => {
    assert.match(refused("subject-erase", { apply: true, email: "a@b.c" }), /apply is no field/)
    assert.match(refused("sync", { "accept-deletions": true }), /no field/)
    assert.match(refused("sync", { config: "/etc/passwd" }), /no field/)
    assert.match(refused("export-bundle", { target: "x", sign: "minisign:/etc/key" }), /sign is no field/)
    for (const task of ["fleet", "subject", "retention --apply", "constructor", "__proto__", ""])
      assert.match(refused(task), /cannot be started/, task)
    assert.match(refused("sync", { only: 5 }), /not a text/)
  })
})
