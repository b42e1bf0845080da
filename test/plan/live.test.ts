import { assert, describe, it } from "@effect/vitest"
import { contacts } from "../../pipelines/crm/contacts.ts"
import { contactNotes } from "../../pipelines/crm/contact_notes.ts"
import { childRequestOf } from "../../src/catalog/resource.ts"
import type { ExpectedStep } from "../../src/stages/plan/expect.ts"
import { type ReadSoFar, liveRequests } from "../../src/stages/plan/live.ts"
import { noCapabilities } from "../../src/values/capabilities.ts"
import { atLeast } from "../../src/values/range.ts"

const common = {
  embedded: [],
  checkpoints: {},
  refreshCutoff: undefined,
  capabilities: noCapabilities,
  childCapabilities: undefined
}
/** The plan of a first sync, which knows nothing. */
const firstSync: ReadonlyArray<ExpectedStep> = [
  {
    step: { ...common, resource: contacts, mode: "full" },
    list: { requests: atLeast(1), basis: "unknown", changed: atLeast(0) }
  },
  {
    step: { ...common, resource: contactNotes, mode: "children" },
    children: {
      childRequest: childRequestOf(contactNotes)!,
      state: { due: 0, oldestFetch: undefined },
      nights: [],
      parents: 0
    }
  }
]
const expected = (read: Readonly<Record<string, ReadSoFar>>) => liveRequests(firstSync, (label) => read[label])

describe("the expected requests of a first sync", () => {
  it("have no upper limit before the first page", () => assert.deepStrictEqual(expected({}), atLeast(1)))

  it("follow from the total of the first page, also those of the children", () =>
    assert.deepStrictEqual(
      expected({
        contacts: { records: 500, requests: 1, total: 1234 },
        contact_notes: { records: 20, requests: 10 }
      }),
      { min: 3 + 1234, max: 5 + 1234, likely: 4 + 1234 }
    ))

  it("are those that were sent once the readings have ended, and never fewer than were sent", () => {
    assert.deepStrictEqual(
      expected({
        contacts: { records: 1200, requests: 4, total: 1234, status: "complete" },
        contact_notes: { records: 20, requests: 1300 }
      }),
      { min: 4 + 1300, max: 4 + 1300, likely: 4 + 1300 }
    )
    assert.deepStrictEqual(
      expected({
        contacts: { records: 1200, requests: 4, status: "complete" },
        contact_notes: { records: 20, requests: 900, status: "incomplete" }
      }),
      { min: 904, max: 904, likely: 904 }
    )
  })
})
