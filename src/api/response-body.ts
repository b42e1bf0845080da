/** What an answer's bytes become before anyone else sees them: text of bounded size, without our secrets. */
import { isUtf8 } from "node:buffer"

/**
 * A page of 1,000 records is a megabyte or two. A larger answer than this is not taken in, and a smaller page asked for:
 * made of the smallest values there are, it takes forty times its size in memory.
 */
export const bodyBytesMax = 16 * 1024 * 1024

/** The whole body, given up as soon as it is too large: what is sent compressed may be any size. */
export const bytesOf = async (body: AsyncIterable<Buffer>): Promise<Buffer | undefined> => {
  const bytes = await beginningOf(body, bodyBytesMax)
  return bytes.length > bodyBytesMax ? undefined : bytes
}

/** At least so many bytes of the body, or all of it. */
const beginningOf = async (body: AsyncIterable<Buffer>, bytesMin: number): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > bytesMin) break
  }
  return Buffer.concat(chunks)
}

/** What an error says stands at its beginning. */
const errorBytesMax = 64 * 1024

/**
 * The text of JSON. A byte that is no UTF-8 becomes the JSON escape `\udcXX`, a lone surrogate: it is kept to the bit, and the load tells
 * in which value it stood.
 */
export const textOf = (sent: Buffer): string => {
  // A byte order mark is no JSON.
  const bytes = sent.subarray(0, 3).equals(byteOrderMark) ? sent.subarray(3) : sent
  if (isUtf8(bytes)) return bytes.toString("utf8")
  if (isNoText(bytes)) return ""
  const text = bytes
    .toString("latin1")
    .replaceAll(utf8, (part, invalidItem?: string) =>
      invalidItem === undefined ? part : `\\udc${invalidItem.charCodeAt(0).toString(16)}`
    )
  return Buffer.from(text, "latin1").toString("utf8")
}

/**
 * The text of an error answer, or nothing where its bytes are no text: they lack every word, and what an error means is
 * decided by its words. `encoding` is what the decompression left over.
 */
export const errorTextOf = async (
  body: AsyncIterable<Buffer>,
  encoding: string | ReadonlyArray<string> | undefined
): Promise<string | undefined> => {
  // The status has arrived and counts, whatever becomes of the body.
  const bytes = (await beginningOf(body, errorBytesMax).catch(() => undefined))?.subarray(0, errorBytesMax)
  if (bytes === undefined) return undefined
  const isEncoded = encoding !== undefined && String(encoding).toLowerCase() !== "identity"
  if (isEncoded ? !isJson(bytes) : isBinary(bytes)) return undefined
  return textOf(bytes)
}

/** Nobody writes a message with control characters, or one that is a tenth stray bytes. */
const isBinary = (bytes: Buffer): boolean => {
  const text = bytes.toString("utf8")
  return (
    bytes.some((byte) => byte < 9 || (byte > 13 && byte < 32)) || text.split("\ufffd").length - 1 > text.length / 10
  )
}

/** An encoding that we do not know may be named by mistake. */
const isJson = (bytes: Buffer): boolean => {
  try {
    JSON.parse(bytes.toString("utf8"))
    return true
  } catch {
    return false
  }
}

const byteOrderMark = Buffer.from("\ufeff")

/** A text in another encoding, or none at all: escaping every byte of it would take minutes. */
const isNoText = (bytes: Buffer): boolean => {
  const text = bytes.toString("utf8")
  let invalidItems = 0
  for (let at = text.indexOf("\ufffd"); at >= 0; at = text.indexOf("\ufffd", at + 1))
    if (++invalidItems > 100_000) return true
  return false
}

/**
 * Bytes as latin1: a character of several, or in the group a byte that belongs to none. One at a time: what repeats as
 * often as a body is long is too deep for the engine.
 */
const utf8 =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|([\x80-\xff])/g

/** Shorter ones are words that data may hold by chance. */
const secretLengthMin = 8

/** A service may repeat our request in its answer: what it knows of us goes no further. */
export const withoutSecrets = (text: string, secrets: Iterable<string>): string => {
  let clean = text
  for (const secret of secrets)
    for (const spelling of spellings(secret)) clean = clean.replaceAll(spelling, "<redacted>")
  return clean
}

/** As it is, as a part of an address, and as JSON may escape it. */
export const spellings = (secret: string): ReadonlyArray<string> =>
  secret.length < secretLengthMin
    ? []
    : [...new Set([secret, encodeURIComponent(secret), secret.replaceAll("/", String.raw`\/`)])]
