/** How much of the personal data published files contain, and the key of the pseudonyms. */
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { realpathSync, statSync } from "node:fs"
import { resolve } from "node:path"
import { isBelow } from "../output/remove.ts"
import { type Section, type ValuesOf, keyId, setting, text } from "../values/setting.ts"
import { wrong } from "../values/finding.ts"
import { type SettingProblem, missing } from "./errors.ts"
import { shownSecret } from "./secrets.ts"
import type { Role } from "../catalog/roles.ts"
import { nodeCrypto } from "../values/node.ts"

export const maskingSection = {
  key: setting(text, {
    environment: "SLUICE_MASKING_KEY",
    secret: true,
    description:
      "Key of the pseudonyms of the profile analytics, or a reference to it: 32 bytes or more, in hexadecimal or base64.",
    example: "file:/run/secrets/masking_key"
  }),
  key_id: setting(keyId, {
    description: "Name of that key, which every pseudonym contains; a new key needs a new name.",
    default: "k1"
  })
} satisfies Section

export const profiles = ["raw", "masked", "analytics"] as const
export type ProfileName = (typeof profiles)[number]

/** A profile that replaces values, with the key if it makes pseudonyms. */
export type Masking = { readonly profile: "masked" } | { readonly profile: "analytics"; readonly key: PseudonymKey }

/** Each location gets a key of its own from it, so that persons cannot be joined across locations. */
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
  Buffer.from(nodeCrypto().hkdfSync("sha256", Redacted.value(master), "", `sluice/pseudonym/${location}`, 32))

/** Tells keys apart, and says nothing about them. */
export const keyFingerprint = ({ id, master }: PseudonymKey): string =>
  `${id}:${Buffer.from(nodeCrypto().hkdfSync("sha256", Redacted.value(master), "", "sluice/fingerprint", 16)).toString("hex")}`

/** The key, unless others may get hold of it: its file must not be in one of the folders, which contain the data. */
export const pseudonymKey = (
  { key, keyId: id }: ValuesOf<typeof maskingSection>,
  folders: ReadonlyArray<string>
): Result.Result<PseudonymKey, SettingProblem> => {
  const path = "masking.key"
  if (key === undefined) return Result.fail(missing(path, maskingSection.key))
  const unusable = (cause: string) =>
    Result.fail(wrong(path, { _tag: "KeyUnusable", reference: shownSecret(key.reference), cause }))
  const [, file] = /^file:(.*)$/s.exec(key.reference) ?? []
  const exposed = file === undefined ? undefined : exposure(file, folders)
  if (exposed !== undefined) return unusable(exposed)
  return Result.flatMap(key.read(), (secret) =>
    Result.match(decodeKey(Redacted.value(secret)), {
      onSuccess: (master) => Result.succeed({ id, master: Redacted.make(master) }),
      onFailure: (cause) => unusable(`${cause}; \`openssl rand -hex 32\` makes one`)
    })
  )
}

/** Why others may get hold of the file, if they may. A missing file is reported when it is read. */
const exposure = (file: string, folders: ReadonlyArray<string>): string | undefined => {
  const real = realPath(file)
  const folder = folders.find((one) => isBelow(real, realPath(one)) || isBelow(resolve(file), resolve(one)))
  if (folder !== undefined) return `it is in ${folder}, with the data that it protects; move it to another folder`
  const mode = statSync(real, { throwIfNoEntry: false })?.mode ?? 0
  return mode & 0o077
    ? `other users can access it (mode ${(mode & 0o777).toString(8)}); run chmod 600 ${file}`
    : undefined
}

const realPath = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}

/** The hash that takes the place of a value: of the values of a location, equal ones have equal hashes. */
export type ColumnHash = (location: string, value: string, role: Role | undefined) => string

/** `k1_` and the 64 digits of HMAC-SHA-256 by a key of the location; a hash stays as it is. */
export const columnHash = (key: PseudonymKey | undefined): ColumnHash => {
  const keys = new Map<string, Buffer>()
  const isHash = key && new RegExp(`^${key.id}_[0-9a-f]{64}$`)
  return (location, value, role) => {
    if (key === undefined || isHash === undefined) throw new Error("a column is hashed, and there is no key")
    if (isHash.test(value)) return value
    const own = keys.get(location) ?? locationKey(key, location)
    keys.set(location, own)
    return `${key.id}_${nodeCrypto()
      .createHmac("sha256", own)
      .update(`hash\0${spelt(value, role)}`)
      .digest("hex")}`
  }
}

/** One spelling of an address. */
const spelt = (value: string, role: Role | undefined): string => {
  const text = value.normalize("NFC").trim()
  if (role === "phone" || (role === "emailOrPhone" && !text.includes("@")))
    return text.replaceAll(/[^\d+]/g, "") || text
  return role === "email" || role === "emailOrPhone" ? text.toLowerCase() : text
}
