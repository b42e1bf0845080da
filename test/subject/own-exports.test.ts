/** Which exports go with a person: theirs, with everything beside them, and those of nobody else. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { ownPlace, removeExports } from "../../src/features/privacy/subject/own-exports.ts"
import { newFolder } from "../support/sluice.ts"

it.live("the exports about the contacts are removed with what stands beside them, and named by their ids", () =>
  Effect.gen(function* () {
    const output = newFolder()
    const ends = ["", ".zip", ".part", ".zip.part"]
    const made = new Map<string, string>()
    for (const [contact, location] of [
      ["ann", "L"],
      ["bob", "L"],
      ["cid", "L"],
      ["dan", "M"],
      ["eve", undefined]
    ] as const) {
      const place = yield* ownPlace(output, contact)
      for (const end of ends) mkdirSync(`${place}${end}`)
      const about = { export: `export-${contact}`, contacts: [{ location, id: contact }] }
      if (location !== undefined) writeFileSync(join(place, "person.json"), JSON.stringify(about))
      made.set(contact, place)
    }
    const without = yield* ownPlace(output, undefined)
    mkdirSync(without)
    const ids = yield* removeExports(
      output,
      ["ann", "bob", "dan", "eve", "nobody"].map((id) => ({ location: "L", id }))
    )
    // That of dan is about a contact of another location, and that of eve does not say whom it is about.
    assert.deepStrictEqual([...ids].toSorted(), ["export-ann", "export-bob"])
    const nameOf = (place: string) => place.split("/").at(-1)!
    const kept = ["cid", "dan"].flatMap((contact) => ends.map((end) => `${nameOf(made.get(contact)!)}${end}`))
    assert.sameMembers(readdirSync(join(output, "exports")), [...kept, nameOf(without)])
  })
)
