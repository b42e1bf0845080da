/** The exports about people in the output folder. */
import { Effect } from "effect"
import { mkdir, readFile } from "node:fs/promises"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { join } from "node:path"
import { onDisk } from "../../../output/files.ts"
import { namesIn } from "../../../output/folder.ts"
import { fileNameOf } from "../../../output/names.ts"
import { outputPaths } from "../../../output/paths.ts"
import { checkInside, removeBelow } from "../../../output/remove.ts"

const nameOf = (contact: string | undefined): string =>
  `subject-${contact === undefined ? "without-contact" : fileNameOf(contact)}`

/** Where an export about a contact is, unless another place was named; the zip file is beside it. Creates the folder of exports. */
export const ownPlace = Effect.fnUntraced(function* (output: string, contact: string | undefined) {
  const { exports } = outputPaths(output)
  yield* onDisk(exports, "created", async () => {
    await mkdir(exports, { recursive: true, mode: 0o700 })
    await checkInside(output, exports)
  })
  const name = nameOf(contact)
  return join(exports, name)
})

/** Removes the exports about these contacts, with their zip files and what a killed export has left. Returns the ids of the exports. */
export const removeExports = Effect.fn("subject.removeExports")(function* (
  output: string,
  contacts: ReadonlyArray<{ readonly location: string; readonly id: string }>
) {
  const { exports } = outputPaths(output)
  return yield* onDisk(exports, "removed", async () => {
    const ids = new Set<string>()
    // Names as the folder has them: another name may lead to the same file where the case of letters does not matter.
    const names = new Set(await namesIn(exports))
    for (const [id, same] of Map.groupBy(contacts, (contact) => contact.id)) {
      const name = nameOf(id)
      const about = await aboutOf(join(exports, name))
      // Another location may have a contact with this id.
      if (
        about &&
        !about.contacts.some((one) => same.some(({ location }) => one.id === id && one.location === location))
      )
        continue
      for (const end of ["", ".zip", ".part", ".zip.part"])
        if (names.has(name + end)) await removeBelow(output, join(exports, name + end))
      if (about?.export !== undefined) ids.add(about.export)
    }
    return ids
  })
})

const Person = Schema.Struct({
  export: Schema.optionalKey(Schema.String),
  contacts: Schema.Array(Schema.Struct({ location: Schema.String, id: Schema.String }))
})
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Person))

/** Whom an export is about; `undefined` if it does not say so. */
const aboutOf = async (folder: string): Promise<typeof Person.Type | undefined> => {
  const text = await readFile(join(folder, "person.json"), "utf8").catch(() => "")
  return Option.getOrUndefined(decode(text))
}
