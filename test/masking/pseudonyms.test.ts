/** The pseudonyms, computed again with openssl. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Result } from "effect"
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { discover } from "../../src/catalog/discover.ts"
import { type PseudonymKey, decodeKey, locationKey } from "../../src/settings/masking.ts"
import {
  type PseudonymKind,
  definePseudonyms,
  parsePseudonym,
  phoneNormaliser,
  pseudonymSql
} from "../../src/stages/publish/masking/pseudonyms.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { literal } from "../../src/stores/warehouse/sql.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { newFolder, restrictedTo } from "../support/sluice.ts"

const keyOf = (hex: string, id = "k1"): PseudonymKey => ({ id, master: Redacted.make(Buffer.from(hex, "hex")) })
const master = "0b".repeat(32)

const hmac = (key: Buffer, message: Buffer): Buffer =>
  execFileSync("openssl", ["dgst", "-sha256", "-binary", "-mac", "HMAC", "-macopt", `hexkey:${key.toString("hex")}`], {
    input: message
  })

/** RFC 5869, 2.2 and 2.3, for one block and no salt. */
const hkdf = (secret: Buffer, info: string): Buffer =>
  hmac(hmac(Buffer.alloc(32), secret), Buffer.concat([Buffer.from(info), Buffer.from([1])]))

/** The encoding of RFC 4648, 6, without padding. */
const base32 = (bytes: Buffer): string =>
  execFileSync("base32", ["-w0"], { input: bytes }).toString().toLowerCase().replaceAll("=", "")

const expected = (location: string, message: string): string =>
  base32(hmac(hkdf(Buffer.from(master, "hex"), `sluice/pseudonym/${location}`), Buffer.from(message)).subarray(0, 16))

/** The pseudonyms of values of locations, by SQL. */
const pseudonyms = (
  key: PseudonymKey,
  values: ReadonlyArray<readonly [location: string, kind: PseudonymKind, value: string | null]>
) =>
  Effect.gen(function* () {
    yield* prepare(restrictedTo("locations")(yield* Effect.promise(() => discover())))
    const warehouse = yield* Warehouse
    yield* warehouse.run(
      "INSERT INTO crm.locations (location_id, id, country) VALUES ('north', 'north', 'GB'), ('south', 'south', 'US')"
    )
    yield* definePseudonyms(key)
    return yield* Effect.forEach(values, ([location, kind, value]) =>
      Effect.map(
        warehouse.rows(
          `SELECT ${pseudonymSql(kind, key, "value")} AS found FROM (SELECT ${literal(location)} AS location_id, ${literal(value)}::VARCHAR AS value)`
        ),
        ([row]) => row!["found"]
      )
    )
  }).pipe(
    Effect.scoped,
    Effect.provide(Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 128 }))
  )

describe("a pseudonym", () => {
  it.effect("is the HMAC of the normalised value by the key of the location", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        locationKey(keyOf(master), "north").toString("hex"),
        hkdf(Buffer.from(master, "hex"), "sluice/pseudonym/north").toString("hex")
      )
      const found = yield* pseudonyms(keyOf(master), [
        ["north", "email", " Ann.O'Neil@Example.com\n"],
        ["north", "email", "Ann <ann.o'neil@example.com>"],
        ["south", "email", "ann.o'neil@example.com"],
        ["north", "email", "e\u0301va@example.com"],
        ["north", "phone", "020 7946 0000"],
        ["north", "phone", "+442079460000"],
        ["south", "phone", "(212) 555-0100"],
        ["south", "phone", "12"],
        ["north", "contact", "abc"],
        ["north", "organization", " ACME Ltd "],
        ["north", "identifier", ""],
        ["elsewhere", "email", "ann@example.com"],
        ["north", "email", null]
      ])
      const ann = `eml_k1_${expected("north", "email\0ann.o'neil@example.com")}`
      assert.deepStrictEqual(found, [
        ann,
        ann,
        `eml_k1_${expected("south", "email\0ann.o'neil@example.com")}`,
        `eml_k1_${expected("north", "email\0éva@example.com")}`,
        `tel_k1_${expected("north", "phone\0+442079460000")}`,
        `tel_k1_${expected("north", "phone\0+442079460000")}`,
        `tel_k1_${expected("south", "phone\0+12125550100")}`,
        null,
        `con_k1_${expected("north", "contact\0abc")}`,
        `org_k1_${expected("north", "organization\0acme ltd")}`,
        null,
        null,
        null
      ])
      assert.deepStrictEqual(parsePseudonym(ann), { kind: "email", keyId: "k1" })
      assert.isUndefined(parsePseudonym("eml_k1_abc"))
    })
  )

  it.effect("differs with another key, which its prefix names", () =>
    Effect.gen(function* () {
      const [found] = yield* pseudonyms(keyOf("0c".repeat(32), "k2"), [["north", "email", "ann@example.com"]])
      assert.match(String(found), /^eml_k2_[a-z2-7]{26}$/)
      assert.notInclude(String(found), expected("north", "email\0ann@example.com"))
    })
  )
})

it("a phone number has the same form however it is written", async () => {
  const normalised = await phoneNormaliser()
  const numbers = ["(212) 555-0100", "212.555.0100", "+1 212 555 0100", "1-212-555-0100"]
  assert.deepStrictEqual([...new Set(numbers.map((number) => normalised(number, "us")))], ["+12125550100"])
  assert.strictEqual(normalised("212 555 0100", undefined), "2125550100")
  assert.strictEqual(normalised("call me", "US"), null)
})

it("a key is 32 bytes or more, in hexadecimal or base64", () => {
  assert.strictEqual(Result.getOrThrow(decodeKey("ab".repeat(32))).length, 32)
  assert.strictEqual(Result.getOrThrow(decodeKey(Buffer.alloc(32, 200).toString("base64"))).length, 32)
  assert.deepStrictEqual(decodeKey("ab".repeat(31)), Result.fail("it has 31 bytes and needs at least 32"))
  assert.deepStrictEqual(decodeKey("correct horse!"), Result.fail("it is neither hexadecimal nor base64"))
})
