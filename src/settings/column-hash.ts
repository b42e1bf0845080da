/** The hash that takes the place of a value: of the values of a location, equal ones have equal hashes. */
import { createHmac } from "node:crypto"
import type { Role } from "../catalog/roles.ts"
import { type PseudonymKey, locationKey } from "./masking.ts"

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
    return `${key.id}_${createHmac("sha256", own)
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
