/** In which forms a text of an erased person is found, and what only looks like one. */
import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { containsSql, needlesOf } from "../../src/features/privacy/erasure/needles.ts"

/** Whether any form of a text is in these bytes, as a search reads them. */
const isFound = (label: string, text: string, searched: string | Buffer) =>
  needlesOf({ label, text }).some(({ isIn }) => isIn(Buffer.from(searched).toString("latin1").toLowerCase()))
const mail = (searched: string | Buffer) => isFound("email 1", "ännchen@Example.com", searched)
const phone = (searched: string, digits = "14155550199") => isFound("phone 1", digits, searched)

describe("a text", () => {
  it.each([
    ["as it is", "to ännchen@example.com."],
    ["in capitals", "TO ännCHEN@EXAMPLE.COM"],
    ["in JSON", JSON.stringify({ a: "ännchen@example.com" })],
    ["in JSON with escapes", String.raw`{"a":"\u00E4nnchen@example.com"}`],
    ["in an address", "https://x.org/?m=%C3%A4nnchen%40example.com"]
  ])("is found %s", (_, searched) => assert.isTrue(mail(searched)))

  it("is found in Base64, wherever it begins in the text around it, and whatever follows", () => {
    for (let before = 0; before < 9; before++)
      for (let after = 0; after < 4; after++) {
        const around = `${"x".repeat(before)}ännchen@Example.com${"y".repeat(after)}`
        assert.isTrue(mail(Buffer.from(around).toString("base64")), `${before} before, ${after} after`)
      }
  })

  it.each(["md5", "sha1", "sha256"])("is found as its %s", (algorithm) =>
    assert.isTrue(mail(createHash(algorithm).update("ännchen@example.com").digest("hex").toUpperCase()))
  )

  it("is not another one, nor a part of it", () => {
    for (const searched of ["annchen@example.com", "ännchen@example.org", "ännchen", "example.com", ""])
      assert.isFalse(mail(searched), searched)
    assert.deepStrictEqual(
      needlesOf({ label: "id 1", text: "abc" }).filter(({ form }) => form !== "hash"),
      [],
      "too short to be told apart"
    )
    const plain = needlesOf({ label: "id 1", text: "abcdefgh" })
    assert.strictEqual(
      new Set(plain.map(({ form, bytes }) => `${form} ${bytes}`)).size,
      new Set(plain.map((one) => JSON.stringify(one))).size
    )
    assert.strictEqual(
      plain.filter(({ form }) => form === "JSON" || form === "URL").length,
      0,
      "one form is searched once"
    )
  })
})

describe("a phone number", () => {
  it.each([
    "14155550199",
    "+1 415 555 0199",
    "+1 (415) 555-0199",
    "1.415.555.0199",
    "0014155550199",
    "1%20415%20555%200199",
    "tel:1 (415)-555-0199"
  ])("is found as %s", (searched) => assert.isTrue(phone(searched)))

  it.each(["24155550199", "914155550199", "141555501990", "1415555019", "1-4155--5501----99"])(
    "is not %s",
    (searched) => assert.isFalse(phone(searched))
  )

  it("of few digits is found without separators only, which may be those of a day", () => {
    assert.isTrue(phone("x 20260131 y", "20260131"))
    assert.isFalse(phone("2026-01-31", "20260131"))
    assert.isTrue(phone("415 555 019", "415555019"))
  })

  it("is searched in SQL in the same way", () => {
    assert.match(containsSql("x", { label: "phone 1", text: "14155550199" }), /^regexp_matches\(x, '\(\^\|\[\^0-9\]\)/)
    assert.strictEqual(
      containsSql("x", { label: "email 1", text: "O'Neil@X.org" }),
      "contains(lower(x), 'o''neil@x.org')"
    )
  })
})
