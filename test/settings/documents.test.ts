import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { exampleToml } from "../../src/settings/documents.ts"
import { syncSettings } from "../../src/settings/settings.ts"
import { allSettings } from "../../src/settings/sections.ts"
import { newFolder } from "../support/sluice.ts"

const inRepository = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

it.effect("the example is valid unchanged, and with every setting uncommented", () =>
  Effect.gen(function* () {
    const environment = { CRM_TOKEN: "secret-1", NORTH_TOKEN: "secret-2", CRM_CLIENT_SECRET: "secret-3" }
    const plain = yield* syncSettings({ config: inRepository("config/example.toml") }, environment)
    assert.deepStrictEqual(
      plain.accounts.map(({ location, secrets }) => [location, ...secrets]),
      [["locationId", "secret-1"]]
    )

    const path = join(newFolder(), "sluice.toml")
    writeFileSync(path, exampleToml().replaceAll(/^# (?=\w+ = |\[)/gm, ""))
    const { accounts } = yield* syncSettings({ config: path }, environment)
    assert.deepStrictEqual(
      accounts.map(({ location, secrets }) => [location, ...secrets]),
      [["northLocationId", "secret-2"]]
    )
    assert.deepStrictEqual(accounts[0]!.optional, {
      object_keys: ["custom_objects.project"],
      files: ["message_attachments", "custom_fields"],
      recurring_task_ids: ["recurringTaskId"],
      free_slot_days: 14,
      conversation_messages: false,
      further_lists: true,
      contact_details: false
    })
  })
)

it("every setting has a description, and an example or a default", () => {
  for (const { path, description, example, default: otherwise } of allSettings) {
    assert.match(description, /^[A-Z].*\.$/s, path)
    assert.isDefined(example ?? otherwise, path)
  }
})
