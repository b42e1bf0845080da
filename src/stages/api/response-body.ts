/** Reads the body of a response as UTF-8 of limited size, and removes secrets from it. */
import type { Limit } from "../../values/limits.ts"
import { isUtf8 } from "node:buffer"

/** The whole body; `undefined` if it is too large. Stops reading then, because a compressed body may have any size. */
export const bytesOf = async (body: AsyncIterable<Buffer>, limit: Limit): Promise<Buffer | undefined> => {
  const bytes = await startOf(body, limit)
  return limit.isExceededBy(bytes.length) ? undefined : bytes
}

/** The start of the body: more bytes than the limit, or all of it. */
const startOf = async (body: AsyncIterable<Buffer>, limit: Limit): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    if (limit.isExceededBy(bytes)) break
  }
  return Buffer.concat(chunks)
}

/**
 * The UTF-8 of a JSON body. A byte that is not UTF-8 becomes the JSON escape `\udcXX`, a lone surrogate. This keeps the
 * byte, and the load can report the value that has it. A body with too many such bytes becomes empty.
 */
export const utf8Of = (sent: Buffer): Buffer => {
  // JSON does not allow a byte order mark.
  const bytes = sent.subarray(0, 3).equals(byteOrderMark) ? sent.subarray(3) : sent
  if (isUtf8(bytes)) return bytes
  if (isOtherEncoding(bytes)) return Buffer.alloc(0)
  const text = bytes
    .toString("latin1")
    .replaceAll(utf8, (part, invalidByte?: string) =>
      invalidByte === undefined ? part : `\\udc${invalidByte.charCodeAt(0).toString(16)}`
    )
  return Buffer.from(text, "latin1")
}

/**
 * The UTF-8 of an error response; `undefined` if its bytes are not text, because an error is classified by its message.
 * `encoding`: the content encoding that remains after decompression.
 */
export const errorOf = async (
  body: AsyncIterable<Buffer>,
  encoding: string | ReadonlyArray<string> | undefined,
  limit: Limit
) => {
  // The status has been received, so it counts even if the body cannot be read.
  const bytes = (await startOf(body, limit).catch(() => undefined))?.subarray(0, limit.value)
  if (bytes === undefined) return undefined
  const isEncoded = encoding !== undefined && String(encoding).toLowerCase() !== "identity"
  if (isEncoded ? !isJson(bytes) : isBinary(bytes)) return undefined
  return utf8Of(bytes)
}

/** Whether bytes are not a message: they have control characters, or more than a tenth of the characters are invalid. */
const isBinary = (bytes: Buffer): boolean => {
  const text = bytes.toString("utf8")
  return (
    bytes.some((byte) => byte < 9 || (byte > 13 && byte < 32)) || text.split("\ufffd").length - 1 > text.length / 10
  )
}

/** A body that is JSON is readable, even if its header names an unknown encoding. */
const isJson = (bytes: Buffer): boolean => {
  try {
    JSON.parse(bytes.toString("utf8"))
    return true
  } catch {
    return false
  }
}

const byteOrderMark = Buffer.from("\ufeff")

/** Whether the bytes are text in another encoding, or not text. Escaping every byte would take minutes. */
const isOtherEncoding = (bytes: Buffer): boolean => {
  const text = bytes.toString("utf8")
  let invalidBytes = 0
  for (let at = text.indexOf("\ufffd"); at >= 0; at = text.indexOf("\ufffd", at + 1))
    if (++invalidBytes > 100_000) return true
  return false
}

/**
 * Matches, in bytes as latin1, one UTF-8 character of several bytes, or in the group one invalid byte. A pattern that
 * repeats over a whole body would overflow the stack of the regular expression engine.
 */
const utf8 =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|([\x80-\xff])/g

/** Data may contain shorter secrets by chance, as words. */
const secretLengthMin = 8

/** Replaces secrets in a body. Few have any: to make a text of each page, and bytes of it again, takes as long as to send it. */
export const bytesWithoutSecrets = (bytes: Buffer, secrets: Iterable<string>): Buffer =>
  [...secrets].flatMap(spellings).some((spelling) => bytes.includes(spelling))
    ? Buffer.from(withoutSecrets(bytes.toString("utf8"), secrets))
    : bytes

/** Replaces secrets by `<redacted>`, because a response may repeat the request. */
export const withoutSecrets = (text: string, secrets: Iterable<string>): string => {
  let clean = text
  for (const secret of secrets)
    for (const spelling of spellings(secret)) clean = clean.replaceAll(spelling, "<redacted>")
  return clean
}

/** A secret as it is, percent-encoded as in a URL, and escaped as in JSON. Empty for a secret that is too short. */
export const spellings = (secret: string): ReadonlyArray<string> =>
  secret.length < secretLengthMin
    ? []
    : [...new Set([secret, encodeURIComponent(secret), secret.replaceAll("/", String.raw`\/`)])]
