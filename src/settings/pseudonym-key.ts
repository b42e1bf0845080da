/** The key of pseudonyms. Each location has a key of its own, so that persons cannot be joined across locations. */
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { hkdfSync } from "node:crypto"

export interface PseudonymKey {
  /** Part of every pseudonym, so that a pseudonym says by which key it was made. */
  readonly id: string
  readonly master: Redacted.Redacted<Uint8Array>
}

const bytesMin = 32

/** The bytes of a key in hexadecimal or base64, or what is wrong with the text. */
export const decodeKey = (text: string): Result.Result<Uint8Array, string> => {
  const bytes = /^(?:[0-9a-f]{2})+$/i.test(text)
    ? Buffer.from(text, "hex")
    : /^[A-Za-z0-9+/_-]+={0,2}$/.test(text)
      ? Buffer.from(text, "base64")
      : undefined
  if (bytes === undefined) return Result.fail("it is neither hexadecimal nor base64")
  return bytes.length < bytesMin
    ? Result.fail(`it has ${bytes.length} bytes and needs at least ${bytesMin}`)
    : Result.succeed(bytes)
}

/** HKDF-SHA-256 (RFC 5869) without a salt. */
export const locationKey = ({ master }: PseudonymKey, location: string): Buffer =>
  Buffer.from(hkdfSync("sha256", Redacted.value(master), "", `sluice/pseudonym/${location}`, 32))

/** Tells keys apart, and says nothing about them. */
export const keyFingerprint = ({ id, master }: PseudonymKey): string =>
  `${id}:${Buffer.from(hkdfSync("sha256", Redacted.value(master), "", "sluice/fingerprint", 16)).toString("hex")}`
