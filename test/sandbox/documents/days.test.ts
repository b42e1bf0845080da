import { assert, describe, it } from "vitest"
import { sandbox } from "../client.ts"

const s = await sandbox({ contacts: 60 })
const alt = `altId=${s.locationId}&altType=location`

describe("a day that does not exist", () => {
  const lists = [
    `/payments/orders?${alt}`,
    `/payments/transactions?${alt}`,
    `/payments/subscriptions?${alt}`,
    `/invoices/?${alt}&limit=1&offset=0`,
    `/invoices/estimate/list?${alt}&limit=1&offset=0`,
    `/forms/submissions?locationId=${s.locationId}`,
    `/surveys/submissions?locationId=${s.locationId}`
  ]

  it.each(lists)("is refused as a filter: %s", async (path) => {
    for (const name of ["startAt", "endAt"]) {
      for (const day of ["2026-02-30", "2026-04-31", "2025-02-29", "2026-13-01", "2026-00-10"]) {
        assert.equal((await s.get(`${path}&${name}=${day}`)).status, 422, `${name} ${day}`)
      }
      assert.equal((await s.get(`${path}&${name}=2024-02-29`)).status, 200, name)
    }
  })
})
